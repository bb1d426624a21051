//! What ids meant, and when: the sidecar tables `processes`, `threads`, `images`, `files` and `methods`.
//!
//! Layouts of payloads are those of the kernel's documented classes (`Process_TypeGroup1`, `Thread_TypeGroup1`, `Image_Load`,
//! `FileIo_Name`), written here by hand.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use support::{Converted, START_NS, Sandbox, Table, convert, convert_with};
use synth::*;

/// Ticks of the traces are 100 ns.
const TICK: i64 = 100;

/// A process event, version 3, of 64 bits.
fn process(opcode: u16, time: i64, (key, id, parent): (u64, u32, u32), exit: i32, name: &str, command: &str) -> Kernel {
    let data = payload().u64(key).u32(id).u32(parent).u32(1).i32(exit).u64(0).u32(0);
    system64(0x0300 | opcode, T0 + time).version(3).payload(data.astr(name).wstr(command))
}

fn thread(opcode: u16, time: i64, process: u32, id: u32) -> Kernel {
    let data = payload().u32(process).u32(id).zeros(5 * 8).u64(0x7FF0_1234).u64(0).u32(0).zeros(4);
    system64(0x0500 | opcode, T0 + time).version(3).payload(data)
}

fn thread_name(time: i64, process: u32, id: u32, name: &str) -> Kernel {
    system64(0x0548, T0 + time).version(2).payload(payload().u32(process).u32(id).wstr(name))
}

/// An image event, version 2; a load has the number of the process group.
fn image(hook: u16, time: i64, process: u32, base: u64, path: &str) -> Kernel {
    let data = payload().u64(base).u64(0x1_0000).u32(process).u32(77).u32(88).u32(0).u64(0).zeros(16);
    system64(hook, T0 + time).version(2).payload(data.wstr(path))
}

fn file(hook: u16, time: i64, key: u64, path: &str) -> Kernel {
    system64(hook, T0 + time).version(2).payload(payload().u64(key).wstr(path))
}

fn recorded(events: &[Kernel]) -> Vec<u8> {
    let buffers = events.chunks(20).zip(1..);
    let buffers = buffers.map(|(events, sequence)| buffer(0x1000).sequence(sequence).events(events.to_vec()));
    trace(header()).buffers(buffers).to_bytes()
}

/// Times as ticks from the start of the trace; `-` is NULL.
fn spans(found: &Converted, table: &str, columns: &str, times: &str) -> Vec<String> {
    let table = found.sidecar(table);
    let ticks =
        |time: &str| time.parse::<i64>().map_or("-".to_owned(), |ns| ((ns - START_NS).div_euclid(TICK)).to_string());
    (0..table.rows.len())
        .map(|row| {
            let times: Vec<_> = times.split_whitespace().map(|column| ticks(table.cell(row, column))).collect();
            format!("{} {}", table.row(row, columns), times.join(" "))
        })
        .collect()
}

#[test]
fn a_process_id_is_used_again() {
    let events = [
        process(3, 10, (0xAA, 8, 4), 259, "old.exe", "old -x"),
        process(2, 40, (0xAA, 8, 4), -1, "old.exe", ""),
        process(1, 60, (0xBB, 8, 12), 259, "new.exe", ""),
        perfinfo64(0x0F22, T0 + 100).payload([0; 8]),
    ];
    let found = convert(&recorded(&events));
    let columns =
        "process_id unique_process_key parent_process_id image_name command_line session_id exit_status source_of";
    assert_eq!(
        spans(&found, "processes", columns, "started_ns ended_ns from_ns to_ns"),
        // The trace begins with its header event, and ends behind its last one, within a tick.
        ["8|170|4|old.exe|old -x|1|-1|Process/DCStart - 40 0 60", "8|187|12|new.exe|-|1|-|Process/Start 60 - 60 100"]
    );
}

#[test]
fn threads_are_in_processes_and_have_names() {
    let events = [
        process(1, 10, (1, 8, 4), 259, "a.exe", ""),
        thread(1, 20, 8, 30),
        thread_name(25, 8, 30, "Finalizer"),
        thread(2, 50, 8, 30),
        // Recorded by a rundown: since its process began.
        thread(3, 60, 8, 31),
        thread(1, 70, 9, 30),
    ];
    let found = convert(&recorded(&events));
    assert_eq!(
        spans(
            &found,
            "threads",
            "thread_id process_id start_address name source_of",
            "started_ns ended_ns from_ns to_ns"
        ),
        [
            "30|8|2146439732|Finalizer|Thread/Start 20 50 20 70",
            "30|9|2146439732|-|Thread/Start 70 - 70 70",
            "31|8|2146439732|-|Thread/DCStart - - 10 70"
        ]
    );
}

#[test]
fn modules_and_files_have_the_paths_that_people_know() {
    let volume = full64(guid("9b79ee91-b5fd-41c0-a243-4248e266e9d0"), 35, 0, T0 + 5)
        .payload(payload().wstr(r"\Device\HarddiskVolume3\").wstr(r"C:\"));
    let mut data = buffer(0x1000).sequence(1);
    data.push(&volume.on_disk());
    let kernel = [
        process(1, 10, (1, 8, 4), 259, "a.exe", ""),
        image(0x030A, 20, 8, 0x1000, r"\Device\HarddiskVolume3\Windows\a.dll"),
        image(0x1402, 30, 8, 0x1000, r"\Device\HarddiskVolume3\Windows\a.dll"),
        image(0x1403, 35, 0, 0xFFFF_8000_0000_0000, r"\SystemRoot\b.sys"),
        file(0x0424, 40, 0xF0, r"\Device\HarddiskVolume3\x.txt"),
        file(0x0400, 50, 0xF0, r"\Device\HarddiskVolume30\y.txt"),
    ];
    kernel.iter().for_each(|event| data.push(&event.on_disk()));
    let found = convert(&trace(header()).buffer(data).to_bytes());
    assert_eq!(
        spans(&found, "images", "process_id base size path file_name time_stamp checksum source_of", "from_ns to_ns"),
        [
            r"0|-140737488355328|65536|\SystemRoot\b.sys|b.sys|88|77|Image/DCStart 0 50",
            r"8|4096|65536|C:\Windows\a.dll|a.dll|88|77|Image/Load 20 30"
        ]
    );
    assert_eq!(
        spans(&found, "files", "file_key path source_of", "from_ns to_ns"),
        [r"240|C:\x.txt|FileIo/FileRundown 0 50", r"240|\Device\HarddiskVolume30\y.txt|FileIo/Name 50 50"]
    );
}

/// A method of JavaScript: template `MethodRundownMethodDCEndArgs` of the manifest of Microsoft-JScript.
fn javascript(id: u16, time: i64, (process, base, size): (u32, u64, u64), name: &str) -> Event {
    const JAVASCRIPT: Guid = guid("57277741-3638-4a4b-bdba-0ac6e45da56c");
    // Flags by which a method of .NET would be compiled in tier 1.
    let (context, method, flags, range) = (0x5000, 17, 8 | 4 << 7, 2);
    let data = payload().u64(context).u64(base).u64(size).u32(method).u16(flags).u16(range).u64(3).u32(12).u32(5);
    event64(JAVASCRIPT, id, 0, T0 + time).level(4).pid(process).payload(data.wstr(name))
}

#[test]
fn methods_of_javascript_are_functions_of_frames() {
    let sandbox = Sandbox::new();
    let sample = |time, process, stack: &[u64]| {
        let shop = guid("5f0b6c1e-3c0a-5d7e-9a41-20c8a5e0f311");
        event64(shop, 1, 0, T0 + time).pid(process).item(Item::stack64(0, stack)).payload(payload().u32(1))
    };
    let events = [
        javascript(9, 10, (8, 0x7000, 0x100), "draw"),
        javascript(9, 11, (8, 0x7100, 0x40), "Global code"),
        sample(20, 8, &[0x7010, 0x7100, 0x7140, 0x7200]),
        javascript(10, 30, (8, 0x7000, 0x100), "draw"),
        // In its place, and of another process, from before the recording on.
        javascript(9, 40, (8, 0x7000, 0x100), "paint"),
        sample(50, 8, &[0x7010]),
        javascript(6, 60, (9, 0x7000, 0x20), "of a rundown"),
        sample(65, 9, &[0x7000]),
        // A script context and a compilation name no method's place.
        javascript(11, 70, (8, 0x9000, 0x10), "none"),
    ];
    sandbox.file("t.etl", &trace(header()).buffer(buffer(0x2000).sequence(1).events(events.to_vec())).to_bytes());
    sandbox.t("convert t.etl -q -o out", 0);
    let methods = Table::read(&sandbox.path("out/trace=t/sidecar/methods.parquet"));
    assert_eq!(
        methods.lines("process_id base size namespace name signature tier source_of"),
        [
            "8|28672|256|-|draw|-|-|MethodRuntime/MethodLoad",
            "8|28672|256|-|paint|-|-|MethodRuntime/MethodLoad",
            "8|28928|64|-|Global code|-|-|MethodRuntime/MethodLoad",
            "9|28672|32|-|of a rundown|-|-|MethodRundown/MethodDCEnd",
        ]
    );
    sandbox.t("symbols out --symbol-path none --frames", 0);
    let mut frames = Table::read(&sandbox.path("out/symbols/frames/t.parquet"))
        .lines("process_id depth address function kind unknown_because");
    frames.sort();
    assert_eq!(
        frames,
        [
            // Calls return behind them: the call of the second frame is the last of the method before.
            "8|0|28688|draw|managed|-",
            "8|0|28688|paint|managed|-",
            "8|1|28928|draw|managed|-",
            "8|2|28992|Global code|managed|-",
            "8|3|29184|-|user|in no module",
            "9|0|28672|of a rundown|managed|-",
        ]
    );
}

#[test]
fn compressed_buffers_describe_what_others_do() {
    let events: Vec<_> = (0..200_u32)
        .flat_map(|number| {
            let time = 10 * i64::from(number);
            [
                process(1, time, (number.into(), number % 7, 4), 259, "a.exe", "a -x"),
                file(0x0400, time + 1, number.into(), r"\Device\HarddiskVolume1\a"),
                perfinfo64(0x0F22, T0 + time + 2).payload([0; 8]),
            ]
        })
        .collect();
    let written = |compressed: bool| {
        let buffers = events.chunks(20).zip(1..).map(|(events, sequence)| {
            let buffer = buffer(0x4000).sequence(sequence).events(events.to_vec());
            if compressed { buffer.compressed() } else { buffer }
        });
        let mode = if compressed { 0x0400_0001 } else { 1 };
        convert(&trace(header().log_file_mode(mode)).buffers(buffers).to_bytes())
    };
    let (plain, compressed) = (written(false), written(true));
    for (table, rows) in [("processes", 200), ("files", 200)] {
        assert_eq!(plain.sidecar(table).rows, compressed.sidecar(table).rows);
        assert_eq!(compressed.sidecar(table).rows.len(), rows);
    }
}

#[test]
fn they_depend_on_the_recording_alone() {
    let event = |n: u32| {
        let (opcode, id) = if n.is_multiple_of(2) { (1, 100 + n / 2 % 7) } else { (2, 100 + n / 2 % 7) };
        process(opcode, 10 + i64::from(n), (n.into(), id, 4), 0, &format!("p{n}.exe"), "").tid(n % 10)
    };
    let events: Vec<_> = (0..400).map(event).collect();
    let bytes = recorded(&events);
    let all = convert(&bytes).sidecar("processes");
    assert_eq!(all.rows.len(), 200);
    let filtered = convert_with(&[&bytes], |options| {
        options.filter.threads = vec!["4".parse().unwrap()];
        options.threads = 1;
        options.row_group_rows = 1024;
    });
    assert_eq!(filtered.counts(), (401, 40, 361, 0, 0));
    assert_eq!(filtered.sidecar("processes").rows, all.rows);
}

/// Events of modules and files in buffers of four processors, whose ids are used again, in no order within some buffers.
fn of_tables(count: u32) -> Vec<u8> {
    let event = |n: u32| {
        let mixed = n.wrapping_mul(2_654_435_761) >> 7;
        // Every seventh is recorded before what happened later.
        let time = 100 + i64::from(n) * 3 - if mixed.is_multiple_of(7) { 40 } else { 0 };
        let (process, id) = (8 + mixed % 3 * 4, u64::from(mixed / 3 % 40));
        match mixed / 1000 % 8 {
            0 => image(0x1402, time, process, 0x1_0000 * id, &format!("m{}.dll", n % 5)),
            1 => image(0x1403, time, process, 0x1_0000 * id, &format!("m{}.dll", n % 11)),
            2 => image(0x1404, time, process, 0x1_0000 * id, ""),
            3 | 4 => image(0x030A, time, process, 0x1_0000 * id, &format!("m{}.dll", n % 5)),
            5 => file(0x0400, time, 0xF000 + id, &format!("f{}", n % 17)),
            6 => file(0x0424, time, 0xF000 + id, &format!("f{}", n % 17)),
            _ => file(0x0423, time, 0xF000 + id, "f\u{e9}\u{1f600}"),
        }
    };
    let mut buffers = Vec::new();
    for (number, first) in (0..count).step_by(80).enumerate() {
        for cpu in 0..4_u16 {
            let events = (first..(first + 80).min(count)).filter(|n| n % 4 == u32::from(cpu)).map(event);
            let sequence = i64::try_from(4 * number).unwrap() + i64::from(cpu);
            buffers.push(buffer(0x1000).cpu(cpu).sequence(sequence).events(events));
        }
    }
    trace(header()).buffers(buffers).to_bytes()
}

#[test]
fn what_comes_with_the_rows_is_what_is_gathered_before_them() {
    let bytes = of_tables(4000);
    let with_rows = convert(&bytes);
    // Where a filter leaves rows out, nothing can come with them.
    let before = convert_with(&[&bytes], |options| options.filter.cpus = vec!["0-99".parse().unwrap()]);
    assert_eq!(with_rows.counts(), before.counts());
    for (table, least) in [("images", 200), ("files", 80)] {
        let rows = with_rows.sidecar(table).rows;
        assert!(rows.len() > least, "{table}: {}", rows.len());
        assert_eq!(rows, before.sidecar(table).rows, "{table}");
    }
}

#[test]
fn more_files_than_are_folded_with_the_rows_are_gathered_behind_them() {
    // One more than 2^18 ids, the last of which is used again.
    let count = (1 << 18) + 1;
    let name = |n: u64| file(0x0400, 10 + i64::try_from(n).unwrap(), 0x1000 + 16 * n, "x");
    let events: Vec<_> = (0..count).map(name).chain([file(0x0420, 400_000, 0x1000, "y")]).collect();
    let buffers = events.chunks(60).zip(1..);
    let buffers = buffers.map(|(events, sequence)| buffer(0x1000).sequence(sequence).events(events.to_vec()));
    let files = convert(&trace(header()).buffers(buffers).to_bytes()).sidecar("files");
    assert_eq!(files.rows.len(), usize::try_from(count).unwrap() + 1);
    assert_eq!(files.row(0, "file_key path"), "4096|x");
    assert_eq!(files.row(1, "file_key path"), "4096|y");
}

/// The folder of a plan.
fn planned(sandbox: &Sandbox, out: &str) -> String {
    let said = sandbox.t(&format!("plan t.etl -o {out} --json"), 0).out;
    let plan: serde_json::Value = serde_json::from_str(&said).unwrap();
    plan["plan"].as_str().unwrap().to_owned()
}

#[test]
fn steps_write_what_one_process_writes() {
    let sandbox = Sandbox::new();
    let events = [process(1, 10, (1, 8, 4), 259, "a.exe", "a"), thread(1, 20, 8, 30), file(0x0400, 50, 0xF0, "x")];
    std::fs::write(sandbox.path("t.etl"), recorded(&events)).unwrap();
    sandbox.t("convert t.etl -o one", 0);
    let plan = planned(&sandbox, "two");
    sandbox.t(&format!("convert-partition {plan} 0"), 0);
    sandbox.t(&format!("commit {plan}"), 0);
    for table in ["processes", "threads", "files"] {
        let read = |out: &str| std::fs::read(sandbox.path(&format!("{out}/trace=t/sidecar/{table}.parquet"))).unwrap();
        assert_eq!(read("one"), read("two"), "{table}");
    }
    // What the recording does not describe has no table.
    for table in ["images", "methods"] {
        assert!(!sandbox.path(&format!("one/trace=t/sidecar/{table}.parquet")).exists(), "{table}");
    }
    // A plan whose spans were changed is not committed.
    let plan = planned(&sandbox, "three");
    sandbox.t(&format!("convert-partition {plan} 0"), 0);
    let spans = sandbox.path(&plan).join("dimensions-processes");
    let mut changed = std::fs::read(&spans).unwrap();
    changed[8] ^= 1;
    std::fs::write(&spans, changed).unwrap();
    let ran = sandbox.t(&format!("commit {plan}"), 6);
    assert!(ran.err.contains("this file is not the one that was planned"), "{}", ran.err);
}
