//! The tables of a trace, read row by row.

use std::path::{Path, PathBuf};

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::{ArrowError, SchemaRef};
use base::error::{Error, ErrorKind, Result};
use base::progress::{Progress, stop_if_cancelled};
use columnar::output::Store;
use conversion::sidecar::read::ReadRow;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowPredicateFn, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowFilter,
};

use super::parquet_bytes::ParquetBytes;

/// Rows that are decoded at a time.
const BATCH_ROWS: usize = 1 << 13;

/// Rows of a batch that is handed on.
const STREAM_ROWS: usize = 1 << 14;

/// Says which rows of a batch pass.
pub(crate) type Passing = Box<dyn FnMut(&RecordBatch) -> std::result::Result<BooleanArray, ArrowError> + Send>;

/// A Parquet file whose footer has been read.
pub(crate) struct TableFile {
    path: PathBuf,
    builder: ParquetRecordBatchReaderBuilder<ParquetBytes>,
}

impl TableFile {
    /// Opens a file.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it cannot be read.
    pub(crate) fn open(store: &dyn Store, path: &str) -> Result<TableFile> {
        let location = store.location(path);
        let file = store.open(path).map_err(|cause| failure(&location, "cannot open").caused_by(cause))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(ParquetBytes(file)).map_err(|cause| {
            failure(&location, "expected a Parquet file, found none that can be read")
                .caused_by(cause)
                .with_hint("convert the trace again")
        })?;
        Ok(TableFile { path: location, builder })
    }

    /// Whether the file has a column.
    pub(crate) fn has_column(&self, name: &str) -> bool {
        self.builder.schema().column_with_name(name).is_some()
    }

    /// The columns.
    pub(crate) fn schema(&self) -> SchemaRef {
        SchemaRef::clone(self.builder.schema())
    }

    /// The rows as batches: of all columns or of some, and all or those that pass, by what they have in other columns.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the file cannot be read.
    pub(crate) fn read(
        self,
        columns: Option<&[&str]>,
        passing: Option<(&[&str], Passing)>,
    ) -> Result<ParquetRecordBatchReader> {
        let mask = |columns: &[&str]| ProjectionMask::columns(self.builder.parquet_schema(), columns.iter().copied());
        let projection = columns.map_or_else(ProjectionMask::all, mask);
        let filter = passing.map(|(columns, mut passes)| {
            let predicate = ArrowPredicateFn::new(mask(columns), move |batch| passes(&batch));
            RowFilter::new(vec![Box::new(predicate)])
        });
        let builder = self.builder.with_projection(projection).with_batch_size(STREAM_ROWS);
        let builder = match filter {
            Some(filter) => builder.with_row_filter(filter),
            None => builder,
        };
        builder.build().map_err(|cause| failure(&self.path, "cannot read").caused_by(cause))
    }

    /// Hands over the rows of all row groups, or of some. A column that the file lacks is NULL.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the file cannot be read, or has no value where there always is one;
    /// [`ErrorKind::Interrupted`] when the caller asked to stop.
    pub(crate) fn rows<R: ReadRow>(
        self,
        groups: Option<Vec<usize>>,
        progress: &dyn Progress,
        mut each: impl for<'b> FnMut(R::Row<'b>),
    ) -> Result<()> {
        let path = self.path.clone();
        for batch in self.batches(R::COLUMNS, groups)? {
            stop_if_cancelled(progress)?;
            let batch = batch.map_err(|cause| failure(&path, "cannot read").caused_by(cause))?;
            R::read(&batch, &mut each).map_err(|error| in_file(error, &path))?;
        }
        Ok(())
    }

    /// Hands over all rows, each with whether it passes, by what it has in other columns.
    ///
    /// # Errors
    /// As [`TableFile::rows`].
    pub(crate) fn rows_passing<R: ReadRow>(
        self,
        (columns, passing): (&[&str], impl Fn(&RecordBatch) -> Result<BooleanArray>),
        progress: &dyn Progress,
        mut each: impl for<'b> FnMut(bool, R::Row<'b>),
    ) -> Result<()> {
        let path = self.path.clone();
        let columns: Vec<&str> = R::COLUMNS.iter().chain(columns).copied().collect();
        for batch in self.batches(&columns, None)? {
            stop_if_cancelled(progress)?;
            let batch = batch.map_err(|cause| failure(&path, "cannot read").caused_by(cause))?;
            let passing = passing(&batch).map_err(|error| in_file(error, &path))?;
            let mut passing = passing.values().iter();
            R::read(&batch, |row| each(passing.next().unwrap_or(false), row)).map_err(|error| in_file(error, &path))?;
        }
        Ok(())
    }

    /// All rows as batches of at most so many rows, of all columns or of some.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the file cannot be read.
    pub(crate) fn read_in(self, rows: usize, columns: Option<&[&str]>) -> Result<ParquetRecordBatchReader> {
        let mask = |columns: &[&str]| ProjectionMask::columns(self.builder.parquet_schema(), columns.iter().copied());
        let projection = columns.map_or_else(ProjectionMask::all, mask);
        let reader = self.builder.with_projection(projection).with_batch_size(rows).build();
        reader.map_err(|cause| failure(&self.path, "cannot read").caused_by(cause))
    }

    fn batches(self, columns: &[&str], groups: Option<Vec<usize>>) -> Result<ParquetRecordBatchReader> {
        let builder = match groups {
            Some(groups) => self.builder.with_row_groups(groups),
            None => self.builder,
        };
        TableFile { path: self.path, builder }.read_in(BATCH_ROWS, Some(columns))
    }
}

/// Why a file of a trace cannot be used.
pub(crate) fn failure(path: &Path, what: &str) -> Error {
    Error::new(ErrorKind::Output, what).in_file(path)
}

/// An error of reading, with the file where it is one of the file's content.
fn in_file(error: Error, path: &Path) -> Error {
    let is_bare = error.kind() == ErrorKind::Output && error.location().file.is_none();
    if is_bare { error.in_file(path) } else { error }
}
