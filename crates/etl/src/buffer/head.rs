//! The first bytes of a buffer, and how sure one can be that they are.

use super::filler::is_filler;
use crate::layout::buffer::{BUFFER_HEADER_LEN, BufferHeader};
use crate::layout::header::HeaderFamily;

/// Bytes of a buffer's header and of the longest way from its first event to that event's time.
pub(super) const HEAD_LEN: usize = BUFFER_HEADER_LEN as usize + 32;

/// A buffer header and the first bytes of the data behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head<'a> {
    pub(super) header: &'a BufferHeader,
    raw: &'a [u8],
    data: &'a [u8],
}

impl<'a> Head<'a> {
    /// The head at the start of `bytes`, if there are enough of them.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Head<'a>> {
        let (raw, data) = bytes.split_at_checked(BUFFER_HEADER_LEN as usize)?;
        Some(Head { header: BufferHeader::read(raw)?, raw, data })
    }

    /// Whether the header holds zeros only, or FF only, as space does that nothing was written to.
    pub(super) fn is_unused(&self) -> bool {
        is_filler(self.raw) && self.raw.iter().all(|&byte| Some(&byte) == self.raw.first())
    }

    /// The first byte.
    pub(super) fn first_byte(&self) -> u8 {
        self.raw.first().copied().unwrap_or(0)
    }

    /// Whether this can only be a buffer: all that can be known of its header and of its first event is as it must be.
    /// What a search finds must be this sure; a header at its expected place need only be plausible.
    pub(super) fn is_certain(&self) -> bool {
        let (size, filled) = (self.header.buffer_size.get(), self.header.filled_bytes.get());
        let fits = self.header.is_compressed() || filled <= size;
        self.header.is_plausible() && fits && self.header.reference_count.get() == 0 && self.holds_data()
    }

    /// Whether the data begins with an event, or there is none.
    pub(super) fn holds_data(&self) -> bool {
        let filled = self.header.filled_bytes.get();
        filled == BUFFER_HEADER_LEN || filled > BUFFER_HEADER_LEN && self.first_kind().is_some()
    }

    /// The kind of the first event. A compressed buffer begins with flags, then with its first bytes as they are: the
    /// first four bytes of an event repeat nothing that could be copied.
    fn first_kind(&self) -> Option<HeaderFamily> {
        let marker = if self.header.is_compressed() {
            let starts_with_literals = self.data.get(3)? >> 4 == 0;
            self.data.get(4..).filter(|_| starts_with_literals)?
        } else {
            self.data
        };
        HeaderFamily::of_marker(u32::from_le_bytes(*marker.first_chunk()?))
    }

    /// The time of the first event in ticks, if it can be read without expanding the buffer.
    pub(super) fn first_ticks(&self) -> Option<i64> {
        if self.header.is_compressed() {
            return None;
        }
        let at = self.first_kind()?.time_offset()?;
        self.data.get(at..)?.first_chunk().map(|&ticks| i64::from_le_bytes(ticks))
    }
}
