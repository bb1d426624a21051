//! What is declared for a provider, and what its columns are called.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use base::guid::Guid;
use hashbrown::HashSet;
use schema::Registry;
use schema::declared::Declared;
use schema::model::{EventSchema, Field};
use schema::pack::Pack;
use schema::registry::DeclaringSource;
use schema::settled::{SettledColumn, SettledNames};

use super::pack_names::{PackNames, settled_names};
use super::resolve::Resolved;
use crate::decode::ColumnNames;

/// What is declared for a provider.
#[derive(Debug, Default)]
pub struct Declarations {
    /// All events that the sources in use by its shapes declare for it, by id (or opcode, of classic events).
    pub(super) events: BTreeMap<u16, Vec<Declared>>,
    /// What settles the names of its columns: names that are settled already, by the pack or a lock, and the
    /// events that the pack knows.
    settled_names: Option<Arc<SettledNames>>,
    of_pack: Option<Arc<PackNames>>,
    /// Whether its names are those of a lock of the user's, be they in it or not.
    is_locked: bool,
    /// All of its shapes.
    members: Vec<u32>,
    /// The names of its columns, once they are asked for.
    names: OnceLock<Arc<ColumnNames>>,
}

impl Declarations {
    /// That of a provider with these shapes; `None` for what is no provider.
    pub fn of(provider: Option<Guid>, members: &[u32], shapes: &[Resolved], registry: &Registry) -> Declarations {
        let mut declaring_sources: Vec<(Guid, &DeclaringSource)> = Vec::new();
        let mut known = HashSet::new();
        for &member in members {
            let shape = &shapes[member as usize];
            let Some(choice) = &shape.choice else { continue };
            let (provider, declaring_source) = (shape.schema_provider, &choice.candidate.declaring_source);
            if known.insert((provider, declaring_source.rank(), place(declaring_source))) {
                declaring_sources.push((provider, declaring_source));
            }
        }
        // Not in the order in which the shapes of this trace happen to use them.
        declaring_sources.sort_by_key(|(_, declaring_source)| declaring_source.rank());
        let mut events: BTreeMap<u16, Vec<Declared>> = BTreeMap::new();
        for declared in declaring_sources
            .into_iter()
            .flat_map(|(provider, declaring_source)| registry.declared(&provider, declaring_source))
        {
            events.entry(declared.id).or_default().push(declared);
        }
        let of_pack = provider.and_then(|provider| PackNames::of(&provider, registry));
        let settled_names = provider.and_then(|provider| registry.settled_names(&provider));
        let is_locked = provider.is_some_and(|provider| registry.uses_lock(&provider));
        Declarations { events, settled_names, of_pack, is_locked, members: members.to_vec(), names: OnceLock::new() }
    }

    /// The names of the provider's columns. They follow from all that is declared for it, be it present, wanted, in this
    /// table or not.
    pub fn names(&self, shapes: &[Resolved]) -> &ColumnNames {
        self.names.get_or_init(|| {
            if let Some(of_pack) = self.of_pack.as_ref().filter(|_| !self.is_locked) {
                return self.with_declared(Arc::clone(of_pack.names()), shapes);
            }
            let names = self.named(self.adopted(shapes).as_deref(), shapes);
            if !self.is_locked {
                return names;
            }
            // As if the lock had all of them: columns stand in the same order whatever it has of them.
            let mut settled = SettledNames::default();
            for mut column in names.settled(true) {
                column.sort();
                settled.add_column(column);
            }
            self.named(Some(&settled), shapes)
        })
    }

    /// The names of its columns, of which some are settled already, those of the pack's events behind them.
    fn named(&self, settled: Option<&SettledNames>, shapes: &[Resolved]) -> Arc<ColumnNames> {
        let events = self.of_pack.as_ref().map_or(&[][..], |of_pack| &of_pack.events);
        self.with_declared(Arc::new(settled_names(settled, events)), shapes)
    }

    /// Settled names, and behind them those that this trace declares besides.
    fn with_declared(&self, mut names: Arc<ColumnNames>, shapes: &[Resolved]) -> Arc<ColumnNames> {
        let is_settled = |schema| self.of_pack.as_ref().is_some_and(|of_pack| of_pack.has(schema));
        let declared = self.declared(shapes).filter(|schema| !is_settled(schema));
        declared.for_each(|schema| Arc::make_mut(&mut names).declare(&schema.fields));
        names
    }

    /// What this trace declares for it: all of its events, then what is chosen for those that occur.
    fn declared<'a>(&'a self, shapes: &'a [Resolved]) -> impl Iterator<Item = &'a Arc<EventSchema>> {
        let declared = self.events.values().flatten().map(|event| &event.schema);
        let mut known = HashSet::new();
        declared.chain(self.chosen(shapes)).filter(move |schema| known.insert(Arc::as_ptr(schema)))
    }

    /// The schemas of its events that occur.
    fn chosen<'a>(&'a self, shapes: &'a [Resolved]) -> impl Iterator<Item = &'a Arc<EventSchema>> {
        let shapes = self.members.iter().filter_map(|&member| shapes.get(member as usize));
        shapes.filter_map(|shape| shape.choice.as_ref()).map(|choice| &choice.candidate.schema)
    }

    /// What is settled already of the names that its columns have; where the pack does not know the provider, of those that
    /// others share, too.
    fn adopted(&self, shapes: &[Resolved]) -> Option<Cow<'_, SettledNames>> {
        let own = self.settled_names.as_deref().map(Cow::Borrowed);
        let recurring = if self.of_pack.is_none() { self.recurring(shapes) } else { Vec::new() };
        if recurring.is_empty() {
            return own;
        }
        let mut names = own.unwrap_or_default();
        recurring.into_iter().for_each(|column| names.to_mut().add_column(column.clone()));
        Some(names)
    }

    /// The names that it shares with other providers.
    fn recurring(&self, shapes: &[Resolved]) -> Vec<&'static SettledColumn> {
        let declared = self.events.values().flatten().map(|event| &event.schema);
        let fields: Vec<&Field> = self.chosen(shapes).chain(declared).flat_map(|schema| &schema.fields).collect();
        let has = |key: &str| fields.iter().any(|field| field.name.eq_ignore_ascii_case(key));
        Pack::builtin().recurring_names().only(has).collect()
    }

    /// What settles the names of its columns beside the events that the pack knows; `None` where nothing settles them. A table
    /// with all columns has these and no others that a trace declares, so that it is the same in every trace.
    pub fn settled_columns(&self) -> Option<&SettledNames> {
        static NONE: SettledNames = SettledNames::EMPTY;
        let is_settled =
            |names: &&SettledNames| self.is_locked || self.of_pack.is_some() || !names.columns().is_empty();
        Some(self.settled_names.as_deref().unwrap_or(&NONE)).filter(is_settled)
    }

    /// The events of which a table with all columns has those: what settles them, else what is declared; by id.
    pub fn in_range(&self, ids: RangeInclusive<u16>) -> impl Iterator<Item = &Declared> {
        let settled = self.of_pack.iter().flat_map(|of_pack| &of_pack.events).filter({
            let ids = ids.clone();
            move |event| ids.contains(&event.id)
        });
        let open = self.settled_columns().is_none();
        settled.chain(self.events.range(ids).filter(move |_| open).flat_map(|(_, declared)| declared))
    }
}

/// What distinguishes manifests. Libraries of other kinds that have the same rank declare the same events.
fn place(declaring_source: &DeclaringSource) -> usize {
    match declaring_source {
        DeclaringSource::Manifest(manifest) => Arc::as_ptr(manifest).addr(),
        _ => 0,
    }
}
