//! Long values in statistics: cut to bounds that are no longer values themselves.

/// The longest beginning of at most `most` bytes; of a text, of whole characters.
pub(super) fn cut_min(value: &[u8], most: usize, is_text: bool) -> Option<Vec<u8>> {
    match str::from_utf8(value) {
        Ok(text) if is_text => Some(text.as_bytes()[..boundary(text, most)?].to_vec()),
        _ => value.get(..most).map(<[u8]>::to_vec),
    }
}

/// The same, raised in its last place that can be, so that it lies above all values that begin so. `None`: it cannot be.
pub(super) fn cut_max(value: &[u8], most: usize, is_text: bool) -> Option<Vec<u8>> {
    match str::from_utf8(value) {
        Ok(text) if is_text => raised_text(text.get(..boundary(text, most)?)?),
        _ => raised_bytes(value.get(..most)?),
    }
}

/// Where the last character within so many bytes ends.
fn boundary(text: &str, most: usize) -> Option<usize> {
    (1..=most).rfind(|&end| text.is_char_boundary(end))
}

/// The last character that has a next one of as many bytes becomes that one; those behind it go.
fn raised_text(text: &str) -> Option<Vec<u8>> {
    text.char_indices().rev().find_map(|(at, character)| {
        let next = char::from_u32(u32::from(character) + 1)?;
        (next.len_utf8() == character.len_utf8()).then(|| {
            let mut raised = String::from(&text[..at]);
            raised.push(next);
            raised.into_bytes()
        })
    })
}

/// The number that follows, of as many bytes.
fn raised_bytes(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut raised = bytes.to_vec();
    for byte in raised.iter_mut().rev() {
        *byte = byte.wrapping_add(1);
        if *byte != 0 {
            return Some(raised);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut_to_bounds() {
        let t = |value: &[u8], is_text, min: Option<&[u8]>, max: Option<&[u8]>| {
            let found = (cut_min(value, 3, is_text), cut_max(value, 3, is_text));
            assert_eq!((found.0.as_deref(), found.1.as_deref()), (min, max), "{value:?}");
        };
        t(b"abcd", true, Some(b"abc"), Some(b"abd"));
        t("ab\u{7f}d".as_bytes(), true, Some(b"ab\x7f"), Some(b"ac"));
        t("a\u{e9}\u{e9}".as_bytes(), true, Some("a\u{e9}".as_bytes()), Some("a\u{ea}".as_bytes()));
        t("\u{10ffff}".as_bytes(), true, None, None);
        t("\u{d7ff}a".as_bytes(), true, Some("\u{d7ff}".as_bytes()), None);
        t(b"a\xff\xff\xff", false, Some(b"a\xff\xff"), Some(b"b\0\0"));
        t(b"\xff\xff\xff\xff", false, Some(b"\xff\xff\xff"), None);
    }
}
