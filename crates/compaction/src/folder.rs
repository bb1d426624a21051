//! The folder of a lake: whether it may be one, and what of it no manifest names.

use std::collections::BTreeSet;

use base::error::{Error, ErrorKind, Result};
use columnar::output::Store;
use columnar::output::manifest::{LAKE_FOLDERS, is_lake_file};
use columnar::output::store::{EntryKind, joined};
use published::lake_manifest::{LAKE_PATH, LakeManifest};

/// What may stand beside a lake: symbols of its traces.
const BESIDE: &str = "symbols";

/// Refuses a folder that is no lake and holds something else.
///
/// # Errors
/// [`ErrorKind::Usage`] if so.
pub(crate) fn check(lake: &dyn Store) -> Result<()> {
    let entries = lake.list("").unwrap_or_default();
    let is_of_lake =
        |name: &str| name == LAKE_PATH || name == BESIDE || name.starts_with('.') || LAKE_FOLDERS.contains(&name);
    match entries.iter().find(|entry| !is_of_lake(&entry.name)) {
        Some(other) => {
            let message = format!("expected the folder of a lake, or an empty one, found {} in it", other.name);
            Err(Error::new(ErrorKind::Usage, message)
                .in_file(lake.location(""))
                .with_hint("name another folder with -o"))
        }
        None => Ok(()),
    }
}

/// The files that a run has written, by their names, and that the manifest does not name: what is replaced, or left of a run that was
/// killed.
pub(crate) fn unnamed(lake: &dyn Store, manifest: &LakeManifest) -> Vec<String> {
    // On some systems names that differ in case are one.
    let named: BTreeSet<String> = manifest.files.iter().map(|file| file.path.to_lowercase()).collect();
    let (mut found, mut waiting) = (Vec::new(), LAKE_FOLDERS.map(str::to_owned).to_vec());
    while let Some(folder) = waiting.pop() {
        for entry in lake.list(&folder).unwrap_or_default() {
            let path = joined(&folder, &entry.name);
            match entry.kind {
                EntryKind::Folder => waiting.push(path),
                EntryKind::File if is_lake_file(&entry.name) && !named.contains(&path.to_lowercase()) => {
                    found.push(path);
                }
                EntryKind::File | EntryKind::Other => {}
            }
        }
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use columnar::output::MemoryStore;
    use published::lake_manifest::{By, LakeFile};

    use super::*;

    #[test]
    fn only_what_a_run_has_written_goes() {
        let store = MemoryStore::default();
        let [old, new, other] = [
            "events/A/2026-01-31-b03-00000-0123456789abcdef.parquet",
            "events/A/2026-01-31-b03-00000-fedcba9876543210.parquet",
            "events/A/mine.parquet",
        ];
        [old, new, other].into_iter().for_each(|path| store.put(path, b"").unwrap());
        let mut manifest = LakeManifest::empty(8, By::Day, 1);
        manifest.files.push(LakeFile {
            path: new.to_owned(),
            bucket: "2026-01-31-b03".to_owned(),
            variant: None,
            first_trace: "a".to_owned(),
            last_trace: "a".to_owned(),
            rows: 0,
            bytes: 0,
            sha256: String::new(),
        });
        assert_eq!(unnamed(&store, &manifest), [old]);
        assert!(check(&store).is_ok());
        store.put("trace=a/sidecar/manifest.json", b"").unwrap();
        assert!(check(&store).unwrap_err().to_string().contains("found trace=a in it"));
    }
}
