//! Tables written by `build.rs`.

#![allow(clippy::unreadable_literal, reason = "GUIDs are printed as everybody prints them")]

use base::guid::Guid;

use super::names::{NameKind, Named};
use super::releases::Releases;

/// Where a provider or a class stands in the packed texts. Sorted by GUID.
pub(super) struct Section {
    pub(super) guid: Guid,
    pub(super) name: &'static str,
    /// What stands before the event names of a class; empty for providers.
    pub(super) event_prefix: &'static str,
    /// The releases that register a provider; none of a class.
    pub(super) releases: Releases,
    pub(super) shard: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

include!(concat!(env!("OUT_DIR"), "/schema_index.rs"));
