//! Recordings that lie in several files.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::fs;

use support::Sandbox;
use synth::*;

const NEWFILE: u32 = 0x8;
const SECOND: i64 = 10_000_000;

/// A trace of ten seconds from `from` on, with one event in its middle.
fn recorded(head: Header, from: i64) -> Vec<u8> {
    let head = head.start_time(START + from * SECOND).time(T0 + from * SECOND).end_time(START + (from + 10) * SECOND);
    let event = perfinfo64(0x0F99, T0 + (from + 5) * SECOND).payload([1]);
    trace(head).buffer(buffer(0x1000).sequence(from).event(event)).to_bytes()
}

fn member(sandbox: &Sandbox, number: i64) {
    let head = header().log_file_mode(NEWFILE).file(&format!("C:\\log_{number}.etl"));
    sandbox.file(&format!("in/log_{number}.etl"), &recorded(head, 10 * number));
}

fn traces(sandbox: &Sandbox) -> Vec<String> {
    let names = fs::read_dir(sandbox.path("out")).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.to_str().unwrap().to_owned()).filter(|name| name.starts_with("trace="));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn manifest(sandbox: &Sandbox, trace: &str) -> serde_json::Value {
    let path = sandbox.path(&format!("out/trace={trace}/sidecar/manifest.json"));
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn inputs(sandbox: &Sandbox, trace: &str) -> Vec<String> {
    let manifest = manifest(sandbox, trace);
    let inputs = manifest["inputs"].as_array().unwrap();
    inputs.iter().map(|input| input["source"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_belongs_together_is_merged_and_reported() {
    let sandbox = Sandbox::new();
    [1, 2, 4].iter().for_each(|&number| member(&sandbox, number));
    sandbox.file("in/x.etl", &recorded(header().session("user"), 100));
    sandbox.file("in/x.kernel.etl", &recorded(header().session("kernel"), 101));
    sandbox.file("in/y.etl", &recorded(header(), 300));
    sandbox.file("in/y.kernel.etl", &recorded(header(), 500));
    let ran = sandbox.t("convert in --merge auto -o out --summary s.json", 0);
    assert_eq!(traces(&sandbox), ["trace=log", "trace=x", "trace=y", "trace=y.kernel"]);
    assert_eq!(inputs(&sandbox, "log"), ["log_1.etl", "log_2.etl", "log_4.etl"]);
    assert_eq!(inputs(&sandbox, "x"), ["x.etl", "x.kernel.etl"]);
    let lines = [
        "log: merged of log_1.etl, log_2.etl and log_4.etl (files of one session, by name, session, start of the \
                  system and time)",
        "x: merged of x.etl and x.kernel.etl (sessions of one recording, by name, start of the system and time)",
        "not merged: y.etl and y.kernel.etl: they were recorded at different times",
    ];
    lines.iter().for_each(|line| assert!(ran.err.contains(line), "{line}: {}", ran.err));
    // The file that is missing is a gap.
    let gaps = sandbox.table("out/trace=log", "sidecar/lost_events").lines("source kind count unit");
    assert!(gaps.contains(&"log_2.etl|missing_file|1|files".to_owned()), "{gaps:?}");
    assert_eq!(manifest(&sandbox, "log")["lost"]["unknown_because"], "a file of its series is missing");
    // In time order over the files, and the same rows as with a name.
    sandbox.t("convert in/log_4.etl in/log_2.etl in/log_1.etl --merge log -o named", 0);
    let events = |folder: &str| sandbox.files(&format!("{folder}/trace=log/events"));
    assert_eq!(events("out"), events("named"));
}

#[test]
fn a_dry_run_and_a_plan_merge_too() {
    let sandbox = Sandbox::new();
    [1, 2].iter().for_each(|&number| member(&sandbox, number));
    let ran = sandbox.t("convert in --merge auto -o out --dry-run --summary -", 0);
    let summary: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&summary["traces"][0]["trace"], &summary["traces"][1]), (&"log".into(), &serde_json::Value::Null));
    assert!(!sandbox.path("out").exists());
    let plan = sandbox.t("plan in --merge auto -o out", 0).out;
    sandbox.t(&format!("convert-partition {} 0", plan.trim()), 0);
    sandbox.t(&format!("commit {}", plan.trim()), 0);
    assert_eq!(inputs(&sandbox, "log"), ["log_1.etl", "log_2.etl"]);
}

#[test]
fn a_recording_that_grows_is_converted_again_and_never_shrinks() {
    let sandbox = Sandbox::new();
    let update = |code: i32| sandbox.t("convert in --merge auto -o out --if-exists update -v", code).err;
    member(&sandbox, 1);
    update(0);
    // One alone is called as all of them, so that there is no second trace of its events later.
    assert_eq!(inputs(&sandbox, "log"), ["log_1.etl"]);
    member(&sandbox, 2);
    assert!(!update(0).contains("log: skipped"));
    assert_eq!((traces(&sandbox), inputs(&sandbox, "log").len()), (vec!["trace=log".to_owned()], 2));
    assert!(update(0).contains("log: skipped"));
    // Who clears away what is converted keeps it.
    fs::remove_file(sandbox.path("in/log_1.etl")).unwrap();
    assert!(update(0).contains("log: skipped"));
    member(&sandbox, 3);
    let said = update(6);
    assert!(said.contains("trace=log has events of inputs that have gone: log_1.etl"), "{said}");
    assert_eq!(inputs(&sandbox, "log"), ["log_1.etl", "log_2.etl"]);
    sandbox.t("convert in --merge auto -o out --if-exists replace", 0);
    assert_eq!(inputs(&sandbox, "log"), ["log_2.etl", "log_3.etl"]);
}

#[test]
fn another_trace_keeps_its_name() {
    let sandbox = Sandbox::new();
    [1, 2].iter().for_each(|&number| member(&sandbox, number));
    sandbox.file("in/log.etl", &recorded(header(), 70));
    let said = sandbox.t("convert in --merge auto -o out", 0).err;
    assert!(said.contains("not merged: log_1.etl and log_2.etl: another trace is called as theirs would be"), "{said}");
    assert_eq!(traces(&sandbox), ["trace=log", "trace=log_1", "trace=log_2"]);
}

#[test]
fn files_of_other_folders_are_others() {
    let sandbox = Sandbox::new();
    sandbox.file("a/x.etl", &recorded(header(), 10));
    sandbox.file("b/x.kernel.etl", &recorded(header(), 12));
    sandbox.t("convert a b --merge auto -o out", 0);
    assert_eq!(traces(&sandbox), ["trace=x", "trace=x.kernel"]);
    sandbox.t("convert . --merge auto -o out --name-from path", 0);
    assert_eq!(traces(&sandbox), ["trace=a.x", "trace=b.x", "trace=x", "trace=x.kernel"]);
}

/// Two machines: what the second calls five seconds is 5.0015 s on the clock of the first.
fn machines(sandbox: &Sandbox, offset: &str) {
    sandbox.file("a b/x.etl", &recorded(header(), 0));
    sandbox.file("b/x.etl", &recorded(header().session("second"), 0));
    sandbox.file("list.txt", format!("# both\n\"a b/x.etl\" merge=lab\nb/x.etl  {offset} merge=lab\n").as_bytes());
}

#[test]
fn a_machine_whose_clock_is_off_is_moved_as_a_whole() {
    let sandbox = Sandbox::new();
    machines(&sandbox, "offset=+1.5ms");
    sandbox.t("convert @list.txt -o out", 0);
    let event = 1_735_689_605_000_000_000_i64;
    assert_eq!(event, (START - 116_444_736_000_000_000 + 5 * SECOND) * 100);
    let rows = sandbox.table("out/trace=lab", "events/Kernel-PerfInfo").lines("input timestamp_ns seq");
    assert_eq!(rows, [format!("0|{event}|2"), format!("1|{}|3", event + 1_500_000)]);
    let clock = sandbox.table("out/trace=lab", "sidecar/clock");
    let start = event - 5_000_000_000;
    assert_eq!(
        clock.lines("source base_ns start_anchor_ns offset_ns"),
        [format!("x.etl|{start}|{start}|0"), format!("x.etl|{0}|{0}|1500000", start + 1_500_000)]
    );
    assert_eq!(manifest(&sandbox, "lab")["options"]["offset_ns"], serde_json::json!([0, 1_500_000]));
    // Loss of the second is recorded in the same time, and so is its session.
    let ledger = sandbox.table("out/trace=lab", "sidecar/lost_events");
    let whole: Vec<i64> = ledger
        .lines("kind from_time_ns")
        .iter()
        .filter_map(|line| line.strip_prefix("events_lost|")?.parse().ok())
        .collect();
    assert_eq!(whole, [start, start + 1_500_000]);
    // The other way round, it comes first.
    machines(&sandbox, "offset=-2s");
    sandbox.t("convert @list.txt -o out --if-exists update", 0);
    let rows = sandbox.table("out/trace=lab", "events/Kernel-PerfInfo").lines("input timestamp_ns seq");
    assert_eq!(rows, [format!("1|{}|2", event - 2_000_000_000), format!("0|{event}|3")]);
    assert!(sandbox.t("convert @list.txt -o out --if-exists update -v", 0).err.contains("lab: skipped"));
    // Filters go by the moved times, and steps write the same.
    sandbox.t("convert @list.txt -o late --from 2025-01-01T00:00:04Z", 0);
    assert_eq!(sandbox.table("late/trace=lab", "events/Kernel-PerfInfo").lines("input"), ["0"]);
    let plan = sandbox.t("plan @list.txt -o steps", 0).out;
    sandbox.t(&format!("convert-partition {} 0", plan.trim()), 0);
    sandbox.t(&format!("commit {}", plan.trim()), 0);
    for part in ["events", "sidecar"] {
        let files = |out: &str| {
            let files = sandbox.files(&format!("{out}/trace=lab/{part}")).into_iter();
            files.filter(|(name, _)| name != "manifest.json").collect::<Vec<_>>()
        };
        assert_eq!(files("steps"), files("out"));
    }
    sandbox.t("verify out steps late", 0);
}

#[test]
fn without_offsets_nothing_says_so() {
    let sandbox = Sandbox::new();
    sandbox.file("x.etl", &recorded(header(), 0));
    sandbox.file("list.txt", b"x.etl offset=+0s\n");
    sandbox.t("convert @list.txt -o out", 0);
    sandbox.t("convert x.etl -o plain", 0);
    assert_eq!(manifest(&sandbox, "x")["options"]["offset_ns"], serde_json::Value::Null);
    assert!(sandbox.t("convert x.etl -o out --if-exists update -v", 0).err.contains("x: skipped"));
}

#[test]
fn what_is_wrong_in_a_list_is_reported_with_its_line() {
    let sandbox = Sandbox::new();
    sandbox.file("x.etl", &recorded(header(), 0));
    let t = |list: &str, code: i32, expected: &str| {
        sandbox.file("list.txt", list.as_bytes());
        let ran = sandbox.t("convert @list.txt -o out --dry-run", code);
        assert!(ran.err.contains(expected), "{list}: {}", ran.err);
    };
    t("x.etl\n\nmissing.etl\n", 4, "missing.etl: there is no such file or folder (line 3 of list.txt)");
    t(
        "x.etl offset=5\n",
        2,
        "expected a distance with its sign, such as +1.5ms or -2s, found offset=5 (line 1 of list.txt)",
    );
    t(
        "x.etl offset=+5s\nx.etl offset=+6s\n",
        2,
        "x.etl: the options in line 2 of list.txt are not those in line 1 of list.txt",
    );
    sandbox.file("list.txt", b"x.etl merge=a\n");
    let ran = sandbox.t("convert @list.txt -o out --merge b", 2);
    assert!(
        ran.err.contains("a list says merge=a of some inputs, and --merge b makes one trace of all"),
        "{}",
        ran.err
    );
    // Named plainly besides, what the list says holds.
    let shown = sandbox.t("convert x.etl @list.txt -o out --dry-run --summary -", 0).out;
    let summary: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&summary["traces"][0]["trace"], &summary["traces"][1]), (&"a".into(), &serde_json::Value::Null));
}

/// Bytes that the manifest says were read in each phase.
fn bytes_read(sandbox: &Sandbox, trace: &str) -> [u64; 3] {
    let read = &manifest(sandbox, trace)["run"]["bytes_read"];
    ["survey", "plan", "convert"].map(|phase| read[phase].as_u64().unwrap())
}

#[test]
fn what_is_read_of_the_inputs_is_counted_by_phase() {
    const BUFFER: usize = 0x1_0000;
    let sandbox = Sandbox::new();
    // Events that describe nothing of others.
    let event = perfinfo64(0x0F99, T0 + 1).payload(vec![1; 84]).on_disk();
    let full = |number: i64| {
        let mut open = buffer(BUFFER).sequence(number);
        while open.fits(event.len()) {
            open.push(&event);
        }
        open
    };
    let bytes = trace(header().buffer_size(BUFFER.try_into().unwrap())).buffers((1..=40).map(full)).to_bytes();
    sandbox.file("a.etl", &bytes);
    sandbox.t("convert a.etl -o out", 0);
    // All but the header event.
    let events = manifest(&sandbox, "a")["events"]["written"].as_u64().unwrap() - 1;
    let (size, events) = (bytes.len() as u64, events * event.len() as u64);
    let [survey, plan, convert] = bytes_read(&sandbox, "a");
    // For the hash and the events at once; the headers of buffers are read before.
    assert!((size..size + size / 16).contains(&survey), "{survey} of {size}");
    // The buffers in which one event may show what others are: that of the header event, and the one behind it.
    assert!(plan <= 2 * BUFFER as u64, "{plan} of {size}");
    assert!((events..=size).contains(&convert), "{convert} of {size} with events of {events}");
}

#[test]
fn what_ids_mean_is_not_read_again() {
    const BUFFER: usize = 0x2000;
    let sandbox = Sandbox::new();
    let started = |number: i64| {
        let ids = payload().u32(8).u32(u32::try_from(number).unwrap()).zeros(64);
        let start = system64(0x0501, T0 + number).version(3).pid(8).tid(4).payload(ids);
        let mut open = buffer(BUFFER).sequence(number).event(start);
        let event = perfinfo64(0x0F99, T0 + number).payload(vec![1; 84]).on_disk();
        while open.fits(event.len()) {
            open.push(&event);
        }
        open
    };
    let bytes = trace(header().buffer_size(BUFFER.try_into().unwrap())).buffers((1..=300).map(started)).to_bytes();
    sandbox.file("a.etl", &bytes);
    sandbox.t("convert a.etl -o out", 0);
    assert_eq!(sandbox.table("out/trace=a", "sidecar/threads").lines("thread_id").len(), 300);
    let [_, plan, _] = bytes_read(&sandbox, "a");
    // No more than some events of each shape, by which its schema is chosen: each alone, 512 bytes where it has no more, but for
    // those that lie in two buffers.
    assert!(plan <= 64 * 512 + 2 * BUFFER as u64, "{plan} of {}", bytes.len());
}
