//! What the system does with files and folders, in the way of each system.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::output::errors::output_error;

/// Whether anything has this name, be it a broken link.
pub(super) fn exists(path: &Path) -> Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(cause) => Err(output_error("look at", path, cause)),
    }
}

/// Removes a folder and all in it, if it is there.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
        _ => Ok(()),
    }
}

/// The folders on the way to `folder` that are not there, from the outermost.
pub(super) fn missing(folder: &Path) -> Vec<PathBuf> {
    let ancestors = folder.ancestors().filter(|ancestor| *ancestor != Path::new(""));
    let mut missing: Vec<PathBuf> = ancestors.take_while(|ancestor| !ancestor.exists()).map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// Removes those of nested folders that are empty, from the innermost.
pub(super) fn remove_empty(folders: &[PathBuf]) {
    // What others have put there meanwhile stays.
    let _ = folders.iter().rev().try_for_each(fs::remove_dir);
}

pub(super) fn sync(file: &Path) -> io::Result<()> {
    // Windows wants a writable handle.
    File::options().write(true).open(file)?.sync_all()
}

/// Brings the names in a folder to disk, where the system and the file system know how.
pub(super) fn sync_folder(folder: &Path) -> Result<()> {
    let folder = if folder == Path::new("") { Path::new(".") } else { folder };
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

/// A rename that fails when `to` exists; `None` where the system or the file system has none.
#[cfg(target_os = "linux")]
pub(super) fn rename_no_replace_at_once(from: &Path, to: &Path) -> Option<io::Result<()>> {
    rename_with(from, to, rustix::fs::RenameFlags::NOREPLACE)
}

/// Exchanges two folders in one step; `Ok(false)` where the system or the file system cannot.
#[cfg(target_os = "linux")]
pub(super) fn exchange(a: &Path, b: &Path) -> io::Result<bool> {
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
pub(super) fn rename_no_replace_at_once(_from: &Path, _to: &Path) -> Option<io::Result<()>> {
    None
}

#[cfg(not(target_os = "linux"))]
pub(super) fn exchange(_a: &Path, _b: &Path) -> io::Result<bool> {
    Ok(false)
}
