//! The tables of a trace: which columns every event fills, its rows slice by slice, and the row groups made of them.

pub mod batches;
pub mod cutter;
pub mod header;
mod layout;
mod row;
mod row_group;
mod rows;
mod stack_id;

pub use cutter::{CompletedRowGroup, OPEN_WEIGHT, RowGroupCutter};
pub use header::{COMMON, HeaderColumn};
pub use layout::{ShapeConstants, TableColumns};
pub use row::{RowContext, RowStatus, Stack};
pub use row_group::{Chunk, RowGroup};
pub use rows::HeaderColumns;
pub use stack_id::stack_id;
