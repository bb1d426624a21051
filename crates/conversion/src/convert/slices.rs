//! Slices: disjoint parts of a partition, each with the segments that hold its events.
//!
//! ```text
//!            cut 1          cut 2
//! cpu 0 |--A--|-----B-----|---C--|--D--|      slice 0: A, E[..x]
//! cpu 1 |--------E-x-------------y-----|      slice 1: B, C[..z], E[x..y]
//! ```
//!
//! Cuts are laid as if events were spread evenly over the time of their buffer. The walk through the buffers at the cuts
//! shows what really lies between them; where that is too much, as only in traces that nothing recorded, more cuts
//! are laid at keys of events, and the segments are cut anew.
//!
//! A buffer without a readable event is in no slice. The survey has counted what is damaged in it.

use std::ops::Range;

use base::error::Result;
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use etl::buffer::content::Scratch;
use rayon::prelude::*;
use spill::{SpillSpace, SpillWriter, Spilled};

use super::aside::AsideOffsets;
use super::cost::{EVENT_COST, MAX_COST};
use super::refine::{self, Overfull};
use super::segments::{self, Parts, PlacedSegment, SliceSegment, windows};
use crate::plan::cuts::{self, Spacing};
use crate::plan::{Key, KeyRange, PartitionView, Within, by_part, part_of};

/// How often cuts are laid anew. Each time what is too much is cut into parts of half of what is allowed, as far as a sample
/// of its events shows.
const MAX_ROUNDS: usize = 8;

/// Bytes that the walks through buffers at cuts may take side by side.
const WALK_WEIGHT: u64 = 32 << 20;

/// A part of a partition, and the work of one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Its part of the order.
    pub range: KeyRange,
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

/// All slices of a partition.
#[derive(Debug)]
pub struct Slices {
    list: Vec<Slice>,
    /// By slice; within a slice by file, stream, sequence and number of the buffer: with that, a stable sort by time yields
    /// the order.
    segments: Spilled<SliceSegment>,
    /// The events that were set aside.
    aside: Spilled<u8>,
    /// Per input, the damaged events of buffers that are in no slice.
    pub damaged: Vec<u64>,
}

impl Slices {
    /// No slices, of a partition that is not converted; `damaged` is what is counted of each input.
    pub(super) fn none(damaged: Vec<u64>) -> Self {
        Slices { list: Vec::new(), segments: Spilled::default(), aside: Spilled::default(), damaged }
    }

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
    pub fn segments(&self, slice: &Slice) -> &[SliceSegment] {
        self.segments.get(slice.segments.clone()).unwrap_or_default()
    }

    /// Where the events of a segment that were set aside stand in their buffer.
    pub(super) fn aside_offsets(&self, segment: &SliceSegment) -> AsideOffsets<'_> {
        let start = segment.aside().and_then(|start| usize::try_from(start).ok());
        let behind = start.and_then(|start| start.checked_add(segment.to as usize));
        let bytes = behind.and_then(|behind| self.aside.get(behind..)).unwrap_or_default();
        AsideOffsets::of(bytes, segment.events)
    }

    /// The events of a segment that were set aside, if they were; see [`AsideWalk`](super::aside::AsideWalk).
    pub fn aside(&self, segment: &SliceSegment) -> Option<&[u8]> {
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

/// Cuts a partition into slices of about equal bytes. They depend on the partition alone. `space` is for what does not fit
/// into memory.
///
/// # Errors
/// When an input cannot be read or has changed, when there is no space, and when the caller asked to stop.
pub fn plan(view: &PartitionView<'_>, space: &SpillSpace, progress: &dyn Progress) -> Result<Slices> {
    let spacing = Spacing { bytes: view.partition.slice_bytes, least: 0 };
    let buffers = || view.segments.iter().map(|segment| view.buffer(segment));
    let cuts = timed(progress, Step::Plan, || cuts::choose(buffers, &view.partition.range, spacing));
    cut_to_fit(view, cuts, MAX_COST, space, progress)
}

/// Cuts a partition at the given keys, and at more where a slice would cost more than `max_cost`.
///
/// # Errors
/// Those of [`plan`].
pub fn cut_to_fit(
    view: &PartitionView<'_>,
    mut cuts: Vec<Key>,
    max_cost: u64,
    space: &SpillSpace,
    progress: &dyn Progress,
) -> Result<Slices> {
    let mut slices = cut(view, &cuts, space, progress)?;
    for _ in 0..MAX_ROUNDS {
        let overfull = overfull(&slices, &cuts, max_cost);
        let more = refine::cuts(view, &cuts, &overfull, max_cost, progress)?;
        if more.is_empty() {
            break;
        }
        cuts.extend(more);
        cuts.sort_unstable();
        cuts.dedup();
        // What was set aside for the slices before is not needed any more.
        drop(slices);
        slices = cut(view, &cuts, space, progress)?;
    }
    Ok(slices)
}

/// The slices that are too much work.
fn overfull(slices: &Slices, cuts: &[Key], max_cost: u64) -> Vec<Overfull> {
    let overfull = |slice: &Slice| {
        let number = slice.range.from.map_or(0, |from| part_of(cuts, &from));
        Overfull { slice: number, events: slice.events, cost: slice.cost() }
    };
    slices.iter().filter(|slice| slice.cost() > max_cost).map(overfull).collect()
}

/// Cuts a partition at the given keys.
///
/// # Errors
/// Those of [`plan`].
pub fn cut(view: &PartitionView<'_>, cuts: &[Key], space: &SpillSpace, progress: &dyn Progress) -> Result<Slices> {
    let mut draft = Draft::new(view, cuts, space);
    for window in windows(view) {
        draft.take(&window, progress)?;
    }
    draft.finish(progress)
}

/// Slices while their segments are found.
struct Draft<'a> {
    view: &'a PartitionView<'a>,
    cuts: &'a [Key],
    space: &'a SpillSpace,
    slices: Vec<Slice>,
    /// How many segments each slice has.
    counts: Vec<usize>,
    segments: SpillWriter<SliceSegment>,
    aside: SpillWriter<u8>,
    damaged: Vec<u64>,
}

impl<'a> Draft<'a> {
    fn new(view: &'a PartitionView<'a>, cuts: &'a [Key], space: &'a SpillSpace) -> Self {
        let slice = |number: usize| Slice {
            range: KeyRange::between(cuts, number).within(&view.partition.range),
            segments: 0..0,
            events: 0,
            first_seq: 0,
            bytes: 0,
            expanded: 0,
        };
        Draft {
            view,
            cuts,
            space,
            slices: (0..=cuts.len()).map(slice).collect(),
            counts: vec![0; cuts.len() + 1],
            segments: space.records(),
            aside: space.records(),
            damaged: vec![0; view.inputs.len()],
        }
    }

    /// Finds the parts of some segments.
    fn take(&mut self, window: &[PlacedSegment<'_>], progress: &dyn Progress) -> Result<()> {
        let cuts = self.cuts;
        let spans: Vec<_> = window.par_iter().map(|place| place.span(cuts)).collect();
        let (mut astride, mut weight) = (Vec::new(), 0);
        for (place, span) in window.iter().zip(spans) {
            if place.segment.events == 0 {
                self.damaged[usize::from(place.segment.input)] += u64::from(place.segment.damaged());
            } else if place.is_whole_in(span) {
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

    /// Walks through segments that lie in several slices.
    fn walk(&mut self, astride: &[(&PlacedSegment<'_>, (usize, usize))], progress: &dyn Progress) -> Result<()> {
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

    fn add(&mut self, segments: &[SliceSegment]) -> Result<()> {
        for segment in segments {
            let (slice, count) = (&mut self.slices[segment.slice as usize], &mut self.counts[segment.slice as usize]);
            let buffer = &self.view.segments[segment.segment as usize].buffer;
            slice.events += u64::from(segment.events);
            slice.bytes += u64::from(segment.to - segment.from);
            if buffer.extent.is_compressed() && segment.aside().is_none() {
                slice.expanded = slice.expanded.max(buffer.content_bytes);
            }
            *count += 1;
        }
        self.segments.extend(segments)
    }

    fn finish(self, progress: &dyn Progress) -> Result<Slices> {
        let Draft { view, space, mut slices, counts, segments, aside, damaged, .. } = self;
        let sort = |slice: &mut [SliceSegment]| sort(view, slice);
        let (segments, slice_of) = (segments.finish()?, |segment: &SliceSegment| segment.slice as usize);
        let segments = by_part(&segments, &counts, slice_of, Within::Sorted(&sort), space, progress)?;
        let (mut next_segment, mut next_event) = (0, view.partition.first_seq);
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

/// Brings the segments of a slice into the order that a sort by time builds on.
fn sort(view: &PartitionView<'_>, slice: &mut [SliceSegment]) {
    slice.sort_by_key(|segment| {
        let extent = &view.segments[segment.segment as usize].buffer.extent;
        let rules = &view.inputs.get(segment.input).rules;
        (segment.input, rules.stream(extent), rules.sequence(extent), extent.ordinal)
    });
}
