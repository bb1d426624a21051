//! The one description of an event's payload that every schema source is turned into.
//!
//! A description is plain data: which values follow one another on the wire, how long each is, what it means. It
//! knows nothing of columns; whoever decodes compiles it, once per event shape, into a plan.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The payload layout and the names of one event, whatever its source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EventSchema {
    /// The name people know the event by: the TraceLogging name, the kernel event name, or `Task/Opcode`.
    pub event_name: Option<String>,
    /// The task's name.
    pub task_name: Option<String>,
    /// The opcode's name.
    pub opcode_name: Option<String>,
    /// The names of the declared keywords, lowest bit first.
    pub keyword_names: Vec<String>,
    /// The values in wire order.
    pub fields: Vec<Field>,
}

/// One declared field of an event or of a structure.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Field {
    /// The name, exactly as declared.
    pub name: String,
    /// A single value or a structure.
    pub kind: FieldKind,
    /// How often it is repeated.
    pub count: Count,
    /// The names of its values, for enumerations and bit sets. Fields share maps, which are written apart from them: see
    /// `schema::stored`.
    #[serde(skip)]
    pub map: Option<Arc<ValueMap>>,
    /// Whether the writer may leave it out at the end of the payload; then the payload still counts as complete.
    pub optional: bool,
    /// Whether it only helps to decode others (`__binLength`) and gets no column.
    pub hidden: bool,
}

/// What a field holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FieldKind {
    /// One value of a wire type.
    Value {
        /// How it is encoded.
        wire: Wire,
        /// What it stands for.
        meaning: Meaning,
        /// How long it is, where the wire type leaves that open.
        length: Length,
    },
    /// The members, back to back; a structure has no bytes of its own.
    Struct(Vec<Field>),
}

/// The length of a text or binary value, in the units of its wire type (UTF-16 units, characters or bytes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Length {
    /// The wire type says it: fixed width, terminator or counter.
    #[default]
    Natural,
    /// A constant. A text of constant length has no terminator and is cut at its first NUL.
    Fixed(u32),
    /// The value of an earlier integer field.
    Field(FieldRef),
}

/// How often a field is repeated. Anything but [`Count::One`] makes a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Count {
    /// A single value, no list.
    #[default]
    One,
    /// A constant number.
    Fixed(u32),
    /// The value of an earlier integer field.
    Field(FieldRef),
    /// A `u16` element count stands before the values (TraceLogging).
    Prefixed,
    /// As many as fit into what is left of the payload.
    Rest,
}

/// An earlier field that holds a length or a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FieldRef {
    /// How many levels of structure further out it stands: 0 for a sibling.
    pub up: u8,
    /// Its position among the fields of that level.
    pub index: u16,
}

/// How a value is encoded. All integers are little-endian unless the name says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Wire {
    /// No bytes at all.
    Null,
    /// UTF-16 up to a NUL unit, or of the given [`Length`].
    Utf16,
    /// 8-bit text up to a NUL, or of the given [`Length`]: UTF-8, else code page 1252.
    Ansi,
    /// UTF-16 behind a `u16` count of bytes.
    CountedUtf16,
    /// 8-bit text behind a `u16` count of bytes.
    CountedAnsi,
    /// UTF-16 behind a big-endian `u16` count of bytes.
    ReverseCountedUtf16,
    /// 8-bit text behind a big-endian `u16` count of bytes.
    ReverseCountedAnsi,
    /// UTF-16 to the end of the payload.
    RestUtf16,
    /// 8-bit text to the end of the payload.
    RestAnsi,
    /// One UTF-16 unit.
    Utf16Unit,
    /// One 8-bit character.
    AnsiChar,
    /// Signed integers.
    Int8,
    /// 16 bits, signed.
    Int16,
    /// 32 bits, signed.
    Int32,
    /// 64 bits, signed.
    Int64,
    /// 8 bits, unsigned.
    UInt8,
    /// 16 bits, unsigned.
    UInt16,
    /// 32 bits, unsigned.
    UInt32,
    /// 64 bits, unsigned.
    UInt64,
    /// 32 bits, shown in hexadecimal.
    HexInt32,
    /// 64 bits, shown in hexadecimal.
    HexInt64,
    /// An address of the writer's pointer size.
    Pointer,
    /// A size of the writer's pointer size.
    SizeT,
    /// IEEE 754 single precision.
    Float,
    /// IEEE 754 double precision.
    Double,
    /// A truth value in 4 bytes.
    Bool32,
    /// A truth value in 1 byte.
    Bool8,
    /// Bytes of the given [`Length`].
    Binary,
    /// Bytes behind a `u16` count.
    CountedBinary,
    /// Bytes behind a `u32` count.
    HexDump,
    /// Bytes to the end of the payload.
    RestBinary,
    /// 16 bytes: a GUID.
    Guid,
    /// 100 ns intervals since 1601 in 8 bytes.
    FileTime,
    /// Eight 16-bit parts of a calendar time.
    SystemTime,
    /// A time of the trace's own clock in 8 bytes.
    TraceTime,
    /// A security identifier.
    Sid,
    /// A security identifier behind a `TOKEN_USER` of two pointers; a leading zero `u32` means absent.
    WbemSid,
    /// 4 bytes in network order.
    IPv4,
    /// 16 bytes in network order.
    IPv6,
    /// A 16-bit big-endian port number.
    Port,
    /// `SOCKADDR` in what its family needs, or of the given [`Length`].
    SocketAddress,
    /// `GROUP_AFFINITY`: a mask of pointer size, a `u16` group and three reserved `u16`.
    GroupAffinity,
}

/// What a value stands for, beyond its encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Meaning {
    /// What the wire type says.
    #[default]
    Plain,
    /// A number that people read in hexadecimal.
    Hex,
    /// Text in an integer or binary encoding.
    Text,
    /// Text known to be UTF-8.
    Utf8,
    /// Text that is XML.
    Xml,
    /// Text that is JSON.
    Json,
    /// A truth value in an integer encoding.
    Boolean,
    /// A process id.
    ProcessId,
    /// A thread id.
    ThreadId,
    /// A big-endian port number in an integer encoding.
    Port,
    /// An IPv4 address in an integer or binary encoding.
    IPv4,
    /// An IPv6 address in a binary encoding.
    IPv6,
    /// A socket address in a binary encoding.
    SocketAddress,
    /// A Win32 error code.
    Win32Error,
    /// An `NTSTATUS`.
    NtStatus,
    /// An `HRESULT`.
    HResult,
    /// An `NDIS_STATUS`.
    NdisStatus,
    /// A `FILETIME` in an integer encoding.
    FileTime,
    /// A time in UTC.
    UtcTime,
    /// A span of time in ticks of the performance counter, in an integer of 64 bits.
    Ticks,
    /// The integer is signed, whatever the wire type says.
    Signed,
    /// The integer is unsigned, whatever the wire type says.
    Unsigned,
    /// A code address.
    CodePointer,
    /// Signed data in PKCS #7 form with type information.
    Pkcs7,
    /// A value that writers mark as not to be printed.
    NoPrint,
}

/// Names for the values of an integer field.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "DeclaredMap")]
pub struct ValueMap {
    /// The map's declared name.
    pub name: String,
    /// Whether values are matched whole or bit by bit.
    pub kind: MapKind,
    entries: Vec<(u64, String)>,
    /// The places of the entries that are looked at: of value maps in the order of their values, each once; of bit maps
    /// in declared order.
    #[serde(skip)]
    looked_at: Vec<u32>,
    #[serde(skip)]
    names: MapNames,
}

/// A [`ValueMap`] as it is declared.
#[derive(Deserialize)]
struct DeclaredMap {
    name: String,
    kind: MapKind,
    entries: Vec<(u64, String)>,
}

impl From<DeclaredMap> for ValueMap {
    fn from(map: DeclaredMap) -> Self {
        ValueMap::new(map.name, map.kind, map.entries)
    }
}

/// More entries than any bit map has: 64 bits, and fields of several bits with a name for each of their values. Those
/// behind them are not looked at, because each value is held against all.
pub(crate) const MAX_BIT_NAMES: usize = 1024;

impl ValueMap {
    /// A map of values and their names, in declared order. Of equal values the first declared stands, of bit maps all
    /// with different names.
    pub fn new(name: impl Into<String>, kind: MapKind, entries: Vec<(u64, String)>) -> ValueMap {
        let mut places: Vec<u32> = (0..).take(entries.len()).collect();
        let entry = |&place: &u32| entries.get(place as usize);
        let value = |place: &u32| entry(place).map(|(value, _)| *value);
        match kind {
            MapKind::Values => {
                // The sort is stable.
                places.sort_by_key(value);
                places.dedup_by_key(|place| value(place));
            }
            MapKind::Bits => {
                places.sort_by_key(entry);
                places.dedup_by(|a, b| entry(a) == entry(b));
                places.sort_unstable();
                places.truncate(MAX_BIT_NAMES);
            }
        }
        places.shrink_to_fit();
        let is_plain = |(_, name): (u64, &str)| !name.contains('|') && !name.starts_with("0x");
        let mut map = ValueMap { name: name.into(), kind, entries, looked_at: places, names: MapNames::Values };
        map.names = match kind {
            MapKind::Values => MapNames::Values,
            MapKind::Bits if map.distinct().all(is_plain) => MapNames::Bits,
            MapKind::Bits => MapNames::UnclearBits,
        };
        map
    }

    /// About how many bytes it takes.
    pub fn footprint(&self) -> usize {
        let entries: usize = self.entries.iter().map(|(_, name)| size_of::<(u64, String)>() + name.len()).sum();
        size_of::<ValueMap>() + self.name.len() + entries + self.looked_at.len() * size_of::<u32>()
    }

    /// Value and name, in declared order.
    pub fn entries(&self) -> &[(u64, String)] {
        &self.entries
    }

    /// What it names.
    pub fn names(&self) -> MapNames {
        self.names
    }

    /// The name of a whole value.
    pub fn exact(&self, value: u64) -> Option<&str> {
        let found = match self.kind {
            MapKind::Values => {
                let at = |place: &u32| self.entry(*place).map(|(known, _)| known);
                let place = self.looked_at.binary_search_by_key(&Some(value), at).ok()?;
                self.entry(*self.looked_at.get(place)?)
            }
            MapKind::Bits => self.distinct().find(|(known, _)| *known == value),
        };
        found.map(|(_, name)| name)
    }

    /// The entries that are looked at, equal ones once.
    pub fn distinct(&self) -> impl Iterator<Item = (u64, &str)> {
        self.looked_at.iter().filter_map(|&place| self.entry(place))
    }

    fn entry(&self, place: u32) -> Option<(u64, &str)> {
        self.entries.get(place as usize).map(|(value, name)| (*value, name.as_str()))
    }
}

/// What a [`ValueMap`] names, as far as a label of joined names shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum MapNames {
    /// Values.
    #[serde(rename = "values")]
    Values,
    /// Bits: the label shows which are set.
    #[serde(rename = "bits")]
    Bits,
    /// Bits of which the label does not show it: a name has a `|`, which joins names, or begins with `0x`, as the number of bits without a
    /// name does.
    #[serde(rename = "unclear bits")]
    UnclearBits,
}

impl MapNames {
    /// The value of `map_kind` in the sidecar.
    pub fn as_str(self) -> &'static str {
        match self {
            MapNames::Values => "values",
            MapNames::Bits => "bits",
            MapNames::UnclearBits => "unclear bits",
        }
    }

    /// What [`MapNames::as_str`] calls so.
    pub fn of_name(name: &str) -> Option<MapNames> {
        [MapNames::Values, MapNames::Bits, MapNames::UnclearBits].into_iter().find(|names| names.as_str() == name)
    }
}

/// How a [`ValueMap`] is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MapKind {
    /// The whole value has one name.
    Values,
    /// Each set bit (or group of bits) has a name.
    Bits,
}

/// The number of fields and their members, counted no further than to `limit`.
fn count_to(fields: &[Field], limit: usize) -> usize {
    let mut count = 0;
    for field in fields {
        if count >= limit {
            return limit;
        }
        count += 1;
        if let FieldKind::Struct(members) = &field.kind {
            count += count_to(members, limit - count);
        }
    }
    count
}

impl EventSchema {
    /// The number of its fields, those of structures too, counted no further than to `limit`.
    pub fn field_count_to(&self, limit: usize) -> usize {
        count_to(&self.fields, limit)
    }

    /// Whether the length of a field follows from the writer's pointer size.
    pub fn has_pointers(&self) -> bool {
        self.fields.iter().any(Field::has_pointers)
    }

    /// About how many bytes it takes, without the maps of its fields.
    pub fn footprint(&self) -> usize {
        let names =
            [&self.event_name, &self.task_name, &self.opcode_name].into_iter().flatten().chain(&self.keyword_names);
        let names: usize = names.map(|name| size_of::<String>() + name.len()).sum();
        size_of::<EventSchema>() + names + self.fields.iter().map(Field::footprint).sum::<usize>()
    }
}

impl Field {
    /// A single value that is encoded and read as its wire type says.
    pub fn value(name: impl Into<String>, wire: Wire) -> Field {
        Field::of(name, FieldKind::Value { wire, meaning: Meaning::Plain, length: Length::Natural })
    }

    /// A structure of the given members.
    pub fn structure(name: impl Into<String>, members: Vec<Field>) -> Field {
        Field::of(name, FieldKind::Struct(members))
    }

    fn has_pointers(&self) -> bool {
        match &self.kind {
            FieldKind::Struct(members) => members.iter().any(Field::has_pointers),
            FieldKind::Value { wire, .. } => {
                matches!(wire, Wire::Pointer | Wire::SizeT | Wire::GroupAffinity | Wire::WbemSid)
            }
        }
    }

    /// About how many bytes it takes, without its map, which fields share.
    pub fn footprint(&self) -> usize {
        let members = match &self.kind {
            FieldKind::Struct(members) => members.iter().map(Field::footprint).sum(),
            FieldKind::Value { .. } => 0,
        };
        size_of::<Field>() + self.name.len() + members
    }

    fn of(name: impl Into<String>, kind: FieldKind) -> Field {
        Field { name: name.into(), kind, count: Count::One, map: None, optional: false, hidden: false }
    }
}

impl Wire {
    /// Whether it is an integer of 1 to 8 bytes.
    pub fn is_integer(self) -> bool {
        use Wire::{HexInt32, HexInt64, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
        matches!(self, Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 | HexInt32 | HexInt64)
    }
}

/// A schema description that cannot be used, with the place where that was seen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{location}: {message}")]
pub struct SchemaError {
    /// `offset 0x70` of a binary description, `line 12` of a text.
    pub location: String,
    /// What was expected and what was found.
    pub message: String,
}

impl SchemaError {
    /// A fault at a byte offset of a binary description.
    pub fn at_offset(offset: usize, message: impl Into<String>) -> Self {
        SchemaError { location: format!("offset {offset:#x}"), message: message.into() }
    }

    /// A fault in a line (counted from 1) of a text.
    pub fn at_line(line: usize, message: impl Into<String>) -> Self {
        SchemaError { location: format!("line {line}"), message: message.into() }
    }
}
