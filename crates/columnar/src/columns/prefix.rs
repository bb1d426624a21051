//! The leading values of fixed width of an event, kept as they lie in its payload: numbers, and what stands for a text.
//!
//! Most fields of most events are such values, and taking them apart one by one would cost more than all the rest of
//! decoding. A prefix keeps the leading bytes of every payload of one layout, record after record; once the rows of a
//! slice are there, the values are taken out of the records, field by field.

use std::ops::Range;
use std::sync::Arc;

use super::presence::{Recycle, RowNumbers};

/// A value that a column reads out of the record itself.
#[derive(Clone, Copy, Debug)]
pub struct PrefixField {
    /// The column.
    pub column: usize,
    /// Where it lies in a record.
    pub start: usize,
    /// Its bytes: of a number 1, 2, 4 or 8, and no more than the column's.
    pub width: usize,
    /// What its bytes are.
    pub form: PrefixForm,
}

/// What the bytes of a value are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrefixForm {
    /// A number that the column takes as it is, or extended to its own width.
    Number(NumberForm),
    /// What stands for a text, in a column of texts.
    Text(TextForm),
}

/// How a number lies in its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberForm {
    /// Extended by zeros where the column is wider.
    Unsigned,
    /// Extended by its sign.
    Signed,
    /// Of 2 bytes, the high one first.
    BigEndian,
}

/// A value of fixed width that stands for a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextForm {
    /// 4 bytes in network order.
    IPv4,
    /// 16 bytes in network order.
    IPv6,
    /// 16 bytes as they lie on disk.
    Guid,
}

/// The records of one layout while they come.
#[derive(Debug, Default)]
pub struct Prefix {
    /// What columns read out of a record.
    pub fields: Arc<[PrefixField]>,
    /// Bytes of a record.
    pub record: usize,
    /// The row of each record.
    pub rows: RowNumbers,
    /// The records one after another.
    pub bytes: Vec<u8>,
}

/// Records of which all fields are taken out before those of the next ones: so few that a core's cache holds them.
const BLOCK_RECORDS: usize = 256;

impl Prefix {
    /// Adds the record of a row.
    #[inline]
    pub fn push(&mut self, row: u32, record: &[u8]) {
        debug_assert_eq!(record.len(), self.record);
        self.rows.push(row);
        self.bytes.extend_from_slice(record);
    }

    /// Takes the fields out of the records, whose memory stays for what comes next. A column that read its values out of
    /// the records later would have all of them pass through the cache.
    pub fn take(&mut self) -> PrefixValues {
        let (record, count) = (self.record.max(1), self.rows.count());
        let mut fields: Vec<_> = starts(&self.fields, count).zip(&*self.fields).collect();
        fields.dedup_by_key(|(start, _)| *start);
        let mut bytes = vec![0; fields.last().map_or(0, |(start, field)| start + field.width * count)];
        for (number, block) in self.bytes.chunks(record * BLOCK_RECORDS).enumerate() {
            for &(start, &PrefixField { start: at, width, .. }) in &fields {
                let first = start + number * BLOCK_RECORDS * width;
                pick(block, record, at..at + width, &mut bytes[first..start + width * count]);
            }
        }
        self.bytes.clear();
        PrefixValues { fields: Arc::clone(&self.fields), rows: self.rows.take_exact(), bytes }
    }
}

/// Where the values of each field begin, for so many records. Fields that read the same bytes stand one behind the other
/// and share their values.
fn starts(fields: &[PrefixField], records: usize) -> impl Iterator<Item = usize> {
    let (mut before, mut start, mut end) = (None, 0, 0);
    fields.iter().map(move |field| {
        if before.replace(field.start) != Some(field.start) {
            (start, end) = (end, end + field.width * records);
        }
        start
    })
}

/// Copies a field of each record to where its values lie one after another.
fn pick(records: &[u8], record: usize, field: Range<usize>, values: &mut [u8]) {
    fn of_width<const N: usize>(records: &[u8], record: usize, start: usize, values: &mut [u8]) {
        let field = |record: &[u8]| record.get(start..).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; N]);
        let places = values.as_chunks_mut().0.iter_mut();
        places.zip(records.chunks_exact(record)).for_each(|(place, record)| *place = field(record));
    }
    match field.len() {
        1 => of_width::<1>(records, record, field.start, values),
        2 => of_width::<2>(records, record, field.start, values),
        4 => of_width::<4>(records, record, field.start, values),
        8 => of_width::<8>(records, record, field.start, values),
        width => {
            let places = values.chunks_exact_mut(width);
            places.zip(records.chunks_exact(record)).for_each(|(place, record)| {
                place.copy_from_slice(&record[field.clone()]);
            });
        }
    }
}

/// The values of the records of one layout, field by field.
#[derive(Debug)]
pub struct PrefixValues {
    /// What columns read out of a record.
    pub fields: Arc<[PrefixField]>,
    /// The row of each record.
    pub rows: RowNumbers,
    /// The values of a field one after another, and behind them those of the next field that reads other bytes.
    bytes: Vec<u8>,
}

impl PrefixValues {
    /// Where the values of each field begin.
    pub fn starts(&self) -> impl Iterator<Item = usize> {
        starts(&self.fields, self.rows.count())
    }

    /// The values of a field, which begin here.
    pub fn column(&self, start: usize, width: usize, form: PrefixForm) -> PrefixColumn<'_> {
        PrefixColumn { rows: &self.rows, width, form, bytes: &self.bytes[start..start + width * self.rows.count()] }
    }
}

/// The values of one field of all records of a layout.
#[derive(Clone, Copy, Debug)]
pub struct PrefixColumn<'a> {
    /// The row of each.
    pub rows: &'a RowNumbers,
    /// The bytes of each.
    pub width: usize,
    /// What the bytes of each are.
    pub form: PrefixForm,
    bytes: &'a [u8],
}

impl<'a> PrefixColumn<'a> {
    /// The numbers of some records as `N` little-endian bytes; `N` is the width of the column.
    pub fn values<const N: usize>(self, records: Range<usize>) -> impl ExactSizeIterator<Item = [u8; N]> + 'a {
        self.bytes(records).chunks_exact(self.width).map(move |field| match self.form {
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

    /// The bytes of the values of some records.
    pub fn bytes(self, records: Range<usize>) -> &'a [u8] {
        &self.bytes[records.start * self.width..records.end * self.width]
    }
}

/// A little-endian number with its sign or zeros above it; `N` is no less than its bytes.
pub fn widened<const N: usize>(field: &[u8], signed: bool) -> [u8; N] {
    let is_negative = signed && field.last().is_some_and(|&high| high >= 0x80);
    let mut value = [if is_negative { 0xff } else { 0 }; N];
    value[..field.len()].copy_from_slice(field);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_taken_out_of_records() {
        let field = |start, width, form| PrefixField { column: 0, start, width, form };
        let number = |start, width, form| field(start, width, PrefixForm::Number(form));
        let fields = [
            number(0, 1, NumberForm::Signed),
            number(1, 2, NumberForm::BigEndian),
            number(1, 2, NumberForm::Signed),
            number(4, 1, NumberForm::Unsigned),
            field(5, 16, PrefixForm::Text(TextForm::Guid)),
        ];
        let mut prefix = Prefix { fields: Arc::new(fields), record: 21, ..Prefix::default() };
        let guid = [9; 16];
        prefix.push(0, &[&[1, 2, 3, 4, 5], &guid[..]].concat());
        prefix.push(3, &[&[0xfe, 0x80, 0x81, 9, 10], &guid[..]].concat());
        let values = prefix.take();
        assert_eq!(values.starts().collect::<Vec<_>>(), [0, 2, 2, 6, 8]);
        let column = |at: usize| {
            let PrefixField { width, form, .. } = values.fields[at];
            values.column(values.starts().nth(at).unwrap(), width, form)
        };
        assert_eq!(column(0).values::<1>(0..2).collect::<Vec<_>>(), [[1], [0xfe]]);
        assert_eq!(column(0).values::<2>(1..2).collect::<Vec<_>>(), [[0xfe, 0xff]]);
        assert_eq!(column(1).values::<2>(0..2).collect::<Vec<_>>(), [[3, 2], [0x81, 0x80]]);
        assert_eq!(column(1).values::<4>(0..1).collect::<Vec<_>>(), [[3, 2, 0, 0]]);
        assert_eq!(column(2).bytes(0..2), [2, 3, 0x80, 0x81]);
        assert_eq!(column(2).values::<4>(0..2).collect::<Vec<_>>(), [[2, 3, 0, 0], [0x80, 0x81, 0xff, 0xff]]);
        assert_eq!(column(3).values::<4>(0..2).collect::<Vec<_>>(), [[5, 0, 0, 0], [10, 0, 0, 0]]);
        assert_eq!(column(4).bytes(0..2), [9; 32]);
        assert!(values.rows.ends_with(3));
    }

    #[test]
    fn many_records_are_taken_block_by_block() {
        let fields = [(0, 8), (8, 4), (12, 2)].map(|(start, width)| PrefixField {
            column: 0,
            start,
            width,
            form: PrefixForm::Number(NumberForm::Unsigned),
        });
        let mut prefix = Prefix { fields: Arc::new(fields), record: 15, ..Prefix::default() };
        for count in [2 * BLOCK_RECORDS + 1, BLOCK_RECORDS, 0] {
            let numbers: Vec<u64> = (0..).map(|row| row * 0x0101_0203_0507).take(count).collect();
            for (row, number) in (0..).zip(&numbers) {
                let bytes = number.to_le_bytes();
                prefix.push(row, &[&bytes, &bytes[..4], &bytes[..2], &[0xee]].concat());
            }
            let values = prefix.take();
            for (start, &PrefixField { width, form, .. }) in values.starts().zip(&*values.fields) {
                let expected: Vec<u8> =
                    numbers.iter().flat_map(|number| number.to_le_bytes()[..width].to_vec()).collect();
                assert_eq!(values.column(start, width, form).bytes(0..count), expected);
            }
        }
    }
}
