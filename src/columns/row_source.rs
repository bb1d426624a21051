//! Rows that become Arrow column by column, a range of rows at a time.

use std::ops::Range;

use arrow_array::ArrayRef;

use crate::error::Result;

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

    /// Whether the column is NULL in all of these rows. Then [`RowSource::column`] is not called: all such columns of one
    /// type share one array. The bytes are the same either way.
    fn all_null(&self, index: usize, rows: Range<usize>) -> bool {
        let _ = (index, rows);
        false
    }
}
