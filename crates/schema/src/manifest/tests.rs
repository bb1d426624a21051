use proptest::prelude::*;

use super::*;
use crate::model::{Count, Field, FieldKind, FieldRef, Length, MapKind, Meaning, Wire};

const SMALL: &str = r#"<?xml version="1.0"?>
<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
 <instrumentation><events>
  <provider name="Sample-Provider" guid="{01020304-0506-0708-090a-0b0c0d0e0f10}" symbol="S"
            groupGuid="{11111111-1111-1111-1111-111111111111}">
   <channels>
    <importChannel chid="SYS" name="System"/>
    <channel chid="OP" name="Sample-Provider/Operational" type="Operational"/>
    <channel chid="AN" name="Sample-Provider/Analytic" type="Analytic" value="20"/>
    <channel chid="DBG" name="Sample-Provider/Debug" type="Debug"/>
   </channels>
   <levels><level name="Loud" value="17"/></levels>
   <tasks>
    <task name="task0" value="1" message="$(string.task0)" eventGUID="{22222222-2222-2222-2222-222222222222}">
     <opcodes><opcode name="Begin" value="10"/></opcodes>
    </task>
    <task name="Plain" value="2"/>
   </tasks>
   <opcodes><opcode name="Begin" value="0x14" message="$(string.begin)"/></opcodes>
   <keywords>
    <keyword name="High" mask="0x10"/><keyword name="LowKeyword" mask="1" message="$(string.low)"/>
   </keywords>
   <maps>
    <valueMap name="Color">
     <map value="0" message="$(string.red)"/><map value="-1" symbol="NONE"/>
    </valueMap>
    <bitMap name="Flags"><map value="0x1" message="$(string.lost)"/></bitMap>
   </maps>
   <templates>
    <template tid="T">
     <data name="Pid" inType="win:UInt32" outType="win:PID"/>
     <data name="Color" inType="win:UInt32" map="Color"/>
     <data name="N" inType="win:UInt16"/>
     <data name="Text" inType="win:UnicodeString" length="N"/>
     <data name="Fixed" inType="win:AnsiString" length="5" count="2"/>
     <struct name="Items" count="N">
      <data name="Size" inType="win:UInt8"/>
      <data name="Data" inType="win:Binary" length="Size"/>
      <data name="Name" inType="win:UnicodeString" length="N"/>
     </struct>
     <data name="Address" inType="win:Binary" outType="win:IPv6"/>
     <data name="__binLength" inType="win:UInt32"/>
     <UserData><Xml><Pid>%1</Pid></Xml></UserData>
    </template>
   </templates>
   <events>
    <event value="1" version="2" symbol="SYM" template="T" level="win:Informational" channel="OP" task="task0"
           opcode="win:Start" keywords="High LowKeyword win:AuditFailure" message="$(string.text)"/>
    <event value="2" task="task0" opcode="Begin" channel="DBG" level="Loud"/>
    <event value="3" task="Plain" opcode="Begin" level="0x2"/>
    <event value="0x4" task="Plain" opcode="win:Info" channel="SYS"/>
    <event value="5" symbol="Lonely" opcode="win:DC_Stop"/>
   </events>
  </provider>
 </events></instrumentation>
 <localization><resources culture="en-US"><stringTable>
  <string id="task0" value="Real Task"/><string id="begin" value="Go "/><string id="low" value="Low"/>
  <string id="red" value="Red "/><string id="text" value="Process %1 began%n"/>
 </stringTable></resources></localization>
</instrumentationManifest>"#;

fn parse(xml: &str) -> Manifest {
    Manifest::parse(xml.as_bytes(), None).expect("the text is XML")
}

fn rejected(xml: &str) -> Vec<String> {
    parse(xml).rejected.iter().map(ToString::to_string).collect()
}

/// A manifest of one event whose template holds `fields`.
fn with_fields(fields: &str, provider_attributes: &str) -> String {
    format!(
        "<m><provider name='P' guid='{{01020304-0506-0708-090a-0b0c0d0e0f10}}' {provider_attributes}>\
         <templates><template tid='T'>\n{fields}</template></templates>\
         <events><event value='1' template='T' symbol='E'/></events></provider></m>"
    )
}

fn value(name: &str, wire: Wire, meaning: Meaning, length: Length) -> Field {
    Field { kind: FieldKind::Value { wire, meaning, length }, ..Field::value(name, wire) }
}

fn sibling(index: u16) -> FieldRef {
    FieldRef { up: 0, index }
}

#[test]
fn the_identity_and_names_of_a_provider_are_read() {
    let manifest = parse(SMALL);
    assert_eq!(manifest.rejected, []);
    let provider = &manifest.providers[0];
    assert_eq!(provider.guid.to_string(), "01020304-0506-0708-090a-0b0c0d0e0f10");
    assert_eq!(provider.group.unwrap().to_string(), "11111111-1111-1111-1111-111111111111");
    assert_eq!((provider.name.as_str(), provider.regenerated), ("Sample-Provider", false));
    assert_eq!(provider.keywords, [(1, "Low".to_owned()), (16, "High".to_owned())]);
    assert_eq!(provider.levels, [(17, "Loud".to_owned())]);
    let channels: Vec<u8> = provider.channels.iter().map(|channel| channel.0).collect();
    assert_eq!(channels, [8, 16, 20, 21]);
    let tasks: Vec<_> =
        provider.tasks.iter().map(|task| (task.value, task.name.as_str(), task.class.is_some())).collect();
    assert_eq!(tasks, [(1, "Real Task", true), (2, "Plain", false)]);
    let opcodes: Vec<_> = provider.opcodes.iter().map(|o| (o.task, o.value, o.name.as_str())).collect();
    assert_eq!(opcodes, [(None, 20, "Go"), (Some(1), 10, "Begin")]);
    let maps: Vec<_> = provider.maps.iter().map(|map| (map.name.as_str(), map.kind, map.entries())).collect();
    let colors = [(0, "Red".to_owned()), (0xffff_ffff, "NONE".to_owned())];
    let flags = [(1, "lost".to_owned())];
    assert_eq!(maps, [("Color", MapKind::Values, &colors[..]), ("Flags", MapKind::Bits, &flags[..])]);
}

#[test]
fn the_layout_of_an_event_is_read() {
    let manifest = parse(SMALL);
    let provider = &manifest.providers[0];
    let items = vec![
        Field::value("Size", Wire::UInt8),
        value("Data", Wire::Binary, Meaning::Plain, Length::Field(sibling(0))),
        value("Name", Wire::Utf16, Meaning::Plain, Length::Field(FieldRef { up: 1, index: 2 })),
    ];
    let expected = [
        value("Pid", Wire::UInt32, Meaning::ProcessId, Length::Natural),
        Field { map: Some(provider.maps[0].clone()), ..Field::value("Color", Wire::UInt32) },
        Field::value("N", Wire::UInt16),
        value("Text", Wire::Utf16, Meaning::Plain, Length::Field(sibling(2))),
        Field { count: Count::Fixed(2), ..value("Fixed", Wire::Ansi, Meaning::Plain, Length::Fixed(5)) },
        Field { count: Count::Field(sibling(2)), ..Field::structure("Items", items) },
        value("Address", Wire::Binary, Meaning::IPv6, Length::Fixed(16)),
        Field { hidden: true, ..Field::value("__binLength", Wire::UInt32) },
    ];
    assert_eq!(provider.events[0].schema.fields, expected);
    assert!(!provider.events[0].trust.is_doubtful());
}

#[test]
fn the_header_values_and_names_of_events_are_read() {
    let manifest = parse(SMALL);
    let events = &manifest.providers[0].events;
    let first = &events[0];
    assert_eq!((first.id, first.version, first.channel, first.level), (1, 2, Some(16), 4));
    assert_eq!((first.task, first.opcode, first.keywords), (1, 1, 0x0010_0000_0000_0011));
    assert_eq!((first.symbol.as_deref(), first.message.as_deref()), (Some("SYM"), Some("Process %1 began%n")));
    assert_eq!(first.schema.keyword_names, ["Low", "High", "AuditFailure"]);
    let names: Vec<_> = events
        .iter()
        .map(|e| {
            (
                e.id,
                e.opcode,
                e.channel,
                e.level,
                e.schema.event_name.as_deref().unwrap(),
                e.schema.opcode_name.as_deref().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        names,
        [
            (1, 1, Some(16), 4, "Real Task/Start", "Start"),
            (2, 10, Some(21), 17, "Real Task/Begin", "Begin"),
            (3, 20, None, 2, "Plain/Go", "Go"),
            (4, 0, Some(8), 0, "Plain", "Info"),
            (5, 4, None, 0, "Lonely", "DCStop"),
        ]
    );
}

#[test]
fn an_event_source_manifest_reads_by_the_same_rules() {
    let xml = r#"<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
 <instrumentation xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events">
  <events xmlns="http://schemas.microsoft.com/win/2004/08/events">
<provider name="My-Source" guid="{a1ed8a83-d5e4-5d15-84b5-d50d7b6d5cb5}" resourceFileName="My.dll" messageFileName="My.dll" symbol="MySource">
 <keywords><keyword name="Session3" message="$(string.keyword_Session3)" mask="0x100000000000"/></keywords>
 <tasks>
  <task name="Request" message="$(string.task_Request)" value="1"/>
  <task name="Flag" message="$(string.task_Flag)" value="65532"/>
 </tasks>
 <opcodes></opcodes>
 <maps><valueMap name="Mode"><map value="0x1" message="$(string.map_ModeOn)"/></valueMap></maps>
 <events>
  <event value="1" version="0" level="win:LogAlways" symbol="RequestStart" task="Request" opcode="win:Start" template="RequestStartArgs"/>
  <event value="2" version="1" level="win:Informational" symbol="Flag" task="Flag" template="FlagArgs"/>
 </events>
 <templates>
  <template tid="RequestStartArgs"><data name="id" inType="win:GUID"/><data name="when" inType="win:FILETIME"/></template>
  <template tid="FlagArgs">
   <data name="on" inType="win:Boolean"/><data name="mode" inType="win:Int32" map="Mode"/>
   <data name="dataSize" inType="win:UInt32"/><data name="data" inType="win:Binary" length="dataSize"/>
   <data name="letter" inType="win:UInt16" outType="xs:string"/>
  </template>
 </templates>
</provider>
</events></instrumentation>
<localization><resources culture="en-US"><stringTable>
 <string id="keyword_Session3" value="Session3"/><string id="map_ModeOn" value="On"/>
 <string id="task_Flag" value="Flag"/><string id="task_Request" value="Request"/>
</stringTable></resources></localization></instrumentationManifest>"#;
    let manifest = parse(xml);
    assert_eq!(manifest.rejected, []);
    let [request, flag] = &manifest.providers[0].events[..] else { panic!("two events are declared") };
    assert_eq!(request.schema.event_name.as_deref(), Some("Request/Start"));
    assert_eq!(request.schema.fields, [Field::value("id", Wire::Guid), Field::value("when", Wire::FileTime)]);
    assert_eq!((flag.task, flag.schema.event_name.as_deref()), (65532, Some("Flag")));
    let expected = [
        Field::value("on", Wire::Bool32),
        Field { map: flag.schema.fields[1].map.clone(), ..Field::value("mode", Wire::Int32) },
        Field::value("dataSize", Wire::UInt32),
        value("data", Wire::Binary, Meaning::Plain, Length::Field(sibling(2))),
        value("letter", Wire::UInt16, Meaning::Text, Length::Natural),
    ];
    assert_eq!(flag.schema.fields, expected);
    assert_eq!(flag.schema.fields[1].map.as_ref().unwrap().entries(), [(1, "On".to_owned())]);
}

#[test]
fn utf_16_files_read_alike() {
    let bytes: Vec<u8> = [0xfeff].into_iter().chain(SMALL.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    assert_eq!(Manifest::parse(&bytes, None).unwrap().providers, parse(SMALL).providers);
}

#[test]
fn lost_structures_make_events_of_regenerated_files_doubtful() {
    for (fields, attributes, doubtful) in [
        ("<data name='S' inType='win:31'/>", "", true),
        ("<data name='S' inType='win:CountedMbcsString'/>", "", true),
        ("<data name='S' inType='win:CountedUnicodeString'/>", "", false),
        ("<data name='S' inType='win:CountedUnicodeString'/>", "source='Xml'", true),
        ("<data name='S' inType='win:Binary'/>", "source='Xml'", true),
        ("<data name='S' inType='win:UInt32'/>", "source='Xml'", false),
    ] {
        let manifest = parse(&with_fields(fields, attributes));
        assert_eq!(manifest.providers[0].events[0].trust.is_doubtful(), doubtful, "{fields} {attributes}");
    }
    let manifest = parse(&with_fields("<data name='S' inType='win:Binary'/>", "source='Wbem'"));
    let expected = value("S", Wire::Binary, Meaning::Plain, Length::Fixed(16));
    assert_eq!(manifest.providers[0].events[0].schema.fields, [expected]);
}

#[test]
fn what_cannot_be_used_is_reported_with_its_line() {
    let field = |text: &str| rejected(&with_fields(text, ""));
    assert_eq!(field("\n<data name='A' inType='win:Odd'/>"), ["line 3: expected a known inType, found \"win:Odd\""]);
    assert_eq!(
        field("<data name='A' inType='win:UInt8' outType='xs:odd'/>"),
        ["line 2: expected a known outType, found \"xs:odd\""]
    );
    assert_eq!(
        field("<data name='A' inType='win:Binary' length='B'/><data name='B' inType='win:UInt8'/>"),
        ["line 2: expected an earlier integer field \"B\" as length, found none"]
    );
    assert_eq!(
        field("<data name='B' inType='win:UnicodeString'/><data name='A' inType='win:UInt8' count='B'/>"),
        ["line 2: expected an earlier integer field \"B\" as count, found none"]
    );
    assert_eq!(
        field("<data name='A' inType='win:UInt8' count='4294967296'/>"),
        ["line 2: expected a count of 32 bits, found 4294967296"]
    );
    assert_eq!(
        field("<data name='A' inType='win:UInt8' map='M'/>"),
        ["line 2: expected a value or bit map \"M\", found none"]
    );
    let event = |attributes: &str| {
        let guid = "{01020304-0506-0708-090a-0b0c0d0e0f10}";
        rejected(&format!("<m><provider guid='{guid}'>\n<events>\n<event {attributes}/></events></provider></m>"))
    };
    assert_eq!(event("value='65536'"), ["line 3: expected an event value of 16 bits"]);
    assert_eq!(event("value='1' version='256'"), ["line 3: expected a version of 8 bits on event 1"]);
    assert_eq!(event("value='1' template='T'"), ["line 3: expected template \"T\" of event 1, found none"]);
    assert_eq!(event("value='1' task='T'"), ["line 3: expected a declared task, found \"T\""]);
    assert_eq!(event("value='1' keywords='0x1 K'"), ["line 3: expected a declared keyword, found \"K\""]);
    assert_eq!(rejected("<m>\n<provider name='P'/></m>"), ["line 2: expected a GUID as guid of <provider>"]);
    assert_eq!(rejected("<m/>"), ["line 1: expected a <provider>, found none"]);
}

#[test]
fn an_undecodable_field_leaves_those_before_it() {
    let xml = with_fields("<data name='A' inType='win:UInt8'/><data name='B' inType='win:Odd'/>", "");
    let event = &parse(&xml).providers[0].events[0];
    assert!(event.trust.is_doubtful());
    assert_eq!(event.schema.fields, [Field::value("A", Wire::UInt8), Field::value("B", Wire::Binary)]);
}

#[test]
fn the_spellings_of_regenerated_files_are_understood() {
    let xml = with_fields(
        "<data name='HashSize' inType='win:UInt32'/><data name='Hash' inType='win:Binary' length='Hash Size'/>",
        "source='Xml'",
    )
    .replace("symbol='E'", "symbol='E' level='win:Always' task='task_0' opcode='win:DCStart'");
    let manifest = parse(&xml);
    assert_eq!(manifest.rejected, []);
    let event = &manifest.providers[0].events[0];
    assert_eq!((event.level, event.task, event.opcode, event.trust.is_doubtful()), (0, 0, 3, false));
    assert_eq!(event.schema.fields[1], value("Hash", Wire::Binary, Meaning::Plain, Length::Field(sibling(0))));
}

#[test]
fn names_that_only_count_are_none() {
    let event = |task: &str, opcode: &str, symbol: &str| {
        let events = format!("symbol='{symbol}' task='{task}' opcode='{opcode}'");
        let tasks = "<tasks><task name='task_7' value='7'/><task name='task_8' value='9'/></tasks>\
                     <opcodes><opcode name='opcode_64' value='64'/><opcode name='Load' value='65'/></opcodes><events>";
        let manifest = parse(&with_fields("", "").replace("symbol='E'", &events).replace("<events>", tasks));
        assert_eq!(manifest.rejected, []);
        let ManifestEvent { schema, symbol, .. } = manifest.providers[0].events[0].clone();
        (schema.event_name.clone(), schema.task_name.clone(), symbol.unwrap())
    };
    let named = |name: &str| Some(name.to_owned());
    for (found, expected) in [
        (event("task_0", "win:Info", "task_0160"), (None, None, "task_0160".to_owned())),
        (event("task_0", "win:Start", "task_0Start2_V1"), (named("Start"), None, "task_0Start2_V1".to_owned())),
        (event("task_0", "opcode_64", "task_0PCODE_64"), (None, None, "task_0PCODE_64".to_owned())),
        (event("task_7", "Load", "task_7Load"), (named("Load"), None, "task_7Load".to_owned())),
        // Another number than its own is a name that somebody gave.
        (event("task_8", "win:Info", "X"), (named("task_8"), named("task_8"), "X".to_owned())),
        (event("win:None", "win:Info", "task_0160"), (named("task_0160"), None, "task_0160".to_owned())),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn structures_nest_no_deeper_than_payloads_are_read() {
    let nested = format!("{}{}", "<struct name='S'>".repeat(40), "</struct>".repeat(40));
    assert_eq!(rejected(&with_fields(&nested, "")), ["line 2: expected at most 32 levels of structures, found more"]);
}

#[test]
fn a_small_file_cannot_ask_for_gigabytes() {
    let fields = "<data name='A' inType='win:UInt8'/>".repeat(4000);
    let events = "<event value='1' template='T'/>".repeat(2000);
    let xml = format!(
        "<m><provider guid='{{01020304-0506-0708-090a-0b0c0d0e0f10}}'><templates><template tid='T'>{fields}\
         </template></templates><events>{events}</events></provider></m>"
    );
    let manifest = parse(&xml);
    let kept = manifest.providers[0].events.len();
    assert!(kept * 4000 * size_of::<Field>() <= 64 << 20, "{kept} events are kept");
    // Each of the others is reported, the first thousand whole.
    let [reported @ .., more] = &manifest.rejected[..] else { panic!("rejections") };
    let expected = format!("line 1: {} more from here", 2000 - kept - 1000);
    assert_eq!((reported.len(), more.to_string()), (1000, expected));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[<>/a-c='\" &\n]{0,200}") {
        let _ = Manifest::parse(text.as_bytes(), Some("de-DE"));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Manifest::parse(&bytes, None);
    }

    #[test]
    fn a_mutated_manifest_is_read_or_refused(
        changes in prop::collection::vec((0usize..10_000, "[<>/\"'& 0-9a-z]"), 1..6), cut in 0usize..10_000,
    ) {
        let mut bytes = SMALL.as_bytes().to_vec();
        for (at, text) in changes {
            let at = at % bytes.len();
            bytes[at] = text.as_bytes()[0];
        }
        bytes.truncate(cut.max(3000));
        let _ = Manifest::parse(&bytes, None);
    }
}
