//! Source text without what is no product code: comments, texts in quotes, tests.

/// The code of a file with blanks in place of comments and of what stands in quotes. Lines stay lines.
pub(crate) fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (len, is_code) = token(rest, first);
        let (taken, behind) = rest.split_at(len);
        if is_code {
            code.push_str(taken);
        } else {
            code.extend(taken.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        }
        rest = behind;
    }
    code
}

/// How long the token is that a text begins with, and whether it is code.
fn token(text: &str, first: char) -> (usize, bool) {
    match first {
        '/' if text.starts_with("//") => (text.find('\n').unwrap_or(text.len()), false),
        '/' if text.starts_with("/*") => (text.find("*/").map_or(text.len(), |end| end + 2), false),
        '"' => (quoted(text), false),
        'r' if text.starts_with("r\"") || text.starts_with("r#\"") => (raw(text), false),
        'b' if text.starts_with("br\"") || text.starts_with("br#\"") => (1 + raw(&text[1..]), false),
        '\'' => character(text).map_or((1, true), |len| (len, false)),
        c if c.is_alphanumeric() || c == '_' => {
            // A whole word, so that the end of one is never taken for the beginning of a raw text.
            (text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len()), true)
        }
        c => (c.len_utf8(), true),
    }
}

/// The length of a text in quotes, which may have escapes.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a raw text in quotes.
fn raw(text: &str) -> usize {
    let hashes = text[1..].chars().take_while(|&c| c == '#').count();
    let end = format!("\"{}", "#".repeat(hashes));
    let begin = 2 + hashes;
    text[begin..].find(&end).map_or(text.len(), |at| begin + at + end.len())
}

/// The length of a character in quotes; `None` for a lifetime.
fn character(text: &str) -> Option<usize> {
    let mut inside = text.char_indices().skip(1);
    match inside.next()? {
        (_, '\\') => text[3..].find('\'').map(|at| 3 + at + 1),
        (_, _) => inside.next().filter(|&(_, c)| c == '\'').map(|(at, _)| at + 1),
    }
}

/// Drops blank lines.
pub(crate) fn without_blank_lines(code: &str) -> String {
    lines_where(code, |line| !line.trim().is_empty())
}

/// Drops each item behind `#[cfg(test)]`: a module with its body, or one statement.
pub(crate) fn without_tests(code: &str) -> String {
    skip_items(code, |line| line.trim() == "#[cfg(test)]")
}

/// Drops constants and statics, whose length is data and not control flow.
pub(crate) fn without_tables(code: &str) -> String {
    let starts = ["const ", "static ", "pub const ", "pub static ", "pub(crate) const ", "pub(crate) static "];
    skip_items(code, |line| starts.iter().any(|start| line.trim_start().starts_with(start)) && !line.contains(" fn "))
}

/// Drops every item that begins at a line which `begins` picks.
///
/// Rustfmt ends an item on a line of the same indentation that closes it: `}`, `];`, `);`, or on its only line.
fn skip_items(code: &str, begins: impl Fn(&str) -> bool) -> String {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let mut skipped: Option<usize> = None;
    let keep = |line: &&str| {
        if skipped.is_none() && begins(line) {
            skipped = Some(indentation(line));
        }
        let Some(depth) = skipped else { return true };
        let attribute = line.trim_start().starts_with("#[");
        if indentation(line) == depth && !attribute && line.trim_end().ends_with(['}', ';']) {
            skipped = None;
        }
        false
    };
    lines_where(code, keep)
}

fn lines_where(text: &str, mut keep: impl FnMut(&&str) -> bool) -> String {
    text.lines().filter(|line| keep(line)).fold(String::new(), |code, line| code + line + "\n")
}

#[test]
fn what_is_no_code_is_blank() {
    for (text, code) in [
        ("a // b\nc", "a     \nc"),
        ("a /* b\n */ c", "a     \n    c"),
        ("\"crate::x\" b", "           b"),
        (r#""\"crate" b"#, "          b"),
        ("r#\"a\"b\"# c", "         c"),
        ("'\"' '\\'' b 'a 'b'", "         b 'a    "),
        ("for\"a\"", "for   "),
    ] {
        assert_eq!(code_only(text), code, "{text}");
    }
}

#[test]
fn comments_tests_and_tables_do_not_count() {
    let text = "\
//! Uses crate::cli in words only.
use crate::guid::Guid;
const TABLE: [u8; 2] = [
    1,
    2,
];
pub const fn one() -> u8 {
    1
}

#[cfg(test)]
mod tests {
    use crate::cli;
}
fn last() {}
";
    let code = without_blank_lines(&without_tests(&code_only(text)));
    let expected = "use crate::guid::Guid;\npub const fn one() -> u8 {\n    1\n}\nfn last() {}\n";
    assert_eq!(without_tables(&code), expected);
}
