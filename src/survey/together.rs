//! Which buffers are read side by side.

use super::buffer_summary::BufferSummary;

/// Buffers that are read side by side.
const TOGETHER: usize = 256;

/// Whether a buffer is read with the one before it, of no more than so many bytes together: for `chunk_by`.
pub fn together(most: u64) -> impl FnMut(&&BufferSummary, &&BufferSummary) -> bool {
    let (mut buffers, mut bytes) = (1, 0_u64);
    move |before, buffer| {
        bytes += before.used_bytes();
        buffers += 1;
        let is_beside = buffers <= TOGETHER && bytes + buffer.used_bytes() <= most;
        if !is_beside {
            (buffers, bytes) = (1, 0);
        }
        is_beside
    }
}
