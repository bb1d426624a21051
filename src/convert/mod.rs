//! Pass 2: slices of the order become rows, rows become row groups, row groups become files.

pub mod order;
pub mod sparse;
