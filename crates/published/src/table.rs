//! The tables of a trace, read column by column, in whatever integer types they were written.

use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use base::error::{Error, ErrorKind, Result};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// Some rows of a table; columns by their number among those asked for. A column that the table lacks is NULL.
#[derive(Debug)]
pub struct Batch {
    columns: Vec<Option<ArrayRef>>,
    rows: usize,
}

impl Batch {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    fn value(&self, column: usize, row: usize) -> Option<&ArrayRef> {
        self.columns.get(column)?.as_ref().filter(|array| row < array.len() && array.is_valid(row))
    }

    /// Whether there is no value.
    pub fn is_null(&self, column: usize, row: usize) -> bool {
        self.value(column, row).is_none()
    }

    /// A text.
    pub fn text(&self, column: usize, row: usize) -> Option<&str> {
        Some(self.value(column, row)?.as_string_opt::<i32>()?.value(row))
    }

    /// A truth value.
    pub fn boolean(&self, column: usize, row: usize) -> Option<bool> {
        Some(self.value(column, row)?.as_boolean_opt()?.value(row))
    }

    /// A point in time that is stored in microseconds, in Unix nanoseconds; `None` where these have no room for it.
    pub fn time_ns(&self, column: usize, row: usize) -> Option<i64> {
        let values = self.value(column, row)?.as_primitive_opt::<TimestampMicrosecondType>()?;
        values.value(row).checked_mul(1000)
    }

    /// A list of texts; what is NULL in it is left out.
    pub fn texts(&self, column: usize, row: usize) -> Option<Vec<String>> {
        let values = self.value(column, row)?.as_list_opt::<i32>()?.value(row);
        Some(values.as_string_opt::<i32>()?.iter().flatten().map(str::to_owned).collect())
    }

    /// An integer of any width; unsigned ones of 64 bits as their bits.
    pub fn integer(&self, column: usize, row: usize) -> Option<i64> {
        let array = self.value(column, row)?;
        macro_rules! number {
            ($kind:ty) => {
                array.as_primitive_opt::<$kind>().map(|values| i64::from(values.value(row)))
            };
        }
        match array.data_type() {
            DataType::Int8 => number!(Int8Type),
            DataType::Int16 => number!(Int16Type),
            DataType::Int32 => number!(Int32Type),
            DataType::Int64 => number!(Int64Type),
            DataType::UInt8 => number!(UInt8Type),
            DataType::UInt16 => number!(UInt16Type),
            DataType::UInt32 => number!(UInt32Type),
            DataType::UInt64 => array.as_primitive_opt::<UInt64Type>().map(|values| values.value(row).cast_signed()),
            _ => None,
        }
    }
}

/// Rows that are decoded at a time.
const BATCH_ROWS: usize = 1 << 13;

/// Hands over some columns of a file, batch by batch: of all row groups, or of those named. A column that the file lacks is
/// NULL.
///
/// # Errors
/// [`ErrorKind::Output`] when the file cannot be read; those of `each`.
pub(crate) fn read_table(
    path: &Path,
    columns: &[&str],
    groups: Option<Vec<usize>>,
    each: &mut dyn FnMut(&Batch) -> Result<()>,
) -> Result<()> {
    read_checked(path, columns, groups, &|_| Ok(()), each)
}

/// Says whether a file has a column.
pub(super) type HasColumn<'a> = &'a dyn Fn(&str) -> bool;

/// The same; `check` is first asked about the file, given what says whether it has a column.
///
/// # Errors
/// Those of [`read_table`] and `check`.
pub(super) fn read_checked(
    path: &Path,
    columns: &[&str],
    groups: Option<Vec<usize>>,
    check: &dyn Fn(HasColumn<'_>) -> Result<()>,
    each: &mut dyn FnMut(&Batch) -> Result<()>,
) -> Result<()> {
    let failure = |what: &str| Error::new(ErrorKind::Output, what).in_file(path);
    let file = File::open(path).map_err(|cause| failure("cannot open").caused_by(cause))?;
    let mut builder = ParquetRecordBatchReaderBuilder::try_new(file)
        .map_err(|cause| failure("expected a Parquet file, found none that can be read").caused_by(cause))?;
    check(&|name| builder.schema().column_with_name(name).is_some())?;
    let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
    if let Some(groups) = groups {
        builder = builder.with_row_groups(groups);
    }
    let reader = builder.with_projection(mask).with_batch_size(BATCH_ROWS).build();
    for batch in reader.map_err(|cause| failure("cannot read").caused_by(cause))? {
        let batch = batch.map_err(|cause| failure("cannot read").caused_by(cause))?;
        let columns = columns.iter().map(|name| batch.column_by_name(name).cloned()).collect();
        each(&Batch { columns, rows: batch.num_rows() })?;
    }
    Ok(())
}
