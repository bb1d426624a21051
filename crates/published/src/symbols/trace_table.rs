//! A table of one trace that lies beside it, and says what it is of.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use base::disk::absolute;
use base::error::{Error, ErrorKind, Result};
use columnar::output::sink::hex;
use columnar::output::store::StoreReader;
use columnar::output::whole_file::WholeFile;
use columnar::output::{Store, StoredFile, store_at};
use conversion::convert::JobProgress;
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use sha2::{Digest, Sha256};

use super::tables::properties;
use crate::PublishedTrace;
use crate::beside::{DATA_BYTES, DATA_SHA256, FOLDER, OF_CONTENT, OfTrace, is_gone};

/// A table that is written. One that was there is there still until the new one is whole.
pub(super) struct TraceTable {
    store: Arc<dyn Store>,
    of: OfTrace,
    /// Below the folder of symbols.
    key: String,
    path: PathBuf,
    writer: ArrowWriter<Hashed<WholeFile>>,
    rows: u64,
}

/// A table that is there.
pub(super) struct WrittenTable {
    pub path: PathBuf,
    pub rows: u64,
    /// Whether it was written: one that was there with the same bytes stays as it is.
    pub is_new: bool,
}

impl TraceTable {
    /// Begins the table of a trace in the folder that holds traces.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it cannot be written.
    pub(super) fn begin(
        root: &Path,
        (of, trace): (OfTrace, &str),
        schema: SchemaRef,
        progress: &dyn JobProgress,
    ) -> Result<TraceTable> {
        let store = store_at(root).below(FOLDER);
        let key = of.path(trace);
        let path = store.location(&key);
        let failure = || failure(of, &path);
        fs::create_dir_all(store.location(of.folder())).map_err(|cause| failure().caused_by(cause))?;
        let file = WholeFile::begin(&path, &progress.cleanup()).map_err(|cause| failure().caused_by(cause))?;
        let writer = ArrowWriter::try_new(Hashed::of(file), schema, Some(properties()));
        let writer = writer.map_err(|cause| failure().caused_by(cause))?;
        Ok(TraceTable { store, of, key, path, writer, rows: 0 })
    }

    /// Adds rows.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when they cannot be written.
    pub(super) fn add(&mut self, rows: &RecordBatch) -> Result<()> {
        self.rows = self.rows.saturating_add(rows.num_rows() as u64);
        self.writer.write(rows).map_err(|cause| failure(self.of, &self.path).caused_by(cause))
    }

    /// Ends the table, which then says which trace it is of: the one with this [`content`](crate::beside::content).
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it cannot be written.
    pub(super) fn finish(mut self, content: String) -> Result<WrittenTable> {
        let path = self.path;
        let of_parquet = |cause| failure(self.of, &path).caused_by(cause);
        self.writer.flush().map_err(of_parquet)?;
        // What the writer holds back is rows, too.
        self.writer.sync().map_err(|cause| failure(self.of, &path).caused_by(cause))?;
        let data = self.writer.inner();
        let (bytes, hash) = (data.bytes.to_string(), hex(&data.hash.clone().finalize()));
        for (key, value) in [(OF_CONTENT, content), (DATA_BYTES, bytes), (DATA_SHA256, hash)] {
            self.writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        }
        let Hashed { to, hash, bytes } = self.writer.into_inner().map_err(of_parquet)?;
        let before = self.store.open(&self.key).ok().filter(|file| file.len() == bytes);
        let is_new = !before.is_some_and(|file| hash_of(file).is_ok_and(|before| before == hash.finalize()));
        if is_new {
            to.finish().map_err(|cause| failure(self.of, &path).caused_by(cause))?;
        }
        Ok(WrittenTable { path, rows: self.rows, is_new })
    }
}

fn failure(of: OfTrace, path: &Path) -> Error {
    Error::new(ErrorKind::Output, format!("cannot write the table of {}", of.rows())).in_file(path)
}

/// Removes the tables of traces that are not there any more.
///
/// # Errors
/// [`ErrorKind::Output`] when one cannot be removed.
pub(super) fn remove_of_gone(root: &Path, of: OfTrace) -> Result<()> {
    let root = store_at(root);
    let store = root.below(FOLDER);
    for name in of.names(&*store).iter().filter(|name| is_gone(&*root, name)) {
        store.remove(&of.path(name))?;
    }
    Ok(())
}

/// What views call a trace: its folder, without `trace=`.
pub(super) fn name_of(trace: &PublishedTrace) -> String {
    let folder = absolute(&trace.folder());
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.strip_prefix("trace=").map(str::to_owned).unwrap_or(name)
}

/// The SHA-256 of a file.
fn hash_of(file: Arc<dyn StoredFile>) -> io::Result<sha2::digest::Output<Sha256>> {
    let mut hash = Hashed::of(io::sink());
    io::copy(&mut StoreReader::new(file, 0), &mut hash)?;
    Ok(hash.hash.finalize())
}

/// Counts and hashes what is written.
struct Hashed<W> {
    to: W,
    hash: Sha256,
    bytes: u64,
}

impl<W: Write> Hashed<W> {
    fn of(to: W) -> Hashed<W> {
        Hashed { to, hash: Sha256::new(), bytes: 0 }
    }
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.hash.update(bytes.get(..written).unwrap_or_default());
        self.bytes = self.bytes.saturating_add(written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
