//! The compressor against the published vectors and a decoder written from the rules alone.

use crate::hex;
use crate::synth::Random;
use crate::synth::xpress::compress;

/// Plain LZ77 (MS-XCA 2.4), for streams known to be well formed.
pub(crate) fn expand(input: &[u8], length: usize) -> Vec<u8> {
    let mut reader = Reader { input, at: 0, half_byte: None };
    let mut out = Vec::new();
    while reader.at < input.len() {
        let flags = u32::from_le_bytes(reader.take());
        for bit in (0..32).rev() {
            if reader.at == input.len() {
                break;
            }
            if flags >> bit & 1 == 0 {
                out.push(u8::from_le_bytes(reader.take()));
            } else {
                let (distance, length) = reader.copy();
                (0..length).for_each(|_| out.push(out[out.len() - distance]));
            }
        }
    }
    assert_eq!(out.len(), length, "the output ends with the stream");
    out
}

struct Reader<'a> {
    input: &'a [u8],
    at: usize,
    half_byte: Option<u8>,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        self.at += N;
        self.input[self.at - N..self.at].try_into().expect("N bytes")
    }

    fn copy(&mut self) -> (usize, usize) {
        let symbol = usize::from(u16::from_le_bytes(self.take()));
        let length = match symbol & 7 {
            7 => self.long_length(),
            short => short,
        };
        ((symbol >> 3) + 1, length + 3)
    }

    fn long_length(&mut self) -> usize {
        let nibble = if let Some(byte) = self.half_byte.take() {
            byte >> 4
        } else {
            let [byte] = self.take();
            self.half_byte = Some(byte);
            byte & 15
        };
        match nibble {
            15 => match u8::from_le_bytes(self.take()) {
                255 => match u16::from_le_bytes(self.take()) {
                    0 => u32::from_le_bytes(self.take()) as usize,
                    word => word.into(),
                },
                byte => usize::from(byte) + 22,
            },
            nibble => usize::from(nibble) + 7,
        }
    }
}

#[track_caller]
fn round_trip(input: &[u8]) -> usize {
    let packed = compress(input);
    assert!(expand(&packed, input.len()) == input, "expands to the input of {} bytes", input.len());
    packed.len()
}

#[test]
fn published_vectors() {
    let letters = b"abcdefghijklmnopqrstuvwxyz";
    assert_eq!(compress(letters), [&hex("3f000000")[..], letters].concat());
    assert_eq!(compress(&b"abc".repeat(100)), hex("ffffff1f 616263 1700 0fff 2601"));
}

#[test]
fn lengths_at_the_edges_of_their_encodings() {
    // One literal, then a copy of it at distance 1: length - 3 in the low bits, the rest elsewhere.
    let cases = [
        (3, "ffffff7f 00 0000"),
        (9, "ffffff7f 00 0600"),
        (10, "ffffff7f 00 0700 00"),
        (24, "ffffff7f 00 0700 0e"),
        (25, "ffffff7f 00 0700 0f 00"),
        (279, "ffffff7f 00 0700 0f fe"),
        (280, "ffffff7f 00 0700 0f ff 1501"),
        (65_538, "ffffff7f 00 0700 0f ff ffff"),
        (65_539, "ffffff7f 00 0700 0f ff 0000 00000100"),
    ];
    for (length, expected) in cases {
        assert_eq!(compress(&vec![0; 1 + length]), hex(expected), "a copy of {length} bytes");
        round_trip(&vec![0; 1 + length]);
    }
}

#[test]
fn two_long_copies_share_a_byte() {
    let input = [&[1; 12][..], &[2; 13]].concat();
    // 11 ones at distance 1 -> nibble 1, 12 twos at distance 1 -> nibble 2.
    assert_eq!(compress(&input), hex("ffffff5f 01 0700 21 02 0700"));
    assert_eq!(round_trip(&input), 11);
}

#[test]
fn a_full_word_of_flags_is_followed_by_an_unused_one() {
    let input: Vec<u8> = (0..32).collect();
    assert_eq!(compress(&input), [&[0; 4][..], &input, &[0xFF; 4]].concat());
}

#[test]
fn distances_end_with_the_window() {
    let apart = |gap: usize| [&b"abcd"[..], &vec![0; gap - 4], b"abcd"].concat();
    // Flags, "abcd" and a zero, a long copy of it, then "abcd" as one copy or as four literals.
    assert_eq!(round_trip(&apart(8192)), 4 + 5 + 6 + 2);
    assert_eq!(round_trip(&apart(8193)), 4 + 5 + 6 + 4);
}

#[test]
fn anything_comes_back() {
    let mut random = Random::new(1);
    for length in (0..300).chain([4095, 70_000]) {
        let range = 1 + random.below(20_u8);
        round_trip(&(0..length).map(|_| random.below(range)).collect::<Vec<u8>>());
    }
}
