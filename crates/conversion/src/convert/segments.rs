//! Segments of slices: the part of each segment of a partition that belongs to one of its slices.
//!
//! A buffer wholly inside a slice brings its count from the survey. One that straddles a cut is walked once more and
//! leaves, per slice, where its events start and end and how many there are, so that every slice knows its first
//! row number before anything is decoded, and no event is decoded twice.
//!
//! In a buffer that is not sorted no two offsets hold exactly the events of a slice, and a compressed buffer that lies in
//! many slices would be expanded for each of them. The events of such buffers are set aside as they are walked, slice by
//! slice: so each slice reads its own events and no others, whatever the disorder.

use base::error::Result;
use etl::buffer::content::Scratch;
use etl::event::{RawEvent, TimedEvent, TimedStep, TimedWalk};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::aside;
use crate::plan::{BufferRef, Key, KeyRange, PartitionView, Segment, part_of};

/// Slices for which a compressed buffer may be expanded; in more, its events are set aside.
const MOST_EXPANSIONS: usize = 32;

/// Segments that are looked at side by side.
const TOGETHER: usize = 1 << 14;

/// The part of one buffer that belongs to one slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct SliceSegment {
    /// Where its events were set aside; [`SliceSegment::IN_BUFFER`] if they were not.
    aside: u64,
    /// Number of the slice.
    pub(super) slice: u32,
    /// Index of the segment in those of the partition.
    pub segment: u32,
    /// Offset of the first event from the first event of the buffer; of events set aside, 0.
    pub from: u32,
    /// Where the segment ends; of events set aside, how many bytes they are.
    pub to: u32,
    /// Events in it.
    pub events: u32,
    /// Number of the input.
    pub input: u16,
    /// The processor of the buffer.
    pub cpu: u16,
    /// Not 0 where the events of the buffer that cannot be read are counted here: for one segment of a buffer.
    end: u64,
}

impl SliceSegment {
    const IN_BUFFER: u64 = u64::MAX;

    /// Where the events were set aside, if they were.
    pub(super) fn aside(&self) -> Option<u64> {
        Some(self.aside).filter(|at| *at != SliceSegment::IN_BUFFER)
    }

    /// Whether its events were set aside.
    pub fn is_aside(&self) -> bool {
        self.aside().is_some()
    }

    /// Says how many bytes stand before those set aside of this buffer.
    pub(super) fn set_aside_behind(&mut self, bytes: u64) {
        if let Some(at) = self.aside() {
            self.aside = at + bytes;
        }
    }

    /// Whether the events of the buffer that cannot be read are counted here.
    pub fn owns_end(&self) -> bool {
        self.end != 0
    }
}

/// A segment of a partition, with its buffer.
#[derive(Clone, Copy)]
pub(super) struct PlacedSegment<'a> {
    buffer: BufferRef<'a>,
    pub(super) segment: &'a Segment,
    number: u32,
    /// What the keys of its events must be compared with.
    limits: KeyRange,
}

/// The segments of a partition, some at a time.
pub(super) fn windows<'a>(view: &'a PartitionView<'a>) -> impl Iterator<Item = Vec<PlacedSegment<'a>>> {
    let place = |(number, segment): (u32, &'a Segment)| PlacedSegment {
        buffer: view.buffer(segment),
        segment,
        number,
        limits: segment.limits(&view.partition.range),
    };
    let windows = (0u32..).step_by(TOGETHER).zip(view.segments.chunks(TOGETHER));
    windows.map(move |(first, segments)| (first..).zip(segments).map(place).collect())
}

impl PlacedSegment<'_> {
    /// The first and the last slice that events of the segment may lie in.
    pub(super) fn span(&self, cuts: &[Key]) -> (usize, usize) {
        let (least, greatest) = self.buffer.key_range();
        (part_of(cuts, &least), part_of(cuts, &greatest))
    }

    /// Whether all of the segment lies in one slice of the span.
    pub(super) fn is_whole_in(&self, span: (usize, usize)) -> bool {
        span.0 == span.1 && !self.segment.is_mixed()
    }

    /// All of the segment, as a part of one slice.
    pub(super) fn whole(&self, slice: usize) -> SliceSegment {
        SliceSegment {
            aside: SliceSegment::IN_BUFFER,
            slice: number(slice),
            segment: self.number,
            from: self.segment.from,
            to: self.segment.to,
            events: self.segment.events,
            input: self.segment.input,
            cpu: self.segment.buffer.extent.cpu,
            end: u64::from(self.segment.owns_end()),
        }
    }

    /// The bytes of the segment, of all of its buffer.
    fn part<'c>(&self, content: &'c [u8]) -> &'c [u8] {
        content.get(self.segment.from as usize..self.segment.to as usize).unwrap_or_default()
    }

    fn walk<'c>(&self, bytes: &'c [u8]) -> TimedWalk<'c> {
        self.buffer.walk(bytes, self.segment.from)
    }

    fn key(&self, ticks: i64, offset: u32) -> Option<Key> {
        Some(self.buffer.key(ticks, offset)).filter(|key| self.limits.contains(key))
    }

    /// Visits the key of each event, and the event.
    pub(super) fn keys(&self, scratch: &mut Scratch, mut visit: impl FnMut(Key, &RawEvent<'_>)) -> Result<()> {
        let content = self.buffer.content(scratch)?;
        self.walk_keys(self.part(content.bytes()), |key, event| visit(key, &event.raw));
        Ok(())
    }

    /// Visits the events among these bytes of the segment that are its own, each with its key.
    fn walk_keys(&self, bytes: &[u8], mut visit: impl FnMut(Key, &TimedEvent<'_>)) {
        for step in self.walk(bytes) {
            if let TimedStep::Event(event) = step
                && let Some(key) = self.key(event.ticks, event.raw.offset)
            {
                visit(key, &event);
            }
        }
    }

    /// Bytes that it takes to find the parts of a segment that lies in several slices.
    pub(super) fn weight(&self) -> u64 {
        let events = u64::from(self.segment.events);
        u64::from(self.segment.buffer.content_bytes) + events * (size_of::<EventInSlice>() as u64 + 8)
    }
}

/// Slices are fewer than 2^32: each has a possible cut of its own.
fn number(slice: usize) -> u32 {
    u32::try_from(slice).unwrap_or(u32::MAX)
}

/// The parts of one segment, and the events of them that were set aside.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) segments: Vec<SliceSegment>,
    pub(super) aside: Vec<u8>,
}

/// An event of a buffer whose events are set aside: its slice, offset and time in ticks.
type EventInSlice = (u32, u32, i64);

/// The parts of a segment that may lie in the slices of `span`, more than one.
///
/// # Errors
/// When the input cannot be read or has changed.
pub(super) fn parts(
    place: &PlacedSegment<'_>,
    cuts: &[Key],
    span: (usize, usize),
    scratch: &mut Scratch,
) -> Result<Parts> {
    let content = place.buffer.content(scratch)?;
    let bytes = place.part(content.bytes());
    let is_expanded_often = place.segment.buffer.extent.is_compressed() && span.1 - span.0 >= MOST_EXPANSIONS;
    let parts = if place.segment.buffer.is_sorted() && !is_expanded_often {
        Parts { segments: split_sorted(place, cuts, bytes), aside: Vec::new() }
    } else {
        split_unsorted(place, cuts, bytes)
    };
    let found: u64 = parts.segments.iter().map(|part| u64::from(part.events)).sum();
    if found == u64::from(place.segment.events) { Ok(parts) } else { Err(place.buffer.changed()) }
}

/// Where the events of each slice start and end in a sorted buffer.
fn split_sorted(place: &PlacedSegment<'_>, cuts: &[Key], bytes: &[u8]) -> Vec<SliceSegment> {
    let mut parts: Vec<SliceSegment> = Vec::new();
    for step in place.walk(bytes) {
        let TimedStep::Event(event) = step else { continue };
        let offset = event.raw.offset;
        let slice = part_of(cuts, &place.buffer.key(event.ticks, offset));
        match parts.last_mut() {
            Some(segment) if segment.slice == number(slice) => segment.events += 1,
            last => {
                if let Some(segment) = last {
                    (segment.to, segment.end) = (offset, 0);
                }
                parts.push(SliceSegment { from: offset, events: 1, ..place.whole(slice) });
            }
        }
    }
    parts
}

/// The events of each slice, set aside.
fn split_unsorted(place: &PlacedSegment<'_>, cuts: &[Key], bytes: &[u8]) -> Parts {
    let mut found: Vec<EventInSlice> = Vec::with_capacity(place.segment.events as usize);
    place.walk_keys(bytes, |key, event| found.push((number(part_of(cuts, &key)), event.raw.offset, event.ticks)));
    found.sort_unstable();
    let mut owns_end = u64::from(place.segment.owns_end());
    let mut parts = Parts::default();
    for events in found.chunk_by(|a, b| a.0 == b.0) {
        let (start, mut offsets) = (parts.aside.len(), Vec::with_capacity(events.len()));
        for &(_, offset, ticks) in events {
            let bytes = bytes.get((offset - place.segment.from) as usize..).unwrap_or_default();
            if let Some(event) = RawEvent::at(bytes, offset) {
                let put = aside::put(&mut parts.aside, ticks, &event);
                offsets.push((number(put - start), offset));
            }
        }
        let end = parts.aside.len();
        offsets.iter().for_each(|&(put, offset)| aside::put_offsets(&mut parts.aside, put, offset));
        parts.segments.push(SliceSegment {
            aside: start as u64,
            from: 0,
            to: number(end - start),
            events: number(events.len()),
            end: std::mem::take(&mut owns_end),
            ..place.whole(events[0].0 as usize)
        });
    }
    parts
}
