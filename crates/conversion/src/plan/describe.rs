//! From resolved shapes to what the plan says of them.

use base::error::Result;
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use rayon::prelude::*;
use schema::{DecodeSource, Registry};

use super::choose::Choice;
use super::hint;
use super::images::Images;
use super::resolve::Resolved;
use super::result::{PlanResult, PlannedShape, PlannedTable, ShapeName};
use super::shared_list::SharedList;
use super::tables::ShapeColumns;

/// What shapes are described from.
pub(super) struct Describer<'a> {
    pub(super) tables: &'a [PlannedTable],
    pub(super) registry: &'a Registry,
    pub(super) images: &'a Images,
}

/// What was decided of a shape.
struct Fate {
    table: u32,
    schema: Option<u32>,
    message: Option<u32>,
    template: Option<u32>,
    binding: Option<u32>,
    lists_fields: bool,
}

impl Describer<'_> {
    /// The shapes of a plan, its schemas, its message formats and its templates. `columns` and `lists_fields` are by number of the shape.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
    pub(super) fn describe(
        &self,
        shapes: Vec<Resolved>,
        columns: &[Option<ShapeColumns>],
        lists_fields: &[bool],
        progress: &dyn Progress,
    ) -> Result<PlanResult> {
        let (mut schemas, mut messages, mut templates) = (SharedList::new(), SharedList::new(), SharedList::new());
        let fates = timed(progress, Step::Plan, || {
            let decided = table_of(self.tables, shapes.len()).into_iter().zip(columns).zip(lists_fields);
            let fate =
                |(shape, ((table, columns), &lists_fields)): (&Resolved, ((u32, &Option<ShapeColumns>), _))| Fate {
                    table,
                    schema: shape.choice.as_ref().map(|choice| schemas.add(&choice.candidate.schema)),
                    message: shape.message.as_ref().map(|message| messages.add(message)),
                    template: shape.template.as_ref().map(|template| templates.add(template)),
                    binding: columns.map(|columns| columns.binding),
                    lists_fields,
                };
            shapes.iter().zip(decided).map(fate).collect::<Vec<_>>()
        });
        let shape = |(shape, fate)| {
            stop_if_cancelled(progress)?;
            Ok(timed(progress, Step::Schema, || self.shape(shape, &fate)))
        };
        let shapes = shapes.into_par_iter().zip(fates).map(shape).collect::<Result<_>>()?;
        let (schemas, messages, templates) = (schemas.finish(), messages.finish(), templates.finish());
        Ok(PlanResult { shapes, schemas, messages, templates, ..PlanResult::default() })
    }

    fn shape(&self, shape: Resolved, fate: &Fate) -> PlannedShape {
        let fix_hint = hint::hint(&shape, &self.tables[fate.table as usize], self.registry, self.images);
        let schema = shape.choice.as_ref().map(|choice| &choice.candidate.schema);
        let event_name = match shape.event_name(self.registry) {
            name if name.as_deref() == schema.and_then(|schema| schema.event_name.as_deref()) => ShapeName::Declared,
            name => name.map_or(ShapeName::Unknown, ShapeName::Settled),
        };
        let has_no_opcode = schema.is_none_or(|schema| schema.opcode_name.is_none());
        let identity = &shape.key.identity;
        let (decode_source, schema_origin) = match (&shape.choice, &shape.message) {
            (Some(choice), _) => (choice.candidate.source, Some(choice.candidate.origin.clone())),
            (None, Some(message)) => (DecodeSource::Wpp, Some(message.origin.source_place.clone())),
            (None, None) => (DecodeSource::None, None),
        };
        PlannedShape {
            table: fate.table,
            schema: fate.schema,
            binding: fate.binding,
            is_refused: shape.choice.as_ref().is_some_and(Choice::is_refused),
            event_name,
            opcode_name: has_no_opcode.then(|| self.registry.classic_type(identity)).flatten().map(str::to_owned),
            decode_source,
            schema_origin,
            candidates: u32::try_from(shape.candidates).unwrap_or(u32::MAX),
            chosen_because: shape.choice.map(|choice| choice.reason),
            fix_hint,
            lists_fields: fate.lists_fields,
            message: fate.message,
            template: fate.template,
            events: shape.events,
            first_ns: shape.first_ns,
            last_ns: shape.last_ns,
            key: shape.key,
        }
    }
}

/// The table of every shape.
fn table_of(tables: &[PlannedTable], shapes: usize) -> Vec<u32> {
    let mut table_of = vec![0; shapes];
    for (table, number) in tables.iter().zip(0..) {
        table.shapes.iter().for_each(|&shape| table_of[shape as usize] = number);
    }
    table_of
}
