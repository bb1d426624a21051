//! Slices: disjoint parts of the order, each with the buffer segments that hold its events.
//!
//! ```text
//!            cut 1          cut 2
//! cpu 0 |--A--|-----B-----|---C--|--D--|      slice 0: A, E[..x]
//! cpu 1 |--------E-x-------------y-----|      slice 1: B, C[..z], E[x..y]
//! ```
//!
//! A buffer wholly inside a slice brings its count from the survey. One that straddles a cut is walked once more and
//! leaves, per slice, where its events start and end and how many there are, so that every slice knows its first
//! row number before anything is decoded, and no event is decoded twice. In a buffer that is not sorted no two
//! offsets hold exactly the events of a slice; each slice walks all of it and takes what belongs to it.

use rayon::prelude::*;

use super::cuts::{self, GlobalKey};
use crate::buffer::content::{self, Scratch};
use crate::error::Result;
use crate::event::{TimedStep, TimedWalk};
use crate::survey::{BufferRecord, FileSurvey, OrderKey, Progress, Work, timed};

/// The part of one buffer that belongs to one slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Number of the file.
    pub input: u16,
    /// Index of the buffer in [`FileSurvey::buffers`].
    pub buffer: u32,
    /// Offset of the first event from the first event of the buffer.
    pub from: u32,
    /// Where the segment ends.
    pub to: u32,
    /// Events of the slice in it.
    pub events: u32,
    /// Whether events of other slices lie between, so that each event's key must be compared.
    pub is_mixed: bool,
    /// Whether what follows the last readable event of the buffer is counted here.
    pub owns_end: bool,
}

/// A part of the order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// Keys of the slice are at least this; `None` in the first slice.
    pub from: Option<GlobalKey>,
    /// Keys of the slice are below this; `None` in the last slice.
    pub to: Option<GlobalKey>,
    /// Its parts, by file, stream, sequence and number of the buffer: with that, a stable sort by time yields the
    /// order.
    pub segments: Vec<Segment>,
    /// Events in it.
    pub events: u64,
    /// Number of its first event in the order of the recording.
    pub first_seq: u64,
    /// Bytes of event data in it.
    pub bytes: u64,
}

impl Slice {
    /// Whether a key lies in the slice.
    pub fn contains(&self, key: &GlobalKey) -> bool {
        self.from.is_none_or(|from| from <= *key) && self.to.is_none_or(|to| *key < to)
    }
}

/// Cuts the order of all events of a recording into slices of about equal bytes. They depend on the input alone.
///
/// # Errors
/// When a file cannot be read.
pub fn plan(files: &[FileSurvey], progress: &dyn Progress) -> Result<Vec<Slice>> {
    let cuts = timed(progress, Work::Plan, || cuts::choose(files));
    cut(files, &cuts, progress)
}

/// Cuts the order of all events at the given keys.
///
/// # Errors
/// When a file cannot be read.
pub fn cut(files: &[FileSurvey], cuts: &[GlobalKey], progress: &dyn Progress) -> Result<Vec<Slice>> {
    let per_file = files.iter().zip(0..=u16::MAX).map(|(file, input)| {
        let segments = file.buffers.par_iter().enumerate().map_init(Scratch::default, |scratch, (index, record)| {
            let buffer = u32::try_from(index).unwrap_or(u32::MAX);
            timed(progress, Work::Cut, || segments(&Place { file, input, buffer, record }, cuts, scratch))
        });
        segments.collect::<Result<Vec<_>>>()
    });
    let per_file = per_file.collect::<Result<Vec<_>>>()?;
    Ok(timed(progress, Work::Plan, || joined(files, cuts, per_file.into_iter().flatten().flatten())))
}

/// The slices between the cuts, each with its segments.
fn joined(
    files: &[FileSurvey],
    cuts: &[GlobalKey],
    segments: impl IntoIterator<Item = (usize, Segment)>,
) -> Vec<Slice> {
    let mut slices: Vec<Slice> = (0..=cuts.len())
        .map(|i| Slice { from: i.checked_sub(1).map(|i| cuts[i]), to: cuts.get(i).copied(), ..Slice::default() })
        .collect();
    for (slice, segment) in segments {
        slices[slice].segments.push(segment);
    }
    for slice in &mut slices {
        slice.segments.sort_by_key(|segment| {
            let file = &files[usize::from(segment.input)];
            let frame = &file.buffers[segment.buffer as usize].frame;
            (segment.input, file.ground().stream(frame), file.ground().sequence(frame), frame.ordinal)
        });
        slice.events = slice.segments.iter().map(|segment| u64::from(segment.events)).sum();
        slice.bytes = slice.segments.iter().map(|segment| u64::from(segment.to - segment.from)).sum();
    }
    slices.retain(|slice| !slice.segments.is_empty());
    let mut next = 0;
    for slice in &mut slices {
        slice.first_seq = next;
        next += slice.events;
    }
    slices
}

/// A buffer of a file of the recording.
struct Place<'a> {
    file: &'a FileSurvey,
    input: u16,
    buffer: u32,
    record: &'a BufferRecord,
}

impl Place<'_> {
    fn key(&self, ticks: i64, offset: u32) -> GlobalKey {
        let frame = &self.record.frame;
        let ground = self.file.ground();
        let (stream, sequence) = (ground.stream(frame), ground.sequence(frame));
        let at = OrderKey { ticks, stream, sequence, ordinal: frame.ordinal, offset };
        GlobalKey::new(self.file, self.input, at)
    }

    fn whole(&self) -> Segment {
        Segment {
            input: self.input,
            buffer: self.buffer,
            from: 0,
            to: self.record.content_bytes,
            events: self.record.events,
            is_mixed: false,
            owns_end: true,
        }
    }
}

/// The slice that a key lies in.
fn slice_of(cuts: &[GlobalKey], key: &GlobalKey) -> usize {
    cuts.partition_point(|cut| cut <= key)
}

/// The segments of one buffer, with the number of the slice of each.
fn segments(place: &Place<'_>, cuts: &[GlobalKey], scratch: &mut Scratch) -> Result<Vec<(usize, Segment)>> {
    let record = place.record;
    if record.events == 0 {
        // Nothing to convert, but the damage in it must be counted.
        let is_damaged = record.damaged_events > 0;
        return Ok(is_damaged.then(|| (0, place.whole())).into_iter().collect());
    }
    let first = slice_of(cuts, &place.key(record.first_ticks, 0));
    let last = slice_of(cuts, &place.key(record.last_ticks, u32::MAX));
    if first == last {
        return Ok(vec![(first, place.whole())]);
    }
    let ground = place.file.ground();
    let content = content::read(ground.source, &record.frame, ground.max_expanded, scratch)?;
    let walk = TimedWalk::new(content.bytes(), 0, ground.fallback_ticks);
    let keys = walk.filter_map(|step| match step {
        TimedStep::Event(event) => Some((event.raw.offset, slice_of(cuts, &place.key(event.ticks, event.raw.offset)))),
        TimedStep::Damage { .. } => None,
    });
    Ok(if record.is_sorted() { checkpoints(place, keys) } else { shares(place, keys) })
}

/// Where the events of each slice start and end in a sorted buffer.
fn checkpoints(place: &Place<'_>, keys: impl Iterator<Item = (u32, usize)>) -> Vec<(usize, Segment)> {
    let mut parts: Vec<(usize, Segment)> = Vec::new();
    for (offset, slice) in keys {
        match parts.last_mut() {
            Some((current, segment)) if *current == slice => segment.events += 1,
            last => {
                if let Some((_, segment)) = last {
                    segment.to = offset;
                    segment.owns_end = false;
                }
                parts.push((slice, Segment { from: offset, events: 1, ..place.whole() }));
            }
        }
    }
    parts
}

/// How many events of each slice lie in a buffer that is not sorted.
fn shares(place: &Place<'_>, keys: impl Iterator<Item = (u32, usize)>) -> Vec<(usize, Segment)> {
    let mut parts: Vec<(usize, Segment)> = Vec::new();
    for (_, slice) in keys {
        match parts.binary_search_by_key(&slice, |(number, _)| *number) {
            Ok(at) => parts[at].1.events += 1,
            Err(at) => parts.insert(at, (slice, Segment { events: 1, is_mixed: true, ..place.whole() })),
        }
    }
    // The end of the buffer is counted once.
    parts.iter_mut().skip(1).for_each(|(_, segment)| segment.owns_end = false);
    parts
}
