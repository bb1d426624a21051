//! Inputs that are no files, that change while they are read, or that are very many.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::fs;
use std::path::Path;

use base::progress::Progress;
use conversion::convert::{InputFile, JobProgress, Recording, Stage};
use conversion::job;
use etl2parquet::{Error, ErrorKind};
use support::{Sandbox, options};
use synth::*;

#[cfg(unix)]
fn small(first: i64, events: i64) -> Vec<u8> {
    let data = (first..first + events).map(|n| perfinfo64(0x0F99, T0 + n).payload([1]));
    trace(header()).buffer(buffer(0x1000).sequence(1).events(data)).to_bytes()
}

/// Does something to the input when a stage begins.
struct Meddler<F> {
    at: fn(Stage) -> bool,
    meddle: F,
}

impl<F: Fn() + Sync> Progress for Meddler<F> {
    fn advance(&self, _amount: u64) {}
}

impl<F: Fn() + Sync> JobProgress for Meddler<F> {
    fn stage(&self, stage: Stage) {
        if (self.at)(stage) {
            (self.meddle)();
        }
    }
}

/// Converts the input of a sandbox, which something happens to meanwhile; nothing may be left of the trace.
fn meddled(sandbox: &Sandbox, at: fn(Stage) -> bool, meddle: impl Fn(&Path) + Sync) -> Option<Error> {
    let path = sandbox.path("a.etl");
    let input = InputFile::new(path.clone(), "a.etl");
    let job = Recording { name: "a".to_owned(), inputs: vec![input] };
    let progress = Meddler { at, meddle: || meddle(&path) };
    let failed = job::convert(&job, &options(sandbox.path("out")), &progress).err();
    if failed.is_some() {
        assert_eq!(sandbox.names("out"), [""; 0]);
    }
    let _ = fs::remove_dir_all(sandbox.path("out"));
    failed
}

fn planning(stage: Stage) -> bool {
    stage == Stage::Plan
}

fn converting(stage: Stage) -> bool {
    matches!(stage, Stage::Convert { .. })
}

/// Says that the input changed, in one way or another, and never that the program is at fault.
#[track_caller]
fn is_change(error: &Error) {
    let text = error.to_string();
    assert_eq!(error.kind(), ErrorKind::Internal, "{text}");
    assert!(text.contains("change"), "{text}");
    assert!(!text.contains("worker failed"), "{text}");
}

#[test]
fn a_file_that_is_cut_while_it_is_read_is_said_to_have_changed() {
    let bytes = bulk(20_000, 4, 2, 1).to_bytes();
    for at in [planning, converting] {
        for len in [0, 72, 100_000] {
            let sandbox = Sandbox::new();
            let path = sandbox.file("a.etl", &bytes);
            let cut = |_: &Path| fs::File::options().write(true).open(&path).unwrap().set_len(len).unwrap();
            is_change(&meddled(&sandbox, at, cut).expect("the file was cut"));
        }
    }
}

/// Writes bytes over others without changing the length of the file.
fn overwrite(path: &Path, offset: u64, bytes: &[u8]) {
    use std::io::{Seek, SeekFrom, Write};
    let mut file = fs::File::options().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(offset)).unwrap();
    file.write_all(bytes).unwrap();
}

#[test]
fn a_file_that_is_rewritten_in_place_is_said_to_have_changed() {
    for compressed in [false, true] {
        let (one, other) = (bulk(6_000, 4, 2, 1), bulk(6_000, 4, 2, 2).compressed(compressed));
        let (one, mut other) = (one.compressed(compressed).to_bytes(), other.to_bytes());
        other.resize(one.len(), 0);
        let sandbox = Sandbox::new();
        for at in [planning, converting] {
            let whole: &(dyn Fn(&Path) + Sync) = &|path| overwrite(path, 0, &other);
            let zeros: &(dyn Fn(&Path) + Sync) = &|path| overwrite(path, 0x1_0000, &vec![0; one.len() - 0x1_0000]);
            for meddle in [whole, zeros] {
                sandbox.file("a.etl", &one);
                is_change(&meddled(&sandbox, at, meddle).expect("the file has other bytes"));
            }
        }
    }
}

#[test]
fn a_damaged_file_that_is_repaired_while_it_is_read_is_said_to_have_changed() {
    let good = bulk(60_000, 4, 2, 1).compressed(true).to_bytes();
    let mut bad = good.clone();
    // Compressed data that breaks off, here and there.
    (0x3000..bad.len() - 64).step_by(0x5000).for_each(|at| bad[at..at + 64].fill(0xFF));
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &bad);
    is_change(&meddled(&sandbox, planning, |path| overwrite(path, 0, &good)).expect("the file has other bytes"));
}

#[test]
fn bytes_that_change_between_two_passes_stop_no_worker() {
    let sandbox = Sandbox::new();
    let bytes = bulk(300, 4, 2, 1).buffer_size(0x2000).to_bytes();
    let mut random = Random::new(7);
    for round in 0..200 {
        sandbox.file("a.etl", &bytes);
        let mut place = || (random.below(bytes.len() as u64), random.below(u8::MAX));
        let places: Vec<(u64, u8)> = (0..=round % 8).map(|_| place()).collect();
        let at = if round % 2 == 0 { planning } else { converting };
        let meddle = |path: &Path| places.iter().for_each(|&(offset, byte)| overwrite(path, offset, &[byte]));
        // The time of the change may be too close to that of the file to differ from it.
        if let Some(error) = meddled(&sandbox, at, meddle) {
            is_change(&error);
        }
    }
}

#[cfg(unix)]
mod pipes {
    use std::process::{Command, Stdio};

    use super::*;

    /// Runs a line of shell in the sandbox, where `$PROGRAM` is the program; it may take half a minute.
    fn shell(sandbox: &Sandbox, line: &str) -> (Option<i32>, String) {
        let mut command = Command::new("timeout");
        command.args(["30", "sh", "-c", line]).env("PROGRAM", env!("CARGO_BIN_EXE_etl2parquet"));
        let output = command.current_dir(sandbox.path("")).stdin(Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }

    #[test]
    fn a_pipe_is_refused_and_not_waited_for() {
        let sandbox = Sandbox::new();
        sandbox.file("a.etl", &small(1, 3));
        for line in [
            "mkfifo pipe.etl && $PROGRAM convert pipe.etl -o out",
            "$PROGRAM inspect pipe.etl",
            "cat a.etl | $PROGRAM convert /dev/stdin -o out",
        ] {
            let (code, said) = shell(&sandbox, line);
            assert_eq!(code, Some(3), "{line}: {said}");
            assert!(said.contains("found a pipe") && said.contains("save it to a file first"), "{line}: {said}");
        }
        let (code, said) = shell(&sandbox, "$PROGRAM convert /dev/stdin -o out < a.etl");
        assert_eq!(code, Some(0), "{said}");
        assert!(sandbox.path("out/trace=stdin").exists());
    }

    #[test]
    fn a_recording_of_many_files_needs_few_open_files() {
        let sandbox = Sandbox::new();
        for n in 0..300 {
            sandbox.file(&format!("in/{n}.etl"), &small(n * 10, 1));
        }
        let (code, said) = shell(&sandbox, "ulimit -n 64 && $PROGRAM convert in -o out --merge all --threads 2");
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(sandbox.table("out/trace=all", "events/Kernel-PerfInfo").rows.len(), 300);
        assert_eq!(sandbox.table("out/trace=all", "sidecar/sessions").rows.len(), 300);
    }
}
