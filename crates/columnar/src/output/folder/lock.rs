//! The lock of a staging folder: one run at a time works on a trace. The system lets go of it when a run is killed.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use base::error::{Error, ErrorCode, ErrorKind, Result};

use crate::output::errors::output_error;

/// The name of the lock file.
pub(super) const LOCK: &str = "lock";

/// How often to try for a lock file that others keep deleting.
const ATTEMPTS: usize = 16;

/// A staging folder of this run alone.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    file: File,
    is_held: bool,
}

impl Lock {
    /// Makes the staging folder, with all that is missing above it, and locks it for this run.
    pub(super) fn take(out: &Path, folder: &Path) -> Result<Lock> {
        let path = folder.join(LOCK);
        for _ in 0..ATTEMPTS {
            fs::create_dir_all(out).map_err(|cause| output_error("create the folder", out, cause))?;
            let is_new = match fs::create_dir(folder) {
                Ok(()) => true,
                // Another run that made `out` has just ended without a trace.
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => continue,
                Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => false,
                Err(cause) => return Err(output_error("create the folder", folder, cause)),
            };
            refuse_other(folder)?;
            let file = match open(&path) {
                Ok(file) => file,
                // The folder has just been removed by a run that ended.
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => continue,
                Err(cause) if is_in_use(&cause) => return Err(is_at_work(folder)),
                Err(cause) => {
                    if is_new {
                        let _ = fs::remove_dir(folder);
                    }
                    return Err(output_error("create the lock file", &path, cause));
                }
            };
            let is_held = match file.try_lock() {
                Ok(()) => true,
                Err(TryLockError::Error(cause)) if is_without_locks(&cause) => false,
                Err(TryLockError::WouldBlock) => return Err(is_at_work(folder)),
                Err(TryLockError::Error(cause)) => return Err(output_error("lock", &path, cause)),
            };
            // Else it was removed before that by the run that had it.
            if is_at(&file, &path) {
                return Ok(Lock { path, file, is_held });
            }
        }
        Err(is_at_work(folder))
    }

    /// Whether the file system has locks.
    pub(super) fn is_held(&self) -> bool {
        self.is_held
    }

    /// Removes the lock file while it is locked, so that it is nobody else's; then lets go of it, because some systems
    /// keep the name until then.
    pub(super) fn release(self) {
        let _ = fs::remove_file(&self.path);
        drop(self.file);
    }
}

/// Opens a file and locks it for this run alone; `None` where others have it just now. Where the file system has no locks, it
/// is only opened.
///
/// # Errors
/// Those of the system.
pub(crate) fn take_file(path: &Path) -> io::Result<Option<File>> {
    let file = match open(path) {
        Err(cause) if is_in_use(&cause) => return Ok(None),
        opened => opened?,
    };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(cause)) if !is_without_locks(&cause) => return Err(cause),
        _ => {}
    }
    // Else it was removed before that by the run that had it.
    Ok(is_at(&file, path).then_some(file))
}

/// A link in the place of the staging folder would lead out of the output folder.
pub(super) fn refuse_other(folder: &Path) -> Result<()> {
    match fs::symlink_metadata(folder) {
        Ok(found) if !found.is_dir() => {
            let message = "expected the folder that a trace is built in, found a link or a file";
            let hint = "remove it, or choose another output folder";
            Err(Error::new(ErrorKind::Output, message)
                .with_code(ErrorCode::OutputExists)
                .in_file(folder)
                .with_hint(hint))
        }
        // Gone by now, or looked at by the next step.
        _ => Ok(()),
    }
}

fn is_at_work(folder: &Path) -> Error {
    Error::new(ErrorKind::Output, "another run is writing this trace")
        .with_code(ErrorCode::OutputLocked)
        .in_file(folder)
        .with_hint("wait until it ends, or choose another name or output folder")
}

/// Whether the file system knows no locks, as some in user space and old network ones.
fn is_without_locks(cause: &io::Error) -> bool {
    // ENOLCK, ENOSYS, EOPNOTSUPP of Linux; ENOTSUP, EOPNOTSUPP, ENOLCK of macOS.
    let numbers: &[i32] = if cfg!(target_os = "linux") { &[37, 38, 95] } else { &[45, 77, 102] };
    cause.kind() == io::ErrorKind::Unsupported
        || (cfg!(unix) && cause.raw_os_error().is_some_and(|number| numbers.contains(&number)))
}

/// Opens the lock file and follows no link.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0);
    File::options().create(true).truncate(false).write(true).custom_flags(flags).open(path)
}

/// Opens the lock file for this run alone: while it is open the system gives it to nobody else, so that no run can hold
/// a file that another has removed.
#[cfg(windows)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    // FILE_SHARE_DELETE, for the removal of the file by this run itself.
    const SHARE_DELETE: u32 = 4;
    File::options().create(true).truncate(false).write(true).share_mode(SHARE_DELETE).open(path)
}

/// Whether another run has the lock file open.
fn is_in_use(cause: &io::Error) -> bool {
    // ERROR_ACCESS_DENIED of a file that is being removed, ERROR_SHARING_VIOLATION.
    cfg!(windows) && matches!(cause.raw_os_error(), Some(5 | 32))
}

/// Whether the open file is still the one with this name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(open), Ok(named)) = (file.metadata(), fs::metadata(path)) else { return false };
    (open.dev(), open.ino()) == (named.dev(), named.ino())
}

/// Nobody else can have opened it.
#[cfg(windows)]
fn is_at(_file: &File, _path: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_without_locks_differs_from_a_failure() {
        assert!(is_without_locks(&io::ErrorKind::Unsupported.into()));
        assert!(!is_without_locks(&io::ErrorKind::PermissionDenied.into()));
        if cfg!(target_os = "linux") {
            for (number, expected) in [(37, true), (38, true), (95, true), (5, false), (28, false)] {
                assert_eq!(is_without_locks(&io::Error::from_raw_os_error(number)), expected, "{number}");
            }
        }
    }
}
