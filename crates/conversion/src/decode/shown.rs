//! How messages show the values of fields: as the Windows function `TdhFormatProperty` does, without the invisible marks that it
//! puts into times.
//!
//! What Windows takes from its own tables of texts is not known here: of a status code its name stands for that.

use std::io::Write;
use std::sync::Arc;

use arrow_schema::TimeUnit;
use base::calendar;
use base::clock::UNIX_EPOCH;
use base::guid::Guid;
use base::sid::Sid;
use schema::model::{Field, FieldKind, Meaning, ValueMap, Wire};
use schema::pack::{CodeTable, Pack};
use schema::printf::Spec;

use super::interpret::{self, Interpretation, MAX_NESTING};
use super::measure::read_integer;
use super::{label, net, text, time};

/// How the values of a field are shown.
#[derive(Debug)]
pub(super) struct Shown {
    form: Form,
    /// The names of its values.
    map: Option<Arc<ValueMap>>,
    /// Names and forms of a structure's members.
    pub(super) members: Vec<(String, Shown)>,
}

/// How the bytes of one value are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Nothing,
    Decimal {
        signed: bool,
    },
    /// Behind `0x`, with capital letters and without zeros before it.
    Hexadecimal,
    Port,
    Boolean,
    Float,
    Double,
    Utf16 {
        cut: bool,
    },
    Ansi {
        cut: bool,
        utf8: bool,
    },
    Bytes,
    Guid,
    FileTime,
    SystemTime,
    Sid,
    IPv4,
    IPv6,
    SocketAddress,
    /// A status code, by its name.
    Code(CodeTable),
}

impl Shown {
    /// How the values of a field are shown.
    pub(super) fn of(field: &Field) -> Shown {
        Shown::at_depth(field, 0)
    }

    fn at_depth(field: &Field, depth: usize) -> Shown {
        let members = match &*interpret::kind(field) {
            FieldKind::Struct(members) if depth < MAX_NESTING => {
                members.iter().map(|member| (member.name.clone(), Shown::at_depth(member, depth + 1))).collect()
            }
            _ => Vec::new(),
        };
        Shown { form: form(field), map: field.map.clone(), members }
    }

    /// Appends a value that is no structure.
    pub(super) fn push(&self, bytes: &[u8], out: &mut Vec<u8>) {
        let is_named = self.map.as_ref().is_some_and(|map| label::push_in_words(map, read_integer(bytes, false), out));
        if !is_named {
            self.form.push(bytes, out);
        }
    }

    /// Appends a number as a format of `printf` shows it; `None` where the value is no number, or the format not one for such.
    pub(super) fn push_number(&self, bytes: &[u8], spec: &Spec, out: &mut String) -> Option<()> {
        let bits = u32::try_from(bytes.len()).ok().filter(|bytes| (1..=8).contains(bytes))? * 8;
        match self.form {
            Form::Decimal { .. } | Form::Hexadecimal | Form::Boolean | Form::Code(_) => {
                spec.write_integer(read_integer(bytes, false), bits, out)
            }
            Form::Port => spec.write_integer(u16::from_be_bytes(*bytes.first_chunk()?).into(), bits, out),
            Form::Float => spec.write_float(f32::from_le_bytes(*bytes.first_chunk()?).into(), out),
            Form::Double => spec.write_float(f64::from_le_bytes(*bytes.first_chunk()?), out),
            _ => None,
        }
    }
}

fn form(field: &Field) -> Form {
    let FieldKind::Value { wire, meaning, .. } = field.kind else { return Form::Nothing };
    if let Some(table) = interpret::status_table(field) {
        return Form::Code(table);
    }
    let is_hexadecimal = match meaning {
        Meaning::Hex | Meaning::CodePointer => true,
        Meaning::Plain => matches!(wire, Wire::HexInt32 | Wire::HexInt64 | Wire::Pointer),
        _ => false,
    };
    match interpret::character(field).or_else(|| interpret::interpret(field)) {
        Some(Interpretation::Integer { .. }) if is_hexadecimal => Form::Hexadecimal,
        Some(Interpretation::Integer { signed, .. }) => Form::Decimal { signed },
        Some(Interpretation::Code { .. } | Interpretation::TraceTime | Interpretation::Ticks) => {
            Form::Decimal { signed: false }
        }
        Some(Interpretation::Port) => Form::Port,
        Some(Interpretation::Boolean { .. }) => Form::Boolean,
        Some(Interpretation::Float) => Form::Float,
        Some(Interpretation::Double) => Form::Double,
        Some(Interpretation::Utf16 { cut }) => Form::Utf16 { cut },
        Some(Interpretation::Ansi { cut, utf8 }) => Form::Ansi { cut, utf8 },
        Some(Interpretation::Bytes) => Form::Bytes,
        Some(Interpretation::Guid) => Form::Guid,
        Some(Interpretation::FileTime) => Form::FileTime,
        Some(Interpretation::SystemTime { .. }) => Form::SystemTime,
        Some(Interpretation::Sid) => Form::Sid,
        Some(Interpretation::IPv4) => Form::IPv4,
        Some(Interpretation::IPv6) => Form::IPv6,
        Some(Interpretation::SocketAddress) => Form::SocketAddress,
        Some(Interpretation::Null) | None => Form::Nothing,
    }
}

impl Form {
    fn push(self, bytes: &[u8], out: &mut Vec<u8>) {
        match self {
            Form::Nothing => {}
            Form::Decimal { signed: true } => write(out, format_args!("{}", read_integer(bytes, true).cast_signed())),
            Form::Decimal { signed: false } => write(out, format_args!("{}", read_integer(bytes, false))),
            Form::Hexadecimal => write(out, format_args!("{:#X}", read_integer(bytes, false))),
            Form::Port => {
                let port = bytes.first_chunk().map_or(0, |port| u16::from_be_bytes(*port));
                write(out, format_args!("{port}"));
            }
            Form::Boolean => out.extend_from_slice(if read_integer(bytes, false) == 0 { b"false" } else { b"true" }),
            Form::Float => push_float(bytes.first_chunk().map_or(0.0, |float| f32::from_le_bytes(*float).into()), out),
            Form::Double => push_float(bytes.first_chunk().map_or(0.0, |float| f64::from_le_bytes(*float)), out),
            Form::Utf16 { cut } => {
                text::push_utf16(before(bytes, text::find_nul_utf16(bytes).filter(|_| cut)), out);
            }
            Form::Ansi { cut, utf8 } => {
                text::push_ansi(before(bytes, text::find_nul(bytes).filter(|_| cut)), utf8, out);
            }
            Form::Bytes => push_bytes(bytes, out),
            Form::Guid => match bytes.try_into() {
                Ok(guid) => out.extend([b"{".as_slice(), &Guid(guid).to_text(), b"}"].into_iter().flatten()),
                Err(_) => push_bytes(bytes, out),
            },
            Form::FileTime => push_filetime(read_integer(bytes, false), out),
            Form::SystemTime => push_system_time(bytes, out),
            // A WBEM SID that is absent has no bytes.
            Form::Sid => match Sid::read(bytes) {
                Some(sid) => write(out, format_args!("{sid}")),
                None if bytes.is_empty() => {}
                None => push_bytes(bytes, out),
            },
            Form::IPv4 => net::push_ipv4(bytes, out),
            Form::IPv6 => net::push_ipv6(bytes, out),
            Form::SocketAddress => _ = net::push_socket_address(bytes, out),
            Form::Code(table) => push_code(table, bytes, out),
        }
    }
}

fn before(bytes: &[u8], end: Option<usize>) -> &[u8] {
    end.and_then(|end| bytes.get(..end)).unwrap_or(bytes)
}

fn write(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to memory does not fail");
}

/// As `%f` of `printf`: six decimals.
fn push_float(value: f64, out: &mut Vec<u8>) {
    match value {
        value if value.is_finite() => write(out, format_args!("{value:.6}")),
        value if value.is_nan() => out.extend_from_slice(b"nan"),
        value => out.extend_from_slice(if value < 0.0 { b"-inf" } else { b"inf" }),
    }
}

fn push_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"0x");
    text::push_upper_hex(bytes, out);
}

/// `2017-11-04T02:46:22.305045900Z`; one that would be negative is no time, and stays a number.
fn push_filetime(filetime: u64, out: &mut Vec<u8>) {
    const TICKS_PER_SECOND: i64 = 10_000_000;
    let Ok(ticks) = i64::try_from(filetime) else { return write(out, format_args!("{filetime}")) };
    let since_1970 = i128::from(ticks) - i128::from(UNIX_EPOCH.0);
    let seconds = since_1970.div_euclid(TICKS_PER_SECOND.into());
    let fraction = ticks.rem_euclid(TICKS_PER_SECOND);
    write(out, format_args!("{}.{fraction:07}00Z", calendar::rfc3339_seconds(seconds)));
}

/// `2017-11-04T03:46:22.305Z`, whatever zone it is in; what is no time on a calendar stays as it is.
fn push_system_time(bytes: &[u8], out: &mut Vec<u8>) {
    let parts = <[[u8; 2]; 8]>::try_from(bytes.as_chunks::<2>().0).map(|parts| parts.map(u16::from_le_bytes));
    match parts {
        Ok(parts) if time::from_systemtime(parts, TimeUnit::Microsecond).is_some() => {
            let [year, month, _, day, hour, minute, second, ms] = parts;
            let time = format_args!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z");
            write(out, time);
        }
        _ => push_bytes(bytes, out),
    }
}

/// `STATUS_PENDING (0x103)`, and in the words of Windows where no name is known.
fn push_code(table: CodeTable, bytes: &[u8], out: &mut Vec<u8>) {
    let code = u32::try_from(read_integer(bytes, false)).unwrap_or(u32::MAX);
    let kind = match table {
        _ if let Some(name) = Pack::builtin().status_name(table, code) => {
            return write(out, format_args!("{name} ({code:#x})"));
        }
        CodeTable::NtStatus => "NTSTATUS",
        CodeTable::HResult => "HResult",
        CodeTable::Win32 => "Win32",
        CodeTable::NdisStatus | CodeTable::NdisOid => return write(out, format_args!("{code:#x}")),
    };
    write(out, format_args!("Unknown {kind} Error code: {code:#x}"));
}

#[cfg(test)]
mod tests {
    use schema::model::{Count, Length, MapKind};

    use super::*;

    fn field(wire: Wire, meaning: Meaning) -> Field {
        Field { kind: FieldKind::Value { wire, meaning, length: Length::Natural }, ..Field::value("x", wire) }
    }

    fn shown(field: &Field, bytes: &[u8]) -> String {
        let mut out = Vec::new();
        Shown::of(field).push(bytes, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_are_shown_as_windows_shows_them() {
        use Meaning::{Boolean, CodePointer, HResult, Hex, IPv4, NdisStatus, NtStatus, Plain, Text, Win32Error};
        let utf16: Vec<u8> = "aä".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let table: [(Wire, Meaning, &[u8], &str); 38] = [
            (Wire::Int8, Plain, &[0xe3], "-29"),
            (Wire::UInt8, Plain, &[232], "232"),
            (Wire::Int64, Plain, &[0xff; 8], "-1"),
            (Wire::UInt64, Plain, &[0xff; 8], "18446744073709551615"),
            (Wire::UInt32, Hex, &[0xcd, 0x19, 0xa9, 0x9e], "0x9EA919CD"),
            (Wire::HexInt32, Plain, &[0x0a, 0, 0, 0], "0xA"),
            (Wire::HexInt64, Plain, &[0; 8], "0x0"),
            (Wire::Pointer, Plain, &[0x70, 0xde, 0xa6, 0x6f], "0x6FA6DE70"),
            (Wire::HexInt64, CodePointer, &[1, 0, 0, 0, 0, 0, 0, 0x80], "0x8000000000000001"),
            (Wire::UInt16, Meaning::Port, &[0x1f, 0x90], "8080"),
            (Wire::Bool32, Plain, &[1, 0, 0, 0], "true"),
            (Wire::UInt8, Boolean, &[0], "false"),
            (Wire::Bool32, Plain, &[7, 0, 0, 0], "true"),
            (Wire::Float, Plain, &85.59_f32.to_le_bytes(), "85.589996"),
            (Wire::Double, Plain, &232.535_f64.to_le_bytes(), "232.535000"),
            (Wire::Double, Plain, &f64::NEG_INFINITY.to_le_bytes(), "-inf"),
            (Wire::Utf16, Plain, &utf16, "aä"),
            (Wire::UInt16, Text, b"A\0", "A"),
            (Wire::Ansi, Plain, b"\xe4", "ä"),
            (Wire::Binary, Plain, &[0x3e, 0xaf, 0x0f], "0x3EAF0F"),
            (Wire::Binary, Plain, &[], "0x"),
            (Wire::FileTime, Plain, &131_542_371_823_050_459_u64.to_le_bytes(), "2017-11-04T02:46:22.305045900Z"),
            (Wire::FileTime, Plain, &[0; 8], "1601-01-01T00:00:00.000000000Z"),
            (Wire::FileTime, Plain, &[0xff; 8], "18446744073709551615"),
            (Wire::SystemTime, Plain, &system_time([2017, 11, 6, 4, 3, 46, 22, 305]), "2017-11-04T03:46:22.305Z"),
            (Wire::SystemTime, Plain, &[0; 16], "0x00000000000000000000000000000000"),
            (Wire::Sid, Plain, &[1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0], "S-1-5-18"),
            (Wire::WbemSid, Plain, &[], ""),
            (Wire::UInt32, IPv4, &[10, 0, 0, 1], "10.0.0.1"),
            (Wire::IPv6, Plain, &[0; 16], "::"),
            (Wire::Binary, Meaning::SocketAddress, &[2, 0, 0, 80, 127, 0, 0, 1], "127.0.0.1:80"),
            (Wire::UInt32, NtStatus, &[0x34, 0, 0, 0xc0], "STATUS_OBJECT_NAME_NOT_FOUND (0xc0000034)"),
            (Wire::UInt32, NtStatus, &[0x34, 0x12, 0, 0xe0], "Unknown NTSTATUS Error code: 0xe0001234"),
            (Wire::UInt32, Win32Error, &[2, 0, 0, 0], "ERROR_FILE_NOT_FOUND (0x2)"),
            (Wire::UInt32, Win32Error, &[0x2b, 0, 0x18, 0x80], "Unknown Win32 Error code: 0x8018002b"),
            (Wire::Int32, HResult, &[0xcd, 0xdd, 0, 0], "Unknown HResult Error code: 0xddcd"),
            (Wire::UInt32, NdisStatus, &[0x0b, 0, 1, 0x40], "NDIS_STATUS_MEDIA_CONNECT (0x4001000b)"),
            (Wire::UInt32, Meaning::ProcessId, &[4, 0, 0, 0], "4"),
        ];
        for (wire, meaning, bytes, expected) in table {
            assert_eq!(shown(&field(wire, meaning), bytes), expected, "{wire:?} {meaning:?}");
        }
        let guid: Guid = "700b51d6-54ef-45d3-adf3-60cad277d1bd".parse().unwrap();
        assert_eq!(shown(&field(Wire::Guid, Plain), &guid.0), "{700b51d6-54ef-45d3-adf3-60cad277d1bd}");
    }

    fn system_time(parts: [u16; 8]) -> Vec<u8> {
        parts.into_iter().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn names_of_values_stand_for_them() {
        let map = |kind, entries: &[(u64, &str)]| {
            let entries = entries.iter().map(|(value, name)| (*value, (*name).to_owned())).collect();
            Some(Arc::new(ValueMap::new("M", kind, entries)))
        };
        let days = map(MapKind::Bits, &[(1, "Sunday"), (2, "Monday"), (4, "Tuesday")]);
        let kinds = map(MapKind::Values, &[(1, "Download"), (2, "Upload")]);
        for (map, value, expected) in [
            (&days, 1, "Sunday"),
            (&days, 6, "Monday | Tuesday"),
            (&days, 0x82, "Monday | 0x80"),
            (&days, 0x80, "128"),
            (&days, 0, "0"),
            (&kinds, 2, "Upload"),
            (&kinds, 3, "3"),
        ] {
            let field = Field { map: map.clone(), ..field(Wire::UInt32, Meaning::Plain) };
            assert_eq!(shown(&field, &u32::to_le_bytes(value)), expected);
        }
        let hexadecimal = Field { map: days, ..field(Wire::HexInt32, Meaning::Plain) };
        assert_eq!(shown(&hexadecimal, &[0x80, 0, 0, 0]), "0x80");
    }

    #[test]
    fn texts_of_given_length_end_at_their_nul() {
        let kind = FieldKind::Value { wire: Wire::Ansi, meaning: Meaning::Plain, length: Length::Fixed(4) };
        assert_eq!(shown(&Field { kind, ..Field::value("x", Wire::Ansi) }, b"ab\0d"), "ab");
        let characters = Field { count: Count::Fixed(3), ..field(Wire::UInt16, Meaning::Text) };
        assert_eq!(shown(&characters, b"A\0\0\0B\0"), "A");
    }
}
