//! Thrift's compact protocol, as far as a Parquet footer can be cut apart and put together without knowing all of it.
//!
//! Field numbers are those of `parquet.thrift` in the format's repository, the encoding is that of
//! `thrift-compact-protocol.md` in Thrift's.

use parquet::errors::{ParquetError, Result};

/// Nesting at which a value counts as damaged; a footer has a handful of levels.
const MAX_DEPTH: u32 = 32;

// The type of a field or element, the lower half of its header.
const BOOL_TRUE: u8 = 1;
const BOOL_FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const STRUCT: u8 = 12;

/// Where a field of a struct lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// Its number.
    pub(super) id: i16,
    kind: u8,
    /// Of its header.
    pub(super) start: usize,
    /// Of its value.
    pub(super) value: usize,
}

/// Reads from the front of a slice.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// A reader that starts at position `at`.
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Reader { bytes, at }
    }

    /// Where it is.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = *self.bytes.get(self.at).ok_or_else(damaged)?;
        self.at += 1;
        Ok(byte)
    }

    fn unsigned(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(damaged())
    }

    /// The value of an i16, i32 or i64.
    pub(super) fn integer(&mut self) -> Result<i64> {
        let value = self.unsigned()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// The header of the next field, given the number of the one before (0 for the first); `None` at the end.
    pub(super) fn field(&mut self, before: i16) -> Result<Option<Field>> {
        let start = self.at;
        let header = self.byte()?;
        if header == 0 {
            return Ok(None);
        }
        let id = match header >> 4 {
            0 => i16::try_from(self.integer()?).map_err(|_| damaged())?,
            delta => before.checked_add(i16::from(delta)).ok_or_else(damaged)?,
        };
        Ok(Some(Field { id, kind: header & 0x0F, start, value: self.at }))
    }

    /// The header of a list: how many elements of which type.
    pub(super) fn list(&mut self) -> Result<(usize, u8)> {
        let header = self.byte()?;
        let len = match header >> 4 {
            15 => usize::try_from(self.unsigned()?).map_err(|_| damaged())?,
            len => usize::from(len),
        };
        Ok((len, header & 0x0F))
    }

    /// Passes over the value of a field.
    pub(super) fn skip(&mut self, field: Field) -> Result<()> {
        self.skip_field(field, 0)
    }

    fn skip_field(&mut self, field: Field, depth: u32) -> Result<()> {
        match field.kind {
            // A field of type bool has its value in its type.
            BOOL_TRUE | BOOL_FALSE => Ok(()),
            kind => self.skip_value(kind, depth),
        }
    }

    /// Passes over a struct.
    pub(super) fn skip_struct(&mut self) -> Result<()> {
        self.skip_value(STRUCT, 0)
    }

    fn skip_value(&mut self, kind: u8, depth: u32) -> Result<()> {
        if depth > MAX_DEPTH {
            return Err(damaged());
        }
        match kind {
            BOOL_TRUE..=BYTE => self.skip_bytes(1),
            I16..=I64 => self.unsigned().map(drop),
            DOUBLE => self.skip_bytes(8),
            BINARY => {
                let len = self.unsigned()?;
                self.skip_bytes(len)
            }
            LIST | SET => {
                let (len, kind) = self.list()?;
                (0..len).try_for_each(|_| self.skip_value(kind, depth + 1))
            }
            STRUCT => {
                let mut before = 0;
                while let Some(field) = self.field(before)? {
                    before = field.id;
                    self.skip_field(field, depth + 1)?;
                }
                Ok(())
            }
            _ => Err(damaged()),
        }
    }

    fn skip_bytes(&mut self, len: u64) -> Result<()> {
        let left = self.bytes.len() - self.at;
        let len = usize::try_from(len).ok().filter(|&len| len <= left).ok_or_else(damaged)?;
        self.at += len;
        Ok(())
    }
}

/// What is no compact Thrift, or not what belongs there.
pub(super) fn damaged() -> ParquetError {
    ParquetError::General("the metadata of a row group is damaged".to_owned())
}

fn put_unsigned(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// Writes the value of an i64.
pub(super) fn put_integer(out: &mut Vec<u8>, value: i64) {
    put_unsigned(out, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

/// Writes the header of a list of structs.
pub(super) fn put_struct_list(out: &mut Vec<u8>, len: usize) {
    if let Ok(short @ 0..15) = u8::try_from(len) {
        out.push(short << 4 | STRUCT);
    } else {
        out.push(15 << 4 | STRUCT);
        put_unsigned(out, len as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_zigzag_varints() {
        let t = |value: i64, expected: &[u8]| {
            let mut out = Vec::new();
            put_integer(&mut out, value);
            assert_eq!(out, expected, "{value}");
            assert_eq!(Reader::new(&out, 0).integer().unwrap(), value);
        };
        t(0, &[0]);
        t(-1, &[1]);
        t(1, &[2]);
        t(63, &[0x7E]);
        t(64, &[0x80, 0x01]);
        t(-65, &[0x81, 0x01]);
        t(i64::MAX, &[0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]);
        t(i64::MIN, &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]);
    }

    #[test]
    fn long_lists_have_their_length_behind_the_header() {
        let t = |len: usize, expected: &[u8]| {
            let mut out = Vec::new();
            put_struct_list(&mut out, len);
            assert_eq!(out, expected, "{len}");
            assert_eq!(Reader::new(&out, 0).list().unwrap(), (len, STRUCT));
        };
        t(0, &[0x0C]);
        t(14, &[0xEC]);
        t(15, &[0xFC, 15]);
        t(300, &[0xFC, 0xAC, 0x02]);
    }

    #[test]
    fn values_of_every_type_are_passed_over() {
        // 1: true, 2: byte, 3: i16, 4: i32, 5: i64, 6: double, 7: binary, 8: list of binary, 9: list of bool,
        // 30 (long form): struct with field 1: false; then field 31: i32.
        let bytes = [
            &[0x11, 0x13, 0xFF, 0x14, 0x80, 0x01, 0x15, 0x02, 0x16, 0x03, 0x17, 0, 0, 0, 0, 0, 0, 0, 0][..],
            &[0x18, 0x02, 0, 0, 0x19, 0x28, 0x01, 0, 0x00, 0x19, 0x31, 1, 2, 1, 0x0C, 60, 0x12, 0, 0x15, 4, 0],
        ]
        .concat();
        let mut reader = Reader::new(&bytes, 0);
        let (mut ids, mut before) = (Vec::new(), 0);
        while let Some(field) = reader.field(before).unwrap() {
            before = field.id;
            ids.push(field.id);
            reader.skip(field).unwrap();
        }
        assert_eq!(ids, [1, 2, 3, 4, 5, 6, 7, 8, 9, 30, 31]);
        assert_eq!(reader.at(), bytes.len());
        let mut whole = Reader::new(&bytes, 0);
        whole.skip_struct().unwrap();
        assert_eq!(whole.at(), bytes.len());
        for cut in 0..bytes.len() {
            assert!(Reader::new(&bytes[..cut], 0).skip_struct().is_err(), "{cut}");
        }
    }

    #[test]
    fn damage_is_an_error() {
        let nested = [0x1C; 100];
        let endless = [0xFF; 11];
        let long_binary = [0x18, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0];
        for bytes in [&nested[..], &endless, &long_binary, &[0x1D, 0, 0], &[0x10, 0]] {
            assert!(Reader::new(bytes, 0).skip_struct().is_err(), "{bytes:?}");
        }
        assert!(Reader::new(&endless, 0).integer().is_err());
    }
}
