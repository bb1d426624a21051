//! A local folder as output: a trace is built in a staging folder and appears by one rename.
//!
//! ```text
//! OUT/.etl2parquet-<name>/        of one run
//!     .etl2parquet-<name>.plan-<hash>/   of a plan that several processes convert
//!         lock     held by a run, or by the process that publishes a plan; free after it was killed
//!         parts/   files, whole or not, every name ending in .<attempt>.tmp
//!         new/     the trace being put together, in its last moments; of a run, parts/ under another name
//!         old/     the trace being replaced, where folders cannot be exchanged in one step
//!         old-2/   a replaced trace that could not be removed, as another program has a file of it open; and so on
//! OUT/trace=<name>/               the published trace
//! ```
//!
//! What an interrupted run leaves, and what the next one makes of it, once it has the lock:
//!
//! | `old/` | `trace=<name>` | the run ended | repair |
//! |---|---|---|---|
//! | no | – | before the rename, or after an exchange | remove `parts/` and `new/` |
//! | yes | no | between the two renames of a replacement | move `old/` back, remove `parts/` and `new/` |
//! | yes | yes | after both renames | remove all |
//!
//! In the folder of a plan `parts/` and `new/` stay: whoever publishes next goes on where the last one ended. That one came to
//! the end where the published trace names the plan; then all that is left of the folder goes.

mod cleanup;
mod disks;
mod existing;
mod leftovers;
pub(super) mod lock;
mod parts;
mod plan_files;
mod publication;
pub(super) mod system;

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use base::disk;
use base::error::{Error, ErrorKind, Result};
use base::names::is_safe_component;
use base::progress::{NoProgress, Progress};
pub use cleanup::CleanupRegistry;
use cleanup::CleanupTarget;
pub use disks::Disks;
use disks::Item;
pub(super) use existing::is_there;
pub use existing::{check_absent, is_current, is_lake, is_of_output, published, trace_folder};
use lock::{LOCK, Lock};
pub use parts::is_attempt;
use parts::{Parts, remove_staged};
use plan_files::PlanFiles;
use system::{exists, remove, remove_file, sync_folder};

use super::errors::output_error;
use super::interface::{IfExists, Output, OutputFile, PlanOutput, Published, StagedFile, StagedName};
use super::store::Store;

/// What names of staging folders begin with.
const PREFIX: &str = ".etl2parquet-";

/// What parts the name of a trace from that of a plan.
const PLAN: &str = ".plan-";

/// A trace under construction. Dropping it removes what it must not leave behind, on an error as on an interruption: a
/// run all that was written, a worker on a plan what it has written itself and not [kept](PlanOutput::keep).
#[derive(Debug)]
pub struct LocalFolder {
    out: PathBuf,
    name: String,
    folder: PathBuf,
    attempt: String,
    role: Role,
    /// The folders above the staging folder that were not there before, from the outermost.
    made: Vec<PathBuf>,
    /// Held as long as the staging folder is this process's alone.
    lock: Option<Lock>,
    cleanup: CleanupRegistry,
    /// The files of a plan, beside those of its trace.
    plan: PlanFiles,
    disks: Disks,
    is_kept: AtomicBool,
    is_published: AtomicBool,
    /// What of replaced traces could not be removed.
    remains: Vec<String>,
}

/// Whose the staging folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// One run's.
    Run,
    /// A plan's, and this process adds files to it.
    Worker,
    /// A plan's, and this process publishes it.
    Publisher,
}

impl LocalFolder {
    /// As [`LocalFolder::create_in`], in nobody's cleanup.
    ///
    /// # Errors
    /// Those of [`LocalFolder::create_in`].
    pub fn create(out: &Path, name: &str) -> Result<Self> {
        LocalFolder::create_in(&CleanupRegistry::default(), out, name)
    }

    /// Makes the staging folder of a run, and whatever is missing of `out`; cleans up after a killed run. Until it is
    /// published or dropped, `cleanup` can remove it.
    ///
    /// `name` is what [`names::trace_name`](base::names::trace_name) or
    /// [`names::checked_trace_name`](base::names::checked_trace_name) returned.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when another run is at work on the same trace, or the folder cannot be made.
    pub fn create_in(cleanup: &CleanupRegistry, out: &Path, name: &str) -> Result<Self> {
        let folder = out.join(format!("{PREFIX}{}", checked(name)?));
        let made = system::missing(out);
        let mut kept = cleanup.begin()?;
        let lock = Lock::take(out, &folder).inspect_err(|_| system::remove_empty(&made))?;
        kept.take_in(CleanupTarget::All(folder.clone()));
        drop(kept);
        let mut staging = Self::at(cleanup, out, name, folder, Role::Run);
        (staging.made, staging.lock) = (made, Some(lock));
        staging.made.iter().try_for_each(|made| made.parent().map_or(Ok(()), sync_folder))?;
        staging.restore_old()?;
        staging.remains = leftovers::clear(&staging.folder)?;
        staging.create_parts()?;
        Ok(staging)
    }

    /// Makes the folder of a plan, or opens it where it is there: whoever has the same plan for the same output shares it.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it cannot be made.
    pub fn create_plan(cleanup: &CleanupRegistry, out: &Path, name: &str, plan_hash: &str) -> Result<Self> {
        let folder = out.join(plan_folder_name(checked(name)?, checked(plan_hash)?));
        fs::create_dir_all(&folder).map_err(|cause| output_error("create the folder", &folder, cause))?;
        lock::refuse_other(&folder)?;
        let staging = Self::at(cleanup, out, name, folder, Role::Worker);
        cleanup.take_in(staging.held());
        staging.create_parts()?;
        sync_folder(out)?;
        Ok(staging)
    }

    /// Opens the folder of a plan to add files to it. Several processes may, at a time.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it is none, or not there any more.
    pub fn open_plan(cleanup: &CleanupRegistry, folder: &Path) -> Result<Self> {
        let (out, name) = plan_of(folder)?;
        let staging = Self::at(cleanup, &out, &name, folder.to_owned(), Role::Worker);
        cleanup.take_in(staging.held());
        Ok(staging)
    }

    /// Opens the folder of a plan to publish it: one process at a time.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it is none, or not there any more, or another process is publishing it.
    pub fn open_plan_to_publish(cleanup: &CleanupRegistry, folder: &Path) -> Result<Self> {
        let (out, name) = plan_of(folder)?;
        let mut staging = Self::lock_plan(cleanup, &out, &name, folder)?;
        if !staging.parts().root.is_dir() {
            // Another process has published it meanwhile; what the lock has made goes again.
            staging.lock.take().into_iter().for_each(Lock::release);
            let _ = fs::remove_dir(folder);
            return Err(no_plan(folder));
        }
        cleanup.take_in(staging.held());
        staging.restore_old()?;
        Ok(staging)
    }

    /// Removes what is left of the folder of a plan whose trace is published: whoever published it was interrupted before
    /// that, at any point of it.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the folder is no plan's, another process is at work on it, or it cannot be removed.
    pub fn discard_plan(folder: &Path) -> Result<()> {
        if !exists(folder)? {
            return Ok(());
        }
        lock::refuse_other(folder)?;
        let (out, name) = place_of_plan(folder)?;
        let staging = Self::lock_plan(&CleanupRegistry::default(), &out, &name, folder)?;
        staging.close_parts();
        system::remove_others(folder, LOCK).map_err(|cause| output_error("remove", folder, cause))?;
        // With what is left of it.
        staging.is_published.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn lock_plan(cleanup: &CleanupRegistry, out: &Path, name: &str, folder: &Path) -> Result<Self> {
        let lock = Lock::take(out, folder)?;
        let mut staging = Self::at(cleanup, out, name, folder.to_owned(), Role::Publisher);
        staging.lock = Some(lock);
        Ok(staging)
    }

    fn at(cleanup: &CleanupRegistry, out: &Path, name: &str, folder: PathBuf, role: Role) -> Self {
        let attempt = format!("{:016x}", RandomState::new().build_hasher().finish());
        LocalFolder {
            out: out.to_owned(),
            name: name.to_owned(),
            plan: PlanFiles::new(&folder, &attempt, cleanup),
            folder,
            attempt,
            role,
            made: Vec::new(),
            lock: None,
            cleanup: cleanup.clone(),
            disks: Disks::default(),
            is_kept: AtomicBool::new(false),
            is_published: AtomicBool::new(false),
            remains: Vec::new(),
        }
    }

    /// Files are brought to disk by these threads, which other traces may use, too.
    #[must_use]
    pub fn with_disks(mut self, disks: &Disks) -> Self {
        self.disks = disks.clone();
        self
    }

    /// Whether a run is at work on a trace, or has left something of it.
    pub fn is_begun(out: &Path, name: &str) -> bool {
        !matches!(exists(&out.join(format!("{PREFIX}{name}"))), Ok(false))
    }

    /// The staging folder. That of a plan may hold other files beside the trace's, which go with it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The name of the trace.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder that the trace is published in.
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// The folder that the trace is published as.
    pub fn target(&self) -> PathBuf {
        trace_folder(&self.out, &self.name)
    }

    /// Where a file of this attempt lies until it is published.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] for a path that leads out of the trace.
    pub fn locate(&self, path: &str) -> Result<PathBuf> {
        self.parts().locate(&self.own(path))
    }

    /// Gives files of this attempt their names below the output folder itself, each of which is there whole or not at all; those of
    /// the same names are replaced. For what is no trace, and has a file of its own that names the others, which comes last.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the system refuses; [`ErrorKind::Interrupted`] when the caller asked to stop.
    /// Then some of them may have their names.
    pub fn place(&self, files: &[(String, String)], progress: &dyn Progress) -> Result<()> {
        let _kept = self.cleanup.keep()?;
        let files: Vec<_> = files.iter().map(|(staged, path)| (self.own(staged), path.clone())).collect();
        publication::place(&self.parts(), &self.out, &files, &self.disks, progress)
    }

    /// What is not as it should be about the staging folder.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let is_unlocked = self.lock.as_ref().is_some_and(|lock| !lock.is_held());
        let warning = || {
            let out = self.out.display();
            format!("{out}: this file system has no locks: take care that no other run writes trace={}", self.name)
        };
        is_unlocked.then(warning).into_iter().chain(self.remains.iter().cloned())
    }

    fn parts(&self) -> Parts {
        Parts::of(&self.folder)
    }

    fn new_trace(&self) -> PathBuf {
        self.folder.join(leftovers::NEW)
    }

    fn old(&self) -> PathBuf {
        self.folder.join(leftovers::OLD)
    }

    /// What was in work, while it is removed.
    fn gone(&self) -> PathBuf {
        self.folder.join(leftovers::GONE)
    }

    fn create_parts(&self) -> Result<()> {
        let root = self.parts().root;
        match fs::create_dir(&root) {
            Err(cause) if cause.kind() != io::ErrorKind::AlreadyExists => {
                Err(output_error("create the folder", &root, cause))
            }
            _ => Ok(()),
        }
    }

    /// Nobody adds a file from now on.
    fn close_parts(&self) {
        let _ = fs::rename(self.parts().root, self.gone());
    }

    /// What goes where this process has to end at once.
    fn held(&self) -> CleanupTarget {
        CleanupTarget::Attempt { folder: self.folder.clone(), attempt: self.attempt.clone() }
    }

    /// Where an interrupted run had moved the published trace away, moves it back.
    fn restore_old(&self) -> Result<()> {
        let (old, target) = (self.old(), self.target());
        if exists(&old)? && !exists(&target)? {
            disk::rename(&old, &target).map_err(|cause| output_error("restore the trace", &target, cause))?;
            sync_folder(&self.out)?;
        }
        Ok(())
    }

    /// Removes what this process has written, or all where the folder is its own.
    fn clean_up(&mut self) {
        if self.role != Role::Run && !self.is_published.load(Ordering::Relaxed) {
            if !self.is_kept.load(Ordering::Relaxed) {
                let _ = self.parts().remove_attempt(&self.attempt);
                let _ = remove_staged(&self.folder, &self.attempt);
            }
            self.cleanup.let_go();
            self.lock.take().into_iter().for_each(Lock::release);
            return;
        }
        // A trace that could be neither replaced nor restored stays for the next run's repair. Failures are left to it too.
        let keep_old = !matches!(exists(&self.target()), Ok(true));
        self.close_parts();
        for folder in [self.new_trace(), self.gone(), self.parts().root] {
            let _ = remove(&folder);
        }
        if !keep_old {
            let _ = remove(&self.old());
        }
        // Until here, who is asked to end at once removes what is left; from here on the folder may be another run's.
        let _kept = self.cleanup.hand_over();
        if !matches!(exists(&self.old()), Ok(false)) {
            return;
        }
        if self.role != Role::Run {
            // With the lock in it, which goes last.
            let _ = system::remove_others(&self.folder, LOCK);
        }
        self.lock.take().into_iter().for_each(Lock::release);
        let _ = fs::remove_dir(&self.folder);
        system::remove_empty(&self.made);
    }
}

impl PlanOutput for LocalFolder {
    fn files(&self) -> &dyn Store {
        &self.plan
    }

    fn vouch_first(&self, path: &str, content: &[u8], progress: &dyn Progress) -> Result<bool> {
        publication::sync_attempt(&self.parts(), &self.attempt, &self.disks, progress)?;
        let mut kept = self.cleanup.keep()?;
        let written = self.plan.name_first(path, &[content]);
        // It may be there though the system has refused to bring its name to disk, or refuses to answer.
        let is_another = || read_if_there(&self.folder.join(path)).is_ok_and(|found| found.as_deref() != Some(content));
        if matches!(written, Ok(true)) || !is_another() {
            kept.let_go();
            self.is_kept.store(true, Ordering::Relaxed);
        }
        written
    }

    fn keep(&self) {
        self.cleanup.let_go();
        self.is_kept.store(true, Ordering::Relaxed);
    }
}

impl Output for LocalFolder {
    fn attempt(&self) -> &str {
        &self.attempt
    }

    fn create(&self, path: &str) -> Result<Box<dyn OutputFile>> {
        let _kept = self.cleanup.keep()?;
        Ok(Box::new(self.parts().create(&self.own(path))?))
    }

    fn read(&self, file: &StagedName, range: Range<u64>) -> Result<Vec<u8>> {
        let staged = self.parts().locate(file)?;
        let named = self.new_trace().join(&file.path);
        let path = if exists(&staged)? { staged } else { named };
        system::read_range(&path, range).map_err(|cause| output_error("read", &path, cause))
    }

    fn list(&self) -> Result<Vec<StagedFile>> {
        let mut files = self.parts().list()?;
        let new = self.new_trace();
        let found = system::files_below(&new).map_err(|cause| output_error("list", &new, cause))?;
        let taken = found.iter().filter_map(|(file, bytes)| {
            Some(StagedFile { path: system::relative(&new, file)?, attempt: None, bytes: *bytes })
        });
        files.extend(taken);
        files.sort();
        Ok(files)
    }

    fn remove(&self, file: &StagedName) -> Result<()> {
        let path = self.parts().locate(file)?;
        remove_file(&path).map_err(|cause| output_error("remove", &path, cause))
    }

    fn publish(&self, files: &[StagedName], if_exists: IfExists, progress: &dyn Progress) -> Result<Published> {
        let (target, new) = (self.target(), self.new_trace());
        // Whoever would remove the folder waits until it is published.
        let _kept = self.cleanup.keep()?;
        let mut warnings: Vec<String> = self.warnings().collect();
        existing::may_publish(&target, if_exists)?;
        let assemble = match self.role {
            Role::Run => publication::assemble_in_place,
            Role::Worker | Role::Publisher => publication::assemble,
        };
        assemble(&self.parts(), &new, files, &self.disks, progress)?;
        base::progress::stop_if_cancelled(progress)?;
        if if_exists.replaces() && exists(&target)? {
            publication::replace(&new, &self.old(), &target)?;
            self.is_published.store(true, Ordering::Relaxed);
            warnings.extend([new, self.old()].iter().filter_map(|old| leftovers::remaining(old, remove(old))));
        } else {
            publication::rename_no_replace(&new, &target)?;
            self.is_published.store(true, Ordering::Relaxed);
        }
        self.disks.sync_all([Item::Folder(self.out.clone())], &NoProgress).map_err(|error| {
            error.with_hint("the trace is in its place, but may not be there after a power failure: check the disk")
        })?;
        Ok(Published { folder: target, warnings })
    }
}

impl Drop for LocalFolder {
    fn drop(&mut self) {
        self.clean_up();
    }
}

fn checked(name: &str) -> Result<&str> {
    if is_safe_component(name) { Ok(name) } else { Err(Error::bug(format!("{name:?} is not a safe name"))) }
}

/// The name of the folder of a plan.
pub fn plan_folder_name(name: &str, plan_hash: &str) -> String {
    format!("{PREFIX}{name}{PLAN}{plan_hash}")
}

/// The trace and the digits of the hash in the name of a plan's folder; `None` for any other.
pub fn plan_name(folder: &Path) -> Option<(&str, &str)> {
    let (trace, hash) = folder.file_name()?.to_str()?.strip_prefix(PREFIX)?.rsplit_once(PLAN)?;
    (is_safe_component(trace) && !hash.is_empty()).then_some((trace, hash))
}

/// The output folder and the trace that the folder of a plan in work belongs to.
fn plan_of(folder: &Path) -> Result<(PathBuf, String)> {
    lock::refuse_other(folder)?;
    lock::refuse_other(&Parts::of(folder).root)?;
    if Parts::of(folder).root.is_dir() { place_of_plan(folder) } else { Err(no_plan(folder)) }
}

/// The output folder and the trace that the folder of a plan belongs to by its path.
fn place_of_plan(folder: &Path) -> Result<(PathBuf, String)> {
    let place = folder.parent().zip(plan_name(folder));
    place.map(|(out, (trace, _))| (out.to_owned(), trace.to_owned())).ok_or_else(|| no_plan(folder))
}

/// What is said where a folder is no plan's.
pub fn no_plan(folder: &Path) -> Error {
    let message = format!("expected the folder of a plan, {PREFIX}NAME{PLAN}HASH, that is still in work");
    let hint = "name the folder that the plan was written to; it goes when its trace is published";
    Error::new(ErrorKind::Output, message).in_file(folder).with_hint(hint)
}

fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(cause) if matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(cause) => Err(output_error("read", path, cause)),
    }
}

#[cfg(test)]
mod tests;
