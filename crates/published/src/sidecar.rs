//! The sidecar of a published trace, as the format version of its manifest lays it down.

use std::path::Path;

use base::error::{Error, ErrorKind, Result};
use columnar::output::manifest::CommitRecord;
use conversion::sidecar::declared_columns;

use super::table::{Batch, read_checked};

/// The tables of a sidecar.
#[derive(Debug)]
pub struct Sidecar<'a> {
    folder: &'a Path,
    record: &'a CommitRecord,
}

impl<'a> Sidecar<'a> {
    /// Those of a trace, given its folder and its manifest.
    pub fn of(folder: &'a Path, record: &'a CommitRecord) -> Sidecar<'a> {
        Sidecar { folder, record }
    }

    /// Hands over columns of a table, batch by batch, or nothing where the trace has no such table. A column that came with a
    /// later format version than that of the trace is NULL.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the file cannot be read, or lacks a column that its format version has; those of `each`.
    pub fn read(&self, table: &str, columns: &[&str], each: &mut dyn FnMut(&Batch) -> Result<()>) -> Result<()> {
        let path = format!("sidecar/{table}.parquet");
        if !self.record.files.iter().any(|file| file.path == path) {
            return Ok(());
        }
        let is_declared = |name: &&str| declared_columns(table).iter().any(|column| column.name == *name);
        if let Some(unknown) = columns.iter().find(|name| !is_declared(name)) {
            return Err(Error::bug(format!("{table} has no column {unknown}")));
        }
        let path = self.folder.join(path);
        let check = |has: &dyn Fn(&str) -> bool| match missing_column(table, self.record.format_version, has) {
            Some(reason) => Err(Error::new(ErrorKind::Output, reason).in_file(&path)),
            None => Ok(()),
        };
        read_checked(&path, columns, None, &check, each)
    }
}

/// The table of a file of the sidecar, by its path in the trace.
pub(crate) fn sidecar_table(path: &str) -> Option<&str> {
    path.strip_prefix("sidecar/")?.strip_suffix(".parquet")
}

/// Why a table of a trace of some format version cannot be relied on: it lacks a column that this version has.
pub(crate) fn missing_column(table: &str, format_version: u32, has: &dyn Fn(&str) -> bool) -> Option<String> {
    let mut columns = declared_columns(table).iter();
    let missing = columns.find(|column| column.since <= format_version && !has(column.name))?;
    Some(format!(
        "expected the column {}, which {table} has since format {}, found none in a trace of format {format_version}: \
         convert it again",
        missing.name, missing.since
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_missing_from_its_format_version_on() {
        let lacks = |column: &'static str| move |name: &str| name != column;
        assert_eq!(missing_column("sessions", 3, &lacks("start_time_ns")), None);
        let expected = "expected the column start_time_ns, which sessions has since format 4, found none in a trace of \
                        format 4: convert it again";
        assert_eq!(missing_column("sessions", 4, &lacks("start_time_ns")).as_deref(), Some(expected));
        let old = missing_column("sessions", 3, &lacks("source")).unwrap();
        assert!(old.contains("source, which sessions has since format 3, found none in a trace of format 3"), "{old}");
        assert_eq!(missing_column("no such table", 4, &|_| false), None);
    }
}
