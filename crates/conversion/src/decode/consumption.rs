//! Which payloads a layout consumes: layouts that consume the same ones cannot be distinguished by any payload.

use super::program::{FieldBody, LengthRule, Node, Number, Program, Repeat, Slot};

/// What a layout asks of a payload's bytes, whatever it reads in them. Of two layouts with equal ones a payload fits both to
/// the same byte, or neither.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteConsumption(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// So many bytes, in any number of fields.
    Bytes(usize),
    /// A value of so many bytes that later fields refer to.
    Remembered(Slot, usize),
    /// Values of which each says how far it reaches.
    Values(LengthRule, Repeat, Option<Slot>),
    /// A repeated structure.
    Structures(Vec<Part>, Repeat),
    /// What cannot be read.
    Unreadable,
    /// From here on fields may be left out, at the end of each.
    Optional,
}

impl Program {
    /// What the layout asks of a payload.
    pub fn reach(&self) -> ByteConsumption {
        let mut parts = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            if index >= self.optional_from {
                parts.push(Part::Optional);
            }
            add(&mut parts, node);
        }
        ByteConsumption(parts)
    }
}

fn add(parts: &mut Vec<Part>, node: &Node) {
    match (&node.item, fixed_size(node), node.slot) {
        (FieldBody::Unreadable, ..) => parts.push(Part::Unreadable),
        (FieldBody::Leaf(_), Some(bytes), Some(slot)) => parts.push(Part::Remembered(slot, bytes)),
        (FieldBody::Leaf(_), Some(bytes), None) => add_bytes(parts, bytes),
        (FieldBody::Leaf(rule), None, slot) => parts.push(Part::Values(*rule, node.repeat, slot)),
        (FieldBody::Struct(members), ..) if node.repeat == Repeat::One => {
            members.iter().for_each(|member| add(parts, member));
        }
        (FieldBody::Struct(members), ..) => {
            let mut own = Vec::new();
            members.iter().for_each(|member| add(&mut own, member));
            parts.push(Part::Structures(own, node.repeat));
        }
    }
}

/// The bytes of a field that always has as many.
fn fixed_size(node: &Node) -> Option<usize> {
    let item = match &node.item {
        FieldBody::Leaf(LengthRule::Fixed(size)) => *size,
        FieldBody::Leaf(LengthRule::Units { count: Number::Constant(count), unit }) => count.checked_mul(*unit)?,
        _ => return None,
    };
    match node.repeat {
        Repeat::One => Some(item),
        Repeat::Times(Number::Constant(times)) => item.checked_mul(times),
        _ => None,
    }
}

fn add_bytes(parts: &mut Vec<Part>, bytes: usize) {
    match parts.last_mut() {
        Some(Part::Bytes(sum)) => *sum = sum.saturating_add(bytes),
        _ => parts.push(Part::Bytes(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use schema::model::{Count, EventSchema, Field, FieldKind, FieldRef, Length, Meaning, Wire};

    use super::*;

    fn reach(fields: Vec<Field>) -> ByteConsumption {
        Program::measuring(&EventSchema { fields, ..EventSchema::default() }, 8).reach()
    }

    fn of(wires: &[Wire]) -> ByteConsumption {
        reach(wires.iter().map(|&wire| Field::value("f", wire)).collect())
    }

    fn counted(index: u16) -> Field {
        let length = Length::Field(FieldRef { up: 0, index });
        let kind = FieldKind::Value { wire: Wire::Binary, meaning: Meaning::Plain, length };
        Field { kind, ..Field::value("data", Wire::Binary) }
    }

    #[test]
    fn fixed_widths_are_one_whatever_their_fields() {
        use Wire::{Ansi, Double, Guid, Pointer, UInt32, UInt64, Utf16};
        assert_eq!(of(&[UInt32, UInt32, Utf16]), of(&[UInt64, Utf16]));
        assert_eq!(of(&[Pointer, Double]), of(&[Guid]));
        assert_ne!(of(&[UInt32, Utf16]), of(&[UInt64, Utf16]));
        assert_ne!(of(&[UInt32, Utf16]), of(&[UInt32, Ansi]));
        assert_ne!(of(&[UInt32, Utf16]), of(&[Utf16, UInt32]));
        let pair = Field::structure("s", vec![Field::value("a", UInt32), Field::value("b", UInt32)]);
        let twice = Field { count: Count::Fixed(2), ..Field::value("a", UInt32) };
        let any = Field { count: Count::Rest, ..Field::value("a", UInt32) };
        assert_eq!((reach(vec![pair]), reach(vec![twice])), (of(&[UInt64]), of(&[UInt64])));
        assert_ne!(reach(vec![any]), of(&[UInt32]));
    }

    #[test]
    fn fields_that_others_refer_to_stay_apart() {
        use Wire::UInt16;
        let [a, b] = ["a", "b"].map(|name| Field::value(name, UInt16));
        let first = reach(vec![a.clone(), b.clone(), counted(0)]);
        assert_ne!(first, reach(vec![a.clone(), b.clone(), counted(1)]));
        let other = Field::value("other", UInt16);
        assert_eq!(first, reach(vec![other.clone(), b.clone(), counted(0)]));
        assert_ne!(reach(vec![a.clone(), b.clone()]), reach(vec![a, Field { optional: true, ..b }]));
    }
}
