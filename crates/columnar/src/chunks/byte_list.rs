//! Texts and binary values one by one, their lengths before them as differences (`DELTA_LENGTH_BYTE_ARRAY`), and GUIDs
//! one after another (`PLAIN`).

use parquet::basic::Encoding;

use super::delta::Deltas;

/// The values of a page.
#[derive(Debug)]
pub(super) struct ByteList {
    /// Of values that have lengths of their own.
    lengths: Option<Deltas<i32>>,
    bytes: Vec<u8>,
}

impl ByteList {
    pub(super) fn new(is_fixed: bool) -> Self {
        ByteList { lengths: (!is_fixed).then(Deltas::new), bytes: Vec::new() }
    }

    pub(super) fn encoding(&self) -> Encoding {
        if self.lengths.is_some() { Encoding::DELTA_LENGTH_BYTE_ARRAY } else { Encoding::PLAIN }
    }

    /// The bytes of the page so far, lengths as far as they are packed.
    pub(super) fn bytes(&self) -> usize {
        self.most_bytes(0)
    }

    /// The same once so many values more have come, but for the bytes of those.
    pub(super) fn most_bytes(&self, more: usize) -> usize {
        self.bytes.len() + self.lengths.as_ref().map_or(0, |lengths| lengths.most_bytes(more))
    }

    /// Adds values; `None` when one is too long.
    pub(super) fn put(&mut self, values: &[&[u8]]) -> Option<()> {
        let len = |value: &&[u8]| i32::try_from(value.len()).ok();
        if let Some(lengths) = &mut self.lengths {
            let values_lengths = values.iter().map(len).collect::<Option<Vec<_>>>()?;
            lengths.put(&values_lengths);
        }
        self.bytes.reserve(values.iter().map(|value| value.len()).sum());
        values.iter().for_each(|value| self.bytes.extend_from_slice(value));
        Some(())
    }

    /// Appends the lengths and the bytes, and begins anew.
    pub(super) fn finish(&mut self, page: &mut Vec<u8>) {
        if let Some(lengths) = &mut self.lengths {
            lengths.finish(page);
        }
        page.extend_from_slice(&self.bytes);
        self.bytes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_come_first() {
        let (mut list, mut page) = (ByteList::new(false), Vec::new());
        list.put(&[b"ab", b"", b"c"]).unwrap();
        assert_eq!((list.bytes(), list.encoding()), (3, Encoding::DELTA_LENGTH_BYTE_ARRAY));
        list.finish(&mut page);
        // Blocks of 128 in 4 parts, 3 values, the first is 2 (zigzag 4); the least difference is -2 (zigzag 3), the first
        // part has 2 bits for each of its 32: 0 and 3.
        let packed = [[0b1100, 0, 0, 0], [0; 4]].concat();
        let lengths = [[128, 1, 4, 3, 4, 3].as_slice(), &[2, 0, 0, 0], &packed].concat();
        assert_eq!(page, [lengths.as_slice(), b"abc"].concat());
        assert_eq!(list.bytes(), 0);
    }

    #[test]
    fn values_of_one_length_stand_alone() {
        let (mut list, mut page) = (ByteList::new(true), Vec::new());
        list.put(&[b"ab", b"cd"]).unwrap();
        list.finish(&mut page);
        assert_eq!((page.as_slice(), list.encoding()), (b"abcd".as_slice(), Encoding::PLAIN));
    }
}
