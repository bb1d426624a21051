//! A schema made ready to be run over payloads.

use std::sync::Arc;

use super::Status;
use super::binding::{Binding, PayloadColumn};
use super::compile;
use super::measure::{FieldExtent, LengthRule};
use super::values::Convert;
use crate::columns::prefix::PrefixField;
use crate::schema::model::EventSchema;

/// The decoding steps of one event layout for one pointer size.
#[derive(Debug)]
pub struct Program {
    /// The fields, in order.
    pub(super) nodes: Vec<Node>,
    /// What distinguishes the plan from the others of its table.
    pub(super) block: usize,
    /// The leading values of fixed width that columns take as they are.
    pub(super) prefix_fields: Arc<[PrefixField]>,
    /// The Arrow bytes of those.
    pub(super) prefix_weight: usize,
    /// The leading values of fixed width that are converted.
    pub(super) prefix_steps: Vec<ConvertStep>,
    /// Both kinds stand for so many leading nodes.
    pub(super) prefix_nodes: usize,
    /// The bytes those take.
    pub(super) prefix_size: usize,
    /// Which of them are remembered.
    pub(super) prefix_slots: Vec<Remembered>,
    /// From this field on, all may be left out.
    pub(super) optional_from: usize,
    /// How many fields others refer to.
    pub(super) slots: usize,
    /// Whether the columns leave out a field, so that only the payload holds all of them.
    pub(super) is_partial: bool,
}

/// A value at a known offset and the operation that makes a column's value of it.
#[derive(Debug)]
pub(super) struct ConvertStep {
    pub start: usize,
    pub size: usize,
    /// The node whose operation it is, and which of its outputs.
    pub node: usize,
    pub output: usize,
}

/// A value at a known offset that later fields refer to.
#[derive(Debug)]
pub(super) struct Remembered {
    pub slot: Slot,
    pub span: FieldExtent,
}

/// One field, compiled.
#[derive(Debug)]
pub(super) struct Node {
    pub item: FieldBody,
    pub repeat: Repeat,
    pub slot: Option<Slot>,
    pub outputs: Vec<Output>,
    /// The least bytes of one item.
    pub item_min: usize,
    /// Whether every item has exactly `item_min` bytes.
    pub item_fixed: bool,
    /// How many values without bytes an item of fixed size holds.
    pub item_empty: usize,
}

/// What a field consists of.
#[derive(Debug)]
pub(super) enum FieldBody {
    Leaf(LengthRule),
    Struct(Vec<Node>),
    /// Nothing tells how far it reaches.
    Unreadable,
}

/// Where a value goes: the number of a column, or of a member within the enclosing structure.
#[derive(Debug)]
pub(super) struct Output {
    pub target: usize,
    pub op: Convert,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    One,
    Times(Number),
    Prefixed,
    Rest,
}

/// A length or a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Constant(usize),
    /// The remembered value of an earlier field.
    Slot(usize),
}

/// Where an integer field's value is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub index: usize,
    pub signed: bool,
}

impl Program {
    /// The program that fills columns. `binding` and `columns` come from one [`PayloadColumns`](super::PayloadColumns), to
    /// which `schema` was given; `pointer_size` is 4 or 8.
    pub fn compile(schema: &EventSchema, binding: &Binding, columns: &[PayloadColumn], pointer_size: u8) -> Program {
        compile::plan(schema, Some((binding, columns)), pointer_size)
    }

    /// A program without columns, for [`Program::consumes`] alone.
    pub fn measuring(schema: &EventSchema, pointer_size: u8) -> Program {
        compile::plan(schema, None, pointer_size)
    }
}

/// Whether payloads were written with the other pointer size: the layout fits every sample exactly with `other`, and most
/// contradict the width that the events' headers say: it does not fit them, or reads texts that are none.
pub fn pointer_size_mismatch(header: &Program, other: &Program, samples: &[&[u8]]) -> bool {
    let is_read_well =
        |program: &Program, payload: &[u8]| program.consumes(payload) == Status::Ok && !program.garbles(payload);
    let contradicted = samples.iter().filter(|payload| !is_read_well(header, payload)).count();
    2 * contradicted > samples.len() && samples.iter().all(|payload| is_read_well(other, payload))
}
