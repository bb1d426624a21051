//! Annotations of the source code, and enumerations that they name.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod common;
#[path = "common/writer.rs"]
mod writer;

use std::collections::BTreeSet;

use common::{BINARIES, LIMIT, data, pdb_of};
use symbols::{Pdb, Reason};
use writer::{SmallModule, SmallPdb, annotation, enumeration, msf, msfz};

/// All annotations of a kind, their texts joined with bars.
fn found(pdb: &Pdb, first: &str) -> Vec<String> {
    let mut found = Vec::new();
    let shown = |text: &&[u8]| String::from_utf8_lossy(text).into_owned();
    pdb.annotations(first, |texts| found.push(texts.iter().map(shown).collect::<Vec<_>>().join("|"))).unwrap();
    found
}

fn sample() -> SmallPdb {
    let mut one = SmallModule { contributions: vec![(0, 0x40)], ..SmallModule::default() };
    one.annotation(&["TMF:", "a", "{", "}"]).procedure(0, 0x40, "f", &[]).annotation(&["TMC:", "control"]);
    let mut other = SmallModule::default();
    other
        .annotation(&["TMF:", "b", ""])
        .annotation(&["TMF:", "a", "{", "}"])
        .annotation(&["tmf:", "c"])
        .annotation(&[]);
    let globals = [annotation(&["TMF:", "global"]), annotation(&["TMF: ", "no"])].concat();
    SmallPdb { modules: vec![one, other], globals, ..SmallPdb::default() }
}

#[test]
fn annotations_of_all_modules_come_in_their_order() {
    let expected = ["a|{|}", "b|", "a|{|}", "global"];
    for bytes in [msf(&sample().streams()), msfz(&sample().streams())] {
        let pdb = Pdb::from_bytes("x.pdb", bytes, LIMIT).unwrap();
        assert_eq!(found(&pdb, "TMF:"), expected);
        assert_eq!(found(&pdb, "TMC:"), ["control"]);
        assert_eq!(found(&pdb, "other"), [""; 0]);
    }
}

#[test]
fn pdbs_of_programs_without_any_have_none() {
    for binary in BINARIES {
        let pdb = pdb_of(binary);
        let pdb = Pdb::from_bytes(&pdb, data(&pdb), LIMIT).unwrap();
        assert_eq!(found(&pdb, "TMF:"), [""; 0], "{binary}");
    }
}

#[test]
fn a_module_that_is_cut_off_is_damage() {
    let mut streams = sample().streams();
    let last = streams.len() - 1;
    streams[last].truncate(10);
    let pdb = Pdb::from_bytes("x.pdb", msf(&streams), LIMIT).unwrap();
    let fault = pdb.annotations("TMF:", |_| ()).unwrap_err();
    assert_eq!(fault, Reason::Unreadable("the symbols of a module are cut off".to_owned()));
}

#[test]
fn enumerations_have_their_values() {
    let values = [(0, "Zero"), (5, "Five"), (0x8000, "Large"), (-1, "All"), (5, "Fünf")];
    let types = [enumeration(0x1000, "Ns::One", &values), enumeration(0x1002, "Two", &[(7, "Seven")])].concat();
    let pdb = SmallPdb { types, ..SmallPdb::default() };
    for bytes in [msf(&pdb.streams()), msfz(&pdb.streams())] {
        let pdb = Pdb::from_bytes("x.pdb", bytes, LIMIT).unwrap();
        let wanted = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>();
        let found = pdb.enumerations(&wanted(&["Ns::One", "Three"])).unwrap();
        assert_eq!(found.keys().collect::<Vec<_>>(), ["Ns::One"]);
        let shown: Vec<(u64, &str)> = found["Ns::One"].iter().map(|(value, name)| (*value, name.as_str())).collect();
        assert_eq!(shown, [(0, "Zero"), (5, "Five"), (0x8000, "Large"), (u64::MAX, "All"), (5, "Fünf")]);
        assert_eq!(pdb.enumerations(&wanted(&[])).unwrap().len(), 0);
    }
}

/// 2,000 modules that name one stream cost as much as one.
#[test]
fn a_stream_is_read_once() {
    let mut one = SmallModule::default();
    one.annotation(&["TMF:", "a"]);
    let modules = std::iter::once(one).chain(std::iter::repeat_with(SmallModule::default).take(1999));
    let mut streams = SmallPdb { modules: modules.collect(), ..SmallPdb::default() }.streams();
    let first = streams[10].len().to_le_bytes();
    let list = 2000 * 76;
    for module in streams[3][64..64 + list].chunks_exact_mut(76) {
        module[34..36].copy_from_slice(&10_u16.to_le_bytes());
        module[36..40].copy_from_slice(&first[..4]);
    }
    let pdb = Pdb::from_bytes("x.pdb", msf(&streams), LIMIT).unwrap();
    assert_eq!(found(&pdb, "TMF:"), ["a"]);
}
