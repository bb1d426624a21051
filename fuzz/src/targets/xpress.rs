//! Expanding buffers, held against a decoder that is slow and plain.

use etl::buffer::xpress::{Expansion, expand};

use crate::bytes::Bytes;
use crate::digest::Digest;
use crate::oracle;
use crate::synth;

/// Expands the bytes behind the first two, which say how long the output is.
///
/// Oracle: the bytes, and whether all of them are there, are those of a decoder written from the description of the
/// format (MS-XCA 2.4) one item at a time.
pub fn expanded(input: &[u8], digest: &mut Digest) {
    let mut bytes = Bytes::new(input);
    let wanted = usize::from(bytes.u16());
    let stream = bytes.rest();
    let mut output = vec![0xA5; wanted];
    let Expansion { consumed, written, result } = expand(stream, &mut output);
    assert!(consumed <= stream.len() && written <= wanted, "expand: {consumed} and {written} of what is there");
    let mut plain = Vec::new();
    let is_whole = plain_expand(stream, wanted, &mut plain).is_some();
    oracle::same(&(output[..written].to_vec(), result.is_ok()), &(plain, is_whole));
    assert!(result.is_err() || written == wanted, "expand: a whole output has all its bytes");
    digest.add((consumed, written, result.is_ok()));
}

/// Compresses the bytes and expands them.
///
/// Oracle: read-back equality, with every byte of the stream used.
pub fn round_trip(input: &[u8], digest: &mut Digest) {
    let stream = synth::xpress::compress(input);
    let mut output = vec![0; input.len()];
    let Expansion { consumed, written, result } = expand(&stream, &mut output);
    assert_eq!((written, result), (input.len(), Ok(())), "expand: what was compressed is whole");
    oracle::same(&output.as_slice(), &input);
    assert!(input.is_empty() || consumed == stream.len(), "expand: {consumed} of {} bytes used", stream.len());
    digest.add(stream.len());
}

/// The decoder as the format is described: a word of 32 flags, from the most significant on; for each 0 a literal, for
/// each 1 a match. Appends up to `wanted` bytes; `None` where the stream does not make just so many.
fn plain_expand(stream: &[u8], wanted: usize, output: &mut Vec<u8>) -> Option<()> {
    let mut at = 0;
    let mut next = |count: usize| {
        let bytes = stream.get(at..at + count)?;
        at += count;
        Some(bytes.iter().rev().fold(0_usize, |number, &byte| number << 8 | usize::from(byte)))
    };
    // The half of a byte that the next long length takes.
    let mut half: Option<usize> = None;
    let (mut flags, mut left) = (0, 0);
    while output.len() < wanted {
        if left == 0 {
            (flags, left) = (next(4)?, 32);
        }
        left -= 1;
        if flags >> left & 1 == 0 {
            output.push(next(1)? as u8);
            continue;
        }
        let word = next(2)?;
        let distance = (word >> 3) + 1;
        let mut length = word & 7;
        if length == 7 {
            length = if let Some(high) = half.take() {
                high
            } else {
                let byte = next(1)?;
                half = Some(byte >> 4);
                byte & 15
            };
            if length == 15 {
                length = next(1)?;
                if length == 255 {
                    length = next(2)?;
                    if length == 0 {
                        length = next(4)?;
                    }
                    length = length.checked_sub(15 + 7)?;
                }
                length += 15;
            }
            length += 7;
        }
        length += 3;
        for _ in 0..length {
            if output.len() == wanted {
                return None;
            }
            output.push(*output.get(output.len().checked_sub(distance)?)?);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(stream: &[u8], wanted: usize, expected: Option<&[u8]>) {
        let mut output = Vec::new();
        let whole = plain_expand(stream, wanted, &mut output);
        assert_eq!(whole.map(|()| output.as_slice()), expected);
    }

    #[test]
    fn the_plain_decoder_expands_the_published_example() {
        // MS-XCA 3.1: the alphabet, all literals; and "abc" a hundred times, a match of 297 bytes at distance 3.
        let mut alphabet = vec![0x3F, 0, 0, 0];
        alphabet.extend(b'a'..=b'z');
        t(&alphabet, 26, Some(b"abcdefghijklmnopqrstuvwxyz"));
        let abc = [0xFF, 0xFF, 0xFF, 0x1F, 0x61, 0x62, 0x63, 0x17, 0x00, 0x0F, 0xFF, 0x26, 0x01];
        t(&abc, 300, Some(&b"abc".repeat(100)));
        t(&abc, 301, None);
        t(&abc[..12], 300, None);
    }
}
