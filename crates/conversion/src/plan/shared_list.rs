//! What shapes share in a plan, each once.

use std::hash::Hash;
use std::sync::Arc;

use hashbrown::HashMap;

/// Numbers schemas, message formats or templates in the order in which they are added.
#[derive(Debug)]
pub(super) struct SharedList<T: ?Sized> {
    items: Vec<Arc<T>>,
    /// By address: tens of thousands of shapes may share one with as many fields, which are compared once. The list keeps
    /// what stands at these addresses.
    by_address: HashMap<usize, (u32, Arc<T>)>,
    by_value: HashMap<Arc<T>, u32>,
}

impl<T: Eq + Hash + ?Sized> SharedList<T> {
    pub(super) fn new() -> Self {
        SharedList { items: Vec::new(), by_address: HashMap::new(), by_value: HashMap::new() }
    }

    /// The number of an item.
    pub(super) fn add(&mut self, item: &Arc<T>) -> u32 {
        let address = Arc::as_ptr(item).addr();
        if let Some((number, _)) = self.by_address.get(&address) {
            return *number;
        }
        // Shapes are far fewer than 2³².
        let next = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
        let number = *self.by_value.entry(Arc::clone(item)).or_insert(next);
        if number == next {
            self.items.push(Arc::clone(item));
        }
        self.by_address.insert(address, (number, Arc::clone(item)));
        number
    }

    /// The items, in the order of their numbers.
    pub(super) fn finish(self) -> Vec<Arc<T>> {
        self.items
    }
}

#[cfg(test)]
mod tests {
    use schema::model::EventSchema;

    use super::*;

    #[test]
    fn equal_schemas_have_one_number() {
        let named = |name: &str| Arc::new(EventSchema { event_name: Some(name.to_owned()), ..EventSchema::default() });
        let (first, twin, other) = (named("a"), named("a"), named("b"));
        let mut list = SharedList::new();
        let numbers = [&first, &other, &twin, &first, &other].map(|schema| list.add(schema));
        assert_eq!(numbers, [0, 1, 0, 0, 1]);
        assert_eq!(list.finish(), [first, other]);
    }
}
