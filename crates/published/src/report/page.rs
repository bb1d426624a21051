//! The page as a whole.

use std::fmt::Write as _;

use base::readable::count::counted;

use super::document::document;
use super::facts::Facts;
use super::html::{Section, note, text};
use super::key_figures::{key_figures, when};
use super::sections;

/// The page of a trace: HTML that asks for nothing else.
pub fn page(facts: &Facts) -> String {
    let name = text(&facts.record.trace);
    let parts = parts(facts);
    let contents = parts.iter().fold(String::new(), |mut contents, Section { id, heading, .. }| {
        let _ = writeln!(contents, "<li><a href=\"#{id}\">{heading}</a></li>");
        contents
    });
    let main: String = parts.iter().map(Section::html).collect();
    let body = format!(
        "<a class=\"skip\" href=\"#report\">To the report</a>\n\
         <header>\n<h1>{name}</h1>\n<p class=\"lead\">{}</p>\n{}\
         <nav aria-label=\"Contents\"><ul>\n{contents}</ul></nav>\n</header>\n\
         <main id=\"report\">\n{main}</main>\n<footer>{}</footer>\n",
        when(facts),
        tiles(facts),
        footer(facts)
    );
    document(&format!("{name} – trace report"), &body)
}

/// Answers first, then what they rest on.
fn parts(facts: &Facts) -> Vec<Section> {
    let parts = [
        sections::cpu(facts),
        sections::waits(facts),
        sections::wait_stacks(facts),
        sections::starts(facts),
        sections::pauses(facts),
        sections::collections(facts),
        sections::disk(facts),
        sections::files(facts),
        sections::network(facts),
        sections::packets(facts),
        sections::failures(facts),
        sections::code(facts),
        sections::sample_stacks(facts),
        sections::interrupts(facts),
        sections::processes(facts),
        Some(sections::events(facts)),
        Some(sections::losses(facts)),
        Some(sections::findings(facts)),
        sections::missing(facts),
        Some(sections::buffers(facts)),
        Some(sections::clocks(facts)),
        Some(sections::about(facts)),
    ];
    parts.into_iter().flatten().collect()
}

fn tiles(facts: &Facts) -> String {
    let tiles = key_figures(facts).into_iter().fold(String::new(), |mut tiles, (name, value)| {
        let _ = writeln!(tiles, "<div><dt>{name}</dt><dd>{}</dd></div>", text(&value));
        tiles
    });
    format!("<dl class=\"tiles\">\n{tiles}</dl>\n")
}

fn footer(facts: &Facts) -> String {
    let left_out = match facts.left_out {
        0 => String::new(),
        more => note(&format!(
            "{} had no room: their events stand under “unknown”.",
            counted(more, "spans of processes and threads")
        )),
    };
    format!("{left_out}<p>Made by etl2parquet {}. Times are UTC.</p>", text(&facts.record.tool_version))
}
