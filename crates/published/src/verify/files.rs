//! The files of a trace against its manifest: each there and nothing else, its length, its bytes, its footer.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use base::error::{Error, ErrorKind, Result};
use base::guid::Guid;
use base::progress::{Progress, stop_if_cancelled};
use columnar::output::manifest::{CommitRecord, FileEntry, MANIFEST_PATH};
use columnar::output::sink::hex;
use columnar::output::store::{EntryKind, joined};
use columnar::output::{MemoryFile, Store, StoredFile};
use sha2::{Digest, Sha256};

use super::finding::{Finding, FindingKind};
use crate::{Footer, PublishedTrace, missing_column, sidecar_table};

/// What the files of a trace are held against.
pub(super) struct FileChecks<'a> {
    pub trace: &'a PublishedTrace,
    pub record: &'a CommitRecord,
    /// Footers only.
    pub quick: bool,
    pub progress: &'a dyn Progress,
}

/// Bytes that are hashed at a time. A file that has no more is read once: who asks for its hash and then for its rows gets both
/// from the same bytes.
const CHUNK: usize = 1 << 18;

/// What a manifest says of a file.
pub(super) struct Wanted<'a> {
    pub path: &'a str,
    pub bytes: u64,
    pub sha256: &'a str,
}

impl Wanted<'_> {
    /// Opens the file, where it is there and has this length and, unless it is to be quick, this hash.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
    pub(super) fn open(
        &self,
        store: &dyn Store,
        label: &str,
        (quick, progress): (bool, &dyn Progress),
        findings: &mut Vec<Finding>,
    ) -> Result<Option<Arc<dyn StoredFile>>> {
        let Wanted { path, bytes, sha256 } = *self;
        let mut find = |kind, reason: String| findings.push(Finding::new(kind, label, reason));
        if store.kind(path).is_ok_and(|kind| kind == EntryKind::Other) {
            find(FindingKind::Missing, "expected a file, found a link to one".to_owned());
            return Ok(None);
        }
        let file = match store.open(path) {
            Ok(open) => open,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                find(FindingKind::Missing, "the file is not there".to_owned());
                return Ok(None);
            }
            Err(cause) => {
                find(FindingKind::Unreadable, format!("cannot read: {cause}"));
                return Ok(None);
            }
        };
        if file.len() != bytes {
            find(FindingKind::Size, format!("expected {bytes} bytes, found {}", file.len()));
            return Ok(None);
        }
        if quick {
            return Ok(Some(file));
        }
        let file = match held(file) {
            Ok(file) => file,
            Err(cause) => {
                find(FindingKind::Unreadable, format!("cannot read: {cause}"));
                return Ok(None);
            }
        };
        match hash(&*file, u64::MAX, progress)? {
            Ok(hash) if hash == sha256 => return Ok(Some(file)),
            Ok(hash) => find(FindingKind::Hash, format!("expected the SHA-256 {sha256}, found {hash}")),
            Err(cause) => find(FindingKind::Unreadable, format!("cannot read: {cause}")),
        }
        Ok(None)
    }
}

/// A small file from memory, a larger one as it is.
fn held(file: Arc<dyn StoredFile>) -> io::Result<Arc<dyn StoredFile>> {
    let Some(bytes) = usize::try_from(file.len()).ok().filter(|&bytes| bytes <= CHUNK) else { return Ok(file) };
    let mut content = vec![0; bytes];
    file.read_exact_at(0, &mut content)?;
    Ok(Arc::new(MemoryFile::new(content)))
}

/// Opens a file of a store that has this length and this SHA-256, in lower-case hexadecimal.
///
/// # Errors
/// [`ErrorKind::Output`] where it is not there, cannot be read, or has others; [`ErrorKind::Interrupted`] when the caller asked to stop.
pub fn check_file(
    store: &dyn Store,
    path: &str,
    (bytes, sha256): (u64, &str),
    progress: &dyn Progress,
) -> Result<Arc<dyn StoredFile>> {
    let (label, mut findings) = (store.location(path).display().to_string(), Vec::new());
    let file = Wanted { path, bytes, sha256 }.open(store, &label, (false, progress), &mut findings)?;
    file.ok_or_else(|| {
        let reason = findings.pop().map_or_else(|| "cannot read".to_owned(), |finding| finding.reason);
        Error::new(ErrorKind::Output, reason).in_file(store.location(path))
    })
}

/// The SHA-256 of a file, or of its first bytes, in lower-case hexadecimal.
///
/// # Errors
/// [`ErrorKind::Interrupted`] when the caller asked to stop.
pub(super) fn hash(file: &dyn StoredFile, length: u64, progress: &dyn Progress) -> Result<io::Result<String>> {
    let (mut hash, mut buffer, mut offset) = (Sha256::new(), vec![0; CHUNK], 0);
    loop {
        stop_if_cancelled(progress)?;
        let wanted = usize::try_from(length.saturating_sub(offset)).map_or(CHUNK, |rest| rest.min(CHUNK));
        match file.read_at(offset, buffer.get_mut(..wanted).unwrap_or_default()) {
            Ok(0) => return Ok(Ok(hex(&hash.finalize()))),
            Ok(read) => {
                hash.update(buffer.get(..read).unwrap_or_default());
                progress.advance(read as u64);
                offset += read as u64;
            }
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Ok(Err(cause)),
        }
    }
}

impl FileChecks<'_> {
    /// Checks a file; its footer, where it has one and can be relied on.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
    pub(super) fn check(&self, entry: &FileEntry, findings: &mut Vec<Finding>) -> Result<Option<Footer>> {
        stop_if_cancelled(self.progress)?;
        let label = format!("{}/{}", self.trace.label(), entry.path);
        let wanted = Wanted { path: &entry.path, bytes: entry.bytes, sha256: &entry.sha256 };
        let Some(file) = wanted.open(&*self.trace.store, &label, (self.quick, self.progress), findings)? else {
            return Ok(None);
        };
        if !entry.is_table() {
            return Ok(None);
        }
        let footer = match Footer::of(&file) {
            Ok(footer) => footer,
            Err(error) => {
                findings.push(Finding::new(FindingKind::Footer, &label, error.to_string()));
                return Ok(None);
            }
        };
        let before = findings.len();
        self.check_footer(entry, &footer, &label, findings);
        Ok(Some(footer).filter(|_| findings.len() == before))
    }

    fn check_footer(&self, entry: &FileEntry, footer: &Footer, label: &str, findings: &mut Vec<Finding>) {
        let mut find = |kind, reason: String| findings.push(Finding::new(kind, label, reason));
        if footer.rows() != entry.rows {
            find(FindingKind::Rows, format!("expected {} rows, the footer has {}", entry.rows, footer.rows()));
        }
        let expected = entry.min_timestamp_ns.zip(entry.max_timestamp_ns);
        let found = footer.range("timestamp_ns");
        if found != expected {
            find(FindingKind::Time, format!("expected {}, the footer has {}", times(expected), times(found)));
        }
        if let Some(table) = sidecar_table(&entry.path).filter(|_| self.record.is_readable()) {
            let missing = missing_column(table, self.record.format_version, &|name| footer.has_column(name));
            missing.into_iter().for_each(|reason| find(FindingKind::Sidecar, reason));
        }
        if !entry.path.starts_with("events/") {
            return;
        }
        let hashes: Vec<&str> = self.record.inputs.iter().map(|input| input.blake3.as_str()).collect();
        let provider = entry.provider_id.as_ref().map(Guid::to_string);
        for (key, expected) in [
            ("etl2parquet.provider_id", provider),
            ("etl2parquet.input_blake3", Some(hashes.join(","))),
            ("etl2parquet.options_hash", Some(self.record.options_hash.clone())),
        ] {
            let found = footer.value(key);
            if found != expected.as_deref() {
                let [expected, found] = [expected.as_deref(), found].map(|value| value.unwrap_or("none"));
                find(FindingKind::Footer, format!("the footer's {key} is {found}, the manifest's {expected}"));
            }
        }
    }

    /// Finds what the manifest does not know.
    pub(super) fn extra(&self) -> Vec<Finding> {
        let known: BTreeSet<&str> =
            self.record.files.iter().map(|file| file.path.as_str()).chain([MANIFEST_PATH]).collect();
        let (mut findings, mut waiting) = (Vec::new(), vec![String::new()]);
        while let Some(folder) = waiting.pop() {
            let label = |path: &str| format!("{}/{path}", self.trace.label());
            let entries = self.trace.store.list(&folder).unwrap_or_else(|cause| {
                findings.push(Finding::new(FindingKind::Unreadable, label(&folder), format!("cannot list: {cause}")));
                Vec::new()
            });
            let is_known = || known.iter().any(|path| path.starts_with(&format!("{folder}/")));
            if entries.is_empty() && !folder.is_empty() && !is_known() {
                let reason = "the manifest knows no file of this folder";
                findings.push(Finding::new(FindingKind::Extra, label(&folder), reason));
            }
            for entry in entries {
                let path = joined(&folder, &entry.name);
                if entry.kind == EntryKind::Folder {
                    waiting.push(path);
                } else if !known.contains(path.as_str()) {
                    findings.push(Finding::new(
                        FindingKind::Extra,
                        label(&path),
                        "the manifest does not know this file",
                    ));
                }
            }
        }
        findings
    }
}

fn times(range: Option<(i64, i64)>) -> String {
    range.map_or_else(|| "no times".to_owned(), |(least, greatest)| format!("times from {least} to {greatest}"))
}
