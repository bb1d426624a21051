//! From ready Arrow columns to Parquet files: encoded by any thread, written in order.
//!
//! Nothing here depends on time, threads or memory: the same row groups in the same order give the same bytes.

mod chunk;
mod column_meta;
pub mod encode;
mod errors;
mod file;
mod file_schema;
mod footer;
mod formats;
pub mod properties;
pub mod table;
mod written;

pub use encode::{BATCH_ROWS, EncodeTime, EncodedRowGroup};
pub use properties::{Compression, EncodeOptions, EncoderKind};
pub use table::{FileNaming, TableSpec, TableWriter, part_path};
pub use written::rows_in_footer;
