//! A document: values by the paths of their fields.

use serde_json::{Map, Value};

/// What is said of an event besides what it proves.
#[derive(Clone, Copy)]
pub(super) struct Told<'a> {
    /// The name of the trace.
    pub(super) trace: &'a str,
    /// The name of the provider.
    pub(super) provider: Option<&'a str>,
    /// The event in words.
    pub(super) message: &'a dyn Fn() -> String,
    /// When it was, Unix nanoseconds.
    pub(super) time: i64,
    /// Its name.
    pub(super) name: Option<&'a str>,
    /// Its number.
    pub(super) id: Option<i64>,
    /// Its place among all events.
    pub(super) seq: Option<i64>,
    /// The thread that it was recorded in.
    pub(super) thread: Option<i64>,
}

/// What became of an event.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Written {
    /// Its document.
    Document(Document),
    /// The standard does not name such events.
    NotNamed,
    /// The standard demands what is not recorded.
    Lacking,
}

/// Values by paths such as `process.parent.pid`, in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Document {
    fields: Vec<(String, Value)>,
}

impl Document {
    /// Adds a value.
    pub(super) fn put(&mut self, path: &str, value: impl Into<Value>) {
        self.fields.push((path.to_owned(), value.into()));
    }

    /// Adds a value where there is one.
    pub(super) fn maybe(&mut self, path: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.put(path, value);
        }
    }

    /// The value of a field.
    pub(crate) fn get(&self, path: &str) -> Option<&Value> {
        self.fields.iter().find(|(own, _)| own == path).map(|(_, value)| value)
    }

    /// Objects in objects, as the paths say.
    pub(crate) fn object(self) -> Value {
        let mut object = Map::new();
        for (path, value) in self.fields {
            insert(&mut object, &path, value);
        }
        Value::Object(object)
    }
}

fn insert(object: &mut Map<String, Value>, path: &str, value: Value) {
    let Some((first, rest)) = path.split_once('.') else {
        object.insert(path.to_owned(), value);
        return;
    };
    if let Value::Object(inner) = object.entry(first).or_insert_with(|| Value::Object(Map::new())) {
        insert(inner, rest, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_objects_in_objects() {
        let mut document = Document::default();
        document.put("@timestamp", "now");
        document.put("process.pid", 4);
        document.put("event.type", vec!["start"]);
        document.maybe("process.name", None::<&str>);
        document.maybe("process.parent.pid", Some(0));
        assert_eq!((document.get("process.pid"), document.get("process.name")), (Some(&Value::from(4)), None));
        let text = document.object().to_string();
        assert_eq!(text, r#"{"@timestamp":"now","process":{"pid":4,"parent":{"pid":0}},"event":{"type":["start"]}}"#);
    }
}
