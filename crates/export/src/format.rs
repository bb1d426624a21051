//! The formats.

use base::words;

/// What a trace is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A line for each stack of each process, its functions from the outermost on with semicolons between, and how much that is.
    Folded,
    /// A profile for each thread, in the file format of speedscope.
    Speedscope,
    /// A profile of pprof: protocol buffers, compressed.
    Pprof,
    /// A processed profile of the Firefox Profiler: samples, and events as markers.
    Firefox,
    /// A capture of packets.
    Pcapng,
    /// A timeline of all events as CSV.
    Timeline,
    /// A timeline of all events, a JSON object a line.
    TimelineJsonl,
    /// A trace of Perfetto.
    Perfetto,
}

words! {
    Format {
        Folded = "folded": "a line for each stack, as tools for flame graphs read it",
        Speedscope = "speedscope": "a profile for each thread, for speedscope.app",
        Pprof = "pprof": "a profile for pprof and what reads its files",
        Firefox = "firefox": "samples, waits and other events of a process, for profiler.firefox.com",
        Pcapng = "pcapng": "packets of pktmon and of netsh trace or ndiscap, for Wireshark; or any events",
        Timeline = "timeline": "a line of CSV for each event, for Timesketch",
        TimelineJsonl = "timeline-jsonl": "a JSON object for each event, for Timesketch",
        Perfetto = "perfetto": "processors, samples, pauses, disk and network, for ui.perfetto.dev",
    }
}

impl Format {
    /// Whether people can read it: what they cannot is not written to a terminal.
    pub fn is_text(self) -> bool {
        match self {
            Format::Folded | Format::Speedscope | Format::Firefox | Format::Timeline | Format::TimelineJsonl => true,
            Format::Pprof | Format::Pcapng | Format::Perfetto => false,
        }
    }

    /// What a trace must have for it, as a hint to those whose trace has none of it.
    pub fn needs(self) -> &'static str {
        match self {
            Format::Folded | Format::Speedscope | Format::Pprof => {
                "samples are recorded by a profile such as CPU of wpr, waits by context switches; \
                 `etl2parquet inspect` lists what the trace has"
            }
            Format::Pcapng => {
                "packets are recorded by pktmon, and by netsh trace with capture=yes; --packets events writes events of any kind"
            }
            Format::Timeline | Format::TimelineJsonl => "`etl2parquet inspect` lists what the trace has",
            Format::Perfetto => {
                "it shows context switches, samples, pauses of .NET, activities, operations on files, disk and network; `etl2parquet inspect` lists what the trace has"
            }
            Format::Firefox => {
                "it shows samples, context switches, pauses and exceptions of .NET, disk, files, network, activities and modules that are loaded; \
                 `etl2parquet inspect` lists what the trace has"
            }
        }
    }
}
