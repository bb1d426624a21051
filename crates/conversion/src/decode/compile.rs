//! From an [`EventSchema`] and its columns to a [`Program`].

use std::sync::Arc;

use arrow_schema::{DataType, TimeUnit};
use base::guid::Guid;
use columnar::columns::packed::fixed_width;
use columnar::columns::prefix::{NumberForm, PrefixField, PrefixForm, TextForm};
use hashbrown::HashMap;
use schema::family::ColumnRole;
use schema::model::{Count, EventSchema, Field, FieldKind, FieldRef, Length, Wire};

use super::binding::{Binding, PayloadColumn, PayloadColumns, Target, item_type};
use super::interpret::{self, Interpretation, MAX_NESTING};
use super::program::{
    Convert, ConvertStep, Counter, FieldBody, FieldExtent, LengthRule, Node, Number, Output, Program, Remembered,
    Repeat, Slot,
};

impl Program {
    /// The program that fills columns. `schema` is the one to which `columns` gave this number; `pointer_size` is 4 or 8.
    ///
    /// # Panics
    ///
    /// When there is no schema of this number.
    pub fn compile(schema: &EventSchema, columns: &PayloadColumns, number: usize, pointer_size: u8) -> Program {
        compile(schema, Some((columns, number)), pointer_size)
    }

    /// A program without columns, for [`Program::consumes`] alone.
    pub fn measuring(schema: &EventSchema, pointer_size: u8) -> Program {
        compile(schema, None, pointer_size)
    }
}

/// The program of a schema, with columns or for measuring only.
fn compile(schema: &EventSchema, filled: Option<(&PayloadColumns, usize)>, pointer_size: u8) -> Program {
    let columns = filled.map(|(columns, number)| (columns.binding(number), columns.columns.as_slice()));
    let mut compiler = Compiler { pointer: usize::from(pointer_size), slots: HashMap::new(), path: Vec::new() };
    compiler.find_slots(&mut vec![&schema.fields]);
    let mut nodes = Vec::with_capacity(schema.fields.len());
    for (position, field) in schema.fields.iter().enumerate() {
        let targets = columns.map_or_else(Vec::new, |(binding, columns)| targets(binding, columns, position));
        nodes.push(compiler.node(field, position, &targets));
    }
    let required = schema.fields.iter().rposition(|field| !field.optional);
    let mut program = Program {
        nodes,
        number: filled.map_or(0, |(_, schema)| program_number(schema, pointer_size)),
        prefix_fields: Arc::default(),
        prefix_weight: 0,
        prefix_texts: Vec::new(),
        prefix_steps: Vec::new(),
        prefix_nodes: 0,
        prefix_size: 0,
        prefix_slots: Vec::new(),
        optional_from: required.map_or(0, |last| last + 1),
        slots: compiler.slots.len(),
        is_partial: columns.is_some_and(|(binding, _)| binding.leaves_out()),
    };
    add_fixed_steps(&mut program);
    program
}

/// Where one output of a field goes.
struct OutputSlot<'a> {
    role: ColumnRole,
    target: usize,
    data_type: &'a DataType,
    /// Of a structure: where its members go.
    members: &'a [Vec<Target>],
}

fn targets<'a>(binding: &'a Binding, columns: &'a [PayloadColumn], position: usize) -> Vec<OutputSlot<'a>> {
    let targets = binding.fields.get(position).map(Vec::as_slice).unwrap_or_default();
    targets.iter().filter_map(|target| slot(target, columns.get(target.column?)?.data_type())).collect()
}

fn slot<'a>(target: &'a Target, data_type: &'a DataType) -> Option<OutputSlot<'a>> {
    Some(OutputSlot { role: target.role, target: target.column?, data_type, members: &target.members })
}

/// A layout has a program per pointer size.
fn program_number(schema: usize, pointer_size: u8) -> usize {
    2 * schema + usize::from(pointer_size == 8)
}

/// Leading single values of fixed width are read by their offsets.
fn add_fixed_steps(program: &mut Program) {
    let mut fields = Vec::new();
    for (index, node) in program.nodes.iter().enumerate() {
        let Some(size) = fixed_size(node) else { break };
        let start = program.prefix_size;
        let span = FieldExtent::one(start, start + size, start + size);
        program.prefix_slots.extend(node.slot.map(|slot| Remembered { slot, span }));
        for output in &node.outputs {
            if let Some((form, weight)) = kept(output, size) {
                fields.push(PrefixField { column: output.target, start, width: size, form });
                program.prefix_weight += weight;
                if let PrefixForm::Text(form @ (TextForm::IPv4 | TextForm::IPv6)) = form {
                    program.prefix_texts.push((start..start + size, form));
                }
            } else {
                let (target, op) = (output.target, output.op.clone());
                program.prefix_steps.push(ConvertStep { bytes: start..start + size, target, op });
            }
        }
        program.prefix_size = start + size;
        program.prefix_nodes = index + 1;
    }
    program.prefix_fields = fields.into();
}

/// The bytes of a single value of fixed width; of one whose width the schema says, where the column needs no copy of it.
pub(super) fn fixed_size(node: &Node) -> Option<usize> {
    match (node.repeat, &node.item) {
        (Repeat::One, &FieldBody::Leaf(LengthRule::Fixed(size))) => Some(size),
        (Repeat::One, &FieldBody::Leaf(LengthRule::Units { count: Number::Constant(count), unit })) => {
            let size = count.checked_mul(unit)?;
            let is_kept = |output| matches!(kept(output, size), Some((PrefixForm::Text(_), _)));
            (!node.outputs.is_empty() && node.outputs.iter().all(is_kept)).then_some(size)
        }
        _ => None,
    }
}

/// What a value of `size` bytes at a known offset is to a column that reads it out of the payload itself, and the weight it
/// adds, of a text whose length varies that of its place alone; `None` for all other operations.
fn kept(output: &Output, size: usize) -> Option<(PrefixForm, usize)> {
    let number = |form, width| Some((PrefixForm::Number(form), width));
    let text = |form: TextForm, len| (size == form.width()).then_some((PrefixForm::Text(form), size_of::<i32>() + len));
    match output.op {
        Convert::Copy(width) => number(NumberForm::Unsigned, width),
        Convert::Integer { signed, width } if matches!(size, 1 | 2 | 4) && size < width => {
            number(if signed { NumberForm::Signed } else { NumberForm::Unsigned }, width)
        }
        Convert::Port { width } if size == 2 => number(NumberForm::BigEndian, width),
        Convert::IPv4 => text(TextForm::IPv4, 0),
        Convert::IPv6 => text(TextForm::IPv6, 0),
        Convert::GuidText => text(TextForm::Guid, Guid::ZERO.to_text().len()),
        _ => None,
    }
}

struct Compiler {
    pointer: usize,
    /// The fields that others refer to, by their path of positions.
    slots: HashMap<Vec<usize>, usize>,
    /// The positions of the structures around the current field.
    path: Vec<usize>,
}

impl Compiler {
    /// Gives every integer that another field refers to a slot. `levels`: the fields of the event and of the
    /// structures down to the one being searched.
    fn find_slots(&mut self, levels: &mut Vec<&[Field]>) {
        for (position, field) in levels.last().copied().unwrap_or_default().iter().enumerate() {
            for reference in references(field) {
                let Some(referred) = resolve(&self.path, position, reference) else { continue };
                let target = referred.last().and_then(|&index| levels.get(referred.len() - 1)?.get(index));
                if target.is_some_and(is_number) {
                    let next = self.slots.len();
                    self.slots.entry(referred).or_insert(next);
                }
            }
            if let FieldKind::Struct(members) = &field.kind
                && self.path.len() < MAX_NESTING
            {
                self.path.push(position);
                levels.push(members);
                self.find_slots(levels);
                levels.pop();
                self.path.pop();
            }
        }
    }

    fn node(&mut self, field: &Field, position: usize, outputs: &[OutputSlot<'_>]) -> Node {
        let kind = interpret::kind(field);
        let text_array = interpret::is_text_array(field);
        let item = match &*kind {
            FieldKind::Struct(members) => self.structure(members, position, outputs),
            FieldKind::Value { wire, .. } if text_array => self.text_array(*wire, field.count, position),
            FieldKind::Value { wire, length, .. } => self.leaf(*wire, *length, field, position),
        };
        let repeat = if text_array { Some(Repeat::One) } else { self.repeat(field.count, position) };
        let (item, repeat) = match repeat {
            Some(repeat) => (item, repeat),
            None => (FieldBody::Unreadable, Repeat::One),
        };
        let slot = self.slot(field, position);
        let outputs = outputs.iter().filter_map(|slot| output(field, slot, self.pointer)).collect();
        let Size { least: item_min, fixed: item_fixed, empty: item_empty } = size(&item);
        Node { item, repeat, slot, outputs, item_min, item_fixed, item_empty }
    }

    fn structure(&mut self, members: &[Field], position: usize, outputs: &[OutputSlot<'_>]) -> FieldBody {
        if self.path.len() >= MAX_NESTING {
            return FieldBody::Unreadable;
        }
        let (targets, columns) = match outputs.first().map(|slot| (slot.members, item_type(slot.data_type))) {
            Some((targets, DataType::Struct(columns))) => (targets, Some(columns)),
            _ => (&[][..], None),
        };
        self.path.push(position);
        let node = |(position, member): (usize, &Field)| {
            let targets = targets.get(position).map(Vec::as_slice).unwrap_or_default().iter();
            let slots = targets.filter_map(|target| slot(target, columns?.get(target.column?)?.data_type()));
            self.node(member, position, &slots.collect::<Vec<_>>())
        };
        let nodes = members.iter().enumerate().map(node).collect();
        self.path.pop();
        FieldBody::Struct(nodes)
    }

    fn text_array(&self, wire: Wire, count: Count, position: usize) -> FieldBody {
        let unit = if matches!(wire, Wire::Utf16Unit | Wire::Int16 | Wire::UInt16) { 2 } else { 1 };
        let extent = match self.repeat(count, position) {
            Some(Repeat::Times(count)) => LengthRule::Units { count, unit },
            Some(Repeat::Prefixed) => LengthRule::Counted { counter: Counter::U16, unit, per_unit: true },
            Some(Repeat::Rest) => LengthRule::Rest { unit },
            Some(Repeat::One) | None => return FieldBody::Unreadable,
        };
        FieldBody::Leaf(extent)
    }

    fn leaf(&self, wire: Wire, length: Length, field: &Field, position: usize) -> FieldBody {
        let given = match length {
            Length::Natural => None,
            Length::Fixed(length) => Some(Number::Constant(length as usize)),
            Length::Field(reference) => match self.number(reference, position) {
                Some(number) => Some(number),
                None => return FieldBody::Unreadable,
            },
        };
        match (extent(wire, self.pointer), given) {
            (Open::By(unit), Some(count)) => FieldBody::Leaf(LengthRule::Units { count, unit }),
            (Open::Or(extent, unit), given) => {
                FieldBody::Leaf(given.map_or(extent, |count| LengthRule::Units { count, unit }))
            }
            (Open::No(extent), _) => FieldBody::Leaf(extent),
            (Open::By(_), None) if interpret::interpret(field) == Some(Interpretation::IPv6) => {
                FieldBody::Leaf(LengthRule::Fixed(16))
            }
            (Open::By(_), None) if interpret::interpret(field) == Some(Interpretation::IPv4) => {
                FieldBody::Leaf(LengthRule::Fixed(4))
            }
            (Open::By(_), None) if interpret::interpret(field) == Some(Interpretation::SocketAddress) => {
                FieldBody::Leaf(LengthRule::SocketAddress)
            }
            (Open::By(_), None) => FieldBody::Unreadable,
        }
    }

    fn repeat(&self, count: Count, position: usize) -> Option<Repeat> {
        Some(match count {
            Count::One => Repeat::One,
            Count::Fixed(count) => Repeat::Times(Number::Constant(count as usize)),
            Count::Field(reference) => Repeat::Times(self.number(reference, position)?),
            Count::Prefixed => Repeat::Prefixed,
            Count::Rest => Repeat::Rest,
        })
    }

    /// The slot of an earlier field that a field at this position refers to.
    fn number(&self, reference: FieldRef, position: usize) -> Option<Number> {
        self.slots.get(&resolve(&self.path, position, reference)?).copied().map(Number::Slot)
    }

    fn slot(&self, field: &Field, position: usize) -> Option<Slot> {
        let path: Vec<usize> = self.path.iter().copied().chain([position]).collect();
        let index = *self.slots.get(&path)?;
        let signed =
            matches!(field.kind, FieldKind::Value { wire: Wire::Int8 | Wire::Int16 | Wire::Int32 | Wire::Int64, .. });
        Some(Slot { index, signed })
    }
}

fn references(field: &Field) -> impl Iterator<Item = FieldRef> {
    let length = match field.kind {
        FieldKind::Value { length: Length::Field(reference), .. } => Some(reference),
        _ => None,
    };
    let count = match field.count {
        Count::Field(reference) => Some(reference),
        _ => None,
    };
    length.into_iter().chain(count)
}

/// Whether a field can say how long or how often another is.
fn is_number(field: &Field) -> bool {
    let FieldKind::Value { wire, .. } = field.kind else { return false };
    let signed = matches!(wire, Wire::Int8 | Wire::Int16 | Wire::Int32 | Wire::Int64);
    let unsigned = matches!(wire, Wire::UInt8 | Wire::UInt16 | Wire::UInt32 | Wire::UInt64);
    let other = matches!(wire, Wire::HexInt32 | Wire::HexInt64 | Wire::Pointer | Wire::SizeT);
    field.count == Count::One && (signed || unsigned || other)
}

/// The path of the field referred to; `None` unless it stands earlier.
fn resolve(path: &[usize], position: usize, reference: FieldRef) -> Option<Vec<usize>> {
    let level = path.len().checked_sub(usize::from(reference.up))?;
    let here = path.get(level).copied().unwrap_or(position);
    let index = usize::from(reference.index);
    (index < here).then(|| path.iter().take(level).copied().chain([index]).collect())
}

/// How a length from outside bears on a wire type.
enum Open {
    /// Not at all.
    No(LengthRule),
    /// It replaces the natural reach, in units of so many bytes.
    Or(LengthRule, usize),
    /// There is no reach without it.
    By(usize),
}

fn extent(wire: Wire, pointer: usize) -> Open {
    let counted = |counter, unit| Open::No(LengthRule::Counted { counter, unit, per_unit: false });
    match wire {
        Wire::Utf16 => Open::Or(LengthRule::NulUtf16, 2),
        Wire::Ansi => Open::Or(LengthRule::NulAnsi, 1),
        Wire::Sid => Open::Or(LengthRule::Sid, 1),
        Wire::SocketAddress => Open::Or(LengthRule::SocketAddress, 1),
        Wire::Binary => Open::By(1),
        Wire::CountedUtf16 => counted(Counter::U16, 2),
        Wire::CountedAnsi | Wire::CountedBinary => counted(Counter::U16, 1),
        Wire::ReverseCountedUtf16 => counted(Counter::BigEndianU16, 2),
        Wire::ReverseCountedAnsi => counted(Counter::BigEndianU16, 1),
        Wire::HexDump => counted(Counter::U32, 1),
        Wire::RestUtf16 => Open::No(LengthRule::Rest { unit: 2 }),
        Wire::RestAnsi | Wire::RestBinary => Open::No(LengthRule::Rest { unit: 1 }),
        Wire::WbemSid => Open::No(LengthRule::WbemSid { skip: 2 * pointer }),
        fixed => Open::No(LengthRule::Fixed(width(fixed, pointer))),
    }
}

fn width(wire: Wire, pointer: usize) -> usize {
    match wire {
        Wire::Int8 | Wire::UInt8 | Wire::AnsiChar | Wire::Bool8 => 1,
        Wire::Int16 | Wire::UInt16 | Wire::Utf16Unit | Wire::Port => 2,
        Wire::Int32 | Wire::UInt32 | Wire::HexInt32 | Wire::Float | Wire::Bool32 | Wire::IPv4 => 4,
        Wire::Int64 | Wire::UInt64 | Wire::HexInt64 | Wire::Double | Wire::FileTime | Wire::TraceTime => 8,
        Wire::Guid | Wire::SystemTime | Wire::IPv6 => 16,
        Wire::Pointer | Wire::SizeT => pointer,
        // `Null`; all others have no fixed width.
        _ => 0,
    }
}

/// What is known of an item's size before any payload is seen.
struct Size {
    least: usize,
    /// Whether it is always the least.
    fixed: bool,
    /// If so: how many values of no bytes it holds.
    empty: usize,
}

fn size(item: &FieldBody) -> Size {
    let (least, fixed) = match item {
        FieldBody::Unreadable => (0, false),
        FieldBody::Leaf(extent) => least_bytes(*extent),
        FieldBody::Struct(members) => return struct_size(members),
    };
    Size { least, fixed, empty: usize::from(least == 0) }
}

fn least_bytes(extent: LengthRule) -> (usize, bool) {
    match extent {
        LengthRule::Fixed(size) => (size, true),
        LengthRule::Units { count: Number::Constant(count), unit } => (count.saturating_mul(unit), true),
        LengthRule::Units { .. } | LengthRule::Rest { .. } => (0, false),
        LengthRule::NulUtf16 | LengthRule::SocketAddress => (2, false),
        LengthRule::NulAnsi => (1, false),
        LengthRule::Counted { counter, .. } => (counter.size(), false),
        LengthRule::Sid => (8, false),
        LengthRule::WbemSid { .. } => (4, false),
    }
}

fn struct_size(members: &[Node]) -> Size {
    let mut size = Size { least: 0, fixed: true, empty: 0 };
    for member in members {
        let (times, prefix, constant) = match member.repeat {
            Repeat::One => (1, 0, true),
            Repeat::Times(Number::Constant(count)) => (count, 0, true),
            Repeat::Times(Number::Slot(_)) | Repeat::Rest => (0, 0, false),
            Repeat::Prefixed => (0, 2, false),
        };
        let least = member.item_min.saturating_mul(times).saturating_add(prefix);
        // A single value without bytes counts itself.
        let empty_list = least == 0 && member.repeat != Repeat::One;
        let empty = member.item_empty.saturating_mul(times).saturating_add(usize::from(empty_list));
        size.least = size.least.saturating_add(least);
        size.empty = size.empty.saturating_add(empty);
        size.fixed &= constant && member.item_fixed;
    }
    size.empty = size.empty.saturating_add(usize::from(size.least == 0));
    size
}

/// `None` for a column beside the value that only others of its name have something for.
fn output(field: &Field, slot: &OutputSlot<'_>, pointer: usize) -> Option<Output> {
    let data_type = if field.count == Count::One || interpret::is_text_array(field) {
        slot.data_type
    } else {
        item_type(slot.data_type)
    };
    let op = match (slot.role, interpret::interpret(field), &field.map) {
        (ColumnRole::Label, _, Some(map)) => Convert::Label(Arc::clone(map)),
        (ColumnRole::Label, _, None) => match interpret::status_table(field) {
            Some(table) => Convert::Status(table),
            None => operation(interpret::character(field)?, data_type, pointer),
        },
        (ColumnRole::FileTime, Some(Interpretation::FileTime), _) => Convert::Copy(8),
        (ColumnRole::FileTime, _, _) => return None,
        (ColumnRole::Nanos, Some(Interpretation::Ticks), _) => Convert::TickSpan,
        (ColumnRole::Nanos, _, _) => Convert::TraceTime,
        (ColumnRole::Value, None, _) => Convert::Members,
        (ColumnRole::Value, Some(_), _) if matches!(data_type, DataType::Struct(_)) => Convert::Members,
        (ColumnRole::Value, Some(interpretation), _) => operation(interpretation, data_type, pointer),
    };
    Some(Output { target: slot.target, op })
}

fn operation(interpretation: Interpretation, data_type: &DataType, pointer: usize) -> Convert {
    let unit = match data_type {
        DataType::Timestamp(unit, _) => *unit,
        _ => TimeUnit::Microsecond,
    };
    match interpretation {
        Interpretation::Null => Convert::Null,
        Interpretation::Integer { bytes: 0, .. } => integer(pointer, false, data_type),
        Interpretation::Integer { bytes, signed } => integer(bytes.into(), signed, data_type),
        Interpretation::Code { bytes } => integer(bytes.into(), false, data_type),
        Interpretation::Port => Convert::Port { width: fixed_width(data_type) },
        Interpretation::Boolean { .. } => Convert::Boolean,
        Interpretation::Float if *data_type == DataType::Float64 => Convert::FloatToDouble,
        Interpretation::Float => Convert::Copy(4),
        Interpretation::Double | Interpretation::Ticks => Convert::Copy(8),
        Interpretation::Utf16 { cut } => Convert::Utf16 { cut },
        Interpretation::Ansi { cut, utf8 } => Convert::Ansi { cut, utf8 },
        Interpretation::Bytes => Convert::Bytes,
        Interpretation::Guid if *data_type == DataType::Utf8 => Convert::GuidText,
        Interpretation::Guid => Convert::GuidBytes,
        Interpretation::FileTime => Convert::FileTime(unit),
        Interpretation::SystemTime { .. } => Convert::SystemTime(unit),
        Interpretation::TraceTime => Convert::TraceTime,
        Interpretation::Sid => Convert::Sid,
        Interpretation::IPv4 => Convert::IPv4,
        Interpretation::IPv6 => Convert::IPv6,
        Interpretation::SocketAddress => Convert::SocketAddress,
    }
}

fn integer(bytes: usize, signed: bool, data_type: &DataType) -> Convert {
    let width = fixed_width(data_type);
    match bytes {
        1 | 2 | 4 | 8 if width == bytes => Convert::Copy(bytes),
        _ => Convert::Integer { signed, width },
    }
}
