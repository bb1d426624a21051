//! One flipped bit in the size of an event loses no row in silence.
//!
//! A size that is too large makes a payload of the events behind. Which rows are lost is found by a reader of its own, from
//! docs/format.md 2.1, that knows where the events of the unflipped buffer begin. Where rows are lost, the survey of a
//! trace with the flipped buffer must count damage; where nothing is flipped it must count none. Where the reading ends in
//! bytes that are no event, what the survey finds behind them must begin where an event of the unflipped buffer does.
//!
//! A run of the tests takes a sample of some traces. All sizes of all traces: `scripts/check/flips`.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]
#![allow(clippy::print_stdout, reason = "a whole run shows its figures")]

mod support;
mod synth;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use base::clock::ClockAnchor;
use base::progress::NoProgress;
use conversion::survey::{FileSurvey, SurveyOptions, survey};
use etl::buffer::content::{self, Scratch};
use etl::input::MemoryInput;
use support::corpus;
use synth::*;

/// Those of a sample: kernel, manifest, classic and TraceLogging events, WPP messages, of 32 and 64 bits.
const TRACES: [&str; 8] = [
    "filtrace-diskio",
    "krabsetw-powershell",
    "msbuild-PerfViewData",
    "perfview-diaghub.kernel.1",
    "pyetwkit-sample",
    "tx-HTTP_Server",
    "wpp/findneedle-wppemitter-sample",
    "wpp/made-wppitems",
];

/// Of the flips of a trace that lose rows, a sample takes every so many.
const SAMPLE: usize = 11;

/// Of the flips that end in bytes that are no event, a whole run takes every so many: the survey counts them as they come.
const ASTRAY: usize = 97;

/// Where the size of an event stands, and how many bytes its header has at least.
fn header(event: &[u8]) -> Option<(usize, usize)> {
    match *event.get(..4)? {
        [.., 0x01 | 0x02, 0xC0] => Some((4, 32)),
        [.., 0x03 | 0x04, 0xC0] => Some((4, 24)),
        [.., 0x10 | 0x11, 0xC0] => Some((4, 16)),
        [.., 0x0A | 0x14, 0xC0] => Some((0, 48)),
        [.., 0x0B | 0x15, 0xC0] => Some((0, 72)),
        [.., 0x12 | 0x13, 0xC0] => Some((0, 80)),
        [.., 0x0D | 0x0E, 0xC0] => Some((0, 8)),
        [.., 0x0C, 0xC0] | [.., 0xB0] => Some((0, 16)),
        [.., 0x90] => Some((0, 8 + message_parts(event)?)),
        _ => None,
    }
}

/// Sequence, GUID or component, time, thread and process of a message, by its flags.
fn message_parts(event: &[u8]) -> Option<usize> {
    let flags = event.get(6)?;
    let identity = match flags & 6 {
        0 => 0,
        2 => 16,
        _ => 4,
    };
    Some(4 * usize::from(flags & 1) + identity + usize::from(flags & 8) + usize::from(flags & 0x20) / 4)
}

/// Where the event behind the one at `at` begins.
fn next(bytes: &[u8], at: usize) -> Option<usize> {
    let event = &bytes[at..];
    let (place, least) = header(event)?;
    let size = usize::from(u16::from_le_bytes(event.get(place..place + 2)?.try_into().unwrap()));
    let counters = if place == 4 { 8 * usize::from((event[1] & 7) + (event[1] >> 7)) } else { 0 };
    (size >= least + counters && size <= event.len()).then(|| (at + size).next_multiple_of(8))
}

/// The content of a buffer, and where its events begin.
struct Subject {
    content: Vec<u8>,
    starts: Vec<usize>,
    /// A trace with this buffer, and where the content stands in it.
    trace: Vec<u8>,
    place: usize,
}

impl Subject {
    /// `None` where the buffer has no events, or is damaged.
    fn new(content: &[u8]) -> Option<Self> {
        let (mut starts, mut at) = (Vec::new(), 0);
        while at < content.len() {
            starts.push(at);
            at = next(content, at)?;
        }
        let size = (content.len() + 0x148).next_multiple_of(0x1000);
        let mut only = buffer(size).sequence(1).unpadded_end();
        only.push(content);
        let trace = trace(synth::header().buffer_size(u32::try_from(size).unwrap())).buffers([only]);
        let subject =
            Subject { content: content.to_vec(), starts, place: trace.event_position(1, 0), trace: trace.to_bytes() };
        (!subject.starts.is_empty()).then_some(subject)
    }

    /// How many events are lost behind the `number`-th, whose size is flipped, and whether the reading ends in bytes that are
    /// no event.
    fn lost(&self, flipped: &[u8], number: usize) -> (usize, bool) {
        let mut at = self.starts[number];
        let behind = &self.starts[number + 1..];
        loop {
            match next(flipped, at) {
                None => return (behind.len(), true),
                Some(end) if end >= flipped.len() => return (behind.len(), false),
                Some(end) => match behind.binary_search(&end) {
                    Ok(lost) => return (lost, false),
                    Err(_) => at = end,
                },
            }
        }
    }

    fn is_damaged(&self, flip: Option<(usize, u32)>) -> bool {
        self.surveyed(flip).is_damaged()
    }

    fn surveyed(&self, flip: Option<(usize, u32)>) -> FileSurvey {
        let mut bytes = self.trace.clone();
        if let Some((at, bit)) = flip {
            damage::flip(&mut bytes, self.place + at, bit);
        }
        surveyed(&MemoryInput::new("flipped.etl", bytes))
    }

    /// The events that are found again where the reading of a flipped buffer ends in bytes that are no event.
    fn recovered(&self, flipped: &FileSurvey) -> usize {
        let buffer = flipped.buffers.last().unwrap();
        if buffer.recovered == 0 {
            return 0;
        }
        let found = self.starts.binary_search(&(buffer.gap.to as usize)).expect("an event begins there");
        assert_eq!(buffer.recovered as usize, self.starts.len() - found);
        buffer.recovered as usize
    }

    /// Flips the sizes of all events from the given one on.
    fn run(&mut self, first: usize, is_whole_run: bool, outcomes: &mut Outcomes) {
        assert!(!self.is_damaged(None), "events are found in others before anything is flipped");
        for number in first..self.starts.len() {
            let start = self.starts[number];
            let place = start + header(&self.content[start..]).unwrap().0;
            for flip in 0..16 {
                let (at, bit) = (place + flip / 8, u32::try_from(flip % 8).unwrap());
                damage::flip(&mut self.content, at, bit);
                let (lost, is_astray) = self.lost(&self.content, number);
                damage::flip(&mut self.content, at, bit);
                if outcomes.count(lost, is_astray, is_whole_run) {
                    let flipped = self.surveyed(Some((at, bit)));
                    if !flipped.is_damaged() {
                        outcomes.mute.push((start, bit, lost));
                    } else if is_astray {
                        outcomes.astray_rows += lost;
                        outcomes.recovered_rows += self.recovered(&flipped);
                    }
                }
            }
        }
    }
}

fn surveyed(input: &MemoryInput) -> FileSurvey {
    let options = SurveyOptions { anchor: ClockAnchor::Start, hash: false, ..SurveyOptions::default() };
    survey(input, String::new(), &options, &NoProgress).unwrap()
}

/// What became of the flips of a trace.
#[derive(Debug, Default)]
struct Outcomes {
    flips: usize,
    /// The reading ends in bytes that are no event.
    astray: usize,
    astray_asked: usize,
    /// Of those that the survey is asked of, the events behind the flipped one, and how many of them it has found again.
    astray_rows: usize,
    recovered_rows: usize,
    /// Rows are lost, and the reading goes on.
    swallowing: usize,
    swallowing_asked: usize,
    swallowed_rows: usize,
    /// Nobody says so: the offset of the event in its buffer, the bit, and how many rows are lost.
    mute: Vec<(usize, u32, usize)>,
}

impl Outcomes {
    /// Counts a flip; whether the survey is asked.
    fn count(&mut self, lost: usize, is_astray: bool, is_whole_run: bool) -> bool {
        self.flips += 1;
        if is_astray {
            self.astray += 1;
            let step = if is_whole_run { ASTRAY } else { 10 * ASTRAY };
            let is_asked = self.astray.is_multiple_of(step);
            self.astray_asked += usize::from(is_asked);
            return is_asked;
        }
        if lost == 0 {
            return false;
        }
        self.swallowing += 1;
        self.swallowed_rows += lost;
        let is_asked = is_whole_run || self.swallowing % SAMPLE == 1;
        self.swallowing_asked += usize::from(is_asked);
        is_asked
    }
}

fn t(path: &Path, is_whole_run: bool) {
    let input = MemoryInput::new("whole.etl", fs::read(path).unwrap());
    let file = surveyed(&input);
    let (mut outcomes, mut scratch) = (Outcomes::default(), Scratch::default());
    for buffer in &*file.buffers {
        let content = content::read(&input, &buffer.extent, file.session.max_buffer_size(), &mut scratch).unwrap();
        let Some(mut subject) = Subject::new(content.bytes()) else { continue };
        // The header event is flipped elsewhere: it has its own measure.
        let first = usize::from(buffer.extent.ordinal == 0);
        subject.run(first, is_whole_run, &mut outcomes);
    }
    println!("{}: {outcomes:?}", path.display());
    assert!(outcomes.mute.is_empty(), "{}: {:?}", path.display(), outcomes.mute);
    // The smallest traces have no event that another can swallow.
    assert!(is_whole_run || outcomes.swallowing_asked > 0, "{}: nothing was asked", path.display());
}

/// All traces of the corpus, or those of a sample.
fn paths(corpus: &Path, is_whole_run: bool) -> Vec<PathBuf> {
    if !is_whole_run {
        return TRACES.iter().map(|name| corpus.join(format!("{name}.etl"))).collect();
    }
    let files = ["", "wpp"].iter().flat_map(|folder| fs::read_dir(corpus.join(folder)).unwrap());
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "etl"));
    paths
}

#[test]
fn no_flip_of_a_size_is_mute() {
    let Some(corpus) = corpus() else { return };
    let is_whole_run = std::env::var_os("ETL2PARQUET_FLIPS").is_some_and(|value| value == "all");
    let paths = Mutex::new(paths(&corpus, is_whole_run));
    let next = || paths.lock().unwrap().pop();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| std::iter::from_fn(next).for_each(|path| t(&path, is_whole_run)));
        }
    });
}

/// The first of three events of each family has the size of two.
#[test]
fn events_of_each_family_are_found_in_others() {
    let families: [Vec<u8>; 4] = [
        perfinfo64(0x0F2E, T0 + 7).payload([7; 8]).on_disk(),
        event64([7; 16], 1, 0, T0 + 7).payload([7; 11]).on_disk(),
        full64([8; 16], 1, 0, T0 + 7).payload([7; 3]).on_disk(),
        message(3).guid([9; 16]).time(T0 + 7).arguments([7; 5]).on_disk(),
    ];
    let padded = |event: &[u8]| {
        let mut event = event.to_vec();
        event.resize(event.len().next_multiple_of(8), 0xEE);
        event
    };
    for holder in &families {
        for inner in &families {
            let mut content = [padded(holder), padded(inner), padded(holder)].concat();
            let subject = Subject::new(&content).unwrap();
            assert!(!subject.is_damaged(None));
            let end = padded(holder).len() + inner.len();
            let size = header(&content).unwrap().0;
            content[size..size + 2].copy_from_slice(&u16::try_from(end).unwrap().to_le_bytes());
            assert_eq!(subject.lost(&content, 0), (1, false));
            assert!(Subject::new(&content).unwrap().is_damaged(None), "{holder:02X?} holds {inner:02X?}");
        }
    }
}
