//! Failures of the output side, each with the way out.

use std::io;
use std::path::Path;

use base::error::{Error, ErrorKind};

/// A failure of the system while writing `path`.
pub fn output_error(doing: &str, path: &Path, cause: io::Error) -> Error {
    let hint = match cause.kind() {
        io::ErrorKind::StorageFull => "free some space there or choose another output folder, then run again",
        io::ErrorKind::QuotaExceeded => "raise the quota or choose another output folder, then run again",
        io::ErrorKind::FileTooLarge => {
            "raise the limit of file sizes (ulimit -f), or lower --max-file-size, then run again"
        }
        io::ErrorKind::PermissionDenied => "choose an output folder that this user may write to",
        io::ErrorKind::ReadOnlyFilesystem => "choose an output folder on a file system that can be written to",
        io::ErrorKind::NotADirectory => "a file stands where a folder is needed; choose another output folder",
        io::ErrorKind::InvalidFilename if cfg!(windows) => {
            "choose an output folder whose path is shorter and has none of < > : \" | ? *"
        }
        io::ErrorKind::InvalidFilename => "choose an output folder with a shorter path",
        _ => "check the output folder, then run again: nothing of this trace has been published",
    };
    Error::new(ErrorKind::Output, format!("cannot {doing}")).in_file(path).caused_by(cause).with_hint(hint)
}
