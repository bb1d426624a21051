//! From an event's payload bytes to typed columns.
//!
//! ```text
//! EventSchema ×n ──assign──► PayloadColumns ──compile, per schema and pointer size──► Program
//!                                                                                    │ decode(payload, row)
//!                  array of a row group ◄──gather── PackedColumns ×n ◄──finish── ColumnBuffers
//! ```
//!
//! [`assign_columns`] gives all declared layouts of one table their columns. [`Program::compile`] turns a layout into
//! flat steps: leading values of fixed width are kept as they lie, the rest is run field by field. A field is measured
//! and checked as a whole before anything of it is appended, so a damaged payload leaves NULLs and never a shifted
//! column.

mod assign;
mod binding;
mod clock;
mod compile;
mod interpret;
mod label;
mod measure;
mod net;
mod program;
mod run;
mod status;
mod text;
mod time;
mod values;

pub use assign::RenameReason;
pub use binding::{Binding, FieldColumn, PayloadColumn, PayloadColumns, assign_columns, assign_present};
pub use clock::{NoClock, TraceClock};
pub use program::Program;
pub use run::pointer_size_mismatch;
pub use status::{DecodeOutcome, Status};

#[cfg(test)]
mod tests;
