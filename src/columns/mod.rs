//! The columnar engine: values packed beside their rows, and Arrow arrays made of them. It knows Arrow, and nothing of
//! events.
//!
//! ```text
//! values ──push──► packed columns ──take──► packed columns of a slice ×n ──gather──► Arrow array of a row group
//! ```

mod gather;
pub mod packed;
pub mod prefix;
pub mod presence;
mod row_source;
pub mod types;

pub use gather::gather;
pub use packed::{ColumnBuffers, PackedColumns};
pub use row_source::RowSource;
pub use types::{GuidType, TimestampType, TypeOptions, UUID_EXTENSION, UnsignedType, with_uuid_type};
