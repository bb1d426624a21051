//! Documents of `schema export` taken in, files listed and taken out, and files that say otherwise than the built-in schemas.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use support::{Sandbox, Table, corpus};
use synth::*;

const SIZE: usize = 65536;
const DNS: &str = "Microsoft-Windows-DNS-Client";

const MANIFEST: &str = "<m><provider name='Lab' guid='{11111111-2222-3333-4444-555555555555}'>\
    <tasks><task name='Widget' value='3'/></tasks><opcodes><opcode name='Turn' value='12'/></opcodes>\
    <maps><valueMap name='Color'><map value='2' message='Green'/></valueMap></maps><templates><template tid='T'>\
    <data name='Count' inType='win:UInt16'/><data name='Sizes' inType='win:UInt32' count='Count'/>\
    <data name='Color' inType='win:UInt8' map='Color'/></template></templates>\
    <events><event value='1' task='Widget' opcode='Turn' template='T' message='Turned %1'/></events></provider></m>";

const TMF: &str = "01e9b841-7d67-315a-7b92-23b2033356de Lab-Driver // SRC=Main.c MJ= MN=\n\
    #typev Main_c141 10 \"%0[%!FUNC!] took %10!d! of %11!s!\" //   LEVEL=ERROR FLAGS=MAIN FUNC=Run\n\
    {\ncount, ItemLong -- 10\nparts[0], ItemEnum(Parts) -- 11\n}\n#enumv Parts\n{\nCogs,0x1\n}\n";

/// A sandbox with a trace, a manifest and a TMF file.
fn bench() -> Sandbox {
    let sandbox = Sandbox::new();
    let event = event64(guid("11111111-2222-3333-4444-555555555555"), 1, 0, T0 + 1).task(3).opcode(12);
    let said =
        message(10).guid(guid("01e9b841-7d67-315a-7b92-23b2033356de")).time(T0 + 2).arguments(*b"\x07\0\0\0\x01\0\0\0");
    let events = buffer(SIZE).event(event.payload(payload().u16(2).u32(4).u32(9).u8(2))).event(said);
    sandbox.file("a.etl", &trace(header().buffer_size(65536)).buffer(events).to_bytes());
    sandbox.file("lab.man", MANIFEST.as_bytes());
    sandbox.file("lab.tmf", TMF.as_bytes());
    sandbox
}

/// The tables of a trace's events by their names.
fn tables(sandbox: &Sandbox, trace: &str) -> Vec<(String, Table)> {
    let paths = sandbox.files(trace).into_iter().map(|(path, _)| path);
    let mut names: Vec<String> = paths.filter(|path| path.starts_with("events/")).collect();
    names.iter_mut().for_each(|path| path.truncate(path.rfind('/').unwrap()));
    names.dedup();
    assert!(!names.is_empty());
    names.into_iter().map(|name| (name.clone(), sandbox.table(trace, &name))).collect()
}

/// Converts a trace with files and with the document that they are exported as: both write the same.
fn decodes_alike(sandbox: &Sandbox, trace: &Path, files: &[&str]) {
    let schemas = files.iter().fold(String::new(), |line, file| format!("{line} --schemas {file}"));
    let trace = trace.display();
    sandbox.t(&format!("schema export --no-store -o facts.json{schemas}"), 0);
    sandbox.t(&format!("convert {trace} -o files --no-store -q{schemas}"), 0);
    sandbox.t(&format!("convert {trace} -o facts --no-store -q --schemas facts.json"), 0);
    sandbox.t("schema import facts.json --store store", 0);
    sandbox.t(&format!("convert {trace} -o stored --store store -q"), 0);
    let name = format!("trace={}", Path::new(&trace.to_string()).file_stem().unwrap().display());
    let expected = tables(sandbox, &format!("files/{name}"));
    for folder in ["facts", "stored"] {
        for ((path, found), (own, expected)) in tables(sandbox, &format!("{folder}/{name}")).iter().zip(&expected) {
            assert_eq!((path, &found.names), (own, &expected.names));
            assert!(found.rows == expected.rows && !found.rows.is_empty(), "{folder} {path}");
        }
    }
    // What is exported of the document is what it was made from.
    let again = sandbox.t("schema export --no-store --schemas facts.json", 0).out;
    let plain = |text: &str| {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("\"origin\""));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(plain(&again) == plain(&fs::read_to_string(sandbox.path("facts.json")).unwrap()), "{files:?}");
}

#[test]
fn a_document_stands_for_the_files_it_was_made_from() {
    let sandbox = bench();
    let trace = sandbox.path("a.etl");
    decodes_alike(&sandbox, &trace, &["lab.man", "lab.tmf"]);
    let rows = |dataset: &str, columns: &str| sandbox.table("facts/trace=a", dataset).lines(columns);
    let lab = "event_name decode_source decode_status Count Sizes Color Color_label";
    assert_eq!(rows("events/Lab", lab), ["Widget/Turn|user|ok|2|[4,9]|2|Green"]);
    assert_eq!(rows("events/WPP", "decode_source decode_status message"), ["wpp|ok|[Run] took 7 of Cogs"]);
}

#[test]
fn real_files_come_back_whole() {
    let Some(corpus) = corpus() else { return };
    let path = |name: &str| corpus.join(name).display().to_string();
    for (trace, files) in [
        ("tx-Process.etl", vec![path("tx-SystemEvents.man")]),
        ("tx-HTTP_Server.etl", vec![path("tx-HTTP_Server.man")]),
        ("wpp/made-wppitems.etl", vec![path("wpp/tmf"), path("tmf")]),
        ("wpp/findneedle-wpptypes-sample.etl", vec![path("wpp/tmf")]),
    ] {
        let sandbox = Sandbox::large();
        decodes_alike(&sandbox, &corpus.join(trace), &files.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn files_are_listed_and_taken_out() {
    let sandbox = bench();
    sandbox.file("more/deep/b.man", MANIFEST.replace("Turned", "Turns").as_bytes());
    assert_eq!(sandbox.t("schema imports --store store", 0).out.lines().count(), 1, "the heading");
    sandbox.t("schema import lab.man lab.tmf more --store store", 0);
    let before = sandbox.files("store");
    sandbox.t("schema import more lab.tmf --store store", 0);
    assert_eq!(sandbox.files("store"), before);
    let list = sandbox.t("schema imports --store store", 0).out;
    let lines: Vec<String> = list.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let expected = [
        "ORIGIN KIND EVENTS MESSAGES REJECTED PROVIDERS",
        "deep/b.man manifest 1 0 0 Lab",
        "lab.man manifest 1 0 0 Lab",
        "lab.tmf tmf 0 1 0 Lab-Driver",
    ];
    assert_eq!(lines, expected);
    let refused = sandbox.t("schema remove lab.man lab.mann --store store", 2);
    assert!(refused.err.contains("nothing in the schema store is called lab.mann"), "{}", refused.err);
    assert!(refused.err.contains("did you mean lab.man?"), "{}", refused.err);
    assert_eq!(sandbox.files("store"), before, "all stay");
    let said = sandbox.t("schema remove LAB.* --store store", 0).out;
    assert!(said.starts_with("removed lab.man\nremoved lab.tmf\n1 left in "), "{said}");
    sandbox.t("schema import lab.man lab.tmf --store store", 0);
    assert_eq!(sandbox.files("store"), before);
    let refused = sandbox.t("schema remove x --store nowhere", 2);
    assert!(refused.err.contains("the store is empty") && !sandbox.path("nowhere").exists(), "{}", refused.err);
    // A file that was mended stands beside the older one, which is said.
    sandbox.file("lab.man", MANIFEST.replace("Turned", "Was turned").as_bytes());
    let said = sandbox.t("schema import lab.man --store store", 0);
    assert!(said.err.contains("lab.man: the store has files of this name with other contents, too"), "{}", said.err);
}

#[test]
fn stores_of_two_machines_merge_in_any_order() {
    let sandbox = bench();
    sandbox.file("b.man", MANIFEST.as_bytes());
    sandbox.t("schema import lab.man lab.tmf --store one", 0);
    sandbox.t("schema import b.man --store other", 0);
    sandbox.t("schema import one other --store c", 0);
    sandbox.t("schema import other one --store d", 0);
    assert_eq!(sandbox.files("c"), sandbox.files("d"));
    let list: Value = serde_json::from_str(&sandbox.t("schema imports --store c --json", 0).out).unwrap();
    let origins: Vec<_> = list["files"].as_array().unwrap().iter().map(|file| file["origin"].clone()).collect();
    assert_eq!(origins, ["b.man", "lab.tmf"], "of two names of one file the first stands");
    assert_eq!(list["files"][0]["providers"], json!([{"name": "Lab", "guid": "11111111-2222-3333-4444-555555555555"}]));
}

/// A document about an event of a built-in provider with a field called otherwise, recorded on a build of Windows.
fn other_dns(sandbox: &Sandbox, build: Option<u32>) {
    let text = sandbox.t(&format!("schema export {DNS} --built-in --no-store"), 0).out;
    let mut facts: Value = serde_json::from_str(&text).unwrap();
    let provider = &mut facts["providers"][0];
    let events = provider["known_events"].as_array_mut().unwrap();
    events.retain(|event| event["id"] == 3008 && event["version"] == 0);
    let layouts = events[0]["layouts"].as_array_mut().unwrap();
    layouts.truncate(1);
    layouts[0]["fields"][0]["name"] = json!("Asked");
    if let Some(build) = build {
        layouts[0]["build"] = json!(build);
    }
    sandbox.file("dns.json", facts.to_string().as_bytes());
}

#[test]
fn what_differs_from_the_built_in_schemas_is_named_and_decided_by_build() {
    let example = fs::canonicalize("examples/example.etl").unwrap();
    for (build, source, said) in [
        (None, "user", "those of the file are used, for files rank before the pack"),
        (Some(99_999), "user", "those of the file are used, for files rank before the pack"),
        (Some(10_240), "pack", "the pack's are used, of build 28000: the file's are of build 10240"),
    ] {
        let sandbox = Sandbox::new();
        other_dns(&sandbox, build);
        let conflict = format!("{DNS} (dns.json): 1 of 1 layouts differ from the pack's; {said}\n");
        let imported = sandbox.t("schema import dns.json --store store", 0).out;
        assert!(imported.contains(&conflict), "{imported}");
        let shown = sandbox.t(&format!("schema show {DNS} --store store --json"), 0).out;
        let shown: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(shown["providers"][0]["conflicts"][0]["differ"], 1);
        let shown = sandbox.t(&format!("schema show {DNS} 3008 --store store --json"), 0).out;
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let layouts = shown["providers"][0]["known_events"][0]["layouts"].as_array().unwrap();
        let first = if source == "user" { "store" } else { "pack" };
        assert_eq!((&layouts[0]["from"], &layouts[0]["preferred"]), (&json!(first), &json!(true)));
        sandbox.t(&format!("convert {} -o out -q --store store", example.display()), 0);
        let catalog = sandbox.table("out/trace=example", "sidecar/catalog");
        let sources = catalog.lines("event_id provider_name decode_source");
        assert!(sources.contains(&format!("3008|{DNS}|{source}")), "{build:?}: {sources:?}");
        let page = sandbox.t(&format!("schema show {DNS} --store store"), 0).out;
        assert!(page.contains("conflicts") && page.contains("1 of 1 layouts differ"), "{page}");
    }
}

#[test]
fn a_damaged_document_is_named_with_its_line() {
    let sandbox = bench();
    sandbox.t("schema export --no-store --schemas lab.man -o facts.json", 0);
    let text = fs::read_to_string(sandbox.path("facts.json")).unwrap();
    sandbox.file("cut.json", &text.as_bytes()[..text.len() / 2]);
    let refused = sandbox.t("schema import cut.json --store store", 2);
    assert!(refused.err.contains("cut.json") && refused.err.contains("EOF while parsing"), "{}", refused.err);
    sandbox.file("odd.json", text.replace("\"UInt16\"", "\"Sprocket\"").as_bytes());
    let partly = sandbox.t("schema import odd.json --store store", 4);
    let expected =
        "odd.json, provider \"Lab\", event 1 version 0: field \"Count\": expected a known in_type, found \"Sprocket\"";
    assert!(partly.err.contains(expected), "{}", partly.err);
}
