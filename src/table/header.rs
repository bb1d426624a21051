//! The columns that every provider table begins with, and those that only some header families have.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, TimeUnit};
use serde::{Deserialize, Serialize};

use crate::columns::{GuidType, TimestampType, TypeOptions, UnsignedType, with_uuid_type};

/// A column that is filled from the event header, its extended items, or the way the event was decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are those of the columns, which docs/dataset.md describes")]
pub enum HeaderColumn {
    Timestamp,
    TimestampNs,
    Seq,
    Ticks,
    TimeStatus,
    Cpu,
    ProcessId,
    ThreadId,
    EventId,
    EventVersion,
    Opcode,
    Level,
    Task,
    Channel,
    Keywords,
    EventName,
    ActivityId,
    RelatedActivityId,
    KernelTimeNs,
    UserTimeNs,
    ProcessorTime,
    UserSid,
    TerminalSessionId,
    ProcessStartKey,
    EventKey,
    ContainerId,
    Stack,
    StackMatchId,
    PmcCounters,
    Extended,
    Input,
    Shape,
    DecodeSource,
    DecodeStatus,
    Payload,
    InstanceId,
    ParentInstanceId,
    ParentGuid,
    MessageGuid,
    Sequence,
    ComponentId,
    Message,
    Arguments,
    Number,
    ProviderId,
    KernelGroup,
    EventProperty,
    PointerSize,
}

use HeaderColumn::{
    ActivityId, Arguments, Channel, ComponentId, ContainerId, Cpu, DecodeSource, DecodeStatus, EventId, EventKey,
    EventName, EventProperty, EventVersion, Extended, Input, InstanceId, KernelGroup, KernelTimeNs, Keywords, Level,
    Message, MessageGuid, Number, Opcode, ParentGuid, ParentInstanceId, Payload, PmcCounters, PointerSize, ProcessId,
    ProcessStartKey, ProcessorTime, ProviderId, RelatedActivityId, Seq, Sequence, Shape, Stack, StackMatchId, Task,
    TerminalSessionId, ThreadId, Ticks, TimeStatus, Timestamp, TimestampNs, UserSid, UserTimeNs,
};

/// The columns of every provider table, in order.
pub const COMMON: [HeaderColumn; 35] = [
    Timestamp,
    TimestampNs,
    Seq,
    Ticks,
    TimeStatus,
    Cpu,
    ProcessId,
    ThreadId,
    EventId,
    EventVersion,
    Opcode,
    Level,
    Task,
    Channel,
    Keywords,
    EventName,
    ActivityId,
    RelatedActivityId,
    KernelTimeNs,
    UserTimeNs,
    ProcessorTime,
    UserSid,
    TerminalSessionId,
    ProcessStartKey,
    EventKey,
    ContainerId,
    Stack,
    StackMatchId,
    PmcCounters,
    Extended,
    Input,
    Shape,
    DecodeSource,
    DecodeStatus,
    Payload,
];

/// What instance headers add to the table of their class.
pub const INSTANCE: [HeaderColumn; 3] = [InstanceId, ParentInstanceId, ParentGuid];

/// What the table of WPP messages adds.
pub const MESSAGE: [HeaderColumn; 5] = [MessageGuid, Sequence, ComponentId, Message, Arguments];

/// What the table of timed headers adds.
pub const TIMED: [HeaderColumn; 1] = [Number];

/// What the dataset `Other` has besides: who wrote an event, and what else its shape would tell.
pub const OTHER: [HeaderColumn; 4] = [ProviderId, KernelGroup, EventProperty, PointerSize];

/// What it has where there are WPP messages in it.
pub const OTHER_MESSAGE: [HeaderColumn; 2] = [Sequence, ComponentId];

impl HeaderColumn {
    /// The name of the column.
    pub fn name(self) -> &'static str {
        match self {
            Timestamp => "timestamp",
            TimestampNs => "timestamp_ns",
            Seq => "seq",
            Ticks => "ticks",
            TimeStatus => "time_status",
            Cpu => "cpu",
            ProcessId => "process_id",
            ThreadId => "thread_id",
            EventId => "event_id",
            EventVersion => "event_version",
            Opcode => "opcode",
            Level => "level",
            Task => "task",
            Channel => "channel",
            Keywords => "keywords",
            EventName => "event_name",
            ActivityId => "activity_id",
            RelatedActivityId => "related_activity_id",
            KernelTimeNs => "kernel_time_ns",
            UserTimeNs => "user_time_ns",
            ProcessorTime => "processor_time",
            UserSid => "user_sid",
            TerminalSessionId => "terminal_session_id",
            ProcessStartKey => "process_start_key",
            EventKey => "event_key",
            ContainerId => "container_id",
            Stack => "stack",
            StackMatchId => "stack_match_id",
            PmcCounters => "pmc_counters",
            Extended => "extended",
            Input => "input",
            Shape => "shape",
            DecodeSource => "decode_source",
            DecodeStatus => "decode_status",
            Payload => "payload",
            InstanceId => "instance_id",
            ParentInstanceId => "parent_instance_id",
            ParentGuid => "parent_guid",
            MessageGuid => "message_guid",
            Sequence => "sequence",
            ComponentId => "component_id",
            Message => "message",
            Arguments => "arguments",
            Number => "number",
            ProviderId => "provider_id",
            KernelGroup => "kernel_group",
            EventProperty => "event_property",
            PointerSize => "pointer_size",
        }
    }

    /// The Arrow field under the given options.
    pub fn field(self, options: &TypeOptions) -> Field {
        let is_required = matches!(self, Timestamp | TimestampNs | Seq | Input | Shape | DecodeSource | DecodeStatus);
        let field = Field::new(self.name(), self.data_type(options), !is_required);
        match (self, options.guid) {
            (ActivityId | RelatedActivityId | ParentGuid | MessageGuid | ProviderId, GuidType::Uuid) => {
                with_uuid_type(field)
            }
            _ => field,
        }
    }

    fn data_type(self, options: &TypeOptions) -> DataType {
        match self {
            Timestamp => DataType::Timestamp(time_unit(options), Some("UTC".into())),
            TimestampNs | Seq | Ticks | Keywords | KernelTimeNs | UserTimeNs => DataType::Int64,
            TimeStatus | EventName | UserSid | ContainerId | DecodeSource | DecodeStatus | Message => DataType::Utf8,
            Opcode | Level | Channel | KernelGroup | PointerSize => unsigned(1, options),
            Cpu | EventId | EventVersion | EventProperty | Task | Input => unsigned(2, options),
            ProcessId | ThreadId | TerminalSessionId | Shape | InstanceId | ParentInstanceId | Sequence
            | ComponentId | Number => unsigned(4, options),
            ProcessorTime | ProcessStartKey | EventKey | StackMatchId => unsigned(8, options),
            ActivityId | RelatedActivityId | ParentGuid | MessageGuid | ProviderId => guid(options),
            Stack | PmcCounters => DataType::List(element(unsigned(8, options))),
            Arguments => DataType::List(element(DataType::Utf8)),
            Extended => DataType::List(element(DataType::Struct(extended_members(options)))),
            Payload => DataType::Binary,
        }
    }
}

/// The members of one extended item that has no column of its own.
pub fn extended_members(options: &TypeOptions) -> Fields {
    let kind = Field::new("type", unsigned(2, options), false);
    Fields::from(vec![kind, Field::new("data", DataType::Binary, false)])
}

/// The element of a list, none of which is NULL.
pub fn element(data_type: DataType) -> Arc<Field> {
    Arc::new(Field::new("element", data_type, false))
}

/// The type of an unsigned integer of so many bytes.
pub fn unsigned(bytes: u8, options: &TypeOptions) -> DataType {
    match (bytes, options.unsigned) {
        (1, UnsignedType::Native) => DataType::UInt8,
        (2, UnsignedType::Native) => DataType::UInt16,
        (4, UnsignedType::Native) => DataType::UInt32,
        (_, UnsignedType::Native) => DataType::UInt64,
        (1, UnsignedType::Signed) => DataType::Int16,
        (2, UnsignedType::Signed) => DataType::Int32,
        (_, UnsignedType::Signed) => DataType::Int64,
    }
}

fn guid(options: &TypeOptions) -> DataType {
    match options.guid {
        GuidType::String => DataType::Utf8,
        GuidType::Binary | GuidType::Uuid => DataType::FixedSizeBinary(16),
    }
}

fn time_unit(options: &TypeOptions) -> TimeUnit {
    match options.timestamps {
        TimestampType::Micros => TimeUnit::Microsecond,
        TimestampType::Nanos => TimeUnit::Nanosecond,
    }
}

/// Names that no payload column may take: those of the columns that a table with payload columns can begin with, whether
/// or not this one does, and the partition column. Tables of messages and timed headers have no payload columns.
pub fn reserved_names() -> Vec<&'static str> {
    let columns = COMMON.iter().chain(&INSTANCE);
    columns.map(|column| column.name()).chain(["trace"]).collect()
}
