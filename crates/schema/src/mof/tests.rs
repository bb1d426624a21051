use super::*;
use crate::manifest::ProviderSchemas;
use crate::model::{Count, Field, FieldKind, Length, MapKind, Meaning};
use crate::trust::Trust;

const PROVIDER: &str = "{3f92e6e0-9886-434e-85db-0d11d3904c0a}";
const CLASS: &str = "{b49d5931-ad85-4070-b1b1-3f81f1532875}";

/// A provider, a class of it, and one event with these properties.
fn with_properties(properties: &str) -> String {
    format!(
        "#pragma namespace (\"\\\\\\\\.\\\\Root\\\\WMI\")\n#pragma autorecover\n\
         [Dynamic, Description(\"Lab\") : amended, Guid(\"{PROVIDER}\"), locale(\"MS\\\\0x409\")]\n\
         class Lab : EventTrace {{ [Description(\"Flags\"), Values{{\"A\"}}, ValueMap{{\"0x1\"}}] uint32 Flags; }};\n\
         [Dynamic, Guid(\"{CLASS}\"), DisplayName(\"Work\") : amended]\nclass Lab_Work : Lab {{}};\n\
         [Dynamic, EventType(10), EventTypeName(\"Go\") : amended toinstance]\nclass Lab_Work_Go : Lab_Work {{\n\
         {properties}\n}};\n"
    )
}

fn faults(mof: &Mof) -> Vec<String> {
    mof.rejected.iter().map(ToString::to_string).collect()
}

/// A field as one word: `UInt32/Hex=4*2 Name`.
fn short(field: &Field) -> String {
    let FieldKind::Value { wire, meaning, length } = &field.kind else { panic!("no structure") };
    let meaning = if *meaning == Meaning::Plain { String::new() } else { format!("/{meaning:?}") };
    let length = match length {
        Length::Natural => String::new(),
        Length::Fixed(length) => format!("={length}"),
        Length::Field(field) => format!("=#{}", field.index),
    };
    let count = match field.count {
        Count::One => String::new(),
        Count::Fixed(count) => format!("*{count}"),
        Count::Field(field) => format!("*#{}", field.index),
        other => format!("*{other:?}"),
    };
    format!("{wire:?}{meaning}{length}{count} {}", field.name)
}

fn fields(class: &ProviderSchemas) -> Vec<String> {
    class.events[0].schema.fields.iter().map(short).collect()
}

/// Declarations of properties, and what each is.
const ENCODINGS: &[(&str, &str)] = &[
    ("uint8 A;", "UInt8 A"),
    ("sint8 A;", "Int8 A"),
    ("UInt16 A;", "UInt16 A"),
    ("sint16 A;", "Int16 A"),
    ("uint32 A;", "UInt32 A"),
    ("sint32 A;", "Int32 A"),
    ("uint64 A;", "UInt64 A"),
    ("sint64 A;", "Int64 A"),
    ("real32 A;", "Float A"),
    ("real64 A;", "Double A"),
    ("boolean A;", "Bool8 A"),
    ("char16 A;", "Utf16Unit A"),
    ("string A;", "Ansi A"),
    ("[format(\"x\")] uint32 A;", "UInt32/Hex A"),
    ("[Format(\"X\"), read, key] uint64 A = 5;", "UInt64/Hex A"),
    ("[format(\"c\")] uint8 A;", "AnsiChar A"),
    ("[format(\"w\")] string A;", "Utf16 A"),
    ("[format(\"a\")] string A;", "Ansi A"),
    ("[StringTermination(\"NullTerminated\"), format(\"w\")] string A;", "Utf16 A"),
    ("[StringTermination(\"NullTerminated\")] string A;", "Ansi A"),
    ("[StringTermination(\"Counted\"), format(\"w\")] string A;", "CountedUtf16 A"),
    ("[StringTermination(\"counted\")] string A;", "CountedAnsi A"),
    ("[StringTermination(\"ReverseCounted\"), format(\"w\")] string A;", "ReverseCountedUtf16 A"),
    ("[StringTermination(\"ReverseCounted\")] string A;", "ReverseCountedAnsi A"),
    ("[StringTermination(\"NotCounted\"), format(\"w\")] string A;", "RestUtf16 A"),
    ("[StringTermination(\"NotCounted\")] string A;", "RestAnsi A"),
    ("[XMLFragment, format(\"w\")] string A;", "Utf16/Xml A"),
    ("[pointer] uint32 A;", "Pointer A"),
    ("[Pointer(true)] object A;", "Pointer A"),
    ("[pointer(false)] uint32 A;", "UInt32 A"),
    ("[PointerType] uint32 A;", "Pointer A"),
    ("[extension(\"Guid\")] object A;", "Guid A"),
    ("[Extension(\"IPAddr\")] object A;", "IPv4 A"),
    ("[extension(\"IPAddrV4\")] object A;", "IPv4 A"),
    ("[extension(\"IPAddrV6\")] object A;", "IPv6 A"),
    ("[extension(\"Port\")] object A;", "Port A"),
    ("[extension(\"sid\")] object A;", "WbemSid A"),
    ("[extension(\"SizeT\"), format(\"x\")] object A;", "SizeT A"),
    ("[extension(\"WmiTime\")] object A;", "TraceTime A"),
    ("[extension(\"RString\")] object A;", "Ansi A"),
    ("[extension(\"RWString\")] object A;", "Utf16 A"),
    ("[extension(\"Variant\")] object A;", "HexDump A"),
    ("[extension(\"NoPrint\")] uint8 A[176];", "UInt8/NoPrint*176 A"),
    ("uint32 A[0x10];", "UInt32*16 A"),
    ("[MAX(16)] uint8 A[];", "UInt8*16 A"),
    ("char16 A[256];", "Utf16=256 A"),
    ("[format(\"s\")] char16 A[4];", "Utf16=4 A"),
    ("[format(\"s\")] uint8 A[16];", "Ansi=16 A"),
    ("[format(\"s\"), Max(8)] sint8 A[];", "Ansi=8 A"),
    ("uint8 A[8];", "UInt8*8 A"),
    ("[extension(\"Guid\")] object A[2];", "Guid*2 A"),
];

#[test]
fn each_type_and_qualifier_has_its_encoding() {
    for (property, expected) in ENCODINGS {
        let numbered = match property.strip_prefix('[') {
            Some(rest) => format!("[WmiDataId(1), {rest}"),
            None => format!("[WmiDataId(1)] {property}"),
        };
        let mof = Mof::parse(with_properties(&numbered).as_bytes());
        assert_eq!(faults(&mof), [""; 0], "{property}");
        assert_eq!(fields(&mof.classes[0]), [*expected], "{property}");
        assert_eq!(mof.classes[0].events[0].trust, Trust::Declared, "{property}");
    }
}

#[test]
fn what_cannot_be_read_is_named_and_doubtful() {
    for (property, expected) in [
        ("[WmiDataId(1)] object A;", "A: expected an extension of an object, found none"),
        ("[WmiDataId(1), extension(\"Odd\")] object A;", "A: expected a known extension, found \"Odd\""),
        ("[WmiDataId(1)] datetime A;", "A: expected a known type, found datetime"),
        ("[WmiDataId(1)] Other ref A;", "A: expected a known type, found ref"),
        (
            "[WmiDataId(1)] uint8 A[];",
            "A: expected the number of elements of an array, found neither MAX nor WmiSizeIs",
        ),
        ("[WmiDataId(1), WmiSizeIs(\"N\")] uint8 A[];", "A: expected an integer N before it, found none"),
        (
            "[WmiDataId(1), StringTermination(\"Odd\")] string A;",
            "A: expected a known StringTermination, found \"Odd\"",
        ),
    ] {
        let mof = Mof::parse(with_properties(property).as_bytes());
        assert_eq!(faults(&mof), [format!("line 9: {expected}")]);
        assert_eq!(fields(&mof.classes[0]), ["Binary A"], "{property}");
        assert_eq!(mof.classes[0].events[0].trust, Trust::Doubtful, "{property}");
    }
}

#[test]
fn values_come_in_the_order_of_their_numbers() {
    let text = with_properties(
        "[WmiDataId(3), WmiSizeIs(\"count\")] uint16 C[];\n[WmiDataId(2), read] uint32 Count;\n\
         [WmiDataId(1)] uint8 A;\nuint8 NoValue;\nuint32 Method([in] uint32 X);",
    );
    let mof = Mof::parse(text.as_bytes());
    assert_eq!(fields(&mof.classes[0]), ["UInt8 A", "UInt32 Count", "UInt16*#1 C"]);
    assert_eq!(faults(&mof), ["line 12: expected WmiDataId on NoValue"]);
    let mof = Mof::parse(with_properties("[WmiDataId(2)] uint8 A;\n[WmiDataId(2)] uint16 B;").as_bytes());
    assert_eq!(faults(&mof), ["line 10: expected one property of WmiDataId(2), found several"]);
    assert_eq!(mof.classes[0].events[0].trust, Trust::Doubtful);
}

#[test]
fn values_have_names() {
    for (qualifiers, kind, expected) in [
        ("ValueMap{\"0x1\", \"3\"}, Values{\"One\", \"Three\"}", MapKind::Values, &[(1, "One"), (3, "Three")][..]),
        ("Values{\"Zero\", \"One\"}", MapKind::Values, &[(0, "Zero"), (1, "One")]),
        ("ValueType(\"index\"), ValueMap{1}, Values{\"One\"}", MapKind::Values, &[(1, "One")]),
        ("ValueMap{\"0x4\"}, ValueType(\"flag\"), Values{\"Four\"} : amended", MapKind::Bits, &[(4, "Four")]),
        ("BitMap{\"0\", \"5\"}, BitValues{\"Low\", \"High\"}", MapKind::Bits, &[(1, "Low"), (32, "High")]),
        ("BitValues{\"First\", \"Sec\" \"ond\"}", MapKind::Bits, &[(1, "First"), (2, "Second")]),
    ] {
        let mof = Mof::parse(with_properties(&format!("[WmiDataId(1), {qualifiers}] uint32 A;")).as_bytes());
        assert_eq!(faults(&mof), [""; 0], "{qualifiers}");
        let map = mof.classes[0].events[0].schema.fields[0].map.clone().unwrap();
        let entries: Vec<(u64, &str)> = map.entries().iter().map(|(value, name)| (*value, name.as_str())).collect();
        assert_eq!((map.name.as_str(), map.kind, &entries[..]), ("Lab_Work_Go.A", kind, expected), "{qualifiers}");
    }
    for (qualifiers, expected) in [
        ("ValueMap{\"1\"}, Values{\"A\", \"B\"}", "expected a name for each of 1 values, found 2 names"),
        ("ValueMap{\"x\"}, Values{\"A\"}", "expected a number that has a name, found \"x\""),
        ("BitMap{\"64\"}, BitValues{\"A\"}", "expected a bit from 0 to 63, found 64"),
    ] {
        let mof = Mof::parse(with_properties(&format!("[WmiDataId(1), {qualifiers}] uint32 A;")).as_bytes());
        assert_eq!(faults(&mof), [format!("line 9: A: {expected}")]);
        assert_eq!(fields(&mof.classes[0]), ["UInt32 A"]);
    }
}

#[test]
fn classes_have_versions_and_events_names() {
    let other = "{11111111-2222-3333-4444-555555555555}";
    let text = format!(
        "[Guid(\"{PROVIDER}\")] class P : EventTrace {{}};\n\
         [Guid(\"{CLASS}\"), EventVersion(0)] class W_V0 : P {{}};\n\
         [EventType{{1, 20}}, EventTypeName{{\"Start\", \"Odd\"}}] class W_V0_T : W_V0 {{ [WmiDataId(1)] uint8 A; }};\n\
         [Guid(\"{CLASS}\"), DisplayName(\"Work\")] class W : P {{}};\n\
         [EventType(1), EventLevel(4)] class W_T : w {{ [WmiDataId(1)] uint16 A; }};\n\
         [Guid(\"{other}\"), EventType(240)] class Alone : EventTrace {{}};\n\
         [EventType(1)] class NoGuid : EventTrace {{}};\n\
         [EventType(1)] class Loop1 : Loop2 {{}};\nclass Loop2 : Loop1 {{}};\n\
         [EventType(300)] class Wide : W {{}};\n\
         instance of P {{ Flags = 1; }};\n\
         Qualifier Odd : boolean = false, Scope(class);\n"
    );
    let mof = Mof::parse(text.as_bytes());
    assert_eq!(
        faults(&mof),
        [
            "line 7: expected a Guid on NoGuid or a class that it derives from",
            "line 8: expected Loop1 to derive from at most 32 classes",
            "line 10: expected an event type of 8 bits, found \"300\"",
        ]
    );
    let [alone, work] = &mof.classes[..] else { panic!("two classes: {:?}", mof.classes) };
    let shown = |class: &ProviderSchemas| -> Vec<(u16, u8, u8, Option<String>)> {
        let events = class.events.iter();
        events.map(|event| (event.id, event.version, event.level, event.schema.event_name.clone())).collect()
    };
    let name = |text: &str| Some(text.to_owned());
    assert_eq!((alone.name.as_str(), alone.control), ("Alone", None));
    assert_eq!(shown(alone), [(240, 0, 0, name("Alone/Receive"))]);
    assert_eq!((work.name.as_str(), work.control), ("P-Work", PROVIDER.parse().ok()));
    let expected = [(1, 0, 0, name("W_V0/Start")), (1, 1, 4, name("Work/Start")), (20, 0, 0, name("W_V0/Odd"))];
    assert_eq!(shown(work), expected);
    let found = |id, version| work.newest_up_to(id, version).iter().map(|event| event.version).collect::<Vec<_>>();
    assert_eq!(
        [found(1, 0), found(1, 1), found(1, 9), found(20, 3), found(21, 0)],
        [vec![0], vec![1], vec![1], vec![0], vec![]]
    );
}

#[test]
fn what_is_no_declaration_leaves_the_rest_alone() {
    let good = with_properties("[WmiDataId(1)] uint8 A;");
    for (damage, expected) in [
        ("class { };\n", "line 1: expected the name of a class, found {"),
        ("[Guid(] class X { };\n", "line 1: expected qualifiers in brackets, with commas between"),
        ("struct X { int a; };\n", "line 1: expected a class, found struct"),
    ] {
        let mof = Mof::parse(format!("{damage}{good}").as_bytes());
        assert_eq!(faults(&mof), [expected], "{damage}");
        assert_eq!(fields(&mof.classes[0]), ["UInt8 A"], "{damage}");
    }
    // A class that is broken inside ends at its own brace.
    let mof = Mof::parse(format!("class X {{ [Values{{ @ }}] uint8 A; uint8; }};\n{good}").as_bytes());
    assert_eq!(
        faults(&mof),
        [
            "line 1: expected qualifiers in brackets, with commas between, found }",
            "line 1: expected the name of a property, found ;",
        ]
    );
    assert_eq!(mof.classes.len(), 1);
}

#[test]
fn every_encoding_reads_alike() {
    let text = with_properties("/* ü */ [WmiDataId(1) /* one */] uint8 Ü; // end");
    let wide: Vec<u8> = std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    for bytes in [text.as_bytes(), &wide] {
        let mof = Mof::parse(bytes);
        assert_eq!((fields(&mof.classes[0]), faults(&mof)), (vec!["UInt8 Ü".to_owned()], vec![]));
    }
}

#[test]
fn texts_resolve_escapes() {
    use std::borrow::Cow;

    use tokens::Token::{self, Mark, Number, Text, Word};
    fn found(text: &str) -> Vec<Token<'_>> {
        tokens::Tokens::new(text).map(|(_, token)| token).collect()
    }
    assert_eq!(found(r#""a\\b\"c\x41\n" 'q'"#), [Text(Cow::Borrowed("a\\b\"cA\n")), Text(Cow::Borrowed("q"))]);
    assert_eq!(found("\"open\nclass"), [Text(Cow::Borrowed("open")), Word("class")]);
    assert_eq!(
        found("-1 0x1F 101b 2.5 a_1{}"),
        [Number("-1"), Number("0x1F"), Number("101b"), Number("2.5"), Word("a_1"), Mark('{'), Mark('}')]
    );
    let numbers = ["0x1F", "101b", "7", "-1", "2.5", ""].map(tokens::number);
    assert_eq!(numbers, [Some(31), Some(5), Some(7), None, None, None]);
    assert_eq!(found("/* open"), []);
}
