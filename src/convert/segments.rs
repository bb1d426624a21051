//! Segments: the part of each buffer that belongs to a slice.
//!
//! A buffer wholly inside a slice brings its count from the survey. One that straddles a cut is walked once more and
//! leaves, per slice, where its events start and end and how many there are, so that every slice knows its first
//! row number before anything is decoded, and no event is decoded twice.
//!
//! In a buffer that is not sorted no two offsets hold exactly the events of a slice, and a compressed buffer that lies in
//! many slices would be expanded for each of them. The events of such buffers are set aside as they are walked, slice by
//! slice: so each slice reads its own events and no others, whatever the disorder.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::aside;
use crate::buffer::content::{self, Content, Scratch};
use crate::error::Result;
use crate::event::{RawEvent, TimedStep, TimedWalk};
use crate::plan::cuts::{Key, slice_of};
use crate::survey::{BufferSummary, FileKey, FileSurvey};

/// Slices for which a compressed buffer may be expanded; in more, its events are set aside.
const MOST_EXPANSIONS: usize = 32;

/// Buffers that are looked at side by side.
const TOGETHER: usize = 1 << 14;

/// The part of one buffer that belongs to one slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct Segment {
    /// Where its events were set aside; [`Segment::IN_BUFFER`] if they were not.
    aside: u64,
    /// Number of the slice.
    pub(super) slice: u32,
    /// Index of the buffer in [`FileSurvey::buffers`].
    pub buffer: u32,
    /// Offset of the first event from the first event of the buffer; of events set aside, 0.
    pub from: u32,
    /// Where the segment ends; of events set aside, how many bytes they are.
    pub to: u32,
    /// Events in it.
    pub events: u32,
    /// Number of the file.
    pub input: u16,
    /// The processor of the buffer.
    pub cpu: u16,
    /// Of events set aside, how many events of their buffer cannot be read; of others, not 0 where what follows the last
    /// readable event of the buffer is counted here. Counted for one segment of a buffer, in any case.
    end: u64,
}

impl Segment {
    const IN_BUFFER: u64 = u64::MAX;

    /// Where the events were set aside, if they were.
    pub(super) fn aside(&self) -> Option<u64> {
        Some(self.aside).filter(|at| *at != Segment::IN_BUFFER)
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

    /// Whether what follows the last readable event of the buffer is counted here.
    pub fn owns_end(&self) -> bool {
        self.end != 0
    }

    /// Of events set aside, how many events of their buffer could be recognised and not read.
    pub fn damaged_beside(&self) -> u64 {
        self.aside().map_or(0, |_| self.end)
    }
}

/// A buffer of a file of the recording.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) file: &'a FileSurvey,
    pub(super) input: u16,
    pub(super) buffer: u32,
    pub(super) record: &'a BufferSummary,
}

/// The buffers of a file, some at a time.
pub(super) fn windows(file: &FileSurvey, input: u16) -> impl Iterator<Item = Vec<Place<'_>>> {
    let place = move |(buffer, record)| Place { file, input, buffer, record };
    let windows = (0u32..).step_by(TOGETHER).zip(file.buffers.chunks(TOGETHER));
    windows.map(move |(first, records)| (first..).zip(records).map(place).collect())
}

impl Place<'_> {
    fn key(&self, ticks: i64, offset: u32) -> Key {
        let extent = &self.record.extent;
        let ground = self.file.reader();
        let (stream, sequence) = (ground.stream(extent), ground.sequence(extent));
        let at = FileKey { ticks, stream, sequence, ordinal: extent.ordinal, offset };
        Key::new(self.file, self.input, at)
    }

    /// The first and the last slice that events of the buffer may lie in.
    pub(super) fn span(&self, cuts: &[Key]) -> (usize, usize) {
        let slice = |ticks, offset| slice_of(cuts, &self.key(ticks, offset));
        (slice(self.record.first_ticks, 0), slice(self.record.last_ticks, u32::MAX))
    }

    /// All of the buffer, as a part of one slice.
    pub(super) fn whole(&self, slice: usize) -> Segment {
        Segment {
            aside: Segment::IN_BUFFER,
            slice: number(slice),
            buffer: self.buffer,
            from: 0,
            to: self.record.content_bytes,
            events: self.record.events,
            input: self.input,
            cpu: self.record.extent.cpu,
            end: 1,
        }
    }

    /// The event bytes of the buffer: as many as the survey found, since the ends of segments are taken from both.
    fn content<'s>(&'s self, scratch: &'s mut Scratch) -> Result<Content<'s>> {
        let (source, extent) = (&self.file.source, &self.record.extent);
        let content = content::read(source, extent, self.file.reader().max_buffer_size, scratch)?;
        if content.bytes().len() != self.record.content_bytes as usize {
            return Err(source.changed().in_buffer(extent.ordinal).at_offset(extent.offset));
        }
        Ok(content)
    }

    fn walk<'c>(&self, content: &'c Content<'_>) -> TimedWalk<'c> {
        TimedWalk::new(content.bytes(), 0, self.file.reader().fallback_ticks)
    }

    /// Visits the key of each event, and its bytes.
    pub(super) fn keys(&self, scratch: &mut Scratch, mut visit: impl FnMut(Key, &RawEvent<'_>)) -> Result<()> {
        let content = self.content(scratch)?;
        for step in self.walk(&content) {
            if let TimedStep::Event(event) = step {
                visit(self.key(event.ticks, event.raw.offset), &event.raw);
            }
        }
        Ok(())
    }

    /// Bytes that it takes to find the segments of a buffer that lies in several slices.
    pub(super) fn weight(&self) -> u64 {
        u64::from(self.record.content_bytes) + u64::from(self.record.events) * (size_of::<Found>() as u64 + 8)
    }
}

/// Slices are fewer than 2^32: each has a possible cut of its own.
fn number(slice: usize) -> u32 {
    u32::try_from(slice).unwrap_or(u32::MAX)
}

/// The segments of one buffer, and the events of them that were set aside.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) segments: Vec<Segment>,
    pub(super) aside: Vec<u8>,
}

/// An event of a buffer whose events are set aside.
type Found = (u32, u32, i64);

/// The segments of a buffer that may lie in the slices of `span`, more than one.
pub(super) fn parts(place: &Place<'_>, cuts: &[Key], span: (usize, usize), scratch: &mut Scratch) -> Result<Parts> {
    let content = place.content(scratch)?;
    let is_expanded_often = place.record.extent.is_compressed() && span.1 - span.0 >= MOST_EXPANSIONS;
    if place.record.is_sorted() && !is_expanded_often {
        let segments = checkpoints(place, cuts, place.walk(&content));
        return Ok(Parts { segments, aside: Vec::new() });
    }
    Ok(shares(place, cuts, &content))
}

/// Where the events of each slice start and end in a sorted buffer.
fn checkpoints(place: &Place<'_>, cuts: &[Key], walk: TimedWalk<'_>) -> Vec<Segment> {
    let mut parts: Vec<Segment> = Vec::new();
    for step in walk {
        let TimedStep::Event(event) = step else { continue };
        let offset = event.raw.offset;
        let slice = slice_of(cuts, &place.key(event.ticks, offset));
        match parts.last_mut() {
            Some(segment) if segment.slice == number(slice) => segment.events += 1,
            last => {
                if let Some(segment) = last {
                    (segment.to, segment.end) = (offset, 0);
                }
                parts.push(Segment { from: offset, events: 1, ..place.whole(slice) });
            }
        }
    }
    parts
}

/// The events of each slice, set aside.
fn shares(place: &Place<'_>, cuts: &[Key], content: &Content<'_>) -> Parts {
    let mut found: Vec<Found> = Vec::with_capacity(place.record.events as usize);
    let mut damaged = 0;
    for step in place.walk(content) {
        match step {
            TimedStep::Event(event) => {
                let slice = slice_of(cuts, &place.key(event.ticks, event.raw.offset));
                found.push((number(slice), event.raw.offset, event.ticks));
            }
            TimedStep::Damage { recognisable, .. } => damaged += u64::from(recognisable),
        }
    }
    found.sort_unstable();
    let mut parts = Parts::default();
    for events in found.chunk_by(|a, b| a.0 == b.0) {
        let start = parts.aside.len();
        for &(_, offset, ticks) in events {
            let bytes = content.bytes().get(offset as usize..).unwrap_or_default();
            if let Some(event) = RawEvent::at(bytes, offset) {
                aside::put(&mut parts.aside, ticks, &event);
            }
        }
        parts.segments.push(Segment {
            aside: start as u64,
            from: 0,
            to: number(parts.aside.len() - start),
            events: number(events.len()),
            end: std::mem::take(&mut damaged),
            ..place.whole(events[0].0 as usize)
        });
    }
    parts
}
