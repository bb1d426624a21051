//! All tables of a recording.

use super::{buffers, catalog, clock, fields, issues, lost_events, sessions, streams, table};
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
    let SidecarFacts { files, facts: all, file_counts, plan, shape_counts } = *facts;
    let clocks = files.iter().zip(0..).map(|(file, input)| clock::row(file, file_counts.get(input)));
    let tables = [
        table::write(staging, encode, files.iter().zip(all).map(|(file, facts)| sessions::row(file, facts)))?,
        table::write(staging, encode, clocks)?,
        table::write(staging, encode, all.iter().flat_map(lost_events::rows))?,
        table::write(staging, encode, all.iter().flat_map(streams::rows))?,
        table::write(staging, encode, catalog::rows(plan, shape_counts))?,
        table::write(staging, encode, fields::rows(plan))?,
        table::write(staging, encode, files.iter().flat_map(buffers::rows))?,
        table::write(staging, encode, files.iter().flat_map(issues::rows))?,
    ];
    Ok(tables.into_iter().flatten().collect())
}
