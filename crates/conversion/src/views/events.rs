//! Which events of a dataset the rows of a view are made of.
//!
//! A template says so in brackets behind the dataset, as a condition of SQL in one of the few forms that this file knows.
//! So the view and what is said of it before anything is converted, from the counts of event shapes, cannot differ.

use super::dialect::Dialect;

/// Some events of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Events<'a> {
    /// All of them.
    All,
    /// Those of these names.
    Named(Vec<&'a str>),
    /// Those that have a name, but none of these.
    NotNamed(Vec<&'a str>),
    /// Those of these ids.
    Numbered(Vec<u16>),
    /// Those with a value in this column.
    With(&'a str),
}

impl<'a> Events<'a> {
    /// Reads a condition; `None` of one that has no form that is known.
    pub(super) fn parse(condition: &'a str) -> Option<Self> {
        if condition == "*" {
            return Some(Events::All);
        }
        let (column, test) = condition.split_once(' ')?;
        match (column, test.split_once(' ')?) {
            ("event_name", ("=", name)) => Some(Events::Named(vec![text(name)?])),
            ("event_name", ("IN", names)) => Some(Events::Named(list(names, text)?)),
            ("event_name", ("NOT", names)) => Some(Events::NotNamed(list(names.strip_prefix("IN ")?, text)?)),
            ("event_id", ("=", id)) => Some(Events::Numbered(vec![id.parse().ok()?])),
            ("event_id", ("IN", ids)) => Some(Events::Numbered(list(ids, |id| id.parse().ok())?)),
            (column, ("IS", "NOT NULL")) => Some(Events::With(column)),
            _ => None,
        }
    }

    /// The condition, with `WHERE` and a blank before it. `value` is what is read of a column; `None` where the traces lack it.
    pub(super) fn condition(&self, dialect: Dialect, value: impl Fn(&str) -> Option<String>) -> String {
        let texts = |names: &[&str]| names.iter().map(|name| dialect.text(name)).collect::<Vec<_>>();
        match self {
            Events::All => String::new(),
            Events::Named(names) => format!(" WHERE event_name{}", one_of(&texts(names))),
            Events::NotNamed(names) => format!(" WHERE event_name NOT IN ({})", texts(names).join(", ")),
            Events::Numbered(ids) => {
                format!(" WHERE event_id{}", one_of(&ids.iter().map(u16::to_string).collect::<Vec<_>>()))
            }
            Events::With(column) => match value(column) {
                Some(value) => format!(" WHERE {value} IS NOT NULL"),
                None => " WHERE 1 = 0".to_owned(),
            },
        }
    }
}

/// A test for one of some values.
fn one_of(values: &[String]) -> String {
    match values {
        [one] => format!(" = {one}"),
        several => format!(" IN ({})", several.join(", ")),
    }
}

/// A text in quotes, of which it has none within.
fn text(quoted: &str) -> Option<&str> {
    quoted.strip_prefix('\'')?.strip_suffix('\'').filter(|text| !text.contains('\''))
}

fn list<'a, T>(list: &'a str, item: impl Fn(&'a str) -> Option<T>) -> Option<Vec<T>> {
    list.strip_prefix('(')?.strip_suffix(')')?.split(", ").map(item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_what_was_read() {
        let t = |condition: &str, expected: &str| {
            let events = Events::parse(condition).unwrap();
            let found = events.condition(Dialect::DuckDb, |column| (column == "Q").then(|| "\"Q\"".to_owned()));
            assert_eq!(found, expected);
        };
        t("*", "");
        t("event_name = 'A/B'", " WHERE event_name = 'A/B'");
        t("event_name IN ('A', 'B c')", " WHERE event_name IN ('A', 'B c')");
        t("event_name NOT IN ('A', 'B')", " WHERE event_name NOT IN ('A', 'B')");
        t("event_id = 80", " WHERE event_id = 80");
        t("event_id IN (1, 65535)", " WHERE event_id IN (1, 65535)");
        t("Q IS NOT NULL", " WHERE \"Q\" IS NOT NULL");
        t("R IS NOT NULL", " WHERE 1 = 0");
    }

    #[test]
    fn other_conditions_are_refused() {
        for condition in
            ["", "a", "event_id = 'A'", "event_id IN (1, 65536)", "event_name = 'a' OR 1 = 1", "opcode = 1"]
        {
            assert_eq!(Events::parse(condition), None, "{condition}");
        }
    }
}
