//! The tables that lie beside traces, of each one: of traces that are there as they are, with the bytes that were written.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use base::disk::absolute;
use base::error::Result;
use base::progress::{Progress, stop_if_cancelled};
use columnar::output::manifest::CommitRecord;
use columnar::output::{Store, store_at};

use super::files::hash;
use super::finding::{Finding, FindingKind};
use crate::beside::{DATA_BYTES, DATA_SHA256, FOLDER, OF_CONTENT, OfTrace, content, is_gone};
use crate::{Footer, PublishedTrace};

/// Finds what is wrong with tables of single traces, of the folders that hold some traces.
///
/// # Errors
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub(super) fn check<'t>(
    traces: impl Iterator<Item = (&'t PublishedTrace, &'t CommitRecord)>,
    quick: bool,
    progress: &dyn Progress,
) -> Result<Vec<Finding>> {
    let mut folders: BTreeMap<PathBuf, HashMap<String, &CommitRecord>> = BTreeMap::new();
    for (trace, record) in traces {
        let folder = trace.folder();
        // As the trace was named: findings have the path that its user knows.
        let folder =
            if folder.parent().is_none_or(|above| above.as_os_str().is_empty()) { absolute(&folder) } else { folder };
        if let Some((above, name)) = folder.parent().zip(trace.name()) {
            folders.entry(above.to_owned()).or_default().insert(name, record);
        }
    }
    let mut findings = Vec::new();
    for (folder, records) in folders {
        let root = store_at(&folder);
        let symbols = root.below(FOLDER);
        let tables =
            OfTrace::ALL.into_iter().flat_map(|of| of.names(&*symbols).into_iter().map(move |name| (of, name)));
        for (of, name) in tables {
            stop_if_cancelled(progress)?;
            let path = format!("{FOLDER}/{}", of.path(&name));
            let label = root.location(&path).display().to_string().replace('\\', "/");
            let found = match records.get(&name) {
                Some(record) => of_trace((of, &*root, &path), record, quick, progress)?,
                None => of_no_trace(of, &*root, &name),
            };
            findings.extend(found.map(|(kind, reason)| Finding::new(kind, label, reason)));
        }
    }
    Ok(findings)
}

/// What is wrong with a table of a trace.
fn of_trace(
    (of, root, path): (OfTrace, &dyn Store, &str),
    record: &CommitRecord,
    quick: bool,
    progress: &dyn Progress,
) -> Result<Option<(FindingKind, String)>> {
    let file = match root.open(path) {
        Ok(file) => file,
        Err(cause) => return Ok(Some((FindingKind::Unreadable, format!("cannot read: {cause}")))),
    };
    let footer = match Footer::of(&file) {
        Ok(footer) => footer,
        Err(error) => return Ok(Some((FindingKind::Footer, error.to_string()))),
    };
    if footer.value(OF_CONTENT) != Some(&content(record)) {
        return Ok(Some((FindingKind::Frames, reason(of, "other files of this trace"))));
    }
    if quick {
        return Ok(None);
    }
    let length = footer.value(DATA_BYTES).and_then(|bytes| bytes.parse().ok()).unwrap_or(u64::MAX);
    Ok(match hash(&*file, length, progress)? {
        Ok(hash) if footer.value(DATA_SHA256) == Some(&hash) => None,
        Ok(hash) => {
            let expected = footer.value(DATA_SHA256).unwrap_or("none");
            Some((FindingKind::Hash, format!("expected rows of the SHA-256 {expected}, found {hash}")))
        }
        Err(cause) => Some((FindingKind::Unreadable, format!("cannot read: {cause}"))),
    })
}

/// A trace that is there and is not verified has no finding.
fn of_no_trace(of: OfTrace, root: &dyn Store, name: &str) -> Option<(FindingKind, String)> {
    is_gone(root, name).then(|| (FindingKind::Extra, reason(of, "a trace that is not there")))
}

fn reason(of: OfTrace, what: &str) -> String {
    format!("the {} are of {what}; run `etl2parquet symbols {}` again", of.rows(), of.option())
}
