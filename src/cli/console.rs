//! What goes to the terminal: results to standard output, everything else to standard error.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use serde::Serialize;

use super::whole_file;
use crate::error::{Error, ErrorKind, Result};

/// How much is said on standard error.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Console {
    /// Errors only.
    pub quiet: bool,
    /// More detail.
    pub verbose: bool,
}

impl Console {
    /// Something may be missing, or is not as asked for.
    pub(super) fn warning(self, message: impl Display) {
        self.line(format_args!("warning: {message}"));
    }

    /// One line.
    pub(super) fn line(self, message: impl Display) {
        if !self.quiet {
            to_stderr(&message.to_string());
        }
    }
}

/// A failure.
pub(super) fn error(error: &dyn Display) {
    to_stderr(&format!("error: {error}"));
}

/// A document for other programs, which ends with a line break.
pub(super) fn json(document: &impl Serialize) -> String {
    serde_json::to_string_pretty(document).expect("numbers, texts and keys that are texts are valid JSON") + "\n"
}

/// One line; that nobody listens is no failure.
fn to_stderr(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", printable(line));
}

/// Characters of a text that are shown; the rest is an ellipsis.
const LONGEST: usize = 2000;

/// Text from a trace or a path as it can be shown on one line: nothing in it moves the cursor, ends the line or turns
/// what follows around, and it ends.
pub(super) fn printable(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST && !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let safe = text.chars().map(|c| if is_unsafe(c) { char::REPLACEMENT_CHARACTER } else { c });
    cut(safe, LONGEST).into()
}

/// The first characters, with an ellipsis in the place of the last of them where there are more.
pub(super) fn cut(mut text: impl Iterator<Item = char>, most: usize) -> String {
    let mut shown: String = text.by_ref().take(most).collect();
    if text.next().is_some() {
        shown.pop();
        shown.push('…');
    }
    shown
}

/// Control characters, line and paragraph separators, and marks that change the direction of text.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
}

/// Writes a page to standard output. On a terminal, lines that are too wide for it go on below, indented.
///
/// # Errors
/// As [`to_stdout`].
pub(super) fn page_to_stdout(page: &str) -> Result<()> {
    let stdout = io::stdout();
    let width = stdout.is_terminal().then(|| terminal_size::terminal_size_of(&stdout)).flatten();
    match width {
        Some((width, _)) => to_stdout(&wrapped(page, width.0.into())),
        None => to_stdout(page),
    }
}

/// Indentation of what did not fit on the line above, beside that of the line itself.
const HANGING: usize = 4;

/// The text with no line wider than `width`, where it has blanks to break it at.
fn wrapped(text: &str, width: usize) -> String {
    let mut wrapped = String::with_capacity(text.len());
    for line in text.lines() {
        wrap(line, width, &mut wrapped);
    }
    wrapped
}

fn wrap(line: &str, width: usize, wrapped: &mut String) {
    let indent = line.chars().take_while(|c| *c == ' ').count();
    let (mut rest, mut lead) = (line, 0);
    while lead + rest.chars().count() > width {
        let end = rest.char_indices().nth(width.saturating_sub(lead)).map_or(rest.len(), |(end, _)| end);
        let text = rest.len() - rest.trim_start().len();
        // A word that is wider than the terminal stays whole.
        let Some(blank) = rest[..end]
            .rfind(' ')
            .filter(|blank| *blank > text)
            .or_else(|| rest[text..].find(' ').map(|blank| text + blank))
        else {
            break;
        };
        wrapped.push_str(rest[..blank].trim_end());
        wrapped.push('\n');
        rest = rest[blank..].trim_start();
        lead = (indent + HANGING).min(width / 2);
        wrapped.extend(std::iter::repeat_n(' ', lead));
    }
    wrapped.push_str(rest);
    wrapped.push('\n');
}

/// Writes a report to standard output. A reader that has seen enough is no failure.
///
/// # Errors
/// [`ErrorKind::Output`] when it cannot be written for any other reason.
pub(super) fn to_stdout(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::new(ErrorKind::Output, "cannot write to standard output").caused_by(cause))
        }
        _ => Ok(()),
    }
}

/// Writes a text to a file, which is there whole or not at all, or for `-` to standard output.
///
/// # Errors
/// As [`to_stdout`].
pub(super) fn to_file(path: &Path, text: &str) -> Result<()> {
    if path == Path::new("-") {
        return to_stdout(text);
    }
    whole_file::write(path, text.as_bytes())
        .map_err(|cause| Error::new(ErrorKind::Output, "the file cannot be written").in_file(path).caused_by(cause))
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

    #[test]
    fn lines_go_on_below_where_the_terminal_ends() {
        let t = |text: &str, width, expected: &str| assert_eq!(wrapped(text, width), expected);
        t("short\n\n", 10, "short\n\n");
        t("  one two three four\n", 14, "  one two\n      three\n      four\n");
        t("  a-word-wider-than-it b\n", 10, "  a-word-wider-than-it\n     b\n");
        t("größer größer\n", 7, "größer\n   größer\n");
    }
}
