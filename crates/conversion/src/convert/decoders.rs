//! What a worker makes of a plan before it decodes events.

use std::hash::Hash;
use std::sync::Arc;

use base::error::Result;
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use etl::event::named_ids::NamedIds;
use hashbrown::HashMap;
use rayon::prelude::*;
use schema::wpp::CompiledMessage;

use crate::decode::{MessageProgram, Program};
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
    /// What its events say in words.
    pub words: Words,
    /// Whether each row says itself what its shape says elsewhere.
    pub is_other: bool,
    /// Where payloads name a thread or a process.
    pub named_ids: Option<NamedIds>,
}

/// What rows have in `rendered_message`.
#[derive(Clone, Debug)]
pub enum Words {
    /// Nothing: nobody asks, or nothing is known.
    None,
    /// A template with the values of fields, which shapes share.
    Template(Arc<MessageProgram>),
    /// The text of the WPP message.
    Message,
}

/// What shapes of one program have in common: table, binding and pointer size.
type ProgramKey = (u32, u32, u8);

/// What shapes have in common whose events say the same: template, schema and pointer size.
type WordsKey = (u32, Option<u32>, u8);

impl Decoders {
    /// Compiles what a plan describes, each schema once per binding and pointer size: tens of thousands of shapes may
    /// share one with thousands of fields.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
    pub fn new(plan: &PlanResult, progress: &dyn Progress) -> Result<Decoders> {
        let programs =
            compiled(plan, progress, |shape| program_key(plan, shape), |key, shape| program(plan, key, shape))?;
        let words = compiled(plan, progress, |shape| words_key(plan, shape), |_, shape| words(plan, shape))?;
        let decoder = |shape: &PlannedShape| {
            stop_if_cancelled(progress)?;
            let program = program_key(plan, shape).and_then(|key| programs.get(&key).cloned().flatten());
            let words = words_key(plan, shape).and_then(|key| words.get(&key).cloned());
            Ok(timed(progress, Step::Schema, || ShapeDecoder::new(plan, shape, program, words)))
        };
        let shapes = plan.shapes.par_iter().map(decoder).collect::<Result<_>>()?;
        Ok(Decoders {
            ids: timed(progress, Step::Plan, || ShapeIds::new(plan.shapes.iter().map(|shape| &shape.key))),
            shapes,
        })
    }
}

/// What is compiled for shapes, once for those that have a key in common.
fn compiled<K: Copy + Eq + Hash + Send, V: Send>(
    plan: &PlanResult,
    progress: &dyn Progress,
    key: impl Fn(&PlannedShape) -> Option<K>,
    compile: impl Fn(K, &PlannedShape) -> V + Sync,
) -> Result<HashMap<K, V>> {
    let mut first: HashMap<K, &PlannedShape> = HashMap::new();
    for shape in &plan.shapes {
        if let Some(key) = key(shape) {
            first.entry(key).or_insert(shape);
        }
    }
    let compile = |(key, shape): (K, &PlannedShape)| {
        stop_if_cancelled(progress)?;
        Ok((key, timed(progress, Step::Schema, || compile(key, shape))))
    };
    let first: Vec<_> = first.into_iter().collect();
    Ok(first.into_par_iter().map(compile).collect::<Result<Vec<_>>>()?.into_iter().collect())
}

/// Shapes of which nobody asks for words, or whose rows are errors, have none.
fn words_key(plan: &PlanResult, shape: &PlannedShape) -> Option<WordsKey> {
    let is_asked = plan.tables[shape.table as usize].renders_messages() && !shape.is_refused;
    Some((shape.template.filter(|_| is_asked)?, shape.schema, shape.key.identity.pointer_size))
}

fn words(plan: &PlanResult, shape: &PlannedShape) -> Words {
    let schema = plan.schema(shape).map(|schema| &**schema);
    let program = |template: &Arc<str>| MessageProgram::compile(template, schema, shape.key.identity.pointer_size);
    plan.template(shape).map_or(Words::None, |template| Words::Template(Arc::new(program(template))))
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
    fn new(
        plan: &PlanResult,
        shape: &PlannedShape,
        program: Option<Arc<Program>>,
        words: Option<Words>,
    ) -> ShapeDecoder {
        let is_asked = plan.tables[shape.table as usize].renders_messages();
        let of_message = shape.message.filter(|_| is_asked).map(|_| Words::Message);
        ShapeDecoder {
            table: shape.table,
            pointer_size: shape.key.identity.pointer_size,
            program,
            is_refused: shape.is_refused,
            is_string: shape.decode_source == DecodeSource::String,
            message: plan.message(shape).cloned().map(CompiledMessage::new),
            words: of_message.or(words).unwrap_or(Words::None),
            is_other: plan.tables[shape.table as usize].is_other(),
            named_ids: NamedIds::of(&shape.key.identity),
        }
    }
}
