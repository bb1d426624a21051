//! Numbers as differences from one to the next, packed in blocks (`DELTA_BINARY_PACKED`).

use super::bits::{pack, put_varint, put_zigzag, width_of};
use super::number::Number;

/// Parts of a block, each of which has a width of its own.
const MINI_BLOCKS: usize = 4;

/// The values of a page.
#[derive(Debug)]
pub(super) struct Deltas<N> {
    /// Finished blocks.
    blocks: Vec<u8>,
    count: usize,
    first: N,
    last: N,
    /// The differences of the block that is not full.
    open: Vec<N>,
}

impl<N: Number> Deltas<N> {
    pub(super) fn new() -> Self {
        Deltas { blocks: Vec::new(), count: 0, first: N::ZERO, last: N::ZERO, open: Vec::new() }
    }

    /// The bytes of all finished blocks.
    pub(super) fn bytes(&self) -> usize {
        self.blocks.len()
    }

    /// The most bytes of finished blocks once so many values more have come.
    pub(super) fn most_bytes(&self, more: usize) -> usize {
        let blocks = (self.open.len() + more) / N::BLOCK;
        // A difference of ten bytes, the widths, and every value at full width.
        self.blocks.len() + blocks * (10 + MINI_BLOCKS + N::BLOCK * size_of::<N>())
    }

    pub(super) fn put(&mut self, values: &[N]) {
        let Some(&first) = values.first() else { return };
        let mut values = values;
        if self.count == 0 {
            (self.first, self.last) = (first, first);
            values = &values[1..];
            self.count = 1;
        }
        self.count += values.len();
        while !values.is_empty() {
            let (part, rest) = values.split_at(values.len().min(N::BLOCK - self.open.len()));
            self.open.push(part[0].difference(self.last));
            self.open.extend(part.windows(2).map(|pair| pair[1].difference(pair[0])));
            self.last = part[part.len() - 1];
            values = rest;
            if self.open.len() == N::BLOCK {
                self.end_block();
            }
        }
    }

    /// Appends all values, and begins anew.
    pub(super) fn finish(&mut self, page: &mut Vec<u8>) {
        self.end_block();
        put_varint(N::BLOCK as u64, page);
        put_varint(MINI_BLOCKS as u64, page);
        put_varint(self.count as u64, page);
        put_zigzag(self.first.wide(), page);
        page.append(&mut self.blocks);
        (self.count, self.first, self.last) = (0, N::ZERO, N::ZERO);
    }

    fn end_block(&mut self) {
        let Some(least) = self.open.iter().copied().min() else { return };
        put_zigzag(least.wide(), &mut self.blocks);
        let widths = self.blocks.len();
        self.blocks.extend([0; MINI_BLOCKS]);
        for (number, part) in self.open.chunks(N::BLOCK / MINI_BLOCKS).enumerate() {
            let most = part.iter().copied().max().unwrap_or(least);
            let width = width_of(most.difference(least).bits());
            self.blocks[widths + number] = width.to_le_bytes()[0];
            let mut above = [0u64; 64];
            above.iter_mut().zip(part).for_each(|(above, value)| *above = value.difference(least).bits());
            pack(&above[..N::BLOCK / MINI_BLOCKS], width, &mut self.blocks);
        }
        self.open.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page<N: Number>(values: &[N]) -> Vec<u8> {
        let (mut deltas, mut page) = (Deltas::new(), Vec::new());
        // What came before leaves no trace.
        deltas.put(values);
        deltas.finish(&mut Vec::new());
        for part in values.chunks(3) {
            let most = deltas.most_bytes(part.len());
            deltas.put(part);
            assert!(deltas.bytes() <= most);
        }
        deltas.finish(&mut page);
        page
    }

    #[test]
    fn differences_are_packed_above_the_least_of_a_block() {
        assert_eq!(page::<i32>(&[]), [128, 1, 4, 0, 0]);
        assert_eq!(page(&[-2i32]), [128, 1, 4, 1, 3]);
        // Differences 1, 3, 1: the least is 1, above it 0, 2, 0 in two bits.
        let expected = [[128, 1, 4, 4, 10, 2, 2, 0, 0, 0, 0b0000_1000].as_slice(), &[0; 7]].concat();
        assert_eq!(page(&[5i32, 6, 9, 10]), expected);
        // A difference that does not fit wraps around.
        assert_eq!(page(&[i64::MIN, i64::MAX])[..4], [128, 2, 4, 2]);
        assert_eq!(page(&[i64::MIN, i64::MAX])[14..], [1, 0, 0, 0, 0]);
        let even: Vec<i64> = (0..257).map(|n| n * 2).collect();
        assert_eq!(page(&even), [128, 2, 4, 129, 2, 0, 4, 0, 0, 0, 0]);
    }
}
