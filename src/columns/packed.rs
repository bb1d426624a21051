//! Where decoded values wait until a batch is complete.
//!
//! A table can have a thousand columns of which an event fills five. A column therefore stores only what it was given:
//! row numbers beside packed values, spread to full length only when a row group is encoded. Numbers lie as
//! little-endian bytes of the column's width. What columns take from the head of a payload as it is lies in prefixes.

use std::ops::Range;
use std::sync::Arc;

use arrow_schema::DataType;

use super::prefix::{Prefix, PrefixColumn, PrefixField};
use super::presence::{Recycle, RowNumbers};

/// Values packed one after another, without rows.
#[derive(Debug)]
pub(crate) enum Packed {
    Fixed(FixedValues),
    Bytes(BytesValues),
    List(Box<ListValues>),
    Struct(StructValues),
}

/// Values of one width, little-endian.
#[derive(Debug)]
pub(crate) struct FixedValues {
    pub width: usize,
    pub bytes: Vec<u8>,
}

/// Text or binary values.
#[derive(Debug, Default)]
pub(crate) struct BytesValues {
    /// Where each value ends in `bytes`.
    pub ends: Vec<i32>,
    pub bytes: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct ListValues {
    /// Where each list ends in `items`.
    pub ends: Vec<i32>,
    pub items: Elements,
}

#[derive(Debug)]
pub(crate) struct StructValues {
    pub len: usize,
    pub members: Vec<Elements>,
}

/// Values inside lists and structures, where NULL takes a place.
#[derive(Debug)]
pub(crate) struct Elements {
    /// The positions of NULLs, ascending.
    pub nulls: Vec<u32>,
    pub builder: Packed,
}

impl Packed {
    fn new(data_type: &DataType) -> Packed {
        match data_type {
            DataType::Utf8 | DataType::Binary => Packed::Bytes(BytesValues::default()),
            DataType::List(item) => {
                Packed::List(Box::new(ListValues { ends: Vec::new(), items: Elements::new(item.data_type()) }))
            }
            DataType::Struct(members) => Packed::Struct(StructValues {
                len: 0,
                members: members.iter().map(|member| Elements::new(member.data_type())).collect(),
            }),
            other => Packed::Fixed(FixedValues { width: fixed_width(other), bytes: Vec::new() }),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Packed::Fixed(fixed) => fixed.bytes.len() / fixed.width,
            Packed::Bytes(bytes) => bytes.ends.len(),
            Packed::List(list) => list.ends.len(),
            Packed::Struct(record) => record.len,
        }
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
            Packed::Struct(record) => {
                record.len += 1;
                record.members.iter_mut().map(Elements::push_null).sum()
            }
        }
    }
}

/// Offsets a value without content where the one before it ends.
fn push_empty(ends: &mut Vec<i32>) -> usize {
    ends.push(ends.last().copied().unwrap_or(0));
    size_of::<i32>()
}

/// Bytes per value of the types that are neither text, binary, list nor structure. Booleans wait as a byte each.
pub(crate) fn fixed_width(data_type: &DataType) -> usize {
    match data_type {
        DataType::Boolean => 1,
        DataType::FixedSizeBinary(_) => 16,
        other => other.primitive_width().unwrap_or(8),
    }
}

impl Recycle for PackedColumn {
    fn take_exact(&mut self) -> Self {
        PackedColumn { rows: self.rows.take_exact(), builder: self.builder.take_exact() }
    }
}

impl Recycle for Packed {
    fn take_exact(&mut self) -> Self {
        match self {
            Packed::Fixed(fixed) => Packed::Fixed(FixedValues { width: fixed.width, bytes: fixed.bytes.take_exact() }),
            Packed::Bytes(bytes) => {
                Packed::Bytes(BytesValues { ends: bytes.ends.take_exact(), bytes: bytes.bytes.take_exact() })
            }
            Packed::List(list) => {
                Packed::List(Box::new(ListValues { ends: list.ends.take_exact(), items: list.items.take_exact() }))
            }
            Packed::Struct(record) => Packed::Struct(StructValues {
                len: std::mem::take(&mut record.len),
                members: record.members.iter_mut().map(Recycle::take_exact).collect(),
            }),
        }
    }
}

impl Recycle for Elements {
    fn take_exact(&mut self) -> Self {
        Elements { nulls: self.nulls.take_exact(), builder: self.builder.take_exact() }
    }
}

impl FixedValues {
    /// Appends the low bytes of a number.
    pub(crate) fn push(&mut self, value: u64) {
        match self.width {
            1 => self.bytes.push(value.to_le_bytes()[0]),
            2 => self.bytes.extend_from_slice(value.to_le_bytes().first_chunk::<2>().expect("8 bytes hold 2")),
            4 => self.bytes.extend_from_slice(value.to_le_bytes().first_chunk::<4>().expect("8 bytes hold 4")),
            _ => self.bytes.extend_from_slice(&value.to_le_bytes()),
        }
    }
}

impl BytesValues {
    /// Offsets the value whose bytes were appended since the last one. `false`, and the bytes are taken back, when Arrow's
    /// 32-bit offsets can hold no more.
    pub(crate) fn end(&mut self) -> bool {
        if let Ok(end) = i32::try_from(self.bytes.len()) {
            self.ends.push(end);
            return true;
        }
        self.undo();
        false
    }

    /// Takes back what was appended since the last value.
    pub(crate) fn undo(&mut self) {
        let end = self.ends.last().and_then(|&end| usize::try_from(end).ok()).unwrap_or(0);
        self.bytes.truncate(end);
    }
}

impl Elements {
    fn new(data_type: &DataType) -> Elements {
        Elements { nulls: Vec::new(), builder: Packed::new(data_type) }
    }

    /// Returns the bytes that the NULL takes: its position and its place.
    pub(crate) fn push_null(&mut self) -> usize {
        // Lists stay below 2^31 items, see `ListValues::has_room`.
        self.nulls.extend(u32::try_from(self.builder.len()).ok());
        size_of::<u32>() + self.builder.push_placeholder()
    }
}

impl ListValues {
    /// Whether so many items more stay within Arrow's 32-bit offsets.
    pub(crate) fn has_room(&self, items: usize) -> bool {
        i32::try_from(self.items.builder.len().saturating_add(items)).is_ok()
    }

    /// Offsets the list whose items were appended since the last one.
    pub(crate) fn end(&mut self) {
        let end = i32::try_from(self.items.builder.len()).unwrap_or(i32::MAX);
        self.ends.push(end);
    }
}

/// The values of one payload column in one batch.
#[derive(Debug)]
pub(crate) struct PackedColumn {
    pub rows: RowNumbers,
    pub builder: Packed,
}

/// The payload columns of one batch while it is being filled; what is filled again keeps its memory.
#[derive(Debug)]
pub struct ColumnBuffers {
    pub(crate) columns: Vec<PackedColumn>,
    /// By number of the plan.
    pub(crate) prefixes: Vec<Prefix>,
    /// Values of length and count fields while one payload is decoded.
    pub(crate) slots: Vec<u64>,
    next_row: u64,
    weight: u64,
}

impl ColumnBuffers {
    /// Empty columns of the given types.
    pub fn new<'a>(types: impl IntoIterator<Item = &'a DataType>) -> ColumnBuffers {
        let values = |data_type| PackedColumn { rows: RowNumbers::default(), builder: Packed::new(data_type) };
        let columns = types.into_iter().map(values).collect();
        ColumnBuffers { columns, prefixes: Vec::new(), slots: Vec::new(), next_row: 0, weight: 0 }
    }

    /// The Arrow bytes of all values since the last [`ColumnBuffers::finish`]: packed width of numbers, bytes plus a
    /// 4-byte offset for text, binary and lists. NULLs of a column weigh nothing, those inside lists and structures their position and place.
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// Takes out what was decoded; the next row may be row 0 again.
    pub fn finish(&mut self) -> PackedColumns {
        (self.next_row, self.weight) = (0, 0);
        let filled = self.columns.iter_mut().enumerate().filter(|(_, values)| values.rows.count() > 0);
        let columns = filled.map(|(index, values)| (index, values.take_exact())).collect();
        let filled = self.prefixes.iter_mut().filter(|prefix| prefix.rows.count() > 0);
        PackedColumns::new(columns, filled.map(Recycle::take_exact).collect())
    }

    /// Begins a row.
    ///
    /// # Panics
    ///
    /// When a row at or behind it was filled before: values are kept in the order in which they come.
    pub(crate) fn begin_row(&mut self, row: u32, slots: usize) {
        assert!(u64::from(row) >= self.next_row, "rows are filled in ascending order, each once");
        self.next_row = u64::from(row) + 1;
        if self.slots.len() < slots {
            self.slots.resize(slots, 0);
        }
    }

    pub(crate) fn end_row(&mut self, weight: u64) {
        self.weight = self.weight.saturating_add(weight);
    }
}

/// The payload values of one batch; columns without any take no space.
#[derive(Debug, Default)]
pub struct PackedColumns {
    /// The columns' numbers, ascending, and the values that were taken apart.
    columns: Vec<(usize, PackedColumn)>,
    /// The values that were not.
    prefixes: Vec<Prefix>,
    /// The fields of the prefixes with the numbers of their prefixes, by column.
    fields: Vec<(PrefixField, usize)>,
}

impl PackedColumns {
    pub(crate) fn new(mut columns: Vec<(usize, PackedColumn)>, mut prefixes: Vec<Prefix>) -> Self {
        let of_prefix = |(number, prefix): (usize, &Prefix)| {
            let fields = Arc::clone(&prefix.fields);
            (0..fields.len()).map(move |index| (fields[index], number))
        };
        let mut fields: Vec<_> = prefixes.iter().enumerate().flat_map(of_prefix).collect();
        fields.sort_by_key(|(field, _)| field.column);
        // A table with few rows in many slices consists of these lists.
        columns.shrink_to_fit();
        prefixes.shrink_to_fit();
        fields.shrink_to_fit();
        PackedColumns { columns, prefixes, fields }
    }

    /// Whether a column has a value in any of the rows.
    pub fn has_values(&self, column: usize, rows: &Range<u32>) -> bool {
        let has_values = |numbers: &RowNumbers| !numbers.part(rows).values.is_empty();
        self.column(column).is_some_and(|values| has_values(&values.rows))
            || self.prefix_columns(column).any(|values| has_values(&values.prefix.rows))
    }

    /// The values of a column that were taken apart.
    pub(crate) fn column(&self, column: usize) -> Option<&PackedColumn> {
        let found = self.columns.binary_search_by_key(&column, |(number, _)| *number).ok()?;
        Some(&self.columns[found].1)
    }

    /// The values of a column that were not; no two of them are of one row.
    pub(crate) fn prefix_columns(&self, column: usize) -> impl Iterator<Item = PrefixColumn<'_>> {
        let first = self.fields.partition_point(|(field, _)| field.column < column);
        let fields = self.fields[first..].iter().take_while(move |(field, _)| field.column == column);
        fields.map(|&(field, number)| PrefixColumn { prefix: &self.prefixes[number], field })
    }
}
