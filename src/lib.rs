//! Converts Windows ETW traces (`.etl`) into Parquet datasets: one schema per provider, exact time order, any
//! operating system.

pub mod buffer;
pub mod calendar;
pub mod cli;
pub mod clock;
pub mod columns;
pub mod commit;
pub mod convert;
pub mod dataset;
pub mod decode;
pub mod error;
pub mod event;
pub mod guid;
pub mod input;
pub mod job;
pub mod layout;
pub mod names;
pub mod output;
pub mod plan;
pub mod progress;
mod resources;
pub mod schema;
pub mod sid;
pub mod sidecar;
pub mod spill;
pub mod survey;
pub mod table;

pub use error::{Error, ErrorCode, ErrorKind, Location, Result};
pub use guid::Guid;
