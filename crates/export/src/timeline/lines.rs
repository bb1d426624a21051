//! Lines of CSV (RFC 4180) and of JSON.

use std::fmt::Write as _;

use super::entry::{FIELDS, Value};

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
