//! A published trace as reports and look-ups read it: tables, row by row.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use arrow_array::RecordBatch;
use base::error::Result;
use base::progress::Progress;
use columnar::output::Store;
use columnar::output::manifest::{CommitRecord, FileEntry};
use conversion::plan::filter::Filter;
use conversion::read_columns;
use conversion::sidecar::SessionRow;
use conversion::sidecar::read::{ReadRow, ReadSidecarRow};

use super::row_filter::{RowFilter, start_ns};
use super::sidecar::Sidecar;
use super::table::TableFile;
use super::trace::PublishedTrace;

/// A trace and who waits for what is read of it.
pub struct Source<'a> {
    store: Arc<dyn Store>,
    /// What the trace says of itself.
    pub record: CommitRecord,
    /// The machine of each input, by its number.
    machines: HashMap<i64, i64>,
    progress: &'a dyn Progress,
}

impl<'a> Source<'a> {
    /// Reads the manifest of a trace, and which machines it is of.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when one cannot be read.
    pub fn open(trace: &PublishedTrace, progress: &'a dyn Progress) -> Result<Source<'a>> {
        let mut record = trace.record()?;
        record.files.sort_by(|a, b| a.path.cmp(&b.path));
        let mut source = Source { store: Arc::clone(&trace.store), record, machines: HashMap::new(), progress };
        let mut machines = HashMap::new();
        source.sidecar::<InputMachine>(|row| machines.extend([(row.input, row.machine)]))?;
        source.machines = machines;
        Ok(source)
    }

    /// The machine on which an event was recorded, by the number of its input; 0 where nothing distinguishes machines.
    pub fn machine(&self, input: Option<i64>) -> i64 {
        input.and_then(|input| self.machines.get(&input)).copied().unwrap_or(0)
    }

    /// Hands over the rows of a sidecar table, or nothing where the trace has no such table.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when it cannot be read.
    pub fn sidecar<R: ReadSidecarRow>(&self, each: impl for<'b> FnMut(R::Row<'b>)) -> Result<()> {
        self.tables().rows::<R>(each)
    }

    /// The tables of the sidecar.
    pub fn tables(&self) -> Sidecar<'_> {
        Sidecar::of(&*self.store, &self.record, self.progress)
    }

    /// The names of the datasets, in order.
    pub fn datasets(&self) -> BTreeSet<&str> {
        self.record.files.iter().filter_map(dataset).collect()
    }

    fn files_of(&self, name: &str) -> impl Iterator<Item = &FileEntry> {
        self.record.files.iter().filter(move |file| dataset(file).is_some_and(|own| own.eq_ignore_ascii_case(name)))
    }

    /// Whether there is a dataset.
    pub fn has_events(&self, name: &str) -> bool {
        self.files_of(name).next().is_some()
    }

    /// Hands over the rows of a dataset in the order of `seq` within each of its folders. Says whether there is
    /// such a dataset.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when it cannot be read.
    pub fn events<R: ReadRow>(&self, name: &str, each: impl for<'b> FnMut(R::Row<'b>)) -> Result<bool> {
        self.read::<R>(self.files_of(name), each)?;
        Ok(self.has_events(name))
    }

    /// Hands over the rows of a dataset, each with whether a filter passes it; `None` passes all. Says whether there is such a dataset.
    ///
    /// # Errors
    /// As [`Source::events`].
    pub fn events_passing<R: ReadRow>(
        &self,
        name: &str,
        filter: Option<&RowFilter>,
        mut each: impl for<'b> FnMut(bool, R::Row<'b>),
    ) -> Result<bool> {
        let Some(filter) = filter else { return self.events::<R>(name, |row| each(true, row)) };
        for file in self.files_of(name) {
            let id = file.provider_id.map(|id| id.to_string());
            let is_asked = filter.passes_dataset(name, file.provider_name.as_deref(), id.as_deref());
            let table = TableFile::open(&*self.store, &file.path)?;
            let passing = (RowFilter::COLUMNS, |batch: &RecordBatch| filter.passing(batch));
            table.rows_passing::<R>(passing, self.progress, |passes, row| each(is_asked && passes, row))?;
        }
        Ok(self.has_events(name))
    }

    /// What a filter passes of the trace; `None` where it passes everything.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the sidecar cannot be read.
    pub fn filter(&self, filter: &Filter) -> Result<Option<Arc<RowFilter>>> {
        RowFilter::of(&self.tables(), filter)
    }

    /// When the recording starts, in Unix nanoseconds: at its earliest header event.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the sidecar cannot be read.
    pub fn start_ns(&self) -> Result<i64> {
        start_ns(&self.tables())
    }

    /// Who waits for what is read, and may ask to stop.
    pub fn progress(&self) -> &'a dyn Progress {
        self.progress
    }

    /// Hands over the rows of all datasets, with the name of each.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when one cannot be read.
    pub fn all_events<R: ReadRow>(&self, mut each: impl for<'b> FnMut(&str, R::Row<'b>)) -> Result<()> {
        for file in &self.record.files {
            if let Some(name) = dataset(file) {
                self.read::<R>([file].into_iter(), |row| each(name, row))?;
            }
        }
        Ok(())
    }

    /// Hands over the rows of all files of events that have a column; of the others only the footer is read.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when one cannot be read.
    pub fn events_with<R: ReadRow>(&self, column: &str, mut each: impl for<'b> FnMut(R::Row<'b>)) -> Result<()> {
        for file in self.record.files.iter().filter(|file| dataset(file).is_some()) {
            let table = TableFile::open(&*self.store, &file.path)?;
            if table.has_column(column) {
                table.rows::<R>(None, self.progress, &mut each)?;
            }
        }
        Ok(())
    }

    fn read<'f, R: ReadRow>(
        &self,
        files: impl Iterator<Item = &'f FileEntry>,
        mut each: impl for<'b> FnMut(R::Row<'b>),
    ) -> Result<()> {
        for file in files {
            TableFile::open(&*self.store, &file.path)?.rows::<R>(None, self.progress, &mut each)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("trace", &self.record.trace).finish_non_exhaustive()
    }
}

read_columns! {
    /// The machine of an input.
    struct InputMachine of SessionRow {
        input: i64,
        machine: i64,
    }
}

/// The dataset of a file; `None` of a table of the sidecar.
fn dataset(file: &FileEntry) -> Option<&str> {
    Some(file.path.strip_prefix("events/")?.split_once('/')?.0)
}
