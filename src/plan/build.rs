//! Makes the plan of a recording.

use std::sync::Arc;

use hashbrown::HashMap;
use rayon::prelude::*;

use super::catalog::CatalogEntry;
use super::descriptions::{self, TraceSchemas};
use super::filter::CompiledFilter;
use super::options::PlanOptions;
use super::resolve::{self, Resolution, Resolved};
use super::result::{PlanResult, ShapeDecoder};
use super::tables::{self, PlannedTable, ShapeColumns, Tables};
use super::{doubts, mismatch};
use crate::error::Result;
use crate::event::Shape;
use crate::input::Inputs;
use crate::schema::Registry;
use crate::survey::{FileSurvey, Issue, Issues, Progress, Step, timed};

/// Plans what becomes of the events of one recording. What a conversion needs besides are its slices.
///
/// # Errors
/// When a file cannot be read.
pub fn plan(
    files: &[FileSurvey],
    inputs: &Inputs,
    options: &PlanOptions,
    progress: &dyn Progress,
) -> Result<PlanResult> {
    let TraceSchemas { eventsource, event_info, mut findings } = descriptions::descriptions(files, inputs, progress)?;
    let user = Arc::clone(&options.schemas);
    let registry = timed(progress, Step::Plan, || Registry::new(eventsource, event_info, user));
    let Resolution { shapes: mut resolved, binaries, findings: of_shapes } =
        resolve::resolve(files, inputs, &registry, progress)?;
    let add = |all: &mut Issues, more: Vec<Issue>| more.into_iter().for_each(|finding| all.push(finding));
    findings.iter_mut().zip(of_shapes).for_each(|(all, more)| add(all, more));
    for (found, file) in findings.iter_mut().zip(files) {
        mismatch::report(found, file, &resolved, &registry);
    }
    let doubts = doubts::of_choices(&resolved, &registry);
    doubts.into_iter().for_each(|(input, finding)| findings[usize::from(input)].push(finding));
    let mut filter = CompiledFilter::new(&options.filter, files, resolved.len());
    let Tables { tables, columns, findings: of_tables } =
        tables::tables(&resolved, &registry, options, filter.as_mut(), progress);
    of_tables.into_iter().for_each(|(input, finding)| findings[usize::from(input)].push(finding));
    let others = tables.iter().filter(|table| table.is_other()).flat_map(|table| &table.shapes);
    others.for_each(|&shape| resolved[shape as usize].forget_layout());
    let (numbers, table_of) = timed(progress, Step::Plan, || (numbers(&resolved), table_of(&tables, resolved.len())));
    let entry = |((shape, columns), table): ((Resolved, Option<ShapeColumns>), u32)| {
        let (decode, fields) = columns.map(|columns| (columns.plan, columns.fields)).unzip();
        let number = table;
        let table = &tables[number as usize];
        let plan = ShapeDecoder { is_other: table.is_other(), ..ShapeDecoder::new(&shape, decode, number) };
        (plan, CatalogEntry::new(shape, table, fields.unwrap_or_default(), &registry, &binaries))
    };
    let entry = |shape| timed(progress, Step::Schema, || entry(shape));
    let (shapes, catalog) = resolved.into_par_iter().zip(columns).zip(table_of).map(entry).unzip();
    Ok(PlanResult { catalog, shapes, numbers, tables, filter, findings })
}

fn numbers(shapes: &[Resolved]) -> HashMap<Shape, u32> {
    shapes.iter().map(|shape| shape.key.clone()).zip(0..).collect()
}

/// The table of every shape.
fn table_of(tables: &[PlannedTable], shapes: usize) -> Vec<u32> {
    let mut table_of = vec![0; shapes];
    for (table, number) in tables.iter().zip(0..) {
        table.shapes.iter().for_each(|&shape| table_of[shape as usize] = number);
    }
    table_of
}
