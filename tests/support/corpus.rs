//! Real traces and manifests, which lie outside the repository.

use std::path::{Path, PathBuf};

/// The folder of real traces: `ETL2PARQUET_CORPUS`, else `../shared/corpus` beside the repository. Without one a test says
/// that it skips.
///
/// # Panics
/// When there is none, and `ETL2PARQUET_REQUIRE_CORPUS` is 1.
pub(crate) fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("ETL2PARQUET_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus"), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    let is_required = std::env::var_os("ETL2PARQUET_REQUIRE_CORPUS").is_some_and(|value| value == "1");
    assert!(!is_required, "there is no corpus at {}", folder.display());
    eprintln!("SKIPPED: no corpus at {} (set ETL2PARQUET_CORPUS)", folder.display());
    None
}
