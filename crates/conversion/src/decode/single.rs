//! The values of a payload one by one, for whoever needs few of them and no columns.

use schema::model::EventSchema;

use super::binding::PayloadColumns;
use super::compile::fixed_size;
use super::measure::{Cursor, read_integer};
use super::program::{Convert, ConvertStep, Program};
use super::values::{self, RowNotes};
use super::{NoClock, Status};

/// A value of a payload, and what a column would make of it.
#[derive(Clone, Copy, Debug)]
pub struct FieldValue<'a> {
    op: &'a Convert,
    /// As it lies in the payload.
    pub bytes: &'a [u8],
}

impl FieldValue<'_> {
    /// The bits of the number that it is, signed ones extended; times in Unix nanoseconds.
    pub fn number(&self) -> Option<u64> {
        values::number(self.op, self.bytes, &mut RowNotes::new(&NoClock))
    }

    /// Appends the text that it is; `false`: it is none.
    pub fn push_text(&self, out: &mut Vec<u8>) -> bool {
        values::push_bytes(self.op, self.bytes, out, &mut RowNotes::new(&NoClock))
    }

    /// A number in common with all values whose text is the same where their bytes are; `None` where it has no such number.
    pub fn text_form(&self) -> Option<u8> {
        Some(match *self.op {
            Convert::Utf16 { cut } => u8::from(cut),
            Convert::Ansi { cut, utf8 } => 2 | u8::from(cut) | u8::from(utf8) << 2,
            _ => return None,
        })
    }
}

/// An integer among the leading values of fixed width.
#[derive(Clone, Copy, Debug)]
pub struct LeadingInteger {
    start: usize,
    size: usize,
    is_signed: bool,
}

impl LeadingInteger {
    /// The bits of the number in a payload that [has it](SingleValues::has_leading), signed ones extended.
    #[inline]
    pub fn read(&self, payload: &[u8]) -> u64 {
        read_integer(payload.get(self.start..self.start + self.size).unwrap_or_default(), self.is_signed)
    }
}

/// A [`Program`] whose values nobody collects.
#[derive(Debug)]
pub struct SingleValues {
    program: Program,
    /// The leading values of fixed width.
    leading: Vec<ConvertStep>,
}

impl SingleValues {
    /// The values that columns of one schema alone would take.
    pub fn compile(schema: &EventSchema, columns: &PayloadColumns, pointer_size: u8) -> SingleValues {
        let program = Program::compile(schema, columns, 0, pointer_size);
        let (mut leading, mut start) = (Vec::new(), 0);
        for node in &program.nodes[..program.prefix_nodes] {
            let end = start + fixed_size(node).unwrap_or_default();
            let step = |target, op: &Convert| ConvertStep { bytes: start..end, target, op: op.clone() };
            leading.extend(node.outputs.iter().map(|output| step(output.target, &output.op)));
            start = end;
        }
        SingleValues { program, leading }
    }

    /// Takes the leading integers out of what [`SingleValues::each`] hands over where a payload has all leading values: each with the
    /// number of its column.
    pub fn take_integers(&mut self) -> Vec<(usize, LeadingInteger)> {
        let mut taken = Vec::new();
        self.leading.retain(|step| {
            let is_signed = match step.op {
                Convert::Copy(_) => false,
                Convert::Integer { signed, .. } => signed,
                _ => return true,
            };
            let integer = LeadingInteger { start: step.bytes.start, size: step.bytes.len(), is_signed };
            taken.push((step.target, integer));
            false
        });
        taken
    }

    /// Whether a payload has all leading values of fixed width.
    pub fn has_leading(&self, payload: &[u8]) -> bool {
        payload.len() >= self.program.prefix_size
    }

    /// Hands over the values of a payload, each with the number of its column, and says how the payload fits. `slots` is memory
    /// that one payload leaves to the next.
    pub fn each(&self, payload: &[u8], slots: &mut Vec<u64>, mut each: impl FnMut(usize, FieldValue<'_>)) -> Status {
        let program = &self.program;
        if slots.len() < program.slots {
            slots.resize(program.slots, 0);
        }
        let mut cursor = Cursor::new(payload, slots, program.nodes.len());
        let is_leading_whole = self.has_leading(payload);
        let (first, start) = if is_leading_whole { (program.prefix_nodes, program.prefix_size) } else { (0, 0) };
        if is_leading_whole {
            program.prefix_slots.iter().for_each(|remembered| cursor.remember(remembered.slot, remembered.span));
            for value in &self.leading {
                let bytes = payload.get(value.bytes.clone()).unwrap_or_default();
                each(value.target, FieldValue { op: &value.op, bytes });
            }
        }
        program.walk(&mut cursor, first, start, |cursor, node, span| {
            let bytes = cursor.bytes(span);
            node.outputs.iter().for_each(|output| each(output.target, FieldValue { op: &output.op, bytes }));
        })
    }
}
