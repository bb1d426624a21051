//! The event bytes of a buffer, expanded where they are compressed.

use super::chain::Frame;
use super::xpress::{self, XpressError};
use crate::error::Result;
use crate::layout::buffer::{BUFFER_HEADER_LEN, MAX_BUFFER_TYPE};
use crate::layout::header::HeaderKind;
use crate::source::Source;

/// The valid event bytes of a buffer. Offsets into it count from the end of the buffer header.
#[derive(Debug)]
pub struct Content<'a> {
    /// The bytes from the first event to the end of the data.
    pub bytes: &'a [u8],
    /// What the buffer header promises and the file does not hold.
    pub fault: Option<ContentFault>,
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
    let wanted = frame.filled.saturating_sub(BUFFER_HEADER_LEN);
    let there = frame.present.saturating_sub(BUFFER_HEADER_LEN);
    let start = frame.offset + u64::from(BUFFER_HEADER_LEN);
    if !frame.is_compressed() {
        let bytes = source.bytes(start, wanted.min(there) as usize, &mut scratch.stored)?;
        let fault = match wanted.checked_sub(there) {
            None | Some(0) => None,
            Some(missing) if frame.filled > frame.size => Some(ContentFault::BeyondBuffer(missing)),
            Some(missing) => Some(ContentFault::Truncated(missing)),
        };
        return Ok(skip_foreign(frame, Content { bytes, fault }));
    }
    if frame.filled > max_expanded {
        return Ok(Content { bytes: &[], fault: Some(ContentFault::TooLarge(wanted)) });
    }
    let stored = source.bytes(start, there as usize, &mut scratch.stored)?;
    scratch.expanded.resize(wanted as usize, 0);
    let (good, result) = xpress::expand(stored, &mut scratch.expanded);
    let bytes = scratch.expanded.get(..good).unwrap_or_default();
    let fault = result.err().map(|error| {
        let missing = wanted.saturating_sub(u32::try_from(good).unwrap_or(wanted));
        match error {
            XpressError::EndOfInput if frame.is_truncated() => ContentFault::Truncated(missing),
            _ => ContentFault::Compression(error, missing),
        }
    });
    Ok(skip_foreign(frame, Content { bytes, fault }))
}

/// Buffers of the types 3 (reference time), 6 (empty marker) and 7 (debugger information) need not hold events: what
/// does not begin with one is none.
fn skip_foreign<'a>(frame: &Frame, content: Content<'a>) -> Content<'a> {
    const WITHOUT_EVENTS: [u16; 3] = [3, 6, MAX_BUFFER_TYPE];
    let begins_with_event = || {
        let marker = content.bytes.first_chunk().map(|&marker| u32::from_le_bytes(marker));
        marker.and_then(HeaderKind::of_marker).is_some()
    };
    if WITHOUT_EVENTS.contains(&frame.kind) && !begins_with_event() {
        return Content { bytes: &[], fault: None };
    }
    content
}
