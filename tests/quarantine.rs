//! Inputs that could not be read as a trace: named in the summary, kept on record in a folder, and out of it once they can.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use support::Sandbox;
use synth::*;

fn small() -> Vec<u8> {
    let data = (0..3).map(|n| perfinfo64(0x0F99, T0 + n).payload([1]));
    trace(header()).buffer(buffer(0x1000).sequence(1).events(data)).to_bytes()
}

/// A folder `in` with a good and a bad input.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("in/good.etl", &small());
    sandbox.file("in/bad.etl", b"no trace");
    sandbox
}

fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap()
}

/// The one record of the folder `q`.
fn record(sandbox: &Sandbox) -> Value {
    let files = sandbox.files("q");
    assert_eq!(files.len(), 1, "{:?}", sandbox.names("q"));
    json(&files[0].1)
}

#[test]
fn an_input_that_is_no_trace_is_on_record_until_it_is_one() {
    let sandbox = sandbox();
    let ran = sandbox.t("convert in -o out --quarantine-dir q --summary s.json", 4);
    assert!(ran.err.contains("bad: quarantined\n"), "{}", ran.err);
    let name = sandbox.names("q").remove(0);
    let hash = name.strip_prefix("bad.etl~").and_then(|rest| rest.strip_suffix(".json"));
    assert!(hash.is_some_and(|hash| hash.len() == 16 && hash.bytes().all(|c| c.is_ascii_hexdigit())), "{name}");
    let (kept, summary) = (record(&sandbox), json(&fs::read(sandbox.path("s.json")).unwrap()));
    let keys: Vec<&str> = kept.as_object().unwrap().keys().map(String::as_str).collect();
    let expected =
        ["format_version", "tool_version", "quarantined_at", "input", "trace", "size", "modified", "code", "reason"];
    assert_eq!(keys, expected);
    let input = sandbox.path("in/bad.etl");
    assert_eq!((kept["input"].as_str().map(Path::new), kept["size"].as_u64()), (Some(&*input), Some(8)));
    assert_eq!(
        (&kept["format_version"], &kept["trace"], &kept["code"]),
        (&1.into(), &"bad".into(), &"not_a_trace".into())
    );
    let named = &summary["quarantined"];
    assert_eq!(named.as_array().unwrap().len(), 1);
    assert_eq!((&named[0]["trace"], &named[0]["code"]), (&kept["trace"], &kept["code"]));
    assert_eq!(named[0]["reason"], kept["reason"]);
    let ends: Vec<_> =
        summary["traces"].as_array().unwrap().iter().map(|one| (&one["trace"], &one["status"])).collect();
    assert_eq!(ends, [(&"bad".into(), &"quarantined".into()), (&"good".into(), &"published".into())]);
    assert_eq!(fs::read(&input).unwrap(), b"no trace", "never moved, never changed");

    let before = sandbox.files("q");
    sandbox.t("convert in -o out --if-exists replace --quarantine-dir q", 4);
    assert_eq!(sandbox.files("q"), before, "a record that is true stays as it is");
    fs::write(&input, b"still no trace").unwrap();
    sandbox.t("convert in -o out --if-exists replace --quarantine-dir q", 4);
    assert_eq!(record(&sandbox)["size"], 14);
    fs::write(&input, small()).unwrap();
    sandbox.t("convert in -o out --if-exists replace --quarantine-dir q", 0);
    assert_eq!(sandbox.names("q"), [""; 0]);
}

#[test]
fn an_update_that_reads_nothing_keeps_the_record() {
    let sandbox = sandbox();
    let update = "convert in -o out --if-exists update --quarantine-dir q";
    sandbox.t(update, 4);
    let first = record(&sandbox);
    sandbox.t(update, 4);
    assert_eq!(record(&sandbox), first);
    // Somebody has cleared the folder away.
    fs::remove_dir_all(sandbox.path("q")).unwrap();
    let ran = sandbox.t(update, 4);
    assert!(ran.err.contains("found by an earlier run"), "{}", ran.err);
    let mut again = record(&sandbox);
    again["quarantined_at"] = first["quarantined_at"].clone();
    assert_eq!(again, first);
    fs::remove_file(sandbox.path("in/bad.etl")).unwrap();
    sandbox.file("in/bad.etl", &small());
    sandbox.t(update, 0);
    assert_eq!(sandbox.names("q"), [""; 0]);
}

#[test]
fn inputs_of_one_name_have_a_record_each_and_those_of_others_stay() {
    let sandbox = Sandbox::new();
    for folder in ["a", "b"] {
        sandbox.file(&format!("in/{folder}/boot.etl"), folder.as_bytes());
    }
    sandbox.file("q/other.json", b"of somebody else");
    sandbox.t("convert in -o out --name-from path --quarantine-dir q", 3);
    assert_eq!(sandbox.names("q").len(), 3);
    // Another spelling is the same input.
    sandbox.file("in/a/boot.etl", &small());
    sandbox.t("convert in/b/../a/./boot.etl -o out --quarantine-dir q", 0);
    let left = sandbox.files("q");
    assert_eq!(left.len(), 2);
    assert_eq!(json(&left[0].1)["trace"], "b.boot");
    assert_eq!(left[1].1, b"of somebody else");
}

#[test]
fn a_merged_recording_goes_on_without_its_bad_input() {
    let sandbox = sandbox();
    sandbox.t("convert in -o out --merge both --quarantine-dir q", 4);
    assert_eq!(record(&sandbox)["trace"], "both");
    assert!(sandbox.path("out/trace=both/sidecar/manifest.json").is_file());
}

#[test]
fn a_plan_keeps_records_as_a_conversion_does() {
    let sandbox = sandbox();
    sandbox.t("plan in -o out --quarantine-dir q", 4);
    assert_eq!(record(&sandbox)["trace"], "bad");
}

#[test]
fn what_leads_nowhere_has_no_record_and_a_dry_run_writes_none() {
    let sandbox = sandbox();
    sandbox.t("convert in/good.etl in/missing.etl -o out --quarantine-dir q", 4);
    assert_eq!(sandbox.names("q"), [""; 0]);
    sandbox.t("convert in -o none --dry-run --quarantine-dir r", 4);
    assert!(!sandbox.path("r").exists() && !sandbox.path("none").exists());
}

#[test]
fn standard_input_is_on_record_too() {
    let sandbox = Sandbox::new();
    let piped = |bytes: &[u8]| {
        let input = sandbox.file("piped", bytes);
        let mut command = Command::new(env!("CARGO_BIN_EXE_etl2parquet"));
        command.args(["convert", "-", "-o", "out", "--if-exists", "replace", "--quarantine-dir", "q"]);
        command.current_dir(sandbox.path("")).stdin(fs::File::open(input).unwrap()).stderr(Stdio::null());
        command.status().unwrap().code()
    };
    assert_eq!(piped(b"no trace"), Some(3));
    let kept = record(&sandbox);
    assert_eq!((&kept["input"], &kept["size"], &kept["modified"]), (&"-".into(), &Value::Null, &Value::Null));
    assert_eq!(piped(&small()), Some(0));
    assert_eq!(sandbox.names("q"), [""; 0]);
}

#[test]
fn records_of_inputs_that_end_the_run_make_no_sense() {
    let sandbox = sandbox();
    let ran = sandbox.t("convert in -o out --on-bad-input fail --quarantine-dir q", 2);
    assert!(ran.err.contains("--quarantine-dir"), "{}", ran.err);
    assert!(!sandbox.path("out").exists() && !sandbox.path("q").exists());
}

#[test]
fn a_folder_that_cannot_be_made_is_said_before_anything_is_converted() {
    let sandbox = sandbox();
    sandbox.file("q", b"a file");
    let ran = sandbox.t("convert in -o out --quarantine-dir q/r", 6);
    assert!(ran.err.contains("the quarantine folder cannot be made"), "{}", ran.err);
    assert!(!sandbox.path("out").exists());
}

#[test]
fn a_record_that_cannot_be_written_fails_the_output_and_no_trace() {
    let sandbox = sandbox();
    sandbox.t("convert in -o out --quarantine-dir q", 4);
    let name = sandbox.names("q").remove(0);
    fs::remove_file(sandbox.path("q").join(&name)).unwrap();
    // In the place of the record.
    fs::create_dir(sandbox.path("q").join(&name)).unwrap();
    sandbox.t("convert in -o again --quarantine-dir q", 6);
    assert!(sandbox.path("again/trace=good/sidecar/manifest.json").is_file());
}

#[test]
fn records_among_the_traces_and_on_another_file_system_are_in_nobodys_way() {
    let (sandbox, elsewhere) = (sandbox(), Sandbox::large());
    sandbox.t("convert in -o out --quarantine-dir out/quarantine", 4);
    sandbox.t("verify out", 0);
    sandbox.t("convert in -o out --if-exists update --quarantine-dir out/quarantine", 4);
    assert_eq!(sandbox.names("out/quarantine").len(), 1);
    let other = elsewhere.path("q");
    sandbox.t(&format!("convert in -o out --if-exists update --quarantine-dir {}", other.display()), 4);
    assert_eq!(elsewhere.names("q"), sandbox.names("out/quarantine"));
}

#[test]
fn runs_at_a_time_leave_one_whole_record_for_each_input() {
    let sandbox = Sandbox::new();
    for number in 0..20 {
        sandbox.file(&format!("in/bad{number:02}.etl"), b"no trace");
    }
    let start = |out: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_etl2parquet"));
        command.args(["convert", "in", "-o", out, "--quarantine-dir", "q"]).current_dir(sandbox.path(""));
        command.stderr(Stdio::null()).spawn().unwrap()
    };
    let runs = ["o1", "o2", "o3"].map(start);
    for mut run in runs {
        assert_eq!(run.wait().unwrap().code(), Some(3));
    }
    let traces: Vec<String> = sandbox.files("q").iter().map(|(_, text)| json(text)["trace"].to_string()).collect();
    let expected: Vec<String> = (0..20).map(|number| format!("\"bad{number:02}\"")).collect();
    assert_eq!(traces, expected);
}
