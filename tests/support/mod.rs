//! Conversions in a folder of their own, and their output as text, so that expectations read like tables.

#![allow(dead_code, unused_imports, unreachable_pub, reason = "each crate that includes this module uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]
#![allow(clippy::must_use_candidate, reason = "nobody outside of tests can call these functions")]

pub mod corpus;
pub mod sandbox;
pub mod table;

pub(crate) use corpus::corpus;
pub use sandbox::{Converted, Ran, Sandbox, convert, convert_all, convert_with, options};
pub use table::Table;

/// `T0` in Unix nanoseconds: midnight of 2025-01-01 UTC.
pub const START_NS: i64 = 1_735_689_600_000_000_000;
