//! The columns that every table of events begins with, and those that only some header families have.
//!
//! Each is declared once, in `header_columns!`: its name, its type, whether every row has it, and what fills it.
//! Columns that nothing fills here follow from others (`timestamp`), from the shape (`event_name`), or are filled by
//! `rows.rs` because their values are not plain.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields};
use base::clock::TimeStatus;
use base::guid::Guid;
use columnar::columns::packed::{Packed, PackedColumn};
use columnar::columns::types::{ColumnType, GuidType, INT64, TypeOptions};
use etl::event::Event;
use etl::event::named_ids::Attribution;
use etl::event::view::CpuTime;
use serde::{Deserialize, Serialize};

use super::row::{RowContext, RowStatus};

/// What a header column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeaderType {
    /// The time of the event.
    Time,
    Int64,
    /// An unsigned number of so many bytes.
    Unsigned(u8),
    Guid,
    Text,
    /// One of some texts, kept as its number.
    Label,
    /// The name of a process, kept as its number among those of the recording.
    Name,
    Binary,
    /// A list of 64-bit numbers.
    Numbers,
    Texts,
    /// A list of extended items: their types and bytes.
    Items,
}

/// Declares the header columns: `name "column" Type required` or `nullable`, and `= what fills it`, in sections. A section
/// with a condition is filled where that holds. What most rows have goes through a field of [`PlainRow`], `[field: type]`.
macro_rules! header_columns {
    (
        fill($event:ident, $row:ident);
        $(
            $(#[$doc:meta])*
            $section:ident $(if $condition:expr)? => {
                $(
                    $column:ident $name:literal $type:ident $(($detail:literal))? $presence:ident
                    $($([$field:ident: $kept:ty])? = $value:expr)?;
                )*
            }
        )*
    ) => {
        /// A column that is filled from the event header, its extended items, or the way the event was decoded.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[expect(missing_docs, reason = "the names are those of the columns, which docs/columns.md describes")]
        pub enum HeaderColumn {
            $($($column,)*)*
        }

        impl HeaderColumn {
            /// All of them, each at its number.
            pub(super) const ALL: &'static [HeaderColumn] = &[$($(HeaderColumn::$column,)*)*];

            const DECLARED: &'static [(&'static str, HeaderType, bool)] =
                &[$($(($name, HeaderType::$type $(($detail))?, header_columns!(@$presence)),)*)*];
        }

        $(
            $(#[$doc])*
            pub const $section: &[HeaderColumn] = &[$(HeaderColumn::$column,)*];
        )*

        /// The plain values that most rows have. Rows wait as these until they are many: to take each column out of many
        /// rows costs a part of what it takes to go to each column with every row.
        #[derive(Clone, Copy, Debug)]
        pub(super) struct PlainRow {
            $($($($($field: $kept,)?)?)*)*
        }

        impl PlainRow {
            #[inline(always)]
            pub(super) fn of($event: &Event<'_>, $row: &RowContext) -> PlainRow {
                PlainRow { $($($($($field: $value,)?)?)*)* }
            }

            /// Moves the values of rows, the first of which is `first`, to their columns.
            pub(super) fn spread(rows: &[PlainRow], first: u32, columns: &mut impl Fill) {
                $($($($(
                    let value = |row: &PlainRow| row.$field;
                    PlainValue::spread(rows, first, value, || columns.column(HeaderColumn::$column));
                )?)?)*)*
            }
        }

        /// Hands over the other values of a row that are plain.
        #[inline]
        pub(super) fn fill(columns: &mut impl Fill, $event: &Event<'_>, $row: &RowContext) {
            $(
                $(if $condition)? {
                    $($(header_columns!(@put [$($field)?] columns, $column, $value);)?)*
                }
            )*
        }
    };
    (@put [] $columns:ident, $column:ident, $value:expr) => { $columns.put(HeaderColumn::$column, $value) };
    (@put [$field:ident] $columns:ident, $column:ident, $value:expr) => {};
    (@required) => { true };
    (@nullable) => { false };
}

header_columns! {
    fill(event, row);

    /// The columns of every table, in order.
    COMMON => {
        Timestamp          "timestamp"            Time         required;
        TimestampNs        "timestamp_ns"         Int64        required [ns: i64] = row.ns;
        Seq                "seq"                  Int64        required [seq: i64] = row.seq;
        Ticks              "ticks"                Int64        nullable = row.ticks;
        TimeStatus         "time_status"          Label        nullable = row.time_status.map(|status| status as u8);
        Cpu                "cpu"                  Unsigned(2)  nullable [cpu: Option<u16>] = row.cpu;
        ProcessId          "process_id"           Unsigned(4)  nullable [process_id: Option<u32>] = row.ids.process;
        ThreadId           "thread_id"            Unsigned(4)  nullable [thread_id: Option<u32>] = row.ids.thread;
        ProcessName        "process_name"         Name         nullable [process_name: Option<u32>] = row.ids.name;
        Attribution        "attribution"          Label        nullable [attribution: Option<u8>] = row.ids.source.map(|source| source as u8);
        EventId            "event_id"             Unsigned(2)  nullable;
        EventVersion       "event_version"        Unsigned(2)  nullable;
        Opcode             "opcode"               Unsigned(1)  nullable;
        Level              "level"                Unsigned(1)  nullable [level: Option<u8>] = event.level;
        Task               "task"                 Unsigned(2)  nullable [task: Option<u16>] = event.task;
        Channel            "channel"              Unsigned(1)  nullable [channel: Option<u8>] = event.channel;
        Keywords           "keywords"             Int64        nullable [keywords: Option<u64>] = event.keywords;
        EventName          "event_name"           Text         nullable;
        ActivityId         "activity_id"          Guid         nullable = known(event.activity_id);
        RelatedActivityId  "related_activity_id"  Guid         nullable;
        KernelTimeNs       "kernel_time_ns"       Int64        nullable [kernel_time: Option<i64>] = cpu_time_ns(event, row).map(|[kernel, _]| kernel);
        UserTimeNs         "user_time_ns"         Int64        nullable [user_time: Option<i64>] = cpu_time_ns(event, row).map(|[_, user]| user);
        ProcessorTime      "processor_time"       Unsigned(8)  nullable = processor_time(event.cpu_time);
        UserSid            "user_sid"             Text         nullable;
        TerminalSessionId  "terminal_session_id"  Unsigned(4)  nullable;
        ProcessStartKey    "process_start_key"    Unsigned(8)  nullable;
        EventKey           "event_key"            Unsigned(8)  nullable;
        ContainerId        "container_id"         Text         nullable;
        Stack              "stack"                Numbers      nullable;
        StackId            "stack_id"             Int64        nullable;
        StackMatchId       "stack_match_id"       Unsigned(8)  nullable;
        PmcCounters        "pmc_counters"         Numbers      nullable;
        Extended           "extended"             Items        nullable;
        Input              "input"                Unsigned(2)  required [input: u16] = row.input;
        Shape              "shape"                Unsigned(4)  required [shape: u32] = row.shape;
        DecodeSource       "decode_source"        Text         required;
        DecodeStatus       "decode_status"        Label        required [status: u8] = row.status.code();
        Payload            "payload"              Binary       nullable;
        Recovered          "recovered"            Label        nullable = row.is_recovered.then_some(0_u8);
    }

    /// What is beside the name of an event where it is asked for.
    RENDERED => {
        RenderedMessage    "rendered_message"     Text         nullable;
    }

    /// What instance headers add to the table of their class.
    INSTANCE if event.instance.is_some() => {
        InstanceId         "instance_id"          Unsigned(4)  nullable = event.instance.map(|instance| instance.id);
        ParentInstanceId   "parent_instance_id"   Unsigned(4)  nullable = event.instance.map(|instance| instance.parent_id);
        ParentGuid         "parent_guid"          Guid         nullable = event.instance.and_then(|instance| known(instance.parent_guid));
    }

    /// What the table of WPP messages adds.
    MESSAGE if event.message.is_some() => {
        MessageGuid        "message_guid"         Guid         nullable;
        Sequence           "sequence"             Unsigned(4)  nullable = event.message.and_then(|message| message.sequence);
        ComponentId        "component_id"         Unsigned(4)  nullable = event.message.and_then(|message| message.component_id);
        Message            "message"              Text         nullable;
        Arguments          "arguments"            Texts        nullable;
    }

    /// What the table of timed headers adds.
    TIMED if event.number.is_some() => {
        Number             "number"               Unsigned(4)  nullable = event.number;
    }

    /// What the dataset `Other` has besides: who wrote an event, and what else its shape would show.
    OTHER => {
        ProviderId         "provider_id"          Guid         nullable;
        KernelGroup        "kernel_group"         Unsigned(1)  nullable;
        EventProperty      "event_property"       Unsigned(2)  nullable;
        PointerSize        "pointer_size"         Unsigned(1)  nullable;
    }
}

/// [`COMMON`] with what an event says in words, beside its name.
pub fn with_rendered() -> Vec<HeaderColumn> {
    let rendered = |&column: &HeaderColumn| if column == HeaderColumn::EventName { RENDERED } else { &[] };
    COMMON.iter().flat_map(|column| [*column].into_iter().chain(rendered(column).iter().copied())).collect()
}

/// What `Other` has where there are WPP messages in it.
pub const OTHER_MESSAGE: [HeaderColumn; 2] = [HeaderColumn::Sequence, HeaderColumn::ComponentId];

/// A GUID that is not the one of zeros, which stands for none.
pub(super) fn known(guid: Guid) -> Option<Guid> {
    Some(guid).filter(|guid| !guid.is_zero())
}

/// Kernel and user time in nanoseconds.
#[inline]
fn cpu_time_ns(event: &Event<'_>, row: &RowContext) -> Option<[i64; 2]> {
    let CpuTime::KernelUser(kernel, user) = event.cpu_time else { return None };
    Some([kernel, user].map(|ticks| i64::from(ticks).saturating_mul(row.timer_ns)))
}

fn processor_time(time: CpuTime) -> Option<u64> {
    if let CpuTime::Processor(ticks) = time { Some(ticks) } else { None }
}

/// Where the values of a row go.
pub(super) trait Fill {
    /// A column.
    fn column(&mut self, column: HeaderColumn) -> &mut PackedColumn;

    /// Adds the value of a column to the row that is being filled.
    fn put<V: HeaderValue>(&mut self, column: HeaderColumn, value: V);
}

/// A value that a column keeps as it is.
pub(super) trait HeaderValue {
    /// Adds it to the column as the value of a row; where there is no value, the column is not asked for.
    fn push<'a>(self, row: u32, column: impl FnOnce() -> &'a mut PackedColumn);
}

/// A value that is kept in a [`PlainRow`].
trait PlainValue: Sized {
    /// Adds the values of rows, the first of which is `first`, to their column; where none has one, it is not asked for.
    fn spread<'a>(
        rows: &[PlainRow],
        first: u32,
        value: impl Fn(&PlainRow) -> Self,
        column: impl FnOnce() -> &'a mut PackedColumn,
    );
}

macro_rules! numbers_are_values {
    ($($number:ty)*) => {$(
        impl HeaderValue for $number {
            #[inline]
            fn push<'a>(self, row: u32, column: impl FnOnce() -> &'a mut PackedColumn) {
                column().push_fixed(row, self.to_le_bytes());
            }
        }

        impl PlainValue for $number {
            fn spread<'a>(
                rows: &[PlainRow],
                first: u32,
                value: impl Fn(&PlainRow) -> Self,
                column: impl FnOnce() -> &'a mut PackedColumn,
            ) {
                column().extend_fixed(first, rows.iter().map(|row| value(row).to_le_bytes()));
            }
        }

        impl PlainValue for Option<$number> {
            fn spread<'a>(
                rows: &[PlainRow],
                first: u32,
                value: impl Fn(&PlainRow) -> Self,
                column: impl FnOnce() -> &'a mut PackedColumn,
            ) {
                let count = rows.iter().filter(|row| value(row).is_some()).count();
                if count == rows.len() {
                    column().extend_fixed(first, rows.iter().map(|row| value(row).unwrap_or_default().to_le_bytes()));
                } else if count > 0 {
                    let column = column();
                    let values = (first..).zip(rows).filter_map(|(row, values)| Some((row, value(values)?)));
                    values.for_each(|(row, value)| column.push_fixed(row, value.to_le_bytes()));
                }
            }
        }
    )*};
}

numbers_are_values!(u8 u16 u32 u64 i64);

impl HeaderValue for Guid {
    #[expect(clippy::inline_always, reason = "most columns of most rows pass through here")]
    #[inline(always)]
    fn push<'a>(self, row: u32, column: impl FnOnce() -> &'a mut PackedColumn) {
        column().push_fixed(row, self.to_text_order());
    }
}

impl<V: HeaderValue> HeaderValue for Option<V> {
    #[expect(clippy::inline_always, reason = "most columns of most rows pass through here")]
    #[inline(always)]
    fn push<'a>(self, row: u32, column: impl FnOnce() -> &'a mut PackedColumn) {
        if let Some(value) = self {
            value.push(row, column);
        }
    }
}

impl HeaderColumn {
    /// The column of every table with this name.
    pub fn common(name: &str) -> Option<HeaderColumn> {
        COMMON.iter().chain(RENDERED).copied().find(|column| column.name() == name)
    }

    /// The name of the column.
    pub fn name(self) -> &'static str {
        Self::DECLARED[self as usize].0
    }

    fn header_type(self) -> HeaderType {
        Self::DECLARED[self as usize].1
    }

    pub(super) fn is_required(self) -> bool {
        Self::DECLARED[self as usize].2
    }

    /// Whether the column says what an event is, which for most tables follows from the shape.
    pub(super) fn is_of_identity(self) -> bool {
        use HeaderColumn::{EventId, EventProperty, EventVersion, KernelGroup, Opcode, PointerSize, ProviderId};
        matches!(self, ProviderId | EventId | EventVersion | Opcode | KernelGroup | EventProperty | PointerSize)
    }

    /// The Arrow field under the given options.
    pub fn field(self, options: &TypeOptions) -> Field {
        let list = |element_type| Field::new(self.name(), DataType::List(element(element_type)), true);
        let field = match self.header_type() {
            HeaderType::Numbers => list(options.integers.unsigned(8)),
            HeaderType::Texts => list(DataType::Utf8),
            HeaderType::Items => list(DataType::Struct(item_members(options))),
            HeaderType::Time => ColumnType::Timestamp.field(self.name(), *options),
            HeaderType::Int64 => INT64.field(self.name(), *options),
            HeaderType::Unsigned(bytes) => Field::new(self.name(), options.integers.unsigned(bytes), true),
            HeaderType::Guid => ColumnType::Guid.field(self.name(), *options),
            HeaderType::Text | HeaderType::Label | HeaderType::Name => ColumnType::Utf8.field(self.name(), *options),
            HeaderType::Binary => ColumnType::Binary.field(self.name(), *options),
        };
        field.with_nullable(!self.is_required())
    }

    /// A packed column without values.
    pub(super) fn packed(self) -> PackedColumn {
        PackedColumn::new(match self.header_type() {
            HeaderType::Time | HeaderType::Int64 => Packed::fixed(8),
            HeaderType::Unsigned(bytes) => Packed::fixed(bytes.into()),
            HeaderType::Guid => Packed::fixed(16),
            HeaderType::Label => Packed::fixed(1),
            HeaderType::Name => Packed::fixed(4),
            HeaderType::Text => Packed::new(&DataType::Utf8),
            HeaderType::Binary => Packed::new(&DataType::Binary),
            HeaderType::Numbers => Packed::list(Packed::fixed(8)),
            HeaderType::Texts => Packed::list(Packed::new(&DataType::Utf8)),
            HeaderType::Items => Packed::list(Packed::structure([Packed::fixed(2), Packed::new(&DataType::Binary)])),
        })
    }

    /// The texts of a label, each at its number.
    pub(super) fn labels(self) -> Vec<&'static str> {
        match self {
            HeaderColumn::DecodeStatus => RowStatus::ALL.map(RowStatus::name).to_vec(),
            HeaderColumn::Attribution => Attribution::ALL.map(Attribution::name).to_vec(),
            HeaderColumn::Recovered => vec!["behind_damage"],
            HeaderColumn::TimeStatus => TimeStatus::ALL.map(TimeStatus::name).to_vec(),
            _ => Vec::new(),
        }
    }

    /// The Arrow bytes of the values under the given options; of names of processes, those beside their texts.
    pub(super) fn weight(self, column: &PackedColumn, options: &TypeOptions) -> u64 {
        let (packed, count) = (column.values.weight(), column.values.count() as u64);
        match (self.header_type(), &column.values) {
            // The same time stands in `timestamp`.
            (HeaderType::Int64, _) if self == HeaderColumn::TimestampNs => 2 * packed,
            (HeaderType::Name, _) => count * OFFSET,
            (HeaderType::Unsigned(bytes), _) => count * unsigned_width(bytes, options),
            (HeaderType::Guid, _) => count * guid_weight(options),
            (HeaderType::Label, Packed::Fixed(numbers)) => {
                let weights: Vec<_> = self.labels().iter().map(|label| text_weight(label)).collect();
                numbers.bytes.iter().filter_map(|&number| weights.get(usize::from(number))).sum()
            }
            (HeaderType::Items, Packed::List(list)) => {
                packed + list.items.values.count() as u64 * (unsigned_width(2, options) - 2)
            }
            _ => packed,
        }
    }
}

/// The Arrow bytes of a text.
pub(super) fn text_weight(text: &str) -> u64 {
    OFFSET + text.len() as u64
}

/// The Arrow bytes of a GUID: of its text, or its own.
pub(super) fn guid_weight(options: &TypeOptions) -> u64 {
    match options.guid {
        GuidType::String => OFFSET + 36,
        GuidType::Binary | GuidType::Uuid => 16,
    }
}

/// The Arrow bytes of an unsigned number of so many bytes.
pub(super) fn unsigned_width(bytes: u8, options: &TypeOptions) -> u64 {
    options.integers.unsigned(bytes).primitive_width().unwrap_or_default() as u64
}

/// What Arrow spends on where a text, a binary value or a list ends.
const OFFSET: u64 = 4;

/// The members of one extended item that has no column of its own.
fn item_members(options: &TypeOptions) -> Fields {
    let item_type = Field::new("type", options.integers.unsigned(2), false);
    Fields::from(vec![item_type, Field::new("data", DataType::Binary, false)])
}

/// The element of a list, none of which is NULL.
pub fn element(data_type: DataType) -> Arc<Field> {
    Arc::new(Field::new("element", data_type, false))
}

/// Names that no payload column may take: those of the columns that a table with payload columns can begin with, whether
/// or not this one does, and the partition column. Tables of messages and timed headers have no payload columns.
pub fn reserved_names() -> Vec<&'static str> {
    let columns = COMMON.iter().chain(RENDERED).chain(INSTANCE);
    columns.map(|column| column.name()).chain(["trace"]).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use columnar::columns::types::IntegerType;

    use super::*;

    #[test]
    fn every_column_stands_at_its_number() {
        let numbers: Vec<usize> = HeaderColumn::ALL.iter().map(|&column| column as usize).collect();
        assert!(numbers.into_iter().eq(0..HeaderColumn::ALL.len()));
        let names: HashSet<_> = HeaderColumn::ALL.iter().map(|column| column.name()).collect();
        assert_eq!(names.len(), HeaderColumn::ALL.len());
    }

    #[test]
    fn every_column_is_documented() {
        let page = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/columns.md"));
        for column in HeaderColumn::ALL {
            assert!(page.contains(&format!("`{}`", column.name())), "{}", column.name());
        }
    }

    #[test]
    fn packed_values_have_the_width_of_their_type() {
        // A number may be kept in fewer bytes than its column has, never in more.
        let options = TypeOptions { integers: IntegerType::Exact, ..TypeOptions::default() };
        for &column in HeaderColumn::ALL {
            let (Packed::Fixed(fixed), data_type) =
                (column.packed().values, column.field(&options).data_type().clone())
            else {
                continue;
            };
            if let Some(width) = data_type.primitive_width() {
                assert_eq!(fixed.width, width, "{}", column.name());
            }
        }
    }

    #[test]
    fn values_weigh_what_they_take_in_arrow() {
        let text = TypeOptions::default();
        let other = TypeOptions { guid: GuidType::Binary, integers: IntegerType::Exact, ..text };
        let weights = |column: HeaderColumn, fill: fn(&mut PackedColumn)| {
            let mut packed = column.packed();
            fill(&mut packed);
            [text, other].map(|options| column.weight(&packed, &options))
        };
        assert_eq!(weights(HeaderColumn::TimestampNs, |column| column.push_fixed(0, [0; 8])), [16, 16]);
        assert_eq!(weights(HeaderColumn::ProcessId, |column| column.push_fixed(0, [0; 4])), [8, 4]);
        assert_eq!(weights(HeaderColumn::EventKey, |column| column.push_fixed(0, [0; 8])), [8, 8]);
        assert_eq!(weights(HeaderColumn::ActivityId, |column| column.push_fixed(0, [1; 16])), [40, 16]);
        // `ok` and `no_schema`, each with an offset.
        let statuses = |column: &mut PackedColumn| column.extend_fixed(0, [[0], [5]].into_iter());
        assert_eq!(weights(HeaderColumn::DecodeStatus, statuses), [6 + 13; 2]);
        // Two texts, their list; a type and a binary value, their list.
        let texts = |column: &mut PackedColumn| {
            let list = column.lists().unwrap();
            list.items.push_bytes(b"ab");
            list.items.push_bytes(b"");
            column.end_list(0);
        };
        assert_eq!(weights(HeaderColumn::Arguments, texts), [2 + 2 * 4 + 4; 2]);
        let items = |column: &mut PackedColumn| {
            let list = column.lists().unwrap();
            let Packed::Struct(items) = &mut list.items.values else { unreachable!("declared so") };
            items.members[0].push_fixed([7, 0]);
            items.members[1].push_bytes(b"abc");
            items.len += 1;
            column.end_list(0);
        };
        assert_eq!(weights(HeaderColumn::Extended, items), [4 + 3 + 4 + 4, 2 + 3 + 4 + 4]);
    }

    #[test]
    fn the_number_of_a_label_is_its_index() {
        assert_eq!(TimeStatus::ALL.map(|status| status as u8), [0, 1, 2]);
    }
}
