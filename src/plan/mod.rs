//! Between the passes: which layout each event shape uses, which columns each dataset has, and where the order of
//! all events is cut.

mod build;
pub mod catalog;
pub mod choose;
pub mod cuts;
pub mod datasets;
pub mod descriptions;
mod doubts;
pub mod filter;
pub mod images;
mod mismatch;
mod options;
pub mod preview;
pub mod resolve;
mod result;
pub mod samples;
pub mod tables;

pub use crate::schema::DecodeSource;
pub use build::plan;
pub use catalog::CatalogEntry;
pub use cuts::Key;
pub use datasets::DatasetSplit;
pub use filter::{CompiledFilter, Filter};
pub use options::PlanOptions;
pub use result::{PlanResult, ShapeDecoder};
pub use tables::{PlannedTable, WIDE_TABLE};
