//! The page that leads to those of several traces.

use std::fmt::Write as _;

use base::readable::count::counted;

use super::document::document;
use super::facts::Facts;
use super::html::{note, text};
use super::key_figures::{key_figures, when};

/// A trace that has a page.
#[derive(Debug)]
pub struct Entry {
    /// The name of the page's file, beside this one.
    file: String,
    /// The trace.
    name: String,
    when: String,
    figures: [(&'static str, String); 6],
}

impl Entry {
    /// What is said of a trace whose page is called so.
    pub fn new(facts: &Facts, file: &str) -> Entry {
        Entry {
            file: file.to_owned(),
            name: facts.record.trace.clone(),
            when: when(facts),
            figures: key_figures(facts),
        }
    }

    fn row(&self) -> String {
        let cells = joined(self.figures.iter().map(|(_, value)| format!("<td>{}</td>", text(value))));
        let (link, name) = (percent_encoded(&self.file), text(&self.name));
        format!("<tr><th scope=\"row\"><a href=\"{link}\">{name}</a></th><td>{}</td>{cells}</tr>\n", text(&self.when))
    }
}

/// The page of some traces; `without_page` is how many more were asked for.
pub fn index(entries: &[Entry], without_page: usize) -> String {
    let figures = entries.first().map(|entry| &entry.figures);
    let heads = joined(figures.into_iter().flatten().map(|(name, _)| format!("<th scope=\"col\">{name}</th>")));
    let rows: String = entries.iter().map(Entry::row).collect();
    let missing = match without_page {
        0 => String::new(),
        missing => note(&format!("{} could not be read: no page.", counted(missing as u64, "more traces"))),
    };
    let title = counted(entries.len() as u64, "traces");
    let body = format!(
        "<header>\n<h1>{title}</h1>\n</header>\n<main>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Traces\">\n\
         <table><caption>Traces</caption>\n<thead><tr><th scope=\"col\">Trace</th><th scope=\"col\">Time</th>{heads}</tr></thead>\n\
         <tbody>\n{rows}</tbody></table>\n</div>\n{missing}</main>\n"
    );
    document(&format!("{title} – trace reports"), &body)
}

/// Cells of a table, one behind another.
fn joined(cells: impl Iterator<Item = String>) -> String {
    cells.collect()
}

/// A name of a file as a link: what has a meaning in an address is written out.
fn percent_encoded(name: &str) -> String {
    let mut link = String::from("./");
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'=' => link.push(char::from(byte)),
            _ => {
                let _ = write!(link, "%{byte:02X}");
            }
        }
    }
    link
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_names_and_names_no_markup() {
        let entry = Entry {
            file: "a b#<ß>.html".to_owned(),
            name: "<b>".to_owned(),
            when: "now".to_owned(),
            figures: ["Events", "Length", "Providers", "Decoded", "Lost", "Damaged"].map(|name| (name, "1".to_owned())),
        };
        let page = index(&[entry], 2);
        assert!(page.contains("<a href=\"./a%20b%23%3C%C3%9F%3E.html\">&lt;b&gt;</a>"), "{page}");
        assert!(page.contains("<th scope=\"col\">Lost</th>") && page.contains("2 more traces could not be read"));
        assert!(page.contains("<h1>1 trace</h1>") && !page.contains("<b>"));
    }
}
