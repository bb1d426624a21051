//! Distinct values, numbered in the order in which they came.

use std::hash::{BuildHasher, Hash};

use hashbrown::DefaultHashBuilder;

/// Places of a table that has its first value.
const FIRST_PLACES: usize = 64;

/// Distinct values of one width.
#[derive(Debug)]
pub struct Interner<T> {
    values: Vec<T>,
    /// Numbers of values plus one, 0 where there is none; a power of two of them, at most half of them taken. A value is
    /// in the first free place from that of its hash on.
    places: Vec<u32>,
    hash: DefaultHashBuilder,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { values: Vec::new(), places: Vec::new(), hash: DefaultHashBuilder::default() }
    }
}

impl<T: Copy + Eq + Hash> Interner<T> {
    /// The distinct values by number.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The number of a value, and whether it is new.
    #[inline]
    pub fn intern(&mut self, value: T) -> (u32, bool) {
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
        // A dictionary is full, and a batch at its end, long before their numbers take 32 bits.
        let number = u32::try_from(self.values.len()).expect("dictionaries and batches are bounded");
        self.values.push(value);
        self.places[at & last] = number + 1;
        (number, true)
    }

    /// Forgets all values; the memory stays. As many next time take no longer; fewer do not clear places for more.
    pub fn clear(&mut self) {
        self.places.truncate((self.values.len() * 4).next_power_of_two().max(FIRST_PLACES));
        self.values.clear();
        self.places.fill(0);
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
        interner.clear();
        assert_eq!((interner.intern(7), interner.intern(34_993)), ((0, true), (1, true)));
        // Places for as many as there were, and no fewer than for the first.
        interner.clear();
        assert_eq!(interner.places.len(), FIRST_PLACES);
        for (number, value) in (0..).zip(0..100) {
            assert_eq!(interner.intern(value), (number, true));
        }
    }
}
