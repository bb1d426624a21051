//! The schemas of a plan, each once.

use std::collections::HashMap;
use std::sync::Arc;

use crate::schema::model::EventSchema;

/// Numbers schemas in the order in which they are added.
#[derive(Debug, Default)]
pub(super) struct SchemaList {
    schemas: Vec<Arc<EventSchema>>,
    /// By address: tens of thousands of shapes may share one with as many fields, which are compared once. The list keeps
    /// what stands at these addresses.
    by_address: HashMap<usize, (u32, Arc<EventSchema>)>,
    by_value: HashMap<Arc<EventSchema>, u32>,
}

impl SchemaList {
    /// The number of a schema.
    pub(super) fn add(&mut self, schema: &Arc<EventSchema>) -> u32 {
        let address = Arc::as_ptr(schema).addr();
        if let Some((number, _)) = self.by_address.get(&address) {
            return *number;
        }
        // Shapes are far fewer than 2³².
        let next = u32::try_from(self.schemas.len()).unwrap_or(u32::MAX);
        let number = *self.by_value.entry(Arc::clone(schema)).or_insert(next);
        if number == next {
            self.schemas.push(Arc::clone(schema));
        }
        self.by_address.insert(address, (number, Arc::clone(schema)));
        number
    }

    /// The schemas, in the order of their numbers.
    pub(super) fn finish(self) -> Vec<Arc<EventSchema>> {
        self.schemas
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_schemas_have_one_number() {
        let named = |name: &str| Arc::new(EventSchema { event_name: Some(name.to_owned()), ..EventSchema::default() });
        let (first, twin, other) = (named("a"), named("a"), named("b"));
        let mut list = SchemaList::default();
        let numbers = [&first, &other, &twin, &first, &other].map(|schema| list.add(schema));
        assert_eq!(numbers, [0, 1, 0, 0, 1]);
        assert_eq!(list.finish(), [first, other]);
    }
}
