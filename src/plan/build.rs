//! Makes the plan of a recording.

use std::sync::Arc;

use rayon::prelude::*;

use super::choose::Choice;
use super::descriptions::{self, TraceSchemas};
use super::filter::CompiledFilter;
use super::images::Images;
use super::options::PlanOptions;
use super::resolve::{self, Resolution, Resolved};
use super::result::{PlanResult, PlannedShape, PlannedTable};
use super::schema_list::SchemaList;
use super::tables::{self, Tables};
use super::{doubts, field_limit, hint, mismatch};
use crate::error::Result;
use crate::input::Inputs;
use crate::schema::{DecodeSource, Registry};
use crate::survey::{FileSurvey, Issue, Issues, Progress, Step, stop_if_cancelled, timed};

/// Plans what becomes of the events of one recording. What a conversion needs besides are its slices.
///
/// # Errors
/// When a file cannot be read; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted) when the caller asked to stop.
pub fn plan(
    files: &[FileSurvey],
    inputs: &Inputs,
    options: &PlanOptions,
    progress: &dyn Progress,
) -> Result<PlanResult> {
    let TraceSchemas { eventsource, event_info, mut issues } = descriptions::descriptions(files, inputs, progress)?;
    let user = Arc::clone(&options.schemas);
    let registry = timed(progress, Step::Plan, || Registry::new(eventsource, event_info, user));
    let Resolution { shapes: mut resolved, images, issues: of_shapes } =
        resolve::resolve(files, inputs, &registry, progress)?;
    let add = |all: &mut Issues, more: Vec<Issue>| more.into_iter().for_each(|issue| all.push(issue));
    issues.iter_mut().zip(of_shapes).for_each(|(all, more)| add(all, more));
    for (issues, file) in issues.iter_mut().zip(files) {
        mismatch::report(issues, file, &resolved, &registry);
    }
    let doubts = doubts::of_choices(&resolved, &registry);
    doubts.into_iter().for_each(|(input, issue)| issues[usize::from(input)].push(issue));
    let mut filter = CompiledFilter::new(&options.filter, files, resolved.len());
    let Tables { tables, columns, issues: of_tables } =
        tables::tables(&resolved, &registry, options, filter.as_mut(), progress)?;
    of_tables.into_iter().for_each(|(input, issue)| issues[usize::from(input)].push(issue));
    let others = tables.iter().filter(|table| table.is_other()).flat_map(|table| &table.shapes);
    others.for_each(|&shape| resolved[shape as usize].forget_layout());
    let count = resolved.len();
    let (lists_fields, too_many) = field_limit::listed(&columns, &resolved);
    too_many.into_iter().for_each(|(input, issue)| issues[usize::from(input)].push(issue));
    let mut schemas = SchemaList::default();
    let of_shapes: Vec<Option<u32>> = timed(progress, Step::Plan, || {
        let schema = |shape: &Resolved| Some(schemas.add(&shape.choice.as_ref()?.candidate.schema));
        resolved.iter().map(schema).collect()
    });
    let fates = resolved.into_par_iter().zip(of_shapes).zip(columns).zip(lists_fields).zip(table_of(&tables, count));
    let planned = fates.map(|((((shape, schema), columns), lists_fields), table)| {
        stop_if_cancelled(progress)?;
        let place = Place { table, schema, binding: columns.map(|columns| columns.binding), lists_fields };
        Ok(timed(progress, Step::Schema, || planned(shape, place, &tables, &registry, &images)))
    });
    let shapes = planned.collect::<Result<_>>()?;
    Ok(PlanResult { shapes, schemas: schemas.finish(), tables, filter, issues })
}

/// The table of every shape.
fn table_of(tables: &[PlannedTable], shapes: usize) -> Vec<u32> {
    let mut table_of = vec![0; shapes];
    for (table, number) in tables.iter().zip(0..) {
        table.shapes.iter().for_each(|&shape| table_of[shape as usize] = number);
    }
    table_of
}

/// What becomes of a shape.
struct Place {
    table: u32,
    schema: Option<u32>,
    binding: Option<u32>,
    lists_fields: bool,
}

fn planned(
    shape: Resolved,
    place: Place,
    tables: &[PlannedTable],
    registry: &Registry,
    images: &Images,
) -> PlannedShape {
    let fix_hint = hint::hint(&shape, &tables[place.table as usize], registry, images);
    let schema = shape.choice.as_ref().map(|choice| &choice.candidate.schema);
    let is_unnamed = !shape.is_rest() && schema.is_none_or(|schema| schema.event_name.is_none());
    let has_no_opcode = schema.is_none_or(|schema| schema.opcode_name.is_none());
    let identity = &shape.key.identity;
    let (decode_source, schema_origin) = match (&shape.choice, &shape.message) {
        (Some(choice), _) => (choice.candidate.source, Some(choice.candidate.origin.clone())),
        (None, Some(message)) => (DecodeSource::Wpp, Some(message.origin.source_place.clone())),
        (None, None) => (DecodeSource::None, None),
    };
    PlannedShape {
        table: place.table,
        schema: place.schema,
        binding: place.binding,
        is_refused: shape.choice.as_ref().is_some_and(Choice::is_refused),
        event_name: is_unnamed.then(|| registry.classic_name(identity)).flatten(),
        opcode_name: has_no_opcode.then(|| registry.classic_type(identity)).flatten().map(str::to_owned),
        decode_source,
        schema_origin,
        candidates: u32::try_from(shape.candidates).unwrap_or(u32::MAX),
        chosen_because: shape.choice.map(|choice| choice.reason),
        fix_hint,
        lists_fields: place.lists_fields,
        message: shape.message,
        events: shape.events,
        first_ns: shape.first_ns,
        last_ns: shape.last_ns,
        key: shape.key,
    }
}
