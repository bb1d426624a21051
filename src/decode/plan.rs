//! A schema made ready to be run over payloads.

use super::Status;
use super::columns::{Binding, Column};
use super::compile;
use super::extent::{Extent, Span};
use super::values::Op;
use crate::schema::model::EventSchema;

/// The decoding steps of one event layout for one pointer size.
#[derive(Debug)]
pub struct Plan {
    /// The fields, in order.
    pub(super) nodes: Vec<Node>,
    /// The leading values of fixed width; they stand for the first `fixed_nodes` nodes.
    pub(super) fixed: Vec<FixedStep>,
    pub(super) fixed_nodes: usize,
    /// The bytes those take.
    pub(super) fixed_size: usize,
    /// Which of them are remembered.
    pub(super) fixed_slots: Vec<Remembered>,
    /// What the steps that only copy add to the columns' weight.
    pub(super) copied_weight: usize,
    /// From this field on, all may be left out.
    pub(super) optional_from: usize,
    /// How many fields others refer to.
    pub(super) slots: usize,
}

/// One step over a value at a known offset.
#[derive(Debug)]
pub(super) struct FixedStep {
    pub start: usize,
    /// The column.
    pub target: usize,
    pub how: How,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    Copy1,
    Copy2,
    Copy4,
    Copy8,
    /// An unsigned number of 4 bytes in a column of 8: an address of a 32-bit process.
    Widen4,
    /// Runs an operation of the node's over so many bytes.
    Convert {
        node: u32,
        output: u8,
        size: u8,
    },
}

/// A value at a known offset that later fields refer to.
#[derive(Debug)]
pub(super) struct Remembered {
    pub slot: Slot,
    pub span: Span,
}

/// One field, compiled.
#[derive(Debug)]
pub(super) struct Node {
    pub item: Item,
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
pub(super) enum Item {
    Leaf(Extent),
    Struct(Vec<Node>),
    /// Nothing tells how far it reaches.
    Unreadable,
}

/// Where a value goes: the number of a column, or of a member within the enclosing structure.
#[derive(Debug)]
pub(super) struct Output {
    pub target: usize,
    pub op: Op,
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

impl Plan {
    /// The plan that fills columns. `binding` and `columns` come from one [`TableColumns`](super::TableColumns), to
    /// which `schema` was given; `pointer_size` is 4 or 8.
    pub fn compile(schema: &EventSchema, binding: &Binding, columns: &[Column], pointer_size: u8) -> Plan {
        compile::plan(schema, Some((binding, columns)), pointer_size)
    }

    /// A plan without columns, for [`Plan::consumes`] alone.
    pub fn measuring(schema: &EventSchema, pointer_size: u8) -> Plan {
        compile::plan(schema, None, pointer_size)
    }
}

/// Whether payloads were written with the other pointer size: the layout fits every sample exactly with `other`, and
/// none with the width that the events' headers say.
pub fn pointer_size_mismatch<'a>(header: &Plan, other: &Plan, samples: impl IntoIterator<Item = &'a [u8]>) -> bool {
    let mut any = false;
    samples.into_iter().all(|payload| {
        any = true;
        header.consumes(payload) != Status::Ok && other.consumes(payload) == Status::Ok
    }) && any
}
