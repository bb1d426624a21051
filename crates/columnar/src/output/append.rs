//! A file on a local disk that grows at its end.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::interface::OutputFile;

/// Holds a descriptor only between [`OutputFile::append`] and [`OutputFile::release`].
#[derive(Debug)]
pub(super) struct AppendFile {
    path: PathBuf,
    file: Option<File>,
}

impl AppendFile {
    /// Creates the file, which must not exist.
    pub(super) fn create(path: PathBuf) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create_new(true).open(&path)?;
        Ok(AppendFile { path, file: Some(file) })
    }
}

impl OutputFile for AppendFile {
    fn location(&self) -> &Path {
        &self.path
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            // Not created here: a file that has gone must not come back with its beginning missing.
            closed @ None => closed.insert(OpenOptions::new().append(true).open(&self.path)?),
        };
        file.write_all(bytes)
    }

    fn release(&mut self) {
        self.file = None;
    }

    fn close(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_has_gone_does_not_come_back_without_its_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut file = AppendFile::create(path.clone()).unwrap();
        file.append(b"a").unwrap();
        file.release();
        file.append(b"b").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"ab");
        assert_eq!(AppendFile::create(path.clone()).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        file.release();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(file.append(b"c").unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(!path.exists());
    }
}
