//! Where decoded values wait until a batch is complete.
//!
//! A table can have a thousand columns of which an event fills five. A column therefore stores only what it was given:
//! row numbers beside packed values, spread to full length when the batch is finished. Numbers lie as little-endian
//! bytes of the column's width, so that most of them are copied from the payload as they are.

use arrow_array::ArrayRef;
use arrow_schema::DataType;

use super::columns::Column;
use super::finish;

/// Values packed one after another, without rows.
#[derive(Debug)]
pub(super) enum Builder {
    Fixed(FixedBuilder),
    Bytes(BytesBuilder),
    List(Box<ListBuilder>),
    Struct(StructBuilder),
}

/// Values of one width, little-endian.
#[derive(Debug)]
pub(super) struct FixedBuilder {
    pub width: usize,
    pub bytes: Vec<u8>,
}

/// Text or binary values.
#[derive(Debug, Default)]
pub(super) struct BytesBuilder {
    /// Where each value ends in `bytes`.
    pub ends: Vec<i32>,
    pub bytes: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct ListBuilder {
    /// Where each list ends in `items`.
    pub ends: Vec<i32>,
    pub items: Nested,
}

#[derive(Debug)]
pub(super) struct StructBuilder {
    pub len: usize,
    pub members: Vec<Nested>,
}

/// Values inside lists and structures, where NULL takes a place.
#[derive(Debug)]
pub(super) struct Nested {
    /// The positions of NULLs, ascending.
    pub nulls: Vec<u32>,
    pub builder: Builder,
}

impl Builder {
    fn new(data_type: &DataType) -> Builder {
        match data_type {
            DataType::Utf8 | DataType::Binary => Builder::Bytes(BytesBuilder::default()),
            DataType::List(item) => {
                Builder::List(Box::new(ListBuilder { ends: Vec::new(), items: Nested::new(item.data_type()) }))
            }
            DataType::Struct(members) => Builder::Struct(StructBuilder {
                len: 0,
                members: members.iter().map(|member| Nested::new(member.data_type())).collect(),
            }),
            other => Builder::Fixed(FixedBuilder { width: fixed_width(other), bytes: Vec::new() }),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Builder::Fixed(fixed) => fixed.bytes.len() / fixed.width,
            Builder::Bytes(bytes) => bytes.ends.len(),
            Builder::List(list) => list.ends.len(),
            Builder::Struct(record) => record.len,
        }
    }

    /// Takes up the place of a value that is not there.
    fn push_placeholder(&mut self) {
        match self {
            Builder::Fixed(fixed) => fixed.bytes.resize(fixed.bytes.len() + fixed.width, 0),
            Builder::Bytes(bytes) => bytes.ends.push(bytes.ends.last().copied().unwrap_or(0)),
            Builder::List(list) => list.ends.push(list.ends.last().copied().unwrap_or(0)),
            Builder::Struct(record) => {
                record.len += 1;
                record.members.iter_mut().for_each(Nested::push_null);
            }
        }
    }

    fn clear(&mut self) {
        match self {
            Builder::Fixed(fixed) => fixed.bytes.clear(),
            Builder::Bytes(bytes) => {
                bytes.ends.clear();
                bytes.bytes.clear();
            }
            Builder::List(list) => {
                list.ends.clear();
                list.items.clear();
            }
            Builder::Struct(record) => {
                record.len = 0;
                record.members.iter_mut().for_each(Nested::clear);
            }
        }
    }
}

/// Bytes per value of the types that are neither text, binary, list nor structure. Booleans wait as a byte each.
pub(super) fn fixed_width(data_type: &DataType) -> usize {
    match data_type {
        DataType::Boolean => 1,
        DataType::FixedSizeBinary(_) => 16,
        other => other.primitive_width().unwrap_or(8),
    }
}

impl FixedBuilder {
    /// Appends the low bytes of a number.
    pub(super) fn push(&mut self, value: u64) {
        match self.width {
            1 => self.bytes.push(value.to_le_bytes()[0]),
            2 => self.bytes.extend_from_slice(value.to_le_bytes().first_chunk::<2>().expect("8 bytes hold 2")),
            4 => self.bytes.extend_from_slice(value.to_le_bytes().first_chunk::<4>().expect("8 bytes hold 4")),
            _ => self.bytes.extend_from_slice(&value.to_le_bytes()),
        }
    }
}

impl BytesBuilder {
    /// Ends the value whose bytes were appended since the last one. `false`, and the bytes are taken back, when Arrow's
    /// 32-bit offsets can hold no more.
    pub(super) fn end(&mut self) -> bool {
        if let Ok(end) = i32::try_from(self.bytes.len()) {
            self.ends.push(end);
            return true;
        }
        self.undo();
        false
    }

    /// Takes back what was appended since the last value.
    pub(super) fn undo(&mut self) {
        let end = self.ends.last().and_then(|&end| usize::try_from(end).ok()).unwrap_or(0);
        self.bytes.truncate(end);
    }
}

impl Nested {
    fn new(data_type: &DataType) -> Nested {
        Nested { nulls: Vec::new(), builder: Builder::new(data_type) }
    }

    pub(super) fn push_null(&mut self) {
        // Lists stay below 2^31 items, see `ListBuilder::has_room`.
        self.nulls.extend(u32::try_from(self.builder.len()).ok());
        self.builder.push_placeholder();
    }

    fn clear(&mut self) {
        self.nulls.clear();
        self.builder.clear();
    }
}

impl ListBuilder {
    /// Whether so many items more stay within Arrow's 32-bit offsets.
    pub(super) fn has_room(&self, items: usize) -> bool {
        i32::try_from(self.items.builder.len().saturating_add(items)).is_ok()
    }

    /// Ends the list whose items were appended since the last one.
    pub(super) fn end(&mut self) {
        let end = i32::try_from(self.items.builder.len()).unwrap_or(i32::MAX);
        self.ends.push(end);
    }
}

/// The values of one payload column in one batch.
#[derive(Debug)]
pub(super) struct ColumnValues {
    /// The row of each value, ascending.
    pub rows: Vec<u32>,
    pub builder: Builder,
    pub data_type: DataType,
}

/// The payload columns of one batch while it is being filled; usable for batch after batch.
#[derive(Debug)]
pub struct PayloadColumns {
    pub(super) columns: Vec<ColumnValues>,
    /// Values of length and count fields while one payload is decoded.
    pub(super) slots: Vec<u64>,
    next_row: u64,
    weight: u64,
}

impl PayloadColumns {
    /// Empty columns of the given types.
    pub fn new(columns: &[Column]) -> PayloadColumns {
        let values = |column: &Column| ColumnValues {
            rows: Vec::new(),
            builder: Builder::new(column.data_type()),
            data_type: column.data_type().clone(),
        };
        let columns = columns.iter().map(values).collect();
        PayloadColumns { columns, slots: Vec::new(), next_row: 0, weight: 0 }
    }

    /// The Arrow bytes of all values since the last [`PayloadColumns::clear`]: packed width of numbers, bytes plus a
    /// 4-byte offset for text, binary and lists. NULLs of a column weigh nothing.
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// The arrays of a batch of so many rows, one per column; `None` where all rows are NULL. The values stay until
    /// [`PayloadColumns::clear`].
    ///
    /// # Panics
    ///
    /// When a payload was decoded into row `rows` or behind it.
    pub fn finish(&self, rows: usize) -> Vec<Option<ArrayRef>> {
        assert!(self.next_row <= rows as u64, "a batch of {rows} rows was filled up to row {}", self.next_row);
        self.columns.iter().map(|column| finish::column(column, rows)).collect()
    }

    /// Forgets all values and keeps the memory for the next batch, which begins at row 0.
    pub fn clear(&mut self) {
        for column in self.columns.iter_mut().filter(|column| !column.rows.is_empty()) {
            column.rows.clear();
            column.builder.clear();
        }
        self.next_row = 0;
        self.weight = 0;
    }

    /// Begins a row.
    ///
    /// # Panics
    ///
    /// When a row at or behind it was filled before: values are kept in the order in which they come.
    pub(super) fn begin_row(&mut self, row: u32, slots: usize) {
        assert!(u64::from(row) >= self.next_row, "rows are filled in ascending order, each once");
        self.next_row = u64::from(row) + 1;
        if self.slots.len() < slots {
            self.slots.resize(slots, 0);
        }
    }

    pub(super) fn end_row(&mut self, weight: u64) {
        self.weight = self.weight.saturating_add(weight);
    }
}
