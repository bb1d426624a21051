//! Failures of the output side, each with the way out.

use std::io;
use std::path::Path;

use parquet::errors::ParquetError;

use crate::error::{Error, ErrorKind};

/// A failure of the system while writing `path`.
pub(crate) fn output_error(doing: &str, path: &Path, cause: io::Error) -> Error {
    let hint = match cause.kind() {
        io::ErrorKind::StorageFull => "free some space there or choose another output folder, then run again",
        io::ErrorKind::QuotaExceeded => "raise the quota or choose another output folder, then run again",
        io::ErrorKind::FileTooLarge => {
            "raise the limit of file sizes (ulimit -f), or lower --max-file-size, then run again"
        }
        io::ErrorKind::PermissionDenied => "choose an output folder that this user may write to",
        io::ErrorKind::ReadOnlyFilesystem => "choose an output folder on a file system that can be written to",
        io::ErrorKind::NotADirectory => "a file stands where a folder is needed; choose another output folder",
        io::ErrorKind::InvalidFilename => "choose an output folder with a shorter path",
        _ => "check the output folder, then run again: nothing of this trace has been published",
    };
    Error::new(ErrorKind::Output, format!("cannot {doing}")).in_file(path).caused_by(cause).with_hint(hint)
}

/// A failure inside the Parquet writer: the system's when it wraps one, else a bug.
pub(crate) fn write_error(path: &Path, cause: ParquetError) -> Error {
    match cause {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(io) => output_error("write", path, *io),
            Err(other) => bug("the Parquet writer failed").in_file(path).caused_by(other),
        },
        other => bug("the Parquet writer failed").in_file(path).caused_by(other),
    }
}

/// A bug: something that no input and no system failure can bring about.
pub(crate) fn bug(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Internal, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_an_output_failure_even_inside_the_parquet_writer() {
        let cause = ParquetError::from(io::Error::from(io::ErrorKind::StorageFull));
        let error = write_error(Path::new("out/a.parquet"), cause);
        assert_eq!(error.kind(), ErrorKind::Output);
        let text = error.to_string();
        assert!(text.starts_with("out/a.parquet: cannot write: "), "{text}");
        assert!(text.contains("free some space"), "{text}");
        assert_eq!(write_error(Path::new("a"), ParquetError::General("x".into())).kind(), ErrorKind::Internal);
    }
}
