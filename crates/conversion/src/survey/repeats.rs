//! Buffers that stand in a file twice, as a copy that was interrupted and resumed may leave them.

use base::error::Result;
use base::progress::{Progress, Step, stop_if_cancelled};
use etl::input::Input;

use super::buffer_summary::BufferSummary;
use super::sort::{Threads, sort_by_key};

/// Bytes of two buffers that are compared at once.
const BLOCK: u32 = 64 << 10;

/// File offsets of the buffers that equal an earlier one to the last byte, in order.
///
/// # Errors
/// When the file cannot be read, or [`ErrorKind::Interrupted`].
pub(super) fn find(input: &dyn Input, buffers: &[BufferSummary], progress: &dyn Progress) -> Result<Vec<u64>> {
    if buffers.windows(2).all(|pair| pair[0].extent.sequence < pair[1].extent.sequence) {
        return Ok(Vec::new());
    }
    let key = |place: &u32| {
        let extent = &buffers[*place as usize].extent;
        (extent.sequence, extent.time_stamp, extent.cpu, extent.stored_len, extent.used_len)
    };
    // A file of more buffers than that is larger than any disk.
    let mut order: Vec<u32> = (0..=u32::MAX).take(buffers.len()).collect();
    sort_by_key(&mut order, &|place| (key(place), *place), Threads::All(Step::Scan), progress)?;
    let mut repeated = Vec::new();
    for alike in order.chunk_by(|a, b| key(a) == key(b)) {
        let (first, others) = alike.split_first().map_or((0, alike), |(first, others)| (*first, others));
        for &other in others {
            stop_if_cancelled(progress)?;
            let (first, other) = (&buffers[first as usize], &buffers[other as usize]);
            if other.events > 0 && are_equal(input, first, other)? {
                repeated.push(other.extent.offset);
            }
        }
    }
    repeated.sort_unstable();
    Ok(repeated)
}

fn are_equal(input: &dyn Input, a: &BufferSummary, b: &BufferSummary) -> Result<bool> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for at in (0..a.extent.stored_len).step_by(BLOCK as usize) {
        let len = (a.extent.stored_len - at).min(BLOCK) as usize;
        let first = input.bytes(a.extent.offset + u64::from(at), len, &mut first)?;
        if first != input.bytes(b.extent.offset + u64::from(at), len, &mut second)? {
            return Ok(false);
        }
    }
    Ok(true)
}
