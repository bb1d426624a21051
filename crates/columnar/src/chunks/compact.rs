//! Structures in the compact protocol of Thrift, in which Parquet states its metadata.
//!
//! A field begins with a byte: the difference to the number of the field before it, and the type. Numbers are of variable
//! length, small ones of either sign in few bytes.

use super::bits::{put_varint, put_zigzag};

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;
/// Of items; as those of fields they have a type for each value.
const BOOL: u8 = FALSE;

/// A structure that grows field by field, in the order of their numbers.
#[derive(Debug)]
pub(crate) struct CompactStruct<'a> {
    out: &'a mut Vec<u8>,
    /// The number of the last field.
    last: u8,
}

impl<'a> CompactStruct<'a> {
    /// Begins a structure at the end of `out`.
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        CompactStruct::behind(0, out)
    }

    /// Goes on with a structure at the end of `out` whose last field has this number.
    pub(crate) fn behind(last: u8, out: &'a mut Vec<u8>) -> Self {
        CompactStruct { out, last }
    }

    fn field(&mut self, number: u8, data_type: u8) {
        if let Some(step @ 1..=15) = number.checked_sub(self.last) {
            self.out.push(step << 4 | data_type);
        } else {
            self.out.push(data_type);
            put_zigzag(number.into(), self.out);
        }
        self.last = number;
    }

    pub(crate) fn bool(&mut self, number: u8, value: bool) {
        self.field(number, if value { TRUE } else { FALSE });
    }

    pub(crate) fn i16(&mut self, number: u8, value: i16) {
        self.field(number, I16);
        put_zigzag(value.into(), self.out);
    }

    pub(crate) fn i32(&mut self, number: u8, value: i32) {
        self.field(number, I32);
        put_zigzag(value.into(), self.out);
    }

    pub(crate) fn i64(&mut self, number: u8, value: i64) {
        self.field(number, I64);
        put_zigzag(value, self.out);
    }

    pub(crate) fn bytes(&mut self, number: u8, value: &[u8]) {
        self.field(number, BINARY);
        put_bytes(value, self.out);
    }

    /// A structure in this one.
    pub(crate) fn structure(&mut self, number: u8) -> CompactStruct<'_> {
        self.field(number, STRUCT);
        CompactStruct::new(self.out)
    }

    /// A list of structures, each of which `put` appends.
    pub(crate) fn structures<T>(
        &mut self,
        number: u8,
        items: impl ExactSizeIterator<Item = T>,
        mut put: impl FnMut(T, &mut Vec<u8>),
    ) {
        self.list(number, STRUCT, items.len());
        items.for_each(|item| put(item, self.out));
    }

    pub(crate) fn bools(&mut self, number: u8, items: impl ExactSizeIterator<Item = bool>) {
        self.list(number, BOOL, items.len());
        self.out.extend(items.map(|item| if item { TRUE } else { FALSE }));
    }

    pub(crate) fn i32s(&mut self, number: u8, items: impl ExactSizeIterator<Item = i32>) {
        self.list(number, I32, items.len());
        items.for_each(|item| put_zigzag(item.into(), self.out));
    }

    pub(crate) fn i64s(&mut self, number: u8, items: &[i64]) {
        self.list(number, I64, items.len());
        items.iter().for_each(|&item| put_zigzag(item, self.out));
    }

    pub(crate) fn byte_lists<T: AsRef<[u8]>>(&mut self, number: u8, items: impl ExactSizeIterator<Item = T>) {
        self.list(number, BINARY, items.len());
        items.for_each(|item| put_bytes(item.as_ref(), self.out));
    }

    fn list(&mut self, number: u8, of: u8, len: usize) {
        self.field(number, LIST);
        if let Ok(len @ 0..=14) = u8::try_from(len) {
            self.out.push(len << 4 | of);
        } else {
            self.out.push(0xF0 | of);
            put_varint(len as u64, self.out);
        }
    }

    pub(crate) fn end(self) {
        self.out.push(0);
    }
}

fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_every_type() {
        let t = |put: fn(&mut CompactStruct<'_>), expected: &[u8]| {
            let mut out = vec![9];
            let mut fields = CompactStruct::new(&mut out);
            put(&mut fields);
            fields.end();
            assert_eq!(out[1..], *[expected, &[0]].concat());
        };
        t(|fields| fields.bool(1, true), &[0x11]);
        t(|fields| fields.bool(2, false), &[0x22]);
        t(|fields| fields.i16(7, -1), &[0x74, 1]);
        t(|fields| fields.i32(1, 64), &[0x15, 0x80, 1]);
        t(|fields| fields.i64(15, -64), &[0xF6, 0x7F]);
        // Too far from the field before it: the number itself.
        t(|fields| fields.i64(16, 1), &[0x06, 0x20, 2]);
        t(|fields| (1..3).for_each(|number| fields.bytes(number, b"ab")), &[0x18, 2, b'a', b'b', 0x18, 2, b'a', b'b']);
        t(
            |fields| {
                let mut inner = fields.structure(3);
                inner.i32(1, 0);
                inner.end();
                fields.i64(4, 0);
            },
            &[0x3C, 0x15, 0, 0, 0x16, 0],
        );
    }

    #[test]
    fn lists_say_their_length() {
        let t = |put: fn(&mut CompactStruct<'_>), expected: &[u8]| {
            let mut out = Vec::new();
            put(&mut CompactStruct::new(&mut out));
            assert_eq!(out, expected);
        };
        t(|fields| fields.bools(1, [true, false].into_iter()), &[0x19, 0x22, 1, 2]);
        t(|fields| fields.i32s(1, [-1].into_iter()), &[0x19, 0x15, 1]);
        t(|fields| fields.byte_lists(2, ["", "x"].iter()), &[0x29, 0x28, 0, 1, b'x']);
        t(|fields| fields.i64s(1, &[]), &[0x19, 0x06]);
        t(|fields| fields.i64s(1, &[0; 14]), &[&[0x19, 0xE6][..], &[0; 14]].concat());
        t(|fields| fields.i64s(1, &[0; 200]), &[&[0x19, 0xF6, 0xC8, 1][..], &[0; 200]].concat());
        t(|fields| fields.structures(1, [7, 8].into_iter(), |item, out| out.push(item)), &[0x19, 0x2C, 7, 8]);
    }
}
