//! Where members lie while they are read: one file without a name, which ends with whoever made it, however that ends.

use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::fault::{of_decoder, unsupported};
use crate::error::{Error, ErrorKind, Result};

/// Bytes that are unpacked at a time.
const BLOCK: usize = 1 << 18;

/// The members of a recording, one behind another.
#[derive(Debug)]
pub(in crate::input) struct Spool {
    file: File,
    folder: PathBuf,
    len: u64,
    limit: SpoolLimit,
}

/// Bytes that the members of a recording may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpoolLimit {
    /// So many.
    Bytes(u64),
    /// By the archives of the recording, which have so many bytes together.
    Archives(u64),
}

impl SpoolLimit {
    /// What any recording may take: traces that were never filled are packed to a thousandth.
    const LEAST: u64 = 1 << 30;
    /// What no recording takes unasked.
    const MOST: u64 = 64 << 30;
    /// What traces become, packed as well as it goes.
    const RATIO: u64 = 20;

    /// The number of bytes.
    pub fn bytes(self) -> u64 {
        match self {
            SpoolLimit::Bytes(bytes) => bytes,
            SpoolLimit::Archives(packed) => packed.saturating_mul(Self::RATIO).clamp(Self::LEAST, Self::MOST),
        }
    }
}

impl Spool {
    /// A spool in a folder, or in the nearest one above it that is there.
    ///
    /// # Errors
    /// Of the kind `Output` when no file can be made there.
    pub(in crate::input) fn new(folder: &Path, limit: SpoolLimit) -> Result<Spool> {
        let folder = nearest(folder);
        let file = tempfile::tempfile_in(&folder).map_err(|cause| unwritable(cause, &folder))?;
        Ok(Spool { file, folder, len: 0, limit })
    }

    /// Says that members of another archive come, of so many bytes.
    pub(in crate::input) fn allow(&mut self, packed: u64) {
        if let SpoolLimit::Archives(sum) = &mut self.limit {
            *sum = sum.saturating_add(packed);
        }
    }

    /// Takes the bytes of the member at `path` in; returns where they are. Takes none where it is known to be too large.
    ///
    /// # Errors
    /// Of the kind `Input` when the member is damaged or too large, `Output` when it cannot be written.
    pub(in crate::input) fn take(
        &mut self,
        plain: &mut dyn Read,
        size: Option<u64>,
        path: &Path,
    ) -> Result<Range<u64>> {
        let (start, limit) = (self.len, self.limit.bytes());
        if size.is_some_and(|size| start.saturating_add(size) > limit) {
            return Err(too_large(limit, path));
        }
        let mut block = vec![0; BLOCK];
        loop {
            let read = match plain.read(&mut block) {
                Ok(0) => return Ok(start..self.len),
                Ok(read) => read,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => continue,
                Err(cause) => return Err(of_decoder(cause, path)),
            };
            if self.len.saturating_add(read as u64) > limit {
                return Err(too_large(limit, path));
            }
            self.file.write_all(&block[..read]).map_err(|cause| unwritable(cause, &self.folder))?;
            self.len += read as u64;
        }
    }

    /// The file, to be read.
    pub(in crate::input) fn into_file(self) -> File {
        self.file
    }
}

fn too_large(limit: u64, path: &Path) -> Error {
    let message = format!("unpacked it would take more than the {limit} bytes that the spool may have");
    unsupported(message, path).with_hint("raise --max-spool if the archive is meant to hold so much")
}

fn unwritable(cause: io::Error, folder: &Path) -> Error {
    Error::new(ErrorKind::Output, "cannot unpack into a temporary file in this folder")
        .in_file(folder)
        .caused_by(cause)
        .with_hint("free some space there, or name another folder with --spool-dir")
}

/// The folder, or the first of those above it that is there.
fn nearest(folder: &Path) -> PathBuf {
    let found = folder.ancestors().find(|folder| folder.is_dir());
    match found {
        Some(found) => found.to_owned(),
        None => PathBuf::from("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_follow_the_archives() {
        let t = |limit: SpoolLimit, expected: u64| assert_eq!(limit.bytes(), expected, "{limit:?}");
        t(SpoolLimit::Bytes(5), 5);
        t(SpoolLimit::Archives(0), 1 << 30);
        t(SpoolLimit::Archives(48_099), 1 << 30);
        t(SpoolLimit::Archives(1 << 30), 20 << 30);
        t(SpoolLimit::Archives(1 << 40), 64 << 30);
    }

    #[test]
    fn members_lie_one_behind_another_up_to_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(&folder.path().join("not/there"), SpoolLimit::Bytes(10)).unwrap();
        let path = Path::new("a.zip!/b.etl");
        assert_eq!(spool.take(&mut &b"123456"[..], Some(6), path).unwrap(), 0..6);
        assert_eq!(spool.take(&mut &b"7890"[..], None, path).unwrap(), 6..10);
        let text = spool.take(&mut &b"x"[..], None, path).unwrap_err().to_string();
        assert!(text.starts_with("a.zip!/b.etl: unpacked it would take more than the 10 bytes"), "{text}");
        assert!(text.contains("--max-spool"), "{text}");
        assert!(spool.take(&mut io::empty(), Some(1), path).is_err(), "told before it is unpacked");
        let names = || std::fs::read_dir(folder.path()).unwrap().count();
        // Windows has no files without a name, but ones that end with who uses them.
        assert_eq!(names(), usize::from(cfg!(windows)), "the file has a name");
        drop(spool);
        assert_eq!(names(), 0);
    }
}
