//! From an event's payload bytes to typed columns.
//!
//! ```text
//! EventSchema ×n ──names, assign──► PayloadColumns ──compile, per schema and pointer size──► Program
//!                                                                                    │ decode(payload, row)
//!                  array of a row group ◄──gather── PackedColumns ×n ◄──finish── ColumnBuffers
//! ```
//!
//! [`ColumnNames`] says which family of fields has a name, [`assign_named`] gives the layouts of one table their columns. [`Program::compile`] turns a layout into
//! flat steps: leading values of fixed width are kept as they lie, the rest is run field by field. A field is measured
//! and checked as a whole before anything of it is appended, so a damaged payload leaves NULLs and never a shifted
//! column.

mod assign;
mod binding;
mod clock;
mod column_names;
mod compile;
mod consumption;
mod fields;
mod interpret;
mod label;
mod measure;
mod message;
mod net;
mod program;
mod run;
mod shown;
mod single;
mod status;
mod text;
mod time;
mod units;
mod values;

pub use binding::{
    Binding, FieldColumn, PayloadColumn, PayloadColumns, assign_all, assign_columns, assign_named, assign_settled,
};
pub use clock::{NoClock, TraceClock};
pub use column_names::ColumnNames;
pub use consumption::ByteConsumption;
pub use fields::{RenameReason, settled_layout};
pub use message::{MessageProgram, MessageScratch};
pub use program::Program;
pub use run::pointer_size_mismatch;
pub use single::{FieldValue, LeadingInteger, SingleValues};
pub use status::{DecodeOutcome, Status};

#[cfg(test)]
mod tests;
