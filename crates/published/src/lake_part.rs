//! What one trace adds to the tables of many.

use std::collections::{BTreeSet, HashMap};

use base::error::{Error, ErrorKind, Result};
use base::progress::NoProgress;
use columnar::output::manifest::CommitRecord;
use conversion::read_columns;
use conversion::sidecar::catalog::CatalogRow;
use conversion::sidecar::fields::FieldRow;
use conversion::views::Lake;
use serde::{Deserialize, Serialize};

use super::footer::Footer;
use super::sidecar::{Sidecar, missing_column, sidecar_table};
use super::trace::PublishedTrace;

/// What a trace adds to the tables of many.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LakePart {
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
    pub fn read(trace: &PublishedTrace) -> Result<LakePart> {
        LakePart::of(trace, &trace.record()?)
    }

    /// Reads footers and sidecar of a trace with this manifest.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when one of these cannot be read.
    pub fn of(trace: &PublishedTrace, record: &CommitRecord) -> Result<LakePart> {
        let mut part = LakePart { is_of_one_machine: true, ..LakePart::default() };
        for file in record.files.iter().filter(|file| file.is_table()) {
            let footer = Footer::read(&*trace.store, &file.path)?;
            if let Some(sidecar) = sidecar_table(&file.path) {
                let missing = missing_column(sidecar, record.format_version, &|name| footer.has_column(name));
                missing.map_or(Ok(()), |reason| {
                    Err(Error::new(ErrorKind::Output, reason).in_file(trace.location(&file.path)))
                })?;
                part.is_of_one_machine &= sidecar != "sessions" || footer.range("machine") == Some((0, 0));
            }
            part.add_file(FilePart { path: file.path.clone(), columns: footer.column_types() });
        }
        part.events = read_events(trace, record)?;
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

    /// Its files that are tables, of one folder those that have other columns: the path in the trace, and the columns with their types,
    /// each structure followed by its members.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[(String, String)])> {
        self.files.iter().map(|file| (file.path.as_str(), file.columns.as_slice()))
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
    let sidecar = Sidecar::of(&*trace.store, record, &NoProgress);
    sidecar.rows::<WrittenShape<'_>>(|row| {
        let Some(name) = row.event_name.filter(|_| row.rows.unwrap_or(0) > 0) else { return };
        places.insert(row.shape, events.len());
        events.push((row.dataset.to_owned(), name.to_owned(), BTreeSet::new()));
    })?;
    sidecar.rows::<ShapeColumn<'_>>(|row| {
        let event = places.get(&row.shape).and_then(|place: &usize| events.get_mut(*place));
        if let Some(((_, _, columns), column)) = event.zip(row.column) {
            columns.insert(column.to_owned());
        }
    })?;
    Ok(events)
}

read_columns! {
    /// An event shape, and how many rows of it there are.
    struct WrittenShape<'b> of CatalogRow<'static> {
        shape: u32,
        dataset: &'b str,
        event_name: Option<&'b str>,
        rows: Option<u64>,
    }
}

read_columns! {
    /// A column of an event shape.
    struct ShapeColumn<'b> of FieldRow {
        shape: u32,
        column: Option<&'b str>,
    }
}
