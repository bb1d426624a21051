//! The sidecar: what is known of a recording besides its events, as Parquet tables.
//!
//! One file per table, each read top down like the table's description in docs/sidecar.md. A value that the trace does
//! not record is NULL, never 0. The files depend on the input and the options alone.

pub mod answers;
pub mod buffers;
pub mod catalog;
mod cell;
pub mod clock;
mod declared;
pub mod dimensions;
mod facts;
pub mod fields;
mod inputs;
pub mod issues;
pub mod lost_events;
pub mod read;
mod row;
pub mod sessions;
pub mod streams;
mod table;
mod tables;
mod target;
pub mod undecoded;
mod views;
mod way;
mod write;

pub use answers::AnswerRow;
pub use cell::{Cell, NotRecorded, Time, kind};
pub use clock::ClockRow;
pub use declared::{declared_columns, table_names};
pub use dimensions::DimensionRows;
pub use facts::SidecarFacts;
pub use inputs::InputFacts;
pub use issues::IssueRow;
pub use lost_events::LossRow;
pub use sessions::SessionRow;
pub use streams::StreamRow;
pub use tables::SidecarBatches;
pub use target::SidecarTarget;
pub use way::Way;
pub use write::{NAMES_PATH, write};
