//! For whoever has to end the process at once, and must not leave a staging folder behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::parts::{Parts, remove_staged};
use super::system::exists;
use crate::error::{Error, ErrorKind, Result};

/// How often to remove what other threads are still writing.
const ATTEMPTS: usize = 200;

/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(5);

/// What has been written and is not published yet.
#[derive(Clone, Debug, Default)]
pub struct Custody(Arc<Mutex<Option<Held>>>);

/// What goes where the process has to end at once.
#[derive(Debug)]
pub(super) enum Held {
    /// A staging folder.
    All(PathBuf),
    /// What one attempt has written to the folder of a plan.
    Attempt { folder: PathBuf, attempt: String },
}

/// Keeps whoever has to end the process waiting.
pub(super) struct Kept<'a>(MutexGuard<'a, Option<Held>>);

impl Kept<'_> {
    /// From now on this goes where the process has to end at once.
    pub(super) fn take_in(&mut self, held: Held) {
        *self.0 = Some(held);
    }

    /// From now on nothing does.
    pub(super) fn let_go(&mut self) {
        *self.0 = None;
    }
}

impl Custody {
    /// Removes the staging folder, whatever its threads are doing; they fail from now on. A publication that has begun
    /// ends before.
    pub fn abandon(&self) {
        let mut held = self.held();
        match held.take() {
            Some(Held::All(folder)) => abandon_folder(&folder),
            Some(Held::Attempt { folder, attempt }) => abandon_attempt(&folder, &attempt),
            None => {}
        }
    }

    pub(super) fn take_in(&self, held: Held) {
        *self.held() = Some(held);
    }

    pub(super) fn let_go(&self) {
        *self.held() = None;
    }

    /// For the moments in which a staging folder becomes, or is no longer, this process's own: nothing is held.
    pub(super) fn hand_over(&self) -> Kept<'_> {
        let mut kept = Kept(self.held());
        kept.let_go();
        kept
    }

    /// For what has to be whole, and to be known to whoever ends the process.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`] when the folder has been abandoned.
    pub(super) fn keep(&self) -> Result<Kept<'_>> {
        let held = self.held();
        if held.is_some() { Ok(Kept(held)) } else { Err(Error::new(ErrorKind::Interrupted, "interrupted")) }
    }

    fn held(&self) -> MutexGuard<'_, Option<Held>> {
        // A path is whole or not there.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn abandon_folder(folder: &Path) {
    // An `old` trace stays for the next run's repair.
    for _ in 0..ATTEMPTS {
        let _ = fs::remove_dir_all(folder.join("parts"));
        let _ = fs::remove_dir_all(folder.join("new"));
        let _ = fs::remove_file(folder.join("lock"));
        let _ = fs::remove_dir(folder);
        if !matches!(exists(folder), Ok(true)) || matches!(exists(&folder.join("old")), Ok(true)) {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Others may be at work in the folder. No thread begins a file any more, but one may be renaming it.
fn abandon_attempt(folder: &Path, attempt: &str) {
    let parts = Parts::of(folder);
    for _ in 0..3 {
        let _ = parts.remove_attempt(attempt);
        let _ = remove_staged(folder, attempt);
        std::thread::sleep(PAUSE);
    }
}
