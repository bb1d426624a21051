//! Binaries as sources of schemas: what the compiler of manifests puts into their resources, written by the trace writer, read by the
//! library and through the whole tool.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::fs;
use std::sync::Arc;

use schema::manifest::{ManifestEvent, OpcodeName, ProviderSchemas, TaskName};
use schema::model::{Count, Field, FieldKind, FieldRef, Length, MapKind, Meaning, ValueMap, Wire};
use schema::trust::Trust;
use schema::wevt::{Binary, Extract, MessageTable, Part, PartType};
use support::Sandbox;
use synth::binary::*;
use synth::*;

const LAB: &str = "11111111-2222-3333-4444-555555555555";
const CLASS: &str = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee";

/// A provider with every kind of element.
fn lab() -> Declared {
    let made = vec![
        value("Name", 1, 1),
        value("Color", 4, 4).map("Color"),
        value("Traits", 8, 8).map("Traits"),
        value("From", 8, 23),
        value("Count", 6, 6),
        value("Sizes", 8, 8).count_in(4),
        structure("Parts", 8, 3).count_in(4),
        value("Key", 14, 15).length(4),
        // Members.
        value("Kind", 6, 6),
        value("Bytes", 14, 15).length_in(8),
        structure("Inner", 11, 2).count(2),
        value("Low", 4, 4),
        value("High", 4, 4),
    ];
    Declared {
        guid: guid(LAB),
        name: "Lab-Widgets",
        channels: vec![(16, "Lab-Widgets/Operational")],
        levels: vec![(4, 0x5000_0004, "win:Informational"), (17, 0x5000_0011, "Loud")],
        tasks: vec![(1, 0x7000_0001, guid(CLASS), "WidgetTask"), (2, NO_MESSAGE, [0; 16], "Shelf")],
        opcodes: vec![(0, 1, 0x3000_0001, "win:Start"), (0, 30, NO_MESSAGE, "Polish"), (1, 30, 0x3001_001E, "Paint")],
        keywords: vec![
            (0x10, 0x1000_0005, "PartsKeyword"),
            (0x1, NO_MESSAGE, "Bolts"),
            (1 << 48, NO_MESSAGE, "win:ResponseTime"),
        ],
        maps: vec![
            ("Traits", true, vec![(1, 0xF000_0001), (4, 0xF000_0002)]),
            ("Color", false, vec![(1, 0xD000_0001), (2, 0xD000_0002), (3, 0xD000_0009)]),
        ],
        templates: vec![(8, made), (0, vec![])],
        events: vec![
            declared_event(2, 0).task(1).opcode(30),
            declared_event(1, 1)
                .level(17)
                .opcode(1)
                .task(1)
                .keywords(0x11 | 1 << 48 | 1 << 63)
                .channel(16)
                .message(0xB001_0001)
                .template(0)
                .keyword_list(vec![0, 1, 2]),
            declared_event(3, 0).task(2).opcode(30).message(0xB000_0003).template(1),
        ],
    }
}

const TEXTS: [(u32, &str); 12] = [
    (0x1000_0005, "Parts"),
    (0x3000_0001, "Start"),
    (0x3001_001E, "Brush"),
    (0x5000_0004, "Information"),
    (0x5000_0011, "Very loud"),
    (0x7000_0001, "Widget"),
    (0xB000_0003, "100%% of %%4097, %1!d!%n\r\nand more"),
    (0xB001_0001, "Widget %1 was made"),
    (0xD000_0001, "Red"),
    (0xD000_0002, "Green "),
    (0xF000_0001, "Heavy"),
    (0xF000_0002, "Sharp"),
];

/// A program with the provider and its texts in American English.
fn lab_program(gap: usize) -> Vec<u8> {
    let resources = [
        ("#11", 1, 0x409, message_table(&TEXTS)),
        ("#16", 1, 0, vec![1; 9]),
        ("WEVT_TEMPLATE", 1, 0x409, wevt_template(&[lab()])),
    ];
    program(true, gap, &resources)
}

fn parsed(program: Vec<u8>) -> schema::manifest::Manifest {
    schema::wevt::parse(&Binary::of_bytes("x.dll", program).unwrap().extract().unwrap()).unwrap()
}

fn only_provider(program: Vec<u8>) -> ProviderSchemas {
    let manifest = parsed(program);
    assert_eq!(manifest.rejected, []);
    let [provider] = <[ProviderSchemas; 1]>::try_from(manifest.providers).unwrap();
    provider
}

fn field(name: &str, wire: Wire, length: Length, count: Count) -> Field {
    let kind = FieldKind::Value { wire, meaning: Meaning::Plain, length };
    Field { count, ..Field { kind, ..Field::value(name, wire) } }
}

#[test]
fn names_of_every_kind() {
    let provider = only_provider(lab_program(0));
    assert_eq!((provider.guid.to_string().as_str(), provider.name.as_str()), (LAB, "Lab-Widgets"));
    assert_eq!(provider.channels, [(16, "Lab-Widgets/Operational".to_owned())]);
    // Those that every provider has are not its own.
    assert_eq!(provider.levels, [(17, "Very loud".to_owned())]);
    let class = Some(CLASS.parse().unwrap());
    let task = |value, name: &str, class| TaskName { value, name: name.to_owned(), class };
    assert_eq!(provider.tasks, [task(1, "Widget", class), task(2, "Shelf", None)]);
    let opcode = |task, name: &str| OpcodeName { task, value: 30, name: name.to_owned() };
    assert_eq!(provider.opcodes, [opcode(None, "Polish"), opcode(Some(1), "Brush")]);
    assert_eq!(provider.keywords, [(1, "Bolts".to_owned()), (0x10, "Parts".to_owned())]);
    let map = |name: &str, kind, entries: &[(u64, &str)]| {
        Arc::new(ValueMap::new(name, kind, entries.iter().map(|(value, name)| (*value, (*name).to_owned())).collect()))
    };
    // A value whose message is nowhere has no name.
    let color = map("Color", MapKind::Values, &[(1, "Red"), (2, "Green"), (3, "")]);
    assert_eq!(provider.maps, [color, map("Traits", MapKind::Bits, &[(1, "Heavy"), (4, "Sharp")])]);
}

#[test]
fn events_with_names_texts_and_numbers() {
    let provider = only_provider(lab_program(0));
    let facts = |event: &ManifestEvent| {
        let schema = &event.schema;
        (
            (event.id, event.version, event.level, event.opcode, event.task, event.channel, event.keywords),
            schema.event_name.clone().unwrap_or_default(),
            schema.keyword_names.join(","),
            event.message.as_deref().unwrap_or("-").to_owned(),
        )
    };
    let text = |text: &str| text.to_owned();
    let expected = [
        // The bit of the channel is no keyword.
        (
            (1, 1, 17, 1, 1, Some(16), 0x11 | 1 << 48),
            text("Widget/Start"),
            text("Bolts,Parts,ResponseTime"),
            text("Widget %1 was made"),
        ),
        ((2, 0, 0, 30, 1, None, 0), text("Widget/Brush"), text(""), text("-")),
        // Nothing of a text is touched but the line end behind it.
        ((3, 0, 0, 30, 2, None, 0), text("Shelf/Polish"), text(""), text("100%% of %%4097, %1!d!%n\r\nand more")),
    ];
    assert_eq!(provider.events.iter().map(facts).collect::<Vec<_>>(), expected);
    assert!(provider.events.iter().all(|event| event.symbol.is_none() && event.trust == Trust::Declared));
}

#[test]
fn layouts_with_structures_lengths_and_counts() {
    let provider = only_provider(lab_program(0));
    let map = |at: usize| Some(Arc::clone(&provider.maps[at]));
    let at = |up, index| FieldRef { up, index };
    let plain = |name, wire| field(name, wire, Length::Natural, Count::One);
    let address = FieldKind::Value { wire: Wire::UInt32, meaning: Meaning::IPv4, length: Length::Natural };
    let inner = Field {
        count: Count::Fixed(2),
        ..Field::structure("Inner", vec![plain("Low", Wire::UInt8), plain("High", Wire::UInt8)])
    };
    let members =
        vec![plain("Kind", Wire::UInt16), field("Bytes", Wire::Binary, Length::Field(at(0, 0)), Count::One), inner];
    let expected = [
        plain("Name", Wire::Utf16),
        Field { map: map(0), ..plain("Color", Wire::UInt8) },
        Field { map: map(1), ..plain("Traits", Wire::UInt32) },
        Field { kind: address, ..plain("From", Wire::UInt32) },
        plain("Count", Wire::UInt16),
        field("Sizes", Wire::UInt32, Length::Natural, Count::Field(at(0, 4))),
        Field { count: Count::Field(at(0, 4)), ..Field::structure("Parts", members) },
        field("Key", Wire::Binary, Length::Fixed(4), Count::One),
    ];
    assert_eq!(provider.events[0].schema.fields, expected);
    assert_eq!(provider.events[2].schema.fields, []);
}

#[test]
fn what_is_wrong_is_named_and_the_rest_stands() {
    let mut broken = lab();
    let items = vec![
        value("Odd", 200, 1),
        value("Bytes", 14, 15).length_in(2),
        value("Behind", 6, 6),
        structure("Self", 3, 1),
        value("Text", 1, 1).count_in(0),
    ];
    broken.templates.push((5, items));
    broken.events.push(declared_event(9, 0).template(2));
    broken.keywords[0].0 = 0x20;
    let template = wevt_template(&[broken]);
    let manifest = parsed(program(false, 0, &[("WEVT_TEMPLATE", 1, 0x409, template)]));
    let faults: Vec<_> = manifest.rejected.iter().map(|fault| fault.message.as_str()).collect();
    let expected = [
        "expected a known in type, found 200",
        "expected an earlier integer as length, found item 2",
        "expected members behind their structure, of at most 32 levels, found 1 from 3",
        "expected an earlier integer as count, found item 0",
    ];
    assert_eq!(faults, expected);
    let event = manifest.providers[0].events.last().unwrap();
    assert_eq!((event.id, event.trust, event.schema.fields.len()), (9, Trust::Doubtful, 5));
    // Without any text all names are as they are declared, and values have none.
    assert_eq!(manifest.providers[0].tasks[0].name, "WidgetTask");
    assert_eq!(manifest.providers[0].maps[0].entries(), [(1, String::new()), (2, String::new()), (3, String::new())]);
}

/// Structures that share their members make more fields than there are items, and events copies of all of them.
#[test]
fn what_a_small_file_can_multiply_is_limited() {
    let outer = (0..64).map(|_| structure("S", 64, 100));
    let items: Vec<_> = outer.chain((0..100).map(|_| value("A", 8, 8))).collect();
    let events = (0..2000).map(|id| declared_event(id, 0).template(0)).collect();
    let greedy = Declared { guid: guid(LAB), templates: vec![(64, items)], events, ..Declared::default() };
    let manifest = parsed(program(true, 0, &[("WEVT_TEMPLATE", 1, 0, wevt_template(&[greedy]))]));
    let events = &manifest.providers[0].events;
    let (kept, doubtful) = (events.iter().map(|event| event.schema.footprint()).sum::<usize>(), events[0].trust);
    assert!((32 << 20..64 << 20).contains(&kept), "{kept} bytes");
    assert_eq!(doubtful, Trust::Doubtful);
    let faults: Vec<_> = manifest.rejected.iter().map(|fault| fault.message.as_str()).collect();
    assert!(faults[0].starts_with("expected at most 4096 fields"), "{faults:?}");
    let left_out = "expected a file that needs less memory: event ";
    assert!(faults.iter().any(|fault| fault.starts_with(left_out)), "{faults:?}");
}

#[test]
fn of_several_languages_one_is_taken() {
    let german: Vec<_> = TEXTS.iter().map(|&(id, _)| (id, "Deutsch")).collect();
    let table = |texts: &[(u32, &str)]| message_table(texts);
    let languages = |templates: &[u16], tables: &[(u16, &[(u32, &str)])]| {
        let mut resources: Vec<ResourceOf> = Vec::new();
        resources.extend(tables.iter().map(|&(language, texts)| ("#11", 1, language, table(texts))));
        resources.extend(templates.iter().map(|&language| ("WEVT_TEMPLATE", 1, language, wevt_template(&[lab()]))));
        only_provider(program(true, 0, &resources))
    };
    let message = |provider: &ProviderSchemas| provider.events[0].message.as_deref().unwrap_or("-").to_owned();
    let english = languages(&[0x407, 0x409], &[(0x407, &german), (0x409, &TEXTS)]);
    assert_eq!((message(&english).as_str(), english.tasks[0].name.as_str()), ("Widget %1 was made", "Widget"));
    let neutral = languages(&[0], &[(0, &TEXTS), (0x407, &german)]);
    assert_eq!((message(&neutral).as_str(), neutral.tasks[0].name.as_str()), ("Widget %1 was made", "Widget"));
    // Names do not change with the language, texts do.
    let german = languages(&[0x407], &[(0x407, &german)]);
    assert_eq!((message(&german).as_str(), german.tasks[0].name.as_str()), ("Deutsch", "WidgetTask"));
    assert_eq!(german.maps[0].entries()[0].1, "Deutsch");
}

#[test]
fn texts_of_other_encodings() {
    // Three blocks: UTF-16, 8 bits, UTF-8; then one that lies beyond the end.
    let mut table = vec![4, 0, 0, 0];
    for (first, place) in [(1_u32, 52_u32), (2, 60), (3, 68), (4, 4096)] {
        table.extend([first, first, place].iter().flat_map(|number| number.to_le_bytes()));
    }
    table.extend(b"\x08\0\x01\0A\0\0\0\x08\0\0\0\xe4\0\0\0\x08\0\x02\0\xc3\xa4\r\n");
    let table = MessageTable::read(&table, 0x409);
    let texts: Vec<_> = (0..5).map(|id| table.text(id)).collect();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!((table.len(), texts), (3, vec![None, text("A"), text("ä"), text("ä"), None]));
}

/// What is kept of a program: written here by hand.
#[test]
fn an_extract_is_the_resources_alone() {
    let (template, table) = (wevt_template(&[lab()]), message_table(&TEXTS));
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap().to_le_bytes();
    let mut expected = b"ETLWEVT1\x02\0\0\0\x01\0\0\0\x09\x04\0\0".to_vec();
    expected.extend(length(&template));
    expected.extend(b"\x02\0\0\0\x09\x04\0\0");
    expected.extend(length(&table));
    expected.extend([&template[..], &table].concat());
    for gap in [0, 12_345] {
        let extract = Binary::of_bytes("x.dll", lab_program(gap)).unwrap().extract().unwrap();
        assert!(extract == expected, "{gap}");
    }
    let parts = Extract::parse(&expected).unwrap().parts;
    let part = |kind, bytes| Part { kind, language: 0x409, bytes };
    assert_eq!(parts, [part(PartType::Template, &template[..]), part(PartType::Messages, &table)]);
    for (cut, fault) in [
        (7, "offset 0x0: expected the resources of a binary (ETLWEVT1), found something else"),
        (20, "offset 0xc: expected the head of a part"),
        (400, "offset 0xc: expected all bytes of the part, found the end of the file"),
    ] {
        assert_eq!(Extract::parse(&expected[..cut]).unwrap_err().to_string(), fault);
    }
    let longer = [&expected[..], b"x"].concat();
    assert!(Extract::parse(&longer).unwrap_err().to_string().ends_with("the end of the file behind its last part"));
}

/// Counts what is read of it.
#[derive(Debug)]
struct Counted(etl::input::MemoryInput, std::sync::Mutex<Vec<usize>>);

impl etl::input::Input for Counted {
    fn identity(&self) -> &etl::input::Identity {
        self.0.identity()
    }

    fn read_into(&self, offset: u64, target: &mut [u8]) -> base::error::Result<()> {
        self.1.lock().unwrap().push(target.len());
        self.0.read_into(offset, target)
    }

    fn check_unchanged(&self) -> base::error::Result<()> {
        self.0.check_unchanged()
    }
}

#[test]
fn a_binary_without_events_takes_three_small_reads() {
    let names: [ResourceOf; 3] =
        [("MUI", 1, 0, vec![2; 60_000]), ("TYPELIB", 1, 0, vec![3; 60_000]), ("#16", 1, 0, vec![4; 60_000])];
    for (resources, most) in [(&names[..0], 1), (&names[2..], 2), (&names[..], 3)] {
        let input = Counted(
            etl::input::MemoryInput::new("x.dll", program(true, 1 << 20, resources)),
            std::sync::Mutex::default(),
        );
        assert!(!Binary::read(&input).unwrap().declares_events());
        let reads = input.1.lock().unwrap();
        assert!(reads.len() <= most && reads.iter().all(|&len| len <= 4096), "{reads:?}");
    }
}

/// A trace with an event of the provider.
fn widgets() -> Vec<u8> {
    let part = |kind: u16| payload().u16(kind).zeros(kind.into()).bytes(&[1, 2, 3, 4]);
    let head = payload().wstr("cog").u8(2).u32(5).bytes(&[10, 0, 0, 7]).u16(2).u32(4).u32(9);
    let made = head.bytes(&part(1).0).bytes(&part(0).0).bytes(&[0xCA, 0xFE, 0xBA, 0xBE]);
    let event = event64(guid(LAB), 1, 1, T0 + 1).task(1).opcode(1).level(17).payload(made);
    trace(header().buffer_size(65536)).buffer(buffer(65536).event(event)).to_bytes()
}

/// A sandbox with the trace, a program with its texts, and a disk with another whose texts lie beside it.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("w.etl", &widgets());
    sandbox.file("x.dll", &lab_program(0));
    let without_texts = program(false, 0, &[("WEVT_TEMPLATE", 1, 0, wevt_template(&[lab()]))]);
    sandbox.file("disk/System32/lab.sys", &without_texts);
    sandbox.file("disk/other/lab.sys", &without_texts);
    let german: Vec<_> = TEXTS.iter().map(|&(id, _)| (id, "Deutsch")).collect();
    let texts = |language, texts: &[(u32, &str)]| program(true, 0, &[("#11", 1, language, message_table(texts))]);
    sandbox.file("disk/System32/de-DE/lab.sys.mui", &texts(0x407, &german));
    sandbox.file("disk/System32/en-US/lab.sys.mui", &texts(0x409, &TEXTS));
    sandbox.file("disk/other/fr-FR/lab.sys.mui", &texts(0x40C, &[(0xB001_0001, "Fait %1")]));
    sandbox.file("disk/other/de-DE/LAB.SYS.MUI", &texts(0x407, &german));
    for number in 0..7 {
        sandbox.file(&format!("disk/plain{number}.dll"), &program(true, 0, &[]));
    }
    sandbox
}

const COLUMNS: &str =
    "event_name decode_source decode_status Name Color Color_label Traits Traits_label From Count Sizes Key";
const ROW: &str = "Widget/Start|user|ok|cog|2|Green|5|Heavy|Sharp|10.0.0.7|2|[4,9]|cafebabe";

#[test]
fn a_binary_decodes_the_events_of_its_provider() {
    let sandbox = sandbox();
    sandbox.t("convert w.etl -o given --schemas x.dll --no-store -q", 0);
    let imported = sandbox.t("schema import x.dll --store store", 0);
    let report = "1 files read: 1 providers, 3 events, 0 messages, 0 rejected\n1 are new, 1 are in store\n";
    assert_eq!((imported.out.as_str(), imported.err.as_str()), (report, ""));
    // The store keeps what declares events, not the program.
    let extract = Binary::open(&sandbox.path("x.dll")).unwrap().extract().unwrap();
    let name = format!("{}.wevt", blake3::hash(&extract).to_hex());
    assert_eq!(sandbox.names("store"), [".lock", &name, "index.json"]);
    assert!(fs::read(sandbox.path(&format!("store/{name}"))).unwrap() == extract);
    sandbox.t("convert w.etl -o stored --store store -q", 0);
    for out in ["given", "stored"] {
        let table = sandbox.table(&format!("{out}/trace=w"), "events/Lab-Widgets");
        assert_eq!(table.lines(COLUMNS), [ROW]);
    }
    let shown = sandbox.t("schema show Lab-Widgets 1 --store store", 0).out;
    for line in
        ["name         Widget/Start", "keywords     Bolts, Parts, ResponseTime", "message      Widget %1 was made"]
    {
        assert!(shown.contains(line), "{shown}");
    }
    // What the store keeps is a schema file itself.
    sandbox.t(&format!("schema show lab-widgets --no-store --schemas store/{name}"), 0);
}

#[test]
fn a_disk_is_searched_and_what_has_no_events_is_one_line() {
    let sandbox = sandbox();
    let imported = sandbox.t("schema import disk --store store", 0);
    let report = "2 files read: 2 providers, 6 events, 0 messages, 0 rejected\n2 are new, 2 are in store\n";
    assert_eq!(imported.out, report);
    assert_eq!(imported.err, "warning: disk: 11 binaries declare no events\n");
    let document = |line: &str| -> serde_json::Value { serde_json::from_str(&sandbox.t(line, 0).out).unwrap() };
    let message = |file: &str| {
        let shown = document(&format!("schema show Lab-Widgets 1 --json --no-store --schemas {file}"));
        let event = &shown["providers"][0]["known_events"][0];
        format!("{} {}", event["task"].as_str().unwrap(), event["message"].as_str().unwrap())
    };
    assert_eq!(message("disk/System32/lab.sys"), "Widget Widget %1 was made");
    // Without English the language whose folder comes first, whatever the case of the file.
    assert_eq!(message("disk/other/lab.sys"), "WidgetTask Deutsch");
}

#[test]
fn a_binary_without_events_is_refused_where_it_is_named() {
    let sandbox = sandbox();
    let said = sandbox.t("schema import disk/plain0.dll --store store", 2);
    assert!(
        said.err.contains("expected a binary with the resource WEVT_TEMPLATE, found one that declares no events"),
        "{}",
        said.err
    );
    sandbox.file("cut.dll", &lab_program(0)[..300]);
    assert!(sandbox.t("schema import cut.dll --store store", 2).err.contains("the headers of the binary are cut off"));
    sandbox.file("plain/a.dll", &program(true, 0, &[]));
    assert!(sandbox.t("schema import plain --store store", 2).err.contains("there is no schema file in this folder"));
}

/// Events of two real programs, whose providers nobody else describes; see `tests/python/data/binaries`.
#[test]
fn events_of_real_programs() {
    let sandbox = Sandbox::new();
    let data = |name: &str| format!("{}/tests/python/data/binaries/{name}.zip", env!("CARGO_MANIFEST_DIR"));
    let events_of = |provider: &str, name: &str, events: [Event; 2], dataset: &str, columns: &str| {
        let bytes = trace(header().buffer_size(65536)).buffer(buffer(65536).events(events.clone())).to_bytes();
        sandbox.file(&format!("{name}.etl"), &bytes);
        let unknown: serde_json::Value =
            serde_json::from_str(&sandbox.t(&format!("inspect {name}.etl --json -q --no-store"), 0).out).unwrap();
        let sources = &unknown["traces"][0]["providers"][0]["decode_sources"];
        assert!(sources.get("user").is_none(), "{provider}: {sources}");
        sandbox.t(&format!("schema import {} --store store", data(name)), 0);
        sandbox.t(&format!("convert {name}.etl -o out --store store -q"), 0);
        sandbox.table(&format!("out/trace={name}"), &format!("events/{dataset}")).lines(columns)
    };
    let node = "77754e9b-264b-4d8d-b981-e4135c1ecb0c";
    let request = payload().astr("/index").astr("GET").u32(12).u32(8080).astr("::1").u32(3);
    let events = [
        event64(guid(node), 3, 0, T0 + 1).opcode(12).level(4).payload(request),
        event64(guid(node), 7, 0, T0 + 2).opcode(16).level(4).payload(payload().u32(2).u32(0)),
    ];
    let columns = "event_name decode_source decode_status url method fd port remote buffered gctype gccallbackflags";
    let expected =
        ["NODE_HTTP_CLIENT_REQUEST|user|ok|/index|GET|12|8080|::1|3|-|-", "NODE_GC_START|user|ok|-|-|-|-|-|-|2|0"];
    assert_eq!(events_of(node, "node", events, "NodeJS-ETW-provider", columns), expected);
    let compiler = "5c65fe8c-9f96-4bfd-9a87-9f8ebd45da64";
    let event = |id, opcode, value: Payload| {
        event64(guid(compiler), id, 0, T0 + i64::from(id)).task(5).opcode(opcode).level(4).payload(value)
    };
    let events = [event(8, 1, payload()), event(9, 2, payload().u32(0x8007_000E))];
    let expected = ["DXCompilerCompile/Start|user|ok|-", "DXCompilerCompile/Stop|user|ok|2147942414"];
    let columns = "event_name decode_source decode_status errorCode";
    assert_eq!(events_of(compiler, "dxcompiler", events, "Microsoft-Windows-DXCompiler-API", columns), expected);
}
