//! Text in the encodings of event payloads, turned into UTF-8.
//!
//! Every function appends to a buffer and returns whether the text is exact; what has no UTF-8 form is replaced.

/// The position of the first aligned NUL unit.
pub(super) fn find_nul_utf16(bytes: &[u8]) -> Option<usize> {
    const LOW: u64 = 0x0001_0001_0001_0001;
    const HIGH: u64 = 0x8000_8000_8000_8000;
    // The usual test for a zero lane; a borrow marks lanes above a zero wrongly, but never without one.
    let has_nul = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word);
        word.wrapping_sub(LOW) & !word & HIGH != 0
    };
    let block_has_nul =
        |block: &[u8; BLOCK]| block.as_chunks().0.iter().fold(0, |any, unit| any | u16::from(*unit == [0, 0])) != 0;
    let skipped = count_before(bytes, block_has_nul);
    let skipped = skipped + count_before(bytes.get(skipped..)?, has_nul);
    let (units, _) = bytes.get(skipped..)?.as_chunks::<2>();
    units.iter().position(|unit| *unit == [0, 0]).map(|unit| skipped + unit * 2)
}

/// The position of the first NUL byte.
pub(super) fn find_nul(bytes: &[u8]) -> Option<usize> {
    let skipped =
        count_before(bytes, |block: &[u8; BLOCK]| block.iter().fold(0, |any, byte| any | u8::from(*byte == 0)) != 0);
    bytes.get(skipped..)?.iter().position(|byte| *byte == 0).map(|byte| skipped + byte)
}

/// Bytes that are looked at together, without a branch between them.
const BLOCK: usize = 16;

/// The bytes of whole blocks before the first that is found.
#[inline]
fn count_before<const N: usize>(bytes: &[u8], is_found: impl Fn(&[u8; N]) -> bool) -> usize {
    let (blocks, _) = bytes.as_chunks::<N>();
    N * blocks.iter().position(is_found).unwrap_or(blocks.len())
}

/// Whether UTF-16LE units can be text: no control characters but those that part lines and words, no half of a pair, no
/// private characters.
pub(super) fn is_plausible_utf16(bytes: &[u8]) -> bool {
    let (units, odd) = bytes.as_chunks::<2>();
    let is_plausible = |character: char| match character {
        '\t' | '\r' | '\n' => true,
        '\u{e000}'..='\u{f8ff}' | '\u{fffe}' | '\u{ffff}' => false,
        other => !other.is_control(),
    };
    let mut characters = char::decode_utf16(units.iter().map(|unit| u16::from_le_bytes(*unit)));
    odd.is_empty() && characters.all(|character| character.is_ok_and(is_plausible))
}

/// UTF-16LE; unpaired surrogates become U+FFFD, as does half a unit at the end.
pub(super) fn push_utf16(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    out.reserve(bytes.len() / 2);
    let mut rest = bytes;
    while let Some(text) = take_ascii::<32, 16>(&mut rest) {
        out.extend_from_slice(&text);
    }
    if let Some(text) = take_ascii::<16, 8>(&mut rest) {
        out.extend_from_slice(&text);
    }
    if let Some(text) = take_ascii::<8, 4>(&mut rest) {
        out.extend_from_slice(&text);
    }
    while let Some((&[low, high], behind)) = rest.split_first_chunk::<2>() {
        if high != 0 || low >= 0x80 {
            return push_any_utf16(rest, out);
        }
        out.push(low);
        rest = behind;
    }
    rest.is_empty() || push_any_utf16(rest, out)
}

/// The first `BYTES` bytes as so many characters, where these are ASCII.
#[inline]
fn take_ascii<const BYTES: usize, const UNITS: usize>(rest: &mut &[u8]) -> Option<[u8; UNITS]> {
    let (chunk, behind) = rest.split_first_chunk::<BYTES>()?;
    let (units, _) = chunk.as_chunks::<2>();
    if units.iter().fold(0, |all, unit| all | u16::from_le_bytes(*unit)) >= 0x80 {
        return None;
    }
    *rest = behind;
    Some(std::array::from_fn(|unit| units[unit][0]))
}

fn push_any_utf16(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    let (units, odd) = bytes.as_chunks::<2>();
    let mut exact = true;
    let mut push = |character: char| out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    for character in char::decode_utf16(units.iter().map(|unit| u16::from_le_bytes(*unit))) {
        exact &= character.is_ok();
        push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    if !odd.is_empty() {
        push(char::REPLACEMENT_CHARACTER);
        exact = false;
    }
    exact
}

/// 8-bit text: UTF-8 where it is that. What is not: U+FFFD for the faulty bytes when the text is known to be UTF-8,
/// else all of it as code page 1252.
pub(super) fn push_ansi(bytes: &[u8], known_utf8: bool, out: &mut Vec<u8>) -> bool {
    if std::str::from_utf8(bytes).is_ok() {
        out.extend_from_slice(bytes);
        return true;
    }
    if known_utf8 {
        for chunk in bytes.utf8_chunks() {
            out.extend_from_slice(chunk.valid().as_bytes());
            if !chunk.invalid().is_empty() {
                out.extend_from_slice("\u{fffd}".as_bytes());
            }
        }
    } else {
        push_code_page_1252(bytes, out);
    }
    false
}

/// Every byte of the code page has a character, of 3 bytes at most in UTF-8.
fn push_code_page_1252(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + bytes.len() * 3, 0);
    let mut decoder = encoding_rs::WINDOWS_1252.new_decoder_without_bom_handling();
    let (_, _, written, _) = decoder.decode_to_utf8(bytes, &mut out[start..], true);
    out.truncate(start + written);
}

/// Bytes as hexadecimal digits.
pub(super) fn push_hex(bytes: &[u8], out: &mut Vec<u8>) {
    push_digits(bytes, b"0123456789abcdef", out);
}

/// The same with capital letters.
pub(super) fn push_upper_hex(bytes: &[u8], out: &mut Vec<u8>) {
    push_digits(bytes, b"0123456789ABCDEF", out);
}

fn push_digits(bytes: &[u8], digits: &[u8; 16], out: &mut Vec<u8>) {
    for byte in bytes {
        out.extend_from_slice(&[digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn utf16(units: &[u16]) -> Vec<u8> {
        units.iter().flat_map(|unit| unit.to_le_bytes()).collect()
    }

    #[test]
    fn other_values_are_no_plausible_text() {
        let units = |units: &[u16]| units.iter().flat_map(|unit| unit.to_le_bytes()).collect::<Vec<u8>>();
        for text in ["", "C:\\x", "a\tb\r\n", "\u{20ac}\u{1f600}\u{4e2d}\u{fffd}"] {
            assert!(is_plausible_utf16(&units(&text.encode_utf16().collect::<Vec<_>>())), "{text}");
        }
        for unit in [0x19, 0x7f, 0x9f, 0xd800, 0xdc00, 0xe000, 0xf8ff, 0xffff, 0] {
            assert!(!is_plausible_utf16(&units(&[0x41, unit])), "{unit:#x}");
        }
        assert!(!is_plausible_utf16(b"A\0B"));
    }

    #[test]
    fn utf16_becomes_utf8() {
        let table: [(&[u16], &str, bool); 6] = [
            (&[], "", true),
            (&[0x41, 0x00], "A\0", true),
            (&[0xe4, 0x20ac, 0xd83d, 0xde00], "ä€😀", true),
            (&[0x41, 0xd800, 0x42], "A\u{fffd}B", false),
            (&[0xdc00], "\u{fffd}", false),
            (&[0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0xd83d], "123456789\u{fffd}", false),
        ];
        for (units, text, exact) in table {
            let mut out = Vec::new();
            assert_eq!(push_utf16(&utf16(units), &mut out), exact, "{text}");
            assert_eq!(out, text.as_bytes());
        }
        let mut out = Vec::new();
        assert!(!push_utf16(&[0x41, 0x00, 0x42], &mut out));
        assert_eq!(out, "A\u{fffd}".as_bytes());
    }

    #[test]
    fn eight_bit_text_is_utf8_or_code_page_1252() {
        let table: [(&[u8], bool, &str, bool); 4] = [
            (b"plain", false, "plain", true),
            ("h\u{e4}".as_bytes(), false, "hä", true),
            (b"\x80 h\xe4", false, "€ hä", false),
            (b"h\xe4", true, "h\u{fffd}", false),
        ];
        for (bytes, known, text, exact) in table {
            let mut out = Vec::new();
            assert_eq!(push_ansi(bytes, known, &mut out), exact, "{text}");
            assert_eq!(out, text.as_bytes());
        }
    }

    #[test]
    fn bytes_become_digits() {
        let mut out = Vec::new();
        push_hex(&[0x00, 0x9f, 0xe1], &mut out);
        assert_eq!(out, b"009fe1");
    }

    proptest! {
        #[test]
        fn utf16_agrees_with_the_standard_library(units in proptest::collection::vec(
            prop_oneof![40 => 0u16..0x80, 1 => any::<u16>()], 0..80))
        {
            let mut out = Vec::new();
            let exact = push_utf16(&utf16(&units), &mut out);
            prop_assert_eq!(std::str::from_utf8(&out).unwrap(), String::from_utf16_lossy(&units));
            prop_assert_eq!(exact, String::from_utf16(&units).is_ok());
        }

        #[test]
        fn the_first_nul_is_found(bytes in proptest::collection::vec(prop_oneof![40 => 1u8..=255, 1 => Just(0)], 0..80)) {
            prop_assert_eq!(find_nul(&bytes), bytes.iter().position(|&byte| byte == 0));
        }

        #[test]
        fn the_first_nul_unit_is_found(units in proptest::collection::vec(
            prop_oneof![1 => Just(0u16), 40 => prop_oneof![Just(0x100u16), Just(1), Just(0x8000), any::<u16>()]], 0..60), odd in any::<bool>())
        {
            let mut bytes = utf16(&units);
            if odd {
                bytes.push(0);
            }
            let expected = units.iter().position(|&unit| unit == 0).map(|unit| unit * 2);
            prop_assert_eq!(find_nul_utf16(&bytes), expected);
        }
    }
}
