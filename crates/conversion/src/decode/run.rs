//! Running a [`Program`] over a payload.

use std::sync::Arc;

use columnar::columns::ColumnBuffers;
use columnar::columns::packed::{Elements, ListValues, Packed, PackedColumn, StructValues};
use columnar::columns::prefix::Prefix;

use super::measure::Cursor;
use super::program::{Convert, ConvertStep, FieldBody, FieldExtent, LengthRule, Node, Output, Program, Repeat};
use super::values::{self, RowNotes};
use super::{DecodeOutcome, Status, TraceClock, text};

/// Bytes left behind the last field count as a structure's padding below this.
const PADDING_LIMIT: usize = 8;

impl Program {
    /// Decodes one payload into one row of the columns that the program was compiled for.
    ///
    /// Fields up to the first that does not fit are appended; that one and those behind it stay NULL.
    ///
    /// # Panics
    ///
    /// When `row` is not above all rows since the columns were cleared.
    pub fn decode(
        &self,
        payload: &[u8],
        row: u32,
        columns: &mut ColumnBuffers,
        clock: &dyn TraceClock,
    ) -> DecodeOutcome {
        self.run(payload, row, columns, clock, payload.len() >= self.prefix_size)
    }

    /// How the payload fits, without decoding it.
    pub fn consumes(&self, payload: &[u8]) -> Status {
        let mut slots = vec![0; self.slots];
        let mut cursor = Cursor::new(payload, &mut slots, self.nodes.len());
        self.walk(&mut cursor, 0, 0, |_, _, _| ())
    }

    /// Whether a UTF-16 text of the payload holds units that no text has, as bytes of other values do.
    pub(super) fn garbles(&self, payload: &[u8]) -> bool {
        let is_text =
            |node: &Node| matches!((&node.item, node.repeat), (FieldBody::Leaf(LengthRule::NulUtf16), Repeat::One));
        let mut slots = vec![0; self.slots];
        let mut cursor = Cursor::new(payload, &mut slots, self.nodes.len());
        let mut garbled = false;
        if self.nodes.iter().any(is_text) {
            self.walk(&mut cursor, 0, 0, |cursor, node, span| {
                garbled |= is_text(node) && !text::is_plausible_utf16(cursor.bytes(span));
            });
        }
        garbled
    }

    /// `by_offset`: the payload holds all leading values of fixed width, and they are read by their offsets.
    pub(super) fn run(
        &self,
        payload: &[u8],
        row: u32,
        columns: &mut ColumnBuffers,
        clock: &dyn TraceClock,
        by_offset: bool,
    ) -> DecodeOutcome {
        columns.begin_row(row, self.slots);
        let mut notes = RowNotes::new(clock);
        let mut cursor = Cursor::new(payload, &mut columns.slots, self.nodes.len());
        let targets = columns.columns.as_mut_slice();
        let (mut first, mut at) = (0, 0);
        if by_offset {
            for remembered in &self.prefix_slots {
                cursor.remember(remembered.slot, remembered.span);
            }
            if let Some(record) = payload.get(..self.prefix_size).filter(|_| !self.prefix_fields.is_empty()) {
                prefix(&mut columns.prefixes, self).push(row, record);
                notes.add(self.prefix_weight);
                for (place, form) in &self.prefix_texts {
                    notes.add(form.len(&record[place.clone()]));
                }
            }
            for step in &self.prefix_steps {
                convert(step, payload, row, targets, &mut notes);
            }
            (first, at) = (self.prefix_nodes, self.prefix_size);
        }
        let status = self.walk(&mut cursor, first, at, |cursor, node, span| {
            for output in &node.outputs {
                let Some(column) = targets.get_mut(output.target) else { continue };
                let is_written = match (&node.item, &mut column.values) {
                    // Most fields are one value, of which nothing has to be measured again.
                    (FieldBody::Leaf(_), value @ (Packed::Fixed(_) | Packed::Bytes(_))) => {
                        values::write(&output.op, cursor.bytes(span), value, &mut notes)
                    }
                    (_, builder) => {
                        cursor.measured(|cursor| write_field(node, output, cursor, span, builder, &mut notes))
                    }
                };
                if is_written {
                    column.rows.push(row);
                }
            }
        });
        let keep_payload = self.is_partial || !notes.exact || !status.is_whole();
        columns.end_row(notes.weight);
        DecodeOutcome { status, keep_payload }
    }

    /// Measures the fields from the given one on and hands each that fits to `each`.
    pub(super) fn walk(
        &self,
        cursor: &mut Cursor<'_>,
        first: usize,
        start: usize,
        mut each: impl FnMut(&mut Cursor<'_>, &Node, FieldExtent),
    ) -> Status {
        let mut at = start;
        for (index, node) in (first..).zip(self.nodes.get(first..).unwrap_or_default()) {
            let Ok(span) = cursor.measure(node, at) else {
                return match () {
                    () if at < cursor.payload.len() || cursor.is_overdrawn() => Status::Error,
                    () if index >= self.optional_from => Status::Ok,
                    () => Status::Short,
                };
            };
            each(cursor, node, span);
            at = span.next;
        }
        match cursor.rest(at) {
            [] => Status::Ok,
            rest if rest.len() < PADDING_LIMIT && rest.iter().all(|&byte| byte == 0) => Status::Padded,
            _ => Status::Extra,
        }
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

/// Takes a leading value of fixed width.
#[inline]
fn convert(step: &ConvertStep, payload: &[u8], row: u32, targets: &mut [PackedColumn], notes: &mut RowNotes<'_>) {
    let (Some(column), Some(bytes)) = (targets.get_mut(step.target), payload.get(step.bytes.clone())) else { return };
    if values::write(&step.op, bytes, &mut column.values, notes) {
        column.rows.push(row);
    }
}

/// The records of a program.
#[inline]
fn prefix<'a>(prefixes: &'a mut Vec<Prefix>, program: &Program) -> &'a mut Prefix {
    if prefixes.len() <= program.number {
        prefixes.resize_with(program.number + 1, Prefix::default);
    }
    let prefix = &mut prefixes[program.number];
    if prefix.record == 0 {
        (prefix.fields, prefix.record) = (Arc::clone(&program.prefix_fields), program.prefix_size);
    }
    prefix
}

/// Appends integers of `N` bytes as integers of 8.
fn widen<const N: usize>(bytes: &[u8], wide: impl Fn([u8; N]) -> i64, out: &mut Vec<u8>) {
    let (numbers, start) = (bytes.as_chunks::<N>().0, out.len());
    // Room for all of them first: a vector that grows by each is loaded and stored with each.
    out.resize(start + size_of::<i64>() * numbers.len(), 0);
    let places = out[start..].as_chunks_mut().0;
    places.iter_mut().zip(numbers).for_each(|(place, number)| *place = wide(*number).to_le_bytes());
}

/// As [`widen`], of so many bytes each; `false`, and nothing is appended, where there are no such integers.
fn widen_all(bytes: &[u8], size: usize, signed: bool, out: &mut Vec<u8>) -> bool {
    match (size, signed) {
        (1, true) => widen(bytes, |number| i8::from_le_bytes(number).into(), out),
        (1, false) => widen(bytes, |number| u8::from_le_bytes(number).into(), out),
        (2, true) => widen(bytes, |number| i16::from_le_bytes(number).into(), out),
        (2, false) => widen(bytes, |number| u16::from_le_bytes(number).into(), out),
        (4, true) => widen(bytes, |number| i32::from_le_bytes(number).into(), out),
        (4, false) => widen(bytes, |number| u32::from_le_bytes(number).into(), out),
        _ => return false,
    }
    true
}

/// Appends a field that was measured: one value, structure or list. `false`: it is NULL, and nothing was appended.
fn write_field(
    node: &Node,
    output: &Output,
    cursor: &mut Cursor<'_>,
    span: FieldExtent,
    builder: &mut Packed,
    notes: &mut RowNotes<'_>,
) -> bool {
    match builder {
        Packed::List(list) if node.repeat != Repeat::One => write_list(node, output, cursor, span, list, notes),
        builder => write_item(node, output, cursor, span, builder, notes),
    }
}

fn write_item(
    node: &Node,
    output: &Output,
    cursor: &mut Cursor<'_>,
    span: FieldExtent,
    builder: &mut Packed,
    notes: &mut RowNotes<'_>,
) -> bool {
    match (&node.item, builder) {
        (FieldBody::Struct(members), Packed::Struct(record)) => {
            write_struct(members, cursor, span.start, record, notes);
            true
        }
        (_, builder) => values::write(&output.op, cursor.bytes(span), builder, notes),
    }
}

fn write_struct(
    members: &[Node],
    cursor: &mut Cursor<'_>,
    start: usize,
    record: &mut StructValues,
    notes: &mut RowNotes<'_>,
) {
    let mut at = start;
    for node in members {
        // The structure was measured as a whole, so its members fit.
        let Ok(span) = cursor.measure(node, at) else { break };
        for output in &node.outputs {
            if let Some(member) = record.members.get_mut(output.target)
                && !write_field(node, output, cursor, span, &mut member.values, notes)
            {
                notes.add(member.push_null());
            }
        }
        at = span.next;
    }
    record.len += 1;
    for member in &mut record.members {
        if member.values.count() < record.len {
            notes.add(member.push_null());
        }
    }
}

fn write_list(
    node: &Node,
    output: &Output,
    cursor: &mut Cursor<'_>,
    span: FieldExtent,
    list: &mut ListValues,
    notes: &mut RowNotes<'_>,
) -> bool {
    if !list.has_room(span.items) {
        notes.exact = false;
        return false;
    }
    notes.add(4);
    if !copy_items(node, &output.op, cursor.bytes(span), &mut list.items, notes) {
        let mut at = span.start;
        for _ in 0..span.items {
            // The list was measured as a whole, so its items fit.
            let Ok(item) = cursor.measure_item(node, at) else { break };
            if !write_item(node, output, cursor, item, &mut list.items.values, notes) {
                notes.add(list.items.push_null());
            }
            at = item.next;
        }
    }
    list.end();
    true
}

/// Numbers that lie in the payload as they do in the builder, or could, are copied in one go, and so are those that take 8 bytes there.
fn copy_items(node: &Node, op: &Convert, bytes: &[u8], items: &mut Elements, notes: &mut RowNotes<'_>) -> bool {
    let Packed::Fixed(fixed) = &mut items.values else { return false };
    if let Convert::Integer { signed: false, width } = op
        && fixed.narrow_to(node.item_min)
    {
        fixed.bytes.extend_from_slice(bytes);
        notes.add(bytes.len() / node.item_min * width);
        return true;
    }
    fixed.widen();
    match op {
        Convert::Copy(_) => {
            fixed.bytes.extend_from_slice(bytes);
            notes.add(bytes.len());
            true
        }
        Convert::Integer { signed, .. } if fixed.width == size_of::<i64>() => {
            let before = fixed.bytes.len();
            let is_done = widen_all(bytes, node.item_min, *signed, &mut fixed.bytes);
            notes.add(fixed.bytes.len() - before);
            is_done
        }
        _ => false,
    }
}
