//! The frames of a trace as a table beside it, for programs that run no views.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use base::disk::absolute;
use base::error::{Error, ErrorKind, Result};
use columnar::output::sink::hex;
use columnar::output::store::StoreReader;
use columnar::output::whole_file::WholeFile;
use columnar::output::{StoredFile, store_at};
use conversion::convert::JobProgress;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::frame_rows::{FrameRow, TraceFrames};
use super::tables::{CREATED_BY, Tables, integers, texts};
use crate::PublishedTrace;
use crate::beside::{DATA_BYTES, DATA_SHA256, FOLDER, FRAMES, OF_CONTENT, content, frame_names, frames_of, is_gone};
use crate::source::Source;

/// Rows that are encoded at a time.
const BATCH_ROWS: usize = 1 << 14;

/// A table of the frames of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FrameTable {
    /// The name of the trace.
    pub trace: String,
    /// The file.
    pub path: PathBuf,
    /// Its rows.
    pub rows: u64,
    /// Whether it was written: one that is there with the same bytes stays as it is.
    pub is_new: bool,
}

/// Writes the frames of a trace beside it, by what the tables of symbols know.
///
/// # Errors
/// [`ErrorKind::Output`] when the trace or a table cannot be read, or the table cannot be written; [`ErrorKind::Interrupted`] when the
/// caller asked to stop. Then a table that was there is there still.
pub(super) fn write(trace: &PublishedTrace, root: &Path, progress: &dyn JobProgress) -> Result<FrameTable> {
    let source = Source::open(trace, progress)?;
    let name = name_of(trace);
    let store = store_at(root).below(FOLDER);
    let path = store.location(&frames_of(&name));
    let failure = || Error::new(ErrorKind::Output, "cannot write the table of frames").in_file(&path);
    let of_system = |cause: io::Error| failure().caused_by(cause);
    let frames = TraceFrames::read(&source, &Tables::beside(root, progress))?;
    fs::create_dir_all(store.location(FRAMES)).map_err(of_system)?;
    let file = WholeFile::begin(&path, &progress.cleanup()).map_err(of_system)?;
    let of_parquet = |cause: ParquetError| failure().caused_by(cause);
    let mut table = Table::begin(file, &name).map_err(of_parquet)?;
    frames.rows(progress, |row| table.add(row).map_err(of_parquet))?;
    let (Hashed { to, hash, bytes }, rows) = table.finish(content(&source.record)).map_err(of_parquet)?;
    let before = store.open(&frames_of(&name)).ok().filter(|file| file.len() == bytes);
    let is_new = !before.is_some_and(|file| hash_of(file).is_ok_and(|before| before == hash.finalize()));
    if is_new {
        to.finish().map_err(of_system)?;
    }
    Ok(FrameTable { trace: name, path, rows, is_new })
}

/// Removes the tables of frames of traces that are not there any more.
///
/// # Errors
/// [`ErrorKind::Output`] when one cannot be removed.
pub(super) fn remove_of_gone(root: &Path) -> Result<()> {
    let root = store_at(root);
    let store = root.below(FOLDER);
    for name in frame_names(&*store).iter().filter(|name| is_gone(&*root, name)) {
        store.remove(&frames_of(name))?;
    }
    Ok(())
}

/// What views call a trace: its folder, without `trace=`.
fn name_of(trace: &PublishedTrace) -> String {
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

type Writing<T> = std::result::Result<T, ParquetError>;

/// A table that is written.
struct Table<'a, W: Write + Send> {
    trace: &'a str,
    writer: ArrowWriter<Hashed<W>>,
    /// Rows that are not encoded yet.
    waiting: Vec<FrameRow<'a>>,
    rows: u64,
}

impl<'a, W: Write + Send> Table<'a, W> {
    fn begin(to: W, trace: &'a str) -> Writing<Table<'a, W>> {
        let zstd = Compression::ZSTD(ZstdLevel::default());
        let properties =
            WriterProperties::builder().set_compression(zstd).set_created_by(CREATED_BY.to_owned()).build();
        let writer = ArrowWriter::try_new(Hashed::of(to), schema(), Some(properties))?;
        Ok(Table { trace, writer, waiting: Vec::with_capacity(BATCH_ROWS), rows: 0 })
    }

    fn add(&mut self, row: FrameRow<'a>) -> Writing<()> {
        self.waiting.push(row);
        if self.waiting.len() < BATCH_ROWS { Ok(()) } else { self.encode() }
    }

    fn encode(&mut self) -> Writing<()> {
        let batch = RecordBatch::try_new(schema(), columns(self.trace, &self.waiting))?;
        self.rows = self.rows.saturating_add(self.waiting.len() as u64);
        self.waiting.clear();
        self.writer.write(&batch)
    }

    /// Ends the table, which then says what it is of.
    fn finish(mut self, content: String) -> Writing<(Hashed<W>, u64)> {
        self.encode()?;
        self.writer.flush()?;
        // What the writer holds back is rows, too.
        self.writer.sync()?;
        let data = self.writer.inner();
        let (bytes, hash) = (data.bytes.to_string(), hex(&data.hash.clone().finalize()));
        for (key, value) in [(OF_CONTENT, content), (DATA_BYTES, bytes), (DATA_SHA256, hash)] {
            self.writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        }
        Ok((self.writer.into_inner()?, self.rows))
    }
}

/// The columns of the view `frames`.
fn schema() -> SchemaRef {
    let integer = |name: &str| Field::new(name, DataType::Int64, true);
    let text = |name: &str| Field::new(name, DataType::Utf8, true);
    Arc::new(Schema::new(vec![
        text("trace"),
        integer("process_id"),
        integer("stack_id"),
        integer("frame"),
        integer("depth"),
        integer("inline_depth"),
        integer("address"),
        text("module"),
        text("module_path"),
        integer("module_offset"),
        text("function"),
        text("kind"),
        text("file"),
        integer("line"),
        Field::new("is_first", DataType::Boolean, true),
        text("unknown_because"),
        integer("machine"),
    ]))
}

/// The values of some rows, in the order of [`schema`].
fn columns(trace: &str, rows: &[FrameRow<'_>]) -> Vec<ArrayRef> {
    let integer = |of: &dyn Fn(&FrameRow<'_>) -> Option<i64>| integers(rows.iter().map(of));
    let whole = |of: &dyn Fn(&FrameRow<'_>) -> i64| integers(rows.iter().map(|row| Some(of(row))));
    let is_first: BooleanArray = rows.iter().map(|row| Some(row.is_first)).collect();
    vec![
        texts(rows.iter().map(|_| Some(trace))),
        integer(&|row| row.process_id),
        whole(&|row| row.stack_id),
        whole(&|row| row.frame),
        whole(&|row| row.depth),
        whole(&|row| row.inline_depth),
        whole(&|row| row.address),
        texts(rows.iter().map(|row| row.module)),
        texts(rows.iter().map(|row| row.module_path)),
        integer(&|row| row.module_offset),
        texts(rows.iter().map(|row| row.function)),
        texts(rows.iter().map(|row| row.kind)),
        texts(rows.iter().map(|row| row.file)),
        integer(&|row| row.line),
        Arc::new(is_first),
        texts(rows.iter().map(|row| row.unknown_because)),
        whole(&|row| row.machine),
    ]
}
