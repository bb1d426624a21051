//! The leading values of fixed width of an event, kept as they lie in its payload.
//!
//! Most fields of most events are such values, and taking them apart one by one would cost more than all the rest of
//! decoding. A prefix keeps the leading bytes of every payload of one layout, record after record; a column reads its
//! value out of each record when it is scattered to rows.

use std::sync::Arc;

use super::presence::{Recycle, RowNumbers};

/// A number that a column takes as it is, or extended to its own width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrefixField {
    /// The column.
    pub column: usize,
    /// Where it lies in a record.
    pub start: usize,
    /// Its bytes: 1, 2, 4 or 8, and no more than the column's.
    pub width: usize,
    /// Whether it is extended by its sign, not by zeros, where the column is wider.
    pub signed: bool,
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
    /// The values of some records as `N` little-endian bytes; `N` is the width of the column.
    pub(crate) fn values<const N: usize>(
        self,
        records: std::ops::Range<usize>,
    ) -> impl ExactSizeIterator<Item = [u8; N]> + 'a {
        let PrefixField { start, width, signed, .. } = self.field;
        let bytes = &self.prefix.bytes[records.start * self.prefix.record..records.end * self.prefix.record];
        bytes.chunks_exact(self.prefix.record).map(move |record| {
            let field = &record[start..];
            field.first_chunk().copied().filter(|_| width == N).unwrap_or_else(|| widened(&field[..width], signed))
        })
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
        let field = |start, width, signed| PrefixField { column: 0, start, width, signed };
        let column = |start, width| PrefixColumn { prefix: &prefix, field: field(start, width, false) };
        assert_eq!(column(1, 2).values::<2>(0..2).collect::<Vec<_>>(), [[2, 3], [7, 8]]);
        assert_eq!(column(1, 4).values::<8>(1..2).collect::<Vec<_>>(), [[7, 8, 9, 10, 0, 0, 0, 0]]);
        assert_eq!(column(4, 1).values::<1>(0..1).collect::<Vec<_>>(), [[5]]);
        prefix.push(4, &[0xfe, 0x80, 0, 1, 0x80]);
        let signed = |start| PrefixColumn { prefix: &prefix, field: field(start, 2, true) };
        assert_eq!(signed(0).values::<4>(1..3).collect::<Vec<_>>(), [[6, 7, 0, 0], [0xfe, 0x80, 0xff, 0xff]]);
    }
}
