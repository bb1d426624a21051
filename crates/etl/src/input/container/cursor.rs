//! A part of an input, read from its first byte to its last.

use std::io::{self, BufRead, Read};
use std::ops::Range;

use base::progress::{Progress, stop_if_cancelled};

use crate::input::access::Input;

/// Bytes that are read at a time.
const BLOCK: u64 = 1 << 16;

/// Reads the bytes of a range of an input one after another, and counts them as progress. An error of the input, and the
/// end of work that was cancelled, pass through decoders as they are.
pub(super) struct Cursor<'a> {
    input: &'a dyn Input,
    left: Range<u64>,
    block: Vec<u8>,
    /// What of the block is still to be read.
    rest: Range<usize>,
    progress: &'a dyn Progress,
}

impl<'a> Cursor<'a> {
    /// Reads a range, or as much of it as there is.
    pub(super) fn new(input: &'a dyn Input, range: Range<u64>, progress: &'a dyn Progress) -> Self {
        let end = range.end.min(input.size());
        Cursor { input, left: range.start.min(end)..end, block: Vec::new(), rest: 0..0, progress }
    }

    fn refill(&mut self) -> base::error::Result<()> {
        stop_if_cancelled(self.progress)?;
        let len = usize::try_from((self.left.end - self.left.start).min(BLOCK)).unwrap_or(0);
        let read = self.input.bytes(self.left.start, len, &mut self.block)?.len();
        self.rest = 0..read;
        self.left.start += read as u64;
        self.progress.advance(read as u64);
        Ok(())
    }
}

impl BufRead for Cursor<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.rest.is_empty() && !self.left.is_empty() {
            self.refill().map_err(io::Error::other)?;
        }
        Ok(self.block.get(self.rest.clone()).unwrap_or_default())
    }

    fn consume(&mut self, amount: usize) {
        self.rest.start = self.rest.start.saturating_add(amount).min(self.rest.end);
    }
}

impl Read for Cursor<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?;
        let len = bytes.len().min(target.len());
        target[..len].copy_from_slice(&bytes[..len]);
        self.consume(len);
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use base::progress::NoProgress;

    use super::*;
    use crate::input::MemoryInput;

    #[test]
    fn a_range_is_read_up_to_the_end_of_the_input() {
        let bytes: Vec<u8> = (0..=255).cycle().take(200_000).collect();
        let input = MemoryInput::new("a", bytes.clone());
        for range in [0..200_000, 5..6, 65_530..131_080, 199_999..u64::MAX, 200_000..200_001, 7..7] {
            let place = |offset: u64| usize::try_from(offset.min(200_000)).unwrap();
            let expected = &bytes[place(range.start)..place(range.end)];
            let mut read = Vec::new();
            Cursor::new(&input, range.clone(), &NoProgress).read_to_end(&mut read).unwrap();
            assert!(read == expected, "{range:?}");
        }
    }
}
