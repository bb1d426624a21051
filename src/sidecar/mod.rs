//! The sidecar: what is known of a recording besides its events, as Parquet tables.
//!
//! One file per table, each read top down like the table's description in docs/dataset.md. A value that the trace does
//! not record is NULL, never 0. The files depend on the input and the options alone.

mod buffers;
mod catalog;
mod clock;
mod fields;
mod issues;
mod lost_events;
mod sessions;
mod streams;
mod table;
pub mod undecoded;

pub use table::Record;

use crate::convert::job::{InputCounts, ShapeCounts};
use crate::dataset::EncodeOptions;
use crate::error::Result;
use crate::output::{FileEntry, LocalFolder};
use crate::plan::PlanResult;
use crate::survey::{FileFacts, FileSurvey};

/// What the sidecar tells of.
#[derive(Clone, Copy, Debug)]
pub struct SidecarFacts<'a> {
    /// The input files, in the order of their numbers.
    pub files: &'a [FileSurvey],
    /// What is known of each.
    pub facts: &'a [FileFacts],
    /// What pass 2 counted of each; where there is no entry, the columns are NULL.
    pub file_counts: &'a [InputCounts],
    /// The event shapes, in the order of their numbers.
    pub plan: &'a PlanResult,
    /// What pass 2 counted of each; where there is no entry, the columns are NULL.
    pub shape_counts: &'a [ShapeCounts],
}

/// Writes all tables below `sidecar` in a staging folder and lists their files.
///
/// # Errors
/// [`Output`](crate::ErrorKind::Output) when a file cannot be written.
pub fn write(staging: &LocalFolder, facts: &SidecarFacts<'_>, encode: &EncodeOptions) -> Result<Vec<FileEntry>> {
    let tables = [
        sessions::write(staging, facts, encode)?,
        clock::write(staging, facts, encode)?,
        lost_events::write(staging, facts, encode)?,
        streams::write(staging, facts, encode)?,
        catalog::write(staging, facts, encode)?,
        fields::write(staging, facts, encode)?,
        buffers::write(staging, facts, encode)?,
        issues::write(staging, facts, encode)?,
    ];
    Ok(tables.into_iter().flatten().collect())
}

/// The rows of one file in the sidecar's tables, for a report that is no sidecar.
#[derive(Clone, Debug)]
pub struct FileRecords {
    /// Of `sessions`.
    pub session: Record,
    /// Of `clock`; what only pass 2 counts is null.
    pub clock: Record,
    /// Of `lost_events`.
    pub ledger: Vec<Record>,
    /// Of `streams`.
    pub streams: Vec<Record>,
    /// Of `issues`.
    pub issues: Vec<Record>,
}

/// The rows of a file as the sidecar has them.
pub fn records(file: &FileSurvey, facts: &FileFacts) -> FileRecords {
    FileRecords {
        session: sessions::table().record(&&facts.session),
        clock: clock::table().record(&clock::Row { clock: &facts.clock, counts: None }),
        ledger: lost_events::table().records(lost_events::rows(facts)),
        streams: streams::table().records(streams::rows(facts)),
        issues: issues::table().records(issues::rows(file)),
    }
}
