//! The files of a plan in its folder, beside those of the trace that is built there.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::disk;
use base::error::Result;

use super::cleanup::CleanupRegistry;
use super::system::{self, exists, sync_folder};
use crate::output::errors::output_error;
use crate::output::local_store::LocalStore;
use crate::output::store::{Change, EntryKind, Store, StoreEntry, StoredFile};

/// The files of a plan, to which several processes add. What one of them has not finished has its attempt in its name, and
/// goes with it.
#[derive(Debug)]
pub(super) struct PlanFiles {
    folder: PathBuf,
    attempt: String,
    cleanup: CleanupRegistry,
    store: LocalStore,
}

impl PlanFiles {
    /// The files in a folder, for an attempt.
    pub(super) fn new(folder: &Path, attempt: &str, cleanup: &CleanupRegistry) -> PlanFiles {
        let (folder, attempt, cleanup) = (folder.to_owned(), attempt.to_owned(), cleanup.clone());
        PlanFiles { store: LocalStore::new(&folder), folder, attempt, cleanup }
    }

    /// As [`Store::put_first`], by a caller whom the cleanup knows.
    pub(super) fn name_first(&self, file: &str, parts: &[&[u8]]) -> Result<bool> {
        if exists(&self.folder.join(file))? {
            return Ok(false);
        }
        self.write_whole(file, parts, |staged, path| {
            match system::rename_no_replace_at_once(staged, path) {
                Some(Err(cause)) if cause.kind() == io::ErrorKind::AlreadyExists => Ok(false),
                Some(renamed) => renamed.map(|()| true),
                // What two write in the same moment here is the same.
                None => disk::rename(staged, path).map(|()| true),
            }
        })
    }

    /// Brings a file to disk under a name of this attempt; `name` gives it its own, or says that it is not wanted.
    fn write_whole(
        &self,
        file: &str,
        parts: &[&[u8]],
        name: impl FnOnce(&Path, &Path) -> io::Result<bool>,
    ) -> Result<bool> {
        let path = self.folder.join(file);
        let staged = self.folder.join(format!("{file}.{}.tmp", self.attempt));
        let write = |mut new: File| parts.iter().try_for_each(|part| new.write_all(part));
        let written = File::create(&staged).and_then(write).and_then(|()| system::sync(&staged));
        let named = written
            .map_err(|cause| output_error("write", &staged, cause))
            .and_then(|()| name(&staged, &path).map_err(|cause| output_error("write", &path, cause)));
        if !matches!(named, Ok(true)) {
            let _ = fs::remove_file(&staged);
        }
        sync_folder(&self.folder)?;
        named
    }
}

impl Store for PlanFiles {
    fn location(&self, path: &str) -> PathBuf {
        self.store.location(path)
    }

    fn below(&self, folder: &str) -> Arc<dyn Store> {
        self.store.below(folder)
    }

    fn kind(&self, path: &str) -> io::Result<EntryKind> {
        self.store.kind(path)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<StoreEntry>> {
        self.store.list(folder)
    }

    fn open(&self, path: &str) -> io::Result<Arc<dyn StoredFile>> {
        self.store.open(path)
    }

    /// Fails with [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted), too, when the folder has been abandoned.
    fn put(&self, path: &str, content: &[u8]) -> Result<()> {
        let _kept = self.cleanup.keep()?;
        self.write_whole(path, &[content], |staged, path| disk::rename(staged, path).map(|()| true)).map(drop)
    }

    /// Fails as [`PlanFiles::put`] does.
    fn put_first(&self, path: &str, parts: &[&[u8]]) -> Result<bool> {
        let _kept = self.cleanup.keep()?;
        self.name_first(path, parts)
    }

    fn change(&self, path: &str, most: u64, change: &mut Change<'_>) -> Result<()> {
        self.store.change(path, most, change)
    }

    fn remove(&self, path: &str) -> Result<()> {
        self.store.remove(path)
    }
}
