//! Turns one slice of the order into rows.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use base::clock::{Clock, DoubleFormula, Ticks, TimeStatus, UnixNanos};
use base::error::{Error, Result};
use base::progress::{Progress, Step, timed};
use columnar::columns::ColumnBuffers;
use etl::event::named_ids::AttributedIds;
use etl::event::{Event, EventIdentity, FileContext, RawEvent};

use super::attribution::{EventAttribution, MatchingNames, Selection};
use super::counts::{InputCounts, ShapeCounts};
use super::decoders::{Decoders, ShapeDecoder, Words};
use super::entry::Entry;
use super::load::SliceMemory;
use super::message::{MessageContext, MessageRenderer};
use super::order::OrderedSlice;
use super::policies::RawPolicy;
use super::recovered::Recovered;
use super::seen::SeenIds;
use super::segments::SliceSegment;
use super::shape_counter::{ShapeCounter, ShapeRows};
use super::slice_stacks::SliceStacks;
use super::sliced::SlicedPartition;
use super::slices::Slice;
use crate::decode::{DecodeOutcome, PayloadColumn, Status, TraceClock};
use crate::dimensions::{DescribedFacts, Owners, Readers, TakesFacts};
use crate::plan::{CompiledFilter, DecodeSource, Key, PartitionView, PlanResult, ShapeFinder};
use crate::stacks::Stacks;
use crate::survey::FileKey;
use crate::table::{Chunk, HeaderColumns, RowContext, RowStatus, TableColumns};

/// What is common to all slices.
#[derive(Clone, Copy, Debug)]
pub struct SliceContext<'a> {
    /// The plan.
    pub plan: &'a PlanResult,
    /// Which events become rows; `None` where all of them do.
    pub filter: Option<&'a CompiledFilter>,
    /// The plan's shapes, made ready to decode events.
    pub decoders: &'a Decoders,
    /// The columns of the plan's tables.
    pub columns: &'a [Arc<TableColumns>],
    /// The processes of the recording and their threads.
    pub owners: &'a Owners<'a>,
    /// The stacks of the events that other events record.
    pub stacks: &'a Stacks,
    /// The names of processes that the filter asks for; `None` where there is none.
    pub asked: Option<&'a MatchingNames>,
    /// When raw payloads are kept.
    pub raw: RawPolicy,
    /// What takes the facts of subjects of which no row asks; `None` where they are gathered already.
    pub late: Option<&'a dyn TakesFacts>,
}

impl<'a> SliceContext<'a> {
    /// Whether filters ask whose events are.
    fn asks_whose(&self) -> bool {
        self.filter.is_some_and(CompiledFilter::asks_whose)
    }

    /// What selects the events that become rows; `None` where all of them do.
    fn selection(&self) -> Option<Selection<'a>> {
        let (filter, asked) = (self.filter?, self.asked?);
        Some(Selection { filter, asked, decoders: self.decoders, owners: self.owners, stacks: self.stacks })
    }
}

/// Weight of decoded values and texts at which a slice hands over its rows and is taken up again later. A payload can
/// decode into a thousand times its size: each byte of it may be the number of a long name. Healthy slices stay below.
const PART_WEIGHT: u64 = 24 << 20;

/// The rows of one slice or of a part of it, by table, and what was counted on the way.
#[derive(Debug)]
pub struct SliceRows {
    /// Index of the table and its rows; ascending.
    pub chunks: Vec<(u32, Chunk)>,
    /// Counts per shape.
    pub shapes: BTreeMap<u32, ShapeCounts>,
    /// Rows per source and status, by their numbers.
    pub decode: BTreeMap<(DecodeSource, RowStatus), u64>,
    /// Counts per input.
    pub inputs: Vec<InputCounts>,
    /// Whose the rows are, where filters ask for that.
    pub seen: SeenIds,
    /// What its events record of subjects of which no row asks.
    pub described: DescribedFacts,
    /// Time and file of the first event.
    pub first: Option<(i64, u16)>,
    /// Time of the last event.
    pub last_ns: Option<i64>,
    /// Events of the slice, those left out too; of a later part, its own.
    pub events: u64,
    /// The place in the order of the slice with which the next part begins.
    pub rest: Option<usize>,
}

impl SliceRows {
    /// The weight of all rows.
    pub fn weight(&self) -> u64 {
        self.chunks.iter().map(|(_, chunk)| chunk.weight).sum::<u64>() + self.described.weight()
    }
}

/// The memory of a worker, filled anew with each slice.
#[derive(Debug, Default)]
pub struct Workspace {
    memory: SliceMemory,
    /// By number of the table; those of the last slice.
    tables: Vec<Option<TableRows>>,
    shapes: ShapeCounter,
}

/// Reads, orders and decodes a slice, from a place in its order on: 0, or what a part before says is its
/// [`SliceRows::rest`]. Where a part ends depends on the events alone.
///
/// # Errors
/// When a file cannot be read, or changed since the survey.
pub fn convert(
    context: SliceContext<'_>,
    partition: &SlicedPartition<'_>,
    number: usize,
    from: usize,
    workspace: &mut Workspace,
    progress: &dyn Progress,
) -> Result<SliceRows> {
    let slice = partition.slices.get(number).ok_or_else(|| Error::bug(format!("there is no slice {number}")))?;
    let Workspace { memory, tables, shapes } = workspace;
    let read = || OrderedSlice::read(&partition.view, context.selection(), &partition.slices, slice, memory);
    let ordered = timed(progress, Step::Order, read)?;
    let rows = timed(progress, Step::Decode, || decode(context, partition, slice, &ordered, from, (tables, shapes)))?;
    ordered.recycle(memory);
    Ok(rows)
}

fn decode(
    context: SliceContext<'_>,
    partition: &SlicedPartition<'_>,
    slice: &Slice,
    ordered: &OrderedSlice<'_>,
    from: usize,
    (tables, shapes): (&mut Vec<Option<TableRows>>, &mut ShapeCounter),
) -> Result<SliceRows> {
    let mut converter = Converter::new(context, &partition.view, ordered, tables, shapes);
    let mut end = from;
    for entry in ordered.entries.iter().skip(from) {
        if converter.weight >= PART_WEIGHT {
            break;
        }
        converter.push(ordered, entry, slice.first_seq + ordered.rank(end))?;
        end += 1;
    }
    Ok(converter.finish(ordered, slice, from..end))
}

/// The rows of a table while they are collected.
#[derive(Debug)]
struct TableRows {
    header: HeaderColumns,
    payload: ColumnBuffers,
}

/// What is needed of an input for each of its events.
struct InputContext<'a> {
    context: FileContext,
    clock: SliceClock<'a>,
    formula: Option<DoubleFormula>,
    has_cpu: bool,
    timer_ns: i64,
    machine: u16,
}

struct SliceClock<'a>(&'a Clock);

impl TraceClock for SliceClock<'_> {
    fn unix_ns(&self, ticks: i64) -> Option<i64> {
        match self.0.convert(Ticks(ticks)) {
            (time, None) => Some(time.0),
            _ => None,
        }
    }

    fn span_ns(&self, ticks: u64) -> Option<i64> {
        self.0.counter_span_ns(ticks)
    }

    fn is_reversible(&self) -> bool {
        !self.0.is_finer_than_ns()
    }
}

struct Converter<'a> {
    context: SliceContext<'a>,
    inputs: Vec<InputContext<'a>>,
    tables: &'a mut [Option<TableRows>],
    counts: Vec<InputCounts>,
    shapes: &'a mut ShapeCounter,
    finder: ShapeFinder<'a>,
    attribution: EventAttribution<'a>,
    stacks: SliceStacks<'a>,
    recovered: Recovered<'a>,
    /// Whose the rows are, where filters ask for that.
    seen: Option<SeenIds>,
    last: AttributedIds,
    messages: MessageRenderer,
    readers: Option<&'a Readers>,
    described: DescribedFacts,
    previous: Option<i64>,
    /// The weight of decoded values and texts.
    weight: u64,
}

impl<'a> Converter<'a> {
    fn new(
        context: SliceContext<'a>,
        view: &PartitionView<'a>,
        ordered: &'a OrderedSlice<'_>,
        tables: &'a mut Vec<Option<TableRows>>,
        shapes: &'a mut ShapeCounter,
    ) -> Self {
        let inputs = view.inputs.iter().map(|input| InputContext {
            context: input.rules.context,
            clock: SliceClock(&input.clock),
            formula: input.clock.double_formula(),
            has_cpu: !input.rules.one_stream,
            timer_ns: i64::from(input.timer_resolution) * 100,
            machine: input.machine,
        });
        let counts = ordered.damaged.iter().zip(&ordered.filtered);
        let counts = counts.map(|(&damaged, &filtered)| InputCounts { damaged, filtered, ..InputCounts::default() });
        tables.resize_with(context.plan.tables.len(), || None);
        Converter {
            context,
            inputs: inputs.collect(),
            tables,
            counts: counts.collect(),
            shapes,
            finder: ShapeFinder::new(&context.decoders.ids),
            attribution: EventAttribution::new(context.decoders, context.owners),
            stacks: SliceStacks::of(context.stacks, ordered.places()),
            recovered: Recovered::of(ordered),
            seen: context.asks_whose().then(SeenIds::default),
            last: AttributedIds::default(),
            messages: MessageRenderer::default(),
            readers: context.late.map(TakesFacts::readers),
            described: DescribedFacts::default(),
            previous: None,
            weight: 0,
        }
    }

    #[inline]
    fn push(&mut self, ordered: &OrderedSlice<'_>, entry: &Entry, seq: u64) -> Result<()> {
        let (raw, segment) = ordered.event(entry);
        let input = usize::from(segment.input);
        let file = &self.inputs[input];
        let shape = self.finder.find(&raw, &file.context)?;
        let decoder = &self.context.decoders.shapes[shape as usize];
        let event = Event::of(&raw, &file.context);
        let time_status = self.time_status(entry, &raw, input);
        let file = &self.inputs[input];
        let table = self.tables[decoder.table as usize]
            .get_or_insert_with(|| TableRows::new(&self.context.plan.tables[decoder.table as usize].columns.columns));
        let cpu = file.has_cpu.then_some(segment.cpu);
        let place = MessageContext { pointer_size: decoder.pointer_size, cpu, ns: entry.ns };
        let outcome = table.decode(&event, decoder, &file.clock, &mut self.messages, &place, &mut self.weight);
        let status = outcome.map_or(RowStatus::NoSchema, |outcome| RowStatus::Decoded(outcome.status));
        let is_exact = time_status.is_none() && !file.clock.0.is_finer_than_ns();
        let stack = self.stacks.get(entry.segment, entry.offset);
        let walked = || stack?.process;
        let ids = self.attribution.ids(file.machine, &event, (&raw, &file.context), shape, walked, entry.ns);
        if let Some(seen) = self.seen.as_mut().filter(|_| ids != self.last) {
            seen.add(&ids);
            self.last = ids;
        }
        if let Some(reader) = self.readers.and_then(|readers| readers.of_shape(shape)) {
            reader.read(&event, &key_of(entry, segment), file.machine, &mut self.described);
        }
        let row = RowContext {
            ns: entry.ns,
            seq: i64::try_from(seq).unwrap_or(i64::MAX),
            ticks: if is_exact { None } else { raw.ticks() },
            time_status,
            cpu,
            ids,
            input: segment.input,
            shape,
            timer_ns: file.timer_ns,
            status,
            keep_payload: match self.context.raw {
                RawPolicy::Never => false,
                RawPolicy::Needed => outcome.is_none_or(|outcome| outcome.keep_payload),
                RawPolicy::Always => true,
            },
            is_recovered: self.recovered.has(entry),
        };
        let identity = decoder.is_other.then(|| EventIdentity::of(&raw, &file.context));
        self.weight += stack.map_or(0, |stack| size_of_val(stack.addresses) as u64);
        table.header.push(&event, &row, identity, stack);
        self.shapes.count(shape, status, event.payload.len());
        Ok(())
    }

    fn time_status(&mut self, entry: &Entry, raw: &RawEvent<'_>, input: usize) -> Option<TimeStatus> {
        let (file, counts) = (&self.inputs[input], &mut self.counts[input]);
        counts.ties += u64::from(self.previous == Some(entry.ns));
        self.previous = Some(entry.ns);
        if let Some(formula) = &file.formula {
            let error = formula.error_ns(Ticks(entry.ticks), UnixNanos(entry.ns));
            if error.unsigned_abs() > counts.double_formula_error_ns.unsigned_abs() {
                counts.double_formula_error_ns = error;
            }
        }
        let status = file.clock.0.status_of(Ticks(entry.ticks), UnixNanos(entry.ns));
        counts.saturated_times += u64::from(status == Some(TimeStatus::Saturated));
        if raw.ticks().is_none() { Some(TimeStatus::Inherited) } else { status }
    }

    /// The rows of the events at these places in the order of the slice.
    fn finish(mut self, ordered: &OrderedSlice<'_>, slice: &Slice, part: Range<usize>) -> SliceRows {
        let all = ordered.entries.len();
        let left_out = if part.start == 0 { slice.events.saturating_sub(all as u64) } else { 0 };
        if part.start > 0 {
            // The first part has counted them.
            self.counts.iter_mut().for_each(|counts| (counts.damaged, counts.filtered) = (0, 0));
        }
        let entries = ordered.entries.get(part.clone()).unwrap_or_default();
        let mut rows = SliceRows {
            chunks: Vec::new(),
            shapes: BTreeMap::new(),
            decode: BTreeMap::new(),
            inputs: self.counts,
            seen: self.seen.unwrap_or_default(),
            described: self.described.finish(),
            first: entries.first().map(|entry| (entry.ns, ordered.event(entry).1.input)),
            last_ns: entries.last().map(|entry| entry.ns),
            events: left_out + part.len() as u64,
            rest: (part.end < all).then_some(part.end),
        };
        let mut shape_weights: BTreeMap<u32, u64> = BTreeMap::new();
        for (shape, ShapeRows { statuses, payload_bytes }) in self.shapes.take() {
            let plan = self.context.plan;
            let (table, source) = (plan.shapes[shape as usize].table, plan.shapes[shape as usize].decode_source);
            let count: u64 = statuses.iter().sum();
            let counts = || RowStatus::ALL.into_iter().zip(statuses).filter(|(_, count)| *count > 0);
            let ok_rows = counts().filter(|(status, _)| status.is_whole()).map(|(_, count)| count).sum();
            rows.shapes.insert(shape, ShapeCounts { rows: count, ok_rows, payload_bytes });
            for (status, count) in counts() {
                *rows.decode.entry((source, status)).or_default() += count;
            }
            *shape_weights.entry(table).or_default() +=
                count * self.context.columns[table as usize].shape_weight(shape);
        }
        for (table, slot) in (0u32..).zip(self.tables) {
            // A table without rows in this slice gives its memory back.
            let _ = slot.take_if(|filled| filled.header.count() == 0);
            if let Some(filled) = slot {
                let by_shape = shape_weights.get(&table).copied().unwrap_or(0);
                let columns = &self.context.columns[table as usize];
                rows.chunks.push((table, Chunk::take(columns, &mut filled.header, &mut filled.payload, by_shape)));
            }
        }
        rows
    }
}

/// Where an event stands, as far as times say.
fn key_of(entry: &Entry, segment: &SliceSegment) -> Key {
    let at = FileKey { ticks: entry.ticks, stream: 0, sequence: 0, ordinal: 0, offset: entry.offset };
    Key { ns: entry.ns, input: segment.input, at }
}

/// What becomes of a payload that nothing describes. Where it has no bytes, no column lacks anything of it; but of a
/// message, the text.
fn without_schema(event: &Event<'_>) -> Option<DecodeOutcome> {
    let is_whole = event.payload.is_empty() && event.message.is_none();
    is_whole.then_some(DecodeOutcome { status: Status::Ok, keep_payload: false })
}

impl TableRows {
    fn new(columns: &[PayloadColumn]) -> Self {
        let payload = ColumnBuffers::new(columns.iter().map(PayloadColumn::data_type));
        TableRows { header: HeaderColumns::default(), payload }
    }

    /// Decodes a payload into the next row, with what it says in words where that is asked for, and adds to `weight` that of
    /// its values; `None` where nothing describes it.
    #[inline]
    fn decode(
        &mut self,
        event: &Event<'_>,
        shape: &ShapeDecoder,
        clock: &SliceClock<'_>,
        messages: &mut MessageRenderer,
        place: &MessageContext,
        weight: &mut u64,
    ) -> Option<DecodeOutcome> {
        let outcome = self.decode_payload(event, shape, clock, messages, place, weight);
        match (&shape.words, &outcome) {
            (Words::Template(words), Some(DecodeOutcome { status, .. })) if *status != Status::Error => {
                messages.put_in_words(words, event.payload, &mut self.header, weight);
            }
            (Words::Message, Some(_)) if !event.items_damaged => messages.repeat(&mut self.header, weight),
            _ => {}
        }
        outcome
    }

    #[inline]
    fn decode_payload(
        &mut self,
        event: &Event<'_>,
        shape: &ShapeDecoder,
        clock: &SliceClock<'_>,
        messages: &mut MessageRenderer,
        place: &MessageContext,
        weight: &mut u64,
    ) -> Option<DecodeOutcome> {
        let error = DecodeOutcome { status: Status::Error, keep_payload: true };
        if event.items_damaged || shape.is_refused {
            return Some(error);
        }
        if let Some(message) = &shape.message {
            return Some(messages.render(message, event, place, &mut self.header, weight));
        }
        let Some(program) = &shape.program else { return without_schema(event) };
        // The flag is no part of a shape, so that events of both kinds can share one.
        if event.string_only != shape.is_string {
            return Some(error);
        }
        let before = self.payload.weight();
        let outcome = program.decode(event.payload, self.header.count(), &mut self.payload, clock);
        *weight += self.payload.weight() - before;
        Some(outcome)
    }
}
