//! What it takes to read the buffers of an input, beside the input itself.

use base::error::Result;
use serde::{Deserialize, Serialize};

use crate::buffer::content::{self, Content, Scratch};
use crate::buffer::scan::BufferExtent;
use crate::event::{FileContext, Gap, TimedWalk};
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
}
