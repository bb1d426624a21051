//! An input file: read at any offset from any thread.
//!
//! Files are read by position and never mapped. A map would hand over a failing disk, a lost network drive and a file
//! that somebody cuts as a signal that ends the program, and bytes that change between two looks at them; read by
//! position, each of these is an error of one input, and what was read stays as it is. It costs a copy of what the
//! processor is about to look at anyway.

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::regular;
use crate::error::{Error, ErrorKind, Result};

/// An input file of fixed length.
#[derive(Debug)]
pub struct LocalFile {
    path: PathBuf,
    identity: Identity,
    /// `None` where the file is opened for every read.
    file: Option<File>,
}

/// What tells whether a file is still the one that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    len: u64,
    modified: Option<SystemTime>,
}

impl Identity {
    fn of(metadata: &Metadata) -> Self {
        Identity { len: metadata.len(), modified: metadata.modified().ok() }
    }
}

impl LocalFile {
    /// Opens a file. Never waits for the other end of a pipe.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] when the path is missing, not readable, empty, or anything but a file.
    pub fn open(path: &Path) -> Result<Self> {
        let (file, metadata) = open(path)?;
        if metadata.len() == 0 {
            return Err(Error::new(ErrorKind::Input, "expected a trace file, found an empty file").in_file(path));
        }
        Ok(LocalFile { path: path.to_owned(), identity: Identity::of(&metadata), file: Some(file) })
    }

    /// Keeps no descriptor from here on: the file is opened for every read. For recordings of more files than a process
    /// may have open.
    #[must_use]
    pub fn closed_between_reads(self) -> Self {
        LocalFile { file: None, ..self }
    }

    /// The path, as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Length in bytes when the file was opened.
    pub fn len(&self) -> u64 {
        self.identity.len
    }

    /// Whether the file has no bytes; never true of an opened source.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes `offset..offset + len`, cut at the end of the file; read into `scratch`, which grows and never shrinks.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] when the file shrank, [`ErrorKind::Input`] when the system cannot read it.
    pub fn bytes<'a>(&self, offset: u64, len: usize, scratch: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        let wanted = self.present(offset, len);
        if scratch.len() < wanted {
            scratch.resize(wanted, 0);
        }
        let target = &mut scratch[..wanted];
        self.read_into(offset, target)?;
        Ok(target)
    }

    /// How many of the bytes `offset..offset + len` the file has.
    pub fn present(&self, offset: u64, len: usize) -> usize {
        let left = self.len().saturating_sub(offset);
        usize::try_from(left).map_or(len, |left| left.min(len))
    }

    /// Fills `target` from `offset`.
    ///
    /// # Errors
    /// As [`LocalFile::bytes`].
    pub fn read_into(&self, offset: u64, target: &mut [u8]) -> Result<()> {
        let read = match &self.file {
            Some(file) => read_exact_at(file, target, offset),
            None => read_exact_at(&self.reopened()?, target, offset),
        };
        read.map_err(|cause| self.unreadable(offset, target.len(), cause))
    }

    fn reopened(&self) -> Result<File> {
        let (file, metadata) = open(&self.path)?;
        if Identity::of(&metadata) == self.identity { Ok(file) } else { Err(self.changed()) }
    }

    fn unreadable(&self, offset: u64, len: usize, cause: std::io::Error) -> Error {
        if cause.kind() == std::io::ErrorKind::UnexpectedEof {
            return self.changed().at_offset(offset);
        }
        Error::new(ErrorKind::Input, format!("the system cannot read {len} bytes of the file"))
            .in_file(&self.path)
            .at_offset(offset)
            .caused_by(cause)
            .with_hint("the disk or the network drive failed: copy what can be read of it and convert the copy")
    }

    /// What is said of a file that is not the one that was opened.
    pub(crate) fn changed(&self) -> Error {
        Error::new(ErrorKind::Internal, "the file changed while it was read")
            .in_file(&self.path)
            .with_hint("stop the recording session, or convert a copy")
    }

    /// Makes sure that the file is still the one that was opened.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] when size or modification time changed.
    pub fn check_unchanged(&self) -> Result<()> {
        let now = std::fs::metadata(&self.path).ok();
        let same = now.is_some_and(|now| Identity::of(&now) == self.identity);
        if same { Ok(()) } else { Err(self.changed()) }
    }
}

fn open(path: &Path) -> Result<(File, Metadata)> {
    let unreadable = |error: std::io::Error| {
        let hint = match error.raw_os_error() {
            Some(TOO_MANY_OPEN_FILES) if cfg!(unix) => "raise the limit of open files (ulimit -n)",
            _ => "check the path and its permissions",
        };
        Error::new(ErrorKind::Input, "cannot read the file").in_file(path).caused_by(error).with_hint(hint)
    };
    let file = regular::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_file() {
        return Ok((file, metadata));
    }
    let kind = regular::kind(&metadata);
    let error = Error::new(ErrorKind::Input, format!("expected a trace file, found {kind}")).in_file(path);
    Err(if metadata.is_dir() {
        error
    } else {
        error.with_hint("a trace is read several times over, at any place: save it to a file first")
    })
}

/// EMFILE of all Unix systems.
const TOO_MANY_OPEN_FILES: i32 = 24;

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
    fn bytes_are_cut_at_the_end_of_the_file() {
        let file = file(b"0123456789");
        let open = || LocalFile::open(file.path()).unwrap();
        for source in [open(), open().closed_between_reads()] {
            let mut scratch = Vec::new();
            assert_eq!(source.bytes(3, 4, &mut scratch).unwrap(), b"3456");
            assert_eq!(source.bytes(8, 4, &mut scratch).unwrap(), b"89");
            assert_eq!(source.bytes(20, 4, &mut scratch).unwrap(), b"");
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let kind = |path: &Path| LocalFile::open(path).unwrap_err().kind();
        assert_eq!(kind(folder.path()), ErrorKind::Input);
        assert_eq!(kind(&folder.path().join("missing.etl")), ErrorKind::Input);
        assert_eq!(kind(file(b"").path()), ErrorKind::Input);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_no_file_is_named_and_never_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        for (path, found) in [(pipe.as_path(), "found a pipe"), (Path::new("/dev/null"), "found a device")] {
            let text = LocalFile::open(path).unwrap_err().to_string();
            assert!(text.contains(found) && text.contains("save it to a file first"), "{text}");
        }
    }

    #[test]
    fn a_change_is_noticed() {
        let mut file = file(b"0123456789");
        let open = || LocalFile::open(file.path()).unwrap();
        let (held, released) = (open(), open().closed_between_reads());
        held.check_unchanged().unwrap();
        file.write_all(b"more").unwrap();
        assert_eq!(held.check_unchanged().unwrap_err().kind(), ErrorKind::Internal);
        assert_eq!(released.bytes(0, 4, &mut Vec::new()).unwrap_err().kind(), ErrorKind::Internal);
        file.as_file().set_len(5).unwrap();
        let cut = held.bytes(4, 4, &mut Vec::new()).unwrap_err();
        assert_eq!(cut.kind(), ErrorKind::Internal);
        assert!(cut.to_string().contains("offset 0x4: the file changed while it was read"), "{cut}");
    }

    #[test]
    fn a_failing_disk_is_called_that() {
        let file = file(b"0123456789");
        let source = LocalFile::open(file.path()).unwrap();
        let error = source.unreadable(0x1000, 72, std::io::Error::from_raw_os_error(5));
        assert_eq!(error.kind(), ErrorKind::Input);
        let text = error.to_string();
        assert!(text.contains("offset 0x1000: the system cannot read 72 bytes of the file"), "{text}");
        assert!(text.contains("the disk or the network drive failed"), "{text}");
    }
}
