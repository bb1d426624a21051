//! The entries of a folder, all of them or none.

use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;

/// What is in a folder, in no order.
///
/// # Errors
/// Those of the system, but that a signal came meanwhile: then the folder is listed anew.
pub fn entries(folder: &Path) -> io::Result<Vec<DirEntry>> {
    uninterrupted(|| fs::read_dir(folder)?.collect())
}

/// Does something as often as a signal interrupts it. The standard library does so for reading, writing and opening a
/// file; for what opens or lists a folder it does not, and network file systems let that be interrupted.
pub fn uninterrupted<T>(mut act: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match act() {
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_interrupted_is_done_again_and_other_failures_are_reported() {
        let t = |outcomes: &[io::Result<u32>], expected: Result<u32, io::ErrorKind>, times: usize| {
            let mut left = outcomes.iter();
            let done = uninterrupted(|| match left.next().expect("it is not done again after it was done") {
                Ok(value) => Ok(*value),
                Err(cause) => Err(cause.kind().into()),
            });
            assert_eq!(done.map_err(|cause| cause.kind()), expected);
            assert_eq!(outcomes.len() - left.len(), times);
        };
        let interrupted = || Err(io::ErrorKind::Interrupted.into());
        t(&[Ok(7)], Ok(7), 1);
        t(&[interrupted(), interrupted(), Ok(7)], Ok(7), 3);
        t(&[interrupted(), Err(io::ErrorKind::NotFound.into()), Ok(7)], Err(io::ErrorKind::NotFound), 2);
    }

    #[test]
    fn a_folder_is_listed_whole() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b", "a"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let mut names: Vec<_> = entries(folder.path()).unwrap().iter().map(DirEntry::file_name).collect();
        names.sort();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(entries(&folder.path().join("c")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
