//! What it takes to read the buffers of an input, beside the input itself.

use base::error::Result;
use serde::{Deserialize, Serialize};

use crate::buffer::content::{self, Content, Scratch};
use crate::buffer::scan::BufferExtent;
use crate::event::{FileContext, Gap, RawEvent, TimedWalk};
use crate::input::Input;
use crate::session::Session;

/// What is common to all buffers of an input; enough to read one of them without the survey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadRules {
    /// What is common to its events.
    pub context: FileContext,
    /// Whether the buffers of all processors form one stream.
    pub one_stream: bool,
    /// Whether the buffers of a stream stand in their order, whatever their numbers.
    pub in_file_order: bool,
    /// The largest size of an expanded buffer in bytes.
    pub max_buffer_size: u32,
    /// The time, in ticks, of a buffer in which no event has one.
    pub fallback_ticks: i64,
    /// Bytes that the fields of the header event take.
    pub header_event_len: u32,
}

impl ReadRules {
    /// The rules that follow from the header event.
    pub fn of(session: &Session) -> Self {
        ReadRules {
            context: session.context(),
            one_stream: session.has_one_stream(),
            in_file_order: session.is_appended(),
            max_buffer_size: session.max_buffer_size(),
            fallback_ticks: session.first_ticks.0,
            header_event_len: session.header_event_len,
        }
    }

    /// The stream that a buffer belongs to.
    pub fn stream(&self, extent: &BufferExtent) -> u16 {
        if self.one_stream { 0 } else { extent.cpu }
    }

    /// The place of a buffer among those of its stream: its number in the session, or the same for all where the place
    /// in the file decides.
    pub fn sequence(&self, extent: &BufferExtent) -> i64 {
        if self.in_file_order { 0 } else { extent.sequence }
    }

    /// The processor whose events a buffer holds; `None` where all processors share one stream.
    pub fn cpu(&self, extent: &BufferExtent) -> Option<u16> {
        (!self.one_stream).then_some(extent.cpu)
    }

    /// Walks event bytes that begin with an event at `origin` bytes from the first event of their buffer, and may have a
    /// gap.
    pub fn walk<'b>(&self, bytes: &'b [u8], origin: u32, gap: Gap) -> TimedWalk<'b> {
        TimedWalk::new(bytes, origin, self.fallback_ticks).across(gap)
    }
}

/// Bytes that are read of an event whose size is not known yet: most have no more.
const AT_FIRST: usize = 512;

/// Reads the buffers of one input.
#[derive(Clone, Copy, Debug)]
pub struct BufferReader<'a> {
    /// How.
    pub rules: ReadRules,
    /// From where.
    pub input: &'a dyn Input,
}

impl BufferReader<'_> {
    /// The event bytes of a buffer, expanded where they are compressed.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub fn content<'s>(&self, extent: &BufferExtent, scratch: &'s mut Scratch) -> Result<Content<'s>> {
        content::read(self.input, extent, self.rules.max_buffer_size, scratch)
    }

    /// The same, of a buffer that may lie in bytes of the input that are at hand: `bytes`, which begin at the offset `from`.
    ///
    /// # Errors
    /// When the input has to be read, and cannot be.
    pub fn content_within<'s>(
        &self,
        extent: &BufferExtent,
        (from, bytes): (u64, &'s [u8]),
        scratch: &'s mut Scratch,
    ) -> Result<Content<'s>> {
        let (start, len) = content::stored_range(extent);
        let at = start.checked_sub(from).and_then(|at| usize::try_from(at).ok());
        let stored = at.and_then(|at| bytes.get(at..)?.get(..len));
        match stored.filter(|_| !content::waits_for_room(extent, self.rules.max_buffer_size)) {
            Some(stored) => Ok(content::of_stored(stored, extent, self.rules.max_buffer_size, scratch)),
            None => self.content(extent, scratch),
        }
    }

    /// The event at an offset from the first event of an uncompressed buffer, read without the others; `None` where there is none.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub fn event<'s>(
        &self,
        extent: &BufferExtent,
        offset: u32,
        scratch: &'s mut Scratch,
    ) -> Result<Option<RawEvent<'s>>> {
        let (start, len) = content::data_range(extent);
        let (at, left) = (start.saturating_add(u64::from(offset)), len.saturating_sub(offset as usize));
        let stored = scratch.stored();
        let there = self.input.bytes(at, left.min(AT_FIRST), stored)?.len();
        let size = RawEvent::size_at(&stored[..there]).unwrap_or(0);
        let bytes = if size > there { self.input.bytes(at, left.min(size), stored)? } else { &stored[..there] };
        Ok(RawEvent::at(bytes, offset))
    }
}

#[cfg(test)]
mod tests {
    use zerocopy::FromZeros as _;

    use super::*;
    use crate::input::MemoryInput;

    /// A kernel event of so many bytes, at the start of `bytes`, with a number behind its header.
    fn put_event(bytes: &mut [u8], size: u16, number: u8) {
        bytes[..16].copy_from_slice(&[2, 0, 0x11, 0xC0, 0, 0, 0x2E, 0x0F, 0, 0, 0, 0, 0, 0, 0, 0]);
        bytes[4..6].copy_from_slice(&size.to_le_bytes());
        bytes[16..usize::from(size)].fill(number);
    }

    #[test]
    fn one_event_of_a_buffer_is_read_without_the_others() {
        let mut file = vec![0; 200_000];
        let first = 1000 + 72;
        let sizes = [(0, 24), (24, 511), (536, 512), (1048, 513), (1568, 65_535), (67_104, 100)];
        for (number, (offset, size)) in (1..).zip(sizes) {
            put_event(&mut file[first + offset..], size, number);
        }
        let mut extent = BufferExtent::new_zeroed();
        (extent.offset, extent.size, extent.stored_len) = (1000, 0x2_0000, 0x2_0000);
        extent.used_len = 72 + 67_104 + 100;
        let input = MemoryInput::new("a.etl", file);
        let rules = ReadRules {
            context: FileContext { pointer_size: 8, private_session: false },
            one_stream: false,
            in_file_order: false,
            max_buffer_size: 0x2_0000,
            fallback_ticks: 0,
            header_event_len: 0,
        };
        let reader = BufferReader { rules, input: &input };
        let mut scratch = Scratch::default();
        let mut t = |extent: &BufferExtent, offset| {
            let event = reader.event(extent, offset, &mut scratch).unwrap()?;
            assert_eq!(event.offset, offset);
            Some((event.bytes.len(), event.bytes[event.bytes.len() - 1]))
        };
        for (number, (offset, size)) in (1..).zip(sizes) {
            assert_eq!(t(&extent, u32::try_from(offset).unwrap()), Some((usize::from(size), number)), "{offset}");
        }
        assert_eq!(t(&extent, 8), None, "no header there");
        assert_eq!(t(&extent, u32::MAX), None, "behind the buffer");
        // What the data ends in is no event, as it is none where the whole buffer is walked.
        let mut cut = extent;
        cut.used_len = 72 + 1568 + 65_534;
        assert_eq!((t(&cut, 1568), t(&cut, 1048)), (None, Some((513, 4))));
        cut.stored_len = 72 + 536 + 511;
        assert_eq!((t(&cut, 536), t(&cut, 24)), (None, Some((511, 2))));
    }
}
