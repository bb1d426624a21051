//! What rows add up to against the manifest and the sidecar.

use std::collections::BTreeMap;

use base::error::Result;
use base::progress::Progress;
use columnar::output::manifest::{CommitRecord, InputEntry};
use conversion::read_columns;
use conversion::sidecar::SessionRow;
use conversion::sidecar::catalog::CatalogRow;

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
    findings.extend(check_catalog(trace, record, &counts, progress)?);
    findings.extend(check_sessions(trace, record, progress)?);
    Ok(findings)
}

read_columns! {
    /// An event shape, and how many rows of it there are.
    struct ShapeRows<'b> of CatalogRow<'static> {
        shape: u32,
        dataset: &'b str,
        rows: Option<u64>,
    }
}

/// Holds the rows of each shape against `catalog`.
fn check_catalog(
    trace: &PublishedTrace,
    record: &CommitRecord,
    counts: &RowCounts,
    progress: &dyn Progress,
) -> Result<Option<Finding>> {
    let mut expected: BTreeMap<(i64, String), u64> = BTreeMap::new();
    Sidecar::of(&*trace.store, record, progress).rows::<ShapeRows<'_>>(|row| {
        if let Some(rows) = row.rows.filter(|rows| *rows > 0) {
            expected.insert((row.shape.into(), row.dataset.to_owned()), rows);
        }
    })?;
    let mut places = expected.keys().chain(counts.shapes.keys());
    Ok(places.find(|&place| expected.get(place) != counts.shapes.get(place)).map(|place| {
        let [recorded, found] = [&expected, &counts.shapes].map(|rows| rows.get(place).copied().unwrap_or(0));
        let reason = format!("records {recorded} rows of the shape {} in {}, there are {found}", place.0, place.1);
        Finding::new(FindingKind::Sidecar, format!("{}/sidecar/catalog.parquet", trace.label()), reason)
    }))
}

read_columns! {
    /// An input.
    struct Input of SessionRow {
        source: String,
        size: u64,
        blake3: Option<String>,
    }
}

/// Holds the inputs of the manifest against `sessions`.
fn check_sessions(trace: &PublishedTrace, record: &CommitRecord, progress: &dyn Progress) -> Result<Option<Finding>> {
    let mut inputs = Vec::new();
    Sidecar::of(&*trace.store, record, progress).rows::<Input>(|Input { source, size, blake3 }| {
        inputs.push(InputEntry { source, size, blake3: blake3.unwrap_or_default() });
    })?;
    Ok((inputs != record.inputs).then(|| {
        let file = format!("{}/sidecar/sessions.parquet", trace.label());
        Finding::new(FindingKind::Sidecar, file, "its inputs are not those of the manifest")
    }))
}
