//! Source lines of methods of .NET: `symbols --lines` on traces whose stacks lie in code that a run-time has compiled.
//!
//! The assembly and its symbol file are real; which lines they have says a program of its own (`crates/symbols/tests/data`).

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::collections::BTreeMap;
use std::path::Path;

use support::Sandbox;
use support::table::Table;
use synth::*;

const RUNTIME: Guid = guid("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4");
const RUNDOWN: Guid = guid("a669021c-c450-4609-a035-5af59af4df18");

/// The symbol file of `ClrLoader.dll`.
const LOADER: Guid = guid("95f8f6b2-afbc-45e4-884c-b4a5bf5addd2");
const NO_PDB: Guid = [0; 16];

const IMAGE: Guid = guid("2cb15d1d-5fc1-11d2-abe1-00a0c911f518");
const IMAGE_ID: Guid = guid("b3e675d7-2554-4f18-830b-2762732560de");

const PROCESS: u32 = 77;
const THREAD: u32 = 9;

/// Where the first body is, and from one to the next.
const CODE: u64 = 0x7000_0000;
const APART: u64 = 0x1_0000;

/// Offsets in IL that are none: code without IL, prologue, epilogue.
const NO_MAPPING: u32 = u32::MAX;
const PROLOG: u32 = u32::MAX - 1;
const EPILOG: u32 = u32::MAX - 2;

fn data(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/symbols/tests/data").join(format!("{name}.zst"));
    zstd::decode_all(&std::fs::read(&path).unwrap()[..]).unwrap()
}

/// Lines of the assembly by token and offset in IL; those without a file have none.
fn golden() -> BTreeMap<(u32, u32), Option<(String, u32)>> {
    let text = String::from_utf8(data("ClrLoader.lines")).unwrap();
    let line = |line: &str| {
        let [token, il, file, line] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let place = (u32::from_str_radix(token, 16).unwrap(), il.parse().unwrap());
        (place, (file != "-").then(|| (file.to_owned(), line.parse().unwrap())))
    };
    text.lines().map(line).collect()
}

/// An event of the run-time, or of its rundown, in process and on thread.
fn clr(provider: Guid, id: u16, version: u8, time: i64, data: Payload) -> Vec<u8> {
    event64(provider, id, version, T0 + time).pid(PROCESS).tid(THREAD).payload(data).on_disk()
}

fn module(provider: Guid, time: i64, module: u64, pdb: Guid, age: u32) -> Vec<u8> {
    let id = if provider == RUNTIME { 152 } else { 154 };
    let ids = payload().u64(module).u64(1).u32(8).u32(0).wstr(r"C:\App\ClrLoader.dll").wstr("").u16(1);
    let managed = ids.bytes(&pdb).u32(age).wstr(r"D:\build\ClrLoader.pdb");
    clr(provider, id, 2, time, managed.bytes(&NO_PDB).u32(0).wstr(""))
}

/// A method of the module 5, as it is loaded or at the end.
fn method(provider: Guid, time: i64, (id, token): (u64, u32), base: u64) -> Vec<u8> {
    let number = if provider == RUNTIME { 143 } else { 144 };
    let ids = payload().u64(id).u64(5).u64(base).u32(0x1000).u32(token).u32(8);
    let names = ids.wstr("ClrLoader.T").wstr(&format!("m{token:x}")).wstr("void ()");
    clr(provider, number, 1, time, names.u16(1))
}

/// Which offset in IL (first) the code at an offset (second) is of.
fn map(provider: Guid, event: u16, time: i64, id: u64, pairs: &[(u32, u32)]) -> Vec<u8> {
    let count = u16::try_from(pairs.len()).unwrap();
    let ids = payload().u64(id).u64(0).u8(0).u16(count);
    let il = pairs.iter().fold(ids, |data, (il, _)| data.u32(*il));
    clr(provider, event, 0, time, pairs.iter().fold(il, |data, (_, native)| data.u32(*native)).u16(1))
}

/// Samples whose stacks have these frames: each calls at its address the one before.
fn stacks(time: i64, addresses: &[u64]) -> Vec<Vec<u8>> {
    let mut events = Vec::new();
    for (stack, time) in addresses.chunks(4).zip((time..).step_by(10)) {
        let frames = stack.iter().enumerate().map(|(depth, address)| address + u64::from(depth > 0));
        let head = payload().i64(T0 + time).u32(PROCESS).u32(THREAD);
        let walk = frames.fold(head, Payload::u64);
        let sample = payload().u64(stack[0]).u32(THREAD).u16(1).u16(0);
        events.push(perfinfo64(0x0F2E, T0 + time).payload(sample).on_disk());
        events.push(perfinfo64(0x1820, T0 + time + 1).payload(walk).on_disk());
    }
    events
}

fn written(events: &[Vec<u8>]) -> Vec<u8> {
    let buffers = events.chunks(100).zip(1..).map(|(events, number)| {
        let mut data = buffer(0x8000).sequence(number);
        events.iter().for_each(|event| data.push(event));
        data
    });
    trace(header().buffer_size(0x8000)).buffers(buffers).to_bytes()
}

/// A folder with a converted trace of these events.
fn converted(events: &[Vec<u8>]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("t.etl", &written(events));
    sandbox.t("convert t.etl -o out --quiet", 0);
    sandbox
}

fn lines_of(sandbox: &Sandbox) -> Table {
    Table::read(&sandbox.path("out/symbols/lines/t.parquet"))
}

#[test]
fn frames_in_methods_have_the_lines_of_their_il() {
    let golden = golden();
    let mut methods = BTreeMap::<u32, Vec<u32>>::new();
    golden.keys().for_each(|(token, il)| methods.entry(*token).or_default().push(*il));
    let mut events = vec![module(RUNTIME, 1, 5, LOADER, 1)];
    let (mut expected, mut addresses) = (BTreeMap::new(), Vec::new());
    for ((token, offsets), number) in methods.iter().zip(0..) {
        let (id, base) = (100 + number, CODE + number * APART);
        // Eight bytes of code for each point, behind a prologue.
        let pairs: Vec<(u32, u32)> = offsets.iter().copied().zip((16..).step_by(8)).collect();
        let all = [&[(PROLOG, 0)][..], &pairs].concat();
        events.push(method(RUNTIME, 2, (id, *token), base));
        events.push(map(RUNTIME, 190, 2, id, &all));
        for (il, native) in pairs {
            let address = base + u64::from(native) + u64::from(il) % 8;
            addresses.push(address);
            expected.insert(address, golden[&(*token, il)].clone());
        }
    }
    events.extend(stacks(1000, &addresses));
    let sandbox = converted(&events);
    sandbox.file("store/ClrLoader.pdb/95F8F6B2AFBC45E4884CB4A5BF5ADDD2FFFFFFFF/ClrLoader.pdb", &data("ClrLoader.pdb"));
    let before = sandbox.files("out/trace=t");
    let ran = sandbox.t("symbols out --symbol-path store --lines --frames", 0);
    assert!(ran.out.contains("lines of .NET    of 1 symbol file of 1"), "{}", ran.out);
    let frames = Table::read(&sandbox.path("out/symbols/frames/t.parquet"));
    let mut found = BTreeMap::new();
    for row in 0..frames.rows.len() {
        let cell = |column: &str| Some(frames.cell(row, column)).filter(|cell| *cell != "-");
        let (address, depth): (u64, u64) =
            (cell("address").unwrap().parse().unwrap(), cell("depth").unwrap().parse().unwrap());
        let line = cell("file").map(str::to_owned).zip(cell("line").map(|line| line.parse().unwrap()));
        assert_eq!(cell("kind"), Some("managed"));
        found.insert(address - u64::from(depth > 0), line);
    }
    assert!(expected.values().flatten().count() > 20 && expected.values().any(Option::is_none));
    assert_eq!(found, expected);
    let reasons = lines_of(&sandbox).lines("line unknown_because");
    assert!(reasons.iter().all(|row| row.ends_with("|-") || row == "-|no line"), "{reasons:?}");
    assert!(sandbox.files("out/trace=t") == before, "the trace has changed");

    // What is known is not asked for again: the store is gone, and every file stays as it is.
    let tables = sandbox.files("out/symbols");
    std::fs::remove_dir_all(sandbox.path("store")).unwrap();
    sandbox.t("symbols out --lines --frames --missing missing.txt", 0);
    assert!(sandbox.files("out/symbols") == tables, "a table has changed");
    assert_eq!(std::fs::read(sandbox.path("missing.txt")).unwrap(), b"");
    // The lines of a trace that is gone are, too.
    sandbox.t("verify out", 0);
    std::fs::rename(sandbox.path("out/trace=t"), sandbox.path("out/trace=u")).unwrap();
    let ran = sandbox.t("verify out", 7);
    let reason = "the source lines are of a trace that is not there; run `etl2parquet symbols --lines` again";
    assert!(ran.out.contains(reason), "{}", ran.out);
    sandbox.t("symbols out --lines", 0);
    assert!(!sandbox.path("out/symbols/lines/t.parquet").exists());
    assert_eq!(Table::read(&sandbox.path("out/symbols/lines/u.parquet")).rows.len(), expected.len());
}

/// One line for each address of bodies, by these events of methods before and behind the samples.
#[track_caller]
fn t(before: &[Vec<u8>], behind: &[Vec<u8>], addresses: &[u64], expected: &[&str]) {
    let sampled = stacks(1000, addresses);
    let sandbox = converted(&[before, &sampled, behind].concat());
    sandbox.t("symbols out --lines --symbol-path store", 0);
    assert_eq!(lines_of(&sandbox).lines("address il_offset unknown_because"), expected);
}

#[test]
fn each_body_of_a_method_has_its_own_map() {
    let m = (100, 0x0600_0001);
    let of_module = module(RUNTIME, 1, 5, LOADER, 1);
    // While the program runs the map stands behind the body, also where that is compiled again at once.
    let events = [
        of_module.clone(),
        method(RUNTIME, 2, m, CODE),
        map(RUNTIME, 190, 2, 100, &[(1, 0)]),
        method(RUNTIME, 3, m, CODE + APART),
        map(RUNTIME, 190, 3, 100, &[(2, 0)]),
    ];
    let found = ["1879048192|1|not found", "1879113728|2|not found"];
    t(&events, &[], &[CODE, CODE + APART], &found);
    // In the rundown at the end it stands before it.
    let events = [
        module(RUNDOWN, 5000, 5, LOADER, 1),
        map(RUNDOWN, 150, 5001, 100, &[(1, 0)]),
        method(RUNDOWN, 5001, m, CODE),
        map(RUNDOWN, 150, 5002, 100, &[(2, 0)]),
        method(RUNDOWN, 5002, m, CODE + APART),
    ];
    t(&[], &events, &[CODE, CODE + APART], &found);
    // Where either may be meant, none is; nor one of another method, or of another thread.
    let unknown = ["1879048192|-|no map", "1879113728|-|no map"];
    let events = [
        of_module.clone(),
        method(RUNTIME, 2, m, CODE),
        map(RUNDOWN, 149, 2, 100, &[(1, 0)]),
        method(RUNTIME, 3, m, CODE + APART),
    ];
    t(&events, &[], &[CODE, CODE + APART], &unknown);
    let events = [
        of_module.clone(),
        method(RUNTIME, 2, m, CODE),
        map(RUNTIME, 190, 2, 101, &[(1, 0)]),
        method(RUNTIME, 3, m, CODE + APART),
        event64(RUNTIME, 190, 0, T0 + 4)
            .pid(PROCESS)
            .tid(THREAD + 1)
            .payload(payload().u64(100).u64(0).u8(0).u16(1).u32(1).u32(0).u16(1))
            .on_disk(),
    ];
    t(&events, &[], &[CODE, CODE + APART], &unknown);
    // Two maps of one body that differ.
    let events = [of_module, method(RUNTIME, 2, m, CODE), map(RUNTIME, 190, 2, 100, &[(1, 0)])];
    let ended = [map(RUNDOWN, 150, 5001, 100, &[(2, 0)]), method(RUNDOWN, 5001, m, CODE)];
    t(&events, &ended, &[CODE], &["1879048192|-|no map"]);
    let ended = [map(RUNDOWN, 150, 5001, 100, &[(1, 0)]), method(RUNDOWN, 5001, m, CODE)];
    t(&events, &ended, &[CODE], &["1879048192|1|not found"]);
}

#[test]
fn what_is_not_known_says_why() {
    let m = (100, 0x0600_0001);
    let pairs = [(PROLOG, 0), (0, 4), (7, 4), (NO_MAPPING, 8), (9, 12), (EPILOG, 16)];
    let loaded = [method(RUNTIME, 2, m, CODE), map(RUNTIME, 190, 2, 100, &pairs)];
    let at: Vec<u64> = [0, 3, 4, 7, 8, 12, 15, 16].map(|native| CODE + native).to_vec();
    let of_module = [module(RUNTIME, 1, 5, LOADER, 1)];
    let check = |of_module: &[Vec<u8>], why: &str| {
        let (none, seven, nine) = ("-|no IL".to_owned(), format!("7|{why}"), format!("9|{why}"));
        let expected = [&none, &none, &seven, &seven, &none, &nine, &nine, &none];
        let expected: Vec<String> = at.iter().zip(expected).map(|(at, rest)| format!("{at}|{rest}")).collect();
        t(&[of_module, &loaded].concat(), &[], &at, &expected.iter().map(String::as_str).collect::<Vec<_>>());
    };
    let why = "no identity";
    check(&of_module, "not found");
    check(&[], why);
    check(&[module(RUNTIME, 1, 5, NO_PDB, 0)], why);
    check(&[module(RUNTIME, 1, 6, LOADER, 1)], why);
    // Two modules that had one number one after another.
    check(&[module(RUNTIME, 1, 5, LOADER, 1), module(RUNTIME, 1, 5, [7; 16], 1)], why);

    // Events of .NET 4.0 do not name the symbol file, but the merge of the trace does, of the file at this path in this process.
    let old = |path: &str| {
        let ids = payload().u64(5).u64(1).u32(8).u32(0).wstr(path).wstr("").u16(1);
        clr(RUNTIME, 152, 1, 1, ids)
    };
    let image = |process: u32| {
        let ids = payload().u64(0x1000_0000).u64(0x8000).u32(process).u32(0).u32(1).u32(0).u64(0x1000_0000);
        let load = full64(IMAGE, 3, 2, T0).payload(ids.u32(0).u32(0).u32(0).u32(0).wstr(r"C:\App\ClrLoader.dll"));
        let pdb = payload().u64(0x1000_0000).u32(process).bytes(&LOADER).u32(1).bytes(b"ClrLoader.pdb\0");
        [load.on_disk(), full64(IMAGE_ID, 37, 2, T0 + 1).payload(pdb).on_disk()]
    };
    let [load, merged] = image(PROCESS);
    check(&[old(r"c:\app\CLRLOADER.DLL"), load.clone(), merged.clone()], "not found");
    check(&[old(r"c:\app\other.dll"), load.clone(), merged.clone()], why);
    check(&[old(r"c:\app\ClrLoader.dll"), load.clone()], why);
    check(&[load, merged], why);
    let [load, merged] = image(PROCESS + 1);
    check(&[old(r"c:\app\ClrLoader.dll"), load, merged], why);

    // A file of another identity is refused and listed, by the key that symbol stores have for such files.
    let sandbox = converted(&[&of_module[..], &loaded, &stacks(1000, &at)].concat());
    let mut other = data("ClrLoader.pdb");
    let id = other.windows(16).position(|bytes| bytes == LOADER).unwrap();
    other[id] ^= 1;
    sandbox.file("store/ClrLoader.pdb", &other);
    let ran = sandbox.t("symbols out --lines --symbol-path store --missing missing.txt", 0);
    assert!(ran.out.contains("of 0 symbol files of 1") && ran.out.contains("mismatch"), "{}", ran.out);
    assert_eq!(lines_of(&sandbox).lines("unknown_because").iter().filter(|why| *why == "mismatch").count(), 4);
    let missing = std::fs::read_to_string(sandbox.path("missing.txt")).unwrap();
    assert_eq!(missing, "ClrLoader.pdb,95F8F6B2AFBC45E4884CB4A5BF5ADDD2FFFFFFFF,1\n");
    // Without `--lines` nobody asks, and nothing is written.
    std::fs::remove_dir_all(sandbox.path("out/symbols")).unwrap();
    sandbox.t("symbols out", 0);
    assert!(!sandbox.path("out/symbols/lines").exists());
}
