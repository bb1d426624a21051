//! All or nothing: a trace is built in a staging folder and appears by one rename.
//!
//! ```text
//! OUT/.etl2parquet-<name>/lock    held while a run lives; free after a run was killed
//!                         new/    the trace being built, every file name ending in .tmp
//!                         old/    the trace being replaced, where folders cannot be exchanged in one step
//! OUT/trace=<name>/               the published trace
//! ```
//!
//! What an interrupted run leaves, and what the next one makes of it, once it has the lock:
//!
//! | `old/` | `trace=<name>` | the run ended | repair |
//! |---|---|---|---|
//! | no | – | before the rename, or after an exchange | remove `new/` |
//! | yes | no | between the two renames of a replacement | move `old/` back, remove `new/` |
//! | yes | yes | after both renames | remove `old/` and `new/` |

mod custody;
mod lock;
mod system;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

pub use custody::Custody;
use lock::Lock;
use system::{exchange, exists, remove, rename_no_replace_at_once, sync, sync_folder};

use super::errors::{bug, output_error};
use super::manifest::{CommitRecord, MANIFEST_PATH};
use crate::error::{Error, ErrorCode, ErrorKind, Result};
use crate::names::is_safe_component;

/// What a file name ends in until the trace is published: no reader's glob for `.parquet` matches it.
pub(crate) const STAGED_SUFFIX: &str = ".tmp";

/// What to do about a trace that is there already (`--if-exists`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IfExists {
    /// Refuse.
    #[default]
    Error,
    /// Leave it if it is what this run would write (see [`is_current`]), else refuse.
    Skip,
    /// Put the new one in its place.
    Replace,
}

/// The folder of a published trace.
pub fn trace_folder(out: &Path, name: &str) -> PathBuf {
    out.join(format!("trace={name}"))
}

/// A trace under construction. Dropping it removes all that was written, on an error as on an interruption.
#[derive(Debug)]
pub struct LocalFolder {
    out: PathBuf,
    name: String,
    folder: PathBuf,
    /// The folders above the staging folder that were not there before, from the outermost.
    made: Vec<PathBuf>,
    /// Held as long as the staging folder is this run's.
    lock: Option<Lock>,
    custody: Custody,
}

/// A trace in its place.
#[derive(Debug)]
pub struct Published {
    /// Its folder.
    pub folder: PathBuf,
    /// What is not as it should be beside it.
    pub warnings: Vec<String>,
}

impl LocalFolder {
    /// As [`LocalFolder::create_in`], in nobody's custody.
    ///
    /// # Errors
    /// Those of [`LocalFolder::create_in`].
    pub fn create(out: &Path, name: &str) -> Result<Self> {
        LocalFolder::create_in(&Custody::default(), out, name)
    }

    /// Makes the staging folder of a trace, and whatever is missing of `out`; cleans up after a killed run. Until it is
    /// published or dropped, `custody` can remove it.
    ///
    /// `name` is what [`names::trace_name`](crate::names::trace_name) or
    /// [`names::checked_trace_name`](crate::names::checked_trace_name) returned.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when another run is at work on the same trace, or the folder cannot be made.
    pub fn create_in(custody: &Custody, out: &Path, name: &str) -> Result<Self> {
        if !is_safe_component(name) {
            return Err(bug(format!("{name:?} is not a safe trace name")));
        }
        let folder = out.join(format!(".etl2parquet-{name}"));
        let made = system::missing(out);
        let lock = Lock::take(out, &folder).inspect_err(|_| system::remove_empty(&made))?;
        let staging = LocalFolder {
            out: out.to_owned(),
            name: name.to_owned(),
            folder,
            made,
            lock: Some(lock),
            custody: custody.clone(),
        };
        staging.custody.take_in(&staging.folder);
        staging.made.iter().try_for_each(|made| made.parent().map_or(Ok(()), sync_folder))?;
        staging.repair()?;
        let root = staging.root();
        fs::create_dir(&root).map_err(|cause| output_error("create the folder", &root, cause))?;
        Ok(staging)
    }

    /// The folder that becomes `trace=<name>`. Every file in it must have a name that ends in `.tmp`.
    pub fn root(&self) -> PathBuf {
        self.folder.join("new")
    }

    /// The folder that the trace is published as.
    pub fn target(&self) -> PathBuf {
        trace_folder(&self.out, &self.name)
    }

    /// Writes a whole small file, such as the manifest, given its `/`-separated path below `trace=<name>`.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it cannot be written.
    pub fn write(&self, path: &str, content: &[u8]) -> Result<()> {
        let staged = self.root().join(format!("{path}{STAGED_SUFFIX}"));
        let parent = staged.parent().map_or(Ok(()), fs::create_dir_all);
        parent.and_then(|()| fs::write(&staged, content)).map_err(|cause| output_error("write", &staged, cause))
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

    /// Publishes the trace: everything to disk, file names without `.tmp`, one rename.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the trace is there already and `if_exists` does not allow to replace it, or when the
    /// system refuses; then nothing has changed, but where the message says that the trace is in its place.
    /// [`ErrorKind::Interrupted`] when the staging folder has been abandoned.
    pub fn commit(self, if_exists: IfExists) -> Result<Published> {
        let target = self.target();
        // Whoever would remove the folder waits until it is published.
        let _kept = self.custody.keep()?;
        let mut warnings: Vec<String> = self.warnings().collect();
        may_publish(&target, if_exists)?;
        unstage(&self.root())?;
        if if_exists == IfExists::Replace && exists(&target)? {
            self.replace(&target)?;
            warnings.extend([self.root(), self.old()].iter().filter_map(|old| leftover(old, remove(old))));
        } else {
            rename_no_replace(&self.root(), &target)?;
        }
        sync_folder(&self.out).map_err(|error| {
            error.with_hint("the trace is in its place, but may not be there after a power failure: check the disk")
        })?;
        Ok(Published { folder: target, warnings })
    }

    /// Puts `new/` in the place of the published trace; the old one is removed with the staging folder.
    fn replace(&self, target: &Path) -> Result<()> {
        match exchange(&self.root(), target) {
            Ok(true) => Ok(()),
            Ok(false) => self.replace_in_two_steps(target),
            Err(cause) => Err(output_error("replace the trace", target, cause)),
        }
    }

    /// For systems that cannot exchange two folders. A reader may find no trace for a moment.
    fn replace_in_two_steps(&self, target: &Path) -> Result<()> {
        let old = self.old();
        let failed = |cause| output_error("replace the trace", target, cause);
        fs::rename(target, &old).map_err(failed)?;
        fs::rename(self.root(), target).map_err(|cause| {
            // Back to where it was; should that fail too, the next run does it.
            let _ = fs::rename(&old, target);
            failed(cause)
        })
    }

    fn old(&self) -> PathBuf {
        self.folder.join("old")
    }

    /// Brings what an interrupted run left into order, see the table above.
    fn repair(&self) -> Result<()> {
        let (old, target) = (self.old(), self.target());
        if exists(&old)? && !exists(&target)? {
            fs::rename(&old, &target).map_err(|cause| output_error("restore the trace", &target, cause))?;
            sync_folder(&self.out)?;
        }
        for leftover in [old, self.root()] {
            remove(&leftover).map_err(|cause| output_error("remove the leftovers of a run", &leftover, cause))?;
        }
        Ok(())
    }
}

/// Says that the old trace is still there after it was replaced.
fn leftover(old: &Path, removed: io::Result<()>) -> Option<String> {
    let cause = removed.err()?;
    let old = old.display();
    Some(format!("{old}: the replaced trace cannot be removed: {cause} (the next run of this trace tries again)"))
}

impl Drop for LocalFolder {
    fn drop(&mut self) {
        // A trace that could be neither replaced nor restored stays for the next run's repair. Failures are left to it too.
        let keep_old = !matches!(exists(&self.target()), Ok(true));
        let _ = remove(&self.root());
        if !keep_old {
            let _ = remove(&self.old());
        }
        // Until here, who is asked to end at once removes what is left; from here on the folder may be another run's.
        self.custody.let_go();
        if !matches!(exists(&self.old()), Ok(false)) {
            return;
        }
        if let Some(lock) = self.lock.take() {
            lock.release();
        }
        let _ = fs::remove_dir(&self.folder);
        system::remove_empty(&self.made);
    }
}

/// Whether the published trace is what this run would write: same inputs in the same order (BLAKE3, lower-case
/// hexadecimal), same format version, same options. `false` when there is none.
///
/// Ask after [`LocalFolder::create`], which has repaired what an interrupted run left.
///
/// # Errors
/// [`ErrorKind::Output`] when there is a different one, or one whose manifest cannot be read.
pub fn is_current(
    out: &Path,
    name: &str,
    input_hashes: &[String],
    format_version: u32,
    options_hash: &str,
) -> Result<bool> {
    let target = trace_folder(out, name);
    if !exists(&target)? {
        return Ok(false);
    }
    let way_out = "choose --if-exists replace, or another name or output folder";
    let there = CommitRecord::read(&target).map_err(|error| error.with_hint(way_out))?;
    let differs = if there.format_version != format_version {
        "with another format version"
    } else if !there.inputs.iter().map(|input| &input.blake3).eq(input_hashes) {
        "from other input"
    } else if there.options_hash != options_hash {
        "with other options"
    } else {
        return Ok(true);
    };
    let message = format!("this trace is there already, but made {differs}");
    Err(Error::new(ErrorKind::Output, message).with_code(ErrorCode::OutputExists).in_file(target).with_hint(way_out))
}

/// Refuses what stands in the place of a trace and may not be replaced, before any work is done.
///
/// # Errors
/// [`ErrorKind::Output`] when there is a trace already and it is not to be skipped or replaced, or anything that is no
/// trace of this program.
pub fn check_absent(out: &Path, name: &str, if_exists: IfExists) -> Result<()> {
    match if_exists {
        // Whether it may be skipped is known when the input is hashed.
        IfExists::Skip => refuse_foreign(&trace_folder(out, name)),
        other => may_publish(&trace_folder(out, name), other),
    }
}

fn may_publish(target: &Path, if_exists: IfExists) -> Result<()> {
    refuse_foreign(target)?;
    if if_exists != IfExists::Replace && exists(target)? { Err(is_there(target)) } else { Ok(()) }
}

/// Refuses to touch what this program has not made.
fn refuse_foreign(target: &Path) -> Result<()> {
    if !exists(target)? || CommitRecord::is_in(target) {
        return Ok(());
    }
    let found = if target.is_dir() { "a folder without our" } else { "something else than a folder with a" };
    let message = format!("expected a trace made by this program, found {found} {MANIFEST_PATH}");
    let hint = "move it away, or choose another name or output folder";
    Err(Error::new(ErrorKind::Output, message).with_code(ErrorCode::OutputExists).in_file(target).with_hint(hint))
}

fn is_there(target: &Path) -> Error {
    Error::new(ErrorKind::Output, "this trace is there already")
        .with_code(ErrorCode::OutputExists)
        .in_file(target)
        .with_hint("choose --if-exists skip or replace, or another name or output folder")
}

/// Brings every file below `root` to disk and takes `.tmp` off its name.
fn unstage(root: &Path) -> Result<()> {
    let (mut folders, mut files) = (vec![root.to_owned()], Vec::new());
    let mut at = 0;
    while let Some(folder) = folders.get(at).cloned() {
        list(&folder, &mut folders, &mut files).map_err(|cause| output_error("list", &folder, cause))?;
        at += 1;
    }
    // On disk first: once names end in .parquet, readers may look. The disk takes many at a time.
    files.par_iter().try_for_each(|file| sync(file).map_err(|cause| output_error("bring to disk", file, cause)))?;
    for file in &files {
        if file.extension().is_none_or(|extension| extension != STAGED_SUFFIX.trim_start_matches('.')) {
            return Err(bug("a staged file name does not end in .tmp").in_file(file));
        }
        fs::rename(file, file.with_extension("")).map_err(|cause| output_error("rename", file, cause))?;
    }
    folders.iter().rev().try_for_each(|folder| sync_folder(folder))
}

/// Adds what is in `folder` to the folders and files found.
fn list(folder: &Path, folders: &mut Vec<PathBuf>, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let found = if entry.file_type()?.is_dir() { &mut *folders } else { &mut *files };
        found.push(entry.path());
    }
    Ok(())
}

/// Renames a folder to a name that nothing has; never replaces.
fn rename_no_replace(from: &Path, to: &Path) -> Result<()> {
    let renamed = match rename_no_replace_at_once(from, to) {
        Some(outcome) => outcome,
        None if exists(to)? => return Err(is_there(to)),
        None => fs::rename(from, to),
    };
    match renamed {
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Err(is_there(to)),
        other => other.map_err(|cause| output_error("publish the trace", to, cause)),
    }
}

#[cfg(test)]
mod tests;
