//! `TEMP`: the layouts that events refer to.
//!
//! The items of a template lie in one list: those of the outermost level first, then the members of structures, which the
//! structures point to. Lengths and counts refer to items by their numbers in that list.

use super::item::{ITEM, Item, ItemType, Quantity};
use super::maps::Maps;
use super::reader::Reader;
use crate::model::{Count, Field, FieldKind, FieldRef, Length, Wire};
use crate::types;

/// As of manifests.
const MAX_NESTING: usize = 32;
const MAX_FIELDS: usize = 4096;

/// The layout of one template.
#[derive(Debug, Default)]
pub(super) struct Template {
    pub(super) fields: Vec<Field>,
    /// Whether a field's declaration is known or likely to be wrong.
    pub(super) is_doubtful: bool,
    /// About how many bytes a copy takes.
    pub(super) bytes: usize,
}

/// Reads the template at a place; `None`, and a fault, when there is none.
pub(super) fn read(reader: &mut Reader<'_>, maps: &Maps, at: u32) -> Option<Template> {
    if !reader.is_sign(*b"TEMP", at) {
        return None;
    }
    let (outermost, first) = (reader.u32(at.checked_add(8)?)?, reader.u32(at.checked_add(16)?)?);
    // A template without items has no place for them either.
    let items = if outermost == 0 { Vec::new() } else { items(reader, at.checked_add(12)?, first) };
    let outermost = usize::try_from(outermost).unwrap_or(usize::MAX).min(items.len());
    let mut levels = LevelReader { reader, maps, items: &items, levels: Vec::new(), made: 0, is_doubtful: false };
    let fields = levels.level(0, outermost);
    let is_doubtful = levels.is_doubtful;
    Some(Template { bytes: fields.iter().map(Field::footprint).sum(), fields, is_doubtful })
}

fn items(reader: &mut Reader<'_>, count: u32, first: u32) -> Vec<Item> {
    let places = reader.list(count, first, ITEM).take(MAX_FIELDS);
    places.map_while(|place| Item::read(reader, place)).collect()
}

/// The fields of an open level that are read so far, and the number of the item that is the first of them.
struct Level {
    first: usize,
    fields: Vec<Field>,
}

/// Reads one template from the outside inwards.
struct LevelReader<'r, 'a> {
    reader: &'r mut Reader<'a>,
    maps: &'r Maps,
    items: &'r [Item],
    /// The innermost last.
    levels: Vec<Level>,
    /// Fields of all levels so far: structures can share their members.
    made: usize,
    is_doubtful: bool,
}

impl LevelReader<'_, '_> {
    fn level(&mut self, first: usize, count: usize) -> Vec<Field> {
        self.levels.push(Level { first, fields: Vec::new() });
        let items = self.items;
        for (number, &item) in items.iter().enumerate().skip(first).take(count) {
            if self.made >= MAX_FIELDS {
                self.reject(item.at, format!("expected at most {MAX_FIELDS} fields, found more"));
                break;
            }
            if !self.reader.budget.take(size_of::<Field>()) {
                self.reject(item.at, "expected a file that needs less memory: a field is left out".to_owned());
                break;
            }
            self.made += 1;
            let field = self.field(number, item);
            if let Some(level) = self.levels.last_mut() {
                level.fields.push(field);
            }
        }
        self.levels.pop().map(|level| level.fields).unwrap_or_default()
    }

    fn field(&mut self, number: usize, item: Item) -> Field {
        let name = self.reader.name(item.name).unwrap_or_default();
        let count = self.count(item);
        let (kind, map) = match item.kind {
            ItemType::Value { in_type, out_type, map } => (self.value(item, in_type, out_type), self.map(item, map)),
            ItemType::Structure { first, count } => (self.structure(number, item, first.into(), count.into()), None),
        };
        let (kind, count) = match (kind, count) {
            (Some(kind), Some(count)) => (kind, count),
            (_, count) => (types::UNDECODABLE, count.unwrap_or_default()),
        };
        Field { hidden: types::hidden(&name), name, kind, count, map, optional: false }
    }

    fn value(&mut self, item: Item, in_type: u8, out_type: u8) -> Option<FieldKind> {
        let Some(wire) = types::wire(in_type.into()).filter(|&wire| wire != Wire::Null) else {
            self.reject(item.at, format!("expected a known in type, found {in_type}"));
            return None;
        };
        let length = match item.length {
            Quantity::Natural => Length::Natural,
            Quantity::Constant(length) => Length::Fixed(length.into()),
            Quantity::Item(number) => Length::Field(self.earlier(item, number, "length")?),
        };
        Some(types::value(wire, out_type.into(), length))
    }

    /// The members lie behind the structure, so that none holds itself.
    fn structure(&mut self, number: usize, item: Item, first: usize, count: usize) -> Option<FieldKind> {
        let is_inside = first > number && first.checked_add(count).is_some_and(|end| end <= self.items.len());
        if !is_inside || self.levels.len() >= MAX_NESTING {
            let what = "expected members behind their structure, of at most";
            self.reject(item.at, format!("{what} {MAX_NESTING} levels, found {count} from {first}"));
            return None;
        }
        Some(FieldKind::Struct(self.level(first, count)))
    }

    fn map(&mut self, item: Item, place: u32) -> Option<std::sync::Arc<crate::model::ValueMap>> {
        let found = self.maps.get(place);
        if found.is_none() && place != 0 {
            self.reader.report(item.at, "expected a declared map, found none");
        }
        found
    }

    fn count(&mut self, item: Item) -> Option<Count> {
        Some(match item.count {
            Quantity::Natural => Count::One,
            Quantity::Constant(count) => Count::Fixed(count.into()),
            Quantity::Item(number) => Count::Field(self.earlier(item, number, "count")?),
        })
    }

    /// The field of an item, from the innermost level outwards; it must be an integer that is read before.
    fn earlier(&mut self, item: Item, number: u16, what: &str) -> Option<FieldRef> {
        let found = self.levels.iter().rev().zip(0u8..).find_map(|(level, up)| {
            let place = usize::from(number).checked_sub(level.first)?;
            let field = level.fields.get(place).filter(|field| holds_number(field));
            field.and_then(|_| Some(FieldRef { up, index: u16::try_from(place).ok()? }))
        });
        if found.is_none() {
            self.reject(item.at, format!("expected an earlier integer as {what}, found item {number}"));
        }
        found
    }

    fn reject(&mut self, at: u32, message: String) {
        self.is_doubtful = true;
        self.reader.report(at, message);
    }
}

fn holds_number(field: &Field) -> bool {
    let integer = matches!(field.kind, FieldKind::Value { wire, .. } if types::counts(wire));
    integer && field.count == Count::One
}
