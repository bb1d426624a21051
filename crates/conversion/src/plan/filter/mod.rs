//! Filters: which events of a recording become rows.
//!
//! Conditions of different kinds must all hold, of several values of one kind any. They look at the event header,
//! at whose the event is, and at where it was recorded; at nothing else in its payload. A condition on a header field passes only events that have
//! the field, as `WHERE level <= 3` does with a column that is NULL; two values of the header pass as they pass a
//! session's own filter: level 0, which is always logged, and keyword 0, which belongs to no category.

mod bound;
pub mod compiled;
mod conditions;
mod numbers;
mod pattern;
mod values;

pub use bound::{Overlap, TimeBound, TimeWindow, parse_offset};
pub use compiled::CompiledFilter;
pub use conditions::{Filter, RowInfo, ShapeDecision, ShapeInfo};
pub use numbers::NumberSet;
pub use pattern::{EventPattern, NamePattern};
pub use values::{Keywords, Processes, parse_keywords, parse_level, parse_processes};

#[cfg(test)]
mod tests;
