//! The manifest by itself: whole, of this version, and in agreement with itself.

use std::collections::BTreeSet;

use columnar::output::manifest::{CommitRecord, MANIFEST_PATH, MAX_MANIFEST, Seal, options_hash, seal};

use super::finding::{Finding, FindingKind};
use crate::PublishedTrace;

/// Reads the manifest of a trace; `None` where nothing can be relied on.
pub(super) fn read(trace: &PublishedTrace, findings: &mut Vec<Finding>) -> Option<CommitRecord> {
    let file = format!("{}/{MANIFEST_PATH}", trace.label());
    let mut find = |kind, reason: String| findings.push(Finding::new(kind, &file, reason));
    let text = match trace.store.get(MANIFEST_PATH, MAX_MANIFEST) {
        Ok(text) => text,
        Err(cause) => {
            find(FindingKind::Manifest, format!("the manifest cannot be read: {cause}"));
            return None;
        }
    };
    let record: Option<CommitRecord> = match serde_json::from_slice(&text) {
        Ok(record) => Some(record),
        Err(cause) => {
            find(FindingKind::Manifest, format!("not a manifest: {cause}"));
            None
        }
    };
    match seal(&text) {
        Seal::Intact => {}
        Seal::Broken => find(FindingKind::Manifest, "the manifest has been changed: its hash is another one".into()),
        Seal::Missing => find(
            FindingKind::Manifest,
            "the manifest has no hash of itself at its end: it was changed, or written by an older version".into(),
        ),
    }
    let record = record?;
    if !record.is_readable() {
        find(FindingKind::Version, record.unreadable().to_string());
    }
    contradictions(trace, &record).into_iter().for_each(|reason| find(FindingKind::Manifest, reason));
    let events = record.events;
    if !events.is_conserved() {
        let reason = format!(
            "found {} is not written {} + filtered {} + damaged {}",
            events.found, events.written, events.filtered, events.damaged
        );
        find(FindingKind::Conservation, reason);
    }
    Some(record)
}

/// Where a manifest contradicts itself, or its folder.
fn contradictions(trace: &PublishedTrace, record: &CommitRecord) -> Vec<String> {
    let mut reasons = Vec::new();
    if trace.name().is_some_and(|name| name != record.trace) {
        reasons.push(format!("this is the manifest of trace={}", record.trace));
    }
    if options_hash(&record.options) != record.options_hash {
        reasons.push("options_hash is not that of options".to_owned());
    }
    let mut known = BTreeSet::new();
    for file in &record.files {
        if !known.insert(file.path.as_str()) {
            reasons.push(format!("{} is listed twice", file.path));
        }
        if !is_below(&file.path) {
            reasons.push(format!("{} leads out of the trace", file.path));
        }
    }
    let of_rows = record.decode.values().fold(0u64, |sum, rows| sum.saturating_add(*rows));
    if of_rows != record.events.written {
        reasons.push(format!("decode counts {of_rows} rows, events.written {}", record.events.written));
    }
    reasons
}

/// Whether a path of a manifest stays in its trace.
pub(super) fn is_below(path: &str) -> bool {
    let is_name = |name: &str| !matches!(name, "" | "." | "..") && !name.contains(['\\', ':', '\0']);
    path.split('/').all(is_name)
}
