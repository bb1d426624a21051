//! Traces and outputs in object stores: the same files as in folders, and whatever fails, what was published before, what should be, or
//! nothing.
//!
//! The store is one in memory that fails as it is told; `scripts/check/stores` asks real servers. `ETL2PARQUET_STORE_CASES` is how many
//! cases of faults are tried at least.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::progress::NoProgress;
use base::remote::Requests;
use base::remote::memory::{Fault, MemoryObjects};
use columnar::output::clean::{Cleaned, clean};
use columnar::output::remote_store::RemoteStore;
use conversion::convert::InputFile;
use conversion::job::steps::{self, CommitOutcome, PlanOutcome, StepOptions};
use etl::input::RemoteSpace;
use etl2parquet::{ConvertOptions, ErrorKind, IfExists, Outcome, Recording, Result, convert};
use published::verify::verify;
use sha2::{Digest, Sha256};
use support::Sandbox;
use synth::tracelogging::{field, schema, traits, ty};
use synth::{OnDisk as _, T0, buffer, event64, guid, header, payload, trace};

const SHOP: synth::Guid = guid("5f0b6c1e-3c0a-5d7e-9a41-20c8a5e0f311");
const INPUT: &str = "s3://lab/in/t.etl";
const OUT: &str = "s3://lab/out";
const MANIFEST: &str = "s3://lab/out/trace=t/sidecar/manifest.json";

/// The store of this process, for one test at a time.
fn store() -> (Arc<MemoryObjects>, MutexGuard<'static, ()>) {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let objects = Arc::new(MemoryObjects::default());
    base::remote::install(Arc::clone(&objects) as Arc<_>);
    (objects, turn)
}

fn sale(number: i64) -> Vec<u8> {
    let metadata = schema("Sale").field(field("Amount", ty::UINT32));
    let amount = payload().u32(u32::try_from(number).unwrap());
    event64(SHOP, 0, 0, T0 + 1 + number).tracelogging(traits("Shop"), metadata).payload(amount).on_disk()
}

/// A trace of so many sales.
fn recording(sales: i64) -> Vec<u8> {
    trace(header().buffer_size(0x10000)).buffer(buffer(0x10000).events((0..sales).map(sale))).to_bytes()
}

/// A trace of so many sales, each in a buffer of a MiB.
fn large_recording(sales: i64) -> Vec<u8> {
    let begun = trace(header().buffer_size(1 << 20));
    (0..sales).fold(begun, |trace, number| trace.buffer(buffer(1 << 20).events([sale(number)]))).to_bytes()
}

fn from_store() -> Recording {
    Recording { name: "t".to_owned(), inputs: vec![InputFile::new(INPUT, "t.etl")] }
}

fn options(out: &str, spool: &Path) -> ConvertOptions {
    let mut options = ConvertOptions::new(out).threads(1).memory(64 << 20);
    options.open.spool_dir = Some(spool.to_owned());
    options
}

/// What a manifest says of its trace: where its files lie, the hash of its input, and its files with their hashes.
fn manifest(objects: &MemoryObjects) -> Option<(String, String, BTreeMap<String, String>)> {
    let text = objects.all().remove(MANIFEST)?;
    let manifest: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let files = manifest["files"].as_array().unwrap().iter();
    let files = files.map(|file| (text(&file["path"]), text(&file["sha256"]))).collect();
    Some((text(&manifest["run"]["data"]), text(&manifest["inputs"][0]["blake3"]), files))
}

/// The objects of the published trace by their paths in it, each as its manifest says.
fn published_files(objects: &MemoryObjects) -> BTreeMap<String, Vec<u8>> {
    let (data, _, files) = manifest(objects).unwrap();
    let mut all = objects.all();
    let found = files.into_iter().map(|(path, hash)| {
        let content =
            all.remove(&format!("{OUT}/trace=t/{data}/{path}")).unwrap_or_else(|| panic!("{path} is missing"));
        let digest = Sha256::digest(&content);
        let expected = (0..hash.len()).step_by(2).map(|at| u8::from_str_radix(&hash[at..at + 2], 16).unwrap());
        assert!(digest.iter().copied().eq(expected), "{path}");
        (path, content)
    });
    found.collect()
}

#[test]
fn a_store_gets_the_files_that_a_folder_gets() {
    let (objects, _turn) = store();
    let sandbox = Sandbox::new();
    let spool = sandbox.path("");
    let content = recording(500);
    objects.set(INPUT, &content);
    let local = sandbox.path("local");
    let Outcome::Published(report) =
        convert(&from_store(), &options(local.to_str().unwrap(), &spool), &NoProgress).unwrap()
    else {
        panic!("expected a trace")
    };
    assert_eq!(report.events.written, 501, "with the header");
    let mut expected: BTreeMap<_, _> = sandbox.files("local/trace=t").into_iter().collect();
    expected.remove("sidecar/manifest.json");

    let before = (objects.counts(), Requests::so_far());
    let Outcome::Published(report) = convert(&from_store(), &options(OUT, &spool), &NoProgress).unwrap() else {
        panic!("expected a trace")
    };
    assert_eq!(report.folder, PathBuf::from("s3://lab/out/trace=t"));
    assert!(report.warnings.is_empty());
    assert_eq!(published_files(&objects), expected);
    assert_eq!(objects.counts().1 - before.0.1, content.len() as u64, "the trace came once");
    let requests = Requests::so_far().since(before.1);
    assert_eq!(requests.requests, objects.counts().0 - before.0.0, "every request is counted");
    assert_eq!((requests.bytes_read, requests.bytes_read_again), (content.len() as u64, 0));
    let sent: u64 = expected.values().map(|file| file.len() as u64).sum();
    assert_eq!(requests.bytes_written, sent + objects.all()[MANIFEST].len() as u64);
    assert_eq!(fs::read_dir(&spool).unwrap().count(), 1, "nothing is left here");

    // It is read as one in a folder is.
    let traces = published::published(&[OUT.into()]).unwrap();
    let verified = verify(&traces, false, &NoProgress).unwrap();
    assert_eq!((verified.traces, verified.files, verified.findings.len()), (1, expected.len() as u64, 0));
    let found = |address: &str| published::all_published(&[address.into()]).map(|traces| traces.len());
    assert_eq!([OUT, "s3://lab/out/trace=t", "s3://lab/in", INPUT].map(found), [Some(1), Some(1), None, None]);
    // A file of it that was changed is named.
    let (data, ..) = manifest(&objects).unwrap();
    objects.set(&format!("{OUT}/trace=t/{data}/sidecar/clock.parquet"), b"PAR1");
    assert!(!verify(&traces, false, &NoProgress).unwrap().findings.is_empty());
}

#[test]
fn a_trace_that_the_spool_holds_packed_alone_comes_once() {
    let (objects, _turn) = store();
    let folder = tempfile::tempdir().unwrap();
    let content = large_recording(60);
    objects.set(INPUT, &content);
    let read = |most| {
        let mut options = options(OUT, folder.path());
        options.open.remote = Arc::new(RemoteSpace::new(24 << 20));
        options.open.max_spool = Some(most);
        objects.clear(OUT);
        let before = Requests::so_far();
        let outcome = convert(&from_store(), &options, &NoProgress).unwrap();
        assert!(matches!(outcome, Outcome::Published(report) if report.events.written == 61));
        Requests::so_far().since(before)
    };
    let size = content.len() as u64;
    let packed = read(4 << 20);
    let expected = published_files(&objects);
    assert_eq!((packed.bytes_read, packed.bytes_read_again), (size, 0));
    let without = read(0);
    assert_eq!(without.bytes_read, size + without.bytes_read_again);
    assert!(without.bytes_read_again >= size, "with neither room nor a spool it comes with each pass");
    assert_eq!(published_files(&objects), expected);
}

#[test]
fn a_trace_that_is_there_is_treated_as_asked() {
    let (objects, _turn) = store();
    let folder = tempfile::tempdir().unwrap();
    let run = |if_exists| convert(&from_store(), &options(OUT, folder.path()).if_exists(if_exists), &NoProgress);
    objects.set(INPUT, &recording(10));
    assert!(matches!(run(IfExists::Error).unwrap(), Outcome::Published(_)));
    let first = manifest(&objects).unwrap();
    let error = run(IfExists::Error).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Output);
    assert!(error.to_string().starts_with("s3://lab/out/trace=t: this trace is there already"), "{error}");
    assert!(matches!(run(IfExists::Skip).unwrap(), Outcome::Skipped));
    assert!(matches!(run(IfExists::Update).unwrap(), Outcome::Skipped));
    assert_eq!(manifest(&objects).unwrap(), first, "nothing was written");
    objects.set(INPUT, &recording(11));
    assert!(run(IfExists::Skip).unwrap_err().to_string().contains("made from other input"));
    assert!(matches!(run(IfExists::Update).unwrap(), Outcome::Published(_)));
    let second = manifest(&objects).unwrap();
    assert_ne!((&second.0, &second.1), (&first.0, &first.1));
    assert!(!objects.all().keys().any(|url| url.contains(&first.0)), "the files of the first one are gone");
    published_files(&objects);
}

#[test]
fn whoever_cleans_removes_nothing_beside_a_manifest_that_cannot_be_read() {
    let (objects, _turn) = store();
    let folder = tempfile::tempdir().unwrap();
    objects.set(INPUT, &recording(10));
    convert(&from_store(), &options(OUT, folder.path()), &NoProgress).unwrap();
    objects.set(MANIFEST, b"{ cut");
    let before = objects.all();
    let error = clean(&RemoteStore::new(OUT), Duration::ZERO, false, &NoProgress).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Output);
    assert!(error.to_string().starts_with("s3://lab/out/trace=t: cannot read the manifest"), "{error}");
    assert_eq!(objects.all(), before);
}

#[test]
fn whoever_cleans_removes_only_what_runs_write() {
    let (objects, _turn) = store();
    let [old, new] =
        ["0123456789abcdef", "fedcba9876543210"].map(|hash| format!("{OUT}/events/A/all-b03-00000-{hash}.parquet"));
    let foreign = ["events/A/mine.parquet", "symbols/frames/trace=a.parquet", "trace=a/data-mine/notes.txt"];
    let foreign = foreign.map(|path| format!("{OUT}/{path}"));
    [&old, &new].into_iter().chain(&foreign).for_each(|url| objects.set(url, b"x"));
    objects.set(
        &format!("{OUT}/lake.json"),
        br#"{"files": [{"path": "events/A/all-b03-00000-fedcba9876543210.parquet"}]}"#,
    );
    let clean = || clean(&RemoteStore::new(OUT), Duration::ZERO, false, &NoProgress).unwrap();
    assert_eq!(clean(), Cleaned { objects: 1, bytes: 1, young: 0 });
    let left = objects.all();
    assert!(!left.contains_key(&old) && left.contains_key(&new) && foreign.iter().all(|url| left.contains_key(url)));
    // Without a lake: a folder of an attempt has a word of 16 digits.
    objects.clear(&format!("{OUT}/lake.json"));
    objects.set(&format!("{OUT}/trace=a/data-0123456789abcdef/events/A/part.parquet"), b"xy");
    assert_eq!(clean(), Cleaned { objects: 1, bytes: 2, young: 0 });
    assert!(foreign.iter().all(|url| objects.all().contains_key(url)));
}

/// A conversion in steps.
fn in_steps(options: &ConvertOptions) -> Result<()> {
    let PlanOutcome::Planned { folder, partitions } = steps::plan(&from_store(), options, &NoProgress)? else {
        return Ok(());
    };
    let step = StepOptions { threads: 1, memory: options.memory, open: options.open.clone(), run_id: None };
    for number in 0..partitions {
        steps::convert_partition(&folder, u32::try_from(number).unwrap(), &step, &NoProgress)?;
        // Another worker comes late.
        steps::convert_partition(&folder, u32::try_from(number).unwrap(), &step, &NoProgress)?;
    }
    let done = steps::commit(&folder, &step, &NoProgress)?;
    // Where a run was disturbed after that, the next one finds the trace in its place.
    assert!(matches!(done, CommitOutcome::Done(Outcome::Published(_)) | CommitOutcome::AlreadyCommitted(_)));
    assert!(matches!(steps::commit(&folder, &step, &NoProgress)?, CommitOutcome::AlreadyCommitted(_)));
    Ok(())
}

#[test]
fn steps_write_what_one_run_writes() {
    let (objects, _turn) = store();
    let folder = tempfile::tempdir().unwrap();
    objects.set(INPUT, &recording(500));
    convert(&from_store(), &options(OUT, folder.path()), &NoProgress).unwrap();
    let expected = published_files(&objects);
    objects.clear(OUT);
    in_steps(&options(OUT, folder.path())).unwrap();
    assert_eq!(published_files(&objects), expected);
    assert!(!objects.all().keys().any(|url| url.contains(".plan-")), "the plan is gone");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left here");
}

#[test]
fn whoever_is_faster_stays() {
    let (objects, _turn) = store();
    let folder = tempfile::tempdir().unwrap();
    objects.set(INPUT, &recording(10));
    let run = || convert(&from_store(), &options(OUT, folder.path()), &NoProgress);
    let before = objects.counts().0;
    run().unwrap();
    let requests = objects.counts().0 - before;
    let theirs = objects.all().remove(MANIFEST).unwrap();
    // Somebody else publishes at any moment of a run that began when nothing was there.
    let mut lost = 0;
    for moment in (0..requests).step_by(2) {
        objects.clear(OUT);
        objects.set_after(moment, MANIFEST, &theirs);
        match run() {
            Ok(_) => {}
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Output, "{error}");
                assert_eq!(objects.all()[MANIFEST], theirs, "at {moment}");
                lost += 1;
                let of_theirs = |url: &&String| url.starts_with(OUT) && *url != MANIFEST;
                assert_eq!(objects.all().keys().filter(of_theirs).count(), 0, "nothing of the run is left");
            }
        }
    }
    assert!(lost > requests / 4, "{lost} of {requests}");
}

/// What a conversion finds before it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Before {
    Nothing,
    Old,
}

#[test]
fn whatever_fails_the_old_trace_is_there_or_the_new_one_or_none() {
    let (objects, _turn) = store();
    let folder = tempfile::tempdir().unwrap();
    let wanted: u64 = std::env::var("ETL2PARQUET_STORE_CASES").map_or(0, |cases| cases.parse().unwrap());
    let faults = [Fault::Refused, Fault::AnswerLost, Fault::CutShort, Fault::NetworkGone, Fault::Forbidden];
    let (mut cases, mut ends, mut sales) = (0, BTreeMap::<&str, u64>::new(), 10);
    loop {
        for (before, is_in_steps) in
            [(Before::Nothing, false), (Before::Old, false), (Before::Nothing, true), (Before::Old, true)]
        {
            let lab = Lab { objects: &objects, folder: folder.path(), before, is_in_steps, sales };
            let requests = lab.requests();
            for fault in faults {
                // All of them where many cases are wanted, else every fourth.
                for number in (0..requests).skip((requests % 4) as usize).step_by(if wanted > 0 { 1 } else { 4 }) {
                    *ends.entry(lab.case(fault, number)).or_default() += 1;
                    cases += 1;
                }
            }
        }
        sales += 1;
        if cases >= wanted {
            break;
        }
    }
    println!("{cases} cases: {ends:?}");
    assert!(cases > 250, "{cases}");
    assert_eq!(ends.keys().copied().collect::<Vec<_>>(), ["new", "nothing", "old"]);
}

struct Lab<'a> {
    objects: &'a MemoryObjects,
    folder: &'a Path,
    before: Before,
    is_in_steps: bool,
    sales: i64,
}

impl Lab<'_> {
    /// Lets a trace be there, or none, and the input be there.
    fn prepare(&self) -> Option<String> {
        self.objects.heal();
        self.objects.clear("s3://lab");
        if self.before == Before::Old {
            self.objects.set(INPUT, &recording(5));
            convert(&from_store(), &options(OUT, self.folder), &NoProgress).unwrap();
        }
        self.objects.set(INPUT, &recording(self.sales));
        manifest(self.objects).map(|(_, input, _)| input)
    }

    fn run(&self) -> Result<()> {
        let options = options(OUT, self.folder).if_exists(IfExists::Replace);
        if self.is_in_steps { in_steps(&options) } else { convert(&from_store(), &options, &NoProgress).map(drop) }
    }

    /// Requests of a run that nothing disturbs.
    fn requests(&self) -> u64 {
        self.prepare();
        let before = self.objects.counts().0;
        self.run().unwrap();
        self.objects.counts().0 - before
    }

    /// Lets one request fail; says what is there then.
    fn case(&self, fault: Fault, number: u64) -> &'static str {
        let case = format!("{:?} in_steps={} {fault:?} at {number}", self.before, self.is_in_steps);
        let old = self.prepare();
        self.objects.fail_after(number, fault);
        let done = self.run();
        self.objects.heal();
        let now = manifest(self.objects);
        if now.is_some() {
            published_files(self.objects);
        }
        let found = match (&now, &old) {
            (None, _) => "nothing",
            (Some((_, input, _)), Some(old)) if input == old => "old",
            _ => "new",
        };
        assert!(done.is_err() || found == "new", "{case}: it says that it is done, found {found}");
        assert!(self.before == Before::Nothing || found != "nothing", "{case}: the old trace is gone");
        self.is_clean(now, &case);
        // The next run finds nothing in its way.
        self.run().unwrap_or_else(|error| panic!("{case}: {error}"));
        assert_ne!(manifest(self.objects).map(|(_, input, _)| input), old, "{case}");
        found
    }

    /// Who cleans removes all that no manifest names, and nothing else.
    fn is_clean(&self, now: Option<(String, String, BTreeMap<String, String>)>, case: &str) {
        let left = |objects: &MemoryObjects| -> BTreeSet<String> {
            objects.all().into_keys().filter(|url| url.starts_with(OUT)).collect()
        };
        let named: BTreeSet<String> = now
            .into_iter()
            .flat_map(|(data, _, files)| {
                files.into_keys().map(move |path| format!("{OUT}/trace=t/{data}/{path}")).chain([MANIFEST.to_owned()])
            })
            .collect();
        let before = left(self.objects);
        let store = RemoteStore::new(OUT);
        let young = clean(&store, Duration::from_secs(60 * 60 * 24 * 365 * 100), false, &NoProgress).unwrap();
        assert_eq!((young.objects, left(self.objects)), (0, before.clone()), "{case}");
        let Cleaned { objects, young, .. } = clean(&store, Duration::ZERO, false, &NoProgress).unwrap();
        assert_eq!(left(self.objects), named, "{case}");
        assert_eq!((objects, young), ((before.len() - named.len()) as u64, 0), "{case}");
    }
}
