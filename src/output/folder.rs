//! A local folder as output: a trace is built in a staging folder and appears by one rename.
//!
//! ```text
//! OUT/.etl2parquet-<name>/        of one run
//!     .etl2parquet-<name>.plan-<hash>/   of a plan that several processes convert
//!         lock     held by a run, or by the process that publishes a plan; free after it was killed
//!         parts/   files, whole or not, every name ending in .<attempt>.tmp
//!         new/     the trace being put together, in its last moments
//!         old/     the trace being replaced, where folders cannot be exchanged in one step
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
//! In the folder of a plan `parts/` and `new/` stay: whoever publishes next goes on where the last one ended. Whether that
//! one came to the end is known by the file `publishing`, the hash of the manifest that it was about to publish.

mod custody;
mod existing;
mod lock;
mod parts;
mod publication;
mod system;

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use sha2::{Digest, Sha256};

pub use custody::Custody;
use custody::Held;
pub use existing::{check_absent, is_current, trace_folder};
use lock::Lock;
use parts::Parts;
pub(crate) use parts::is_attempt;
use system::{exists, remove, remove_file, sync_folder};

use super::errors::output_error;
use super::interface::{IfExists, Output, OutputFile, Published, StagedFile, StagedName};
use super::manifest::MANIFEST_PATH;
use super::sink::hex;
use crate::error::{Error, ErrorKind, Result};
use crate::names::is_safe_component;
use crate::progress::Progress;

/// What names of staging folders begin with.
const PREFIX: &str = ".etl2parquet-";

/// What parts the name of a trace from that of a plan.
const PLAN: &str = ".plan-";

/// In the folder of a plan: the SHA-256 hash of the manifest that is being published.
const PUBLISHING: &str = "publishing";

/// A trace under construction. Dropping it removes what it must not leave behind, on an error as on an interruption: a
/// run all that was written, a worker on a plan what it has written itself and not [kept](LocalFolder::keep).
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
    custody: Custody,
    is_kept: AtomicBool,
    is_published: AtomicBool,
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
    /// As [`LocalFolder::create_in`], in nobody's custody.
    ///
    /// # Errors
    /// Those of [`LocalFolder::create_in`].
    pub fn create(out: &Path, name: &str) -> Result<Self> {
        LocalFolder::create_in(&Custody::default(), out, name)
    }

    /// Makes the staging folder of a run, and whatever is missing of `out`; cleans up after a killed run. Until it is
    /// published or dropped, `custody` can remove it.
    ///
    /// `name` is what [`names::trace_name`](crate::names::trace_name) or
    /// [`names::checked_trace_name`](crate::names::checked_trace_name) returned.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when another run is at work on the same trace, or the folder cannot be made.
    pub fn create_in(custody: &Custody, out: &Path, name: &str) -> Result<Self> {
        let folder = out.join(format!("{PREFIX}{}", checked(name)?));
        let made = system::missing(out);
        let lock = Lock::take(out, &folder).inspect_err(|_| system::remove_empty(&made))?;
        let mut staging = Self::at(custody, out, name, folder, Role::Run);
        (staging.made, staging.lock) = (made, Some(lock));
        custody.take_in(Held::All(staging.folder.clone()));
        staging.made.iter().try_for_each(|made| made.parent().map_or(Ok(()), sync_folder))?;
        staging.restore_old()?;
        for leftover in [staging.old(), staging.new_trace(), staging.gone(), staging.parts().root] {
            remove(&leftover).map_err(|cause| output_error("remove the leftovers of a run", &leftover, cause))?;
        }
        staging.create_parts()?;
        Ok(staging)
    }

    /// Makes the folder of a plan, or opens it where it is there: whoever has the same plan for the same output shares it.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it cannot be made.
    pub fn create_plan(custody: &Custody, out: &Path, name: &str, plan_hash: &str) -> Result<Self> {
        let folder = out.join(format!("{PREFIX}{}{PLAN}{}", checked(name)?, checked(plan_hash)?));
        fs::create_dir_all(&folder).map_err(|cause| output_error("create the folder", &folder, cause))?;
        lock::refuse_other(&folder)?;
        let staging = Self::at(custody, out, name, folder, Role::Worker);
        staging.create_parts()?;
        sync_folder(out)?;
        Ok(staging)
    }

    /// Opens the folder of a plan to add files to it. Several processes may, at a time.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it is none, or not there any more.
    pub fn open_plan(custody: &Custody, folder: &Path) -> Result<Self> {
        let (out, name) = plan_of(folder)?;
        let staging = Self::at(custody, &out, &name, folder.to_owned(), Role::Worker);
        custody.take_in(Held::Attempt { parts: staging.parts().root, attempt: staging.attempt.clone() });
        Ok(staging)
    }

    /// Opens the folder of a plan to publish it: one process at a time. Ask [`LocalFolder::was_published`] first.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it is none, or not there any more, or another process is publishing it.
    pub fn open_plan_to_publish(custody: &Custody, folder: &Path) -> Result<Self> {
        let (out, name) = plan_of(folder)?;
        let lock = Lock::take(&out, folder)?;
        let mut staging = Self::at(custody, &out, &name, folder.to_owned(), Role::Publisher);
        staging.lock = Some(lock);
        custody.take_in(Held::Attempt { parts: staging.parts().root, attempt: staging.attempt.clone() });
        staging.restore_old()?;
        Ok(staging)
    }

    fn at(custody: &Custody, out: &Path, name: &str, folder: PathBuf, role: Role) -> Self {
        LocalFolder {
            out: out.to_owned(),
            name: name.to_owned(),
            folder,
            attempt: format!("{:016x}", RandomState::new().build_hasher().finish()),
            role,
            made: Vec::new(),
            lock: None,
            custody: custody.clone(),
            is_kept: AtomicBool::new(false),
            is_published: AtomicBool::new(false),
        }
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

    /// What this process has written to the folder of a plan stays when it ends.
    pub fn keep(&self) {
        self.is_kept.store(true, Ordering::Relaxed);
    }

    /// Writes a small file into the folder of a plan, whole or not at all, unless there is one of this name: the first one
    /// stands. Returns whether it was written.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it cannot be written.
    pub fn write_first(&self, file: &str, content: &[u8]) -> Result<bool> {
        if exists(&self.folder.join(file))? {
            return Ok(false);
        }
        self.write_whole(file, content, |staged, path| {
            match system::rename_no_replace_at_once(staged, path) {
                Some(Err(cause)) if cause.kind() == io::ErrorKind::AlreadyExists => Ok(false),
                Some(renamed) => renamed.map(|()| true),
                // What two write in the same moment here is the same.
                None => fs::rename(staged, path).map(|()| true),
            }
        })
    }

    /// Writes a small file into the folder of a plan, whole or not at all, in the place of any of this name.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it cannot be written.
    pub fn write_over(&self, file: &str, content: &[u8]) -> Result<()> {
        self.write_whole(file, content, |staged, path| fs::rename(staged, path).map(|()| true)).map(drop)
    }

    /// Brings a file to disk under a name of this attempt; `name` gives it its own, or says that it is not wanted.
    fn write_whole(
        &self,
        file: &str,
        content: &[u8],
        name: impl FnOnce(&Path, &Path) -> io::Result<bool>,
    ) -> Result<bool> {
        let path = self.folder.join(file);
        let staged = self.folder.join(format!("{file}.{}.tmp", self.attempt));
        let written = fs::write(&staged, content).and_then(|()| system::sync(&staged));
        let named = written
            .map_err(|cause| output_error("write", &staged, cause))
            .and_then(|()| name(&staged, &path).map_err(|cause| output_error("write", &path, cause)));
        if !matches!(named, Ok(true)) {
            let _ = fs::remove_file(&staged);
        }
        sync_folder(&self.folder)?;
        named
    }

    /// Whether whoever published this plan before was interrupted only when the trace was in its place: there is nothing
    /// left to do but to drop this.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the system does not say.
    pub fn was_published(&self) -> Result<bool> {
        let Some(publishing) = read_if_there(&self.folder.join(PUBLISHING))? else { return Ok(false) };
        let manifest = read_if_there(&self.target().join(MANIFEST_PATH))?;
        let is_there = manifest.is_some_and(|manifest| sha256(&manifest).as_bytes() == publishing);
        self.is_published.fetch_or(is_there, Ordering::Relaxed);
        Ok(is_there)
    }

    /// Removes the folder of a plan.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it cannot be removed.
    pub fn discard(self) -> Result<()> {
        self.is_kept.store(true, Ordering::Relaxed);
        remove(&self.folder).map_err(|cause| output_error("remove", &self.folder, cause))
    }

    /// What is not as it should be about the staging folder.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let is_unlocked = self.lock.as_ref().is_some_and(|lock| !lock.is_held());
        let warning = || {
            let out = self.out.display();
            format!("{out}: this file system has no locks: take care that no other run writes trace={}", self.name)
        };
        is_unlocked.then(warning).into_iter()
    }

    fn parts(&self) -> Parts {
        Parts::of(&self.folder)
    }

    fn new_trace(&self) -> PathBuf {
        self.folder.join("new")
    }

    fn old(&self) -> PathBuf {
        self.folder.join("old")
    }

    /// What was in work, while it is removed.
    fn gone(&self) -> PathBuf {
        self.folder.join("gone")
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

    /// Where an interrupted run had moved the published trace away, moves it back.
    fn restore_old(&self) -> Result<()> {
        let (old, target) = (self.old(), self.target());
        if exists(&old)? && !exists(&target)? {
            fs::rename(&old, &target).map_err(|cause| output_error("restore the trace", &target, cause))?;
            sync_folder(&self.out)?;
        }
        Ok(())
    }

    /// Says what is about to be published, so that who is interrupted then can tell whether it was.
    fn announce(&self) -> Result<()> {
        if self.role == Role::Run {
            return Ok(());
        }
        let manifest = read_if_there(&self.new_trace().join(MANIFEST_PATH))?.unwrap_or_default();
        let path = self.folder.join(PUBLISHING);
        let written = fs::write(&path, sha256(&manifest)).and_then(|()| system::sync(&path));
        written.map_err(|cause| output_error("write", &path, cause))?;
        sync_folder(&self.folder)
    }

    /// Removes what this process has written, or all where the folder is its own.
    fn clean_up(&mut self) {
        if self.role != Role::Run && !self.is_published.load(Ordering::Relaxed) {
            if !self.is_kept.load(Ordering::Relaxed) {
                let _ = self.parts().remove_attempt(&self.attempt);
            }
            self.custody.let_go();
            self.lock.take().into_iter().for_each(Lock::release);
            return;
        }
        // A trace that could be neither replaced nor restored stays for the next run's repair. Failures are left to it too.
        let keep_old = !matches!(exists(&self.target()), Ok(true));
        let gone = self.gone();
        // In one step, so that nobody adds a file meanwhile.
        let _ = fs::rename(self.parts().root, &gone);
        for folder in [self.new_trace(), gone, self.parts().root] {
            let _ = remove(&folder);
        }
        if !keep_old {
            let _ = remove(&self.old());
        }
        // Until here, who is asked to end at once removes what is left; from here on the folder may be another run's.
        self.custody.let_go();
        if !matches!(exists(&self.old()), Ok(false)) {
            return;
        }
        if self.role != Role::Run {
            // With the lock in it, which goes last.
            let _ = system::remove_others(&self.folder, "lock");
        }
        self.lock.take().into_iter().for_each(Lock::release);
        let _ = fs::remove_dir(&self.folder);
        system::remove_empty(&self.made);
    }
}

impl Output for LocalFolder {
    fn attempt(&self) -> &str {
        &self.attempt
    }

    fn create(&self, path: &str) -> Result<Box<dyn OutputFile>> {
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
        let _kept = self.custody.keep()?;
        let mut warnings: Vec<String> = self.warnings().collect();
        existing::may_publish(&target, if_exists)?;
        publication::assemble(&self.parts(), &new, files, progress)?;
        self.announce()?;
        crate::progress::stop_if_cancelled(progress)?;
        if if_exists == IfExists::Replace && exists(&target)? {
            publication::replace(&new, &self.old(), &target)?;
            self.is_published.store(true, Ordering::Relaxed);
            warnings.extend([new, self.old()].iter().filter_map(|old| leftover(old, remove(old))));
        } else {
            publication::rename_no_replace(&new, &target)?;
            self.is_published.store(true, Ordering::Relaxed);
        }
        sync_folder(&self.out).map_err(|error| {
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

/// Says that the old trace is still there after it was replaced.
fn leftover(old: &Path, removed: io::Result<()>) -> Option<String> {
    let cause = removed.err()?;
    let old = old.display();
    Some(format!("{old}: the replaced trace cannot be removed: {cause} (the next run of this trace tries again)"))
}

fn checked(name: &str) -> Result<&str> {
    if is_safe_component(name) { Ok(name) } else { Err(Error::bug(format!("{name:?} is not a safe name"))) }
}

/// The trace and the digits of the hash in the name of a plan's folder; `None` for any other.
pub(crate) fn plan_name(folder: &Path) -> Option<(&str, &str)> {
    let (trace, hash) = folder.file_name()?.to_str()?.strip_prefix(PREFIX)?.rsplit_once(PLAN)?;
    (is_safe_component(trace) && !hash.is_empty()).then_some((trace, hash))
}

/// The output folder and the trace that the folder of a plan belongs to.
fn plan_of(folder: &Path) -> Result<(PathBuf, String)> {
    lock::refuse_other(folder)?;
    let parent = folder.parent().map(Path::to_owned);
    match (parent, plan_name(folder)) {
        (Some(out), Some((trace, _))) if Parts::of(folder).root.is_dir() => Ok((out, trace.to_owned())),
        _ => {
            let message = format!("expected the folder of a plan, {PREFIX}NAME{PLAN}HASH, that is still in work");
            let hint = "name the folder that the plan was written to; it goes when its trace is published";
            Err(Error::new(ErrorKind::Output, message).in_file(folder).with_hint(hint))
        }
    }
}

fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(cause) if matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(cause) => Err(output_error("read", path, cause)),
    }
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests;
