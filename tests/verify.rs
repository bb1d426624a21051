//! `verify`: what was published passes whatever the options, and whatever is changed afterwards is named.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::fs;
use std::path::{Path, PathBuf};

use base::progress::{NoProgress, Progress};
use columnar::output::LocalStore;
use columnar::output::manifest::{CommitRecord, EventCounts, FORMAT_VERSION, OLDEST_FORMAT_VERSION};
use etl2parquet::{ErrorKind, Guid};
use published::published;
use published::verify::{FindingKind, verify};
use support::Sandbox;
use synth::tracelogging::{field, schema, traits, ty};
use synth::{OnDisk as _, T0};
use synth::{Trace, buffer, event64, guid, header, message, payload, trace};

const SHOP: synth::Guid = guid("5f0b6c1e-3c0a-5d7e-9a41-20c8a5e0f311");
const UNKNOWN: synth::Guid = guid("aaaaaaaa-0000-1111-2222-333333333333");

/// Events of three providers, by turns.
fn recording(events: i64) -> Trace {
    let event = |number: i64| {
        let time = T0 + 1 + number;
        match number % 3 {
            0 => {
                let metadata = schema("Sale").field(field("Amount", ty::UINT32));
                event64(SHOP, 0, 0, time).tracelogging(traits("Shop"), metadata).payload(payload().u32(7)).on_disk()
            }
            1 => event64(UNKNOWN, 7, 0, time).level(4).payload(payload().u32(1)).on_disk(),
            _ => message(3).guid(UNKNOWN).time(time).on_disk(),
        }
    };
    let buffers = (0..events).step_by(100).zip(1..).map(|(first, sequence)| {
        buffer(0x10000).sequence(sequence).events((first..events.min(first + 100)).map(event))
    });
    buffers.fold(trace(header().buffer_size(0x10000)), Trace::buffer)
}

/// A folder with the trace `t`, converted.
fn converted(events: i64, options: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("t.etl", &recording(events).to_bytes());
    sandbox.t(&format!("convert t.etl -q -o out {options}"), 0);
    sandbox
}

/// What verifying finds: kind and file below the folder of the trace.
fn found(folder: &Path, quick: bool) -> Vec<(FindingKind, String)> {
    let traces = published(&[folder.to_owned()]).unwrap();
    let root = format!("{}/", traces[0].label());
    let verified = verify(&traces, quick, &NoProgress).unwrap();
    verified.findings.into_iter().map(|finding| (finding.kind, finding.file.replace(&root, ""))).collect()
}

fn trace_folder(sandbox: &Sandbox) -> PathBuf {
    sandbox.path("out/trace=t")
}

/// Changes the manifest, and seals it again.
fn rewrite(folder: &Path, change: impl FnOnce(&mut CommitRecord)) {
    let mut record = CommitRecord::read(&LocalStore::new(folder)).unwrap();
    change(&mut record);
    fs::write(folder.join("sidecar/manifest.json"), record.to_json().unwrap()).unwrap();
}

#[test]
fn what_was_published_passes() {
    let all = [
        "",
        "--layout event",
        "--integers exact --timestamps nanos --guid uuid",
        "--provider Shop",
        "--level 4 --columns declared",
        "--row-group-rows 1024 --max-file-size 4KiB",
        "--partition-bytes 20000 --row-group-rows 1024",
        "--fail-on damage --raw always --compression none",
    ];
    for options in all {
        let sandbox = converted(600, options);
        for quick in ["", "--quick"] {
            let ran = sandbox.t(&format!("verify out {quick}"), 0);
            assert_eq!(ran.out, "", "{options}");
            assert!(ran.err.starts_with("1 trace, ") && ran.err.ends_with(": nothing is wrong\n"), "{}", ran.err);
        }
    }
    let sandbox = converted(9, "");
    sandbox.file("u.etl", &recording(5).to_bytes());
    sandbox.t("convert t.etl u.etl -q -o out --merge both", 0);
    assert!(sandbox.t("verify out", 0).err.starts_with("2 traces, "));
    assert!(sandbox.t("verify out/trace=both", 0).err.starts_with("1 trace, "));
    let json = sandbox.t("verify out --json -q", 0);
    let document: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(
        (&document["format"], &document["traces"], &document["findings"]),
        (&1.into(), &2.into(), &serde_json::json!([]))
    );
    assert_eq!(json.err, "");
    assert_eq!(sandbox.run("verify .").code, 2);
    assert_eq!(sandbox.run("verify nothing").code, 3);
    assert_eq!(sandbox.run("views nothing").code, 3);
}

#[test]
fn every_flipped_byte_is_found() {
    let sandbox = converted(30, "--provider Shop");
    let folder = trace_folder(&sandbox);
    let mut flips = 0;
    for (path, bytes) in sandbox.files("out/trace=t") {
        // The manifest is what all else hangs on; of the others every place of a kind has its turn.
        let step = if path == "sidecar/manifest.json" { 1 } else { 37 };
        let places = (0..bytes.len()).filter(|at| at % step == 0 || *at < 4 || at + 8 >= bytes.len());
        for at in places {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            fs::write(folder.join(&path), &changed).unwrap();
            let findings = found(&folder, false);
            assert!(findings.iter().any(|(_, file)| *file == path), "byte {at} of {path}: {findings:?}");
            flips += 1;
        }
        fs::write(folder.join(&path), bytes).unwrap();
    }
    assert!(flips > 2000, "{flips}");
    assert_eq!(found(&folder, false), []);
}

#[test]
fn footers_with_flipped_bytes_are_read_without_harm() {
    let sandbox = converted(3, "--provider Shop");
    let folder = trace_folder(&sandbox);
    let path = folder.join("events/Shop/part-00000-00000.parquet");
    let bytes = fs::read(&path).unwrap();
    let footer = bytes.len() - 8 - u32::from_le_bytes(bytes[bytes.len() - 8..][..4].try_into().unwrap()) as usize;
    for at in (footer..bytes.len()).step_by(3) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x80 >> (at % 8);
        fs::write(&path, &changed).unwrap();
        // Statistics of columns are not looked at: not every change is seen here.
        found(&folder, true);
    }
}

#[test]
fn files_that_are_missing_extra_or_swapped_are_named() {
    let shop = "events/Shop/part-00000-00000.parquet".to_owned();
    let unknown = format!("events/{}/part-00000-00000.parquet", "aaaaaaaa-0000-1111-2222-333333333333");
    for quick in [false, true] {
        let sandbox = converted(30, "");
        let folder = trace_folder(&sandbox);
        let bytes = fs::read(folder.join(&shop)).unwrap();
        fs::remove_file(folder.join(&shop)).unwrap();
        assert_eq!(found(&folder, quick), [(FindingKind::Missing, shop.clone())]);
        fs::write(folder.join(&shop), &bytes[1..]).unwrap();
        assert_eq!(found(&folder, quick), [(FindingKind::Size, shop.clone())]);
        fs::write(folder.join(&shop), &bytes).unwrap();
        fs::write(folder.join("events/Shop/part-00000-00001.parquet"), &bytes).unwrap();
        assert_eq!(found(&folder, quick), [(FindingKind::Extra, "events/Shop/part-00000-00001.parquet".to_owned())]);
        fs::remove_file(folder.join("events/Shop/part-00000-00001.parquet")).unwrap();
        fs::create_dir_all(folder.join("events/More/of/it")).unwrap();
        assert_eq!(found(&folder, quick), [(FindingKind::Extra, "events/More/of/it".to_owned())]);
        fs::remove_dir_all(folder.join("events/More")).unwrap();
        #[cfg(unix)]
        {
            fs::rename(folder.join(&shop), sandbox.path("elsewhere")).unwrap();
            std::os::unix::fs::symlink(sandbox.path("elsewhere"), folder.join(&shop)).unwrap();
            assert_eq!(found(&folder, quick), [(FindingKind::Missing, shop.clone())]);
            fs::remove_file(folder.join(&shop)).unwrap();
            fs::rename(sandbox.path("elsewhere"), folder.join(&shop)).unwrap();
        }
        assert_eq!(found(&folder, quick), []);
        // The manifest is right about each of the two files, but for the place.
        rewrite(&folder, |record| {
            let places =
                [&shop, &unknown].map(|path| record.files.iter().position(|file| file.path == **path).unwrap());
            record.files[places[0]].path.clone_from(&unknown);
            record.files[places[1]].path.clone_from(&shop);
        });
        fs::rename(folder.join(&shop), folder.join("a")).unwrap();
        fs::rename(folder.join(&unknown), folder.join(&shop)).unwrap();
        fs::rename(folder.join("a"), folder.join(&unknown)).unwrap();
        let expected = (FindingKind::Sidecar, "sidecar/catalog.parquet".to_owned());
        assert_eq!(found(&folder, quick), if quick { Vec::new() } else { vec![expected] });
    }
}

/// A file of events.
fn entry(record: &mut CommitRecord) -> &mut etl2parquet::FileEntry {
    record.files.iter_mut().find(|file| file.path.starts_with("events/Shop/")).unwrap()
}

#[test]
fn what_contradicts_the_files_is_named() {
    use FindingKind::{Conservation, Footer, Manifest, Rows, Sequence, Sidecar, Time, Version};
    let manifest = || "sidecar/manifest.json".to_owned();
    let shop = || "events/Shop/part-00000-00000.parquet".to_owned();
    let t = |change: &dyn Fn(&mut CommitRecord), quick: bool, expected: &[(FindingKind, String)]| {
        let sandbox = converted(30, "");
        rewrite(&trace_folder(&sandbox), change);
        let mut findings = found(&trace_folder(&sandbox), quick);
        findings.dedup();
        assert_eq!(findings, expected);
    };
    for quick in [false, true] {
        t(&|record| record.events.found += 1, quick, &[(Conservation, manifest())]);
        t(&|record| record.format_version = OLDEST_FORMAT_VERSION - 1, quick, &[(Version, manifest())]);
        t(&|record| record.format_version = FORMAT_VERSION + 1, quick, &[(Version, manifest())]);
        t(&|record| record.format_version = OLDEST_FORMAT_VERSION, quick, &[]);
        t(&|record| record.trace = "u".to_owned(), quick, &[(Manifest, manifest())]);
        t(&|record| entry(record).rows += 1, quick, &[(Rows, shop())]);
        t(&|record| entry(record).max_timestamp_ns = Some(0), quick, &[(Time, shop())]);
        t(&|record| entry(record).provider_id = Some(Guid::ZERO), quick, &[(Footer, shop())]);
        let all = ["Kernel-EventTrace", "Shop", "WPP", "aaaaaaaa-0000-1111-2222-333333333333"];
        let all = all.map(|dataset| (Footer, shop().replace("Shop", dataset)));
        t(&|record| record.inputs[0].blake3 = "00".repeat(32), quick, &all);
        t(
            &|record| entry(record).path = "../t".to_owned(),
            quick,
            &[(FindingKind::Extra, shop()), (Manifest, manifest())],
        );
    }
    let counts = |found, written, filtered| EventCounts { found, written, filtered, damaged: 0, damaged_bytes: 0 };
    t(&|record| record.inputs[0].size += 1, false, &[(Sidecar, "sidecar/sessions.parquet".to_owned())]);
    // As many rows, but other numbers: what was filtered away is claimed never to have been.
    let sandbox = converted(30, "--provider Shop");
    rewrite(&trace_folder(&sandbox), |record| record.events = counts(10, 10, 0));
    let findings = found(&trace_folder(&sandbox), false);
    assert!([Rows, Sequence].iter().all(|kind| findings.contains(&(*kind, "events".to_owned()))), "{findings:?}");
}

#[test]
fn an_older_manifest_without_a_hash_is_named() {
    let sandbox = converted(3, "");
    let path = trace_folder(&sandbox).join("sidecar/manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    let (before, _) = text.split_once(",\n    \"manifest_sha256\"").unwrap();
    fs::write(&path, format!("{before}\n  }}\n}}\n")).unwrap();
    let ran = sandbox.t("verify out", 7);
    let expected = "out/trace=t/sidecar/manifest.json: the manifest has no hash of itself at its end: it was changed, or \
                    written by an older version\n";
    assert_eq!(ran.out, expected);
    assert!(ran.err.ends_with(": 1 finding\n"), "{}", ran.err);
}

#[test]
fn traces_that_a_run_left_there_and_that_are_gone_are_named() {
    let sandbox = Sandbox::new();
    for name in ["a.etl", "b.etl", "c.etl"] {
        sandbox.file(name, &recording(3).to_bytes());
    }
    sandbox.file("none.etl", b"no trace");
    sandbox.t("convert a.etl -q -o out", 0);
    sandbox.t("convert a.etl b.etl c.etl none.etl -q -o out --if-exists skip --summary run.json", 4);
    sandbox.t("verify out --expect run.json", 0);
    for gone in ["a", "b"] {
        fs::remove_dir_all(sandbox.path(&format!("out/trace={gone}"))).unwrap();
    }
    sandbox.t("verify out", 0);
    let line =
        |name| format!("out/trace={name}: expected this trace, which a run left there by run.json, found none\n");
    assert_eq!(sandbox.t("verify out --quick --expect run.json", 7).out, line("a") + &line("b"));
    sandbox.t("convert a.etl -q -o other", 0);
    assert_eq!(sandbox.t("verify out other --expect run.json", 7).out, line("b"));
    assert_eq!(sandbox.t("verify out/trace=c --expect run.json", 7).out, line("a") + &line("b"));
    // All of them may be gone, and their folder, too.
    fs::remove_dir_all(sandbox.path("out/trace=c")).unwrap();
    let all = line("a") + &line("b") + &line("c");
    assert_eq!(sandbox.t("verify out --expect run.json", 7).out, all);
    fs::remove_dir_all(sandbox.path("out")).unwrap();
    assert_eq!(sandbox.t("verify out --expect run.json", 7).out, all);
    assert_eq!(sandbox.t("verify out other --expect run.json", 7).out, line("b") + &line("c"));
    // What is there without one is still to name one.
    sandbox.t("verify out", 3);
    sandbox.file("no.json", b"{\"format_version\": 2, \"output\": \"\", \"traces\": []}");
    for (file, message) in [
        ("no.json", "no.json: expected a summary of format_version 1, found 2"),
        ("a.etl", "a.etl: expected what `convert --summary` writes"),
        ("nothing.json", "nothing.json: the summary cannot be read"),
    ] {
        let ran = sandbox.run(&format!("verify out --expect {file}"));
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains(message), "{}", ran.err);
    }
}

#[test]
fn traces_that_do_not_bind_are_named() {
    let sandbox = Sandbox::new();
    let sale = |kind, value: synth::Payload| {
        let metadata = schema("Sale").field(field("Amount", kind));
        let event = event64(SHOP, 0, 0, T0 + 6).tracelogging(traits("Shop"), metadata).payload(value).on_disk();
        trace(header()).buffer(buffer(0x4000).sequence(1).events([event])).to_bytes()
    };
    sandbox.file("a.etl", &sale(ty::UINT32, payload().u32(5)));
    sandbox.file("b.etl", &sale(ty::UTF16Z, payload().wstr("five")));
    sandbox.t("convert a.etl b.etl -q -o out", 0);
    sandbox.t("verify out/trace=a", 0);
    let ran = sandbox.t("verify out --quick", 7);
    let file = |trace| format!("out/trace={trace}/events/Shop/part-00000-00000.parquet");
    let expected = format!(
        "{}: column Amount of Shop has several types: INT64 in {}; STRING in {}\n",
        file("a"),
        file("a"),
        file("b")
    );
    assert_eq!(ran.out, expected);
}

struct Stopped;

impl Progress for Stopped {
    fn advance(&self, _amount: u64) {}

    fn is_cancelled(&self) -> bool {
        true
    }
}

#[test]
fn it_can_be_stopped() {
    let sandbox = converted(3, "");
    let traces = published(&[sandbox.path("out")]).unwrap();
    assert_eq!(verify(&traces, false, &Stopped).unwrap_err().kind(), ErrorKind::Interrupted);
}
