//! Distinct values, numbered in the order in which they came.

use std::hash::{BuildHasher, Hash};

use hashbrown::{DefaultHashBuilder, HashTable};

/// Places of a table that has its first value.
const FIRST_PLACES: usize = 64;

/// Distinct values of one width.
#[derive(Debug, Default)]
pub(super) struct Interner<T> {
    values: Vec<T>,
    /// Numbers of values plus one, 0 where there is none; a power of two of them, at most half of them taken. A value is
    /// in the first free place from that of its hash on.
    places: Vec<u32>,
    hash: DefaultHashBuilder,
}

impl<T: Copy + Eq + Hash> Interner<T> {
    pub(super) fn values(&self) -> &[T] {
        &self.values
    }

    /// The number of a value, and whether it is new.
    #[inline]
    pub(super) fn intern(&mut self, value: T) -> (u32, bool) {
        if self.values.len() * 2 >= self.places.len() {
            self.grow();
        }
        let last = self.places.len() - 1;
        let mut at = self.place(value);
        loop {
            match self.places[at & last] {
                0 => break,
                number if self.values[number as usize - 1] == value => return (number - 1, false),
                _ => at += 1,
            }
        }
        // A dictionary is full long before its numbers take 32 bits.
        let number = u32::try_from(self.values.len()).expect("the dictionary is bounded");
        self.values.push(value);
        self.places[at & last] = number + 1;
        (number, true)
    }

    fn place(&self, value: T) -> usize {
        // The low bits are used alone.
        usize::try_from(self.hash.hash_one(value) & u64::from(u32::MAX)).unwrap_or(0)
    }

    #[cold]
    fn grow(&mut self) {
        let places = (self.places.len() * 4).max(FIRST_PLACES);
        self.places.clear();
        self.places.resize(places, 0);
        for (number, &value) in (1..).zip(&self.values) {
            let mut at = self.place(value);
            while self.places[at & (places - 1)] != 0 {
                at += 1;
            }
            self.places[at & (places - 1)] = number;
        }
    }
}

/// Distinct byte strings, as they stand in a dictionary page.
#[derive(Debug, Default)]
pub(super) struct BytesInterner {
    /// Whether all have one length, which then does not stand before them.
    is_fixed: bool,
    page: Vec<u8>,
    /// Where each lies in the page.
    spans: Vec<(u32, u32)>,
    numbers: HashTable<u32>,
    hash: DefaultHashBuilder,
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
        let get = |number: &u32| {
            let (start, end) = spans[*number as usize];
            &page[start as usize..end as usize]
        };
        let hashed = hash.hash_one(value);
        if let Some(&number) = numbers.find(hashed, |number| get(number) == value) {
            return Some(number);
        }
        let number = u32::try_from(spans.len()).ok()?;
        let len = u32::try_from(value.len()).ok()?;
        let start = u32::try_from(page.len() + if self.is_fixed { 0 } else { size_of::<u32>() }).ok()?;
        let end = start.checked_add(len)?;
        numbers.insert_unique(hashed, number, |number| hash.hash_one(get(number)));
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
    fn values_are_numbered_as_they_come() {
        let mut interner = Interner::default();
        for round in 0..2 {
            for (number, value) in (0..).zip((0..5000).rev().map(|n| n * 7)) {
                assert_eq!(interner.intern(value), (number, round == 0), "{value}");
            }
        }
        assert_eq!(interner.values()[..2], [34_993, 34_986]);
    }

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
