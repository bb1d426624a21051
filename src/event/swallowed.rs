//! Events whose size is too large and swallows those behind them.

use super::walk::{RawEvent, Walk, WalkStep};
use crate::layout::header::EVENT_ALIGNMENT;

/// How many headers within one event are looked at; a real one that swallowed others begins with one of them.
const LOOKED_AT: usize = 16;

/// No recording has such a distance between neighbours, in ticks: 30 hours of 10 MHz.
const FAR: u64 = 1 << 40;

/// Where, from the start of `event`, another event of its family begins that it has swallowed.
///
/// A size that is too large and does not end in the midst of an event makes a payload of the events behind: they follow
/// one another from there to its very end.
#[inline]
pub fn swallowed(event: &RawEvent<'_>) -> Option<u32> {
    let header_len = event.family.header_len().next_multiple_of(EVENT_ALIGNMENT as usize);
    let inside = event.bytes.get(header_len..).filter(|inside| inside.len() >= header_len)?;
    let &[_, _, header_type, marker, ..] = event.bytes else { return None };
    let (words, _) = inside.as_chunks::<{ EVENT_ALIGNMENT as usize }>();
    let is_marked = |word: &[u8; 8]| (word[2], word[3]) == (header_type, marker);
    // All words are looked at, which takes fewer instructions than to stop at the first.
    let any = words.iter().fold(false, |any, word| any | is_marked(word));
    if any { first_swallowed(event, header_len, words, is_marked) } else { None }
}

#[cold]
fn first_swallowed(
    event: &RawEvent<'_>,
    header_len: usize,
    words: &[[u8; 8]],
    is_marked: impl Fn(&[u8; 8]) -> bool,
) -> Option<u32> {
    let marked = words.iter().enumerate().filter(|(_, word)| is_marked(word)).take(LOOKED_AT);
    let mut places = marked.map(|(number, _)| header_len + number * EVENT_ALIGNMENT as usize);
    let place = places.find(|&place| event.bytes.get(place..).is_some_and(|rest| begins_a_chain(event, rest)))?;
    u32::try_from(place).ok()
}

/// Whether events follow one another up to the end of `rest`, and begin no earlier than the one that they stand in, and
/// not much later.
fn begins_a_chain(event: &RawEvent<'_>, rest: &[u8]) -> bool {
    let Some(first) = RawEvent::at(rest, 0) else { return false };
    let is_near = match (event.ticks(), first.ticks()) {
        (Some(own), Some(ticks)) => ticks >= own && ticks.abs_diff(own) < FAR,
        _ => true,
    };
    is_near && Walk::new(rest, 0).all(|step| matches!(step, WalkStep::Event(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::header::HeaderFamily;

    /// A PERFINFO event of this size and time, filled up to the next multiple of 8.
    fn event(size: u8, ticks: u8) -> Vec<u8> {
        let mut bytes = vec![2, 0, 0x11, 0xC0, size, 0, 0x2E, 0x0F, ticks, 0, 0, 0, 0, 0, 0, 0];
        bytes.resize(usize::from(size), 0x77);
        bytes.resize(bytes.len().next_multiple_of(8), 0xEE);
        bytes
    }

    fn found(parts: &[Vec<u8>]) -> Option<u32> {
        let bytes = parts.concat();
        swallowed(&RawEvent { offset: 0, family: HeaderFamily::PerfInfo64, bytes: &bytes })
    }

    #[test]
    fn events_inside_that_reach_to_the_end_are_found() {
        assert_eq!(found(&[event(24, 5), event(20, 6)]), Some(24));
        assert_eq!(found(&[event(24, 5), event(16, 5), event(40, 9)]), Some(24));
        assert_eq!(found(&[event(24, 5)]), None);
        // One that begins before the other, one that breaks off, and one that does not reach to the end.
        assert_eq!(found(&[event(24, 5), event(24, 4)]), None);
        assert_eq!(found(&[event(24, 5), event(24, 6)[..20].to_vec()]), None);
        assert_eq!(found(&[event(24, 5), event(24, 6), vec![0x55; 8]]), None);
    }
}
