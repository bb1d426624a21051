//! The columnar engine: values packed beside their rows, and what becomes of them on their way to the encoder: batches of
//! values, or Arrow arrays. It knows Arrow, and nothing of events.
//!
//! ```text
//!                                                                             ┌──feed──► batches of a row group
//! values ──push──► packed columns ──take──► packed columns of a slice ×n ─────┤
//!                                                                             └─gather─► Arrow arrays of a row group
//! ```

mod array_batch;
mod batch;
mod batch_scratch;
mod column_batch;
mod distinct;
mod feed;
mod gather;
pub mod interner;
pub mod lookup;
pub mod packed;
mod physical;
mod piece;
pub mod prefix;
pub mod presence;
mod row_source;
pub mod types;

pub use array_batch::{BatchSink, emit};
pub use batch::{ColumnBuffers, PackedColumns};
pub use batch_scratch::BatchScratch;
pub use column_batch::{BatchValues, ColumnBatch, KeyTable, ListItems, Present};
pub use feed::PackedRows;
pub use gather::gather;
pub use gather::gather_required;
pub use row_source::RowSource;
pub use types::{GuidType, IntegerType, TimestampType, TypeOptions, UUID_EXTENSION, with_uuid_type};
