//! The event bytes of a buffer, expanded where they are compressed.

use super::chain::Frame;
use super::large::Permit;
use super::xpress::{self, XpressError};
use crate::error::Result;
use crate::layout::buffer::{BUFFER_HEADER_LEN, MAX_BUFFER_TYPE};
use crate::layout::header::HeaderKind;
use crate::source::Source;

/// The valid event bytes of a buffer. Offsets into it count from the end of the buffer header.
///
/// Large ones are let into memory a few at a time: read the next one when this one is dropped.
#[derive(Debug)]
pub struct Content<'a> {
    held: Held<'a>,
    /// What the buffer header promises and the file does not hold.
    pub fault: Option<ContentFault>,
}

#[derive(Debug)]
enum Held<'a> {
    /// In the memory map, or in what is recycled from one buffer to the next.
    Elsewhere(&'a [u8]),
    /// Too large to be kept for recycling.
    Here(Vec<u8>, #[expect(dead_code, reason = "dropping it makes room for others")] Permit),
}

impl Content<'_> {
    /// The bytes from the first event to the end of the data.
    pub fn bytes(&self) -> &[u8] {
        match &self.held {
            Held::Elsewhere(bytes) => bytes,
            Held::Here(bytes, _) => bytes,
        }
    }
}

/// Why a buffer holds fewer event bytes than its header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentFault {
    /// The end of the data lies behind the end of the buffer.
    #[error("the data ends {0} bytes behind the end of the buffer")]
    BeyondBuffer(u32),
    /// The file ends within the data.
    #[error("the file ends {0} bytes before the end of the data")]
    Truncated(u32),
    /// The expanded size is larger than any buffer of the session.
    #[error("the expanded size of {0} bytes is larger than the session's buffers")]
    TooLarge(u32),
    /// The compressed data is damaged, or of another form than plain XPRESS.
    #[error("the compressed data is damaged or of an unknown form: {0}; {1} bytes could not be expanded")]
    Compression(XpressError, u32),
}

impl ContentFault {
    /// Bytes of event data that are missing.
    pub fn missing_bytes(self) -> u32 {
        match self {
            ContentFault::BeyondBuffer(bytes)
            | ContentFault::Truncated(bytes)
            | ContentFault::TooLarge(bytes)
            | ContentFault::Compression(_, bytes) => bytes,
        }
    }
}

/// Buffers that are recycled from one content to the next.
#[derive(Debug, Default)]
pub struct Scratch {
    stored: Vec<u8>,
    expanded: Vec<u8>,
}

/// Reads the event bytes of a buffer; `max_expanded` is the session's buffer size.
///
/// # Errors
/// When the file cannot be read. Damage within the buffer is no error but [`Content::fault`].
pub fn read<'a>(source: &'a Source, frame: &Frame, max_expanded: u32, scratch: &'a mut Scratch) -> Result<Content<'a>> {
    let Some(permit) = Permit::wait_for(memory(frame, max_expanded)) else {
        let (place, fault) = fill(source, frame, max_expanded, scratch)?;
        let (bytes, len) = match place {
            Place::Stored(len) => (&scratch.stored, len),
            Place::Expanded(len) => (&scratch.expanded, len),
        };
        let bytes = bytes.get(..len).unwrap_or_default();
        return Ok(skip_foreign(frame, Content { held: Held::Elsewhere(bytes), fault }));
    };
    let mut scratch = Scratch::default();
    let (place, fault) = fill(source, frame, max_expanded, &mut scratch)?;
    let (mut bytes, len) = match place {
        Place::Stored(len) => (scratch.stored, len),
        Place::Expanded(len) => (scratch.expanded, len),
    };
    bytes.truncate(len);
    Ok(skip_foreign(frame, Content { held: Held::Here(bytes, permit), fault }))
}

/// Bytes of memory that it takes to read a buffer.
fn memory(frame: &Frame, max_expanded: u32) -> usize {
    let is_expanded = frame.is_compressed() && frame.filled <= max_expanded;
    frame.present as usize + if is_expanded { frame.filled as usize } else { 0 }
}

/// Where the event bytes of a buffer are when they have been read.
enum Place {
    /// So many bytes of [`Scratch::stored`].
    Stored(usize),
    /// So many bytes of [`Scratch::expanded`].
    Expanded(usize),
}

/// Reads a buffer and expands it if it is compressed.
fn fill(
    source: &Source,
    frame: &Frame,
    max_expanded: u32,
    scratch: &mut Scratch,
) -> Result<(Place, Option<ContentFault>)> {
    let wanted = frame.filled.saturating_sub(BUFFER_HEADER_LEN);
    let there = frame.present.saturating_sub(BUFFER_HEADER_LEN);
    let start = frame.offset + u64::from(BUFFER_HEADER_LEN);
    if !frame.is_compressed() {
        let fault = match wanted.checked_sub(there) {
            None | Some(0) => None,
            Some(missing) if frame.filled > frame.size => Some(ContentFault::BeyondBuffer(missing)),
            Some(missing) => Some(ContentFault::Truncated(missing)),
        };
        let bytes = source.bytes(start, wanted.min(there) as usize, &mut scratch.stored)?;
        return Ok((Place::Stored(bytes.len()), fault));
    }
    if frame.filled > max_expanded {
        return Ok((Place::Stored(0), Some(ContentFault::TooLarge(wanted))));
    }
    let Scratch { stored, expanded } = scratch;
    let stored = source.bytes(start, there as usize, stored)?;
    expanded.resize(wanted as usize, 0);
    let (good, result) = xpress::expand(stored, expanded);
    let fault = result.err().map(|error| {
        let missing = wanted.saturating_sub(u32::try_from(good).unwrap_or(wanted));
        match error {
            XpressError::EndOfInput if frame.is_truncated() => ContentFault::Truncated(missing),
            _ => ContentFault::Compression(error, missing),
        }
    });
    Ok((Place::Expanded(good), fault))
}

/// Buffers of the types 3 (reference time), 6 (empty marker) and 7 (debugger information) need not hold events: what
/// does not begin with one is none.
fn skip_foreign<'a>(frame: &Frame, content: Content<'a>) -> Content<'a> {
    const WITHOUT_EVENTS: [u16; 3] = [3, 6, MAX_BUFFER_TYPE];
    let begins_with_event = || {
        let marker = content.bytes().first_chunk().map(|&marker| u32::from_le_bytes(marker));
        marker.and_then(HeaderKind::of_marker).is_some()
    };
    if WITHOUT_EVENTS.contains(&frame.kind) && !begins_with_event() {
        return Content { held: Held::Elsewhere(&[]), fault: None };
    }
    content
}
