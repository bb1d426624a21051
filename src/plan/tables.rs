//! Datasets: which shapes go to which, what they are called, and which columns they have.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::filter::ShapeFacts;
use super::header::{self, HeaderColumn};
use super::resolve::Resolved;
use super::{PlanOptions, Sieve};
use crate::dataset::names;
use crate::decode::{self, TableColumns};
use crate::event::Identity;
use crate::guid::Guid;
use crate::layout::header::HeaderKind;
use crate::layout::hook;
use crate::schema::Registry;
use crate::schema::model::{EventSchema, Field};
use crate::schema::registry::{Declared, Library};

/// What decides the dataset of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DatasetKey {
    /// A provider or event class.
    Provider(Guid),
    /// A kernel group without a known class.
    Group(u8),
    /// WPP messages.
    Message,
    /// Timed headers.
    Timed,
    /// Error headers.
    Error,
    /// WNODE headers.
    Wnode,
}

impl DatasetKey {
    /// The dataset of a shape.
    pub fn of(identity: &Identity) -> DatasetKey {
        match identity.kind {
            HeaderKind::Message => DatasetKey::Message,
            HeaderKind::Timed => DatasetKey::Timed,
            HeaderKind::Error => DatasetKey::Error,
            HeaderKind::Wnode => DatasetKey::Wnode,
            kind if kind.is_hook() && hook::kernel_class(identity.group).is_none() => DatasetKey::Group(identity.group),
            _ => DatasetKey::Provider(identity.provider),
        }
    }

    fn provider(self) -> Option<Guid> {
        match self {
            DatasetKey::Provider(guid) => Some(guid),
            _ => None,
        }
    }

    fn fixed_name(self) -> Option<String> {
        match self {
            DatasetKey::Provider(guid) => hook::kernel_class_of(&guid).map(|class| format!("Kernel-{}", class.name)),
            DatasetKey::Group(group) => Some(format!("Kernel-Group-{group:02X}")),
            DatasetKey::Message => Some("WPP".to_owned()),
            DatasetKey::Timed => Some("Header-Timed".to_owned()),
            DatasetKey::Error => Some("Header-Error".to_owned()),
            DatasetKey::Wnode => Some("Header-Wnode".to_owned()),
        }
    }
}

/// One dataset of the trace.
#[derive(Debug)]
pub struct TablePlan {
    /// Its folder below `events`.
    pub dataset: String,
    /// The provider; `None` for messages and headers without one.
    pub provider_id: Option<Guid>,
    /// Its name, if anything names it.
    pub provider_name: Option<String>,
    /// The header columns.
    pub header: Vec<HeaderColumn>,
    /// The payload columns.
    pub columns: TableColumns,
    /// The shapes whose events go here, ascending.
    pub shapes: Vec<u32>,
}

/// How the events of one shape are decoded into their table.
#[derive(Debug)]
pub struct ShapeColumns {
    /// The compiled layout.
    pub plan: decode::Plan,
    /// The payload fields and their columns.
    pub fields: Vec<decode::FieldRow>,
}

/// Groups shapes into tables, in the order of their folders' keys, and gives every table its columns. Shapes of which no
/// event passes the sieve have no columns.
pub fn tables(
    shapes: &[Resolved],
    registry: &Registry,
    options: &PlanOptions,
    mut sieve: Option<&mut Sieve>,
) -> (Vec<TablePlan>, Vec<Option<ShapeColumns>>) {
    let mut groups: BTreeMap<DatasetKey, Vec<u32>> = BTreeMap::new();
    for (shape, number) in shapes.iter().zip(0..) {
        groups.entry(DatasetKey::of(&shape.key.identity)).or_default().push(number);
    }
    let named: Vec<_> = groups.keys().map(|key| provider_name(*key, &groups[key], shapes, registry)).collect();
    let pairs: Vec<_> = groups.keys().zip(&named).map(|(key, name)| (key.provider(), name.as_deref())).collect();
    let folders = names::dataset_names(&pairs);
    let mut columns: Vec<Option<ShapeColumns>> = shapes.iter().map(|_| None).collect();
    let tables = groups.into_iter().zip(named).zip(folders).map(|(((key, members), name), dataset)| {
        let mut passing = members.clone();
        if let Some(sieve) = &mut sieve {
            let names = (name.as_deref(), dataset.as_str());
            passing.retain(|&shape| judge(sieve, shape, &shapes[shape as usize], names, registry));
        }
        let payload = settle(&members, &passing, shapes, registry, options, &mut columns);
        TablePlan {
            dataset,
            provider_id: key.provider(),
            provider_name: name.filter(|_| key.provider().is_some()),
            header: header_columns(key, &members, shapes),
            columns: payload,
            shapes: members,
        }
    });
    (tables.collect(), columns)
}

/// Traits on the events name a provider best; kernel classes have their own names.
fn provider_name(key: DatasetKey, members: &[u32], shapes: &[Resolved], registry: &Registry) -> Option<String> {
    let traits = || members.iter().find_map(|&shape| shapes[shape as usize].traits_name.clone());
    key.fixed_name().or_else(traits).or_else(|| registry.provider_name(&key.provider()?))
}

fn header_columns(key: DatasetKey, members: &[u32], shapes: &[Resolved]) -> Vec<HeaderColumn> {
    let mut columns = header::COMMON.to_vec();
    if members.iter().any(|&shape| shapes[shape as usize].key.identity.kind.is_instance()) {
        columns.extend(header::INSTANCE);
    }
    match key {
        DatasetKey::Message => columns.extend(header::MESSAGE),
        DatasetKey::Timed => columns.extend(header::TIMED),
        _ => {}
    }
    columns
}

/// Whether any event of a shape passes the sieve.
fn judge(
    sieve: &mut Sieve,
    number: u32,
    shape: &Resolved,
    (provider_name, dataset): (Option<&str>, &str),
    registry: &Registry,
) -> bool {
    let event_name = shape.event_name(registry);
    let facts = ShapeFacts {
        identity: &shape.key.identity,
        provider_name,
        dataset,
        event_name: event_name.as_deref(),
        range: (shape.first_ns, shape.last_ns),
    };
    sieve.judge(number, &facts)
}

/// Gives a table its payload columns: over all events that the winning sources declare, then only those present and
/// not filtered away.
fn settle(
    members: &[u32],
    passing: &[u32],
    shapes: &[Resolved],
    registry: &Registry,
    options: &PlanOptions,
    columns: &mut [Option<ShapeColumns>],
) -> TableColumns {
    let declared = declared(members, shapes, registry);
    let layouts = Layouts::new(&declared);
    let reserved = header::reserved_names();
    let all = decode::settle(&layouts.distinct, &reserved, options.types);
    let present: Vec<(u32, usize)> = passing
        .iter()
        .filter_map(|&shape| {
            let schema = &shapes[shape as usize].choice.as_ref()?.candidate.schema;
            Some((shape, layouts.number(schema)?))
        })
        .collect();
    let kept = if options.all_columns {
        all
    } else {
        all.keep(|layout| present.iter().any(|&(_, present)| present == layout))
    };
    for (shape, layout) in present {
        let resolved = &shapes[shape as usize];
        let Some(choice) = &resolved.choice else { continue };
        let (schema, pointer_size) = (&choice.candidate.schema, resolved.key.identity.pointer_size);
        columns[shape as usize] = Some(ShapeColumns {
            plan: decode::Plan::compile(schema, kept.binding(layout), &kept.columns, pointer_size),
            fields: kept.field_rows(layout, schema),
        });
    }
    kept
}

/// The layouts to settle, in the order in which they claim names: id, version, rank of the source, position. Layouts
/// that may be wrong claim last.
fn declared(members: &[u32], shapes: &[Resolved], registry: &Registry) -> Vec<Declared> {
    let mut libraries: Vec<&Library> = Vec::new();
    let mut declared = Vec::new();
    let present = members.iter().filter_map(|&shape| {
        let shape = &shapes[shape as usize];
        shape.choice.as_ref().map(|choice| (shape, choice))
    });
    for (shape, choice) in present {
        let identity = &shape.key.identity;
        let library = &choice.candidate.library;
        if !libraries.iter().any(|known| is_same(known, library)) {
            libraries.push(library);
            declared.extend(registry.declared(&shape.schema_provider, library));
        }
        declared.push(Declared {
            is_doubtful: choice.candidate.trust.is_doubtful(),
            id: identity.event_id().unwrap_or(u16::from(identity.opcode)),
            version: identity.version,
            schema: Arc::clone(&choice.candidate.schema),
        });
    }
    declared.sort_by(|a, b| {
        let key = |d: &Declared| (d.is_doubtful, d.id, d.version);
        key(a).cmp(&key(b))
    });
    declared
}

fn is_same(a: &Library, b: &Library) -> bool {
    match (a, b) {
        (Library::Manifest(a), Library::Manifest(b)) => Arc::ptr_eq(a, b),
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

/// The distinct field lists among declared events, in order.
struct Layouts<'a> {
    distinct: Vec<&'a EventSchema>,
    numbers: HashMap<&'a [Field], usize>,
}

impl<'a> Layouts<'a> {
    fn new(declared: &'a [Declared]) -> Self {
        let mut layouts = Layouts { distinct: Vec::new(), numbers: HashMap::new() };
        for event in declared {
            let number = layouts.distinct.len();
            let known = *layouts.numbers.entry(&event.schema.fields).or_insert(number);
            if known == number {
                layouts.distinct.push(&event.schema);
            }
        }
        layouts
    }

    fn number(&self, schema: &EventSchema) -> Option<usize> {
        self.numbers.get(schema.fields.as_slice()).copied()
    }
}
