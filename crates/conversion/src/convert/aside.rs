//! Events that are set aside: copied out of a buffer that many slices would have to go through.
//!
//! Each is its time, eight bytes in ticks, and then the event as it lies in its buffer, with its alignment. The time stands
//! there because an event may have none of its own, and the neighbour whose it took may be of another slice. Behind the
//! events of a segment stands where they were in their buffer.

use etl::event::RawEvent;
use etl::layout::header::EVENT_ALIGNMENT;

/// Bytes of the time before each event.
const TICKS_LEN: usize = size_of::<i64>();

/// Bytes of the two offsets of an event: those among the events set aside, and in its buffer.
const OFFSETS_LEN: usize = 2 * size_of::<u32>();

/// Appends the offsets of an event, which stand behind the events of its segment, in their order.
pub(super) fn put_offsets(aside: &mut Vec<u8>, offset: u32, in_buffer: u32) {
    aside.extend(offset.to_le_bytes());
    aside.extend(in_buffer.to_le_bytes());
}

/// Where events that were set aside stand in their buffer.
#[derive(Clone, Copy, Debug, Default)]
pub struct AsideOffsets<'a>(&'a [[u8; OFFSETS_LEN]]);

impl<'a> AsideOffsets<'a> {
    /// Those of so many events, from the bytes behind them.
    pub(super) fn of(bytes: &'a [u8], events: u32) -> Self {
        AsideOffsets(bytes.as_chunks().0.get(..events as usize).unwrap_or_default())
    }

    /// The offset in its buffer of the event at an offset among those set aside.
    pub(super) fn in_buffer(&self, offset: u32) -> Option<u32> {
        let place = self.0.binary_search_by_key(&offset, |offsets| half(offsets, 0)).ok()?;
        Some(half(&self.0[place], 1))
    }
}

fn half(offsets: &[u8; OFFSETS_LEN], number: usize) -> u32 {
    u32::from_le_bytes(offsets.as_chunks().0[number])
}

/// Appends an event; says where its bytes stand.
pub(super) fn put(aside: &mut Vec<u8>, ticks: i64, event: &RawEvent<'_>) -> usize {
    aside.extend(ticks.to_le_bytes());
    let start = aside.len();
    aside.extend(event.bytes);
    aside.resize(aside.len().next_multiple_of(EVENT_ALIGNMENT as usize), 0);
    start
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
