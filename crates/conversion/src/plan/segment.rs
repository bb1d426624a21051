//! The part of one buffer that belongs to a partition.

use etl::layout::buffer::MAX_BUFFER_SIZE;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::key::KeyRange;
use crate::survey::BufferSummary;

/// What a partition owns of one buffer, with all that is known of the buffer: whoever converts the partition needs no
/// survey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct Segment {
    /// The buffer.
    pub buffer: BufferSummary,
    /// Number of the partition.
    pub partition: u32,
    /// Offset of the first event from the first event of the buffer, in bytes.
    pub from: u32,
    /// Where the segment ends, in bytes from the first event of the buffer.
    pub to: u32,
    /// Events of the buffer that the partition owns.
    pub events: u32,
    /// Number of the input.
    pub input: u16,
    flags: u16,
    /// Makes the size a multiple of the alignment.
    padding: u32,
}

/// The segment has events of other partitions, too: the key of each is to be compared.
const MIXED: u16 = 1;

/// What follows the last readable event of the buffer is counted here.
const OWNS_END: u16 = 2;

impl Segment {
    /// All of a buffer.
    pub fn whole(input: u16, buffer: &BufferSummary, partition: u32) -> Self {
        Segment {
            buffer: *buffer,
            partition,
            from: 0,
            to: buffer.content_bytes,
            events: buffer.events,
            input,
            flags: OWNS_END,
            padding: 0,
        }
    }

    /// The same of another partition.
    pub(super) fn of(self, partition: u32) -> Self {
        Segment { partition, ..self }
    }

    /// A part of a sorted buffer.
    pub(super) fn part(self, from: u32, to: u32, events: u32, owns_end: bool) -> Self {
        Segment { from, to, events, flags: if owns_end { OWNS_END } else { 0 }, ..self }
    }

    /// Events here and there in a buffer.
    pub(super) fn mixed(self, events: u32, owns_end: bool) -> Self {
        Segment { events, flags: MIXED | if owns_end { OWNS_END } else { 0 }, ..self }
    }

    /// Whether the numbers can be those of a segment: what comes from a file is not believed.
    pub fn is_sound(&self) -> bool {
        let least = u64::from(self.events) * 4;
        self.from <= self.to
            && self.to <= self.buffer.content_bytes
            && self.events <= self.buffer.events
            && least <= u64::from(self.buffer.content_bytes)
            && self.buffer.content_bytes <= MAX_BUFFER_SIZE
            && self.buffer.extent.offset <= i64::MAX.cast_unsigned()
    }

    /// Whether the segment has events of other partitions, too.
    pub fn is_mixed(&self) -> bool {
        self.flags & MIXED != 0
    }

    /// Whether what follows the last readable event of the buffer is counted here.
    pub fn owns_end(&self) -> bool {
        self.flags & OWNS_END != 0
    }

    /// Events that could be recognised and not read, as far as they are counted here.
    pub fn damaged(&self) -> u32 {
        if self.owns_end() { self.buffer.damaged_events } else { 0 }
    }

    /// Bytes of events that are read for it.
    pub fn bytes(&self) -> u64 {
        if self.buffer.extent.is_compressed() {
            self.buffer.content_bytes.into()
        } else {
            self.to.saturating_sub(self.from).into()
        }
    }

    /// Of the partition's part of the order, what the events of the segment must be compared with; everything where all
    /// of them are in it.
    pub fn limits(&self, partition: &KeyRange) -> KeyRange {
        if self.is_mixed() { *partition } else { KeyRange::default() }
    }
}

const _: () = assert!(size_of::<Segment>() == 152);
