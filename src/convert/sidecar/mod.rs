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

use super::job::{FileCounts, ShapeCounts};
use crate::dataset::{EncodeOptions, FileEntry, Staging};
use crate::error::Result;
use crate::plan::CatalogEntry;
use crate::survey::FileSurvey;

/// What the sidecar tells of.
#[derive(Clone, Copy, Debug)]
pub struct SidecarFacts<'a> {
    /// The input files, in the order of their numbers.
    pub files: &'a [FileSurvey],
    /// What pass 2 counted of each; where there is no entry, the columns are NULL.
    pub file_counts: &'a [FileCounts],
    /// The event shapes, in the order of their numbers.
    pub catalog: &'a [CatalogEntry],
    /// What pass 2 counted of each; where there is no entry, the columns are NULL.
    pub shape_counts: &'a [ShapeCounts],
}

/// Writes all tables below `sidecar` in a staging folder and lists their files.
///
/// # Errors
/// [`Output`](crate::ErrorKind::Output) when a file cannot be written; those of
/// [`loss::ledger`](crate::survey::loss::ledger) when an input can no longer be read.
pub fn write(staging: &Staging, facts: &SidecarFacts<'_>, encode: &EncodeOptions) -> Result<Vec<FileEntry>> {
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
