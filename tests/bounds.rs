//! What a recording may have too much of, by the library: event shapes, datasets, columns, loss notices.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::collections::BTreeSet;

use base::progress::NoProgress;
use conversion::convert::{InputFile, RawPolicy, Recording};
use conversion::job;
use conversion::plan::CatalogEntry;
use support::{Converted, Sandbox, convert_all, convert_with, options};
use synth::tracelogging::{field, schema, traits, ty};
use synth::*;

const SHOP: Guid = guid("5f0b6c1e-3c0a-5d7e-9a41-20c8a5e0f311");

/// A trace of these events in as many buffers as they take.
fn trace_of(events: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    let (mut trace, mut open, mut sequence) = (trace(header().buffer_size(0x1_0000)), buffer(0x1_0000).sequence(1), 1);
    for event in events {
        if !open.fits(event.len()) {
            sequence += 1;
            trace = trace.buffer(std::mem::replace(&mut open, buffer(0x1_0000).sequence(sequence)));
        }
        open.push(&event);
    }
    trace.buffer(open).to_bytes()
}

/// The issues with a code: their inputs and messages.
fn issues(converted: &Converted, code: &str) -> Vec<String> {
    let all = converted.sidecar("issues").lines("code source severity message");
    all.iter().filter_map(|line| line.strip_prefix(code)).map(|rest| rest[1..].to_owned()).collect()
}

/// An event of a kernel group without a class, whose group, opcode and version are the digits of a number.
fn numbered(number: u32) -> Kernel {
    let [opcode, group, version, _] = number.to_le_bytes();
    let hook = u16::from_be_bytes([0x80 + group % 0x80, opcode]);
    let time = T0 + 1 + i64::from(number);
    let mut event = perfinfo64(hook, time).payload(vec![opcode]);
    event.version = 2 * version + group / 0x80;
    event
}

#[test]
fn event_shapes_beyond_the_limit_stand_in_one_dataset() {
    const SHAPES: u32 = 66_000;
    let bytes = trace_of((0..SHAPES).map(|number| numbered(number).on_disk()));
    let converted = convert_with(&[&bytes], |options| options.threads = 3);
    let catalog = converted.sidecar("catalog");
    let distinguished = catalog.lines("dataset").iter().filter(|dataset| *dataset != "Other").count();
    assert_eq!(distinguished, 65_536);
    let rest: Vec<String> = catalog.lines("dataset provider_id event_id opcode event_version header_type rows");
    let rest: Vec<&String> = rest.iter().filter(|line| line.starts_with("Other")).collect();
    // The header event, whose class comes behind the groups without one, and 464 others.
    assert_eq!(rest.len(), 2, "{rest:?}");
    let other = converted.events("Other");
    let first =
        other.row(0, "provider_id kernel_group opcode event_version pointer_size event_id decode_status event_name");
    assert_eq!(first, "68fdd900-4a3e-11d1-84f4-0000f80464e3|0|0|2|8|-|no_schema|-");
    // The last in order are those of group FF with the highest opcodes and versions.
    let lines = other.lines("provider_id kernel_group opcode event_version event_property payload");
    assert_eq!(lines.len() as u64, u64::from(SHAPES) + 1 - 65_536);
    assert!(lines[1..].iter().all(|line| line.starts_with("-|255|")), "{:?}", lines[1]);
    let found = issues(&converted, "too_many_shapes");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("465 events are not decoded and stand in the dataset Other"), "{}", found[0]);
    let (found, written, ..) = converted.counts();
    assert_eq!((found, written), (u64::from(SHAPES) + 1, u64::from(SHAPES) + 1));
}

#[test]
fn a_trace_has_no_more_than_ten_thousand_datasets() {
    let events =
        (1..=10_100).map(|number| event64(guid_of(number), 1, 0, T0 + 1 + i64::from(number)).payload([1]).on_disk());
    let sandbox = Sandbox::new();
    let path = sandbox.file("a.etl", &trace_of(events));
    let job = Recording { name: "a".to_owned(), inputs: vec![InputFile::new(path, "a.etl")] };
    let report = job::inspect(&job, &options(sandbox.path("out")), &NoProgress).unwrap().report;
    let datasets: BTreeSet<&str> = report.plan.catalog().map(CatalogEntry::dataset).collect();
    assert_eq!(datasets.len(), 10_000);
    let others: Vec<_> = report.plan.catalog().filter(|entry| entry.dataset() == "Other").collect();
    // 10,100 providers and the class of the header event; 9,999 have a dataset of their own.
    assert_eq!(others.len(), 102);
    assert_eq!(others[0].shape.key.identity.provider.to_string(), guid_text(10_000));
    let [issue] = report.files[0].issues.rows().collect::<Vec<_>>().try_into().unwrap();
    assert_eq!(issue.code.as_str(), "too_many_datasets");
    let expected = "the trace would have 10101 datasets, 10000 are the most: 102 events of 102 of them";
    assert!(issue.message.starts_with(expected), "{}", issue.message);
}

/// A provider whose place in order is its number.
fn guid_of(number: u32) -> Guid {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&number.to_le_bytes());
    bytes
}

fn guid_text(number: u32) -> String {
    format!("{number:08x}-0000-0000-0000-000000000000")
}

#[test]
fn samples_of_a_merge_are_the_lowest_in_time_whatever_the_order_of_the_files() {
    let event = |time: i64| event64(SHOP, 7, 0, time);
    // As many events as a shape has samples, and with payloads that contradict each other.
    let early = trace_of((0..64).map(|n| event(T0 + 1 + n).payload([1]).on_disk()));
    let late = trace_of((0..64).map(|n| event(T0 + 1000 + n).string_only("x").on_disk()));
    for files in [[&early, &late], [&late, &early]] {
        let converted = convert_all(&files.map(Vec::as_slice));
        let shapes = converted.sidecar("catalog").lines("event_id decode_source rows");
        assert!(shapes.contains(&"7|none|128".to_owned()), "{shapes:?}");
    }
}

/// An event with so many fields of one byte.
fn wide_event(name: &str, fields: u32, time: i64) -> Vec<u8> {
    let metadata = (0..fields).fold(schema(name), |event, n| event.field(field(&format!("f{n}"), ty::UINT8)));
    event64(SHOP, 0, 0, time).tracelogging(traits("Shop"), metadata).payload(vec![7; fields as usize]).on_disk()
}

#[test]
fn columns_beyond_the_limit_stay_in_the_payload() {
    let bytes = trace_of([wide_event("Wide", 4100, T0 + 1), wide_event("Small", 2, T0 + 2)]);
    let converted = convert_with(&[&bytes], |options| options.raw = RawPolicy::Needed);
    let shop = converted.events("Shop");
    assert_eq!(shop.row(0, "decode_status f0 f4095"), "ok|7|7");
    assert_eq!(shop.cell(0, "payload").len(), support::table::hex(&[7; 4100]).len());
    assert_eq!(shop.row(1, "decode_status f0 f1 f2 payload"), "ok|7|7|-|-");
    let fields = converted.sidecar("fields").lines("field column");
    assert!(fields.contains(&"f4095|f4095".to_owned()) && fields.contains(&"f4096|-".to_owned()));
    assert_eq!(
        issues(&converted, "columns_left_out"),
        [
            "0.etl|warning|the table Shop would have 4 more payload columns, 4096 are the most: what they would hold stays \
          in payload"
        ]
    );
}

#[test]
fn tables_share_a_limit_of_columns_in_their_order() {
    const PROVIDERS: u32 = 1330;
    const COLUMNS: usize = 100;
    let fields = (0..COLUMNS).fold(schema("E"), |event, n| event.field(field(&format!("f{n}"), ty::UINT8)));
    let metadata: Vec<u8> = fields.into();
    let event = |number: u32| {
        let event = event64(guid_of(number), 0, 0, T0 + i64::from(number));
        event.tracelogging(traits(&format!("P{number:04}")), metadata.clone()).payload(vec![7; COLUMNS]).on_disk()
    };
    let sandbox = Sandbox::new();
    let path = sandbox.file("a.etl", &trace_of((1..=PROVIDERS).map(event)));
    let job = Recording { name: "a".to_owned(), inputs: vec![InputFile::new(path, "a.etl")] };
    let report = job::inspect(&job, &options(sandbox.path("out")), &NoProgress).unwrap().report;
    let tables = &report.plan.tables;
    let of_providers = tables.iter().filter(|table| table.dataset.starts_with('P'));
    let columns: Vec<usize> = of_providers.map(|table| table.columns.columns.len()).collect();
    assert_eq!(columns.len(), PROVIDERS as usize);
    assert_eq!(tables.iter().map(|table| table.columns.columns.len()).sum::<usize>(), 131_072);
    let full = columns.iter().take_while(|&&columns| columns == COLUMNS).count();
    assert!(columns[full] < COLUMNS && columns[full + 1..].iter().all(|&columns| columns == 0), "{full}: {columns:?}");
    let messages = report.files[0].issues.rows().map(|row| row.message);
    let issues: Vec<_> = messages.filter(|message| message.starts_with("the table P")).collect();
    assert_eq!(issues.len(), PROVIDERS as usize - full);
    let expected = "the table P1330 would have 100 more payload columns, 131072 are the most of all tables: what they would \
                    hold stays in payload";
    assert_eq!(issues.last().unwrap().as_str(), expected);
}

#[test]
fn what_is_wrong_with_a_table_names_the_first_input_that_has_an_event_of_it() {
    let plain = trace_of([event64(SHOP, 7, 0, T0 + 1).on_disk()]);
    let other = trace_of([event64(guid_of(1), 7, 0, T0 + 1).on_disk()]);
    let wide = trace_of([wide_event("Wide", 1000, T0 + 2)]);
    let sources = |files: &[&[u8]]| {
        let found = issues(&convert_all(files), "wide_table");
        found.iter().map(|line| line.split('|').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(sources(&[&other, &wide]), ["1.etl"]);
    assert_eq!(sources(&[&plain, &wide]), ["0.etl"]);
}

#[test]
fn a_damaged_provider_id_does_not_rename_the_datasets_of_the_provider() {
    let sale = |provider: Guid, time: i64| {
        event64(provider, 0, 0, time).tracelogging(traits("Shop"), schema("Sale").field(field("Amount", ty::UINT8)))
    };
    let mut flipped = SHOP;
    flipped[9] ^= 0x10;
    // Less in order than the true one.
    flipped[3] ^= 0x40;
    let events = [sale(SHOP, T0 + 1), sale(flipped, T0 + 2), sale(SHOP, T0 + 3)];
    let converted = convert_all(&[&trace_of(events.map(|event| event.payload([9]).on_disk()))]);
    assert_eq!(converted.datasets(), ["Kernel-EventTrace", "Shop", "Shop~1f0b6c1e"]);
    assert_eq!(converted.events("Shop").lines("Amount").len(), 2);
    let found = issues(&converted, "shared_provider_name");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("0.etl|warning|the name Shop is that of 1f0b6c1e-3c0a-5d7e-9a51-20c8a5e0f311 (events: 1)")
    );
    assert!(found[0].contains("and of 5f0b6c1e-3c0a-5d7e-9a41-20c8a5e0f311 (events: 2)"), "{}", found[0]);
}

#[test]
fn a_provider_called_like_a_dataset_of_the_program_gives_way() {
    let event = |name: &str, provider: u32| {
        let event = event64(guid_of(provider), 0, 0, T0 + i64::from(provider));
        event.tracelogging(traits(name), schema("E").field(field("A", ty::UINT8))).payload([1]).on_disk()
    };
    let converted = convert_all(&[&trace_of([event("Other", 1), event("kernel-eventtrace", 2)])]);
    assert_eq!(converted.datasets(), ["Kernel-EventTrace", "Other~00000001", "kernel-eventtrace~00000002"]);
}
