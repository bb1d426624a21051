//! Where everything stands: tables that `build.rs` writes.

#![allow(clippy::unreadable_literal, reason = "GUIDs are printed as everybody prints them")]

use base::guid::Guid;

use crate::names::{NameKind, Named};
use crate::releases::Releases;

/// Where a provider or a class stands in the packed texts. Sorted by GUID.
#[derive(Debug)]
pub struct Section {
    /// The provider or the class.
    pub guid: Guid,
    /// Its name.
    pub name: &'static str,
    /// What stands before the event names of a class; empty for providers.
    pub event_prefix: &'static str,
    /// The releases that register a provider; none of a class.
    pub releases: Releases,
    /// The frame that holds it, by number in [`SHARDS`].
    pub shard: usize,
    /// Where its text begins in the expanded frame.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

include!(concat!(env!("OUT_DIR"), "/schema_index.rs"));
