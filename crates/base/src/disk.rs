//! What every writer of files asks of the system, in the way of each system: patience with other programs, and bytes on
//! the disk.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use crate::remote;

/// The first pause; each is twice as long as the one before, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(10);

const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// All pauses together. Virus scanners take seconds for a large file.
const PATIENCE: Duration = Duration::from_secs(12);

/// Does what another program may stand in the way of for a moment: on Windows, one that has a file open, to scan it or to
/// save it, keeps others from renaming, removing and opening it. Tries again for some seconds, each time from the start.
pub fn patiently<T>(attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    patient(attempt, is_in_use, sleep)
}

fn patient<T>(
    mut attempt: impl FnMut() -> io::Result<T>,
    is_in_use: fn(&io::Error) -> bool,
    mut sleep: impl FnMut(Duration),
) -> io::Result<T> {
    let (mut pause, mut waited) = (FIRST_PAUSE, Duration::ZERO);
    loop {
        match attempt() {
            Err(cause) if is_in_use(&cause) && waited < PATIENCE => {
                sleep(pause);
                waited += pause;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            done => return done,
        }
    }
}

fn is_in_use(cause: &io::Error) -> bool {
    // ERROR_ACCESS_DENIED (a folder with open files in it, a file that is being removed), ERROR_SHARING_VIOLATION,
    // ERROR_LOCK_VIOLATION.
    cfg!(windows) && matches!(cause.raw_os_error(), Some(5 | 32 | 33))
}

/// Renames a file or a folder, patiently; a file replaces the one of that name.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    patiently(|| fs::rename(from, to))
}

/// Writes a file in the place of the one of that name, whole or not at all; its folder is made where it is missing. It need not
/// be on disk then: what is written so is found again where it is lost. What a killed process leaves ends in `.tmp`.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut staged = path.as_os_str().to_owned();
    staged.push(format!(".{}.tmp", std::process::id()));
    let staged = Path::new(&staged);
    let folder = path.parent().unwrap_or(Path::new(""));
    let written =
        fs::create_dir_all(folder).and_then(|()| fs::write(staged, content)).and_then(|()| rename(staged, path));
    if written.is_err() {
        let _ = fs::remove_file(staged);
    }
    written
}

/// Brings what an open file or folder holds to disk.
pub fn sync(file: &File) -> io::Result<()> {
    match file.sync_all() {
        // The standard library asks the drive to empty its cache, which network volumes refuse; they know the older call.
        #[cfg(target_vendor = "apple")]
        Err(_) => rustix::fs::fsync(file).map_err(io::Error::from),
        synced => synced,
    }
}

/// [`absolute`] as text.
pub fn absolute_text(path: &Path) -> String {
    absolute(path).display().to_string()
}

/// The same path from any folder; as it is where the system cannot say what folder this is, and where it is an address.
pub fn absolute(path: &Path) -> PathBuf {
    if remote::url_of(path).is_some() {
        return path.to_owned();
    }
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_use_is_tried_again_for_some_seconds() {
        let t = |failures: usize| {
            let (mut attempts, mut pauses) = (0, Vec::new());
            let attempt = || {
                attempts += 1;
                if attempts > failures { Ok(attempts) } else { Err(io::ErrorKind::ResourceBusy.into()) }
            };
            let is_busy = |cause: &io::Error| cause.kind() == io::ErrorKind::ResourceBusy;
            let done = patient(attempt, is_busy, |pause| pauses.push(pause.as_millis()));
            (done.ok(), pauses)
        };
        assert_eq!(t(0), (Some(1), vec![]));
        assert_eq!(t(3), (Some(4), vec![10, 20, 40]));
        let (done, pauses) = t(usize::MAX);
        assert_eq!((done, pauses.len(), pauses.iter().sum::<u128>()), (None, 18, 12_270));
    }

    #[test]
    fn what_fails_for_another_reason_fails_at_once() {
        let mut attempts = 0;
        let failed: io::Result<()> = patiently(|| {
            attempts += 1;
            Err(io::ErrorKind::NotFound.into())
        });
        assert_eq!((failed.unwrap_err().kind(), attempts), (io::ErrorKind::NotFound, 1));
        assert_eq!(is_in_use(&io::Error::from_raw_os_error(32)), cfg!(windows));
    }

    #[test]
    fn files_and_folders_are_renamed_and_synced() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&a, "a").unwrap();
        fs::write(&b, "b").unwrap();
        rename(&a, &b).unwrap();
        assert_eq!((a.exists(), fs::read_to_string(&b).unwrap().as_str()), (false, "a"));
        sync(&File::options().write(true).open(&b).unwrap()).unwrap();
        assert_eq!(rename(&a, &b).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
