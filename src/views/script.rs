//! All views of some traces, as a script.

use super::answers::{ANSWERS, COVERAGE};
use super::dialect::Dialect;
use super::functions::functions;
use super::lake::Lake;
use super::naming::view_of;
use super::source::{common, select};
use super::template::{Part, Source, parts};

/// The script for an engine. `root`: the folder that holds the traces; `traces`: a pattern that the folders match.
pub fn script(dialect: Dialect, lake: &Lake, root: &str, traces: &str) -> String {
    let mut statements = vec![dialect.prelude(root), functions(dialect)];
    statements.extend(lake.tables().map(|table| dialect.files(&view_of(lake, table), table, traces)));
    statements.push(all_events(dialect, lake));
    statements.extend(lake.events().filter_map(|event| {
        let table = lake.table(event.dataset)?;
        let columns = event.columns.iter().filter_map(|column| table.column(column));
        let columns = columns.map(|(name, _)| dialect.name(name));
        let shared = ["trace"].into_iter().chain(common()).map(|name| dialect.name(name));
        let columns = shared.chain(columns).collect::<Vec<_>>().join(", ");
        let dataset = view_of(lake, table);
        let name = dialect.view(&format!("{dataset}/{}", event.name));
        let (from, event) = (dialect.name(&dataset), dialect.text(event.name));
        Some(format!("{name}SELECT {columns}\nFROM {from} WHERE event_name = {event};\n"))
    }));
    statements.extend(ANSWERS.iter().map(|answer| {
        let (comment, body) = filled(dialect, lake, answer.template);
        format!("{comment}{}{body};\n", dialect.view(answer.name))
    }));
    let (comment, body) = filled(dialect, lake, COVERAGE.template);
    let head = dialect.table_function(COVERAGE.name, COVERAGE.parameters, COVERAGE.columns);
    statements.push(format!("{comment}{head}{body};\n"));
    statements.join("\n")
}

/// A template with its tables: the lines of comment that it begins with, and the select.
fn filled(dialect: Dialect, lake: &Lake, template: &str) -> (String, String) {
    let (comment, body) = leading_comment(template);
    let body: String = parts(body)
        .into_iter()
        .map(|part| match part {
            Part::Text(text) => text.to_owned(),
            Part::Integers => dialect.integers().to_owned(),
            Part::Table(source) => select(dialect, lake, &source),
        })
        .collect();
    (comment.to_owned(), body.trim_end().to_owned())
}

/// The lines of comment that a text begins with, and the rest.
fn leading_comment(text: &str) -> (&str, &str) {
    let lines = text.split_inclusive('\n').take_while(|line| line.starts_with("--"));
    text.split_at(lines.map(str::len).sum())
}

/// The common columns of a table, of all its events.
fn bare(table: &str) -> Source<'_> {
    Source { table, events: None, columns: Vec::new() }
}

/// The common columns of all events.
fn all_events(dialect: Dialect, lake: &Lake) -> String {
    let selects: Vec<String> = lake
        .tables()
        .filter(|table| table.is_event())
        .map(|table| {
            let provider = dialect.text(table.name());
            let columns = select(dialect, lake, &bare(table.name()));
            format!("SELECT {provider} AS provider, e.* FROM {columns} e")
        })
        .collect();
    let all = if selects.is_empty() {
        format!("SELECT CAST(NULL AS STRING) AS provider, e.* FROM {} e", select(dialect, lake, &bare("")))
    } else {
        selects.join("\nUNION ALL\n")
    };
    let comment = "-- What all events have, in order.\n";
    format!("{comment}{}SELECT * FROM (\n{all}\n) e ORDER BY trace, seq;\n", dialect.view("all_events"))
}
