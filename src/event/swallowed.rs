//! Events whose size is too large, so that the events behind them are taken for their payload.
//!
//! Nothing in such an event contradicts its size, but the events that it has swallowed are still there: headers at
//! multiples of 8, each leading to the next, up to a place where an event is known to begin. Payloads hold bytes that
//! look like one header; they hold no such chain, with times of this buffer. All that is asked of a buffer first is how
//! many of its words look like the start of a header: as many as it has events, mostly.

use super::walk::{RawEvent, Walk, WalkStep};
use crate::layout::header::{EVENT_ALIGNMENT, KernelHeader};

/// No recording has such a distance between events of one buffer, in ticks: 30 hours of 10 MHz.
const FAR: u64 = 1 << 40;

/// Events are rarely so far from those before them, in ticks: 7 minutes of 10 MHz.
const APART: u64 = 1 << 32;

/// Bytes of a word; events begin with one.
const WORD: usize = EVENT_ALIGNMENT as usize;

/// What the events of a buffer have swallowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swallowed {
    /// How many events hold others.
    pub holders: u32,
    /// Bytes from the first event within each of them to its end.
    pub bytes: u32,
    /// Offset of the first of them, from the first event of the buffer.
    pub holder: u32,
    /// Offset of the first event within it.
    pub first: u32,
}

/// How many words of a buffer look like the start of an event.
pub fn marked_words(bytes: &[u8]) -> u32 {
    let (halves, _) = bytes.as_chunks::<{ WORD / 2 }>();
    let (words, _) = halves.as_chunks::<2>();
    // As many at a time as become a few wide instructions: six times as fast as one by one.
    let (blocks, rest) = words.as_chunks::<8>();
    let count = |word: &[[u8; WORD / 2]; 2]| u32::from(is_marked(u32::from_le_bytes(word[0])));
    let mut counts = [0; 8];
    for block in blocks {
        counts.iter_mut().zip(block).for_each(|(sum, word)| *sum += count(word));
    }
    counts.iter().sum::<u32>() + rest.iter().map(count).sum::<u32>()
}

/// Whether the first four bytes of an event are among those that [`marked_words`] counts.
#[inline]
pub fn is_marked_event(event: &RawEvent<'_>) -> bool {
    event.bytes.first_chunk().is_some_and(|&marker| is_marked(u32::from_le_bytes(marker)))
}

/// Types of headers are below 20, and the third byte of a message is 0. The obsolete B0 is nowhere looked for.
#[inline]
#[expect(clippy::needless_bitwise_bool, reason = "without a branch, so that eight words are compared at a time")]
fn is_marked(marker: u32) -> bool {
    (marker & 0xFFE0_0000 == 0xC000_0000) | (marker & 0xFFFF_0000 == 0x9000_0000)
}

/// What the events of a buffer have swallowed, given all of its event bytes. The event at the start is left out where
/// `skips_first`: the header event has its own measure.
#[cold]
pub fn swallowed(bytes: &[u8], skips_first: bool) -> Option<Swallowed> {
    let mut known = Known::of(bytes);
    let mut found = Swallowed::default();
    // The end of the event that is looked into, that of the stretch a chain may fill, and where one begins.
    let (mut end, mut limit, mut first) = (known.end, known.end, None);
    for word in (0..known.end).rev() {
        if !known.starts.has(word) {
            if known.is_swallowed(bytes, word, end, limit) {
                known.starts.set(word);
                first = Some(word);
            }
            continue;
        }
        if let Some(first) = first.take().filter(|_| !(skips_first && word == 0)) {
            found.holders += 1;
            found.bytes = found.bytes.saturating_add(offset(end - first));
            (found.holder, found.first) = (offset(word), offset(first));
        }
        end = word;
        if !known.strange.has(word) {
            limit = word;
        }
    }
    (found.holders > 0).then_some(found)
}

/// Bytes of so many words; a buffer has at most 16 MiB.
fn offset(words: usize) -> u32 {
    u32::try_from(words * WORD).unwrap_or(u32::MAX)
}

/// What a walk shows of a buffer, by words.
struct Known {
    /// Where events begin.
    starts: Bits,
    /// Those of them whose time is apart from all before them: they may be no events.
    strange: Bits,
    times: Times,
    /// Where events end.
    end: usize,
}

impl Known {
    fn of(bytes: &[u8]) -> Known {
        let end = bytes.len().div_ceil(WORD);
        let bits = || Bits::new(end + 1);
        let mut known = Known { starts: bits(), strange: bits(), times: Times::default(), end };
        for step in Walk::new(bytes, 0) {
            match step {
                WalkStep::Event(event) => known.add(&event),
                WalkStep::Damage { offset, .. } => known.end = offset as usize / WORD,
            }
        }
        known.starts.set(known.end);
        known
    }

    fn add(&mut self, event: &RawEvent<'_>) {
        let word = event.offset as usize / WORD;
        self.starts.set(word);
        if event.ticks().is_some_and(|ticks| self.times.add(ticks)) {
            self.strange.set(word);
        }
    }

    /// Whether an event begins at a word of the event that ends at `end`, from which others lead to where one is known
    /// to begin: no farther than the end, but where what stands behind it has strange times, up to `limit`.
    fn is_swallowed(&self, bytes: &[u8], word: usize, end: usize, limit: usize) -> bool {
        let rest = bytes.get(word * WORD..).unwrap_or_default();
        let marker = rest.first_chunk().map_or(0, |&marker| u32::from_le_bytes(marker));
        if !is_marked(marker) {
            return false;
        }
        let Some(event) = RawEvent::at(rest, 0).filter(|event| !is_of_no_hook(event)) else { return false };
        let behind = (word * WORD + event.bytes.len()).div_ceil(WORD);
        let limit = event.ticks().map_or(Some(end), |ticks| self.times.has(ticks).then_some(limit));
        limit.is_some_and(|limit| behind <= limit) && self.starts.has(behind)
    }
}

/// Hook 0 is that of the header event alone. A time in a payload, of which one half looks like a marker, has zeros there.
fn is_of_no_hook(event: &RawEvent<'_>) -> bool {
    event.family.is_kernel() && event.header::<KernelHeader>().is_some_and(|hook| (hook.kind, hook.group) == (0, 0))
}

/// The times of the events of a buffer.
#[derive(Default)]
struct Times {
    first: Option<i64>,
    previous: Option<i64>,
    /// The last one that is near to another.
    near: Option<i64>,
    /// The earliest and the latest of those.
    span: Option<(i64, i64)>,
}

impl Times {
    /// Adds the time of the next event; whether it is apart from those before it.
    fn add(&mut self, ticks: i64) -> bool {
        let known = [self.first, self.previous, self.near].into_iter().flatten();
        let distance = known.map(|known| known.abs_diff(ticks)).min().unwrap_or(0);
        self.first.get_or_insert(ticks);
        self.previous = Some(ticks);
        if distance < FAR {
            self.near = Some(ticks);
            self.span = Some(self.span.map_or((ticks, ticks), |(from, to)| (from.min(ticks), to.max(ticks))));
        }
        distance >= APART
    }

    /// Whether an event of the buffer may have this time. Where none has a time, any.
    fn has(&self, ticks: i64) -> bool {
        self.span.is_none_or(|(from, to)| {
            (from.saturating_sub_unsigned(FAR)..=to.saturating_add_unsigned(FAR)).contains(&ticks)
        })
    }
}

/// A bit for each word of a buffer.
struct Bits(Vec<u64>);

impl Bits {
    fn new(words: usize) -> Bits {
        Bits(vec![0; words.div_ceil(64)])
    }

    fn set(&mut self, word: usize) {
        if let Some(bits) = self.0.get_mut(word / 64) {
            *bits |= 1 << (word % 64);
        }
    }

    fn has(&self, word: usize) -> bool {
        self.0.get(word / 64).is_some_and(|bits| bits >> (word % 64) & 1 != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PERFINFO event of this size and time, filled up to the next multiple of 8.
    fn event(size: u8, ticks: u8) -> Vec<u8> {
        let mut bytes = vec![2, 0, 0x11, 0xC0, size, 0, 0x2E, 0x0F, ticks, 0, 0, 0, 0, 0, 0, 0];
        bytes.resize(usize::from(size), 0x77);
        bytes.resize(bytes.len().next_multiple_of(8), 0xEE);
        bytes
    }

    /// A message of eight bytes: no time and no arguments.
    fn message() -> Vec<u8> {
        vec![8, 0, 0, 0x90, 1, 0, 0, 0]
    }

    /// The events with the size of the first one changed: holder, first event within, holders, bytes; and whether the words
    /// that look like headers tell that there is something to look for.
    #[track_caller]
    fn t(parts: &[Vec<u8>], size: u8, expected: Option<(u32, u32, u32, u32)>) {
        let mut bytes = parts.concat();
        bytes[4] = size;
        let found = swallowed(&bytes, false);
        assert_eq!(found.map(|found| (found.holder, found.first, found.holders, found.bytes)), expected);
        let starts = Walk::new(&bytes, 0).filter(|step| matches!(step, WalkStep::Event(raw) if is_marked_event(raw)));
        assert_eq!(marked_words(&bytes) as usize > starts.count(), expected.is_some());
        assert_eq!(swallowed(&bytes, true), None);
    }

    #[test]
    fn events_that_lead_to_the_end_of_another_are_found() {
        t(&[event(24, 5), event(20, 6)], 24, None);
        // The end is that of the alignment, not of the size.
        for size in 41..=48 {
            t(&[event(24, 5), event(20, 6)], size, Some((0, 24, 1, 24)));
            t(&[event(24, 5), event(20, 6), event(40, 9)], size, Some((0, 24, 1, 24)));
        }
        t(&[event(24, 5), event(16, 5), event(40, 9), event(24, 9)], 80, Some((0, 24, 1, 56)));
        // One that begins before its holder, and one of another family.
        t(&[event(24, 5), event(24, 4), event(24, 6)], 48, Some((0, 24, 1, 24)));
        t(&[event(24, 5), message(), message(), event(24, 6)], 40, Some((0, 24, 1, 16)));
    }

    #[test]
    fn not_only_the_largest_event_is_looked_into() {
        let behind = [event(200, 7), event(24, 5), event(24, 6), event(24, 7)].concat();
        let mut bytes = [event(24, 5), event(24, 5), behind].concat();
        (bytes[4], bytes[248 + 4]) = (48, 48);
        let expected = Swallowed { holders: 2, bytes: 48, holder: 0, first: 24 };
        assert_eq!(swallowed(&bytes, false), Some(expected));
        let behind_the_first = Swallowed { holders: 1, bytes: 24, holder: 248, first: 272 };
        assert_eq!(swallowed(&bytes, true), Some(behind_the_first));
    }

    #[test]
    fn a_walk_that_goes_astray_and_comes_back_is_found() {
        // The payload of the second event looks like an event that ends where the second one ends.
        let mut second = event(40, 6);
        second[16..24].copy_from_slice(&[2, 0, 0x11, 0xC0, 24, 0, 0x2E, 0x0F]);
        let mut bytes = [event(24, 5), second, event(24, 7)].concat();
        bytes[4] = 40;
        let expected = Swallowed { holders: 1, bytes: 16, holder: 0, first: 24 };
        assert_eq!(swallowed(&bytes, false), Some(expected));
        // Its time is one of this buffer: which of the two is an event nobody knows.
        bytes[48..56].copy_from_slice(&[6, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(swallowed(&bytes, false), None);
    }

    #[test]
    fn a_payload_that_looks_like_one_header_is_none() {
        let with = |payload: &[u8]| {
            let mut bytes = event(64, 5);
            bytes[24..24 + payload.len()].copy_from_slice(payload);
            swallowed(&[bytes, event(24, 6)].concat(), false)
        };
        let ticks = |ticks: u64| ticks.to_le_bytes();
        let header = [2, 0, 0x11, 0xC0, 40, 0, 0x2E, 0x0F];
        assert_eq!(with(&[header, ticks(7)].concat()).map(|found| found.first), Some(24));
        // It ends where no event begins, has the time of another day, or is two numbers: hook 0.
        assert_eq!(with(&[[2, 0, 0x11, 0xC0, 30, 0, 0x2E, 0x0F], ticks(7)].concat()), None);
        assert_eq!(with(&[header, ticks(1 << 41)].concat()), None);
        assert_eq!(with(&[ticks(0x28_C011_0002), ticks(7)].concat()), None);
    }

    #[test]
    fn a_header_may_stand_in_the_alignment_before_an_event() {
        // What is left of an older event looks like the header of one that ends where the event behind it ends.
        let mut bytes = [event(26, 5), event(24, 6), event(24, 7)].concat();
        bytes[24..32].copy_from_slice(&[2, 0, 0x11, 0xC0, 32, 0, 0x2E, 0x0F]);
        assert_eq!(swallowed(&bytes, false), None);
        // The size of the first is too small by 2.
        bytes[4] = 24;
        let expected = Swallowed { holders: 1, bytes: 24, holder: 24, first: 32 };
        assert_eq!(swallowed(&bytes, false), Some(expected));
        // A time looks like a marker and a size, and the payload is a time: this is no event, for its hook is 0.
        let mut bytes = event(32, 0);
        bytes[8..16].copy_from_slice(&0x18_C011_0002u64.to_le_bytes());
        bytes[16..24].copy_from_slice(&0x18_C011_0001u64.to_le_bytes());
        assert_eq!(swallowed(&bytes, false), None);
    }
}
