//! From an event's payload bytes to typed columns.
//!
//! ```text
//! EventSchema ×n ──settle──► TableColumns ──compile, per schema and pointer size──► Plan
//!                                                                                    │ decode(payload, row)
//!                  array of a row group ◄──gather── PayloadValues ×n ◄──finish── PayloadColumns
//! ```
//!
//! [`settle`] gives all declared layouts of one table their columns. [`Plan::compile`] turns a layout into flat steps:
//! leading values of fixed width are read by their offset, the rest walks. A field is measured and checked as a whole
//! before anything of it is appended, so a damaged payload leaves NULLs and never a shifted column.

mod arrays;
mod blocks;
mod builders;
mod columns;
mod compile;
mod extent;
mod label;
mod net;
mod plan;
mod reading;
mod settle;
pub mod spread;
mod text;
mod time;
mod types;
mod values;
mod walk;

pub use arrays::gather;
pub use builders::{PayloadColumns, PayloadValues};
pub use columns::{Binding, Column, FieldRow, TableColumns, settle};
pub use plan::{Plan, pointer_size_mismatch};
pub use settle::RenameReason;
pub use types::{GuidType, TimestampType, TypeOptions, UUID_EXTENSION, UnsignedType, with_uuid_type};

/// How well a payload and its schema fit each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// The schema describes the payload to its last byte.
    Ok,
    /// Fewer than 8 bytes remain and all are zero: a C structure's padding.
    Padded,
    /// The payload ends where a field would begin; that field and those behind it are NULL.
    Short,
    /// The schema ends before the payload does.
    Extra,
    /// A field does not fit what is left of the payload; it and those behind it are NULL.
    Error,
}

impl Status {
    /// The value of the column `decode_status`.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Padded => "padded",
            Status::Short => "short",
            Status::Extra => "extra",
            Status::Error => "error",
        }
    }

    /// Whether the fields stand for every byte of the payload.
    pub fn is_whole(self) -> bool {
        matches!(self, Status::Ok | Status::Padded)
    }
}

/// What became of one payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How well payload and schema fit.
    pub status: Status,
    /// Whether the columns do not represent all of the payload, so that its bytes must be kept beside them: any status
    /// but `ok` and `padded`, text that is not valid in its encoding, a boolean that is neither 0 nor 1, bytes behind
    /// a NUL, a time that has no calendar form.
    pub keep_payload: bool,
    /// The Arrow bytes of the values that this payload added to the columns.
    pub weight: u64,
}

/// The trace's clock, as far as payloads need it.
pub trait TraceClock {
    /// Nanoseconds since 1970-01-01 UTC at a raw tick; `None` when the trace does not tell (no usable frequency) or
    /// the time does not fit.
    fn unix_ns(&self, ticks: i64) -> Option<i64>;

    /// Nanoseconds in a span of the performance counter, rounded down; `None` when the trace does not tell (no usable
    /// frequency) or the span does not fit.
    fn span_ns(&self, ticks: u64) -> Option<i64>;

    /// Whether the raw tick can be computed back from [`TraceClock::unix_ns`]. Where it cannot, payloads with such
    /// times are kept.
    fn is_reversible(&self) -> bool {
        true
    }
}

/// A clock that knows no time: every time of the trace's clock is NULL, and its payload is kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoClock;

impl TraceClock for NoClock {
    fn unix_ns(&self, _: i64) -> Option<i64> {
        None
    }

    fn span_ns(&self, _: u64) -> Option<i64> {
        None
    }
}

#[cfg(test)]
mod tests;
