//! All checks of any number of traces.

use std::sync::Arc;

use base::error::{ErrorKind, Result};
use base::progress::Progress;
use columnar::output::manifest::{CommitRecord, FORMAT_VERSION, FileEntry};
use rayon::prelude::*;
use serde::Serialize;

use super::beside;
use super::content;
use super::files::FileChecks;
use super::finding::{Finding, FindingKind};
use super::manifest;
use super::rows::EventFile;
use crate::{Binding, Footer, PublishedTrace, add_events};

/// What came of it.
#[derive(Debug, Default)]
pub struct Verified {
    /// Traces.
    pub traces: u64,
    /// Files that their manifests name.
    pub files: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Traces of an older format version, which is read: what newer versions corrected or added they do not have.
    pub older: u64,
    /// What is not as it should be, sorted by file.
    pub findings: Vec<Finding>,
}

/// What `verify --json` prints.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    format: u32,
    traces: u64,
    files: u64,
    bytes: u64,
    older: u64,
    findings: &'a [Finding],
}

impl Verified {
    /// The same as a document.
    pub fn document(&self) -> Document<'_> {
        let Verified { traces, files, bytes, older, findings } = self;
        Document { format: 1, traces: *traces, files: *files, bytes: *bytes, older: *older, findings }
    }
}

/// Rows from which a trace is read alone: the order of its events takes memory.
const LARGE: u64 = 1 << 20;

/// Verifies traces: every byte of every file, or with `quick` what manifests and footers say. Call it in the pool whose
/// threads it should use.
///
/// # Errors
/// [`ErrorKind::Interrupted`] when the caller asked to stop. What is wrong with a trace is a finding.
pub fn verify(traces: &[PublishedTrace], quick: bool, progress: &dyn Progress) -> Result<Verified> {
    let mut findings = Vec::new();
    let found = traces.par_iter().map(|trace| {
        let mut findings = Vec::new();
        let record = manifest::read(trace, &mut findings);
        (record.map(|record| TraceCheck { trace, record, quick, progress }), findings)
    });
    let (checks, of_manifests): (Vec<_>, Vec<_>) = found.unzip();
    findings.extend(of_manifests.into_iter().flatten());
    let (small, large): (Vec<TraceCheck<'_>>, Vec<_>) =
        checks.into_iter().flatten().partition(|check| check.record.events.written < LARGE);
    let mut checked = small.par_iter().map(TraceCheck::run).collect::<Result<Vec<_>>>()?;
    for check in &large {
        checked.push(check.run()?);
    }
    let mut verified = Verified { traces: traces.len() as u64, ..Verified::default() };
    for TraceCheck { record, .. } in small.iter().chain(&large) {
        verified.older += u64::from(record.is_readable() && record.format_version < FORMAT_VERSION);
        verified.files += record.files.len() as u64;
        verified.bytes = record.files.iter().fold(verified.bytes, |sum, file| sum.saturating_add(file.bytes));
    }
    let records = small.iter().chain(&large).map(|check| (check.trace, &check.record));
    findings.extend(beside::check(records, quick, progress)?);
    let mut binding = Binding::default();
    for (of_trace, seen) in checked {
        findings.extend(of_trace);
        binding.merge(seen);
    }
    findings.extend(binding.mismatches().iter().map(|mismatch| {
        let file = mismatch.variants.first().map(|variant| variant.file.clone()).unwrap_or_default();
        Finding::new(FindingKind::Schema, file, mismatch.to_string())
    }));
    findings.sort();
    Ok(Verified { findings, ..verified })
}

/// A trace whose manifest can be read.
struct TraceCheck<'a> {
    trace: &'a PublishedTrace,
    record: CommitRecord,
    quick: bool,
    progress: &'a dyn Progress,
}

impl TraceCheck<'_> {
    /// What is wrong with the trace by itself, and what it has to have in common with others.
    fn run(&self) -> Result<(Vec<Finding>, Binding)> {
        let TraceCheck { trace, record, quick, progress } = self;
        let files = FileChecks { trace, record, quick: *quick, progress: *progress };
        let of_files = record.files.par_iter().filter(|entry| manifest::is_below(&entry.path)).map(|entry| {
            let mut findings = Vec::new();
            let footer = files.check(entry, &mut findings)?;
            Ok((footer.map(|footer| self.seen(entry, &footer)), findings))
        });
        let (seen, found): (Vec<_>, Vec<_>) = of_files.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let mut findings: Vec<Finding> = found.into_iter().flatten().collect();
        findings.extend(files.extra());
        let (mut binding, mut events, mut rows) = (Binding::default(), Vec::new(), 0u64);
        for seen in seen.into_iter().flatten() {
            binding.merge(seen.binding);
            rows = rows.saturating_add(seen.rows);
            events.extend(seen.events);
        }
        // Where files are damaged or missing, what depends on all of them says nothing new.
        if findings.is_empty() && record.is_readable() {
            if rows != record.events.written {
                let reason = format!("events.written is {}, the footers have {rows}", record.events.written);
                findings.push(Finding::new(FindingKind::Conservation, trace.label(), reason));
            } else if !quick {
                findings.extend(self.or_finding(content::check(trace, record, &events, *progress))?);
            }
            findings.extend(self.or_finding(add_events(&mut binding, trace, record, *progress).map(|()| Vec::new()))?);
        }
        Ok((findings, binding))
    }

    fn seen(&self, entry: &FileEntry, footer: &Footer) -> SeenFile {
        let label = format!("{}/{}", self.trace.label(), entry.path);
        let mut binding = Binding::default();
        binding.add_file(&label, &entry.path, footer);
        let dataset = entry.path.strip_prefix("events/").and_then(|path| path.rsplit_once('/'));
        let events = dataset.map(|(dataset, _)| EventFile {
            store: Arc::clone(&self.trace.store),
            path: entry.path.clone(),
            label,
            dataset: dataset.to_owned(),
            groups: footer.group_ranges("seq"),
        });
        SeenFile { binding, rows: if events.is_some() { footer.rows() } else { 0 }, events }
    }

    /// A file that cannot be read is a finding.
    fn or_finding(&self, found: Result<Vec<Finding>>) -> Result<Vec<Finding>> {
        match found {
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                Ok(vec![Finding::new(FindingKind::Unreadable, self.trace.label(), error.to_string())])
            }
            other => other,
        }
    }
}

/// What of a file is needed further.
struct SeenFile {
    binding: Binding,
    /// Of a file of events.
    rows: u64,
    events: Option<EventFile>,
}
