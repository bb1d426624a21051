//! Templates of selects: text with tables in it.

use super::events::Events;

/// A part of a template.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// Text as it is.
    Text(&'a str),
    /// A table.
    Table(Source<'a>),
    /// The type of a list of integers.
    Integers,
}

/// A table that a view reads.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Source<'a> {
    /// Its name: a dataset, or `sidecar/<table>`.
    pub table: &'a str,
    /// The events that rows of the view are made of; `None` of a table that only adds to them.
    pub events: Option<Events<'a>>,
    /// The columns that are asked of it.
    pub columns: Vec<Column<'a>>,
}

/// A column that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column<'a> {
    /// Its name in the table.
    pub name: &'a str,
    /// Its type.
    pub kind: &'a str,
    /// What it is called in the select: its name, unless engines keep that for themselves.
    pub alias: &'a str,
}

/// Takes a template apart.
pub(super) fn parts(template: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((before, table, after)) = next_table(rest) {
        parts.push(Part::Text(before));
        parts.push(table);
        rest = after;
    }
    parts.push(Part::Text(rest));
    parts
}

fn next_table(template: &str) -> Option<(&str, Part<'_>, &str)> {
    let (before, rest) = template.split_once("{{")?;
    let (inside, after) = rest.split_once("}}")?;
    if inside == "integers" {
        return Some((before, Part::Integers, after));
    }
    let (table, columns) = inside.split_once(": ")?;
    let (table, events) = match table.split_once(" [") {
        Some((table, condition)) => (table, Some(Events::parse(condition.strip_suffix(']')?)?)),
        None => (table, None),
    };
    let columns = columns.split(", ").filter_map(|column| {
        let (name, kind) = column.split_once(' ')?;
        let (kind, alias) = kind.split_once(" AS ").unwrap_or((kind, name));
        Some(Column { name, kind, alias })
    });
    Some((before, Part::Table(Source { table, events, columns: columns.collect() }), after))
}

#[cfg(test)]
mod tests {
    use super::super::answers::{ANSWERS, COVERAGE};
    use super::*;

    #[test]
    fn tables_stand_between_texts() {
        let expected = [
            Part::Text("SELECT a FROM "),
            Part::Table(Source {
                table: "Kernel-X",
                events: Some(Events::Numbered(vec![5])),
                columns: vec![
                    Column { name: "a", kind: "BIGINT", alias: "a" },
                    Column { name: "b", kind: "STRING", alias: "c" },
                ],
            }),
            Part::Text(" x, "),
            Part::Integers,
            Part::Text(""),
        ];
        assert_eq!(
            parts("SELECT a FROM {{Kernel-X [event_id = 5]: a BIGINT, b STRING AS c}} x, {{integers}}"),
            expected
        );
        assert_eq!(parts("SELECT 1"), [Part::Text("SELECT 1")]);
    }

    #[test]
    fn every_table_of_every_answer_is_taken_out() {
        let answers = ANSWERS.iter().map(|answer| (answer.name, answer.template));
        for (name, template) in answers.chain([(COVERAGE.name, COVERAGE.template)]) {
            for part in parts(template) {
                match part {
                    Part::Text(text) => {
                        assert!(!text.contains("{{") && !text.contains("}}"), "{name}: {text}");
                    }
                    Part::Integers => {}
                    Part::Table(Source { table, columns, .. }) => {
                        let known = ["BIGINT", "STRING", "BOOLEAN", "BINARY", "LIST", "TEXTS"];
                        assert!(columns.iter().all(|column| known.contains(&column.kind)), "{name}: {table}");
                    }
                }
            }
        }
    }
}
