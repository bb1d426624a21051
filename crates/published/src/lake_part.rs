//! What one trace adds to the tables of many.

use std::collections::{BTreeSet, HashMap};

use base::error::{Error, ErrorKind, Result};
use columnar::output::manifest::CommitRecord;
use conversion::views::Lake;
use serde::{Deserialize, Serialize};

use super::footer::Footer;
use super::sidecar::{Sidecar, missing_column, sidecar_table};
use super::trace::PublishedTrace;

/// What a trace adds to the tables of many.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LakePart {
    /// Its files that are tables, of one folder those that have other columns.
    files: Vec<FilePart>,
    /// Dataset, name and columns of each event that occurs.
    events: Vec<(String, String, BTreeSet<String>)>,
    /// Whether it is known to be of one machine.
    pub is_of_one_machine: bool,
}

/// A file: its path below the folder of the trace, and its columns, each a path and a type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FilePart {
    path: String,
    columns: Vec<(String, String)>,
}

impl LakePart {
    /// Reads manifest, footers and sidecar of a trace.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when one of these cannot be read.
    pub(super) fn read(trace: &PublishedTrace) -> Result<LakePart> {
        let record = trace.record()?;
        let mut part = LakePart { is_of_one_machine: true, ..LakePart::default() };
        for file in record.files.iter().filter(|file| file.is_table()) {
            let path = trace.folder.join(&file.path);
            let footer = Footer::read(&path)?;
            if let Some(sidecar) = sidecar_table(&file.path) {
                let missing = missing_column(sidecar, record.format_version, &|name| footer.has_column(name));
                missing.map_or(Ok(()), |reason| Err(Error::new(ErrorKind::Output, reason).in_file(&path)))?;
                part.is_of_one_machine &= sidecar != "sessions" || footer.range("machine") == Some((0, 0));
            }
            let columns = footer.columns().into_iter().map(|column| (column.path, column.data_type));
            part.add_file(FilePart { path: file.path.clone(), columns: columns.collect() });
        }
        part.events = read_events(trace, &record)?;
        Ok(part)
    }

    /// Files of a table come one behind the other.
    fn add_file(&mut self, file: FilePart) {
        let folder = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
        let is_same = |last: &FilePart| folder(&last.path) == folder(&file.path) && last.columns == file.columns;
        if sidecar_table(&file.path).is_some() || !self.files.last().is_some_and(is_same) {
            self.files.push(file);
        }
    }

    /// Adds it to the tables of others.
    pub(super) fn add_to(&self, lake: &mut Lake) {
        for file in &self.files {
            let Some(table) = lake.add_file(&file.path) else { continue };
            for (path, data_type) in &file.columns {
                if path.contains('.') {
                    table.add_member(path, data_type.clone());
                } else {
                    table.add_column(path.clone(), data_type.clone());
                }
            }
        }
        for (dataset, name, columns) in &self.events {
            lake.add_event(dataset, name).into_iter().for_each(|known| known.extend(columns.iter().cloned()));
        }
    }
}

/// Dataset and name of each event that has rows, with the columns that its fields are in.
fn read_events(trace: &PublishedTrace, record: &CommitRecord) -> Result<Vec<(String, String, BTreeSet<String>)>> {
    let (mut events, mut places) = (Vec::new(), HashMap::new());
    let sidecar = Sidecar::of(&trace.folder, record);
    sidecar.read("catalog", &["shape", "dataset", "event_name", "rows"], &mut |batch| {
        for row in 0..batch.rows() {
            let named = batch.integer(0, row).zip(batch.text(1, row)).zip(batch.text(2, row));
            let Some(((shape, dataset), name)) = named else { continue };
            if batch.integer(3, row).unwrap_or(0) > 0 {
                places.insert(shape, events.len());
                events.push((dataset.to_owned(), name.to_owned(), BTreeSet::new()));
            }
        }
        Ok(())
    })?;
    sidecar.read("fields", &["shape", "column"], &mut |batch| {
        for row in 0..batch.rows() {
            let event = batch.integer(0, row).and_then(|shape| events.get_mut(*places.get(&shape)?));
            if let Some(((_, _, columns), column)) = event.zip(batch.text(1, row)) {
                columns.insert(column.to_owned());
            }
        }
        Ok(())
    })?;
    Ok(events)
}
