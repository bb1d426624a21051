//! The order of all events of a recording, and the keys that cut it into slices.
//!
//! A cut is a full order key and need not be the key of any event: a clock that stands still for a million events
//! still splits, by stream, buffer and offset.

use crate::clock::Ticks;
use crate::survey::{BufferRecord, FileSurvey, OrderKey};

/// The place of an event in the order of a recording of several files.
///
/// Files are compared by nanoseconds, never by raw ticks, which may be of different clocks; within a file the tick
/// decides before anything else, because several ticks of a fast clock fall into one nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GlobalKey {
    /// Unix time in nanoseconds.
    pub ns: i64,
    /// Number of the file in the recording.
    pub input: u16,
    /// The place within the file.
    pub at: OrderKey,
}

impl GlobalKey {
    /// The key of a place in a file.
    pub fn new(file: &FileSurvey, input: u16, at: OrderKey) -> Self {
        GlobalKey { ns: file.clock.to_unix(Ticks(at.ticks)).0, input, at }
    }
}

/// Event bytes of a slice: small enough that a trace of some MB keeps several cores busy and that slices in flight
/// fit into the smallest budget, large enough that their batches fill pages.
const SLICE_BYTES: u64 = 8 << 20;

/// Bytes of a buffer that one possible cut stands for.
const STEP_BYTES: u32 = 512 << 10;

/// Possible cuts that are looked at; in a trace with more, every so many are.
const MAX_CANDIDATES: usize = 1 << 20;

/// Keys at which the order is cut, in order. They depend on the input alone.
pub fn choose(files: &[FileSurvey]) -> Vec<GlobalKey> {
    let total: usize = files.iter().flat_map(|file| &file.buffers).map(steps).sum();
    let every = total.div_ceil(MAX_CANDIDATES).max(1);
    let mut candidates: Vec<_> = all_candidates(files).step_by(every).collect();
    candidates.sort_unstable();
    let mut cuts = Vec::new();
    let mut bytes = 0;
    for (key, weight) in candidates {
        if bytes >= SLICE_BYTES {
            cuts.push(key);
            bytes = 0;
        }
        bytes += u64::from(weight) * every as u64;
    }
    cuts.dedup();
    cuts
}

fn steps(buffer: &BufferRecord) -> usize {
    if buffer.events == 0 { 0 } else { buffer.content_bytes.div_ceil(STEP_BYTES).max(1) as usize }
}

fn all_candidates(files: &[FileSurvey]) -> impl Iterator<Item = (GlobalKey, u32)> {
    files.iter().zip(0..).flat_map(|(file, input)| {
        file.buffers.iter().flat_map(move |buffer| {
            let count = steps(buffer);
            (0..count).map(move |step| {
                let at = interpolate(file, buffer, step as u64, count as u64);
                (GlobalKey::new(file, input, at), buffer.content_bytes / u32::try_from(count).unwrap_or(1))
            })
        })
    })
}

/// The place at `step` of `steps` through a buffer, as if its events were spread evenly: over time, or over its bytes
/// where all have one time.
fn interpolate(file: &FileSurvey, buffer: &BufferRecord, step: u64, steps: u64) -> OrderKey {
    let part = |whole: u64| u64::try_from(u128::from(whole) * u128::from(step) / u128::from(steps)).unwrap_or(whole);
    let span = buffer.last_ticks.abs_diff(buffer.first_ticks);
    let offset = if span == 0 { part(u64::from(buffer.content_bytes)) } else { 0 };
    OrderKey {
        ticks: buffer.first_ticks.saturating_add_unsigned(part(span)),
        stream: file.ground().stream(&buffer.frame),
        sequence: buffer.frame.sequence,
        ordinal: buffer.frame.ordinal,
        offset: u32::try_from(offset).unwrap_or(u32::MAX),
    }
}
