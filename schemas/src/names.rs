//! Names of GUIDs of which the pack has no events.

use base::guid::Guid;
use serde::Serialize;

use crate::releases::Releases;

/// What is known of a named GUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NameKind {
    /// A provider of manifest events is registered so.
    Manifest,
    /// A provider or class of classic events, or of WPP messages, is registered so.
    Classic,
    /// A provider whose events describe themselves.
    TraceLogging,
    /// The GUID follows from the name, as that of an event source does; no more is known.
    Derived,
    /// A provider of an application.
    Provider,
    /// No registered name but what somebody calls it: a comment in a support script, often the name of a WPP control GUID.
    Label,
}

impl NameKind {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            NameKind::Manifest => "manifest",
            NameKind::Classic => "classic",
            NameKind::TraceLogging => "tracelogging",
            NameKind::Derived => "derived",
            NameKind::Provider => "provider",
            NameKind::Label => "label",
        }
    }
}

/// A GUID with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// The GUID.
    pub guid: Guid,
    /// The name.
    pub name: &'static str,
    /// What is known of it.
    pub kind: NameKind,
    /// The releases that register it.
    pub releases: Releases,
}
