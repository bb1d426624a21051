//! Finding published traces.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::error::{Error, ErrorKind, Result};
use base::names::is_trace_name;
use base::remote;
use columnar::output::manifest::{CommitRecord, MANIFEST_PATH};
use columnar::output::store::EntryKind;
use columnar::output::{Store, store_at};

use super::lake_manifest::LAKE_PATH;

/// The files of a trace `trace=<name>`, whether or not it is whole.
#[derive(Clone, Debug)]
pub struct PublishedTrace {
    /// The files, by their paths in the trace.
    pub store: Arc<dyn Store>,
}

impl PublishedTrace {
    /// The trace in a folder of this system.
    pub fn in_folder(folder: impl Into<PathBuf>) -> PublishedTrace {
        PublishedTrace { store: store_at(&folder.into()) }
    }

    /// Where it is.
    pub fn folder(&self) -> PathBuf {
        self.store.location("")
    }

    /// Where a file of it is.
    pub fn location(&self, path: &str) -> PathBuf {
        self.store.location(path)
    }

    /// The name of its folder, without `trace=`; `None` where it is called otherwise.
    pub fn name(&self) -> Option<String> {
        let folder = self.folder();
        folder.file_name()?.to_str()?.strip_prefix("trace=").map(str::to_owned)
    }

    /// What the trace is called in messages: its path as it was given.
    pub fn label(&self) -> String {
        self.folder().display().to_string().replace('\\', "/")
    }

    /// Its manifest, of a format version that is read.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when there is none that can be read, or it is of another format version.
    pub fn record(&self) -> Result<CommitRecord> {
        let record = CommitRecord::read(&*self.store)?;
        if record.is_readable() { Ok(record) } else { Err(record.unreadable().in_file(self.location(MANIFEST_PATH))) }
    }
}

/// The traces that paths name: each is one, or a folder of them. Sorted, each once.
///
/// # Errors
/// [`ErrorKind::Input`] for a path that is not there or cannot be listed; [`ErrorKind::Usage`] for one that neither is a trace nor has any.
pub fn published(paths: &[PathBuf]) -> Result<Vec<PublishedTrace>> {
    let mut found = Vec::new();
    for path in paths {
        found.extend(published_in(&store_at(path))?);
    }
    found.sort_by_cached_key(PublishedTrace::folder);
    found.dedup_by_key(|trace| trace.folder());
    Ok(found)
}

/// The trace that the root of a store is, or the traces in it, sorted by their names.
///
/// # Errors
/// As [`published`].
pub fn published_in(store: &Arc<dyn Store>) -> Result<Vec<PublishedTrace>> {
    let location = store.location("");
    let name = location.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let failure = |cause| {
        let error = Error::new(ErrorKind::Input, "cannot list the folder").in_file(&location).caused_by(cause);
        error.with_hint("expected what etl2parquet convert wrote: a folder with traces, or a trace in it, trace=<name>")
    };
    let is_of_trace = |name: &str, files: &dyn Store| name.starts_with("trace=") || files.has(MANIFEST_PATH);
    let mut entries = store.list("").map_err(failure)?;
    if is_of_trace(name, &**store) {
        return Ok(vec![PublishedTrace { store: Arc::clone(store) }]);
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    let folders = entries.iter().filter(|entry| entry.kind != EntryKind::File);
    let below = folders.map(|entry| (entry, store.below(&entry.name)));
    let traces = below.filter(|(entry, files)| files.list("").is_ok() && is_of_trace(&entry.name, &**files));
    let found: Vec<PublishedTrace> = traces.map(|(_, store)| PublishedTrace { store }).collect();
    if found.is_empty() {
        let expected = "expected a folder trace=<name>, or one with such folders in it";
        if store.has(LAKE_PATH) {
            let error = Error::new(ErrorKind::Usage, format!("{expected}, found a lake")).in_file(location);
            return Err(error.with_hint("ask it with query, or name the folder that it was made of"));
        }
        return Err(Error::new(ErrorKind::Usage, expected).in_file(location));
    }
    Ok(found)
}

/// The published traces that inputs are; `None` where one of them is none, or has none.
pub fn all_published(inputs: &[OsString]) -> Option<Vec<PublishedTrace>> {
    let folders: Vec<PathBuf> = inputs.iter().map(PathBuf::from).collect();
    let is_folder = folders.iter().all(|folder| match remote::url_of(folder) {
        Some(_) => PublishedTrace::in_folder(folder).name().is_some() || has_traces(folder),
        None => folder.is_dir(),
    });
    let traces = is_folder.then(|| published(&folders).ok())??;
    traces.iter().any(|trace| trace.store.has(MANIFEST_PATH)).then_some(traces)
}

/// Whether folders of traces are listed at an address; nobody asks for those below a trace file.
fn has_traces(address: &Path) -> bool {
    let is_file = address.file_name().and_then(|name| name.to_str()).is_some_and(is_trace_name);
    let entries = if is_file { Vec::new() } else { store_at(address).list("").unwrap_or_default() };
    entries.iter().any(|entry| entry.kind != EntryKind::File && entry.name.starts_with("trace="))
}
