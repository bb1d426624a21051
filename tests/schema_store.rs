//! Schemas that users give, through the whole tool: with `--schemas`, and from the store.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

#[path = "support/corpus.rs"]
mod corpus;
mod synth;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use corpus::corpus;
use parquet::file::reader::{FileReader, SerializedFileReader};
use synth::*;
use tempfile::TempDir;

/// Of every buffer of the traces.
const SIZE: usize = 65536;

const LAB: &str = "11111111-2222-3333-4444-555555555555";

const MANIFEST: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
 <instrumentation><events>
  <provider name="Lab-Widgets" guid="{11111111-2222-3333-4444-555555555555}">
   <tasks><task name="Widget" value="1"/></tasks>
   <keywords><keyword name="Parts" mask="0x10"/></keywords>
   <maps>
    <valueMap name="Color"><map value="1" message="$(string.red)"/><map value="2" message="$(string.green)"/></valueMap>
    <bitMap name="Traits"><map value="0x1" message="$(string.heavy)"/><map value="0x4" message="$(string.sharp)"/></bitMap>
   </maps>
   <templates>
    <template tid="Made">
     <data name="Name" inType="win:UnicodeString"/>
     <data name="Color" inType="win:UInt8" map="Color"/>
     <data name="Traits" inType="win:UInt32" map="Traits"/>
     <data name="From" inType="win:UInt32" outType="win:IPv4"/>
     <data name="Count" inType="win:UInt16"/>
     <data name="Sizes" inType="win:UInt32" count="Count"/>
     <data name="Opcode" inType="win:UInt16"/>
    </template>
    <template tid="Sold"><data name="Name" inType="win:UInt32"/><data name="Left" inType="win:Sprocket"/></template>
   </templates>
   <events>
    <event value="1" version="0" level="win:Informational" task="Widget" opcode="win:Start" keywords="Parts" template="Made" message="$(string.made)"/>
    <event value="2" version="0" level="win:Warning" task="Widget" opcode="win:Stop" template="Sold"/>
    <event value="3" version="0" template="Nowhere"/>
   </events>
  </provider>
 </events></instrumentation>
 <localization><resources culture="en-US"><stringTable>
  <string id="red" value="Red"/><string id="green" value="Green"/><string id="heavy" value="Heavy"/>
  <string id="sharp" value="Sharp"/><string id="made" value="Widget %1 was made"/>
 </stringTable></resources></localization>
</instrumentationManifest>
"#;

const TMF: &str = "// PDB:  lab.pdb\n\
    01e9b841-7d67-315a-7b92-23b2033356de Lab-Driver // SRC=Main.c MJ= MN=\n\
    #typev Main_c141 10 \"%0[%!FUNC!] took %10!d! of %11!s!\" //   LEVEL=ERROR FLAGS=MAIN FUNC=Run\n\
    {\n\
    count, ItemLong -- 10\n\
    parts[0], ItemListByte(Cogs,Wheels) -- 11\n\
    }\n";

/// A folder to work in, and the tool in an environment where the store lies in that folder too.
struct Bench {
    folder: TempDir,
}

/// What the tool said.
struct ToolOutput {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Bench {
    fn new() -> Bench {
        let bench = Bench { folder: tempfile::tempdir().unwrap() };
        bench.write("lab.man", MANIFEST);
        bench.write("lab.tmf", TMF);
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), bytes).unwrap();
    }

    /// Runs the tool in the folder; texts lose the folder's name.
    fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>, variables: &[(&str, &str)]) -> ToolOutput {
        let mut command = Command::new(env!("CARGO_BIN_EXE_etl2parquet"));
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("ETL2PARQUET_")) {
            command.env_remove(name);
        }
        command.current_dir(self.folder.path()).args(arguments).envs(variables.iter().copied());
        command.env("XDG_DATA_HOME", self.folder.path()).env("APPDATA", self.folder.path());
        let Output { status, stdout, stderr } = command.output().expect("the program starts");
        let folder = format!("{}{}", self.folder.path().display(), std::path::MAIN_SEPARATOR);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replace(&folder, "").replace('\\', "/");
        ToolOutput { code: status.code().unwrap(), stdout: text(stdout), stderr: text(stderr) }
    }

    fn tool(&self, line: &str) -> ToolOutput {
        self.run(line.split(' '), &[])
    }

    /// Runs what must succeed, and returns its report.
    fn good(&self, line: &str) -> String {
        let said = self.tool(line);
        assert_eq!(said.code, 0, "{line}\n{}", said.stderr);
        said.stdout
    }

    fn json(&self, line: &str) -> serde_json::Value {
        serde_json::from_str(&self.good(line)).unwrap()
    }

    fn manifest(&self, trace: &str) -> serde_json::Value {
        serde_json::from_slice(&fs::read(self.path(trace).join("sidecar/manifest.json")).unwrap()).unwrap()
    }
}

/// The named columns of a dataset's first file, one line per row.
fn rows(trace: &Path, dataset: &str, columns: &str) -> Vec<String> {
    let file = File::open(trace.join("events").join(dataset).join("part-00000-00000.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap);
    let show = |row: parquet::record::Row| {
        let cell =
            |name: &str| row.get_column_iter().find(|(column, _)| *column == name).map(|(_, cell)| cell.to_string());
        columns
            .split(' ')
            .map(|name| cell(name).unwrap_or_else(|| panic!("no column {name}")))
            .collect::<Vec<_>>()
            .join("|")
    };
    rows.map(show).collect()
}

/// A trace with two events of the manifest's provider.
fn widgets() -> Vec<u8> {
    let made = |name: &str, color: u8, traits: u32, sizes: &[u32]| {
        let head =
            payload().wstr(name).u8(color).u32(traits).bytes(&[10, 0, 0, 7]).u16(u16::try_from(sizes.len()).unwrap());
        sizes.iter().fold(head, |payload, &size| payload.u32(size)).u16(77)
    };
    let event = |time, payload: Payload| event64(guid(LAB), 1, 0, T0 + time).task(1).opcode(1).payload(payload);
    let events = [event(1, made("cog", 2, 5, &[4, 9])), event(2, made("", 7, 0x12, &[]))];
    trace(header().buffer_size(65536)).buffer(buffer(SIZE).events(events)).to_bytes()
}

#[test]
fn a_manifest_gives_names_types_and_maps() {
    let bench = Bench::new();
    bench.write("w.etl", widgets());
    let said = bench.tool("convert w.etl -o out --schemas lab.man");
    assert_eq!(said.code, 0, "{}", said.stderr);
    let warnings: Vec<_> = said.stderr.lines().filter(|line| line.starts_with("warning: ")).collect();
    let expected = [
        "warning: lab.man, line 21: expected a known inType, found \"win:Sprocket\"",
        "warning: lab.man, line 26: expected template \"Nowhere\" of event 3, found none",
    ];
    assert_eq!(warnings, expected);
    let columns = "event_name decode_source decode_status Name Color Color_label Traits Traits_label From Count Sizes Opcode__field";
    let expected = [
        r#""Widget/Start"|"user"|"ok"|"cog"|2|"Green"|5|"Heavy|Sharp"|"10.0.0.7"|2|[4, 9]|77"#,
        r#""Widget/Start"|"user"|"ok"|""|7|null|18|"0x12"|"10.0.0.7"|0|[]|77"#,
    ];
    assert_eq!(rows(&bench.path("out/trace=w"), "Lab-Widgets", columns), expected);
    let without = bench.json("inspect w.etl --json -q");
    assert_eq!(without["traces"][0]["decodable_events"], 1, "the header event");
}

#[test]
fn the_store_is_used_behind_the_files_given() {
    let bench = Bench::new();
    bench.write("w.etl", widgets());
    let source = |line: &str| {
        let name = line.replace([' ', '-'], "");
        bench.good(&format!("convert w.etl -o {name} {line} -q"));
        let manifest = bench.manifest(&format!("{name}/trace=w"));
        let origins = rows_of_catalog(&bench.path(&name).join("trace=w"));
        (manifest["options"]["schemas_hash"].clone(), manifest["options_hash"].clone(), origins)
    };
    let absent = source("--threads 1");
    assert_eq!((&absent.0, absent.2.as_str()), (&serde_json::Value::Null, "none|null"));
    assert_eq!(bench.tool("schema import lab.man").code, 4);
    let stored = source("--threads 2");
    assert_eq!(stored.2, r#"user|"store/lab.man""#);
    let given = source("--schemas lab.man");
    assert_eq!(given.2, r#"user|"lab.man""#);
    let ignored = source("--no-store --threads 2");
    assert_eq!(ignored, absent);
    let only_given = source("--no-store --schemas lab.man");
    let hashes = [&absent.1, &stored.1, &given.1, &only_given.1];
    for (position, hash) in hashes.iter().enumerate() {
        assert!(!hashes[..position].contains(hash), "{hashes:?}");
    }
    assert_eq!(source("--store elsewhere").1, absent.1);
}

/// Decode source and origin of the provider's one shape.
fn rows_of_catalog(trace: &Path) -> String {
    let reader = SerializedFileReader::new(File::open(trace.join("sidecar/catalog.parquet")).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap);
    let cells = |row: parquet::record::Row| {
        let cell = |name: &str| row.get_column_iter().find(|(column, _)| *column == name).unwrap().1.to_string();
        [cell("provider_id"), cell("decode_source"), cell("schema_origin")]
    };
    let own = rows.map(cells).find(|cells| cells[0].contains(LAB)).unwrap();
    format!("{}|{}", own[1].trim_matches('"'), own[2])
}

#[test]
fn schemas_in_a_searched_folder_describe_its_traces() {
    let bench = Bench::new();
    bench.write("in/w.etl", widgets());
    let convert = |line: &str| {
        let said = bench.tool(&format!("convert {line} -o out --if-exists update"));
        assert_eq!(said.code, 0, "{}", said.stderr);
        let manifest = bench.manifest("out/trace=w");
        let schemas = &manifest["run"]["options"]["schemas"];
        let names: Vec<_> = schemas.as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap()).collect();
        (rows_of_catalog(&bench.path("out/trace=w")), names.join(" "), said.stderr)
    };
    let (origin, names, _) = convert("in");
    assert_eq!((&*origin, &*names), ("none|null", ""));
    // What comes beside a trace later describes it from then on; what only looks like a schema is named.
    bench.write("in/deep/Lab.MAN", MANIFEST);
    bench.write("in/page.man", ".TH PAGE 1");
    bench.write("in/lab.xml", MANIFEST);
    let (origin, names, stderr) = convert("in");
    assert_eq!((&*origin, &*names), (r#"user|"deep/Lab.MAN""#, "deep/Lab.MAN"));
    let taken = "beside the traces: 1 schema file, deep/Lab.MAN first (--schemas none leaves them alone)";
    assert!(stderr.contains(taken), "{stderr}");
    let left_out = "in/page.man: left out: expected an instrumentation manifest (XML), a TMF file, MOF, a PDB or a binary, found none of them";
    assert!(stderr.contains(left_out), "{stderr}");
    let passed_over = "in: 1 file is not read: not called like a trace or an archive (lab.xml)";
    assert!(stderr.contains(passed_over), "{stderr}");
    assert!(convert("in").2.contains("unchanged: 1 trace"));
    let hash = |file: &str| blake3::hash(&fs::read(bench.path(file)).unwrap()).to_hex().to_string();
    let recorded = &bench.manifest("out/trace=w")["run"]["options"]["schemas"];
    assert_eq!(*recorded, serde_json::json!([{ "name": "deep/Lab.MAN", "blake3": hash("in/deep/Lab.MAN") }]));
    // Files that are named come first, and alone unless more is asked for; a trace that is named is not searched for.
    bench.write("other.man", MANIFEST.replace("Widget %1", "A widget %1"));
    let not_read = "beside the traces, not read: 2 schema files, deep/Lab.MAN first (--schemas auto reads them)";
    for (line, expected_origin, expected_names, is_said) in [
        ("in --schemas other.man", r#"user|"other.man""#, "other.man", true),
        ("in --schemas auto --schemas other.man", r#"user|"other.man""#, "other.man deep/Lab.MAN", false),
        ("in --schemas none", "none|null", "", true),
        ("in/w.etl", "none|null", "", false),
        ("in/*.etl", "none|null", "", false),
        ("i*", r#"user|"in/deep/Lab.MAN""#, "in/deep/Lab.MAN", false),
    ] {
        let (origin, names, stderr) = convert(line);
        assert_eq!((&*origin, &*names), (expected_origin, expected_names), "{line}");
        assert_eq!(stderr.contains(not_read), is_said, "{line}: {stderr}");
    }
    for command in ["inspect in --json -q", "inspect in --json -q --schemas auto"] {
        assert_eq!(bench.json(command)["traces"][0]["decodable_events"], 3, "{command}");
    }
    bench.good("report in -o r.html -q");
    assert!(fs::read_to_string(bench.path("r.html")).unwrap().contains("Widget/Start"));
    let said = bench.tool("convert in -o out --schemas none --schemas other.man");
    assert_eq!(said.code, 2, "{}", said.stderr);
}

#[test]
fn the_variable_names_files_too() {
    let bench = Bench::new();
    bench.write("w.etl", widgets());
    let both = std::env::join_paths(["lab.tmf", "lab.man"]).unwrap();
    let said = bench.run(["inspect", "w.etl", "--json"], &[("ETL2PARQUET_SCHEMAS", both.to_str().unwrap())]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let facts: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(facts["traces"][0]["providers"][0]["decode_sources"], serde_json::json!({ "user": 2 }));
}

#[test]
fn what_is_no_schema_is_refused_or_left_out() {
    let bench = Bench::new();
    bench.write("w.etl", widgets());
    bench.write("more/notes.txt", "hello");
    bench.write("more/deep/lab.xml", MANIFEST);
    for (path, message) in [
        (
            "w.etl",
            "w.etl: expected an instrumentation manifest (XML), a TMF file, MOF, a PDB or a binary, found none of them",
        ),
        ("none.man", "none.man: the schemas cannot be read"),
    ] {
        let said = bench.tool(&format!("convert w.etl -o out --schemas {path}"));
        assert_eq!(said.code, 2, "{path}");
        assert!(said.stderr.contains(message), "{}", said.stderr);
        assert!(!bench.path("out").exists());
    }
    let said = bench.tool("schema list --provider Lab* --schemas more");
    assert_eq!((said.code, said.stdout.lines().count()), (0, 2), "{}", said.stderr);
    let left_out = "more/notes.txt: left out: expected an instrumentation manifest (XML), a TMF file, MOF, a PDB or a binary, found none of them";
    assert!(said.stderr.contains(left_out), "{}", said.stderr);
}

#[test]
fn import_reports_every_rejected_line() {
    let bench = Bench::new();
    let broken = TMF.replace("count, ItemLong -- 10", "nonsense") + "what is this\n";
    bench.write("broken.tmf", broken);
    let said = bench.tool("schema import lab.man broken.tmf");
    assert_eq!(said.code, 4);
    let expected = "warning: lab.man, line 21: expected a known inType, found \"win:Sprocket\"\n\
                    warning: lab.man, line 26: expected template \"Nowhere\" of event 3, found none\n\
                    warning: broken.tmf, line 5: expected an argument and its number, found \"nonsense\"\n\
                    warning: broken.tmf, line 8: expected the GUID of a group, a message or a comment\n";
    assert_eq!(said.stderr, expected);
    let report =
        "2 files read: 1 providers, 2 events, 1 messages, 4 rejected\n2 are new, 2 are in etl2parquet/schemas\n";
    assert_eq!(said.stdout, report);
    let again = bench.tool("schema import lab.man");
    assert!(again.stdout.ends_with("0 are new, 2 are in etl2parquet/schemas\n"), "{}", again.stdout);
    assert_eq!(bench.tool("schema import Cargo.toml").code, 2);
}

/// A bench whose store holds the manifest and the TMF file.
fn stocked() -> Bench {
    let bench = Bench::new();
    assert_eq!(bench.tool("schema import lab.man lab.tmf").code, 4);
    bench
}

#[test]
fn list() {
    let bench = stocked();
    insta::assert_snapshot!(bench.good("schema list --provider lab*"));
    insta::assert_snapshot!("list_json", bench.good("schema list --provider lab* --json"));
}

#[test]
fn show_provider() {
    insta::assert_snapshot!(stocked().good("schema show lab-widgets"));
}

#[test]
fn show_event() {
    let bench = stocked();
    insta::assert_snapshot!(bench.good("schema show lab-widgets widget/start"));
    insta::assert_snapshot!("show_event_json", bench.good(&format!("schema show {{{LAB}}} 2 --json")));
}

#[test]
fn show_message() {
    insta::assert_snapshot!(stocked().good("schema show 01e9b841-7d67-315a-7b92-23b2033356de 10"));
}

#[test]
fn show_kernel_event() {
    let bench = Bench::new();
    insta::assert_snapshot!(bench.good("schema show kernel-process 39"));
    let (by_number, by_name) =
        (bench.good("schema show Kernel-Process 1"), bench.good("schema show Kernel-Process Start"));
    assert_eq!(by_number, by_name);
}

#[test]
fn export() {
    let bench = stocked();
    insta::assert_snapshot!(bench.good("schema export"));
    let whole = bench.json("schema export lab-driver/main.c");
    assert_eq!(whole["providers"].as_array().unwrap().len(), 1);
    assert_eq!(bench.good("schema export lab-* -o facts.json"), "");
    assert_eq!(fs::read_to_string(bench.path("facts.json")).unwrap(), bench.good("schema export"));
    let said = bench.tool("schema show nobody");
    assert_eq!((said.code, said.stdout.as_str()), (2, ""));
}

/// What `schema show` says of columns is what a conversion writes.
#[test]
fn shown_columns_are_those_of_a_conversion() {
    let bench = stocked();
    bench.write("w.etl", widgets());
    bench.good("convert w.etl -o out -q --columns declared");
    let folder = bench.path("out/trace=w/events/Lab-Widgets/part-00000-00000.parquet");
    let reader = SerializedFileReader::new(File::open(folder).unwrap()).unwrap();
    let written: Vec<_> =
        reader.metadata().file_metadata().schema().get_fields().iter().map(|field| field.name().to_owned()).collect();
    let mut shown: Vec<String> = Vec::new();
    for event in [1, 2] {
        let document = bench.json(&format!("schema show lab-widgets {event} --json"));
        let columns = &document["providers"][0]["known_events"][0]["layouts"][0]["columns"];
        let names = columns.as_array().unwrap().iter().filter_map(|column| column["column"].as_str());
        shown.extend(names.map(str::to_owned));
    }
    let payload = written.iter().skip_while(|name| *name != "recovered").skip(1).cloned().collect::<Vec<_>>();
    // Shown event by event, written in the order of names.
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    assert_eq!(sorted(shown), sorted(payload));
}

const DRIVER: &str = "0b6c077e-f983-3543-6bbc-baec3455628b";

/// 12 hours after midnight, as FILETIME.
const NOON: [u8; 8] = (START + 432_000_000_000).to_le_bytes();

/// Item type, its insertion, the bytes, the text, the argument.
const ITEMS: [(&str, &str, &[u8], &str, &str); 52] = [
    ("ItemChar", "%10!d!", b"\xfe", "-2", "-2"),
    ("ItemUChar", "%10!u!", b"\xfe", "254", "254"),
    ("ItemShort", "%10!d!", b"\xfe\xff", "-2", "-2"),
    ("ItemUShort", "%10!x!", b"\xfe\xff", "fffe", "65534"),
    ("ItemLong", "%10!d!", b"\xfe\xff\xff\xff", "-2", "-2"),
    ("ItemLong", "%10!08X!", b"\xef\xbe\0\0", "0000BEEF", "48879"),
    ("ItemLong", "%10!u!", b"\0\x28\x6b\xee", "4000000000", "4000000000"),
    ("ItemULong", "%10!u!", b"\xfe\xff\xff\xff", "4294967294", "4294967294"),
    ("ItemULongX", "%10!x!", b"\xef\xbe\0\0", "beef", "0xbeef"),
    ("ItemLongLong", "%10!I64d!", b"\xfe\xff\xff\xff\xff\xff\xff\xff", "-2", "-2"),
    ("ItemULongLong", "%10!I64u!", b"\x01\0\0\0\x01\0\0\0", "4294967297", "4294967297"),
    ("ItemLongLongX", "%10!I64x!", b"\x01\0\0\0\x01\0\0\0", "100000001", "0x100000001"),
    ("ItemLongLongXX", "%10!I64X!", b"\xab\0\0\0\x01\0\0\0", "1000000AB", "0x1000000ab"),
    ("ItemLongLongO", "%10!I64o!", b"\x0a\0\0\0\0\0\0\0", "12", "10"),
    ("ItemDouble", "%10!s!", b"\0\0\0\0\0\0\xf4\x3f", "1.25", "1.25"),
    ("ItemDouble", "%10!s!", b"\0\0\0\0\x87\xd6\x32\x41", "1.23457e+06", "1234567"),
    ("ItemTimestamp", "%10!s!", &NOON, "2025-01-01T12:00:00.0000000Z", "2025-01-01T12:00:00.0000000Z"),
    ("ItemTimeDelta", "%10!s!", b"\x11\x27\0\0\0\0\0\0", "1ms", "1.0001ms"),
    ("ItemWaitTime", "%10!s!", &NOON, "2025-01-01T12:00:00.0000000Z", "2025-01-01T12:00:00.0000000Z"),
    ("ItemPtr", "%10!p!", b"\x10\0\0\0\x80\xf8\xff\xff", "FFFFF88000000010", "0xfffff88000000010"),
    ("ItemListByte(Low,High)", "%10!s!", b"\x01", "0x00000001(High)", "0x00000001(High)"),
    ("ItemListShort(Low,High)", "%10!s!", b"\0\0", "0x00000000(Low)", "0x00000000(Low)"),
    ("ItemListLong(FALSE,TRUE)", "%10!s!", b"\x05\0\0\0", "0x00000005", "0x00000005"),
    ("ItemListLong(A,B=5)", "%10!s!", b"\x05\0\0\0", "0x00000005(B)", "0x00000005(B)"),
    ("ItemSetByte(R,W)", "%10!s!", b"\x03", "[R,W]", "[R,W]"),
    ("ItemSetShort(R,W)", "%10!s!", b"\x02\0", "[W]", "[W]"),
    ("ItemSetLong(R,W)", "%10!s!", b"\x05\0\0\0", "[R,0x4]", "[R,0x4]"),
    ("ItemEnum(Kind)", "%10!s!", b"\x02\0\0\0", "KindTwo", "KindTwo"),
    ("ItemFlagsEnum(Kind)", "%10!s!", b"\x03\0\0\0", "KindOne | KindTwo(0x3)", "KindOne | KindTwo(0x3)"),
    ("ItemNTSTATUS", "%10!s!", b"\x22\0\0\xc0", "0xc0000022(STATUS_ACCESS_DENIED)", "0xc0000022(STATUS_ACCESS_DENIED)"),
    ("ItemWINERROR", "%10!s!", b"\x05\0\0\0", "5(ERROR_ACCESS_DENIED)", "5(ERROR_ACCESS_DENIED)"),
    ("ItemHRESULT", "%10!s!", b"\x05\0\x07\x80", "0x80070005(ERROR_ACCESS_DENIED)", "0x80070005(ERROR_ACCESS_DENIED)"),
    (
        "ItemNDIS_STATUS",
        "%10!s!",
        b"\x0b\0\x01\x40",
        "0x4001000b(NDIS_STATUS_MEDIA_CONNECT)",
        "0x4001000b(NDIS_STATUS_MEDIA_CONNECT)",
    ),
    (
        "ItemNDIS_OID",
        "%10!s!",
        b"\x01\x01\x01\0",
        "0x00010101(OID_GEN_SUPPORTED_LIST)",
        "0x00010101(OID_GEN_SUPPORTED_LIST)",
    ),
    ("ItemChar4", "%10!s!", b"NV12", "NV12", "NV12"),
    ("ItemPort", "%10!s!", b"\x1f\x90", "8080", "8080"),
    ("ItemIPAddr", "%10!s!", b"\xc0\xa8\x01\x02", "192.168.1.2", "192.168.1.2"),
    ("ItemIPV6Addr", "%10!s!", b"\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x05", "2001:db8::5", "2001:db8::5"),
    ("ItemMACAddr", "%10!s!", b"\x02\x42\xac\x11\0\x02", "02-42-AC-11-00-02", "02-42-AC-11-00-02"),
    ("ItemGuid", "%10!s!", &guid(LAB), LAB, LAB),
    ("ItemCLSID", "%10!s!", &guid(LAB), LAB, LAB),
    ("ItemLIBID", "%10!s!", &guid(LAB), LAB, LAB),
    ("ItemIID", "%10!s!", &guid(LAB), LAB, LAB),
    ("ItemString", "%10!s!", b"plain\0", "plain", "plain"),
    ("ItemString", "%10!s!", b"\0", "", ""),
    ("ItemRString", "%10!s!", b"line\r\n\0", "line", "line\r\n"),
    ("ItemWString", "%10!s!", b"w\0i\0\0\0", "wi", "wi"),
    ("ItemRWString", "%10!s!", b"w\0\r\0\n\0\0\0", "w", "w\r\n"),
    ("ItemPString", "%10!s!", b"\x02\0ok", "ok", "ok"),
    ("ItemPWString", "%10!s!", b"\x04\0o\0k\0", "ok", "ok"),
    ("ItemHexDump", "%10!s!", b"\x03\0\xde\xad\0", "DEAD00", "DEAD00"),
    ("ItemSid", "%10!s!", b"\x01\x01\0\0\0\0\0\x05\x12\0\0\0", "S-1-5-18", "S-1-5-18"),
];

#[test]
fn messages_of_every_item_type_become_text() {
    let bench = Bench::new();
    let mut tmf = format!("// PDB: d.pdb\n{DRIVER} Driver // SRC=Io.c MJ= MN=\n");
    let mut events = buffer(SIZE);
    for ((declared, insertion, bytes, ..), number) in ITEMS.iter().zip(10_u16..) {
        let head = format!("#typev Io_c{number} {number} \"%0[%!FUNC!] {insertion} end\" //   LEVEL=L FLAGS=F FUNC=Io");
        tmf = format!("{tmf}{head}\n{{\nIo->Value({number}, 1), {declared} -- 10\n}}\n");
        let at = T0 + i64::from(number);
        events = events.event(message(number).guid(guid(DRIVER)).time(at).sequence(number.into()).arguments(*bytes));
    }
    let unknown = message(9).guid(guid(DRIVER)).time(T0 + 900).arguments(*b"\x01\x02");
    bench.write("d.tmf", tmf + "#enumv Kind\n{\nKindOne,0x1\nKindTwo,0x2\n}\n");
    bench.write("d.etl", trace(header().buffer_size(65536)).buffer(events.event(unknown)).to_bytes());
    assert_eq!(
        bench.good("schema import d.tmf").lines().next(),
        Some("1 files read: 0 providers, 0 events, 52 messages, 0 rejected")
    );
    bench.good("convert d.etl -o out -q");
    let mut expected: Vec<String> = ITEMS
        .iter()
        .zip(10..)
        .map(|((.., text, argument), number)| {
            format!("{number}|\"wpp\"|\"ok\"|{:?}|[{:?}]|null", format!("[Io] {text} end"), argument)
        })
        .collect();
    expected.push(r#"9|"none"|"no_schema"|null|null|[1, 2]"#.to_owned());
    let found =
        rows(&bench.path("out/trace=d"), "WPP", "event_id decode_source decode_status message arguments payload");
    let escaped = |line: String| line.replace('\r', "\\r").replace('\n', "\\n");
    assert_eq!(found.into_iter().map(escaped).collect::<Vec<_>>(), expected);
}

#[test]
fn names_of_enumerations_are_shown_once() {
    let bench = Bench::new();
    let tmf = format!(
        "{DRIVER} Driver // SRC=Io.c MJ= MN=\n\
         #typev Io_c7 10 \"%0 %10!s! %11!s! %12!s! %13!s!\" //   LEVEL=L FUNC=Io\n\
         {{\n\
         now, ItemEnum(State) -- 10\n\
         before, ItemEnum(State) -- 11\n\
         mode, ItemListByte(Slow,Fast=4,Faster) -- 12\n\
         status, ItemNTSTATUS -- 13\n\
         }}\n\
         #enumv State\n{{\nIdle,0x0\nBusy,0x10\n}}\n"
    );
    bench.write("d.tmf", tmf);
    insta::assert_snapshot!(bench.good(&format!("schema show {DRIVER} 10 --schemas d.tmf --no-store")));
    let facts = bench.json(&format!("schema show {DRIVER} 10 --schemas d.tmf --no-store --json"));
    let arguments = &facts["providers"][0]["known_messages"][0]["arguments"];
    let map = |name, entries| serde_json::json!({ "name": name, "kind": "values", "entries": entries });
    let entry = |value, name: &str| serde_json::json!({ "value": value, "name": name });
    assert_eq!(arguments[0]["map"], map("State", [entry(0, "Idle"), entry(16, "Busy")].to_vec()));
    assert_eq!(arguments[2]["map"], map("", [entry(0, "Slow"), entry(4, "Fast"), entry(5, "Faster")].to_vec()));
    assert_eq!(arguments[3]["out_type"], "NtStatus");
}

#[test]
fn real_manifests_decode_their_traces() {
    let Some(corpus) = corpus() else { return };
    let bench = Bench::new();
    for (trace, manifest, dataset, events) in [
        ("tx-HTTP_Server", "tx-HTTP_Server.man", "Microsoft-Windows-HttpService", 2041),
        ("tx-Process", "tx-SystemEvents.man", "Microsoft-Windows-Kernel-Process", 10343),
    ] {
        let (input, schemas) = (corpus.join(format!("{trace}.etl")), corpus.join(manifest));
        let line = [
            OsStr::new("convert"),
            input.as_ref(),
            "-o".as_ref(),
            "out".as_ref(),
            "--schemas".as_ref(),
            schemas.as_ref(),
        ];
        let said = bench.run(line, &[]);
        assert_eq!(said.code, 0, "{}", said.stderr);
        let written = bench.manifest(&format!("out/trace={trace}"));
        assert_eq!(written["decode"]["user/ok"], events, "{}", written["decode"]);
        assert_eq!(rows(&bench.path(&format!("out/trace={trace}")), dataset, "decode_source").len(), events);
    }
    // The manifest's connid is too short, and the built-in correction of it fits every payload.
    let (input, schemas) = (corpus.join("tx-KernelNetwork.etl"), corpus.join("tx-SystemEvents.man"));
    let line = [OsStr::new("inspect"), input.as_ref(), "--json".as_ref(), "--schemas".as_ref(), schemas.as_ref()];
    let facts: serde_json::Value = serde_json::from_str(&bench.run(line, &[]).stdout).unwrap();
    assert_eq!(facts["traces"][0]["providers"][0]["decode_sources"], serde_json::json!({ "pack": 8923 }));
}

#[test]
fn real_tmf_files_import_without_a_rejected_line() {
    let Some(corpus) = corpus() else { return };
    let bench = Bench::new();
    let said = bench.run([OsStr::new("schema"), "import".as_ref(), corpus.join("tmf").as_ref()], &[]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    assert_eq!(said.stdout.lines().next(), Some("24 files read: 0 providers, 0 events, 874 messages, 0 rejected"));
    let known = bench.json("schema export");
    let messages: u64 =
        known["providers"].as_array().unwrap().iter().map(|provider| provider["events"].as_u64().unwrap()).sum();
    assert_eq!(messages, 655);
}
