//! Where the sidecar is written.

use std::fmt;
use std::sync::Arc;

use base::error::Result;
use base::progress::Progress;
use columnar::columns::TypeOptions;
use columnar::dataset::EncodeOptions;
use columnar::output::sink::hex;
use columnar::output::{FileEntry, Output};
use sha2::{Digest, Sha256};

use crate::convert::ViewScripts;

/// Where the sidecar is written, and how.
#[derive(Clone)]
pub struct SidecarTarget<'a> {
    /// Gets the files.
    pub output: Arc<dyn Output>,
    /// Codec and size of the files.
    pub encode: EncodeOptions,
    /// How values are written.
    pub types: TypeOptions,
    /// For which engines there is a script of the views.
    pub scripts: ViewScripts,
    /// Says when to stop.
    pub progress: &'a dyn Progress,
}

impl SidecarTarget<'_> {
    /// Writes a file that is no table, and lists it.
    ///
    /// # Errors
    /// [`Output`](base::error::ErrorKind::Output) when it cannot be written.
    pub(super) fn write_text(&self, path: &str, text: &str) -> Result<FileEntry> {
        self.output.write(path, text.as_bytes())?;
        let sha256 = hex(&Sha256::digest(text));
        Ok(FileEntry { path: path.to_owned(), bytes: text.len() as u64, sha256, ..FileEntry::default() })
    }
}

impl fmt::Debug for SidecarTarget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SidecarTarget").field("output", &self.output).finish_non_exhaustive()
    }
}
