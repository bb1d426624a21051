//! A row group on its way to the encoder: the rows of several slices, turned into Arrow column by column.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::{Int32Type, TimestampMicrosecondType, TimestampNanosecondType};
use arrow_array::{Array, ArrayRef, BinaryArray, DictionaryArray, Int32Array, StringArray, StructArray};
use arrow_schema::{DataType, SchemaRef};

use super::gather::{self, RowsPart, Text, Unsigned};
use super::header::{HeaderColumn, extended_members};
use super::rows::{RowStatus, Rows};
use super::sparse::Sparse;
use crate::clock::TimeStatus;
use crate::columns::RowSource;
use crate::columns::presence::array_error;
use crate::columns::{self, PackedColumns, TimestampType, TypeOptions, UnsignedType};
use crate::error::Result;
use crate::event::EventIdentity;
use crate::guid::Guid;
use crate::schema::DecodeSource;

/// The rows of one table in one slice.
#[derive(Debug)]
pub struct Chunk {
    /// Header columns.
    pub rows: Rows,
    /// Payload columns.
    pub payload: PackedColumns,
    /// Arrow bytes of all non-null values.
    pub weight: u64,
}

/// What the columns of a table are.
#[derive(Debug)]
pub struct TableColumns {
    /// The header columns, which come first.
    pub header: Vec<HeaderColumn>,
    /// Header and payload columns.
    pub schema: SchemaRef,
    /// Column types.
    pub types: TypeOptions,
    /// What the columns say that depend on the shape alone, for each shape of the table.
    pub facts: Vec<ShapeConstants>,
    /// The event names, by the same index.
    names: ArrayRef,
    /// The index of every shape of the trace in its table; one list for all tables.
    places: Arc<[u32]>,
}

/// What every row of a shape has in common.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the fields are the columns of the same names")]
pub struct ShapeConstants {
    pub event_id: Option<u16>,
    pub event_version: Option<u16>,
    pub opcode: Option<u8>,
    pub event_name: Option<Box<str>>,
    pub decode_source: i32,
    pub message_guid: Option<Guid>,
    /// Arrow bytes of these columns in one row.
    pub weight: u64,
}

impl ShapeConstants {
    /// Those of a shape with this identity, event name and schema source.
    pub fn new(identity: &EventIdentity, event_name: Option<&str>, source: DecodeSource) -> ShapeConstants {
        let position = DecodeSource::ALL.iter().position(|&other| other == source).unwrap_or(0);
        let name = event_name.unwrap_or_default().len();
        ShapeConstants {
            event_id: identity.event_id(),
            event_version: identity.event_version(),
            opcode: identity.event_opcode(),
            event_name: event_name.map(Box::from),
            decode_source: i32::try_from(position).unwrap_or(0),
            message_guid: identity.provider_id(),
            weight: (2 + 2 + 1 + 4 + name + 4 + source.name().len() + 4 + 2) as u64,
        }
    }
}

impl TableColumns {
    /// The layout of a table of shapes with these constants; `places` has the place of each shape of the trace among
    /// those of its table.
    pub fn new(
        header: Vec<HeaderColumn>,
        schema: SchemaRef,
        types: TypeOptions,
        facts: Vec<ShapeConstants>,
        places: Arc<[u32]>,
    ) -> Self {
        let names: StringArray = facts.iter().map(|facts| Some(facts.event_name.as_deref().unwrap_or(""))).collect();
        TableColumns { header, schema, types, facts, names: Arc::new(names), places }
    }

    /// What every row of a shape has in common.
    pub fn facts(&self, shape: u32) -> &ShapeConstants {
        &self.facts[self.place(shape)]
    }

    fn place(&self, shape: u32) -> usize {
        self.places[shape as usize] as usize
    }
}

/// A row group: ranges of chunks, in order, and each with rows.
#[derive(Debug)]
pub struct RowGroup {
    /// The table.
    pub layout: Arc<TableColumns>,
    /// Its rows.
    pub parts: Vec<(Arc<Chunk>, Range<u32>)>,
}

impl RowSource for RowGroup {
    fn rows(&self) -> usize {
        self.parts.iter().map(|(_, range)| range.len()).sum()
    }

    fn column(&self, index: usize, rows: Range<usize>) -> Result<ArrayRef> {
        let parts = self.parts_in(&rows);
        match self.layout.header.get(index) {
            Some(&column) => self.header_column(column, &rows_of(&parts)),
            None => self.payload_column(index, &parts),
        }
    }

    fn all_null(&self, index: usize, rows: Range<usize>) -> bool {
        let parts = self.parts_in(&rows);
        if let Some(&column) = self.layout.header.get(index) {
            !rows_of(&parts).iter().any(|part| has_values(column, part))
        } else {
            let index = index - self.layout.header.len();
            !parts.iter().any(|(chunk, range)| chunk.payload.has_values(index, range))
        }
    }
}

fn rows_of<'a>(parts: &[(&'a Chunk, Range<u32>)]) -> Vec<RowsPart<'a>> {
    parts.iter().map(|(chunk, range)| RowsPart { all: &chunk.rows, range: range.clone() }).collect()
}

impl RowGroup {
    /// Where some rows of the group lie.
    fn parts_in(&self, rows: &Range<usize>) -> Vec<(&Chunk, Range<u32>)> {
        let mut start = 0;
        let within = self.parts.iter().filter_map(|(chunk, range)| {
            let (first, end) = (start, start + range.len());
            start = end;
            let (from, to) = (rows.start.clamp(first, end), rows.end.clamp(first, end));
            // Both lie within the part, whose rows are counted in 32 bits.
            let at = |row: usize| range.start + u32::try_from(row - first).unwrap_or(u32::MAX);
            (from < to).then(|| (chunk.as_ref(), at(from)..at(to)))
        });
        within.collect()
    }

    fn payload_column(&self, index: usize, parts: &[(&Chunk, Range<u32>)]) -> Result<ArrayRef> {
        let data_type = self.layout.schema.field(index).data_type();
        let parts: Vec<_> = parts.iter().map(|(chunk, range)| (&chunk.payload, range.clone())).collect();
        columns::gather(&parts, index - self.layout.header.len(), data_type)
    }

    fn header_column(&self, column: HeaderColumn, parts: &[RowsPart<'_>]) -> Result<ArrayRef> {
        use HeaderColumn::{
            ActivityId, Arguments, Channel, ComponentId, ContainerId, Cpu, DecodeSource, DecodeStatus, EventId,
            EventKey, EventName, EventProperty, EventVersion, Extended, Input, InstanceId, KernelGroup, KernelTimeNs,
            Keywords, Level, Message, MessageGuid, Number, Opcode, ParentGuid, ParentInstanceId, Payload, PmcCounters,
            PointerSize, ProcessId, ProcessStartKey, ProcessorTime, ProviderId, RelatedActivityId, Seq, Sequence,
            Shape, Stack, StackMatchId, Task, TerminalSessionId, ThreadId, Ticks, TimeStatus, Timestamp, TimestampNs,
            UserSid, UserTimeNs,
        };
        let (unsigned, guid) = (self.layout.types.unsigned, self.layout.types.guid);
        Ok(match column {
            Timestamp => self.timestamp(parts),
            TimestampNs => Arc::new(gather::dense::<i64, arrow_array::types::Int64Type>(parts, |r| &r.ns, |ns| ns)),
            Seq => Arc::new(gather::dense::<i64, arrow_array::types::Int64Type>(parts, |r| &r.seq, |seq| seq)),
            Input => gather::dense_unsigned(parts, unsigned, |r| &r.input),
            Shape => gather::dense_unsigned(parts, unsigned, |r| &r.shape),
            Ticks => gather::sparse_i64(parts, |r| &r.ticks),
            KernelTimeNs => gather::sparse_i64(parts, |r| &r.kernel_time_ns),
            UserTimeNs => gather::sparse_i64(parts, |r| &r.user_time_ns),
            Keywords => {
                Arc::new(gather::sparse::<u64, arrow_array::types::Int64Type>(parts, |r| &r.keywords, u64::cast_signed))
            }
            Cpu => gather::sparse_unsigned(parts, unsigned, |r| &r.cpu),
            ProcessId => gather::sparse_unsigned(parts, unsigned, |r| &r.process_id),
            ThreadId => gather::sparse_unsigned(parts, unsigned, |r| &r.thread_id),
            Level => gather::sparse_unsigned(parts, unsigned, |r| &r.level),
            Task => gather::sparse_unsigned(parts, unsigned, |r| &r.task),
            Channel => gather::sparse_unsigned(parts, unsigned, |r| &r.channel),
            ProcessorTime => gather::sparse_unsigned(parts, unsigned, |r| &r.processor_time),
            TerminalSessionId => gather::sparse_unsigned(parts, unsigned, |r| &r.terminal_session_id),
            ProcessStartKey => gather::sparse_unsigned(parts, unsigned, |r| &r.process_start_key),
            EventKey => gather::sparse_unsigned(parts, unsigned, |r| &r.event_key),
            StackMatchId => gather::sparse_unsigned(parts, unsigned, |r| &r.stack_match_id),
            InstanceId => gather::sparse_unsigned(parts, unsigned, |r| &r.instance_id),
            ParentInstanceId => gather::sparse_unsigned(parts, unsigned, |r| &r.parent_instance_id),
            Sequence => gather::sparse_unsigned(parts, unsigned, |r| &r.sequence),
            ComponentId => gather::sparse_unsigned(parts, unsigned, |r| &r.component_id),
            Number => gather::sparse_unsigned(parts, unsigned, |r| &r.number),
            ActivityId => gather::guids(parts, guid, |r| &r.activity_id)?,
            RelatedActivityId => gather::guids(parts, guid, |r| &r.related_activity_id)?,
            ParentGuid => gather::guids(parts, guid, |r| &r.parent_guid)?,
            UserSid => gather::texts(parts, |r| &r.user_sid)?,
            ContainerId => gather::texts(parts, |r| &r.container_id)?,
            Message => gather::texts(parts, |r| &r.message)?,
            Payload => gather::binaries(parts, |r| &r.payload)?,
            Stack => gather::number_lists(parts, unsigned, |r| &r.stack)?,
            PmcCounters => gather::number_lists(parts, unsigned, |r| &r.pmc_counters)?,
            EventId => self.by_shape(parts, |facts| facts.event_id, EventIdentity::event_id),
            EventVersion => self.by_shape(parts, |facts| facts.event_version, EventIdentity::event_version),
            Opcode => self.by_shape(parts, |facts| facts.opcode, EventIdentity::event_opcode),
            KernelGroup | EventProperty | PointerSize => own_identity(column, parts, unsigned),
            ProviderId => gather::providers(parts, guid)?,
            MessageGuid => gather::guids_by(parts, guid, |shape| self.layout.facts(shape).message_guid)?,
            EventName => self.event_name(parts)?,
            DecodeSource => self.decode_source(parts)?,
            DecodeStatus => decode_status(parts)?,
            TimeStatus => time_status(parts)?,
            Extended => extended(parts, &self.layout.types)?,
            Arguments => arguments(parts)?,
        })
    }

    fn timestamp(&self, parts: &[RowsPart<'_>]) -> ArrayRef {
        match self.layout.types.timestamps {
            TimestampType::Micros => {
                let floor = |ns: i64| ns.div_euclid(1000);
                let micros = gather::dense::<i64, TimestampMicrosecondType>(parts, |r| &r.ns, floor);
                Arc::new(micros.with_timezone("UTC"))
            }
            TimestampType::Nanos => {
                let nanos = gather::dense::<i64, TimestampNanosecondType>(parts, |r| &r.ns, |ns| ns);
                Arc::new(nanos.with_timezone("UTC"))
            }
        }
    }

    /// A column that follows from the shape; in a table whose rows say it themselves, from the row.
    fn by_shape<T: Unsigned>(
        &self,
        parts: &[RowsPart<'_>],
        fact: impl Fn(&ShapeConstants) -> Option<T>,
        own: impl Fn(&EventIdentity) -> Option<T>,
    ) -> ArrayRef {
        let form = self.layout.types.unsigned;
        if self.layout.header.contains(&HeaderColumn::ProviderId) {
            return gather::by_identity(parts, form, own);
        }
        let table: Vec<Option<T>> = self.layout.facts.iter().map(fact).collect();
        gather::lookup_unsigned(&self.places(parts), &table, form)
    }

    fn event_name(&self, parts: &[RowsPart<'_>]) -> Result<ArrayRef> {
        let table: Vec<_> =
            (0i32..).zip(&self.layout.facts).map(|(key, facts)| facts.event_name.is_some().then_some(key)).collect();
        dictionary(gather::lookup(&self.places(parts), &table), Arc::clone(&self.layout.names))
    }

    fn decode_source(&self, parts: &[RowsPart<'_>]) -> Result<ArrayRef> {
        let table: Vec<_> = self.layout.facts.iter().map(|facts| Some(facts.decode_source)).collect();
        let names: StringArray = DecodeSource::ALL.iter().map(|source| Some(source.name())).collect();
        dictionary(gather::lookup(&self.places(parts), &table), Arc::new(names))
    }

    /// The index of every row's shape among those of the table.
    fn places(&self, parts: &[RowsPart<'_>]) -> Vec<u32> {
        let mut places = Vec::with_capacity(gather::total(parts));
        for part in parts {
            let shapes = &part.all.shape[gather::indices(&part.range)];
            places.extend(shapes.iter().map(|&shape| self.layout.places[shape as usize]));
        }
        places
    }
}

/// What rows of the dataset `Other` say of themselves besides.
fn own_identity(column: HeaderColumn, parts: &[RowsPart<'_>], form: UnsignedType) -> ArrayRef {
    match column {
        HeaderColumn::KernelGroup => gather::by_identity(parts, form, EventIdentity::kernel_group),
        HeaderColumn::EventProperty => gather::by_identity(parts, form, EventIdentity::event_property),
        _ => gather::by_identity(parts, form, EventIdentity::known_pointer_size),
    }
}

fn dictionary(keys: Int32Array, values: ArrayRef) -> Result<ArrayRef> {
    let array = DictionaryArray::<Int32Type>::try_new(keys, values).map_err(array_error)?;
    Ok(Arc::new(array))
}

fn decode_status(parts: &[RowsPart<'_>]) -> Result<ArrayRef> {
    let keys = gather::dense::<u8, Int32Type>(parts, |rows| &rows.status, i32::from);
    let names: StringArray = RowStatus::ALL.iter().map(|status| Some(status.name())).collect();
    dictionary(keys, Arc::new(names))
}

fn time_status(parts: &[RowsPart<'_>]) -> Result<ArrayRef> {
    let mut text = Text::of(parts);
    for part in parts {
        let (statuses, place) = part.all.time_status.part(&part.range);
        text.add(statuses, &place, |status: &TimeStatus, out| out.extend_from_slice(status.name().as_bytes()))?;
    }
    text.finish()
}

fn extended(parts: &[RowsPart<'_>], types: &TypeOptions) -> Result<ArrayRef> {
    let (mut kinds, mut data) = (Vec::new(), Vec::new());
    let outline = gather::outline(
        parts,
        |rows| &rows.extended,
        |rows, items| {
            for item in items {
                kinds.push(item.kind);
                data.push(&rows.extended_data[item.data.range()]);
            }
        },
    )?;
    let kinds: ArrayRef = match types.unsigned {
        UnsignedType::Native => Arc::new(arrow_array::UInt16Array::from(kinds)),
        UnsignedType::Signed => Arc::new(kinds.iter().map(|&kind| i32::from(kind)).collect::<Int32Array>()),
    };
    let data: ArrayRef = Arc::new(BinaryArray::from_iter_values(data));
    let items = StructArray::try_new(extended_members(types), vec![kinds, data], None).map_err(array_error)?;
    outline.finish(Arc::new(items))
}

fn arguments(parts: &[RowsPart<'_>]) -> Result<ArrayRef> {
    let mut texts = Vec::new();
    let outline = gather::outline(
        parts,
        |rows| &rows.arguments,
        |rows, spans| {
            texts.extend(spans.iter().map(|span| String::from_utf8_lossy(&rows.argument_text[span.range()])));
        },
    )?;
    let texts = StringArray::from_iter_values(texts);
    debug_assert_eq!(texts.data_type(), &DataType::Utf8);
    outline.finish(Arc::new(texts))
}

/// Whether a header column has a value in any row of a part.
fn has_values(column: HeaderColumn, part: &RowsPart<'_>) -> bool {
    use HeaderColumn::{
        ActivityId, Arguments, Channel, ComponentId, ContainerId, Cpu, DecodeSource, DecodeStatus, EventId, EventKey,
        EventName, EventProperty, EventVersion, Extended, Input, InstanceId, KernelGroup, KernelTimeNs, Keywords,
        Level, Message, MessageGuid, Number, Opcode, ParentGuid, ParentInstanceId, Payload, PmcCounters, PointerSize,
        ProcessId, ProcessStartKey, ProcessorTime, ProviderId, RelatedActivityId, Seq, Sequence, Shape, Stack,
        StackMatchId, Task, TerminalSessionId, ThreadId, Ticks, TimeStatus, Timestamp, TimestampNs, UserSid,
        UserTimeNs,
    };
    fn any<T>(column: &Sparse<T>, part: &RowsPart<'_>) -> bool {
        !column.part(&part.range).0.is_empty()
    }
    let rows = part.all;
    match column {
        // Every row has these, or they follow from the shape.
        Timestamp | TimestampNs | Seq | Input | Shape | DecodeSource | DecodeStatus | EventId | EventVersion
        | Opcode | EventName | MessageGuid | ProviderId | KernelGroup | EventProperty | PointerSize => true,
        Ticks => any(&rows.ticks, part),
        TimeStatus => any(&rows.time_status, part),
        Cpu => any(&rows.cpu, part),
        ProcessId => any(&rows.process_id, part),
        ThreadId => any(&rows.thread_id, part),
        Level => any(&rows.level, part),
        Task => any(&rows.task, part),
        Channel => any(&rows.channel, part),
        Keywords => any(&rows.keywords, part),
        ActivityId => any(&rows.activity_id, part),
        RelatedActivityId => any(&rows.related_activity_id, part),
        KernelTimeNs => any(&rows.kernel_time_ns, part),
        UserTimeNs => any(&rows.user_time_ns, part),
        ProcessorTime => any(&rows.processor_time, part),
        UserSid => any(&rows.user_sid.spans, part),
        TerminalSessionId => any(&rows.terminal_session_id, part),
        ProcessStartKey => any(&rows.process_start_key, part),
        EventKey => any(&rows.event_key, part),
        ContainerId => any(&rows.container_id.spans, part),
        Stack => any(&rows.stack.spans, part),
        StackMatchId => any(&rows.stack_match_id, part),
        PmcCounters => any(&rows.pmc_counters.spans, part),
        Extended => any(&rows.extended.spans, part),
        Payload => any(&rows.payload.spans, part),
        InstanceId => any(&rows.instance_id, part),
        ParentInstanceId => any(&rows.parent_instance_id, part),
        ParentGuid => any(&rows.parent_guid, part),
        Sequence => any(&rows.sequence, part),
        ComponentId => any(&rows.component_id, part),
        Message => any(&rows.message.spans, part),
        Arguments => any(&rows.arguments.spans, part),
        Number => any(&rows.number, part),
    }
}
