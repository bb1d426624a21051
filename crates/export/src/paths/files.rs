//! Paths of files by their keys.

use base::error::Result;
use conversion::read_columns;
use conversion::sidecar::dimensions::FileRow;

use super::spans::Spans;
use crate::opened::Opened;

read_columns! {
    /// A span of a file key.
    struct FileSpan<'b> of FileRow<'static> {
        file_key: i64,
        path: Option<&'b str>,
        from_ns: i64,
        to_ns: i64,
        machine: i64,
    }
}

/// The paths that keys meant.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the sidecar cannot be read.
pub(crate) fn paths(opened: &Opened<'_>) -> Result<Spans> {
    let mut paths = Spans::default();
    opened.source.sidecar::<FileSpan<'_>>(|row| {
        if let Some(path) = row.path {
            paths.add((row.machine, row.file_key), (row.from_ns, row.to_ns), path);
        }
    })?;
    paths.settle();
    Ok(paths)
}
