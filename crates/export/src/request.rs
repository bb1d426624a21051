//! What is asked for.

use base::words;
use conversion::plan::Filter;

use crate::format::Format;

/// What is written, and of which events.
#[derive(Clone, Debug)]
pub struct Request {
    /// The format.
    pub format: Format,
    /// What a profile is of; of other formats without a meaning.
    pub of: Of,
    /// What a packet capture has; of other formats without a meaning.
    pub packets: Packets,
    /// Which events.
    pub filter: Filter,
}

/// What a profile is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Of {
    /// Samples of the profiler: where processors were.
    #[default]
    Samples,
    /// Waits: where threads were while they did not run.
    Waits,
}

words! {
    Of {
        Samples = "samples": "samples of the profiler: what ran",
        Waits = "waits": "waits of threads, in nanoseconds: what did not run",
    }
}

/// What a packet capture has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packets {
    /// Each packet once, where it was seen first.
    #[default]
    Once,
    /// A packet each time that a component has seen it.
    All,
    /// Events of any kind, as packets that Wireshark knows.
    Events,
}

words! {
    Packets {
        Once = "once": "each packet once, where it was seen first",
        All = "all": "a packet each time that a component has seen it",
        Events = "events": "events of any kind, each as a packet (LINKTYPE_ETW)",
    }
}

impl Request {
    /// Samples, or packets, of all events in a format.
    pub fn new(format: Format) -> Request {
        Request { format, of: Of::default(), packets: Packets::default(), filter: Filter::default() }
    }
}
