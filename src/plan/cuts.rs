//! The order of all events of a recording, and the keys that cut it into slices.
//!
//! A cut is a full order key and need not be the key of any event: a clock that stands still for a million events
//! still splits, by stream, buffer and offset.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use crate::clock::Ticks;
use crate::survey::{BufferSummary, FileKey, FileSurvey};

/// The place of an event in the order of a recording of several files.
///
/// Files are compared by nanoseconds, never by raw ticks, which may be of different clocks; within a file the tick
/// decides before anything else, because several ticks of a fast clock fall into one nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Unix time in nanoseconds.
    pub ns: i64,
    /// Number of the file in the recording.
    pub input: u16,
    /// The place within the file.
    pub at: FileKey,
}

impl Key {
    /// The key of a place in a file.
    pub fn new(file: &FileSurvey, input: u16, at: FileKey) -> Self {
        Key { ns: file.clock.to_unix(Ticks(at.ticks)).0, input, at }
    }
}

/// Slices that keep many cores busy to the end, where a trace is small.
const MANY_SLICES: u64 = 64;

/// The least and the most event bytes of a slice: large enough that what it costs to begin one does not count, small
/// enough that slices in flight fit into the smallest budget.
const SLICE_BYTES: RangeInclusive<u64> = 1 << 20..=8 << 20;

/// Bytes that the work on one slice may take: 8 MiB of the smallest events that have a time, which is what a slice that is
/// cut by bytes can hold at most. It fits into the smallest budget.
pub const MAX_COST: u64 = 96 << 20;

/// Bytes that an event takes besides its own, twice, while its slice is in work: its place in the order, and its row.
pub(crate) const EVENT_COST: u64 = 160;

/// Event bytes per event shape of a slice: every table takes a handful of allocations from every slice, however few its
/// rows.
const SHAPE_BYTES: u64 = 8 << 10;

/// Buffers per stream of a slice: those at its ends lie in two slices, and are walked through, or even expanded, again.
const STREAM_BUFFERS: u64 = 8;

/// Bytes of a buffer that one possible cut stands for.
const STEP_BYTES: u32 = 256 << 10;

/// Possible cuts that are looked at; in a trace with more, every so many are.
const MAX_CANDIDATES: usize = 1 << 20;

/// Keys at which the order is cut, in order. They depend on the input alone.
pub fn choose(files: &[FileSurvey]) -> Vec<Key> {
    let slice_bytes = Scale::of(files).slice_bytes();
    let total: usize = files.iter().flat_map(|file| file.buffers.iter()).map(steps).sum();
    let every = total.div_ceil(MAX_CANDIDATES).max(1);
    let mut candidates: Vec<_> = all_candidates(files).step_by(every).collect();
    candidates.sort_unstable();
    let mut cuts = Vec::new();
    let mut bytes = 0;
    for (key, weight) in candidates {
        if bytes >= slice_bytes {
            cuts.push(key);
            bytes = 0;
        }
        bytes += u64::from(weight) * every as u64;
    }
    cuts.dedup();
    cuts
}

/// The slice that a key lies in.
pub(crate) fn slice_of(cuts: &[Key], key: &Key) -> usize {
    cuts.partition_point(|cut| cut <= key)
}

/// What the size of slices depends on.
#[derive(Clone, Copy, Debug, Default)]
struct Scale {
    /// Event bytes of the recording.
    bytes: u64,
    /// Event shapes of the file that has most.
    shapes: u64,
    /// Event bytes of one buffer of every stream.
    across: u64,
}

impl Scale {
    fn of(files: &[FileSurvey]) -> Scale {
        let mut scale = Scale::default();
        for file in files {
            let bytes = file.buffers.iter().map(|buffer| u64::from(buffer.content_bytes)).sum::<u64>();
            let streams: HashSet<u16> =
                file.buffers.iter().map(|buffer| file.reader().stream(&buffer.extent)).collect();
            scale.bytes += bytes;
            scale.shapes = scale.shapes.max(file.shapes.len() as u64);
            scale.across += bytes / (file.buffers.len() as u64).max(1) * streams.len() as u64;
        }
        scale
    }

    /// Event bytes of a slice.
    fn slice_bytes(self) -> u64 {
        let by_shapes = self.shapes.saturating_mul(SHAPE_BYTES);
        let by_streams = self.across.saturating_mul(STREAM_BUFFERS);
        let wanted = (self.bytes / MANY_SLICES).max(by_shapes).max(by_streams);
        wanted.clamp(*SLICE_BYTES.start(), *SLICE_BYTES.end())
    }
}

fn steps(buffer: &BufferSummary) -> usize {
    if buffer.events == 0 { 0 } else { buffer.content_bytes.div_ceil(STEP_BYTES).max(1) as usize }
}

fn all_candidates(files: &[FileSurvey]) -> impl Iterator<Item = (Key, u32)> {
    files.iter().zip(0..=u16::MAX).flat_map(|(file, input)| {
        file.buffers.iter().flat_map(move |buffer| {
            let count = steps(buffer);
            (0..count).map(move |step| {
                let at = interpolate(file, buffer, step as u64, count as u64);
                (Key::new(file, input, at), buffer.content_bytes / u32::try_from(count).unwrap_or(1))
            })
        })
    })
}

/// The place at `step` of `steps` through a buffer, as if its events were spread evenly: over time, or over its bytes
/// where all have one time.
fn interpolate(file: &FileSurvey, buffer: &BufferSummary, step: u64, steps: u64) -> FileKey {
    let part = |whole: u64| u64::try_from(u128::from(whole) * u128::from(step) / u128::from(steps)).unwrap_or(whole);
    let span = buffer.last_ticks.abs_diff(buffer.first_ticks);
    let offset = if span == 0 { part(u64::from(buffer.content_bytes)) } else { 0 };
    FileKey {
        ticks: buffer.first_ticks.saturating_add_unsigned(part(span)),
        stream: file.reader().stream(&buffer.extent),
        sequence: file.reader().sequence(&buffer.extent),
        ordinal: buffer.extent.ordinal,
        offset: u32::try_from(offset).unwrap_or(u32::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_many_unless_they_would_be_too_small() {
        const KIB: u64 = 1 << 10;
        const MIB: u64 = 1 << 20;
        for (bytes, shapes, across, expected) in [
            (0, 0, 0, MIB),
            (24 * MIB, 2, 4 * KIB, MIB),
            (24 * MIB, 384, 4 * KIB, 3 * MIB),
            (24 * MIB, 2, 256 * KIB, 2 * MIB),
            (128 * MIB, 3, 64 * KIB, 2 * MIB),
            (128 * MIB, 1 << 32, 4 * KIB, 8 * MIB),
            (128 * MIB, 3, 64 * MIB, 8 * MIB),
            (1 << 40, 3, 64 * KIB, 8 * MIB),
        ] {
            assert_eq!(Scale { bytes, shapes, across }.slice_bytes(), expected, "{bytes} {shapes} {across}");
        }
    }
}
