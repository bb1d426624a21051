use std::fmt::Write as _;

use base::guid::Guid;

use super::*;
use crate::catalog::SchemaCatalog;
use crate::describe::{Document, FORMAT, ProviderDescription};
use crate::files::SchemaFile;
use crate::load::SchemaSet;
use crate::model::{Count, FieldKind, FieldRef, Length, MapKind, Meaning, Wire};
use crate::trust::Trust;
use crate::user::UserSchemas;

const LAB: &str = "11111111-2222-3333-4444-555555555555";

fn load(name: &str, text: &str) -> UserSchemas {
    let mut loaded = SchemaSet::default();
    assert_eq!(loaded.add(SchemaFile::parse(name, text.as_bytes().to_vec(), None).unwrap()), None);
    loaded.schemas
}

/// What `schema export` writes of files.
fn exported(schemas: UserSchemas) -> String {
    let catalog = SchemaCatalog::new(schemas, UserSchemas::default());
    let mut providers = catalog.providers(|_, _| true);
    providers.retain(|provider| provider.from.contains(&crate::catalog::Origin::Given));
    let described = providers.into_iter().map(|provider| ProviderDescription::of(&catalog, provider, true));
    let mut described: Vec<_> = described.collect();
    described.iter_mut().for_each(|one| one.keep_origins(|origin| *origin == crate::catalog::Origin::Given));
    serde_json::to_string_pretty(&Document { format: FORMAT, providers: described }).unwrap()
}

fn read(text: &str) -> Facts {
    Facts::parse(text.as_bytes()).unwrap()
}

/// A document with one provider of these keys.
fn document(keys: &str) -> String {
    format!(r#"{{"format":1,"providers":[{{"name":"Lab","guid":"{LAB}","kind":"manifest",{keys}}}]}}"#)
}

/// Fields of one event.
fn with_fields(fields: &str) -> String {
    document(&format!(r#""known_events":[{{"id":1,"version":0,"layouts":[{{"fields":[{fields}]}}]}}]"#))
}

const MANIFEST: &str = "<e><provider name='Lab' guid='{11111111-2222-3333-4444-555555555555}' \
    groupGuid='{00000000-0000-0000-0000-000000000007}' controlGuid='{00000000-0000-0000-0000-000000000008}'>\
    <tasks><task name='Widget' value='3'/></tasks><opcodes><opcode name='Turn' value='12'/></opcodes>\
    <keywords><keyword name='Parts' mask='0x10'/><keyword name='Far' mask='0x8000000000000000'/></keywords>\
    <channels><channel name='Lab/Op' value='17' type='Operational' chid='c'/></channels>\
    <maps><valueMap name='M'><map value='1' message='one'/><map value='4294967295' message='last'/></valueMap>\
    <bitMap name='B'><map value='0x4' message='four'/></bitMap></maps>\
    <templates><template tid='T'><data name='N' inType='win:UInt16'/>\
    <data name='A' inType='win:UInt32' count='N' map='M'/><data name='F' inType='win:UInt32' map='B'/>\
    <struct name='S' count='N'><data name='L' inType='win:UInt8'/><data name='D' inType='win:Binary' length='L' outType='win:IPv6'/>\
    <data name='E' inType='win:UnicodeString' length='7'/></struct></template>\
    <template tid='U'><data name='Odd' inType='win:Binary' length='Nothing'/></template></templates>\
    <events><event value='1' version='2' level='win:Error' task='Widget' opcode='Turn' keywords='Parts Far' template='T' symbol='MADE' channel='c' message='Made %1'/>\
    <event value='2' template='U'/><event value='3'/></events></provider></e>";

#[test]
fn a_manifest_comes_back_whole() {
    let original = load("lab.man", MANIFEST);
    let guid: Guid = LAB.parse().unwrap();
    let facts = read(&exported(original.clone()));
    assert_eq!(facts.rejected, []);
    let (expected, _) = original.manifests(guid).next().unwrap();
    let [found] = &facts.providers[..] else { panic!("one provider") };
    assert_eq!(found.events, expected.events);
    assert_eq!(expected.events.len(), 3);
    assert_eq!(expected.events[1].trust, Trust::Doubtful);
    assert_eq!((&found.name, found.guid), (&expected.name, guid));
    assert_eq!((found.group, found.control), (expected.group, expected.control));
    assert!(found.group.is_some() && found.control.is_some());
    assert_eq!(found.keywords, expected.keywords);
    // Equal maps are one.
    let map = |at: usize| found.events[0].schema.fields[at].map.clone().unwrap();
    assert_eq!(map(1).entries(), [(1, "one".to_owned()), (4_294_967_295, "last".to_owned())]);
}

#[test]
fn messages_come_back_whole() {
    let items = "ItemChar ItemUShort ItemLongLong ItemULongX ItemPtr ItemListByte(a,b) ItemListLong(x,y=5,z) ItemSetShort(r,w) \
        ItemEnum(Kind) ItemFlagsEnum(Kind) ItemNTSTATUS ItemNDIS_OID ItemRWString ItemRString ItemPString ItemHexDump ItemOdd(1) \
        ItemTimestamp ItemIPV6Addr ItemMACAddr ItemSetLong ItemDouble";
    let mut tmf = "01e9b841-7d67-315a-7b92-23b2033356de Lab-Driver // SRC=Main.c MJ=Comp MN=Sub\n".to_owned();
    for (item, number) in items.split_whitespace().zip(10..) {
        let _ = write!(tmf, "#typev Main_c{number} {number} \"%0[%!FUNC!] %10!s!\" // LEVEL=L FLAGS=F FUNC=Run\n{{\n");
        let _ = write!(tmf, "a->b({number}), {item} -- 10\n}}\n");
    }
    tmf += "#enumv Kind\n{\nOne,0x1\nTwo,0x20\n}\n";
    let original = load("lab.tmf", &tmf);
    let facts = read(&exported(original.clone()));
    assert_eq!(facts.rejected, []);
    let expected: Vec<_> = original.messages.sorted().into_iter().map(|message| (**message).clone()).collect();
    assert_eq!(expected.len(), 22);
    assert_eq!(facts.messages, expected);
    assert!(facts.providers.is_empty() && facts.classes.is_empty());
}

#[test]
fn what_is_exported_again_is_the_same() {
    let first = exported(load("lab.man", MANIFEST));
    let again = exported(load("facts.json", &first));
    assert_eq!(again, first.replace("lab.man", "facts.json"));
}

#[test]
fn a_document_is_read_as_docs_say() {
    let text = document(
        r#""keywords":[{"mask":"0x10","name":"Parts"}],"more":[1,{"a":null}],
        "known_events":[{"id":7,"version":1,"name":"Widget/Start","level":4,"task":"Widget","opcode":null,"keywords":["Parts"],
        "layouts":[{"from":"store","origin":"x","trust":"inferred","build":22631,"fields":[
        {"name":"Count","in_type":"UInt16"},
        {"name":"Sizes","in_type":"UInt32","out_type":"Hex","count":{"field":"Count"}},
        {"name":"Color","in_type":"UInt8","map":{"name":"C","kind":"bits","entries":[{"value":2,"name":"Green"}]}},
        {"name":"Pair","in_type":"Struct","count":{"constant":2},"fields":[
        {"name":"Text","in_type":"Utf16","length":{"field":"Count"},"hidden":true},
        {"name":"Rest","in_type":"UInt8","count":"rest","optional":true}]},
        {"name":"Tail","in_type":"Binary","length":{"constant":3},"count":"prefixed"}]}]}]"#,
    );
    let facts = read(&text);
    assert_eq!(facts.rejected, []);
    let provider = &facts.providers[0];
    assert_eq!(provider.keywords, [(16, "Parts".to_owned())]);
    let [event] = &provider.events[..] else { panic!("one event") };
    assert_eq!((event.id, event.version, event.level, event.trust), (7, 1, 4, Trust::Inferred));
    assert_eq!((event.provenance.build, event.provenance.is_unnumbered), (Some(22_631), true));
    assert_eq!((event.numbers().task, event.numbers().opcode), (None, None));
    assert_eq!(event.schema.event_name.as_deref(), Some("Widget/Start"));
    let fields = &event.schema.fields;
    assert_eq!(fields[1].count, Count::Field(FieldRef { up: 0, index: 0 }));
    let FieldKind::Value { wire, meaning, length } = fields[1].kind else { panic!("a value") };
    assert_eq!((wire, meaning, length), (Wire::UInt32, Meaning::Hex, Length::Natural));
    assert_eq!(fields[2].map.as_ref().map(|map| (map.kind, map.entries().len())), Some((MapKind::Bits, 1)));
    let FieldKind::Struct(members) = &fields[3].kind else { panic!("a structure") };
    assert_eq!(fields[3].count, Count::Fixed(2));
    let FieldKind::Value { length, .. } = members[0].kind else { panic!("a value") };
    assert_eq!((length, members[0].hidden), (Length::Field(FieldRef { up: 1, index: 0 }), true));
    assert_eq!((members[1].count, members[1].optional), (Count::Rest, true));
    let FieldKind::Value { length, .. } = fields[4].kind else { panic!("a value") };
    assert_eq!((length, fields[4].count), (Length::Fixed(3), Count::Prefixed));
}

#[test]
fn keys_may_come_in_any_order() {
    let text = format!(
        r#"{{"providers":[{{"known_events":[{{"version":0,"layouts":[{{"fields":[]}}],"id":3}}],"kind":"classic","guid":"{{{LAB}}}"}}],"format":1}}"#
    );
    let facts = read(&text);
    assert_eq!((facts.classes.len(), facts.providers.len(), facts.classes[0].events[0].id), (1, 0, 3));
}

#[test]
fn names_lead_to_the_nearest_field_unless_a_place_is_given() {
    let twice = r#"{"name":"N","in_type":"UInt8"},{"name":"N","in_type":"UInt8"},{"name":"A","in_type":"UInt8","count":{"field":"N"}"#;
    for (place, expected) in [("", 1), (r#","count_at":{"up":0,"index":0}"#, 0)] {
        let text = with_fields(&format!("{twice}{place}}}"));
        let facts = read(&text);
        let fields = facts.providers[0].events[0].schema.fields.clone();
        assert_eq!(fields[2].count, Count::Field(FieldRef { up: 0, index: expected }));
        let described = serde_json::to_string(&crate::described_fields::fields(&fields)).unwrap();
        assert_eq!(described.contains("count_at"), expected == 0, "{described}");
    }
    for place in [r#","count_at":{"up":0,"index":2}"#, r#","count_at":{"up":1,"index":0}"#] {
        let facts = read(&with_fields(&format!("{twice}{place}}}")));
        assert!(facts.providers[0].events.is_empty(), "{place}");
    }
}

#[test]
fn what_cannot_be_used_is_rejected_alone() {
    let field = |keys: &str| with_fields(&format!(r#"{{"name":"A","in_type":"UInt8"}},{{"name":"B",{keys}}}"#));
    let event = "provider \"Lab\", event 1 version 0: ";
    for (text, expected) in [
        (field(r#""in_type":"Sprocket""#), format!("{event}field \"B\": expected a known in_type, found \"Sprocket\"")),
        (
            field(r#""in_type":"Int8","out_type":"x""#),
            format!("{event}field \"B\": expected a known out_type, found \"x\""),
        ),
        (
            field(r#""in_type":"Int8","count":{"field":"C"}"#),
            format!("{event}field \"B\": expected an earlier field \"C\", found none"),
        ),
        (
            field(r#""in_type":"Utf16","length":{"field":"B"}"#),
            format!("{event}field \"B\": expected an earlier field \"B\", found none"),
        ),
        (
            field(r#""in_type":"Int8","map":{"name":"m","kind":"k","entries":[]}"#),
            format!("{event}field \"B\": expected a map of kind values or bits, found \"k\""),
        ),
        (
            document(r#""known_events":[{"id":1,"version":256}]"#),
            "provider \"Lab\", event 1 version 256: expected a version of at most 255, found 256".to_owned(),
        ),
        (
            document(r#""known_events":[{"id":1,"version":0,"layouts":[{}]}]"#),
            format!("{event}expected the key fields in each of its layouts, found none"),
        ),
        (
            document(r#""known_events":[{"id":1,"version":0,"layouts":[{"trust":"blind","fields":[]}]}]"#),
            format!("{event}expected a known trust, found \"blind\""),
        ),
        (
            document(r#""keywords":[{"mask":"16","name":"K"}]"#),
            "provider \"Lab\", keyword \"K\": expected a mask such as 0x10, found \"16\"".to_owned(),
        ),
        (
            document(r#""known_messages":[{"number":5,"format":"","arguments":[{"number":10,"expression":"x"}]}]"#),
            "provider \"Lab\", message 5: expected the item type of argument 10 as item, found none: export it anew"
                .to_owned(),
        ),
        (
            r#"{"format":1,"providers":[{"name":"A","guid":"x","kind":"manifest"}]}"#.to_owned(),
            "provider \"A\": expected a GUID as guid of the provider".to_owned(),
        ),
        (
            document("\"known_events\":[]").replace("manifest", "other"),
            "provider \"Lab\": expected manifest, classic or wpp as its kind, found \"other\"".to_owned(),
        ),
    ] {
        let rejected: Vec<String> = read(&text).rejected.iter().map(ToString::to_string).collect();
        assert_eq!(rejected, [expected], "{text}");
    }
    let mixed = document(r#""known_events":[{"id":1,"version":999},{"id":2,"version":0,"layouts":[{"fields":[]}]}]"#);
    let facts = read(&mixed);
    assert_eq!((facts.rejected.len(), facts.providers[0].events[0].id), (1, 2));
}

#[test]
fn what_is_no_such_document_is_refused() {
    let fault = |text: &str| Facts::parse(text.as_bytes()).unwrap_err().to_string();
    for (text, expected) in [
        ("{}", "expected the key format, found none"),
        (r#"{"format":2,"providers":[]}"#, "expected format 1, found format 2"),
        (r#"{"format":1}"#, "expected the key providers, found none"),
        ("{\n\"format\":1,\n\"providers\":7}", "line 3: invalid type: integer `7`, expected a list of providers"),
        (r#"{"format":1,"providers":[]} x"#, "trailing characters"),
    ] {
        assert!(fault(text).contains(expected), "{text}: {}", fault(text));
    }
    // Nothing overflows the stack.
    let deep = with_fields(&(r#"{"name":"S","in_type":"Struct","fields":["#.repeat(5000) + &"]}".repeat(5000)));
    assert!(fault(&deep).contains("recursion limit"), "{}", fault(&deep));
    assert!(is_facts("\n { \"format\": 1, \"providers\": ["));
    assert!(!is_facts("{\"format\":1,\"files\":[]}") && !is_facts("\"providers\""));
}

#[test]
fn what_there_is_no_room_for_is_left_out() {
    let events = (0..5000).map(|id| {
        let map = format!(r#"{{"name":"m{id}","kind":"values","entries":[{{"value":1,"name":"x"}}]}}"#);
        let field = format!(r#"{{"name":"A","in_type":"UInt8","map":{map}}}"#);
        format!(r#"{{"id":{id},"version":0,"layouts":[{{"fields":[{field}]}}]}}"#)
    });
    let text = document(&format!(r#""known_events":[{}]"#, events.collect::<Vec<_>>().join(",")));
    assert_eq!(read(&text).providers[0].events.len(), 5000);
    let facts = Facts::parse_within(text.as_bytes(), 1 << 20).unwrap();
    let [only] = &facts.rejected[..] else { panic!("said once: {}", facts.rejected.len()) };
    assert!(only.message.contains("expected a document that needs less memory"), "{only}");
    assert!((500..4000).contains(&facts.providers[0].events.len()), "{}", facts.providers[0].events.len());
}
