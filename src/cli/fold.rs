//! Text on lines of a terminal.

use std::io::{self, IsTerminal};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The least that text is made to fit: below it, nothing can be read.
const NARROWEST: usize = 20;

/// Columns of a line: those of a terminal; elsewhere lines are whole, for programs that look for text in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Width(usize);

impl Width {
    /// Lines of any length.
    pub(super) const UNBOUNDED: Width = Width(usize::MAX);

    /// So many columns.
    pub(super) fn of(columns: usize) -> Self {
        Width(columns.max(NARROWEST))
    }

    /// That of standard output, where it is a terminal.
    pub(super) fn of_stdout() -> Self {
        Width::of_terminal(&io::stdout())
    }

    /// That of standard error, where it is a terminal.
    pub(super) fn of_stderr() -> Self {
        Width::of_terminal(&io::stderr())
    }

    #[cfg(unix)]
    fn of_terminal(stream: &(impl IsTerminal + std::os::fd::AsFd)) -> Self {
        Width::of_size(stream.is_terminal().then(|| terminal_size::terminal_size_of(stream)).flatten())
    }

    #[cfg(windows)]
    fn of_terminal(stream: &(impl IsTerminal + std::os::windows::io::AsHandle)) -> Self {
        Width::of_size(stream.is_terminal().then(|| terminal_size::terminal_size_of(stream)).flatten())
    }

    fn of_size(size: Option<(terminal_size::Width, terminal_size::Height)>) -> Self {
        let columns = size.map(|(width, _)| usize::from(width.0));
        columns.filter(|columns| *columns > 0).map_or(Width::UNBOUNDED, Width::of)
    }

    /// The number of columns.
    pub(super) fn columns(self) -> usize {
        self.0
    }
}

/// Columns that a text takes.
pub(super) fn columns(text: &str) -> usize {
    text.width()
}

/// A text in lines of at most `first`, then of at most `rest` columns, broken at blanks, else behind a mark, else anywhere. Blanks
/// at a break are left out. One line at least.
pub(super) fn fold(text: &str, first: usize, rest: usize) -> Vec<&str> {
    let (mut lines, mut left, mut room) = (Vec::new(), text, first.max(1));
    while let Some(end) = overflow(left, room) {
        let (line, next) = left.split_at(break_before(left, end));
        lines.push(line.trim_end());
        left = next.trim_start();
        room = rest.max(1);
    }
    lines.push(left);
    lines
}

/// Where the first character stands that does not fit, if one does not; never the very first.
fn overflow(text: &str, room: usize) -> Option<usize> {
    let mut taken = 0_usize;
    let mut places = text.char_indices().skip_while(|(_, c)| {
        taken = taken.saturating_add(c.width().unwrap_or(0));
        taken <= room
    });
    match places.next()? {
        (0, _) => text.char_indices().nth(1).map(|(second, _)| second),
        (place, _) => Some(place),
    }
}

/// Where a line ends, of which the text up to `end` fits.
fn break_before(text: &str, end: usize) -> usize {
    let (line, next) = text.split_at(end);
    if next.starts_with(' ') {
        return end;
    }
    let blank = line.rfind(' ').filter(|blank| !line[..*blank].trim().is_empty());
    let mark = || line.rfind(['/', '\\', '-', '_', '.', ',', ';', '=']).filter(|mark| *mark > 0).map(|mark| mark + 1);
    blank.or_else(mark).unwrap_or(end)
}

/// Indentation of what did not fit on the line above, beside that of the line itself.
const HANGING: usize = 4;

/// The text with no line wider than `width`.
pub(super) fn wrapped(text: &str, width: Width) -> String {
    let mut wrapped = String::with_capacity(text.len());
    for line in text.lines() {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let lead = (indent + HANGING).min(width.columns() / 2);
        let room = width.columns().saturating_sub(indent);
        for (at, piece) in fold(&line[indent..], room, width.columns() - lead).into_iter().enumerate() {
            wrapped.extend(std::iter::repeat_n(' ', if at == 0 { indent } else { lead }));
            wrapped.push_str(piece);
            wrapped.push('\n');
        }
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_where_it_reads_best() {
        let t = |text: &str, first, rest, lines: &[&str]| assert_eq!(fold(text, first, rest), lines, "{text}");
        t("", 10, 10, &[""]);
        t("as wide as", 10, 10, &["as wide as"]);
        t("as wide as that", 10, 10, &["as wide as", "that"]);
        t("one two three", 7, 3, &["one two", "thr", "ee"]);
        t("out/trace=a/events", 9, 9, &["out/", "trace=a/", "events"]);
        t("aaaaaaaa", 3, 4, &["aaa", "aaaa", "a"]);
        // Of East Asian characters, each takes two columns.
        t("大きい箱", 4, 5, &["大き", "い箱"]);
        t("大き", 1, 1, &["大", "き"]);
        t("größer größer", 7, 7, &["größer", "größer"]);
    }

    #[test]
    fn lines_go_on_below_where_the_terminal_ends() {
        let t = |text: &str, width, expected: &str| assert_eq!(wrapped(text, Width(width)), expected);
        t("short\n\n", 10, "short\n\n");
        t("  one two three four\n", 14, "  one two\n      three\n      four\n");
        t("  a-word-wider-than-it b\n", 10, "  a-word-\n     wider\n     -than\n     -it b\n");
        t("größer größer\n", 7, "größer\n   größ\n   er\n");
        t(&"x".repeat(300), usize::MAX, &("x".repeat(300) + "\n"));
    }
}
