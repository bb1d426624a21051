//! What is not as it should be.

use std::fmt;

use serde::Serialize;

/// A kind of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The manifest is missing, damaged or contradicts itself.
    Manifest,
    /// The trace has another format version than this program writes.
    Version,
    /// A file is not there.
    Missing,
    /// A file is there that the manifest does not know.
    Extra,
    /// A file has another length.
    Size,
    /// A file has other bytes.
    Hash,
    /// The end of a file is not that of a Parquet file, or describes another trace or provider.
    Footer,
    /// A file cannot be read.
    Unreadable,
    /// Rows are not as many as there should be.
    Rows,
    /// Times are not those of the manifest.
    Time,
    /// Rows are not in order.
    Order,
    /// A number of `seq` is missing, or there twice.
    Sequence,
    /// Not every event found is accounted for.
    Conservation,
    /// The sidecar says something else than the rows.
    Sidecar,
    /// Files of a provider do not bind as one table.
    Schema,
    /// The table of frames beside a trace is of what the trace was before.
    Frames,
}

/// One thing that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// The file, or the folder of the trace; of a [`FindingKind::Schema`] the first of the files.
    pub file: String,
    /// Its kind.
    pub kind: FindingKind,
    /// What was expected and what was found.
    pub reason: String,
}

impl Finding {
    /// A finding about a file.
    pub(super) fn new(kind: FindingKind, file: impl Into<String>, reason: impl Into<String>) -> Finding {
        Finding { file: file.into(), kind, reason: reason.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.reason)
    }
}
