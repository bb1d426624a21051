//! What is said of containers that cannot be read.

use std::io;
use std::path::Path;

use base::error::{Error, ErrorCode, ErrorKind};

/// The end of a read that a decoder passed on, or the damage that it found in the member at `path`.
pub(in crate::input) fn of_decoder(cause: io::Error, path: &Path) -> Error {
    own(cause).unwrap_or_else(|cause| damaged("the packed data is damaged", path).caused_by(cause))
}

/// An error of this crate that a decoder passed on, else what it made of the data itself.
pub(super) fn own(cause: io::Error) -> Result<Error, io::Error> {
    cause.downcast()
}

/// Something about the container is not as it should be.
pub(super) fn damaged(message: impl Into<String>, path: &Path) -> Error {
    Error::new(ErrorKind::Input, message)
        .with_code(ErrorCode::DamagedContainer)
        .in_file(path)
        .with_hint("pack or copy the trace again")
}

/// The container is in order, but not of a kind that is read here.
pub(super) fn unsupported(message: impl Into<String>, path: &Path) -> Error {
    Error::new(ErrorKind::Input, message)
        .with_code(ErrorCode::UnreadableContainer)
        .in_file(path)
        .with_hint("unpack it and convert the trace")
}

/// What a decoder says of bytes that are no data of its format.
pub(super) fn invalid(message: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.into())
}
