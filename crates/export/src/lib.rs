//! Published traces, written in the formats of the viewers that people have.
//!
//! ```text
//! request ──► opened ──► profile (amounts ──► weights, records, code) ──► folded, speedscope, pprof, firefox, perfetto ──► output
//!                    ├──► paths ──► pairs (activities, operations on files) ──► firefox, perfetto ──► output
//!                    └──► sorted, paths ──► standards ──► pcapng, timeline ──► output
//! ```
//!
//! An export reads a published trace and nothing else: it decodes no event. It goes through the tables batch by batch, holds what it
//! needs to know at a time within bounds that each format states, and writes as it goes. The same trace and the same request are
//! the same bytes.

mod cut;
mod exported;
mod firefox;
mod folded;
mod format;
mod opened;
mod output;
mod pairs;
mod paths;
mod pcapng;
mod perfetto;
mod pprof;
mod profile;
mod protobuf;
mod request;
mod sorted;
mod speedscope;
mod standards;
mod timeline;
mod write;

pub use exported::Exported;
pub use format::Format;
pub use request::{Fields, Of, Packets, Request};
pub use write::export;
