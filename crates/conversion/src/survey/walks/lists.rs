//! Lists of addresses, most of which come again and again.

use std::hash::BuildHasher;

use base::error::Result;
use hashbrown::{DefaultHashBuilder, HashTable};
use spill::{SpillSpace, SpillWriter, Spilled};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// Lists that are remembered while more come.
const REMEMBERED: usize = 1 << 17;

/// Addresses of lists that are remembered.
const REMEMBERED_ADDRESSES: usize = 2 << 20;

/// Addresses that are kept of a recording: 2 GiB. Lists that go beyond that are left out.
pub const MAX_ADDRESSES: usize = 1 << 28;

/// Addresses that an event may have. Windows walks 192 at a time, in up to three parts.
pub const MAX_OF_EVENT: usize = 1024;

/// Where a list stands among the addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, Immutable, IntoBytes)]
#[repr(C)]
pub struct AddressList {
    start: u64,
    len: u64,
    /// What distinguishes the list from others in the output.
    id: i64,
}

const _: () = assert!(size_of::<AddressList>() == 24, "the size of a record is part of the format of plans");

/// Lists while they are collected.
#[derive(Debug)]
pub struct ListWriter {
    addresses: SpillWriter<u64>,
    lists: SpillWriter<AddressList>,
    most: usize,
    known: HashTable<RememberedList>,
    /// The addresses of those that are remembered, one list after another.
    known_addresses: Vec<u64>,
    hasher: DefaultHashBuilder,
}

/// A list that is remembered.
#[derive(Clone, Copy, Debug)]
struct RememberedList {
    number: u32,
    hash: u64,
    /// Where its addresses are remembered.
    start: usize,
    end: usize,
}

/// What became of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// It has this number.
    Number(u32),
    /// There is no room for it.
    NoRoom,
}

/// Lists of addresses, by number.
#[derive(Debug, Default)]
pub struct Lists {
    /// The addresses, one list after another.
    pub addresses: Spilled<u64>,
    /// Where each list stands among them, by number.
    pub lists: Spilled<AddressList>,
}

impl ListWriter {
    /// No lists; they are kept in this space.
    pub fn new(space: &SpillSpace) -> Self {
        ListWriter::with_most(space, MAX_ADDRESSES)
    }

    /// The same, of so many addresses at most.
    fn with_most(space: &SpillSpace, most: usize) -> Self {
        ListWriter {
            addresses: space.records(),
            lists: space.records(),
            most,
            known: HashTable::new(),
            known_addresses: Vec::new(),
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// Adds a list, unless it was there a while ago; a new one gets an id.
    ///
    /// # Errors
    /// Those of [`SpillWriter::push`].
    pub fn add(&mut self, addresses: &[u64], id: impl FnOnce(&[u64]) -> i64) -> Result<Added> {
        let hash = self.hasher.hash_one(addresses);
        let is_it =
            |known: &RememberedList| known.hash == hash && self.known_addresses[known.start..known.end] == *addresses;
        if let Some(known) = self.known.find(hash, is_it) {
            return Ok(Added::Number(known.number));
        }
        let number = u32::try_from(self.lists.len()).ok().filter(|_| self.has_room(addresses.len()));
        let Some(number) = number else { return Ok(Added::NoRoom) };
        let (start, len) = (self.addresses.len() as u64, addresses.len() as u64);
        self.lists.push(AddressList { start, len, id: id(addresses) })?;
        self.addresses.extend(addresses)?;
        if self.known.len() >= REMEMBERED || self.known_addresses.len() >= REMEMBERED_ADDRESSES {
            self.known.clear();
            self.known_addresses.clear();
        }
        let start = self.known_addresses.len();
        self.known_addresses.extend_from_slice(addresses);
        let known = RememberedList { number, hash, start, end: self.known_addresses.len() };
        self.known.insert_unique(hash, known, |known| known.hash);
        Ok(Added::Number(number))
    }

    /// Empty lists count as one address, so that there are not too many of them either.
    fn has_room(&self, more: usize) -> bool {
        let taken = self.addresses.len().max(self.lists.len());
        taken.saturating_add(more.max(1)) <= self.most
    }

    /// All lists.
    ///
    /// # Errors
    /// Those of [`SpillWriter::finish`].
    pub fn finish(self) -> Result<Lists> {
        Ok(Lists { addresses: self.addresses.finish()?, lists: self.lists.finish()? })
    }
}

impl Lists {
    /// The addresses and the id of a list; none where there is no such list.
    pub fn get(&self, number: u32) -> (&[u64], i64) {
        let list = self.lists.get(number as usize).copied().unwrap_or_default();
        let start = usize::try_from(list.start).unwrap_or(usize::MAX);
        let end = usize::try_from(list.len).ok().and_then(|len| start.checked_add(len));
        (end.and_then(|end| self.addresses.get(start..end)).unwrap_or_default(), list.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use Added::{NoRoom, Number};

    fn add(lists: &mut ListWriter, all: &[&[u64]]) -> Vec<Added> {
        all.iter().map(|list| lists.add(list, |list| list.len().cast_signed() as i64).unwrap()).collect()
    }

    #[test]
    fn a_list_that_comes_again_has_the_same_number() {
        let mut lists = ListWriter::new(&SpillSpace::temporary());
        let added = add(&mut lists, &[&[1, 2], &[], &[1], &[1, 2], &[2, 1], &[]]);
        assert_eq!(added, [0, 1, 2, 0, 3, 1].map(Number));
        let lists = lists.finish().unwrap();
        let found = [0, 1, 2, 3, 4].map(|number| lists.get(number));
        assert_eq!(found, [(&[1, 2][..], 2), (&[], 0), (&[1], 1), (&[2, 1], 2), (&[], 0)]);
    }

    #[test]
    fn what_is_beyond_the_limit_is_left_out() {
        let mut lists = ListWriter::with_most(&SpillSpace::temporary(), 5);
        let added = add(&mut lists, &[&[1, 2], &[3, 4, 5, 6], &[1, 2], &[7, 8, 9], &[1], &[]]);
        assert_eq!(added, [Number(0), NoRoom, Number(0), Number(1), NoRoom, NoRoom]);
        assert_eq!(lists.finish().unwrap().addresses.len(), 5);
    }

    #[test]
    fn a_list_that_somebody_made_up_is_empty() {
        let mut lists = ListWriter::new(&SpillSpace::temporary());
        add(&mut lists, &[&[1, 2]]);
        let mut lists = lists.finish().unwrap();
        for (start, len) in [(1, 2), (u64::MAX, 2), (0, u64::MAX), (3, 0)] {
            let mut records = SpillSpace::temporary().records();
            records.push(AddressList { start, len, id: 7 }).unwrap();
            lists.lists = records.finish().unwrap();
            assert_eq!(lists.get(0), (&[][..], 7));
        }
    }
}
