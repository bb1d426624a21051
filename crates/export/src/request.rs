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
    /// What a line of a timeline has; of other formats without a meaning.
    pub fields: Fields,
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

/// What a line of a timeline has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fields {
    /// The columns that all events have, and a message.
    #[default]
    Event,
    /// Fields of the Elastic Common Schema.
    Ecs,
    /// Attributes of the Open Cybersecurity Schema Framework.
    Ocsf,
}

words! {
    Fields {
        Event = "event": "a message, and the columns that all events have",
        Ecs = "ecs": "those of the Elastic Common Schema, of the events that it names",
        Ocsf = "ocsf": "those of the Open Cybersecurity Schema Framework, of the events that it names",
    }
}

impl Request {
    /// Samples, or packets, of all events in a format.
    pub fn new(format: Format) -> Request {
        let (of, packets, fields) = (Of::default(), Packets::default(), Fields::default());
        Request { format, of, packets, fields, filter: Filter::default() }
    }
}
