//! What lies beside published traces: symbols.

use columnar::output::Store;
use columnar::output::store::EntryKind;

/// The folder of symbols.
pub(crate) const FOLDER: &str = "symbols";

/// The table of modules in it.
pub(crate) const MODULES: &str = "modules.parquet";

/// The folder of the tables of symbol files in it.
pub(crate) const FILES: &str = "pdb";

/// The patterns of the files that views read and that are there, below the folder that holds the traces.
pub(crate) fn patterns(root: &dyn Store) -> Vec<&'static str> {
    let folder = root.below(FOLDER);
    let files = folder.list(FILES).unwrap_or_default();
    let has_functions = files.iter().any(|file| file.kind == EntryKind::File && file.name.ends_with(".parquet"));
    let mut found = Vec::new();
    found.extend(folder.has(MODULES).then_some("symbols/modules.parquet"));
    found.extend(has_functions.then_some("symbols/pdb/*.parquet"));
    found
}
