//! Real traces and manifests, which lie outside the repository.

use std::fs::OpenOptions;
use std::io::Write;
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
    note_skip("no corpus of real traces (set ETL2PARQUET_CORPUS)");
    None
}

/// Adds a line about the running test to the file `ETL2PARQUET_SKIPPED`, for the test harness shows nothing of a test
/// that passes; `scripts/test` counts the lines.
fn note_skip(reason: &str) {
    eprintln!("SKIPPED: {reason}");
    let Some(path) = std::env::var_os("ETL2PARQUET_SKIPPED") else { return };
    let thread = std::thread::current();
    let line = format!("{}::{}\t{reason}\n", env!("CARGO_CRATE_NAME"), thread.name().unwrap_or("a thread"));
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(line.as_bytes())).expect("a skip can be noted");
}
