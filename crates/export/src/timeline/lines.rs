//! Lines of CSV (RFC 4180) and of JSON.

use std::fmt::Write as _;

use super::entry::{FIELDS, TIME_DESCRIPTION, Value};
use crate::standards::Document;

/// How many of the fields Timesketch demands.
const DEMANDED: usize = 3;
/// Fields of standards that have the time of an event as text.
const TIMES: [&str; 2] = ["@timestamp", "time_dt"];

/// How a line is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Values with commas between, behind a line with the names of the fields.
    Csv,
    /// An object, without the fields that are unknown.
    Json,
}

impl Form {
    /// What stands in front of all lines.
    pub(super) fn head(self) -> String {
        match self {
            Form::Csv => FIELDS.join(",") + "\n",
            Form::Json => String::new(),
        }
    }

    /// What stands in front of all lines with documents of a standard: in CSV behind the fields that Timesketch demands.
    pub(super) fn head_of(self, fields: &[&str]) -> String {
        match self {
            Form::Csv => {
                let own = fields.iter().copied().filter(|field| *field != FIELDS[0]);
                FIELDS[..DEMANDED].iter().copied().chain(own).collect::<Vec<_>>().join(",") + "\n"
            }
            Form::Json => String::new(),
        }
    }

    /// The line of a document with these fields: a JSON object has it as it is, CSV has a value for each of them, lists as JSON.
    pub(super) fn line_of(self, document: Document, fields: &[&str]) -> String {
        let mut line = String::new();
        match self {
            Form::Csv => {
                let mut values = vec![text_of(&document, FIELDS[0])];
                values.push(
                    fields
                        .iter()
                        .find(|field| TIMES.contains(field))
                        .map_or(Value::Unknown, |field| text_of(&document, field)),
                );
                values.push(Value::Text(TIME_DESCRIPTION.into()));
                values
                    .extend(fields.iter().filter(|field| **field != FIELDS[0]).map(|field| text_of(&document, field)));
                csv(&values, &mut line);
            }
            // Writing to a string cannot fail.
            Form::Json => _ = write!(line, "{}", document.object()),
        }
        line.push('\n');
        line
    }

    /// The line of an event.
    pub(super) fn line(self, values: &[Value<'_>]) -> String {
        let mut line = String::new();
        match self {
            Form::Csv => csv(values, &mut line),
            Form::Json => json(values, &mut line),
        }
        line.push('\n');
        line
    }
}

/// The value of a field of a document, owned: a text as it is, all else as JSON.
fn text_of(document: &Document, field: &str) -> Value<'static> {
    match document.get(field) {
        None => Value::Unknown,
        Some(serde_json::Value::String(text)) => Value::Text(text.clone().into()),
        Some(other) => Value::Text(other.to_string().into()),
    }
}

fn csv(values: &[Value<'_>], line: &mut String) {
    for (number, value) in values.iter().enumerate() {
        if number > 0 {
            line.push(',');
        }
        match value {
            Value::Unknown => {}
            // Writing to a string cannot fail.
            Value::Number(value) => _ = write!(line, "{value}"),
            Value::Text(text) => push_quoted(text, line),
        }
    }
}

/// A text that keeps to its line: what controls a terminal or ends a line is a blank.
fn push_quoted(text: &str, line: &mut String) {
    let is_plain = !text.contains(|c: char| matches!(c, ',' | '"') || c.is_control());
    if is_plain {
        line.push_str(text);
        return;
    }
    line.push('"');
    for c in text.chars() {
        match c {
            '"' => line.push_str("\"\""),
            c if c.is_control() => line.push(' '),
            c => line.push(c),
        }
    }
    line.push('"');
}

fn json(values: &[Value<'_>], line: &mut String) {
    line.push('{');
    for (name, value) in FIELDS.iter().zip(values).filter(|(_, value)| **value != Value::Unknown) {
        if line.len() > 1 {
            line.push(',');
        }
        _ = write!(line, "\"{name}\":");
        match value {
            Value::Text(text) => _ = write!(line, "{}", serde_json::Value::from(&**text)),
            Value::Number(value) => _ = write!(line, "{value}"),
            Value::Unknown => {}
        }
    }
    line.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_whatever_it_says() {
        let text = |text: &'static str| Value::Text(text.into());
        let values = [text("a,\"b\"\r\n\u{1b}[1mc"), text("plain"), Value::Unknown, Value::Number(-5), text("")];
        assert_eq!(Form::Csv.line(&values), "\"a,\"\"b\"\"   [1mc\",plain,,-5,\n");
        let json =
            "{\"message\":\"a,\\\"b\\\"\\r\\n\\u001b[1mc\",\"datetime\":\"plain\",\"trace\":-5,\"dataset\":\"\"}\n";
        assert_eq!(Form::Json.line(&values), json);
        assert_eq!(Form::Csv.head().split(',').take(3).collect::<Vec<_>>(), ["message", "datetime", "timestamp_desc"]);
    }
}
