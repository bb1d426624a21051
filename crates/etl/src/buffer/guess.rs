//! Where in the middle of a file a scan from its start may find a buffer.
//!
//! A guess: only the scan that comes from before shows whether it goes by there.

use base::error::Result;

use super::head::{HEAD_LEN, Head};
use super::scan::{ScanRules, ScanState};
use super::search;
use crate::input::Input;

/// How many places that look like a buffer are asked whether another one follows.
const CANDIDATES: usize = 16;

/// The state of a scan in front of the first buffer that likely begins within `from..to`; `None` where none does, or where what a
/// scan finds may depend on more than is known there.
///
/// # Errors
/// When the file cannot be read.
pub fn state_at(input: &dyn Input, rules: &ScanRules, from: u64, to: u64) -> Result<Option<ScanState>> {
    // Mostly nobody asks from the middle of unused space whether the space before it is unused, too.
    let state = |offset, ordinal| ScanState { offset, ordinal, after_unreadable: offset > 0, spent: 0 };
    if from == 0 {
        return Ok(Some(state(0, 0)));
    }
    let Some(stride) = rules.stride.map(u64::from) else {
        // How many buffers stand before it, nobody knows, but that there is one; which are old may depend on their number.
        let place = if rules.stale_before.is_none() { first_buffer(input, from, to)? } else { None };
        return Ok(place.map(|place| state(place, 1)));
    };
    let place = from.checked_next_multiple_of(stride).filter(|&place| place < to);
    Ok(place.map(|place| state(place, place / stride)))
}

/// The first place that looks like a buffer with another one behind it, or else the first that looks like a buffer.
fn first_buffer(input: &dyn Input, from: u64, to: u64) -> Result<Option<u64>> {
    let (mut first, mut at) = (None, from);
    for _ in 0..CANDIDATES {
        let Some(place) = search::next_head(input, at, to)? else { break };
        if leads_on(input, place)? {
            return Ok(Some(place));
        }
        first = first.or(Some(place));
        at = place + 1;
    }
    Ok(first)
}

/// Whether another buffer follows, or the end of the file.
fn leads_on(input: &dyn Input, place: u64) -> Result<bool> {
    let mut scratch = Vec::new();
    let Some(head) = Head::read(input.bytes(place, HEAD_LEN, &mut scratch)?) else { return Ok(false) };
    let end = place.saturating_add(head.header.buffer_size.get().into());
    if end >= input.size() {
        return Ok(end == input.size());
    }
    let next = Head::read(input.bytes(end, HEAD_LEN, &mut scratch)?);
    Ok(next.is_some_and(|next| next.is_certain()))
}
