//! A published trace as the report reads it: datasets, column by column, a batch at a time.

use std::collections::HashMap;
use std::path::PathBuf;

use base::error::Result;
use base::progress::{Progress, stop_if_cancelled};
use columnar::output::manifest::{CommitRecord, FileEntry};

use crate::{Batch, PublishedTrace, Sidecar, read_table};

/// A trace and who waits for the report.
pub(super) struct Source<'a> {
    folder: PathBuf,
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
    pub(super) fn open(trace: &PublishedTrace, progress: &'a dyn Progress) -> Result<Source<'a>> {
        let mut record = trace.record()?;
        record.files.sort_by(|a, b| a.path.cmp(&b.path));
        let mut source = Source { folder: trace.folder.clone(), record, machines: HashMap::new(), progress };
        let mut machines = HashMap::new();
        source.sidecar("sessions", &["input", "machine"], |batch, row| {
            machines.extend(batch.integer(0, row).zip(batch.integer(1, row)));
        })?;
        source.machines = machines;
        Ok(source)
    }

    /// The machine on which an event was recorded, by the number of its input; 0 where nothing tells machines apart.
    pub(super) fn machine(&self, input: Option<i64>) -> i64 {
        input.and_then(|input| self.machines.get(&input)).copied().unwrap_or(0)
    }

    /// Hands over columns of a sidecar table, or nothing where the trace has no such table.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when it cannot be read.
    pub(super) fn sidecar(&self, table: &str, columns: &[&str], each: impl FnMut(&Batch, usize)) -> Result<()> {
        Sidecar::of(&self.folder, &self.record).read(table, columns, &mut self.rows(each))
    }

    fn files_of(&self, name: &str) -> impl Iterator<Item = &FileEntry> {
        self.record.files.iter().filter(move |file| dataset(file).is_some_and(|own| own.eq_ignore_ascii_case(name)))
    }

    /// Whether there is a dataset.
    pub(super) fn has_events(&self, name: &str) -> bool {
        self.files_of(name).next().is_some()
    }

    /// Hands over columns of a dataset, row by row, in the order of `seq` within each of its folders. Says whether there is
    /// such a dataset.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when it cannot be read.
    pub(super) fn events(&self, name: &str, columns: &[&str], each: impl FnMut(&Batch, usize)) -> Result<bool> {
        self.read(self.files_of(name), columns, each)?;
        Ok(self.has_events(name))
    }

    /// Hands over columns of all datasets, with the name of each.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when one cannot be read.
    pub(super) fn all_events(&self, columns: &[&str], mut each: impl FnMut(&str, &Batch, usize)) -> Result<()> {
        for file in &self.record.files {
            if let Some(name) = dataset(file) {
                self.read([file].into_iter(), columns, |batch, row| each(name, batch, row))?;
            }
        }
        Ok(())
    }

    fn read<'f>(
        &self,
        files: impl Iterator<Item = &'f FileEntry>,
        columns: &[&str],
        each: impl FnMut(&Batch, usize),
    ) -> Result<()> {
        let mut each = self.rows(each);
        for file in files {
            read_table(&self.folder.join(&file.path), columns, None, &mut each)?;
        }
        Ok(())
    }

    /// Hands over batches row by row, until whoever waits has had enough.
    fn rows(&self, mut each: impl FnMut(&Batch, usize)) -> impl FnMut(&Batch) -> Result<()> {
        move |batch| {
            stop_if_cancelled(self.progress)?;
            (0..batch.rows()).for_each(|row| each(batch, row));
            Ok(())
        }
    }
}

/// The dataset of a file; `None` of a table of the sidecar.
fn dataset(file: &FileEntry) -> Option<&str> {
    Some(file.path.strip_prefix("events/")?.split_once('/')?.0)
}
