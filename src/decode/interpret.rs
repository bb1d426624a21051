//! What a declared field is read as: wire type, meaning, length and count brought to one description, from which both
//! the column types and the decoding steps follow.

use std::borrow::Cow;

use super::assign;
use crate::columns::types::{ColumnType, INT64, Member, TypeOptions, UINT16, UINT64};
use crate::schema::model::{Count, Field, FieldKind, Length, Meaning, Wire};

/// Structures nested deeper than this are not decoded.
pub(super) const MAX_NESTING: usize = 32;

/// What the bytes of one value stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// No value.
    Null,
    /// An integer of so many bytes (0: of the pointer size).
    Integer {
        bytes: u8,
        signed: bool,
    },
    /// As an unsigned integer in a column of at least 32 bits: process ids, error codes.
    Code {
        bytes: u8,
    },
    /// A big-endian port number.
    Port,
    /// Zero or not.
    Boolean {
        bytes: u8,
    },
    Float,
    Double,
    /// UTF-16; `cut`: at the first NUL.
    Utf16 {
        cut: bool,
    },
    /// 8-bit text; `cut`: at the first NUL, `utf8`: of known encoding.
    Ansi {
        cut: bool,
        utf8: bool,
    },
    Bytes,
    Guid,
    FileTime,
    SystemTime {
        utc: bool,
    },
    TraceTime,
    /// A span in ticks of the performance counter, 8 bytes.
    Ticks,
    Sid,
    IPv4,
    IPv6,
    SocketAddress,
}

/// Which column of a field: the value itself or one that stands beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Role {
    Value,
    /// `<name>_label`: the name of an enumerated value.
    Label,
    /// `<name>_filetime`: raw 100 ns ticks.
    FileTime,
    /// `<name>_ns`: a time of the trace's clock, or a span.
    Nanos,
}

impl Role {
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Role::Value => "",
            Role::Label => "_label",
            Role::FileTime => "_filetime",
            Role::Nanos => "_ns",
        }
    }
}

impl Reading {
    fn column_type(self) -> ColumnType {
        match self {
            Reading::Integer { bytes: 0, .. } | Reading::Ticks => UINT64,
            Reading::Integer { bytes, signed } => ColumnType::Int { bytes, signed },
            Reading::Code { bytes } => {
                ColumnType::Int { bytes: if bytes == 0 { 8 } else { bytes.max(4) }, signed: false }
            }
            Reading::Port => UINT16,
            Reading::Boolean { .. } => ColumnType::Boolean,
            Reading::Float => ColumnType::Float32,
            Reading::Double => ColumnType::Float64,
            Reading::Null | Reading::Bytes => ColumnType::Binary,
            Reading::Guid => ColumnType::Guid,
            Reading::FileTime | Reading::SystemTime { utc: true } => ColumnType::Timestamp,
            Reading::SystemTime { utc: false } => ColumnType::LocalTimestamp,
            Reading::TraceTime => INT64,
            Reading::Utf16 { .. }
            | Reading::Ansi { .. }
            | Reading::Sid
            | Reading::IPv4
            | Reading::IPv6
            | Reading::SocketAddress => ColumnType::Utf8,
        }
    }
}

/// The columns a field fills, in order; none for hidden fields and for structures without visible members.
pub(super) fn outputs(field: &Field, depth: usize) -> Vec<(Role, ColumnType)> {
    if field.hidden {
        return Vec::new();
    }
    let single = match &*kind(field) {
        FieldKind::Value { .. } => leaf_outputs(field),
        FieldKind::Struct(_) if depth >= MAX_NESTING => Vec::new(),
        FieldKind::Struct(members) => {
            let settled = assign::settle_fields(&[members], &[], depth + 1, TypeOptions::default());
            let members = settled.columns.into_iter().map(|c| Member { name: c.name, column_type: c.column_type });
            let members: Vec<_> = members.collect();
            if members.is_empty() { Vec::new() } else { vec![(Role::Value, ColumnType::Struct(members))] }
        }
    };
    if field.count == Count::One || is_text_array(field) {
        return single;
    }
    single.into_iter().map(|(role, item)| (role, ColumnType::List(Box::new(item)))).collect()
}

fn leaf_outputs(field: &Field) -> Vec<(Role, ColumnType)> {
    let Some(reading) = reading(field) else { return Vec::new() };
    match reading {
        Reading::TraceTime => vec![(Role::Nanos, INT64)],
        Reading::FileTime => vec![(Role::Value, ColumnType::Timestamp), (Role::FileTime, INT64)],
        Reading::Ticks => vec![(Role::Value, UINT64), (Role::Nanos, INT64)],
        Reading::Integer { .. } | Reading::Code { .. } if field.map.is_some() || character(field).is_some() => {
            vec![(Role::Value, reading.column_type()), (Role::Label, ColumnType::Utf8)]
        }
        _ => vec![(Role::Value, reading.column_type())],
    }
}

/// The field's kind, with compound wire types taken apart into a structure.
pub(super) fn kind(field: &Field) -> Cow<'_, FieldKind> {
    match &field.kind {
        FieldKind::Value { wire: Wire::GroupAffinity, .. } => {
            let reserved = Field { count: Count::Fixed(3), ..Field::value("reserved", Wire::UInt16) };
            let members = vec![Field::value("mask", Wire::Pointer), Field::value("group", Wire::UInt16), reserved];
            Cow::Owned(FieldKind::Struct(members))
        }
        other => Cow::Borrowed(other),
    }
}

/// Whether a repeated field is one text: characters in an integer encoding.
pub(super) fn is_text_array(field: &Field) -> bool {
    field.count != Count::One
        && matches!(field.kind, FieldKind::Value { wire, meaning, .. } if is_character(wire, meaning))
}

fn is_character(wire: Wire, meaning: Meaning) -> bool {
    match wire {
        Wire::Utf16Unit | Wire::AnsiChar => true,
        Wire::Int8 | Wire::UInt8 | Wire::Int16 | Wire::UInt16 => is_text(meaning),
        _ => false,
    }
}

fn is_text(meaning: Meaning) -> bool {
    matches!(meaning, Meaning::Text | Meaning::Utf8 | Meaning::Xml | Meaning::Json)
}

/// What the values of a field are read as; `None` for a structure.
pub(super) fn reading(field: &Field) -> Option<Reading> {
    let FieldKind::Value { wire, meaning, length } = field.kind else { return None };
    // A single character is a number; what it looks like stands beside it.
    let meaning = if character(field).is_some() { Meaning::Plain } else { meaning };
    // The length of an array of characters is its count.
    let fixed = match field.count {
        Count::Fixed(_) | Count::Field(_) if is_text_array(field) => true,
        _ => length != Length::Natural,
    };
    Some(read_as(wire, meaning, fixed))
}

/// How a single character in an integer encoding is shown; `None` for all other fields.
pub(super) fn character(field: &Field) -> Option<Reading> {
    match field.kind {
        FieldKind::Value { wire: wire @ (Wire::Int8 | Wire::UInt8 | Wire::Int16 | Wire::UInt16), meaning, .. }
            if field.count == Count::One && is_text(meaning) =>
        {
            Some(read_as(wire, meaning, false))
        }
        _ => None,
    }
}

/// `fixed`: the length is given from outside, so a text is cut at its first NUL.
fn read_as(wire: Wire, meaning: Meaning, fixed: bool) -> Reading {
    let ansi = Reading::Ansi { cut: fixed, utf8: meaning == Meaning::Utf8 };
    match wire {
        Wire::Null => Reading::Null,
        Wire::Utf16 | Wire::Utf16Unit => Reading::Utf16 { cut: fixed },
        Wire::CountedUtf16 | Wire::ReverseCountedUtf16 | Wire::RestUtf16 => Reading::Utf16 { cut: false },
        Wire::Int16 | Wire::UInt16 if is_text(meaning) => Reading::Utf16 { cut: fixed },
        Wire::Ansi | Wire::AnsiChar => ansi,
        Wire::Int8 | Wire::UInt8 if is_text(meaning) => ansi,
        Wire::CountedAnsi | Wire::ReverseCountedAnsi | Wire::RestAnsi => {
            Reading::Ansi { cut: false, utf8: meaning == Meaning::Utf8 }
        }
        Wire::Binary | Wire::CountedBinary | Wire::HexDump | Wire::RestBinary => binary(meaning, ansi),
        Wire::Int8 => integer(1, true, meaning),
        Wire::Int16 => integer(2, true, meaning),
        Wire::Int32 => integer(4, true, meaning),
        Wire::Int64 => integer(8, true, meaning),
        Wire::UInt8 => integer(1, false, meaning),
        Wire::UInt16 => integer(2, false, meaning),
        Wire::UInt32 | Wire::HexInt32 => integer(4, false, meaning),
        Wire::UInt64 | Wire::HexInt64 => integer(8, false, meaning),
        // A structure by now, see `kind`.
        Wire::Pointer | Wire::SizeT | Wire::GroupAffinity => Reading::Integer { bytes: 0, signed: false },
        Wire::Float => Reading::Float,
        Wire::Double => Reading::Double,
        Wire::Bool32 => Reading::Boolean { bytes: 4 },
        Wire::Bool8 => Reading::Boolean { bytes: 1 },
        Wire::Guid => Reading::Guid,
        Wire::FileTime => Reading::FileTime,
        Wire::SystemTime => Reading::SystemTime { utc: meaning == Meaning::UtcTime },
        Wire::TraceTime => Reading::TraceTime,
        Wire::Sid | Wire::WbemSid => Reading::Sid,
        Wire::IPv4 => Reading::IPv4,
        Wire::IPv6 => Reading::IPv6,
        Wire::Port => Reading::Port,
        Wire::SocketAddress => Reading::SocketAddress,
    }
}

fn binary(meaning: Meaning, text: Reading) -> Reading {
    match meaning {
        Meaning::IPv4 => Reading::IPv4,
        Meaning::IPv6 => Reading::IPv6,
        Meaning::SocketAddress => Reading::SocketAddress,
        meaning if is_text(meaning) => text,
        _ => Reading::Bytes,
    }
}

fn integer(bytes: u8, signed: bool, meaning: Meaning) -> Reading {
    match meaning {
        Meaning::Boolean => Reading::Boolean { bytes },
        Meaning::Port if bytes == 2 => Reading::Port,
        Meaning::IPv4 if bytes == 4 => Reading::IPv4,
        Meaning::FileTime if bytes == 8 => Reading::FileTime,
        Meaning::Ticks if bytes == 8 => Reading::Ticks,
        Meaning::Signed => Reading::Integer { bytes, signed: true },
        Meaning::Unsigned | Meaning::CodePointer => Reading::Integer { bytes, signed: false },
        Meaning::ProcessId | Meaning::ThreadId | Meaning::Win32Error | Meaning::NtStatus | Meaning::HResult => {
            Reading::Code { bytes }
        }
        _ => Reading::Integer { bytes, signed },
    }
}

/// The field's wire type as the sidecar names it, with its repetition.
pub(super) fn in_type(field: &Field) -> String {
    let name = match &field.kind {
        FieldKind::Struct(_) => "Struct".to_owned(),
        FieldKind::Value { wire, .. } => format!("{wire:?}"),
    };
    match field.count {
        Count::One => name,
        Count::Fixed(count) => format!("{name}[{count}]"),
        Count::Field(_) | Count::Prefixed | Count::Rest => format!("{name}[]"),
    }
}

/// The field's meaning as the sidecar names it; `None` when the wire type says it all.
pub(super) fn out_type(field: &Field) -> Option<String> {
    match &field.kind {
        FieldKind::Value { meaning, .. } if *meaning != Meaning::Plain => Some(format!("{meaning:?}")),
        _ => None,
    }
}
