//! The items of a template: a value or a structure each.

use super::reader::Reader;

/// Bytes of an item.
pub(super) const ITEM: u32 = 20;

/// What the flags of an item say; those of `EVENT_PROPERTY_INFO` with other numbers.
const STRUCTURE: u32 = 1;
const LENGTH_IS_CONSTANT: u32 = 2;
const LENGTH_IS_ITEM: u32 = 4;
const COUNT_IS_CONSTANT: u32 = 8;
const COUNT_IS_ITEM: u32 = 16;

/// How long a value is, or how often it is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Nothing is said.
    Natural,
    /// So often.
    Constant(u16),
    /// As the value of this item of the template says.
    Item(u16),
}

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemType {
    /// A value, by its in type and out type; and the place of its map, 0 for none.
    Value { in_type: u8, out_type: u8, map: u32 },
    /// A structure: the number of its first member, and how many there are.
    Structure { first: u16, count: u16 },
}

/// An item of a template.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    /// Where it lies.
    pub(super) at: u32,
    pub(super) kind: ItemType,
    pub(super) count: Quantity,
    pub(super) length: Quantity,
    /// The place of its name.
    pub(super) name: u32,
}

impl Item {
    pub(super) fn read(reader: &Reader<'_>, at: u32) -> Option<Item> {
        let place = |offset: u32| at.checked_add(offset);
        let flags = reader.u32(at)?;
        let (count, length) = (reader.u16(place(12)?)?, reader.u16(place(14)?)?);
        let has = |flag: u32| flags & flag != 0;
        let kind = if has(STRUCTURE) {
            ItemType::Structure { first: reader.u16(place(4)?)?, count: reader.u16(place(6)?)? }
        } else {
            let (in_type, out_type) = (reader.u8(place(4)?)?, reader.u8(place(5)?)?);
            ItemType::Value { in_type, out_type, map: reader.u32(place(8)?)? }
        };
        let quantity = |number: u16, is_item: bool, is_constant: bool| match number {
            _ if is_item => Quantity::Item(number),
            0 if !is_constant => Quantity::Natural,
            _ => Quantity::Constant(number),
        };
        Some(Item {
            at,
            kind,
            count: quantity(count, has(COUNT_IS_ITEM), has(COUNT_IS_CONSTANT)),
            length: quantity(length, has(LENGTH_IS_ITEM), has(LENGTH_IS_CONSTANT)),
            name: reader.u32(place(16)?)?,
        })
    }
}
