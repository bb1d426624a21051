//! What views and their columns mean, for whoever asks before they write SQL.
//!
//! The texts are those of the views themselves and of `sql/columns.txt`, and for the columns of all events `sql/common.txt`.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::answers::{ANSWERS, Answer};
use super::dialect::Dialect;
use super::emptiness::is_empty;
use super::lake::Lake;
use super::template::Column;

/// Unit and meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// The unit of its values, where they have one.
    pub unit: Option<&'static str>,
    /// What it is.
    pub text: &'static str,
}

/// What is said of a view.
#[derive(Debug)]
pub struct ViewMeaning {
    /// Its name.
    pub name: &'static str,
    /// What its rows are: the first sentence of its text.
    pub text: String,
    /// Its columns, in order.
    pub columns: Vec<ViewColumn>,
    /// Whether these traces have none of what its rows are made of.
    pub is_empty: bool,
}

/// A column of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewColumn {
    /// Its name.
    pub name: &'static str,
    /// Its type in DuckDB.
    pub data_type: &'static str,
    /// What it means.
    pub meaning: Option<Meaning>,
}

/// All views that are answers, over the tables of some traces and what lies beside these. `is_answered` is false of a question that all
/// traces say they cannot answer; views that are made of others alone are empty where all of these are.
pub fn view_meanings(lake: &Lake, beside: &[&str], is_answered: impl Fn(&str) -> bool) -> Vec<ViewMeaning> {
    let mut without_rows = HashSet::new();
    let of_answer = |answer: &'static Answer| {
        let Answer { name, template, .. } = answer;
        let is_empty = is_empty(template, lake, beside, &without_rows) || !is_answered(name);
        if is_empty {
            without_rows.insert(*name);
        }
        let columns = template.columns.iter().map(|column| view_column(name, column)).collect();
        ViewMeaning { name, text: first_sentence(template.comment), columns, is_empty }
    };
    ANSWERS.iter().map(of_answer).collect()
}

fn view_column(view: &str, column: &Column<'static>) -> ViewColumn {
    let own = OF_VIEWS.get(&*format!("{view}.{}", column.name));
    let meaning = own.or_else(|| OF_VIEWS.get(column.name)).copied();
    ViewColumn { name: column.name, data_type: type_name(column.kind), meaning }
}

/// A type of templates as DuckDB writes it.
fn type_name(kind: &'static str) -> &'static str {
    match kind {
        "STRING" => "VARCHAR",
        "BINARY" => "BLOB",
        "INT" => "INTEGER",
        "TIMESTAMP" => "TIMESTAMP WITH TIME ZONE",
        other => Dialect::DuckDb.kind(other),
    }
}

/// What a column means that every table of events begins with, or that some header families have; `None` of any other.
pub fn common_meaning(column: &str) -> Option<Meaning> {
    OF_EVENTS.get(column).copied()
}

/// By name, or by view and name.
static OF_VIEWS: LazyLock<HashMap<&str, Meaning>> = LazyLock::new(|| meanings(include_str!("sql/columns.txt")));

/// By name.
static OF_EVENTS: LazyLock<HashMap<&str, Meaning>> = LazyLock::new(|| meanings(include_str!("sql/common.txt")));

/// The lines `name | unit | meaning` of a text.
fn meanings(text: &'static str) -> HashMap<&'static str, Meaning> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let of_line = |line: &'static str| {
        let (name, rest) = line.split_once('|')?;
        let (unit, text) = rest.split_once('|')?;
        let unit = Some(unit.trim()).filter(|unit| !unit.is_empty());
        Some((name.trim(), Meaning { unit, text: text.trim() }))
    };
    lines.filter_map(of_line).collect()
}

/// The first sentence of lines of comment, without its full stop.
fn first_sentence(comment: &str) -> String {
    let lines = comment.lines().map(|line| line.trim_start_matches("--").trim());
    let text = lines.collect::<Vec<_>>().join(" ");
    let end = text.find(". ").unwrap_or(text.len());
    text.get(..end).unwrap_or(&text).trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::source::common;
    use super::*;
    use crate::table::header::{COMMON, INSTANCE, MESSAGE, OTHER, TIMED};

    #[test]
    fn every_column_of_every_view_has_a_meaning() {
        let views = view_meanings(&Lake::default(), &[], |_| false);
        assert_eq!(views.len(), ANSWERS.len());
        for view in &views {
            assert!(!view.text.is_empty() && !view.text.ends_with('.'), "{}: {}", view.name, view.text);
            let unknown = view.columns.iter().find(|column| column.meaning.is_none());
            assert!(unknown.is_none() && !view.columns.is_empty(), "{}: {unknown:?}", view.name);
        }
    }

    #[test]
    fn every_column_of_headers_has_a_meaning_and_no_other() {
        let of_headers = [COMMON, INSTANCE, MESSAGE, TIMED, OTHER].into_iter().flatten().map(|column| column.name());
        let names: HashSet<&str> = of_headers.chain(common()).chain(["trace"]).collect();
        assert_eq!(OF_EVENTS.keys().copied().collect::<HashSet<_>>(), names);
        assert_eq!(common_meaning("ticks").and_then(|meaning| meaning.unit), Some("ticks"));
        assert_eq!(common_meaning("nothing"), None);
    }

    #[test]
    fn a_column_that_means_something_else_in_a_view_says_so_there() {
        let views = view_meanings(&Lake::default(), &[], |_| true);
        let text = |view: &str, column: &str| {
            let view = views.iter().find(|one| one.name == view).unwrap();
            let column = view.columns.iter().find(|one| one.name == column).unwrap();
            (column.data_type, column.meaning.unwrap().unit, column.meaning.unwrap().text)
        };
        assert_eq!(text("files", "to_ns"), ("BIGINT", Some("ns"), "until when, and not at that time"));
        assert_eq!(text("activities", "to_ns"), ("BIGINT", Some("ns"), "end, in Unix nanoseconds"));
        assert_eq!(text("answers", "event_names").0, "VARCHAR[]");
        let empty = |name: &str| views.iter().find(|view| view.name == name).unwrap().is_empty;
        assert_eq!(["loss", "cpu_usage", "symbol_functions"].map(empty), [true, true, true]);
    }

    #[test]
    fn a_sentence_ends_at_its_stop() {
        assert_eq!(first_sentence("-- One of HTTP.sys: it\n-- goes on. Two.\n"), "One of HTTP.sys: it goes on");
        assert_eq!(first_sentence("-- One.\n"), "One");
        assert_eq!(first_sentence(""), "");
    }
}
