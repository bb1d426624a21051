//! Every function, line and inlined function is that of LLVM, or, where LLVM 14 is wrong, that of the crate `pdb-addr2line`.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::{BINARIES, LIMIT, data, pdb_of};
use symbols::{Pdb, Symbol};

/// What another program says of an address: from the innermost frame to the outermost, the function, the file and the line.
struct Golden {
    address: u32,
    frames: Vec<[String; 3]>,
}

fn golden(binary: &str, of: &str) -> Vec<Golden> {
    let name = Path::new(binary).with_extension(of).display().to_string();
    let row = |row: &str| {
        let mut parts = row.split('\t');
        let address = u32::from_str_radix(parts.next().unwrap(), 16).unwrap();
        let parts: Vec<String> = parts.map(str::to_owned).collect();
        let (frames, rest) = parts.as_chunks();
        assert!(rest.is_empty(), "{row}");
        Golden { address, frames: frames.to_vec() }
    };
    String::from_utf8(data(&name)).unwrap().lines().map(row).collect()
}

fn frames(symbol: &Symbol) -> Vec<[String; 3]> {
    let text = |name: &str, file: Option<&str>, line: Option<u32>| {
        [name.to_owned(), file.unwrap_or_default().to_owned(), line.unwrap_or(0).to_string()]
    };
    let name = symbol.full_name.as_deref().unwrap_or(&symbol.name);
    let own = text(name, symbol.file.as_deref(), symbol.line);
    let inlined = symbol.inlined.iter().rev();
    let inlined = inlined.map(|inlined| text(&inlined.name, inlined.file.as_deref(), inlined.line));
    inlined.chain([own]).collect()
}

/// Functions that LLVM calls by a public that lies at the same place, while the procedure has another name.
const OTHER_PUBLICS: [(&str, &str); 8] = [
    ("__chkstk", "_alloca_probe"),
    ("__scrt_stub_for_acrt_initialize", "__vcrt_initialize"),
    ("__scrt_stub_for_acrt_thread_attach", "__vcrt_thread_attach"),
    ("__scrt_stub_for_acrt_thread_detach", "__vcrt_thread_detach"),
    ("__scrt_stub_for_acrt_uninitialize", "__vcrt_uninitialize"),
    ("__scrt_stub_for_acrt_uninitialize_critical", "__vcrt_uninitialize_critical"),
    ("__scrt_stub_for_is_c_termination_complete", "_is_c_termination_complete"),
    ("memcpy", "memmove"),
];

/// Publics that reach into another object file, for LLVM.
const NOT_THERE: [&str; 4] = ["_fFEXP", "_log10_pentium4", "_rtzerospop", "_tosnan1"];

/// The number by which a compiler says that code comes from no line: 0xF00F00.
const NO_LINE: &str = "15732480";

/// How the name of a function relates to LLVM's.
fn name_relation(ours: &str, llvm: &str) -> &'static str {
    if ours == llvm {
        return "equal";
    }
    // On 32-bit x86 LLVM takes a `_` off every name, of procedures and of inlined functions, too, which have none to lose.
    if ours.strip_prefix('_') == Some(llvm) {
        return "llvm cuts `_`";
    }
    if llvm.strip_prefix("[thunk]: ") == Some(ours) {
        return "llvm says `[thunk]`";
    }
    // One place, several publics.
    let is_other = OTHER_PUBLICS.contains(&(ours, llvm)) || OTHER_PUBLICS.contains(&(ours, &format!("_{llvm}")));
    if is_other { "llvm takes another public" } else { "unlike" }
}

/// Which of the two others agree.
fn agreement(llvm: bool, addr2line: bool) -> &'static str {
    match (llvm, addr2line) {
        (true, true) => "both",
        (true, false) => "llvm",
        (false, true) => "addr2line",
        (false, false) => "neither",
    }
}

/// Which of the two others have the same line of the function itself.
fn line_relation(ours: &[[String; 3]], llvm: &[[String; 3]], addr2line: &[[String; 3]]) -> &'static str {
    // Code that comes from no line; the other one says the line before.
    if llvm.last().is_some_and(|frame| frame[2] == NO_LINE) && ours.last().is_some_and(|frame| frame[2] == "0") {
        return "llvm says a number that stands for none";
    }
    let line = |frames: &[[String; 3]]| frames.last().map(|frame| frame[1..].to_vec());
    agreement(line(ours) == line(llvm), line(ours) == line(addr2line))
}

/// Which of the two others have the same inlined functions, with their lines.
fn inlined_relation(ours: &[[String; 3]], llvm: &[[String; 3]], addr2line: &[[String; 3]]) -> &'static str {
    let is_like = |others: &[[String; 3]], is_name: &dyn Fn(&str, &str) -> bool| {
        let mut inlined = ours.iter().zip(others).take(ours.len() - 1);
        ours.len() == others.len()
            && inlined.all(|(ours, other)| ours[1..] == other[1..] && is_name(&ours[0], &other[0]))
    };
    let is_name = |ours: &str, llvm: &str| ["equal", "llvm cuts `_`"].contains(&name_relation(ours, llvm));
    // The other one says the parameters, too.
    let begins = |ours: &str, other: &str| other.strip_prefix(ours).is_some_and(|rest| rest.starts_with('('));
    agreement(is_like(llvm, &is_name), is_like(addr2line, &begins))
}

#[test]
fn functions_lines_and_inlined_functions_are_those_of_llvm() {
    let (mut names, mut lines) = (BTreeMap::new(), BTreeMap::new());
    for binary in BINARIES {
        let mut pdb = Pdb::from_bytes(binary, data(&pdb_of(binary)), LIMIT).unwrap();
        let llvm = golden(binary, "llvm");
        let addresses: Vec<u32> = llvm.iter().map(|golden| golden.address).collect();
        let found = pdb.resolve(&addresses, true).unwrap();
        for ((llvm, other), symbol) in llvm.iter().zip(golden(binary, "addr2line")).zip(&found) {
            let Some(symbol) = symbol else {
                *names.entry("none").or_insert(0) += 1;
                // Labels of assembler; LLVM takes the public before, which is of another object file.
                assert_eq!((binary, NOT_THERE.contains(&&*llvm.frames[0][0])), ("inject_dll_x86.exe", true));
                continue;
            };
            let ours = frames(symbol);
            let relation = name_relation(&ours.last().unwrap()[0], &llvm.frames.last().unwrap()[0]);
            assert_ne!(relation, "unlike", "{binary} {:#x}: {ours:?} {:?}", llvm.address, llvm.frames);
            *names.entry(relation).or_insert(0) += 1;
            let others = (&llvm.frames[..], &other.frames[..]);
            let relations = [line_relation(&ours, others.0, others.1), inlined_relation(&ours, others.0, others.1)];
            assert!(!relations.contains(&"neither"), "{binary} {:#x} {relations:?}: {ours:?} {others:?}", llvm.address);
            *lines.entry(relations).or_insert(0) += 1;
        }
    }
    assert_eq!(
        names,
        BTreeMap::from([
            ("equal", 29_898),
            ("llvm cuts `_`", 1032),
            ("llvm says `[thunk]`", 2),
            ("llvm takes another public", 446),
            ("none", 36)
        ])
    );
    // Of lines that begin at one place, of which but the last have no code, LLVM takes the first where the address is that place, and
    // the last behind it. Of inlined functions it overlooks code that ends where other code of a known length begins, and inner ones
    // whose outer ones do not have their code. The other one takes the lines of the function before where there are none.
    assert_eq!(
        lines,
        BTreeMap::from([
            (["addr2line", "addr2line"], 12),
            (["addr2line", "both"], 583),
            (["both", "addr2line"], 1073),
            (["both", "both"], 29_123),
            (["llvm", "addr2line"], 26),
            (["llvm", "both"], 549),
            (["llvm says a number that stands for none", "both"], 12),
        ])
    );
}
