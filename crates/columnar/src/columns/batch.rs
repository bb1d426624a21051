//! The packed columns of one table while a batch of rows is filled, and once it is full.

use std::ops::Range;

use arrow_schema::DataType;

use super::packed::{Packed, PackedColumn};
use super::prefix::{Prefix, PrefixColumn, PrefixForm, PrefixValues};
use super::presence::{Recycle, RowNumbers};

/// The payload columns of one batch while it is being filled; what is filled again keeps its memory.
#[derive(Debug)]
pub struct ColumnBuffers {
    /// The columns by number.
    pub columns: Vec<PackedColumn>,
    /// By number of the program.
    pub prefixes: Vec<Prefix>,
    /// Values of length and count fields while one payload is decoded.
    pub slots: Vec<u64>,
    next_row: u64,
    weight: u64,
}

impl ColumnBuffers {
    /// Empty columns of the given types.
    pub fn new<'a>(types: impl IntoIterator<Item = &'a DataType>) -> ColumnBuffers {
        let columns = types.into_iter().map(|data_type| PackedColumn::new(Packed::new(data_type))).collect();
        ColumnBuffers { columns, prefixes: Vec::new(), slots: Vec::new(), next_row: 0, weight: 0 }
    }

    /// The Arrow bytes of all values since they were last taken out: packed width of numbers, bytes plus a 4-byte offset
    /// for text, binary and lists. NULLs of a column weigh nothing, those inside lists and structures their position and
    /// place.
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// Takes out what was decoded; the next row may be row 0 again.
    pub fn finish(&mut self) -> PackedColumns {
        self.finish_behind(Vec::new(), 0)
    }

    /// As [`ColumnBuffers::finish`], behind other columns, whose numbers are below `first`; here they begin with it.
    pub fn finish_behind(&mut self, mut columns: Vec<(usize, PackedColumn)>, first: usize) -> PackedColumns {
        (self.next_row, self.weight) = (0, 0);
        let filled = (first..).zip(&mut self.columns).filter(|(_, column)| column.rows.count() > 0);
        columns.extend(filled.map(|(number, column)| (number, column.take_exact())));
        let filled = self.prefixes.iter_mut().filter(|prefix| prefix.rows.count() > 0);
        PackedColumns::new(columns, filled.map(Prefix::take).collect(), first)
    }

    /// Begins a row.
    ///
    /// # Panics
    ///
    /// When a row at or behind it was filled before: values are kept in the order in which they come.
    pub fn begin_row(&mut self, row: u32, slots: usize) {
        assert!(u64::from(row) >= self.next_row, "rows are filled in ascending order, each once");
        self.next_row = u64::from(row) + 1;
        if self.slots.len() < slots {
            self.slots.resize(slots, 0);
        }
    }

    /// Ends a row whose values have so many Arrow bytes.
    pub fn end_row(&mut self, weight: u64) {
        self.weight = self.weight.saturating_add(weight);
    }
}

/// The columns of one batch, by number; those without values take no space.
#[derive(Debug, Default)]
pub struct PackedColumns {
    /// The columns' numbers, ascending, and the values that were taken apart.
    columns: Vec<(usize, PackedColumn)>,
    /// The values that were not.
    prefixes: Vec<PrefixValues>,
    /// The fields of the prefixes, by column.
    fields: Vec<FieldPlace>,
}

/// Where the values of a field are.
#[derive(Clone, Copy, Debug)]
struct FieldPlace {
    column: usize,
    /// The number of the prefix.
    prefix: usize,
    /// Where they begin in it.
    start: usize,
    width: usize,
    form: PrefixForm,
}

impl PackedColumns {
    /// `first` is the number of the column that the prefixes call 0.
    pub fn new(mut columns: Vec<(usize, PackedColumn)>, mut prefixes: Vec<PrefixValues>, first: usize) -> Self {
        let fields_of = |(number, prefix): (usize, &PrefixValues)| {
            let places = prefix.starts().zip(&*prefix.fields).map(|(start, field)| FieldPlace {
                column: first + field.column,
                prefix: number,
                start,
                width: field.width,
                form: field.form,
            });
            places.collect::<Vec<_>>()
        };
        let mut fields: Vec<_> = prefixes.iter().enumerate().flat_map(fields_of).collect();
        fields.sort_by_key(|field| field.column);
        // A table with few rows in many slices consists of these lists.
        columns.shrink_to_fit();
        prefixes.shrink_to_fit();
        fields.shrink_to_fit();
        PackedColumns { columns, prefixes, fields }
    }

    /// Whether a column has a value in any of the rows.
    pub fn has_values(&self, column: usize, rows: &Range<u32>) -> bool {
        let has_values = |numbers: &RowNumbers| !numbers.select(rows).values.is_empty();
        self.column(column).is_some_and(|column| has_values(&column.rows))
            || self.prefix_columns(column).any(|column| has_values(column.rows))
    }

    /// The values of a column that were taken apart.
    pub(super) fn column(&self, column: usize) -> Option<&PackedColumn> {
        let found = self.columns.binary_search_by_key(&column, |(number, _)| *number).ok()?;
        Some(&self.columns[found].1)
    }

    /// The values of a column that were not; no two of them are of one row.
    pub(super) fn prefix_columns(&self, column: usize) -> impl Iterator<Item = PrefixColumn<'_>> {
        let first = self.fields.partition_point(|field| field.column < column);
        let fields = self.fields[first..].iter().take_while(move |field| field.column == column);
        fields.map(|field| self.prefixes[field.prefix].column(field.start, field.width, field.form))
    }
}
