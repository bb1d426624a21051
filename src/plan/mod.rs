//! Between the passes: which layout each event shape uses, which columns each dataset has, and how the order of all
//! events is cut into slices.

pub mod aside;
mod build;
pub mod catalog;
pub mod choose;
pub mod cuts;
pub mod datasets;
pub mod descriptions;
mod doubts;
pub mod filter;
pub mod header;
pub mod images;
mod mismatch;
mod options;
pub mod preview;
mod refine;
pub mod resolve;
mod result;
pub mod samples;
pub mod segments;
pub mod slices;
pub mod tables;

pub use crate::schema::DecodeSource;
pub use build::plan;
pub use catalog::CatalogEntry;
pub use cuts::GlobalKey;
pub use datasets::DatasetSplit;
pub use filter::{CompiledFilter, Filter};
pub use options::PlanOptions;
pub use result::{PlanResult, ShapeDecoder};
pub use segments::Segment;
pub use slices::{Slice, Slices};
pub use tables::{PlannedTable, WIDE_TABLE};
