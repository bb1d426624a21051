//! A page about a published trace: what, when and where it recorded, who did what, what was lost and what is not decoded.
//!
//! ```text
//! source ──► recorded, providers, lanes, cpu, interrupts, waits, samples, io, files, starts, pauses, collections, packets ──► facts ──► sections ──► page
//!            tally, sums, zoom, axis                     └─► profile ─► flame, executed ─────┘     charts, hover, figures, bars, html
//!                                                      labels, call_tree
//! ```
//!
//! Facts are plain data, added up batch by batch as the tables are read. The page is one file without a script that asks no
//! network for anything; its size does not grow with the trace.

mod axis;
mod bars;
mod call_tree;
mod charts;
mod collections;
pub mod comparison;
mod cpu;
mod document;
mod executed;
mod facts;
mod failures;
mod figures;
mod file_paths;
mod files;
mod flame;
mod hover;
mod html;
mod index;
mod interrupts;
mod io;
mod key_figures;
mod labels;
mod lanes;
mod packets;
mod page;
mod pauses;
mod processes;
mod profile;
mod providers;
mod recorded;
mod samples;
mod sections;
mod starts;
mod sums;
mod tally;
mod unit;
mod waits;
mod zoom;

pub use facts::{Facts, facts};
pub use index::{Entry, index};
pub use page::page;
