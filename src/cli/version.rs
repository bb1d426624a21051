//! What `--version` says: which program this is, exactly.

use std::sync::LazyLock;

include!(concat!(env!("OUT_DIR"), "/version.rs"));

/// The version in full: that of the package, the commit it was built from, and which schemas are in it.
pub(super) static LONG: LazyLock<String> = LazyLock::new(|| {
    let commit = COMMIT.map_or_else(String::new, |commit| format!("\ncommit {commit}"));
    let (version, builds) = (env!("CARGO_PKG_VERSION"), schemas::RELEASES.len());
    format!("{version}{commit}\nschemas {:016x}, of {builds} builds of Windows", schemas::IDENTITY)
});
