//! What is compared, and by what.

use base::readable::count::Count;
use base::words;
use serde::Serialize;

use super::super::unit::Unit;

/// What amounts belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// Processes of one name.
    #[default]
    Process,
    /// Functions.
    Function,
    /// Events of one name of a dataset.
    Event,
    /// Files.
    File,
    /// Datasets, of which every provider has one.
    Provider,
}

words! { By {
    Process = "process": "Processes of one name: time on and off processors, samples, disk, network, pauses of .NET",
    Function = "function": "Functions: samples and waits of their own, and with what they call",
    Event = "event": "Events of one name",
    File = "file": "Files: bytes and time of disk operations",
    Provider = "provider": "Providers: events and bytes of their payloads",
} }

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Nanoseconds on processors, by context switches.
    CpuNs,
    /// Samples of the profiler.
    Samples,
    /// Samples whose innermost function it is.
    OwnSamples,
    /// Samples in whose stack the function is.
    AllSamples,
    /// Nanoseconds of waiting.
    WaitNs,
    /// Nanoseconds of waiting in whose stack the function is.
    AllWaitNs,
    /// Bytes that disks read and wrote.
    DiskBytes,
    /// Nanoseconds that disk operations took.
    DiskNs,
    /// Bytes that were sent and received.
    NetworkBytes,
    /// Nanoseconds in which .NET kept the threads of a process stopped.
    GcPauseNs,
    /// Events.
    Events,
    /// Bytes of payloads.
    PayloadBytes,
}

impl Measure {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Measure::CpuNs => "time on processors",
            Measure::Samples => "samples",
            Measure::OwnSamples => "samples in the function itself",
            Measure::AllSamples => "samples in the function and what it calls",
            Measure::WaitNs => "time waiting",
            Measure::AllWaitNs => "time waiting in the function and what it calls",
            Measure::DiskBytes => "bytes of disk operations",
            Measure::DiskNs => "time of disk operations",
            Measure::NetworkBytes => "bytes over the network",
            Measure::GcPauseNs => "pauses of .NET",
            Measure::Events => "events",
            Measure::PayloadBytes => "bytes of payloads",
        }
    }

    /// What its amounts are.
    pub fn unit(self) -> &'static str {
        match self.of_page() {
            Unit::Time => "ns",
            Unit::Bytes => "bytes",
            Unit::Things(things) => things,
        }
    }

    /// What there is of it by second, as people read it.
    pub fn rate(self, rate: f64) -> String {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rates are not negative")]
        let whole = rate.round() as u64;
        match self.of_page() {
            Unit::Things(_) if rate > 0.0 && rate < 1.0 => format!("{rate:.3}"),
            Unit::Things(_) if rate < 100.0 => format!("{rate:.1}"),
            Unit::Things(_) => Count(whole).to_string(),
            unit => unit.shown(whole),
        }
    }

    fn of_page(self) -> Unit {
        match self {
            Measure::CpuNs | Measure::WaitNs | Measure::AllWaitNs | Measure::DiskNs | Measure::GcPauseNs => Unit::Time,
            Measure::DiskBytes | Measure::NetworkBytes | Measure::PayloadBytes => Unit::Bytes,
            Measure::Samples | Measure::OwnSamples | Measure::AllSamples => Unit::Things("samples"),
            Measure::Events => Unit::Things("events"),
        }
    }

    /// Whether amounts are counts of a sampler: two runs of the same differ by chance at least.
    pub(super) fn is_sampled(self) -> bool {
        matches!(self, Measure::Samples | Measure::OwnSamples | Measure::AllSamples)
    }

    /// Whether the amounts of all names add up to something: of functions that call each other they do not.
    pub(super) fn adds_up(self) -> bool {
        !matches!(self, Measure::AllSamples | Measure::AllWaitNs)
    }
}
