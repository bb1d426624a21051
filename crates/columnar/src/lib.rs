//! From packed columns to Parquet files that are published all at once. Nothing here knows of traces or events.
//!
//! ```text
//! values ──► columns ──────────► chunks ─────────────► dataset ────────────► output
//!            packed beside        finished column       row groups to files   files that grow, and
//!            their rows           chunks, as arrow-rs   of one schema         appear by one rename
//!                                 makes them
//! ```
//!
//! | module | |
//! |---|---|
//! | [`columns`] | values packed beside the rows that have them, and the batches or Arrow arrays that they become |
//! | [`chunks`] | Parquet column chunks of the columns that it covers; arrow-rs writes the others |
//! | [`output`] | [`Output`](output::Output): files that grow, are read back, and are published together; a local folder, and memory |
//! | [`dataset`] | row groups to the files of a table |
//!
//! The same row groups in the same order give the same bytes, whatever the threads, the memory and the machine.
//!
//! ```
//! use base::words::Words;
//! use etl2parquet_columnar::columns::TypeOptions;
//! use etl2parquet_columnar::dataset::{Compression, part_path};
//! use etl2parquet_columnar::output::{IfExists, options_hash};
//!
//! assert_eq!("zstd(3)".parse::<Compression>().unwrap().to_string(), "zstd(3)");
//! assert_eq!(TypeOptions::default().guid.word(), "string");
//! assert_eq!(IfExists::of_word("update"), Some(IfExists::Update));
//! ```

pub mod chunks;
pub mod columns;
pub mod dataset;
pub mod output;
