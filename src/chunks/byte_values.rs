//! Texts, binary values and GUIDs: positions in a dictionary. Where it is full, another encoder has to begin again.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::Array;
use parquet::basic::{Encoding, Type};
use parquet::data_type::{ByteArray, FixedLenByteArray};
use parquet::file::statistics::{Statistics, ValueStatistics};

use super::bits::width_of;
use super::bytes_interner::BytesInterner;
use super::indices::Indices;
use super::leaf::Leaf;
use super::number_values::run_length;
use super::truncation::{cut_max, cut_min};
use super::values::{Dictionary, KeyIndices, PageValues, Values};
use crate::columns::{BatchValues, KeyTable, ListItems};
use crate::guid::Guid;

/// The values of a column chunk.
#[derive(Debug)]
pub(super) struct ByteValues {
    is_fixed: bool,
    values: BytesInterner,
    is_taken: bool,
    /// Of the page.
    indices: Indices,
    /// Bytes of all values of the page.
    bytes: usize,
    keys: KeyIndices,
}

impl ByteValues {
    /// `None` without a dictionary, and for values of one length unless they are GUIDs.
    pub(super) fn new(leaf: &Leaf) -> Option<Self> {
        let is_fixed = leaf.descr.physical_type() == Type::FIXED_LEN_BYTE_ARRAY;
        let covered = leaf.dictionary && !leaf.page_statistics && (!is_fixed || leaf.descr.type_length() == 16);
        covered.then(|| ByteValues {
            is_fixed,
            values: BytesInterner::new(is_fixed),
            is_taken: false,
            indices: Indices::default(),
            bytes: 0,
            keys: KeyIndices::default(),
        })
    }

    fn most_page_bytes(&self, more: usize) -> usize {
        let values = (self.values.len() + more) as u64;
        let width = width_of(values.saturating_sub(1));
        // The width of the positions is counted for texts and binary values only.
        usize::from(!self.is_fixed) + Indices::most_bytes(width, self.indices.len() + more)
    }

    fn put_bytes(&mut self, values: &[&[u8]]) -> Option<()> {
        let ByteValues { values: interner, bytes, indices, is_fixed, .. } = self;
        let mut last: Option<(&[u8], u32)> = None;
        indices.extend(values.iter().map(|&value| {
            if *is_fixed && value.len() != size_of::<Guid>() {
                return None;
            }
            *bytes += value.len();
            match last {
                Some((before, index)) if before == value => Some(index),
                _ => {
                    let index = interner.intern(value)?;
                    last = Some((value, index));
                    Some(index)
                }
            }
        }))
    }

    fn put_keys(&mut self, keys: &[u32], table: &Arc<KeyTable>) -> Option<()> {
        let ByteValues { values, keys: known, bytes, indices, is_fixed, .. } = self;
        known.begin(table);
        let mut find = |key: u32| {
            let index = known.index(key, || intern_key(values, table, key, *is_fixed))?;
            Some((index, values.get(index).len()))
        };
        let mut keys = keys;
        let Some(&first) = keys.first() else { return Some(()) };
        let (index, len) = find(first)?;
        if indices.counts(index) {
            let count = run_length(keys);
            indices.count(index, count);
            *bytes += count * len;
            keys = &keys[count..];
        }
        indices.extend(keys.iter().map(|&key| {
            let (index, len) = find(key)?;
            *bytes += len;
            Some(index)
        }))
    }

    /// The bytes that the values of a batch take in the dictionary, were all of them new.
    fn bytes_of(&self, values: &BatchValues<'_>, range: Range<usize>) -> usize {
        let each = |len| self.values.bytes_of(len);
        match values {
            BatchValues::Bytes(values) | BatchValues::Lists { items: ListItems::Bytes(values), .. } => {
                values.get(range).unwrap_or_default().iter().map(|value| each(value.len())).sum()
            }
            BatchValues::Keys { table, .. } => match &***table {
                KeyTable::Texts { labels, .. } => labels.values().len() + labels.len() * each(0),
                KeyTable::Guids(guids) => guids.len() * each(guid_len(self.is_fixed)),
                KeyTable::Numbers(_) => 0,
            },
            _ => 0,
        }
    }
}

/// The least and the greatest of some values. Their first bytes tell most of them apart, and without a call.
fn range_of<'a>(values: impl Iterator<Item = &'a [u8]>) -> Option<(&'a [u8], &'a [u8])> {
    let with_head = |value: &'a [u8]| {
        let head = value.first_chunk().copied().unwrap_or_else(|| {
            let mut head = [0; size_of::<u64>()];
            head[..value.len()].copy_from_slice(value);
            head
        });
        (u64::from_be_bytes(head), value)
    };
    let mut values = values.map(with_head);
    let first = values.next()?;
    let range = values.fold((first, first), |(min, max), value| (min.min(value), max.max(value)));
    Some((range.0.1, range.1.1))
}

/// The bytes of a GUID.
fn guid_len(is_fixed: bool) -> usize {
    if is_fixed { size_of::<Guid>() } else { Guid::ZERO.to_text().len() }
}

fn intern_guid(values: &mut BytesInterner, guid: [u8; 16], is_fixed: bool) -> Option<u32> {
    if is_fixed { values.intern(&guid) } else { values.intern(&Guid::from_text_order(guid).to_text()) }
}

fn intern_key(values: &mut BytesInterner, table: &KeyTable, key: u32, is_fixed: bool) -> Option<u32> {
    match table {
        KeyTable::Texts { places, labels } if !is_fixed => {
            let place = places.get(key as usize).copied().flatten()? as usize;
            values.intern((place < labels.len()).then(|| labels.value(place))?.as_bytes())
        }
        KeyTable::Guids(guids) => intern_guid(values, guids.get(key as usize).copied().flatten()?, is_fixed),
        _ => None,
    }
}

impl Values for ByteValues {
    fn put(&mut self, values: &BatchValues<'_>, range: Range<usize>) -> Option<()> {
        match values {
            BatchValues::Bytes(values) | BatchValues::Lists { items: ListItems::Bytes(values), .. } => {
                self.put_bytes(values.get(range)?)
            }
            BatchValues::Keys { keys, table } => self.put_keys(keys.get(range)?, table),
            _ => None,
        }
    }

    fn page_bytes(&self) -> usize {
        self.most_page_bytes(0)
    }

    fn dictionary_bytes(&self) -> Option<usize> {
        Some(self.values.page().len())
    }

    fn most_bytes(&self, values: &BatchValues<'_>, count: usize) -> (usize, usize) {
        (self.most_page_bytes(count), self.values.page().len() + self.bytes_of(values, 0..count))
    }

    fn fit_dictionary(&self, values: &BatchValues<'_>, range: Range<usize>, limit: usize) -> bool {
        self.values.page().len().saturating_add(self.bytes_of(values, range)) <= limit
    }

    fn end_page(&mut self, page: &mut Vec<u8>) -> PageValues {
        self.indices.finish(width_of((self.values.len() as u64).saturating_sub(1)), page);
        let bytes = i64::try_from(std::mem::take(&mut self.bytes)).ok().filter(|_| !self.is_fixed);
        PageValues { encoding: Encoding::RLE_DICTIONARY, range: None, bytes }
    }

    fn take_dictionary(&mut self) -> Option<Dictionary> {
        let is_taken = std::mem::replace(&mut self.is_taken, true);
        (!is_taken).then(|| Dictionary { page: self.values.page().to_vec(), count: self.values.len() })
    }

    fn can_fall_back(&self) -> bool {
        false
    }

    fn statistics(&self, leaf: &Leaf, nulls: u64) -> Statistics {
        let cut = |cut: fn(&[u8], usize, bool) -> Option<Vec<u8>>, value: Option<&[u8]>| {
            let value = value?;
            let shorter = leaf.statistics_bytes.filter(|&most| value.len() > most);
            let shorter = shorter.and_then(|most| cut(value, most, leaf.is_text()));
            Some(shorter.map_or_else(|| (value.to_vec(), true), |shorter| (shorter, false)))
        };
        let (min, max) = range_of(self.values.values()).unzip();
        let (min, min_is_exact) = cut(cut_min, min).unzip();
        let (max, max_is_exact) = cut(cut_max, max).unzip();
        let (min, max) = (min.map(ByteArray::from), max.map(ByteArray::from));
        if self.is_fixed {
            let (min, max) = (min.map(FixedLenByteArray::from), max.map(FixedLenByteArray::from));
            let statistics = ValueStatistics::new(min, max, None, Some(nulls), false);
            return statistics.with_backwards_compatible_min_max(leaf.is_signed()).into();
        }
        ValueStatistics::new(min, max, None, Some(nulls), false)
            .with_backwards_compatible_min_max(leaf.is_signed())
            .with_min_is_exact(min_is_exact.unwrap_or(false))
            .with_max_is_exact(max_is_exact.unwrap_or(false))
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_is_that_of_whole_values() {
        let range = |values: &[&'static str]| {
            let range = range_of(values.iter().map(|value| value.as_bytes()));
            range.map(|(min, max)| [min, max].map(|value| std::str::from_utf8(value).unwrap()))
        };
        assert_eq!(range(&[]), None);
        assert_eq!(range(&["b"]), Some(["b"; 2]));
        assert_eq!(range(&["b", "", "a"]), Some(["", "b"]));
        // A value is less than one that it begins, be the rest zeros.
        assert_eq!(range(&["a\0", "a", "a\0\0"]), Some(["a", "a\0\0"]));
        assert_eq!(
            range(&["12345678b", "12345678", "12345678a", "1234567\u{ff}"]),
            Some(["12345678", "1234567\u{ff}"])
        );
        assert_eq!(range(&["12345678b", "12345678c", "12345678a"]), Some(["12345678a", "12345678c"]));
    }
}
