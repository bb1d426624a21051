//! Holds what partitions report against what the survey found.

use base::error::{Error, ErrorKind, Result};
use columnar::output::manifest::EventCounts;

use crate::convert::part_report::{JoinedCounts, PartReport};
use crate::plan::Partition;
use crate::survey::FileSurvey;

/// Adds up the reports of all partitions, which come in their order; `rows` are those that a partition wrote or handed
/// over.
///
/// # Errors
/// [`ErrorKind::Internal`] where a partition or the whole does not hold the events that it should.
pub fn account(
    files: &[FileSurvey],
    shapes: usize,
    partitions: &[Partition],
    reports: &[PartReport],
    rows: impl Fn(&PartReport) -> u64,
) -> Result<(JoinedCounts, EventCounts)> {
    let counts = JoinedCounts::of(reports, files.len(), shapes);
    let damaged: u64 = files.iter().map(FileSurvey::damaged_events).sum();
    let events = EventCounts {
        found: files.iter().map(FileSurvey::events).sum::<u64>() + damaged,
        written: total(reports.iter().map(&rows)),
        filtered: total(counts.inputs.iter().map(|input| input.filtered)),
        damaged: total(counts.inputs.iter().map(|input| input.damaged)),
        damaged_bytes: files.iter().map(FileSurvey::damaged_bytes).sum(),
    };
    let mut next = 0;
    for (partition, report) in partitions.iter().zip(reports) {
        check_partition(partition, report, rows(report), next)?;
        next = next.saturating_add(partition.events);
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

/// The rows in the files of a partition.
pub fn rows_in_files(report: &PartReport) -> u64 {
    total(report.files.iter().map(|file| file.rows))
}

/// The rows that a partition made of events, whoever took them.
pub fn rows_made(report: &PartReport) -> u64 {
    total(report.shapes.iter().map(|(_, counts)| counts.rows))
}

/// What a partition wrote, left out and could not read is what the plan says of it, and it begins where the one before it
/// ends.
fn check_partition(partition: &Partition, report: &PartReport, rows: u64, first_seq: u64) -> Result<()> {
    let left_out = report.inputs.iter().flat_map(|(_, counts)| [counts.filtered, counts.damaged]);
    let (expected, found) =
        (partition.events.saturating_add(partition.damaged), total([rows].into_iter().chain(left_out)));
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

/// The sum, which ends at the largest number: reports that were stored may say anything.
fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

fn not_conserved(message: String, files: &[FileSurvey]) -> Error {
    let error = Error::new(ErrorKind::Internal, message)
        .with_hint("the input changed while it was read, or this is a bug: please report it");
    files.iter().take(1).fold(error, |error, file| error.in_file(&file.identity.source))
}
