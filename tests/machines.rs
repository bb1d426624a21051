//! Traces of several machines in one recording: an id means on each what its own events describe.
//!
//! Layouts of payloads are those of the kernel's documented classes and of the .NET runtime's `MethodLoadVerbose_V1`, written here by
//! hand.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::collections::BTreeMap;

use support::{START_NS, Sandbox, Table, convert, convert_all, convert_with};
use synth::*;

/// A second in ticks.
const SECOND: i64 = 10_000_000;

/// What is recorded of a machine: the names of all things that have the same ids as on others, and how much later it records.
struct MachineNames {
    name: &'static str,
    later: i64,
}

const ALPHA: MachineNames = MachineNames { name: "alpha", later: 0 };
const BETA: MachineNames = MachineNames { name: "beta", later: 5 };

impl MachineNames {
    /// Process 8 with thread 30, a module, a file and a method at the same addresses; then a sample of the thread, bytes that the
    /// process sent, and the stack of the sample.
    fn events(&self) -> Vec<Vec<u8>> {
        let MachineNames { name, later } = self;
        let at = |time: i64| T0 + time + later;
        let volume = full64(guid("9b79ee91-b5fd-41c0-a243-4248e266e9d0"), 35, 0, at(5));
        let drive = if *later == 0 { r"C:\" } else { r"D:\" };
        let process = payload().u64(0xAA).u32(8).u32(4).u32(1).i32(259).u64(0).u32(0);
        let thread = payload().u32(8).u32(30).zeros(5 * 8).u64(0x7FF0).u64(0).u32(0).zeros(4);
        let image = payload().u64(0x1000).u64(0x100).u32(8).u32(77).u32(88).u32(0).u64(0).zeros(16);
        let path = |file: &str| format!(r"\Device\HarddiskVolume1\{file}");
        let dotnet = guid("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4");
        let method = payload().u64(1).u64(2).u64(0x9000).u32(64).u32(3).u32(0);
        let method = method.wstr(name).wstr("Run").wstr("void  ()").u16(1);
        let walk = payload().i64(at(60)).u32(8).u32(30).u64(name.len() as u64);
        vec![
            volume.payload(payload().wstr(r"\Device\HarddiskVolume1\").wstr(drive)).on_disk(),
            system64(0x0301, at(10)).version(3).payload(process.astr(&format!("{name}.exe")).wstr(name)).on_disk(),
            system64(0x0501, at(20)).version(3).pid(8).tid(1).payload(thread).on_disk(),
            system64(0x030A, at(30)).version(2).pid(8).payload(image.wstr(&path(&format!("{name}.dll")))).on_disk(),
            system64(0x0400, at(40))
                .pid(8)
                .tid(1)
                .payload(payload().u64(0xF0).wstr(&path(&format!("{name}.txt"))))
                .on_disk(),
            event64(dotnet, 143, 1, at(50)).opcode(37).task(9).keyword(0x10).pid(8).tid(30).payload(method).on_disk(),
            perfinfo64(0x0F2E, at(60)).payload(payload().u64(0x1000).u32(30).u16(1).u16(0)).on_disk(),
            perfinfo64(0x060A, at(61)).payload(payload().u32(8).u32(100).zeros(36)).on_disk(),
            perfinfo64(0x1820, at(62)).payload(walk).on_disk(),
        ]
    }

    fn trace(&self, header: Header) -> Vec<u8> {
        let mut data = buffer(0x1000).sequence(1);
        self.events().iter().for_each(|event| data.push(event));
        trace(header).buffer(data).to_bytes()
    }
}

/// The kinds of things that are recorded.
const TABLES: [(&str, &str); 5] = [
    ("processes", "process_id image_name command_line"),
    ("threads", "thread_id process_id"),
    ("images", "process_id base path"),
    ("files", "file_key path"),
    ("methods", "process_id base namespace"),
];

/// Rows of all tables, each with its machine, and from when to when it holds in ticks.
fn spans(sandbox: &Sandbox, trace: &str) -> Vec<String> {
    let ticks = |table: &Table, row: usize, column: &str| {
        (table.cell(row, column).parse::<i64>().unwrap() - START_NS).div_euclid(100).to_string()
    };
    let lines = TABLES.iter().flat_map(|(name, columns)| {
        let table = sandbox.table(trace, &format!("sidecar/{name}"));
        let lines = (0..table.rows.len()).map(|row| {
            let [from, to] = ["from_ns", "to_ns"].map(|column| ticks(&table, row, column));
            format!("{name} {} {} {from} {to}", table.cell(row, "machine"), table.row(row, columns))
        });
        lines.collect::<Vec<_>>()
    });
    lines.collect()
}

/// Columns of all events in order, without the header events.
fn events(sandbox: &Sandbox, trace: &str, columns: &str) -> Vec<String> {
    let mut rows = BTreeMap::new();
    for dataset in std::fs::read_dir(sandbox.path(trace).join("events")).unwrap() {
        let dataset = dataset.unwrap().file_name().into_string().unwrap();
        if dataset != "Kernel-EventTrace" {
            let table = sandbox.table(trace, &format!("events/{dataset}"));
            rows.extend(table.numbers("seq").into_iter().zip(table.lines(columns)));
        }
    }
    rows.into_values().collect()
}

/// Two machines whose clocks show the same time, in files of which the list says `offset` of the second.
fn two(offset: &str, second: Header) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("alpha.etl", &ALPHA.trace(header()));
    sandbox.file("beta.etl", &BETA.trace(second));
    sandbox.file("both.txt", format!("alpha.etl\nbeta.etl {offset}\n").as_bytes());
    sandbox.t("convert @both.txt --merge lab -o out", 0);
    sandbox
}

const TRACE: &str = "out/trace=lab";

/// What two machines record of the same ids, the second `moved` ticks later.
fn apart(moved: i64) -> Vec<String> {
    let line = |table: &str, described: &MachineNames, names: &str, from: i64| {
        let (machine, later) = if described.later == 0 { (0, 0) } else { (1, described.later + moved) };
        format!("{table} {machine} {} {} {}", names.replace('@', described.name), from + later, 62 + later)
    };
    let both = |table: &'static str, names: &[&str; 2], from: i64| {
        [line(table, &ALPHA, names[0], from), line(table, &BETA, names[1], from)]
    };
    [
        both("processes", &["8|@.exe|@"; 2], 10),
        both("threads", &["30|8"; 2], 20),
        both("images", &[r"8|4096|C:\@.dll", r"8|4096|D:\@.dll"], 30),
        both("files", &[r"240|C:\@.txt", r"240|D:\@.txt"], 40),
        both("methods", &["8|36864|@"; 2], 50),
    ]
    .concat()
}

#[test]
fn an_id_means_on_each_machine_what_its_own_events_describe() {
    let sandbox = two("offset=+100ns", header());
    assert_eq!(
        sandbox.table(TRACE, "sidecar/sessions").lines("source input machine"),
        ["alpha.etl|0|0", "beta.etl|1|1"]
    );
    assert_eq!(spans(&sandbox, TRACE), apart(1));
    let rows = events(&sandbox, TRACE, "input process_id thread_id process_name attribution stack");
    let of = |input: usize, names: &str| {
        let rows = rows.iter().filter_map(|row| row.strip_prefix(&format!("{input}|")));
        let rows: Vec<String> = rows.map(str::to_owned).collect();
        let last = &rows[rows.len() - 5..];
        assert_eq!(
            last,
            [
                "8|1|@.exe|header|-",
                "8|30|@.exe|header|-",
                "8|30|@.exe|thread|[#]",
                "8|-|@.exe|payload|-",
                "8|30|@.exe|payload|-"
            ]
            .map(|row| row.replace('@', names).replace('#', &names.len().to_string())),
            "{input}"
        );
    };
    of(0, "alpha");
    of(1, "beta");
}

#[test]
fn filters_by_names_of_processes_know_the_machines() {
    let sandbox = two("offset=+100ns", header());
    for (name, input) in [("alpha.exe", "0"), ("beta.exe", "1")] {
        sandbox.t(&format!("convert @both.txt --merge lab -o {name} --pid {name}"), 0);
        let inputs = events(&sandbox, &format!("{name}/trace=lab"), "input process_name");
        assert!(inputs.len() >= 5, "{inputs:?}");
        assert!(inputs.iter().all(|row| *row == format!("{input}|{name}")), "{inputs:?}");
        assert_eq!(spans(&sandbox, &format!("{name}/trace=lab")), apart(1));
    }
    sandbox.t("convert @both.txt --merge lab -o id --pid 8", 0);
    let rows = events(&sandbox, "id/trace=lab", "input");
    let of = |input: &str| rows.iter().filter(|row| *row == input).count();
    assert_eq!(of("0"), of("1"));
}

#[test]
fn a_report_knows_the_machines() {
    let sandbox = two("offset=+100ns", header());
    let page = sandbox.t("report out -o - -q", 0).out;
    // One sample each, in a module of its own, and as many bytes sent.
    for name in ["alpha.exe", "alpha.dll", "beta.exe", "beta.dll"] {
        let row = format!("<th scope=\"row\">{name}</th><td class=\"n\">1</td>");
        assert!(page.contains(&row), "{name}: {page}");
    }
    for name in ["alpha.exe", "beta.exe"] {
        let row = format!("<th scope=\"row\">{name}</th><td class=\"n\">100 B</td>");
        assert!(page.contains(&row), "{name}: {page}");
    }
}

#[test]
fn partitions_and_steps_describe_what_one_process_does() {
    let sandbox = two("offset=+100ns", header());
    let plan = sandbox.t("plan @both.txt --merge lab -o steps", 0).out;
    sandbox.t(&format!("convert-partition {} 0", plan.trim()), 0);
    sandbox.t(&format!("commit {}", plan.trim()), 0);
    for part in ["events", "sidecar"] {
        let files = |out: &str| {
            let files = sandbox.files(&format!("{out}/{part}")).into_iter();
            files.filter(|(name, _)| name != "manifest.json").collect::<Vec<_>>()
        };
        assert!(files("steps/trace=lab") == files(TRACE), "{part}");
    }
}

/// Many processes and threads, of which the ids soon mean something else, and what they do; other things on each machine.
fn busy(machine: u32) -> Vec<u8> {
    let event = |n: u32| {
        let at = T0 + 10 + i64::from(2 * n + machine);
        let (id, name) = (8 + n / 3 % 5 * 4, format!("m{machine}n{n}.exe"));
        let process = payload().u64(0xAA).u32(id).u32(4).u32(1).i32(259).u64(0).u32(0);
        let thread = payload().u32(id).u32(30 + n % 7).zeros(5 * 8).u64(0x7FF0).u64(0).u32(0).zeros(4);
        match n % 3 {
            0 => system64(0x0301, at).version(3).payload(process.astr(&name).wstr("")),
            1 => system64(0x0501, at).version(3).payload(thread),
            _ => perfinfo64(0x0F2E, at).payload(payload().u64(0x1000).u32(30 + n % 5).u16(1).u16(0)),
        }
    };
    let events: Vec<Kernel> = (0..600).map(event).collect();
    let buffers = events.chunks(15).zip(1..);
    let buffers = buffers.map(|(events, sequence)| buffer(0x1000).sequence(sequence).events(events.to_vec()));
    let header = header();
    let booted = header.boot_time + i64::from(machine) * 60 * SECOND;
    trace(header.boot_time(booted)).buffers(buffers).to_bytes()
}

#[test]
fn partitions_describe_what_the_whole_does_and_a_machine_with_others_what_it_does_alone() {
    const WHOSE: &str = "process_id thread_id process_name attribution";
    let files = [busy(0), busy(1)];
    let all = convert_all(&files.each_ref().map(Vec::as_slice));
    let parts = convert_with(&files.each_ref().map(Vec::as_slice), |options| options.partition_bytes = Some(8000));
    assert!(parts.report.partitions > Some(3), "{:?}", parts.report.partitions);
    let rows = all.all(&format!("input timestamp_ns {WHOSE}"));
    assert_eq!(parts.all(&format!("input timestamp_ns {WHOSE}")), rows);
    for (machine, file) in files.iter().enumerate() {
        let alone = convert(file);
        let own = rows.iter().filter_map(|row| row.strip_prefix(&format!("{machine}|")));
        assert!(own.eq(&alone.all(&format!("timestamp_ns {WHOSE}"))), "{machine}");
        for (table, columns) in
            [("processes", "process_id image_name from_ns to_ns"), ("threads", "thread_id process_id from_ns to_ns")]
        {
            let described = all.sidecar(table).lines(&format!("machine {columns}"));
            let own: Vec<&str> = described.iter().filter_map(|row| row.strip_prefix(&format!("{machine}|"))).collect();
            assert_eq!(own, alone.sidecar(table).lines(columns), "{table} of {machine}");
        }
    }
}

#[test]
fn a_machine_that_was_started_again_has_other_processes() {
    let booted = header().boot_time(header().boot_time + 34 * SECOND);
    let sandbox = two("", booted);
    assert_eq!(
        sandbox.table(TRACE, "sidecar/sessions").lines("source input machine"),
        ["alpha.etl|0|0", "beta.etl|1|1"]
    );
    assert_eq!(spans(&sandbox, TRACE), apart(0));
}

#[test]
fn files_of_one_machine_describe_together() {
    // The clock was set by two seconds between the two.
    let sandbox = Sandbox::new();
    let described = ALPHA.events();
    let (first, rest) = described.split_at(6);
    for (name, events, booted) in [("a_describes", first, 0), ("b_asks", rest, 2 * SECOND)] {
        let mut data = buffer(0x1000).sequence(1);
        events.iter().for_each(|event| data.push(event));
        let header = header().boot_time(header().boot_time + booted).session(name);
        sandbox.file(&format!("{name}.etl"), &trace(header).buffer(data).to_bytes());
    }
    sandbox.t("convert a_describes.etl b_asks.etl --merge lab -o out", 0);
    let sessions = sandbox.table(TRACE, "sidecar/sessions").lines("source input machine");
    assert_eq!(sessions, ["a_describes.etl|0|0", "b_asks.etl|1|0"]);
    let alone = apart(0).into_iter().filter(|line| line.contains(" 0 "));
    assert_eq!(spans(&sandbox, TRACE), alone.collect::<Vec<_>>());
    let rows = events(&sandbox, TRACE, "input process_id thread_id process_name attribution");
    let asked: Vec<_> = rows.iter().filter(|row| row.starts_with('1')).collect();
    assert_eq!(asked, ["1|8|30|alpha.exe|thread", "1|8|-|alpha.exe|payload", "1|8|30|alpha.exe|payload"]);
}
