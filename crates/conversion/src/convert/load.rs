//! Reads the segments of a slice into memory.

use std::ops::Range;

use base::error::Result;
use etl::buffer::content::Scratch;
use etl::layout::buffer::BUFFER_HEADER_LEN;

use super::segments::SliceSegment;
use crate::plan::PartitionView;

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
        let range = self.used..self.used + len;
        if self.bytes.len() < range.end {
            self.bytes.resize(range.end, 0);
        }
        self.used = range.end;
        range
    }

    /// Appends bytes.
    fn push(&mut self, bytes: &[u8]) -> Range<usize> {
        let range = self.grow(bytes.len());
        self.bytes[range.clone()].copy_from_slice(bytes);
        range
    }
}

/// A segment, and where its bytes are.
#[derive(Debug)]
struct Loaded {
    segment: SliceSegment,
    bytes: Range<usize>,
}

/// The segments of a slice that were read.
#[derive(Debug)]
pub(super) struct LoadedSegments {
    segments: Vec<Loaded>,
    memory: SliceMemory,
}

impl LoadedSegments {
    /// None yet, of `segments` to come.
    pub(super) fn new(segments: usize, memory: &mut SliceMemory) -> Self {
        let mut memory = std::mem::take(memory);
        memory.arena.used = 0;
        LoadedSegments { segments: Vec::with_capacity(segments), memory }
    }

    /// Takes over a segment whose events were set aside.
    pub(super) fn push(&mut self, segment: &SliceSegment, events: &[u8]) {
        let bytes = self.memory.arena.push(events);
        self.segments.push(Loaded { segment: *segment, bytes });
    }

    /// Reads a segment from its input.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub(super) fn read(&mut self, view: &PartitionView<'_>, segment: &SliceSegment) -> Result<()> {
        let buffer = view.buffer(&view.segments[segment.segment as usize]);
        let SliceMemory { scratch, arena } = &mut self.memory;
        let extent = &buffer.buffer.extent;
        let bytes = if extent.is_compressed() {
            let content = buffer.content(scratch)?;
            arena.push(content.bytes().get(segment.from as usize..segment.to as usize).unwrap_or_default())
        } else {
            let start = extent.offset + u64::from(BUFFER_HEADER_LEN) + u64::from(segment.from);
            let range = arena.grow((segment.to - segment.from) as usize);
            view.inputs.open(segment.input)?.read_into(start, &mut arena.bytes[range.clone()])?;
            range
        };
        self.segments.push(Loaded { segment: *segment, bytes });
        Ok(())
    }

    /// The segments, in order, with their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &SliceSegment)> {
        (0u32..).zip(self.segments.iter().map(|loaded| &loaded.segment))
    }

    /// A segment by its number.
    #[inline]
    pub(super) fn segment(&self, number: u32) -> &SliceSegment {
        &self.segments[number as usize].segment
    }

    /// The bytes of a segment.
    #[inline]
    pub(super) fn bytes(&self, number: u32) -> &[u8] {
        &self.memory.arena.bytes[self.segments[number as usize].bytes.clone()]
    }

    /// Leaves the memory to the next slice.
    pub(super) fn recycle(self, memory: &mut SliceMemory) {
        *memory = self.memory;
        if memory.arena.bytes.len() > Arena::KEPT {
            memory.arena = Arena::default();
        }
    }
}
