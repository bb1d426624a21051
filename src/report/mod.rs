//! A page about a published trace: what, when and where it recorded, who did what, what was lost and what is not decoded.
//!
//! ```text
//! source ──► recorded, providers, lanes, cpu, io, pauses ──► facts ──► sections, answers ──► page
//!            who, modules, areas, tally, axis                          charts, figures, html
//! ```
//!
//! Facts are plain data, added up batch by batch as the tables are read. The page is one file without a script that asks no
//! network for anything; its size does not grow with the trace.

mod answers;
mod areas;
mod axis;
mod charts;
mod cpu;
mod facts;
mod figures;
mod html;
mod io;
mod lanes;
mod modules;
mod page;
mod pauses;
mod providers;
mod recorded;
mod sections;
mod source;
mod tally;
mod who;

pub use facts::{Facts, facts};
pub use page::page;
