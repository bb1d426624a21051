//! Pass 2: slices of the order become rows, rows become row groups, row groups become files.

pub mod aside;
mod cost;
pub mod decoders;
pub mod entry;
pub mod gates;
pub mod job;
pub mod load;
pub mod message;
pub mod order;
pub mod part_report;
pub mod pipeline;
mod ranks;
pub mod record;
mod refine;
pub mod repeated;
pub mod run;
pub mod segments;
pub mod slice;
pub mod sliced;
pub mod slices;

pub use job::{ConvertOptions, Gates, Input, Job, JobProgress, MaxLoss, Outcome, RawPolicy, Report, Stage};
pub use run::{convert, inspect};
