//! Where a path of an output leads: to a folder of the system, or to objects of a store.

use std::path::Path;
use std::sync::Arc;

use base::error::Result;
use base::progress::Progress;
use base::remote;

use super::folder::{CleanupRegistry, Disks, LocalFolder};
use super::interface::Output;
use super::remote_output::RemoteOutput;

/// Begins a trace of this name below `out`: a staging folder there, or in `spool` where `out` is the address of a store.
///
/// # Errors
/// Those of [`LocalFolder::create_in`], and of the kind `Usage` for an address that cannot be written to.
pub fn begin(
    (out, name): (&Path, &str),
    spool: &Path,
    cleanup: &CleanupRegistry,
    disks: &Disks,
    progress: &dyn Progress,
) -> Result<Arc<dyn Output>> {
    let Some(url) = remote::url_of(out) else {
        return Ok(Arc::new(LocalFolder::create_in(cleanup, out, name)?.with_disks(disks)));
    };
    Ok(Arc::new(RemoteOutput::create((&url, name), spool, cleanup, progress.stop())?))
}
