//! The event bytes of a buffer, expanded where they are compressed.

use base::error::Result;

use super::filler::is_filler;
use super::large::{Permit, SMALL};
use super::scan::BufferExtent;
use super::xpress::{self, Expansion, XpressError};
use crate::input::Input;
use crate::layout::buffer::BUFFER_HEADER_LEN;
use crate::layout::header::{EVENT_ALIGNMENT, HeaderFamily};

/// The valid event bytes of a buffer. Offsets into it count from the end of the buffer header.
///
/// Large ones are let into memory a few at a time: read the next one when this one is dropped.
#[derive(Debug)]
pub struct Content<'a> {
    held: EventBytes<'a>,
    /// What the buffer header promises and the file does not hold.
    pub fault: Option<ContentFault>,
    /// What the buffer holds and its header does not describe.
    pub surplus: Option<Surplus>,
}

/// Bytes behind the end of a buffer's data that nothing explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surplus {
    /// How many, from the end of the data to the last of them; of a compressed buffer, as they are stored.
    pub bytes: u32,
    /// Whether they begin with the header of an event.
    pub begins_with_event: bool,
}

#[derive(Debug)]
enum EventBytes<'a> {
    /// In what is recycled from one buffer to the next.
    Elsewhere(&'a [u8]),
    /// Too large to be kept for recycling.
    Here(Vec<u8>, #[expect(dead_code, reason = "dropping it makes room for others")] Permit),
}

impl Content<'_> {
    /// The bytes from the first event to the end of the data.
    pub fn bytes(&self) -> &[u8] {
        match &self.held {
            EventBytes::Elsewhere(bytes) => bytes,
            EventBytes::Here(bytes, _) => bytes,
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

impl Scratch {
    /// Memory for what is stored.
    pub(crate) fn stored(&mut self) -> &mut Vec<u8> {
        &mut self.stored
    }
}

/// Reads the event bytes of a buffer; `max_buffer_size` is the session's buffer size.
///
/// # Errors
/// When the file cannot be read. Damage within the buffer is no error but [`Content::fault`].
pub fn read<'a>(
    input: &dyn Input,
    extent: &BufferExtent,
    max_buffer_size: u32,
    scratch: &'a mut Scratch,
) -> Result<Content<'a>> {
    let Some(permit) = Permit::wait_for(memory(extent, max_buffer_size)) else {
        let Filled { place, fault, surplus } = fill(input, extent, max_buffer_size, scratch)?;
        let (bytes, len) = match place {
            FilledFrom::Stored(len) => (&scratch.stored, len),
            FilledFrom::Expanded(len) => (&scratch.expanded, len),
        };
        let bytes = bytes.get(..len).unwrap_or_default();
        return Ok(Content { held: EventBytes::Elsewhere(bytes), fault, surplus });
    };
    let mut scratch = Scratch::default();
    let Filled { place, fault, surplus } = fill(input, extent, max_buffer_size, &mut scratch)?;
    let (mut bytes, len) = match place {
        FilledFrom::Stored(len) => (scratch.stored, len),
        FilledFrom::Expanded(len) => (scratch.expanded, len),
    };
    bytes.truncate(len);
    Ok(Content { held: EventBytes::Here(bytes, permit), fault, surplus })
}

/// The event bytes of a buffer of which what is stored behind its header is at hand; not for one that [waits](waits_for_room).
pub(crate) fn of_stored<'a>(
    stored: &'a [u8],
    extent: &BufferExtent,
    max_buffer_size: u32,
    scratch: &'a mut Scratch,
) -> Content<'a> {
    let Filled { place, fault, surplus } =
        too_large(extent, max_buffer_size).unwrap_or_else(|| filled(extent, stored, &mut scratch.expanded));
    let (bytes, len) = match place {
        FilledFrom::Stored(len) => (stored, len),
        FilledFrom::Expanded(len) => (&*scratch.expanded, len),
    };
    Content { held: EventBytes::Elsewhere(bytes.get(..len).unwrap_or_default()), fault, surplus }
}

/// Whether a buffer takes so much memory that it may have to wait until there is room.
pub(crate) fn waits_for_room(extent: &BufferExtent, max_buffer_size: u32) -> bool {
    memory(extent, max_buffer_size) > SMALL
}

/// Offset and length of what is stored of a buffer behind its header.
pub(crate) fn stored_range(extent: &BufferExtent) -> (u64, usize) {
    let start = extent.offset.saturating_add(u64::from(BUFFER_HEADER_LEN));
    (start, extent.stored_len.saturating_sub(BUFFER_HEADER_LEN) as usize)
}

/// Offset and length of the event data of an uncompressed buffer, as far as it is stored.
pub(crate) fn data_range(extent: &BufferExtent) -> (u64, usize) {
    let (start, stored) = stored_range(extent);
    (start, stored.min(extent.used_len.saturating_sub(BUFFER_HEADER_LEN) as usize))
}

/// Bytes of memory that it takes to read a buffer.
fn memory(extent: &BufferExtent, max_buffer_size: u32) -> usize {
    let is_expanded = extent.is_compressed() && extent.used_len <= max_buffer_size;
    extent.stored_len as usize + if is_expanded { extent.used_len as usize } else { 0 }
}

/// A buffer that has been read.
struct Filled {
    place: FilledFrom,
    fault: Option<ContentFault>,
    surplus: Option<Surplus>,
}

/// Where the event bytes of a buffer are when they have been read.
enum FilledFrom {
    /// So many bytes of [`Scratch::stored`].
    Stored(usize),
    /// So many bytes of [`Scratch::expanded`].
    Expanded(usize),
}

/// Reads a buffer and expands it if it is compressed.
fn fill(input: &dyn Input, extent: &BufferExtent, max_buffer_size: u32, scratch: &mut Scratch) -> Result<Filled> {
    if let Some(nothing) = too_large(extent, max_buffer_size) {
        return Ok(nothing);
    }
    let (start, len) = stored_range(extent);
    let stored = input.bytes(start, len, &mut scratch.stored)?;
    Ok(filled(extent, stored, &mut scratch.expanded))
}

/// What there is of a buffer that would expand to more than any of the session has.
fn too_large(extent: &BufferExtent, max_buffer_size: u32) -> Option<Filled> {
    let fault = ContentFault::TooLarge(extent.used_len.saturating_sub(BUFFER_HEADER_LEN));
    (extent.is_compressed() && extent.used_len > max_buffer_size).then_some(Filled {
        place: FilledFrom::Stored(0),
        fault: Some(fault),
        surplus: None,
    })
}

/// A buffer of which these bytes are stored.
fn filled(extent: &BufferExtent, stored: &[u8], expanded: &mut Vec<u8>) -> Filled {
    let wanted = extent.used_len.saturating_sub(BUFFER_HEADER_LEN);
    if extent.is_compressed() {
        return expand(extent, stored, wanted, expanded);
    }
    let (len, fault) = plain(extent, stored, wanted);
    let surplus = stored.get(len..).and_then(|behind| surplus_of(extent, behind));
    Filled { place: FilledFrom::Stored(len), fault, surplus }
}

/// How many of the stored bytes are event data, and why there are not as many as wanted.
fn plain(extent: &BufferExtent, stored: &[u8], wanted: u32) -> (usize, Option<ContentFault>) {
    let there = u32::try_from(stored.len()).unwrap_or(u32::MAX);
    let fault = match wanted.checked_sub(there) {
        None | Some(0) => None,
        Some(missing) if extent.used_len > extent.size => Some(ContentFault::BeyondBuffer(missing)),
        Some(missing) => Some(ContentFault::Truncated(missing)),
    };
    (wanted.min(there) as usize, fault)
}

fn expand(extent: &BufferExtent, stored: &[u8], wanted: u32, expanded: &mut Vec<u8>) -> Filled {
    expanded.resize(wanted as usize, 0);
    let Expansion { consumed, written, result } = xpress::expand(stored, expanded);
    let missing = wanted.saturating_sub(u32::try_from(written).unwrap_or(wanted));
    // A match that goes on behind the end is stored data that is left over, like the items behind it.
    let goes_on = missing == 0 && result == Err(XpressError::TooLong);
    let fault = result.err().filter(|_| !goes_on).map(|error| match error {
        XpressError::EndOfInput if extent.is_truncated() => ContentFault::Truncated(missing),
        _ => ContentFault::Compression(error, missing),
    });
    let left_over = stored.get(consumed - usize::from(goes_on)..).filter(|_| fault.is_none());
    let surplus = left_over.and_then(|behind| surplus_of(extent, behind));
    Filled { place: FilledFrom::Expanded(written), fault, surplus }
}

/// What nothing explains of the bytes behind the data.
///
/// Unused space holds FF, sometimes zeros first, whereas a compressed buffer has none. What follows the last event to
/// the next multiple of 8 is its alignment, which holds anything.
fn surplus_of(extent: &BufferExtent, behind: &[u8]) -> Option<Surplus> {
    if extent.is_compressed() {
        let bytes = u32::try_from(behind.len()).unwrap_or(u32::MAX);
        return (bytes > 0).then_some(Surplus { bytes, begins_with_event: false });
    }
    let alignment = extent.used_len.max(BUFFER_HEADER_LEN).wrapping_neg() % EVENT_ALIGNMENT;
    let unused = behind.get(alignment as usize..).unwrap_or_default();
    if is_filler(unused) {
        return None;
    }
    let last = behind.iter().rposition(|&byte| !is_filler(&[byte]))?;
    Some(Surplus { bytes: u32::try_from(last + 1).unwrap_or(u32::MAX), begins_with_event: begins_with_event(unused) })
}

fn begins_with_event(bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(|&marker| HeaderFamily::of_marker(u32::from_le_bytes(marker)).is_some())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zerocopy::FromZeros;

    use super::*;
    use crate::layout::buffer::flags;

    fn surplus(parts: &[&[u8]], filled: u32, flags: u16) -> Option<(u32, bool)> {
        let mut extent = BufferExtent::new_zeroed();
        (extent.used_len, extent.flags) = (filled, flags);
        surplus_of(&extent, &parts.concat()).map(|surplus| (surplus.bytes, surplus.begins_with_event))
    }

    #[test]
    fn no_type_of_a_buffer_hides_its_data() {
        let (mut file, mut scratch) = (tempfile::NamedTempFile::new().unwrap(), Scratch::default());
        // A header, eight bytes that are no event, and one event.
        file.write_all(&[&[0; 72][..], &[0x5A; 8], &[2, 0, 0x11, 0xC0, 16, 0, 0x2E, 0x0F], &[7; 8]].concat()).unwrap();
        let input = crate::input::LocalFile::open(file.path()).unwrap();
        for buffer_type in 0..=7 {
            let mut extent = BufferExtent::new_zeroed();
            (extent.size, extent.stored_len, extent.used_len, extent.buffer_type) = (96, 96, 96, buffer_type);
            let content = read(&input, &extent, 0x400, &mut scratch).unwrap();
            assert_eq!((content.bytes().len(), content.bytes()[0]), (24, 0x5A), "{buffer_type}");
        }
    }

    #[test]
    fn unused_space_holds_zeros_and_ff() {
        assert_eq!(surplus(&[&[0xFF; 300]], 80, 0), None);
        assert_eq!(surplus(&[&[0; 224], &[0xFF; 100]], 80, 0), None);
        assert_eq!(surplus(&[], 80, 0), None);
        // From the end of the data to the last byte that something was written to.
        assert_eq!(surplus(&[&[0xFF; 9], &[7], &[0xFF; 100]], 80, 0), Some((10, false)));
        assert_eq!(surplus(&[&[2, 0, 0x11, 0xC0], &[7; 300]], 80, 0), Some((304, true)));
        // The alignment of the last event holds anything.
        assert_eq!(surplus(&[&[7; 3], &[0xFF; 100]], 77, 0), None);
        assert_eq!(surplus(&[&[7; 4], &[0xFF; 100]], 77, 0), Some((4, false)));
        assert_eq!(surplus(&[&[7; 3]], 77, 0), None);
    }

    #[test]
    fn compressed_data_that_goes_on_is_left_over() {
        // A literal and a match of 9 bytes; the buffer ends behind the literal, within the match, and behind it.
        let stored = [0, 0, 0, 0x40, b'a', 0x06, 0x00];
        for (wanted, bytes) in [(1, Some(2)), (5, Some(1)), (10, None)] {
            let mut extent = BufferExtent::new_zeroed();
            extent.flags = flags::COMPRESSED;
            let filled = expand(&extent, &stored, wanted, &mut Vec::new());
            assert_eq!((filled.fault, filled.surplus.map(|surplus| surplus.bytes)), (None, bytes), "{wanted}");
        }
    }

    #[test]
    fn a_compressed_buffer_has_no_unused_space() {
        assert_eq!(surplus(&[&[0xFF; 5]], 80, flags::COMPRESSED), Some((5, false)));
        assert_eq!(surplus(&[], 80, flags::COMPRESSED), None);
    }
}
