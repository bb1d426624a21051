//! The rows of a table, from the files of a trace, or of a lake.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_schema::{DataType, Field, FieldRef, Fields};
use base::error::{Error, ErrorKind, Result};
use base::progress::Progress;
use columnar::columns::with_uuid_type;
use columnar::output::{Store, StoredFile};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::ParquetMetaData;
use published::verify::check_file;
use published::{ParquetBytes, column_types};

use super::columns::columns_of;
use super::pieces::Rows;

/// A file, as a manifest has it.
#[derive(Clone, Debug)]
pub(crate) struct SourceFile {
    /// Where it is in the trace, or in the lake.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256, in lower-case hexadecimal.
    pub sha256: String,
}

/// The way out where a file is not what it was.
pub(crate) const HINT: &str = "etl2parquet verify names all that is not as it was published";

/// The column that names the trace of a row.
pub(crate) const TRACE: &str = "trace";

/// A file whose footer is read.
pub(crate) struct TableFile {
    /// What it is called in messages.
    location: std::path::PathBuf,
    builder: ParquetRecordBatchReaderBuilder<ParquetBytes>,
}

impl TableFile {
    /// Opens one.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it cannot be read.
    pub(crate) fn open(store: &dyn Store, path: &str) -> Result<TableFile> {
        let location = store.location(path);
        let failure = |cause| Error::new(ErrorKind::Output, "cannot open").in_file(&location).caused_by(cause);
        TableFile::of(store.open(path).map_err(failure)?, location)
    }

    /// That of a file that is open.
    fn of(file: Arc<dyn StoredFile>, location: std::path::PathBuf) -> Result<TableFile> {
        let builder = ParquetRecordBatchReaderBuilder::try_new(ParquetBytes(file)).map_err(|cause| {
            let error = Error::new(ErrorKind::Output, "expected a Parquet file, found none that can be read");
            error.in_file(&location).caused_by(cause).with_hint(HINT)
        })?;
        Ok(TableFile { location, builder })
    }

    /// The columns by name and form, as [`columns_of`] has them, each as Arrow has it.
    pub(crate) fn fields(&self) -> Vec<((String, String), Field)> {
        let types = column_types(self.builder.metadata());
        let by_path: HashMap<&str, &str> = types.iter().map(|(path, kind)| (path.as_str(), kind.as_str())).collect();
        let columns = columns_of(&types).into_iter().zip(self.builder.schema().fields());
        columns.map(|(column, field)| ((column.name, column.form), marked(field, field.name(), &by_path))).collect()
    }

    /// Its rows, so many at a time, without the columns in which no row has a value: to open a column takes longer than to read the
    /// few rows of a small trace.
    fn batches(self, rows: usize) -> Result<ParquetRecordBatchReader> {
        let metadata = self.builder.metadata();
        let columns = (0..self.builder.schema().fields().len()).filter(|&column| !is_null(metadata, column));
        let mask = ProjectionMask::roots(self.builder.parquet_schema(), columns);
        let reader = self.builder.with_projection(mask).with_batch_size(rows).build();
        reader.map_err(|cause| unreadable(&self.location, cause))
    }
}

/// Whether the statistics of all row groups say of a column that it is NULL in each row. Those of lists and structures count what is empty
/// as NULL.
fn is_null(metadata: &ParquetMetaData, column: usize) -> bool {
    let schema = metadata.file_metadata().schema_descr();
    let mut leaves = (0..schema.num_columns()).filter(|&leaf| schema.get_column_root_idx(leaf) == column);
    let (Some(leaf), None) = (leaves.next(), leaves.next()) else { return false };
    let is_plain = schema.column(leaf).path().parts().len() == 1;
    // Of a file without rows nothing is known, and nothing saved.
    is_plain
        && metadata.num_row_groups() > 0
        && metadata.row_groups().iter().all(|group| {
            let nulls = group.columns().get(leaf).and_then(|chunk| chunk.statistics()?.null_count_opt());
            nulls.is_some_and(|nulls| u64::try_from(group.num_rows()) == Ok(nulls))
        })
}

/// The place of each of some columns among those that are read, by name.
fn places<'n>(batches: &ParquetRecordBatchReader, names: impl Iterator<Item = &'n str>) -> Vec<Option<usize>> {
    let schema = batches.schema();
    names.map(|name| schema.index_of(name).ok()).collect()
}

fn unreadable(location: &std::path::Path, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::new(ErrorKind::Output, "cannot read").in_file(location).caused_by(cause)
}

/// A field with the UUIDs in it marked as such, which the reader does not do.
fn marked(field: &Field, path: &str, types: &HashMap<&str, &str>) -> Field {
    let is_uuid = types.get(path).is_some_and(|kind| kind.contains("UUID"));
    match field.data_type() {
        DataType::FixedSizeBinary(16) if is_uuid => with_uuid_type(field.clone()),
        DataType::List(item) => {
            let item: FieldRef = Arc::new(marked(item, path, types));
            field.clone().with_data_type(DataType::List(item))
        }
        DataType::Struct(members) => {
            let member = |member: &FieldRef| marked(member, &format!("{path}.{}", member.name()), types);
            field.clone().with_data_type(DataType::Struct(members.iter().map(member).collect::<Fields>()))
        }
        _ => field.clone(),
    }
}

impl SourceFile {
    /// Opens it, where it is still what the manifest says: what is changed is not to look whole in a lake.
    fn open(&self, store: &dyn Store, progress: &dyn Progress) -> Result<TableFile> {
        let checked = check_file(store, &self.path, (self.bytes, &self.sha256), progress);
        TableFile::of(checked.map_err(|error| error.with_hint(HINT))?, store.location(&self.path))
    }
}

/// Hands over the rows of files of one trace, with these columns.
///
/// # Errors
/// [`ErrorKind::Output`] when a file cannot be read, or is another one, and those of `each`.
pub(crate) fn rows_of_files(
    (store, files): (&dyn Store, &[SourceFile]),
    (columns, block): (&[&str], usize),
    progress: &dyn Progress,
    each: &mut dyn FnMut(Rows) -> Result<()>,
) -> Result<()> {
    for file in files {
        let file = file.open(store, progress)?;
        let (location, batches) = (file.location.clone(), file.batches(block)?);
        let places = places(&batches, columns.iter().copied());
        for batch in batches {
            each(Rows::of(&batch.map_err(|cause| unreadable(&location, cause))?, &places))?;
        }
    }
    Ok(())
}

/// Files of a lake with the rows of several traces, which are asked for in the order in which they stand there.
pub(crate) struct LakeRows<'a> {
    store: &'a dyn Store,
    files: VecDeque<SourceFile>,
    progress: &'a dyn Progress,
    columns: &'a [&'a str],
    block: usize,
    reader: Option<LakeReader>,
    /// Rows that are read and not handed over.
    rest: Option<RecordBatch>,
}

struct LakeReader {
    batches: ParquetRecordBatchReader,
    location: std::path::PathBuf,
    places: Vec<Option<usize>>,
    trace: usize,
}

impl<'a> LakeRows<'a> {
    /// Those of files of one table that have the same columns, in order.
    pub(crate) fn new(
        store: &'a dyn Store,
        files: impl IntoIterator<Item = SourceFile>,
        (columns, block): (&'a [&'a str], usize),
        progress: &'a dyn Progress,
    ) -> Self {
        LakeRows { store, files: files.into_iter().collect(), progress, columns, block, reader: None, rest: None }
    }

    /// Hands over the rows of a trace, if there are any; those of traces before it are passed over.
    ///
    /// # Errors
    /// As [`rows_of_files`].
    pub(crate) fn rows_of(&mut self, trace: &str, each: &mut dyn FnMut(Rows) -> Result<()>) -> Result<()> {
        loop {
            if self.rest.is_none() {
                self.rest = self.next_batch()?;
            }
            let Some((batch, reader)) = self.rest.take().zip(self.reader.as_ref()) else { return Ok(()) };
            let names = batch.columns().get(reader.trace).and_then(|names| names.as_string_opt::<i32>());
            let names = names.filter(|names| names.null_count() == 0 && !names.is_empty());
            let names = names.ok_or_else(|| {
                Error::new(ErrorKind::Output, "expected the name of a trace in each row").in_file(&reader.location)
            })?;
            let first = names.value(0);
            if first > trace {
                self.rest = Some(batch);
                return Ok(());
            }
            let is_asked = first == trace;
            let rows = (0..names.len()).take_while(|&row| names.value(row) == first).count();
            if is_asked {
                each(Rows::of(&batch.slice(0, rows), &reader.places))?;
            }
            self.rest = (rows < batch.num_rows()).then(|| batch.slice(rows, batch.num_rows() - rows));
        }
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(reader) = &mut self.reader {
                match reader.batches.next() {
                    Some(batch) => return batch.map(Some).map_err(|cause| unreadable(&reader.location, cause)),
                    None => self.reader = None,
                }
            }
            let Some(file) = self.files.pop_front() else { return Ok(None) };
            let file = file.open(self.store, self.progress)?;
            let (location, batches) = (file.location.clone(), file.batches(self.block)?);
            let places = places(&batches, self.columns.iter().copied());
            let trace = batches.schema().index_of(TRACE).map_err(|_| {
                Error::new(ErrorKind::Output, "expected the column trace, found none").in_file(&location)
            })?;
            self.reader = Some(LakeReader { batches, location, places, trace });
        }
    }
}
