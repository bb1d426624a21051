//! Where descriptions of payloads come from.

use serde::{Deserialize, Serialize};

/// Where the layout of a payload came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum DecodeSource {
    /// Metadata on the event itself.
    TraceLogging,
    /// A manifest that the provider wrote into the trace.
    EventSource,
    /// A description that a merging tool appended to the trace.
    EventInfo,
    /// A description given by the user.
    User,
    /// The built-in descriptions of manifest providers.
    Pack,
    /// The built-in descriptions of kernel and other classic classes.
    Kernel,
    /// A WPP message format.
    Wpp,
    /// The event says that its payload is one string.
    String,
    /// There is none.
    None,
}

impl DecodeSource {
    /// All sources, in the order of their numbers.
    pub const ALL: [DecodeSource; 9] = [
        DecodeSource::TraceLogging,
        DecodeSource::EventSource,
        DecodeSource::EventInfo,
        DecodeSource::User,
        DecodeSource::Pack,
        DecodeSource::Kernel,
        DecodeSource::Wpp,
        DecodeSource::String,
        DecodeSource::None,
    ];

    /// The value of the column `decode_source`.
    pub fn name(self) -> &'static str {
        match self {
            DecodeSource::TraceLogging => "tracelogging",
            DecodeSource::EventSource => "eventsource",
            DecodeSource::EventInfo => "event_info",
            DecodeSource::User => "user",
            DecodeSource::Pack => "pack",
            DecodeSource::Kernel => "kernel",
            DecodeSource::Wpp => "wpp",
            DecodeSource::String => "string",
            DecodeSource::None => "none",
        }
    }
}
