//! A row group on its way to the encoder: the rows of several slices, column by column.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Int32Array, TimestampMicrosecondArray, TimestampNanosecondArray};
use arrow_schema::DataType;
use base::error::Result;
use columnar::columns::lookup::lookup;
use columnar::columns::{
    BatchScratch, BatchSink, BatchValues, ColumnBatch, ColumnBuffers, KeyTable, PackedColumns, PackedRows, Present,
    RowSource, TimestampType, gather, gather_required,
};

use super::header::HeaderColumn;
use super::layout::{HeaderSource, TableColumns};
use super::rows::HeaderColumns;

/// The rows of one table in one slice.
#[derive(Debug)]
pub struct Chunk {
    /// Number of rows.
    pub rows: u32,
    /// Header and payload columns.
    pub columns: PackedColumns,
    /// Arrow bytes of all non-null values.
    pub weight: u64,
}

impl Chunk {
    /// Takes out the rows that were pushed and decoded; `by_shape` is the weight of what follows from their shapes in
    /// `table`.
    pub fn take(table: &TableColumns, header: &mut HeaderColumns, payload: &mut ColumnBuffers, by_shape: u64) -> Chunk {
        let (rows, columns) = (header.count(), header.take());
        let weights = columns.iter().map(|(number, values)| {
            let column = HeaderColumn::ALL[*number];
            column.weight(values, &table.types) + table.name_weight(column, &values.values)
        });
        let weight = weights.sum::<u64>() + payload.weight() + by_shape;
        Chunk { rows, columns: payload.finish_behind(columns, HeaderColumn::ALL.len()), weight }
    }
}

/// Some rows of several chunks, one after another.
type ChunkRanges<'a> = [(&'a PackedColumns, Range<u32>)];

/// A row group: ranges of chunks, in order, and each with rows.
#[derive(Debug)]
pub struct RowGroup {
    /// The table.
    layout: Arc<TableColumns>,
    /// Its rows.
    parts: Vec<(Arc<Chunk>, Range<u32>)>,
    /// Where the rows of each part end.
    ends: Vec<usize>,
}

impl RowSource for RowGroup {
    fn rows(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    fn column(&self, index: usize, rows: Range<usize>) -> Result<ArrayRef> {
        let (ranges, data_type) = (self.ranges_in(&rows), self.layout.schema.field(index).data_type());
        let number = self.layout.number(index);
        match self.source(index) {
            HeaderSource::Rows => gather(&ranges, number, data_type),
            HeaderSource::Time => Ok(self.timestamp(&ranges)),
            HeaderSource::Constant(table) => lookup(&Int32Array::from(vec![0; rows.len()]), table, data_type),
            HeaderSource::Shape(table) => {
                let key = |shape| self.layout.local_shape(u32::from_le_bytes(shape)).cast_signed();
                lookup(&gather_required(&ranges, SHAPE, key).into(), table, data_type)
            }
            HeaderSource::Label(table) => {
                lookup(gather(&ranges, number, &DataType::Int32)?.as_primitive::<Int32Type>(), table, data_type)
            }
        }
    }

    fn batch(
        &self,
        index: usize,
        rows: Range<usize>,
        scratch: &mut BatchScratch,
        sink: &mut BatchSink<'_>,
    ) -> Result<()> {
        let ranges = self.ranges_in(&rows);
        let column = |number| PackedRows::new(&ranges, number);
        let number = self.layout.number(index);
        match self.source(index) {
            HeaderSource::Rows => column(number).emit(self.layout.schema.field(index).data_type(), scratch, sink),
            HeaderSource::Time => column(TIME).emit_converted(self.time_unit(), scratch, sink),
            HeaderSource::Constant(table) => constant(rows.len(), table, scratch, sink),
            HeaderSource::Shape(table) => {
                column(SHAPE).emit_keys(table, |shape| self.layout.local_shape(shape), scratch, sink)
            }
            HeaderSource::Label(table) => column(number).emit_keys(table, |label| label, scratch, sink),
        }
    }

    fn all_null(&self, index: usize, rows: Range<usize>) -> bool {
        match self.source(index) {
            HeaderSource::Constant(table) => table.is_null(0),
            HeaderSource::Time | HeaderSource::Shape(_) => false,
            HeaderSource::Rows | HeaderSource::Label(_) => {
                let number = self.layout.number(index);
                !self.parts_in(&rows).any(|(columns, range)| columns.has_values(number, &range))
            }
        }
    }
}

/// The columns that others follow from.
const TIME: usize = HeaderColumn::TimestampNs as usize;
const SHAPE: usize = HeaderColumn::Shape as usize;

impl RowGroup {
    /// Ranges of chunks of a table, in order, and each with rows.
    pub(super) fn new(layout: Arc<TableColumns>, parts: Vec<(Arc<Chunk>, Range<u32>)>) -> RowGroup {
        let ends = parts.iter().scan(0, |end, (_, range)| {
            *end += range.len();
            Some(*end)
        });
        RowGroup { layout, ends: ends.collect(), parts }
    }

    /// The ranges that it consists of.
    #[cfg(test)]
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<u32>> {
        self.parts.iter().map(|(_, range)| range.clone())
    }

    fn source(&self, index: usize) -> &HeaderSource {
        self.layout.sources.get(index).unwrap_or(&HeaderSource::Rows)
    }

    /// Where some rows of the group lie.
    fn ranges_in(&self, rows: &Range<usize>) -> Vec<(&PackedColumns, Range<u32>)> {
        self.parts_in(rows).collect()
    }

    fn parts_in(&self, rows: &Range<usize>) -> impl Iterator<Item = (&PackedColumns, Range<u32>)> {
        let (from, to) = (rows.start, rows.end);
        let first = self.ends.partition_point(|&end| end <= from);
        let parts = self.parts[first..].iter().zip(&self.ends[first..]);
        let within = parts.map(move |((chunk, range), &end)| {
            let start = end - range.len();
            let (from, to) = (from.clamp(start, end), to.clamp(start, end));
            // Both lie within the part, whose rows are counted in 32 bits.
            let at = |row: usize| range.start + u32::try_from(row - start).unwrap_or(u32::MAX);
            (&chunk.columns, at(from)..at(to))
        });
        within.take_while(|(_, range)| !range.is_empty())
    }

    /// How the column of times is made of nanoseconds.
    fn time_unit(&self) -> fn(i64) -> i64 {
        match self.layout.types.timestamps {
            TimestampType::Micros => |ns| ns.div_euclid(1000),
            TimestampType::Nanos => |ns| ns,
        }
    }

    fn timestamp(&self, ranges: &ChunkRanges<'_>) -> ArrayRef {
        let from_ns = self.time_unit();
        let times = gather_required(ranges, TIME, |ns| from_ns(i64::from_le_bytes(ns)));
        match self.layout.types.timestamps {
            TimestampType::Micros => Arc::new(TimestampMicrosecondArray::from(times).with_timezone("UTC")),
            TimestampType::Nanos => Arc::new(TimestampNanosecondArray::from(times).with_timezone("UTC")),
        }
    }
}

/// Hands on rows that all have the first key of a table.
fn constant(rows: usize, table: &Arc<KeyTable>, scratch: &mut BatchScratch, sink: &mut BatchSink<'_>) -> Result<()> {
    if table.is_null(0) {
        return sink(ColumnBatch::nulls(rows));
    }
    let keys = &mut scratch.keys;
    keys.clear();
    keys.resize(rows, 0);
    sink(ColumnBatch::Values { rows, present: Present::All, values: BatchValues::Keys { keys, table } })
}
