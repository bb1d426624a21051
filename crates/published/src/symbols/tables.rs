//! The tables as files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use base::disk::absolute;
use base::error::{Error, ErrorKind, Result};
use base::progress::Progress;
use columnar::output::{Store, store_at};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::rows::{FunctionRow, ModuleSymbols, StoredFunction, StoredModule};
use crate::TableFile;
use crate::beside::{FILES, FOLDER, MODULES};

/// Where the symbols of a trace, or of a folder of traces, are: the folder that holds the traces.
pub fn root_of(path: &Path) -> PathBuf {
    let path = absolute(path);
    let is_trace = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("trace="));
    if is_trace { path.parent().map(Path::to_path_buf).unwrap_or(path) } else { path }
}

/// The symbols beside the traces of a folder.
pub(super) struct Tables<'a> {
    folder: Arc<dyn Store>,
    progress: &'a dyn Progress,
}

impl<'a> Tables<'a> {
    /// Those of the folder that holds traces.
    pub(super) fn beside(root: &Path, progress: &'a dyn Progress) -> Tables<'a> {
        Tables { folder: store_at(root).below(FOLDER), progress }
    }

    /// The modules that earlier look-ups know; none where there is no table.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the table cannot be read.
    pub(super) fn modules(&self) -> Result<Vec<ModuleSymbols>> {
        let mut rows = Vec::new();
        if self.folder.has(MODULES) {
            let file = TableFile::open(&*self.folder, MODULES).map_err(damaged)?;
            file.rows::<StoredModule<'_>>(None, self.progress, |row| rows.push(row.owned())).map_err(damaged)?;
        }
        Ok(rows)
    }

    /// The addresses of a symbol file that earlier look-ups know, sorted; none where there is no table.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the table cannot be read.
    pub(super) fn functions(&self, key: &str) -> Result<Vec<FunctionRow>> {
        let (path, mut rows) = (path(key), Vec::new());
        if self.folder.has(&path) {
            let file = TableFile::open(&*self.folder, &path).map_err(damaged)?;
            file.rows::<StoredFunction<'_>>(None, self.progress, |row| rows.push(row.owned())).map_err(damaged)?;
        }
        rows.sort();
        Ok(rows)
    }

    /// Writes the table of modules.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it cannot be written.
    pub(super) fn put_modules(&self, rows: &[ModuleSymbols]) -> Result<()> {
        let integers = |of: &dyn Fn(&ModuleSymbols) -> Option<i64>| integers(rows.iter().map(of));
        let texts = |of: &dyn Fn(&ModuleSymbols) -> Option<String>| texts(rows.iter().map(of));
        let shares: Float64Array = rows.iter().map(|row| Some(row.share)).collect();
        let columns = vec![
            ("symbol_key", texts(&|row| row.symbol_key.clone())),
            ("file_name", texts(&|row| row.file_name.clone())),
            ("time_stamp", integers(&|row| row.time_stamp)),
            ("image_size", integers(&|row| row.image_size)),
            ("pdb_name", texts(&|row| row.pdb_name.clone())),
            ("pdb_guid", texts(&|row| row.pdb_guid.clone())),
            ("pdb_age", integers(&|row| row.pdb_age)),
            ("status", texts(&|row| Some(row.status.clone()))),
            ("reason", texts(&|row| row.reason.clone())),
            ("path", texts(&|row| row.path.clone())),
            ("frames", integers(&|row| Some(row.frames))),
            ("share", Arc::new(shares) as ArrayRef),
            ("addresses", integers(&|row| Some(row.addresses))),
            ("named", integers(&|row| Some(row.named))),
        ];
        self.put(MODULES, columns)
    }

    /// Writes the addresses of a symbol file, sorted. `module`: name, GUID and age of the file.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it cannot be written.
    pub(super) fn put_functions(&self, key: &str, module: (&str, &str, i64), rows: &[FunctionRow]) -> Result<()> {
        let (name, guid, age) = module;
        let integers = |of: &dyn Fn(&FunctionRow) -> Option<i64>| integers(rows.iter().map(of));
        let texts = |of: &dyn Fn(&FunctionRow) -> Option<String>| texts(rows.iter().map(of));
        let with_lines: BooleanArray = rows.iter().map(|row| Some(row.with_lines)).collect();
        let columns = vec![
            ("pdb_name", texts(&|_| Some(name.to_owned()))),
            ("pdb_guid", texts(&|_| Some(guid.to_owned()))),
            ("pdb_age", integers(&|_| Some(age))),
            ("rva", integers(&|row| Some(row.rva))),
            ("inline_depth", integers(&|row| Some(row.inline_depth))),
            ("name", texts(&|row| row.name.clone())),
            ("full_name", texts(&|row| row.full_name.clone())),
            ("kind", texts(&|row| row.kind.clone())),
            ("start", integers(&|row| row.start)),
            ("size", integers(&|row| row.size)),
            ("file", texts(&|row| row.file.clone())),
            ("line", integers(&|row| row.line)),
            ("with_lines", Arc::new(with_lines) as ArrayRef),
        ];
        self.put(&path(key), columns)
    }

    fn put(&self, path: &str, columns: Vec<(&str, ArrayRef)>) -> Result<()> {
        let failure = || Error::new(ErrorKind::Output, "cannot write the table").in_file(self.folder.location(path));
        let batch =
            RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)));
        let batch = batch.map_err(|cause| failure().caused_by(cause))?;
        let mut bytes = Vec::new();
        let written = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties())).and_then(|mut writer| {
            writer.write(&batch)?;
            writer.close()
        });
        written.map_err(|cause| failure().caused_by(cause))?;
        self.folder.put(path, &bytes)
    }
}

/// What helps where a table is damaged.
pub(super) fn damaged(error: Error) -> Error {
    if error.kind() == ErrorKind::Output {
        error.with_hint("remove it, and run `etl2parquet symbols` again")
    } else {
        error
    }
}

/// How tables are written.
pub(super) fn properties() -> WriterProperties {
    let zstd = Compression::ZSTD(ZstdLevel::default());
    WriterProperties::builder().set_compression(zstd).set_created_by(CREATED_BY.to_owned()).build()
}

/// Who wrote the tables.
const CREATED_BY: &str = concat!("etl2parquet ", env!("CARGO_PKG_VERSION"));

/// A column of numbers.
pub(super) fn integers(values: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(values.collect::<Int64Array>())
}

/// A column of texts.
pub(super) fn texts<T: AsRef<str>>(values: impl Iterator<Item = Option<T>>) -> ArrayRef {
    Arc::new(values.collect::<StringArray>())
}

/// The file of a symbol file's addresses, below the folder of symbols: the identity alone names it, so that a symbol file that is known by
/// two names has one.
fn path(key: &str) -> String {
    format!("{FILES}/{key}.parquet")
}
