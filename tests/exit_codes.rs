//! Every exit code of docs/operations.md, by the whole program.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::fs::{self, File};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use support::Sandbox;
use synth::*;

/// A trace with an event that nothing describes.
fn of(head: Header) -> Vec<u8> {
    let data = (1..4).map(|n| perfinfo64(0x0F99, T0 + n).payload([1]));
    trace(head).buffer(buffer(0x1000).sequence(1).events(data)).to_bytes()
}

/// A folder with traces `good`, `lossy`, `open`, `merged`, `ring`, `unsorted` and `damaged`, and `bad`, which is none.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("good.etl", &of(header()));
    sandbox.file("lossy.etl", &of(header().events_lost(2)));
    sandbox.file("open.etl", &of(header().not_closed()));
    sandbox.file("merged.etl", &of(header().log_file_mode(0x1_0000)));
    sandbox.file("ring.etl", &of(header().log_file_mode(2).buffers_written(6)));
    let unsorted = [3, 1, 2].map(|n| perfinfo64(0x0F99, T0 + n).payload([1]));
    sandbox.file("unsorted.etl", &trace(header()).buffer(buffer(0x1000).sequence(1).events(unsorted)).to_bytes());
    let mut damaged = of(header());
    damage::noise(&mut damaged, 0x1000, 72, 1);
    sandbox.file("damaged.etl", &damaged);
    sandbox.file("bad.etl", b"no trace");
    sandbox
}

#[test]
fn what_was_converted_whole_is_0() {
    let sandbox = sandbox();
    sandbox.t("convert good.etl lossy.etl ring.etl -o out", 0);
    sandbox.t("verify out", 0);
}

#[test]
fn an_input_that_changes_while_it_is_read_is_1() {
    let sandbox = sandbox();
    let (path, is_done) = (sandbox.path("good.etl"), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let file = File::options().write(true).open(&path).unwrap();
            for second in 0.. {
                if is_done.load(Ordering::Relaxed) {
                    break;
                }
                file.set_modified(UNIX_EPOCH + Duration::from_secs(second % 1_000_000_000)).unwrap();
            }
        });
        // On a busy machine a whole run may fit between two changes.
        let mut runs = (0..200).map(|n| (n, sandbox.run(&format!("convert good.etl lossy.etl -o out{n}"))));
        let changed = runs.find(|(_, ran)| ran.code != 0);
        is_done.store(true, Ordering::Relaxed);
        let (number, ran) = changed.unwrap();
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert!(ran.err.contains("changed while"), "{}", ran.err);
        let there =
            fs::read_dir(sandbox.path(&format!("out{number}"))).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(there.collect::<Vec<_>>(), ["trace=lossy"]);
    });
}

#[test]
fn what_makes_no_sense_is_2() {
    let sandbox = sandbox();
    sandbox.t("convert good.etl -o out --no-such-option", 2);
    sandbox.t("convert good.etl -o out --max-loss many", 2);
    sandbox.t("convert good.etl", 2);
    // Two inputs of one name: they fail, the others convert.
    sandbox.file("again/good.etl", &of(header()));
    sandbox.t("convert good.etl again/good.etl lossy.etl -o out", 2);
    assert!(sandbox.path("out/trace=lossy").is_dir() && !sandbox.path("out/trace=good").exists());
}

#[test]
fn nothing_that_can_be_read_is_3() {
    let sandbox = sandbox();
    for inputs in ["bad.etl", "missing.etl", "bad.etl missing.etl", "none/*.etl"] {
        sandbox.t(&format!("convert {inputs} -o out"), 3);
    }
    sandbox.t("inspect bad.etl", 3);
}

#[test]
fn damage_and_quarantine_are_4() {
    let sandbox = sandbox();
    sandbox.t("convert damaged.etl -o out", 4);
    assert!(sandbox.path("out/trace=damaged").is_dir(), "what can be read is published");
    sandbox.t("convert bad.etl good.etl -o out", 4);
    assert!(sandbox.path("out/trace=good").is_dir());
    sandbox.t("inspect bad.etl good.etl", 4);
    sandbox.t("inspect damaged.etl", 4);
}

#[test]
fn a_check_that_fails_is_5_and_each_holds_for_its_trace_alone() {
    let sandbox = sandbox();
    for (flags, kept_back) in [
        ("--fail-on loss", &["lossy", "open", "merged", "damaged"][..]),
        ("--fail-on known-loss", &["lossy"]),
        ("--max-loss 1", &["lossy", "open", "merged", "damaged"]),
        ("--max-loss 2", &["open", "merged", "damaged"]),
        ("--max-loss 40%", &["open", "merged", "damaged"]),
        ("--fail-on disorder", &["unsorted"]),
        ("--fail-on damage", &["damaged"]),
        ("--fail-on undecoded", &["good", "lossy", "open", "merged", "ring", "unsorted"]),
    ] {
        let inputs = "good.etl lossy.etl open.etl merged.etl ring.etl unsorted.etl damaged.etl";
        let ran = sandbox.t(&format!("convert {inputs} -o out {flags}"), 5);
        for name in ["good", "lossy", "open", "merged", "ring", "unsorted", "damaged"] {
            let is_there = sandbox.path(&format!("out/trace={name}")).is_dir();
            assert_eq!(is_there, !kept_back.contains(&name), "{flags}: {name}\n{}", ran.err);
            assert_eq!(ran.err.contains(&format!("trace={name} is not published: ")), !is_there, "{flags}: {name}");
        }
        fs::remove_dir_all(sandbox.path("out")).unwrap();
    }
    // All that fail are named.
    let ran = sandbox.t("convert damaged.etl -o out --fail-on damage,loss,disorder --max-loss 3", 5);
    let expected = "error: trace=damaged is not published: ";
    let no_header = "(damaged.etl: no buffer header where one should be)";
    let reasons = format!(
        "4096 bytes were lost, and how many events with them is unknown {no_header}; 4096 bytes of the recording cannot be \
         read {no_header}; the trace is damaged"
    );
    assert_eq!(ran.err.lines().find_map(|line| line.strip_prefix(expected)), Some(&*reasons));
    // Filters that pass nothing at all; where they pass something of one trace, that is all that was asked for.
    sandbox.t("convert good.etl lossy.etl -o out --provider Nobody", 5);
    sandbox.t(
        "convert good.etl unsorted.etl -o out --from 2025-01-01T00:00:00.0000001Z --to 2025-01-01T00:00:00.0000004Z",
        0,
    );
}

#[test]
fn a_dry_run_ends_as_the_run_would() {
    let sandbox = sandbox();
    let inputs = "good.etl lossy.etl open.etl merged.etl ring.etl unsorted.etl damaged.etl";
    for flags in ["--fail-on loss", "--fail-on known-loss", "--max-loss 2", "--fail-on disorder", "--fail-on damage"] {
        let dry = sandbox.t(&format!("convert {inputs} -o out {flags} --dry-run"), 5);
        assert!(!sandbox.path("out").exists());
        let real = sandbox.t(&format!("convert {inputs} -o out {flags}"), 5);
        let kept_back = |err: &str| {
            err.lines().filter(|line| line.contains("is not published: ")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert!(!kept_back(&real.err).is_empty());
        assert_eq!(kept_back(&dry.err), kept_back(&real.err), "{flags}");
        fs::remove_dir_all(sandbox.path("out")).unwrap();
    }
    sandbox.t("convert good.etl -o out --dry-run --fail-on damage", 0);
}

#[test]
fn warnings_are_shown_once_of_each_kind_and_counted() {
    let sandbox = sandbox();
    let damaged = fs::read(sandbox.path("damaged.etl")).unwrap();
    for name in ["in/a.etl", "in/b.etl", "in/c.etl"] {
        sandbox.file(name, &damaged);
    }
    let said = sandbox.t("convert in -o out", 4).err;
    let warnings: Vec<&str> = said.lines().filter(|line| line.starts_with("warning: ")).collect();
    let first = "warning: a.etl, buffer 1, offset 0x1000: ";
    assert!(warnings[0].starts_with(first) && warnings[0].ends_with(" (damaged_buffer)"), "{said}");
    let rest = warnings.last().unwrap();
    assert!(rest.contains("2 damaged_buffer") && rest.contains("more warnings: "), "{said}");
    assert!(rest.ends_with("all stand in out/trace=*/sidecar/issues.parquet"), "{said}");
    assert_eq!(warnings.iter().filter(|line| line.ends_with(" (damaged_buffer)")).count(), 1, "{said}");
}

#[test]
fn an_output_that_cannot_be_written_or_is_there_is_6() {
    let sandbox = sandbox();
    sandbox.t("convert good.etl -o good.etl", 6);
    sandbox.t("convert good.etl -o out", 0);
    sandbox.t("convert good.etl lossy.etl -o out", 6);
    assert!(sandbox.path("out/trace=lossy").is_dir(), "others are converted");
    sandbox.t("convert good.etl -o again --summary no/such/folder.json", 6);
}

#[test]
fn what_verify_finds_is_7() {
    let sandbox = sandbox();
    sandbox.t("convert good.etl -o out", 0);
    let file = sandbox.path("out/trace=good/sidecar/streams.parquet");
    let mut bytes = fs::read(&file).unwrap();
    bytes[100] ^= 1;
    fs::write(&file, bytes).unwrap();
    sandbox.t("verify out", 7);
}

/// A trace that another run has in work: the lock of its staging folder.
fn lock(sandbox: &Sandbox, trace: &str) -> File {
    let lock = File::create(sandbox.file(&format!("out/.etl2parquet-{trace}/lock"), b"")).unwrap();
    lock.lock().unwrap();
    lock
}

#[test]
fn what_another_run_has_in_work_to_the_end_is_8() {
    let sandbox = sandbox();
    let held = lock(&sandbox, "good");
    let ran = sandbox.t("convert good.etl damaged.etl -o out --if-exists update", 8);
    assert!(ran.err.contains("good: busy: another run is writing it"), "{}", ran.err);
    assert!(sandbox.path("out/trace=damaged").is_dir() && !sandbox.path("out/trace=good").exists());
    sandbox.t("convert good.etl -o out --if-exists update", 8);
    // Graver things come first.
    sandbox.t("convert good.etl lossy.etl -o out --if-exists update --fail-on known-loss", 5);
    drop(held);
    sandbox.t("convert good.etl -o out --if-exists update", 0);
    assert!(sandbox.path("out/trace=good").is_dir());
}

#[test]
fn what_another_run_was_killed_over_is_converted_at_the_end() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let sandbox = Sandbox::new();
    let names: Vec<String> = (0..60).map(|n| format!("t{n:02}")).collect();
    names.iter().for_each(|name| _ = sandbox.file(&format!("in/{name}.etl"), &of(header())));
    let held = lock(&sandbox, "t00");
    let mut command = Command::new(env!("CARGO_BIN_EXE_etl2parquet"));
    command.args("convert in -o out --if-exists update -v --log-format json --summary summary.json".split(' '));
    let mut child = command.current_dir(sandbox.path("")).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(said.any(|line| line.contains("t00: another run is writing it; looked at again at the end")));
    // Dozens of traces are still to come.
    drop(held);
    let rest: Vec<String> = said.collect();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{rest:?}");
    let summary: serde_json::Value = serde_json::from_slice(&fs::read(sandbox.path("summary.json")).unwrap()).unwrap();
    let traces = summary["traces"].as_array().unwrap().iter().map(|trace| [&trace["trace"], &trace["status"]]);
    assert!(traces.eq(names.iter().map(|name| [&**name, "published"])), "{summary}");
    assert!(names.iter().all(|name| sandbox.path(&format!("out/trace={name}")).is_dir()));
}

#[test]
fn of_several_the_gravest_applies() {
    let sandbox = sandbox();
    sandbox.t("convert damaged.etl bad.etl lossy.etl -o out --fail-on known-loss", 5);
    sandbox.t("convert damaged.etl bad.etl lossy.etl good.etl -o out --fail-on known-loss", 6);
    sandbox.file("again/good.etl", &of(header()));
    sandbox.t("convert damaged.etl good.etl again/good.etl -o two", 2);
    sandbox.t("convert lossy.etl good.etl again/good.etl -o three --fail-on known-loss", 5);
}

#[cfg(unix)]
#[test]
fn a_signal_is_128_and_its_number() {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let sandbox = Sandbox::new();
        let mut command = Command::new(env!("CARGO_BIN_EXE_etl2parquet"));
        command.args(["convert", "-", "-o", "out"]).current_dir(sandbox.path(""));
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        // More than a pipe holds: what is written was read, and who reads watches for signals. It waits for more.
        child.stdin.as_mut().unwrap().write_all(&vec![0; 1 << 20]).unwrap();
        let sent = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        // Its end of the pipe stays open until it has ended: it is the signal that ends it.
        let input = child.stdin.take();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
        drop(input);
        assert!(!sandbox.path("out").exists() || fs::read_dir(sandbox.path("out")).unwrap().next().is_none());
    }
}
