//! Which function an address lies in, by small PDBs that are written here.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod common;
#[path = "common/writer.rs"]
mod writer;

use common::LIMIT;
use symbols::{Pdb, Symbol, SymbolKind};
use writer::{SmallPdb, msf, msfz, sample};

fn resolve(pdb: Vec<u8>, addresses: &[u32]) -> Vec<Option<Symbol>> {
    Pdb::from_bytes("small.pdb", pdb, LIMIT).unwrap().resolve(addresses, true).unwrap()
}

/// What a symbol says, in short: its start, its size, its name and its line, and those of functions inlined there.
fn shown(symbol: Option<&Symbol>) -> String {
    let Some(symbol) = symbol else { return "-".to_owned() };
    let line = |line: Option<u32>| line.map(|line| format!(":{line}")).unwrap_or_default();
    let inlined = symbol.inlined.iter().map(|inlined| format!(" > {}{}", inlined.name, line(inlined.line)));
    let (start, size) = (symbol.start, symbol.size.unwrap_or(0));
    let name = symbol.full_name.as_deref().unwrap_or(&symbol.name);
    format!("{start:x}+{size:x} {name}{}{}", line(symbol.line), inlined.collect::<String>())
}

fn check(pdb: &SmallPdb, cases: &[(u32, &str)]) {
    let addresses: Vec<u32> = cases.iter().map(|(address, _)| *address).collect();
    for file in [pdb.msf(), msfz(&pdb.streams())] {
        let found = resolve(file, &addresses);
        for ((address, expected), found) in cases.iter().zip(&found) {
            assert_eq!(shown(found.as_ref()), *expected, "{address:#x}");
        }
    }
}

#[test]
fn each_address_lies_in_what_the_rules_say() {
    check(
        &sample(),
        &[
            (0x0FFF, "-"),
            (0x1000, "1000+40 a::f(int):10"),
            (0x1007, "1000+40 a::f(int):10"),
            (0x1008, "1000+40 a::f(int):12"),
            (0x1010, "1000+40 a::f(int):12 > a::outer:31"),
            (0x1013, "1000+40 a::f(int):12 > a::outer:31"),
            (0x1014, "1000+40 a::f(int):12 > a::outer:31 > `anonymous namespace'::inner:41"),
            (0x1017, "1000+40 a::f(int):12 > a::outer:31 > `anonymous namespace'::inner:41"),
            // Code that comes from no line.
            (0x1018, "1000+40 a::f(int)"),
            (0x103F, "1000+40 a::f(int)"),
            // Behind a procedure, in the same module.
            (0x1040, "-"),
            (0x1080, "1080+20 a::g:20"),
            (0x10A0, "-"),
            // Publics of a module without symbols; of two the first in the order of their names.
            (0x1100, "1100+40 o(void)"),
            (0x113F, "1100+40 o(void)"),
            (0x1140, "1140+40 _q@8"),
            (0x117F, "1140+40 _q@8"),
            (0x1180, "-"),
            // A part of a procedure that lies elsewhere.
            (0x1200, "1200+20 a::g"),
            (0x1220, "-"),
            (0x2800, "-"),
            // Data, and what lies beyond.
            (0x3000, "-"),
            (0xFFFF_FFFF, "-"),
        ],
    );
}

#[test]
fn a_symbol_says_what_it_comes_from() {
    let found = resolve(sample().msf(), &[0x1000, 0x1100]);
    let [Some(procedure), Some(public)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(
        (procedure.kind, &*procedure.name, procedure.file.as_deref()),
        (SymbolKind::Private, "a::f", Some("a.cpp"))
    );
    assert_eq!((public.kind, &*public.name, public.file.as_deref()), (SymbolKind::Public, "o", None));
    assert_eq!((SymbolKind::Private.word(), SymbolKind::Public.word()), ("private", "public"));
}

#[test]
fn names_of_c_are_plain_on_x86() {
    check(&SmallPdb { is_x86: true, ..sample() }, &[(0x1140, "1140+40 q")]);
}

#[test]
fn rearranged_code_has_the_names_of_before() {
    // The first 0x40 bytes have gone to 0x1400, and what was at 0x1100 to 0x1000, in two pieces.
    let to_source = vec![(0x1000, 0x1100), (0x1020, 0x1140), (0x1400, 0x1000), (0x1440, 0)];
    let from_source = vec![(0x1000, 0x1400), (0x1040, 0), (0x1100, 0x1000), (0x1120, 0), (0x1140, 0x1020), (0x1160, 0)];
    let moved = SmallPdb { omap: Some([to_source, from_source]), ..sample() };
    check(
        &moved,
        &[
            (0x1000, "1000+0 o(void)"),
            (0x1020, "1020+0 _q@8"),
            (0x1408, "1400+0 a::f(int):12"),
            (0x1414, "1400+0 a::f(int):12 > a::outer:31 > `anonymous namespace'::inner:41"),
            (0x1440, "-"),
        ],
    );
}

#[test]
fn maps_that_are_not_all_there_are_refused() {
    let moved = SmallPdb { omap: Some([vec![], vec![]]), ..sample() };
    let mut streams = moved.streams();
    // The number of the stream of one of the maps, in the list at the end of DBI.
    let dbi = &mut streams[3];
    let at = dbi.len() - 22 + 6;
    dbi[at..at + 2].copy_from_slice(&[0xFF, 0xFF]);
    let mut pdb = Pdb::from_bytes("small.pdb", msf(&streams), LIMIT).unwrap();
    assert!(matches!(pdb.resolve(&[0x1000], false), Err(symbols::Reason::Unsupported(_))));
}

#[test]
fn the_age_is_that_of_the_program() {
    let pdb = Pdb::from_bytes("small.pdb", sample().msf(), LIMIT).unwrap();
    assert_eq!(pdb.id().folder(), "010101010101010101010101010101013");
    // Of types alone there is only the other one, and no address.
    let mut streams = sample().streams();
    streams[3].clear();
    let mut pdb = Pdb::from_bytes("small.pdb", msf(&streams), LIMIT).unwrap();
    assert_eq!(pdb.id().age, 77);
    assert!(matches!(pdb.resolve(&[0x1000], false), Err(symbols::Reason::Unsupported(_))));
}

#[test]
fn without_contributions_publics_reach_to_the_next() {
    let mut pdb = sample();
    pdb.modules.iter_mut().for_each(|module| module.contributions.clear());
    check(
        &pdb,
        &[(0x1000, "1000+100 another(void)"), (0x1180, "1140+16c0 _q@8"), (0x27FF, "1140+16c0 _q@8"), (0x2800, "-")],
    );
}

#[test]
fn without_lines_only_names_are_read() {
    let mut pdb = Pdb::from_bytes("small.pdb", sample().msf(), LIMIT).unwrap();
    let found = pdb.resolve(&[0x1014], false).unwrap();
    assert_eq!(shown(found[0].as_ref()), "1000+40 a::f(int)");
    assert_eq!(pdb.resolve(&[], true).unwrap(), []);
}

#[test]
fn containers_of_other_kinds_are_told_apart() {
    let cases: [(&[u8], &str); 5] = [
        (b"BSJB\x01\0\x01\0", "a portable PDB, which has no native functions"),
        (b"Microsoft C/C++ program database 2.00\r\n\x1aJG\0\0\0", "a PDB of the format of before 2000"),
        (b"MZ\x90\0", "a program, not a PDB"),
        (b"", "neither a PDB nor an MSFZ"),
        (b"Microsoft MSFZ Container\r\n\x1aALD\0\0", "the header of the MSFZ is cut off"),
    ];
    for (bytes, expected) in cases {
        let reason = Pdb::from_bytes("x.pdb", bytes.to_vec(), LIMIT).unwrap_err();
        assert_eq!(reason.to_string(), expected);
    }
}
