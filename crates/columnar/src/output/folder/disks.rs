//! Threads that wait for disks, so that those that compute need not.
//!
//! A disk takes many requests at a time, and a file system brings the changes of all that wait to its journal together:
//! the files of a trace, and those of several traces, are asked for at once.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use base::error::{Error, ErrorKind, Result};
use base::progress::{Progress, stop_if_cancelled};

use super::system::{sync, sync_folder};
use crate::output::errors::output_error;

/// Requests that are with the system at a time.
const MOST: usize = 32;

/// Time between two looks whether to stop.
const PAUSE: Duration = Duration::from_millis(50);

/// A few threads that bring files and folders to disk, for any number of traces; they are started when they are needed
/// and end with the last owner.
#[derive(Clone, Debug, Default)]
pub struct Disks(Arc<Crew>);

#[derive(Debug, Default)]
struct Crew {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Request>,
    threads: usize,
    idle: usize,
    is_closed: bool,
}

/// What is to be brought to disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// The bytes of a file; where it has another name by now, that one's.
    File { path: PathBuf, or: Option<PathBuf> },
    /// The names in a folder.
    Folder(PathBuf),
}

#[derive(Debug)]
struct Request {
    item: Item,
    is_wanted: Arc<AtomicBool>,
    done: Sender<Result<()>>,
}

impl Disks {
    /// Brings all of them to disk, in any order; returns when all are there, or none is in work any more.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] where the system refuses one, [`ErrorKind::Interrupted`] when the caller asked to stop.
    pub(super) fn sync_all(&self, items: impl IntoIterator<Item = Item>, progress: &dyn Progress) -> Result<()> {
        let is_wanted = Arc::new(AtomicBool::new(true));
        let (sender, done) = channel();
        let requests = items.into_iter().map(|item| {
            let (is_wanted, done) = (Arc::clone(&is_wanted), sender.clone());
            Request { item, is_wanted, done }
        });
        self.0.take(requests);
        drop(sender);
        let mut outcome = Ok(());
        loop {
            let finished = done.recv_timeout(PAUSE);
            if outcome.is_ok() {
                outcome = stop_if_cancelled(progress);
            }
            match finished {
                Ok(Err(error)) if outcome.is_ok() => outcome = Err(error),
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return outcome,
            }
            if outcome.is_err() {
                is_wanted.store(false, Ordering::Relaxed);
            }
        }
    }
}

impl Crew {
    /// Queues requests and starts threads for them, as far as there are too few.
    fn take(&self, requests: impl Iterator<Item = Request>) {
        let mut state = self.shared.state();
        state.waiting.extend(requests);
        let wanted = state.waiting.len().saturating_sub(state.idle).min(MOST.saturating_sub(state.threads));
        for _ in 0..wanted {
            let shared = Arc::clone(&self.shared);
            let started = thread::Builder::new().name("disk".to_owned()).spawn(move || shared.work());
            state.threads += usize::from(started.is_ok());
        }
        // Where the system gives no thread at all, the caller's does it.
        let left = if state.threads == 0 { std::mem::take(&mut state.waiting) } else { VecDeque::new() };
        drop(state);
        self.shared.changed.notify_all();
        left.into_iter().for_each(Request::serve);
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        // Nobody waits for anything any more: whoever asked has borrowed this until it was done.
        self.shared.state().is_closed = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic runs while it is locked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut state = self.state();
        loop {
            if let Some(request) = state.waiting.pop_front() {
                drop(state);
                request.serve();
                state = self.state();
            } else if state.is_closed {
                return;
            } else {
                state.idle += 1;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
            }
        }
    }
}

impl Request {
    fn serve(self) {
        let done = if self.is_wanted.load(Ordering::Relaxed) {
            self.item.sync()
        } else {
            Err(Error::new(ErrorKind::Interrupted, "interrupted"))
        };
        // Whoever asked waits for all answers.
        let _ = self.done.send(done);
    }
}

impl Item {
    fn sync(&self) -> Result<()> {
        match self {
            Item::Folder(folder) => sync_folder(folder),
            Item::File { path, or } => match (sync(path), or) {
                (Err(cause), Some(or)) if cause.kind() == io::ErrorKind::NotFound => sync_other(path, or),
                (synced, _) => synced.map_err(|cause| output_error("bring to disk", path, cause)),
            },
        }
    }
}

/// For a file that an interrupted publication has given its name already.
fn sync_other(path: &Path, or: &Path) -> Result<()> {
    match sync(or) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
            let hint = "convert the part of the trace that it belongs to again";
            Err(Error::new(ErrorKind::Output, "expected a finished file, found none").in_file(path).with_hint(hint))
        }
        synced => synced.map_err(|cause| output_error("bring to disk", or, cause)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use base::progress::NoProgress;

    use super::*;

    struct Cancelled;

    impl Progress for Cancelled {
        fn advance(&self, _amount: u64) {}

        fn is_cancelled(&self) -> bool {
            true
        }
    }

    fn file(path: PathBuf) -> Item {
        Item::File { path, or: None }
    }

    #[test]
    fn more_files_than_threads_all_reach_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let files: Vec<_> = (0..5 * MOST).map(|number| folder.path().join(number.to_string())).collect();
        files.iter().for_each(|file| fs::write(file, "x").unwrap());
        let disks = Disks::default();
        std::thread::scope(|scope| {
            for part in files.chunks(MOST) {
                scope.spawn(|| disks.sync_all(part.iter().cloned().map(file), &NoProgress).unwrap());
            }
        });
        let threads = disks.0.shared.state().threads;
        assert!((1..=MOST).contains(&threads), "{threads}");
        disks.sync_all([], &NoProgress).unwrap();
        disks.sync_all([Item::Folder(folder.path().to_owned())], &NoProgress).unwrap();
    }

    #[test]
    fn a_file_that_cannot_be_synced_is_named_and_one_that_was_taken_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let (there, missing) = (folder.path().join("there"), folder.path().join("missing"));
        fs::write(&there, "x").unwrap();
        let disks = Disks::default();
        let error = disks.sync_all([file(there.clone()), file(missing.clone())], &NoProgress).unwrap_err();
        assert_eq!((error.kind(), error.location().file.as_ref()), (ErrorKind::Output, Some(&missing)));
        let taken = Item::File { path: missing.clone(), or: Some(there) };
        disks.sync_all([taken], &NoProgress).unwrap();
        let lost = Item::File { path: missing.clone(), or: Some(folder.path().join("neither")) };
        let error = disks.sync_all([lost], &NoProgress).unwrap_err().to_string();
        assert!(error.contains("expected a finished file, found none"), "{error}");
    }

    #[test]
    fn whoever_is_asked_to_stop_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "x").unwrap();
        let error = Disks::default().sync_all([file(path)], &Cancelled).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
    }

    #[test]
    fn threads_end_with_the_last_owner() {
        let folder = tempfile::tempdir().unwrap();
        let disks = Disks::default();
        disks.sync_all([Item::Folder(folder.path().to_owned())], &NoProgress).unwrap();
        let shared = Arc::downgrade(&disks.0.shared);
        drop(disks);
        while shared.strong_count() > 0 {
            thread::yield_now();
        }
    }
}
