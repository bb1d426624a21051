//! Where members lie while they are read: few bytes in memory, more in one file without a name, which ends with whoever made it,
//! however that ends.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use base::error::{Error, ErrorKind, Result};

use super::fault::{of_decoder, unsupported};
use crate::input::local;

/// Bytes that are unpacked at a time.
const BLOCK: u64 = 1 << 18;

/// Bytes of members that lie in memory; a file takes longer to be made than they to be unpacked.
const IN_MEMORY: u64 = 1 << 18;

/// The members of a recording, one behind another.
#[derive(Debug)]
pub(in crate::input) struct Spool {
    bytes: Unpacked,
    folder: PathBuf,
    len: u64,
    limit: SpoolLimit,
}

/// Bytes of members.
#[derive(Debug)]
pub(in crate::input) enum Unpacked {
    /// Few.
    Memory(Vec<u8>),
    /// In a file without a name.
    File(File),
}

impl Unpacked {
    /// Fills `target` with what lies at an offset.
    ///
    /// # Errors
    /// Where it is not there, or the file cannot be read.
    pub(in crate::input) fn read_exact_at(&self, target: &mut [u8], offset: u64) -> io::Result<()> {
        let bytes = match self {
            Unpacked::File(file) => return local::read_exact_at(file, target, offset),
            Unpacked::Memory(bytes) => bytes,
        };
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::UnexpectedEof)?;
        let range = start..start.saturating_add(target.len());
        target.copy_from_slice(bytes.get(range).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    /// Adds bytes behind `len`, in a file in `folder` once they are many.
    fn append(&mut self, len: u64, more: &[u8], folder: &Path) -> io::Result<()> {
        if let Unpacked::Memory(bytes) = self
            && len.saturating_add(more.len() as u64) > IN_MEMORY
        {
            let mut file = tempfile::tempfile_in(folder)?;
            file.write_all(bytes)?;
            *self = Unpacked::File(file);
        }
        match self {
            Unpacked::Memory(bytes) => bytes.extend_from_slice(more),
            Unpacked::File(file) => file.write_all(more)?,
        }
        Ok(())
    }

    /// Leaves out what lies behind `len`.
    fn truncate(&mut self, len: u64) -> io::Result<()> {
        match self {
            Unpacked::Memory(bytes) => bytes.truncate(usize::try_from(len).unwrap_or(usize::MAX)),
            Unpacked::File(file) => {
                file.seek(SeekFrom::Start(len))?;
                file.set_len(len)?;
            }
        }
        Ok(())
    }
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
    /// A spool whose file would be in a folder, or in the nearest one above it that is there.
    pub(in crate::input) fn new(folder: &Path, limit: SpoolLimit) -> Spool {
        Spool { bytes: Unpacked::Memory(Vec::new()), folder: nearest(folder), len: 0, limit }
    }

    /// Says that members of another archive come, of so many bytes.
    pub(in crate::input) fn allow(&mut self, packed: u64) {
        if let SpoolLimit::Archives(sum) = &mut self.limit {
            *sum = sum.saturating_add(packed);
        }
    }

    /// Takes the bytes of the member at `path` in; returns where they are. Takes none where it is known to be too large, and keeps
    /// none of one that is damaged.
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
        match self.append_all(plain, size, path) {
            Ok(()) => Ok(start..self.len),
            Err(error) => {
                self.len = start;
                self.bytes.truncate(start).map_err(|cause| unwritable(cause, &self.folder))?;
                Err(error)
            }
        }
    }

    fn append_all(&mut self, plain: &mut dyn Read, size: Option<u64>, path: &Path) -> Result<()> {
        let limit = self.limit.bytes();
        // One byte more than there should be is reported by whoever reads it.
        let block = size.map_or(BLOCK, |size| size.saturating_add(1).min(BLOCK));
        let mut block = vec![0; usize::try_from(block).unwrap_or(1)];
        loop {
            let read = match plain.read(&mut block) {
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => continue,
                Err(cause) => return Err(of_decoder(cause, path)),
            };
            if self.len.saturating_add(read as u64) > limit {
                return Err(too_large(limit, path));
            }
            let appended = self.bytes.append(self.len, &block[..read], &self.folder);
            appended.map_err(|cause| unwritable(cause, &self.folder))?;
            self.len += read as u64;
        }
    }

    /// The bytes, to be read.
    pub(in crate::input) fn into_bytes(self) -> Unpacked {
        self.bytes
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
pub(in crate::input) fn nearest(folder: &Path) -> PathBuf {
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
        let mut spool = Spool::new(&folder.path().join("not/there"), SpoolLimit::Bytes(10));
        let path = Path::new("a.zip!/b.etl");
        assert_eq!(spool.take(&mut &b"123456"[..], Some(6), path).unwrap(), 0..6);
        assert_eq!(spool.take(&mut &b"7890"[..], None, path).unwrap(), 6..10);
        let text = spool.take(&mut &b"x"[..], None, path).unwrap_err().to_string();
        assert!(text.starts_with("a.zip!/b.etl: unpacked it would take more than the 10 bytes"), "{text}");
        assert!(text.contains("--max-spool"), "{text}");
        assert!(spool.take(&mut io::empty(), Some(1), path).is_err(), "refused before it is unpacked");
    }

    #[test]
    fn many_bytes_lie_in_a_file_without_a_name_and_no_part_of_a_damaged_member_does() {
        let folder = tempfile::tempdir().unwrap();
        let names = || std::fs::read_dir(folder.path()).unwrap().count();
        let large: Vec<u8> = (0..=250).cycle().take(300_000).collect();
        for (first, in_file) in [(&b"123456"[..], false), (&large[..], true)] {
            let mut spool = Spool::new(folder.path(), SpoolLimit::Bytes(400_000));
            let (path, len) = (Path::new("a.7z!/b.etl"), first.len() as u64);
            assert_eq!(spool.take(&mut &*first, Some(len), path).unwrap(), 0..len);
            let mut damaged = b"half".chain(Failing);
            assert_eq!(spool.take(&mut damaged, None, path).unwrap_err().kind(), ErrorKind::Input);
            assert_eq!(spool.take(&mut &b"end"[..], None, path).unwrap(), len..len + 3);
            let bytes = spool.into_bytes();
            assert_eq!(matches!(bytes, Unpacked::File(_)), in_file);
            // Windows has no files without a name, but ones that end with who uses them.
            assert_eq!(names(), usize::from(in_file && cfg!(windows)), "the file has a name");
            let mut target = [0; 5];
            bytes.read_exact_at(&mut target, len - 2).unwrap();
            assert_eq!(target[..2], first[first.len() - 2..]);
            assert_eq!(target[2..], *b"end");
            assert!(bytes.read_exact_at(&mut target, len).is_err());
        }
        assert_eq!(names(), 0);
    }

    /// A decoder that finds damage.
    struct Failing;

    impl Read for Failing {
        fn read(&mut self, _target: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::InvalidData.into())
        }
    }
}
