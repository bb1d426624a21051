//! Finding published traces.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use base::error::{Error, ErrorKind, Result};
use base::listing::entries;
use columnar::output::manifest::{CommitRecord, MANIFEST_PATH};

/// A folder `trace=<name>`, whether or not it is whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublishedTrace {
    /// Where it is.
    pub folder: PathBuf,
}

impl PublishedTrace {
    /// What the trace is called in messages: its path as it was given.
    pub fn label(&self) -> String {
        self.folder.display().to_string().replace('\\', "/")
    }

    /// Its manifest, of a format version that is read.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when there is none that can be read, or it is of another format version.
    pub fn record(&self) -> Result<CommitRecord> {
        let record = CommitRecord::read(&self.folder)?;
        if record.is_readable() {
            Ok(record)
        } else {
            Err(record.unreadable().in_file(self.folder.join(MANIFEST_PATH)))
        }
    }
}

/// The traces that paths name: each is one, or a folder of them. Sorted, each once.
///
/// # Errors
/// [`ErrorKind::Input`] for a path that is not there or cannot be listed; [`ErrorKind::Usage`] for one that neither is a trace nor has any.
pub fn published(paths: &[PathBuf]) -> Result<Vec<PublishedTrace>> {
    let mut found = Vec::new();
    for path in paths {
        if is_trace(path) {
            found.push(PublishedTrace { folder: path.clone() });
            continue;
        }
        let before = found.len();
        let failure = |cause| Error::new(ErrorKind::Input, "cannot list the folder").in_file(path).caused_by(cause);
        for entry in entries(path).map_err(failure)? {
            let folder = entry.path();
            if is_trace(&folder) {
                found.push(PublishedTrace { folder });
            }
        }
        if found.len() == before {
            let message = "expected a folder trace=<name>, or one with such folders in it";
            return Err(Error::new(ErrorKind::Usage, message).in_file(path));
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// The published traces that inputs are; `None` where one of them is none, or has none.
pub fn all_published(inputs: &[OsString]) -> Option<Vec<PublishedTrace>> {
    let folders: Vec<PathBuf> = inputs.iter().map(PathBuf::from).collect();
    let is_folder = folders.iter().all(|folder| folder.is_dir());
    let traces = is_folder.then(|| published(&folders).ok())??;
    traces.iter().any(|trace| trace.folder.join(MANIFEST_PATH).is_file()).then_some(traces)
}

fn is_trace(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    path.is_dir() && (name.starts_with("trace=") || path.join(MANIFEST_PATH).is_file())
}
