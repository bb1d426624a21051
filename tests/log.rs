//! `--log-format json`: every line on standard error is an object.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use serde_json::{Value, json};
use support::Sandbox;
use synth::*;

/// A trace with three events beside its header event, which its recorder did not close.
fn small() -> Vec<u8> {
    let data = (0..3).map(|n| perfinfo64(0x0F99, T0 + n).payload([1]));
    trace(header().events_lost(2)).buffer(buffer(0x1000).sequence(1).events(data)).to_bytes()
}

/// The lines that a run writes, without their times.
#[track_caller]
fn lines(sandbox: &Sandbox, arguments: &str, code: i32) -> Vec<Value> {
    let ran = sandbox.t(arguments, code);
    let line = |line: &str| {
        let mut line: Value = serde_json::from_str(&line.replace("\\\\", "/")).expect(line);
        let time = line.as_object_mut().unwrap().shift_remove("timestamp").unwrap();
        let time = time.as_str().unwrap();
        assert!(time.len() == "2026-05-26T20:17:23.478931300Z".len() && time.ends_with('Z'), "{time}");
        line
    };
    ran.err.lines().map(line).collect()
}

#[test]
fn a_run_is_logged_in_objects() {
    let sandbox = Sandbox::new();
    sandbox.file("in/b.etl", &small());
    sandbox.file("in/a.etl", b"no trace");
    sandbox.file("in/notes.txt", b"x");
    let found = lines(&sandbox, "convert in -o out --log-format json --max-loss 0 --fail-on loss", 5);
    let gate = "not published: 2 events were lost, more than the 0 allowed; the recording lost 2 events (b.etl: EventsLost of the \
                header event)";
    assert_eq!(
        found,
        [
            json!({"level": "warning", "message": "in: 1 file is not read: not called like a trace or an archive (notes.txt)"}),
            json!({"level": "error", "message": "8 bytes are too few for a trace", "code": "not_a_trace",
                   "hint": "expected a Windows event trace (.etl): if it is one, copy it again", "trace": "a", "file": "in/a.etl"}),
            json!({"level": "info", "message": "quarantined", "trace": "a", "status": "quarantined"}),
            json!({"level": "error", "message": gate, "trace": "b", "status": "gated"}),
            json!({"level": "info", "message": "gated, 4 events, lost: 2 events, 0 buffers", "trace": "b",
                   "status": "gated"}),
            json!({"level": "info", "message": "2 traces: 1 gated, 1 quarantined"}),
        ]
    );
}

#[test]
fn what_is_wrong_with_the_command_line_is_an_object_too() {
    let sandbox = Sandbox::new();
    sandbox.file("b.etl", &small());
    let t = |arguments: &str, expected: Value| {
        assert_eq!(lines(&sandbox, arguments, 2), [expected], "{arguments}");
    };
    t(
        "convert b.etl -o out --threds 2 --log-format json",
        json!({"level": "error", "message": "unexpected argument '--threds' found", "code": "usage",
               "hint": "a similar argument exists: '--threads'"}),
    );
    t(
        "convert b.etl --log-format=json",
        json!({"level": "error", "code": "usage",
               "message": "the following required arguments were not provided: --output <DIR>",
               "hint": "type 'etl2parquet convert b.etl --log-format=json -o OUT', with a folder of your choice for OUT"}),
    );
    t(
        "--log-format json convert b.etl -o out --force",
        json!({"level": "error", "message": "unexpected argument '--force' found", "code": "usage",
               "hint": "'--if-exists replace' puts a new trace in the place of one that is there"}),
    );
}

#[test]
fn other_commands_are_logged_so_too() {
    let sandbox = Sandbox::new();
    sandbox.file("b.etl", &small());
    sandbox.t("convert b.etl -o out", 0);
    let found = lines(&sandbox, "verify out --log-format json", 0);
    let message = found[0]["message"].as_str().unwrap();
    assert!(
        found.len() == 1 && message.starts_with("1 trace, ") && message.ends_with(": nothing is wrong"),
        "{found:?}"
    );
    assert_eq!(lines(&sandbox, "inspect b.etl --json --log-format json", 0), [Value::Null; 0]);
    let missing = json!({"level": "error", "message": "there is no such file or folder", "code": "unreadable_input",
                         "file": "none.etl"});
    assert_eq!(lines(&sandbox, "inspect none.etl --log-format json", 3), [missing]);
    // Progress, where it is asked for, comes in lines.
    let found = lines(&sandbox, "convert b.etl -o again --log-format json --progress always", 0);
    let messages: Vec<&str> = found.iter().map(|line| line["message"].as_str().unwrap()).collect();
    assert_eq!(messages[0], "b survey: 0% (0 B of 8.00 KiB)");
    assert_eq!(messages[messages.len() - 1], "1 trace: 1 published");
}
