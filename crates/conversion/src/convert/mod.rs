//! Pass 2: slices of the order become rows, rows become row groups, row groups become files.

pub mod aside;
mod attribution;
mod cost;
pub mod decoders;
pub mod entry;
pub mod file_sink;
pub mod group_sink;
pub mod job;
pub mod load;
pub mod message;
pub mod options;
pub mod order;
pub mod part_report;
pub mod partitions;
pub mod pipeline;
mod ranks;
mod recovered;
mod refine;
pub mod repeated;
pub mod report_check;
pub mod seen;
pub mod segments;
mod shape_counter;
pub mod slice;
mod slice_stacks;
pub mod sliced;
pub mod slices;
pub mod stream_sink;
pub mod tables;
pub mod write_options;

pub use job::{Checks, InputFile, JobProgress, MaxLoss, Outcome, RawPolicy, Recording, Report, StackPolicy, Stage};
pub use options::{ConvertOptions, LockFrom};
