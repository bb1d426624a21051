//! Whole payloads through assign_columns, compile, decode and finish.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampNanosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use columnar::columns::{ColumnBuffers, GuidType, IntegerType, PackedColumns, TimestampType, TypeOptions, gather};
use schema::model::{Count, EventSchema, Field, FieldKind, FieldRef, Length, MapKind, Meaning, ValueMap, Wire};

use super::*;

mod properties;

/// A clock that doubles.
struct Doubling;

impl TraceClock for Doubling {
    fn unix_ns(&self, ticks: i64) -> Option<i64> {
        ticks.checked_mul(2)
    }

    fn span_ns(&self, ticks: u64) -> Option<i64> {
        i64::try_from(ticks).ok()?.checked_mul(3)
    }
}

fn schema(fields: Vec<Field>) -> EventSchema {
    EventSchema { fields, ..EventSchema::default() }
}

fn f(wire: Wire) -> Field {
    Field::value("f", wire)
}

fn named(name: &str, wire: Wire) -> Field {
    Field::value(name, wire)
}

fn meant(wire: Wire, meaning: Meaning) -> Field {
    Field { kind: FieldKind::Value { wire, meaning, length: Length::Natural }, ..f(wire) }
}

fn long(wire: Wire, length: Length) -> Field {
    Field { kind: FieldKind::Value { wire, meaning: Meaning::Plain, length }, ..f(wire) }
}

fn times(count: Count, field: Field) -> Field {
    Field { count, ..field }
}

fn up(up: u8, index: u16) -> FieldRef {
    FieldRef { up, index }
}

/// One value of an array as text: `NULL`, numbers, texts as they are, bytes in hexadecimal, times as `<n>us` or
/// `<n>ns` with `Z` for UTC.
fn show(array: &dyn Array, row: usize) -> String {
    macro_rules! number {
        ($kind:ty) => {
            format!("{:?}", array.as_primitive::<$kind>().value(row))
        };
    }
    let zone = |zone: &Option<Arc<str>>| if zone.is_some() { "Z" } else { "" };
    if array.is_null(row) {
        return "NULL".into();
    }
    match array.data_type() {
        DataType::Boolean => array.as_boolean().value(row).to_string(),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float32 => number!(Float32Type),
        DataType::Float64 => number!(Float64Type),
        DataType::Utf8 => array.as_string::<i32>().value(row).to_owned(),
        DataType::Binary => hex(array.as_binary::<i32>().value(row)),
        DataType::FixedSizeBinary(_) => hex(array.as_fixed_size_binary().value(row)),
        DataType::Timestamp(TimeUnit::Nanosecond, z) => number!(TimestampNanosecondType) + "ns" + zone(z),
        DataType::Timestamp(_, z) => number!(TimestampMicrosecondType) + "us" + zone(z),
        DataType::List(_) => {
            let items = array.as_list::<i32>().value(row);
            let items: Vec<_> = (0..items.len()).map(|item| show(&items, item)).collect();
            format!("[{}]", items.join(", "))
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns();
            let members = fields.iter().zip(columns).map(|(f, c)| format!("{}: {}", f.name(), show(c, row)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        other => panic!("no column has type {other}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut digits = Vec::new();
    text::push_hex(bytes, &mut digits);
    String::from_utf8(digits).unwrap()
}

/// The columns of a batch of so many rows; `None` for those without values.
fn arrays(table: &PayloadColumns, columns: &mut ColumnBuffers, rows: u32) -> Vec<Option<ArrayRef>> {
    let values = columns.finish();
    let columns = table.columns.iter().enumerate();
    let array = |(index, column): (usize, &PayloadColumn)| {
        let has_values = values.has_values(index, &(0..rows));
        has_values.then(|| gather(&[(&values, 0..rows)], index, column.data_type()).unwrap())
    };
    columns.map(array).collect()
}

fn show_all(table: &PayloadColumns, arrays: &[Option<ArrayRef>], row: usize) -> Vec<String> {
    let cell = |array: &Option<ArrayRef>| array.as_ref().map_or("NULL".to_owned(), |array| show(array, row));
    table.columns.iter().zip(arrays).map(|(column, array)| format!("{}={}", column.name(), cell(array))).collect()
}

fn decode_with(options: TypeOptions, fields: &[Field], pointer: u8, payload: &[u8]) -> (DecodeOutcome, Vec<String>) {
    let (outcome, _, cells) = decode_and_weigh(options, fields, pointer, payload);
    (outcome, cells)
}

fn decode_and_weigh(
    options: TypeOptions,
    fields: &[Field],
    pointer: u8,
    payload: &[u8],
) -> (DecodeOutcome, u64, Vec<String>) {
    let schema = schema(fields.to_vec());
    let table = assign_columns(&[&schema], &[], options);
    let program = Program::compile(&schema, &table, 0, pointer);
    let mut columns = ColumnBuffers::new(table.columns.iter().map(PayloadColumn::data_type));
    let outcome = program.decode(payload, 0, &mut columns, &Doubling);
    let weight = columns.weight();
    (outcome, weight, show_all(&table, &arrays(&table, &mut columns, 1), 0))
}

/// Types that show what a value is read as.
const EXACT: TypeOptions =
    TypeOptions { integers: IntegerType::Exact, guid: GuidType::String, timestamps: TimestampType::Micros };

fn decode(fields: &[Field], payload: &[u8]) -> (DecodeOutcome, Vec<String>) {
    decode_with(EXACT, fields, 8, payload)
}

/// The cells of a payload that fits its fields exactly and is represented as a whole.
fn exact(fields: &[Field], payload: &[u8]) -> String {
    let (outcome, cells) = decode(fields, payload);
    assert_eq!((outcome.status, outcome.keep_payload), (Status::Ok, false), "{fields:?} {payload:?} {cells:?}");
    cells.join(" ")
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

const GUID: [u8; 16] = [0x23, 0x0d, 0x3c, 0xe1, 0xbc, 0xcc, 0x12, 0x4e, 0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee, 0x27, 0xe4];
const SID: [u8; 12] = [1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0];
/// 1970-01-01T00:00:01Z
const SECOND: u64 = 116_444_736_010_000_000;

#[test]
fn every_wire_type() {
    let user_sid = [&[1; 16], &SID[..]].concat();
    let table: Vec<(Wire, Vec<u8>, &str)> = vec![
        (Wire::Null, vec![], "f=NULL"),
        (Wire::Utf16, b"h\0\xe4\0\0\0".to_vec(), "f=hä"),
        (Wire::Ansi, b"hello\0".to_vec(), "f=hello"),
        (Wire::CountedUtf16, b"\x04\0h\0i\0".to_vec(), "f=hi"),
        (Wire::CountedAnsi, b"\x02\0hi".to_vec(), "f=hi"),
        (Wire::ReverseCountedUtf16, b"\0\x04h\0i\0".to_vec(), "f=hi"),
        (Wire::ReverseCountedAnsi, b"\0\x02hi".to_vec(), "f=hi"),
        (Wire::RestUtf16, b"h\0i\0".to_vec(), "f=hi"),
        (Wire::RestAnsi, b"hi".to_vec(), "f=hi"),
        (Wire::Utf16Unit, b"\xe4\0".to_vec(), "f=ä"),
        (Wire::AnsiChar, b"A".to_vec(), "f=A"),
        (Wire::Int8, vec![0xfe], "f=-2"),
        (Wire::Int16, vec![0xfe, 0xff], "f=-2"),
        (Wire::Int32, vec![0xfe, 0xff, 0xff, 0xff], "f=-2"),
        (Wire::Int64, (-2i64).to_le_bytes().to_vec(), "f=-2"),
        (Wire::UInt8, vec![0xfe], "f=254"),
        (Wire::UInt16, vec![0xfe, 0xff], "f=65534"),
        (Wire::UInt32, vec![0xfe, 0xff, 0xff, 0xff], "f=4294967294"),
        (Wire::UInt64, u64::MAX.to_le_bytes().to_vec(), "f=18446744073709551615"),
        (Wire::HexInt32, vec![0, 0, 0, 0x80], "f=2147483648"),
        (Wire::HexInt64, vec![0, 0, 0, 0, 0, 0, 0, 0x80], "f=9223372036854775808"),
        (Wire::Pointer, vec![1, 0, 0, 0, 0, 0, 0, 0x80], "f=9223372036854775809"),
        (Wire::SizeT, vec![1, 2, 0, 0, 0, 0, 0, 0], "f=513"),
        (Wire::Float, 1.5f32.to_le_bytes().to_vec(), "f=1.5"),
        (Wire::Double, (-0.25f64).to_le_bytes().to_vec(), "f=-0.25"),
        (Wire::Bool32, vec![1, 0, 0, 0], "f=true"),
        (Wire::Bool8, vec![0], "f=false"),
        (Wire::CountedBinary, vec![2, 0, 0xab, 0xcd], "f=abcd"),
        (Wire::HexDump, vec![2, 0, 0, 0, 0xab, 0xcd], "f=abcd"),
        (Wire::RestBinary, vec![1, 2, 3], "f=010203"),
        (Wire::Guid, GUID.to_vec(), "f=e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"),
        (Wire::FileTime, (SECOND + 7).to_le_bytes().to_vec(), "f=1000000usZ f_filetime=116444736010000007"),
        (Wire::FileTime, vec![0; 8], "f=NULL f_filetime=0"),
        (Wire::FileTime, i64::MAX.to_le_bytes().to_vec(), "f=NULL f_filetime=9223372036854775807"),
        (Wire::SystemTime, vec![0xb2, 7, 1, 0, 4, 0, 1, 0, 0, 0, 0, 0, 1, 0, 2, 0], "f=1002000us"),
        (Wire::TraceTime, 21i64.to_le_bytes().to_vec(), "f_ns=42"),
        (Wire::Sid, SID.to_vec(), "f=S-1-5-18"),
        (Wire::WbemSid, user_sid, "f=S-1-5-18"),
        (Wire::WbemSid, vec![0; 4], "f=NULL"),
        (Wire::IPv4, vec![10, 0, 0, 1], "f=10.0.0.1"),
        (Wire::IPv6, [[0; 15].as_slice(), &[1]].concat(), "f=::1"),
        (Wire::Port, vec![0x1f, 0x90], "f=8080"),
        (Wire::SocketAddress, vec![2, 0, 0, 80, 1, 2, 3, 4], "f=1.2.3.4:80"),
        (
            Wire::GroupAffinity,
            vec![3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
            "f={mask: 3, group: 1, reserved: [0, 0, 0]}",
        ),
    ];
    for (wire, payload, cells) in table {
        assert_eq!(exact(&[f(wire)], &payload), cells, "{wire:?}");
    }
}

#[test]
fn every_meaning_on_the_types_it_is_for() {
    let four = || vec![0xff, 0xff, 0xff, 0xff];
    let table: Vec<(Wire, Meaning, Vec<u8>, &str)> = vec![
        (Wire::UInt32, Meaning::Hex, four(), "f=4294967295"),
        (Wire::UInt8, Meaning::Text, b"A".to_vec(), "f=65 f_label=A"),
        (Wire::UInt16, Meaning::Text, vec![0xac, 0x20], "f=8364 f_label=€"),
        (Wire::CountedBinary, Meaning::Text, b"\x02\0ab".to_vec(), "f=ab"),
        (Wire::CountedBinary, Meaning::Xml, b"\x04\0<a/>".to_vec(), "f=<a/>"),
        (Wire::CountedBinary, Meaning::Json, b"\x02\0{}".to_vec(), "f={}"),
        (Wire::Ansi, Meaning::Utf8, b"\xc3\xa4\0".to_vec(), "f=ä"),
        (Wire::UInt8, Meaning::Boolean, vec![1], "f=true"),
        (Wire::UInt32, Meaning::Boolean, vec![0; 4], "f=false"),
        (Wire::Int32, Meaning::ProcessId, four(), "f=4294967295"),
        (Wire::UInt16, Meaning::ThreadId, vec![1, 2], "f=513"),
        (Wire::UInt64, Meaning::ProcessId, vec![1; 8], "f=72340172838076673"),
        (Wire::UInt16, Meaning::Port, vec![0, 80], "f=80"),
        (Wire::UInt32, Meaning::IPv4, vec![127, 0, 0, 1], "f=127.0.0.1"),
        (Wire::CountedBinary, Meaning::IPv4, vec![4, 0, 127, 0, 0, 1], "f=127.0.0.1"),
        (Wire::Binary, Meaning::IPv6, vec![0; 16], "f=::"),
        (Wire::CountedBinary, Meaning::IPv6, [[16, 0].as_slice(), &[0; 16]].concat(), "f=::"),
        (Wire::CountedBinary, Meaning::SocketAddress, vec![8, 0, 2, 0, 0, 80, 1, 2, 3, 4], "f=1.2.3.4:80"),
        (Wire::Int32, Meaning::Win32Error, vec![5, 0, 0, 0], "f=5 f_label=ERROR_ACCESS_DENIED"),
        (Wire::Int32, Meaning::NtStatus, vec![0x22, 0, 0, 0xc0], "f=3221225506 f_label=STATUS_ACCESS_DENIED"),
        (Wire::Int32, Meaning::HResult, vec![5, 0, 7, 0x80], "f=2147942405 f_label=ERROR_ACCESS_DENIED"),
        (Wire::HexInt32, Meaning::NdisStatus, vec![0x0b, 0, 1, 0x40], "f=1073807371 f_label=NDIS_STATUS_MEDIA_CONNECT"),
        (Wire::UInt32, Meaning::NtStatus, vec![1, 0, 0, 0xef], "f=4009754625 f_label=NULL"),
        (Wire::Int64, Meaning::FileTime, SECOND.to_le_bytes().to_vec(), "f=1000000usZ f_filetime=116444736010000000"),
        (Wire::FileTime, Meaning::UtcTime, SECOND.to_le_bytes().to_vec(), "f=1000000usZ f_filetime=116444736010000000"),
        (Wire::SystemTime, Meaning::UtcTime, vec![0xb2, 7, 1, 0, 4, 0, 1, 0, 0, 0, 0, 0, 1, 0, 2, 0], "f=1002000usZ"),
        (Wire::UInt64, Meaning::Ticks, 21i64.to_le_bytes().to_vec(), "f=21 f_ns=63"),
        (Wire::UInt64, Meaning::Ticks, vec![0xff; 8], "f=18446744073709551615 f_ns=NULL"),
        (Wire::UInt32, Meaning::Signed, four(), "f=-1"),
        (Wire::Int32, Meaning::Unsigned, four(), "f=4294967295"),
        (Wire::Int64, Meaning::CodePointer, vec![0xff; 8], "f=18446744073709551615"),
        (Wire::CountedBinary, Meaning::Pkcs7, vec![1, 0, 7], "f=07"),
        (Wire::UInt8, Meaning::NoPrint, vec![7], "f=7"),
    ];
    for (wire, meaning, payload, cells) in table {
        assert_eq!(exact(&[meant(wire, meaning)], &payload), cells, "{wire:?} {meaning:?}");
    }
}

#[test]
fn pointers_have_the_writers_width() {
    let fields = [named("p", Wire::Pointer), named("s", Wire::SizeT), named("u", Wire::WbemSid)];
    let payload = [&[1, 0, 0, 0x80, 2, 0, 0, 0][..], &[1; 8], &SID].concat();
    let (outcome, cells) = decode_with(EXACT, &fields, 4, &payload);
    assert_eq!(outcome.status, Status::Ok);
    assert_eq!(cells, ["p=2147483649", "s=2", "u=S-1-5-18"]);
}

#[test]
fn lengths_and_counts() {
    let count = |wire| named("n", wire);
    let one = |length| vec![count(Wire::UInt16), long(Wire::Utf16, length)];
    let members = || vec![count(Wire::UInt8), times(Count::Field(up(0, 0)), named("x", Wire::UInt16))];
    let outer = || vec![times(Count::Field(up(1, 0)), named("x", Wire::UInt8))];
    let table: Vec<(Vec<Field>, Vec<u8>, &str)> = vec![
        (vec![long(Wire::Utf16, Length::Fixed(3))], b"a\0\0\0\0\0".to_vec(), "f=a"),
        (vec![long(Wire::Ansi, Length::Fixed(3))], b"abc".to_vec(), "f=abc"),
        (vec![long(Wire::Binary, Length::Fixed(2))], vec![1, 2], "f=0102"),
        (one(Length::Field(up(0, 0))), b"\x02\0a\0b\0".to_vec(), "n=2 f=ab"),
        (one(Length::Field(up(0, 0))), b"\0\0".to_vec(), "n=0 f="),
        (vec![times(Count::Fixed(2), f(Wire::UInt16))], vec![1, 0, 2, 0], "f=[1, 2]"),
        (vec![times(Count::Fixed(0), f(Wire::UInt16))], vec![], "f=[]"),
        (vec![times(Count::Prefixed, f(Wire::Utf16))], b"\x02\0a\0\0\0b\0\0\0".to_vec(), "f=[a, b]"),
        (vec![times(Count::Rest, f(Wire::Pointer))], vec![1; 16], "f=[72340172838076673, 72340172838076673]"),
        (vec![times(Count::Rest, f(Wire::Ansi))], b"a\0\0bc".to_vec(), "f=[a, , bc]"),
        (vec![times(Count::Rest, f(Wire::Ansi))], vec![], "f=[]"),
        (vec![count(Wire::UInt8), times(Count::Field(up(0, 0)), f(Wire::Bool8))], vec![2, 1, 0], "n=2 f=[true, false]"),
        // Characters make one text.
        (vec![times(Count::Prefixed, meant(Wire::UInt16, Meaning::Text))], b"\x02\0h\0i\0".to_vec(), "f=hi"),
        (vec![times(Count::Fixed(4), f(Wire::AnsiChar))], b"hi\0\0".to_vec(), "f=hi"),
        (vec![times(Count::Rest, f(Wire::Utf16Unit))], b"h\0i\0".to_vec(), "f=hi"),
        // Both a length and a count.
        (vec![times(Count::Fixed(2), long(Wire::Ansi, Length::Fixed(2)))], b"ab\0\0".to_vec(), "f=[ab, ]"),
        // Structures.
        (vec![Field::structure("S", members())], vec![1, 9, 0], "S={n: 1, x: [9]}"),
        (
            vec![times(Count::Prefixed, Field::structure("S", members()))],
            vec![2, 0, 1, 9, 0, 2, 8, 0, 7, 0],
            "S=[{n: 1, x: [9]}, {n: 2, x: [8, 7]}]",
        ),
        (vec![times(Count::Fixed(0), Field::structure("S", members()))], vec![], "S=[]"),
        (vec![count(Wire::UInt8), Field::structure("S", outer())], vec![2, 5, 6], "n=2 S={x: [5, 6]}"),
        (
            vec![times(Count::Prefixed, Field::structure("S", vec![f(Wire::FileTime), named("s", Wire::WbemSid)]))],
            [&[1, 0][..], &SECOND.to_le_bytes(), &[0; 4]].concat(),
            "S=[{f: 1000000usZ, f_filetime: 116444736010000000, s: NULL}]",
        ),
        (vec![times(Count::Fixed(3), f(Wire::Null))], vec![], "f=[NULL, NULL, NULL]"),
        (
            vec![times(Count::Prefixed, f(Wire::TraceTime))],
            [&[1, 0][..], &[4, 0, 0, 0, 0, 0, 0, 0]].concat(),
            "f_ns=[8]",
        ),
    ];
    for (fields, payload, cells) in table {
        assert_eq!(exact(&fields, &payload), cells, "{fields:?}");
    }
}

#[test]
fn hidden_fields_are_walked_but_not_kept() {
    let hidden = Field { hidden: true, ..named("__binLength", Wire::UInt32) };
    let fields = [hidden, long(Wire::Binary, Length::Field(up(0, 0)))];
    assert_eq!(exact(&fields, &[2, 0, 0, 0, 7, 8]), "f=0708");
    assert_eq!(exact(&[Field::structure("empty", vec![]), f(Wire::UInt8)], &[1]), "f=1");
}

#[test]
fn maps_add_labels() {
    let map = |kind| {
        let entries = vec![(1, "One".to_owned()), (2, "Two".to_owned())];
        Some(Arc::new(ValueMap::new("M", kind, entries)))
    };
    let values = Field { map: map(MapKind::Values), ..named("v", Wire::UInt16) };
    let bits = Field { map: map(MapKind::Bits), ..named("b", Wire::HexInt32) };
    let list = Field { map: map(MapKind::Values), count: Count::Fixed(2), ..named("l", Wire::Int8) };
    let payload = [2, 0, 7, 0, 0, 0, 1, 0xff];
    let cells = "v=2 v_label=Two b=7 b_label=One|Two|0x4 l=[1, -1] l_label=[One, NULL]";
    assert_eq!(exact(&[values.clone(), bits, list], &payload), cells);
    assert_eq!(exact(&[values], &[9, 0]), "v=9 v_label=NULL");
}

#[test]
fn how_payload_and_schema_fit() {
    use Status::{Error, Extra, Ok, Padded, Short};
    let optional = || Field { optional: true, ..named("o", Wire::UInt8) };
    let two = || vec![f(Wire::UInt16), named("t", Wire::Utf16)];
    let counted =
        || vec![named("n", Wire::Int32), times(Count::Field(up(0, 0)), f(Wire::UInt16)), named("x", Wire::Int8)];
    let record = || vec![named("a", Wire::UInt8), Field::structure("S", vec![f(Wire::UInt8), named("g", Wire::UInt8)])];
    let strings = || vec![named("a", Wire::UInt8), times(Count::Prefixed, f(Wire::CountedUtf16))];
    let table: Vec<(Vec<Field>, Vec<u8>, Status, &str)> = vec![
        (two(), b"\x01\0a\0\0\0".to_vec(), Ok, "f=1 t=a"),
        (two(), b"\x01\0a\0".to_vec(), Ok, "f=1 t=a"),
        (two(), b"\x01\0\0\0\0\0\0\0\0\0\0".to_vec(), Padded, "f=1 t="),
        (two(), b"\x01\0\0\0\0\0\0\0\0\0\0\0".to_vec(), Extra, "f=1 t="),
        (two(), b"\x01\0\0\0\x01".to_vec(), Extra, "f=1 t="),
        (two(), b"\x01\0".to_vec(), Short, "f=1 t=NULL"),
        (two(), b"".to_vec(), Short, "f=NULL t=NULL"),
        (two(), b"\x01".to_vec(), Error, "f=NULL t=NULL"),
        (two(), b"\x01\0a".to_vec(), Error, "f=1 t=NULL"),
        (vec![f(Wire::UInt8), optional()], vec![1], Ok, "f=1 o=NULL"),
        (vec![optional(), f(Wire::UInt8)], vec![1], Short, "o=1 f=NULL"),
        (vec![f(Wire::UInt8), Field { optional: true, ..named("p", Wire::UInt16) }], vec![1, 2], Error, "f=1 p=NULL"),
        (vec![], vec![], Ok, ""),
        (vec![], vec![0], Padded, ""),
        (vec![], vec![1], Extra, ""),
        (counted(), vec![0, 0, 0, 0], Short, "n=0 f=[] x=NULL"),
        (counted(), vec![1, 0, 0, 0, 2, 0, 3], Ok, "n=1 f=[2] x=3"),
        (counted(), vec![2, 0, 0, 0, 2, 0, 3], Error, "n=2 f=NULL x=NULL"),
        (counted(), vec![0xff, 0xff, 0xff, 0xff, 2, 0, 3], Error, "n=-1 f=NULL x=NULL"),
        (record(), vec![1, 2, 3], Ok, "a=1 S={f: 2, g: 3}"),
        (record(), vec![1, 2], Error, "a=1 S=NULL"),
        (record(), vec![1], Short, "a=1 S=NULL"),
        (strings(), vec![1, 1, 0, 2, 0, 65, 0], Ok, "a=1 f=[A]"),
        (strings(), vec![1, 2, 0, 2, 0, 65, 0], Error, "a=1 f=NULL"),
        (strings(), vec![1, 1, 0, 1, 0, 65], Error, "a=1 f=NULL"),
        // Nothing says how long.
        (vec![f(Wire::Binary)], vec![1, 2], Error, "f=NULL"),
        (vec![long(Wire::Binary, Length::Field(up(0, 1))), named("n", Wire::UInt8)], vec![1], Error, "f=NULL n=NULL"),
        (
            vec![named("t", Wire::Ansi), long(Wire::Binary, Length::Field(up(0, 0)))],
            b"1\0x".to_vec(),
            Error,
            "t=1 f=NULL",
        ),
        (vec![f(Wire::Sid)], vec![2, 0, 0, 0, 0, 0, 0, 5], Error, "f=NULL"),
        // Counts out of nothing.
        (
            vec![named("n", Wire::UInt32), times(Count::Field(up(0, 0)), f(Wire::Null))],
            vec![0, 0, 1, 0, 9],
            Error,
            "n=65536 f=NULL",
        ),
    ];
    for (fields, payload, status, cells) in table {
        let (outcome, found) = decode(&fields, &payload);
        assert_eq!((outcome.status, found.join(" ").as_str()), (status, cells), "{fields:?} {payload:?}");
        assert_eq!(outcome.keep_payload, !status.is_whole(), "{fields:?}");
        assert_eq!(Program::measuring(&schema(fields), 8).consumes(&payload), status);
    }
}

#[test]
fn what_columns_do_not_represent_keeps_the_payload() {
    let table: Vec<(Field, Vec<u8>, &str)> = vec![
        (f(Wire::Utf16), vec![0, 0xd8, 0, 0], "f=\u{fffd}"),
        (f(Wire::Ansi), vec![0xe4, 0], "f=ä"),
        (meant(Wire::Ansi, Meaning::Utf8), vec![0xe4, 0], "f=\u{fffd}"),
        (f(Wire::Bool32), vec![2, 0, 0, 0], "f=true"),
        (meant(Wire::UInt8, Meaning::Boolean), vec![0xff], "f=true"),
        (long(Wire::Ansi, Length::Fixed(4)), b"a\0bc".to_vec(), "f=a"),
        (times(Count::Fixed(2), f(Wire::Utf16Unit)), b"\0\0a\0".to_vec(), "f="),
        (f(Wire::SystemTime), vec![0; 16], "f=NULL"),
        (f(Wire::TraceTime), i64::MAX.to_le_bytes().to_vec(), "f_ns=NULL"),
        (long(Wire::Sid, Length::Fixed(14)), [&SID[..], &[1, 2]].concat(), "f=S-1-5-18"),
        (long(Wire::Sid, Length::Fixed(2)), vec![1, 2], "f=NULL"),
        (times(Count::Fixed(1), f(Wire::Bool8)), vec![3], "f=[true]"),
    ];
    for (field, payload, cells) in table {
        let (outcome, found) = decode(std::slice::from_ref(&field), &payload);
        assert_eq!(outcome.status, Status::Ok, "{field:?}");
        assert!(outcome.keep_payload, "{field:?}");
        assert_eq!(found.join(" "), cells);
    }
}

#[test]
fn options_change_types_and_not_values() {
    let fields = [
        named("a", Wire::UInt8),
        named("b", Wire::UInt64),
        named("i", Wire::Int16),
        named("x", Wire::Float),
        named("g", Wire::Guid),
        named("t", Wire::FileTime),
        times(Count::Fixed(2), named("l", Wire::UInt32)),
        times(Count::Fixed(2), named("m", Wire::Int8)),
        times(Count::Fixed(1), named("p", Wire::UInt64)),
    ];
    let numbers = [&[0xff][..], &[0xff; 8], &[0xfe, 0xff], &1.5f32.to_le_bytes()].concat();
    let payload = [&numbers[..], &GUID, &(SECOND + 7).to_le_bytes(), &[0xff; 8], &[0x80, 0x7f], &[0xff; 8]].concat();
    let options =
        TypeOptions { integers: IntegerType::Portable, guid: GuidType::Binary, timestamps: TimestampType::Nanos };
    let (outcome, weight, cells) = decode_and_weigh(options, &fields, 8, &payload);
    assert_eq!((outcome.status, outcome.keep_payload), (Status::Ok, false));
    let expected = [
        "a=255",
        "b=-1",
        "i=-2",
        "x=1.5",
        "g=e13c0d23ccbc4e12931bd9cc2eee27e4",
        "t=1000000700nsZ",
        "t_filetime=116444736010000007",
        "l=[4294967295, 4294967295]",
        "m=[-128, 127]",
        "p=[-1]",
    ];
    assert_eq!(cells, expected);
    // All numbers have 8 bytes; a GUID 16, a list an offset of 4.
    assert_eq!(weight, 4 * 8 + 16 + 2 * 8 + (4 + 16) + (4 + 16) + (4 + 8));
}

#[test]
fn events_share_columns_and_batches_begin_anew() {
    let first = schema(vec![named("a", Wire::UInt8), named("g", Wire::Guid), named("x", Wire::Float)]);
    let second = schema(vec![named("g", Wire::Ansi), named("a", Wire::Int32), named("x", Wire::Double)]);
    let third = schema(vec![Field::structure("S", vec![named("a", Wire::Int8)])]);
    let table = assign_columns(&[&first, &second, &third], &[], EXACT);
    let schemas = [&first, &second, &third];
    let program = |schema: usize| Program::compile(schemas[schema], &table, schema, 8);
    let mut columns = ColumnBuffers::new(table.columns.iter().map(PayloadColumn::data_type));
    for _ in 0..2 {
        let one = [&[200][..], &GUID, &1.5f32.to_le_bytes()].concat();
        let two = [b"hi\0".as_slice(), &[0xff; 4], &2.5f64.to_le_bytes()].concat();
        program(0).decode(&one, 1, &mut columns, &NoClock);
        program(1).decode(&two, 3, &mut columns, &NoClock);
        // a: 4 + 4, g: 36 + 4 and 2 + 4, x: 8 + 8.
        assert_eq!(columns.weight(), 8 + 46 + 16);
        let found = arrays(&table, &mut columns, 4);
        assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, true, false]);
        assert_eq!(show_all(&table, &found, 0), ["a=NULL", "g=NULL", "x=NULL", "S=NULL"]);
        assert_eq!(show_all(&table, &found, 1)[..3], ["a=200", "g=e13c0d23-ccbc-4e12-931b-d9cc2eee27e4", "x=1.5"]);
        assert_eq!(show_all(&table, &found, 3)[..3], ["a=-1", "g=hi", "x=2.5"]);
        assert_eq!(columns.weight(), 0);
        program(2).decode(&[5], 0, &mut columns, &NoClock);
        assert_eq!(show_all(&table, &arrays(&table, &mut columns, 1), 0), ["a=NULL", "g=NULL", "x=NULL", "S={a: 5}"]);
    }
}

#[test]
fn items_of_lists_have_their_values_whatever_the_widths_beside_them() {
    let list = |wire| schema(vec![times(Count::Rest, named("l", wire))]);
    let schemas = [Wire::UInt8, Wire::UInt32, Wire::Int32, Wire::Pointer, Wire::UInt64].map(list);
    let declared: Vec<_> = schemas.iter().collect();
    let options = TypeOptions { integers: IntegerType::Portable, ..EXACT };
    let table = assign_columns(&declared, &[], options);
    let program = |schema: usize| Program::compile(&schemas[schema], &table, schema, 4);
    let mut columns = ColumnBuffers::new(table.columns.iter().map(PayloadColumn::data_type));
    let payload = [0xff; 8];
    let values =
        ["255, 255, 255, 255, 255, 255, 255, 255", "4294967295, 4294967295", "-1, -1", "4294967295, 4294967295"];
    for order in [[0, 1], [1, 0], [1, 2], [2, 3], [3, 1], [3, 0]] {
        for (row, schema) in (0..).zip(order) {
            // A list without items leaves the width to those behind it.
            program(schema).decode(&[], 2 * row, &mut columns, &NoClock);
            program(schema).decode(&payload, 2 * row + 1, &mut columns, &NoClock);
        }
        let items: usize = order.iter().map(|&schema| values[schema].split(',').count()).sum();
        assert_eq!(columns.weight(), 8 * items as u64 + 4 * 4, "{order:?}");
        let found = arrays(&table, &mut columns, 4);
        let shown: Vec<_> = (0..4).map(|row| show_all(&table, &found, row).concat()).collect();
        let [first, second] = order.map(|schema| format!("l=[{}]", values[schema]));
        assert_eq!(shown, ["l=[]", &*first, "l=[]", &*second], "{order:?}");
    }
    for schema in [1, 4] {
        program(schema).decode(&payload, u32::try_from(schema).unwrap(), &mut columns, &NoClock);
    }
    let found = arrays(&table, &mut columns, 5);
    assert_eq!([1, 4].map(|row| show_all(&table, &found, row).concat()), ["l=[4294967295, 4294967295]", "l=[-1]"]);
}

#[test]
fn dropped_columns_are_walked_over() {
    let first = schema(vec![named("a", Wire::UInt8)]);
    let second = schema(vec![named("b", Wire::UInt16), named("c", Wire::Ansi)]);
    let (table, _) = assign_columns(&[&first, &second], &[], TypeOptions::default()).first(1);
    let program = Program::compile(&second, &table, 1, 8);
    let mut columns = ColumnBuffers::new(table.columns.iter().map(PayloadColumn::data_type));
    assert_eq!(program.decode(b"\x01\0x\0", 0, &mut columns, &NoClock).status, Status::Ok);
    assert!(arrays(&table, &mut columns, 1)[0].is_none());
}

#[test]
fn the_other_pointer_size_is_recognized() {
    let layout = schema(vec![named("p", Wire::Pointer), named("n", Wire::UInt32)]);
    let (four, eight) = (Program::measuring(&layout, 4), Program::measuring(&layout, 8));
    let long = [1u8; 12];
    let short = [1u8; 8];
    assert!(pointer_size_mismatch(&four, &eight, &[&long, &long]));
    assert!(!pointer_size_mismatch(&four, &eight, &[&long, &short]));
    assert!(!pointer_size_mismatch(&eight, &four, &[&long]));
    assert!(!pointer_size_mismatch(&four, &eight, &[]));
}

/// A description of an image from before Windows Vista fits payloads of both pointer sizes: the upper half of a 64-bit
/// base passes for a size, and the size for two characters.
#[test]
fn garbled_texts_show_the_pointer_size() {
    let layout = schema(vec![named("base", Wire::Pointer), named("size", Wire::UInt32), named("name", Wire::Utf16)]);
    let (four, eight) = (Program::measuring(&layout, 4), Program::measuring(&layout, 8));
    let payload = |base: &[u8], size: u32| [base, &size.to_le_bytes(), b"C\0:\0\\\0x\0\0\0"].concat();
    let long = payload(&0x0116_0000u64.to_le_bytes(), 0x0019_e000);
    let short = payload(&0x0116_0000u32.to_le_bytes(), 0x0019_e000);
    for program in [&four, &eight] {
        assert_eq!([program.consumes(&long), program.consumes(&short)], [Status::Ok; 2]);
    }
    assert!(pointer_size_mismatch(&four, &eight, &[&long]));
    assert!(pointer_size_mismatch(&four, &eight, &[&long, &long, &short]));
    assert!(!pointer_size_mismatch(&four, &eight, &[&long, &short]));
    assert!(!pointer_size_mismatch(&four, &eight, &[&short]));
    assert!(!pointer_size_mismatch(&eight, &four, &[&long]));
}

#[test]
fn nested_counts_over_nothing_end_soon() {
    // Each level repeats the one inside 65,535 times: walking it all would never end.
    let repeat = |inner: Field| times(Count::Fixed(65_535), Field::structure("S", vec![inner]));
    let constant = (0..6).fold(f(Wire::Null), |inner, _| repeat(inner));
    let counted = times(Count::Field(up(7, 0)), f(Wire::UInt8));
    let varying = (0..6).fold(Field::structure("S", vec![counted]), |inner, _| repeat(inner));
    for bomb in [constant, varying] {
        let fields = [named("n", Wire::UInt8), bomb];
        let (outcome, cells) = decode(&fields, &[0, 1]);
        assert_eq!((outcome.status, cells.join(" ").as_str()), (Status::Error, "n=0 S=NULL"));
    }
    // A byte does not buy more either.
    let nulls = (0..100).map(|n| named(&format!("n{n}"), Wire::Null)).chain([f(Wire::UInt8)]).collect();
    let list = times(Count::Rest, Field::structure("S", nulls));
    assert_eq!(decode(std::slice::from_ref(&list), &[0; 2]).0.status, Status::Ok);
    assert_eq!(decode(&[list], &[0; 3]).0.status, Status::Error);
}

#[test]
fn values_without_bytes_are_few_and_have_a_weight() {
    let nulls = |count| times(Count::Fixed(count), f(Wire::Null));
    // 256, and one for the field: the list itself. Each takes a position and an offset, the list an offset of its own.
    let (outcome, weight, cells) = decode_and_weigh(EXACT, &[nulls(256)], 8, &[]);
    assert_eq!((outcome.status, weight, outcome.keep_payload), (Status::Ok, 4 + 256 * 8, false));
    assert_eq!(cells[0], format!("f=[{}]", ["NULL"; 256].join(", ")));
    for count in [257, 65_534] {
        let (outcome, weight, cells) = decode_and_weigh(EXACT, &[nulls(count)], 8, &[]);
        assert_eq!((outcome.status, weight, outcome.keep_payload), (Status::Error, 0, true), "{count}");
        assert_eq!(cells, ["f=NULL"]);
    }
    let members = vec![f(Wire::Null), named("n", Wire::UInt8)];
    let list = times(Count::Prefixed, Field::structure("S", members));
    let (outcome, weight, _) = decode_and_weigh(EXACT, &[list], 8, &[2, 0, 7, 8]);
    assert_eq!((outcome.status, weight), (Status::Ok, 4 + 2 * (8 + 1)));
    // Fields of their own cost what the schema is long.
    let many: Vec<Field> = (0..1000).map(|n| named(&format!("n{n}"), Wire::Null)).collect();
    assert_eq!(decode(&many, &[]).0.status, Status::Ok);
}

#[test]
fn plans_and_columns_go_to_other_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Program>();
    shared::<ColumnBuffers>();
    shared::<PackedColumns>();
    shared::<PayloadColumns>();
}

#[test]
#[should_panic(expected = "ascending order")]
fn a_row_is_filled_once() {
    let layout = schema(vec![f(Wire::UInt8)]);
    let table = assign_columns(&[&layout], &[], TypeOptions::default());
    let program = Program::compile(&layout, &table, 0, 8);
    let mut columns = ColumnBuffers::new(table.columns.iter().map(PayloadColumn::data_type));
    program.decode(&[1], 0, &mut columns, &NoClock);
    program.decode(&[1], 0, &mut columns, &NoClock);
}
