//! Text from a trace or a path as it can be shown.

use std::borrow::Cow;

/// Characters of a text that are shown; the rest is an ellipsis.
const LONGEST: usize = 2000;

/// Text from a trace or a path as it can be shown on one line: nothing in it moves the cursor, ends the line or turns
/// what follows around, and it ends.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST && !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let safe = text.chars().map(|c| if is_unsafe(c) { char::REPLACEMENT_CHARACTER } else { c });
    cut(safe, LONGEST).into()
}

/// The first characters, with an ellipsis in the place of the last of them where there are more.
pub fn cut(mut text: impl Iterator<Item = char>, most: usize) -> String {
    let mut shown: String = text.by_ref().take(most).collect();
    if text.next().is_some() {
        shown.pop();
        shown.push('…');
    }
    shown
}

/// Characters that take no room where they are shown: two names that differ in them alone look alike.
pub fn is_invisible(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{200B}'..='\u{200D}' | '\u{2060}'..='\u{2064}')
}

/// Control characters, line and paragraph separators, and marks that change the direction of text.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_stay_away_from_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\n"), "a\u{fffd}[31mb\u{fffd}");
        assert!(matches!(printable("größe"), Cow::Borrowed("größe")));
        assert_eq!(printable("a\u{202e}lte.exe\u{2069}\u{2028}\u{200f}"), "a\u{fffd}lte.exe\u{fffd}\u{fffd}\u{fffd}");
    }

    #[test]
    fn a_text_without_end_ends() {
        let shown = printable(&"é".repeat(70_000)).into_owned();
        assert_eq!((shown.chars().count(), shown.ends_with("é…")), (LONGEST, true));
        assert_eq!(printable(&"é".repeat(LONGEST)).chars().count(), LONGEST);
        assert_eq!(cut("abc".chars(), 3), "abc");
        assert_eq!(cut("abcd".chars(), 3), "ab…");
    }
}
