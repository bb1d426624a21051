//! All or nothing: a trace is built in a staging folder and appears by one rename.
//!
//! ```text
//! OUT/.etl2parquet-<name>/lock    held while a run lives; free after a run was killed
//!                         new/    the trace being built, every file name ending in .tmp
//!                         spool   what the footers of unfinished files will hold
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

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use super::STAGED_SUFFIX;
use super::failure::{internal, output_error};
use super::manifest::Manifest;
use super::names::is_safe_component;
use super::spool::Spool;
use crate::error::{Error, ErrorKind, Result};

/// How often to try for a lock file that others keep deleting.
const LOCK_ATTEMPTS: usize = 16;

/// What to do about a trace that is there already (`--if-exists`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IfExists {
    /// Refuse.
    #[default]
    Error,
    /// Leave it if it is what this run would write (see [`already_there`]), else refuse.
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
pub struct Staging {
    out: PathBuf,
    name: String,
    folder: PathBuf,
    spool: Arc<Spool>,
    /// Locked as long as the staging folder is this run's.
    _lock: File,
}

impl Staging {
    /// Makes the staging folder of a trace, and whatever is missing of `out`; cleans up after a killed run.
    ///
    /// `name` is what [`names::trace_name`](super::names::trace_name) or
    /// [`names::checked_trace_name`](super::names::checked_trace_name) returned.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when another run is at work on the same trace, or the folder cannot be made.
    pub fn create(out: &Path, name: &str) -> Result<Self> {
        if !is_safe_component(name) {
            return Err(internal(format!("{name:?} is not a safe trace name")));
        }
        let folder = out.join(format!(".etl2parquet-{name}"));
        fs::create_dir_all(out).map_err(|cause| output_error("create the folder", out, cause))?;
        let lock = lock(&folder)?;
        let spool = Arc::new(Spool::new(folder.join("spool")));
        let staging = Staging { out: out.to_owned(), name: name.to_owned(), folder, spool, _lock: lock };
        staging.repair()?;
        let root = staging.root();
        fs::create_dir(&root).map_err(|cause| output_error("create the folder", &root, cause))?;
        Ok(staging)
    }

    /// The folder that becomes `trace=<name>`. Every file in it must have a name that ends in `.tmp`.
    pub fn root(&self) -> PathBuf {
        self.folder.join("new")
    }

    /// What the tables of the trace share.
    pub(super) fn spool(&self) -> &Arc<Spool> {
        &self.spool
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

    /// Publishes the trace: everything to disk, file names without `.tmp`, one rename. Returns the published folder.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the trace is there already and `if_exists` does not allow to replace it, or when the
    /// system refuses; then nothing has changed.
    pub fn commit(self, if_exists: IfExists) -> Result<PathBuf> {
        let target = self.target();
        if if_exists != IfExists::Replace && exists(&target)? {
            return Err(is_there(&target));
        }
        self.spool.remove()?;
        unstage(&self.root())?;
        if if_exists == IfExists::Replace && exists(&target)? {
            self.replace(&target)?;
        } else {
            rename_to_free(&self.root(), &target)?;
        }
        sync_folder(&self.out)?;
        Ok(target)
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
        let spool = self.spool.path();
        match fs::remove_file(spool) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                Err(output_error("remove the leftovers of a run", spool, cause))
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // A trace that could be neither replaced nor restored stays for the next run's repair. Failures are left to it too.
        let keep_old = !matches!(exists(&self.target()), Ok(true));
        let _ = remove(&self.root());
        let _ = self.spool.remove();
        if !keep_old {
            let _ = remove(&self.old());
        }
        if !matches!(exists(&self.old()), Ok(false)) {
            return;
        }
        // While it is locked, so that nobody else's lock file is removed.
        let _ = fs::remove_file(self.folder.join("lock"));
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Whether the published trace is what this run would write: same inputs in the same order (BLAKE3, lower-case
/// hexadecimal), same format version, same options. `false` when there is none.
///
/// Ask after [`Staging::create`], which has repaired what an interrupted run left.
///
/// # Errors
/// [`ErrorKind::Output`] when there is a different one, or one whose manifest cannot be read.
pub fn already_there(
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
    let there = Manifest::read(&target).map_err(|error| error.with_hint(way_out))?;
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
    Err(Error::new(ErrorKind::Output, message).in_file(target).with_hint(way_out))
}

/// Refuses a trace that is there already, before any work is done.
///
/// # Errors
/// [`ErrorKind::Output`] when it is.
pub fn refuse_existing(out: &Path, name: &str) -> Result<()> {
    let target = trace_folder(out, name);
    if exists(&target)? { Err(is_there(&target)) } else { Ok(()) }
}

fn is_there(target: &Path) -> Error {
    Error::new(ErrorKind::Output, "this trace is there already")
        .in_file(target)
        .with_hint("choose --if-exists skip or replace, or another name or output folder")
}

/// Makes the staging folder and locks it for this run.
fn lock(folder: &Path) -> Result<File> {
    let path = folder.join("lock");
    for _ in 0..LOCK_ATTEMPTS {
        match fs::create_dir(folder) {
            Err(cause) if cause.kind() != io::ErrorKind::AlreadyExists => {
                return Err(output_error("create the folder", folder, cause));
            }
            _ => {}
        }
        let file = match File::options().create(true).truncate(false).write(true).open(&path) {
            Ok(file) => file,
            // The folder has just been removed by a run that ended.
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => continue,
            Err(cause) => return Err(output_error("create the lock file", &path, cause)),
        };
        match file.try_lock() {
            Ok(()) if is_at(&file, &path) => return Ok(file),
            // Locked, but removed before that by the run that had it.
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(is_at_work(folder)),
            Err(TryLockError::Error(cause)) => return Err(output_error("lock", &path, cause)),
        }
    }
    Err(is_at_work(folder))
}

fn is_at_work(folder: &Path) -> Error {
    Error::new(ErrorKind::Output, "another run is writing this trace")
        .in_file(folder)
        .with_hint("wait until it ends, or choose another name or output folder")
}

/// Whether the open file is still the one with this name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(open), Ok(named)) = (file.metadata(), fs::metadata(path)) else { return false };
    (open.dev(), open.ino()) == (named.dev(), named.ino())
}

/// Whether the open file is still the one with this name; here: whether there is one.
#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

/// Whether anything has this name, be it a broken link.
fn exists(path: &Path) -> Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(cause) => Err(output_error("look at", path, cause)),
    }
}

/// Removes a folder and all in it, if it is there.
fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
        _ => Ok(()),
    }
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
        let name = file.to_str().and_then(|name| name.strip_suffix(STAGED_SUFFIX));
        let name = name.ok_or_else(|| internal("a staged file name does not end in .tmp").in_file(file))?;
        fs::rename(file, name).map_err(|cause| output_error("rename", file, cause))?;
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

fn sync(file: &Path) -> io::Result<()> {
    // Windows wants a writable handle.
    File::options().write(true).open(file)?.sync_all()
}

/// Brings the names in a folder to disk, where the system and the file system know how.
fn sync_folder(folder: &Path) -> Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(cause) if !matches!(cause.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Err(output_error("bring to disk", folder, cause))
        }
        _ => Ok(()),
    }
}

/// Renames a folder to a name that nothing has; never replaces.
fn rename_to_free(from: &Path, to: &Path) -> Result<()> {
    let renamed = match rename_exclusive(from, to) {
        Some(outcome) => outcome,
        None if exists(to)? => return Err(is_there(to)),
        None => fs::rename(from, to),
    };
    match renamed {
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Err(is_there(to)),
        other => other.map_err(|cause| output_error("publish the trace", to, cause)),
    }
}

/// A rename that fails when `to` exists; `None` where the system or the file system has none.
#[cfg(target_os = "linux")]
fn rename_exclusive(from: &Path, to: &Path) -> Option<io::Result<()>> {
    rename_with(from, to, rustix::fs::RenameFlags::NOREPLACE)
}

/// Exchanges two folders in one step; `Ok(false)` where the system or the file system cannot.
#[cfg(target_os = "linux")]
fn exchange(a: &Path, b: &Path) -> io::Result<bool> {
    rename_with(a, b, rustix::fs::RenameFlags::EXCHANGE).map_or(Ok(false), |outcome| outcome.map(|()| true))
}

#[cfg(target_os = "linux")]
fn rename_with(from: &Path, to: &Path, flags: rustix::fs::RenameFlags) -> Option<io::Result<()>> {
    use rustix::fs::{CWD, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, from, CWD, to, flags) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => None,
        outcome => Some(outcome.map_err(io::Error::from)),
    }
}

#[cfg(not(target_os = "linux"))]
fn rename_exclusive(_from: &Path, _to: &Path) -> Option<io::Result<()>> {
    None
}

#[cfg(not(target_os = "linux"))]
fn exchange(_a: &Path, _b: &Path) -> io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests;
