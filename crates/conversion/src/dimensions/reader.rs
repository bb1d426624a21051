//! Reads what events record of their subjects, each shape by the schema that the plan has chosen for it.

use std::collections::BTreeMap;
use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, TimestampNanosecondType};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::DataType;
use base::error::Result;
use base::guid::Guid;
use columnar::columns::{
    BatchScratch, BatchValues, ColumnBatch, ColumnBuffers, KeyTable, PackedColumns, PackedRows, Present, TimestampType,
    TypeOptions, gather,
};
use etl::event::subject::{self, Lifecycle, Subject};
use etl::event::{Event, FileContext, RawEvent};

use super::attributes::{Attributes, NUMBERS, Scope, TEXTS, method, process};
use super::fact::Fact;
use super::texts::TextId;
use crate::decode::{NoClock, PayloadColumn, PayloadColumns, Program, Status, assign_columns};
use crate::plan::{Key, PlanResult, PlannedShape, ShapeFinder, ShapeIds};

/// What reads the events of a plan's shapes.
#[derive(Debug)]
pub(super) struct Readers {
    ids: ShapeIds,
    /// By number of the shape; `None` of those that say nothing, and of those that nobody can decode.
    of_shapes: Vec<Option<Reader>>,
}

/// What reads the events of one shape.
#[derive(Debug)]
struct Reader {
    subject: Subject,
    lifecycle: Lifecycle,
    has_process: bool,
    program: Program,
    columns: PayloadColumns,
    key: Option<usize>,
    process: Option<usize>,
    numbers: [Option<usize>; NUMBERS],
    texts: [Option<usize>; TEXTS],
    /// A bit that all of them have in [`process::FLAGS`], or nothing.
    bits: u64,
}

/// What events of one shape record; their texts are still to be added to those of all.
#[derive(Debug)]
pub(super) struct DescribedFacts {
    pub(super) subject: Subject,
    /// Their texts are the numbers of those below, and one, so that 0 is none.
    pub(super) facts: Vec<Fact>,
    /// All texts that say something, one after another, and where each ends.
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl DescribedFacts {
    /// A text of a fact, if it has one.
    pub(super) fn text(&self, number: TextId) -> Option<&[u8]> {
        let number = usize::try_from(number.checked_sub(1)?).ok()?;
        let start = number.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.text.get(start..*self.ends.get(number)?)
    }

    /// Gives a fact a text in one of its places, unless it is empty.
    fn put_text(&mut self, fact: usize, place: usize, text: &[u8]) {
        if !text.is_empty() {
            self.text.extend_from_slice(text);
            self.ends.push(self.text.len());
            self.facts[fact].texts[place] = self.ends.len() as u64;
        }
    }
}

/// Events of one shape, decoded together.
struct Rows {
    heads: Vec<Head>,
    payloads: ColumnBuffers,
}

/// What is known of an event without its payload.
struct Head {
    key: Key,
    process: Option<u32>,
}

/// The events of some buffers that describe subjects.
pub(super) struct Reading<'a> {
    readers: &'a Readers,
    finder: ShapeFinder<'a>,
    rows: BTreeMap<u32, Rows>,
}

impl Readers {
    /// What reads those events of a plan that describe some subjects.
    pub(super) fn of(plan: &PlanResult, subjects: &[Subject]) -> Self {
        let ids = ShapeIds::new(plan.shapes.iter().map(|shape| &shape.key));
        Readers { ids, of_shapes: plan.shapes.iter().map(|shape| Reader::of(plan, shape, subjects)).collect() }
    }

    /// Whether no shape describes a subject.
    pub(super) fn is_empty(&self) -> bool {
        self.of_shapes.iter().all(Option::is_none)
    }

    /// Begins to read.
    pub(super) fn read(&self) -> Reading<'_> {
        Reading { readers: self, finder: ShapeFinder::new(&self.ids), rows: BTreeMap::new() }
    }
}

impl Reader {
    fn of(plan: &PlanResult, shape: &PlannedShape, subjects: &[Subject]) -> Option<Reader> {
        let identity = &shape.key.identity;
        let (subject, lifecycle) = subject::described_by(identity).filter(|(subject, _)| subjects.contains(subject))?;
        let schema = plan.schema(shape).filter(|_| !shape.is_refused)?;
        let attributes = Attributes::of(subject);
        let options = TypeOptions { timestamps: TimestampType::Nanos, ..TypeOptions::default() };
        let columns = assign_columns(&[schema], &[], options).only_named(|name| attributes.needs(name));
        let program = Program::compile(schema, &columns, 0, identity.pointer_size);
        let place = |names: &[&str]| {
            names.iter().find_map(|name| columns.columns.iter().position(|c| c.name().eq_ignore_ascii_case(name)))
        };
        let of_process = match attributes.scope {
            Scope::System => None,
            Scope::Process(names) => place(names),
        };
        let key = place(attributes.key);
        // Without an id it describes nothing; but a volume has its path.
        if key.is_none() && !attributes.key.is_empty() {
            return None;
        }
        let has_process = attributes.scope != Scope::System;
        let (mut numbers, texts) = (attributes.numbers.map(place), attributes.texts.map(place));
        let is_kernel = identity.family.is_kernel() || identity.family.is_classic();
        if subject == Subject::Process && !is_kernel {
            // Others have bits of this name that mean something else.
            numbers[process::FLAGS] = None;
        }
        if subject == Subject::Method && subject::is_javascript(&identity.provider) {
            numbers[method::FLAGS] = None;
        }
        let is_of_32_bits = subject == Subject::Process && is_kernel && identity.pointer_size == 4;
        let bits = if is_of_32_bits { process::SYSTEM_32 } else { 0 };
        let process = of_process;
        Some(Reader { subject, lifecycle, has_process, program, columns, key, process, numbers, texts, bits })
    }

    fn rows(&self) -> Rows {
        Rows {
            heads: Vec::new(),
            payloads: ColumnBuffers::new(self.columns.columns.iter().map(PayloadColumn::data_type)),
        }
    }
}

impl Reading<'_> {
    /// Takes an event, if it describes a subject; how many of its shape wait.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`](base::error::ErrorKind::Internal) when the survey has not seen its shape.
    pub(super) fn push(
        &mut self,
        raw: &RawEvent<'_>,
        context: &FileContext,
        key: impl FnOnce() -> Key,
    ) -> Result<usize> {
        let shape = self.finder.find(raw, context)?;
        let Some(reader) = &self.readers.of_shapes[shape as usize] else { return Ok(0) };
        let event = Event::of(raw, context);
        if event.items_damaged || event.string_only {
            return Ok(0);
        }
        let rows = self.rows.entry(shape).or_insert_with(|| reader.rows());
        let row = u32::try_from(rows.heads.len()).unwrap_or(u32::MAX);
        let outcome = reader.program.decode(event.payload, row, &mut rows.payloads, &NoClock);
        // A row without values says nothing, and is passed over below.
        let process = event.process_id.filter(|_| outcome.status != Status::Error);
        rows.heads.push(Head { key: key(), process });
        Ok(rows.heads.len())
    }

    /// All that the events have recorded, shape by shape.
    ///
    /// # Errors
    /// When the values do not fit into arrays.
    pub(super) fn finish(&mut self) -> Result<Vec<DescribedFacts>> {
        let mut all = Vec::new();
        for (shape, mut rows) in std::mem::take(&mut self.rows) {
            if let Some(reader) = &self.readers.of_shapes[shape as usize] {
                all.push(reader.facts(shape, &mut rows)?);
            }
        }
        Ok(all)
    }
}

impl Reader {
    fn facts(&self, shape: u32, rows: &mut Rows) -> Result<DescribedFacts> {
        let values = Values { packed: &rows.payloads.finish(), rows: rows.heads.len(), reader: self };
        let (keys, processes) = (values.numbers(self.key)?, values.numbers(self.process)?);
        let mut described = Vec::new();
        for place in 0..NUMBERS {
            if let Some(numbers) = values.numbers(self.numbers[place])? {
                described.push((place, numbers));
            }
        }
        let (mut facts, mut rows_of) = (Vec::with_capacity(rows.heads.len()), Vec::with_capacity(rows.heads.len()));
        for (row, head) in rows.heads.iter().enumerate() {
            let number = |numbers: &Option<Numbers>| numbers.as_ref().and_then(|numbers| numbers.get(row));
            let Some(key) = number(&keys).or_else(|| self.key.is_none().then_some(0)) else { continue };
            let mut fact = Fact::new(&head.key, self.lifecycle, shape);
            fact.key = key;
            if self.has_process {
                let Some(process) = number(&processes).or(head.process.map(u64::from)) else { continue };
                fact.scope = process;
            }
            for (place, numbers) in &described {
                numbers.get(row).into_iter().for_each(|number| fact.record(*place, number));
            }
            if self.bits != 0 {
                fact.record(process::FLAGS, fact.number(process::FLAGS).unwrap_or(0) | self.bits);
            }
            facts.push(fact);
            rows_of.push(row);
        }
        let mut described = DescribedFacts { subject: self.subject, facts, text: Vec::new(), ends: Vec::new() };
        for (place, column) in self.texts.iter().enumerate() {
            let mut facts = (0..).zip(&rows_of).peekable();
            values.each_text(*column, |row, text| {
                // Rows come in order, and so do facts, which not every row has become.
                while facts.next_if(|(_, of_fact)| **of_fact < row).is_some() {}
                if let Some((fact, _)) = facts.next_if(|(_, of_fact)| **of_fact == row) {
                    described.put_text(fact, place, text);
                }
            })?;
        }
        Ok(described)
    }
}

/// The decoded rows of a shape.
struct Values<'a> {
    packed: &'a PackedColumns,
    rows: usize,
    reader: &'a Reader,
}

impl Values<'_> {
    fn array(&self, column: Option<usize>) -> Result<Option<ArrayRef>> {
        let Some(column) = column else { return Ok(None) };
        let data_type = self.reader.columns.columns[column].data_type();
        Ok(Some(gather(&[(self.packed, self.range())], column, data_type)?))
    }

    fn range(&self) -> Range<u32> {
        0..u32::try_from(self.rows).unwrap_or(u32::MAX)
    }

    fn numbers(&self, column: Option<usize>) -> Result<Option<Numbers>> {
        Ok(self.array(column)?.and_then(|array| Numbers::of(&array)))
    }

    /// Hands on the texts of a column, each with its row.
    fn each_text(&self, column: Option<usize>, mut read: impl FnMut(usize, &[u8])) -> Result<()> {
        let Some(column) = column else { return Ok(()) };
        let data_type = self.reader.columns.columns[column].data_type();
        if *data_type != DataType::Utf8 {
            return Ok(());
        }
        let packed = PackedRows::new(&[(self.packed, self.range())], column);
        packed.emit(data_type, &mut BatchScratch::default(), &mut |batch| {
            let ColumnBatch::Values { present, values, .. } = batch else { return Ok(()) };
            let row = |at: usize| match present {
                Present::All => at,
                Present::Rows(rows) => rows[at] as usize,
            };
            match values {
                BatchValues::Bytes(texts) => (0..).zip(texts).for_each(|(at, text)| read(row(at), text)),
                BatchValues::Keys { keys, table } => {
                    for (at, &key) in (0..).zip(keys) {
                        match &**table {
                            KeyTable::Texts { .. } => {
                                table.text(key as usize).into_iter().for_each(|text| read(row(at), text.as_bytes()));
                            }
                            KeyTable::Guids(guids) => {
                                let guid = guids.get(key as usize).copied().flatten();
                                guid.into_iter().for_each(|guid| read(row(at), &Guid::from_text_order(guid).to_text()));
                            }
                            KeyTable::Numbers(_) => {}
                        }
                    }
                }
                _ => {}
            }
            Ok(())
        })
    }
}

/// A column of numbers, their bits as they are, or of times in Unix nanoseconds.
struct Numbers {
    values: ScalarBuffer<i64>,
    nulls: Option<NullBuffer>,
}

impl Numbers {
    fn of(array: &ArrayRef) -> Option<Numbers> {
        let numbers = array.as_primitive_opt::<Int64Type>().map(PrimitiveArray::values);
        let values = numbers.or_else(|| Some(array.as_primitive_opt::<TimestampNanosecondType>()?.values()))?;
        Some(Numbers { values: values.clone(), nulls: array.nulls().cloned() })
    }

    fn get(&self, row: usize) -> Option<u64> {
        let is_null = self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        (!is_null).then(|| self.values[row].cast_unsigned())
    }
}
