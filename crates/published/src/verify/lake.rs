//! Whether a lake is still what was compacted: every file that its manifest names, and every row of every trace, once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use base::error::{ErrorKind, Result};
use base::progress::Progress;
use columnar::output::manifest::{CommitRecord, FORMAT_VERSION, LAKE_FOLDERS};
use columnar::output::sink::hex;
use columnar::output::store::{EntryKind, joined};
use conversion::read_columns;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::files::Wanted;
use super::finding::{Finding, FindingKind};
use super::run::Verified;
use crate::lake_manifest::{LAKE_PATH, LakeFile, table_of};
use crate::{Footer, PublishedLake, TableFile};

/// Verifies a lake: every byte of every file and the order of all rows, or with `quick` what its manifest and footers say. Call it in
/// the pool whose threads it should use.
///
/// # Errors
/// [`ErrorKind::Interrupted`] when the caller asked to stop. What is wrong with the lake is a finding.
pub(super) fn verify(folder: &Path, quick: bool, progress: &dyn Progress) -> Result<Verified> {
    let label = folder.display().to_string().replace('\\', "/");
    let lake = match PublishedLake::open(folder) {
        Ok(lake) => lake,
        Err(error) => {
            let finding = Finding::new(FindingKind::Manifest, format!("{label}/{LAKE_PATH}"), error.to_string());
            return Ok(Verified { findings: vec![finding], ..Verified::default() });
        }
    };
    let files = &lake.manifest.files;
    let mut verified = Verified {
        traces: lake.manifest.traces.len() as u64,
        files: files.len() as u64,
        bytes: files.iter().fold(0, |sum, file| sum.saturating_add(file.bytes)),
        ..Verified::default()
    };
    let mut by_table: BTreeMap<(&str, &str), Vec<&LakeFile>> = BTreeMap::new();
    files.iter().for_each(|file| by_table.entry((&file.bucket, file.table())).or_default().push(file));
    let traces = lake.manifest.traces.iter();
    let hashes = traces.map(|trace| (trace.trace.as_str(), trace.manifest_sha256.as_str())).collect();
    let check = LakeCheck { lake: &lake, by_table, hashes, label, quick, progress };
    let of_files = files.par_iter().map(|file| check.file(file)).collect::<Result<Vec<_>>>()?;
    verified.findings.extend(of_files.into_iter().flatten());
    verified.findings.extend(check.extra());
    if verified.findings.is_empty() {
        let buckets: BTreeSet<&str> = files.iter().map(|file| file.bucket.as_str()).collect();
        let mut found = BTreeSet::new();
        for bucket in buckets {
            let checked = check.bucket(bucket, &mut found, &mut verified.older);
            verified.findings.extend(check.or_finding(checked)?);
        }
        let lost = lake.manifest.traces.iter().filter(|trace| !found.contains(&trace.trace));
        verified.findings.extend(lost.map(|trace| check.finding(format!("nothing of trace={} is there", trace.trace))));
        let mismatches = lake.binding(progress).map(|binding| binding.mismatches().into_iter());
        let mismatches = mismatches.map(|all| {
            let finding = |one: crate::Mismatch| Finding::new(FindingKind::Schema, &check.label, one.to_string());
            all.map(finding).collect()
        });
        verified.findings.extend(check.or_finding(mismatches)?);
    }
    Ok(verified)
}

/// A lake whose manifest can be read.
struct LakeCheck<'a> {
    lake: &'a PublishedLake,
    /// The files of each table of each bucket.
    by_table: BTreeMap<(&'a str, &'a str), Vec<&'a LakeFile>>,
    /// The SHA-256 of the manifest of each trace.
    hashes: HashMap<&'a str, &'a str>,
    label: String,
    quick: bool,
    progress: &'a dyn Progress,
}

read_columns! {
    /// What a row of a lake is checked by.
    struct LakeRow<'b> {
        trace: Option<&'b str> = "trace",
        time: Option<i64> = "timestamp_ns",
        seq: Option<i64> = "seq",
    }
}

/// The rows of a table by trace.
type Counts = HashMap<String, u64>;

impl LakeCheck<'_> {
    fn finding(&self, reason: String) -> Finding {
        Finding::new(FindingKind::Rows, &self.label, reason)
    }

    /// A file that cannot be read is a finding.
    fn or_finding(&self, found: Result<Vec<Finding>>) -> Result<Vec<Finding>> {
        match found {
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                Ok(vec![Finding::new(FindingKind::Unreadable, &self.label, error.to_string())])
            }
            other => other,
        }
    }

    /// A file against the manifest.
    fn file(&self, file: &LakeFile) -> Result<Vec<Finding>> {
        let (label, mut findings) = (format!("{}/{}", self.label, file.path), Vec::new());
        let wanted = Wanted { path: &file.path, bytes: file.bytes, sha256: &file.sha256 };
        let found = wanted.open(&*self.lake.store, &label, (self.quick, self.progress), &mut findings)?;
        match found.map(|file| Footer::of(&file)) {
            Some(Err(error)) => findings.push(Finding::new(FindingKind::Footer, &label, error.to_string())),
            Some(Ok(footer)) if footer.rows() != file.rows => {
                let reason = format!("expected {} rows, the footer has {}", file.rows, footer.rows());
                findings.push(Finding::new(FindingKind::Rows, &label, reason));
            }
            Some(Ok(_)) | None => {}
        }
        Ok(findings)
    }

    /// Finds what the manifest does not name.
    fn extra(&self) -> Vec<Finding> {
        let known: BTreeSet<&str> = self.lake.manifest.files.iter().map(|file| file.path.as_str()).collect();
        let (mut findings, mut waiting) = (Vec::new(), LAKE_FOLDERS.map(str::to_owned).to_vec());
        while let Some(folder) = waiting.pop() {
            for entry in self.lake.store.list(&folder).unwrap_or_default() {
                let path = joined(&folder, &entry.name);
                if entry.kind == EntryKind::Folder {
                    waiting.push(path);
                } else if !known.contains(path.as_str()) {
                    let reason = "the manifest does not know this file: the next compact removes what one has left";
                    findings.push(Finding::new(FindingKind::Extra, format!("{}/{path}", self.label), reason));
                }
            }
        }
        findings
    }

    /// The rows of a bucket against the manifests of its traces, whose names are added to `found`.
    fn bucket(&self, bucket: &str, found: &mut BTreeSet<String>, older: &mut u64) -> Result<Vec<Finding>> {
        let mut findings = Vec::new();
        let mut expected: BTreeMap<String, Counts> = BTreeMap::new();
        self.lake.traces(Some(bucket), true, self.progress, |known| {
            let text = known.manifest.unwrap_or_default();
            let hash = hex(&Sha256::digest(text.as_bytes()));
            let record = serde_json::from_str::<CommitRecord>(&text).ok();
            let record = record.filter(|_| self.hashes.get(known.trace.as_str()).is_some_and(|wanted| *wanted == hash));
            let Some(record) = record.filter(|_| found.insert(known.trace.clone())) else {
                findings.push(self.finding(format!("the manifest of trace={} is another one", known.trace)));
                return Ok(());
            };
            *older += u64::from(record.is_readable() && record.format_version < FORMAT_VERSION);
            for file in &record.files {
                let Some(table) = table_of(&file.path) else { continue };
                let rows = expected.entry(table.to_owned()).or_default().entry(known.trace.clone()).or_default();
                *rows = rows.saturating_add(file.rows);
            }
            Ok(())
        })?;
        let tables: Vec<(String, Counts)> = expected.into_iter().collect();
        let checked = tables.into_par_iter().map(|(table, expected)| self.table(bucket, &table, &expected));
        findings.extend(checked.collect::<Result<Vec<_>>>()?.into_iter().flatten());
        Ok(findings)
    }

    /// The rows of a table of a bucket: as many of each trace as there should be, and in order.
    fn table(&self, bucket: &str, table: &str, expected: &Counts) -> Result<Vec<Finding>> {
        let mut variants: BTreeMap<Option<&str>, Vec<&LakeFile>> = BTreeMap::new();
        for file in self.by_table.get(&(bucket, table)).into_iter().flatten() {
            variants.entry(file.variant.as_deref()).or_default().push(file);
        }
        if self.quick {
            let found = variants.values().flatten().fold(0u64, |sum, file| sum.saturating_add(file.rows));
            let all = expected.values().fold(0u64, |sum, rows| sum.saturating_add(*rows));
            let reason = || format!("expected {all} rows of {table} in the bucket {bucket}, found {found}");
            return Ok((found != all).then(|| self.finding(reason())).into_iter().collect());
        }
        let (mut findings, mut counts) = (Vec::new(), Counts::new());
        for files in variants.values() {
            let mut last: (String, i64, i64) = (String::new(), i64::MIN, i64::MIN);
            for file in files {
                let mut fault = None;
                let open = TableFile::open(&*self.lake.store, &file.path)?;
                open.rows::<LakeRow<'_>>(None, self.progress, |row| {
                    let trace = row.trace.unwrap_or_default();
                    let (time, seq) = row.time.zip(row.seq).unwrap_or((i64::MIN, i64::MIN));
                    if trace != last.0 {
                        if trace < last.0.as_str() {
                            fault
                                .get_or_insert_with(|| format!("rows of trace={trace} are behind those of {}", last.0));
                        }
                        last = (trace.to_owned(), time, seq);
                    } else if table.starts_with("events/") && (time < last.1 || seq <= last.2) {
                        fault.get_or_insert_with(|| {
                            format!("the row of seq {seq} of trace={trace} is not behind the one before it")
                        });
                    }
                    (last.1, last.2) = (time, seq);
                    match counts.get_mut(trace) {
                        Some(rows) => *rows += 1,
                        None => _ = counts.insert(trace.to_owned(), 1),
                    }
                })?;
                let label = format!("{}/{}", self.label, file.path);
                findings.extend(fault.map(|reason| Finding::new(FindingKind::Order, label, reason)));
            }
        }
        let traces: BTreeSet<&String> = expected.keys().chain(counts.keys()).collect();
        let of = |counts: &Counts, trace: &str| counts.get(trace).copied().unwrap_or(0);
        let wrong = traces.into_iter().map(|trace| (trace, of(expected, trace), of(&counts, trace)));
        findings.extend(wrong.filter(|(_, expected, found)| expected != found).map(|(trace, expected, found)| {
            self.finding(format!("expected {expected} rows of {table} of trace={trace}, found {found}"))
        }));
        Ok(findings)
    }
}
