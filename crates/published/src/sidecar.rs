//! The sidecar of a published trace, as the format version of its manifest lays it down.

use std::fmt;

use base::error::{Error, ErrorKind, Result};
use base::progress::Progress;
use columnar::output::{CommitRecord, Store};
use conversion::sidecar::read::{ReadSidecarRow, SidecarTable};
use conversion::sidecar::{ClockRow, InputFacts, SessionRow, StreamRow, declared_columns};

use super::table::TableFile;

/// The tables of a sidecar.
pub struct Sidecar<'a> {
    trace: &'a dyn Store,
    record: &'a CommitRecord,
    progress: &'a dyn Progress,
}

impl<'a> Sidecar<'a> {
    /// The sidecar of a trace, given its files and its manifest; `progress` says when to stop.
    pub fn of(trace: &'a dyn Store, record: &'a CommitRecord, progress: &'a dyn Progress) -> Sidecar<'a> {
        Sidecar { trace, record, progress }
    }

    /// Hands over the rows of a table, or nothing where the trace has no such table. A column that came with a later format
    /// version than that of the trace is NULL.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the file cannot be read, or lacks a column that its format version has;
    /// [`ErrorKind::Interrupted`] when the caller asked to stop.
    pub fn rows<R: ReadSidecarRow>(&self, each: impl for<'b> FnMut(R::Row<'b>)) -> Result<()> {
        let table = R::Table::TABLE;
        let path = format!("sidecar/{table}.parquet");
        if !self.record.files.iter().any(|file| file.path == path) {
            return Ok(());
        }
        let file = TableFile::open(self.trace, &path)?;
        match missing_column(table, self.record.format_version, &|name| file.has_column(name)) {
            Some(reason) => Err(Error::new(ErrorKind::Output, reason).in_file(self.trace.location(&path))),
            None => file.rows::<R>(None, self.progress, each),
        }
    }

    /// What is known of the inputs.
    ///
    /// # Errors
    /// Those of [`Sidecar::rows`], and [`ErrorKind::Output`] where an input has no clock.
    pub fn inputs(&self) -> Result<Vec<InputFacts>> {
        let (mut sessions, mut clocks, mut streams) = (Vec::new(), Vec::new(), Vec::new());
        self.rows::<SessionRow>(|row| sessions.push(row))?;
        self.rows::<ClockRow>(|row| clocks.push(row))?;
        self.rows::<StreamRow>(|row| streams.push(row))?;
        if clocks.len() != sessions.len() {
            let message = format!("expected a row for each of {} inputs, found {}", sessions.len(), clocks.len());
            let error = Error::new(ErrorKind::Output, message).with_hint("convert the trace again");
            return Err(error.in_file(self.trace.location("sidecar/clock.parquet")));
        }
        Ok(InputFacts::of_rows(sessions, clocks, streams))
    }
}

impl fmt::Debug for Sidecar<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sidecar").field("trace", &self.trace).finish_non_exhaustive()
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
