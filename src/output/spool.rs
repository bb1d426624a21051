//! What the footers of unfinished files will hold, on disk until then.
//!
//! A footer describes every column chunk of its file, in memory a good kilobyte each. A trace with a thousand tables has
//! a thousand files that grow side by side to its end; of what has been written of them, memory holds only where in the
//! spool its description lies.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::errors::output_error;
use crate::error::Result;

/// One temporary file for all tables of a trace, created when it is first written to. Shared between threads.
pub(crate) struct Spool {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    file: Option<File>,
    /// Where the next record goes. What a failed write left behind it is written over.
    end: u64,
}

/// Where a record lies in the spool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    offset: u64,
    len: usize,
}

impl Span {
    /// The length of the record in bytes.
    pub(crate) fn len(self) -> u64 {
        self.len as u64
    }
}

impl Spool {
    /// A spool in the file `path`, which must not exist. Touches nothing yet.
    pub(crate) fn new(path: PathBuf) -> Self {
        Spool { path, state: Mutex::default() }
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a record.
    pub(crate) fn append(&self, record: &[u8]) -> Result<Span> {
        let mut state = self.state();
        let span = Span { offset: state.end, len: record.len() };
        let written = state.file(&self.path).and_then(|file| {
            file.seek(SeekFrom::Start(span.offset))?;
            file.write_all(record)
        });
        written.map_err(|cause| output_error("write", &self.path, cause))?;
        state.end += record.len() as u64;
        Ok(span)
    }

    /// Reads a record.
    pub(crate) fn read(&self, span: Span) -> Result<Vec<u8>> {
        let mut record = vec![0; span.len];
        let mut state = self.state();
        let read = state.file(&self.path).and_then(|file| {
            file.seek(SeekFrom::Start(span.offset))?;
            file.read_exact(&mut record)
        });
        read.map_err(|cause| output_error("read", &self.path, cause))?;
        Ok(record)
    }

    /// Removes the file; a later record would begin a new one.
    pub(crate) fn remove(&self) -> Result<()> {
        let State { file, .. } = std::mem::take(&mut *self.state());
        let removed = file.map_or(Ok(()), |open| {
            // Some systems keep a file that is open.
            drop(open);
            fs::remove_file(&self.path)
        });
        removed.map_err(|cause| output_error("remove", &self.path, cause))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic runs while the state is locked; a poisoned one is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Spool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spool").field("path", &self.path).finish_non_exhaustive()
    }
}

impl State {
    fn file(&mut self, path: &Path) -> io::Result<&mut File> {
        Ok(match &mut self.file {
            Some(file) => file,
            none @ None => none.insert(File::options().read(true).write(true).create_new(true).open(path)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn records_read_back_in_any_order() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path().join("spool"));
        assert!(!spool.path().exists());
        let spans: Vec<_> = [&b"one"[..], b"", b"three"].map(|record| spool.append(record).unwrap()).into();
        assert_eq!(spool.read(spans[2]).unwrap(), b"three");
        let last = spool.append(b"four").unwrap();
        assert_eq!(spool.read(spans[0]).unwrap(), b"one");
        assert_eq!(spool.read(spans[1]).unwrap(), b"");
        assert_eq!(spool.read(last).unwrap(), b"four");
        assert_eq!(fs::read(spool.path()).unwrap(), b"onethreefour");
        spool.remove().unwrap();
        assert!(!spool.path().exists());
        spool.remove().unwrap();
    }

    #[test]
    fn failures_are_those_of_the_output_and_name_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path().join("missing/spool"));
        let error = spool.append(b"record").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Output);
        assert!(error.to_string().contains("spool"), "{error}");
        let spool = Spool::new(folder.path().join("spool"));
        let span = spool.append(b"record").unwrap();
        File::options().write(true).open(spool.path()).unwrap().set_len(3).unwrap();
        assert_eq!(spool.read(span).unwrap_err().kind(), ErrorKind::Output);
    }
}
