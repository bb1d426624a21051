use std::sync::Arc;

use base::guid::Guid;
use proptest::prelude::*;

use super::*;
use crate::budget::Budget;
use crate::model::{Count, Field, FieldKind, FieldRef, Length, MapKind, Meaning, ValueMap, Wire};

/// Writes blobs the way the recording machine lays them out: header, properties, names.
struct Writer {
    bytes: Vec<u8>,
    names: Vec<(usize, String)>,
    properties: u32,
}

const PROVIDER: Guid = Guid::from_parts(0x1418_ef04, 0xb0b4, 0x4623, 0xbf7e_d74a_b47b_bdaa);

impl Writer {
    fn new() -> Self {
        let mut bytes = vec![0; 112];
        bytes[..16].copy_from_slice(&PROVIDER.0);
        Writer { bytes, names: Vec::new(), properties: 0 }
    }

    fn name(mut self, at: usize, name: &str) -> Self {
        self.names.push((at, name.to_owned()));
        self
    }

    fn set(mut self, at: usize, bytes: &[u8]) -> Self {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    fn property(mut self, name: &str, flags: u32, types: (u16, u16), count: u16, length: u16) -> Self {
        let at = self.bytes.len();
        self.bytes.extend(flags.to_le_bytes());
        self.bytes.extend([0; 4]);
        self.bytes.extend(types.0.to_le_bytes());
        self.bytes.extend(types.1.to_le_bytes());
        self.bytes.extend([0; 4]);
        self.bytes.extend(count.to_le_bytes());
        self.bytes.extend(length.to_le_bytes());
        self.bytes.extend([0; 4]);
        self.properties += 1;
        self.name(at + 4, name)
    }

    fn map(self, name: &str) -> Self {
        let at = self.bytes.len() - 24 + 12;
        self.name(at, name)
    }

    fn finish(mut self, top: u32) -> Vec<u8> {
        for (at, name) in std::mem::take(&mut self.names) {
            let offset = u32::try_from(self.bytes.len()).unwrap();
            self.bytes[at..at + 4].copy_from_slice(&offset.to_le_bytes());
            self.bytes.extend(name.encode_utf16().flat_map(u16::to_le_bytes));
            self.bytes.extend([0, 0]);
        }
        let properties = self.properties.to_le_bytes();
        self.set(100, &properties).set(104, &top.to_le_bytes()).bytes
    }
}

fn process_start() -> Vec<u8> {
    Writer::new()
        .set(32, &[1, 0, 2, 16, 4, 1, 1, 0, 0x10, 0, 0, 0, 0, 0, 0, 0x80])
        .name(52, "Microsoft-Windows-Kernel-Process ")
        .name(56, "win:Informational ")
        .name(64, "ANALYTIC \0PROCESS \0")
        .name(68, "ProcessStart")
        .name(72, "win:Start ")
        .name(76, "Process %1 started")
        .property("ProcessID", 0, (8, 20), 1, 4)
        .property("Flags", 0, (8, 18), 1, 4)
        .map("FlagNames")
        .property("Count", 0, (6, 0), 1, 2)
        .property("Items", 5, (7, 2), 2, 0)
        .property("Name", 0x10, (1, 0), 1, 5)
        .property("Address", 0, (14, 24), 1, 0)
        .property("__binLength", 0, (8, 0), 1, 4)
        .property("Length", 0, (4, 0), 1, 1)
        .property("Data", 2, (14, 15), 1, 7)
        .finish(7)
}

fn sized(name: &str, wire: Wire, meaning: Meaning, length: Length) -> Field {
    Field { kind: FieldKind::Value { wire, meaning, length }, ..Field::value(name, wire) }
}

#[test]
fn a_manifest_event_is_read_whole() {
    let info = EventInfo::parse(&process_start()).unwrap();
    assert_eq!(info.key(), EventInfoKey::Event { provider: PROVIDER, id: 1, version: 2 });
    assert_eq!((info.channel, info.level, info.opcode, info.task), (16, 4, 1, 1));
    assert_eq!(info.keywords, 0x8000_0000_0000_0010);
    assert_eq!(info.provider_name.as_deref(), Some("Microsoft-Windows-Kernel-Process"));
    assert_eq!(info.level_name.as_deref(), Some("Informational"));
    assert_eq!(info.channel_name, None);
    assert_eq!(info.message.as_deref(), Some("Process %1 started"));
    assert_eq!(info.schema.event_name.as_deref(), Some("ProcessStart/Start"));
    assert_eq!(info.schema.keyword_names, ["ANALYTIC", "PROCESS"]);

    let map = ValueMap::new("FlagNames", MapKind::Values, vec![]);
    let members = vec![
        Field::value("Length", Wire::UInt8),
        sized("Data", Wire::Binary, Meaning::Plain, Length::Field(FieldRef { up: 0, index: 0 })),
    ];
    let flags = sized("Flags", Wire::UInt32, Meaning::Hex, Length::Natural);
    let expected = vec![
        sized("ProcessID", Wire::UInt32, Meaning::ProcessId, Length::Natural),
        Field { map: Some(Arc::new(map)), ..flags },
        Field::value("Count", Wire::UInt16),
        Field { count: Count::Field(FieldRef { up: 0, index: 2 }), ..Field::structure("Items", members) },
        sized("Name", Wire::Utf16, Meaning::Plain, Length::Fixed(5)),
        sized("Address", Wire::Binary, Meaning::IPv6, Length::Fixed(16)),
        Field { hidden: true, ..Field::value("__binLength", Wire::UInt32) },
    ];
    assert_eq!(info.schema.fields, expected);
}

#[test]
fn members_may_refer_to_the_level_around_them() {
    let blob = Writer::new()
        .property("N", 0, (8, 0), 1, 4)
        .property("S", 1, (2, 1), 1, 0)
        .property("Text", 2, (2, 0), 1, 0)
        .finish(2);
    let info = EventInfo::parse(&blob).unwrap();
    let text = sized("Text", Wire::Ansi, Meaning::Plain, Length::Field(FieldRef { up: 1, index: 0 }));
    assert_eq!(info.schema.fields, [Field::value("N", Wire::UInt32), Field::structure("S", vec![text])]);
}

#[test]
fn arrays_are_known_by_flag_or_count() {
    let blob = Writer::new()
        .property("One", 0, (8, 0), 1, 4)
        .property("FixedOne", 0x20, (8, 0), 1, 4)
        .property("Two", 0, (8, 0), 2, 4)
        .property("Counted", 4, (8, 0), 0, 4)
        .finish(4);
    let counts: Vec<Count> = EventInfo::parse(&blob).unwrap().schema.fields.iter().map(|field| field.count).collect();
    assert_eq!(counts, [Count::One, Count::Fixed(1), Count::Fixed(2), Count::Field(FieldRef { up: 0, index: 0 })]);
}

#[test]
fn a_mof_class_is_found_by_class_and_opcode() {
    let class = Guid::from_parts(0x3d6f_a8d0, 0xfe05, 0x11d0, 0x9dda_00c0_4fd7_ba7c);
    let blob = Writer::new()
        .set(16, &class.0)
        .set(34, &[3, 0, 0, 2])
        .set(48, &[1])
        .name(68, "Process")
        .name(72, "End")
        .property("Alive", 0, (13, 0), 1, 1)
        .finish(1);
    let info = EventInfo::parse(&blob).unwrap();
    assert_eq!(info.key(), EventInfoKey::Classic { class, opcode: 2, version: 3 });
    assert_eq!(info.schema.event_name.as_deref(), Some("Process/End"));
    assert_eq!(info.schema.fields, [Field::value("Alive", Wire::Bool8)]);
}

#[test]
fn an_unknown_in_type_ends_what_can_be_decoded() {
    let blob = Writer::new().property("A", 0, (8, 0), 1, 4).property("B", 0, (77, 0), 1, 4).finish(2);
    let fields = EventInfo::parse(&blob).unwrap().schema.fields;
    assert_eq!(fields, [Field::value("A", Wire::UInt32), Field::value("B", Wire::Binary)]);
}

#[test]
fn faults_name_offset_and_finding() {
    let scalar = || Writer::new().property("A", 0, (8, 0), 1, 4);
    let deep = (0..40).fold(Writer::new(), |w, i| w.property("S", 1, (i + 1, 1), 1, 0)).property("A", 0, (8, 0), 1, 4);
    for (blob, expected) in [
        (vec![0; 40], "offset 0x30: expected 4 bytes of decoding source, but the payload ends at 0x28"),
        (Writer::new().set(100, &[9]).bytes, "offset 0x64: expected at most 0 properties in the payload, found 9"),
        (scalar().finish(2), "offset 0x68: expected at most 1 top-level properties, found 2"),
        (
            Writer::new().property("S", 1, (1, 3), 1, 0).finish(1),
            "offset 0x78: expected members among 1 properties, found 1 to 4",
        ),
        (
            Writer::new().property("S", 1, (0, 1), 1, 0).finish(1),
            "offset 0x70: expected separate structures, found overlapping ones",
        ),
        (deep.finish(1), "offset 0x358: expected at most 32 levels of structures, found more"),
        (
            scalar().property("B", 4, (8, 0), 1, 4).finish(2),
            "offset 0x98: expected an earlier integer as count, found property 1",
        ),
        (
            Writer::new().property("T", 0, (1, 0), 1, 0).property("B", 2, (14, 0), 1, 0).finish(2),
            "offset 0x9a: expected an earlier integer as length, found property 0",
        ),
        (
            scalar().set(52, &[0xff, 0xff]).finish(1),
            "offset 0x34: expected the provider name inside the payload, found offset 0xffff",
        ),
        (scalar().set(52, &[135]).bytes, "offset 0x87: expected a NUL behind the provider name, found none"),
    ] {
        assert_eq!(EventInfo::parse(&blob).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_name_read_over_and_over_is_refused() {
    let long = "x".repeat(2000);
    let mut blob = (0..20).fold(Writer::new(), |w, _| w.property("", 0, (8, 0), 1, 4)).name(52, &long).finish(20);
    let offset: [u8; 4] = blob[52..56].try_into().unwrap();
    for property in 0..20 {
        blob[112 + 24 * property + 4..][..4].copy_from_slice(&offset);
    }
    let fault = EventInfo::parse(&blob).unwrap_err();
    assert!(fault.message.contains("overlapping"), "{fault}");
}

fn map_payload(flags: u32, entries: &[(u32, &str)]) -> Vec<u8> {
    let mut names = Vec::new();
    let base = 16 + 8 * entries.len();
    let mut info = Vec::new();
    let place = |name: &str, names: &mut Vec<u8>| {
        let offset = u32::try_from(base + names.len()).unwrap();
        names.extend(name.encode_utf16().chain([0]).flat_map(u16::to_le_bytes));
        offset
    };
    info.extend(place("FlagNames", &mut names).to_le_bytes());
    info.extend(flags.to_le_bytes());
    info.extend(u32::try_from(entries.len()).unwrap().to_le_bytes());
    info.extend(0u32.to_le_bytes());
    for (value, name) in entries {
        info.extend(place(name, &mut names).to_le_bytes());
        info.extend(value.to_le_bytes());
    }
    [&PROVIDER.0[..], &info, &names].concat()
}

#[test]
fn maps_are_joined_by_provider_and_name() {
    let mut set = EventInfoSet::new();
    set.add_event_info(&process_start(), &mut Budget::new(1 << 20)).unwrap();
    set.add_event_info(&process_start(), &mut Budget::new(1 << 20)).unwrap();
    set.add_map_info(&map_payload(2, &[(1, "Protected "), (2, "Wow64")]), &mut Budget::new(1 << 20)).unwrap();
    let events = set.finish();
    assert_eq!(events.len(), 1);
    let map = events[0].schema.fields[1].map.as_deref().unwrap();
    let entries = vec![(1, "Protected".to_owned()), (2, "Wow64".to_owned())];
    assert_eq!(*map, ValueMap::new("FlagNames", MapKind::Bits, entries));

    let mut without = EventInfoSet::new();
    without.add_event_info(&process_start(), &mut Budget::new(1 << 20)).unwrap();
    assert_eq!(without.finish()[0].schema.fields[1].map, None);
}

#[test]
fn what_is_kept_is_taken_from_the_budget() {
    let variant = |number: u8| {
        let mut payload = process_start();
        payload[36] = number;
        payload
    };
    let one = EventInfo::parse(&variant(0)).unwrap().footprint();
    let mut budget = Budget::new(10 * one);
    let mut set = EventInfoSet::new();
    for number in 0..10 {
        // A repetition takes nothing.
        assert_eq!(set.add_event_info(&variant(number), &mut budget), Ok(()));
        assert_eq!(set.add_event_info(&variant(number), &mut budget), Ok(()));
    }
    assert_eq!(set.add_event_info(&variant(10), &mut budget), Err(AddError::Limit));
    let map = map_payload(1, &[(1, "A")]);
    assert_eq!(set.add_map_info(&map, &mut budget), Err(AddError::Limit));
    assert_eq!(set.finish().len(), 10);

    let mut set = EventInfoSet::new();
    let mut budget = Budget::new(1 << 20);
    let kept = (0..100).filter(|&number| set.add_event_info(&variant(number), &mut budget).is_ok());
    assert_eq!(kept.count(), 64);
}

#[test]
fn map_faults_count_from_the_payload() {
    let mut many = map_payload(1, &[(1, "A")]);
    many[16 + 8..][..4].copy_from_slice(&100u32.to_le_bytes());
    for (payload, expected) in [
        (many, "offset 0x18: expected at most 4 map entries in the payload, found 100"),
        (map_payload(4, &[]), "offset 0x14: expected a value or bit map, found flags 0x4"),
        (PROVIDER.0.to_vec(), "offset 0x10: expected 4 bytes of map name, but the payload ends at 0x10"),
    ] {
        assert_eq!(MapInfo::parse(&payload).unwrap_err().to_string(), expected);
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = EventInfo::parse(&bytes);
        let _ = MapInfo::parse(&bytes);
    }

    #[test]
    fn a_mutated_blob_never_yields_more_fields_than_properties(
        changes in prop::collection::vec((0usize..600, any::<u8>()), 1..8), cut in 0usize..700,
    ) {
        let mut blob = process_start();
        for (at, byte) in changes {
            let at = at % blob.len();
            blob[at] = byte;
        }
        blob.truncate(cut);
        if let Ok(info) = EventInfo::parse(&blob) {
            fn total(fields: &[Field]) -> usize {
                fields.iter().map(|f| 1 + if let FieldKind::Struct(m) = &f.kind { total(m) } else { 0 }).sum()
            }
            prop_assert!(total(&info.schema.fields) <= (blob.len() - 112) / 24);
        }
    }
}
