//! Numbers of a few bits each, packed, and numbers of variable length.

/// Appends values of `width` bits, the lowest bits first; eight at a time, what is left over of the last eight is left out.
pub(super) fn pack<T: Copy + Into<u64>>(values: &[T], width: u32, out: &mut Vec<u8>) {
    macro_rules! by_width {
        ($($width:literal)*) => {
            match width {
                $($width => pack_width::<T, $width>(values, out),)*
                _ => {}
            }
        };
    }
    by_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
        33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64);
}

fn pack_width<T: Copy + Into<u64>, const WIDTH: usize>(values: &[T], out: &mut Vec<u8>) {
    let (groups, start) = (values.as_chunks::<8>().0, out.len());
    out.resize(start + groups.len() * WIDTH, 0);
    let places = out[start..].as_chunks_mut::<WIDTH>().0;
    groups.iter().zip(places).for_each(|(group, place)| *place = packed(group));
}

/// Eight values take as many bytes as one has bits.
#[inline]
fn packed<T: Copy + Into<u64>, const WIDTH: usize>(group: &[T; 8]) -> [u8; WIDTH] {
    let mut bytes = [0; WIDTH];
    let (mut word, mut filled, mut at) = (0u64, 0, 0);
    for &value in group {
        let value: u64 = value.into();
        word |= value << filled;
        filled += WIDTH;
        if filled >= 64 {
            bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
            at += 8;
            filled -= 64;
            word = if filled == 0 { 0 } else { value >> (WIDTH - filled) };
        }
    }
    bytes[at..].copy_from_slice(&word.to_le_bytes()[..WIDTH - at]);
    bytes
}

/// The bits that the number takes, 0 for 0.
pub(super) fn width_of(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

/// Appends seven bits a byte, the lowest first.
pub(super) fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// Appends a signed number, small ones of either sign in few bytes.
pub(super) fn put_zigzag(value: i64, out: &mut Vec<u8>) {
    put_varint(((value << 1) ^ (value >> 63)).cast_unsigned(), out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_packed_from_the_lowest_bit_on() {
        let t = |values: &[u64], width, expected: &[u8]| {
            let mut out = vec![9];
            pack(values, width, &mut out);
            assert_eq!(out[1..], *expected, "{width}");
        };
        t(&[1, 0, 1, 1, 0, 0, 0, 1], 1, &[0b1000_1101]);
        // The example of the format's documentation: 0 to 7 in three bits.
        t(&[0, 1, 2, 3, 4, 5, 6, 7], 3, &[0b1000_1000, 0b1100_0110, 0b1111_1010]);
        t(&[1, 2, 3, 4, 5, 6, 7, 0x89], 8, &[1, 2, 3, 4, 5, 6, 7, 0x89]);
        t(&[u64::MAX; 8], 64, &[0xff; 64]);
        t(&[7; 8], 0, &[]);
        t(&[7; 7], 3, &[]);
        let mut wide = [0u8; 57];
        wide[0] = 1;
        wide[56] = 0x80;
        t(&[1, 0, 0, 0, 0, 0, 0, 1 << 56], 57, &wide);
    }

    #[test]
    fn numbers_of_variable_length() {
        let t = |value, expected: &[u8]| {
            let mut out = Vec::new();
            put_zigzag(value, &mut out);
            assert_eq!(out, expected, "{value}");
        };
        t(0, &[0]);
        t(-1, &[1]);
        t(1, &[2]);
        t(-64, &[0x7f]);
        t(64, &[0x80, 1]);
        t(i64::MIN, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]);
    }
}
