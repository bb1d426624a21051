//! A change of a file beside other processes that change it, too.
//!
//! Who changes the file holds the guard beside it, reads the file, and puts what becomes of it in its place by one rename: a
//! reader sees the file before or after, and of two processes neither loses what the other has changed.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use base::disk;
use base::error::{Error, ErrorKind, Result};

use super::errors::output_error;
use super::folder::lock::take_file;
use super::folder::system::sync_folder;
use super::store::Change;

/// How long others may hold a file, which takes them milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(10);

/// Changes a file as [`Store::change`](super::store::Store::change) does. Where it is a link, what it leads to is changed.
pub(super) fn change(path: &Path, most: u64, change: &mut Change<'_>) -> Result<()> {
    let file = match fs::canonicalize(path) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found.map_err(|cause| output_error("find", path, cause))?,
    };
    let guard = Guard::take(beside(&file, "guard"))?;
    let changed = change_held(&file, most, change);
    guard.release();
    changed
}

/// `.<name>.<ending>` beside a file.
fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(file.file_name().unwrap_or_default());
    name.push(".");
    name.push(ending);
    file.with_file_name(name)
}

fn change_held(file: &Path, most: u64, change: &mut Change<'_>) -> Result<()> {
    let mut before = Vec::new();
    let read = File::open(file).and_then(|open| open.take(most.saturating_add(1)).read_to_end(&mut before));
    read.map_err(|cause| output_error("read", file, cause))?;
    change(&before)
        .map_err(|error| if error.location().file.is_some() { error } else { error.in_file(file) })?
        .map_or(Ok(()), |changed| replace(file, &changed))
}

/// Puts a text in the place of a file, whole or not at all.
fn replace(file: &Path, text: &[u8]) -> Result<()> {
    let staged = beside(file, "tmp");
    let write = || {
        let mut new = File::create(&staged)?;
        new.write_all(text)?;
        disk::sync(&new)?;
        fs::set_permissions(&staged, fs::metadata(file)?.permissions())?;
        drop(new);
        disk::rename(&staged, file)
    };
    if let Err(cause) = write() {
        let _ = fs::remove_file(&staged);
        return Err(output_error("write", file, cause));
    }
    sync_folder(file.parent().unwrap_or(Path::new("")))
}

/// A file that one process holds at a time; the system lets go of it when the process is killed.
struct Guard {
    path: PathBuf,
    file: File,
}

impl Guard {
    fn take(path: PathBuf) -> Result<Guard> {
        let end = Instant::now() + PATIENCE;
        loop {
            match take_file(&path).map_err(|cause| output_error("lock", &path, cause))? {
                Some(file) => return Ok(Guard { path, file }),
                None if Instant::now() >= end => {
                    let message = "other runs have been changing the file beside this one for a minute";
                    return Err(Error::new(ErrorKind::Output, message).in_file(path));
                }
                None => sleep(PAUSE),
            }
        }
    }

    /// Removes the file while it is held, so that it is nobody else's.
    fn release(self) {
        let _ = fs::remove_file(&self.path);
        drop(self.file);
    }
}
