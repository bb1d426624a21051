//! Templates: the layouts that events refer to.

use std::collections::HashMap;
use std::sync::Arc;

use roxmltree::Node;

use super::strings::Strings;
use super::xml::{Rejections, attribute, children, grandchildren, number, number_attribute, tag};
use crate::model::{Count, Field, FieldKind, FieldRef, Length, MapKind, ValueMap, Wire};
use crate::types;

const MAX_NESTING: usize = 32;
/// Far more than an event can have; keeps the search for lengths and counts short.
const MAX_FIELDS: usize = 4096;

/// The layout of one template.
#[derive(Clone, Debug, Default)]
pub(super) struct Template {
    pub(super) fields: Vec<Field>,
    /// Whether a field's declaration is known or likely to be wrong.
    pub(super) is_doubtful: bool,
    /// About how many bytes a copy takes.
    pub(super) bytes: usize,
}

/// The value and bit maps of a provider.
pub(super) fn read_maps(
    provider: Node<'_, '_>,
    strings: &Strings,
    rejections: &mut Rejections,
) -> HashMap<String, Arc<ValueMap>> {
    let mut maps = HashMap::new();
    for node in children(provider, "maps").flat_map(|maps| maps.children()) {
        let kind = match tag(node) {
            "valueMap" => MapKind::Values,
            "bitMap" => MapKind::Bits,
            // Text blanks, and maps that name no numbers.
            _ => continue,
        };
        let Some(name) = attribute(node, "name") else {
            rejections.report(node, format!("expected a name on <{}>", tag(node)));
            continue;
        };
        let entries = children(node, "map").filter_map(|entry| map_entry(entry, strings, rejections)).collect();
        let map = ValueMap::new(name, kind, entries);
        maps.entry(name.to_owned()).or_insert_with(|| Arc::new(map));
    }
    maps
}

fn map_entry(node: Node<'_, '_>, strings: &Strings, rejections: &mut Rejections) -> Option<(u64, String)> {
    let Some(value) = number_attribute(node, "value") else {
        rejections.report(node, "expected a number as value of <map>");
        return None;
    };
    let shown = strings.display(node).or_else(|| Some(attribute(node, "symbol")?.to_owned()));
    // Entries without a name or symbol still have the reference that distinguishes entries.
    let name = shown.or_else(|| attribute(node, "message").map(reference_id)).unwrap_or_default();
    Some((value, name))
}

/// `X` of `$(string.X)`, else the text itself.
fn reference_id(message: &str) -> String {
    let inner = message.strip_prefix("$(string.").and_then(|rest| rest.strip_suffix(')'));
    inner.unwrap_or(message).to_owned()
}

/// The templates of a provider by `tid`; the first of a name stands.
pub(super) fn read_templates<'a>(
    provider: Node<'a, '_>,
    maps: &HashMap<String, Arc<ValueMap>>,
    regenerated: bool,
    rejections: &mut Rejections,
) -> HashMap<&'a str, Template> {
    let mut templates = HashMap::new();
    for node in grandchildren(provider, "templates", "template") {
        let Some(tid) = attribute(node, "tid") else {
            rejections.report(node, "expected a tid on <template>");
            continue;
        };
        let mut reader = Reader { maps, regenerated, rejections, is_doubtful: false, levels: Vec::new() };
        let fields = reader.level(node);
        let template =
            Template { is_doubtful: reader.is_doubtful, bytes: fields.iter().map(Field::footprint).sum(), fields };
        if templates.contains_key(tid) {
            rejections.report(node, format!("expected one template {tid}, found another"));
        }
        templates.entry(tid).or_insert(template);
    }
    templates
}

/// How a length or count is given.
enum Quantity {
    Constant(u32),
    Field(FieldRef),
}

/// A declaration that cannot be used; the rejection is written.
struct Rejected;

/// Reads one template from the outside inwards.
struct Reader<'a> {
    maps: &'a HashMap<String, Arc<ValueMap>>,
    regenerated: bool,
    rejections: &'a mut Rejections,
    is_doubtful: bool,
    /// The fields read so far of every open level, the innermost last.
    levels: Vec<Vec<Field>>,
}

impl Reader<'_> {
    fn level(&mut self, node: Node<'_, '_>) -> Vec<Field> {
        self.levels.push(Vec::new());
        for child in node.children().filter(Node::is_element) {
            let field = match tag(child) {
                "data" | "binary" => self.data(child),
                "struct" => self.structure(child),
                // How the event log shows the event; no layout.
                _ => continue,
            };
            if self.levels.last().is_some_and(|level| level.len() >= MAX_FIELDS) {
                self.reject(child, format!("expected at most {MAX_FIELDS} fields, found more"));
                break;
            }
            if let Some(level) = self.levels.last_mut() {
                level.push(field);
            }
        }
        self.levels.pop().unwrap_or_default()
    }

    fn structure(&mut self, node: Node<'_, '_>) -> Field {
        let name = attribute(node, "name").unwrap_or_default();
        let count = self.count(node);
        if self.levels.len() >= MAX_NESTING {
            self.reject(node, format!("expected at most {MAX_NESTING} levels of structures, found more"));
            return Field { kind: types::UNDECODABLE, ..Field::value(name, Wire::Binary) };
        }
        match count {
            Ok(count) => Field { count, ..Field::structure(name, self.level(node)) },
            Err(Rejected) => Field { kind: types::UNDECODABLE, ..Field::value(name, Wire::Binary) },
        }
    }

    fn data(&mut self, node: Node<'_, '_>) -> Field {
        let name = attribute(node, "name").unwrap_or_default();
        let kind = self.value(node).unwrap_or(types::UNDECODABLE);
        let (kind, count) = match self.count(node) {
            Ok(count) => (kind, count),
            Err(Rejected) => (types::UNDECODABLE, Count::One),
        };
        let map = attribute(node, "map").and_then(|map| self.map(node, map));
        Field { name: name.to_owned(), kind, count, map, optional: false, hidden: types::hidden(name) }
    }

    fn value(&mut self, node: Node<'_, '_>) -> Option<FieldKind> {
        let in_type = attribute(node, "inType").unwrap_or(if tag(node) == "binary" { "win:Binary" } else { "" });
        let wire = types::wire_by_name(in_type);
        self.is_doubtful |= self.lost_structure(in_type, wire);
        let Some(wire) = wire else {
            self.reject(node, format!("expected a known inType, found \"{in_type}\""));
            return None;
        };
        let out_type = self.out_type(node);
        let length = match attribute(node, "length") {
            None => Length::Natural,
            Some(text) => match self.quantity(node, text, "length")? {
                Quantity::Constant(constant) => Length::Fixed(constant),
                Quantity::Field(field) => Length::Field(field),
            },
        };
        Some(self.guessed_length(types::value(wire, out_type, length)))
    }

    /// Whether the in type of a regenerated file can stand for the position of a structure that got lost.
    fn lost_structure(&self, in_type: &str, wire: Option<Wire>) -> bool {
        let local = types::local_name(in_type);
        let numbered = local.bytes().all(|c| c.is_ascii_digit());
        let odd = matches!(local, "CountedMbcsString" | "CountedUtf16String" | "Struct");
        let counted = matches!(wire, Some(Wire::CountedUtf16 | Wire::CountedAnsi | Wire::CountedBinary));
        numbered || odd || (counted && self.regenerated)
    }

    /// Regenerated files lose the out type by which an IPv6 address is known to be 16 bytes long.
    fn guessed_length(&mut self, kind: FieldKind) -> FieldKind {
        match kind {
            FieldKind::Value { wire: Wire::Binary, meaning, length: Length::Natural } if self.regenerated => {
                self.is_doubtful = true;
                FieldKind::Value { wire: Wire::Binary, meaning, length: Length::Fixed(16) }
            }
            other => other,
        }
    }

    fn out_type(&mut self, node: Node<'_, '_>) -> u16 {
        let Some(name) = attribute(node, "outType") else { return 0 };
        types::out_type_by_name(name).unwrap_or_else(|| {
            self.rejections.report(node, format!("expected a known outType, found \"{name}\""));
            0
        })
    }

    fn map(&mut self, node: Node<'_, '_>, name: &str) -> Option<Arc<ValueMap>> {
        let found = self.maps.get(name).cloned();
        if found.is_none() {
            self.rejections.report(node, format!("expected a value or bit map \"{name}\", found none"));
        }
        found
    }

    fn count(&mut self, node: Node<'_, '_>) -> Result<Count, Rejected> {
        let Some(text) = attribute(node, "count") else { return Ok(Count::One) };
        match self.quantity(node, text, "count").ok_or(Rejected)? {
            Quantity::Constant(constant) => Ok(Count::Fixed(constant)),
            Quantity::Field(field) => Ok(Count::Field(field)),
        }
    }

    /// A length or count: a number, or the name of the field that holds it.
    fn quantity(&mut self, node: Node<'_, '_>, text: &str, what: &str) -> Option<Quantity> {
        let Some(constant) = number(text) else { return self.earlier(node, text, what).map(Quantity::Field) };
        let fits = u32::try_from(constant).ok().map(Quantity::Constant);
        if fits.is_none() {
            self.reject(node, format!("expected a {what} of 32 bits, found {constant}"));
        }
        fits
    }

    /// Finds the nearest earlier field of a name, from the innermost level outwards; it must be an integer.
    fn earlier(&mut self, node: Node<'_, '_>, name: &str, what: &str) -> Option<FieldRef> {
        let search = |same: fn(&str, &str) -> bool| {
            self.levels.iter().rev().zip(0u8..).find_map(|(level, up)| {
                let at = level.iter().rposition(|field| same(&field.name, name))?;
                let index = u16::try_from(at).ok()?;
                holds_number(level.get(at)?).then_some(FieldRef { up, index })
            })
        };
        let found = search(|field, name| field == name).or_else(|| search(same_but_for_blanks));
        if found.is_none() {
            self.reject(node, format!("expected an earlier integer field \"{name}\" as {what}, found none"));
        }
        found
    }

    fn reject(&mut self, node: Node<'_, '_>, message: String) {
        self.is_doubtful = true;
        self.rejections.report(node, message);
    }
}

/// Regenerated files drop blanks from names, but not from references to them.
fn same_but_for_blanks(field: &str, name: &str) -> bool {
    field.bytes().eq(name.bytes().filter(|&c| c != b' '))
}

fn holds_number(field: &Field) -> bool {
    let integer = matches!(field.kind, FieldKind::Value { wire, .. } if types::counts(wire));
    integer && field.count == Count::One
}
