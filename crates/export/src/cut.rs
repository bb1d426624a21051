//! Texts that end early.

/// The beginning of a text, at most so many bytes of it.
pub(crate) fn cut(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_ends_between_letters() {
        assert_eq!(
            [cut("aäb", 1), cut("aäb", 2), cut("aäb", 3), cut("aäb", 9), cut("", 0)],
            ["a", "a", "aä", "aäb", ""]
        );
    }
}
