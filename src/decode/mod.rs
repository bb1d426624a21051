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
pub use binding::{Binding, Column, FieldRow, TableColumns, settle};
pub use clock::{NoClock, TraceClock};
pub use program::{Plan, pointer_size_mismatch};
pub use status::{Outcome, Status};

#[cfg(test)]
mod tests;
