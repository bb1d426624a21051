//! What the system does with files and folders, in the way of each system.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use base::disk;
use base::error::Result;
use base::listing::entries;

use crate::output::errors::output_error;

/// Whether anything has this name, be it a broken link.
pub(super) fn exists(path: &Path) -> Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(cause) => Err(output_error("look at", path, cause)),
    }
}

/// Removes a folder and all in it, if it is there, also what is marked as read-only.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    match remove_tree(folder) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
        _ => Ok(()),
    }
}

/// Here the permissions of a folder decide, not those of the files in it.
#[cfg(not(windows))]
fn remove_tree(folder: &Path) -> io::Result<()> {
    base::listing::uninterrupted(|| fs::remove_dir_all(folder))
}

/// Older systems and network drives remove nothing that has the mark.
#[cfg(windows)]
#[expect(clippy::permissions_set_readonly_false, reason = "the mark is one of Windows; there it lets nobody else in")]
fn remove_tree(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => {
            for (file, _) in files_below(folder)? {
                let mut permissions = fs::symlink_metadata(&file)?.permissions();
                permissions.set_readonly(false);
                fs::set_permissions(&file, permissions)?;
            }
            disk::patiently(|| fs::remove_dir_all(folder))
        }
        removed => removed,
    }
}

/// Removes a file, if it is there.
pub(super) fn remove_file(file: &Path) -> io::Result<()> {
    match disk::patiently(|| fs::remove_file(file)) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
        _ => Ok(()),
    }
}

/// All files in a folder and the folders in it, with their lengths, sorted; none if it is not there.
pub(super) fn files_below(root: &Path) -> io::Result<Vec<(PathBuf, u64)>> {
    Ok(tree(root)?.files)
}

/// What is in a folder and the folders in it.
pub(super) struct Tree {
    /// The folder itself and all others, each behind those that it is in.
    pub folders: Vec<PathBuf>,
    /// The files with their lengths, sorted.
    pub files: Vec<(PathBuf, u64)>,
}

/// Lists a folder, empty if it is not there. Links are not followed.
pub(super) fn tree(root: &Path) -> io::Result<Tree> {
    let (mut folders, mut files) = (vec![root.to_owned()], Vec::new());
    let mut at = 0;
    while let Some(folder) = folders.get(at).cloned() {
        let entries = match entries(&folder) {
            // Gone since it was found.
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                folders.remove(at);
                continue;
            }
            entries => entries?,
        };
        for entry in entries {
            match entry.metadata() {
                Ok(found) if found.is_dir() => folders.push(entry.path()),
                Ok(found) => files.push((entry.path(), found.len())),
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
                Err(cause) => return Err(cause),
            }
        }
        at += 1;
    }
    files.sort();
    Ok(Tree { folders, files })
}

/// A path below `root`, with `/` between its parts; `None` where it is no text.
pub(super) fn relative(root: &Path, path: &Path) -> Option<String> {
    let parts = path.strip_prefix(root).ok()?.iter().map(|part| part.to_str());
    Some(parts.collect::<Option<Vec<_>>>()?.join("/"))
}

/// Removes all in a folder but one entry.
pub(super) fn remove_others(folder: &Path, kept: &str) -> io::Result<()> {
    for entry in entries(folder)? {
        if entry.file_name() != kept {
            let is_folder = entry.file_type()?.is_dir();
            if is_folder { remove(&entry.path())? } else { remove_file(&entry.path())? }
        }
    }
    Ok(())
}

/// Some bytes of a file, all of which must be there.
pub(super) fn read_range(path: &Path, range: Range<u64>) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    // Against the file before memory is taken for it.
    let is_there = range.start <= range.end && range.end <= file.metadata()?.len();
    let Some(len) = range.end.checked_sub(range.start).and_then(|len| usize::try_from(len).ok()).filter(|_| is_there)
    else {
        return Err(io::ErrorKind::UnexpectedEof.into());
    };
    file.seek(SeekFrom::Start(range.start))?;
    let mut bytes = vec![0; len];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
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
    disk::sync(&disk::patiently(|| File::options().write(true).open(file))?)
}

/// Brings the names in a folder to disk, where the system and the file system know how.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    let folder = if folder == Path::new("") { Path::new(".") } else { folder };
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(folder).and_then(|folder| disk::sync(&folder)) {
        Err(cause) if !matches!(cause.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Err(output_error("bring to disk", folder, cause))
        }
        _ => Ok(()),
    }
}

/// A rename that fails when `to` exists; `None` where the system or the file system has none.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub(super) fn rename_no_replace_at_once(from: &Path, to: &Path) -> Option<io::Result<()>> {
    rename_with(from, to, rustix::fs::RenameFlags::NOREPLACE)
}

/// Exchanges two folders in one step; `Ok(false)` where the system or the file system cannot.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub(super) fn exchange(a: &Path, b: &Path) -> io::Result<bool> {
    rename_with(a, b, rustix::fs::RenameFlags::EXCHANGE).map_or(Ok(false), |outcome| outcome.map(|()| true))
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn rename_with(from: &Path, to: &Path, flags: rustix::fs::RenameFlags) -> Option<io::Result<()>> {
    use rustix::fs::{CWD, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, from, CWD, to, flags) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => None,
        // Another number than the one above, but on Linux.
        #[cfg(target_vendor = "apple")]
        Err(Errno::NOTSUP) => None,
        outcome => Some(outcome.map_err(io::Error::from)),
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub(super) fn rename_no_replace_at_once(_from: &Path, _to: &Path) -> Option<io::Result<()>> {
    None
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
#[expect(clippy::unnecessary_wraps, reason = "other systems may fail")]
pub(super) fn exchange(_a: &Path, _b: &Path) -> io::Result<bool> {
    Ok(false)
}
