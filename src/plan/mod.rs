//! Between the passes: which layout each event shape uses, which columns each dataset has, and where the order of
//! all events is cut.

mod build;
pub mod catalog;
pub mod choose;
pub(crate) mod cuts;
pub mod datasets;
pub mod descriptions;
mod doubts;
pub mod filter;
pub mod images;
mod input;
mod key;
mod mismatch;
mod options;
pub mod partition;
pub mod preview;
pub mod resolve;
mod result;
pub mod samples;
mod segment;
mod slice_size;
pub mod tables;

pub use crate::schema::DecodeSource;
pub use build::plan;
pub use catalog::CatalogEntry;
pub use datasets::DatasetSplit;
pub use filter::{CompiledFilter, Filter};
pub use input::{BufferRef, PlannedInput, PlannedInputs};
pub(crate) use key::part_of;
pub use key::{Key, KeyRange};
pub use options::PlanOptions;
pub use partition::{Partition, PartitionView, Partitions};
pub use result::{PlanResult, ShapeDecoder};
pub use segment::Segment;
pub use tables::{PlannedTable, WIDE_TABLE};
