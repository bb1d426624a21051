//! All tables of a recording.

use super::dimensions::DimensionRows;
use super::target::SidecarTarget;
use super::{answers, buffers, catalog, clock, fields, issues, lost_events, sessions, streams, table};
use crate::convert::job::{InputCounts, ShapeCounts};
use crate::dimensions::Dimensions;
use crate::error::Result;
use crate::output::FileEntry;
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
    /// What ids meant.
    pub dimensions: &'a Dimensions,
}

/// Writes all tables below `sidecar` and lists their files. Of what ids meant only the tables that have rows: most
/// recordings have none of them, and many recordings are small.
///
/// # Errors
/// [`Output`](crate::ErrorKind::Output) when a file cannot be written.
pub fn write(target: &SidecarTarget<'_>, facts: &SidecarFacts<'_>) -> Result<Vec<FileEntry>> {
    let SidecarFacts { files, facts: all, file_counts, plan, shape_counts, dimensions } = *facts;
    let rows = DimensionRows { dimensions, plan };
    let clocks = files.iter().zip(0..).map(|(file, input)| clock::row(file, file_counts.get(input)));
    let tables = [
        table::write(target, files.iter().zip(all).map(|(file, facts)| sessions::row(file, facts)))?,
        table::write(target, clocks)?,
        table::write(target, all.iter().flat_map(lost_events::rows))?,
        table::write(target, all.iter().flat_map(streams::rows))?,
        table::write(target, catalog::rows(plan, shape_counts))?,
        table::write(target, fields::rows(plan))?,
        table::write(target, answers::rows(plan, shape_counts).into_iter())?,
        table::write(target, files.iter().flat_map(buffers::rows))?,
        table::write(
            target,
            files.iter().zip(all).flat_map(|(file, facts)| issues::rows(file).chain(issues::advice(facts))),
        )?,
        table::write_if_any(target, rows.processes())?,
        table::write_if_any(target, rows.threads())?,
        table::write_if_any(target, rows.images())?,
        table::write_if_any(target, rows.files())?,
        table::write_if_any(target, rows.methods())?,
    ];
    Ok(tables.into_iter().flatten().collect())
}
