//! `--summary`: every field, and every input with its end.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use support::Sandbox;
use synth::*;

/// A trace with three events beside its header event.
fn small() -> Vec<u8> {
    let data = (0..3).map(|n| perfinfo64(0x0F99, T0 + n).payload([1]));
    trace(header().events_lost(2)).buffer(buffer(0x1000).sequence(1).events(data)).to_bytes()
}

/// A folder `in` with a trace, its first buffer alone, and a file that is no trace.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("in/b.etl", &small());
    sandbox.file("in/a.etl", b"no trace");
    sandbox.file("in/c.etl", &small()[..0x1000]);
    sandbox
}

/// The summary that a run has left, with fixed values for what is another in every run or version.
fn summary(sandbox: &Sandbox) -> Value {
    // Windows writes paths in its own way.
    let text = fs::read_to_string(sandbox.path("s.json")).unwrap().replace("\\\\", "/");
    let mut summary: Value = serde_json::from_str(&text).unwrap();
    let (started, ended) = (summary["started"].as_str().unwrap(), summary["ended"].as_str().unwrap());
    let is_time = |text: &str| text.len() == "2026-05-26T20:17:22.478931300Z".len() && text.ends_with('Z');
    assert!(is_time(started) && is_time(ended) && started < ended, "{started} {ended}");
    assert!(summary["duration_ms"].is_u64());
    // Under wine the files of Linux are there for programs of Windows, too.
    assert_eq!(summary["peak_memory_bytes"].is_u64(), Path::new("/proc/self/status").exists());
    for name in ["tool_version", "started", "ended", "duration_ms", "peak_memory_bytes"] {
        assert!(!summary[name].is_null() || !cfg!(target_os = "linux"), "{name}");
        summary[name] = "…".into();
    }
    summary
}

#[test]
fn a_run_is_reported_whole() {
    let sandbox = sandbox();
    sandbox.t("convert in -o out --run-id nightly-17 --summary s.json", 4);
    let mut summary = summary(&sandbox);
    // The sizes of files follow from their encoding, which is tested elsewhere: here they must be those on disk.
    let files = sandbox.files("out");
    let counted = files.iter().filter(|(name, _)| name.starts_with("trace=") && !name.ends_with("/manifest.json"));
    let bytes: usize = counted.map(|(_, bytes)| bytes.len()).sum();
    assert_eq!(summary["output_bytes"], bytes);
    summary["output_bytes"] = "…".into();
    for trace in summary["traces"].as_array_mut().unwrap() {
        if let Some(result) = trace["result"].as_object_mut() {
            result.insert("bytes".to_owned(), "…".into());
        }
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&summary).unwrap());
    let manifest = fs::read(sandbox.path("out/trace=b/sidecar/manifest.json")).unwrap();
    let mut run = serde_json::from_slice::<Value>(&manifest).unwrap()["run"].take();
    // What is packed is unpacked there.
    let spool = run["options"]["spool_dir"].take();
    assert!(spool.as_str().unwrap().ends_with("out"), "{spool}");
    assert_eq!(run["id"], "nightly-17");
    let options = json!({
        "fail_on": [], "if_exists": "error", "max_loss": null, "schema_lock": null, "schema_lock_mode": "extend", "rehash": false,
        "allow_repeated": false, "spool_dir": null, "max_spool": null, "on_bad_input": "quarantine",
        "quarantine_dir": null, "merge": null, "name_from": "stem", "schemas": [],
    });
    assert_eq!(run["options"], options);
}

#[test]
fn what_has_no_name_has_no_id() {
    let sandbox = sandbox();
    sandbox.t("convert in/b.etl -o out --summary s.json --if-exists skip --max-loss 60% --fail-on damage,disorder --spool-dir spool --max-spool 1GiB --quarantine-dir bad", 0);
    assert_eq!(summary(&sandbox)["run_id"], Value::Null);
    let manifest = fs::read(sandbox.path("out/trace=b/sidecar/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(manifest["run"]["id"], Value::Null);
    assert_eq!(manifest["run"]["options"]["fail_on"], json!(["disorder", "damage"]));
    assert_eq!(manifest["run"]["options"]["max_loss"], "60%");
    assert_eq!(manifest["run"]["options"]["max_spool"], 1 << 30);
    let path = |option: &str| manifest["run"]["options"][option].as_str().unwrap().replace('\\', "/");
    assert!(path("spool_dir").ends_with("/spool") && path("quarantine_dir").ends_with("/bad"));
    // It decides nothing: the trace is the one that is there.
    sandbox.t("convert in/b.etl -o out --summary s.json --if-exists skip --run-id x --max-loss 70%", 0);
    assert_eq!(summary(&sandbox)["traces"][0]["status"], "skipped");
    let long = "x".repeat(257);
    let refused = sandbox.t(&format!("convert in/b.etl -o out --run-id {long}"), 2);
    assert!(refused.err.contains("expected a line of 1 to 256 characters"), "{}", refused.err);
}

#[test]
fn inputs_that_the_run_does_not_come_to_are_reported() {
    let sandbox = sandbox();
    sandbox.file("in/x/b.etl", &small());
    sandbox.t("convert in missing.etl -o out --on-bad-input fail --summary s.json", 2);
    let summary = summary(&sandbox);
    let end = |input: &str, size: Option<u64>, trace: Option<&str>, status| json!({"input": input, "size": size, "trace": trace, "status": status});
    let (whole, cut) = (small().len() as u64, 0x1000);
    let expected = [
        end("in/a.etl", Some(8), None, "failed"),
        end("in/b.etl", Some(whole), None, "failed"),
        end("in/c.etl", Some(cut), Some("c"), "not_begun"),
        end("in/x/b.etl", Some(whole), None, "failed"),
        end("missing.etl", None, None, "failed"),
    ];
    assert_eq!(summary["inputs"], json!(expected));
    let not_begun = json!([{"trace": "c", "status": "not_begun", "reason": "the run ended before", "result": null}]);
    assert_eq!(summary["traces"], not_begun);
    assert_eq!((&summary["input_bytes"], &summary["output_bytes"]), (&0.into(), &0.into()));
}

#[test]
fn metrics_are_numbers_of_the_same_run() {
    let sandbox = sandbox();
    sandbox.file("prom/run.prom", b"before");
    sandbox.t("convert in -o out --run-id a\"b --metrics prom/run.prom", 4);
    assert_eq!(sandbox.names("prom"), ["run.prom"], "nothing is left beside it");
    let text = fs::read_to_string(sandbox.path("prom/run.prom")).unwrap();
    let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    for expected in [
        concat!("info{version=\"", env!("CARGO_PKG_VERSION"), "\",run_id=\"a\\\"b\"} 1"),
        "exit_code 4",
        "input_bytes 12288",
        "traces{status=\"published\"} 2",
        "traces{status=\"quarantined\"} 1",
        "traces{status=\"not_begun\"} 0",
        "inputs 3",
        "quarantined_inputs 1",
        "errors 1",
        "events{outcome=\"found\"} 5",
        "events{outcome=\"written\"} 5",
        "undecoded_rows 3",
        "lost_events 4",
        "loss_unknown_traces 0",
    ] {
        assert!(samples.contains(&format!("etl2parquet_run_{expected}").as_str()), "{expected} in\n{text}");
    }
    // Every sample stands behind the help and the type of its metric, and has a number.
    let mut metric = String::new();
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            metric = help.split(' ').next().unwrap().to_owned();
        } else if let Some(of_type) = line.strip_prefix("# TYPE ") {
            assert_eq!(of_type, format!("{metric} gauge"));
        } else {
            let (name, value) = line.rsplit_once(' ').unwrap();
            assert_eq!(name.split('{').next().unwrap(), metric);
            value.parse::<f64>().unwrap();
        }
    }
    assert_eq!(text.matches("# TYPE etl2parquet_run_traces ").count(), 1);
}
