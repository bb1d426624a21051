//! All tables of a recording.

use super::dimensions::DimensionRows;
use super::facts::SidecarFacts;
use super::target::SidecarTarget;
use super::{answers, buffers, catalog, clock, fields, issues, lost_events, sessions, streams, table, views};
use crate::error::Result;
use crate::output::FileEntry;

/// Writes all tables below `sidecar`, and the scripts of views over them, and lists the files. Of what ids meant only the tables that have rows: most
/// recordings have none of them, and many recordings are small.
///
/// # Errors
/// [`Output`](crate::ErrorKind::Output) when a file cannot be written.
pub fn write(target: &SidecarTarget<'_>, facts: &SidecarFacts<'_>) -> Result<Vec<FileEntry>> {
    let SidecarFacts { files, facts: all, file_counts, plan, shape_counts, dimensions, .. } = *facts;
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
    let mut written: Vec<FileEntry> = tables.into_iter().flatten().collect();
    written.extend(views::write(target, facts, &written)?);
    Ok(written)
}
