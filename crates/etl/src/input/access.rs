//! What an input is to its readers: bytes at an offset, and an identity that tells whether they are still the same.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use base::error::{Error, ErrorCode, ErrorKind, Result};
use serde::{Deserialize, Serialize};

/// What tells whether an input is still the one that was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Where it is opened; for a local file its path.
    #[serde(with = "path")]
    pub source: PathBuf,
    /// Bytes.
    pub size: u64,
    /// When it was last written, Unix nanoseconds; `None` where nobody knows.
    pub modified: Option<i64>,
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

/// Paths as text, and those that are none as the system has them.
mod path {
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Written {
        Text(String),
        Native(OsString),
    }

    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        let text = path.to_str().map(|text| Written::Text(text.to_owned()));
        text.unwrap_or_else(|| Written::Native(path.as_os_str().to_owned())).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Ok(match Written::deserialize(deserializer)? {
            Written::Text(text) => text.into(),
            Written::Native(name) => name.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(source: PathBuf) {
        let identity = Identity { source, size: 7, modified: Some(-1) };
        let text = serde_json::to_string(&identity).unwrap();
        assert_eq!(serde_json::from_str::<Identity>(&text).unwrap(), identity, "{text}");
    }

    #[test]
    fn an_identity_survives_being_written() {
        round_trip("traces/a b.etl".into());
    }

    #[cfg(unix)]
    #[test]
    fn so_does_a_name_that_is_no_text() {
        use std::os::unix::ffi::OsStringExt;
        round_trip(std::ffi::OsString::from_vec(vec![b'a', 0xFF, b'b']).into());
    }
}
