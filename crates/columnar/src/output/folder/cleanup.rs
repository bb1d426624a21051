//! For whoever has to end the process at once, and must not leave a staging folder behind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use base::error::{Error, ErrorKind, Result};

use super::parts::{Parts, remove_staged};
use super::system::exists;

/// How often to remove what other threads are still writing.
const ATTEMPTS: usize = 200;

/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(5);

/// What has been written of one trace and is not published yet. Those of several traces can be given up together.
#[derive(Clone, Debug, Default)]
pub struct CleanupRegistry {
    place: Arc<TargetSlot>,
    family: Arc<Family>,
}

type TargetSlot = Mutex<Option<CleanupTarget>>;

/// The registries of a process that are given up together; the first one is not in the list.
#[derive(Debug, Default)]
struct Family {
    others: Mutex<Vec<Weak<TargetSlot>>>,
    is_abandoned: AtomicBool,
}

/// What goes where the process has to end at once.
#[derive(Debug)]
pub(super) enum CleanupTarget {
    /// A staging folder.
    All(PathBuf),
    /// What one attempt has written to the folder of a plan.
    Attempt { folder: PathBuf, attempt: String },
    /// A file, or a folder with whatever is in it, that goes with the run that made it.
    Temporary(PathBuf),
}

/// Keeps whoever has to end the process waiting.
pub(super) struct CleanupGuard<'a>(MutexGuard<'a, Option<CleanupTarget>>);

impl CleanupGuard<'_> {
    /// From now on this goes where the process has to end at once.
    pub(super) fn take_in(&mut self, held: CleanupTarget) {
        *self.0 = Some(held);
    }

    /// From now on nothing does.
    pub(super) fn let_go(&mut self) {
        *self.0 = None;
    }
}

impl CleanupRegistry {
    /// For another trace that is written at the same time: whoever abandons this one abandons that one, too.
    #[must_use]
    pub fn beside(&self) -> CleanupRegistry {
        let place = Arc::default();
        let mut others = self.family.others();
        others.retain(|other| other.strong_count() > 0);
        others.push(Arc::downgrade(&place));
        CleanupRegistry { place, family: Arc::clone(&self.family) }
    }

    /// Makes a temporary file or folder that goes with the run, whatever is in it, for as long as the custody that is returned is
    /// kept. Whoever ends the process waits until it is made.
    ///
    /// # Errors
    /// Those of `make`, and [`io::ErrorKind::Interrupted`] when all has been abandoned.
    pub fn temporary<T: AsRef<Path>>(&self, make: impl FnOnce() -> io::Result<T>) -> io::Result<(T, CleanupRegistry)> {
        let cleanup = self.beside();
        let mut kept = cleanup.begin().map_err(|error| io::Error::new(io::ErrorKind::Interrupted, error))?;
        let made = make()?;
        kept.take_in(CleanupTarget::Temporary(made.as_ref().to_owned()));
        drop(kept);
        Ok((made, cleanup))
    }

    /// Removes the staging folders of this and all [beside](CleanupRegistry::beside) it, whatever their threads are doing; they fail
    /// from now on. Publications that have begun end before.
    pub fn abandon(&self) {
        // No publication begins while those that have begun are waited for.
        self.family.is_abandoned.store(true, Ordering::SeqCst);
        let others: Vec<Arc<TargetSlot>> = self.family.others().iter().filter_map(Weak::upgrade).collect();
        let mut temporary = Vec::new();
        for place in others.iter().chain([&self.place]) {
            let mut held = locked(place);
            match held.take() {
                Some(CleanupTarget::All(folder)) => abandon_folder(&folder),
                Some(CleanupTarget::Attempt { folder, attempt }) => abandon_attempt(&folder, &attempt),
                Some(CleanupTarget::Temporary(path)) => temporary.push(path),
                None => {}
            }
        }
        // Last: who is about to make a staging folder in one, and was waited for, makes what is missing above it.
        temporary.iter().for_each(|path| abandon_temporary(path));
    }

    pub(super) fn take_in(&self, held: CleanupTarget) {
        *self.held() = Some(held);
    }

    pub(super) fn let_go(&self) {
        *self.held() = None;
    }

    /// For the moment in which a staging folder becomes this process's own: nothing is held.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`] when all has been abandoned.
    pub(super) fn begin(&self) -> Result<CleanupGuard<'_>> {
        let kept = self.hand_over();
        if self.family.is_abandoned.load(Ordering::SeqCst) { Err(interrupted()) } else { Ok(kept) }
    }

    /// For the moment in which a staging folder is no longer this process's own: nothing is held.
    pub(super) fn hand_over(&self) -> CleanupGuard<'_> {
        let mut kept = CleanupGuard(self.held());
        kept.let_go();
        kept
    }

    /// For what has to be whole, and to be known to whoever ends the process.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`] when the folder has been abandoned.
    pub(super) fn keep(&self) -> Result<CleanupGuard<'_>> {
        let held = self.held();
        let is_mine = held.is_some() && !self.family.is_abandoned.load(Ordering::SeqCst);
        if is_mine { Ok(CleanupGuard(held)) } else { Err(interrupted()) }
    }

    fn held(&self) -> MutexGuard<'_, Option<CleanupTarget>> {
        locked(&self.place)
    }
}

impl Family {
    fn others(&self) -> MutexGuard<'_, Vec<Weak<TargetSlot>>> {
        // A list of places is whole after any of its changes.
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn locked(place: &TargetSlot) -> MutexGuard<'_, Option<CleanupTarget>> {
    // A path is whole or not there.
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

fn interrupted() -> Error {
    Error::new(ErrorKind::Interrupted, "interrupted")
}

fn abandon_temporary(path: &Path) {
    // Threads may still be making files in a folder.
    for _ in 0..ATTEMPTS {
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
        if !matches!(exists(path), Ok(true)) {
            return;
        }
        std::thread::sleep(PAUSE);
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
