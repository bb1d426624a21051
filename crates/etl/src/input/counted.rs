//! Inputs that count what is read of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::error::{Error, Result};

use super::access::{Identity, Input};

/// An input that adds the bytes that are read of it, again and again where they are read again, to a number.
#[derive(Debug)]
pub(super) struct CountedInput {
    /// The input behind it.
    pub(super) input: Arc<dyn Input>,
    /// The number, which other inputs may share.
    pub(super) bytes_read: Arc<AtomicU64>,
}

impl Input for CountedInput {
    fn identity(&self) -> &Identity {
        self.input.identity()
    }

    fn read_into(&self, offset: u64, target: &mut [u8]) -> Result<()> {
        self.input.read_into(offset, target)?;
        self.bytes_read.fetch_add(target.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn check_unchanged(&self) -> Result<()> {
        self.input.check_unchanged()
    }

    fn changed(&self) -> Error {
        self.input.changed()
    }
}
