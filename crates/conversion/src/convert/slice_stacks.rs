//! The stacks of the events of a slice.

use super::aside::AsideOffsets;
use crate::stacks::{BufferStacks, Stacks};
use crate::survey::BufferSummary;
use crate::table::Stack;

/// The stacks of the events of a slice, segment by segment.
pub(super) struct SliceStacks<'a> {
    /// By number of the segment; none where no event of the slice has one.
    segments: Vec<SegmentStacks<'a>>,
}

/// Those of the events of a segment.
struct SegmentStacks<'a> {
    stacks: BufferStacks<'a>,
    /// Where its events stand in their buffer, if they were set aside.
    aside: Option<AsideOffsets<'a>>,
}

impl<'a> SliceStacks<'a> {
    /// `places` are input and buffer of each segment, and where its events stand in the buffer, if they were set aside.
    pub(super) fn of<'b>(
        stacks: &'a Stacks,
        places: impl Iterator<Item = (u16, &'b BufferSummary, Option<AsideOffsets<'a>>)>,
    ) -> Self {
        if stacks.is_empty() {
            return SliceStacks { segments: Vec::new() };
        }
        let segments = places.map(|(input, buffer, aside)| {
            let stacks = stacks.of_buffer(input, buffer.extent.ordinal);
            SegmentStacks { stacks, aside }
        });
        SliceStacks { segments: segments.collect() }
    }

    /// The stack of the event at an offset of a segment, by number; of a segment whose events were set aside, the offset is
    /// that among them.
    #[inline]
    pub(super) fn get(&mut self, segment: u32, offset: u32) -> Option<Stack<'a>> {
        let SegmentStacks { stacks, aside } = self.segments.get_mut(segment as usize)?;
        if stacks.is_empty() {
            return None;
        }
        stacks.get(match aside {
            Some(aside) => aside.in_buffer(offset)?,
            None => offset,
        })
    }
}
