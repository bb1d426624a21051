//! What rows add up to against the manifest and the sidecar.

use std::collections::BTreeMap;

use base::error::Result;
use base::progress::Progress;
use columnar::output::manifest::{CommitRecord, InputEntry};

use super::finding::{Finding, FindingKind};
use super::rows::{self, EventFile, RowCounts};
use crate::{PublishedTrace, Sidecar};

/// Reads all rows of a trace and holds them against manifest and sidecar.
///
/// # Errors
/// Those of reading; [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub(super) fn check(
    trace: &PublishedTrace,
    record: &CommitRecord,
    files: &[EventFile],
    progress: &dyn Progress,
) -> Result<Vec<Finding>> {
    let (mut findings, label) = (Vec::new(), trace.label());
    let events = record.events;
    let readable = events.written.saturating_add(events.filtered);
    let counts = rows::check(files, &label, (readable, events.filtered == 0), progress, &mut findings)?;
    if counts.rows != events.written {
        let reason = format!("expected {} rows with a seq below {readable}, found {}", events.written, counts.rows);
        findings.push(Finding::new(FindingKind::Rows, format!("{label}/events"), reason));
    }
    if counts.decode != record.decode {
        let reason = format!("decode is {:?}, of the rows {:?}", record.decode, counts.decode);
        findings.push(Finding::new(FindingKind::Rows, format!("{label}/events"), reason));
    }
    findings.extend(check_catalog(trace, record, &counts)?);
    findings.extend(check_sessions(trace, record)?);
    Ok(findings)
}

/// Holds the rows of each shape against `catalog`.
fn check_catalog(trace: &PublishedTrace, record: &CommitRecord, counts: &RowCounts) -> Result<Option<Finding>> {
    let mut expected: BTreeMap<(i64, String), u64> = BTreeMap::new();
    let columns = ["shape", "dataset", "rows"];
    Sidecar::of(&trace.folder, record).read("catalog", &columns, &mut |batch| {
        for row in 0..batch.rows() {
            let rows = batch.integer(2, row).map_or(0, i64::cast_unsigned);
            if rows > 0 {
                let shape = batch.integer(0, row).unwrap_or(-1);
                expected.insert((shape, batch.text(1, row).unwrap_or_default().to_owned()), rows);
            }
        }
        Ok(())
    })?;
    let mut places = expected.keys().chain(counts.shapes.keys());
    Ok(places.find(|&place| expected.get(place) != counts.shapes.get(place)).map(|place| {
        let [told, found] = [&expected, &counts.shapes].map(|rows| rows.get(place).copied().unwrap_or(0));
        let reason = format!("tells of {told} rows of the shape {} in {}, there are {found}", place.0, place.1);
        Finding::new(FindingKind::Sidecar, format!("{}/sidecar/catalog.parquet", trace.label()), reason)
    }))
}

/// Holds the inputs of the manifest against `sessions`.
fn check_sessions(trace: &PublishedTrace, record: &CommitRecord) -> Result<Option<Finding>> {
    let mut told = Vec::new();
    let columns = ["source", "size", "blake3"];
    Sidecar::of(&trace.folder, record).read("sessions", &columns, &mut |batch| {
        told.extend((0..batch.rows()).map(|row| {
            let [source, blake3] = [0, 2].map(|column| batch.text(column, row).unwrap_or_default().to_owned());
            InputEntry { source, size: batch.integer(1, row).map_or(0, i64::cast_unsigned), blake3 }
        }));
        Ok(())
    })?;
    Ok((told != record.inputs).then(|| {
        let file = format!("{}/sidecar/sessions.parquet", trace.label());
        Finding::new(FindingKind::Sidecar, file, "its inputs are not those of the manifest")
    }))
}
