//! What a recording has that the schema lock of the user does not settle.

use std::collections::{BTreeSet, HashMap};

use super::datasets::{self, Dataset, InputIssue};
use super::resolve::Resolved;
use crate::decode::ColumnNames;
use crate::guid::Guid;
use crate::schema::Registry;
use crate::schema::settled::{EventNumber, SettledNames};
use crate::survey::{Issue, IssueCode, Severity};
use crate::table::header;

/// Names that one issue shows.
const SHOWN: usize = 8;

/// One issue for each provider with names of columns or events that the lock would have to settle.
pub(super) fn issues(datasets: &[Dataset], shapes: &[Resolved], registry: &Registry) -> Vec<InputIssue> {
    let mut providers: HashMap<Guid, (&Dataset, Vec<u32>)> = HashMap::new();
    let mut order = Vec::new();
    for dataset in datasets {
        let Some(provider) = dataset.key.provider().filter(|provider| registry.uses_lock(provider)) else { continue };
        let (_, members) = providers.entry(provider).or_insert_with(|| {
            order.push(provider);
            (dataset, Vec::new())
        });
        members.extend_from_slice(&dataset.members);
    }
    let issue = |provider: Guid| {
        let (dataset, members) = providers.get(&provider)?;
        let nothing = SettledNames::default();
        let settled = registry.locked(&provider).map_or(&nothing, |names| &**names);
        let mut new = new_columns(members, shapes, settled);
        new.extend(new_events(members, shapes, registry, settled));
        let message = message(&dataset.folder, &new)?;
        let input = datasets::first_input(members, shapes);
        Some((input, Issue::new(Severity::Info, IssueCode::NotInSchemaLock, message)))
    };
    order.into_iter().filter_map(issue).collect()
}

/// Columns of events that occur; what is only declared is written nowhere.
fn new_columns(members: &[u32], shapes: &[Resolved], settled: &SettledNames) -> Vec<String> {
    let mut names = ColumnNames::new(&header::reserved_names());
    names.adopt(settled);
    let shapes = members.iter().filter_map(|&member| shapes.get(member as usize)?.choice.as_ref());
    shapes.for_each(|choice| names.declare(&choice.candidate.schema.fields));
    let mut new = Vec::new();
    for column in names.settled(true) {
        let known = settled.columns().get(&column.path.to_lowercase()).map_or(&[][..], |known| &known.forms);
        for form in column.forms {
            let is_known = known
                .iter()
                .any(|known| known.family == form.family && form.roles.iter().all(|role| known.roles.contains(role)));
            if !is_known {
                new.push(format!("{} ({form})", column.path));
            }
        }
    }
    new.sort_unstable();
    new
}

fn new_events(members: &[u32], shapes: &[Resolved], registry: &Registry, settled: &SettledNames) -> BTreeSet<String> {
    let event = |shape: &Resolved| {
        let identity = &shape.key.identity;
        let (number, shown) = match identity.event_id() {
            Some(id) if shape.key.metadata.is_empty() => (EventNumber::Id(id), format!("event {id}")),
            // Without a description a classic event is called what its opcode is called everywhere.
            None if identity.family.is_classic() && shape.choice.is_some() => {
                (EventNumber::Opcode(identity.opcode), format!("opcode {}", identity.opcode))
            }
            _ => return None,
        };
        let name = shape.event_name(registry)?;
        let is_known = settled.event_name(number, identity.version).is_some();
        (!is_known).then(|| format!("{shown} version {} ({name})", identity.version))
    };
    members.iter().filter_map(|&member| event(shapes.get(member as usize)?)).collect()
}

fn message(folder: &str, new: &[String]) -> Option<String> {
    let provider = folder.split('/').next().unwrap_or(folder);
    let shown = new.get(..new.len().min(SHOWN))?.join(", ");
    let more = new.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!new.is_empty()).then(|| format!("the schema lock does not have {} names of {provider}: {shown}{more}", new.len()))
}
