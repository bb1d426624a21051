//! What a run that was interrupted has left in the staging folder, and what another program has open of a replaced trace.

use std::io;
use std::path::{Path, PathBuf};

use base::disk;
use base::error::Result;
use base::listing::entries;

use super::lock::LOCK;
use super::parts::Parts;
use super::system::{exists, remove};
use crate::output::errors::output_error;

/// The trace being put together.
pub(super) const NEW: &str = "new";

/// The trace being replaced.
pub(super) const OLD: &str = "old";

/// What was in work, while it is removed.
pub(super) const GONE: &str = "gone";

/// Folders of replaced traces that may stand beside each other.
const MOST: usize = 100;

/// Clears the staging folder for a run. No trace is in it any more but those that were replaced; what cannot be removed of
/// them is reported and stands aside, since it must not keep the trace from being written for good.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when anything else of it cannot be removed.
pub(super) fn clear(staging: &Path) -> Result<Vec<String>> {
    // Of most runs nothing is left, and to look for each of a hundred names takes longer than to list none.
    if entries(staging).is_ok_and(|entries| entries.iter().all(|entry| entry.file_name() == LOCK)) {
        return Ok(Vec::new());
    }
    for leftover in [staging.join(NEW), staging.join(GONE), Parts::of(staging).root] {
        remove(&leftover).map_err(|cause| failed(&leftover, cause))?;
    }
    let mut remains: Vec<String> = aside(staging)
        .filter(|old| !matches!(exists(old), Ok(false)))
        .filter_map(|old| remaining(&old, remove(&old)))
        .collect();
    let old = staging.join(OLD);
    if let Err(cause) = remove(&old) {
        let free = aside(staging).find(|aside| matches!(exists(aside), Ok(false)));
        match free.filter(|aside| disk::rename(&old, aside).is_ok()) {
            Some(aside) => remains.extend(remaining(&aside, Err(cause))),
            None => return Err(failed(&old, cause)),
        }
    }
    Ok(remains)
}

/// Says that a replaced trace is still there.
pub(super) fn remaining(old: &Path, removed: io::Result<()>) -> Option<String> {
    let cause = removed.err()?;
    let old = old.display();
    Some(format!("{old}: the replaced trace cannot be removed: {cause} (the next run of this trace tries again)"))
}

/// Where replaced traces stand that could not be removed.
fn aside(staging: &Path) -> impl Iterator<Item = PathBuf> {
    (2..MOST).map(move |number| staging.join(format!("{OLD}-{number}")))
}

fn failed(leftover: &Path, cause: io::Error) -> base::error::Error {
    output_error("remove the leftovers of a run", leftover, cause)
}
