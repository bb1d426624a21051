//! Cuts the footers that parquet writes for one row group apart and joins them to that of a whole file.
//!
//! A footer is the page indexes, then the metadata as a Thrift struct, its length, and the magic number. All that a row
//! group says in it is one element of a list, and nothing in that depends on other row groups but where its page indexes
//! lie; `parquet.thrift` of the format's repository numbers the fields.

use std::ops::Range;

use parquet::errors::Result;

use super::thrift::{Reader, damaged, put_integer, put_struct_list};

/// Behind the metadata: its length, in 4 bytes little-endian, and the magic number.
const TAIL_LEN: usize = 8;

/// Fields of `FileMetaData`.
const NUM_ROWS: i16 = 3;
const ROW_GROUPS: i16 = 4;

/// Fields of `RowGroup`.
const COLUMNS: i16 = 1;
const ORDINAL: i16 = 7;

/// Fields of `ColumnChunk`.
const OFFSET_INDEX_OFFSET: i16 = 4;
const COLUMN_INDEX_OFFSET: i16 = 6;

/// Where in the footer of a file with one row group its parts are.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RowGroupParts {
    pub(super) column_indexes: Range<usize>,
    pub(super) offset_indexes: Range<usize>,
    /// The `RowGroup`.
    pub(super) metadata: Range<usize>,
}

impl RowGroupParts {
    /// Finds them; fails on anything but the footer of one row group.
    pub(super) fn of(footer: &[u8]) -> Result<Self> {
        let start = metadata(footer)?.start;
        let (mut reader, len) = row_groups(footer, start)?;
        if len != 1 {
            return Err(damaged());
        }
        let from = reader.at();
        reader.skip_struct()?;
        let metadata = from..reader.at();
        let mut first = start;
        let mut columns = Columns::of(&footer[metadata.clone()])?;
        while let Some(place) = columns.next_place()? {
            if place.id == OFFSET_INDEX_OFFSET {
                first = first.min(usize::try_from(place.value)?);
            }
        }
        Ok(RowGroupParts { column_indexes: 0..first, offset_indexes: first..start, metadata })
    }
}

/// The metadata of a file, taken from the footer of one without row groups.
pub(super) struct FileFrame<'a> {
    /// To where the number of rows goes.
    head: &'a [u8],
    /// Between the number of rows and that of row groups.
    between: &'a [u8],
    /// From behind the row groups.
    after: &'a [u8],
}

impl<'a> FileFrame<'a> {
    /// Finds its parts; fails on anything but the footer of a file without row groups.
    pub(super) fn of(footer: &'a [u8]) -> Result<Self> {
        let metadata = metadata(footer)?;
        let mut reader = Reader::new(footer, metadata.start);
        let mut before = 0;
        let mut rows = 0..0;
        while let Some(field) = reader.field(before)? {
            before = field.id;
            if field.id == ROW_GROUPS {
                let between = rows.end..reader.at();
                let (0, _) = reader.list()? else { return Err(damaged()) };
                let head = footer.get(metadata.start..rows.start).ok_or_else(damaged)?;
                let between = footer.get(between).ok_or_else(damaged)?;
                return Ok(FileFrame { head, between, after: &footer[reader.at()..metadata.end] });
            }
            reader.skip(field)?;
            if field.id == NUM_ROWS {
                rows = field.value..reader.at();
            }
        }
        Err(damaged())
    }

    /// What comes before the row groups.
    pub(super) fn before(&self, rows: i64, row_groups: usize) -> Vec<u8> {
        let mut out = self.head.to_vec();
        put_integer(&mut out, rows);
        out.extend_from_slice(self.between);
        put_struct_list(&mut out, row_groups);
        out
    }

    /// What comes after them.
    pub(super) fn after(&self) -> &'a [u8] {
        self.after
    }
}

/// A row group with its column indexes and its offset indexes so many bytes further on.
///
/// parquet leaves the ordinals out of a file with more row groups than an i16 can count.
pub(super) fn shifted(
    row_group: &[u8],
    (column_indexes, offset_indexes): (u64, u64),
    ordinals: bool,
) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(row_group.len() * 2);
    let mut columns = Columns::of(row_group)?;
    let mut copied = 0;
    while let Some(place) = columns.next_place()? {
        let shift = if place.id == COLUMN_INDEX_OFFSET { column_indexes } else { offset_indexes };
        out.extend_from_slice(&row_group[copied..place.range.start]);
        put_integer(&mut out, place.value.checked_add_unsigned(shift).ok_or_else(damaged)?);
        copied = place.range.end;
    }
    let Columns { mut reader, .. } = columns;
    let mut before = COLUMNS;
    while let Some(field) = reader.field(before)? {
        before = field.id;
        reader.skip(field)?;
        if field.id == ORDINAL && !ordinals {
            out.extend_from_slice(&row_group[copied..field.start]);
            copied = reader.at();
        }
    }
    out.extend_from_slice(&row_group[copied..reader.at()]);
    Ok(out)
}

/// Where the metadata of a footer is.
fn metadata(footer: &[u8]) -> Result<Range<usize>> {
    let (rest, tail) = footer.split_last_chunk::<TAIL_LEN>().ok_or_else(damaged)?;
    let len = u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]);
    let start = rest.len().checked_sub(usize::try_from(len)?).ok_or_else(damaged)?;
    Ok(start..rest.len())
}

/// A reader at the first row group of a footer, and their number.
fn row_groups(footer: &[u8], start: usize) -> Result<(Reader<'_>, usize)> {
    let mut reader = Reader::new(footer, start);
    let mut before = 0;
    while let Some(field) = reader.field(before)? {
        if field.id == ROW_GROUPS {
            let (len, _) = reader.list()?;
            return Ok((reader, len));
        }
        before = field.id;
        reader.skip(field)?;
    }
    Err(damaged())
}

/// A walk over the column chunks of a row group.
struct Columns<'a> {
    reader: Reader<'a>,
    /// Chunks not yet ended.
    left: usize,
    /// The last field of the current one.
    before: i16,
}

/// The place of a page index, as a column chunk states it.
struct Place {
    id: i16,
    value: i64,
    /// Of the value.
    range: Range<usize>,
}

impl<'a> Columns<'a> {
    fn of(row_group: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(row_group, 0);
        let first = reader.field(0)?.filter(|field| field.id == COLUMNS);
        let (left, _) = first.ok_or_else(damaged).and_then(|_| reader.list())?;
        Ok(Columns { reader, left, before: 0 })
    }

    /// The next place; `None` behind the last chunk.
    fn next_place(&mut self) -> Result<Option<Place>> {
        while self.left > 0 {
            let Some(field) = self.reader.field(self.before)? else {
                (self.left, self.before) = (self.left - 1, 0);
                continue;
            };
            self.before = field.id;
            if let OFFSET_INDEX_OFFSET | COLUMN_INDEX_OFFSET = field.id {
                let value = self.reader.integer()?;
                return Ok(Some(Place { id: field.id, value, range: field.value..self.reader.at() }));
            }
            self.reader.skip(field)?;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `RowGroup` of two column chunks: file offset, a metadata struct with one field, places; then the rows and the
    /// ordinal.
    const ROW_GROUP: [u8; 32] = [
        0x19, 0x2C, // columns: list of 2 structs
        0x26, 0x00, 0x1C, 0x15, 0x02, 0x00, 0x16, 0x14, 0x15, 0x06, 0x16, 0x00, 0x15, 0x14,
        0x00, // at 10: 3, at 0: 10
        0x26, 0x00, 0x1C, 0x00, 0x16, 0x1A, 0x15, 0x08, 0x00, // at 13: 4
        0x26, 0x0E, 0x44, 0x0A, // rows 7, ordinal 5
        0x00, 0xFF,
    ];

    #[test]
    fn places_move_and_nothing_else_changes() {
        let (row_group, expected) = (&ROW_GROUP[..31], |ordinal: &[u8]| {
            let columns = [0x26, 0x00, 0x1C, 0x15, 0x02, 0x00, 0x16, 0xB4, 0x9C, 0x01, 0x15, 0x06, 0x16, 0xC8, 0x01];
            let rest = [0x15, 0x14, 0x00, 0x26, 0x00, 0x1C, 0x00, 0x16, 0xBA, 0x9C, 0x01, 0x15, 0x08, 0x00, 0x26, 0x0E];
            [&[0x19, 0x2C][..], &columns, &rest, ordinal, &[0]].concat()
        });
        assert_eq!(shifted(row_group, (0, 0), true).unwrap(), row_group);
        assert_eq!(shifted(row_group, (100, 10_000), true).unwrap(), expected(&[0x44, 0x0A]));
        assert_eq!(shifted(row_group, (100, 10_000), false).unwrap(), expected(&[]));
        for cut in 0..row_group.len() {
            assert!(shifted(&row_group[..cut], (0, 0), true).is_err(), "{cut}");
        }
        assert!(shifted(row_group, (u64::MAX, 0), true).is_err());
    }

    /// Page indexes of 17 bytes, and the metadata of this row group or none.
    fn footer(row_groups: &[&[u8]]) -> Vec<u8> {
        let mut metadata = vec![0x15, 0x02, 0x19, 0x1C, 0x48, 0x01, b's', 0x00, 0x16, 0x00];
        metadata.push(0x19);
        put_struct_list(&mut metadata, row_groups.len());
        row_groups.iter().for_each(|row_group| metadata.extend_from_slice(row_group));
        metadata.extend_from_slice(&[0x28, 0x01, b'c', 0x00]);
        let len = u32::try_from(metadata.len()).unwrap();
        [&[b'i'; 17][..], &metadata, &len.to_le_bytes(), b"PAR1"].concat()
    }

    #[test]
    fn the_parts_of_a_row_group_are_found() {
        let footer_of_one = footer(&[&ROW_GROUP[..31]]);
        let parts = RowGroupParts::of(&footer_of_one).unwrap();
        assert_eq!(parts, RowGroupParts { column_indexes: 0..10, offset_indexes: 10..17, metadata: 29..60 });
        assert_eq!(footer_of_one[parts.metadata], ROW_GROUP[..31]);
        for wrong in [&footer(&[])[..], &footer(&[&[0], &[0]]), &footer(&[&[0]]), b"PAR1", b"\xff\xff\xff\x7fPAR1", b""]
        {
            assert!(RowGroupParts::of(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_file_is_put_together_around_its_row_groups() {
        let empty = footer(&[]);
        let frame = FileFrame::of(&empty).unwrap();
        let found = [frame.before(64, 15), frame.after().to_vec()].concat();
        let schema = [0x15, 0x02, 0x19, 0x1C, 0x48, 0x01, b's', 0x00];
        assert_eq!(found, [&schema[..], &[0x16, 0x80, 0x01, 0x19, 0xFC, 15, 0x28, 0x01, b'c', 0x00]].concat());
        assert!(FileFrame::of(&footer(&[&ROW_GROUP[..31]])).is_err());
        assert!(FileFrame::of(&empty[..empty.len() - 1]).is_err());
    }
}
