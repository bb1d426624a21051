//! Packed values: those that are there, one after another, beside the rows that they belong to.
//!
//! A table can have a thousand columns of which an event fills five. A column therefore stores only what it was given,
//! and is scattered to full length only when a row group is encoded. Numbers lie as little-endian bytes of one width.

use std::ops::Range;

use arrow_schema::DataType;

use super::prefix::widened;
use super::presence::{Recycle, RowNumbers};

/// Values packed one after another, without rows.
#[derive(Debug)]
pub enum Packed {
    /// Numbers, booleans, times and GUIDs.
    Fixed(FixedValues),
    /// Texts and binary values.
    Bytes(BytesValues),
    /// Lists.
    List(Box<ListValues>),
    /// Structures.
    Struct(StructValues),
}

/// Values of one width, little-endian.
#[derive(Debug)]
pub struct FixedValues {
    /// Bytes of a value. Numbers without a sign may have fewer than their column.
    pub width: usize,
    /// The values one after another.
    pub bytes: Vec<u8>,
    /// Bytes of a value of the column.
    full: usize,
}

/// Text or binary values.
#[derive(Debug, Default)]
pub struct BytesValues {
    /// Where each value ends in `bytes`.
    pub ends: Vec<i32>,
    /// The values one after another, without separators.
    pub bytes: Vec<u8>,
}

/// Lists of values.
#[derive(Debug)]
pub struct ListValues {
    /// Where each list ends in `items`.
    pub ends: Vec<i32>,
    /// The items of all lists one after another.
    pub items: Elements,
}

/// Structures, each with a value of every member.
#[derive(Debug)]
pub struct StructValues {
    /// How many structures.
    pub len: usize,
    /// The values of each member, one for each structure.
    pub members: Vec<Elements>,
}

/// Values inside lists and structures, where NULL takes a place.
#[derive(Debug)]
pub struct Elements {
    /// The positions of NULLs, ascending.
    pub nulls: Vec<u32>,
    /// The values, with a placeholder for each NULL.
    pub values: Packed,
}

/// The values of one column in some rows.
#[derive(Debug)]
pub struct PackedColumn {
    /// The row of each value.
    pub rows: RowNumbers,
    /// The values of these rows.
    pub values: Packed,
}

impl Packed {
    /// No values, of an Arrow type.
    pub fn new(data_type: &DataType) -> Packed {
        match data_type {
            DataType::Utf8 | DataType::Binary => Packed::Bytes(BytesValues::default()),
            DataType::List(item) => Packed::list(Packed::new(item.data_type())),
            DataType::Struct(members) => {
                Packed::structure(members.iter().map(|member| Packed::new(member.data_type())))
            }
            other => Packed::fixed(fixed_width(other)),
        }
    }

    /// No values of so many bytes each.
    pub fn fixed(width: usize) -> Packed {
        Packed::Fixed(FixedValues::new(width, Vec::new()))
    }

    /// No lists of such items.
    pub fn list(items: Packed) -> Packed {
        Packed::List(Box::new(ListValues { ends: Vec::new(), items: Elements { nulls: Vec::new(), values: items } }))
    }

    /// No structures of such members.
    pub fn structure(members: impl IntoIterator<Item = Packed>) -> Packed {
        let members = members.into_iter().map(|values| Elements { nulls: Vec::new(), values });
        Packed::Struct(StructValues { len: 0, members: members.collect() })
    }

    /// How many values.
    pub fn count(&self) -> usize {
        match self {
            Packed::Fixed(fixed) => fixed.count(),
            Packed::Bytes(bytes) => bytes.ends.len(),
            Packed::List(list) => list.ends.len(),
            Packed::Struct(structure) => structure.len,
        }
    }

    /// The Arrow bytes of the values: width of numbers, bytes and a 4-byte offset of text, binary and lists. A NULL
    /// inside a list or structure weighs its place and its position.
    pub fn weight(&self) -> u64 {
        let weight = match self {
            Packed::Fixed(fixed) => fixed.count() * fixed.full,
            Packed::Bytes(bytes) => bytes.bytes.len() + size_of_val(bytes.ends.as_slice()),
            Packed::List(list) => return list.items.weight() + size_of_val(list.ends.as_slice()) as u64,
            Packed::Struct(structure) => return structure.members.iter().map(Elements::weight).sum(),
        };
        weight as u64
    }

    /// Takes up the place of a value that is not there; returns the bytes of that place.
    fn push_placeholder(&mut self) -> usize {
        match self {
            Packed::Fixed(fixed) => {
                fixed.bytes.resize(fixed.bytes.len() + fixed.width, 0);
                fixed.width
            }
            Packed::Bytes(bytes) => push_empty(&mut bytes.ends),
            Packed::List(list) => push_empty(&mut list.ends),
            Packed::Struct(structure) => {
                structure.len += 1;
                structure.members.iter_mut().map(Elements::push_null).sum()
            }
        }
    }
}

/// Ends a value without content where the one before it ends.
fn push_empty(ends: &mut Vec<i32>) -> usize {
    ends.push(ends.last().copied().unwrap_or(0));
    size_of::<i32>()
}

/// Bytes per value of the types that are neither text, binary, list nor structure. Booleans wait as a byte each.
pub fn fixed_width(data_type: &DataType) -> usize {
    match data_type {
        DataType::Boolean => 1,
        DataType::FixedSizeBinary(_) => 16,
        other => other.primitive_width().unwrap_or(8),
    }
}

impl Recycle for PackedColumn {
    fn take_exact(&mut self) -> Self {
        PackedColumn { rows: self.rows.take_exact(), values: self.values.take_exact() }
    }
}

impl Recycle for Packed {
    fn take_exact(&mut self) -> Self {
        match self {
            Packed::Fixed(fixed) => {
                let width = std::mem::replace(&mut fixed.width, fixed.full);
                Packed::Fixed(FixedValues { width, bytes: fixed.bytes.take_exact(), full: fixed.full })
            }
            Packed::Bytes(bytes) => {
                Packed::Bytes(BytesValues { ends: bytes.ends.take_exact(), bytes: bytes.bytes.take_exact() })
            }
            Packed::List(list) => {
                Packed::List(Box::new(ListValues { ends: list.ends.take_exact(), items: list.items.take_exact() }))
            }
            Packed::Struct(structure) => Packed::Struct(StructValues {
                len: std::mem::take(&mut structure.len),
                members: structure.members.iter_mut().map(Recycle::take_exact).collect(),
            }),
        }
    }
}

impl Recycle for Elements {
    fn take_exact(&mut self) -> Self {
        Elements { nulls: self.nulls.take_exact(), values: self.values.take_exact() }
    }
}

impl FixedValues {
    /// Values of so many bytes each.
    pub fn new(width: usize, bytes: Vec<u8>) -> FixedValues {
        FixedValues { width, bytes, full: width }
    }

    /// How many values.
    pub fn count(&self) -> usize {
        self.bytes.len() / self.width
    }

    /// Gives the values so many bytes, where there is none yet and the column has more; says whether they have as many, so that
    /// numbers without a sign can be appended as they are.
    pub fn narrow_to(&mut self, width: usize) -> bool {
        if self.bytes.is_empty() && (1..self.full).contains(&width) {
            self.width = width;
        }
        self.width == width
    }

    /// Gives the values as many bytes as those of the column have.
    pub fn widen(&mut self) {
        if self.width < self.full {
            let (width, full) = (self.width, self.full);
            let mut wide = vec![0; self.count() * full];
            let places = wide.chunks_exact_mut(full).zip(self.bytes.chunks_exact(width));
            places.for_each(|(place, value)| place[..width].copy_from_slice(value));
            (self.width, self.bytes) = (full, wide);
        }
    }

    /// Appends the low bytes of a number.
    pub fn push(&mut self, value: u64) {
        match self.width {
            1 => self.bytes.push(value.to_le_bytes()[0]),
            2 => self.bytes.extend_from_slice(value.to_le_bytes().first_chunk::<2>().expect("8 bytes hold 2")),
            4 => self.bytes.extend_from_slice(value.to_le_bytes().first_chunk::<4>().expect("8 bytes hold 4")),
            _ => self.bytes.extend_from_slice(&value.to_le_bytes()),
        }
    }

    /// Some values with zeros above them, for a column of more bytes.
    pub fn widened<const N: usize>(&self, values: Range<usize>) -> impl ExactSizeIterator<Item = [u8; N]> {
        let bytes = &self.bytes[values.start * self.width..values.end * self.width];
        bytes.chunks_exact(self.width).map(|value| widened(value, false))
    }
}

impl BytesValues {
    /// Ends the value whose bytes were appended since the last one. `false`, and the bytes are taken back, when Arrow's
    /// 32-bit offsets can hold no more.
    pub fn end(&mut self) -> bool {
        if let Ok(end) = i32::try_from(self.bytes.len()) {
            self.ends.push(end);
            return true;
        }
        self.undo();
        false
    }

    /// Takes back what was appended since the last value.
    pub fn undo(&mut self) {
        let end = self.ends.last().and_then(|&end| usize::try_from(end).ok()).unwrap_or(0);
        self.bytes.truncate(end);
    }
}

impl Elements {
    /// Returns the bytes that the NULL takes: its position and its place.
    pub fn push_null(&mut self) -> usize {
        // Lists stay below 2^31 items, see `ListValues::has_room`.
        self.nulls.extend(u32::try_from(self.values.count()).ok());
        size_of::<u32>() + self.values.push_placeholder()
    }

    /// Appends a number, where the values are numbers of its width.
    pub fn push_fixed<const N: usize>(&mut self, value: [u8; N]) {
        if let Packed::Fixed(fixed) = &mut self.values {
            debug_assert_eq!(fixed.width, N);
            fixed.bytes.extend_from_slice(&value);
        }
    }

    /// Appends bytes, where the values are text or binary; `false` when there is no room for them.
    pub fn push_bytes(&mut self, value: &[u8]) -> bool {
        let Packed::Bytes(bytes) = &mut self.values else { return false };
        bytes.bytes.extend_from_slice(value);
        bytes.end()
    }

    fn weight(&self) -> u64 {
        self.values.weight() + size_of_val(self.nulls.as_slice()) as u64
    }
}

impl ListValues {
    /// Whether so many items more stay within Arrow's 32-bit offsets.
    pub fn has_room(&self, items: usize) -> bool {
        i32::try_from(self.items.values.count().saturating_add(items)).is_ok()
    }

    /// Ends the list whose items were appended since the last one.
    pub fn end(&mut self) {
        self.ends.push(self.items_end());
    }

    /// Gives the items that were appended since the last list to that list.
    pub fn append_to_last(&mut self) {
        let end = self.items_end();
        if let Some(last) = self.ends.last_mut() {
            *last = end;
        }
    }

    fn items_end(&self) -> i32 {
        i32::try_from(self.items.values.count()).unwrap_or(i32::MAX)
    }
}

impl PackedColumn {
    /// A column of these values, which has no rows yet.
    pub fn new(values: Packed) -> PackedColumn {
        PackedColumn { rows: RowNumbers::default(), values }
    }

    /// Adds the number of a row behind the last one, where the column holds numbers of its width.
    #[inline]
    pub fn push_fixed<const N: usize>(&mut self, row: u32, value: [u8; N]) {
        if let Packed::Fixed(fixed) = &mut self.values {
            debug_assert_eq!(fixed.width, N);
            fixed.bytes.extend_from_slice(&value);
        }
        self.rows.push(row);
    }

    /// As [`PackedColumn::push_fixed`], the numbers of rows from `first` on, one each.
    pub fn extend_fixed<const N: usize>(&mut self, first: u32, values: impl ExactSizeIterator<Item = [u8; N]>) {
        let count = values.len();
        if let Packed::Fixed(fixed) = &mut self.values {
            debug_assert_eq!(fixed.width, N);
            let start = fixed.bytes.len();
            fixed.bytes.resize(start + N * count, 0);
            let places = fixed.bytes[start..].as_chunks_mut().0;
            places.iter_mut().zip(values).for_each(|(place, value)| *place = value);
        }
        self.rows.extend(first, count);
    }

    /// Adds the bytes that `write` appends as the value of a row behind the last one, where the column holds text or
    /// binary. `false`, and nothing is added, when it says so or Arrow's offsets can hold no more.
    #[inline]
    pub fn write_bytes(&mut self, row: u32, write: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
        let Packed::Bytes(bytes) = &mut self.values else { return false };
        if !write(&mut bytes.bytes) {
            bytes.undo();
            return false;
        }
        let is_added = bytes.end();
        if is_added {
            self.rows.push(row);
        }
        is_added
    }

    /// The lists of a column of lists.
    pub fn lists(&mut self) -> Option<&mut ListValues> {
        if let Packed::List(list) = &mut self.values { Some(list) } else { None }
    }

    /// Makes the items appended since the last list the value of a row behind the last one.
    pub fn end_list(&mut self, row: u32) {
        if let Some(list) = self.lists() {
            list.end();
            self.rows.push(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(values: &[&str]) -> Packed {
        let mut texts = BytesValues::default();
        for value in values {
            texts.bytes.extend_from_slice(value.as_bytes());
            assert!(texts.end());
        }
        Packed::Bytes(texts)
    }

    #[test]
    fn values_weigh_what_arrow_holds() {
        let fixed = |width, count: usize| Packed::Fixed(FixedValues::new(width, vec![0; width * count]));
        assert_eq!(fixed(2, 3).weight(), 6);
        assert_eq!(texts(&["ab", "", "c"]).weight(), 3 + 3 * 4);
        let mut items = Elements { nulls: Vec::new(), values: fixed(8, 2) };
        // The position of the NULL and its place.
        assert_eq!((items.push_null(), items.weight()), (12, 8 * 3 + 4));
        let list = Packed::List(Box::new(ListValues { ends: vec![1, 3], items }));
        assert_eq!(list.weight(), 2 * 4 + 28);
        let members = vec![
            Elements { nulls: Vec::new(), values: fixed(2, 1) },
            Elements { nulls: Vec::new(), values: texts(&["abc"]) },
        ];
        assert_eq!(Packed::Struct(StructValues { len: 1, members }).weight(), 2 + 7);
    }

    #[test]
    fn what_was_not_written_leaves_no_bytes() {
        let mut column = PackedColumn::new(texts(&[]));
        let write = |column: &mut PackedColumn, row, text: &[u8], keep| {
            column.write_bytes(row, |bytes| {
                bytes.extend_from_slice(text);
                keep
            })
        };
        assert!(write(&mut column, 1, b"ab", true));
        assert!(!write(&mut column, 2, b"cd", false));
        assert!(write(&mut column, 4, b"", true));
        let Packed::Bytes(bytes) = &column.values else { panic!("made of texts") };
        assert_eq!((bytes.ends.as_slice(), bytes.bytes.as_slice()), (&[2, 2][..], &b"ab"[..]));
        assert_eq!((column.rows.count(), column.rows.ends_with(4)), (2, true));
    }

    #[test]
    fn numbers_have_few_bytes_while_all_of_them_have() {
        let mut numbers = FixedValues::new(8, Vec::new());
        assert!(!numbers.narrow_to(16) && numbers.narrow_to(8));
        assert!(numbers.narrow_to(2));
        numbers.bytes.extend([1, 0x80, 2, 0]);
        assert!(numbers.narrow_to(2) && !numbers.narrow_to(4) && !numbers.narrow_to(8));
        numbers.widen();
        assert_eq!(numbers.bytes, [1, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
        assert!(numbers.narrow_to(8) && !numbers.narrow_to(2));
        // What is taken out keeps its width, and what comes next begins with that of the column.
        let mut packed = Packed::Fixed(FixedValues::new(4, Vec::new()));
        let Packed::Fixed(fixed) = &mut packed else { panic!("made of numbers") };
        assert!(fixed.narrow_to(1));
        fixed.bytes.push(9);
        assert_eq!(packed.weight(), 4);
        let (taken, left) = (packed.take_exact(), packed);
        let (Packed::Fixed(taken), Packed::Fixed(left)) = (taken, left) else { panic!("made of numbers") };
        assert_eq!((taken.width, taken.bytes, left.width, left.bytes), (1, vec![9], 4, Vec::new()));
    }

    #[test]
    fn the_last_list_can_grow() {
        let mut column = PackedColumn::new(Packed::list(Packed::fixed(1)));
        let push = |column: &mut PackedColumn, value| column.lists().unwrap().items.push_fixed([value]);
        push(&mut column, 7);
        column.end_list(3);
        push(&mut column, 8);
        column.lists().unwrap().append_to_last();
        column.end_list(5);
        assert_eq!((column.rows.count(), column.lists().unwrap().ends.as_slice()), (2, &[2, 2][..]));
    }
}
