//! What an event says in words: a template with the values of its fields.
//!
//! A template is cut into its parts once, and the fields are compiled once. Per event the fields up to the last that is inserted
//! are measured, and then the parts are written one after another.

use schema::message::{self, MAX_TEXT_BYTES, Part};
use schema::model::EventSchema;
use schema::printf::Spec;

use super::measure::Cursor;
use super::program::{FieldBody, FieldExtent, Node, Program, Repeat};
use super::shown::Shown;

/// What parts the elements of a list and the members of a structure.
const SEPARATOR: &[u8] = b", ";

/// A template made ready to be filled with the values of payloads.
#[derive(Debug)]
pub struct MessageProgram {
    parts: Vec<Part>,
    fields: Program,
    /// How the fields that are inserted, and those before them, are shown.
    shown: Vec<Shown>,
}

/// Memory for messages that are rendered one after another.
#[derive(Debug, Default)]
pub struct MessageScratch {
    slots: Vec<u64>,
    extents: Vec<FieldExtent>,
    value: Vec<u8>,
    formatted: String,
    text: Vec<u8>,
}

impl MessageProgram {
    /// A template of events with this schema, if any is known, and pointers of 4 or 8 bytes.
    pub fn compile(template: &str, schema: Option<&EventSchema>, pointer_size: u8) -> MessageProgram {
        let parts = message::parts(template);
        let inserted = |part: &Part| match part {
            Part::Insertion { index, .. } => index + 1,
            Part::Literal(_) => 0,
        };
        let last = parts.iter().map(inserted).max().unwrap_or(0);
        let nothing = EventSchema::default();
        let schema = schema.unwrap_or(&nothing);
        let shown = schema.fields.iter().take(last).map(Shown::of).collect();
        MessageProgram { parts, fields: Program::measuring(schema, pointer_size), shown }
    }

    /// What the event with this payload says: UTF-8, at most 256 KiB. An insertion whose field is not there stays as it is declared.
    pub fn render<'s>(&self, payload: &[u8], scratch: &'s mut MessageScratch) -> &'s [u8] {
        let MessageScratch { slots, extents, value, formatted, text } = scratch;
        slots.clear();
        slots.resize(self.fields.slots, 0);
        extents.clear();
        text.clear();
        let mut cursor = Cursor::new(payload, slots, self.fields.nodes.len());
        let mut at = 0;
        for node in self.fields.nodes.iter().take(self.shown.len()) {
            let Ok(extent) = cursor.measure(node, at) else { break };
            at = extent.next;
            extents.push(extent);
        }
        for part in &self.parts {
            match part {
                Part::Literal(literal) => text.extend_from_slice(literal.as_bytes()),
                Part::Insertion { index, spec, source } => match extents.get(*index).zip(self.field(*index)) {
                    None => text.extend_from_slice(source.as_bytes()),
                    Some((&extent, (node, shown))) => match spec {
                        None => push_field(&mut cursor, node, shown, extent, text),
                        Some(spec) => {
                            let bytes = (node.repeat == Repeat::One).then(|| cursor.bytes(extent));
                            formatted.clear();
                            if bytes.and_then(|bytes| shown.push_number(bytes, spec, formatted)).is_none() {
                                value.clear();
                                push_field(&mut cursor, node, shown, extent, value);
                                write_text(value, spec, formatted);
                            }
                            text.extend_from_slice(formatted.as_bytes());
                        }
                    },
                },
            }
            if text.len() > MAX_TEXT_BYTES {
                break;
            }
        }
        cut(text);
        text
    }

    fn field(&self, index: usize) -> Option<(&Node, &Shown)> {
        self.fields.nodes.get(index).zip(self.shown.get(index))
    }
}

/// What is written into a message is UTF-8.
fn write_text(value: &[u8], spec: &Spec, out: &mut String) {
    spec.write_text(std::str::from_utf8(value).unwrap_or_default(), out);
}

/// Ends a text that is too long, between two characters.
fn cut(text: &mut Vec<u8>) {
    let is_inside = |byte: &u8| byte & 0xc0 == 0x80;
    if text.len() > MAX_TEXT_BYTES {
        let mut end = MAX_TEXT_BYTES;
        while text.get(end).is_some_and(is_inside) {
            end -= 1;
        }
        text.truncate(end);
    }
}

/// Appends a field that was measured: one value, or the elements of a list.
fn push_field(cursor: &mut Cursor<'_>, node: &Node, shown: &Shown, extent: FieldExtent, out: &mut Vec<u8>) {
    let limit = out.len().saturating_add(MAX_TEXT_BYTES);
    cursor.measured(|cursor| push_measured(cursor, node, shown, extent, limit, out));
}

fn push_measured(
    cursor: &mut Cursor<'_>,
    node: &Node,
    shown: &Shown,
    extent: FieldExtent,
    limit: usize,
    out: &mut Vec<u8>,
) {
    if node.repeat == Repeat::One {
        return push_item(cursor, node, shown, extent, limit, out);
    }
    let mut at = extent.start;
    for number in 0..extent.items {
        // The list was measured as a whole, so its items fit.
        let Ok(item) = cursor.measure_item(node, at) else { break };
        if number > 0 {
            out.extend_from_slice(SEPARATOR);
        }
        push_item(cursor, node, shown, item, limit, out);
        at = item.next;
        if out.len() > limit {
            break;
        }
    }
}

/// Appends one value, or one structure as `{Name: a, Value: 1}`.
fn push_item(
    cursor: &mut Cursor<'_>,
    node: &Node,
    shown: &Shown,
    extent: FieldExtent,
    limit: usize,
    out: &mut Vec<u8>,
) {
    let FieldBody::Struct(members) = &node.item else { return shown.push(cursor.bytes(extent), out) };
    out.push(b'{');
    let mut at = extent.start;
    for (number, (member, (name, shown))) in members.iter().zip(&shown.members).enumerate() {
        // The structure was measured as a whole, so its members fit.
        let Ok(extent) = cursor.measure(member, at) else { break };
        if number > 0 {
            out.extend_from_slice(SEPARATOR);
        }
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b": ");
        push_measured(cursor, member, shown, extent, limit, out);
        at = extent.next;
        if out.len() > limit {
            break;
        }
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use schema::model::{Count, Field, FieldRef, Wire};

    use super::*;

    fn schema(fields: Vec<Field>) -> EventSchema {
        EventSchema { fields, ..EventSchema::default() }
    }

    fn render(template: &str, fields: Vec<Field>, payload: &[u8]) -> String {
        let program = MessageProgram::compile(template, Some(&schema(fields)), 8);
        String::from_utf8(program.render(payload, &mut MessageScratch::default()).to_vec()).unwrap()
    }

    fn pairs() -> Vec<Field> {
        let members = vec![Field::value("Value", Wire::UInt16), Field::value("Name", Wire::Ansi)];
        let count = Count::Field(FieldRef { up: 0, index: 0 });
        vec![Field::value("N", Wire::UInt16), Field { count, ..Field::structure("Pairs", members) }]
    }

    #[test]
    fn fields_are_inserted_by_position() {
        let fields = || vec![Field::value("a", Wire::UInt32), Field::value("b", Wire::Utf16)];
        let payload = [&7_u32.to_le_bytes()[..], b"x\0y\0\0\0"].concat();
        for (template, expected) in [
            ("%2 has %1%n", "xy has 7\n"),
            ("%1!04x!|%2!5S!|%2!-4.1s!|%1!5s!", "0007|   xy|x   |    7"),
            ("%3 and %4!d!", "%3 and %4!d!"),
            ("nothing", "nothing"),
            ("%1 of 100%%, %%1833", "7 of 100%, %%1833"),
        ] {
            assert_eq!(render(template, fields(), &payload), expected);
        }
        // The payload ends before the second field.
        assert_eq!(render("%1 %2", fields(), &payload[..4]), "7 %2");
        let program = MessageProgram::compile("no %1", None, 8);
        assert_eq!(program.render(&[], &mut MessageScratch::default()), b"no %1");
    }

    #[test]
    fn lists_and_structures_show_what_is_in_them() {
        let payload = [&[2, 0][..], &[0xcc, 3], b"delta\0", &[0xf2, 0], b"charlie\0"].concat();
        let expected = "2: {Value: 972, Name: delta}, {Value: 242, Name: charlie}";
        assert_eq!(render("%1: %2", pairs(), &payload), expected);
        assert_eq!(render("%1: <%2>", pairs(), &[0, 0]), "0: <>");
        let list = vec![Field { count: Count::Rest, ..Field::value("x", Wire::Ansi) }];
        assert_eq!(render("%1!6.4s!", list, b"a\0bc\0"), "  a, b");
    }

    #[test]
    fn a_message_has_an_end() {
        let list = || vec![Field { count: Count::Rest, ..Field::value("x", Wire::UInt8) }];
        let payload = vec![200; 60_000];
        assert_eq!(render(&"%1".repeat(1000), list(), &payload).len(), MAX_TEXT_BYTES);
        let text = vec![Field::value("x", Wire::Utf16)];
        let payload: Vec<u8> = [0xac, 0x20].repeat(30_000);
        assert_eq!(render(&"%1".repeat(10), text, &payload).len(), MAX_TEXT_BYTES / 3 * 3);
    }

    proptest! {
        #[test]
        fn any_payload_renders(payload in prop::collection::vec(any::<u8>(), 0..200), template in "(%[1-4](![0-9]?[dsxf]!)?| ){0,8}") {
            render(&template, pairs(), &payload);
        }
    }
}
