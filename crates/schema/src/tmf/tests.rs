use proptest::prelude::*;

use super::*;
use crate::wpp::MessageOrigin;

const SMALL: &str = r#"// PDB:  sample.pdb
01e9b841-7d67-315a-7b92-23b2033356de Sample // SRC=Main.c MJ= MN=
#typev Main_c141 15 "%0 [%!FUNC!] said "%10!s!" // %11!d!" //   LEVEL=TRACE_LEVEL_ERROR FLAGS=TRACE_MAIN FUNC=Class::operator ()
{
f(a, b), ItemListByte(Low, High) -- 10
Params->Status, ItemLong -- 11
}
#type Main_c7 0x "bad number"
{
a, ItemLong -- 10
}
#typev Main_c8 8 "no trailer"
{
}
#unknown thing
{
A=1
}
02e9b841-7d67-315a-7b92-23b2033356de Other // SRC= MJ= MN=
#typev Other_c1 1 "%10!d!"
{
a, ItemLong // 10
nonsense
}
what is this
#typev Other_c2 2 "open"
"#;

#[test]
fn messages_and_rejected_lines_are_distinguished() {
    let tmf = Tmf::parse(SMALL.as_bytes());
    let numbers: Vec<_> = tmf.messages.iter().map(|m| (&*m.origin.provider, m.number)).collect();
    assert_eq!(numbers, [("Sample", 15), ("Sample", 8), ("Other", 1)]);
    let first = &tmf.messages[0];
    assert_eq!(first.guid.to_string(), "01e9b841-7d67-315a-7b92-23b2033356de");
    assert_eq!(first.format, "%0 [%!FUNC!] said \"%10!s!\" // %11!d!");
    let expected = MessageOrigin {
        provider: "Sample".into(),
        source_file: "Main.c".into(),
        source_place: "Main_c141".into(),
        level: Some("TRACE_LEVEL_ERROR".into()),
        flags: Some("TRACE_MAIN".into()),
        function: Some("Class::operator ()".into()),
        ..MessageOrigin::default()
    };
    assert_eq!(first.origin, expected);
    let labels = ArgumentType::parse("ItemListByte(Low, High)");
    let items =
        [Argument::new("f(a, b)", 10, labels), Argument::new("Params->Status", 11, ArgumentType::parse("ItemLong"))];
    assert_eq!(first.arguments, items);

    let rejected: Vec<_> = tmf.rejected.iter().map(ToString::to_string).collect();
    assert_eq!(
        rejected,
        [
            "line 8: expected a message number of 16 bits, found \"0x\"",
            "line 15: expected #typev, #type or #enumv, found \"#unknown thing\"",
            "line 23: expected an argument and its number, found \"nonsense\"",
            "line 25: expected the GUID of a group, a message or a comment",
            "line 26: expected the arguments of message 2 in braces",
        ]
    );
    assert_eq!(tmf.messages[2].arguments[1].encoding, ArgumentType::Unknown("nonsense".into()));
}

const GROUP: &str = "01e9b841-7d67-315a-7b92-23b2033356de Lab // SRC=Main.c MJ= MN=\n";

/// A message with one argument.
fn one(number: u16, declared: &str) -> String {
    format!("#typev Main_c1 {number} \"%10!s!\" // FUNC=Run\n{{\nx, {declared} -- 10\n}}\n")
}

fn rejected(tmf: &Tmf) -> Vec<String> {
    tmf.rejected.iter().map(ToString::to_string).collect()
}

/// The names that the arguments of all messages show.
fn names(tmf: &mut Tmf) -> Vec<Vec<(u64, String)>> {
    let kinds = tmf.messages.iter().flat_map(|message| &message.arguments).map(|item| item.encoding.clone());
    kinds.map(|mut kind| kind.enumeration_mut().unwrap().map().entries().to_vec()).collect()
}

#[test]
fn enumerations_belong_to_the_messages_before_them() {
    let text = [
        GROUP,
        &one(10, "ItemEnum(State)"),
        &one(11, "ItemFlagsEnum(ns::flags)"),
        "#version 1\n#enumv State\n{\nIdle,0x0\nns::a<b,c>::Busy,0xFFFFFFFFFFFFFFFF\n// a comment\n}\n",
        "#enumv ns::flags\n{\nRead,1\n}\n#level x\n",
        // A second file.
        GROUP,
        &one(12, "ItemEnum(State)"),
        "#enumv State\n{\nOther,0x0\n}\n",
        &one(13, "ItemEnum(State)"),
    ];
    let mut tmf = Tmf::parse(text.concat().as_bytes());
    assert_eq!(rejected(&tmf), Vec::<String>::new());
    let owned = |names: &[(u64, &str)]| names.iter().map(|&(n, name)| (n, name.to_owned())).collect::<Vec<_>>();
    let states = owned(&[(0, "Idle"), (0xffff_ffff, "ns::a<b,c>::Busy")]);
    let other = owned(&[(0, "Other")]);
    assert_eq!(names(&mut tmf), [states, owned(&[(1, "Read")]), other.clone(), other]);
}

#[test]
fn a_bad_block_is_rejected_alone() {
    let flags = (0..1100).map(|value| format!("F{value},{value}\n")).collect::<Vec<_>>().concat();
    let text = [
        GROUP,
        &one(10, "ItemEnum(Missing)"),
        "#enumv Open\n{\nA,0x1\n",
        "#enumv Bad\n{\nA,0x1\nnonsense\n{\nB,2\n}\n",
        "#enumv\n{\nA,0x1\n}\n",
        "#enumv Many\n{\n",
        &flags,
        "}\n",
        &one(11, "ItemEnum(Bad)"),
        &one(12, "ItemFlagsEnum(Many)"),
    ];
    let mut tmf = Tmf::parse(text.concat().as_bytes());
    assert_eq!(
        rejected(&tmf),
        [
            "line 4: expected the enumeration \"Missing\" in this file, found none",
            "line 6: expected the values of Open in braces",
            "line 12: expected a name and its value, found \"nonsense\"",
            "line 13: expected a name and its value, found \"{\"",
            "line 16: expected the name of an enumeration",
            "line 1129: expected at most 1024 flags in \"Many\", found 1100: the rest is not named",
        ]
    );
    let names = names(&mut tmf);
    assert_eq!(names.iter().map(Vec::len).collect::<Vec<_>>(), [0, 2, 1100]);
}

#[test]
fn what_is_too_much_is_reported_and_counted() {
    let item = "value, ItemLong -- 10\n";
    let long = format!("#typev Main_c1 10 \"\" //\n{{\n{}}}\n", item.repeat(4000));
    let format = format!("#typev Main_c1 11 \"{}\" //\n{{\n}}\n", "x".repeat(70_000));
    let garbage = format!("{}\n", "#".repeat(500)).repeat(1500);
    let tmf = Tmf::parse([GROUP, &long, &format, &garbage, &one(12, "ItemLong")].concat().as_bytes());
    assert_eq!(tmf.messages.iter().map(|message| message.number).collect::<Vec<_>>(), [12]);
    let rejected = rejected(&tmf);
    assert_eq!(
        rejected[0],
        "line 3124: expected a message of at most 65536 bytes with its arguments, found 65557 or more"
    );
    assert_eq!(
        rejected[1],
        "line 4005: expected a message of at most 65536 bytes with its arguments, found 70016 or more"
    );
    let quoted = "#".repeat(80);
    assert_eq!(rejected[2], format!("line 4008: expected #typev, #type or #enumv, found \"{quoted}\""));
    assert_eq!((rejected.len(), rejected[1000].as_str()), (1001, "line 5005: and 502 more in this file"));
}

#[test]
fn names_of_a_group_have_an_end() {
    let group = format!("02e9b841-7d67-315a-7b92-23b2033356de {} // SRC=Main.c\n", "x".repeat(1000));
    let tmf = Tmf::parse([GROUP, &one(10, "ItemLong"), &group, &one(11, "ItemLong")].concat().as_bytes());
    assert_eq!(tmf.messages.iter().map(|message| message.number).collect::<Vec<_>>(), [10]);
    assert_eq!(
        rejected(&tmf),
        [
            "line 6: expected the names of a group in at most 1024 bytes, found 1051",
            "line 7: expected the GUID of the group before its first message",
        ]
    );
}

#[test]
fn the_end_of_a_message_line_records_its_origin() {
    let line =
        "#typev Main_c1 10 \"\" //   GLOBALS=Get() LEVEL=X COMPNAME=Storage SUBCOMP=Cache FUNC=Ns::operator () const";
    let tmf = Tmf::parse(format!("{GROUP}{line}\n{{\n}}\n").as_bytes());
    let expected = MessageOrigin {
        provider: "Lab".into(),
        source_file: "Main.c".into(),
        source_place: "Main_c1".into(),
        level: Some("X".into()),
        flags: None,
        function: Some("Ns::operator () const".into()),
        component: Some("Storage".into()),
        subcomponent: Some("Cache".into()),
    };
    assert_eq!(tmf.messages[0].origin, expected);
}

proptest! {
    #[test]
    fn any_text_is_read(text in "[#typenumv{}()\"/,%!0-9 \nItemLongabc-]{0,200}") {
        let _ = Tmf::parse(text.as_bytes());
    }

    #[test]
    fn a_mutated_file_is_read(changes in prop::collection::vec((0usize..2000, any::<u8>()), 1..10)) {
        let mut bytes = SMALL.as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        let _ = Tmf::parse(&bytes);
    }
}
