//! An input file: opened once, read at any offset from any thread.

mod mapping;

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub(crate) use mapping::Mapping;

use crate::error::{Error, ErrorKind, Result};

/// How the bytes of an input are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Positional reads: right for files that are still written to, and for network file systems.
    Read,
    /// A memory map of a closed local file; a network file system still gets positional reads.
    Map,
}

/// An open input file of fixed length.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    file: File,
    len: u64,
    modified: Option<SystemTime>,
    map: Option<Mapping>,
}

impl Source {
    /// Opens a file for positional reads.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] when the path is missing, not readable, a folder, or empty.
    pub fn open(path: &Path) -> Result<Self> {
        let unreadable = |error: std::io::Error| {
            Error::new(ErrorKind::Input, "cannot read the file")
                .in_file(path)
                .caused_by(error)
                .with_hint("check the path and its permissions")
        };
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if metadata.is_dir() {
            return Err(Error::new(ErrorKind::Input, "expected a trace file, found a folder").in_file(path));
        }
        if metadata.len() == 0 {
            return Err(Error::new(ErrorKind::Input, "expected a trace file, found an empty file").in_file(path));
        }
        Ok(Source { path: path.to_owned(), file, len: metadata.len(), modified: modified(&metadata), map: None })
    }

    /// Switches to the given access. Where a map cannot be had, positional reads go on.
    #[must_use]
    pub fn with_access(mut self, access: Access) -> Self {
        self.map = match access {
            Access::Map if !mapping::is_on_network(&self.file) => Mapping::of(&self.file),
            _ => None,
        };
        self
    }

    /// Whether the file is mapped.
    pub fn is_mapped(&self) -> bool {
        self.map.is_some()
    }

    /// The path, as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Length in bytes when the file was opened.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the file has no bytes; never true of an opened source.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes `offset..offset + len`, cut at the end of the file: from the map, or read into `scratch`.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] when the file shrank, [`ErrorKind::Input`] when the system cannot read it.
    pub fn bytes<'a>(&'a self, offset: u64, len: usize, scratch: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        let wanted = self.present(offset, len);
        if let Some(bytes) = self.mapped(offset, wanted) {
            return Ok(bytes);
        }
        scratch.resize(wanted, 0);
        self.read_into(offset, scratch)?;
        Ok(scratch)
    }

    /// The bytes `offset..offset + len` of the map, if the file is mapped and has them.
    pub fn mapped(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let start = usize::try_from(offset).ok()?;
        self.map.as_ref()?.bytes().get(start..start.checked_add(len)?)
    }

    /// How many of the bytes `offset..offset + len` the file has.
    pub fn present(&self, offset: u64, len: usize) -> usize {
        let left = self.len.saturating_sub(offset);
        usize::try_from(left).map_or(len, |left| left.min(len))
    }

    /// Fills `target` from `offset`.
    ///
    /// # Errors
    /// As [`Source::bytes`].
    pub fn read_into(&self, offset: u64, target: &mut [u8]) -> Result<()> {
        if let Some(bytes) = self.mapped(offset, target.len()) {
            target.copy_from_slice(bytes);
            return Ok(());
        }
        read_exact_at(&self.file, target, offset).map_err(|error| {
            let kind = match error.kind() {
                std::io::ErrorKind::UnexpectedEof => ErrorKind::Internal,
                _ => ErrorKind::Input,
            };
            Error::new(kind, format!("expected {} bytes", target.len()))
                .in_file(&self.path)
                .at_offset(offset)
                .caused_by(error)
                .with_hint("the file must not change while it is converted")
        })
    }

    /// Makes sure that the file is still the one that was opened.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] when size or modification time changed.
    pub fn check_unchanged(&self) -> Result<()> {
        let now = std::fs::metadata(&self.path).ok();
        let same = now.is_some_and(|now| now.len() == self.len && modified(&now) == self.modified);
        if same {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Internal, "the file changed while it was read")
            .in_file(&self.path)
            .with_hint("stop the recording session, or convert a copy"))
    }
}

fn modified(metadata: &Metadata) -> Option<SystemTime> {
    metadata.modified().ok()
}

#[cfg(unix)]
fn read_exact_at(file: &File, target: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, target, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut target: &mut [u8], mut offset: u64) -> std::io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !target.is_empty() {
        let read = file.seek_read(target, offset)?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        target = &mut target[read..];
        offset += read as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn map_and_reads_give_the_same_bytes() {
        let file = file(b"0123456789");
        for access in [Access::Read, Access::Map] {
            let source = Source::open(file.path()).unwrap().with_access(access);
            let mut scratch = Vec::new();
            assert_eq!(source.bytes(3, 4, &mut scratch).unwrap(), b"3456");
            assert_eq!(source.bytes(8, 4, &mut scratch).unwrap(), b"89");
            assert_eq!(source.bytes(20, 4, &mut scratch).unwrap(), b"");
            assert_eq!(source.is_mapped(), access == Access::Map);
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let kind = |path: &Path| Source::open(path).unwrap_err().kind();
        assert_eq!(kind(folder.path()), ErrorKind::Input);
        assert_eq!(kind(&folder.path().join("missing.etl")), ErrorKind::Input);
        assert_eq!(kind(file(b"").path()), ErrorKind::Input);
    }

    #[test]
    fn a_change_is_noticed() {
        let mut file = file(b"0123456789");
        let source = Source::open(file.path()).unwrap();
        source.check_unchanged().unwrap();
        file.write_all(b"more").unwrap();
        assert_eq!(source.check_unchanged().unwrap_err().kind(), ErrorKind::Internal);
    }
}
