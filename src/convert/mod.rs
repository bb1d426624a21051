//! Pass 2: slices of the order become rows, rows become row groups, row groups become files.

pub mod gate;
pub mod gather;
pub mod group;
pub mod job;
pub mod message;
pub mod order;
pub mod rows;
pub mod slice;
pub mod sidecar;
pub mod sparse;
