//! Searches a file for the next buffer, where nothing says how far away it is.

use base::error::Result;

use super::head::{HEAD_LEN, Head};
use crate::input::Input;

/// Bytes that are looked through at first; the next time twice as many, so that little is read in vain.
const FIRST_BLOCK: usize = 4 << 10;

/// Bytes that are looked through at once at most.
const LAST_BLOCK: usize = 1 << 20;

/// File offset of the first certain header that begins within `from..to`.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn next_head(input: &dyn Input, from: u64, to: u64) -> Result<Option<u64>> {
    let mut scratch = Vec::new();
    let (mut at, mut block) = (from, FIRST_BLOCK);
    while at < to {
        let starts = usize::try_from(to - at).map_or(block, |left| left.min(block));
        let bytes = input.bytes(at, starts + HEAD_LEN, &mut scratch)?;
        if let Some(place) = (0..starts).find(|&place| bytes.get(place..).is_some_and(is_head)) {
            return Ok(Some(at + place as u64));
        }
        at += starts as u64;
        block = (2 * block).min(LAST_BLOCK);
    }
    Ok(None)
}

/// Most places fail at the fields that hold small numbers in every header.
fn is_head(bytes: &[u8]) -> bool {
    let may_be = matches!(bytes.get(0x34..0x38), Some([flags, 0, kind, 0]) if *flags < 0x80 && *kind < 8);
    may_be && Head::read(bytes).is_some_and(|head| head.is_certain())
}

/// Bytes from `from` on that equal `byte`, of at most `most`.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn run_of(input: &dyn Input, byte: u8, from: u64, most: u64) -> Result<u64> {
    let mut scratch = Vec::new();
    let (mut len, mut block) = (0, FIRST_BLOCK);
    while len < most {
        let wanted = usize::try_from(most - len).map_or(block, |left| left.min(block));
        let bytes = input.bytes(from + len, wanted, &mut scratch)?;
        let other = bytes.iter().position(|&other| other != byte);
        len += other.unwrap_or(bytes.len()) as u64;
        if other.is_some() || bytes.is_empty() {
            break;
        }
        block = (2 * block).min(LAST_BLOCK);
    }
    Ok(len)
}
