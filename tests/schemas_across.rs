//! Several traces of one provider as one table: what binds, what does not, and what says so.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::fmt::Write;

use base::progress::NoProgress;
use published::{compare, published};
use support::Sandbox;
use synth::tracelogging::{Field, field, schema, structure, traits, ty};
use synth::*;

const SHOP: Guid = guid("5f0b6c1e-3c0a-5d7e-9a41-20c8a5e0f311");

/// A folder with the traces `a` and `b`, converted into `out`.
fn pair(a: Vec<Vec<u8>>, b: Vec<Vec<u8>>, options: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, events) in [("a", a), ("b", b)] {
        let bytes = trace(header()).buffer(buffer(0x4000).sequence(1).events(events)).to_bytes();
        sandbox.file(&format!("{name}.etl"), &bytes);
    }
    sandbox.t(&format!("convert a.etl b.etl -q -o out {options}"), 0);
    sandbox
}

/// What keeps the traces from being read together; paths from the folder of the sandbox on.
fn mismatches(sandbox: &Sandbox) -> Vec<String> {
    let traces = published(&[sandbox.path("out")]).unwrap();
    assert_eq!(traces.len(), 2);
    let binding = compare(&traces, &NoProgress).unwrap();
    // Windows takes either separator, and paths of tables have one alone.
    let root = format!("{}/out/trace=", sandbox.path("").display()).replace('\\', "/").replace("//", "/");
    binding.mismatches().iter().map(|mismatch| mismatch.to_string().replace(&root, "")).collect()
}

/// An event that describes itself.
fn sale(name: &str, fields: impl IntoIterator<Item = Field>, value: Payload) -> Vec<u8> {
    let metadata = fields.into_iter().fold(schema(name), tracelogging::Schema::field);
    event64(SHOP, 0, 0, T0 + 6).tracelogging(traits("Shop"), metadata).payload(value).on_disk()
}

const FILE: &str = "part-00000-00000.parquet";

#[test]
fn a_number_in_one_trace_and_text_in_the_other_is_named() {
    let number = sale("Sale", [field("Amount", ty::UINT32)], payload().u32(5));
    let text = sale("Sale", [field("Amount", ty::UTF16Z)], payload().wstr("five"));
    let found = mismatches(&pair(vec![number.clone()], vec![text.clone()], ""));
    let expected = format!(
        "column Amount of Shop has several types: INT64 in a/events/Shop/{FILE}; STRING in b/events/Shop/{FILE}"
    );
    assert_eq!(found, [expected]);
    // A trace that has both calls the number something else: the same field stands in several columns.
    let found = mismatches(&pair(vec![number.clone()], vec![number, text], ""));
    let expected = [
        format!(
            "column Amount of Shop has several types: INT64 in a/events/Shop/{FILE}; STRING in b/events/Shop/{FILE}"
        ),
        "field 0 Amount (Int64) of event Sale version 0 of Shop stands in several columns: Amount in \
         a/sidecar/fields.parquet; Amount__int in b/sidecar/fields.parquet"
            .to_owned(),
    ];
    assert_eq!(found, expected);
}

#[test]
fn integers_of_all_widths_bind() {
    let small = sale("Sale", [field("Amount", ty::UINT8)], payload().u8(5));
    let large = sale("Sale", [field("Amount", ty::UINT64)], payload().u64(5));
    assert_eq!(mismatches(&pair(vec![small.clone()], vec![large.clone()], "")), [""; 0]);
    let found = mismatches(&pair(vec![small], vec![large], "--integers exact"));
    let expected = format!(
        "column Amount of Shop has several types: UINT_64 in b/events/Shop/{FILE}; UINT_8 in a/events/Shop/{FILE}"
    );
    assert_eq!(found, [expected]);
}

#[test]
fn spellings_that_differ_in_case_are_named() {
    let upper = sale("Sale", [field("Foo", ty::UINT32)], payload().u32(5));
    let lower = sale("Sale", [field("foo", ty::UINT32)], payload().u32(6));
    let found = mismatches(&pair(vec![upper], vec![lower], ""));
    let expected =
        format!("column Foo of Shop has several spellings: Foo in a/events/Shop/{FILE}; foo in b/events/Shop/{FILE}");
    assert_eq!(found, [expected]);
}

#[test]
fn a_column_whose_values_have_names_in_one_trace_alone_is_named() {
    let named = sale("Sale", [field("Code", ty::UINT32).out(tracelogging::out::WIN32_ERROR)], payload().u32(5));
    let plain = sale("Return", [field("Code", ty::UINT32)], payload().u32(5));
    for options in ["", "--layout event"] {
        let folder = |event| if options.is_empty() { String::new() } else { format!("{event}/") };
        let (sale, back) = (folder("Sale"), folder("Return"));
        let found = mismatches(&pair(vec![named.clone()], vec![plain.clone()], options));
        let expected = format!(
            "column Code of Shop has names of its values in some files: with them in a/events/Shop/{sale}{FILE}; without in \
             b/events/Shop/{back}{FILE}"
        );
        assert_eq!(found, [expected]);
        // In one trace the label stands beside all of them.
        assert_eq!(mismatches(&pair(vec![named.clone(), plain.clone()], vec![named.clone()], options)), [""; 0]);
    }
}

#[test]
fn structures_with_other_members_are_named() {
    let one = structure("Item", [field("Code", ty::UINT32)]);
    let two = structure("Item", [field("Code", ty::UINT32), field("Price", ty::DOUBLE)]);
    let old = sale("Sale", [one], payload().u32(5));
    let new = sale("Sale", [two], payload().u32(5).f64(1.5));
    for options in ["", "--layout event"] {
        let folder = if options.is_empty() { "" } else { "Sale/" };
        let found = mismatches(&pair(vec![old.clone()], vec![new.clone()], options));
        let expected = format!(
            "structure Item of Shop has different members: code in a/events/Shop/{folder}{FILE}; code, price in \
             b/events/Shop/{folder}{FILE}"
        );
        assert_eq!(found, [expected]);
    }
}

/// What the settled table says of a column decides whether it has labels, not which events a trace has.
#[test]
fn labels_do_not_depend_on_the_events_of_a_trace() {
    const PKTMON: Guid = guid("4d4f80d9-c8bd-4d73-bb5b-19c90402c5ac");
    let manifest = "<instrumentationManifest xmlns=\"http://schemas.microsoft.com/win/2004/08/events\"><instrumentation>\
        <events><provider name=\"Microsoft-Windows-PktMon\" guid=\"{4d4f80d9-c8bd-4d73-bb5b-19c90402c5ac}\">\
        <maps><valueMap name=\"M\"><map value=\"7\" message=\"$(string.s)\"/></valueMap></maps>\
        <templates><template tid=\"T\"><data name=\"ComponentId\" inType=\"win:UInt16\"/>\
        <data name=\"Type\" inType=\"win:UInt16\"/><data name=\"Value\" inType=\"win:UInt16\" map=\"M\"/>\
        <data name=\"Extra\" inType=\"win:UInt16\" map=\"M\"/></template></templates>\
        <events><event value=\"60\" version=\"0\" template=\"T\"/></events></provider></events></instrumentation>\
        <localization><resources culture=\"en-US\"><stringTable><string id=\"s\" value=\"Seven\"/></stringTable>\
        </resources></localization></instrumentationManifest>";
    let event = |id, value| event64(PKTMON, id, 0, T0 + 6).payload(value).on_disk();
    let named = event(60, payload().u16(1).u16(2).u16(7).u16(7));
    let plain = event(50, payload().u16(1).u16(2).u32(7));
    let sandbox = Sandbox::new();
    sandbox.file("m.man", manifest.as_bytes());
    for (name, event) in [("a", named), ("b", plain)] {
        let bytes = trace(header()).buffer(buffer(0x4000).sequence(1).events([event])).to_bytes();
        sandbox.file(&format!("{name}.etl"), &bytes);
    }
    sandbox.t("convert a.etl b.etl -q -o out --schemas m.man", 0);
    let columns = |trace: &str| {
        let table = sandbox.table(&format!("out/trace={trace}"), "events/Microsoft-Windows-PktMon");
        let start = table.names.iter().position(|name| name == "recovered").unwrap() + 1;
        table.names[start..].join(" ")
    };
    // A field that no release of Windows has is named, labels and all, by what describes it.
    assert_eq!([columns("a"), columns("b")], ["Type ComponentId Value Extra Extra_label", "Type ComponentId Value"]);
}

/// A structure that providers of all kinds share has the members of all its variants, whatever a trace has of them.
#[test]
fn structures_that_providers_share_have_one_set_of_members() {
    let start = structure("wilActivity", [field("threadId", ty::UINT32)]);
    let stop = structure("wilActivity", [field("hresult", ty::UINT32), field("threadId", ty::UINT32)]);
    let unknown = structure("wilactivity", [field("threadId", ty::UINT32), field("zone", ty::UINT32)]);
    let start = sale("Sale", [start], payload().u32(5));
    let stop = sale("Sale", [stop], payload().u32(0x8000_4005).u32(6));
    let sandbox = pair(vec![start.clone()], vec![stop.clone()], "");
    assert_eq!(mismatches(&sandbox), [""; 0]);
    let row = |trace: &str| {
        let table = sandbox.table(&format!("out/trace={trace}"), "events/Shop");
        let start = table.names.iter().position(|name| name == "recovered").unwrap() + 1;
        format!("{}={}", table.names[start..].join(" "), table.rows[0][start])
    };
    // Members in the order of names: the tenth is hresult, the last threadId.
    assert_eq!(row("a"), format!("wilActivity={{{}5}}", "-:".repeat(16)));
    assert_eq!(row("b"), format!("wilActivity={{{}2147500037:{}6}}", "-:".repeat(9), "-:".repeat(6)));
    // A member that no known variant has is named, and does not change how the others are called.
    let found = mismatches(&pair(vec![start], vec![sale("Sale", [unknown], payload().u32(5).u32(9))], ""));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("structure wilActivity of Shop has different members: "), "{found:?}");
}

/// An EventSource with one event, and that event, whose field has this name.
fn eventsource(event: &str, data: &str) -> Vec<Vec<u8>> {
    let mut manifest = String::new();
    write!(
        manifest,
        "<instrumentationManifest xmlns=\"http://schemas.microsoft.com/win/2004/08/events\"><instrumentation><events>\
         <provider name=\"Synth-Shop\" guid=\"{{5f0b6c1e-3c0a-5d7e-9a41-20c8a5e0f311}}\" resourceFileName=\"s.dll\" \
         messageFileName=\"s.dll\" symbol=\"S\"><tasks><task name=\"{event}\" value=\"65533\"/></tasks>\
         <templates><template tid=\"Args\"><data name=\"{data}\" inType=\"win:UInt32\"/></template>\
         <template tid=\"Unseen\"><data name=\"Unseen\" inType=\"win:Double\"/></template></templates>\
         <events><event value=\"1\" version=\"0\" level=\"win:Informational\" task=\"{event}\" template=\"Args\"/>\
         <event value=\"2\" version=\"0\" level=\"win:Informational\" template=\"Unseen\"/></events>\
         </provider></events></instrumentation></instrumentationManifest>"
    )
    .unwrap();
    let manifest = eventsource_manifest(SHOP, T0 + 1, &manifest, 0xFF00).into_iter().map(|chunk| chunk.on_disk());
    let event = event64(SHOP, 1, 0, T0 + 2).task(65533).payload(payload().u32(7)).on_disk();
    manifest.chain([event]).collect()
}

#[test]
fn two_manifests_that_name_an_event_differently_are_named() {
    let found = mismatches(&pair(eventsource("Sold", "Amount"), eventsource("Sale", "Amount"), ""));
    let expected = "event 1 version 0 of Synth-Shop has several names: Sale in b/sidecar/catalog.parquet; Sold in \
                    a/sidecar/catalog.parquet";
    assert_eq!(found, [expected]);
    assert_eq!(mismatches(&pair(eventsource("Sold", "A"), eventsource("Sold", "B"), "")), [""; 0]);
}

#[test]
fn a_provider_with_several_folders_and_a_folder_of_several_providers_are_named() {
    let named = |provider: Guid, name: &str| {
        let metadata = schema("Sale").field(field("Amount", ty::UINT32));
        vec![event64(provider, 0, 0, T0 + 6).tracelogging(traits(name), metadata).payload(payload().u32(5)).on_disk()]
    };
    let found = mismatches(&pair(named(SHOP, "Shop"), named(SHOP, "Store"), ""));
    let expected = format!(
        "provider 5f0b6c1e-3c0a-5d7e-9a41-20c8a5e0f311 has several folders: Shop in a/events/Shop/{FILE}; Store in \
         b/events/Store/{FILE}"
    );
    assert_eq!(found, [expected]);
    let other = guid("aaaaaaaa-0000-1111-2222-333333333333");
    let found = mismatches(&pair(named(SHOP, "Shop"), named(other, "Shop"), ""));
    let expected = format!(
        "folder Shop holds several providers: 5f0b6c1e-3c0a-5d7e-9a41-20c8a5e0f311 in a/events/Shop/{FILE}; \
         aaaaaaaa-0000-1111-2222-333333333333 in b/events/Shop/{FILE}"
    );
    assert_eq!(found, [expected]);
}

/// Locks what is in `out`, converts both traces again under the lock, and says what does not bind then, and the lock.
fn locked(sandbox: &Sandbox) -> (Vec<String>, String) {
    sandbox.t("schema lock out -q -o lock.txt", 0);
    sandbox.t("convert a.etl b.etl -q -o again --schema-lock lock.txt --schema-lock-mode strict", 0);
    let lock = std::fs::read_to_string(sandbox.path("lock.txt")).unwrap();
    // What is locked stays locked: the same lock follows from what was converted under it.
    assert_eq!(sandbox.t("schema lock again/trace=b again/trace=a -q", 0).out, lock);
    sandbox.t("verify again -q", 0);
    let traces = published(&[sandbox.path("again")]).unwrap();
    let mismatches = compare(&traces, &NoProgress).unwrap().mismatches();
    let lines = lock.split_once("\n\n").unwrap().1;
    (mismatches.iter().map(ToString::to_string).collect(), lines.replace('\t', " "))
}

const SHOP_LINE: &str = "P 5f0b6c1e-3c0a-5d7e-9a41-20c8a5e0f311 Shop\n";

/// The payload columns of `Shop` in a trace, with the values of its first row.
fn shop(sandbox: &Sandbox, trace: &str) -> String {
    let table = sandbox.table(&format!("again/trace={trace}"), "events/Shop");
    let start = table.names.iter().position(|name| name == "recovered").unwrap() + 1;
    let columns = table.names.iter().zip(&table.rows[0]).skip(start);
    columns.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_lock_gives_a_number_and_a_text_two_columns() {
    let number = sale("Sale", [field("Amount", ty::UINT32)], payload().u32(5));
    let text = sale("Sale", [field("Amount", ty::UTF16Z)], payload().wstr("five"));
    for both in [vec![text.clone()], vec![number.clone(), text.clone()]] {
        let sandbox = pair(vec![number.clone()], both, "");
        assert_eq!(locked(&sandbox), (Vec::new(), format!("{SHOP_LINE}N Amount text int\n")));
        assert_eq!(shop(&sandbox, "a"), "Amount__int=5");
    }
    // Text that was declared and did not occur: the number keeps the name that it has.
    let metadata = [field("Amount", ty::UINT32), field("Code", ty::FILETIME)];
    let sandbox = pair(vec![number], vec![sale("Sale", metadata, payload().u32(5).u64(1 << 60))], "");
    let lines = format!("{SHOP_LINE}N Amount int\nN Code time/value/filetime\n");
    assert_eq!(locked(&sandbox), (Vec::new(), lines));
}

#[test]
fn a_lock_gives_spellings_structures_events_and_folders_one_form() {
    let upper = sale("Sale", [field("Foo", ty::UINT8)], payload().u8(5));
    let lower = sale("Sale", [field("foo", ty::UINT64)], payload().u64(6));
    let sandbox = pair(vec![upper], vec![lower], "");
    assert_eq!(locked(&sandbox), (Vec::new(), format!("{SHOP_LINE}N Foo int\n")));
    assert_eq!([shop(&sandbox, "a"), shop(&sandbox, "b")], ["Foo=5", "Foo=6"]);

    let one = structure("Item", [field("Code", ty::UINT32)]);
    let two = structure("Item", [field("Code", ty::UINT32), field("Price", ty::DOUBLE)]);
    let old = sale("Sale", [one], payload().u32(5));
    let sandbox = pair(vec![old], vec![sale("Sale", [two], payload().u32(5).f64(1.5))], "");
    let lines = format!("{SHOP_LINE}N Item struct\nN Item.Code int\nN Item.Price float\n");
    assert_eq!(locked(&sandbox), (Vec::new(), lines));
    assert_eq!([shop(&sandbox, "a"), shop(&sandbox, "b")], ["Item={5:-}", "Item={5:1.5}"]);

    let sandbox = pair(eventsource("Sold", "Amount"), eventsource("Sale", "Amount"), "");
    let (mismatches, lines) = locked(&sandbox);
    assert_eq!(mismatches, [""; 0]);
    // The events that carry the manifest have columns, too.
    assert!(
        lines.starts_with(&(SHOP_LINE.replace("Shop", "Synth-Shop") + "N Amount int\nN ChunkNumber int\n")),
        "{lines}"
    );
    assert!(lines.ends_with("\nE 1 0 Sale\nE 65534 1 ManifestData\n"), "{lines}");
    assert_eq!(sandbox.table("again/trace=a", "events/Synth-Shop").lines("event_name Amount")[1], "Sale|7");

    let named = |name: &str| {
        let metadata = schema("Sale").field(field("Amount", ty::UINT32));
        vec![event64(SHOP, 0, 0, T0 + 6).tracelogging(traits(name), metadata).payload(payload().u32(5)).on_disk()]
    };
    let sandbox = pair(named("Store"), named("Shop"), "");
    assert_eq!(locked(&sandbox), (Vec::new(), format!("{SHOP_LINE}N Amount int\n")));
}

/// An event of a class with one field, and what the trace says of it.
fn classic(opcode_name: &str, (name, in_type): (&str, u16), value: Payload) -> Vec<Vec<u8>> {
    const TASK: u32 = 0x70 + 24;
    let opcode = TASK + 10;
    let field = opcode + 2 * (u32::try_from(opcode_name.len()).unwrap() + 1);
    // TRACE_EVENT_INFO: the class, version 1 and opcode 5, described by MOF, one property.
    let head = payload().guid(SHOP).guid(SHOP).u16(0).u8(1).u8(0).u8(0).u8(5).u16(0).u64(0).u32(1);
    let head = head.u32(TASK).zeros(12).u32(TASK).u32(opcode).zeros(24).u32(1).u32(1).u32(0);
    let property = head.u32(0).u32(field).u16(in_type).u16(0).u32(0).u16(1).u16(0).u32(0);
    let blob = property.wstr("Shop").wstr(opcode_name).wstr(name).0;
    vec![
        synth::classic::full64(SHOP, 5, 1, T0 + 6).payload(value).on_disk(),
        synth::classic::event_info(T0 + 7, blob).on_disk(),
    ]
}

#[test]
fn a_lock_settles_classic_events_too() {
    let number = classic("Load", ("Amount", 8), payload().u32(5));
    let text = classic("Loaded", ("amount", 1), payload().wstr("five"));
    let sandbox = pair(number.clone(), text, "");
    let lines = format!("{SHOP_LINE}N Amount text int\nV 5 1 Shop/Load\n");
    assert_eq!(locked(&sandbox), (Vec::new(), lines));
    assert_eq!([shop(&sandbox, "a"), shop(&sandbox, "b")], ["Amount__int=5", "Amount=five"]);
    assert_eq!(sandbox.table("again/trace=b", "events/Shop").lines("event_name"), ["Shop/Load"]);
    let lock = std::fs::read_to_string(sandbox.path("lock.txt")).unwrap();
    sandbox.file("lock.txt", lock.replace("V\t5\t1", "V\t5\t2").as_bytes());
    let refused = sandbox.t("convert a.etl -o no --schema-lock lock.txt --schema-lock-mode strict", 5);
    let message = "the schema lock does not have 1 names of Shop: opcode 5 version 1 (Shop/Load)";
    assert!(refused.err.contains(message), "{}", refused.err);
    // A class of which nothing says what is in it has no names to settle.
    let unknown = || vec![synth::classic::full64(SHOP, 1, 0, T0 + 6).payload(payload().u32(5)).on_disk()];
    let sandbox = pair(unknown(), unknown(), "");
    assert_eq!(sandbox.t("schema lock out -q", 0).out, "# etl2parquet schema lock, format 1\n");
}

#[test]
fn all_columns_are_those_that_are_settled() {
    let sandbox = pair(eventsource("Sold", "Amount"), eventsource("Sold", "Price"), "--columns declared");
    let columns = |out: &str, trace: &str| {
        let names = sandbox.table(&format!("{out}/trace={trace}"), "events/Synth-Shop").names;
        let own = |name: &&str| ["Amount", "Price", "Unseen"].contains(name);
        names.iter().map(String::as_str).filter(own).collect::<Vec<_>>().join(" ")
    };
    // What nothing settles has all that its own trace declares.
    assert_eq!([columns("out", "a"), columns("out", "b")], ["Amount Unseen", "Price Unseen"]);
    sandbox.t("schema lock out -q -o lock.txt", 0);
    sandbox.t("convert a.etl b.etl -q -o again --schema-lock lock.txt --columns declared", 0);
    // No event has the other one, and no trace says so of the lock's columns.
    assert_eq!([columns("again", "a"), columns("again", "b")], ["Amount Price", "Amount Price"]);
}

#[test]
fn what_a_lock_does_not_have_is_said_or_refused() {
    let old = sale("Sale", [field("Amount", ty::UINT32)], payload().u32(5));
    let sandbox = pair(vec![old.clone()], vec![old], "");
    sandbox.t("schema lock out -q -o lock.txt", 0);
    let new = sale("Sale", [field("Amount", ty::UTF16Z), field("New", ty::DOUBLE)], payload().wstr("x").f64(0.5));
    let bytes = trace(header()).buffer(buffer(0x4000).sequence(1).events([new])).to_bytes();
    sandbox.file("c.etl", &bytes);
    sandbox.t("convert c.etl -q -o again --schema-lock lock.txt", 0);
    assert_eq!(shop(&sandbox, "c"), "Amount__text=x New=0.5");
    let issues = sandbox.table("again/trace=c", "sidecar/issues");
    let found: Vec<_> = issues.lines("severity code message").into_iter().filter(|it| it.contains("lock")).collect();
    let message = "the schema lock does not have 2 names of Shop: Amount (text), New (float)";
    assert_eq!(found, [format!("info|not_in_schema_lock|{message}")]);
    let manifest = std::fs::read_to_string(sandbox.path("again/trace=c/sidecar/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["options"]["schema_lock"].as_str().map(str::len), Some(64));
    let refused = sandbox.t("convert c.etl -o no --schema-lock lock.txt --schema-lock-mode strict", 5);
    assert!(refused.err.contains(message), "{}", refused.err);
    assert!(!sandbox.path("no/trace=c").exists());
    // A plan carries what the lock says: workers need no file.
    let plan = sandbox.t("plan c.etl -q -o steps --schema-lock lock.txt", 0).out;
    std::fs::remove_file(sandbox.path("lock.txt")).unwrap();
    sandbox.t(&format!("convert-partition -q {} 0", plan.trim()), 0);
    sandbox.t(&format!("commit -q {}", plan.trim()), 0);
    let without_run = |files: Vec<(String, Vec<u8>)>| -> Vec<_> {
        files.into_iter().filter(|(name, _)| name != "sidecar/manifest.json").collect()
    };
    assert!(without_run(sandbox.files("steps/trace=c")) == without_run(sandbox.files("again/trace=c")));
}

#[test]
fn what_is_no_lock_is_refused_with_its_place() {
    let sandbox = pair(vec![sale("Sale", [field("A", ty::UINT32)], payload().u32(5))], Vec::new(), "");
    let t = |content: &str, expected: &str| {
        sandbox.file("lock.txt", content.as_bytes());
        let refused = sandbox.t("convert a.etl -o no --schema-lock lock.txt", 2);
        assert!(refused.err.contains(expected), "{}", refused.err);
    };
    let first = "# etl2parquet schema lock, format 1\n";
    t("", "lock.txt: expected a schema lock: line 1: ");
    t(&format!("{first}N\tA\tint\n"), "lock.txt: expected a schema lock: line 2: ");
    t(
        &format!("{first}P\t{}\tShop\nN\tA\tnumber\n", "5f0b6c1e-3c0a-5d7e-9a41-20c8a5e0f311"),
        "line 3: column 5: family `number` of A",
    );
    sandbox.t("convert a.etl -o no --schema-lock missing.txt", 2);
    sandbox.t("schema lock nothing", 3);
}
