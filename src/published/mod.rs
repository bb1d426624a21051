//! Published traces, read again: what their files say of themselves, and whether the files of many traces read as one table.

pub mod binding;
mod columns;
mod compare;
mod event;
mod footer;
mod known_parts;
mod lake;
mod lake_part;
mod settle;
mod sidecar;
mod table;
mod trace;

pub use binding::{Binding, Mismatch, MismatchKind, Variant};
pub use compare::{add_events, compare};
pub use footer::Footer;
pub use lake::lake;
pub use settle::settle;
pub(crate) use sidecar::{Sidecar, missing_column, sidecar_table};
pub(crate) use table::{Batch, read_table};
pub use trace::{PublishedTrace, published};
