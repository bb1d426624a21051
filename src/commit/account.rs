//! Holds what partitions report against what the survey found.

use crate::convert::part_report::{JoinedCounts, PartReport};
use crate::error::{Error, ErrorKind, Result};
use crate::output::manifest::EventCounts;
use crate::plan::Partition;
use crate::survey::FileSurvey;

/// Adds up the reports of all partitions, which come in their order.
///
/// # Errors
/// [`ErrorKind::Internal`] where a partition or the whole does not hold the events that it should.
pub(super) fn account(
    files: &[FileSurvey],
    shapes: usize,
    partitions: &[Partition],
    reports: &[PartReport],
) -> Result<(JoinedCounts, EventCounts)> {
    let counts = JoinedCounts::of(reports, files.len(), shapes);
    let damaged: u64 = files.iter().map(FileSurvey::damaged_events).sum();
    let events = EventCounts {
        found: files.iter().map(FileSurvey::events).sum::<u64>() + damaged,
        written: reports.iter().flat_map(|report| &report.files).map(|file| file.rows).sum(),
        filtered: counts.inputs.iter().map(|input| input.filtered).sum(),
        damaged: counts.inputs.iter().map(|input| input.damaged).sum(),
        damaged_bytes: files.iter().map(FileSurvey::damaged_bytes).sum(),
    };
    let mut next = 0;
    for (partition, report) in partitions.iter().zip(reports) {
        check_partition(partition, report, next)?;
        next += partition.events;
    }
    if events.is_conserved() && partitions.len() == reports.len() {
        return Ok((counts, events));
    }
    let message = format!(
        "found {} events, but wrote {}, filtered {} and could not read {}",
        events.found, events.written, events.filtered, events.damaged
    );
    Err(not_conserved(message, files))
}

/// What a partition wrote, left out and could not read is what the plan says of it, and it begins where the one before it
/// ends.
fn check_partition(partition: &Partition, report: &PartReport, first_seq: u64) -> Result<()> {
    let rows: u64 = report.files.iter().map(|file| file.rows).sum();
    let left_out: u64 = report.inputs.iter().map(|(_, counts)| counts.filtered + counts.damaged).sum();
    let (expected, found) = (partition.events + partition.damaged, rows + left_out);
    if (report.partition, partition.first_seq, found) == (partition.number, first_seq, expected) {
        return Ok(());
    }
    let number = partition.number;
    let message = format!(
        "expected {expected} events in partition {number} from {first_seq} on, found {found} in partition {} from {} on",
        report.partition, partition.first_seq
    );
    Err(not_conserved(message, &[]))
}

fn not_conserved(message: String, files: &[FileSurvey]) -> Error {
    let error = Error::new(ErrorKind::Internal, message)
        .with_hint("the input changed while it was read, or this is a bug: please report it");
    files.iter().take(1).fold(error, |error, file| error.in_file(&file.identity.source))
}
