//! The tables of a trace: which columns every event fills, its rows slice by slice, and the row groups made of them.

pub mod cutter;
pub mod gather;
pub mod header;
pub mod row_group;
pub mod rows;
pub mod sparse;
