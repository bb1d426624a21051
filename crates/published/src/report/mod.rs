//! A page about a published trace: what, when and where it recorded, who did what, what was lost and what is not decoded.
//!
//! ```text
//! source ──► recorded, providers, lanes, cpu, interrupts, waits, samples, io, pauses ──► facts ──► sections ──► page
//!            who, frames, tally, axis                                                  charts, hover, figures, html
//! ```
//!
//! Facts are plain data, added up batch by batch as the tables are read. The page is one file without a script that asks no
//! network for anything; its size does not grow with the trace.

mod axis;
mod charts;
mod cpu;
mod document;
mod facts;
mod failures;
mod figures;
mod hover;
mod html;
mod index;
mod interrupts;
mod io;
mod key_figures;
mod lanes;
mod page;
mod pauses;
mod processes;
mod providers;
mod recorded;
mod samples;
mod sections;
mod tally;
mod unit;
mod waits;
mod who;

pub use facts::{Facts, facts};
pub use index::{Entry, index};
pub use page::page;
