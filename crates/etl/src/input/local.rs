//! An input file: read at any offset from any thread.
//!
//! Files are read by position and never mapped. A map would hand over a failing disk, a lost network drive and a file
//! that somebody cuts as a signal that ends the program, and bytes that change between two looks at them; read by
//! position, each of these is an error of one input, and what was read stays as it is. It costs a copy of what the
//! processor is about to look at anyway.

use std::fs::{File, Metadata};
use std::io::Read as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use base::error::{Error, ErrorCode, ErrorKind, Result};

use super::access::{Identity, Input, Since, changed};
use super::regular;

/// A local file of fixed length, open.
#[derive(Debug)]
pub struct LocalFile {
    identity: Identity,
    since: Since,
    file: File,
}

impl LocalFile {
    /// Opens a file. Never waits for the other end of a pipe.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] when the path is missing, not readable, empty, or anything but a file.
    pub fn open(path: &Path) -> Result<Self> {
        let (file, metadata) = open(path)?;
        if metadata.len() == 0 {
            return Err(without_length(&file).with_code(ErrorCode::NotATrace).in_file(path));
        }
        Ok(LocalFile { identity: identity(path, &metadata), since: Since::Opened, file })
    }

    /// What a file is, without opening it; `None` where there is none.
    pub fn identity_of(path: &Path) -> Option<Identity> {
        let metadata = std::fs::metadata(path).ok().filter(Metadata::is_file)?;
        Some(identity(path, &metadata))
    }

    /// The file that has this identity.
    ///
    /// # Errors
    /// Those of [`LocalFile::open`], and [`ErrorKind::Internal`] when it has another.
    pub(super) fn reopen(before: &Identity, since: Since) -> Result<Self> {
        let file = LocalFile::open(&before.source)?;
        if file.identity == *before { Ok(LocalFile { since, ..file }) } else { Err(changed(&before.source, since)) }
    }

    fn unreadable(&self, offset: u64, len: usize, cause: std::io::Error) -> Error {
        if cause.kind() == std::io::ErrorKind::UnexpectedEof {
            return self.changed().at_offset(offset);
        }
        Error::new(ErrorKind::Input, format!("the system cannot read {len} bytes of the file"))
            .in_file(self.path())
            .at_offset(offset)
            .caused_by(cause)
            .with_hint("the disk or the network drive failed: copy what can be read of it and convert the copy")
    }
}

impl Input for LocalFile {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn read_into(&self, offset: u64, target: &mut [u8]) -> Result<()> {
        read_exact_at(&self.file, target, offset).map_err(|cause| self.unreadable(offset, target.len(), cause))
    }

    fn check_unchanged(&self) -> Result<()> {
        check_unchanged(&self.identity, self.since)
    }

    fn changed(&self) -> Error {
        changed(self.path(), self.since)
    }
}

/// What is wrong with a file that says it has no bytes: the system makes up those of `/proc` as they are read.
fn without_length(mut file: &File) -> Error {
    let is_empty = !matches!(file.read(&mut [0]), Ok(1));
    if is_empty {
        let error = Error::new(ErrorKind::Input, "expected a trace file, found an empty file");
        return error.with_hint("copy it again from where it was recorded");
    }
    Error::new(ErrorKind::Input, "expected a file of fixed length, found one that says it has no bytes, and has some")
        .with_hint("copy it to a disk and convert the copy")
}

/// Makes sure that a file is still the one that it was; opens nothing.
pub(super) fn check_unchanged(before: &Identity, since: Since) -> Result<()> {
    let now = std::fs::metadata(&before.source).ok();
    let is_same = now.is_some_and(|now| identity(&before.source, &now) == *before);
    if is_same { Ok(()) } else { Err(changed(&before.source, since)) }
}

fn identity(path: &Path, metadata: &Metadata) -> Identity {
    Identity {
        source: path.into(),
        size: metadata.len(),
        modified: metadata.modified().ok().and_then(unix_ns),
        tag: None,
    }
}

fn unix_ns(time: SystemTime) -> Option<i64> {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).ok(),
        Err(before) => i64::try_from(before.duration().as_nanos()).ok()?.checked_neg(),
    }
}

/// Inputs that stay open; the rest of a process's descriptors is for what it writes.
const MOST_OPEN: usize = 128;

/// How many inputs may stay open.
#[cfg(unix)]
pub(super) fn most_open() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    limit.map_or(MOST_OPEN, |limit| usize::try_from(limit / 8).unwrap_or(MOST_OPEN).clamp(1, MOST_OPEN))
}

/// How many inputs may stay open.
#[cfg(not(unix))]
pub(super) fn most_open() -> usize {
    MOST_OPEN
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
    let error = Error::new(ErrorKind::Input, format!("expected a trace file, found {kind}"))
        .with_code(ErrorCode::NotATrace)
        .in_file(path);
    Err(if metadata.is_dir() {
        error
    } else {
        error.with_hint("a trace is read several times over, at any place: save it to a file first")
    })
}

/// EMFILE of all Unix systems.
const TOO_MANY_OPEN_FILES: i32 = 24;

/// Fills `target` from an offset.
#[cfg(unix)]
pub(super) fn read_exact_at(file: &File, target: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, target, offset)
}

/// Fills `target` from an offset.
#[cfg(windows)]
pub(super) fn read_exact_at(file: &File, mut target: &mut [u8], mut offset: u64) -> std::io::Result<()> {
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

/// Writes `bytes` at an offset.
#[cfg(unix)]
pub(super) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

/// Writes `bytes` at an offset.
#[cfg(windows)]
pub(super) fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> std::io::Result<()> {
    while !bytes.is_empty() {
        let written = std::os::windows::fs::FileExt::seek_write(file, bytes, offset)?;
        if written == 0 {
            return Err(std::io::ErrorKind::WriteZero.into());
        }
        (bytes, offset) = (&bytes[written..], offset + written as u64);
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
        let input = LocalFile::open(file.path()).unwrap();
        let mut scratch = Vec::new();
        assert_eq!(input.bytes(3, 4, &mut scratch).unwrap(), b"3456");
        assert_eq!(input.bytes(8, 4, &mut scratch).unwrap(), b"89");
        assert_eq!(input.bytes(20, 4, &mut scratch).unwrap(), b"");
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
        let input = LocalFile::open(file.path()).unwrap();
        input.check_unchanged().unwrap();
        file.write_all(b"more").unwrap();
        assert_eq!(input.check_unchanged().unwrap_err().kind(), ErrorKind::Internal);
        file.as_file().set_len(5).unwrap();
        let cut = input.bytes(4, 4, &mut Vec::new()).unwrap_err();
        assert_eq!(cut.kind(), ErrorKind::Internal);
        assert!(cut.to_string().contains("offset 0x4: the file changed while it was read"), "{cut}");
    }

    #[test]
    fn times_before_the_epoch_are_distinguished() {
        let at = |seconds| UNIX_EPOCH - std::time::Duration::from_secs(seconds);
        assert_eq!((unix_ns(at(0)), unix_ns(at(2))), (Some(0), Some(-2_000_000_000)));
    }

    #[test]
    fn a_failing_disk_is_called_that() {
        let file = file(b"0123456789");
        let input = LocalFile::open(file.path()).unwrap();
        let error = input.unreadable(0x1000, 72, std::io::Error::from_raw_os_error(5));
        assert_eq!(error.kind(), ErrorKind::Input);
        let text = error.to_string();
        assert!(text.contains("offset 0x1000: the system cannot read 72 bytes of the file"), "{text}");
        assert!(text.contains("the disk or the network drive failed"), "{text}");
    }
}
