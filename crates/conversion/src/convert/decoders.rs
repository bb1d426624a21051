//! What a worker makes of a plan before it decodes events.

use std::sync::Arc;

use base::error::Result;
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use etl::event::named_ids::NamedIds;
use hashbrown::HashMap;
use rayon::prelude::*;
use schema::wpp::CompiledMessage;

use crate::decode::Program;
use crate::plan::{DecodeSource, PlanResult, PlannedShape, ShapeIds};

/// The shapes of a plan made ready to decode their events.
#[derive(Debug)]
pub struct Decoders {
    /// The numbers of the shapes.
    pub ids: ShapeIds,
    /// How events of each shape become rows, by number.
    pub shapes: Vec<ShapeDecoder>,
}

/// How events of one shape become rows.
#[derive(Debug)]
pub struct ShapeDecoder {
    /// Index of the table.
    pub table: u32,
    /// Bytes of a pointer.
    pub pointer_size: u8,
    /// The compiled schema, which shapes share; `None` keeps the payload as it is.
    pub program: Option<Arc<Program>>,
    /// Whether the schema is contradicted by every sample, so that the rows are errors.
    pub is_refused: bool,
    /// Whether the schema is that of events which say that their payload is one string.
    pub is_string: bool,
    /// How WPP messages are shown.
    pub message: Option<CompiledMessage>,
    /// Whether each row says itself what its shape says elsewhere.
    pub is_other: bool,
    /// Where payloads name a thread or a process.
    pub named_ids: Option<NamedIds>,
}

/// What shapes of one program have in common: table, binding and pointer size.
type ProgramKey = (u32, u32, u8);

impl Decoders {
    /// Compiles what a plan describes, each schema once per binding and pointer size: tens of thousands of shapes may
    /// share one with thousands of fields.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
    pub fn new(plan: &PlanResult, progress: &dyn Progress) -> Result<Decoders> {
        let mut first: HashMap<ProgramKey, &PlannedShape> = HashMap::new();
        for shape in &plan.shapes {
            if let Some(key) = program_key(plan, shape) {
                first.entry(key).or_insert(shape);
            }
        }
        let compile = |(key, shape): (ProgramKey, &PlannedShape)| {
            stop_if_cancelled(progress)?;
            Ok((key, timed(progress, Step::Schema, || program(plan, key, shape))))
        };
        let first: Vec<_> = first.into_iter().collect();
        let programs: HashMap<_, _> =
            first.into_par_iter().map(compile).collect::<Result<Vec<_>>>()?.into_iter().collect();
        let decoder = |shape: &PlannedShape| {
            stop_if_cancelled(progress)?;
            let program = program_key(plan, shape).and_then(|key| programs.get(&key).cloned().flatten());
            Ok(timed(progress, Step::Schema, || ShapeDecoder::new(plan, shape, program)))
        };
        let shapes = plan.shapes.par_iter().map(decoder).collect::<Result<_>>()?;
        Ok(Decoders {
            ids: timed(progress, Step::Plan, || ShapeIds::new(plan.shapes.iter().map(|shape| &shape.key))),
            shapes,
        })
    }
}

/// A schema without fields describes only empty payloads, which need no program.
fn program_key(plan: &PlanResult, shape: &PlannedShape) -> Option<ProgramKey> {
    let has_fields = plan.schema(shape).is_some_and(|schema| !schema.fields.is_empty());
    let binding = shape.binding.filter(|_| has_fields && !shape.is_refused)?;
    Some((shape.table, binding, shape.key.identity.pointer_size))
}

fn program(
    plan: &PlanResult,
    (table, binding, pointer_size): ProgramKey,
    shape: &PlannedShape,
) -> Option<Arc<Program>> {
    let columns = &plan.tables[table as usize].columns;
    Some(Arc::new(Program::compile(plan.schema(shape)?, columns, binding as usize, pointer_size)))
}

impl ShapeDecoder {
    fn new(plan: &PlanResult, shape: &PlannedShape, program: Option<Arc<Program>>) -> ShapeDecoder {
        ShapeDecoder {
            table: shape.table,
            pointer_size: shape.key.identity.pointer_size,
            program,
            is_refused: shape.is_refused,
            is_string: shape.decode_source == DecodeSource::String,
            message: plan.message(shape).cloned().map(CompiledMessage::new),
            is_other: plan.tables[shape.table as usize].is_other(),
            named_ids: NamedIds::of(&shape.key.identity),
        }
    }
}
