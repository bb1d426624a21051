//! What a declared field is read as: wire type, meaning, length and count brought to one description, from which both
//! the column types and the decoding steps follow.

use std::borrow::Cow;

use columnar::columns::types::{ColumnType, INT64, UINT16, UINT64};
use schema::model::{Count, Field, FieldKind, Length, Meaning, Wire};
use schema::pack::CodeTable;

/// Structures nested deeper than this are not decoded.
pub(super) const MAX_NESTING: usize = 32;

/// What the bytes of one value stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interpretation {
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

impl Interpretation {
    pub(super) fn column_type(self) -> ColumnType {
        match self {
            Interpretation::Integer { bytes: 0, .. } | Interpretation::Ticks => UINT64,
            Interpretation::Integer { bytes, signed } => ColumnType::Int { bytes, signed },
            Interpretation::Code { bytes } => {
                ColumnType::Int { bytes: if bytes == 0 { 8 } else { bytes.max(4) }, signed: false }
            }
            Interpretation::Port => UINT16,
            Interpretation::Boolean { .. } => ColumnType::Boolean,
            Interpretation::Float => ColumnType::Float32,
            Interpretation::Double => ColumnType::Float64,
            Interpretation::Null | Interpretation::Bytes => ColumnType::Binary,
            Interpretation::Guid => ColumnType::Guid,
            Interpretation::FileTime | Interpretation::SystemTime { utc: true } => ColumnType::Timestamp,
            Interpretation::SystemTime { utc: false } => ColumnType::LocalTimestamp,
            Interpretation::TraceTime => INT64,
            Interpretation::Utf16 { .. }
            | Interpretation::Ansi { .. }
            | Interpretation::Sid
            | Interpretation::IPv4
            | Interpretation::IPv6
            | Interpretation::SocketAddress => ColumnType::Utf8,
        }
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

/// The table that names the values of a status code; `None` for all other fields, and for codes with names of their own.
pub(super) fn status_table(field: &Field) -> Option<CodeTable> {
    let FieldKind::Value { wire: Wire::Int32 | Wire::UInt32 | Wire::HexInt32, meaning, .. } = field.kind else {
        return None;
    };
    match meaning {
        _ if field.map.is_some() => None,
        Meaning::NtStatus => Some(CodeTable::NtStatus),
        Meaning::HResult => Some(CodeTable::HResult),
        Meaning::Win32Error => Some(CodeTable::Win32),
        Meaning::NdisStatus => Some(CodeTable::NdisStatus),
        _ => None,
    }
}

/// What the values of a field are read as; `None` for a structure.
pub(super) fn interpret(field: &Field) -> Option<Interpretation> {
    let FieldKind::Value { wire, meaning, length } = field.kind else { return None };
    // A single character is a number; what it looks like stands beside it.
    let meaning = if character(field).is_some() { Meaning::Plain } else { meaning };
    // The length of an array of characters is its count.
    let fixed = match field.count {
        Count::Fixed(_) | Count::Field(_) if is_text_array(field) => true,
        _ => length != Length::Natural,
    };
    Some(interpret_as(wire, meaning, fixed))
}

/// How a single character in an integer encoding is shown; `None` for all other fields.
pub(super) fn character(field: &Field) -> Option<Interpretation> {
    match field.kind {
        FieldKind::Value { wire: wire @ (Wire::Int8 | Wire::UInt8 | Wire::Int16 | Wire::UInt16), meaning, .. }
            if field.count == Count::One && is_text(meaning) =>
        {
            Some(interpret_as(wire, meaning, false))
        }
        _ => None,
    }
}

/// `fixed`: the length is given from outside, so a text is cut at its first NUL.
fn interpret_as(wire: Wire, meaning: Meaning, fixed: bool) -> Interpretation {
    let ansi = Interpretation::Ansi { cut: fixed, utf8: meaning == Meaning::Utf8 };
    match wire {
        Wire::Null => Interpretation::Null,
        Wire::Utf16 | Wire::Utf16Unit => Interpretation::Utf16 { cut: fixed },
        Wire::CountedUtf16 | Wire::ReverseCountedUtf16 | Wire::RestUtf16 => Interpretation::Utf16 { cut: false },
        Wire::Int16 | Wire::UInt16 if is_text(meaning) => Interpretation::Utf16 { cut: fixed },
        Wire::Ansi | Wire::AnsiChar => ansi,
        Wire::Int8 | Wire::UInt8 if is_text(meaning) => ansi,
        Wire::CountedAnsi | Wire::ReverseCountedAnsi | Wire::RestAnsi => {
            Interpretation::Ansi { cut: false, utf8: meaning == Meaning::Utf8 }
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
        Wire::Pointer | Wire::SizeT | Wire::GroupAffinity => Interpretation::Integer { bytes: 0, signed: false },
        Wire::Float => Interpretation::Float,
        Wire::Double => Interpretation::Double,
        Wire::Bool32 => Interpretation::Boolean { bytes: 4 },
        Wire::Bool8 => Interpretation::Boolean { bytes: 1 },
        Wire::Guid => Interpretation::Guid,
        Wire::FileTime => Interpretation::FileTime,
        Wire::SystemTime => Interpretation::SystemTime { utc: meaning == Meaning::UtcTime },
        Wire::TraceTime => Interpretation::TraceTime,
        Wire::Sid | Wire::WbemSid => Interpretation::Sid,
        Wire::IPv4 => Interpretation::IPv4,
        Wire::IPv6 => Interpretation::IPv6,
        Wire::Port => Interpretation::Port,
        Wire::SocketAddress => Interpretation::SocketAddress,
    }
}

fn binary(meaning: Meaning, text: Interpretation) -> Interpretation {
    match meaning {
        Meaning::IPv4 => Interpretation::IPv4,
        Meaning::IPv6 => Interpretation::IPv6,
        Meaning::SocketAddress => Interpretation::SocketAddress,
        meaning if is_text(meaning) => text,
        _ => Interpretation::Bytes,
    }
}

fn integer(bytes: u8, signed: bool, meaning: Meaning) -> Interpretation {
    match meaning {
        Meaning::Boolean => Interpretation::Boolean { bytes },
        Meaning::Port if bytes == 2 => Interpretation::Port,
        Meaning::IPv4 if bytes == 4 => Interpretation::IPv4,
        Meaning::FileTime if bytes == 8 => Interpretation::FileTime,
        Meaning::Ticks if bytes == 8 => Interpretation::Ticks,
        Meaning::Signed => Interpretation::Integer { bytes, signed: true },
        Meaning::Unsigned | Meaning::CodePointer => Interpretation::Integer { bytes, signed: false },
        Meaning::ProcessId
        | Meaning::ThreadId
        | Meaning::Win32Error
        | Meaning::NtStatus
        | Meaning::HResult
        | Meaning::NdisStatus => Interpretation::Code { bytes },
        _ => Interpretation::Integer { bytes, signed },
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
