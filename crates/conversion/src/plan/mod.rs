//! Between the passes: which layout each event shape uses, which columns each dataset has, and where the order of
//! all events is cut.

mod build;
mod by_part;
pub mod catalog;
mod check;
pub mod choose;
pub mod cuts;
pub mod datasets;
mod declarations;
mod describe;
pub mod descriptions;
mod doubts;
mod event_names;
mod field_limit;
mod file;
pub mod filter;
mod hint;
pub mod images;
mod input;
mod key;
mod locked;
mod measure;
mod mismatch;
mod options;
pub mod partition;
mod preferred;
pub mod preview;
pub mod resolve;
mod result;
mod room;
pub mod samples;
mod segment;
#[cfg(test)]
mod settled_table;
mod shape_ids;
mod shared_list;
mod slice_size;
pub mod tables;

pub use build::plan;
pub(crate) use by_part::{Within, by_part};
pub use catalog::CatalogEntry;
pub use datasets::DatasetSplit;
pub use file::{PlanFile, PlanText};
pub use filter::{CompiledFilter, Filter};
pub use hint::schema_needed;
pub use input::{BufferRef, PlannedInput, PlannedInputs};
pub(crate) use key::part_of;
pub use key::{Key, KeyRange};
pub use locked::LockUse;
pub use options::PlanOptions;
pub use partition::{Partition, PartitionView, Partitions};
pub use result::{PlanResult, PlannedShape, PlannedTable, ShapeName};
pub use room::room_to_plan;
pub use schema::DecodeSource;
pub use segment::Segment;
pub use shape_ids::{ShapeFinder, ShapeIds};
