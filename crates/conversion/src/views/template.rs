//! Templates of selects: text with tables in it.
//!
//! ```text
//! -- What it is.                                  lines of comment, which stay
//! --| trace STRING, count BIGINT                  the columns that it gives
//! SELECT a.trace, a.count FROM {{Dataset [event_id = 5]: seq, Count BIGINT AS count}} a
//! ```
//!
//! A column without a type is one that all events have.

use super::events::Events;

/// A select.
#[derive(Debug)]
pub(super) struct Template<'a> {
    /// The lines of comment that it begins with.
    pub comment: &'a str,
    /// The columns that it gives.
    pub columns: Vec<Column<'a>>,
    /// What it is made of.
    pub parts: Vec<Part<'a>>,
}

/// A part of a template.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// Text as it is.
    Text(&'a str),
    /// A table.
    Table(Source<'a>),
    /// A view whose rows those of this one are made of.
    View(&'a str),
    /// A type, as templates call it.
    Type(&'a str),
    /// What says of a common table expression that each use of it is computed by itself: only then does a question about one trace
    /// open no files of others for it.
    Inline,
    /// What a select has for a row per element of a list, as `element` with `position`, from 0 on.
    Elements(&'a str),
    /// The rows of files that lie beside the traces, by a pattern below the folder that holds these.
    Beside(&'a str),
}

/// A table that a view reads.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Source<'a> {
    /// Its name: a dataset, or `sidecar/<table>`.
    pub table: &'a str,
    /// The events that rows of the view are made of; `None` of a table that only adds to them.
    pub events: Option<Events<'a>>,
    /// Those that are asked of it of the columns that all events have.
    pub common: Vec<&'a str>,
    /// Its own columns that are asked of it.
    pub columns: Vec<Column<'a>>,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column<'a> {
    /// Its name in the table.
    pub name: &'a str,
    /// Its type.
    pub kind: &'a str,
    /// What it is called in the select: its name, unless engines keep that for themselves.
    pub alias: &'a str,
}

impl<'a> Template<'a> {
    /// Takes a template apart.
    pub(super) fn parse(template: &'a str) -> Self {
        let (comment, rest) = lines_with(template, |line| line.starts_with("--") && !line.starts_with("--|"));
        let (given, body) = lines_with(rest, |line| line.starts_with("--|"));
        let given = given.split(['\n', ',']).map(|column| column.trim_start_matches("--|").trim());
        let parts = parts(body.trim_end());
        Template { comment, columns: given.filter_map(column).collect(), parts }
    }

    /// The tables.
    pub(super) fn sources(&self) -> impl Iterator<Item = &Source<'a>> {
        self.parts.iter().filter_map(|part| if let Part::Table(source) = part { Some(source) } else { None })
    }

    /// The views whose rows its own are made of.
    pub(super) fn views(&self) -> impl Iterator<Item = &'a str> {
        self.parts.iter().filter_map(|part| if let Part::View(name) = part { Some(*name) } else { None })
    }
}

/// The first lines that are such, and the rest.
fn lines_with(text: &str, is_such: impl Fn(&str) -> bool) -> (&str, &str) {
    let lines = text.split_inclusive('\n').take_while(|line| is_such(line));
    text.split_at(lines.map(str::len).sum())
}

fn parts(template: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    add_parts(template, &mut parts);
    parts
}

fn add_parts<'a>(template: &'a str, parts: &mut Vec<Part<'a>>) {
    let mut rest = template;
    while let Some((before, inside, after)) = next_braces(rest) {
        parts.push(Part::Text(before));
        match inside.strip_prefix("include ") {
            Some(name) => add_parts(included(name).trim_end(), parts),
            None => parts.extend(part(inside)),
        }
        rest = after;
    }
    parts.push(Part::Text(rest));
}

/// What several templates have in common, by its name; nothing under another name.
fn included(name: &str) -> &'static str {
    match name {
        "address_places" => include_str!("sql/parts/address_places.sql"),
        "samples_by_stack" => include_str!("sql/parts/samples_by_stack.sql"),
        "waits_by_stack" => include_str!("sql/parts/waits_by_stack.sql"),
        "stacked_events" => include_str!("sql/parts/stacked_events.sql"),
        "functions_of_stacks" => include_str!("sql/parts/functions_of_stacks.sql"),
        "callers_of_stacks" => include_str!("sql/parts/callers_of_stacks.sql"),
        "paths_of_stacks" => include_str!("sql/parts/paths_of_stacks.sql"),
        _ => "",
    }
}

/// What stands before the next double braces, within and behind them.
fn next_braces(template: &str) -> Option<(&str, &str, &str)> {
    // SQL itself has no braces.
    let (before, rest) = template.split_once('{')?;
    let (inside, after) = rest.strip_prefix('{')?.split_once('}')?;
    Some((before, inside, after.strip_prefix('}')?))
}

/// What double braces stand for.
fn part(inside: &str) -> Option<Part<'_>> {
    match inside.split_once(' ') {
        None if inside == "inline" => return Some(Part::Inline),
        Some(("type", kind)) => return Some(Part::Type(kind)),
        Some(("view", view)) => return Some(Part::View(view)),
        Some(("elements", list)) => return Some(Part::Elements(list)),
        Some(("beside", pattern)) => return Some(Part::Beside(pattern)),
        _ => {}
    }
    // Names of tables have neither.
    let (table, events, columns) = if let Some((table, rest)) = inside.split_once('[') {
        let (condition, columns) = rest.split_once(']')?;
        (table.trim_end(), Some(Events::parse(condition)?), columns.strip_prefix(':')?)
    } else {
        let (table, columns) = inside.split_once(':')?;
        (table, None, columns)
    };
    let columns = || columns.split(',').map(str::trim_start);
    let common = columns().filter(|column| !column.contains(' ')).collect();
    Some(Part::Table(Source { table, events, common, columns: columns().filter_map(column).collect() }))
}

/// A name, its type, and what it is called instead.
fn column(text: &str) -> Option<Column<'_>> {
    let mut words = text.split(' ');
    let (name, kind) = (words.next()?, words.next()?);
    let alias = if words.next() == Some("AS") { words.next()? } else { name };
    Some(Column { name, kind, alias })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_stand_between_texts() {
        let expected = [
            Part::Text("SELECT a FROM "),
            Part::Table(Source {
                table: "Kernel-X",
                events: Some(Events::Numbered(vec![5])),
                common: vec!["seq"],
                columns: vec![
                    Column { name: "a", kind: "BIGINT", alias: "a" },
                    Column { name: "b", kind: "STRING", alias: "c" },
                ],
            }),
            Part::Text(" x, "),
            Part::Type("LIST"),
            Part::Text(", "),
            Part::View("v"),
            Part::Text(" "),
            Part::Inline,
            Part::Text("("),
        ];
        let text = "SELECT a FROM {{Kernel-X [event_id = 5]: seq, a BIGINT, b STRING AS c}} x, {{type LIST}}, {{view v}} {{inline}}(";
        assert_eq!(parts(text), expected);
        assert_eq!(parts("SELECT 1"), [Part::Text("SELECT 1")]);
    }

    #[test]
    fn comments_and_columns_come_before_the_select() {
        let template =
            Template::parse("-- A.\n-- B.\n--| trace STRING, x BIGINT,\n--| y LIST\nSELECT e.x_y, 'z' -- C\n");
        assert_eq!(template.comment, "-- A.\n-- B.\n");
        let columns: Vec<_> = template.columns.iter().map(|column| (column.name, column.kind)).collect();
        assert_eq!(columns, [("trace", "STRING"), ("x", "BIGINT"), ("y", "LIST")]);
        assert_eq!(template.parts, [Part::Text("SELECT e.x_y, 'z' -- C")]);
    }
}
