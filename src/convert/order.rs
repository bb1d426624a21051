//! Brings the events of a slice into the order of the recording.
//!
//! The order is (time, file, tick, stream, buffer sequence, offset). The segments of a slice come by file, stream and
//! sequence, and within a segment events come by offset; so a stable sort by time alone yields it. The standard
//! library's stable sort finds the ascending runs and merges them: on what Windows writes, one run per stream, that
//! is a k-way merge, and on anything else it is still a sort.
//!
//! Where filters leave events out, only the others are sorted; see `sift`.

mod sift;

use std::ops::Range;

use super::aside::AsideWalk;
use super::segments::Segment;
use super::slices::{Slice, Slices};
use crate::buffer::content::{self, Scratch};
use crate::clock::Ticks;
use crate::error::{Error, ErrorKind, Result};
use crate::event::walk::RawEvent;
use crate::event::{TimedEvent, TimedStep, TimedWalk};
use crate::layout::buffer::BUFFER_HEADER_LEN;
use crate::plan::PlanResult;
use crate::survey::FileSurvey;

/// One event of a slice.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Unix time in nanoseconds.
    pub ns: i64,
    /// The same in ticks of the file's clock.
    pub ticks: i64,
    /// Number of the segment.
    pub segment: u32,
    /// Offset from the first event of the buffer; of an event set aside, that among those of its segment.
    pub offset: u32,
}

/// The events of a slice in order, with their bytes.
#[derive(Debug)]
pub struct OrderedSlice<'a> {
    files: &'a [FileSurvey],
    slices: &'a Slices,
    segments: Vec<SegmentBytes>,
    arena: Arena,
    /// The events that become rows, in order.
    pub entries: Vec<Entry>,
    /// The place of each among all events of the slice; `None` where all become rows.
    places: Option<Vec<u64>>,
    /// Events per file that could be recognised and not read.
    pub damaged: Vec<u64>,
    /// Events per file that the filters leave out.
    pub filtered: Vec<u64>,
}

#[derive(Debug)]
struct SegmentBytes {
    segment: Segment,
    /// Its place in the arena.
    bytes: Range<usize>,
}

/// Memory that one slice leaves to the next.
#[derive(Debug, Default)]
pub struct SliceMemory {
    scratch: Scratch,
    arena: Arena,
}

/// The bytes of a slice, read or expanded: a copy, so that whoever changes the file meanwhile changes no event between
/// two looks at it.
#[derive(Debug, Default)]
struct Arena {
    /// Never shortened, so that memory is cleared once and not for every slice.
    bytes: Vec<u8>,
    used: usize,
}

impl Arena {
    /// An unusually large slice does not leave more memory than this to the next.
    const KEPT: usize = 16 << 20;

    /// Room for so many more bytes.
    fn grow(&mut self, len: usize) -> Range<usize> {
        let place = self.used..self.used + len;
        if self.bytes.len() < place.end {
            self.bytes.resize(place.end, 0);
        }
        self.used = place.end;
        place
    }
}

impl<'a> OrderedSlice<'a> {
    /// Reads and orders a slice.
    ///
    /// # Errors
    /// When a file cannot be read, or holds other events than the survey found.
    pub fn read(
        files: &'a [FileSurvey],
        plan: &PlanResult,
        slices: &'a Slices,
        slice: &Slice,
        memory: &mut SliceMemory,
    ) -> Result<Self> {
        let mut ordered = OrderedSlice {
            files,
            slices,
            segments: Vec::with_capacity(slices.segments(slice).len()),
            arena: Arena { used: 0, ..std::mem::take(&mut memory.arena) },
            entries: Vec::new(),
            places: None,
            damaged: vec![0; files.len()],
            filtered: vec![0; files.len()],
        };
        match &plan.filter {
            None => ordered.take_all(slice, &mut memory.scratch)?,
            Some(filter) => ordered.sift(slice, filter, &plan.numbers, &mut memory.scratch)?,
        }
        let found = ordered.entries.len() as u64 + ordered.filtered.iter().sum::<u64>();
        if found != slice.events {
            let message = format!("expected {} events in a slice, found {found}", slice.events);
            return Err(
                Error::new(ErrorKind::Internal, message).with_hint("the input must not change while it is read")
            );
        }
        Ok(ordered)
    }

    /// Leaves the memory of the slice to the next one.
    pub fn recycle(self, memory: &mut SliceMemory) {
        if self.arena.bytes.len() <= Arena::KEPT {
            memory.arena = self.arena;
        }
    }

    fn take_all(&mut self, slice: &Slice, scratch: &mut Scratch) -> Result<()> {
        for segment in self.slices.segments(slice) {
            self.load(segment, scratch)?;
        }
        self.entries.reserve_exact(usize::try_from(slice.events).unwrap_or(0));
        self.walk();
        self.sort();
        Ok(())
    }

    fn load(&mut self, segment: &Segment, scratch: &mut Scratch) -> Result<()> {
        let bytes = self.bytes(segment, scratch)?;
        self.segments.push(SegmentBytes { segment: *segment, bytes });
        Ok(())
    }

    fn bytes(&mut self, segment: &Segment, scratch: &mut Scratch) -> Result<Range<usize>> {
        if let Some(events) = self.slices.aside(segment) {
            let place = self.arena.grow(events.len());
            self.arena.bytes[place.clone()].copy_from_slice(events);
            return Ok(place);
        }
        let file = &self.files[usize::from(segment.input)];
        let extent = &file.buffers[segment.buffer as usize].extent;
        let ground = file.reader();
        if !extent.is_compressed() {
            let start = extent.offset + u64::from(BUFFER_HEADER_LEN) + u64::from(segment.from);
            let len = (segment.to - segment.from) as usize;
            let place = self.arena.grow(len);
            file.source.read_into(start, &mut self.arena.bytes[place.clone()])?;
            return Ok(place);
        }
        let content = content::read(ground.source, extent, ground.max_buffer_size, scratch)?;
        let part = content.bytes().get(segment.from as usize..segment.to as usize).unwrap_or_default();
        let place = self.arena.grow(part.len());
        self.arena.bytes[place.clone()].copy_from_slice(part);
        Ok(place)
    }

    #[inline]
    fn bytes_of(&self, segment: usize) -> &[u8] {
        &self.arena.bytes[self.segments[segment].bytes.clone()]
    }

    fn walk(&mut self) {
        let mut entries = std::mem::take(&mut self.entries);
        let mut damaged = std::mem::take(&mut self.damaged);
        for (number, SegmentBytes { segment, .. }) in (0u32..).zip(&self.segments) {
            let file = &self.files[usize::from(segment.input)];
            let damaged = &mut damaged[usize::from(segment.input)];
            let entry = |ticks, offset| {
                let ns = file.clock.to_unix(Ticks(ticks)).0;
                Entry { ns, ticks, segment: number, offset }
            };
            if segment.is_aside() {
                entries.extend(
                    AsideWalk::new(self.bytes_of(number as usize)).map(|(ticks, raw)| entry(ticks, raw.offset)),
                );
                *damaged += segment.damaged_beside();
                continue;
            }
            for step in TimedWalk::new(self.bytes_of(number as usize), segment.from, file.reader().fallback_ticks) {
                match step {
                    TimedStep::Event(TimedEvent { raw, ticks, .. }) => entries.push(entry(ticks, raw.offset)),
                    TimedStep::Damage { recognisable, .. } => {
                        *damaged += u64::from(recognisable && segment.owns_end());
                    }
                }
            }
        }
        (self.entries, self.damaged) = (entries, damaged);
    }

    fn sort(&mut self) {
        let input = |entry: &Entry| self.segments[entry.segment as usize].segment.input;
        // Several ticks of a fast clock share a nanosecond, and all times beyond the limits of 64 bits do.
        if self.files.iter().any(|file| file.clock.is_finer_than_ns()) || self.entries.iter().any(is_saturated) {
            self.entries.sort_by_key(|entry| (entry.ns, input(entry), entry.ticks));
        } else {
            self.entries.sort_by_key(|entry| entry.ns);
        }
    }

    /// The place of an entry among all events of the slice, whether they become rows or not.
    pub fn place(&self, entry: usize) -> u64 {
        self.places.as_ref().map_or(entry as u64, |places| places[entry])
    }

    /// An event's bytes and the segment it lies in.
    #[expect(clippy::inline_always, reason = "an event that goes through memory costs more than to find it")]
    #[inline(always)]
    pub fn event(&self, entry: &Entry) -> (RawEvent<'_>, &Segment) {
        let segment = &self.segments[entry.segment as usize].segment;
        let bytes = self.bytes_of(entry.segment as usize);
        let at = (entry.offset - segment.from) as usize;
        let raw = RawEvent::at(bytes.get(at..).unwrap_or_default(), entry.offset)
            .expect("the walk has found an event at this offset of the same bytes");
        (raw, segment)
    }
}

fn is_saturated(entry: &Entry) -> bool {
    matches!(entry.ns, i64::MIN | i64::MAX)
}
