//! The encodings of text files and of 8-bit text in payloads.

use std::borrow::Cow;

/// The text of a file: UTF-16 and UTF-8 by their byte order marks (or the shape of the first `<`), else UTF-8, else
/// code page 1252.
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [b'<', 0, ..] => utf16(bytes, u16::from_le_bytes),
        [0, b'<', ..] => utf16(bytes, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => ansi(rest),
        _ => ansi(bytes),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Cow<'_, str> {
    let (pairs, _) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|&pair| unit(pair));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// 8-bit text: UTF-8, or code page 1252 when it is not.
pub fn ansi(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(windows_1252(bytes)),
    }
}

fn windows_1252(bytes: &[u8]) -> String {
    let mut decoder = encoding_rs::WINDOWS_1252.new_decoder_without_bom_handling();
    let mut text = vec![0; decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(0)];
    let (_, _, written, _) = decoder.decode_to_utf8(bytes, &mut text, true);
    text.truncate(written);
    String::from_utf8(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_of_a_file_reads_alike() {
        let text = "<a v=\"ä€\"/>";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [
            text.as_bytes().to_vec(),
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            [b"\xff\xfe", &little[..]].concat(),
            [b"\xfe\xff", &big[..]].concat(),
            little,
            big,
            b"<a v=\"\xe4\x80\"/>".to_vec(),
        ] {
            assert_eq!(decode(&bytes), text, "{bytes:x?}");
        }
    }
}
