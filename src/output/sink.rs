//! The bytes of a file on their way to disk.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Appends to one file and hashes what it appends; holds a descriptor only between [`Sink::write`] and
/// [`Sink::release`], so that a thousand unfinished files need none.
pub(crate) struct Sink {
    path: PathBuf,
    file: Option<File>,
    hash: Sha256,
    bytes: u64,
}

impl Sink {
    /// Creates the file, which must not exist.
    pub(crate) fn create(path: PathBuf) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create_new(true).open(&path)?;
        Ok(Sink { path, file: Some(file), hash: Sha256::new(), bytes: 0 })
    }

    /// Where the file is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Closes the file until the next write.
    pub(crate) fn release(&mut self) {
        self.file = None;
    }

    /// Length in bytes and SHA-256, in lower-case hexadecimal, of all that was written.
    pub(crate) fn identity(&self) -> (u64, String) {
        (self.bytes, hex(&self.hash.clone().finalize()))
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let file = match &mut self.file {
            Some(file) => file,
            // Not created here: a file that has gone must not come back with its beginning missing.
            closed @ None => closed.insert(OpenOptions::new().append(true).open(&self.path)?),
        };
        let written = file.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        // A `File` has no buffer of its own.
        Ok(())
    }
}

/// Lower-case hexadecimal.
fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|b| [b >> 4, b & 15]).map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_covers_what_was_written_before_and_after_a_release() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut sink = Sink::create(path.clone()).unwrap();
        sink.write_all(b"a").unwrap();
        sink.release();
        sink.write_all(b"bc").unwrap();
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sink.identity(), (3, expected.to_owned()));
        assert_eq!(std::fs::read(&path).unwrap(), b"abc");
        assert!(Sink::create(path).is_err());
    }
}
