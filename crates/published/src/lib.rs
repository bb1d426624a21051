//! Published traces, read again: what their files say of themselves, and whether the files of many traces read as one table;
//! whether they are still what was published ([`verify`]), what the addresses of their stacks lie in ([`frames`]), and a page about
//! each ([`report`]); and what can be asked of them ([`describe`](mod@describe)).

mod beside;
pub mod binding;
mod columns;
mod compare;
pub mod describe;
mod details;
mod event;
pub mod event_names;
mod footer;
pub mod frames;
pub mod gc_pauses;
mod inspection;
mod known_parts;
mod lake;
mod lake_part;
pub mod off_cpu;
mod parquet_bytes;
pub mod report;
mod row_filter;
mod rows;
mod settle;
mod sidecar;
mod source;
mod statements;
pub mod symbols;
mod table;
mod trace;
pub mod verify;
pub mod who;

pub use binding::{Binding, Mismatch, MismatchKind, Variant};
pub use compare::{add_events, compare};
pub use details::{Details, InspectedTrace, ProviderEvents};
pub use footer::Footer;
pub use inspection::PublishedInspection;
pub use lake::lake;
pub use row_filter::RowFilter;
pub use rows::{DatasetRows, PublishedRows};
pub use settle::lock_of;
pub use sidecar::Sidecar;
pub(crate) use sidecar::{missing_column, sidecar_table};
pub use source::Source;
pub use statements::statements;
pub(crate) use table::TableFile;
pub use trace::{PublishedTrace, all_published, published, published_in};
