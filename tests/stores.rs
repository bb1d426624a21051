//! Plans and published traces in any store: what lies in memory is planned, converted, committed, found, verified, viewed,
//! inspected and reported as what lies in a folder.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use base::progress::NoProgress;
use columnar::output::manifest::MANIFEST_PATH;
use columnar::output::{LocalStore, MemoryOutput, MemoryStore, Store};
use conversion::convert::{ConvertOptions, InputFile, Outcome, Recording};
use conversion::job::steps::{self, PartOutcome, PlanOutcome, PlanPlace, StepOptions};
use conversion::views::{Dialect, Extent, Script, Traces};
use published::verify::{Verified, verify};
use published::{InspectedTrace, PublishedTrace, lake, published, published_in, report};
use serde_json::Value;
use spill::SpillSpace;
use support::Sandbox;

/// The example as two traces, in a folder and in memory.
fn both() -> (Sandbox, MemoryStore) {
    let sandbox = Sandbox::new();
    for name in ["a.etl", "b.etl"] {
        sandbox.file(name, &fs::read("examples/example.etl").unwrap());
    }
    sandbox.t("convert a.etl b.etl -q -o out", 0);
    let memory = MemoryStore::default();
    sandbox.files("out").iter().for_each(|(path, content)| memory.put(&format!("out/{path}"), content).unwrap());
    (sandbox, memory)
}

fn in_memory(memory: &MemoryStore) -> Vec<PublishedTrace> {
    published_in(&memory.below("out")).unwrap()
}

/// What verifying finds, by file in the folder of the traces.
fn found(traces: &[PublishedTrace]) -> (u64, u64, Vec<(String, String)>) {
    let Verified { files, bytes, findings, .. } = verify(traces, false, &NoProgress).unwrap();
    let place = |file: &str| file[file.find("trace=").unwrap()..].to_owned();
    (files, bytes, findings.iter().map(|finding| (place(&finding.file), finding.reason.clone())).collect())
}

#[test]
fn traces_in_memory_are_those_of_the_folder() {
    let (sandbox, memory) = both();
    let (local, stored) = (published(&[sandbox.path("out")]).unwrap(), in_memory(&memory));
    let names = |traces: &[PublishedTrace]| traces.iter().map(|trace| trace.name().unwrap()).collect::<Vec<_>>();
    assert_eq!((names(&local), names(&stored)), (vec!["a".into(), "b".into()], vec!["a".into(), "b".into()]));
    assert_eq!(stored[0].label(), "out/trace=a");
    let one = published_in(&memory.below("out/trace=b")).unwrap();
    assert_eq!((one.len(), one[0].folder()), (1, PathBuf::from("out/trace=b")));
    assert!(published_in(&memory.below("elsewhere")).is_err());
    for (local, stored) in local.iter().zip(&stored) {
        assert_eq!(local.record().unwrap(), stored.record().unwrap());
        let inspected = |trace| serde_json::to_value(InspectedTrace::read(trace, true).unwrap()).unwrap();
        let (mut local_document, mut document) = (inspected(local), inspected(stored));
        for document in [&mut local_document, &mut document] {
            document.as_object_mut().unwrap().remove("folder");
        }
        assert_eq!(local_document, document);
        let page = |trace| report::page(&report::facts(trace, &NoProgress).unwrap());
        assert_eq!(page(local), page(stored));
    }
}

#[test]
fn a_changed_byte_is_found_in_memory_as_in_a_folder() {
    let (sandbox, memory) = both();
    let (local, stored) = (published(&[sandbox.path("out")]).unwrap(), in_memory(&memory));
    let whole = found(&stored);
    assert_eq!((&whole, whole.2.len(), whole.0 > 20), (&found(&local), 0, true));
    let path = "out/trace=a/events/Microsoft-Windows-DNS-Client/part-00000-00000.parquet";
    let mut content = memory.get(path, u64::MAX).unwrap();
    content[100] ^= 1;
    memory.put(path, &content).unwrap();
    fs::write(sandbox.path(path), &content).unwrap();
    for folder in ["out/trace=b/sidecar/catalog.parquet", "out/trace=b/sidecar/answers.parquet"] {
        memory.remove(folder).unwrap();
        fs::remove_file(sandbox.path(folder)).unwrap();
    }
    memory.put("out/trace=b/events/more/x.txt", b"").unwrap();
    sandbox.file("out/trace=b/events/more/x.txt", b"");
    let damaged = found(&stored);
    let places: Vec<&str> = damaged.2.iter().map(|(place, _)| place.as_str()).collect();
    let expected = [
        path.strip_prefix("out/").unwrap(),
        "trace=b/events/more/x.txt",
        "trace=b/sidecar/answers.parquet",
        "trace=b/sidecar/catalog.parquet",
    ];
    assert_eq!((places, &damaged), (expected.to_vec(), &found(&local)));
}

#[test]
fn what_views_keep_of_traces_lies_in_the_store() {
    let (sandbox, memory) = both();
    let script = |traces: &[PublishedTrace], out: &dyn Store| {
        let lake = lake(traces, Some(out)).unwrap();
        let (dialect, extent) = (Dialect::DuckDb, Extent::Whole);
        let script = Script { dialect, lake: &lake, root: "out", traces: Traces::Many, extent, beside: &[] };
        script.text()
    };
    let (local, stored) = (published(&[sandbox.path("out")]).unwrap(), in_memory(&memory));
    let (folder, out) = (LocalStore::new(sandbox.path("out")), memory.below("out"));
    let expected = script(&local, &folder);
    assert_eq!(script(&stored, &*out), expected);
    let kept = memory.get("out/.etl2parquet/views", u64::MAX).unwrap();
    assert_eq!(kept, fs::read(sandbox.path("out/.etl2parquet/views")).unwrap());
    // From then on nothing but manifests is read of traces that have not changed.
    let of_manifests = MemoryStore::default();
    for trace in ["a", "b"] {
        let path = format!("out/trace={trace}/sidecar/manifest.json");
        of_manifests.put(&path, &memory.get(&path, u64::MAX).unwrap()).unwrap();
    }
    let out: Arc<dyn Store> = of_manifests.below("out");
    assert!(lake(&in_memory(&of_manifests), Some(&*out)).is_err(), "there are no footers");
    of_manifests.put("out/.etl2parquet/views", &kept).unwrap();
    assert_eq!(script(&in_memory(&of_manifests), &*out), expected);
}

/// What is published without what varies from run to run, by path.
fn lasting(files: impl Iterator<Item = (String, Vec<u8>)>) -> BTreeMap<String, Vec<u8>> {
    let without_run = |content: &[u8]| {
        let mut manifest: Value = serde_json::from_slice(content).unwrap();
        manifest.as_object_mut().unwrap().remove("run");
        manifest.to_string().into_bytes()
    };
    let file = |(path, content): (String, Vec<u8>)| {
        let lasting = if path == MANIFEST_PATH { without_run(&content) } else { content };
        (path, lasting)
    };
    files.map(file).collect()
}

#[test]
fn a_plan_in_memory_becomes_the_same_trace() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &fs::read("examples/example.etl").unwrap());
    sandbox.t("convert a.etl -q -o out --partition-bytes 20000", 0);
    let memory = MemoryOutput::new("planner");
    let place = |attempt: &str| PlanPlace {
        output: Arc::new(memory.another(attempt)),
        out: PathBuf::new(),
        target: "trace=a".into(),
        space: SpillSpace::temporary(),
    };
    let recording = Recording { name: "a".into(), inputs: vec![InputFile::new(sandbox.path("a.etl"), "a.etl")] };
    let mut options = ConvertOptions::default();
    options.partition_bytes = Some(20_000);
    let planned = steps::plan_in(&recording, &options, &NoProgress, |_, _| Ok(place("planner"))).unwrap();
    let PlanOutcome::Planned { partitions, .. } = planned else { panic!("expected a plan") };
    assert!(partitions > 3, "{partitions}");
    let asked = StepOptions::default();
    assert!(steps::commit_in(&place("early"), &asked, &NoProgress).is_err(), "no partition is converted");
    let convert =
        |number: u32, worker: &str| steps::convert_partition_in(&place(worker), number, &asked, &NoProgress).unwrap();
    for number in (0..).take(partitions) {
        assert!(matches!(convert(number, &format!("worker{number}")), PartOutcome::Converted { .. }));
    }
    assert_eq!(convert(0, "late"), PartOutcome::AlreadyConverted);
    let outcome = steps::commit_in(&place("committer"), &asked, &NoProgress).unwrap();
    assert!(matches!(outcome, Outcome::Published(report) if report.events.written == 1219));
    let expected = lasting(sandbox.files("out/trace=a").into_iter());
    assert_eq!(expected, lasting(memory.published().unwrap().into_iter()));
}
