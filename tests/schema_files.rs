//! Files of the user that describe events and messages besides manifests and TMF files: PDBs, MOF, and the classes of
//! classic events that manifests name.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

#[path = "../crates/symbols/tests/common/writer.rs"]
mod pdb;
mod support;
mod synth;

use pdb::{SmallModule, SmallPdb, enumeration, msfz};
use support::Sandbox;
use synth::*;

const SOURCE: Guid = guid("01e9b841-7d67-315a-7b92-23b2033356de");
const GROUP: &str = "01e9b841-7d67-315a-7b92-23b2033356de Lab // SRC=Main.c MJ= MN=";
const TMF: &str = "TMF:";

/// The PDB of a program with two messages, one of which stands in two object files, and shows an enumeration.
fn program() -> SmallPdb {
    let state = "#typev Main_c10 10 \"%0state %10!s! of %11!d!\" //   LEVEL=INFO FUNC=Go";
    let arguments = ["{", "State, ItemEnum(Ns::State) -- 10", "Count, ItemLong -- 11", "}"];
    let first = [&[TMF, GROUP, state][..], &arguments].concat();
    let other =
        [TMF, GROUP, "#typev Main_c20 11 \"%0name %10!s!\" //", "{", "Name, ItemString -- 10", "}", "PUBLIC_TMF:"];
    let mut main = SmallModule { contributions: vec![(0, 0x40)], ..SmallModule::default() };
    main.procedure(0, 0x40, "main", &[]).annotation(&first);
    let mut library = SmallModule::default();
    library.annotation(&other).annotation(&first).annotation(&["TMC:", "d58c126f-b309-11d1-969e-0000f875a5bc", "Lab"]);
    let types = enumeration(0x1000, "Ns::State", &[(0, "Idle"), (7, "Busy")]);
    SmallPdb { dbi_age: 3, modules: vec![main, library], types, ..SmallPdb::default() }
}

/// Messages 10 twice, 11 and 12.
fn messages() -> Vec<Message> {
    let one = |number, at| message(number).guid(SOURCE).time(T0 + at).system_info(1, 2);
    vec![
        one(10, 1).arguments(payload().u32(7).u32(5)),
        one(10, 2).arguments(payload().u32(9).u32(6)),
        one(11, 3).arguments(payload().bytes(b"lab\0")),
        one(12, 4).arguments(payload().u32(1)),
    ]
}

fn recorded(events: &[Vec<u8>]) -> Vec<u8> {
    let mut data = buffer(0x4000);
    events.iter().for_each(|event| data.push(event));
    trace(header().buffer_size(0x4000)).buffer(data).to_bytes()
}

fn trace_of_messages() -> Vec<u8> {
    recorded(&messages().iter().map(OnDisk::on_disk).collect::<Vec<_>>())
}

const SHOWN: [&str; 4] = ["10|state Busy of 5|wpp", "10|state 0x9 of 6|wpp", "11|name lab|wpp", "12|-|none"];

fn shown(sandbox: &Sandbox) -> Vec<String> {
    sandbox.table("out/trace=a", "events/WPP").lines("event_id message decode_source")
}

#[test]
fn a_pdb_has_the_formats_of_messages() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &trace_of_messages());
    sandbox.file("bin/app.pdb", &program().msf());
    sandbox.file("z/app.pdb", &msfz(&program().streams()));
    for given in ["bin/app.pdb", "bin", "z/app.pdb"] {
        let said = sandbox.t(&format!("convert a.etl -o out --if-exists replace --no-store --schemas {given}"), 0).err;
        assert!(!said.contains("warning:"), "{said}");
        assert_eq!(shown(&sandbox), SHOWN, "{given}");
    }
    let record = std::fs::read_to_string(sandbox.path("out/trace=a/sidecar/manifest.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    assert_eq!(record["run"]["options"]["schemas"][0]["name"], "app.pdb");
}

#[test]
fn the_store_keeps_the_messages_of_a_pdb_once() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &trace_of_messages());
    sandbox.file("bin/app.pdb", &program().msf());
    sandbox.file("z/app.pdb", &msfz(&program().streams()));
    let mut reordered = program();
    reordered.modules.reverse();
    sandbox.file("again/new.pdb", &reordered.msf());
    let said = sandbox.t("schema import bin z again --store store", 0).out;
    assert!(
        said.starts_with("3 files read: 0 providers, 0 events, 6 messages, 0 rejected\n1 are new, 1 are in store"),
        "{said}"
    );
    let names = sandbox.names("store");
    let [file] = &names.iter().filter(|name| name.contains(".tmf")).collect::<Vec<_>>()[..] else {
        panic!("one file: {names:?}")
    };
    let text = std::fs::read_to_string(sandbox.path("store").join(file)).unwrap();
    let expected = format!(
        "{GROUP}\n#typev Main_c10 10 \"%0state %10!s! of %11!d!\" //   LEVEL=INFO FUNC=Go\n{{\n\
         State, ItemEnum(Ns::State) -- 10\nCount, ItemLong -- 11\n}}\n\
         #typev Main_c20 11 \"%0name %10!s!\" //\n{{\nName, ItemString -- 10\n}}\n\
         #enumv Ns::State\n{{\nIdle,0x0\nBusy,0x7\n}}\n"
    );
    assert_eq!(text, expected);
    sandbox.t("convert a.etl -o out --store store", 0);
    assert_eq!(shown(&sandbox), SHOWN);
}

#[test]
fn a_pdb_without_messages_is_no_schema() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &trace_of_messages());
    sandbox.file("plain.pdb", &pdb::sample().msf());
    let mut cut = program().msf();
    cut.truncate(3000);
    sandbox.file("cut.pdb", &cut);
    let said = sandbox.t("convert a.etl -o out --schemas plain.pdb", 2).err;
    assert!(said.contains("plain.pdb: expected formats of WPP messages in a PDB, found none"), "{said}");
    let said = sandbox.t("convert a.etl -o out --schemas cut.pdb", 2).err;
    assert!(said.contains("cut.pdb: expected a PDB that can be read: "), "{said}");
}

const LAB: Guid = guid("b49d5931-ad85-4070-b1b1-3f81f1532875");

const MOF: &str = r#"
#pragma namespace ("\\\\.\\Root\\WMI")
[Dynamic, Guid("{3f92e6e0-9886-434e-85db-0d11d3904c0a}")]
class Lab : EventTrace { [Values{"All"}, ValueMap{"0x1"}] uint32 Flags; };
[Dynamic, Guid("{b49d5931-ad85-4070-b1b1-3f81f1532875}"), EventVersion(1), DisplayName("Work") : amended]
class Lab_Work : Lab {};
[Dynamic, EventType{10, 11}, EventTypeName{"Go", "Halt"} : amended]
class Lab_Work_Go : Lab_Work
{
    [WmiDataId(2), format("w"), StringTermination("NullTerminated"), read] string Name;
    [WmiDataId(1), pointer, read] uint32 Handle;
    [WmiDataId(3), extension("Guid"), read] object Id;
    [WmiDataId(4), read] uint16 Count;
    [WmiDataId(5), WmiSizeIs("Count"), read] uint32 Sizes[];
    [WmiDataId(6), ValueMap{"1", "2"}, Values{"One", "Two"}, read] uint8 Kind;
    [WmiDataId(7), format("s"), read] char16 Code[4];
};
"#;

/// An event of the class above.
fn work(event: Classic, pointer: Payload) -> Vec<u8> {
    let values = pointer.wstr("lab").guid(LAB).u16(2).u32(8).u32(9).u8(2).bytes(b"X\0Y\0\0\0Z\0");
    event.payload(values).on_disk()
}

#[test]
fn mof_describes_classic_events() {
    let sandbox = Sandbox::new();
    let longer = full64(LAB, 10, 2, T0 + 3)
        .payload(payload().u64(1).wstr("").guid([0; 16]).u16(0).u8(9).bytes(&[0; 8]).u32(77))
        .on_disk();
    let events = [
        work(full64(LAB, 10, 1, T0 + 1), payload().u64(0x0000_7FF0_0000_0001)),
        work(full32(LAB, 11, 1, T0 + 2), payload().u32(0x10)),
        longer,
        full64(LAB, 10, 0, T0 + 4).payload(payload().u64(1)).on_disk(),
    ];
    sandbox.file("a.etl", &recorded(&events));
    sandbox.file("lab.mof", MOF.as_bytes());
    let said = sandbox.t("convert a.etl -o out --no-store --schemas lab.mof", 0).err;
    assert!(!said.contains("lab.mof"), "{said}");
    let table = sandbox.table("out/trace=a", "events/Lab-Work");
    let expected = [
        "Work/Go|140668768878593|lab|b49d5931-ad85-4070-b1b1-3f81f1532875|[8,9]|2|XY|user|ok",
        "Work/Halt|16|lab|b49d5931-ad85-4070-b1b1-3f81f1532875|[8,9]|2|XY|user|ok",
    ];
    let found = table.lines("event_name Handle Name Id Sizes Kind Code decode_source decode_status");
    assert_eq!(found[..2], expected, "{found:?}");
    // A later version goes on behind what is described; an earlier one is another.
    let catalog = sandbox.table("out/trace=a", "sidecar/catalog");
    let found = catalog.lines("event_version opcode decode_source schema_origin");
    let found: Vec<&String> = found.iter().filter(|line| line.contains("|10|")).collect();
    assert_eq!(found, ["0|10|none|-", "1|10|user|lab.mof", "2|10|user|lab.mof, version 1 in place of 2"]);
    assert_eq!(
        sandbox.t("schema import lab.mof --store store", 0).out.lines().next(),
        Some("1 files read: 1 providers, 2 events, 0 messages, 0 rejected")
    );
    let said = sandbox.t("schema show Lab-Work Go --store store", 0).out;
    assert!(said.contains("Handle") && said.contains("store/lab.mof"), "{said}");
    sandbox.t("convert a.etl -o again --store store", 0);
    assert_eq!(sandbox.table("again/trace=a", "events/Lab-Work").rows.len(), 4);
}

const MANIFEST: &str = r#"<instrumentationManifest><instrumentation><events>
<provider name="Lab" guid="{3f92e6e0-9886-434e-85db-0d11d3904c0a}" symbol="LAB">
<opcodes><opcode name="Go" value="12"/><opcode name="Old" value="13" mofValue="40"/></opcodes>
<tasks>
  <task name="Work" value="1" eventGUID="{b49d5931-ad85-4070-b1b1-3f81f1532875}">
    <opcodes><opcode name="Own" value="14" mofValue="41"/></opcodes></task>
  <task name="Rest" value="2"/>
</tasks>
<events>
  <event value="1" task="Work" opcode="Go" template="T"/>
  <event value="2" task="Work" opcode="Old" template="T" version="1"/>
  <event value="3" task="Work" opcode="Own" template="U"/>
  <event value="4" task="Rest" opcode="Go" template="U"/>
</events>
<templates>
  <template tid="T"><data name="Handle" inType="win:Pointer"/><data name="Name" inType="win:UnicodeString"/></template>
  <template tid="U"><data name="Count" inType="win:UInt32"/></template>
</templates>
</provider></events></instrumentation></instrumentationManifest>"#;

#[test]
fn a_manifest_describes_the_classic_events_of_its_tasks() {
    let sandbox = Sandbox::new();
    let named =
        |opcode, version, at| full64(LAB, opcode, version, T0 + at).payload(payload().u64(5).wstr("lab")).on_disk();
    let provider = guid("3f92e6e0-9886-434e-85db-0d11d3904c0a");
    let events = [
        named(12, 0, 1),
        named(40, 1, 2),
        full64(LAB, 41, 0, T0 + 3).payload(payload().u32(7)).on_disk(),
        named(13, 1, 4),
        event64(provider, 3, 0, T0 + 5).opcode(14).payload(payload().u32(8)).on_disk(),
    ];
    sandbox.file("a.etl", &recorded(&events));
    sandbox.file("lab.man", MANIFEST.as_bytes());
    sandbox.t("convert a.etl -o out --no-store --schemas lab.man", 0);
    let table = sandbox.table("out/trace=a", "events/Lab-Work");
    let found = table.lines("opcode event_name Handle Name Count decode_source decode_status");
    let expected = [
        "12|Work/Go|5|lab|-|user|ok",
        "40|Work/Old|5|lab|-|user|ok",
        "41|Work/Own|-|-|7|user|ok",
        "13|-|-|-|-|none|no_schema",
    ];
    assert_eq!(found, expected);
    let own = sandbox.table("out/trace=a", "events/Lab").lines("event_id Count decode_source");
    assert_eq!(own, ["3|8|user"]);
    let said = sandbox.t("schema show Lab-Work --no-store --schemas lab.man", 0).out;
    assert!(said.contains("classic") && said.contains("Work/Old"), "{said}");
}

const IMAGE: Guid = guid("2cb15d1d-5fc1-11d2-abe1-00a0c911f518");
const IMAGE_ID: Guid = guid("b3e675d7-2554-4f18-830b-2762732560de");

/// A module of process 7 at a base, with the identity of its PDB.
fn module(base: u64, name: &str, pdb: (Guid, u32, &str)) -> Vec<Vec<u8>> {
    let (guid, age, path) = pdb;
    let ids = payload().u64(base).u64(0x1000).u32(7).u32(0).u32(0x6000_0000).u32(0);
    let rest = ids.u64(base).u32(0).u32(0).u32(0).u32(0).wstr(&format!("\\Device\\Disk\\{name}"));
    let id = payload().u64(base).u32(7).bytes(&guid).u32(age).bytes(path.as_bytes()).u8(0);
    vec![full64(IMAGE, 3, 2, T0 + 1).payload(rest).on_disk(), full64(IMAGE_ID, 36, 2, T0 + 2).payload(id).on_disk()]
}

#[test]
fn the_pdbs_of_traces_are_found_by_their_identities() {
    let sandbox = Sandbox::new();
    let app = module(0x10_0000, "app.exe", ([1; 16], 3, "D:\\build\\app.pdb"));
    let other = module(0x20_0000, "other.dll", ([2; 16], 1, "other.pdb"));
    let unknown = message(5).guid(LAB).time(T0 + 9).arguments(payload().u32(1)).on_disk();
    let events = [app, other, messages().iter().map(OnDisk::on_disk).collect(), vec![unknown]].concat();
    sandbox.file("a.etl", &recorded(&events));
    let id = format!("{}3", "01".repeat(16));
    sandbox.file(&format!("symbols/app.pdb/{id}/app.pdb"), &program().msf());
    // Of another build.
    sandbox.file("symbols/other.pdb", &program().msf());
    sandbox.t("convert a.etl -o out --no-store", 0);
    let said = sandbox.t("schema import --of out --symbol-path symbols --store store", 0).out;
    let shown_lines: Vec<String> =
        said.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let missing = format!("other.dll other.pdb {}1 mismatch: {id}", "02".repeat(16));
    let expected = [
        "lacking 4 formats, for 5 messages",
        "found 2 formats, for 3 messages, in 1 symbol file",
        "symbol files of 1 of 2 modules",
        "",
        "STILL LACKING NUMBER MESSAGES",
        "01e9b841-7d67-315a-7b92-23b2033356de 12 1",
        "b49d5931-ad85-4070-b1b1-3f81f1532875 5 1",
        "",
        "MODULE SYMBOL FILE ID WHY",
        &missing,
        "",
        "1 files read: 0 providers, 0 events, 2 messages, 0 rejected",
    ];
    assert_eq!(shown_lines[..12], expected, "{said}");
    sandbox.t("convert a.etl -o out --if-exists replace --store store", 0);
    assert_eq!(shown(&sandbox)[..4], SHOWN);
    // Nothing is lacking any more but what no file has.
    let said = sandbox.t("schema import --of out --symbol-path symbols --store store", 0).out;
    assert!(said.contains("0 are new, 1 are in store"), "{said}");
}
