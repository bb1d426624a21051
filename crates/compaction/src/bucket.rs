//! All tables of a bucket.

use std::sync::Arc;

use base::error::Result;
use base::progress::Progress;
use columnar::dataset::EncodeOptions;
use columnar::output::Output;
use published::PublishedLake;
use rayon::prelude::*;

use super::members::{LoadedMember, Member, load};
use super::table::{Bucket, StagedFile};

/// Bytes from which a table is written by itself, its columns side by side: its row groups take memory.
const LARGE: u64 = 8 << 20;

/// Writes the files of a bucket with these traces; none where there are none.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a trace cannot be read, or a file cannot be written;
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub(crate) fn write(
    name: &str,
    members: &[&Member],
    lake: Option<&PublishedLake>,
    (output, options): (&Arc<dyn Output>, &EncodeOptions),
    progress: &dyn Progress,
) -> Result<Vec<StagedFile>> {
    if members.is_empty() {
        return Ok(Vec::new());
    }
    let members: Vec<LoadedMember> = load(name, members, lake, progress)?;
    let bucket = Bucket { name, members: &members, lake, output: Arc::clone(output), options, progress };
    let (small, large): (Vec<&str>, Vec<&str>) =
        bucket.tables().into_iter().partition(|table| bucket.bytes_of(table) < LARGE);
    let mut files: Vec<StagedFile> = bucket.write_manifests()?;
    let small = small.par_iter().map(|table| bucket.write(table)).collect::<Result<Vec<_>>>()?;
    files.extend(small.into_iter().flatten());
    for table in large {
        files.extend(bucket.write(table)?);
    }
    Ok(files)
}
