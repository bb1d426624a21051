//! GUIDs and other values of a few bytes that stand for texts: what is made of them is made once for each that is distinct.

use std::ops::Range;

use arrow_array::StringArray;
use base::address::{ipv4_len, ipv6_len, push_ipv4, push_ipv6};
use base::guid::Guid;

use super::column_batch::KeyTable;
use super::interner::Interner;
use super::prefix::{PrefixColumn, TextForm};

/// A value of one of the forms; behind its bytes stand zeros.
type Value = (TextForm, u128);

/// The distinct values of a batch, each with a key.
#[derive(Debug, Default)]
pub(super) struct DistinctValues {
    values: Interner<Value>,
}

impl DistinctValues {
    /// Forgets all values.
    pub(super) fn clear(&mut self) {
        self.values.clear();
    }

    /// Appends a key for the value in each of some records.
    pub(super) fn read(
        &mut self,
        column: PrefixColumn<'_>,
        form: TextForm,
        records: Range<usize>,
        keys: &mut Vec<u32>,
    ) {
        match form {
            TextForm::IPv4 => {
                let values = column.bytes(records).as_chunks().0;
                self.intern(form, values.iter().map(|address| u32::from_le_bytes(*address).into()), keys);
            }
            TextForm::IPv6 | TextForm::Guid => {
                let values = column.bytes(records).as_chunks().0;
                self.intern(form, values.iter().map(|value| u128::from_le_bytes(*value)), keys);
            }
        }
    }

    /// The same for GUIDs in the order of their text.
    pub(super) fn read_guids(&mut self, guids: &[[u8; 16]], keys: &mut Vec<u32>) {
        self.intern(TextForm::Guid, guids.iter().map(|guid| u128::from_le_bytes(*guid)), keys);
    }

    fn intern(&mut self, form: TextForm, values: impl Iterator<Item = u128>, keys: &mut Vec<u32>) {
        let mut last = None;
        keys.extend(values.map(|value| match last {
            Some((before, key)) if before == value => key,
            _ => {
                let key = self.values.intern((form, value)).0;
                last = Some((value, key));
                key
            }
        }));
    }

    /// What was given to [`DistinctValues::read_guids`], by key.
    pub(super) fn guids(&self) -> KeyTable {
        KeyTable::Guids(self.values.values().iter().map(|(_, guid)| Some(guid.to_le_bytes())).collect())
    }

    /// The texts of what was given to [`DistinctValues::read`], by key.
    pub(super) fn texts(&self) -> KeyTable {
        let values = self.values.values();
        let mut text = Vec::new();
        let labels = values.iter().map(|&(form, value)| {
            text.clear();
            form.push(&value.to_le_bytes()[..form.width()], &mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        let labels = StringArray::from_iter_values(labels);
        KeyTable::Texts { places: (0..).take(values.len()).map(Some).collect(), labels }
    }
}

impl TextForm {
    /// The bytes of a value.
    pub fn width(self) -> usize {
        match self {
            TextForm::IPv4 => 4,
            TextForm::IPv6 | TextForm::Guid => 16,
        }
    }

    /// Appends the text of a value of as many bytes as those of this form have.
    pub(super) fn push(self, value: &[u8], out: &mut Vec<u8>) {
        match (self, value.try_into(), value.try_into()) {
            (TextForm::IPv4, Ok(address), _) => push_ipv4(address, out),
            (TextForm::IPv6, _, Ok(address)) => push_ipv6(address, out),
            (TextForm::Guid, _, Ok(guid)) => out.extend_from_slice(&Guid(guid).to_text()),
            _ => {}
        }
    }

    /// The bytes of that text.
    #[inline]
    pub fn len(self, value: &[u8]) -> usize {
        match self {
            TextForm::IPv4 => value.try_into().map_or(0, ipv4_len),
            TextForm::IPv6 => value.try_into().map_or(0, ipv6_len),
            TextForm::Guid => Guid::ZERO.to_text().len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    use crate::columns::prefix::{Prefix, PrefixField, PrefixForm};

    #[test]
    fn guids_stay_what_they_are() {
        let (mut values, mut keys) = (DistinctValues::default(), Vec::new());
        values.read_guids(&[[1; 16], [2; 16], [1; 16]], &mut keys);
        values.read_guids(&[[2; 16]], &mut keys);
        assert_eq!(keys, [0, 1, 0, 1]);
        let KeyTable::Guids(guids) = values.guids() else { panic!("made of GUIDs") };
        assert_eq!(guids, [Some([1; 16]), Some([2; 16])]);
    }

    #[test]
    fn a_text_is_made_once_for_each_value() {
        let fields = [(1, TextForm::IPv4), (5, TextForm::IPv6), (5, TextForm::Guid)].map(|(start, form)| PrefixField {
            column: 0,
            start,
            width: form.width(),
            form: PrefixForm::Text(form),
        });
        let mut prefix = Prefix { fields: Arc::new(fields), record: 21, ..Prefix::default() };
        let loopback = {
            let mut bytes = [0; 16];
            bytes[15] = 1;
            bytes
        };
        for (row, octet) in [(0, 1), (1, 2), (5, 1)] {
            prefix.push(row, &[&[0xee][..], &[10, 0, 0, octet], &loopback].concat());
        }
        let values = prefix.take();
        let mut keys = DistinctValues::default();
        let mut read = |start, form: TextForm| {
            let mut read = Vec::new();
            keys.read(values.column(start, form.width(), PrefixForm::Text(form)), form, 0..3, &mut read);
            read
        };
        assert_eq!(read(0, TextForm::IPv4), [0, 1, 0]);
        assert_eq!(read(12, TextForm::IPv6), [2, 2, 2]);
        assert_eq!(read(12, TextForm::Guid), [3, 3, 3]);
        let KeyTable::Texts { places, labels } = keys.texts() else { panic!("made of texts") };
        assert_eq!(places, [Some(0), Some(1), Some(2), Some(3)]);
        let texts = ["10.0.0.1", "10.0.0.2", "::1", "00000000-0000-0000-0000-000000000001"];
        assert_eq!(labels.iter().flatten().collect::<Vec<_>>(), texts);
        for (form, bytes) in
            [(TextForm::IPv4, &[10, 0, 0, 1][..]), (TextForm::IPv6, &loopback), (TextForm::Guid, &loopback)]
        {
            let mut text = Vec::new();
            form.push(bytes, &mut text);
            assert_eq!(form.len(bytes), text.len());
        }
    }
}
