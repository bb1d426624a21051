//! `describe`: the document about the committed trace, whole and within its limit, and the page.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;

use std::fs;

use serde_json::Value;
use support::Sandbox;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/example.etl");

/// A folder in which `out` has the trace `example`.
fn converted() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("example.etl", &fs::read(EXAMPLE).unwrap());
    sandbox.t("convert example.etl -q -o out", 0);
    sandbox
}

fn described(sandbox: &Sandbox, arguments: &str) -> (String, Value) {
    let ran = sandbox.run(&format!("describe {arguments} --json"));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{arguments}");
    let document = serde_json::from_str(&ran.out).unwrap();
    (ran.out, document)
}

#[test]
fn the_document_of_the_example() {
    let sandbox = converted();
    let (text, document) = described(&sandbox, "out");
    assert!(text.len() <= 20_000 + 1 && text.lines().count() == 1, "{}", text.len());
    insta::assert_snapshot!("describe_example", serde_json::to_string_pretty(&document).unwrap());
}

#[test]
fn a_folder_of_one_trace_is_described_as_the_trace() {
    let sandbox = converted();
    assert_eq!(described(&sandbox, "out"), described(&sandbox, "out/trace=example"));
    // What is kept of the first call changes nothing.
    assert_eq!(described(&sandbox, "out --full"), described(&sandbox, "out --full"));
}

#[test]
fn nothing_is_left_out_of_all_of_it() {
    let sandbox = converted();
    let (_, document) = described(&sandbox, "out --full");
    assert_eq!(document["limit_bytes"], Value::Null);
    assert!(document["left_out"].as_object().unwrap().values().all(|count| count == 0));
    let has_columns = |list: &str| document[list].as_array().unwrap().iter().all(|one| one["columns"].is_array());
    assert!(has_columns("datasets") && has_columns("views"));
}

#[test]
fn two_traces_add_up() {
    let sandbox = converted();
    sandbox.file("again.etl", &fs::read(EXAMPLE).unwrap());
    sandbox.t("convert again.etl -q -o out", 0);
    let (_, one) = described(&sandbox, "out/trace=example --full");
    let (_, two) = described(&sandbox, "out --full");
    let twice = |value: &Value| value.as_u64().map(|number| 2 * number);
    for key in ["/events/written", "/events/found", "/traces/count", "/traces/inputs", "/traces/machines"] {
        assert_eq!(two.pointer(key).unwrap().as_u64(), twice(one.pointer(key).unwrap()), "{key}");
    }
    for list in ["datasets", "sidecar"] {
        let pairs = one[list].as_array().unwrap().iter().zip(two[list].as_array().unwrap());
        pairs.for_each(|(one, two)| assert_eq!(two["rows"].as_u64(), twice(&one["rows"]), "{one}"));
    }
    assert_eq!(two["traces"]["named"][0]["trace"], "again");
    // What columns mean is the same.
    assert_eq!(one["datasets"][0]["columns"], two["datasets"][0]["columns"]);
}

#[test]
fn what_is_no_trace_is_a_failure_that_says_what_is_expected() {
    let sandbox = Sandbox::new();
    sandbox.file("empty/file", b"");
    let ran = sandbox.run("describe empty --json");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("expected a folder trace=<name>"), "{}", ran.err);
}

#[test]
fn people_get_a_page() {
    let sandbox = converted();
    let page = |arguments: &str| {
        let ran = sandbox.run(&format!("describe out {arguments}"));
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        ran.out
    };
    let short = page("");
    let line = |start: &str| short.lines().find(|line| line.trim_start().starts_with(start)).unwrap().to_owned();
    let words = |start: &str| line(start).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words("Kernel-DiskIo")[..2], ["Kernel-DiskIo", "160"]);
    assert_eq!(words("rows"), ["rows", "1,219"]);
    assert!(!short.contains("Columns of"), "{short}");
    let long = page("--full");
    assert!(long.starts_with(short.trim_end()) && long.contains("Columns of Kernel-DiskIo"), "{long}");
}
