//! What lies beside published traces: symbols, and the frames of their stacks.

use std::io;

use columnar::output::Store;
use columnar::output::manifest::CommitRecord;
use columnar::output::sink::hex;
use columnar::output::store::EntryKind;
use sha2::{Digest, Sha256};

/// The folder of symbols.
pub(crate) const FOLDER: &str = "symbols";

/// The table of modules in it.
pub(crate) const MODULES: &str = "modules.parquet";

/// The folder of the tables of symbol files in it.
pub(crate) const FILES: &str = "pdb";

/// Tables that lie beside traces, of each one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OfTrace {
    /// The frames of its stacks.
    Frames,
    /// Source lines of addresses in its methods of .NET.
    Lines,
}

impl OfTrace {
    /// All of them.
    pub(crate) const ALL: [OfTrace; 2] = [OfTrace::Frames, OfTrace::Lines];

    /// The folder of the tables in the folder of symbols.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            OfTrace::Frames => "frames",
            OfTrace::Lines => "lines",
        }
    }

    /// What their rows are.
    pub(crate) fn rows(self) -> &'static str {
        match self {
            OfTrace::Frames => "frames",
            OfTrace::Lines => "source lines",
        }
    }

    /// The option of `etl2parquet symbols` that writes them.
    pub(crate) fn option(self) -> &'static str {
        match self {
            OfTrace::Frames => "--frames",
            OfTrace::Lines => "--lines",
        }
    }

    /// The table of a trace by its name, below the folder of symbols.
    pub(crate) fn path(self, trace: &str) -> String {
        format!("{}/{trace}.parquet", self.folder())
    }

    /// The names of the traces whose tables lie in a folder of symbols.
    pub(crate) fn names(self, symbols: &dyn Store) -> Vec<String> {
        let files = symbols.list(self.folder()).unwrap_or_default();
        let files = files.into_iter().filter(|entry| entry.kind == EntryKind::File);
        files.filter_map(|entry| entry.name.strip_suffix(".parquet").map(str::to_owned)).collect()
    }
}

/// What a table of a trace says of that: its [`content`].
pub(crate) const OF_CONTENT: &str = "etl2parquet.trace_content";
/// How many bytes of a table of a trace are rows, from its start on.
pub(crate) const DATA_BYTES: &str = "etl2parquet.data_bytes";
/// The SHA-256 of these.
pub(crate) const DATA_SHA256: &str = "etl2parquet.data_sha256";

/// Whether a trace is for certain not in an output folder any more.
pub(crate) fn is_gone(root: &dyn Store, name: &str) -> bool {
    root.kind(&format!("trace={name}")).is_err_and(|cause| cause.kind() == io::ErrorKind::NotFound)
}

/// What a trace is known by: the SHA-256 of the paths and hashes of its files. One that is converted again to the same files is the same.
pub(crate) fn content(record: &CommitRecord) -> String {
    let mut files: Vec<_> = record.files.iter().map(|file| (&file.path, &file.sha256)).collect();
    files.sort();
    let mut hash = Sha256::new();
    for (path, sha256) in files {
        hash.update(format!("{path}\n{sha256}\n"));
    }
    hex(&hash.finalize())
}

/// The patterns of the files that views read and that are there, below the folder that holds the traces.
pub(crate) fn patterns(root: &dyn Store) -> Vec<&'static str> {
    let folder = root.below(FOLDER);
    let has_tables = |of: &str| {
        let files = folder.list(of).unwrap_or_default();
        files.iter().any(|file| file.kind == EntryKind::File && file.name.ends_with(".parquet"))
    };
    let mut found = Vec::new();
    found.extend(folder.has(MODULES).then_some("symbols/modules.parquet"));
    found.extend(has_tables(FILES).then_some("symbols/pdb/*.parquet"));
    found.extend(has_tables(OfTrace::Lines.folder()).then_some("symbols/lines/*.parquet"));
    found
}
