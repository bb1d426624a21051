//! For whoever has to end the process at once, and must not leave a staging folder behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::system::exists;
use crate::error::{Error, ErrorKind, Result};

/// How often to remove what other threads are still writing.
const ATTEMPTS: usize = 200;

/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(5);

/// The staging folder that is in work.
#[derive(Clone, Debug, Default)]
pub struct Custody(Arc<Mutex<Option<PathBuf>>>);

/// Keeps the staging folder from being removed.
pub(super) struct Kept<'a> {
    _folder: MutexGuard<'a, Option<PathBuf>>,
}

impl Custody {
    /// Removes the staging folder, whatever its threads are doing; they fail from now on. A publication that has begun
    /// ends before.
    pub fn abandon(&self) {
        let Some(folder) = self.folder().take() else { return };
        // An `old` trace stays for the next run's repair.
        for _ in 0..ATTEMPTS {
            let _ = fs::remove_dir_all(folder.join("new"));
            let _ = fs::remove_file(folder.join("lock"));
            let _ = fs::remove_dir(&folder);
            if !matches!(exists(&folder), Ok(true)) || matches!(exists(&folder.join("old")), Ok(true)) {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }

    pub(super) fn take_in(&self, folder: &Path) {
        *self.folder() = Some(folder.to_owned());
    }

    pub(super) fn let_go(&self) {
        *self.folder() = None;
    }

    /// # Errors
    /// [`ErrorKind::Interrupted`] when the folder has been abandoned.
    pub(super) fn keep(&self) -> Result<Kept<'_>> {
        let folder = self.folder();
        match *folder {
            Some(_) => Ok(Kept { _folder: folder }),
            None => Err(Error::new(ErrorKind::Interrupted, "interrupted")),
        }
    }

    fn folder(&self) -> MutexGuard<'_, Option<PathBuf>> {
        // A path is whole or not there.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
