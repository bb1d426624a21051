//! `symbols` on traces whose stacks lie in binaries of which PDBs are there: functions, lines and inlined functions are what LLVM prints.
//!
//! Identities are read from the binaries here, by the documented layout of PE files.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use base::progress::NoProgress;
use base::remote::memory::MemoryObjects;
use published::symbols;
use support::Sandbox;
use synth::*;

const IMAGE: Guid = guid("2cb15d1d-5fc1-11d2-abe1-00a0c911f518");
const THREAD: Guid = guid("3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c");
const IMAGE_ID: Guid = guid("b3e675d7-2554-4f18-830b-2762732560de");

/// The process that everything happens in.
const PROCESS: u32 = 77;

/// Publics that reach into another object file, for LLVM.
const NOT_THERE: [&str; 4] = ["_fFEXP\t", "_log10_pentium4\t", "_rtzerospop\t", "_tosnan1\t"];

/// Frames of each stack.
const DEPTH: usize = 3;

/// A binary with the PDB that it names.
struct Binary {
    name: &'static str,
    base: u64,
    time_stamp: u32,
    size: u32,
    guid: Guid,
    age: u32,
    pdb: String,
}

fn data(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/symbols/tests/data").join(format!("{name}.zst"));
    zstd::decode_all(&std::fs::read(&path).unwrap()[..]).unwrap()
}

fn u16_at(bytes: &[u8], at: usize) -> usize {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap()).into()
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn at(bytes: &[u8], place: usize) -> usize {
    u32_at(bytes, place) as usize
}

impl Binary {
    fn read(name: &'static str, number: u64) -> Binary {
        let bytes = data(name);
        let pe = at(&bytes, 0x3C);
        assert_eq!(&bytes[pe..pe + 4], b"PE\0\0");
        let optional = pe + 24;
        let directories = optional + if u16_at(&bytes, optional) == 0x20B { 112 } else { 96 };
        let (debug, length) = (at(&bytes, directories + 48), at(&bytes, directories + 52));
        let sections = optional + u16_at(&bytes, pe + 20);
        let file_offset = |address: usize| {
            let all = (0..u16_at(&bytes, pe + 6)).map(|section| sections + 40 * section);
            let holding =
                all.filter(|s| (at(&bytes, s + 12)..at(&bytes, s + 12) + at(&bytes, s + 16)).contains(&address));
            holding.map(|s| address - at(&bytes, s + 12) + at(&bytes, s + 20)).next().unwrap()
        };
        let debug = file_offset(debug);
        let entries = (0..length / 28).map(|entry| debug + 28 * entry);
        let record =
            entries.filter(|entry| at(&bytes, entry + 12) == 2).map(|entry| at(&bytes, entry + 24)).next().unwrap();
        assert_eq!(&bytes[record..record + 4], b"RSDS");
        let path = bytes[record + 24..].split(|byte| *byte == 0).next().unwrap();
        Binary {
            name,
            base: 0x0100_0000 * (number + 1),
            time_stamp: u32_at(&bytes, pe + 8),
            size: u32_at(&bytes, optional + 56),
            guid: bytes[record + 4..record + 20].try_into().unwrap(),
            age: u32_at(&bytes, record + 20),
            pdb: String::from_utf8(path.to_vec()).unwrap(),
        }
    }

    fn stem(&self) -> &'static str {
        self.name.split('.').next().unwrap()
    }

    /// The name of the folder of its PDB in a symbol store.
    fn key(&self) -> String {
        let g = self.guid;
        let parts = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15].map(|place| g[place]);
        format!("{:032X}{:X}", u128::from_be_bytes(parts), self.age)
    }

    fn load(&self) -> Classic {
        let ids = payload().u64(self.base).u64(self.size.into()).u32(PROCESS).u32(0).u32(self.time_stamp).u32(0);
        let rest = ids.u64(self.base).u32(0).u32(0).u32(0).u32(0).wstr(&format!("\\Device\\Disk\\{}", self.name));
        full64(IMAGE, 3, 2, T0 + 1).payload(rest)
    }

    fn debug_id(&self, age: u32) -> Classic {
        let ids = payload().u64(self.base).u32(PROCESS).bytes(&self.guid).u32(age);
        full64(IMAGE_ID, 36, 2, T0 + 2).payload(ids.bytes(self.pdb.as_bytes()).u8(0))
    }
}

fn binaries() -> Vec<Binary> {
    let names = [
        "attach_amd64.dll",
        "attach_x86.dll",
        "inject_dll_amd64.exe",
        "inject_dll_x86.exe",
        "run_code_on_dllmain_amd64.dll",
        "run_code_on_dllmain_x86.dll",
    ];
    names.into_iter().zip(0..).map(|(name, number)| Binary::read(name, number)).collect()
}

/// What LLVM prints of addresses of a binary, as the rest of a line each: function, file and line of each frame, the innermost first.
/// Only those of which another program says the same; where the two differ, the tests of the reader say why.
fn golden(binary: &Binary) -> BTreeMap<u32, String> {
    let lines = |of: &str| {
        let text = String::from_utf8(data(&format!("{}.{of}", binary.stem()))).unwrap();
        let line = |line: &str| {
            let (address, rest) = line.split_once('\t').unwrap();
            (u32::from_str_radix(address, 16).unwrap(), rest.to_owned())
        };
        text.lines().map(line).collect::<BTreeMap<_, _>>()
    };
    let other = lines("addr2line");
    let is_agreed = |address: &u32, rest: &String| {
        let places = |rest: &str| {
            rest.split('\t').enumerate().filter(|(n, _)| n % 3 > 0).map(|(_, part)| part.to_owned()).collect::<Vec<_>>()
        };
        let is_there = !NOT_THERE.iter().any(|public| rest.starts_with(public));
        places(rest) == places(&other[address]) && !rest.starts_with("[thunk]") && is_there
    };
    lines("llvm").into_iter().filter(|(address, rest)| is_agreed(address, rest)).step_by(7).collect()
}

/// A trace with stacks at these addresses, of some frames each: a frame that called has the address behind the call.
fn recorded(binaries: &[Binary], ids: &[Classic], addresses: &[u64]) -> Vec<u8> {
    let mut events: Vec<Vec<u8>> = binaries.iter().map(|binary| binary.load().on_disk()).collect();
    events.extend(ids.iter().map(OnDisk::on_disk));
    for (stack, time) in addresses.chunks(DEPTH).zip((100..).step_by(100)) {
        let frames: Vec<u64> =
            stack.iter().enumerate().map(|(depth, address)| address + u64::from(depth > 0)).collect();
        let sample = perfinfo64(0x0F2E, T0 + time).payload(payload().u64(frames[0]).u32(9).u16(1).u16(0));
        let walk = frames.iter().fold(payload().i64(T0 + time).u32(PROCESS).u32(9), |data, address| data.u64(*address));
        events.extend([sample.on_disk(), perfinfo64(0x1820, T0 + time + 1).payload(walk).on_disk()]);
    }
    packed(&events)
}

/// A trace whose samples lie at these addresses, and have no stacks.
fn sampled(binaries: &[Binary], addresses: &[u64]) -> Vec<u8> {
    let thread = |process, thread| {
        let rest = payload().u32(process).u32(thread).u64(0).u64(0).u64(0).u64(0).u64(0).u64(0).u32(0);
        full64(THREAD, 1, 3, T0).payload(rest.u8(0).u8(0).u8(0).u8(0)).on_disk()
    };
    let mut events: Vec<Vec<u8>> = binaries.iter().map(|binary| binary.load().on_disk()).collect();
    events.extend(binaries.iter().map(|binary| binary.debug_id(binary.age).on_disk()));
    events.extend([thread(PROCESS, 9), thread(0, 0)]);
    let sample = |(address, time): (&u64, i64)| {
        perfinfo64(0x0F2E, T0 + time).payload(payload().u64(*address).u32(9).u16(1).u16(0)).on_disk()
    };
    events.extend(addresses.iter().zip(100..).map(sample));
    // Nobody asks where an idle processor was, but where it executed a deferred procedure call: here in no module.
    let of_idle =
        |reserved| perfinfo64(0x0F2E, T0 + 99).payload(payload().u64(addresses[0]).u32(0).u16(1).u16(reserved));
    events.extend([of_idle(0), of_idle(1)].map(|sample| sample.on_disk()));
    packed(&events)
}

/// A trace of these events.
fn packed(events: &[Vec<u8>]) -> Vec<u8> {
    let chunks = events.chunks(100).zip(1..);
    let buffers = chunks.map(|(events, number)| {
        let mut data = buffer(0x8000).sequence(number);
        events.iter().for_each(|event| data.push(event));
        data
    });
    trace(header().buffer_size(0x8000)).buffers(buffers).to_bytes()
}

/// Everything that LLVM says, as addresses in memory.
fn wanted(binaries: &[Binary]) -> Vec<u64> {
    binaries
        .iter()
        .flat_map(|binary| golden(binary).into_keys().map(|address| binary.base + u64::from(address)))
        .collect()
}

/// Puts the PDBs where a symbol store has them, and the binaries.
fn store(sandbox: &Sandbox, folder: &str, binaries: &[Binary]) {
    for binary in binaries {
        let pdb = format!("{}.pdb", binary.stem());
        sandbox.file(&format!("{folder}/{pdb}/{}/{pdb}", binary.key()), &data(&pdb));
        let key = format!("{:08X}{:x}", binary.time_stamp, binary.size);
        sandbox.file(&format!("{folder}/{0}/{key}/{0}", binary.name), &data(binary.name));
    }
}

/// What the tables of symbols say of a binary, in the form of LLVM's lines.
fn found(sandbox: &Sandbox, binary: &Binary) -> BTreeMap<u32, String> {
    let path = sandbox.path(&format!("out/symbols/pdb/{}.parquet", binary.key()));
    let table = support::table::Table::read(&path);
    let mut frames: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for row in 0..table.rows.len() {
        let cell = |column: &str| Some(table.cell(row, column)).filter(|cell| *cell != "-");
        let name = cell("full_name").or_else(|| cell("name")).unwrap();
        let place = format!("{}\t{}", cell("file").unwrap_or_default(), cell("line").unwrap_or("0"));
        frames.entry(cell("rva").unwrap().parse().unwrap()).or_default().push(format!("{name}\t{place}"));
    }
    frames
        .into_iter()
        .map(|(address, frames)| (address, frames.into_iter().rev().collect::<Vec<_>>().join("\t")))
        .collect()
}

/// Compares all binaries with LLVM, which takes a `_` off names of 32-bit x86, and calls some procedures by a public of the same place.
#[track_caller]
fn assert_as_llvm(sandbox: &Sandbox, binaries: &[Binary]) {
    let mut unlike = BTreeSet::new();
    for binary in binaries {
        let (golden, found) = (golden(binary), found(sandbox, binary));
        assert!(golden.keys().eq(found.keys()), "{}", binary.name);
        for (address, expected) in golden {
            let parts =
                |text: &str| text.split('\t').map(|part| part.trim_start_matches('_').to_owned()).collect::<Vec<_>>();
            let (ours, llvm) = (parts(&found[&address]), parts(&expected));
            assert_eq!(ours.len(), llvm.len(), "{} {address:x}: {ours:?} {llvm:?}", binary.name);
            unlike.extend(ours.into_iter().zip(llvm).filter(|(ours, llvm)| ours != llvm));
        }
    }
    let known = [
        // LLVM does not take the name of an anonymous namespace apart.
        ("`anonymous namespace'::combine_second_surrogate", "?A0xc60ee810::combine_second_surrogate"),
        ("`anonymous namespace'::has_surrogate", "?A0xc60ee810::has_surrogate"),
        ("`anonymous namespace'::is_second_surrogate", "?A0xc60ee810::is_second_surrogate"),
        ("chkstk", "alloca_probe"),
        ("memcpy", "memmove"),
        ("scrt_stub_for_acrt_initialize", "vcrt_initialize"),
        ("scrt_stub_for_acrt_thread_attach", "vcrt_thread_attach"),
        ("scrt_stub_for_acrt_thread_detach", "vcrt_thread_detach"),
        ("scrt_stub_for_acrt_uninitialize", "vcrt_uninitialize"),
        ("scrt_stub_for_acrt_uninitialize_critical", "vcrt_uninitialize_critical"),
        ("scrt_stub_for_is_c_termination_complete", "is_c_termination_complete"),
    ];
    let other: Vec<_> = unlike.iter().filter(|(ours, llvm)| !known.contains(&(ours, llvm))).collect();
    assert!(other.is_empty(), "{other:?}");
}

/// The published trace, to see that nothing changes it.
fn published(sandbox: &Sandbox) -> Vec<(String, Vec<u8>)> {
    sandbox.files("out/trace=t")
}

#[test]
fn frames_of_a_merged_trace_have_the_functions_that_llvm_prints() {
    let (sandbox, binaries) = (Sandbox::new(), binaries());
    let addresses = wanted(&binaries);
    assert!(addresses.len() > 4000, "{}", addresses.len());
    let ids: Vec<Classic> = binaries.iter().map(|binary| binary.debug_id(binary.age)).collect();
    sandbox.file("t.etl", &recorded(&binaries, &ids, &addresses));
    store(&sandbox, "store", &binaries);
    sandbox.t("convert t.etl -o out --quiet", 0);
    let before = published(&sandbox);
    let ran = sandbox.t("symbols out --symbol-path nowhere;store --lines", 0);
    let frames = addresses.len();
    let counted = format!("with a function  {},{:03} (100%)", frames / 1000, frames % 1000);
    assert!(ran.out.contains(&counted), "{}\n{counted}", ran.out);
    assert!(ran.out.contains("of 6 modules of 6"), "{}", ran.out);
    assert_as_llvm(&sandbox, &binaries);
    assert!(published(&sandbox) == before, "the trace has changed");

    // What is known is not asked for again: the store is gone, and every file stays as it is.
    let tables = sandbox.files("out/symbols");
    std::fs::remove_dir_all(sandbox.path("store")).unwrap();
    sandbox.t("symbols out --lines --missing missing.txt", 0);
    assert!(sandbox.files("out/symbols") == tables, "a table has changed");
    assert_eq!(std::fs::read(sandbox.path("missing.txt")).unwrap(), b"");
    // Without lines nothing more is needed; another folder of traces knows nothing.
    sandbox.t("symbols out", 0);
    assert!(sandbox.files("out/symbols") == tables, "a table has changed");
}

#[test]
fn samples_without_stacks_have_the_functions_that_llvm_prints() {
    let (sandbox, binaries) = (Sandbox::new(), binaries());
    let addresses = wanted(&binaries);
    sandbox.file("t.etl", &sampled(&binaries, &addresses));
    store(&sandbox, "store", &binaries);
    sandbox.t("convert t.etl -o out --quiet", 0);
    let ran = sandbox.t("symbols out --symbol-path store --lines --json", 0);
    let found: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let counts = ["frames", "in_modules", "named", "unknown"].map(|name| found[0][name].as_u64().unwrap());
    let all = addresses.len() as u64;
    assert_eq!(counts, [all + 1, all, all, 1]);
    assert_as_llvm(&sandbox, &binaries);
}

#[test]
fn modules_of_an_unmerged_trace_are_known_by_their_binaries() {
    let (sandbox, binaries) = (Sandbox::new(), binaries());
    sandbox.file("t.etl", &recorded(&binaries, &[], &wanted(&binaries)));
    store(&sandbox, "store", &binaries);
    sandbox.t("convert t.etl -o out --quiet", 0);
    assert_eq!(sandbox.table("out/trace=t", "sidecar/images").lines("pdb_guid"), ["-"; 6]);
    let ran = sandbox.t("symbols out --lines --symbol-path srv*store*https://localhost/symbols --json", 0);
    let trouble =
        "https://localhost/symbols is not asked: this program was built without a client of servers (feature cloud)";
    let found: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(found[0]["troubles"], serde_json::json!([trouble]));
    assert!(ran.err.contains(trouble), "{}", ran.err);
    assert_as_llvm(&sandbox, &binaries);
    // A binary of another build is none.
    std::fs::remove_dir_all(sandbox.path("out/symbols")).unwrap();
    std::fs::remove_dir_all(sandbox.path("store/attach_amd64.dll")).unwrap();
    sandbox.file("store/attach_amd64.dll", &data("attach_x86.dll"));
    sandbox.t("symbols out --symbol-path store", 0);
    let modules = support::table::Table::read(&sandbox.path("out/symbols/modules.parquet"));
    let mut lines = modules.lines("file_name status");
    lines.sort();
    assert_eq!(lines[0], "attach_amd64.dll|mismatch");
    assert!(lines[1..].iter().all(|line| line.ends_with("|found")), "{lines:?}");
}

/// Looks symbols up as `symbols --lines` does in a program with a client of stores.
fn resolved(sandbox: &Sandbox, symbol_path: &str) -> Vec<(String, String)> {
    let path = symbols::symbol_path(symbol_path, 256 << 20, 2);
    let asked = symbols::Asked { path: &path, min_share: 0.0, with_lines: true, with_frames: false };
    let traces = published::published(&[sandbox.path("out")]).unwrap();
    let found = symbols::resolve(traces, &asked, &NoProgress).unwrap();
    let modules = found.into_iter().flat_map(|found| found.modules);
    let mut statuses: Vec<_> = modules.map(|row| (row.file_name.unwrap_or_default(), row.status)).collect();
    statuses.sort();
    statuses
}

#[test]
fn a_server_sends_what_frames_need_and_is_not_asked_again() {
    const SERVER: &str = "https://symbols.example/download";
    let (sandbox, binaries) = (Sandbox::new(), binaries());
    let server = Arc::new(MemoryObjects::default());
    base::remote::install(Arc::clone(&server) as Arc<_>);
    // Half of the modules have the identity of their PDB, half of them that of their binary alone; of one the server has no PDB.
    let ids: Vec<Classic> = binaries.iter().step_by(2).map(|binary| binary.debug_id(binary.age)).collect();
    sandbox.file("t.etl", &recorded(&binaries, &ids, &wanted(&binaries)));
    sandbox.t("convert t.etl -o out --quiet", 0);
    store(&sandbox, "store", &binaries);
    for (path, content) in sandbox.files("store") {
        if !path.contains("inject_dll_x86.pdb") {
            server.set(&format!("{SERVER}/{path}"), &content);
        }
    }
    let path = format!("srv*{}*{SERVER}", sandbox.path("cache").display());
    let statuses = resolved(&sandbox, &path);
    assert_eq!(statuses.iter().filter(|(_, status)| status == "found").count(), 5);
    assert!(statuses.contains(&("inject_dll_x86.exe".to_owned(), "not found".to_owned())), "{statuses:?}");
    let (there, gone): (Vec<Binary>, Vec<Binary>) =
        binaries.into_iter().partition(|binary| binary.name != "inject_dll_x86.exe");
    assert_as_llvm(&sandbox, &there);
    assert!(!sandbox.path(&format!("out/symbols/pdb/{}.parquet", gone[0].key())).exists());
    // Three binaries and five PDBs that are there, and one that is not, as it is and packed.
    let (requests, bytes) = server.counts();
    assert_eq!(requests, 3 + 5 + 2);
    let kept: u64 = sandbox.files("cache").iter().map(|(_, content)| content.len() as u64).sum();
    assert_eq!(bytes, kept);
    // Nothing is asked for again, neither what came nor what did not, with the tables or without them.
    assert_eq!(resolved(&sandbox, &path), statuses);
    std::fs::remove_dir_all(sandbox.path("out/symbols")).unwrap();
    assert_eq!(resolved(&sandbox, &path), statuses);
    assert_eq!(server.counts().0, requests);
    assert_as_llvm(&sandbox, &there);
}

#[test]
fn a_symbol_file_of_another_age_is_refused_and_listed() {
    let (sandbox, binaries) = (Sandbox::new(), binaries());
    let wrong =
        |binary: &Binary| binary.debug_id(if binary.stem() == "attach_amd64" { binary.age + 1 } else { binary.age });
    let ids: Vec<Classic> = binaries.iter().map(wrong).collect();
    sandbox.file("t.etl", &recorded(&binaries, &ids, &wanted(&binaries)));
    store(&sandbox, "store", &binaries);
    let attach = &binaries[0];
    let key = format!("{}{:X}", &attach.key()[..32], attach.age + 1);
    sandbox.file(&format!("store/attach_amd64.pdb/{key}/attach_amd64.pdb"), &data("attach_amd64.pdb"));
    sandbox.t("convert t.etl -o out --quiet", 0);
    let ran = sandbox.t("symbols out --symbol-path store --missing missing.txt", 0);
    assert!(ran.out.contains("of 5 modules of 6"), "{}", ran.out);
    let modules = support::table::Table::read(&sandbox.path("out/symbols/modules.parquet"));
    let lines = modules.lines("file_name status reason named");
    let of_attach: Vec<_> = lines.iter().filter(|line| line.starts_with("attach_amd64.dll")).collect();
    assert_eq!(of_attach, [&format!("attach_amd64.dll|mismatch|{}|0", attach.key())]);
    let missing = std::fs::read_to_string(sandbox.path("missing.txt")).unwrap();
    assert_eq!(missing, format!("attach_amd64.pdb,{key},1\n"));
    assert!(!sandbox.path(&format!("out/symbols/pdb/{key}.parquet")).exists());

    // Of the modules with few frames none is asked for.
    std::fs::remove_dir_all(sandbox.path("out/symbols")).unwrap();
    sandbox.t("symbols out --symbol-path store --min-share 25% --missing missing.txt", 0);
    let modules = support::table::Table::read(&sandbox.path("out/symbols/modules.parquet"));
    let mut lines = modules.lines("status");
    lines.sort();
    assert_eq!(lines, ["found", "found", "not asked", "not asked", "not asked", "not asked"]);
    assert_eq!(std::fs::read(sandbox.path("missing.txt")).unwrap(), b"");
    // The list alone, where it goes to standard output.
    assert_eq!(sandbox.t("symbols out --symbol-path store --missing -", 0).out, format!("attach_amd64.pdb,{key},1\n"));
    assert_eq!(sandbox.run("symbols out --min-share 101%").code, 2);
    assert_eq!(sandbox.run("symbols out --min-share 0.1").code, 2);
    assert_eq!(sandbox.run("symbols nowhere").code, 3);
}
