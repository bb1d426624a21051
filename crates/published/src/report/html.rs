//! Elements of a page. Whatever comes from a trace goes through [`text`].

use std::fmt::Write as _;

use base::readable::count::Count;
use base::readable::printable::{cut, is_unsafe};

/// Characters of a text from a trace that are shown.
const LONGEST: usize = 160;

/// A text from a trace, or a path: of a length that ends, with what moves or turns text written out, and with no meaning to
/// a browser.
pub(super) fn text(text: &str) -> String {
    let shown = cut(text.chars(), LONGEST);
    let mut escaped = String::with_capacity(shown.len());
    for c in shown.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // Writing to a string cannot fail.
            c if is_unsafe(c) => drop(write!(escaped, "⟨U+{:04X}⟩", u32::from(c))),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    /// A text from a trace.
    Text(String),
    /// A number with its unit.
    Number(String),
}

impl Cell {
    /// A text from a trace.
    pub(super) fn text(text: impl Into<String>) -> Cell {
        Cell::Text(text.into())
    }

    /// A number as people read it.
    pub(super) fn number(number: &impl ToString) -> Cell {
        Cell::Number(number.to_string())
    }

    fn html(&self, tag: &str, label: &str) -> String {
        match self {
            Cell::Text(content) => format!("<{tag}{label}>{}</{}>", text(content), closing(tag)),
            Cell::Number(number) => format!("<{tag} class=\"n\"{label}>{}</{}>", text(number), closing(tag)),
        }
    }
}

fn closing(tag: &str) -> &str {
    tag.split(' ').next().unwrap_or(tag)
}

/// A table with a caption for those who hear it. Wide ones scroll by themselves.
pub(super) fn table(caption: &str, heads: &[&str], rows: &[Vec<Cell>]) -> String {
    tabled("wide", caption, heads, rows, &|_| String::new())
}

/// A table whose rows have much text: where it does not fit, each row is a list of its cells with their heads.
pub(super) fn records(caption: &str, heads: &[&str], rows: &[Vec<Cell>]) -> String {
    let label = |column: usize| format!(" data-head=\"{}\"", text(heads.get(column).unwrap_or(&"")));
    tabled("wide records", caption, heads, rows, &label)
}

fn tabled(class: &str, caption: &str, heads: &[&str], rows: &[Vec<Cell>], label: &dyn Fn(usize) -> String) -> String {
    let is_number = |column: usize| rows.first().is_some_and(|row| matches!(row.get(column), Some(Cell::Number(_))));
    let mut html = format!(
        "<div class=\"{class}\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">\n<table><caption>{0}</caption>\n<thead><tr>",
        text(caption)
    );
    for (column, head) in heads.iter().enumerate() {
        let class = if is_number(column) { " class=\"n\"" } else { "" };
        let _ = write!(html, "<th scope=\"col\"{class}>{}</th>", text(head));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        html.push_str("<tr>");
        for (column, cell) in row.iter().enumerate() {
            let tag = if column == 0 { "th scope=\"row\"" } else { "td" };
            html.push_str(&cell.html(tag, &label(column)));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table>\n</div>\n");
    html
}

/// A list of names and values; values are HTML.
pub(super) fn values(values: &[(&str, String)]) -> String {
    let rows = values.iter().fold(String::new(), |mut rows, (name, value)| {
        let _ = writeln!(rows, "<div><dt>{}</dt><dd>{value}</dd></div>", text(name));
        rows
    });
    format!("<dl>\n{rows}</dl>\n")
}

/// A line of words that are the program's own; they may hold HTML.
pub(super) fn note(html: &str) -> String {
    format!("<p class=\"note\">{html}</p>\n")
}

/// A section with a heading.
#[derive(Debug)]
pub(super) struct Section {
    /// Its name among those of the page: letters, digits and hyphens.
    pub id: &'static str,
    /// What it is called, in words of the program.
    pub heading: &'static str,
    /// HTML.
    content: String,
}

impl Section {
    /// One of some HTML.
    pub(super) fn new(id: &'static str, heading: &'static str, content: String) -> Section {
        Section { id, heading, content }
    }

    /// The whole element.
    pub(super) fn html(&self) -> String {
        let Section { id, heading, content } = self;
        format!(
            "<section id=\"{id}\" aria-labelledby=\"h-{id}\">\n<h2 id=\"h-{id}\">{heading}</h2>\n{content}</section>\n"
        )
    }
}

/// What is behind a summary that is shown first.
pub(super) fn details(summary: &str, content: &str) -> String {
    format!("<details><summary>{}</summary>\n{content}</details>\n", text(summary))
}

/// What is said of things that are left out; nothing where there are none.
pub(super) fn and_more(more: usize, things: &str) -> String {
    match u64::try_from(more).unwrap_or(u64::MAX) {
        0 => String::new(),
        1 => note("and 1 more"),
        more => note(&format!("and {} more {}", Count(more), text(things))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_a_trace_is_markup() {
        assert_eq!(text("<img src=x onerror='a'>&\""), "&lt;img src=x onerror=&#39;a&#39;&gt;&amp;&quot;");
        assert_eq!(text("a\u{202e}gpj.exe\0\n"), "a⟨U+202E⟩gpj.exe⟨U+0000⟩⟨U+000A⟩");
        let long = text(&"ß".repeat(1000));
        assert_eq!((long.chars().count(), long.ends_with("ß…")), (LONGEST, true));
    }

    #[test]
    fn tables_have_heads_and_escaped_cells() {
        let rows = [vec![Cell::text("<a>"), Cell::number(&3)]];
        let html = table("T", &["name", "n"], &rows);
        assert!(html.contains("<th scope=\"col\">name</th><th scope=\"col\" class=\"n\">n</th>"), "{html}");
        assert!(html.contains("<tr><th scope=\"row\">&lt;a&gt;</th><td class=\"n\">3</td></tr>"), "{html}");
    }

    #[test]
    fn cells_of_records_have_their_heads() {
        let rows = [vec![Cell::text("<a>"), Cell::number(&3)]];
        let html = records("T", &["name", "n"], &rows);
        let row = "<tr><th scope=\"row\" data-head=\"name\">&lt;a&gt;</th><td class=\"n\" data-head=\"n\">3</td></tr>";
        assert!(html.contains(row), "{html}");
    }

    #[test]
    fn what_is_left_out_is_counted() {
        assert_eq!(and_more(0, "processes"), "");
        assert_eq!(and_more(1, "processes"), "<p class=\"note\">and 1 more</p>\n");
        assert_eq!(and_more(31, "processes"), "<p class=\"note\">and 31 more processes</p>\n");
    }
}
