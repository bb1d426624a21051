//! The leading values of fixed width of an event, kept as they lie in its payload: numbers, and what stands for a text.
//!
//! Most fields of most events are such values, and taking them apart one by one would cost more than all the rest of
//! decoding. A prefix keeps the leading bytes of every payload of one layout, record after record; a column reads its
//! value out of each record when it is scattered to rows.

use std::ops::Range;
use std::sync::Arc;

use super::presence::{Recycle, RowNumbers};

/// A value that a column reads out of the record itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrefixField {
    /// The column.
    pub column: usize,
    /// Where it lies in a record.
    pub start: usize,
    /// Its bytes: of a number 1, 2, 4 or 8, and no more than the column's.
    pub width: usize,
    pub form: PrefixForm,
}

/// What the bytes of a value are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrefixForm {
    /// A number that the column takes as it is, or extended to its own width.
    Number(NumberForm),
    /// What stands for a text, in a column of texts.
    Text(TextForm),
}

/// How a number lies in its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberForm {
    /// Extended by zeros where the column is wider.
    Unsigned,
    /// Extended by its sign.
    Signed,
    /// Of 2 bytes, the high one first.
    BigEndian,
}

/// A value of fixed width that stands for a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TextForm {
    /// 4 bytes in network order.
    IPv4,
    /// 16 bytes in network order.
    IPv6,
    /// 16 bytes as they lie on disk.
    Guid,
}

/// The records of one layout.
#[derive(Debug, Default)]
pub(crate) struct Prefix {
    pub fields: Arc<[PrefixField]>,
    /// Bytes of a record.
    pub record: usize,
    /// The row of each record.
    pub rows: RowNumbers,
    pub bytes: Vec<u8>,
}

impl Prefix {
    /// Adds the record of a row.
    #[inline]
    pub(crate) fn push(&mut self, row: u32, record: &[u8]) {
        debug_assert_eq!(record.len(), self.record);
        self.rows.push(row);
        self.bytes.extend_from_slice(record);
    }
}

impl Recycle for Prefix {
    fn take_exact(&mut self) -> Self {
        let (rows, bytes) = (self.rows.take_exact(), self.bytes.take_exact());
        Prefix { fields: Arc::clone(&self.fields), record: self.record, rows, bytes }
    }
}

/// One field of all records of a prefix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrefixColumn<'a> {
    pub prefix: &'a Prefix,
    pub field: PrefixField,
}

impl<'a> PrefixColumn<'a> {
    /// The numbers of some records as `N` little-endian bytes; `N` is the width of the column.
    pub(crate) fn values<const N: usize>(self, records: Range<usize>) -> impl ExactSizeIterator<Item = [u8; N]> + 'a {
        let form = self.field.form;
        self.bytes(records).map(move |field| match form {
            PrefixForm::Number(NumberForm::BigEndian) => {
                let swapped: [u8; 2] = field.first_chunk().map_or([0; 2], |&[high, low]| [low, high]);
                widened(&swapped, false)
            }
            form => field
                .first_chunk()
                .copied()
                .filter(|_| field.len() == N)
                .unwrap_or_else(|| widened(field, form == PrefixForm::Number(NumberForm::Signed))),
        })
    }

    /// The bytes of the value in each of some records.
    pub(crate) fn bytes(self, records: Range<usize>) -> impl ExactSizeIterator<Item = &'a [u8]> {
        let PrefixField { start, width, .. } = self.field;
        self.records(records).map(move |record| &record[start..start + width])
    }

    /// The same, for values of `N` bytes.
    pub(crate) fn fields<const N: usize>(self, records: Range<usize>) -> impl ExactSizeIterator<Item = [u8; N]> + 'a {
        let start = self.field.start;
        self.records(records)
            .map(move |record| record.get(start..).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; N]))
    }

    fn records(self, records: Range<usize>) -> std::slice::ChunksExact<'a, u8> {
        let record = self.prefix.record;
        self.prefix.bytes[records.start * record..records.end * record].chunks_exact(record)
    }
}

/// A little-endian number with its sign or zeros above it; `N` is no less than its bytes.
pub(crate) fn widened<const N: usize>(field: &[u8], signed: bool) -> [u8; N] {
    let is_negative = signed && field.last().is_some_and(|&high| high >= 0x80);
    let mut value = [if is_negative { 0xff } else { 0 }; N];
    value[..field.len()].copy_from_slice(field);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_out_of_records() {
        let mut prefix = Prefix { record: 5, ..Prefix::default() };
        prefix.push(0, &[1, 2, 3, 4, 5]);
        prefix.push(3, &[6, 7, 8, 9, 10]);
        let field = |start, width, form| PrefixField { column: 0, start, width, form: PrefixForm::Number(form) };
        let column = |start, width| PrefixColumn { prefix: &prefix, field: field(start, width, NumberForm::Unsigned) };
        let big_endian = PrefixColumn { prefix: &prefix, field: field(1, 2, NumberForm::BigEndian) };
        assert_eq!(big_endian.values::<2>(0..2).collect::<Vec<_>>(), [[3, 2], [8, 7]]);
        assert_eq!(big_endian.values::<4>(0..1).collect::<Vec<_>>(), [[3, 2, 0, 0]]);
        assert_eq!(big_endian.bytes(0..1).collect::<Vec<_>>(), [[2, 3]]);
        assert_eq!(big_endian.fields::<3>(1..2).collect::<Vec<_>>(), [[7, 8, 9]]);
        assert_eq!(column(1, 2).values::<2>(0..2).collect::<Vec<_>>(), [[2, 3], [7, 8]]);
        assert_eq!(column(1, 4).values::<8>(1..2).collect::<Vec<_>>(), [[7, 8, 9, 10, 0, 0, 0, 0]]);
        assert_eq!(column(4, 1).values::<1>(0..1).collect::<Vec<_>>(), [[5]]);
        prefix.push(4, &[0xfe, 0x80, 0, 1, 0x80]);
        let signed = |start| PrefixColumn { prefix: &prefix, field: field(start, 2, NumberForm::Signed) };
        assert_eq!(signed(0).values::<4>(1..3).collect::<Vec<_>>(), [[6, 7, 0, 0], [0xfe, 0x80, 0xff, 0xff]]);
    }
}
