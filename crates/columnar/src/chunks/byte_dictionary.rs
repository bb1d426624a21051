//! Texts, binary values and GUIDs as positions in a dictionary.

use std::sync::Arc;

use arrow_array::Array;
use base::guid::Guid;

use super::bits::width_of;
use super::bytes_interner::BytesInterner;
use super::indices::Indices;
use super::number_values::run_length;
use super::values::{Dictionary, KeyIndices};
use crate::columns::KeyTable;

#[derive(Debug)]
pub(super) struct ByteDictionary {
    is_fixed: bool,
    distinct: BytesInterner,
    /// Of the page.
    indices: Indices,
    keys: KeyIndices,
}

impl ByteDictionary {
    pub(super) fn new(is_fixed: bool) -> Self {
        let distinct = BytesInterner::new(is_fixed);
        ByteDictionary { is_fixed, distinct, indices: Indices::default(), keys: KeyIndices::default() }
    }

    /// The bytes of the values as they are written.
    pub(super) fn bytes(&self) -> usize {
        self.distinct.page().len()
    }

    /// The bytes that the values of a table take, were all of them new.
    pub(super) fn most_bytes_of(&self, table: &KeyTable) -> usize {
        let each = |len| self.distinct.bytes_of(len);
        match table {
            KeyTable::Texts { labels, .. } => labels.values().len() + labels.len() * each(0),
            KeyTable::Guids(guids) => guids.len() * each(guid_len(self.is_fixed)),
            KeyTable::Numbers(_) => 0,
        }
    }

    /// The most that the positions of the page can take once so many values more have come, were all of them new.
    pub(super) fn most_page_bytes(&self, more: usize) -> usize {
        let values = (self.distinct.len() + more) as u64;
        let width = width_of(values.saturating_sub(1));
        // The width of the positions is counted for texts and binary values only.
        usize::from(!self.is_fixed) + Indices::most_bytes(width, self.indices.len() + more)
    }

    /// Adds values; `None` when they are too many or too long.
    pub(super) fn put(&mut self, values: &[&[u8]]) -> Option<()> {
        let ByteDictionary { distinct, indices, .. } = self;
        let mut last: Option<(&[u8], u32)> = None;
        indices.extend(values.iter().map(|&value| match last {
            Some((before, index)) if before == value => Some(index),
            _ => {
                let index = distinct.intern(value)?;
                last = Some((value, index));
                Some(index)
            }
        }))
    }

    /// Adds the values of keys, and returns how many bytes they are; `None` when a key has no value of the column's type.
    pub(super) fn put_keys(&mut self, keys: &[u32], table: &Arc<KeyTable>) -> Option<usize> {
        let ByteDictionary { distinct, keys: known, indices, is_fixed } = self;
        known.begin(table);
        let mut find = |key: u32| {
            let index = known.index(key, || intern_key(distinct, table, key, *is_fixed))?;
            Some((index, distinct.get(index).len()))
        };
        let (mut keys, mut bytes) = (keys, 0);
        let Some(&first) = keys.first() else { return Some(0) };
        let (index, len) = find(first)?;
        if indices.counts(index) {
            let count = run_length(keys);
            indices.count(index, count);
            bytes += count * len;
            keys = &keys[count..];
        }
        indices.extend(keys.iter().map(|&key| {
            let (index, len) = find(key)?;
            bytes += len;
            Some(index)
        }))?;
        Some(bytes)
    }

    /// Appends the positions of the page, and begins a new one.
    pub(super) fn end_page(&mut self, page: &mut Vec<u8>) {
        self.indices.finish(width_of((self.distinct.len() as u64).saturating_sub(1)), page);
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &[u8]> {
        self.distinct.values()
    }

    pub(super) fn finish(self) -> Dictionary {
        let count = self.distinct.len();
        Dictionary { page: self.distinct.into_page(), count }
    }
}

/// The bytes of each GUID, in binary or as text.
pub(super) fn guid_len(is_fixed: bool) -> usize {
    if is_fixed { size_of::<Guid>() } else { Guid::ZERO.to_text().len() }
}

/// The text of a GUID in the order of its text, that of zeros where there is none.
pub(super) fn guid_text(guid: Option<[u8; 16]>) -> [u8; 36] {
    Guid::from_text_order(guid.unwrap_or_default()).to_text()
}

fn intern_key(distinct: &mut BytesInterner, table: &KeyTable, key: u32, is_fixed: bool) -> Option<u32> {
    match table {
        KeyTable::Texts { .. } if !is_fixed => distinct.intern(table.text(key as usize)?.as_bytes()),
        KeyTable::Guids(guids) => {
            let guid = guids.get(key as usize).copied().flatten()?;
            if is_fixed { distinct.intern(&guid) } else { distinct.intern(&guid_text(Some(guid))) }
        }
        _ => None,
    }
}
