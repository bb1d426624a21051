//! The bytes of a file on their way to the output.

use std::io::{self, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::interface::OutputFile;

/// Appends to one file, and counts and hashes what it appends.
pub(crate) struct Sink {
    file: Box<dyn OutputFile>,
    hash: Sha256,
    bytes: u64,
}

impl Sink {
    /// Nothing may have been written to the file.
    pub(crate) fn new(file: Box<dyn OutputFile>) -> Self {
        Sink { file, hash: Sha256::new(), bytes: 0 }
    }

    /// Where the file is, for messages.
    pub(crate) fn location(&self) -> &Path {
        self.file.location()
    }

    /// The number of bytes written.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Nothing comes for a while.
    pub(crate) fn release(&mut self) {
        self.file.release();
    }

    /// Ends the file: length in bytes and SHA-256, in lower-case hexadecimal, of all that was written.
    pub(crate) fn close(self) -> io::Result<(u64, String)> {
        self.file.close()?;
        Ok((self.bytes, hex(&self.hash.finalize())))
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.append(bytes)?;
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // What holds bytes back is above this.
        Ok(())
    }
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|b| [b >> 4, b & 15]).map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::append::AppendFile;

    #[test]
    fn the_hash_covers_what_was_written_before_and_after_a_release() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut sink = Sink::new(Box::new(AppendFile::create(path.clone()).unwrap()));
        sink.write_all(b"a").unwrap();
        sink.release();
        sink.write_all(b"bc").unwrap();
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sink.close().unwrap(), (3, expected.to_owned()));
        assert_eq!(std::fs::read(&path).unwrap(), b"abc");
    }
}
