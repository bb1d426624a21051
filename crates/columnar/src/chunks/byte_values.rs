//! Texts, binary values and GUIDs: positions in a dictionary, and the values themselves once it is full.

use std::ops::Range;
use std::sync::Arc;

use base::guid::Guid;
use parquet::basic::{Encoding, Type};
use parquet::data_type::{ByteArray, FixedLenByteArray};
use parquet::file::statistics::{Statistics, ValueStatistics};

use super::byte_dictionary::{ByteDictionary, guid_len, guid_text};
use super::byte_list::ByteList;
use super::leaf::Leaf;
use super::truncation::{cut_max, cut_min};
use super::values::{Dictionary, PageValues, Values};
use crate::columns::{BatchValues, KeyTable, ListItems};

/// The values of a column chunk.
#[derive(Debug)]
pub(super) struct ByteValues {
    is_fixed: bool,
    dictionary: Option<ByteDictionary>,
    /// Those of the page that are not in a dictionary.
    listed: ByteList,
    /// Bytes of all values of the page.
    bytes: usize,
    /// The least and the greatest, but for those in the dictionary.
    range: Option<(Vec<u8>, Vec<u8>)>,
}

impl ByteValues {
    /// `None` without a dictionary, where something else comes behind it, and for values of one length unless they are
    /// GUIDs.
    pub(super) fn new(leaf: &Leaf) -> Option<Self> {
        let is_fixed = leaf.descr.physical_type() == Type::FIXED_LEN_BYTE_ARRAY;
        let listed = ByteList::new(is_fixed);
        let covered = leaf.dictionary
            && !leaf.page_statistics
            && leaf.encoding == listed.encoding()
            && (!is_fixed || leaf.descr.type_length() == 16);
        let dictionary = Some(ByteDictionary::new(is_fixed));
        covered.then_some(ByteValues { is_fixed, dictionary, listed, bytes: 0, range: None })
    }

    fn put_bytes(&mut self, values: &[&[u8]]) -> Option<()> {
        if self.is_fixed && values.iter().any(|value| value.len() != size_of::<Guid>()) {
            return None;
        }
        self.bytes += values.iter().map(|value| value.len()).sum::<usize>();
        if let Some(dictionary) = &mut self.dictionary {
            return dictionary.put(values);
        }
        self.listed.put(values)?;
        self.widen(range_of(values.iter().copied()));
        Some(())
    }

    fn put_keys(&mut self, keys: &[u32], table: &Arc<KeyTable>) -> Option<()> {
        if let Some(dictionary) = &mut self.dictionary {
            self.bytes += dictionary.put_keys(keys, table)?;
            return Some(());
        }
        let texts: Vec<_> = match &**table {
            KeyTable::Guids(guids) if !self.is_fixed => guids.iter().map(|&guid| guid_text(guid)).collect(),
            _ => Vec::new(),
        };
        let value = |&key: &u32| -> Option<&[u8]> {
            match &**table {
                KeyTable::Texts { .. } if !self.is_fixed => Some(table.text(key as usize)?.as_bytes()),
                KeyTable::Guids(guids) => {
                    let guid = guids.get(key as usize)?.as_ref()?;
                    Some(texts.get(key as usize).map_or(guid.as_slice(), |text| text.as_slice()))
                }
                _ => None,
            }
        };
        let values = keys.iter().map(value).collect::<Option<Vec<_>>>()?;
        self.put_bytes(&values)
    }

    fn widen(&mut self, range: Option<(&[u8], &[u8])>) {
        let Some((min, max)) = range else { return };
        let (least, greatest) = self.range.get_or_insert_with(|| (min.to_vec(), max.to_vec()));
        if min < least.as_slice() {
            *least = min.to_vec();
        }
        if max > greatest.as_slice() {
            *greatest = max.to_vec();
        }
    }

    /// Reads the bytes of each of some values as a plain value, until `read` says no. Whether it never does.
    fn each_bytes(&self, values: &BatchValues<'_>, range: Range<usize>, mut read: impl FnMut(usize) -> bool) -> bool {
        let before = if self.is_fixed { 0 } else { size_of::<u32>() };
        match values {
            BatchValues::Bytes(values) | BatchValues::Lists { items: ListItems::Bytes(values), .. } => {
                values.get(range).unwrap_or_default().iter().all(|value| read(before + value.len()))
            }
            BatchValues::Keys { keys, table } => {
                let len = |&key: &u32| match &***table {
                    KeyTable::Texts { .. } => table.text(key as usize).map_or(0, str::len),
                    _ => guid_len(self.is_fixed),
                };
                keys.get(range).unwrap_or_default().iter().all(|key| read(before + len(key)))
            }
            _ => true,
        }
    }

    fn plain_bytes(&self, values: &BatchValues<'_>, range: Range<usize>) -> usize {
        let mut sum = 0_usize;
        self.each_bytes(values, range, |bytes| {
            sum = sum.saturating_add(bytes);
            true
        });
        sum
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
        self.dictionary.as_ref().map_or_else(|| self.listed.bytes(), |dictionary| dictionary.most_page_bytes(0))
    }

    fn dictionary_bytes(&self) -> Option<usize> {
        self.dictionary.as_ref().map(ByteDictionary::bytes)
    }

    fn most_bytes(&self, values: &BatchValues<'_>, count: usize) -> (usize, usize) {
        let plain_bytes = || self.plain_bytes(values, 0..count);
        match (&self.dictionary, values) {
            (None, _) => (self.listed.most_bytes(count) + plain_bytes(), 0),
            (Some(dictionary), BatchValues::Keys { table, .. }) => {
                (dictionary.most_page_bytes(count), dictionary.bytes() + dictionary.most_bytes_of(table))
            }
            (Some(dictionary), _) => (dictionary.most_page_bytes(count), dictionary.bytes() + plain_bytes()),
        }
    }

    fn width(&self) -> Option<usize> {
        self.is_fixed.then_some(size_of::<Guid>())
    }

    fn fit(&self, values: &BatchValues<'_>, range: Range<usize>, bytes: usize) -> Option<usize> {
        let (count, mut sum, mut fit) = (range.len(), 0_usize, 0);
        let fits = self.each_bytes(values, range, |value| {
            sum = sum.saturating_add(value);
            fit += 1;
            sum <= bytes
        });
        // Texts of keys may come as positions among texts, all of which it takes at once.
        let is_known = fits || self.is_fixed || !matches!(values, BatchValues::Keys { .. });
        is_known.then_some(if fits { count } else { fit })
    }

    fn end_page(&mut self, page: &mut Vec<u8>) -> PageValues {
        let bytes = i64::try_from(std::mem::take(&mut self.bytes)).ok().filter(|_| !self.is_fixed);
        let encoding = if let Some(dictionary) = &mut self.dictionary {
            dictionary.end_page(page);
            Encoding::RLE_DICTIONARY
        } else {
            self.listed.finish(page);
            self.listed.encoding()
        };
        PageValues { encoding, range: None, bytes }
    }

    fn take_dictionary(&mut self) -> Option<Dictionary> {
        let dictionary = self.dictionary.take()?;
        self.widen(range_of(dictionary.values()));
        Some(dictionary.finish())
    }

    fn statistics(&self, leaf: &Leaf, nulls: u64) -> Statistics {
        let cut = |cut: fn(&[u8], usize, bool) -> Option<Vec<u8>>, value: Option<&Vec<u8>>| {
            let value = value?;
            let shorter = leaf.statistics_bytes.filter(|&most| value.len() > most);
            let shorter = shorter.and_then(|most| cut(value, most, leaf.is_text()));
            Some(shorter.map_or_else(|| (value.clone(), true), |shorter| (shorter, false)))
        };
        let (min, max) = self.range.as_ref().map(|(min, max)| (min, max)).unzip();
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
