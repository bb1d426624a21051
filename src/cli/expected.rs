//! Traces that runs have left in their output folders, by their summaries.

use std::path::{Path, PathBuf};
use std::{fs, io, slice};

use base::error::{Error, ErrorKind, Result};
use batch::FORMAT_VERSION;
use columnar::output::folder::trace_folder;
use columnar::output::store_at;
use published::verify::{Finding, FindingKind};
use published::{PublishedLake, published};
use serde::Deserialize;

/// What `verify` reads of the summary of a run.
#[derive(Deserialize)]
struct RunSummary {
    format_version: u32,
    output: PathBuf,
    traces: Vec<RunTrace>,
}

#[derive(Deserialize)]
struct RunTrace {
    trace: String,
    status: String,
}

/// The traces that were there at the end of runs, by their summaries, and are in none of the outputs, which are folders of traces or
/// traces.
///
/// # Errors
/// [`ErrorKind::Usage`] where a summary cannot be read or is none.
pub(super) fn gone(summaries: &[PathBuf], outputs: &[PathBuf]) -> Result<Vec<Finding>> {
    let mut gone = Vec::new();
    for path in summaries {
        let RunSummary { output, traces, .. } = read(path)?;
        let was_there = |trace: &&RunTrace| matches!(&*trace.status, "published" | "skipped");
        let is_there = |name: &str| {
            let folder = trace_folder(Path::new(""), name);
            outputs.iter().any(|one| one.ends_with(&folder) || has_files(&one.join(&folder)))
        };
        for RunTrace { trace, .. } in traces.iter().filter(was_there).filter(|one| !is_there(&one.trace)) {
            let file = trace_folder(&output, trace).display().to_string().replace('\\', "/");
            let reason = format!("expected this trace, which a run left there by {}, found none", path.display());
            gone.push(Finding { file, kind: FindingKind::Missing, reason });
        }
    }
    Ok(gone)
}

/// Whether anything lies in a folder, or below the address of a store.
fn has_files(folder: &Path) -> bool {
    store_at(folder).list("").is_ok_and(|entries| !entries.is_empty())
}

/// Whether an output has no trace, or has gone, as it may have with all its traces.
pub(super) fn has_no_trace(output: &PathBuf) -> bool {
    let is_gone = || store_at(output).list("").is_err_and(|cause| cause.kind() == io::ErrorKind::NotFound);
    let found = published(slice::from_ref(output));
    !PublishedLake::is_at(output) && found.is_err_and(|error| error.kind() == ErrorKind::Usage || is_gone())
}

/// Reads the summary of a run.
fn read(path: &Path) -> Result<RunSummary> {
    let failure = |what: &str| Error::new(ErrorKind::Usage, what).in_file(path);
    let text = fs::read(path).map_err(|cause| failure("the summary cannot be read").caused_by(cause))?;
    let summary = serde_json::from_slice::<RunSummary>(&text);
    let summary = summary.map_err(|cause| failure("expected what `convert --summary` writes").caused_by(cause))?;
    match summary.format_version {
        FORMAT_VERSION => Ok(summary),
        other => Err(failure(&format!("expected a summary of format_version {FORMAT_VERSION}, found {other}"))),
    }
}
