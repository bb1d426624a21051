//! From ready Arrow columns to a published trace: names, Parquet files, the manifest, one atomic rename.
//!
//! ```text
//! Staging::create ──► .etl2parquet-<name>/new/
//!                        events/<dataset>/part-00000.parquet.tmp   TableWriter: encode (any thread), append (in order)
//!                        sidecar/manifest.json.tmp                 Manifest
//!                        spool (beside new/)                       what footers will hold, until their files end
//! Staging::commit ──► trace=<name>/                                names without .tmp, one rename
//! ```
//!
//! Nothing here depends on time, threads or memory: the same row groups in the same order give the same bytes.

pub mod encode;
mod failure;
mod file;
mod file_schema;
mod footer;
pub mod manifest;
pub mod names;
pub mod properties;
pub mod publish;
mod sink;
mod spool;
pub mod table;
mod thrift;

/// What a file name ends in until the trace is published: no reader's glob for `.parquet` matches it.
const STAGED_SUFFIX: &str = ".tmp";

pub use encode::{BATCH_ROWS, EncodeTime, EncodedGroup};
pub use manifest::{FileEntry, Manifest};
pub use properties::{Compression, EncodeOptions};
pub use publish::{IfExists, Staging};
pub use table::{FileRule, TableSpec, TableWriter};
