//! The schema lock of an output folder: read once by a run, extended at its end, and whom a change of it concerns.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::fs;

use base::progress::NoProgress;
use published::{compare, published};
use support::Sandbox;
use synth::tracelogging::{Field, field, schema, structure, traits, ty};
use synth::*;

const SHOP: Guid = guid("5f0b6c1e-3c0a-5d7e-9a41-20c8a5e0f311");
const OTHER: Guid = guid("aaaaaaaa-0000-1111-2222-333333333333");
const FIRST_LINE: &str = "# etl2parquet schema lock, format 1\n";

/// An event that describes itself.
fn event(provider: Guid, name: &str, fields: impl IntoIterator<Item = Field>, value: Payload) -> Vec<u8> {
    let metadata = fields.into_iter().fold(schema("Sale"), tracelogging::Schema::field);
    event64(provider, 0, 0, T0 + 6).tracelogging(traits(name), metadata).payload(value).on_disk()
}

fn number(name: &str) -> Vec<u8> {
    event(SHOP, "Shop", [field(name, ty::UINT32)], payload().u32(5))
}

fn text(name: &str) -> Vec<u8> {
    event(SHOP, "Shop", [field(name, ty::UTF16Z)], payload().wstr("five"))
}

/// A structure with these members, each a number.
fn item(members: &[&str]) -> Vec<u8> {
    let members: Vec<Field> = members.iter().map(|name| field(name, ty::UINT32)).collect();
    let value = members.iter().fold(payload(), |value, _| value.u32(7));
    event(SHOP, "Shop", [structure("Item", members)], value)
}

/// A folder with traces, and an output folder with an empty lock.
fn folder(traces: &[(&str, Vec<u8>)]) -> Sandbox {
    let sandbox = Sandbox::new();
    traces.iter().for_each(|(name, event)| add(&sandbox, name, event));
    sandbox.file("out/schema.lock", FIRST_LINE.as_bytes());
    sandbox
}

fn add(sandbox: &Sandbox, name: &str, event: &[u8]) {
    add_all(sandbox, name, vec![event.to_vec()]);
}

fn add_all(sandbox: &Sandbox, name: &str, events: Vec<Vec<u8>>) {
    let bytes = trace(header()).buffer(buffer(0x4000).sequence(1).events(events)).to_bytes();
    sandbox.file(&format!("{name}.etl"), &bytes);
}

/// The lines of the lock behind the first, with blanks between cells.
fn lock(sandbox: &Sandbox) -> String {
    let text = fs::read_to_string(sandbox.path("out/schema.lock")).unwrap();
    text.strip_prefix(FIRST_LINE).unwrap().trim_start().replace('\t', " ")
}

const SHOP_LINE: &str = "P 5f0b6c1e-3c0a-5d7e-9a41-20c8a5e0f311 Shop\n";

/// The payload columns of `Shop` in a trace.
fn columns(sandbox: &Sandbox, trace: &str) -> String {
    let names = sandbox.table(&format!("out/trace={trace}"), "events/Shop").names;
    let start = names.iter().position(|name| name == "recovered").unwrap() + 1;
    names[start..].join(" ")
}

/// Updates the folder; says which traces were converted again.
fn updated(sandbox: &Sandbox, inputs: &str) -> String {
    sandbox.t(&format!("convert {inputs} -q -o out --if-exists update --summary summary.json"), 0);
    let summary = fs::read(sandbox.path("summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
    let traces = summary["traces"].as_array().unwrap().iter();
    let again = traces.filter(|trace| trace["status"] == "published").map(|trace| trace["trace"].as_str().unwrap());
    again.collect::<Vec<_>>().join(" ")
}

/// What keeps the traces from being read as one table.
fn mismatches(sandbox: &Sandbox) -> Vec<String> {
    let traces = published(&[sandbox.path("out")]).unwrap();
    compare(&traces, &NoProgress).unwrap().mismatches().iter().map(ToString::to_string).collect()
}

/// All that is in a trace, but for what varies from run to run.
fn content(sandbox: &Sandbox, trace: &str) -> Vec<(String, Vec<u8>)> {
    let mut files = sandbox.files(trace);
    for (name, bytes) in &mut files {
        if name == "sidecar/manifest.json" {
            let mut manifest: serde_json::Value = serde_json::from_slice(bytes).unwrap();
            manifest.as_object_mut().unwrap().remove("run");
            *bytes = manifest.to_string().into_bytes();
        }
    }
    files
}

/// Traces each of which alone would decide otherwise: whatever their order, and the number of threads, the lock and all files
/// are the same, and the second run converts what the first has decided against, and nothing else.
#[test]
fn the_order_of_traces_decides_nothing() {
    let traces = [
        ("a", number("Amount")),
        ("b", text("amount")),
        ("c", item(&["x"])),
        ("d", item(&["y"])),
        ("e", event(SHOP, "Store", [field("Amount", ty::UINT32)], payload().u32(5))),
    ];
    let expected = format!("{SHOP_LINE}N Amount text int\nN Item struct\nN Item.x int\nN Item.y int\n");
    let mut before = None;
    for order in ["a.etl b.etl c.etl d.etl e.etl", "e.etl d.etl c.etl b.etl a.etl --threads 1"] {
        let sandbox = folder(&traces);
        sandbox.t(&format!("convert {order} -q -o out"), 0);
        assert_eq!(lock(&sandbox), expected);
        let first = sandbox.files("out").len();
        assert_eq!(columns(&sandbox, "a"), "Amount");
        let mut again: Vec<String> =
            updated(&sandbox, order.split(" --").next().unwrap()).split(' ').map(str::to_owned).collect();
        again.sort();
        // The number has another name now, the text another spelling, both structures another member, the last another folder.
        assert_eq!(again, ["a", "b", "c", "d", "e"]);
        assert_eq!([columns(&sandbox, "a"), columns(&sandbox, "b")], ["Amount__int", "Amount"]);
        assert_eq!(mismatches(&sandbox), [""; 0]);
        assert_eq!(updated(&sandbox, "."), "", "nothing is left to do");
        assert_eq!(lock(&sandbox), expected);
        assert_eq!(sandbox.files("out").len(), first);
        let all: Vec<_> = ["a", "b", "c", "d", "e"].map(|name| content(&sandbox, &format!("out/trace={name}"))).into();
        assert!(before.get_or_insert_with(|| all.clone()) == &all, "{order}");
    }
}

#[test]
fn what_a_lock_gains_concerns_those_that_use_it() {
    let sandbox = folder(&[("a", number("Amount")), ("b", item(&["x"]))]);
    add(&sandbox, "o", &event(OTHER, "Market", [field("Amount", ty::UINT32)], payload().u32(5)));
    assert_eq!(updated(&sandbox, "."), "a b o");
    let known = format!("{SHOP_LINE}N Amount int\nN Item struct\nN Item.x int\n\n");
    let other = "P aaaaaaaa-0000-1111-2222-333333333333 Market\nN Amount int\n";
    assert_eq!(lock(&sandbox), format!("{known}{other}"));
    // A new column, another kind of a known one, another spelling: known names stay, and so do those who use them.
    add(&sandbox, "c", &number("Price"));
    add(&sandbox, "d", &text("amount"));
    add(&sandbox, "e", &number("PRICE"));
    assert_eq!(updated(&sandbox, "."), "c d e");
    assert_eq!([columns(&sandbox, "c"), columns(&sandbox, "d")], ["Price", "Amount__text"]);
    // Of two spellings in one run the first in the order of bytes; the other trace is converted again.
    assert_eq!(columns(&sandbox, "e"), "PRICE");
    assert_eq!(updated(&sandbox, "."), "c");
    // A member of a structure is in all of its columns, and a label stands beside all values.
    add(&sandbox, "f", &item(&["x", "y"]));
    assert_eq!(updated(&sandbox, "."), "f");
    assert_eq!(updated(&sandbox, "."), "b");
    let status = field("Amount", ty::UINT32).out(tracelogging::out::NTSTATUS);
    add(&sandbox, "g", &event(SHOP, "Shop", [status], payload().u32(0)));
    assert_eq!(updated(&sandbox, "."), "g");
    // It counts for fields of other kinds, too: their names rest on the column that has the plain one.
    assert_eq!(updated(&sandbox, "."), "a d");
    assert_eq!(columns(&sandbox, "d"), "Amount__text");
    assert_eq!(columns(&sandbox, "a"), "Amount Amount_label");
    assert_eq!((mismatches(&sandbox), updated(&sandbox, ".")), (Vec::new(), String::new()));
    // The entries of the other provider have not changed, nor has its trace.
    assert!(lock(&sandbox).ends_with(other), "{}", lock(&sandbox));
    sandbox.t("verify out -q", 0);
}

/// The same input and the same entries give the same bytes, whatever else a lock has, and wherever the entries come from.
#[test]
fn the_same_entries_give_the_same_bytes() {
    let sandbox = folder(&[("b", text("Other"))]);
    add_all(&sandbox, "a", vec![number("Zone"), text("Amount"), item(&["b", "a"]), number("zone")]);
    for options in ["", "--columns declared", "--layout event"] {
        sandbox.file("out/schema.lock", FIRST_LINE.as_bytes());
        sandbox.t(&format!("convert a.etl -q -o out --if-exists replace {options}"), 0);
        let first = content(&sandbox, "out/trace=a");
        sandbox.t(&format!("convert a.etl -q -o out --if-exists skip {options}"), 0);
        sandbox.t(&format!("convert a.etl -q -o out --if-exists replace {options}"), 0);
        assert!(first == content(&sandbox, "out/trace=a"), "{options}: with all of its names in the lock");
        sandbox.file("lock.txt", &fs::read(sandbox.path("out/schema.lock")).unwrap());
        sandbox.t(&format!("convert a.etl -q -o given --if-exists replace --schema-lock lock.txt {options}"), 0);
        assert!(first == content(&sandbox, "given/trace=a"), "{options}: with a lock that is given");
        sandbox.t("convert b.etl -q -o out --if-exists replace", 0);
        sandbox.t(&format!("convert a.etl -q -o out --if-exists replace {options}"), 0);
        let is_same = first == content(&sandbox, "out/trace=a");
        // All columns of a provider are those of the whole lock.
        assert_eq!(is_same, options != "--columns declared", "{options}");
    }
}

#[test]
fn what_a_killed_run_has_not_added_the_next_one_adds() {
    let sandbox = folder(&[("a", text("Amount")), ("b", number("Count"))]);
    sandbox.t("convert a.etl b.etl -q -o out", 0);
    let whole = lock(&sandbox);
    assert_eq!(whole, format!("{SHOP_LINE}N Amount text\nN Count int\n"));
    for (options, inputs) in [("--if-exists update", "a.etl b.etl"), ("--if-exists skip", "a.etl b.etl")] {
        let before = sandbox.files("out/trace=a");
        sandbox.file("out/schema.lock", format!("{FIRST_LINE}# ours\n").as_bytes());
        sandbox.t(&format!("convert {inputs} -q -o out {options}"), 0);
        assert!(sandbox.files("out/trace=a") == before, "it is passed over");
        assert_eq!(lock(&sandbox), format!("# ours\n\n{whole}"));
    }
}

#[test]
fn runs_at_one_time_all_add_their_names() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let traces: Vec<_> = names.iter().map(|name| (*name, number(&format!("Of_{name}")))).collect();
    let sandbox = folder(&traces);
    std::thread::scope(|scope| {
        for name in names {
            let sandbox = &sandbox;
            scope.spawn(move || sandbox.t(&format!("convert {name}.etl -q -o out"), 0));
        }
    });
    let lines: Vec<String> = names.iter().map(|name| format!("N Of_{name} int\n")).collect();
    assert_eq!(lock(&sandbox), format!("{SHOP_LINE}{}", lines.concat()));
    assert_eq!(updated(&sandbox, "."), "");
}

#[test]
fn a_lock_can_be_left_alone() {
    let sandbox = folder(&[("a", number("Amount")), ("b", text("Amount"))]);
    sandbox.t("convert a.etl -q -o out --schema-lock none", 0);
    sandbox.t("convert b.etl -q -o out --dry-run", 0);
    assert_eq!(lock(&sandbox), "");
    assert!(!sandbox.names("out/trace=a").contains(&"sidecar/schema.lock".to_owned()));
    // What the lock would have to gain keeps a trace from being published.
    let refused = sandbox.t("convert b.etl -o out --schema-lock-mode strict", 5);
    let message = "the schema lock does not have 1 names of Shop: Amount (text)";
    assert!(refused.err.contains(message), "{}", refused.err);
    assert_eq!(lock(&sandbox), "");
    // A trace that a run without a lock has written may have other names.
    assert_eq!(updated(&sandbox, "a.etl"), "a");
    assert_eq!(lock(&sandbox), format!("{SHOP_LINE}N Amount int\n"));
    let mended = sandbox.t("convert b.etl -o out", 0);
    assert!(mended.err.contains("schema.lock: 1 line of new names"), "{}", mended.err);
    assert_eq!(lock(&sandbox), format!("{SHOP_LINE}N Amount int text\n"));
    fs::write(sandbox.path("out/schema.lock"), "mine").unwrap();
    let refused = sandbox.t("convert b.etl -o out --if-exists replace", 2);
    assert!(refused.err.contains("schema.lock: expected a schema lock: line 1: "), "{}", refused.err);
}

#[test]
fn a_provider_has_one_folder_and_a_folder_one_provider() {
    let own = |provider, name: &str| event(provider, name, [field("Amount", ty::UINT32)], payload().u32(5));
    let sandbox = folder(&[("a", own(SHOP, "Shop")), ("b", own(SHOP, "Store")), ("c", own(OTHER, "shop"))]);
    assert_eq!(updated(&sandbox, "."), "a b c");
    let lines =
        format!("{SHOP_LINE}N Amount int\n\nP aaaaaaaa-0000-1111-2222-333333333333 shop~aaaaaaaa\nN Amount int\n");
    assert_eq!(lock(&sandbox), lines);
    assert_eq!(updated(&sandbox, "."), "b c");
    // The first provider of the folder is in other traces only, and the others are called so by themselves.
    add(&sandbox, "d", &own(guid("bbbbbbbb-0000-1111-2222-333333333333"), "SHOP"));
    assert_eq!(updated(&sandbox, "."), "d");
    let folders = |trace: &str| {
        let names = sandbox.names(&format!("out/trace={trace}/events"));
        let folders = names.iter().map(|name| name.split('/').next().unwrap().to_owned());
        folders.filter(|folder| folder != "Kernel-EventTrace").collect::<Vec<_>>().join(" ")
    };
    assert_eq!(["a", "b", "c", "d"].map(folders), ["Shop", "Shop", "shop~aaaaaaaa", "SHOP~bbbbbbbb"]);
    assert_eq!((mismatches(&sandbox), updated(&sandbox, ".")), (Vec::new(), String::new()));
}

/// An event of an EventSource, with the manifest that names it or without.
fn numbered(name: Option<&str>) -> Vec<Vec<u8>> {
    let manifest = |name: &str| {
        format!(
            "<instrumentationManifest xmlns=\"http://schemas.microsoft.com/win/2004/08/events\"><instrumentation><events>\
             <provider name=\"Shop\" guid=\"{{5f0b6c1e-3c0a-5d7e-9a41-20c8a5e0f311}}\" resourceFileName=\"s.dll\" \
             messageFileName=\"s.dll\" symbol=\"S\"><tasks><task name=\"{name}\" value=\"65533\"/></tasks>\
             <templates><template tid=\"Args\"><data name=\"Amount\" inType=\"win:UInt32\"/></template></templates>\
             <events><event value=\"1\" version=\"0\" level=\"win:Informational\" task=\"{name}\" template=\"Args\"/>\
             </events></provider></events></instrumentation></instrumentationManifest>"
        )
    };
    let event = event64(SHOP, 1, 0, T0 + 2).task(65533).payload(payload().u32(7)).on_disk();
    let chunks = name.map(|name| eventsource_manifest(SHOP, T0 + 1, &manifest(name), 0xFF00)).unwrap_or_default();
    chunks.into_iter().map(|chunk| chunk.on_disk()).chain([event]).collect()
}

#[test]
fn an_event_has_one_name_in_traces_that_do_not_describe_it_too() {
    let sandbox = folder(&[]);
    add_all(&sandbox, "a", numbered(None));
    assert_eq!(updated(&sandbox, "."), "a");
    assert_eq!(updated(&sandbox, "."), "");
    add_all(&sandbox, "b", numbered(Some("Sold")));
    assert_eq!(updated(&sandbox, "."), "b");
    // What nothing named has a name now, and its provider, too.
    assert_eq!(updated(&sandbox, "."), "a");
    assert_eq!(columns(&sandbox, "a"), "");
    add_all(&sandbox, "c", numbered(Some("Bought")));
    assert_eq!(updated(&sandbox, "."), "c");
    assert_eq!((mismatches(&sandbox), updated(&sandbox, ".")), (Vec::new(), String::new()));
    assert!(lock(&sandbox).contains("\nE 1 0 Sold\n"), "{}", lock(&sandbox));
}

/// A plan carries the names of its lock, and its commit adds them: the same bytes as in one run.
#[test]
fn steps_extend_the_lock_too() {
    let sandbox = folder(&[("a", text("Amount"))]);
    sandbox.t("convert a.etl -q -o out", 0);
    let (one, whole) = (sandbox.files("out/trace=a"), lock(&sandbox));
    sandbox.file("steps/schema.lock", FIRST_LINE.as_bytes());
    let plan = sandbox.t("plan a.etl -q -o steps", 0).out;
    sandbox.t(&format!("convert-partition -q {} 0", plan.trim()), 0);
    let lines = || fs::read_to_string(sandbox.path("steps/schema.lock")).unwrap().replace('\t', " ");
    assert_eq!(lines(), FIRST_LINE);
    sandbox.t(&format!("commit -q {}", plan.trim()), 0);
    assert_eq!(lines(), format!("{FIRST_LINE}\n{whole}"));
    let is_file = |(name, _): &(String, Vec<u8>)| name != "sidecar/manifest.json";
    let steps = sandbox.files("steps/trace=a");
    assert!(steps.into_iter().filter(is_file).eq(one.into_iter().filter(is_file)));
}

/// The names that traces use, one behind the other, are a lock.
#[test]
fn the_names_of_traces_together_are_a_lock() {
    let sandbox = folder(&[("a", text("Amount")), ("b", number("Count")), ("c", number("Amount"))]);
    sandbox.t("convert a.etl b.etl -q -o out", 0);
    let names = |trace: &str| fs::read(sandbox.path(&format!("out/trace={trace}/sidecar/schema.lock"))).unwrap();
    sandbox.file("lock.txt", &[names("a"), names("b")].concat());
    sandbox.t("convert c.etl -q -o out --schema-lock lock.txt", 0);
    assert_eq!(columns(&sandbox, "c"), "Amount__int");
    let contradiction = [names("a"), names("c"), names("a")].concat();
    sandbox.file("lock.txt", &String::from_utf8(contradiction).unwrap().replace("text\tint", "int\ttext").into_bytes());
    let refused = sandbox.t("convert c.etl -o no --schema-lock lock.txt", 2);
    assert!(refused.err.contains("lock.txt: expected a schema lock: line 8: "), "{}", refused.err);
}
