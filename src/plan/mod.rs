//! Between the passes: which layout each event shape uses, which columns each dataset has, and how the order of all
//! events is cut into slices.

pub mod catalog;
pub mod cuts;
pub mod slices;

pub use crate::schema::DecodeSource;
pub use catalog::CatalogEntry;
pub use cuts::GlobalKey;
pub use slices::{Segment, Slice};
