//! Converts Windows ETW traces (`.etl`) into Parquet datasets: one schema per provider, exact time order, any
//! operating system.

pub mod error;
pub mod guid;
pub mod schema;

pub use error::{Error, ErrorKind, Location, Result};
pub use guid::Guid;
