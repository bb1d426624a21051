//! What the program leaves in the output folder, and what it says: through the program itself.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::collections::BTreeSet;
use std::fs;
use std::sync::Mutex;

use base::progress::{NoProgress, Progress};
use conversion::convert::{InputFile, JobProgress, Outcome, Recording, Stage};
use conversion::job::{self, steps};
use support::{Sandbox, options};
use synth::*;

/// A trace with so many events beside its header event.
fn small(events: i64) -> Vec<u8> {
    let data = (1..=events).map(|n| perfinfo64(0x0F99, T0 + n).payload([1]));
    trace(header()).buffer(buffer(0x1000).sequence(1).events(data)).to_bytes()
}

/// The same with this number of lost events in its header.
fn lossy(lost: u32) -> Vec<u8> {
    let data = (1..=9).map(|n| perfinfo64(0x0F99, T0 + n).payload([1]));
    trace(header().events_lost(lost)).buffer(buffer(0x1000).sequence(1).events(data)).to_bytes()
}

/// Rows of the small trace's events.
fn rows(sandbox: &Sandbox, trace: &str) -> usize {
    sandbox.table(trace, "events/Kernel-PerfInfo").rows.len()
}

#[test]
fn verbose_says_where_the_time_went() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &small(3));
    let said = sandbox.t("convert a.etl -o out -v", 0).err;
    let table: Vec<&str> = said.lines().skip_while(|line| !line.contains("STAGE")).collect();
    assert_eq!(table[0].split_whitespace().collect::<Vec<_>>(), ["STAGE", "BUSY", "SHARE", "THREADS"]);
    let rows: Vec<Vec<&str>> = table[1..13].iter().map(|line| line.split_whitespace().collect()).collect();
    // The stage is what stands before the first number.
    let stages: Vec<String> = rows
        .iter()
        .map(|row| row.iter().take_while(|word| word.parse::<f64>().is_err()).copied().collect::<Vec<_>>().join(" "))
        .collect();
    let expected = "scan survey hash schema plan order decode cut rows columns encode write publish";
    assert_eq!(stages.join(" "), expected, "{said}");
    for stage in stages {
        let named = said.lines().filter(|line| line.trim_start().starts_with(&format!("{stage} ")));
        assert_eq!(named.count(), 1, "{stage}: {said}");
    }
    // Each is rounded to a tenth.
    let shares: f64 =
        rows.iter().map(|row| row[row.iter().position(|&word| word == "%").unwrap() - 1].parse::<f64>().unwrap()).sum();
    assert!((shares - 100.0).abs() <= 0.05 * 12.0 + 1e-9, "{shares}: {said}");
    let parts: Vec<&str> = said.lines().find_map(|line| line.strip_prefix("a: ")).unwrap().split(", ").collect();
    let names: Vec<_> = parts.iter().filter_map(|part| part.split_whitespace().next()).collect();
    assert_eq!(names, ["survey", "plan", "convert", "publish"]);
    assert!(parts[3].ends_with(" threads busy"), "{said}");
}

#[test]
fn without_verbose_nothing_is_said_of_time() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &small(3));
    let plain = sandbox.t("convert a.etl -o plain", 0).err;
    assert!(!plain.contains("STAGE") && !plain.contains("threads busy"), "{plain}");
    assert_eq!(sandbox.t("convert a.etl -o quiet -v -q", 0).err, "");
    sandbox.t("convert a.etl -o verbose -v", 0);
    let files = |folder: &str| -> Vec<_> {
        let files = sandbox.files(folder).into_iter();
        files.filter(|(name, _)| !name.ends_with("manifest.json")).collect()
    };
    assert!(files("plain") == files("verbose"));
}

#[test]
fn a_trace_appears_whole() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &small(3));
    let ran = sandbox.t("convert a.etl -o out", 0);
    assert_eq!(ran.out, "");
    let expected = [
        "trace=a/events/Kernel-EventTrace/part-00000-00000.parquet",
        "trace=a/events/Kernel-PerfInfo/part-00000-00000.parquet",
        "trace=a/sidecar/answers.parquet",
        "trace=a/sidecar/buffers.parquet",
        "trace=a/sidecar/catalog.parquet",
        "trace=a/sidecar/clock.parquet",
        "trace=a/sidecar/fields.parquet",
        "trace=a/sidecar/issues.parquet",
        "trace=a/sidecar/lost_events.parquet",
        "trace=a/sidecar/manifest.json",
        "trace=a/sidecar/sessions.parquet",
        "trace=a/sidecar/streams.parquet",
    ];
    assert_eq!(sandbox.names("out"), expected);
}

#[test]
fn a_trace_has_the_scripts_of_its_views_that_are_asked_for() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &small(3));
    let scripts = || -> Vec<String> {
        let is_script = |name: &String| name.contains("views.");
        sandbox.names("out").into_iter().filter(is_script).map(|name| name.replace("trace=a/sidecar/", "")).collect()
    };
    for (word, expected) in [
        ("none", [].as_slice()),
        ("duckdb", &["views.sql"]),
        ("spark", &["views.spark.sql"]),
        ("both", &["views.spark.sql", "views.sql"]),
    ] {
        sandbox.t(&format!("convert a.etl -o out --if-exists replace --views {word}"), 0);
        assert_eq!(scripts(), expected, "{word}");
    }
    for flags in ["", "--layout event", "--integers exact", "--columns declared --guid binary"] {
        sandbox.t(&format!("convert a.etl -o out --if-exists replace --views both {flags}"), 0);
        for (name, flag) in [("views.sql", ""), ("views.spark.sql", "--spark")] {
            let printed = sandbox.t(&format!("views out/trace=a {flag}"), 0).out;
            let written = fs::read_to_string(sandbox.path(&format!("out/trace=a/sidecar/{name}"))).unwrap();
            let statements = |text: &str| text.split(";\n").map(|one| one.trim().to_owned()).collect::<Vec<_>>();
            let printed = statements(&printed);
            let (same, other): (Vec<_>, Vec<_>) =
                statements(&written).into_iter().partition(|one| printed.contains(one));
            // Only where the traces lie is another folder: that in which the script is run.
            let [root] = &other[..] else { panic!("{flags} {name}: {other:?}") };
            assert!(root.contains("root") && !root.contains(&*sandbox.path("out").to_string_lossy()), "{root}");
            assert!(same.iter().any(|one| one.contains("events/Kernel-PerfInfo/*")), "{same:?}");
        }
    }
    sandbox.t("verify out", 0);
}

#[test]
fn the_manifest_names_every_file() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &small(3));
    sandbox.t("convert a.etl -o out", 0);
    let manifest = fs::read(sandbox.path("out/trace=a/sidecar/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let files = manifest["files"].as_array().unwrap();
    for (name, bytes) in sandbox.files("out/trace=a") {
        if name.ends_with(".parquet") {
            let entry = files.iter().find(|file| file["path"] == name.as_str()).unwrap();
            assert_eq!(entry["bytes"], bytes.len(), "{name}");
        }
    }
    let counts = serde_json::json!({"found": 4, "written": 4, "filtered": 0, "damaged": 0, "damaged_bytes": 0});
    assert_eq!(manifest["events"], counts);
    assert_eq!(manifest["decode"], serde_json::json!({"kernel/ok": 1, "none/no_schema": 3}));
    assert_eq!(manifest["lost"], serde_json::json!({"events_lost": 0, "buffers_lost": 0, "unknown_because": null}));
    assert_eq!(manifest["inputs"][0]["source"], "a.etl");
    assert_eq!(manifest["inputs"][0]["blake3"], blake3::hash(&small(3)).to_hex().as_str());
}

#[test]
fn a_trace_with_nothing_but_its_header_event_converts() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &trace(header()).to_bytes());
    sandbox.t("convert a.etl -o out", 0);
    assert_eq!(sandbox.table("out/trace=a", "events/Kernel-EventTrace").lines("seq"), ["0"]);
}

#[test]
fn tiny_row_groups_are_a_usage_error() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &small(3));
    let refused = sandbox.t("convert a.etl -o out --row-group-rows 1023", 2);
    assert!(refused.err.contains("expected 1024 to 4294967295 rows: smaller groups take"), "{}", refused.err);
    sandbox.t("convert a.etl -o out --row-group-rows 1024", 0);
}

#[test]
fn what_is_there_is_refused_skipped_or_replaced() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &small(3));
    sandbox.t("convert a.etl -o out", 0);
    let before = sandbox.files("out");
    let refused = sandbox.t("convert a.etl -o out", 6);
    assert!(refused.err.contains("already"), "{}", refused.err);
    assert!(sandbox.files("out") == before);
    // The same again, and the same with what changes nothing.
    sandbox.t("convert a.etl -o out --if-exists skip", 0);
    // The last is an option without effect that older scripts may have.
    sandbox.t("convert a.etl -o out --if-exists skip --threads 1 --memory 400MiB --no-mmap", 0);
    assert!(sandbox.files("out") == before);
    // Other options, other input.
    sandbox.t("convert a.etl -o out --if-exists skip --integers exact", 6);
    sandbox.t("convert a.etl -o out --if-exists skip --row-group-rows 2048", 6);
    sandbox.file("a.etl", &small(4));
    sandbox.t("convert a.etl -o out --if-exists skip", 6);
    assert!(sandbox.files("out") == before);
    sandbox.t("convert a.etl -o out --if-exists replace", 0);
    assert_eq!(rows(&sandbox, "out/trace=a"), 4);
    assert_eq!(sandbox.names("out").iter().filter(|name| !name.starts_with("trace=a/")).count(), 0);
}

#[test]
fn a_replacement_that_fails_leaves_what_is_there() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &small(3));
    sandbox.t("convert a.etl -o out", 0);
    let before = sandbox.files("out");
    sandbox.file("a.etl", &lossy(5));
    sandbox.t("convert a.etl -o out --if-exists replace --max-loss 4", 5);
    sandbox.file("a.etl", b"no trace");
    sandbox.t("convert a.etl -o out --if-exists replace", 3);
    assert!(sandbox.files("out") == before);
}

#[test]
fn two_inputs_of_one_name_are_refused_and_the_others_converted() {
    let sandbox = Sandbox::new();
    sandbox.file("x/boot.etl", &small(1));
    sandbox.file("y/BOOT.etl", &small(2));
    sandbox.file("z.etl", &small(2));
    let ran = sandbox.t("convert x y z.etl -o out", 2);
    assert!(ran.err.contains("--name-from path") && ran.err.contains("--merge"), "{}", ran.err);
    assert_eq!(rows(&sandbox, "out/trace=z"), 2);
    assert!(sandbox.names("out").iter().all(|name| name.starts_with("trace=z/")));
    // Nothing but them: nothing is made.
    sandbox.t("convert x y -o none", 2);
    assert!(!sandbox.path("none").exists());
    fs::create_dir(sandbox.path("all")).unwrap();
    fs::rename(sandbox.path("x"), sandbox.path("all/x")).unwrap();
    fs::rename(sandbox.path("y"), sandbox.path("all/y")).unwrap();
    sandbox.t("convert all -o out --name-from path", 0);
    assert_eq!((rows(&sandbox, "out/trace=x.boot"), rows(&sandbox, "out/trace=y.BOOT")), (1, 2));
    sandbox.t("convert all -o merged --merge both", 0);
    assert_eq!(rows(&sandbox, "merged/trace=both"), 3);
    assert_eq!(sandbox.table("merged/trace=both", "sidecar/sessions").lines("source"), ["x/boot.etl", "y/BOOT.etl"]);
}

#[test]
fn bad_inputs_are_said_in_one_line() {
    let sandbox = Sandbox::new();
    sandbox.file("empty.etl", b"");
    sandbox.file("text.etl", "Zeit;Ereignis\n12:00;Start\n".repeat(50).as_bytes());
    sandbox.file("zip.etl", b"PK\x03\x04 and more of an archive, long enough for two headers".repeat(20).as_slice());
    sandbox.file("short.etl", &small(1)[..40]);
    sandbox.file("zeros.etl", &[0; 0x2000]);
    sandbox.file("noise.etl", &{
        let mut bytes = vec![0; 0x2000];
        damage::noise(&mut bytes, 0, 0x2000, 1);
        bytes
    });
    sandbox.file("cut.etl", &small(1)[..72 + 100]);
    sandbox.file("folder/readme.txt", b"nothing here");
    for (input, says) in [
        ("empty.etl", "empty file"),
        ("text.etl", "text file"),
        ("zip.etl", "zip archive"),
        ("short.etl", "40 bytes are too few"),
        ("zeros.etl", "no event trace"),
        ("noise.etl", "no event trace"),
        ("cut.etl", "cut off"),
        ("folder", "no trace in this folder"),
        ("missing.etl", "no such file"),
        ("*.evtx", "nothing matches"),
    ] {
        let ran = sandbox.t(&format!("convert {input} -o out"), 3);
        let lines: Vec<&str> = ran.err.lines().filter(|line| line.contains(input)).collect();
        assert_eq!(lines.len(), 1, "{input}: {}", ran.err);
        assert!(lines[0].contains(says), "{input}: {}", ran.err);
        assert!(!sandbox.path("out").exists(), "{input}");
    }
}

#[cfg(unix)]
#[test]
fn an_unreadable_input_is_said() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    let path = sandbox.file("secret.etl", &small(1));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // The super-user reads everything.
    if fs::read(&path).is_ok() {
        return;
    }
    let ran = sandbox.t("convert secret.etl -o out", 3);
    assert!(ran.err.contains("secret.etl"), "{}", ran.err);
}

#[test]
fn good_inputs_are_published_beside_bad_ones() {
    let sandbox = Sandbox::new();
    sandbox.file("in/good.etl", &small(2));
    sandbox.file("in/bad.etl", b"no trace");
    sandbox.file("in/zzz.etl", &small(5));
    let ran = sandbox.t("convert in missing.etl -o out", 4);
    assert!(ran.err.contains("bad.etl") && ran.err.contains("missing.etl"), "{}", ran.err);
    assert_eq!((rows(&sandbox, "out/trace=good"), rows(&sandbox, "out/trace=zzz")), (2, 5));
    assert!(sandbox.names("out").iter().all(|name| !name.contains("bad")));
    // Or none, as asked.
    sandbox.t("convert in -o strict --on-bad-input fail", 4);
    assert!(!sandbox.path("strict").exists());
    sandbox.t("convert in/bad.etl -o strict --on-bad-input fail", 3);
    // A recording of several files does without the bad one.
    sandbox.t("convert in -o merged --merge all", 4);
    assert_eq!(rows(&sandbox, "merged/trace=all"), 7);
}

#[test]
fn gates_keep_a_trace_from_being_published() {
    let sandbox = Sandbox::new();
    sandbox.file("loss.etl", &lossy(1));
    sandbox.file("good.etl", &small(9));
    let unsorted = [3, 1, 2].map(|n| perfinfo64(0x0F99, T0 + n).payload([1]));
    let unsorted = trace(header()).buffer(buffer(0x1000).sequence(1).events(unsorted)).to_bytes();
    sandbox.file("unsorted.etl", &unsorted);
    for (arguments, code) in [
        ("loss.etl --max-loss 0", 5),
        ("loss.etl --max-loss 1", 0),
        // One of eleven: the header event is one of those that were found.
        ("loss.etl --max-loss 9%", 5),
        ("loss.etl --max-loss 10%", 0),
        ("loss.etl --fail-on loss", 5),
        ("loss.etl --fail-on disorder,damage", 0),
        ("good.etl --max-loss 0", 0),
        ("good.etl --fail-on loss,disorder,damage", 0),
        ("good.etl --fail-on undecoded", 5),
        ("unsorted.etl --fail-on disorder", 5),
        ("unsorted.etl --fail-on loss", 0),
    ] {
        sandbox.t(&format!("convert {arguments} -o out --if-exists replace"), code);
        let name = arguments.split('.').next().unwrap();
        let is_there = sandbox.path(&format!("out/trace={name}")).exists();
        assert_eq!(is_there, code == 0, "{arguments}");
        let _ = fs::remove_dir_all(sandbox.path("out"));
    }
    // Others are published.
    sandbox.t("convert loss.etl good.etl -o out --max-loss 0", 5);
    assert_eq!(rows(&sandbox, "out/trace=good"), 9);
    assert!(sandbox.names("out").iter().all(|name| name.starts_with("trace=good/")));
}

#[test]
fn gates_of_loss_know_what_is_unknown() {
    const RING: u32 = 0x1000_0002;
    const MERGED: u32 = 0x1_0001;
    let sandbox = Sandbox::new();
    let of = |head: Header| {
        let data = (4..6).map(|n| buffer(0x1000).sequence(n).event(perfinfo64(0x0F99, T0 + n).payload([1])));
        trace(head).buffers(data).to_bytes()
    };
    sandbox.file("buffers.etl", &of(header().log_file_mode(8).buffers_lost(50)));
    sandbox.file("merged.etl", &of(header().log_file_mode(MERGED)));
    sandbox.file("some.etl", &of(header().log_file_mode(MERGED).events_lost(2)));
    sandbox.file("open.etl", &of(header().log_file_mode(8).not_closed()));
    sandbox.file("ring.etl", &of(header().log_file_mode(RING).buffers_written(6)));
    sandbox.file("cut.etl", &of(header().log_file_mode(8).buffers_written(4)));
    let merged = "merged.etl: a merged file does not keep its sources' counters";
    let open = "open.etl: the session was never closed";
    let unknown = |why: &str| format!("whether the recording lost something is unknown ({why})");
    let uncounted = |why: &str| format!("how many events were lost is unknown ({why})");
    let tail = "cut.etl: BuffersWritten of the header event";
    for (arguments, reason) in [
        ("buffers.etl --max-loss 0", "50 buffers were lost, and how many events with them is unknown (buffers.etl: "),
        ("buffers.etl --max-loss 99%", "50 buffers were lost, and how many events with them is unknown (buffers.etl: "),
        ("buffers.etl --fail-on loss", "the recording lost 50 buffers (buffers.etl: BuffersLost of the header event)"),
        ("buffers.etl --fail-on known-loss", "the recording lost 50 buffers (buffers.etl: "),
        ("merged.etl --max-loss 9", &uncounted(merged)),
        ("merged.etl --fail-on loss", &unknown(merged)),
        ("merged.etl --fail-on known-loss", ""),
        ("some.etl --max-loss 1", "2 events were lost, more than the 1 allowed"),
        ("some.etl --fail-on known-loss", "the recording lost 2 events (some.etl: EventsLost of the header event)"),
        ("open.etl --max-loss 9", &uncounted(open)),
        ("open.etl --fail-on loss", &unknown(open)),
        ("open.etl --fail-on known-loss,disorder,damage", ""),
        ("ring.etl --fail-on loss,known-loss --max-loss 0", ""),
        ("cut.etl --fail-on known-loss", ""),
        ("cut.etl --fail-on loss", &format!("1 buffer of the recording cannot be read ({tail})")),
    ] {
        let ran = sandbox.run(&format!("convert {arguments} -o out --if-exists replace"));
        assert_eq!(ran.code == 5, !reason.is_empty(), "{arguments}: {} {}", ran.code, ran.err);
        assert!(ran.err.contains(reason), "{arguments}: {}", ran.err);
    }
}

#[test]
fn a_hole_in_a_series_is_reported_everywhere() {
    let sandbox = Sandbox::new();
    for number in [1, 2, 4] {
        let head = header().log_file_mode(8).file(&format!("C:\\log{number}.etl"));
        let event = perfinfo64(0x0F99, T0 + number).payload([1]);
        let bytes = trace(head).buffer(buffer(0x1000).sequence(10 * number).event(event)).to_bytes();
        sandbox.file(&format!("log{number}.etl"), &bytes);
    }
    let ran = sandbox.t("convert log1.etl log2.etl log4.etl --merge log -o out --summary summary.json", 0);
    let why = "a file of its series is missing";
    assert!(ran.err.contains(&format!("lost       unknown: {why}; 1 missing_file")), "{}", ran.err);
    let read =
        |path: &str| serde_json::from_slice::<serde_json::Value>(&fs::read(sandbox.path(path)).unwrap()).unwrap();
    let lost = serde_json::json!({"events_lost": 0, "buffers_lost": 0, "unknown_because": why});
    assert_eq!(read("out/trace=log/sidecar/manifest.json")["lost"], lost);
    let summary = &read("summary.json")["traces"][0]["result"]["lost"];
    assert_eq!((&summary["unknown_because"], &summary["gaps"]["missing_file"]), (&why.into(), &1.into()));
    let issues = sandbox.table("out/trace=log", "sidecar/issues").lines("source severity code");
    assert_eq!(issues, ["log2.etl|warning|missing_file"]);
    sandbox.t("convert log1.etl log2.etl log4.etl --merge log -o gated --fail-on loss", 5);
    sandbox.t("convert log1.etl log2.etl --merge log -o whole --fail-on loss --max-loss 0", 0);
}

#[test]
fn inspect_shows_what_the_sidecar_has() {
    let sandbox = Sandbox::new();
    // A ring whose oldest buffers are gone, of a system that recorded neither boot nor processor speed.
    let head = header().log_file_mode(0x1000_0002).buffers_written(6).boot_time(0).cpu_mhz(0).session("");
    let data = (4..6).map(|n| buffer(0x1000).sequence(n).event(perfinfo64(0x0F99, T0 + n).payload([1])));
    sandbox.file("ring.etl", &trace(head).buffers(data).to_bytes());
    sandbox.t("convert ring.etl -o out", 0);
    let document: serde_json::Value = serde_json::from_str(&sandbox.t("inspect --json ring.etl", 0).out).unwrap();
    let file = &document["traces"][0]["files"][0];
    for (table, rows) in [
        ("answers", document["traces"][0]["answers"].as_array().unwrap().as_slice()),
        ("sessions", std::slice::from_ref(&file["session"])),
        ("clock", std::slice::from_ref(&file["clock"])),
        ("lost_events", file["loss"]["ledger"].as_array().unwrap()),
        ("streams", file["streams"].as_array().unwrap()),
    ] {
        let written = sandbox.table("out/trace=ring", &format!("sidecar/{table}"));
        assert_eq!(written.rows.len(), rows.len(), "{table}");
        for (number, row) in rows.iter().enumerate() {
            assert_eq!(row.as_object().unwrap().len(), written.names.len(), "{table}");
            for (name, value) in row.as_object().unwrap() {
                // Only the second pass counts these; times are text here and microseconds there; inspect does not hash.
                let is_apart =
                    ["ties", "saturated_times", "double_formula_max_error_ns", "blake3"].contains(&name.as_str());
                if value.is_number() || value.is_boolean() || value.is_null() && !is_apart {
                    let text = if value.is_null() { "-".to_owned() } else { value.to_string() };
                    assert_eq!(text, written.row(number, name), "{table}.{name}");
                }
            }
        }
    }
    let (session, clock) = (&file["session"], &file["clock"]);
    assert_eq!((&session["wrapped"], &session["logger_name"]), (&true.into(), &serde_json::Value::Null));
    assert!(clock["boot_anchor_ns"].is_null() && clock["cpu_mhz"].is_null(), "{clock}");
    assert_eq!(document["traces"][0]["time"]["first_time_ns"], 1_735_689_600_000_000_400_i64);
}

/// The first command that anybody runs: again it ends well, and it leaves nothing that git would show.
#[test]
fn the_first_command_of_the_readme_runs_twice() {
    let command =
        include_str!("../README.md").lines().find_map(|line| line.strip_prefix("cargo run --locked --release -- "));
    let command = command.unwrap();
    let sandbox = Sandbox::new();
    sandbox.file("examples/example.etl", &fs::read("examples/example.etl").unwrap());
    sandbox.t(command, 0);
    let again = sandbox.t(command, 0);
    assert!(again.err.contains("unchanged"), "{}", again.err);
    assert!(
        sandbox.names(".").iter().all(|name| name.starts_with("examples/") || name.starts_with("out/trace=example/"))
    );
    assert!(include_str!("../.gitignore").lines().any(|line| line == "/out"));
}

#[test]
fn inspect_shows_the_same_of_a_trace_and_of_what_it_became() {
    let sandbox = Sandbox::new();
    sandbox.file("example.etl", &fs::read("examples/example.etl").unwrap());
    sandbox.t("convert example.etl -o out -q", 0);
    let details = |page: &str| page[page.find("Most frequent events\n").unwrap()..].to_owned();
    let (recorded, published) = (sandbox.t("inspect example.etl", 0).out, sandbox.t("inspect out", 0).out);
    let published = details(&published);
    assert!(details(&recorded).starts_with(&published), "{recorded}\n{published}");
    let processes = "Processes (8)
  PROCESS       COUNT  STARTED  ENDED  IDS
  backup.exe        1        1      1  6012
  System            1        0      0  4
";
    assert!(published.contains(processes), "{published}");
    let json = |arguments: &str| -> serde_json::Value {
        serde_json::from_str(&sandbox.t(&format!("inspect --json {arguments}"), 0).out).unwrap()
    };
    let (recorded, published) = (json("example.etl"), json("out"));
    let (recorded, published) = (&recorded["traces"][0], &published["published"][0]);
    for name in ["processes", "process_count", "notable"] {
        assert_eq!(recorded[name], published[name], "{name}");
    }
    assert_eq!(recorded["process_count"], 8);
    let backup =
        recorded["processes"].as_array().unwrap().iter().find(|one| one["image_name"] == "backup.exe").unwrap();
    assert_eq!((&backup["process_id"], &backup["parent_process_id"]), (&6012.into(), &5200.into()));
    let events = |trace: &serde_json::Value| {
        let events = |one: &serde_json::Value| {
            ["dataset", "events", "top_events", "distinct_events"].map(|name| one[name].clone())
        };
        trace["providers"].as_array().unwrap().iter().map(events).collect::<Vec<_>>()
    };
    assert_eq!(events(recorded), events(published));
    let dns = recorded["providers"].as_array().unwrap().iter().find(|one| one["dataset"] == "Kernel-DiskIo").unwrap();
    assert_eq!(dns["top_events"][0], serde_json::json!({"event": "DiskIo/Read", "events": 40}));
    assert_eq!(dns["distinct_events"], 4);
}

#[test]
fn inspect_shows_what_is_notable() {
    let sandbox = Sandbox::new();
    let head = header().processors(3).end_time(START + 10_000);
    let data = buffer(0x1000).sequence(1).cpu(1).event(perfinfo64(0x0F99, T0 + 30_000_000).payload([1]));
    sandbox.file("late.etl", &trace(head).buffer(data).to_bytes());
    sandbox.t("convert late.etl -o out -q", 0);
    for subject in ["late.etl", "out"] {
        let page = sandbox.t(&format!("inspect {subject}"), 0).out;
        let expected = "Notable
  events go on for 2.999 s behind the recorded end, on processor 1
  2 of 3 processors have events: none are of processor 2
";
        assert!(page.contains(expected), "{page}");
    }
}

#[test]
fn filters_that_pass_nothing_publish_nothing() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &small(3));
    sandbox.file("b.etl", &trace(header()).to_bytes());
    for (filter, says) in [
        ("--provider Kernel-PerfInfos", "no provider here is called kernel-perfinfos; did you mean Kernel-PerfInfo?"),
        ("--provider perfinfo", "did you mean Kernel-PerfInfo?"),
        ("--provider Contoso-Shop", "no provider here is called contoso-shop"),
        ("--provider Kernel-PerfInfo --event 7", "no event passes the filters"),
        ("--from +1h", "no event passes the filters"),
    ] {
        let ran = sandbox.t(&format!("convert a.etl -o out {filter} --summary -"), 5);
        assert!(ran.err.contains("trace=a is not published: no event passes"), "{filter}: {}", ran.err);
        assert!(ran.err.contains(says), "{filter}: {}", ran.err);
        assert!(!sandbox.path("out").exists(), "{filter}");
        let summary: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!((&summary["traces"][0]["status"], &summary["exit_code"]), (&"empty".into(), &5.into()), "{filter}");
        assert_eq!(summary["traces"][0]["result"]["events"]["filtered"], 4, "{filter}");
        sandbox.t(&format!("convert a.etl -o out --dry-run {filter}"), 5);
    }
    // Of several traces one may have none.
    sandbox.t("convert a.etl b.etl -o out --provider Kernel-PerfInfo", 0);
    assert!(sandbox.names("out").iter().all(|name| name.starts_with("trace=a/")));
}

#[test]
fn the_same_file_twice_in_a_recording_is_refused_unless_meant() {
    let sandbox = Sandbox::new();
    sandbox.file("in/a.etl", &small(3));
    sandbox.file("in/b.etl", &small(2));
    sandbox.file("in/copy.etl", &small(3));
    let ran = sandbox.t("convert in -o out --merge all", 2);
    assert!(ran.err.contains("copy.etl: the same bytes as a.etl"), "{}", ran.err);
    assert!(ran.err.contains("--allow-repeated"), "{}", ran.err);
    assert!(!sandbox.path("out").exists());
    sandbox.t("convert in -o out --merge all --allow-repeated", 0);
    assert_eq!(rows(&sandbox, "out/trace=all"), 8);
    let issues = sandbox.table("out/trace=all", "sidecar/issues").lines("source code message");
    assert!(issues.contains(&"copy.etl|repeated_input|the same bytes as a.etl".to_owned()), "{issues:?}");
    // Apart they are two traces.
    sandbox.t("convert in -o apart", 0);
}

#[test]
fn an_address_is_no_output_folder() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &small(1));
    let ran = sandbox.t("convert a.etl -o s3://bucket/traces", 2);
    assert!(ran.err.contains("found an address (s3://)"), "{}", ran.err);
    assert_eq!(sandbox.names(""), ["a.etl"]);
    let ran = sandbox.t("convert gs://bucket/a.etl -o out", 3);
    assert!(ran.err.contains("gs://bucket/a.etl: expected a path of this system"), "{}", ran.err);
}

#[test]
fn what_is_no_trace_of_ours_is_not_replaced() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &small(1));
    sandbox.file("out/trace=a/notes.txt", b"mine");
    for if_exists in ["error", "skip", "replace"] {
        let ran = sandbox.t(&format!("convert a.etl -o out --if-exists {if_exists}"), 6);
        assert!(ran.err.contains("a folder without our sidecar/manifest.json"), "{}", ran.err);
        assert_eq!(sandbox.names("out"), ["trace=a/notes.txt"]);
    }
}

#[test]
fn what_a_folder_holds_besides_is_said() {
    let sandbox = Sandbox::new();
    sandbox.file("in/a.etl", &small(1));
    sandbox.file("in/a.ctl", b"what the session was set up with");
    let said = sandbox.t("convert in -o out", 0).err;
    let note = "in: 1 file is not read: not called like a trace or an archive (a.ctl)";
    assert_eq!(said.matches(note).count(), 1, "{said}");
    assert!(sandbox.t("inspect in", 0).err.contains(note));
}

#[test]
fn an_output_that_cannot_be_written_is_reported_by_itself() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &small(1));
    sandbox.file("file", b"a file in the place of the folder");
    sandbox.t("convert a.etl -o file", 6);
    sandbox.t("convert a.etl -o file/below", 6);
    assert_eq!(fs::read(sandbox.path("file")).unwrap(), b"a file in the place of the folder");
}

#[cfg(unix)]
#[test]
fn a_thousand_datasets_need_few_open_files() {
    let sandbox = Sandbox::new();
    let providers = (0..1000).zip(T0 + 1..);
    let mut session = Session::new(1, 0x1_0000);
    providers.for_each(|(n, time)| session.log(0, time, event64(bulk::provider_guid(n), 1, 0, time).payload([1])));
    let head = header().buffer_size(0x1_0000);
    sandbox.file("a.etl", &trace(head).buffers(session.finish(T0 + 2000)).to_bytes());
    let program = env!("CARGO_BIN_EXE_etl2parquet");
    let line = format!("ulimit -n 64 && exec {program} convert a.etl -o out --threads 2");
    let status = std::process::Command::new("sh").args(["-c", &line]).current_dir(sandbox.path("")).status().unwrap();
    assert_eq!(status.code(), Some(0));
    let datasets = sandbox.names("out").iter().filter(|name| name.contains("/events/")).count();
    assert_eq!(datasets, 1001);
}

/// The names of the threads that finish and publish a trace.
#[derive(Default)]
struct Publishers {
    names: Mutex<Option<BTreeSet<String>>>,
}

impl Progress for Publishers {
    fn advance(&self, _amount: u64) {}

    /// Asked by whoever computes, and by whoever waits for files to be on disk.
    fn is_cancelled(&self) -> bool {
        if let Some(names) = self.names.lock().unwrap().as_mut() {
            names.insert(std::thread::current().name().unwrap_or("nameless").to_owned());
        }
        false
    }
}

impl JobProgress for Publishers {
    fn stage(&self, stage: Stage) {
        if stage == Stage::Publish {
            *self.names.lock().unwrap() = Some(BTreeSet::new());
        }
    }
}

#[test]
fn the_caller_waits_for_disks_and_workers_compute() {
    let sandbox = Sandbox::new();
    let path = sandbox.file("a.etl", &small(1));
    let job = Recording { name: "a".to_owned(), inputs: vec![InputFile::new(path, "a.etl")] };
    let publishers = || Publishers::default();
    let caller = std::thread::current().name().unwrap_or_default().to_owned();
    let caller_and_worker = |publishers: Publishers| {
        let names = publishers.names.into_inner().unwrap().unwrap();
        assert_eq!(names, BTreeSet::from([caller.clone(), "worker-0".to_owned()]));
    };
    let whole = publishers();
    assert!(matches!(
        job::convert(&job, &options(sandbox.path("whole")).threads(1), &whole).unwrap(),
        Outcome::Published(_)
    ));
    caller_and_worker(whole);
    let steps::PlanOutcome::Planned { folder, partitions: 1 } =
        steps::plan(&job, &options(sandbox.path("parts")), &NoProgress).unwrap()
    else {
        panic!("there is one partition to convert");
    };
    let of_step = steps::StepOptions { threads: 1, memory: 512 << 20, ..steps::StepOptions::default() };
    steps::convert_partition(&folder, 0, &of_step, &NoProgress).unwrap();
    let parts = publishers();
    assert!(matches!(
        steps::commit(&folder, &of_step, &parts).unwrap(),
        steps::CommitOutcome::Done(Outcome::Published(_))
    ));
    caller_and_worker(parts);
}

#[test]
fn a_dry_run_writes_nothing() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &small(1));
    let ran = sandbox.t("convert a.etl -o out --dry-run --summary -", 0);
    assert!(!sandbox.path("out").exists());
    let summary: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(summary["traces"][0]["status"], "dry_run");
    assert_eq!(summary["traces"][0]["result"]["events"]["found"], 2);
}

#[test]
fn inspecting_writes_nothing() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &small(1));
    let ran = sandbox.t("inspect a.etl --json", 0);
    assert!(ran.out.contains("Kernel-PerfInfo"), "{}", ran.out);
    assert_eq!(sandbox.names(""), ["a.etl"]);
}

/// The files of a published trace but the one that may differ between runs.
fn lasting(sandbox: &Sandbox, out: &str) -> Vec<(String, Vec<u8>)> {
    let files = sandbox.files(out);
    assert!(files.len() > 10, "{out}: {} files", files.len());
    files.into_iter().filter(|(name, _)| name != "trace=a/sidecar/manifest.json").collect()
}

/// Runs with different resources write the same bytes.
fn is_repeatable(bytes: &[u8], flags: &str, more: &[&str]) -> Sandbox {
    let sandbox = Sandbox::large();
    let input = InputFile::new(sandbox.file("a.etl", bytes), "a.etl");
    sandbox.t(&format!("convert a.etl -o first --threads 1 {flags}"), 0);
    let first = lasting(&sandbox, "first");
    for resources in more {
        sandbox.t(&format!("convert a.etl -o other {resources} {flags}"), 0);
        let other = lasting(&sandbox, "other");
        for (first, other) in first.iter().zip(&other) {
            assert_eq!(first.0, other.0);
            assert!(first.1 == other.1, "{} with {resources}", first.0);
        }
        assert_eq!(first.len(), other.len());
        fs::remove_dir_all(sandbox.path("other")).unwrap();
    }
    // The program raises a budget below what it supports.
    let mut options = options(sandbox.path("least"));
    (options.memory, options.threads) = (64 << 20, 3);
    (options.row_group_rows, options.max_file_size) = (ROWS, FILE);
    let job = Recording { name: "a".to_owned(), inputs: vec![input] };
    assert!(matches!(job::convert(&job, &options, &NoProgress), Ok(Outcome::Published(_))));
    assert!(lasting(&sandbox, "least") == first);
    sandbox
}

const ROWS: u32 = 20_000;
const FILE: u64 = 1 << 20;

#[test]
fn the_same_input_gives_the_same_bytes() {
    let flags = format!("--row-group-rows {ROWS} --max-file-size {FILE}");
    let bytes = bulk(400_000, 4, 4, 7).to_bytes();
    assert!(bytes.len() > 24 << 20, "several slices: {}", bytes.len());
    let others = ["--threads 2", "--threads 3 --memory 4GiB", "--threads 8 --memory 64MiB"];
    let sandbox = is_repeatable(&bytes, &flags, &others);
    let names = sandbox.names("first");
    assert!(names.iter().any(|name| name.ends_with("part-00000-00001.parquet")), "several files: {names:?}");
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(sandbox.path("first/trace=a/sidecar/manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["events"]["written"], manifest["events"]["found"]);
}

#[test]
fn a_compressed_input_gives_the_same_bytes() {
    let flags = format!("--row-group-rows {ROWS} --max-file-size {FILE}");
    let bytes = bulk(150_000, 3, 3, 8).compressed(true).to_bytes();
    is_repeatable(&bytes, &flags, &["--threads 3"]);
}
