//! Where an export is written to.

use std::fmt;
use std::io::{self, Write};

use base::error::{Error, ErrorKind, Result};

/// Bytes of an export that are written at a time.
const CHUNK: usize = 1 << 16;

/// Takes the bytes of an export, and keeps some of them back until there are enough.
pub(crate) struct Output<'a> {
    writer: &'a mut dyn Write,
    waiting: Vec<u8>,
}

impl<'a> Output<'a> {
    /// Writes to a writer.
    pub(crate) fn to(writer: &'a mut dyn Write) -> Output<'a> {
        Output { writer, waiting: Vec::with_capacity(CHUNK) }
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when they cannot be written.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.write_all(bytes).map_err(failure)
    }

    /// Writes what is kept back.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when it cannot be written.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.flush().map_err(failure)
    }
}

/// For encoders that write themselves.
impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= CHUNK {
            self.writer.write_all(&self.waiting)?;
            self.waiting.clear();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.write_all(&self.waiting)?;
        self.waiting.clear();
        self.writer.flush()
    }
}

impl fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").field("waiting", &self.waiting.len()).finish_non_exhaustive()
    }
}

/// What is said where bytes cannot be written.
pub(crate) fn failure(cause: io::Error) -> Error {
    Error::new(ErrorKind::Output, "the export cannot be written").caused_by(cause)
}
