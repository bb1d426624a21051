//! Distinct byte strings, numbered in the order in which they came.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// Distinct byte strings, as they stand in a dictionary page.
#[derive(Debug, Default)]
pub(super) struct BytesInterner {
    /// Whether all have one length, which then does not stand before them.
    is_fixed: bool,
    page: Vec<u8>,
    /// Where each lies in the page.
    spans: Vec<(u32, u32)>,
    numbers: HashTable<Entry>,
    hash: DefaultHashBuilder,
}

/// A value in the table of numbers. Its hash stands beside it: where the table grows, and where a value is another, the page
/// is not read for it.
#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: u32,
    number: u32,
}

impl Entry {
    /// The hash as the table takes it, which looks at the highest bits and the lowest.
    fn table_hash(self) -> u64 {
        u64::from(self.hash) << u32::BITS | u64::from(self.hash)
    }
}

impl BytesInterner {
    pub(super) fn new(is_fixed: bool) -> Self {
        BytesInterner { is_fixed, ..BytesInterner::default() }
    }

    /// The number of distinct values.
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// The dictionary page.
    pub(super) fn page(&self) -> &[u8] {
        &self.page
    }

    /// The same, without the rest.
    pub(super) fn into_page(self) -> Vec<u8> {
        self.page
    }

    /// The bytes that values take in the page.
    pub(super) fn bytes_of(&self, len: usize) -> usize {
        if self.is_fixed { len } else { len.saturating_add(size_of::<u32>()) }
    }

    pub(super) fn get(&self, number: u32) -> &[u8] {
        let (start, end) = self.spans[number as usize];
        &self.page[start as usize..end as usize]
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &[u8]> {
        self.spans.iter().map(|&(start, end)| &self.page[start as usize..end as usize])
    }

    /// The number of a value; `None` where the page would be larger than its positions can say.
    #[inline]
    pub(super) fn intern(&mut self, value: &[u8]) -> Option<u32> {
        let BytesInterner { page, spans, numbers, hash, .. } = self;
        let number = u32::try_from(spans.len()).ok()?;
        // The highest bits of a hash are its best.
        let new = Entry { hash: (hash.hash_one(value) >> u32::BITS) as u32, number };
        let is_same = |known: &Entry| {
            let (start, end) = spans[known.number as usize];
            known.hash == new.hash && page[start as usize..end as usize] == *value
        };
        if let Some(known) = numbers.find(new.table_hash(), is_same) {
            return Some(known.number);
        }
        let len = u32::try_from(value.len()).ok()?;
        let start = u32::try_from(page.len() + if self.is_fixed { 0 } else { size_of::<u32>() }).ok()?;
        let end = start.checked_add(len)?;
        numbers.insert_unique(new.table_hash(), new, |known| known.table_hash());
        if !self.is_fixed {
            page.extend_from_slice(&len.to_le_bytes());
        }
        page.extend_from_slice(value);
        spans.push((start, end));
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_strings_stand_behind_their_length() {
        let mut interner = BytesInterner::new(false);
        let numbers = ["b", "", "aa", "b"].map(|text| interner.intern(text.as_bytes()));
        assert_eq!(numbers, [Some(0), Some(1), Some(2), Some(0)]);
        assert_eq!(interner.page(), [1, 0, 0, 0, b'b', 0, 0, 0, 0, 2, 0, 0, 0, b'a', b'a']);
        assert_eq!(interner.values().collect::<Vec<_>>(), [b"b".as_slice(), b"", b"aa"]);
        let mut fixed = BytesInterner::new(true);
        assert_eq!([fixed.intern(b"xy"), fixed.intern(b"ab"), fixed.intern(b"xy")], [Some(0), Some(1), Some(0)]);
        assert_eq!((fixed.page(), fixed.bytes_of(2)), (b"xyab".as_slice(), 2));
    }
}
