//! The columnar engine: values packed beside their rows, and Arrow arrays made of them. It knows Arrow, and nothing of
//! events.
//!
//! ```text
//! values ──push──► packed columns ──take──► packed columns of a slice ×n ──gather──► Arrow array of a row group
//! ```

mod array_batch;
mod batch;
mod column_batch;
mod gather;
pub(crate) mod lookup;
pub(crate) mod packed;
pub(crate) mod prefix;
pub mod presence;
mod row_source;
pub mod types;

pub use array_batch::{BatchSink, hand_on};
pub use batch::{ColumnBuffers, PackedColumns};
pub use column_batch::{BatchScratch, BatchValues, ColumnBatch, KeyTable, ListItems, Present};
pub use gather::gather;
pub(crate) use gather::gather_required;
pub use row_source::RowSource;
pub use types::{GuidType, TimestampType, TypeOptions, UUID_EXTENSION, UnsignedType, with_uuid_type};
