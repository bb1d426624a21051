//! Memory that the batches of a source take from one to the next.

use std::sync::Arc;

use arrow_array::StringArray;

use super::column_batch::KeyTable;
use super::distinct::DistinctValues;

/// Memory for the batches of a source, kept from one to the next. What it holds between two batches has no meaning, save for
/// the last dictionary.
#[derive(Debug, Default)]
pub struct BatchScratch {
    /// For [`Present::Rows`](super::Present::Rows).
    pub rows: Vec<u32>,
    /// For [`BatchValues::Int32`](super::BatchValues::Int32).
    pub int32: Vec<i32>,
    /// For [`BatchValues::Int64`](super::BatchValues::Int64).
    pub int64: Vec<i64>,
    /// For [`BatchValues::Flags`](super::BatchValues::Flags).
    pub flags: Vec<bool>,
    /// For [`BatchValues::Keys`](super::BatchValues::Keys).
    pub keys: Vec<u32>,
    /// For [`BatchValues::Lists`](super::BatchValues::Lists).
    pub ends: Vec<u32>,
    /// Those that keys stand for.
    pub(super) distinct: DistinctValues,
    /// The last Arrow dictionary and the table made of it.
    pub(super) dictionary: Option<(StringArray, Arc<KeyTable>)>,
}
