//! Between the passes: which layout each event shape uses, which columns each dataset has, and how the order of all
//! events is cut into slices.

pub mod aside;
pub mod binaries;
pub mod catalog;
pub mod choose;
pub mod cuts;
pub mod descriptions;
mod doubts;
pub mod evidence;
pub mod filter;
pub mod groups;
pub mod header;
mod mismatch;
pub mod preview;
mod refine;
pub mod resolve;
pub mod segments;
pub mod sieve;
pub mod slices;
pub mod tables;

use std::sync::Arc;

use hashbrown::HashMap;
use rayon::prelude::*;

pub use crate::schema::DecodeSource;
pub use catalog::CatalogEntry;
pub use cuts::GlobalKey;
pub use filter::Filter;
pub use groups::DatasetLayout;
pub use segments::Segment;
pub use sieve::Sieve;
pub use slices::{Slice, Slices};
pub use tables::{TablePlan, WIDE_TABLE};

use descriptions::Descriptions;
use resolve::{Resolution, Resolved};
use tables::{ShapeColumns, Tables};

use crate::decode::{self, TypeOptions};
use crate::error::Result;
use crate::event::ShapeKey;
use crate::schema::Registry;
use crate::schema::registry::UserSchemas;
use crate::schema::wpp::MessagePlan;
use crate::survey::{FileSurvey, Finding, Findings, Progress, Work, timed};

/// Choices that the plan depends on.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    /// Column types.
    pub types: TypeOptions,
    /// Whether tables have every declared column, or those of the events present.
    pub all_columns: bool,
    /// How many datasets a provider's events become.
    pub layout: DatasetLayout,
    /// Descriptions given by the user.
    pub schemas: Arc<UserSchemas>,
    /// Which events become rows.
    pub filter: Filter,
}

/// How events of one shape become rows.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each of them says another thing of the shape")]
pub struct ShapePlan {
    /// Index of the table.
    pub table: u32,
    /// The compiled layout; `None` keeps the payload as it is.
    pub plan: Option<decode::Plan>,
    /// Whether the layout has fields; one without describes only empty payloads.
    pub has_fields: bool,
    /// Whether a layout is known and contradicted by every sample, so that the rows are errors.
    pub is_refused: bool,
    /// Whether the layout is that of events which say that their payload is one string.
    pub is_string: bool,
    /// How WPP messages are shown.
    pub message: Option<MessagePlan>,
    /// Whether each row says itself what its shape says elsewhere.
    pub is_other: bool,
}

/// Everything that pass 2 needs to know.
#[derive(Debug)]
pub struct Plan {
    /// The event shapes; the index is the shape's number.
    pub catalog: Vec<CatalogEntry>,
    /// How each shape becomes rows, by number.
    pub shapes: Vec<ShapePlan>,
    /// The number of each shape.
    pub numbers: HashMap<ShapeKey, u32>,
    /// The datasets.
    pub tables: Vec<TablePlan>,
    /// What keeps events from becoming rows; `None` where all of them do.
    pub sieve: Option<Sieve>,
    /// Unusual findings per file, beside those of the survey.
    pub findings: Vec<Findings>,
}

/// Plans what becomes of the events of one recording. What a conversion needs besides are its [`slices::plan`].
///
/// # Errors
/// When a file cannot be read.
pub fn plan(files: &[FileSurvey], options: &PlanOptions, progress: &dyn Progress) -> Result<Plan> {
    let Descriptions { eventsource, event_info, mut findings } = descriptions::descriptions(files, progress)?;
    let user = Arc::clone(&options.schemas);
    let registry = timed(progress, Work::Plan, || Registry::new(eventsource, event_info, user));
    let Resolution { shapes: mut resolved, binaries, findings: of_shapes } =
        resolve::resolve(files, &registry, progress)?;
    let add = |all: &mut Findings, more: Vec<Finding>| more.into_iter().for_each(|finding| all.push(finding));
    findings.iter_mut().zip(of_shapes).for_each(|(all, more)| add(all, more));
    for (found, file) in findings.iter_mut().zip(files) {
        mismatch::report(found, file, &resolved, &registry);
    }
    let doubts = doubts::of_choices(&resolved, &registry);
    doubts.into_iter().for_each(|(input, finding)| findings[usize::from(input)].push(finding));
    let mut sieve = Sieve::new(&options.filter, files, resolved.len());
    let Tables { tables, columns, findings: of_tables } =
        tables::tables(&resolved, &registry, options, sieve.as_mut(), progress);
    of_tables.into_iter().for_each(|(input, finding)| findings[usize::from(input)].push(finding));
    let others = tables.iter().filter(|table| table.is_other()).flat_map(|table| &table.shapes);
    others.for_each(|&shape| resolved[shape as usize].forget_layout());
    let (numbers, table_of) = timed(progress, Work::Plan, || (numbers(&resolved), table_of(&tables, resolved.len())));
    let entry = |((shape, columns), table): ((Resolved, Option<ShapeColumns>), u32)| {
        let (decode, fields) = columns.map(|columns| (columns.plan, columns.fields)).unzip();
        let number = table;
        let table = &tables[number as usize];
        let plan = ShapePlan { is_other: table.is_other(), ..ShapePlan::new(&shape, decode, number) };
        (plan, CatalogEntry::new(shape, table, fields.unwrap_or_default(), &registry, &binaries))
    };
    let entry = |shape| timed(progress, Work::Schema, || entry(shape));
    let (shapes, catalog) = resolved.into_par_iter().zip(columns).zip(table_of).map(entry).unzip();
    Ok(Plan { catalog, shapes, numbers, tables, sieve, findings })
}

fn numbers(shapes: &[Resolved]) -> HashMap<ShapeKey, u32> {
    shapes.iter().map(|shape| shape.key.clone()).zip(0..).collect()
}

/// The table of every shape.
fn table_of(tables: &[TablePlan], shapes: usize) -> Vec<u32> {
    let mut table_of = vec![0; shapes];
    for (table, number) in tables.iter().zip(0..) {
        table.shapes.iter().for_each(|&shape| table_of[shape as usize] = number);
    }
    table_of
}

impl ShapePlan {
    fn new(shape: &Resolved, decode: Option<decode::Plan>, table: u32) -> ShapePlan {
        let is_refused = shape.choice.as_ref().is_some_and(choose::Choice::is_refused);
        ShapePlan {
            table,
            plan: decode.filter(|_| !is_refused),
            has_fields: shape.choice.as_ref().is_some_and(|choice| !choice.candidate.schema.fields.is_empty()),
            is_refused,
            is_string: shape.choice.as_ref().is_some_and(|choice| choice.candidate.source == DecodeSource::String),
            message: shape.message.clone().map(MessagePlan::new),
            is_other: false,
        }
    }
}
