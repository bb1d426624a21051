//! WPP messages of real traces, text for text: what Windows' own tools show of them, and what the driver's source says.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;

use std::collections::BTreeMap;
use std::fs;

use support::{Sandbox, corpus};

/// One message that a trace holds.
struct Expected {
    /// Message GUID and number.
    message: String,
    /// The text, and before it others that stand for the same where Windows' own depends on the machine that reads it.
    texts: Vec<String>,
}

/// The messages of each trace in the order of time.
fn expected(table: &str) -> BTreeMap<String, Vec<Expected>> {
    let mut lines = table.lines();
    let names: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let mut traces: BTreeMap<String, Vec<Expected>> = BTreeMap::new();
    for line in lines {
        let cells: BTreeMap<&str, &str> = names.iter().copied().zip(line.split('\t')).collect();
        let own = traces.entry(cells["trace"].to_owned()).or_default();
        assert_eq!(cells["index"], own.len().to_string(), "{line}");
        let others = if cells["class"] == "choice" { cells["also"] } else { "" };
        let texts = [cells["text"]].into_iter().chain(others.split(" ¦ ").filter(|text| !text.is_empty()));
        let message = format!("{}|{}", cells["message_guid"], cells["message_number"]);
        own.push(Expected { message, texts: texts.map(unescaped).collect() });
    }
    traces
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let escaped = |c| match c {
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            other => other,
        };
        out.push(if c == '\\' { rest.next().map_or(c, escaped) } else { c });
    }
    out
}

#[test]
fn messages_read_as_windows_shows_them() {
    let Some(corpus) = corpus() else { return };
    let folder = corpus.join("wpp");
    let sandbox = Sandbox::new();
    let traces = expected(&fs::read_to_string(folder.join("expected.tsv")).unwrap());
    assert!(traces.len() >= 12, "{} traces", traces.len());
    let (mut differences, mut compared) = (Vec::new(), 0);
    for (trace, expected) in &traces {
        let (input, schemas) = (folder.join(trace).with_extension("etl"), folder.join("tmf"));
        let line = format!("convert {} -o out --no-store --schemas {}", input.display(), schemas.display());
        let said = sandbox.t(&line, 0).err;
        assert!(!said.contains("warning:"), "{said}");
        let table = sandbox.table(&format!("out/trace={trace}"), "events/WPP");
        assert_eq!(table.rows.len(), expected.len(), "{trace}");
        for (row, expected) in expected.iter().enumerate() {
            assert_eq!(table.row(row, "message_guid event_id"), expected.message, "{trace}, row {row}");
            assert_eq!(table.row(row, "decode_source decode_status"), "wpp|ok", "{trace}, row {row}");
            let text = table.cell(row, "message");
            if !expected.texts.iter().any(|expected| expected == text) {
                differences.push(format!("{trace}, row {row}: {:?}, found {text:?}", expected.texts));
            }
            compared += 1;
        }
    }
    assert_eq!(differences, Vec::<String>::new());
    println!("{compared} messages of {} traces", traces.len());
}
