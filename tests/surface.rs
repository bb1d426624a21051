//! What other programs rely on stays as it is: documents, records, hashes and codes, whole. A snapshot that changes is a change for
//! users, and stands in the changelog.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use batch::status;
use etl2parquet::rows::{IssueCode, LossKind, Severity};
use serde_json::Value;
use support::Sandbox;

/// The committed trace.
fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/example.etl")
}

/// A folder with the committed trace.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("example.etl", &fs::read(example()).unwrap());
    sandbox
}

/// Every key of a document with the type of its values, `[]` for the elements of a list.
fn keys(text: &str) -> String {
    fn add(path: &str, value: &Value, found: &mut std::collections::BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                fields.iter().for_each(|(name, field)| add(&format!("{path}.{name}"), field, found));
            }
            Value::Array(values) => values.iter().for_each(|value| add(&format!("{path}[]"), value, found)),
            Value::Null => drop(found.insert(format!("{path} null"))),
            Value::Bool(_) => drop(found.insert(format!("{path} boolean"))),
            Value::Number(_) => drop(found.insert(format!("{path} number"))),
            Value::String(_) => drop(found.insert(format!("{path} string"))),
        }
    }
    let mut found = std::collections::BTreeSet::new();
    add("", &serde_json::from_str(text).unwrap(), &mut found);
    found.into_iter().collect::<Vec<_>>().join("\n")
}

#[test]
fn inspect_of_an_input() {
    let ran = sandbox().run("inspect example.etl --json");
    insta::assert_snapshot!("inspect", keys(&ran.out));
}

#[test]
fn inspect_of_a_published_trace() {
    let sandbox = sandbox();
    sandbox.run("convert example.etl -o out");
    let ran = sandbox.run("inspect out --json");
    insta::assert_snapshot!("inspect_published", keys(&ran.out));
}

#[test]
fn metrics() {
    let sandbox = sandbox();
    sandbox.run("convert example.etl -o out --metrics run.prom");
    let text = fs::read_to_string(sandbox.path("run.prom")).unwrap();
    let is_of_the_run = |line: &str| {
        ["timestamp", "duration", "peak_memory", "run_info", "output_bytes"].iter().any(|word| line.contains(word))
    };
    let line = |line: &str| match line.rsplit_once(' ') {
        Some((name, _)) if !line.starts_with('#') && is_of_the_run(line) => {
            format!("{} <of the run>", name.split('{').next().unwrap())
        }
        _ => line.to_owned(),
    };
    insta::assert_snapshot!("metrics", text.lines().map(line).collect::<Vec<_>>().join("\n"));
}

/// Which options a trace records, and the hash by which `--if-exists skip` and `update` compare: another hash converts all traces
/// of everybody again.
#[test]
fn options_and_their_hashes() {
    let lines: [&str; 9] = [
        "",
        "--compression snappy",
        "--integers exact --guid binary --timestamps nanos",
        "--layout event --columns declared --raw always --stacks keep",
        "--provider Microsoft-Windows-*,Example.* --level 255 --keywords 0xffffffffffffffff,GC",
        "--pid 0-100000,chrome.exe --tid 0-100000 --cpu 0-3 --event * --exclude-provider nobody",
        "--from +0s --to 2030-01-01T00:00:00Z",
        "--fail-on disorder --max-loss 50% --on-bad-input fail --clock-anchor boot",
        "--row-group-rows 100000 --max-file-size 64MiB --name-from path",
    ];
    let mut found = Vec::new();
    for options in lines {
        let sandbox = sandbox();
        sandbox.t(&format!("convert example.etl -o out --quiet {options}"), 0);
        let manifest = fs::read(sandbox.path("out/trace=example/sidecar/manifest.json")).unwrap();
        let manifest: Value = serde_json::from_slice(&manifest).unwrap();
        found.push(format!("{options}\n    {} {}", manifest["options_hash"].as_str().unwrap(), manifest["options"]));
    }
    insta::assert_snapshot!("options_hashes", found.join("\n"));
}

#[test]
fn words_of_the_sidecar() {
    let issues: Vec<&str> = IssueCode::ALL.iter().map(|code| code.as_str()).collect();
    let losses = LossKind::ALL.map(LossKind::as_str);
    let severities = [Severity::Advice, Severity::Info, Severity::Warning, Severity::Error].map(Severity::name);
    let all = format!("{}\n\n{}\n\n{}", issues.join("\n"), losses.join("\n"), severities.join("\n"));
    insta::assert_snapshot!("words_of_the_sidecar", all);
}

#[test]
fn exit_codes() {
    let codes = [
        status::SUCCESS,
        status::INTERNAL,
        status::USAGE,
        status::NO_INPUT,
        status::DAMAGED,
        status::REFUSED,
        status::OUTPUT,
        status::MISMATCH,
        status::BUSY,
    ];
    assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn files_beside_traces_take_the_place_of_nothing_that_is_kept() {
    let sandbox = sandbox();
    let before = fs::read(example()).unwrap();
    sandbox.t("convert example.etl -q -o out", 0);
    sandbox.file("other.etl", &before);
    for (line, found) in [
        (
            "convert example.etl -o new --summary example.etl",
            "example.etl: expected a place for a new file, found an input",
        ),
        (
            "convert example.etl -o new --metrics other.etl",
            "other.etl: expected a place for a new file, found a recording",
        ),
        (
            "convert example.etl -o new --summary a.json --metrics ./a.json",
            "two files of this run would have the same place",
        ),
        ("report example.etl -o example.etl", "found an input"),
        ("export example.etl --format timeline -o other.etl", "found a recording"),
        ("report out/trace=example -o out/trace=example/sidecar/manifest.json", "found a converted trace"),
    ] {
        let ran = sandbox.t(line, 2);
        assert!(ran.err.contains(found), "{line}: {}", ran.err);
    }
    assert_eq!(
        [fs::read(sandbox.path("example.etl")).unwrap(), fs::read(sandbox.path("other.etl")).unwrap()],
        [before.clone(), before]
    );
    assert!(!sandbox.path("new").exists());
    sandbox.t("verify out", 0);
    // Of what is converted already, options of a conversion decide nothing.
    for line in [
        "report out/trace=example -o page.html --clock-anchor boot",
        "inspect out --clock-anchor boot",
        "export out/trace=example --format timeline -o lines.csv --clock-anchor boot",
    ] {
        let ran = sandbox.t(line, 2);
        assert!(ran.err.contains("--clock-anchor is for traces that are not converted"), "{line}: {}", ran.err);
    }
}
