//! Faults on purpose are found, by every target.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use etl2parquet_fuzz::harness::Failure;
use etl2parquet_fuzz::planted::Fault;
use etl2parquet_fuzz::run::Share;
use etl2parquet_fuzz::seeds;
use etl2parquet_fuzz::target::{ALL, Limits};

/// Whether a failure is the one that a fault makes.
type Expected = fn(&Failure) -> bool;

const MIB: usize = 1 << 20;

#[test]
fn every_target_finds_every_fault_at_its_input_and_nowhere_else() {
    let time = Duration::from_millis(500);
    let faults: [(Fault, Expected); 5] = [
        (
            Fault::Panic,
            |failure| matches!(failure, Failure::Panic(text) if text.starts_with("planted (fuzz/src/planted.rs:")),
        ),
        (Fault::WorkerPanic, |failure| matches!(failure, Failure::Panic(text) if text.starts_with("planted"))),
        (
            Fault::Overflow,
            |failure| matches!(failure, Failure::Panic(text) if text.starts_with("attempt to add with overflow")),
        ),
        (Fault::Memory(324 * MIB), |failure| matches!(failure, Failure::Memory(bytes) if *bytes >= 324 * MIB)),
        (Fault::Time(600), |failure| matches!(failure, Failure::Time(time) if time.as_millis() >= 600)),
    ];
    for target in ALL {
        let seeds = seeds::of(target);
        for (fault, is_expected) in faults {
            let limits = Limits { time, ..target.limits };
            let share = Share { limits, planted: Some((1, fault)), ..Share::new(target, &seeds, 0..2) };
            let failures = share.run(|_| ()).failures;
            let [(1, failure)] = &failures[..] else { panic!("{}, {fault:?}: {failures:?}", target.name) };
            assert!(is_expected(failure), "{}, {fault:?}: {failure:?}", target.name);
        }
    }
}

/// The loop on one target with a fault; what it printed.
fn looped(fault: &str) -> (String, bool) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fuzz-loop"));
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    command.args(["--only", "texts", "--count", "9", "--limit-ms", "500"]).env("CARGO_TARGET_DIR", folder.path());
    if !fault.is_empty() {
        command.args(["--plant", &format!("{fault}@7")]);
    }
    let output = command.output().expect("the loop runs");
    let is_saved = folder.path().join("fuzz").join("texts-7").is_file();
    assert_eq!(is_saved, !fault.is_empty(), "{fault}: the input is saved");
    (String::from_utf8(output.stdout).expect("it prints text"), output.status.success())
}

#[test]
fn the_loop_names_the_input_that_ends_its_process() {
    for (fault, said) in [
        ("panic", "panic: planted"),
        ("worker-panic", "panic: planted"),
        ("overflow", "panic: attempt to add with overflow"),
        ("memory", "memory: "),
        ("time", "time: "),
        ("endless", "no end"),
        ("abort", "ended by signal: 6"),
    ] {
        let (text, succeeded) = looped(fault);
        assert!(!succeeded && text.contains(&format!("FAILED\ttexts\t7\t{said}")), "{fault}: {text}");
    }
}

#[test]
fn two_loops_without_a_fault_end_with_one_hash() {
    let (one, other) = (looped(""), looped(""));
    assert!(one.1 && other.1, "{}{}", one.0, other.0);
    let hash = |text: &str| text.lines().last().map(str::to_owned);
    assert_eq!(hash(&one.0), hash(&other.0));
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").is_dir());
}
