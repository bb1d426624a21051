//! What is asked for.

use std::path::Path;

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
    /// Whether all of it is compressed with gzip.
    pub is_compressed: bool,
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
        Request { format, of, packets, fields, filter: Filter::default(), is_compressed: false }
    }

    /// The same, as a file of this name has it: compressed where the name ends in `.gz`, but for a format that is compressed in itself.
    #[must_use]
    pub fn for_file(self, file: &Path) -> Request {
        let is_named = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
        Request { is_compressed: is_named && self.format != Format::Pprof, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_says_whether_it_is_compressed() {
        let of = |format, file: &str| Request::new(format).for_file(Path::new(file)).is_compressed;
        assert!(of(Format::Firefox, "boot.json.gz") && of(Format::Timeline, "a/boot.CSV.GZ"));
        assert!(!of(Format::Firefox, "boot.json") && !of(Format::Firefox, "-") && !of(Format::Firefox, "gz"));
        // It is compressed whatever its name.
        assert!(!of(Format::Pprof, "boot.pb.gz"));
    }
}
