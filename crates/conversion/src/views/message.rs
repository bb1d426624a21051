//! What the events of a dataset say in words, as the sidecars of traces have it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// What is known of a shape beside its fields: the number of the event, its version, and the template.
pub type MessageKey = (i64, i64, String);

/// A field of an event, as the table `fields` has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageField {
    /// The wire type, with `[n]` or `[]` for repeated fields.
    pub in_type: String,
    /// What the value stands for, where the wire type does not say it.
    pub out_type: Option<String>,
    /// What of its values has names.
    pub map_kind: Option<String>,
    /// Its columns: that of the value, then those beside it.
    pub columns: Vec<String>,
}

/// The shapes of a dataset that have a template.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    known: BTreeMap<MessageKey, Option<Vec<MessageField>>>,
}

impl Messages {
    /// Adds a shape. Where shapes share a key, and have other fields, nobody can know by the key what their templates insert.
    pub fn add(&mut self, key: MessageKey, fields: Vec<MessageField>) {
        match self.known.entry(key) {
            Entry::Vacant(place) => _ = place.insert(Some(fields)),
            Entry::Occupied(mut known) if known.get().as_ref() != Some(&fields) => _ = known.insert(None),
            Entry::Occupied(_) => {}
        }
    }

    /// The shapes whose fields are known, in the order of their keys.
    pub(super) fn shapes(&self) -> impl Iterator<Item = (&MessageKey, &[MessageField])> {
        self.known.iter().filter_map(|(key, fields)| Some((key, fields.as_deref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_shapes_with_other_fields_is_of_none() {
        let field = |name: &str| vec![MessageField { columns: vec![name.to_owned()], ..MessageField::default() }];
        let key = |id| (id, 0, "%1".to_owned());
        let mut messages = Messages::default();
        for (id, name) in [(1, "A"), (1, "A"), (2, "A"), (2, "B"), (2, "A")] {
            messages.add(key(id), field(name));
        }
        assert_eq!(messages.shapes().collect::<Vec<_>>(), [(&key(1), &field("A")[..])]);
    }
}
