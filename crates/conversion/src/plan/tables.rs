//! Datasets and the columns they have.

use std::collections::BTreeSet;
use std::sync::Arc;

use base::error::Result;
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use etl::layout::header::HeaderFamily;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use rayon::prelude::*;
use schema::Registry;
use schema::declared::Declared;
use schema::model::{EventSchema, Field};
use schema::pack::EventFacts;

use super::datasets::{self, Dataset, DatasetKey, DatasetSplit, InputIssue};
use super::filter::{CompiledFilter, ShapeInfo};
use super::locked::{self, LockUse};
use super::options::PlanOptions;
use super::resolve::Resolved;
use super::result::PlannedTable;
use crate::decode::{self, PayloadColumns};
use crate::survey::{Issue, IssueCode, Severity};
use crate::table::header::{self, HeaderColumn};

/// What becomes of the shapes of a recording.
#[derive(Debug)]
pub struct Tables {
    /// The datasets.
    pub tables: Vec<PlannedTable>,
    /// How the events of each shape are decoded; `None` where they are not.
    pub columns: Vec<Option<ShapeColumns>>,
    /// The names that a lock settles; `None` without a lock, or providers that it could settle.
    pub lock_use: Option<LockUse>,
    /// What is unusual about the datasets.
    pub issues: Vec<InputIssue>,
}

/// Where the fields of a shape go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShapeColumns {
    /// The binding among those of its table.
    pub binding: u32,
    /// How many rows it has in the sidecar's table `fields`.
    pub field_rows: usize,
}

/// Groups shapes into tables and gives every table its columns. Shapes of which no event passes the filter have no
/// columns, nor have those of the dataset `Other`.
///
/// # Errors
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub fn tables(
    shapes: &[Resolved],
    registry: &Registry,
    options: &PlanOptions,
    filter: Option<&mut CompiledFilter>,
    progress: &dyn Progress,
) -> Result<Tables> {
    let (datasets, mut issues, lock_use, passing) = timed(progress, Step::Plan, || {
        let (datasets, mut issues) = datasets::datasets(shapes, registry, options.layout);
        let (lock_use, new_names) = locked::uses(&datasets, shapes, registry, options);
        issues.extend(new_names);
        let passing = passing(&datasets, shapes, registry, filter);
        (datasets, issues, lock_use, passing)
    });
    let settled = settle_all(&datasets, &passing, MAX_ALL_COLUMNS, &|dataset, passing, room| {
        stop_if_cancelled(progress)?;
        Ok(timed(progress, Step::Schema, || settle(dataset, passing, shapes, options, room)))
    })?;
    let mut columns: Vec<Option<ShapeColumns>> = shapes.iter().map(|_| None).collect();
    let tables = datasets.into_iter().zip(settled).map(|(dataset, settled)| {
        settled.shapes.iter().for_each(|&(shape, found)| columns[shape as usize] = Some(found));
        table(dataset, settled, shapes, options)
    });
    let tables: Vec<PlannedTable> = tables.collect();
    let unusual = |table: &PlannedTable| {
        let input = datasets::first_input(&table.shapes, shapes);
        let both = [left_out(table), wide(table, options.layout)];
        both.into_iter().flatten().map(move |issue| (input, issue)).collect::<Vec<_>>()
    };
    issues.extend(tables.iter().flat_map(unusual));
    Ok(Tables { tables, columns, lock_use, issues })
}

/// Payload columns that a table may have; the values of a structure's members count each.
const MAX_COLUMNS: usize = 4096;

/// Payload columns that all tables together may have: until the last row is written, each takes a kilobyte or more, and
/// three bytes of a trace can ask for one.
const MAX_ALL_COLUMNS: usize = 1 << 17;

/// Tables that are settled side by side before their columns are counted.
const TOGETHER: usize = 32;

/// Gives every table its columns, in order, while there is room for columns. The result is that of one after the other:
/// where several that were settled side by side take more than is left, those behind are settled again.
fn settle_all(
    datasets: &[Dataset],
    passing: &[Vec<u32>],
    mut room: usize,
    settle: &(impl Fn(&Dataset, &[u32], usize) -> Result<Settled> + Sync),
) -> Result<Vec<Settled>> {
    let mut all = Vec::with_capacity(datasets.len());
    for (datasets, passing) in datasets.chunks(TOGETHER).zip(passing.chunks(TOGETHER)) {
        let together = datasets.par_iter().zip(passing).map(|(dataset, passing)| settle(dataset, passing, room));
        let together: Vec<Settled> = together.collect::<Result<_>>()?;
        for ((dataset, passing), settled) in datasets.iter().zip(passing).zip(together) {
            let fits = settled.columns.leaves() <= room;
            let settled = if fits { settled } else { settle(dataset, passing, room)? };
            room = room.saturating_sub(settled.columns.leaves());
            all.push(settled);
        }
    }
    Ok(all)
}

fn left_out(table: &PlannedTable) -> Option<Issue> {
    let limit = if table.columns.leaves().saturating_add(table.left_out) > MAX_COLUMNS {
        format!("{MAX_COLUMNS} are the most")
    } else {
        format!("{MAX_ALL_COLUMNS} are the most of all tables")
    };
    let message = format!(
        "the table {} would have {} more payload columns, {limit}: what they would hold stays in payload",
        table.dataset, table.left_out
    );
    (table.left_out > 0).then(|| Issue::new(Severity::Warning, IssueCode::ColumnsLeftOut, message))
}

/// Columns beyond which a table is called wide: readers slow down, and NULLs alone fill the footer.
const WIDE: usize = 1000;

fn wide(table: &PlannedTable, layout: DatasetSplit) -> Option<Issue> {
    let columns = table.header.len() + table.columns.columns.len();
    let advice = match layout {
        DatasetSplit::Provider => ": --layout event makes one table of each event",
        DatasetSplit::Event => "",
    };
    (columns > WIDE).then(|| {
        let message = format!("the table {} has {columns} columns{advice}", table.dataset);
        Issue::new(Severity::Warning, IssueCode::WideTable, message)
    })
}

/// The shapes of each group of which some event passes the filter.
fn passing(
    datasets: &[Dataset],
    shapes: &[Resolved],
    registry: &Registry,
    mut filter: Option<&mut CompiledFilter>,
) -> Vec<Vec<u32>> {
    let of_dataset = |dataset: &Dataset| {
        let mut passing = dataset.members.clone();
        if let Some(filter) = &mut filter {
            let names = (dataset.provider_name.as_deref(), dataset.folder.as_str());
            passing.retain(|&shape| decide(filter, shape, &shapes[shape as usize], names, registry));
        }
        passing
    };
    datasets.iter().map(of_dataset).collect()
}

/// The payload columns of a table, and how its passing shapes are decoded.
#[derive(Debug, Default)]
struct Settled {
    columns: PayloadColumns,
    left_out: usize,
    shapes: Vec<(u32, ShapeColumns)>,
}

/// The table of a group.
fn table(dataset: Dataset, settled: Settled, shapes: &[Resolved], options: &PlanOptions) -> PlannedTable {
    PlannedTable {
        dataset: dataset.folder,
        provider_id: dataset.key.provider(),
        provider_name: dataset.provider_name,
        header: header_columns(dataset.key, &dataset.members, shapes, options),
        columns: settled.columns,
        left_out: settled.left_out,
        shapes: dataset.members,
    }
}

fn header_columns(key: DatasetKey, members: &[u32], shapes: &[Resolved], options: &PlanOptions) -> Vec<HeaderColumn> {
    let mut columns = if options.renders_messages { header::with_rendered() } else { header::COMMON.to_vec() };
    if members.iter().any(|&shape| shapes[shape as usize].key.identity.family.is_instance()) {
        columns.extend(header::INSTANCE);
    }
    let has = |family| members.iter().any(|&shape| shapes[shape as usize].key.identity.family == family);
    match key {
        DatasetKey::Message => columns.extend(header::MESSAGE),
        DatasetKey::Timed => columns.extend(header::TIMED),
        DatasetKey::Other => {
            columns.extend(header::OTHER);
            columns.extend(header::OTHER_MESSAGE.into_iter().filter(|_| has(HeaderFamily::Message)));
        }
        _ => {}
    }
    columns
}

/// Whether any event of a shape passes the filter.
fn decide(
    filter: &mut CompiledFilter,
    number: u32,
    shape: &Resolved,
    (provider_name, dataset): (Option<&str>, &str),
    registry: &Registry,
) -> bool {
    let event_name = shape.event_name(registry);
    let info = ShapeInfo {
        identity: &shape.key.identity,
        provider_name,
        dataset,
        event_name: event_name.as_deref(),
        keyword_names: shape.choice.as_ref().map_or(&[], |choice| &choice.candidate.schema.keyword_names),
        range: (shape.first_ns, shape.last_ns),
    };
    filter.decide(number, &info)
}

/// Gives a table its payload columns: those of the events that are present and not filtered away, or all, as far as there
/// is `room` for columns.
fn settle(dataset: &Dataset, passing: &[u32], shapes: &[Resolved], options: &PlanOptions, room: usize) -> Settled {
    if dataset.key == DatasetKey::Other {
        return Settled::default();
    }
    let declared = declared(dataset, passing, shapes, options.all_columns);
    let layouts = Layouts::new(&declared);
    let names = dataset.declared.names(shapes);
    let all = match dataset.declared.settled_columns() {
        _ if !options.all_columns || dataset.event.is_some() => {
            decode::assign_named(names, &layouts.distinct, options.types)
        }
        Some(settled) => decode::assign_settled(names, settled, &layouts.distinct, options.types),
        None => decode::assign_all(names, &layouts.distinct, options.types),
    };
    let present: Vec<(u32, usize)> = passing
        .iter()
        .filter_map(|&shape| {
            let schema = &shapes[shape as usize].choice.as_ref()?.candidate.schema;
            Some((shape, layouts.number(schema)?))
        })
        .collect();
    let used: BTreeSet<usize> = present.iter().map(|&(_, layout)| layout).collect();
    let (kept, left_out) = all.first(room.min(MAX_COLUMNS));
    let kept = kept.with_bindings(&used);
    let rows = |(binding, &layout): (usize, &usize)| {
        (
            layout,
            ShapeColumns {
                binding: u32::try_from(binding).unwrap_or(u32::MAX),
                field_rows: kept.field_columns(binding, layouts.distinct[layout], EventFacts::default()).len(),
            },
        )
    };
    let bound: HashMap<usize, ShapeColumns> = used.iter().enumerate().map(rows).collect();
    let columns = present.into_iter().map(|(shape, layout)| (shape, bound[&layout])).collect();
    Settled { columns: kept, left_out, shapes: columns }
}

/// The layouts of a table: those of its passing shapes and, where it has all columns, of all events declared for it.
fn declared(dataset: &Dataset, passing: &[u32], shapes: &[Resolved], all_columns: bool) -> Vec<Declared> {
    let mut declared: Vec<Declared> =
        if all_columns { dataset.declared_events().cloned().collect() } else { Vec::new() };
    let own = if all_columns { &dataset.members } else { passing };
    declared.extend(own.iter().filter_map(|&shape| {
        let shape = &shapes[shape as usize];
        let choice = shape.choice.as_ref()?;
        let identity = &shape.key.identity;
        Some(Declared {
            trust: choice.candidate.trust,
            id: identity.event_id().unwrap_or(u16::from(identity.opcode)),
            version: identity.version,
            schema: Arc::clone(&choice.candidate.schema),
        })
    }));
    declared.sort_by_key(|declared| (declared.trust.is_doubtful(), declared.id, declared.version));
    declared
}

/// The distinct field lists among declared events, in order.
struct Layouts<'a> {
    distinct: Vec<&'a EventSchema>,
    /// By address: shapes share schemas, whose fields are compared once.
    numbers: HashMap<*const EventSchema, usize>,
}

impl<'a> Layouts<'a> {
    fn new(declared: &'a [Declared]) -> Self {
        let mut layouts = Layouts { distinct: Vec::new(), numbers: HashMap::new() };
        let mut by_fields: HashMap<&[Field], usize> = HashMap::new();
        for event in declared {
            let Entry::Vacant(unknown) = layouts.numbers.entry(Arc::as_ptr(&event.schema)) else { continue };
            let next = layouts.distinct.len();
            let number = *by_fields.entry(&event.schema.fields).or_insert(next);
            if number == next {
                layouts.distinct.push(&event.schema);
            }
            unknown.insert(number);
        }
        layouts
    }

    /// The number of the layout of a declared event.
    fn number(&self, schema: &Arc<EventSchema>) -> Option<usize> {
        self.numbers.get(&Arc::as_ptr(schema)).copied()
    }
}
