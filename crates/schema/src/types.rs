//! The in types and out types that manifests and `TRACE_EVENT_INFO` share.
//!
//! Numbers are those of `winmeta.xml` and `tdh.h` (`TDH_INTYPE_*`, `TDH_OUTTYPE_*`); a manifest names the same types.

use super::model::{FieldKind, Length, Meaning, Wire};

/// The out type of an IPv6 address: binary data of this type is 16 bytes long without saying so.
pub(crate) const OUT_IPV6: u16 = 24;

/// Layout fields that are declared in a way nothing can be read by: the decoder stops there and keeps the rest raw.
pub(crate) const UNDECODABLE: FieldKind =
    FieldKind::Value { wire: Wire::Binary, meaning: Meaning::Plain, length: Length::Natural };

/// The encoding of an in type; `None` for reserved and unknown numbers.
pub fn wire(in_type: u16) -> Option<Wire> {
    Some(match in_type {
        0 => Wire::Null,
        1 => Wire::Utf16,
        2 => Wire::Ansi,
        3 => Wire::Int8,
        4 => Wire::UInt8,
        5 => Wire::Int16,
        6 => Wire::UInt16,
        7 => Wire::Int32,
        8 => Wire::UInt32,
        9 => Wire::Int64,
        10 => Wire::UInt64,
        11 => Wire::Float,
        12 => Wire::Double,
        13 => Wire::Bool32,
        14 => Wire::Binary,
        15 => Wire::Guid,
        16 => Wire::Pointer,
        17 => Wire::FileTime,
        18 => Wire::SystemTime,
        19 => Wire::Sid,
        20 => Wire::HexInt32,
        21 => Wire::HexInt64,
        22 | 300 => Wire::CountedUtf16,
        23 | 301 => Wire::CountedAnsi,
        25 => Wire::CountedBinary,
        302 => Wire::ReverseCountedUtf16,
        303 => Wire::ReverseCountedAnsi,
        304 => Wire::RestUtf16,
        305 => Wire::RestAnsi,
        306 => Wire::Utf16Unit,
        307 => Wire::AnsiChar,
        308 => Wire::SizeT,
        309 => Wire::HexDump,
        310 => Wire::WbemSid,
        _ => return None,
    })
}

/// The encoding behind a manifest's in type name, prefix dropped and in any case of letters.
///
/// Besides the names of `winmeta.xml` these are the ones that tools write who turn classic classes into XML.
pub(crate) fn wire_by_name(name: &str) -> Option<Wire> {
    let local = local_name(name).to_ascii_lowercase();
    Some(match local.as_str() {
        "unicodestring" | "wstring" => Wire::Utf16,
        "ansistring" | "string" => Wire::Ansi,
        "int8" | "sint8" => Wire::Int8,
        "uint8" => Wire::UInt8,
        "int16" | "sint16" => Wire::Int16,
        "uint16" => Wire::UInt16,
        "int32" | "sint32" => Wire::Int32,
        "uint32" => Wire::UInt32,
        "int64" | "sint64" => Wire::Int64,
        "uint64" => Wire::UInt64,
        "float" => Wire::Float,
        "double" => Wire::Double,
        "boolean" => Wire::Bool32,
        "binary" => Wire::Binary,
        "guid" => Wire::Guid,
        "pointer" => Wire::Pointer,
        "filetime" => Wire::FileTime,
        "systemtime" => Wire::SystemTime,
        "sid" => Wire::Sid,
        "hexint32" => Wire::HexInt32,
        "hexint64" => Wire::HexInt64,
        "countedunicodestring" | "countedutf16string" => Wire::CountedUtf16,
        "countedansistring" | "countedmbcsstring" => Wire::CountedAnsi,
        "countedbinary" => Wire::CountedBinary,
        "wchar" | "unicodechar" => Wire::Utf16Unit,
        "sizet" => Wire::SizeT,
        "port" => Wire::Port,
        "ipaddrv4" => Wire::IPv4,
        "ipaddrv6" => Wire::IPv6,
        "wmitime" => Wire::TraceTime,
        _ => return None,
    })
}

/// The number of a manifest's out type name, prefix dropped and in any case of letters.
pub(crate) fn out_type_by_name(name: &str) -> Option<u16> {
    const NAMES: [(&str, u16); 39] = [
        ("string", 1),
        ("dateTime", 2),
        ("byte", 3),
        ("unsignedByte", 4),
        ("short", 5),
        ("unsignedShort", 6),
        ("int", 7),
        ("unsignedInt", 8),
        ("long", 9),
        ("unsignedLong", 10),
        ("float", 11),
        ("double", 12),
        ("boolean", 13),
        ("GUID", 14),
        ("hexBinary", 15),
        ("HexInt8", 16),
        ("HexInt16", 17),
        ("HexInt32", 18),
        ("HexInt64", 19),
        ("PID", 20),
        ("TID", 21),
        ("Port", 22),
        ("IPv4", 23),
        ("IPv6", OUT_IPV6),
        ("SocketAddress", 25),
        ("CIMDateTime", 26),
        ("ETWTIME", 27),
        ("Xml", 28),
        ("ErrorCode", 29),
        ("Win32Error", 30),
        ("NTSTATUS", 31),
        ("HResult", 32),
        ("DateTimeCultureInsensitive", 33),
        ("Json", 34),
        ("Utf8", 35),
        ("Pkcs7WithTypeInfo", 36),
        ("CodePointer", 37),
        ("DateTimeUtc", 38),
        ("NoPrint", 301),
    ];
    let local = local_name(name);
    NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(local)).map(|&(_, number)| number)
}

/// What follows the namespace prefix: `UInt32` of `win:UInt32`.
pub(crate) fn local_name(name: &str) -> &str {
    let name = name.trim();
    name.split_once(':').map_or(name, |(_, local)| local)
}

/// The field of an in type, an out type and a declared length; a length that the encoding does not take is ignored.
pub fn value(wire: Wire, out_type: u16, length: Length) -> FieldKind {
    let wire = match wire {
        // The out type of WMI times: they count in the trace's own clock.
        Wire::Int64 | Wire::UInt64 if out_type == 27 => Wire::TraceTime,
        other => other,
    };
    let length = match (wire, length) {
        (Wire::Binary, Length::Natural) if out_type == OUT_IPV6 => Length::Fixed(16),
        (Wire::Utf16 | Wire::Ansi | Wire::Binary, length) => length,
        _ => Length::Natural,
    };
    FieldKind::Value { wire, meaning: meaning(wire, out_type), length }
}

/// What an out type adds to an encoding; combinations that say nothing sensible are plain.
pub fn meaning(wire: Wire, out_type: u16) -> Meaning {
    match Family::of(wire) {
        Family::Integer { signed, bits } => integer_meaning(signed, bits, out_type),
        Family::Text => match out_type {
            28 => Meaning::Xml,
            34 => Meaning::Json,
            35 => Meaning::Utf8,
            301 => Meaning::NoPrint,
            _ => Meaning::Plain,
        },
        Family::Bytes => match out_type {
            1 | 300 => Meaning::Text,
            23 => Meaning::IPv4,
            OUT_IPV6 => Meaning::IPv6,
            25 => Meaning::SocketAddress,
            28 => Meaning::Xml,
            34 => Meaning::Json,
            35 => Meaning::Utf8,
            36 => Meaning::Pkcs7,
            301 => Meaning::NoPrint,
            _ => Meaning::Plain,
        },
        Family::Address => match out_type {
            20 => Meaning::ProcessId,
            21 => Meaning::ThreadId,
            37 => Meaning::CodePointer,
            301 => Meaning::NoPrint,
            _ => Meaning::Plain,
        },
        Family::Time => match out_type {
            38 => Meaning::UtcTime,
            _ => Meaning::Plain,
        },
        Family::Other => Meaning::Plain,
    }
}

fn integer_meaning(signed: bool, bits: u8, out_type: u16) -> Meaning {
    match out_type {
        1 | 300 if bits <= 16 => Meaning::Text,
        2 | 33 if bits == 64 => Meaning::FileTime,
        38 if bits == 64 => Meaning::UtcTime,
        3 | 5 | 7 | 9 if !signed => Meaning::Signed,
        4 | 6 | 8 | 10 if signed => Meaning::Unsigned,
        13 => Meaning::Boolean,
        16..=19 | 29 => Meaning::Hex,
        20 => Meaning::ProcessId,
        21 => Meaning::ThreadId,
        22 if bits == 16 => Meaning::Port,
        23 if bits == 32 => Meaning::IPv4,
        30 if bits == 32 => Meaning::Win32Error,
        31 if bits == 32 => Meaning::NtStatus,
        32 if bits == 32 => Meaning::HResult,
        37 if bits == 64 => Meaning::CodePointer,
        301 => Meaning::NoPrint,
        _ => Meaning::Plain,
    }
}

/// Encodings that take the same out types.
enum Family {
    Integer { signed: bool, bits: u8 },
    Text,
    Bytes,
    Address,
    Time,
    Other,
}

impl Family {
    fn of(wire: Wire) -> Family {
        let integer = |signed, bits| Family::Integer { signed, bits };
        match wire {
            Wire::Int8 => integer(true, 8),
            Wire::Int16 => integer(true, 16),
            Wire::Int32 => integer(true, 32),
            Wire::Int64 => integer(true, 64),
            Wire::UInt8 => integer(false, 8),
            Wire::UInt16 => integer(false, 16),
            Wire::UInt32 | Wire::HexInt32 => integer(false, 32),
            Wire::UInt64 | Wire::HexInt64 => integer(false, 64),
            Wire::Utf16
            | Wire::Ansi
            | Wire::CountedUtf16
            | Wire::CountedAnsi
            | Wire::ReverseCountedUtf16
            | Wire::ReverseCountedAnsi
            | Wire::RestUtf16
            | Wire::RestAnsi => Family::Text,
            Wire::Binary | Wire::CountedBinary | Wire::HexDump | Wire::RestBinary => Family::Bytes,
            Wire::Pointer | Wire::SizeT => Family::Address,
            Wire::FileTime | Wire::SystemTime => Family::Time,
            _ => Family::Other,
        }
    }
}

/// Whether a field of this encoding can hold a length or a count.
pub fn counts(wire: Wire) -> bool {
    matches!(Family::of(wire), Family::Integer { .. } | Family::Address)
}

/// Whether a field only carries the length of its neighbour and is not to be shown (`__binLength` and the like).
pub fn hidden(name: &str) -> bool {
    name.starts_with("__bin")
}

/// The name that people know an event by: `Task/Opcode`, only the task for the opcode `Info`.
pub fn event_name(task: Option<&str>, opcode: Option<&str>) -> Option<String> {
    let opcode = opcode.filter(|name| !name.is_empty() && *name != "Info");
    match (task.filter(|name| !name.is_empty()), opcode) {
        (Some(task), Some(opcode)) => Some(format!("{task}/{opcode}")),
        (Some(task), None) => Some(task.to_owned()),
        (None, opcode) => opcode.map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_mean_the_same_encodings() {
        let names = "UnicodeString AnsiString Int8 UInt8 Int16 UInt16 Int32 UInt32 Int64 UInt64 Float Double Boolean \
                     Binary GUID Pointer FILETIME SYSTEMTIME SID HexInt32 HexInt64 CountedUnicodeString CountedAnsiString";
        for (name, number) in names.split_whitespace().zip(1..) {
            assert_eq!(wire_by_name(&format!("win:{name}")), wire(number), "{name}");
        }
        assert_eq!(wire_by_name("win:CountedBinary"), wire(25));
        for unknown in [24, 26, 299, 311, u16::MAX] {
            assert_eq!(wire(unknown), None, "{unknown}");
        }
        for unknown in ["win:31", "win:Struct", "", "win:"] {
            assert_eq!(wire_by_name(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn names_of_rewritten_classic_classes_are_known() {
        for (name, expected) in [
            ("win:SInt8", Wire::Int8),
            ("win:WChar", Wire::Utf16Unit),
            ("win:SizeT", Wire::SizeT),
            ("trace:SizeT", Wire::SizeT),
            ("trace:Port", Wire::Port),
            ("trace:WmiTime", Wire::TraceTime),
            ("trace:UnicodeChar", Wire::Utf16Unit),
            ("win:IPAddrV4", Wire::IPv4),
            ("trace:IPAddrV6", Wire::IPv6),
            ("win:WString", Wire::Utf16),
            ("win:String", Wire::Ansi),
        ] {
            assert_eq!(wire_by_name(name), Some(expected), "{name}");
        }
    }

    #[test]
    fn out_types_apply_where_they_make_sense() {
        for (wire, out_type, expected) in [
            (Wire::UInt8, "xs:boolean", Meaning::Boolean),
            (Wire::Bool32, "xs:boolean", Meaning::Plain),
            (Wire::UInt16, "win:Port", Meaning::Port),
            (Wire::UInt32, "win:Port", Meaning::Plain),
            (Wire::UInt16, "xs:string", Meaning::Text),
            (Wire::UInt32, "win:hexInt32", Meaning::Hex),
            (Wire::UInt32, "xs:HexInt32", Meaning::Hex),
            (Wire::UInt32, "xs:unsignedInt", Meaning::Plain),
            (Wire::UInt32, "xs:int", Meaning::Signed),
            (Wire::Int32, "win:HResult", Meaning::HResult),
            (Wire::UInt32, "win:IPv4", Meaning::IPv4),
            (Wire::Binary, "win:IPv6", Meaning::IPv6),
            (Wire::Utf16, "win:Xml", Meaning::Xml),
            (Wire::Utf16, "win:PID", Meaning::Plain),
            (Wire::SystemTime, "win:DateTimeUtc", Meaning::UtcTime),
            (Wire::Pointer, "win:CodePointer", Meaning::CodePointer),
        ] {
            let number = out_type_by_name(out_type).unwrap();
            assert_eq!(meaning(wire, number), expected, "{wire:?} {out_type}");
        }
        assert_eq!(out_type_by_name("xs:unheardOf"), None);
    }

    #[test]
    fn lengths_stay_where_the_encoding_takes_one() {
        let length = |kind| match kind {
            FieldKind::Value { length, .. } => length,
            FieldKind::Struct(_) => unreachable!("only values are made here"),
        };
        assert_eq!(length(value(Wire::Binary, OUT_IPV6, Length::Natural)), Length::Fixed(16));
        assert_eq!(length(value(Wire::Binary, 0, Length::Natural)), Length::Natural);
        assert_eq!(length(value(Wire::Utf16, 0, Length::Fixed(5))), Length::Fixed(5));
        assert_eq!(length(value(Wire::UInt32, 0, Length::Fixed(4))), Length::Natural);
    }

    #[test]
    fn event_names_leave_info_out() {
        assert_eq!(event_name(Some("GC"), Some("Start")).as_deref(), Some("GC/Start"));
        assert_eq!(event_name(Some("GC"), Some("Info")).as_deref(), Some("GC"));
        assert_eq!(event_name(Some("GC"), None).as_deref(), Some("GC"));
        assert_eq!(event_name(None, Some("Start")).as_deref(), Some("Start"));
        assert_eq!(event_name(None, Some("Info")), None);
    }
}
