//! Where the sidecar is written.

use std::fmt;
use std::sync::Arc;

use crate::columns::TypeOptions;
use crate::dataset::EncodeOptions;
use crate::output::Output;
use crate::progress::Progress;

/// Where the sidecar is written, and how.
#[derive(Clone)]
pub struct SidecarTarget<'a> {
    /// Gets the files.
    pub output: Arc<dyn Output>,
    /// Codec and size of the files.
    pub encode: EncodeOptions,
    /// How values are written.
    pub types: TypeOptions,
    /// Says when to stop.
    pub progress: &'a dyn Progress,
}

impl fmt::Debug for SidecarTarget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SidecarTarget").field("output", &self.output).finish_non_exhaustive()
    }
}
