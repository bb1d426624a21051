//! `--messages` and `--language`: what events say in words, from every source of templates, with values of every kind.
//!
//! How Windows shows values was taken from a published recording of its own renderings (`golden_events.json` of Elastic's
//! Beats): the values here are some of those, under a manifest of this test's own.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use columnar::columns::TypeOptions;
use conversion::convert::MessagePolicy;
use support::{Converted, Sandbox, convert_with};
use synth::classic::event_info;
use synth::*;

const LAB: Guid = guid("5a1f8a52-3c65-4b0d-9d5e-0f6f3c1b7d21");
const LAB_TEXT: &str = "5a1f8a52-3c65-4b0d-9d5e-0f6f3c1b7d21";

/// A field of each kind: its name, and its type with what is declared behind it.
const FIELDS: [(&str, &str); 27] = [
    ("Text", "UnicodeString"),
    ("Narrow", "AnsiString"),
    ("Tiny", "Int8"),
    ("Byte", "UInt8"),
    ("Short", "Int16"),
    ("Word", "UInt16"),
    ("Int", "Int32"),
    ("UInt", "UInt32"),
    ("Long", "Int64"),
    ("ULong", "UInt64"),
    ("Single", "Float"),
    ("Twice", "Double"),
    ("Truth", "Boolean"),
    ("Size", "UInt32"),
    ("Blob", "Binary' length='Size"),
    ("Id", "GUID"),
    ("Address", "Pointer"),
    ("When", "FILETIME"),
    ("Local", "SYSTEMTIME"),
    ("User", "SID"),
    ("Mask", "HexInt32"),
    ("Wide", "HexInt64"),
    ("Four", "UInt32' outType='win:IPv4"),
    ("Door", "UInt16' outType='win:Port"),
    ("Peer", "Binary' length='16' outType='win:SocketAddress"),
    ("Status", "UInt32' outType='win:NTSTATUS"),
    ("Error", "UInt32' outType='win:Win32Error"),
];

/// A manifest in two languages: a field of each kind, a failed transfer with lists, names of values, a German text.
fn manifest() -> String {
    let data = |name: &str, more: &str| format!("<data name='{name}' inType='win:{more}'/>");
    let kinds: String = FIELDS.iter().map(|(name, kind)| data(name, kind)).collect();
    let transfer = [
        data("Name", "UnicodeString"),
        data("Result", "Int32' outType='win:HResult"),
        data("Count", "UInt16"),
        data("Files", "UnicodeString' count='Count"),
        data("Pairs", "UInt16"),
        format!(
            "<struct name='Values' count='Pairs'>{}{}</struct>",
            data("Value", "UInt16"),
            data("Key", "UnicodeString")
        ),
    ]
    .concat();
    let named = data("Day", "UInt32' map='Days") + &data("Way", "UInt32' map='Ways");
    let map = |value: &str, symbol: &str| format!("<map value='{value}' symbol='{symbol}'/>");
    let days = map("0x1", "Sunday") + &map("0x2", "Monday") + &map("0x4", "Tuesday");
    let ways = map("1", "Download") + &map("2", "Upload");
    let events = [(1, "K", "kinds"), (2, "T", "transfer"), (3, "N", "named"), (4, "N", "plain"), (5, "N", "missing")];
    let event = |(id, template, text): (u16, &str, &str)| {
        format!("<event value='{id}' symbol='E{id}' template='{template}' message='$(string.{text})'/>")
    };
    let events: String = events.into_iter().map(event).collect();
    let numbers: Vec<String> = (1..=27).map(|number| format!("%{number}")).collect();
    let string = |id: &str, text: &str| format!("<string id='{id}' value='{text}'/>");
    let english = [
        string("kinds", &numbers.join("|")),
        string("transfer", "The %1 job failed with %2 (%2!x!). Its files:%n%t%4%nValues: %6!.40s!"),
        string("named", "%2 on %1; %1!04x!, 100%% of %9"),
        string("plain", "nothing but words%0 and no end"),
    ]
    .concat();
    let german = string("named", "%2 am %1");
    format!(
        "<m><provider name='Lab' guid='{{{LAB_TEXT}}}'><maps><bitMap name='Days'>{days}</bitMap><valueMap name='Ways'>{ways}\
         </valueMap></maps><templates><template tid='K'>{kinds}</template><template tid='T'>{transfer}</template><template \
         tid='N'>{named}</template></templates><events>{events}</events></provider><localization><resources \
         culture='de-DE'><stringTable>{german}</stringTable></resources><resources culture='en-US'><stringTable>{english}\
         </stringTable></resources></localization></m>"
    )
}

/// The first event of the recording.
fn kinds() -> Payload {
    let id = guid("700b51d6-54ef-45d3-adf3-60cad277d1bd");
    let local = [2017_u16, 11, 6, 4, 3, 46, 22, 305].into_iter().fold(payload(), Payload::u16);
    payload()
        .wstr("alpha")
        .astr("bravo")
        .u8(0xe3)
        .u8(232)
        .u16(27593)
        .u16(43350)
        .u32(280_915_487)
        .u32(3_055_926_388)
        .u64(9_135_962_051_559_271_525)
        .u64(11_398_190_996_930_193_602)
        .bytes(&85.59_f32.to_le_bytes())
        .bytes(&232.535_f64.to_le_bytes())
        .u32(1)
        .u32(11)
        .bytes(&[0x3e, 0xaf, 0x0f, 0xde, 0x88, 0xcf, 0xf4, 0xee, 0xb8, 0x91, 0xb5])
        .guid(id)
        .u64(0x6fa6_de70)
        // 2017-11-04 02:46:22.3050459 in 100 ns since 1601.
        .u64(131_542_371_823_050_459)
        .bytes(&local.0)
        .sid(5, &[21, 3_447_473_950, 2_840_118_026, 1_171_586_998])
        .u32(0x9ea9_19cd)
        .u64(0xaaa9_4960_3028_8014)
        .bytes(&[10, 0, 0, 1])
        .be16(443)
        .bytes(&[2, 0, 0x1f, 0x90, 192, 168, 0, 7])
        .zeros(8)
        .u32(0xc000_0034)
        .u32(0xe000_1234)
}

const KINDS: &str = "alpha|bravo|-29|232|27593|43350|280915487|3055926388|9135962051559271525|11398190996930193602|85.589996|\
                     232.535000|true|11|0x3EAF0FDE88CFF4EEB891B5|{700b51d6-54ef-45d3-adf3-60cad277d1bd}|0x6FA6DE70|\
                     2017-11-04T02:46:22.305045900Z|2017-11-04T03:46:22.305Z|S-1-5-21-3447473950-2840118026-1171586998|0x9EA919CD|\
                     0xAAA9496030288014|10.0.0.1|443|192.168.0.7:8080|STATUS_OBJECT_NAME_NOT_FOUND (0xc0000034)|\
                     Unknown Win32 Error code: 0xe0001234";

fn transfer() -> Payload {
    let files = payload().wstr("charlie").u32(0xddcd).u16(2).wstr("C:/Temp/test.log").wstr("D:/Data/report.csv");
    files.u16(2).u16(972).wstr("delta").u16(242).wstr("charlie")
}

const TRANSFER: &str = "The charlie job failed with Unknown HResult Error code: 0xddcd (ddcd). Its files:\n\tC:/Temp/test.log, \
                        D:/Data/report.csv\nValues: {Value: 972, Key: delta}, {Value: 242, K";

fn event(id: u16, time: i64, payload: Payload) -> synth::Event {
    event64(LAB, id, 0, time).payload(payload)
}

/// Events of all kinds, among them one that is cut short and one whose payload does not decode.
fn events() -> Vec<synth::Event> {
    vec![
        event(1, T0 + 11, kinds()),
        event(2, T0 + 12, transfer()),
        event(3, T0 + 13, payload().u32(3).u32(2)),
        event(3, T0 + 14, payload().u32(0x90).u32(7)),
        event(3, T0 + 15, payload().u32(1)),
        event(3, T0 + 16, payload().u32(1).u16(7)),
        event(4, T0 + 17, payload().u32(1).u32(1)),
        event(5, T0 + 18, payload().u32(1).u32(1)),
    ]
}

const ENGLISH: [&str; 8] = [
    KINDS,
    TRANSFER,
    "Upload on Sunday | Monday; 0003, 100% of %9",
    "7 on 144; 0090, 100% of %9",
    "%2 on Sunday; 0001, 100% of %9",
    "-",
    "nothing but words",
    "-",
];

fn with_manifest(events: Vec<synth::Event>) -> Vec<u8> {
    let own = eventsource_manifest(LAB, T0 + 1, &manifest(), 0xff00);
    let first = buffer(0x4000).sequence(1).events(own);
    trace(header()).buffer(first).buffer(buffer(0x4000).sequence(2).events(events)).to_bytes()
}

fn text(found: &Converted) -> Vec<String> {
    let lab = found.events("Lab");
    let own = (0..lab.rows.len()).filter(|&row| lab.cell(row, "event_id") != "65534");
    own.map(|row| lab.cell(row, "rendered_message").to_owned()).collect()
}

#[test]
fn events_say_in_words_what_windows_shows() {
    let bytes = with_manifest(events());
    let found = convert_with(&[&bytes], |options| options.messages = MessagePolicy::Text);
    assert_eq!(text(&found), ENGLISH);
    let statuses = found.events("Lab").lines("decode_status").split_off(1);
    assert_eq!(statuses, ["ok", "ok", "ok", "ok", "short", "error", "ok", "ok"]);
    let catalog = found.sidecar("catalog").lines("event_id message_template");
    assert!(catalog.contains(&"3|%2 on %1; %1!04x!, 100%% of %9".to_owned()), "{catalog:?}");
    assert!(catalog.contains(&"5|-".to_owned()) && catalog.contains(&"65534|-".to_owned()), "{catalog:?}");
    // Behind the name, in every dataset.
    for dataset in found.datasets() {
        let header = found.events(&dataset).names;
        let name = header.iter().position(|name| name == "event_name").unwrap();
        assert_eq!(header[name + 1], "rendered_message", "{dataset}");
    }
}

#[test]
fn a_language_is_asked_for_and_found_by_its_first_part() {
    let bytes = with_manifest(events());
    let template = |language: Option<&str>| {
        let found = convert_with(&[&bytes], |options| options.language = language.map(str::to_owned));
        let catalog = found.sidecar("catalog");
        let row = (0..catalog.rows.len()).find(|&row| catalog.cell(row, "event_id") == "3").unwrap();
        catalog.cell(row, "message_template").to_owned()
    };
    let english = "%2 on %1; %1!04x!, 100%% of %9";
    assert_eq!([None, Some("en-US"), Some("fr-FR")].map(template), [english; 3]);
    assert_eq!([Some("de-DE"), Some("de"), Some("DE-at")].map(template), ["%2 am %1"; 3]);
}

/// A description of event 3 in the trace, with a message and the names of two integers.
fn described(names: [&str; 2]) -> Vec<u8> {
    const FIRST: u32 = 0x70 + 2 * 24;
    let utf16 = |text: &str| u32::try_from(2 * text.encode_utf16().count() + 2).unwrap();
    let message = "Way %2, day %1!d! ";
    let second = FIRST + utf16(names[0]);
    let head = payload().guid(LAB).zeros(16).u16(3).u8(0).zeros(13).zeros(28).u32(second + utf16(names[1])).zeros(20);
    let head = head.u32(2).u32(2).u32(0);
    let property = |to: Payload, name: u32| to.u32(0).u32(name).u16(8).u16(0).u32(0).u16(1).u16(0).u32(0);
    property(property(head, FIRST), second).wstr(names[0]).wstr(names[1]).wstr(message).0
}

#[test]
fn a_description_in_the_trace_comes_first_where_it_names_the_fields_alike() {
    let template = |names| {
        let mut events: Vec<Vec<u8>> = events().into_iter().map(|event| event.on_disk()).collect();
        events.push(event_info(T0 + 30, described(names)).on_disk());
        let own = eventsource_manifest(LAB, T0 + 1, &manifest(), 0xff00);
        let first = buffer(0x4000).sequence(1).events(own);
        let bytes = trace(header()).buffer(first).buffer(buffer(0x4000).sequence(2).events(events)).to_bytes();
        let found = convert_with(&[&bytes], |options| options.messages = MessagePolicy::Text);
        text(&found)[2].clone()
    };
    assert_eq!(template(["day", "WAY"]), "Way Upload, day 3");
    assert_eq!(template(["Other", "Way"]), ENGLISH[2]);
}

#[test]
fn the_program_takes_manifests_and_languages_and_writes_the_same_in_steps() {
    let sandbox = Sandbox::new();
    let bytes = trace(header()).buffer(buffer(0x4000).sequence(1).events(events())).to_bytes();
    sandbox.file("t.etl", &bytes);
    sandbox.file("lab.man", manifest().as_bytes());
    let common = "t.etl -q --no-store --schemas lab.man --messages text";
    for (number, more) in ["--threads 1", "--threads 4", "--partition-bytes 200 --threads 1"].iter().enumerate() {
        sandbox.t(&format!("convert {common} -o {number} {more}"), 0);
        let lab = sandbox.table(&format!("{number}/trace=t"), "events/Lab");
        assert_eq!(lab.lines("rendered_message"), ENGLISH, "{more}");
    }
    assert!(sandbox.files("0/trace=t/events") == sandbox.files("1/trace=t/events"));
    let plan = sandbox.t(&format!("plan {common} -o steps"), 0).out;
    sandbox.t(&format!("convert-partition {} 0 -q", plan.trim()), 0);
    sandbox.t(&format!("commit {} -q", plan.trim()), 0);
    let data = |folder: &str| {
        let files = sandbox.files(folder).into_iter();
        files.filter(|(name, _)| name.ends_with(".parquet")).collect::<Vec<_>>()
    };
    assert!(data("0/trace=t") == data("steps/trace=t"));
    sandbox.t("convert t.etl -q --no-store --schemas lab.man --messages text --language de-DE -o german", 0);
    let german = sandbox.table("german/trace=t", "events/Lab").lines("rendered_message");
    assert_eq!(german[2..5], ["Upload am Sunday | Monday", "7 am 144", "%2 am Sunday"]);
    let rows = sandbox.t(
        "events t.etl --dataset Lab --no-store --schemas lab.man --messages text --select rendered_message --limit 3",
        0,
    );
    assert!(rows.out.ends_with("Upload on Sunday | Monday; 0003, 100% of %9\"\n"), "{}", rows.out);
    let refused = sandbox.t("convert t.etl -o x --language German!", 2);
    assert!(refused.err.contains("expected the tag of a language, such as de-DE"), "{}", refused.err);
}

/// The built-in schemas have what msquic's manifest says of its event 1 of version 0; nobody has a text of a version 9.
#[test]
fn the_built_in_texts_are_those_of_the_version() {
    const QUIC: Guid = guid("ff15e657-4f26-570e-88ab-0796b258d11c");
    let event = |version, time| event64(QUIC, 1, version, time).payload(payload().u32(4).u32(3));
    let events = vec![event(0, T0 + 1), event(9, T0 + 2)];
    let bytes = trace(header()).buffer(buffer(0x4000).sequence(1).events(events)).to_bytes();
    let found = convert_with(&[&bytes], |options| options.messages = MessagePolicy::Text);
    let rows = found.events("Microsoft-Quic").lines("event_version rendered_message");
    assert_eq!(rows, ["0|[ lib] Initialized, PartitionCount=4 DatapathFeatures=3", "9|-"]);
}

#[test]
fn without_messages_no_column_and_no_option_is_recorded() {
    let bytes = with_manifest(events());
    let found = convert_with(&[&bytes], |options| options.types = TypeOptions::default());
    assert!(!found.events("Lab").names.contains(&"rendered_message".to_owned()));
    let manifest = found.sandbox.path("out/trace=t/sidecar/manifest.json");
    let manifest: serde_json::Value = serde_json::from_slice(&std::fs::read(manifest).unwrap()).unwrap();
    assert!(manifest["options"].get("messages").is_none() && manifest["options"].get("language").is_none());
}
