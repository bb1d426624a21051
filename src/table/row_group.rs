//! A row group on its way to the encoder: the rows of several slices, turned into Arrow column by column.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, StringArray, TimestampMicrosecondArray, TimestampNanosecondArray};
use arrow_schema::DataType;

use super::header::HeaderColumn;
use super::layout::{ShapeConstants, TableColumns};
use super::row::RowStatus;
use super::rows::HeaderColumns;
use crate::clock::TimeStatus;
use crate::columns::lookup::{label, lookup_guids, lookup_labels, lookup_numbers};
use crate::columns::{ColumnBuffers, PackedColumns, RowSource, TimestampType, gather, gather_required};
use crate::error::Result;
use crate::schema::DecodeSource;

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
    /// Takes out the rows that were pushed and decoded; `by_shape` is the weight of what follows from their shapes.
    pub fn take(header: &mut HeaderColumns, payload: &mut ColumnBuffers, by_shape: u64) -> Chunk {
        let (rows, weight) = (header.count(), header.weight() + payload.weight() + by_shape);
        Chunk { rows, columns: payload.finish_behind(header.take(), HeaderColumn::ALL.len()), weight }
    }
}

/// Some rows of several chunks, one after another.
type ChunkRanges<'a> = [(&'a PackedColumns, Range<u32>)];

/// A row group: ranges of chunks, in order, and each with rows.
#[derive(Debug)]
pub struct RowGroup {
    /// The table.
    pub layout: Arc<TableColumns>,
    /// Its rows.
    pub parts: Vec<(Arc<Chunk>, Range<u32>)>,
}

impl RowSource for RowGroup {
    fn rows(&self) -> usize {
        self.parts.iter().map(|(_, range)| range.len()).sum()
    }

    fn column(&self, index: usize, rows: Range<usize>) -> Result<ArrayRef> {
        let (ranges, data_type) = (self.ranges_in(&rows), self.layout.schema.field(index).data_type());
        match self.layout.header.get(index) {
            Some(&column) => self.header_column(column, &ranges, data_type),
            None => gather(&ranges, self.layout.number(index), data_type),
        }
    }

    fn all_null(&self, index: usize, rows: Range<usize>) -> bool {
        let follows = self.layout.header.get(index).is_some_and(|&column| self.follows(column));
        let number = self.layout.number(index);
        !follows && !self.ranges_in(&rows).iter().any(|(columns, range)| columns.has_values(number, range))
    }
}

impl RowGroup {
    /// Where some rows of the group lie.
    fn ranges_in(&self, rows: &Range<usize>) -> Vec<(&PackedColumns, Range<u32>)> {
        let mut start = 0;
        let within = self.parts.iter().filter_map(|(chunk, range)| {
            let (first, end) = (start, start + range.len());
            start = end;
            let (from, to) = (rows.start.clamp(first, end), rows.end.clamp(first, end));
            // Both lie within the part, whose rows are counted in 32 bits.
            let at = |row: usize| range.start + u32::try_from(row - first).unwrap_or(u32::MAX);
            (from < to).then(|| (&chunk.columns, at(from)..at(to)))
        });
        within.collect()
    }

    /// Whether a column follows from others or from the shape, and is not kept itself.
    fn follows(&self, column: HeaderColumn) -> bool {
        match column {
            HeaderColumn::Timestamp
            | HeaderColumn::EventName
            | HeaderColumn::DecodeSource
            | HeaderColumn::MessageGuid => true,
            column => column.is_of_identity() && !self.layout.has_identities,
        }
    }

    fn header_column(&self, column: HeaderColumn, ranges: &ChunkRanges<'_>, data_type: &DataType) -> Result<ArrayRef> {
        let constants = &self.layout.constants;
        let by_shape = |value: fn(&ShapeConstants) -> Option<u32>| {
            let table: Vec<_> = constants.iter().map(value).collect();
            Ok(lookup_numbers(&self.local_shapes(ranges), &table, data_type))
        };
        match column {
            HeaderColumn::Timestamp => Ok(self.timestamp(ranges)),
            HeaderColumn::DecodeStatus => labelled(ranges, column, RowStatus::ALL.map(RowStatus::name)),
            HeaderColumn::TimeStatus => labelled(ranges, column, TimeStatus::ALL.map(TimeStatus::name)),
            HeaderColumn::EventName => {
                let positions =
                    (0..).zip(constants).map(|(position, shape)| shape.event_name.as_ref().map(|_| position));
                lookup_labels(&self.local_shapes(ranges), &positions.collect::<Vec<_>>(), &self.layout.event_names)
            }
            HeaderColumn::DecodeSource => {
                let sources: Vec<_> = constants.iter().map(|constants| Some(constants.decode_source)).collect();
                let names = StringArray::from_iter_values(DecodeSource::ALL.map(DecodeSource::name));
                lookup_labels(&self.local_shapes(ranges), &sources, &names)
            }
            HeaderColumn::MessageGuid => {
                let guids: Vec<_> = constants.iter().map(|constants| constants.message_guid).collect();
                lookup_guids(&self.local_shapes(ranges), &guids, data_type)
            }
            column if !self.follows(column) => gather(ranges, column as usize, data_type),
            HeaderColumn::EventId => by_shape(|constants| constants.event_id.map(u32::from)),
            HeaderColumn::EventVersion => by_shape(|constants| constants.event_version.map(u32::from)),
            HeaderColumn::Opcode => by_shape(|constants| constants.opcode.map(u32::from)),
            // The others of an identity stand in tables only that keep them.
            _ => by_shape(|_| None),
        }
    }

    fn timestamp(&self, ranges: &ChunkRanges<'_>) -> ArrayRef {
        let times = |from_ns: fn(i64) -> i64| {
            let number = HeaderColumn::TimestampNs as usize;
            gather_required(ranges, number, |bytes| from_ns(i64::from_le_bytes(bytes)))
        };
        match self.layout.types.timestamps {
            TimestampType::Micros => {
                let micros = times(|ns| ns.div_euclid(1000));
                Arc::new(TimestampMicrosecondArray::from(micros).with_timezone("UTC"))
            }
            TimestampType::Nanos => Arc::new(TimestampNanosecondArray::from(times(|ns| ns)).with_timezone("UTC")),
        }
    }

    /// The index of every row's shape among those of the table.
    fn local_shapes(&self, ranges: &ChunkRanges<'_>) -> Vec<u32> {
        let local = |shape| self.layout.local_shape(u32::from_le_bytes(shape));
        gather_required(ranges, HeaderColumn::Shape as usize, local)
    }
}

/// A column of labels that are kept as their numbers.
fn labelled<const N: usize>(
    ranges: &ChunkRanges<'_>,
    column: HeaderColumn,
    labels: [&'static str; N],
) -> Result<ArrayRef> {
    let keys = gather(ranges, column as usize, &DataType::Int32)?;
    label(keys.as_primitive::<Int32Type>().clone(), &StringArray::from_iter_values(labels))
}
