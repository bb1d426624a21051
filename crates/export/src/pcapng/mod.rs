//! Packet captures: pcapng, as <https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-03.html> describes it.
//!
//! ```text
//! report ──► sorted ──► fragments ──► packets (components, seen, lengths) ──► blocks        events ──► sorted ──► blocks
//! ```

mod blocks;
mod components;
mod events;
mod fields;
mod fragments;
mod lengths;
mod packets;
mod report;
mod seen;
mod write;

pub(crate) use write::pcapng;
