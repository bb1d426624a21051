//! Slices: disjoint parts of the order, each with the buffer segments that hold its events.
//!
//! ```text
//!            cut 1          cut 2
//! cpu 0 |--A--|-----B-----|---C--|--D--|      slice 0: A, E[..x]
//! cpu 1 |--------E-x-------------y-----|      slice 1: B, C[..z], E[x..y]
//! ```
//!
//! Cuts are laid as if events were spread evenly over the time of their buffer. The walk through the buffers at the cuts
//! shows what really lies between them; where that is too much, as only in traces that nothing recorded, more cuts
//! are laid at keys of events, and the buffers are cut anew.
//!
//! A buffer without a readable event is in no slice. The survey has counted what is damaged in it.

use std::ops::Range;

use rayon::prelude::*;

use super::refine::{self, Overfull};
use super::segments::{self, Parts, Place, Segment, windows};
use crate::buffer::content::Scratch;
use crate::error::Result;
use crate::plan::cuts::{self, EVENT_COST, Key, MAX_COST};
use crate::spill::{SpillSpace, SpillWriter, Spilled};
use crate::survey::{FileSurvey, Progress, Step, stop_if_cancelled, timed};

/// How often cuts are laid anew. Each time what is too much is cut into parts of half of what is allowed, as far as a sample
/// of its events can tell.
const MAX_ROUNDS: usize = 8;

/// Bytes that the walks through buffers at cuts may take side by side.
const WALK_WEIGHT: u64 = 32 << 20;

/// Segments that are brought into order at a time.
const SORT_SEGMENTS: usize = 1 << 19;

/// Segments of which is known which slices they are of.
const BLOCK_SEGMENTS: usize = 1 << 12;

/// A part of the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Keys of the slice are at least this; `None` in the first slice.
    pub from: Option<Key>,
    /// Keys of the slice are below this; `None` in the last slice.
    pub to: Option<Key>,
    /// Its parts among all segments.
    segments: Range<usize>,
    /// Events in it.
    pub events: u64,
    /// Number of its first event in the order of the recording.
    pub first_seq: u64,
    /// Bytes of event data in it.
    pub bytes: u64,
    /// Bytes of the largest buffer that is expanded for it.
    expanded: u32,
}

impl Slice {
    /// Bytes that the work on the slice takes: its events, their order, about as much again as columns, and an expanded
    /// buffer.
    pub fn cost(&self) -> u64 {
        let parts = self.segments.len() as u64 * 128;
        let events = self.bytes.saturating_mul(2).saturating_add(self.events.saturating_mul(EVENT_COST));
        events.saturating_add(parts).saturating_add(u64::from(self.expanded))
    }
}

/// All slices of a recording.
#[derive(Debug)]
pub struct Slices {
    list: Vec<Slice>,
    /// By slice; within a slice by file, stream, sequence and number of the buffer: with that, a stable sort by time yields
    /// the order.
    segments: Spilled<Segment>,
    /// The events that were set aside.
    aside: Spilled<u8>,
    /// Per file, the damaged events of buffers that are in no slice.
    pub damaged: Vec<u64>,
}

impl Slices {
    /// The slices in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Slice> {
        self.list.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none: the recording has no readable event.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// A slice by its place in the order.
    pub fn get(&self, number: usize) -> Option<&Slice> {
        self.list.get(number)
    }

    /// The segments of a slice.
    pub fn segments(&self, slice: &Slice) -> &[Segment] {
        self.segments.get(slice.segments.clone()).unwrap_or_default()
    }

    /// The events of a segment that were set aside, if they were; see [`AsideWalk`](super::aside::AsideWalk).
    pub fn aside(&self, segment: &Segment) -> Option<&[u8]> {
        let start = usize::try_from(segment.aside()?).ok()?;
        Some(self.aside.get(start..start.checked_add(segment.to as usize)?).unwrap_or_default())
    }
}

impl<'a> IntoIterator for &'a Slices {
    type Item = &'a Slice;
    type IntoIter = std::slice::Iter<'a, Slice>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Cuts the order of all events of a recording into slices of about equal bytes. They depend on the input alone. `space` is
/// for what does not fit into memory.
///
/// # Errors
/// When a file cannot be read, when there is no space, and when the caller asked to stop.
pub fn plan(files: &[FileSurvey], space: &SpillSpace, progress: &dyn Progress) -> Result<Slices> {
    let cuts = timed(progress, Step::Plan, || cuts::choose(files));
    cut_to_fit(files, cuts, MAX_COST, space, progress)
}

/// Cuts the order of all events at the given keys, and at more where a slice would cost more than `max_cost`.
///
/// # Errors
/// Those of [`plan`].
pub fn cut_to_fit(
    files: &[FileSurvey],
    mut cuts: Vec<Key>,
    max_cost: u64,
    space: &SpillSpace,
    progress: &dyn Progress,
) -> Result<Slices> {
    let mut slices = cut(files, &cuts, space, progress)?;
    for _ in 0..MAX_ROUNDS {
        let overfull = overfull(&slices, &cuts, max_cost);
        let more = refine::cuts(files, &cuts, &overfull, max_cost, progress)?;
        if more.is_empty() {
            break;
        }
        cuts.extend(more);
        cuts.sort_unstable();
        cuts.dedup();
        // What was set aside for the slices before is not needed any more.
        drop(slices);
        slices = cut(files, &cuts, space, progress)?;
    }
    Ok(slices)
}

/// The slices that are too much work.
fn overfull(slices: &Slices, cuts: &[Key], max_cost: u64) -> Vec<Overfull> {
    let overfull = |slice: &Slice| {
        let number = slice.from.map_or(0, |from| cuts::slice_of(cuts, &from));
        Overfull { slice: number, events: slice.events, cost: slice.cost() }
    };
    slices.iter().filter(|slice| slice.cost() > max_cost).map(overfull).collect()
}

/// Cuts the order of all events at the given keys.
///
/// # Errors
/// Those of [`plan`].
pub fn cut(files: &[FileSurvey], cuts: &[Key], space: &SpillSpace, progress: &dyn Progress) -> Result<Slices> {
    let mut draft = Draft::new(files, cuts, space);
    for (file, input) in files.iter().zip(0..=u16::MAX) {
        for window in windows(file, input) {
            draft.take(&window, progress)?;
        }
    }
    draft.finish(progress)
}

/// Slices while their segments are found.
struct Draft<'a> {
    files: &'a [FileSurvey],
    cuts: &'a [Key],
    space: &'a SpillSpace,
    slices: Vec<Slice>,
    /// How many segments each slice has.
    counts: Vec<usize>,
    segments: SpillWriter<Segment>,
    aside: SpillWriter<u8>,
    damaged: Vec<u64>,
}

impl<'a> Draft<'a> {
    fn new(files: &'a [FileSurvey], cuts: &'a [Key], space: &'a SpillSpace) -> Self {
        let slice = |number: usize| Slice {
            from: number.checked_sub(1).map(|before| cuts[before]),
            to: cuts.get(number).copied(),
            segments: 0..0,
            events: 0,
            first_seq: 0,
            bytes: 0,
            expanded: 0,
        };
        Draft {
            files,
            cuts,
            space,
            slices: (0..=cuts.len()).map(slice).collect(),
            counts: vec![0; cuts.len() + 1],
            segments: space.records(),
            aside: space.records(),
            damaged: vec![0; files.len()],
        }
    }

    /// Finds the segments of some buffers.
    fn take(&mut self, window: &[Place<'_>], progress: &dyn Progress) -> Result<()> {
        let cuts = self.cuts;
        let spans: Vec<_> = window.par_iter().map(|place| place.span(cuts)).collect();
        let (mut astride, mut weight) = (Vec::new(), 0);
        for (place, span) in window.iter().zip(spans) {
            if place.record.events == 0 {
                self.damaged[usize::from(place.input)] += u64::from(place.record.damaged_events);
            } else if span.0 == span.1 {
                self.add(&[place.whole(span.0)])?;
            } else {
                astride.push((place, span));
                weight += place.weight();
                if weight >= WALK_WEIGHT {
                    self.walk(&std::mem::take(&mut astride), progress)?;
                    weight = 0;
                }
            }
        }
        self.walk(&astride, progress)
    }

    /// Walks through buffers that lie in several slices.
    fn walk(&mut self, astride: &[(&Place<'_>, (usize, usize))], progress: &dyn Progress) -> Result<()> {
        stop_if_cancelled(progress)?;
        let cuts = self.cuts;
        let parts = astride.par_iter().map_init(Scratch::default, |scratch, (place, span)| {
            timed(progress, Step::Cut, || segments::parts(place, cuts, *span, scratch))
        });
        for Parts { mut segments, aside } in parts.collect::<Result<Vec<_>>>()? {
            let before = self.aside.len() as u64;
            segments.iter_mut().for_each(|segment| segment.set_aside_behind(before));
            self.aside.extend(&aside)?;
            self.add(&segments)?;
        }
        Ok(())
    }

    fn add(&mut self, segments: &[Segment]) -> Result<()> {
        for segment in segments {
            let (slice, count) = (&mut self.slices[segment.slice as usize], &mut self.counts[segment.slice as usize]);
            let record = &self.files[usize::from(segment.input)].buffers[segment.buffer as usize];
            slice.events += u64::from(segment.events);
            slice.bytes += u64::from(segment.to - segment.from);
            if record.extent.is_compressed() && segment.aside().is_none() {
                slice.expanded = slice.expanded.max(record.content_bytes);
            }
            *count += 1;
        }
        self.segments.extend(segments)
    }

    fn finish(self, progress: &dyn Progress) -> Result<Slices> {
        let Draft { files, space, mut slices, counts, segments, aside, damaged, .. } = self;
        let segments = by_slice(files, &counts, &segments.finish()?, space, progress)?;
        let (mut next_segment, mut next_event) = (0, 0);
        for (slice, count) in slices.iter_mut().zip(counts) {
            slice.segments = next_segment..next_segment + count;
            slice.first_seq = next_event;
            next_segment += count;
            next_event += slice.events;
        }
        slices.retain(|slice| !slice.segments.is_empty());
        Ok(Slices { list: slices, segments, aside: aside.finish()?, damaged })
    }
}

/// Brings segments into order, as many at a time as memory is meant for.
fn by_slice(
    files: &[FileSurvey],
    counts: &[usize],
    segments: &[Segment],
    space: &SpillSpace,
    progress: &dyn Progress,
) -> Result<Spilled<Segment>> {
    let numbers = |block: &[Segment]| {
        let slices = || block.iter().map(|segment| segment.slice as usize);
        slices().min().unwrap_or(0)..slices().max().map_or(0, |last| last + 1)
    };
    let blocks: Vec<_> = segments.par_chunks(BLOCK_SEGMENTS).map(|block| (numbers(block), block)).collect();
    let mut ordered = space.records();
    let mut first = 0;
    while first < counts.len() {
        stop_if_cancelled(progress)?;
        let mut left = SORT_SEGMENTS;
        let fits = |count: &&usize| {
            let fits = left == SORT_SEGMENTS || **count <= left;
            left = left.saturating_sub(**count);
            fits
        };
        let end = first + counts[first..].iter().take_while(fits).count();
        let wanted = first..end;
        let blocks = blocks.par_iter().filter(|(numbers, _)| numbers.start < end && first < numbers.end);
        let segments = blocks.flat_map_iter(|(_, block)| block.iter().copied());
        let mut some: Vec<Segment> = segments.filter(|s| wanted.contains(&(s.slice as usize))).collect();
        timed(progress, Step::Plan, || sort(files, &mut some));
        ordered.extend(&some)?;
        first = end;
    }
    ordered.finish()
}

fn sort(files: &[FileSurvey], segments: &mut [Segment]) {
    segments.sort_by_key(|segment| segment.slice);
    for slice in segments.chunk_by_mut(|a, b| a.slice == b.slice) {
        slice.sort_by_key(|segment| {
            let file = &files[usize::from(segment.input)];
            let extent = &file.buffers[segment.buffer as usize].extent;
            (segment.input, file.reader().stream(extent), file.reader().sequence(extent), extent.ordinal)
        });
    }
}
