//! Between the passes: which layout each event shape uses, which columns each dataset has, and how the order of all
//! events is cut into slices.

pub mod catalog;
pub mod cuts;
pub mod slices;

pub use catalog::{CatalogEntry, DecodeSource};
pub use cuts::GlobalKey;
pub use slices::{Segment, Slice};
