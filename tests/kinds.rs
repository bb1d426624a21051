//! The traces that speed is held on are what they are called: every event of theirs is decoded, by the source meant.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::collections::BTreeMap;

use support::{Sandbox, Table};
use synth::kinds::wpp::TMF;
use synth::{kind, kinds};

/// Dataset of events and what describes them, and how many there are.
fn contents(name: &str) -> BTreeMap<String, i64> {
    let sandbox = Sandbox::new();
    sandbox.file("kind.etl", &kind(name, EVENTS).unwrap().to_bytes());
    sandbox.file("kind.tmf", TMF.as_bytes());
    sandbox.t("convert kind.etl -o out --schemas kind.tmf", 0);
    let catalog = Table::read(&sandbox.path("out/trace=kind/sidecar/catalog.parquet"));
    let mut contents = BTreeMap::new();
    let rows = catalog.lines("dataset decode_source").into_iter().zip(catalog.numbers("rows"));
    for ((line, rows), ok) in rows.zip(catalog.numbers("ok_rows")) {
        assert_eq!(rows, ok, "{name}: {line}");
        *contents.entry(line).or_default() += rows;
    }
    // The header event.
    assert_eq!(contents.remove("Kernel-EventTrace|kernel"), Some(1), "{name}");
    contents
}

const EVENTS: u64 = 5000;

#[test]
fn every_event_of_a_kind_is_decoded() {
    let t = |name, events: i64, expected: &[&str]| {
        let contents = contents(name);
        assert_eq!(contents.values().sum::<i64>(), events, "{name}: {contents:?}");
        assert_eq!(contents.keys().map(String::as_str).collect::<Vec<_>>(), expected, "{name}");
    };
    let [samples, stacks, threads] = ["Kernel-PerfInfo|kernel", "Kernel-StackWalk|kernel", "Kernel-Thread|kernel"];
    t("dotnet", 5000, &[samples, stacks, threads, "Microsoft-Windows-DotNETRuntime|pack"]);
    let sources: Vec<String> = (0..6).map(|source| format!("Synth-Source-{source}|eventsource")).collect();
    // Eight processes write six manifests of two chunks each, twice.
    t("eventsource", 5000 + 8 * 6 * 2 * 2, &sources.iter().map(String::as_str).collect::<Vec<_>>());
    let files = ["Kernel-DiskIo|kernel", "Kernel-FileIo|kernel", "Kernel-Image|kernel", "Kernel-Thread|kernel"];
    t("kernel", 5000, &files);
    t("network", 5000, &["Microsoft-Windows-Kernel-Network|pack"]);
    let providers: Vec<String> = (0..6).map(|provider| format!("Synth.Kind.{provider}|tracelogging")).collect();
    t("tracelogging", 5000, &providers.iter().map(String::as_str).collect::<Vec<_>>());
    t("wpp", 5000, &["WPP|wpp"]);
    assert_eq!(kinds().count(), 6);
}

#[test]
fn a_sample_or_switch_has_its_stack() {
    let contents = contents("dotnet");
    let [samples, stacks, switches] =
        ["PerfInfo", "StackWalk", "Thread"].map(|class| contents[&format!("Kernel-{class}|kernel")]);
    assert_eq!(samples + switches, stacks);
}
