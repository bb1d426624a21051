//! The committed seeds, and those among them that the project's own writer makes.

use std::path::{Path, PathBuf};

use crate::target::Target;

/// The folder of a target's seeds.
pub fn folder(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target.seeds)
}

/// The seeds of a target in the order of their names; none where it has no folder.
pub fn of(target: &Target) -> Vec<Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(folder(target)) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let read = |path: PathBuf| std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    paths.into_iter().map(read).collect()
}
