//! Failures of the Parquet writer.

use std::io;
use std::path::Path;

use base::error::{Error, ErrorKind};
use parquet::errors::ParquetError;

use crate::output::StagedName;
use crate::output::errors::output_error;

/// A failure inside the Parquet writer: the system's when it wraps one, else a bug.
pub(super) fn write_error(path: &Path, cause: ParquetError) -> Error {
    match cause {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(io) => output_error("write", path, *io),
            Err(other) => Error::bug("the Parquet writer failed").in_file(path).caused_by(other),
        },
        other => Error::bug("the Parquet writer failed").in_file(path).caused_by(other),
    }
}

/// A file that was written whole and has no footer any more.
pub(super) fn unreadable(file: &StagedName, cause: ParquetError) -> Error {
    Error::new(ErrorKind::Output, "expected a Parquet file, found none")
        .in_file(&file.path)
        .caused_by(cause)
        .with_hint("somebody has changed the output folder: convert again")
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
