//! Reads what events record of their subjects, each shape by the schema that the plan has chosen for it.

use arrow_schema::{DataType, TimeUnit};
use base::error::Result;
use columnar::columns::{TimestampType, TypeOptions};
use etl::event::subject::{self, Lifecycle, Subject};
use etl::event::{Event, FileContext, RawEvent};

use super::attributes::{Attributes, NUMBERS, Scope, TEXTS, method, process};
use super::fact::{Fact, FactList};
use super::local_texts::LocalTexts;
use crate::decode::{LeadingInteger, PayloadColumn, SingleValues, Status, assign_columns};
use crate::plan::{Key, PlanResult, PlannedShape, ShapeFinder, ShapeIds};

/// What reads the events of a plan's shapes.
#[derive(Debug)]
pub struct Readers {
    /// By number of the shape; `None` of those that say nothing, and of those that nobody can decode.
    of_shapes: Vec<Option<Box<Reader>>>,
}

/// What reads the events of one shape.
#[derive(Debug)]
pub struct Reader {
    shape: u32,
    subject: Subject,
    lifecycle: Lifecycle,
    values: SingleValues,
    /// The integers that all whole payloads have, each with its place among the numbers of a fact.
    integers: Vec<(usize, LeadingInteger)>,
    /// What each value is of the subject, by number of its column.
    parts: Vec<Vec<Part>>,
    /// Whether the subject needs no id.
    is_without_key: bool,
    has_process: bool,
    /// A bit that all of them have in [`process::FLAGS`], or nothing.
    bits: u64,
}

/// What a value is of a subject.
#[derive(Clone, Copy, Debug)]
enum Part {
    Key,
    Process,
    Number(usize),
    Text(usize),
}

/// Numbers that a fact may have: its id, its process, the others.
const ALL_NUMBERS: usize = 2 + NUMBERS;

impl Part {
    /// Its place among the numbers of a fact; `None` of a text.
    fn number(self) -> Option<usize> {
        match self {
            Part::Key => Some(0),
            Part::Process => Some(1),
            Part::Number(place) => Some(2 + place),
            Part::Text(_) => None,
        }
    }
}

/// The numbers of a fact while it is read.
#[derive(Default)]
struct Numbers {
    all: [u64; ALL_NUMBERS],
    /// A bit for each that is there.
    present: u16,
}

impl Numbers {
    #[inline]
    fn put(&mut self, place: usize, number: u64) {
        self.all[place] = number;
        self.present |= 1 << place;
    }

    fn get(&self, part: Part) -> Option<u64> {
        let place = part.number()?;
        (self.present >> place & 1 == 1).then(|| self.all[place])
    }
}

/// What some events record.
#[derive(Debug, Default)]
pub struct DescribedFacts {
    /// By subject; their texts are numbers of `texts`.
    pub(super) facts: [FactList; Subject::ALL.len()],
    pub(super) texts: LocalTexts,
    /// Memory that one payload leaves to the next.
    slots: Vec<u64>,
}

impl Readers {
    /// What reads those events of a plan that describe some subjects.
    pub fn of(plan: &PlanResult, subjects: &[Subject]) -> Self {
        let shapes = (0..).zip(&plan.shapes);
        let reader = |(number, shape)| Reader::of(plan, number, shape, subjects).map(Box::new);
        Readers { of_shapes: shapes.map(reader).collect() }
    }

    /// Whether no shape describes a subject.
    pub(super) fn is_empty(&self) -> bool {
        self.of_shapes.iter().all(Option::is_none)
    }

    /// What reads the events of a shape, if they describe a subject.
    #[inline]
    pub fn of_shape(&self, shape: u32) -> Option<&Reader> {
        self.of_shapes[shape as usize].as_deref()
    }
}

/// The columns of a shape that are parts of its subject.
struct Columns<'a> {
    names: Vec<&'a str>,
    data_types: Vec<&'a DataType>,
    parts: Vec<Vec<Part>>,
}

impl Columns<'_> {
    fn place(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.names.iter().position(|known| known.eq_ignore_ascii_case(name)))
    }

    /// The first column of these names is a part, if it holds what such a part is.
    fn put(&mut self, names: &[&str], part: Part) {
        let Some(column) = self.place(names) else { return };
        let is_held = match (part, self.data_types[column]) {
            (Part::Text(_), DataType::Utf8) => true,
            (Part::Text(_), _) => false,
            (_, data_type) => matches!(data_type, DataType::Int64 | DataType::Timestamp(TimeUnit::Nanosecond, _)),
        };
        if is_held {
            self.parts[column].push(part);
        }
    }
}

impl Reader {
    fn of(plan: &PlanResult, number: u32, shape: &PlannedShape, subjects: &[Subject]) -> Option<Reader> {
        let identity = &shape.key.identity;
        let (subject, lifecycle) = subject::described_by(identity).filter(|(subject, _)| subjects.contains(subject))?;
        let schema = plan.schema(shape).filter(|_| !shape.is_refused)?;
        let attributes = Attributes::of(subject);
        let options = TypeOptions { timestamps: TimestampType::Nanos, ..TypeOptions::default() };
        let assigned = assign_columns(&[schema], &[], options).only_named(|name| attributes.needs(name));
        let mut columns = Columns {
            names: assigned.columns.iter().map(PayloadColumn::name).collect(),
            data_types: assigned.columns.iter().map(PayloadColumn::data_type).collect(),
            parts: vec![Vec::new(); assigned.columns.len()],
        };
        // Without an id it describes nothing; but a volume has its path.
        if columns.place(attributes.key).is_none() && !attributes.key.is_empty() {
            return None;
        }
        columns.put(attributes.key, Part::Key);
        if let Scope::Process(names) = attributes.scope {
            columns.put(names, Part::Process);
        }
        let is_kernel = identity.family.is_kernel() || identity.family.is_classic();
        let is_foreign = |place| match subject {
            // Others have bits of this name that mean something else.
            Subject::Process => place == process::FLAGS && !is_kernel,
            Subject::Method => place == method::FLAGS && subject::is_javascript(&identity.provider),
            _ => false,
        };
        (0..NUMBERS)
            .filter(|place| !is_foreign(*place))
            .for_each(|place| columns.put(attributes.numbers[place], Part::Number(place)));
        (0..TEXTS).for_each(|place| columns.put(attributes.texts[place], Part::Text(place)));
        let is_of_32_bits = subject == Subject::Process && is_kernel && identity.pointer_size == 4;
        let bits = if is_of_32_bits { process::SYSTEM_32 } else { 0 };
        let mut values = SingleValues::compile(schema, &assigned, identity.pointer_size);
        let parts = &columns.parts;
        let integers = values
            .take_integers()
            .into_iter()
            .flat_map(|(column, integer)| parts[column].iter().filter_map(move |part| Some((part.number()?, integer))));
        Some(Reader {
            shape: number,
            subject,
            lifecycle,
            integers: integers.collect(),
            values,
            is_without_key: attributes.key.is_empty(),
            has_process: attributes.scope != Scope::System,
            bits,
            parts: columns.parts,
        })
    }

    /// Adds what an event of the shape records, of a machine.
    pub fn read(&self, event: &Event<'_>, key: &Key, machine: u16, described: &mut DescribedFacts) {
        if event.items_damaged || event.string_only {
            return;
        }
        let DescribedFacts { facts, texts, slots } = described;
        facts[self.subject as usize].add(Fact::new(key, machine, self.lifecycle, self.shape), |fact| {
            let mut numbers = Numbers::default();
            if self.values.has_leading(event.payload) {
                self.integers.iter().for_each(|(place, integer)| numbers.put(*place, integer.read(event.payload)));
            }
            let status = self.values.each(event.payload, slots, |column, value| {
                for part in &self.parts[column] {
                    match (*part, part.number()) {
                        (Part::Text(place), _) => fact.texts[place] = texts.number(&value),
                        (_, Some(place)) => value.number().into_iter().for_each(|number| numbers.put(place, number)),
                        (_, None) => {}
                    }
                }
            });
            let writer = || event.process_id.filter(|_| status != Status::Error).map(u64::from);
            fact.key = if self.is_without_key { 0 } else { numbers.get(Part::Key)? };
            if self.has_process {
                // A row without values says nothing.
                fact.scope = numbers.get(Part::Process).or_else(writer)?;
            }
            fact.numbers.copy_from_slice(&numbers.all[2..]);
            fact.present = (numbers.present >> 2).to_le_bytes()[0];
            if self.bits != 0 {
                fact.record(process::FLAGS, fact.number(process::FLAGS).unwrap_or(0) | self.bits);
            }
            Some(())
        });
    }
}

/// The events of some buffers that describe subjects.
pub(super) struct Reading<'a> {
    readers: &'a Readers,
    finder: ShapeFinder<'a>,
    machine: u16,
    described: DescribedFacts,
    count: usize,
}

impl<'a> Reading<'a> {
    /// Begins to read what was recorded on a machine.
    pub(super) fn new(readers: &'a Readers, ids: &'a ShapeIds, machine: u16) -> Self {
        Reading { readers, finder: ShapeFinder::new(ids), machine, described: DescribedFacts::default(), count: 0 }
    }

    /// Takes an event, if it describes a subject; how many wait.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`](base::error::ErrorKind::Internal) when the survey has not seen its shape.
    pub(super) fn push(
        &mut self,
        raw: &RawEvent<'_>,
        context: &FileContext,
        key: impl FnOnce() -> Key,
    ) -> Result<usize> {
        if let Some(reader) = self.readers.of_shape(self.finder.find(raw, context)?) {
            reader.read(&Event::of(raw, context), &key(), self.machine, &mut self.described);
            self.count += 1;
        }
        Ok(self.count)
    }

    /// All that the events have recorded.
    pub(super) fn finish(&mut self) -> DescribedFacts {
        self.count = 0;
        std::mem::take(&mut self.described).finish()
    }
}

impl DescribedFacts {
    /// Whether nothing was read.
    pub fn is_empty(&self) -> bool {
        self.facts.iter().all(|facts| facts.blocks.is_empty())
    }

    /// Bytes that it takes, but for its texts.
    pub fn weight(&self) -> u64 {
        self.facts.iter().map(|facts| (facts.capacity() * size_of::<Fact>()) as u64).sum()
    }

    /// What was read: no more is to come.
    #[must_use]
    pub fn finish(self) -> DescribedFacts {
        DescribedFacts { texts: self.texts.finish(), slots: Vec::new(), ..self }
    }
}
