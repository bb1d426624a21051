//! Events that are set aside: copied out of a buffer that many slices would have to go through.
//!
//! Each is its time, eight bytes in ticks, and then the event as it lies in its buffer, with its alignment. The time stands
//! there because an event may have none of its own, and the neighbour whose it took may be of another slice.

use crate::event::RawEvent;
use crate::layout::header::EVENT_ALIGNMENT;

/// Bytes of the time before each event.
const TICKS_LEN: usize = size_of::<i64>();

/// Appends an event.
pub(super) fn put(aside: &mut Vec<u8>, ticks: i64, event: &RawEvent<'_>) {
    aside.extend(ticks.to_le_bytes());
    aside.extend(event.bytes);
    aside.resize(aside.len().next_multiple_of(EVENT_ALIGNMENT as usize), 0);
}

/// Goes through events that were set aside: of each its time and the event, whose offset is that from the start of
/// `bytes`. They come in the order of their offsets in the buffer.
#[derive(Clone, Debug)]
pub struct AsideWalk<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> AsideWalk<'a> {
    /// Goes through all of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        AsideWalk { bytes, at: 0 }
    }
}

impl<'a> Iterator for AsideWalk<'a> {
    type Item = (i64, RawEvent<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (ticks, rest) = self.bytes.get(self.at..)?.split_first_chunk()?;
        let start = self.at + TICKS_LEN;
        let event = RawEvent::at(rest, u32::try_from(start).ok()?)?;
        self.at = start + event.bytes.len().next_multiple_of(EVENT_ALIGNMENT as usize);
        Some((i64::from_le_bytes(*ticks), event))
    }
}
