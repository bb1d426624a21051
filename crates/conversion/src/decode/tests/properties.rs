//! What holds for any schema and any payload.

use proptest::prelude::*;
use schema::pack::{EventFacts, meanings, wire_types};

use super::*;

fn any_reference() -> impl Strategy<Value = FieldRef> {
    (0u8..3, 0u16..4).prop_map(|(up, index)| FieldRef { up, index })
}

fn any_length() -> impl Strategy<Value = Length> {
    prop_oneof![
        6 => Just(Length::Natural),
        1 => (0u32..6).prop_map(Length::Fixed),
        1 => any_reference().prop_map(Length::Field),
    ]
}

fn any_count() -> impl Strategy<Value = Count> {
    prop_oneof![
        10 => Just(Count::One),
        1 => prop_oneof![0u32..4, Just(70_000), Just(u32::MAX)].prop_map(Count::Fixed),
        1 => any_reference().prop_map(Count::Field),
        2 => Just(Count::Prefixed),
        1 => Just(Count::Rest),
    ]
}

fn any_kind() -> impl Strategy<Value = FieldKind> {
    let wire = proptest::sample::select(wire_types().chain([Wire::UInt8]).collect::<Vec<_>>());
    let meanings = proptest::sample::select([Meaning::Plain].into_iter().chain(meanings()).collect::<Vec<_>>());
    let meaning = prop_oneof![2 => Just(Meaning::Plain), 1 => meanings];
    let value =
        (wire, meaning, any_length()).prop_map(|(wire, meaning, length)| FieldKind::Value { wire, meaning, length });
    value.prop_recursive(3, 12, 4, |inner| {
        proptest::collection::vec(any_field_of(inner), 0..4).prop_map(FieldKind::Struct)
    })
}

fn any_field_of(kind: impl Strategy<Value = FieldKind>) -> impl Strategy<Value = Field> {
    let name = proptest::sample::select(&["a", "A", "b", "a__2", "a_label", "B_filetime", ""][..]);
    let labels = ValueMap::new("m", MapKind::Bits, vec![(1, "one".into())]);
    let map = proptest::option::weighted(0.1, Just(Arc::new(labels)));
    (name, kind, any_count(), map, any::<[bool; 4]>()).prop_map(|(name, kind, count, map, flags)| Field {
        kind,
        count,
        map,
        optional: flags[0] && flags[1],
        hidden: flags[2] && flags[3] && flags[0],
        ..Field::value(name, Wire::Null)
    })
}

fn any_schema() -> impl Strategy<Value = EventSchema> {
    proptest::collection::vec(any_field_of(any_kind()), 0..6).prop_map(schema)
}

/// Bytes with many small numbers, so that counts and lengths are often met.
fn any_payload() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(prop_oneof![4 => 0u8..3, 1 => any::<u8>()], 0..80)
}

fn any_options() -> impl Strategy<Value = TypeOptions> {
    any::<[bool; 3]>().prop_map(|[signed, uuid, nanos]| TypeOptions {
        integers: if signed { IntegerType::Portable } else { IntegerType::Exact },
        guid: if uuid { GuidType::Uuid } else { GuidType::String },
        timestamps: if nanos { TimestampType::Nanos } else { TimestampType::Micros },
    })
}

/// Whether an absent SID could begin these bytes and be none: zeros with a SID behind them are the `TOKEN_USER` of the SID.
fn is_ambiguous(rest: &[u8]) -> bool {
    rest.starts_with(&[0; 16])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn any_payload_makes_whole_rows(
        schemas in proptest::collection::vec(any_schema(), 1..4),
        payloads in proptest::collection::vec((0usize..4, any_payload()), 1..8),
        options in any_options(),
        pointer in prop_oneof![Just(4u8), Just(8)],
    ) {
        let declared: Vec<_> = schemas.iter().collect();
        let table = assign_columns(&declared, &["b"], options);
        let mut names: Vec<_> = table.columns.iter().map(|column| column.name().to_lowercase()).collect();
        names.push("b".into());
        names.sort();
        names.dedup();
        prop_assert_eq!(names.len(), table.columns.len() + 1, "names differ without regard to case");

        let program = |number: usize| Program::compile(&schemas[number], &table, number, pointer);
        let plans: Vec<_> = (0..schemas.len()).map(program).collect();
        let buffers = || ColumnBuffers::new(table.columns.iter().map(PayloadColumn::data_type));
        let (mut by_offset, mut walked) = (buffers(), buffers());
        for (row, (number, payload)) in (0u32..).zip(&payloads) {
            let program = &plans[number % plans.len()];
            let outcome = program.decode(payload, row * 2, &mut by_offset, &Doubling);
            prop_assert_eq!(program.run(payload, row * 2, &mut walked, &Doubling, false), outcome);
            prop_assert_eq!(program.consumes(payload), outcome.status);
            let measuring = Program::measuring(&schemas[number % plans.len()], pointer);
            prop_assert_eq!(measuring.consumes(payload), outcome.status);
        }
        let weight: u64 = walked.columns.iter().map(|column| column.values.weight()).sum();
        prop_assert_eq!([walked.weight(), by_offset.weight()], [weight; 2]);
        let rows = payloads.len() * 2;
        let all = |mut columns| arrays(&table, &mut columns, u32::try_from(rows).unwrap());
        let (fast, general) = (all(by_offset), all(walked));
        prop_assert_eq!(&fast, &general);
        for (array, column) in fast.iter().zip(&table.columns) {
            if let Some(array) = array {
                prop_assert_eq!(array.len(), rows);
                prop_assert_eq!(array.data_type(), column.data_type());
            }
        }
        for (number, declared) in schemas.iter().enumerate() {
            prop_assert!(table.field_columns(number, declared, EventFacts::default()).len() >= declared.fields.len());
        }
    }

    #[test]
    fn values_come_back(values in proptest::collection::vec(any_value(), 0..8), rest in any_rest(), cut in any::<u16>()) {
        let mut fields: Vec<Field> = Vec::new();
        let (mut payload, mut cells, mut bounds) = (Vec::new(), Vec::new(), vec![0]);
        for (number, (wire, bytes, cell)) in values.into_iter().chain(rest).enumerate() {
            let name = format!("f{number}");
            let length = match wire {
                Wire::Binary => Length::Fixed(u32::try_from(bytes.len()).unwrap()),
                _ => Length::Natural,
            };
            fields.push(Field { name: name.clone(), ..long(wire, length) });
            payload.extend(bytes);
            bounds.push(payload.len());
            cells.push(cell.replace('@', &name));
        }
        prop_assume!(!bounds.iter().any(|&start| is_ambiguous(&payload[start..])));
        let (outcome, found) = decode(&fields, &payload);
        prop_assert_eq!(outcome.status, Status::Ok);
        prop_assert!(!outcome.keep_payload);
        prop_assert_eq!(found.join(" "), cells.join(" "));

        // Cut anywhere, the fields before the cut stay as they were.
        let cut = usize::from(cut) % (payload.len() + 1);
        let whole = bounds.iter().skip(1).take_while(|&&end| end <= cut).count();
        let (_, found) = decode(&fields, &payload[..cut]);
        let kept = cells[..whole].join(" ");
        prop_assert!(found.join(" ").starts_with(&kept), "{:?} begins with {}", found, kept);
    }
}

/// Text without NUL.
fn any_text() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        any::<char>().prop_filter("not NUL, not the name's place", |c| !matches!(c, '\0' | '@')),
        0..20,
    )
    .prop_map(String::from_iter)
}

fn counted(count: [u8; 2], bytes: Vec<u8>) -> Vec<u8> {
    [count.to_vec(), bytes].concat()
}

fn le(bytes: &[u8]) -> [u8; 2] {
    u16::try_from(bytes.len()).unwrap().to_le_bytes()
}

fn be(bytes: &[u8]) -> [u8; 2] {
    u16::try_from(bytes.len()).unwrap().to_be_bytes()
}

type Value = (Wire, Vec<u8>, String);

/// A wire type, a value's bytes, and what its columns show; `@` stands for the name.
fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![any_number_value(), any_text_value(), any_other_value()]
}

fn any_number_value() -> impl Strategy<Value = Value> {
    macro_rules! number {
        ($wire:ident, $kind:ty) => {
            any::<$kind>().prop_map(|v| (Wire::$wire, v.to_le_bytes().to_vec(), format!("@={v:?}"))).boxed()
        };
    }
    proptest::strategy::Union::new([
        number!(Int8, i8),
        number!(Int16, i16),
        number!(Int32, i32),
        number!(Int64, i64),
        number!(UInt8, u8),
        number!(UInt16, u16),
        number!(UInt32, u32),
        number!(UInt64, u64),
        number!(HexInt32, u32),
        number!(HexInt64, u64),
        number!(Pointer, u64),
        number!(SizeT, u64),
        number!(Float, f32),
        number!(Double, f64),
        any::<u16>().prop_map(|v| (Wire::Port, v.to_be_bytes().to_vec(), format!("@={v}"))).boxed(),
        any::<bool>().prop_map(|v| (Wire::Bool8, vec![u8::from(v)], format!("@={v}"))).boxed(),
        any::<bool>().prop_map(|v| (Wire::Bool32, u32::from(v).to_le_bytes().to_vec(), format!("@={v}"))).boxed(),
        (1i64..1 << 60).prop_map(|v| (Wire::TraceTime, v.to_le_bytes().to_vec(), format!("@_ns={}", v * 2))).boxed(),
        (0i64..1 << 50)
            .prop_map(|us| {
                let ticks = us * 10 + 116_444_736_000_000_000;
                (Wire::FileTime, ticks.to_le_bytes().to_vec(), format!("@={us}usZ @_filetime={ticks}"))
            })
            .boxed(),
    ])
}

fn any_text_value() -> impl Strategy<Value = Value> {
    (any_text(), 0usize..8).prop_map(|(text, kind)| {
        let (narrow, units) = (text.clone().into_bytes(), utf16(&text));
        let (wire, bytes) = match kind {
            0 => (Wire::Utf16, [units, vec![0, 0]].concat()),
            1 => (Wire::Ansi, [narrow, vec![0]].concat()),
            2 => (Wire::CountedUtf16, counted(le(&units), units)),
            3 => (Wire::CountedAnsi, counted(le(&narrow), narrow)),
            4 => (Wire::ReverseCountedUtf16, counted(be(&units), units)),
            5 => (Wire::ReverseCountedAnsi, counted(be(&narrow), narrow)),
            6 => return (Wire::Utf16Unit, utf16("ß"), "@=ß".to_owned()),
            _ => return (Wire::AnsiChar, b"c".to_vec(), "@=c".to_owned()),
        };
        (wire, bytes, format!("@={text}"))
    })
}

fn any_other_value() -> impl Strategy<Value = Value> {
    let bytes = proptest::collection::vec(any::<u8>(), 0..20);
    (bytes, any::<[u8; 16]>(), 0usize..13).prop_map(|(bytes, array, kind)| {
        let sid = [&[1, 2, 0, 0, 0, 0, 0, 5][..], &array[..8]].concat();
        let part = |at: usize| u32::from_le_bytes(array[at..at + 4].try_into().unwrap());
        let sid_text = format!("@=S-1-5-{}-{}", part(0), part(4));
        let [a, b, c, d, ..] = array;
        match kind {
            0 => (Wire::Binary, bytes.clone(), format!("@={}", hex(&bytes))),
            1 => (Wire::CountedBinary, counted(le(&bytes), bytes.clone()), format!("@={}", hex(&bytes))),
            2 => {
                let dump = [&u32::try_from(bytes.len()).unwrap().to_le_bytes()[..], &bytes].concat();
                (Wire::HexDump, dump, format!("@={}", hex(&bytes)))
            }
            3 => (Wire::Guid, array.to_vec(), format!("@={}", base::guid::Guid(array))),
            4 => (Wire::Sid, sid, sid_text),
            5 => (Wire::WbemSid, [vec![1; 16], sid].concat(), sid_text),
            6 => (Wire::WbemSid, vec![0; 4], "@=NULL".into()),
            7 => (Wire::IPv4, vec![a, b, c, d], format!("@={a}.{b}.{c}.{d}")),
            8 => (Wire::IPv6, array.to_vec(), format!("@={}", std::net::Ipv6Addr::from(array))),
            9 => {
                let v4 = [[2, 0, a, b, c, d, a, b].as_slice(), &[0; 8]].concat();
                (Wire::SocketAddress, v4, format!("@={c}.{d}.{a}.{b}:{}", u16::from_be_bytes([a, b])))
            }
            10 => {
                let mask = u64::from_le_bytes(array[..8].try_into().unwrap());
                let text = format!("@={{mask: {mask}, group: {}, reserved: [0, 0, 0]}}", u16::from_le_bytes([a, b]));
                (Wire::GroupAffinity, [&array[..8], &[a, b, 0, 0, 0, 0, 0, 0]].concat(), text)
            }
            11 => {
                // 2001-01-01 was a Monday.
                let time = [2001u16, 1, 1, 1, u16::from(a % 24), u16::from(b % 60), u16::from(c % 60), u16::from(d)];
                let seconds = (u64::from(time[4]) * 60 + u64::from(time[5])) * 60 + u64::from(time[6]);
                let us = (978_307_200 + seconds) * 1_000_000 + u64::from(d) * 1000;
                (Wire::SystemTime, time.iter().flat_map(|p| p.to_le_bytes()).collect(), format!("@={us}us"))
            }
            _ => (Wire::Null, vec![], "@=NULL".into()),
        }
    })
}

/// Perhaps a last value that reaches to the end of the payload.
fn any_rest() -> impl Strategy<Value = Option<Value>> {
    proptest::option::of((any_text(), 0usize..3).prop_map(|(text, kind)| match kind {
        0 => (Wire::RestUtf16, utf16(&text), format!("@={text}")),
        1 => (Wire::RestAnsi, text.clone().into_bytes(), format!("@={text}")),
        _ => (Wire::RestBinary, text.clone().into_bytes(), format!("@={}", hex(text.as_bytes()))),
    }))
}
