//! What a recording uses of the schema lock, and what the lock does not have.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use base::guid::Guid;
use schema::Registry;
use schema::family::Family;
use schema::lock::SchemaLock;
use schema::settle::EventName;
use schema::settled::{EventNumber, SettledColumn, SettledEvent, SettledNames};
use schema::used::UsedNames;
use serde::{Deserialize, Serialize};

use super::datasets::{self, Dataset, InputIssue};
use super::options::PlanOptions;
use super::resolve::Resolved;
use crate::decode::ColumnNames;
use crate::survey::{Issue, IssueCode, Severity};

/// Names that one issue shows.
const SHOWN: usize = 8;

/// The names that a trace uses of providers whose names a lock settles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockUse {
    /// Their text, which is that of a lock.
    pub text: String,
    /// What distinguishes files that were written with them from others.
    pub hash: String,
}

/// Gives all shapes of an event one name where a lock settles names: the first in the order of bytes of those that it does not
/// have.
pub(super) fn settle_events(shapes: &mut [Resolved], registry: &Registry) {
    let mut names: BTreeMap<(Guid, EventNumber, u16), String> = BTreeMap::new();
    for shape in shapes.iter().filter(|shape| registry.uses_lock(&shape.key.identity.provider)) {
        let Some(event) = own_event(shape).filter(|_| shape.settled_name == EventName::Open) else { continue };
        let Some(name) = named_event(shape, registry) else { continue };
        let first = names.entry(event).or_insert_with(|| name.clone());
        if name < *first {
            *first = name;
        }
    }
    for shape in shapes {
        if let Some(name) = own_event(shape).and_then(|event| names.get(&event)) {
            shape.settled_name = EventName::Named(name.clone());
        }
    }
}

/// What a lock knows an event by; `None` for those that are their names.
fn own_event(shape: &Resolved) -> Option<(Guid, EventNumber, u16)> {
    let identity = &shape.key.identity;
    let number = match identity.event_id() {
        Some(id) if shape.key.metadata.is_empty() => EventNumber::Id(id),
        None if identity.family.is_classic() => EventNumber::Opcode(identity.opcode),
        _ => return None,
    };
    Some((identity.provider, number, identity.version))
}

/// The name of an event, if it is one to settle. Without a description a classic event is called what its opcode is called
/// everywhere.
fn named_event(shape: &Resolved, registry: &Registry) -> Option<String> {
    let is_described = shape.choice.is_some() || !shape.key.identity.family.is_classic();
    let is_settled = matches!(shape.settled_name, EventName::Named(_));
    shape.event_name(registry).filter(|name| (is_described || is_settled) && !name.contains(char::is_control))
}

/// The names that a recording uses of providers whose names a lock settles, and an issue for each of them with names that the
/// lock does not have, where such are to be listed.
pub(super) fn uses(
    datasets: &[Dataset],
    shapes: &[Resolved],
    registry: &Registry,
    options: &PlanOptions,
) -> (Option<LockUse>, Vec<InputIssue>) {
    let Some(lock) = options.schemas.lock.as_deref() else { return (None, Vec::new()) };
    let mut providers: BTreeMap<Guid, (&Dataset, Vec<u32>)> = BTreeMap::new();
    for dataset in datasets {
        let Some(provider) = dataset.key.provider().filter(|provider| registry.uses_lock(provider)) else { continue };
        let (_, members) = providers.entry(provider).or_insert_with(|| (dataset, Vec::new()));
        members.extend_from_slice(&dataset.members);
    }
    let mut used = UsedNames::default();
    for (provider, (dataset, members)) in &providers {
        let own = || members.iter().filter_map(|&member| shapes.get(member as usize));
        let locked = registry.locked(provider).filter(|_| options.all_columns);
        let mut names = SettledNames::new(dataset.folder.split('/').next().unwrap_or_default());
        add_columns(&mut names, dataset.declared.names(shapes), locked.map(|names| &**names), own());
        let unnamed = add_events(&mut names, own(), registry);
        used.add(*provider, names, unnamed);
    }
    let missing = options.reports_new_names.then(|| used.missing_in(lock));
    let issue = |(provider, new): (&Guid, &Arc<SettledNames>)| {
        let (dataset, members) = providers.get(provider)?;
        let issue = Issue::new(Severity::Info, IssueCode::NotInSchemaLock, message(&dataset.folder, new));
        Some((datasets::first_input(members, shapes), issue))
    };
    let issues = missing.iter().flat_map(SchemaLock::providers).filter_map(issue).collect();
    let lock_use = (!used.is_empty()).then(|| LockUse { text: used.text(), hash: used.hash(missing.as_ref()) });
    (lock_use, issues)
}

/// Adds the columns of events that occur, each with the family that has the plain name and those that are used; structures with
/// all members; and all that `locked` has.
fn add_columns<'a>(
    used: &mut SettledNames,
    names: &ColumnNames,
    locked: Option<&SettledNames>,
    shapes: impl Iterator<Item = &'a Resolved>,
) {
    let mut occurring: BTreeMap<String, BTreeSet<Family>> = BTreeMap::new();
    let mut known = HashSet::new();
    let schemas = shapes.filter_map(|shape| Some(&shape.choice.as_ref()?.candidate.schema));
    for schema in schemas.filter(|schema| known.insert(Arc::as_ptr(schema))) {
        for (name, family) in names.names_of(&schema.fields) {
            occurring.entry(name).or_default().insert(family);
        }
    }
    for column in locked.into_iter().flat_map(|names| names.columns().iter()) {
        let families = occurring.entry(column.0.clone()).or_default();
        families.extend(column.1.forms.iter().map(|form| form.family.clone()));
    }
    let mut all = SettledNames::default();
    names.settled(true).into_iter().for_each(|column| all.add_column(column));
    for (key, column) in all.columns() {
        let structure = key.split_once('.').map(|(structure, _)| structure);
        if structure.is_some_and(|structure| used.columns().contains_key(structure)) {
            used.add_column(column.clone());
        } else if let Some(families) = occurring.get(key) {
            used.add_column(only(column, families));
        } else if used.generates(key) {
            used.add_column(only(column, &BTreeSet::new()));
        }
    }
}

/// The column with the family that has the plain name and some others.
fn only(column: &SettledColumn, families: &BTreeSet<Family>) -> SettledColumn {
    let (path, mut forms) = (column.path.clone(), column.forms.clone());
    let plain = forms.first().map(|form| form.family.clone());
    forms.retain(|form| Some(&form.family) == plain.as_ref() || families.contains(&form.family));
    SettledColumn { path, forms }
}

/// Adds the names of events; returns the events that have none.
fn add_events<'a>(
    used: &mut SettledNames,
    shapes: impl Iterator<Item = &'a Resolved>,
    registry: &Registry,
) -> Vec<SettledEvent> {
    let mut unnamed = SettledNames::default();
    for shape in shapes {
        let Some((_, number, version)) = own_event(shape) else { continue };
        let event = |name| SettledEvent { number, versions: version..=version, name };
        match named_event(shape, registry) {
            Some(name) => used.merge_event(event(name)),
            // Together with those that follow it, as those with a name are.
            None => unnamed.merge_event(event("-".to_owned())),
        };
    }
    unnamed.events().map(|event| SettledEvent { name: String::new(), ..event.clone() }).collect()
}

fn message(folder: &str, new: &SettledNames) -> String {
    let provider = folder.split('/').next().unwrap_or(folder);
    let columns = new.columns().values();
    let columns = columns.flat_map(|column| column.forms.iter().map(|form| format!("{} ({form})", column.path)));
    let all: Vec<String> = columns.chain(new.events().map(title)).collect();
    let shown = all.get(..SHOWN).unwrap_or(&all).join(", ");
    let more = all.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("the schema lock does not have {} names of {provider}: {shown}{more}", all.len())
}

fn title(event: &SettledEvent) -> String {
    let number = match event.number {
        EventNumber::Id(id) => format!("event {id}"),
        EventNumber::Opcode(opcode) => format!("opcode {opcode}"),
    };
    let (first, last) = event.versions.clone().into_inner();
    let versions = if first == last { format!("version {first}") } else { format!("versions {first}-{last}") };
    format!("{number} {versions} ({})", event.name)
}
