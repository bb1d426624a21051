//! Rows that are encoded column by column, a range of rows at a time.

use std::ops::Range;

use arrow_array::ArrayRef;
use base::error::Result;

use super::array_batch::BatchSink;
use super::batch_scratch::BatchScratch;
use super::column_batch::ColumnBatch;

/// What one row group holds, made piece by piece while it is encoded.
pub trait RowSource: Send + Sync {
    /// The number of rows.
    fn rows(&self) -> usize;

    /// Some rows of the column at this position of the table's schema, of the schema's type or a dictionary of it.
    ///
    /// Called in any order and from any thread; equal calls must give equal arrays.
    ///
    /// # Errors
    /// Whatever keeps the column from being made; it ends the conversion.
    fn column(&self, index: usize, rows: Range<usize>) -> Result<ArrayRef>;

    /// The same rows in the form in which the encoder takes them best, handed to `sink` in one call; those of a structure in
    /// one, as an array, or in one for each of its members, in their order, where a row has all of them or none.
    ///
    /// What it hands over stands for the same values as [`RowSource::column`]: an encoder may ask for either, and for some
    /// rows first for one and then for the other.
    ///
    /// # Errors
    /// Those of [`RowSource::column`] and of `sink`.
    fn batch(
        &self,
        index: usize,
        rows: Range<usize>,
        scratch: &mut BatchScratch,
        sink: &mut BatchSink<'_>,
    ) -> Result<()> {
        if self.all_null(index, rows.clone()) {
            return sink(ColumnBatch::nulls(rows.len()));
        }
        let _ = scratch;
        sink(ColumnBatch::Array(self.column(index, rows)?))
    }

    /// Whether the column is NULL in all of these rows. Then [`RowSource::column`] is not called: all such columns of one
    /// type share one array. The bytes are the same either way.
    fn all_null(&self, index: usize, rows: Range<usize>) -> bool {
        let _ = (index, rows);
        false
    }
}
