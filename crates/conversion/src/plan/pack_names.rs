//! What the pack declares for a provider, made once for all recordings of the process.
//!
//! It does not depend on the recording, and where many small ones are converted it would cost more than their events.

use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use base::guid::Guid;
use hashbrown::{HashMap, HashSet};
use schema::Registry;
use schema::declared::Declared;
use schema::model::EventSchema;
use schema::pack::Pack;
use schema::settled::SettledNames;

use crate::decode::ColumnNames;
use crate::table::header;

/// What the pack declares for a provider that it knows.
#[derive(Debug)]
pub(super) struct PackNames {
    provider: Guid,
    /// All events, in the order in which they settle names.
    pub(super) events: Vec<Declared>,
    /// The names of its columns, once they are asked for.
    names: OnceLock<Arc<ColumnNames>>,
    /// The events' schemas, by address: the pack never drops them.
    schemas: HashSet<usize>,
}

/// Those that were asked for, no more than there are providers in the pack.
static ASKED_FOR: LazyLock<Mutex<HashMap<Guid, Arc<PackNames>>>> = LazyLock::new(Mutex::default);

impl PackNames {
    /// Those of a provider; `None` where the pack does not know it.
    pub(super) fn of(provider: &Guid, registry: &Registry) -> Option<Arc<PackNames>> {
        // A value is there whole or not at all.
        let lock = || ASKED_FOR.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(provider) {
            return Some(Arc::clone(known));
        }
        let events = registry.settled(provider);
        if events.is_empty() {
            return None;
        }
        let schemas = events.iter().map(|event| address(&event.schema)).collect();
        let names = Arc::new(PackNames { provider: *provider, events, names: OnceLock::new(), schemas });
        Some(Arc::clone(lock().entry(*provider).or_insert(names)))
    }

    /// The names of its columns, where no lock settles others.
    pub(super) fn names(&self) -> &Arc<ColumnNames> {
        self.names.get_or_init(|| {
            let kept = Pack::builtin().kept(&self.provider);
            Arc::new(settled_names(kept.as_deref(), &self.events))
        })
    }

    /// Whether a schema is that of one of its events.
    pub(super) fn has(&self, schema: &Arc<EventSchema>) -> bool {
        self.schemas.contains(&address(schema))
    }
}

/// The names of columns that are settled before a recording declares any: those that are `adopted`, then those of events of the pack.
pub(super) fn settled_names(adopted: Option<&SettledNames>, events: &[Declared]) -> ColumnNames {
    let mut names = ColumnNames::new(&header::reserved_names());
    adopted.into_iter().for_each(|adopted| names.adopt(adopted));
    let mut known = HashSet::new();
    let new = events.iter().filter(|event| known.insert(address(&event.schema)));
    new.for_each(|event| names.settle(&event.schema.fields));
    // In front of all that a recording declares, so that they are in the same order in every trace.
    names.add_undeclared();
    if !events.is_empty() {
        names.settle_labels();
    }
    names
}

fn address(schema: &Arc<EventSchema>) -> usize {
    Arc::as_ptr(schema).addr()
}

#[cfg(test)]
mod tests {
    use schema::eventsource::EventSourceManifests;
    use schema::user::UserSchemas;

    use super::*;

    #[test]
    fn names_are_made_once() {
        let registry = || Registry::new(EventSourceManifests::default(), Vec::new(), Arc::new(UserSchemas::default()));
        let of = |guid: &str| PackNames::of(&guid.parse().unwrap(), &registry());
        // Microsoft-Windows-Kernel-Process.
        let [one, other] = [(); 2].map(|()| of("22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716").unwrap());
        assert!(Arc::ptr_eq(&one, &other) && Arc::ptr_eq(one.names(), other.names()));
        assert!(!one.names().settled(true).is_empty());
        let first = &one.events[0].schema;
        assert!(one.has(first) && !one.has(&Arc::new(EventSchema::clone(first))));
        assert!(of("11111111-2222-3333-4444-555555555555").is_none());
    }
}
