//! A trace of each kind that the speed of conversions is held on, beside [`bulk`](super::bulk) and [`wide`](super::wide):
//! what tools record, in the proportions in which they record it.

mod dotnet;
mod eventsource;
mod kernel;
mod network;
mod tracelogging;
pub mod wpp;

use super::header::header;
use super::payload::OnDisk;
use super::session::{Random, Session};
use super::trace::{Trace, trace};
use super::{FREQUENCY, START, T0};

/// A name, and what logs the events of a trace.
type Kind = (&'static str, fn(&mut Recorder));

/// The kinds by name.
const KINDS: [Kind; 6] = [
    ("dotnet", dotnet::record),
    ("eventsource", eventsource::record),
    ("kernel", kernel::record),
    ("network", network::record),
    ("tracelogging", tracelogging::record),
    ("wpp", wpp::record),
];

const BUFFER_SIZE: u32 = 0x1_0000;
const CPUS: u16 = 4;

/// The names of all kinds.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(name, _)| *name)
}

/// A trace of a kind, of so many events beside the header event, and of a few more where one event brings others with
/// it; `None` where there is no such kind.
pub fn kind(name: &str, events: u64) -> Option<Trace> {
    let (_, record) = KINDS.iter().find(|(own, _)| *own == name)?;
    let session = Session::new(CPUS, BUFFER_SIZE as usize);
    let mut recorder = Recorder { session, random: Random::new(1), time: T0, cpu: 0, left: events };
    record(&mut recorder);
    let seconds = (recorder.time - T0) / FREQUENCY + 1;
    let header = header().buffer_size(BUFFER_SIZE).processors(CPUS.into());
    let header = header.end_time(START + seconds * 10_000_000).session("synth kind");
    Some(trace(header).buffers(recorder.session.finish(recorder.time + 1)))
}

/// A session while it is recorded: time goes on, and CPUs take turns in bursts.
struct Recorder {
    session: Session,
    random: Random,
    time: i64,
    cpu: u16,
    /// Events that are still to be logged.
    left: u64,
}

impl Recorder {
    /// Whether events are still to be logged; time goes on by up to 40 µs.
    fn goes_on(&mut self) -> bool {
        self.time += 1 + i64::from(self.random.below(400_u32));
        if self.random.below(8_u8) == 0 {
            self.cpu = self.random.below(CPUS);
        }
        self.left > 0
    }

    fn log(&mut self, event: impl OnDisk) {
        self.session.log(self.cpu, self.time, event);
        self.left = self.left.saturating_sub(1);
    }
}
