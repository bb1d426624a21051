//! Seeds of targets that read binaries.

use super::Seed;
use crate::synth::binary::{
    Declared, NO_MESSAGE, declared_event, message_table, program, structure, value, wevt_template,
};
use crate::synth::guid;

pub(super) fn all() -> Vec<Seed> {
    let (template, table) = (wevt_template(&providers()), message_table(&TEXTS));
    let length = u16::try_from(table.len()).expect("a short table").to_le_bytes();
    let with_texts = [&length, &table[..], &template].concat();
    let without_texts = [&[0, 0], &wevt_template(&providers()[..1])[..]].concat();
    let resource = |kind, language, bytes: &[u8]| (kind, 1, language, bytes.to_vec());
    let of_two = [
        resource("#11", 0x407, &message_table(&TEXTS[..2])),
        resource("#11", 0x409, &table),
        resource("MUI", 0, &[1; 40]),
        resource("WEVT_TEMPLATE", 0, &template),
    ];
    vec![
        Seed::new("wevt", "with_texts", with_texts),
        Seed::new("wevt", "without_texts", without_texts),
        Seed::new("message_table", "blocks", table),
        Seed::new("resources", "wide", program(true, 0, &of_two)),
        Seed::new("resources", "narrow", program(false, 96, &of_two[3..])),
        Seed::new("resources", "none", program(true, 0, &of_two[..3])),
    ]
}

const TEXTS: [(u32, &str); 6] = [
    (0x1000_0005, "Parts"),
    (0x7000_0001, "Widget"),
    (0xB000_0001, "%1 was %2!d!%n of %%4097"),
    (0xB000_0002, "Sold"),
    (0xD000_0001, "Red"),
    (0xF000_0001, "Heavy"),
];

fn providers() -> [Declared; 2] {
    let items = vec![
        value("Name", 1, 1),
        value("Color", 4, 4).map("Color"),
        value("Count", 6, 6),
        structure("Parts", 6, 2).count_in(2),
        value("Sizes", 8, 8).count(2),
        value("Key", 14, 15).length(4),
        value("Traits", 8, 8).map("Traits"),
        value("Bytes", 14, 15).length_in(2),
    ];
    let lab = Declared {
        guid: guid("11111111-2222-3333-4444-555555555555"),
        name: "Lab",
        channels: vec![(16, "Lab/Operational")],
        levels: vec![(4, NO_MESSAGE, "win:Informational")],
        tasks: vec![(1, 0x7000_0001, [7; 16], "WidgetTask")],
        opcodes: vec![(0, 1, NO_MESSAGE, "win:Start"), (1, 30, NO_MESSAGE, "Paint")],
        keywords: vec![(0x10, 0x1000_0005, "PartsKeyword"), (1, NO_MESSAGE, "Bolts")],
        maps: vec![("Color", false, vec![(1, 0xD000_0001)]), ("Traits", true, vec![(1, 0xF000_0001), (4, NO_MESSAGE)])],
        templates: vec![(6, items)],
        events: vec![
            declared_event(1, 0).task(1).opcode(1).message(0xB000_0001).template(0).keyword_list(vec![0, 1]),
            declared_event(2, 0).task(1).opcode(30).message(0xB000_0002),
        ],
    };
    let plain = Declared {
        guid: guid("66666666-2222-3333-4444-555555555555"),
        templates: vec![(1, vec![value("Only", 8, 8)])],
        events: vec![declared_event(7, 1).template(0)],
        ..Declared::default()
    };
    [lab, plain]
}
