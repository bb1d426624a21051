//! The statements of a script by the names of what they make, so that some can be kept with all that they need.

use std::borrow::Cow;
use std::collections::HashSet;

use super::dialect::Dialect;

/// A statement, or several that stay together.
#[derive(Debug)]
pub(super) struct Statement {
    /// The view or function that it makes; none of what every script has.
    pub name: Option<String>,
    /// Its text.
    pub text: Cow<'static, str>,
}

impl Statement {
    /// One that makes something.
    pub(super) fn of(name: &str, text: impl Into<Cow<'static, str>>) -> Self {
        Statement { name: Some(name.to_owned()), text: text.into() }
    }

    /// One that every script has.
    pub(super) fn kept(text: impl Into<Cow<'static, str>>) -> Self {
        Statement { name: None, text: text.into() }
    }
}

/// All statements of a script; each uses only what those before it make.
#[derive(Debug)]
pub struct Statements {
    pub(super) dialect: Dialect,
    pub(super) all: Vec<Statement>,
}

impl Statements {
    /// What they make, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().filter_map(|statement| statement.name.as_deref())
    }

    /// The text of all.
    pub fn text(&self) -> String {
        joined(self.all.iter())
    }

    /// The text of those that a question may use: all but those of single events, and of these the ones that it names.
    pub fn text_for(&self, question: &str) -> String {
        let is_of_event = |name: &str| name.contains('/');
        let folded = question.to_lowercase();
        let is_asked = |name: &&str| !is_of_event(name) || folded.contains(&name.to_lowercase());
        self.text_of(&self.names().filter(is_asked).map(str::to_owned).collect::<Vec<_>>())
    }

    /// The text of those that make what is asked for, ignoring case, and what that needs.
    pub fn text_of(&self, asked: &[String]) -> String {
        let mut needed: HashSet<&str> = HashSet::new();
        let mut kept = Vec::new();
        for statement in self.all.iter().rev() {
            let Statement { name, text } = statement;
            let is_asked = |name: &str| asked.iter().any(|asked| asked.eq_ignore_ascii_case(name));
            let is_kept = |name: &String| {
                is_asked(name) || needed.contains(&*self.dialect.name(name)) || needed.contains(&**name)
            };
            if name.as_ref().is_none_or(is_kept) {
                needed.extend(named(text));
                kept.push(statement);
            }
        }
        joined(kept.into_iter().rev())
    }
}

fn joined<'a>(statements: impl Iterator<Item = &'a Statement>) -> String {
    statements.map(|statement| &*statement.text).collect::<Vec<_>>().join("\n")
}

/// What a statement names where a table stands, with its quotes, and the words that it calls.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let tables = ["FROM ", "JOIN "].into_iter().flat_map(|before| text.split(before).skip(1)).map(first_name);
    let calls = text.split('(').map(|before| {
        let start = before.rfind(|c: char| !is_of_word(c)).map_or(0, |at| at + 1);
        before.get(start..).unwrap_or_default()
    });
    tables.chain(calls)
}

/// The word, or the name in quotes, that a text begins with.
fn first_name(text: &str) -> &str {
    let Some(quote) = text.chars().next().filter(|c| "\"`".contains(*c)) else {
        return text.split(|c| !is_of_word(c)).next().unwrap_or_default();
    };
    // Of a quote within a name there are two.
    let mut end = 1;
    for part in text.get(1..).unwrap_or_default().split_inclusive(quote) {
        let is_twice = text.get(end + part.len()..).is_some_and(|rest| rest.starts_with(quote));
        end += part.len();
        if part.len() > 1 && !is_twice {
            break;
        }
    }
    text.get(..end).unwrap_or(text)
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_comes_with_what_it_needs() {
        let statements = Statements {
            dialect: Dialect::DuckDb,
            all: vec![
                Statement::kept("SET x = 1;"),
                Statement::of("f", "CREATE MACRO f(x) AS x;"),
                Statement::of("g", "CREATE MACRO g(x) AS x;"),
                Statement::of("A b", "CREATE VIEW \"A b\" AS FROM files;"),
                Statement::of("B\"c", "CREATE VIEW \"B\"\"c\" AS FROM files;"),
                Statement::of("c", "CREATE VIEW \"c\" AS SELECT f(1) FROM \"A b\";"),
                Statement::of("d", "CREATE VIEW \"d\" AS SELECT 1 FROM (SELECT 2 FROM c) JOIN \"B\"\"c\" USING (x);"),
            ],
        };
        let kept = |asked: &str| {
            let text = statements.text_of(&[asked.to_owned()]);
            statements
                .all
                .iter()
                .filter(|one| text.contains(&*one.text))
                .filter_map(|one| one.name.as_deref())
                .collect::<Vec<_>>()
                .join(", ")
        };
        assert_eq!(kept("C"), "f, A b, c");
        assert_eq!(kept("d"), "f, A b, B\"c, c, d");
        assert_eq!(kept("g"), "g");
        assert_eq!(kept("none"), "");
        assert!(statements.text_of(&[]).contains("SET x"));
    }
}
