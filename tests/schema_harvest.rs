//! What traces say of their events, taken for traces that do not: `schema harvest`, through the whole tool.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::fs;

use support::{Sandbox, corpus};
use synth::tracelogging::{field, schema, traits, ty};
use synth::*;

const SIZE: usize = 65536;
const LAB: Guid = guid("11111111-2222-3333-4444-555555555555");
const SHOP: Guid = guid("22222222-2222-3333-4444-555555555555");
const CLASS: Guid = guid("33333333-2222-3333-4444-555555555555");

/// A TRACE_EVENT_INFO: provider, class, id, version, opcode, task, source (0 manifest, 1 MOF), names, fields with their in types.
struct Info {
    provider: Guid,
    class: Guid,
    numbers: (u16, u8, u8, u16),
    source: u32,
    names: [&'static str; 3],
    fields: Vec<(&'static str, u16, Option<&'static str>)>,
}

impl Info {
    /// The blob as the recording machine lays it out: header of 112 bytes, 24 for each property, names.
    fn blob(&self) -> Vec<u8> {
        let (id, version, opcode, task) = self.numbers;
        let mut names = Vec::new();
        let start = 112 + 24 * self.fields.len();
        let mut name = |text: &str| {
            let offset = u32::try_from(start + names.len()).unwrap();
            names.extend(text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes));
            offset
        };
        let [provider, task_name, opcode_name] = self.names.map(&mut name);
        let head = payload().guid(self.provider).guid(self.class).u16(id).u8(version).u8(0).u8(4).u8(opcode).u16(task);
        let head = head.u64(0x10).u32(self.source).u32(provider).zeros(12).u32(task_name).u32(opcode_name).zeros(24);
        let count = u32::try_from(self.fields.len()).unwrap();
        let mut blob = head.u32(count).u32(count).u32(0);
        for (field, in_type, map) in &self.fields {
            let (field, map) = (name(field), map.map_or(0, &mut name));
            blob = blob.u32(0).u32(field).u16(*in_type).u16(0).u32(map).u16(1).u16(0).u32(0);
        }
        blob.bytes(&names).0
    }
}

/// An EVENT_MAP_INFO with values and their names.
fn map_info(name: &str, entries: &[(u32, &str)]) -> Vec<u8> {
    let mut names = Vec::new();
    let start = 16 + 8 * entries.len();
    let mut text = |text: &str| {
        let offset = u32::try_from(start + names.len()).unwrap();
        names.extend(text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes));
        offset
    };
    let mut blob = payload().u32(text(name)).u32(1).u32(u32::try_from(entries.len()).unwrap()).u32(0);
    for (value, name) in entries {
        blob = blob.u32(text(name)).u32(*value);
    }
    blob.bytes(&names).0
}

const MANIFEST: &str = "<m><provider name='Shop' guid='{22222222-2222-3333-4444-555555555555}'><templates><template tid='T'>\
    <data name='Item' inType='win:UnicodeString'/></template></templates><events>\
    <event value='3' version='0' symbol='Sold' template='T'/></events></provider></m>";

/// Events of a provider of a manifest, of a class and of an EventSource, and one that describes itself.
fn events() -> Vec<Vec<u8>> {
    let metadata = schema("Hello").field(field("Who", ty::UINT32));
    let self_described = event64(guid("44444444-2222-3333-4444-555555555555"), 0, 0, T0 + 4);
    vec![
        event64(LAB, 7, 1, T0 + 1).task(3).opcode(12).payload(payload().u32(2).wstr("cog")).on_disk(),
        synth::classic::full64(CLASS, 5, 1, T0 + 2).payload(payload().u32(77)).on_disk(),
        event64(SHOP, 3, 0, T0 + 3).payload(payload().wstr("tea")).on_disk(),
        self_described.tracelogging(traits("Greeter"), metadata).payload(payload().u32(9)).on_disk(),
    ]
}

/// What describes them, as a merging tool and the provider write it.
fn descriptions() -> Vec<Vec<u8>> {
    let lab = Info {
        provider: LAB,
        class: [0; 16],
        numbers: (7, 1, 12, 3),
        source: 0,
        names: ["Lab-Widgets", "Widget", "Turn"],
        fields: vec![("Color", 8, Some("Colors")), ("Name", 1, None)],
    };
    let class = Info {
        provider: CLASS,
        class: CLASS,
        numbers: (0, 1, 5, 0),
        source: 1,
        names: ["Meter", "Meter", "Load"],
        fields: vec![("Amount", 8, None)],
    };
    let mut all = vec![
        synth::classic::event_info(T0 + 5, lab.blob()).on_disk(),
        synth::classic::event_info(T0 + 6, class.blob()).on_disk(),
        synth::classic::event_map_info(T0 + 7, LAB, &map_info("Colors", &[(1, "Red"), (2, "Green")])).on_disk(),
    ];
    all.extend(eventsource_manifest(SHOP, T0 + 8, MANIFEST, 100).into_iter().map(|event| event.on_disk()));
    all
}

fn trace_of(events: Vec<Vec<u8>>) -> Vec<u8> {
    trace(header().buffer_size(65536)).buffer(buffer(SIZE).sequence(1).events(events)).to_bytes()
}

/// A sandbox with the same events in a merged trace and in one that is not.
fn bench() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("bare.etl", &trace_of(events()));
    sandbox.file("merged.etl", &trace_of([events(), descriptions()].concat()));
    sandbox
}

/// Rows of all kinds of a converted trace: where they decode from, and their values.
fn values(sandbox: &Sandbox, trace: &str) -> Vec<String> {
    let of =
        |dataset: &str, columns: &str| sandbox.table(trace, &format!("events/{dataset}")).lines(columns)[0].clone();
    vec![
        of("Lab-Widgets", "event_name decode_status Color Color_label Name"),
        of("Meter", "event_name decode_status Amount"),
        of("Shop", "event_name decode_status Item"),
    ]
}

const EXPECTED: [&str; 3] = ["Widget/Turn|ok|2|Green|cog", "Meter/Load|ok|77", "Sold|ok|tea"];

#[test]
fn unmerged_traces_decode_as_merged_ones() {
    let sandbox = bench();
    sandbox.t("convert bare.etl -o none -q --no-store", 0);
    let inspected = sandbox.t("inspect bare.etl --json -q --no-store", 0).out;
    let inspected: serde_json::Value = serde_json::from_str(&inspected).unwrap();
    assert_eq!(inspected["traces"][0]["decodable_events"], 2, "the header event, and the one that describes itself");
    let said = sandbox.t("schema harvest merged.etl --store store", 0).out;
    assert!(said.starts_with("1 trace read: 4 providers, 3 layouts\n4 are new, 4 are in "), "{said}");
    let before = sandbox.files("store");
    assert!(sandbox.t("schema harvest merged.etl --store store", 0).out.contains("\n0 are new, 4 are in "));
    assert_eq!(sandbox.files("store"), before, "harvesting again changes nothing");
    sandbox.t("convert bare.etl -o out -q --store store", 0);
    assert_eq!(values(&sandbox, "out/trace=bare"), EXPECTED);
    sandbox.t("convert merged.etl -o out -q --no-store", 0);
    assert_eq!(values(&sandbox, "out/trace=merged"), EXPECTED);
    let catalog = sandbox.table("out/trace=bare", "sidecar/catalog");
    let sources: Vec<String> = catalog.lines("decode_source schema_origin");
    for name in ["Lab-Widgets", "Meter", "Shop"] {
        assert!(sources.contains(&format!("user|store/harvest/{name}.json")), "{sources:?}");
    }
}

#[test]
fn converted_traces_give_what_their_inputs_give() {
    let sandbox = bench();
    sandbox.t("convert merged.etl -o out -q --no-store", 0);
    sandbox.t("schema harvest out --store of-converted -q", 0);
    sandbox.t("schema harvest merged.etl --store of-trace -q", 0);
    assert_eq!(sandbox.files("of-converted"), sandbox.files("of-trace"));
}

#[test]
fn the_order_of_traces_and_stores_does_not_show() {
    let sandbox = bench();
    let other = Info {
        provider: LAB,
        class: [0; 16],
        numbers: (8, 0, 0, 3),
        source: 0,
        names: ["Lab-Widgets", "Widget", "Info"],
        fields: vec![("More", 8, None)],
    };
    let more = synth::classic::event_info(T0 + 5, other.blob()).on_disk();
    sandbox.file("more.etl", &trace_of(vec![more]));
    sandbox.t("schema harvest merged.etl more.etl --store a -q", 0);
    sandbox.t("schema harvest more.etl --store b -q", 0);
    sandbox.t("schema harvest merged.etl --store b -q", 0);
    assert_eq!(sandbox.files("a"), sandbox.files("b"));
    sandbox.t("schema harvest more.etl --store one -q", 0);
    sandbox.t("schema harvest merged.etl --store other -q", 0);
    sandbox.t("schema import one other --store c", 0);
    sandbox.t("schema import other one --store d", 0);
    assert_eq!(sandbox.files("c"), sandbox.files("d"));
    assert_eq!(sandbox.files("a"), sandbox.files("c"));
    let files = sandbox.t("schema imports --store a --json", 0).out;
    let files: serde_json::Value = serde_json::from_str(&files).unwrap();
    let lab =
        files["files"].as_array().unwrap().iter().find(|file| file["origin"] == "harvest/Lab-Widgets.json").unwrap();
    assert_eq!((&lab["events"], &lab["kind"]), (&serde_json::json!(2), &serde_json::json!("facts")));
}

#[test]
fn what_cannot_be_read_is_said_and_the_rest_is_taken() {
    let sandbox = bench();
    sandbox.file("no.etl", b"no trace");
    let ran = sandbox.t("schema harvest merged.etl no.etl --store store", 4);
    assert!(ran.err.contains("no.etl"), "{}", ran.err);
    assert!(ran.out.starts_with("1 trace read: 4 providers"), "{}", ran.out);
    sandbox.t("schema harvest nowhere.etl --store store", 3);
}

/// A real trace, its descriptions made unreadable: with those of the whole one it decodes as that does.
#[test]
fn a_real_trace_without_its_descriptions_decodes_by_harvested_ones() {
    let Some(corpus) = corpus() else { return };
    let original = fs::read(corpus.join("perfview-net.4.5.x86-old.etl")).unwrap();
    let sandbox = Sandbox::large();
    sandbox.file("whole.etl", &original);
    let mut bare = original;
    // The mark of the first chunk of each manifest, and the class of appended descriptions.
    let begin = b"<instrumentationManifest";
    let places: Vec<usize> = (8..bare.len() - begin.len()).filter(|&at| bare[at..].starts_with(begin)).collect();
    assert_eq!(places.len(), 5);
    places.into_iter().for_each(|at| bare[at - 5] = 0);
    let class = guid("bbccf6c1-6cd1-48c4-80ff-839482e37671");
    let places: Vec<usize> = (0..bare.len() - 16).filter(|&at| bare[at..].starts_with(&class)).collect();
    places.into_iter().for_each(|at| bare[at] = 0);
    sandbox.file("bare.etl", &bare);
    sandbox.t("convert whole.etl -o out -q --no-store", 0);
    sandbox.t("convert bare.etl -o without -q --no-store", 0);
    sandbox.t("schema harvest whole.etl --store store -q", 0);
    sandbox.t("convert bare.etl -o out -q --store store", 0);
    let status = |folder: &str| sandbox.table(folder, "events/PerfView").lines("decode_status");
    let undecoded = |folder: &str| status(folder).iter().filter(|status| *status == "no_schema").count();
    let all = ["out/trace=whole", "out/trace=bare", "without/trace=bare"].map(undecoded);
    assert_eq!(all, [0, 0, 38]);
    for dataset in ["events/PerfView", "events/Microsoft-Windows-DNS-Client"] {
        let [whole, bare] = ["out/trace=whole", "out/trace=bare"].map(|trace| sandbox.table(trace, dataset));
        // What was made unreadable, and what tells one description from another.
        let differ = ["Magic", "decode_source", "shape"];
        let names: Vec<&str> = whole.names.iter().map(String::as_str).filter(|name| !differ.contains(name)).collect();
        assert_eq!(whole.names, bare.names);
        assert!(whole.lines(&names.join(" ")) == bare.lines(&names.join(" ")), "{dataset}");
    }
}
