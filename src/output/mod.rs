//! Where a trace is written: a staging folder, its files, the commit record, one atomic rename.
//!
//! ```text
//! create ──► .etl2parquet-<name>/new/
//!                        events/<dataset>/part-00000-00000.parquet.tmp   dataset::TableWriter
//!                        sidecar/manifest.json.tmp                 CommitRecord
//! commit ──► trace=<name>/                                names without .tmp, one rename
//! ```
//!
//! Nothing here knows what a trace is made of, nor what Parquet is.

pub(crate) mod errors;
pub mod folder;
pub mod manifest;
pub(crate) mod sink;

pub use folder::{IfExists, LocalFolder};
pub use manifest::{CommitRecord, FileEntry, options_hash};
