//! The rows of one table in one slice, column by column.

use std::io::Write;
use std::mem::size_of;

use super::sparse::{Rare, Span, Sparse, SparseLists};
use crate::clock::TimeStatus;
use crate::columns::presence::Recycle;
use crate::decode::Status;
use crate::event::view::CpuTime;
use crate::event::{Event, EventIdentity, items::Item};
use crate::guid::Guid;
use crate::layout::extended::item_type;
use crate::sid::Sid;

/// How a row was decoded: a [`Status`], or none because there is no schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowStatus {
    /// A schema was applied.
    Decoded(Status),
    /// There is no schema.
    NoSchema,
}

impl RowStatus {
    /// All values; the index is [`RowStatus::code`].
    pub const ALL: [RowStatus; 6] = [
        RowStatus::Decoded(Status::Ok),
        RowStatus::Decoded(Status::Padded),
        RowStatus::Decoded(Status::Short),
        RowStatus::Decoded(Status::Extra),
        RowStatus::Decoded(Status::Error),
        RowStatus::NoSchema,
    ];

    /// The value of the column `decode_status`.
    pub fn name(self) -> &'static str {
        match self {
            RowStatus::Decoded(status) => status.as_str(),
            RowStatus::NoSchema => "no_schema",
        }
    }

    /// The index in [`RowStatus::ALL`].
    pub fn code(self) -> u8 {
        match self {
            RowStatus::Decoded(Status::Ok) => 0,
            RowStatus::Decoded(Status::Padded) => 1,
            RowStatus::Decoded(Status::Short) => 2,
            RowStatus::Decoded(Status::Extra) => 3,
            RowStatus::Decoded(Status::Error) => 4,
            RowStatus::NoSchema => 5,
        }
    }
}

/// What a row holds beside the event's own header and payload columns.
#[derive(Clone, Copy, Debug)]
pub struct RowContext {
    /// Unix time in nanoseconds.
    pub ns: i64,
    /// Position in the order of the recording.
    pub seq: i64,
    /// Raw time, where the nanoseconds do not determine it.
    pub ticks: Option<i64>,
    /// What is special about the time.
    pub time_status: Option<TimeStatus>,
    /// The processor, where the session knows it.
    pub cpu: Option<u16>,
    /// Number of the file.
    pub input: u16,
    /// Number of the shape.
    pub shape: u32,
    /// Nanoseconds of a timer tick.
    pub timer_ns: i64,
    /// How it was decoded.
    pub status: RowStatus,
    /// Whether the payload is kept.
    pub keep_payload: bool,
}

/// One extended item without a column of its own: its type and where its data lies.
#[derive(Clone, Copy, Debug)]
pub struct ExtendedItem {
    /// The item type.
    pub kind: u16,
    /// RowSelection in [`Rows::extended_data`].
    pub data: Span,
}

/// The rows of one table in one slice.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the fields are the columns of the same names")]
pub struct Rows {
    pub ns: Vec<i64>,
    pub seq: Vec<i64>,
    pub shape: Vec<u32>,
    pub input: Vec<u16>,
    pub status: Vec<u8>,
    pub ticks: Sparse<i64>,
    pub time_status: Sparse<TimeStatus>,
    pub cpu: Sparse<u16>,
    pub process_id: Sparse<u32>,
    pub thread_id: Sparse<u32>,
    pub level: Sparse<u8>,
    pub task: Sparse<u16>,
    pub channel: Sparse<u8>,
    pub keywords: Sparse<u64>,
    pub activity_id: Sparse<Guid>,
    pub related_activity_id: Rare<Sparse<Guid>>,
    pub kernel_time_ns: Rare<Sparse<i64>>,
    pub user_time_ns: Rare<Sparse<i64>>,
    pub processor_time: Rare<Sparse<u64>>,
    pub user_sid: Rare<SparseLists<u8>>,
    pub terminal_session_id: Rare<Sparse<u32>>,
    pub process_start_key: Rare<Sparse<u64>>,
    pub event_key: Rare<Sparse<u64>>,
    pub container_id: Rare<SparseLists<u8>>,
    pub stack: Rare<SparseLists<u64>>,
    pub stack_match_id: Rare<Sparse<u64>>,
    pub pmc_counters: Rare<SparseLists<u64>>,
    pub extended: Rare<SparseLists<ExtendedItem>>,
    pub extended_data: Vec<u8>,
    pub payload: Rare<SparseLists<u8>>,
    pub instance_id: Rare<Sparse<u32>>,
    pub parent_instance_id: Rare<Sparse<u32>>,
    pub parent_guid: Rare<Sparse<Guid>>,
    pub sequence: Rare<Sparse<u32>>,
    pub component_id: Rare<Sparse<u32>>,
    pub message: Rare<SparseLists<u8>>,
    pub arguments: Rare<SparseLists<Span>>,
    pub argument_text: Vec<u8>,
    pub number: Rare<Sparse<u32>>,
    pub identity: Rare<Sparse<EventIdentity>>,
}

/// The struct of these fields, each taken out of `$rows`.
macro_rules! take_exact {
    ($rows:ident: $($field:ident),* $(,)?) => { Rows { $($field: $rows.$field.take_exact()),* } };
}

impl Recycle for Rows {
    fn take_exact(&mut self) -> Self {
        take_exact!(
            self:
            ns, seq, shape, input, status, ticks, time_status, cpu, process_id, thread_id, level, task, channel,
            keywords, activity_id, related_activity_id, kernel_time_ns, user_time_ns, processor_time, user_sid,
            terminal_session_id, process_start_key, event_key, container_id, stack, stack_match_id, pmc_counters,
            extended, extended_data, payload, instance_id, parent_instance_id, parent_guid, sequence, component_id,
            message, arguments, argument_text, number, identity,
        )
    }
}

impl Rows {
    /// Number of rows.
    pub fn count(&self) -> u32 {
        u32::try_from(self.ns.len()).expect("a slice of the order holds less than 4 G events")
    }

    /// Adds an event.
    #[inline]
    pub fn push(&mut self, event: &Event<'_>, facts: &RowContext) {
        let row = self.count();
        self.ns.push(facts.ns);
        self.seq.push(facts.seq);
        self.shape.push(facts.shape);
        self.input.push(facts.input);
        self.status.push(facts.status.code());
        self.ticks.push_option(row, facts.ticks);
        self.time_status.push_option(row, facts.time_status);
        self.cpu.push_option(row, facts.cpu);
        self.process_id.push_option(row, event.process_id);
        self.thread_id.push_option(row, event.thread_id);
        self.level.push_option(row, event.level);
        self.task.push_option(row, event.task);
        self.channel.push_option(row, event.channel);
        self.keywords.push_option(row, event.keywords);
        self.activity_id.push_option(row, Some(event.activity_id).filter(|id| !id.is_zero()));
        self.push_cpu_time(row, event.cpu_time, facts.timer_ns);
        if facts.keep_payload {
            self.payload.push(row, event.payload);
        }
        if !event.items.is_empty() {
            event.items.clone().for_each(|item| self.push_item(row, item));
        }
        self.push_rare(row, event);
    }

    /// Adds to the last row what the shape of its event does not tell, or is not told apart by.
    pub fn push_identity(&mut self, identity: EventIdentity, event: &Event<'_>) {
        let row = self.count() - 1;
        self.identity.push(row, identity);
        let in_catalog = |item: &Item<'_>| is_in_catalog(item.kind);
        event.items.clone().filter(in_catalog).for_each(|item| self.push_extended(row, item));
    }

    fn push_cpu_time(&mut self, row: u32, time: CpuTime, timer_ns: i64) {
        match time {
            CpuTime::None => {}
            CpuTime::KernelUser(kernel, user) => {
                self.kernel_time_ns.push(row, i64::from(kernel).saturating_mul(timer_ns));
                self.user_time_ns.push(row, i64::from(user).saturating_mul(timer_ns));
            }
            CpuTime::Processor(ticks) => self.processor_time.push(row, ticks),
        }
    }

    fn push_rare(&mut self, row: u32, event: &Event<'_>) {
        if !event.counters.is_empty() {
            self.pmc_counters.extend(row, words(event.counters));
        }
        if !event.pebs_index.is_empty() {
            self.push_extended(row, Item { kind: item_type::PEBS_INDEX, data: event.pebs_index });
        }
        if let Some(instance) = event.instance {
            self.instance_id.push(row, instance.id);
            self.parent_instance_id.push(row, instance.parent_id);
            self.parent_guid.push_option(row, Some(instance.parent_guid).filter(|guid| !guid.is_zero()));
        }
        if let Some(message) = event.message {
            self.sequence.push_option(row, message.sequence);
            self.component_id.push_option(row, message.component_id);
        }
        if let Some(number) = event.number {
            self.number.push(row, number);
        }
    }

    /// An item goes to its column. A second one of a type, or one whose data does not fit its type, is kept whole.
    fn push_item(&mut self, row: u32, item: Item<'_>) {
        let is_first = !self.has_item(row, item.kind);
        let stored = is_first && self.push_known_item(row, item);
        if !stored && !is_in_catalog(item.kind) {
            self.push_extended(row, item);
        }
    }

    fn has_item(&self, row: u32, kind: u16) -> bool {
        match kind {
            item_type::RELATED_ACTIVITY_ID => self.related_activity_id.ends_with(row),
            item_type::SID => self.user_sid.spans.ends_with(row),
            item_type::TS_ID => self.terminal_session_id.ends_with(row),
            item_type::STACK_TRACE_32 | item_type::STACK_TRACE_64 => self.stack.spans.ends_with(row),
            item_type::PMC_COUNTERS => self.pmc_counters.spans.ends_with(row),
            item_type::EVENT_KEY => self.event_key.ends_with(row),
            item_type::PROCESS_START_KEY => self.process_start_key.ends_with(row),
            item_type::CONTAINER_ID => self.container_id.spans.ends_with(row),
            _ => false,
        }
    }

    fn push_known_item(&mut self, row: u32, item: Item<'_>) -> bool {
        let stored = match item.kind {
            item_type::RELATED_ACTIVITY_ID => item
                .data
                .try_into()
                .map(|id| self.related_activity_id.push_option(row, Some(Guid(id)).filter(|id| !id.is_zero())))
                .ok(),
            item_type::SID => self.push_sid(row, item.data),
            item_type::TS_ID => number(item.data).map(|id| self.terminal_session_id.push(row, u32::from_le_bytes(id))),
            item_type::STACK_TRACE_32 => self.push_stack(row, item.data, 4),
            item_type::STACK_TRACE_64 => self.push_stack(row, item.data, 8),
            item_type::PMC_COUNTERS if item.data.len().is_multiple_of(8) => {
                self.pmc_counters.extend(row, words(item.data));
                Some(())
            }
            item_type::EVENT_KEY => number(item.data).map(|key| self.event_key.push(row, u64::from_le_bytes(key))),
            item_type::PROCESS_START_KEY => {
                number(item.data).map(|key| self.process_start_key.push(row, u64::from_le_bytes(key)))
            }
            item_type::CONTAINER_ID => self.push_container(row, item.data),
            _ => None,
        };
        stored.is_some()
    }

    fn push_sid(&mut self, row: u32, sid: &[u8]) -> Option<()> {
        let (sid, start) = (Sid::read(sid)?, self.user_sid.items.len());
        // A vector takes every write.
        write!(self.user_sid.items, "{sid}").ok()?;
        self.user_sid.end_row(row, start);
        Some(())
    }

    fn push_stack(&mut self, row: u32, data: &[u8], width: usize) -> Option<()> {
        let (match_id, frames) = data.split_first_chunk()?;
        if !frames.len().is_multiple_of(width) {
            return None;
        }
        let match_id = u64::from_le_bytes(*match_id);
        self.stack_match_id.push_option(row, Some(match_id).filter(|&id| id != 0));
        match width {
            4 => self.stack.extend(row, half_words(frames)),
            _ => self.stack.extend(row, words(frames)),
        }
        Some(())
    }

    /// A container is named by 16 bytes, or by the text of its GUID.
    fn push_container(&mut self, row: u32, data: &[u8]) -> Option<()> {
        if let Ok(id) = data.try_into() {
            self.container_id.push(row, &Guid(id).to_text());
        } else {
            let text = std::str::from_utf8(data).ok()?.trim_end_matches('\0');
            let id: Guid = text.parse().ok()?;
            self.container_id.push(row, &id.to_text());
        }
        Some(())
    }

    fn push_extended(&mut self, row: u32, item: Item<'_>) {
        let at = |len: usize| u32::try_from(len).expect("a slice of the order holds less than 4 GiB");
        let data = Span { start: at(self.extended_data.len()), len: at(item.data.len()) };
        self.extended_data.extend_from_slice(item.data);
        let item = ExtendedItem { kind: item.kind, data };
        if self.extended.spans.ends_with(row) {
            self.extended.grow_last(item);
        } else {
            self.extended.extend(row, [item]);
        }
    }

    /// The weight of the texts of messages.
    pub fn text_weight(&self) -> u64 {
        let spans = self.arguments.items.len() * size_of::<Span>();
        (self.message.items.len() + self.argument_text.len() + spans) as u64
    }

    /// The Arrow bytes of the values of these columns, without what follows from the shape.
    pub fn weight(&self) -> u64 {
        fn of<T>(column: &Sparse<T>) -> usize {
            column.count() * size_of::<T>()
        }
        fn list<T>(column: &SparseLists<T>) -> usize {
            column.spans.count() * 4 + column.items.len() * size_of::<T>()
        }
        let guids = self.activity_id.count() + self.related_activity_id.count() + self.parent_guid.count();
        let bytes = self.ns.len() * (8 + 8 + 8 + 4 + 2)
            + of(&self.ticks)
            + self.time_status.count() * 13
            + of(&self.cpu)
            + of(&self.process_id)
            + of(&self.thread_id)
            + of(&self.level)
            + of(&self.task)
            + of(&self.channel)
            + of(&self.keywords)
            + guids * (36 + 4)
            + of(&self.kernel_time_ns)
            + of(&self.user_time_ns)
            + of(&self.processor_time)
            + list(&self.user_sid)
            + of(&self.terminal_session_id)
            + of(&self.process_start_key)
            + of(&self.event_key)
            + list(&self.container_id)
            + list(&self.stack)
            + of(&self.stack_match_id)
            + list(&self.pmc_counters)
            + self.extended.items.len() * 6
            + self.extended_data.len()
            + list(&self.payload)
            + of(&self.instance_id)
            + of(&self.parent_instance_id)
            + of(&self.sequence)
            + of(&self.component_id)
            + list(&self.message)
            + self.arguments.items.len() * 4
            + self.argument_text.len()
            + of(&self.number)
            + self.identity.count() * IDENTITY_WEIGHT;
        bytes as u64
    }
}

/// Items that stand once per shape in the catalog.
fn is_in_catalog(kind: u16) -> bool {
    matches!(kind, item_type::EVENT_SCHEMA_TL | item_type::PROVIDER_TRAITS)
}

/// The Arrow bytes of an identity: a GUID as text, and six numbers.
const IDENTITY_WEIGHT: usize = 40 + 12;

fn number<const N: usize>(data: &[u8]) -> Option<[u8; N]> {
    data.try_into().ok()
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word))
}

fn half_words(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.as_chunks().0.iter().map(|&word| u64::from(u32::from_le_bytes(word)))
}
