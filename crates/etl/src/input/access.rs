//! What an input is to its readers: bytes at an offset, and an identity that shows whether they are still the same.

use std::fmt::Debug;
use std::path::Path;

use base::error::{Error, ErrorCode, ErrorKind, Result};
use serde::{Deserialize, Serialize};

use super::address::Address;

/// What shows whether an input is still the one that was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Where it is opened.
    pub source: Address,
    /// Bytes.
    pub size: u64,
    /// When it was last written, Unix nanoseconds; `None` where nobody knows.
    pub modified: Option<i64>,
    /// What changes with its bytes, of an object that lies in a store which says so (`ETag`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

/// An input of fixed length.
pub trait Input: Send + Sync + Debug {
    /// What was opened.
    fn identity(&self) -> &Identity;

    /// Fills `target` from `offset`.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] when the input has changed, [`ErrorKind::Input`] when the system cannot read it.
    fn read_into(&self, offset: u64, target: &mut [u8]) -> Result<()>;

    /// Makes sure that the input is still the one that was opened.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] when it has changed.
    fn check_unchanged(&self) -> Result<()>;

    /// Where it was opened.
    fn path(&self) -> &Path {
        &self.identity().source
    }

    /// Length in bytes when it was opened.
    fn size(&self) -> u64 {
        self.identity().size
    }

    /// How many of the bytes `offset..offset + len` there are.
    fn available(&self, offset: u64, len: usize) -> usize {
        let left = self.size().saturating_sub(offset);
        usize::try_from(left).map_or(len, |left| left.min(len))
    }

    /// The bytes `offset..offset + len`, cut at the end of the input; read into `scratch`, which grows and never shrinks.
    ///
    /// # Errors
    /// Those of [`Input::read_into`].
    fn bytes<'a>(&self, offset: u64, len: usize, scratch: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        let available = self.available(offset, len);
        if scratch.len() < available {
            scratch.resize(available, 0);
        }
        let target = &mut scratch[..available];
        if available > 0 {
            self.read_into(offset, target)?;
        }
        Ok(target)
    }

    /// What is said of an input that is not the one that was opened.
    fn changed(&self) -> Error {
        changed(self.path(), Since::Opened)
    }
}

/// From when on an input must stay as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Since {
    /// From when this process opened it.
    Opened,
    /// From when a plan was made that this process works by.
    Planned,
}

pub(super) fn changed(path: &Path, since: Since) -> Error {
    let (message, hint) = match since {
        Since::Opened => ("the file changed while it was read", "stop the recording session, or convert a copy"),
        Since::Planned => {
            ("the file changed since it was planned", "plan the recording again, or put back the file that was planned")
        }
    };
    Error::new(ErrorKind::Internal, message).with_code(ErrorCode::InputChanged).in_file(path).with_hint(hint)
}
