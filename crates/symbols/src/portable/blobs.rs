//! The heap of blobs, and the numbers in them.

use crate::bytes::{Bytes, from};

/// The stream `#Blob`: blobs that each begin with their length, named by where they begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blobs<'a>(pub(super) &'a [u8]);

impl<'a> Blobs<'a> {
    /// The blob of an index; that of 0 is empty. `None` where it does not lie in the heap.
    pub(super) fn blob(self, index: u32) -> Option<&'a [u8]> {
        if index == 0 {
            return Some(&[]);
        }
        let mut bytes = from(self.0, index)?;
        let len = unsigned(&mut bytes)?;
        bytes.take_u32(len)
    }
}

/// A compressed unsigned number: 7, 14 or 29 bits in one, two or four bytes, of which the first ones tell how many.
pub(super) fn unsigned(bytes: &mut Bytes<'_>) -> Option<u32> {
    compressed(bytes).map(|(value, _)| value)
}

/// A compressed signed number: rotated to the left by a bit, so that the sign is the lowest.
pub(super) fn signed(bytes: &mut Bytes<'_>) -> Option<i32> {
    let (value, half) = compressed(bytes)?;
    let rest = i32::try_from(value >> 1).ok()?;
    if value & 1 == 0 { Some(rest) } else { rest.checked_sub(half) }
}

/// A number, and half of how many there are in so many bytes.
fn compressed(bytes: &mut Bytes<'_>) -> Option<(u32, i32)> {
    let first = bytes.u8()?;
    match first {
        0..0x80 => Some((first.into(), 1 << 6)),
        0x80..0xC0 => {
            let value = u16::from_be_bytes([first & 0x3F, bytes.u8()?]);
            Some((value.into(), 1 << 13))
        }
        0xC0..0xE0 => {
            let value = u32::from_be_bytes([first & 0x1F, bytes.u8()?, bytes.u8()?, bytes.u8()?]);
            Some((value, 1 << 28))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsigned_numbers_are_those_of_the_standard() {
        // ECMA-335, II.23.2.
        let cases: [(&[u8], Option<u32>); 12] = [
            (&[0x03], Some(0x03)),
            (&[0x7F], Some(0x7F)),
            (&[0x80, 0x80], Some(0x80)),
            (&[0xAE, 0x57], Some(0x2E57)),
            (&[0xBF, 0xFF], Some(0x3FFF)),
            (&[0xC0, 0x00, 0x40, 0x00], Some(0x4000)),
            (&[0xDF, 0xFF, 0xFF, 0xFF], Some(0x1FFF_FFFF)),
            (&[0xE0, 0, 0, 0], None),
            (&[0xFF], None),
            (&[0x80], None),
            (&[0xC0, 0, 0], None),
            (&[], None),
        ];
        for (bytes, expected) in cases {
            assert_eq!(unsigned(&mut Bytes(bytes)), expected, "{bytes:X?}");
        }
    }

    #[test]
    fn signed_numbers_are_those_of_the_standard() {
        let cases: [(&[u8], i32); 8] = [
            (&[0x06], 3),
            (&[0x7B], -3),
            (&[0x80, 0x80], 64),
            (&[0x01], -64),
            (&[0xC0, 0x00, 0x40, 0x00], 8192),
            (&[0x80, 0x01], -8192),
            (&[0xDF, 0xFF, 0xFF, 0xFE], 268_435_455),
            (&[0xC0, 0x00, 0x00, 0x01], -268_435_456),
        ];
        for (bytes, expected) in cases {
            assert_eq!(signed(&mut Bytes(bytes)), Some(expected), "{bytes:X?}");
        }
    }

    #[test]
    fn a_blob_lies_in_the_heap_or_is_none() {
        let heap = Blobs(&[0, 2, b'a', b'b', 3, b'c']);
        assert_eq!(heap.blob(0), Some(&[][..]));
        assert_eq!(heap.blob(1), Some(&b"ab"[..]));
        assert_eq!([heap.blob(4), heap.blob(6), heap.blob(u32::MAX)], [None; 3]);
        assert_eq!(Blobs(&[]).blob(0), Some(&[][..]));
    }
}
