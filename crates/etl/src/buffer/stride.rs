//! The distance that all buffers of a file share.

use base::error::Result;

use super::head::{HEAD_LEN, Head};
use crate::input::Input;
use crate::layout::buffer::{BufferHeader, MAX_BUFFER_SIZE, MIN_BUFFER_SIZE};

/// How many of the next buffers are asked whether they stand at multiples of a distance and have it for their size.
const WITNESSES: u64 = 8;

/// The distance that the buffers of an uncompressed file share, if they do.
///
/// Two places state it, the first buffer's header and the header event (`stated`). Where they disagree, one of them is
/// damaged, or the buffers are compressed; then the buffers behind decide.
///
/// # Errors
/// When the file cannot be read.
pub fn common(input: &dyn Input, first: &BufferHeader, stated: u32) -> Result<Option<u32>> {
    let own = first.buffer_size.get();
    let is_possible = |size: &u32| (MIN_BUFFER_SIZE..=MAX_BUFFER_SIZE).contains(size);
    if own == stated && is_possible(&own) {
        return Ok(if is_compressed_at(input, own.into())? { None } else { Some(own) });
    }
    for size in [stated, own].into_iter().filter(is_possible) {
        if is_confirmed(input, size)? {
            return Ok(Some(size));
        }
    }
    Ok(None)
}

fn is_compressed_at(input: &dyn Input, offset: u64) -> Result<bool> {
    let mut scratch = Vec::new();
    let head = Head::read(input.bytes(offset, HEAD_LEN, &mut scratch)?);
    Ok(head.is_some_and(|head| head.header.is_compressed() && head.is_certain()))
}

/// Whether one of the next buffers stands where it must, and says so itself.
fn is_confirmed(input: &dyn Input, size: u32) -> Result<bool> {
    let mut scratch = Vec::new();
    let places = (1..=WITNESSES).map(|number| number * u64::from(size)).take_while(|&place| place < input.size());
    for place in places {
        let head = Head::read(input.bytes(place, HEAD_LEN, &mut scratch)?);
        let says_so = |head: &Head<'_>| !head.header.is_compressed() && head.header.buffer_size.get() == size;
        if head.is_some_and(|head| head.is_certain() && says_so(&head)) {
            return Ok(true);
        }
    }
    Ok(false)
}
