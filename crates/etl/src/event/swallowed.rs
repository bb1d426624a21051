//! Events whose size is too large, so that the events behind them are taken for their payload.
//!
//! Nothing in such an event contradicts its size, but the events that it has swallowed are still there: headers at
//! multiples of 8, each leading to the next, up to a place where an event is known to begin. Payloads hold bytes that
//! look like one header; they hold no such chain, with times of this buffer. Of an event without a time that is no chain:
//! it has to be of a kind that the buffer has elsewhere. A first look ([`hides_events`]) asks only
//! whether any word is the last of such a chain; hardly any buffer without damage has one.
//!
//! The same is asked of what follows a damaged event ([`resume`]): a chain that leads to the end of the buffer.

use super::starts::{Bits, Starts, WORD, is_marked, marker};
use super::walk::{Gap, RawEvent, Walk, WalkStep};
use crate::layout::header::{HeaderFamily, KernelHeader, MessageHeader};

/// No recording has such a distance between events of one buffer, in ticks: 30 hours of 10 MHz.
const FAR: u64 = 1 << 40;

/// Events are rarely so far from those before them, in ticks: 7 minutes of 10 MHz.
const APART: u64 = 1 << 32;

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

/// Whether an event of a buffer may have swallowed others, given where its events begin: all that [`swallowed`] finds, and
/// little else. `times` are the smallest and the largest time of its events, in ticks, where any has one of its own.
pub fn hides_events(bytes: &[u8], starts: &Starts, times: Option<(i64, i64)>) -> bool {
    starts.any_other(bytes, |word| {
        let Some((event, behind)) = event_at(bytes, word) else { return false };
        let is_of_time = |ticks: i64| times.is_none_or(|span| is_near(ticks, span));
        starts.has(behind) && event.ticks().is_none_or(is_of_time)
    })
}

/// The bytes that are skipped behind the damaged event at an offset, where events can be found again: the first one has a
/// time, and each leads to the next and the last one to the end of the buffer, with times that are those of the events
/// before, or of the session, that began at `fallback` ticks, where there are none.
#[cold]
pub fn resume(bytes: &[u8], damage: u32, fallback: i64) -> Option<Gap> {
    let mut known = BufferMap::of(bytes, Gap::NONE);
    let end = bytes.len().div_ceil(WORD);
    known.starts.set(end);
    known.times.span.get_or_insert((fallback, fallback));
    let mut first = None;
    for word in (known.end + 1..end).rev() {
        if known.takes(bytes, word, end, end) {
            first = event_at(bytes, word).and_then(|(event, _)| event.ticks()).map_or(first, |_| Some(word));
        }
    }
    first.map(|word| Gap { from: damage, to: offset(word) })
}

/// What the events of a buffer have swallowed, given all of its event bytes. The event at the start is left out where
/// `skips_first`: the header event has its own measure.
#[cold]
pub fn swallowed(bytes: &[u8], gap: Gap, skips_first: bool) -> Option<Swallowed> {
    let mut known = BufferMap::of(bytes, gap);
    let mut found = Swallowed::default();
    // The end of the event that is looked into, that of the stretch a chain may fill, and where one begins.
    let (mut end, mut limit, mut first) = (known.end, known.end, None);
    for word in (0..known.end).rev() {
        if !known.starts.has(word) {
            if known.takes(bytes, word, end, limit) {
                first = Some(word);
            }
            continue;
        }
        // The bytes of the gap count as damaged as they are.
        let is_passed_over = skips_first && word == 0 || gap.begins_at(offset(word));
        if let Some(first) = first.take().filter(|_| !is_passed_over) {
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
struct BufferMap {
    /// Where events begin.
    starts: Bits,
    /// Those of them whose time is apart from all before them: they may be no events.
    strange: Bits,
    /// What belongs to headers of events, without their first words: what looks like an event there is a time or a number.
    headers: Bits,
    /// Where events without a time may begin, of kinds that the buffer does not have elsewhere.
    lone: Bits,
    /// The kinds that it has of events without a time.
    timeless: Vec<Kind>,
    times: Times,
    /// Where events end.
    end: usize,
}

/// What distinguishes events without a time from each other: the family, and of a message its flags.
type Kind = (HeaderFamily, u16);

/// Kinds that are kept of a buffer.
const MOST_KINDS: usize = 16;

fn kind(event: &RawEvent<'_>) -> Kind {
    let flags = event.header::<MessageHeader>().filter(|_| event.family == HeaderFamily::Message);
    (event.family, flags.map_or(0, |header| header.flags.get()))
}

impl BufferMap {
    fn of(bytes: &[u8], gap: Gap) -> BufferMap {
        let end = bytes.len().div_ceil(WORD);
        let bits = || Bits::new(end + 1);
        let (starts, strange, headers, lone) = (bits(), bits(), bits(), bits());
        let (timeless, times) = (Vec::new(), Times::default());
        let mut known = BufferMap { starts, strange, headers, lone, timeless, times, end };
        for step in Walk::new(bytes, 0).across(gap) {
            match step {
                WalkStep::Event(event) => known.add(&event),
                WalkStep::Damage { offset, .. } if gap.begins_at(offset) => {
                    // An event before it may be led to, and the events behind it, too.
                    known.starts.set(offset as usize / WORD);
                    known.strange.set(offset as usize / WORD);
                }
                WalkStep::Damage { offset, .. } => known.end = offset as usize / WORD,
            }
        }
        known.starts.set(known.end);
        known
    }

    fn add(&mut self, event: &RawEvent<'_>) {
        let word = event.offset as usize / WORD;
        self.starts.set(word);
        (1..event.family.header_len() / WORD).for_each(|of_header| self.headers.set(word + of_header));
        match event.ticks() {
            Some(ticks) if self.times.add(ticks) => self.strange.set(word),
            None if self.timeless.len() < MOST_KINDS && !self.timeless.contains(&kind(event)) => {
                self.timeless.push(kind(event));
            }
            _ => {}
        }
    }

    /// Whether an event begins at a word of the event that ends at `end`, from which others lead to where one is known
    /// to begin: no farther than the end, but where what stands behind it has strange times, up to `limit`. Then it is known.
    fn takes(&mut self, bytes: &[u8], word: usize, end: usize, limit: usize) -> bool {
        let Some((event, behind)) = event_at(bytes, word) else { return false };
        let ticks = event.ticks();
        let limit = ticks.map_or(Some(end), |ticks| self.times.has(ticks).then_some(limit));
        let is_second = self.lone.has(behind);
        if limit.is_none_or(|limit| behind > limit) || !(is_second || self.starts.has(behind)) {
            return false;
        }
        if self.headers.has(word) && !ticks.is_some_and(|ticks| self.times.spans(ticks)) {
            return false;
        }
        if ticks.is_none() && !is_second && !self.timeless.contains(&kind(&event)) {
            self.lone.set(word);
            return false;
        }
        self.starts.set(word);
        true
    }
}

/// The event that begins with a word, if one can, and the word behind it.
fn event_at(bytes: &[u8], word: usize) -> Option<(RawEvent<'_>, usize)> {
    let rest = bytes.get(word * WORD..)?;
    let event = RawEvent::at(rest, 0).filter(|event| is_marked(marker(rest)) && !is_of_no_hook(event))?;
    Some((event, (word * WORD + event.bytes.len()).div_ceil(WORD)))
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

    /// Whether events of the buffer have times before and behind this one, or the same.
    fn spans(&self, ticks: i64) -> bool {
        self.span.is_some_and(|(from, to)| (from..=to).contains(&ticks))
    }

    /// Whether an event of the buffer may have this time. Where none has a time, any.
    fn has(&self, ticks: i64) -> bool {
        self.span.is_none_or(|span| is_near(ticks, span))
    }
}

/// Whether a time is not far from a span of times, in ticks.
fn is_near(ticks: i64, (from, to): (i64, i64)) -> bool {
    (from.saturating_sub_unsigned(FAR)..=to.saturating_add_unsigned(FAR)).contains(&ticks)
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
    /// that look like headers show that there is something to look for.
    #[track_caller]
    fn t(parts: &[Vec<u8>], size: u8, expected: Option<(u32, u32, u32, u32)>) {
        let mut bytes = parts.concat();
        bytes[4] = size;
        let found = swallowed(&bytes, Gap::NONE, false);
        assert_eq!(found.map(|found| (found.holder, found.first, found.holders, found.bytes)), expected);
        assert_eq!(hides(&bytes), expected.is_some());
        assert_eq!(swallowed(&bytes, Gap::NONE, true), None);
    }

    /// What a first look says.
    fn hides(bytes: &[u8]) -> bool {
        let mut starts = Starts::default();
        starts.clear(bytes.len());
        for step in Walk::new(bytes, 0) {
            starts.add(match step {
                WalkStep::Event(RawEvent { offset, .. }) | WalkStep::Damage { offset, .. } => offset as usize,
            });
        }
        starts.add(bytes.len());
        hides_events(bytes, &starts, Some((4, 9)))
    }

    /// Events of which the second one says that it has `size` bytes: the bytes to skip, and the events behind them.
    fn resumed(size: u8, behind: &[Vec<u8>], fallback: i64) -> Option<(u32, u32)> {
        let mut bytes = [event(24, 5), event(40, 6), behind.concat()].concat();
        bytes[24 + 4] = size;
        let damage = Walk::new(&bytes, 0).find_map(|step| match step {
            WalkStep::Damage { offset, .. } => Some(offset),
            WalkStep::Event(_) => None,
        });
        let gap = resume(&bytes, damage?, fallback)?;
        let steps: Vec<_> = Walk::new(&bytes, 0).across(gap).collect();
        assert!(matches!(steps.last(), Some(WalkStep::Event(last)) if last.offset as usize + 24 == bytes.len()));
        Some((gap.from, gap.to))
    }

    #[test]
    fn events_are_found_again_behind_damage() {
        // It does not fit into the buffer; it is shorter than its header; its payload is no event.
        assert_eq!(resumed(255, &[event(24, 7)], 0), Some((24, 64)));
        assert_eq!(resumed(15, &[event(24, 7), event(24, 8)], 0), Some((24, 64)));
        assert_eq!(resumed(16, &[event(32, 7), event(24, 8), event(24, 9)], 0), Some((40, 64)));
        // It ends within the next one.
        assert_eq!(resumed(48, &[event(32, 7), event(24, 8)], 0), Some((72, 96)));
        // Nothing leads to the end, or what does is no event of this time, or has no time.
        assert_eq!(resumed(255, &[], 0), None);
        assert_eq!(resumed(255, &[event(24, 7), vec![0; 8]], 0), None);
        let mut of_another_day = event(24, 7);
        of_another_day[14] = 2;
        assert_eq!(resumed(255, &[of_another_day], 0), None);
        assert_eq!(resumed(255, &[message()], 0), None);
        // The first event of a buffer is damaged: then the start of the session is all that is known.
        let bytes = [vec![0; 8], event(24, 7)].concat();
        assert_eq!(resume(&bytes, 0, 0), Some(Gap { from: 0, to: 8 }));
        assert_eq!(resume(&bytes, 0, 1 << 41), None);
    }

    #[test]
    fn a_gap_hides_no_swallowed_event() {
        // The first event ends within the third one, which leads to the fourth, behind the gap.
        let mut bytes = [event(24, 5), event(24, 6), event(40, 7), event(24, 8)].concat();
        bytes[4] = 64;
        let gap = resume(&bytes, 64, 0).unwrap();
        assert_eq!(gap, Gap { from: 64, to: 88 });
        let mut starts = Starts::default();
        starts.clear(bytes.len());
        [0, 64, 88, 112].into_iter().for_each(|at| starts.add(at));
        assert!(hides_events(&bytes, &starts, Some((5, 8))));
        let expected = Swallowed { holders: 1, bytes: 40, holder: 0, first: 24 };
        assert_eq!(swallowed(&bytes, gap, false), Some(expected));
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
        assert_eq!(swallowed(&bytes, Gap::NONE, false), Some(expected));
        let behind_the_first = Swallowed { holders: 1, bytes: 24, holder: 248, first: 272 };
        assert_eq!(swallowed(&bytes, Gap::NONE, true), Some(behind_the_first));
    }

    #[test]
    fn a_walk_that_goes_astray_and_comes_back_is_found() {
        // The payload of the second event looks like an event that ends where the second one ends.
        let mut second = event(40, 6);
        second[16..24].copy_from_slice(&[2, 0, 0x11, 0xC0, 24, 0, 0x2E, 0x0F]);
        let mut bytes = [event(24, 5), second, event(24, 7)].concat();
        bytes[4] = 40;
        let expected = Swallowed { holders: 1, bytes: 16, holder: 0, first: 24 };
        assert_eq!(swallowed(&bytes, Gap::NONE, false), Some(expected));
        // Its time is one of this buffer: which of the two is an event nobody knows.
        bytes[48..56].copy_from_slice(&[6, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(swallowed(&bytes, Gap::NONE, false), None);
    }

    #[test]
    fn a_payload_that_looks_like_one_header_is_none() {
        let with = |payload: &[u8]| {
            let mut bytes = event(64, 5);
            bytes[24..24 + payload.len()].copy_from_slice(payload);
            swallowed(&[bytes, event(24, 6)].concat(), Gap::NONE, false)
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
    fn a_number_that_looks_like_an_event_without_a_time_is_none() {
        // The time of a header looks like an ERROR header of 21 bytes, as one did in a real trace; so may what is in a payload.
        let of_time = |at: usize, kinds: &[Vec<u8>]| {
            let mut bytes = event(32, 0);
            bytes[at..at + 4].copy_from_slice(&0xC00E_0015u32.to_le_bytes());
            bytes[at] = u8::try_from(32 - at).unwrap();
            swallowed(&[bytes, kinds.concat()].concat(), Gap::NONE, false).map(|found| found.first)
        };
        let error = [&0xC00E_0008u32.to_le_bytes()[..], &[0; 4]].concat();
        assert_eq!(of_time(8, &[]), None);
        assert_eq!(of_time(8, std::slice::from_ref(&error)), None);
        assert_eq!(of_time(16, &[]), None);
        // That of a stack walk, with the time of its event, looked like an obsolete header with a time of an hour before.
        let mut bytes = event(40, 9);
        bytes[8..16].copy_from_slice(&0x3_C00C_001Eu64.to_le_bytes());
        bytes[16..24].copy_from_slice(&0x7823_03CCu64.to_le_bytes());
        let behind = [&event(24, 0)[..8], &0x3_C00C_0100u64.to_le_bytes(), &[0; 8]].concat();
        assert_eq!(swallowed(&[bytes, behind].concat(), Gap::NONE, false), None);
        // Where there are such events, it may be one.
        assert_eq!(of_time(16, &[error]), Some(16));
        let messages = [event(24, 5), message(), event(24, 6)];
        let mut bytes = [messages.concat(), message()].concat();
        bytes[4] = 32;
        assert_eq!(swallowed(&bytes, Gap::NONE, false).map(|found| found.first), Some(24));
        bytes[62] = 1;
        assert_eq!(swallowed(&bytes, Gap::NONE, false), None);
    }

    #[test]
    fn a_header_may_stand_in_the_alignment_before_an_event() {
        // What is left of an older event looks like the header of one that ends where the event behind it ends.
        let mut bytes = [event(26, 5), event(24, 6), event(24, 7)].concat();
        bytes[24..32].copy_from_slice(&[2, 0, 0x11, 0xC0, 32, 0, 0x2E, 0x0F]);
        assert_eq!(swallowed(&bytes, Gap::NONE, false), None);
        // The size of the first is too small by 2.
        bytes[4] = 24;
        let expected = Swallowed { holders: 1, bytes: 24, holder: 24, first: 32 };
        assert_eq!(swallowed(&bytes, Gap::NONE, false), Some(expected));
        // A time looks like a marker and a size, and the payload is a time: this is no event, for its hook is 0.
        let mut bytes = event(32, 0);
        bytes[8..16].copy_from_slice(&0x18_C011_0002u64.to_le_bytes());
        bytes[16..24].copy_from_slice(&0x18_C011_0001u64.to_le_bytes());
        assert_eq!(swallowed(&bytes, Gap::NONE, false), None);
    }
}
