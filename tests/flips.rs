//! One flipped bit in a header of the file loses no row in silence.
//!
//! Every bit of the 72 bytes of every buffer header, and of the header event, decides where something is found. The events
//! of the file are read with each of them flipped. Where they are not the same as before, the file must count as
//! damaged, which the exit code shows, or must be refused.
//!
//! A run of the tests takes a sample. All of them: `scripts/check/flips`.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]
#![allow(clippy::print_stdout, reason = "a whole run shows its figures")]

mod support;
mod synth;

use std::collections::HashMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::AddAssign;

use base::clock::ClockAnchor;
use base::progress::NoProgress;
use conversion::survey::{FileSurvey, SurveyOptions, survey};
use etl::buffer::content::{self, Scratch};
use etl::buffer::scan::BufferExtent;
use etl::event::walk::{Walk, WalkStep};
use etl::input::MemoryInput;
use etl2parquet::ErrorKind;
use support::corpus;
use synth::*;

/// Small ones of all sorts: compressed or not, of Windows 7 and later, one of a series, a ring, relogged files.
const TRACES: [&str; 7] = [
    "tx-HTTP_Server",
    "msbuild-PerfViewData",
    "perfview-SelfDescribingSingleEvent",
    "perfview-gcevents",
    "s4-WindowsUpdate.20251008",
    "krabsetw-powershell",
    "pyetwkit-sample",
];

/// Of the flips of a trace, a sample takes every so many.
const SAMPLE: usize = 61;

/// The events of a file but the header event: their number, and a sum over their bytes that does not depend on their
/// order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Events {
    count: u64,
    sum: u64,
}

impl AddAssign for Events {
    fn add_assign(&mut self, other: Events) {
        self.count += other.count;
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

/// What of an extent decides which events are read.
type Extent = (u64, u32, u32, u16, u16);

fn extent(extent: &BufferExtent) -> Extent {
    (extent.offset, extent.stored_len, extent.used_len, extent.flags, extent.buffer_type)
}

fn surveyed(input: &MemoryInput) -> etl2parquet::Result<FileSurvey> {
    let options = SurveyOptions { anchor: ClockAnchor::Start, hash: false, ..SurveyOptions::default() };
    survey(input, String::new(), &options, &NoProgress)
}

fn events_of(file: &FileSurvey, input: &MemoryInput, extent: &BufferExtent) -> Events {
    let mut scratch = Scratch::default();
    let content = content::read(input, extent, file.session.max_buffer_size(), &mut scratch).unwrap();
    let mut events = Events::default();
    for step in Walk::new(content.bytes(), 0) {
        let WalkStep::Event(raw) = step else { continue };
        if (extent.ordinal, raw.offset) == (0, 0) {
            continue;
        }
        let mut hasher = DefaultHasher::new();
        raw.bytes.hash(&mut hasher);
        events += Events { count: 1, sum: hasher.finish() };
    }
    events
}

/// What became of the flips of a trace.
#[derive(Debug, Default)]
struct Outcomes {
    flips: u64,
    /// All events are there.
    harmless: u64,
    /// They are not, and the file counts as damaged.
    said: u64,
    /// The file was refused.
    refused: u64,
    /// They are not, and nobody says so: the place, and how many are there.
    mute: Vec<(usize, u32, u64)>,
}

/// A trace of which single bits are flipped.
struct Subject {
    bytes: Vec<u8>,
    /// Offsets of the bytes to flip: the header of each buffer, and the header event.
    places: Vec<usize>,
    events: Events,
    by_extent: HashMap<Extent, Events>,
}

impl Subject {
    fn new(bytes: &[u8]) -> Self {
        let input = MemoryInput::new("whole.etl", bytes.to_vec());
        let file = surveyed(&input).unwrap();
        assert!(!file.is_damaged(), "the trace is damaged before anything is flipped");
        let mut events = Events::default();
        let mut by_extent = HashMap::new();
        for buffer in &*file.buffers {
            let found = events_of(&file, &input, &buffer.extent);
            events += found;
            // The header event is flipped, too.
            if buffer.extent.ordinal > 0 {
                by_extent.insert(extent(&buffer.extent), found);
            }
        }
        let size = usize::from(u16::from_le_bytes([bytes[72 + 4], bytes[72 + 5]]));
        let starts = file.buffers.iter().map(|buffer| usize::try_from(buffer.extent.offset).unwrap());
        let places = starts.flat_map(|start| start..start + 72).chain(72..72 + size).collect();
        Subject { bytes: bytes.to_vec(), places, events, by_extent }
    }

    fn flip(&self, at: usize, bit: u32, outcomes: &mut Outcomes) {
        let mut bytes = self.bytes.clone();
        damage::flip(&mut bytes, at, bit);
        outcomes.flips += 1;
        let input = MemoryInput::new("flipped.etl", bytes);
        let file = match surveyed(&input) {
            Ok(file) => file,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Input, "bit {bit} at {at}: {error}");
                outcomes.refused += 1;
                return;
            }
        };
        let mut events = Events::default();
        for buffer in &*file.buffers {
            let known = self.by_extent.get(&extent(&buffer.extent)).copied();
            events += known.unwrap_or_else(|| events_of(&file, &input, &buffer.extent));
        }
        match (events == self.events, file.is_damaged()) {
            (true, _) => outcomes.harmless += 1,
            (false, true) => outcomes.said += 1,
            (false, false) => outcomes.mute.push((at, bit, events.count)),
        }
    }

    fn run(&self, step: usize) -> Outcomes {
        let mut outcomes = Outcomes::default();
        let flips = self.places.iter().flat_map(|&at| (0..8).map(move |bit| (at, bit)));
        flips.step_by(step).for_each(|(at, bit)| self.flip(at, bit, &mut outcomes));
        outcomes
    }
}

/// Flips bits of a trace.
fn t(name: &str, bytes: &[u8]) {
    let is_whole_run = std::env::var_os("ETL2PARQUET_FLIPS").is_some_and(|value| value == "all");
    let outcomes = Subject::new(bytes).run(if is_whole_run { 1 } else { SAMPLE });
    println!("{name}: {outcomes:?}");
    assert!(outcomes.flips > 50 && outcomes.harmless > 0 && outcomes.mute.is_empty(), "{name}: {outcomes:?}");
}

#[test]
fn no_flip_in_a_real_trace_is_mute() {
    let Some(folder) = corpus() else { return };
    std::thread::scope(|scope| {
        for name in TRACES {
            let bytes = fs::read(folder.join(format!("{name}.etl"))).unwrap();
            scope.spawn(move || t(name, &bytes));
        }
    });
}

/// Buffers of 4 KiB that several CPUs filled, none of them to the end.
fn written(mode: u32) -> Trace {
    let mut session = Session::new(3, 0x1000);
    for n in 0..400_i64 {
        let cpu = u16::try_from(n % 3).unwrap();
        session.log(cpu, T0 + n, perfinfo64(0x0F99, T0 + n).payload(n.to_le_bytes()));
    }
    trace(header().processors(3).log_file_mode(mode)).buffers(session.finish(T0 + 1000))
}

#[test]
fn no_flip_in_a_preallocated_trace_is_mute() {
    let trace = written(0x21);
    t("preallocated", &trace.to_bytes());
    let mut bytes = trace.to_bytes();
    damage::zero_tail(&mut bytes, 0x3000);
    t("with a tail", &bytes);
}

#[test]
fn no_flip_in_a_circular_trace_is_mute() {
    t("circular", &written(2).to_bytes());
}
