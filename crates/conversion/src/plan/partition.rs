//! Partitions: intervals of the order, each of which another process or machine can convert.
//!
//! ```text
//!            cut 1                    cut 2
//! cpu 0 |--A--|---B---|---C---|----D----|--E--|      partition 0: A, F[..x]
//! cpu 1 |---F-x----|------G------|------Hy----|      partition 1: B, C, D, F[x..], G, H[..y]
//! ```
//!
//! Where cuts lie depends on the times and sizes of buffers alone. A buffer without a readable event belongs to the
//! partition of the buffer before it in its input, so that its damage is counted once.

use std::collections::{BTreeMap, HashSet};
use std::ops::RangeInclusive;

use base::error::Result;
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use etl::buffer::content::Scratch;
use etl::event::TimedStep;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use spill::{SpillSpace, SpillWriter, Spilled};

use super::by_part::{Within, by_part};
use super::cuts::{self, Spacing};
use super::filter::{Overlap, TimeWindow};
use super::input::{BufferRef, PlannedInputs};
use super::key::{Key, KeyRange, part_of};
use super::segment::Segment;
use super::slice_size::SliceSize;
use crate::survey::{BufferSummary, FileSurvey};

/// Event bytes of a partition. A seam costs each table a row group that is short, 6 to 11 KB of it mostly footer and
/// indexes; with a mebibyte per shape, which has a table at most, that is at most a hundredth of the event bytes.
const PARTITION_BYTES: RangeInclusive<u64> = 1 << 30..=8 << 30;

/// Event bytes of a partition per event shape of the recording.
const SHAPE_BYTES: u64 = 1 << 20;

/// The share of a partition's bytes that must be left for another to follow.
const LEAST_SHARE: u64 = 4;

/// How often the bytes of the recording may be read, all partitions together. Disordered buffers are read in every
/// partition that owns one of their events; where that is too often, partitions are made larger.
const MAX_READS: u64 = 2;

/// Buffers that are looked at side by side.
const TOGETHER: usize = 1 << 14;

/// Bytes that the walks through buffers at cuts may take side by side.
const WALK_WEIGHT: u64 = 32 << 20;

/// A part of the order that is converted as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partition {
    /// Its place among the partitions.
    pub number: u32,
    /// Its part of the order.
    pub range: KeyRange,
    /// Rank of its first event in the recording.
    pub first_seq: u64,
    /// Readable events in it.
    pub events: u64,
    /// Events that could be recognised and not read, counted here.
    pub damaged: u64,
    /// Event bytes of its slices.
    pub slice_bytes: u64,
    /// How many segments it has.
    pub segments: u64,
}

/// What is read and converted for one partition.
#[derive(Clone, Copy, Debug)]
pub struct PartitionView<'a> {
    /// The inputs of the recording.
    pub inputs: &'a PlannedInputs<'a>,
    /// The partition.
    pub partition: &'a Partition,
    /// Its segments, by input and place in the file.
    pub segments: &'a [Segment],
}

impl<'a> PartitionView<'a> {
    /// Makes sure that the inputs of the partition are still what they were.
    ///
    /// # Errors
    /// Of the kind `Internal` when one has changed.
    pub fn check_unchanged(&self) -> Result<()> {
        let mut last = None;
        for segment in self.segments {
            if last.replace(segment.input) != Some(segment.input) {
                self.inputs.open(segment.input)?.check_unchanged()?;
            }
        }
        Ok(())
    }

    /// How the times of a segment's events that lie in `range` lie to a window.
    pub fn overlap(&self, segment: &Segment, range: &KeyRange, window: &TimeWindow) -> Overlap {
        let (input, buffer) = (self.inputs.get(segment.input), &segment.buffer);
        let first = range.from.map_or(i64::MIN, |from| from.ns).max(input.unix_ns(buffer.first_ticks));
        let last = range.to.map_or(i64::MAX, |to| to.ns).min(input.unix_ns(buffer.last_ticks));
        window.overlap(first, last)
    }

    /// The buffer of a segment.
    pub fn buffer(&self, segment: &'a Segment) -> BufferRef<'a> {
        self.inputs.buffer(segment.input, &segment.buffer)
    }
}

/// All partitions of a recording.
#[derive(Debug)]
pub struct Partitions {
    list: Vec<Partition>,
    /// By partition; within one, by input and place in the file.
    segments: Spilled<Segment>,
    /// Where the segments of each partition begin.
    starts: Vec<usize>,
}

impl Partitions {
    /// The partitions in order; at least one.
    pub fn list(&self) -> &[Partition] {
        &self.list
    }

    /// A partition with its segments.
    pub fn view<'a>(&'a self, partition: &'a Partition, inputs: &'a PlannedInputs<'a>) -> PartitionView<'a> {
        PartitionView { inputs, partition, segments: self.segments(partition) }
    }

    /// The segments of a partition, by input and place in the file.
    pub fn segments(&self, partition: &Partition) -> &[Segment] {
        let start = self.starts.get(partition.number as usize).copied().unwrap_or(0);
        let len = usize::try_from(partition.segments).unwrap_or(usize::MAX);
        start.checked_add(len).and_then(|end| self.segments.get(start..end)).unwrap_or_default()
    }
}

/// Event bytes of the partitions of a recording with so many event shapes.
pub fn size_for(shapes: usize) -> u64 {
    SHAPE_BYTES.saturating_mul(shapes as u64).clamp(*PARTITION_BYTES.start(), *PARTITION_BYTES.end())
}

/// Cuts a recording into partitions of about `size` event bytes; `space` is for what does not fit into memory.
///
/// # Errors
/// When an input cannot be read or has changed, when there is no space, and when the caller asked to stop.
pub fn cut(
    files: &[FileSurvey],
    inputs: &PlannedInputs<'_>,
    size: u64,
    space: &SpillSpace,
    progress: &dyn Progress,
) -> Result<Partitions> {
    let buffers = || buffers(files, inputs);
    let total: u64 = buffers().map(|buffer| u64::from(buffer.buffer.content_bytes)).sum();
    let mut size = size.max(1);
    loop {
        let spacing = Spacing { bytes: size, least: size / LEAST_SHARE };
        let cuts = timed(progress, Step::Plan, || cuts::choose(buffers, &KeyRange::default(), spacing));
        let mut draft = Draft::new(inputs, &cuts, space);
        if draft.take_all(files, total.saturating_mul(MAX_READS), progress)? {
            return draft.finish(progress);
        }
        size = size.saturating_mul(2);
    }
}

/// Cuts a recording at the given keys.
///
/// # Errors
/// Those of [`cut`].
pub fn cut_at(
    files: &[FileSurvey],
    inputs: &PlannedInputs<'_>,
    cuts: &[Key],
    space: &SpillSpace,
    progress: &dyn Progress,
) -> Result<Partitions> {
    let mut draft = Draft::new(inputs, cuts, space);
    draft.take_all(files, u64::MAX, progress)?;
    draft.finish(progress)
}

fn buffers<'a>(files: &'a [FileSurvey], inputs: &'a PlannedInputs<'a>) -> impl Iterator<Item = BufferRef<'a>> {
    let numbered = files.iter().zip(0..=u16::MAX);
    numbered.flat_map(move |(file, input)| file.buffers.iter().map(move |buffer| inputs.buffer(input, buffer)))
}

/// Partitions while their segments are found.
struct Draft<'a> {
    inputs: &'a PlannedInputs<'a>,
    cuts: &'a [Key],
    space: &'a SpillSpace,
    list: Vec<Partition>,
    sizes: Vec<SliceSize>,
    segments: SpillWriter<Segment>,
    /// Event bytes of all segments.
    bytes: u64,
}

impl<'a> Draft<'a> {
    fn new(inputs: &'a PlannedInputs<'a>, cuts: &'a [Key], space: &'a SpillSpace) -> Self {
        let partition = |number: usize| Partition {
            number: u32::try_from(number).unwrap_or(u32::MAX),
            range: KeyRange::between(cuts, number),
            first_seq: 0,
            events: 0,
            damaged: 0,
            slice_bytes: 0,
            segments: 0,
        };
        let list: Vec<_> = (0..=cuts.len()).map(partition).collect();
        let sizes = vec![SliceSize::default(); list.len()];
        Draft { inputs, cuts, space, list, sizes, segments: space.records(), bytes: 0 }
    }

    /// Finds all segments; whether they have no more bytes than `most`.
    fn take_all(&mut self, files: &[FileSurvey], most: u64, progress: &dyn Progress) -> Result<bool> {
        for (file, input) in files.iter().zip(0..=u16::MAX) {
            let mut of_input = InputSizes::default();
            let mut last = 0;
            for window in file.buffers.chunks(TOGETHER) {
                self.take(input, window, &mut of_input, &mut last, progress)?;
                if self.bytes > most && !self.cuts.is_empty() {
                    return Ok(false);
                }
            }
            of_input.add_to(&mut self.sizes, self.inputs.get(input).shapes);
        }
        Ok(true)
    }

    /// Finds the segments of some buffers of an input. `last` is the partition that the buffer before them ends in.
    fn take(
        &mut self,
        input: u16,
        window: &[BufferSummary],
        sizes: &mut InputSizes,
        last: &mut usize,
        progress: &dyn Progress,
    ) -> Result<()> {
        stop_if_cancelled(progress)?;
        let (inputs, cuts) = (self.inputs, self.cuts);
        let span = |buffer: &BufferSummary| {
            let (least, greatest) = inputs.buffer(input, buffer).key_range();
            (part_of(cuts, &least), part_of(cuts, &greatest))
        };
        let spans: Vec<_> = window.par_iter().map(span).collect();
        let (mut astride, mut weight) = (Vec::new(), 0);
        for (buffer, span) in window.iter().zip(spans) {
            let span = if buffer.events == 0 { (*last, *last) } else { span };
            *last = span.1;
            sizes.count(span.0, self.inputs.get(input).rules.stream(&buffer.extent), buffer.content_bytes);
            if buffer.events == 0 && buffer.damaged_events == 0 {
                continue;
            }
            if span.0 == span.1 {
                self.add(&[Segment::whole(input, buffer, self.list[span.0].number)])?;
                continue;
            }
            astride.push(inputs.buffer(input, buffer));
            weight += u64::from(buffer.content_bytes);
            if weight >= WALK_WEIGHT {
                self.walk(&std::mem::take(&mut astride), progress)?;
                weight = 0;
            }
        }
        self.walk(&astride, progress)
    }

    /// Walks through buffers that lie in several partitions.
    fn walk(&mut self, astride: &[BufferRef<'_>], progress: &dyn Progress) -> Result<()> {
        stop_if_cancelled(progress)?;
        let cuts = self.cuts;
        let segments = astride.par_iter().map_init(Scratch::default, |scratch, buffer| {
            timed(progress, Step::Cut, || segments(buffer, cuts, scratch))
        });
        segments.collect::<Result<Vec<_>>>()?.iter().try_for_each(|segments| self.add(segments))
    }

    fn add(&mut self, segments: &[Segment]) -> Result<()> {
        for segment in segments {
            let partition = &mut self.list[segment.partition as usize];
            partition.events += u64::from(segment.events);
            partition.damaged += u64::from(segment.damaged());
            self.bytes += segment.bytes();
            partition.segments += 1;
        }
        self.segments.extend(segments)
    }

    fn finish(self, progress: &dyn Progress) -> Result<Partitions> {
        let Draft { space, mut list, sizes, segments, .. } = self;
        let segments = segments.finish()?;
        let counts: Vec<_> = list.iter().map(|part| usize::try_from(part.segments).unwrap_or(usize::MAX)).collect();
        let segments = match &counts[..] {
            [_] => segments,
            _ => by_part(&segments, &counts, |one| one.partition as usize, Within::AsGiven, space, progress)?,
        };
        let (mut next_event, mut next_segment, mut starts) = (0, 0, Vec::with_capacity(list.len()));
        for ((partition, size), count) in list.iter_mut().zip(sizes).zip(counts) {
            partition.first_seq = next_event;
            partition.slice_bytes = size.slice_bytes();
            next_event += partition.events;
            starts.push(next_segment);
            next_segment += count;
        }
        Ok(Partitions { list, segments, starts })
    }
}

/// What the size of slices depends on, of one input, by partition.
#[derive(Default)]
struct InputSizes(BTreeMap<usize, (u64, u64, HashSet<u16>)>);

impl InputSizes {
    fn count(&mut self, partition: usize, stream: u16, bytes: u32) {
        let (all, buffers, streams) = self.0.entry(partition).or_default();
        *all += u64::from(bytes);
        *buffers += 1;
        streams.insert(stream);
    }

    fn add_to(self, sizes: &mut [SliceSize], shapes: u64) {
        for (partition, (bytes, buffers, streams)) in self.0 {
            let size = &mut sizes[partition];
            size.bytes += bytes;
            size.shapes = size.shapes.max(shapes);
            size.stream_bytes += bytes / buffers.max(1) * streams.len() as u64;
        }
    }
}

/// The segments of a buffer that lies in several partitions.
fn segments(buffer: &BufferRef<'_>, cuts: &[Key], scratch: &mut Scratch) -> Result<Vec<Segment>> {
    let content = buffer.content(scratch)?;
    let events = buffer.walk(content.bytes(), 0).filter_map(|step| match step {
        TimedStep::Event(event) => Some((part_of(cuts, &buffer.key(event.ticks, event.raw.offset)), event.raw.offset)),
        TimedStep::Damage { .. } => None,
    });
    let whole = Segment::whole(buffer.input, buffer.buffer, 0);
    let segments = if buffer.buffer.is_sorted() { sorted(whole, events) } else { mixed(whole, events) };
    let found: u64 = segments.iter().map(|segment| u64::from(segment.events)).sum();
    if found == u64::from(buffer.buffer.events) { Ok(segments) } else { Err(buffer.changed()) }
}

/// Where the events of each partition start and end in a sorted buffer.
fn sorted(whole: Segment, events: impl Iterator<Item = (usize, u32)>) -> Vec<Segment> {
    let mut parts: Vec<Segment> = Vec::new();
    for (partition, offset) in events {
        let partition = number(partition);
        match parts.last_mut() {
            Some(part) if part.partition == partition => part.events += 1,
            last => {
                if let Some(part) = last {
                    *part = part.part(part.from, offset, part.events, false);
                }
                parts.push(whole.part(offset, whole.to, 1, true).of(partition));
            }
        }
    }
    parts
}

/// How many events each partition has of a buffer without order.
fn mixed(whole: Segment, events: impl Iterator<Item = (usize, u32)>) -> Vec<Segment> {
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    events.for_each(|(partition, _)| *counts.entry(number(partition)).or_default() += 1);
    if let (1, Some((&partition, _))) = (counts.len(), counts.first_key_value()) {
        return vec![whole.of(partition)];
    }
    let parts = counts.into_iter().zip(std::iter::once(true).chain(std::iter::repeat(false)));
    parts.map(|((partition, events), is_first)| whole.mixed(events, is_first).of(partition)).collect()
}

/// Partitions are fewer than 2^32: each has a possible cut of its own.
fn number(partition: usize) -> u32 {
    u32::try_from(partition).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_grow_with_the_shapes_between_limits() {
        const GIB: u64 = 1 << 30;
        for (shapes, expected) in [(0, GIB), (1024, GIB), (3072, 3 * GIB), (65_536, 8 * GIB)] {
            assert_eq!(size_for(shapes), expected, "{shapes}");
        }
    }
}
