//! Events that tell what ids mean, or of the stacks of others, kept while their compressed buffer is expanded, so that nobody has to expand it again.
//!
//! What is kept is bounded, and of which buffers may depend on threads: whoever wants the events of another one reads the
//! buffer, and finds the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::event::RawEvent;

/// Bytes that are kept of a file: four times its own of a small file, as many as its own of a large one.
const SMALL: u64 = 16 << 20;
const MOST: u64 = 64 << 20;

/// Bytes of events of one buffer, beyond which it is not worth the memory of those beside it.
const MAX_BUFFER: usize = 1 << 20;

/// The events of a file that tell of subjects or stacks, of buffers of which they are kept.
#[derive(Debug, Default)]
pub struct ToldEvents {
    /// By ordinal, once there are all of them.
    buffers: Vec<ToldBuffer>,
}

/// Those of one buffer.
#[derive(Debug)]
pub struct ToldBuffer {
    ordinal: u64,
    heads: Box<[Head]>,
    bytes: Box<[u8]>,
}

/// Where an event is.
#[derive(Clone, Copy, Debug)]
struct Head {
    ticks: i64,
    offset: u32,
    /// Behind its bytes among those that are kept; they begin where those of the one before it end.
    end: u32,
}

impl ToldEvents {
    /// Those of a buffer: its events that tell of subjects or stacks, all of them; `None` where they are not kept.
    pub fn of(&self, ordinal: u64) -> Option<&ToldBuffer> {
        let place = self.buffers.binary_search_by_key(&ordinal, |buffer| buffer.ordinal).ok()?;
        self.buffers.get(place)
    }

    pub(super) fn add(&mut self, buffers: Vec<ToldBuffer>) {
        self.buffers.extend(buffers);
    }

    /// Puts them in order: there are all of them.
    pub(super) fn sort(&mut self) {
        self.buffers.sort_unstable_by_key(|buffer| buffer.ordinal);
    }
}

impl ToldBuffer {
    /// The events in their order, each with its time in ticks.
    pub fn events(&self) -> impl Iterator<Item = (RawEvent<'_>, i64)> {
        let mut rest = &*self.bytes;
        let mut start = 0;
        self.heads.iter().filter_map(move |head| {
            let (bytes, behind) = rest.split_at_checked(head.end.saturating_sub(start) as usize)?;
            (rest, start) = (behind, head.end);
            Some((RawEvent::at(bytes, head.offset)?, head.ticks))
        })
    }
}

/// Room for what is kept of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct ToldRoom(Arc<AtomicUsize>);

impl ToldRoom {
    /// For a file of so many bytes.
    pub(super) fn of(file_size: u64) -> Self {
        let bytes = file_size.saturating_mul(4).min(SMALL).max(file_size).min(MOST);
        ToldRoom(Arc::new(AtomicUsize::new(usize::try_from(bytes).unwrap_or_default())))
    }

    fn take(&self, bytes: usize) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }
}

/// Keeps events of one buffer after the other.
#[derive(Debug, Default)]
pub(super) struct ToldKeeper {
    room: ToldRoom,
    is_keeping: bool,
    content_bytes: usize,
    heads: Vec<Head>,
    bytes: Vec<u8>,
    /// What is kept of the buffers so far, in no particular order.
    pub(super) buffers: Vec<ToldBuffer>,
}

impl ToldKeeper {
    /// Keeps as much as there is room for.
    pub(super) fn within(room: &ToldRoom) -> Self {
        ToldKeeper { room: room.clone(), ..ToldKeeper::default() }
    }

    /// Begins a buffer with so many bytes of events.
    pub(super) fn begin(&mut self, is_compressed: bool, content_bytes: usize) {
        self.heads.clear();
        self.bytes.clear();
        self.content_bytes = content_bytes;
        self.is_keeping = is_compressed && content_bytes <= MAX_BUFFER && self.room.0.load(Ordering::Relaxed) > 0;
    }

    /// Keeps an event of the buffer.
    pub(super) fn push(&mut self, raw: &RawEvent<'_>, ticks: i64) {
        if self.is_keeping {
            if self.heads.is_empty() {
                // No event of the buffer is copied twice.
                self.bytes.reserve_exact(self.content_bytes);
            }
            self.bytes.extend_from_slice(raw.bytes);
            // A buffer has at most 16 MiB.
            let end = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
            self.heads.push(Head { ticks, offset: raw.offset, end });
        }
    }

    /// Ends the buffer, of which all events were there.
    pub(super) fn end(&mut self, ordinal: u64) {
        let bytes = self.bytes.len() + size_of_val(&self.heads[..]) + size_of::<ToldBuffer>();
        if self.is_keeping && !self.heads.is_empty() && self.room.take(bytes) {
            let bytes = std::mem::take(&mut self.bytes).into_boxed_slice();
            self.buffers.push(ToldBuffer { ordinal, heads: (&*self.heads).into(), bytes });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::header::HeaderFamily;

    /// An event of 80 bytes with this number in it.
    fn event(number: u8) -> Vec<u8> {
        let mut bytes = vec![number; 80];
        bytes[..4].copy_from_slice(&[80, 0, 0x13, 0xc0]);
        bytes
    }

    fn keep(keeper: &mut ToldKeeper, ordinal: u64, is_compressed: bool, content: usize) {
        keeper.begin(is_compressed, content);
        for number in [1, 2] {
            let bytes = event(number);
            let offset = 80 * u32::from(number);
            keeper.push(&RawEvent { offset, family: HeaderFamily::Event64, bytes: &bytes }, i64::from(number));
        }
        keeper.end(ordinal);
    }

    fn kept(keeper: &mut ToldKeeper) -> ToldEvents {
        let mut told = ToldEvents::default();
        told.add(std::mem::take(&mut keeper.buffers));
        told.sort();
        told
    }

    #[test]
    fn events_come_back_as_they_were() {
        let mut keeper = ToldKeeper::within(&ToldRoom::of(1 << 20));
        keep(&mut keeper, 9, true, 160);
        keep(&mut keeper, 4, true, 160);
        let told = kept(&mut keeper);
        assert_eq!(told.buffers.iter().map(|buffer| buffer.ordinal).collect::<Vec<_>>(), [4, 9]);
        let found: Vec<_> =
            told.of(9).unwrap().events().map(|(raw, ticks)| (raw.offset, ticks, raw.bytes[79])).collect();
        assert_eq!(found, [(80, 1, 1), (160, 2, 2)]);
        assert!(told.of(5).is_none());
    }

    #[test]
    fn room_follows_from_the_size_of_the_file() {
        let sizes = [0, 1 << 20, 5 << 20, 20 << 20, 1 << 40, u64::MAX];
        let rooms = sizes.map(|size| ToldRoom::of(size).0.load(Ordering::Relaxed) >> 20);
        assert_eq!(rooms, [0, 4, 16, 20, 64, 64]);
    }

    #[test]
    fn what_costs_too_much_or_nothing_to_read_again_is_not_kept() {
        let mut keeper = ToldKeeper::within(&ToldRoom::of(75));
        keep(&mut keeper, 1, false, 160);
        keep(&mut keeper, 2, true, MAX_BUFFER + 1);
        keep(&mut keeper, 3, true, 160);
        // The room is used up.
        keep(&mut keeper, 4, true, 160);
        let told = kept(&mut keeper);
        assert_eq!([1, 2, 3, 4].map(|ordinal| told.of(ordinal).is_some()), [false, false, true, false]);
    }
}
