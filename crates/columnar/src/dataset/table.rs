//! One table on its way to disk: row groups come in any order and from any thread, files grow in row-group order.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_schema::SchemaRef;
use base::error::{Error, ErrorKind, Result};
use base::guid::Guid;

use super::encode::{EncodedRowGroup, Encoder};
use super::file::FileWriter;
use super::formats::encoder_of;
use super::properties::EncodeOptions;
use crate::columns::RowSource;
use crate::output::{FileEntry, Output};

/// How the files of a table are called, and whether there may be several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileNaming {
    /// `part-<partition>-<n>.parquet`, a new one when the last is full; none at all for a table without rows.
    Parts,
    /// `<name>.parquet`, exactly one, also for a table without rows.
    Single(String),
}

/// Where a file of a table in a folder lies that has several: its partition, and its place among the files of that.
pub fn part_path(folder: &str, partition: u32, number: usize) -> String {
    format!("{folder}/part-{partition:05}-{number:05}.parquet")
}

/// Column chunks of one file: as structures, which readers make of a footer, so many take some 70 MiB and a tenth of a second.
/// Only row groups of few rows have files end by it, and not by their size.
const MAX_COLUMN_CHUNKS: usize = 32_767;

/// What a table is.
#[derive(Clone, Debug)]
pub struct TableSpec {
    /// The folder below `trace=<name>`, `/`-separated: `events/<dataset>` or `sidecar`.
    pub folder: String,
    /// How its files are called.
    pub files: FileNaming,
    /// Its columns.
    pub schema: SchemaRef,
    /// The key-value metadata of every footer, in this order; nothing in it may vary between runs.
    pub metadata: Vec<(String, String)>,
    /// The provider, for the manifest.
    pub provider_id: Option<Guid>,
    /// The provider's name, for the manifest.
    pub provider_name: Option<String>,
}

/// What the partitions of a table share: each has a writer of its own.
struct TableFormat {
    spec: TableSpec,
    max_file_size: u64,
    encoder: Arc<Encoder>,
}

/// Writes the files of one table in one partition. Shared between threads: [`TableWriter::encode`] does the work anywhere,
/// [`TableWriter::append`] puts the results in order.
///
/// A file is created when its first row group is written. While nothing is being written to it, it holds no descriptor (but
/// for a single file), and of memory some 150 bytes for each column chunk.
pub struct TableWriter {
    table: Arc<TableFormat>,
    output: Arc<dyn Output>,
    partition: u32,
    queue: Mutex<Queue>,
}

/// Row groups between being encoded and being written.
#[derive(Default)]
struct Queue {
    /// The ordinal that is written next.
    next: u64,
    waiting: BTreeMap<u64, EncodedRowGroup>,
    files: Files,
}

/// The files of a table, and who has them.
enum Files {
    /// Nobody: the next thread that brings a row group may write.
    Idle(Written),
    /// A thread that is writing; it will look for further row groups when it is done.
    Busy,
    /// Nobody any more.
    Failed,
}

impl Default for Files {
    fn default() -> Self {
        Files::Idle(Written::default())
    }
}

/// The file being written and those before it.
#[derive(Default)]
struct Written {
    open: Option<Box<OpenFile>>,
    done: Vec<FileEntry>,
}

struct OpenFile {
    /// Below `trace=<name>`, as in the manifest.
    path: String,
    writer: FileWriter,
    bytes: u64,
    time_range: Option<(i64, i64)>,
}

impl TableWriter {
    /// A writer of the table's files in the first partition. Touches no file.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] for a compression level that does not exist, [`ErrorKind::Internal`] for a schema that
    /// Parquet cannot express.
    pub fn new(output: Arc<dyn Output>, spec: TableSpec, options: &EncodeOptions) -> Result<Self> {
        let encoder = encoder_of(&spec.schema, options)?;
        let table = TableFormat { spec, max_file_size: options.max_file_size, encoder };
        Ok(TableWriter { table: Arc::new(table), output, partition: 0, queue: Mutex::default() })
    }

    /// A writer of the same table for the files of another partition.
    #[must_use]
    pub fn for_partition(&self, partition: u32) -> Self {
        let (table, output) = (Arc::clone(&self.table), Arc::clone(&self.output));
        TableWriter { table, output, partition, queue: Mutex::default() }
    }

    /// The table's columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.table.spec.schema
    }

    /// Encodes a row group, one column after another.
    ///
    /// # Errors
    /// Those of [`RowSource::column`]; [`ErrorKind::Internal`] for a column that does not fit the schema.
    pub fn encode(&self, group: &dyn RowSource) -> Result<EncodedRowGroup> {
        self.table.encoder.encode(group)
    }

    /// Encodes a row group with its columns side by side on the current rayon pool; the bytes are those of
    /// [`TableWriter::encode`]. For the case that there is only one row group to work on.
    ///
    /// # Errors
    /// As [`TableWriter::encode`].
    pub fn encode_parallel(&self, group: &dyn RowSource) -> Result<EncodedRowGroup> {
        self.table.encoder.encode_parallel(group)
    }

    /// Takes the row group number `ordinal`, counted from 0 without gaps, and writes it as soon as all before it are
    /// written. A group without rows only takes its number.
    ///
    /// Never waits for another thread's writing: a group whose turn has not come stays in memory, and whoever completes
    /// the one before it writes it.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the file cannot be written, by this call or an earlier one; [`ErrorKind::Internal`] for
    /// an ordinal that was there before.
    pub fn append(&self, ordinal: u64, group: EncodedRowGroup) -> Result<()> {
        let mut queue = self.queue();
        if ordinal < queue.next || queue.waiting.insert(ordinal, group).is_some() {
            return Err(Error::bug(format!("row group {ordinal} of {} came twice", self.folder())));
        }
        loop {
            let (mut written, group) = match queue.take_turn() {
                Turn::Write(written, group) => (written, group),
                Turn::Wait => return Ok(()),
                Turn::Failed => return Err(self.failed_before()),
            };
            drop(queue);
            let outcome = self.write(&mut written, &group);
            queue = self.queue();
            queue.files = if outcome.is_ok() { Files::Idle(written) } else { Files::Failed };
            outcome?;
        }
    }

    /// Closes the last file and lists all of them, in order.
    ///
    /// # Errors
    /// As [`TableWriter::append`]; [`ErrorKind::Internal`] when an ordinal is missing.
    pub fn finish(self) -> Result<Vec<FileEntry>> {
        let (next, left, files) = {
            let mut queue = self.queue();
            (queue.next, queue.waiting.len(), std::mem::replace(&mut queue.files, Files::Busy))
        };
        let Files::Idle(mut written) = files else { return Err(self.failed_before()) };
        if left > 0 {
            return Err(Error::bug(format!("row group {next} of {} never came, {left} wait for it", self.folder())));
        }
        if written.open.is_none() && written.done.is_empty() && self.table.spec.files != FileNaming::Parts {
            written.open = Some(self.open(0)?);
        }
        self.close(&mut written)?;
        Ok(written.done)
    }

    fn folder(&self) -> &str {
        &self.table.spec.folder
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Nothing that can panic runs while the queue is locked; a poisoned one is whole.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed_before(&self) -> Error {
        Error::new(ErrorKind::Output, format!("writing {} has failed before", self.folder()))
    }

    /// Puts a row group into the file it belongs to; sizes alone decide which.
    fn write(&self, written: &mut Written, group: &EncodedRowGroup) -> Result<()> {
        if group.rows() == 0 {
            return Ok(());
        }
        let full = |file: &OpenFile| {
            file.bytes.saturating_add(group.bytes()) > self.table.max_file_size
                || file.writer.column_chunks().saturating_add(group.chunks.len()) > MAX_COLUMN_CHUNKS
        };
        if self.table.spec.files == FileNaming::Parts && written.open.as_deref().is_some_and(full) {
            self.close(written)?;
        }
        let number = written.done.len();
        let file = match &mut written.open {
            Some(file) => file,
            closed @ None => closed.insert(self.open(number)?),
        };
        file.bytes += group.bytes();
        file.time_range = merged(file.time_range, group.time_range);
        let appended = file.writer.append(&group.chunks);
        if self.table.spec.files == FileNaming::Parts {
            // Many tables wait for their next row group at a time.
            file.writer.release();
        }
        appended
    }

    /// Creates the file with this number.
    fn open(&self, number: usize) -> Result<Box<OpenFile>> {
        let folder = self.folder();
        let path = match &self.table.spec.files {
            FileNaming::Parts => part_path(folder, self.partition, number),
            FileNaming::Single(name) => format!("{folder}/{name}.parquet"),
        };
        let writer = FileWriter::new(self.output.create(&path)?, Arc::clone(&self.table.encoder));
        Ok(Box::new(OpenFile { path, writer, bytes: 0, time_range: None }))
    }

    /// Writes the footer of the open file, if there is one, and lists it.
    fn close(&self, written: &mut Written) -> Result<()> {
        let Some(file) = written.open.take() else { return Ok(()) };
        let OpenFile { path, writer, time_range, .. } = *file;
        let finished = writer.finish(&self.table.spec.metadata)?;
        written.done.push(FileEntry {
            path,
            provider_id: self.table.spec.provider_id,
            provider_name: self.table.spec.provider_name.clone(),
            rows: finished.rows,
            bytes: finished.bytes,
            sha256: finished.sha256,
            min_timestamp_ns: time_range.map(|(min, _)| min),
            max_timestamp_ns: time_range.map(|(_, max)| max),
        });
        Ok(())
    }
}

impl fmt::Debug for TableWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableWriter")
            .field("spec", &self.table.spec)
            .field("partition", &self.partition)
            .finish_non_exhaustive()
    }
}

/// What a thread with a row group at hand finds.
enum Turn {
    /// The files are its own until it gives them back; this is the row group to write.
    Write(Written, EncodedRowGroup),
    /// Another thread writes, or the next row group has not come yet.
    Wait,
    /// Writing failed before.
    Failed,
}

impl Queue {
    fn take_turn(&mut self) -> Turn {
        match &self.files {
            Files::Idle(_) if self.waiting.contains_key(&self.next) => {}
            Files::Idle(_) | Files::Busy => return Turn::Wait,
            Files::Failed => {
                self.waiting.clear();
                return Turn::Failed;
            }
        }
        let taken = (std::mem::replace(&mut self.files, Files::Busy), self.waiting.remove(&self.next));
        let (Files::Idle(written), Some(group)) = taken else { return Turn::Wait };
        self.next += 1;
        Turn::Write(written, group)
    }
}

/// The range that covers both.
fn merged(a: Option<(i64, i64)>, b: Option<(i64, i64)>) -> Option<(i64, i64)> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests;
