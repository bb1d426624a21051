//! Partitions: the same rows whatever their number, and the same bytes whoever converts them.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::fs;

use conversion::plan::Segment;
use serde_json::{Value, json};
use support::Sandbox;
use synth::*;
use zerocopy::FromBytes;

/// Bytes of a partition: several of the recordings here.
const SIZE: &str = "--partition-bytes 300000";

const G: Guid = guid("00112233-4455-6677-8899-aabbccddeeff");

/// Two files with all that makes cutting hard: ordered and disordered buffers of three processors, a clock that stands still
/// for longer than a partition, a damaged buffer, compressed ones; the second has another clock.
fn hard(sandbox: &Sandbox) {
    sandbox.file("a.etl", &hard_bytes());
    sandbox.file("b.etl", &second_bytes());
}

fn hard_bytes() -> Vec<u8> {
    let mut random = Random::new(5);
    let mut number = 0;
    let mut data = Vec::new();
    for sequence in 1..=60_i64 {
        let cpu = u16::try_from(sequence % 3).unwrap();
        let mut full = buffer(0x8000).cpu(cpu).sequence(sequence);
        // One in five buffers has events in no order, some of which are of other partitions.
        let is_wild = sequence % 5 == 0;
        // A third of the trace has one time.
        let is_still = (20..40).contains(&sequence);
        for n in 0..60_i64 {
            number += 1;
            let steady = sequence * 1000 + n * 30;
            let ticks = if is_still {
                20_000
            } else if is_wild {
                i64::from(random.below(60_000_u32))
            } else {
                steady
            };
            // Events behind one that cannot be read, in ordered and in wild buffers.
            if n == 30 && sequence % 6 == 4 {
                full.push(&[0xFF, 0x7F, 0x13, 0xC0, 0, 0, 0, 0]);
            }
            full = full.event(event64(G, 1, 0, T0 + ticks).keyword(number).payload(vec![7; 300]));
        }
        if sequence == 31 {
            full.push(&[0xFF, 0x7F, 0x13, 0xC0, 0, 0, 0, 0]);
        }
        data.push(full);
    }
    // Behind another buffer of its processor, and without a readable event.
    let mut damaged = buffer(0x1000).cpu(0).sequence(61);
    damaged.push(&[0xFF, 0x7F, 0x13, 0xC0, 0, 0, 0, 0]);
    data.push(damaged);
    trace(header().processors(3).buffer_size(0x8000)).buffers(data).to_bytes()
}

/// The same time span by another clock, a millionth of a second per tick.
fn second_bytes() -> Vec<u8> {
    let head = header().frequency(1_000_000).start_time(START + 3);
    let data = (1..=40_i64).map(|sequence| {
        let events = (0..50_i64).map(|n| event64(G, 2, 0, T0 + sequence * 150 + n * 3).payload(vec![9; 100]));
        buffer(0x8000).sequence(sequence).events(events)
    });
    trace(head.buffer_size(0x8000)).buffers(data.collect::<Vec<_>>()).to_bytes()
}

/// All files of a trace but what distinguishes one run from another.
fn lasting(sandbox: &Sandbox, trace: &str) -> Vec<(String, Vec<u8>)> {
    let mut files = sandbox.files(trace);
    for (name, content) in &mut files {
        if name.ends_with("manifest.json") {
            let mut manifest: Value = serde_json::from_slice(content).unwrap();
            manifest.as_object_mut().unwrap().remove("run").unwrap();
            *content = manifest.to_string().into_bytes();
        }
    }
    files
}

/// The datasets of a trace.
fn datasets(sandbox: &Sandbox, trace: &str) -> Vec<String> {
    let entries = fs::read_dir(sandbox.path(&format!("{trace}/events"))).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// How many partitions have files.
fn partitions(sandbox: &Sandbox, trace: &str) -> usize {
    let names = sandbox.names(&format!("{trace}/events"));
    let mut numbers: Vec<&str> =
        names.iter().filter_map(|name| name.rsplit('/').next()?.strip_prefix("part-")?.split('-').next()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.len()
}

/// Two traces have the same rows in every table, in the same order.
#[track_caller]
fn same_rows(sandbox: &Sandbox, one: &str, other: &str) {
    assert_eq!(datasets(sandbox, one), datasets(sandbox, other));
    let sidecar = ["sessions", "clock", "lost_events", "streams", "catalog", "fields", "buffers", "issues"];
    let tables = datasets(sandbox, one).into_iter().map(|name| format!("events/{name}"));
    for table in tables.chain(sidecar.map(|name| format!("sidecar/{name}"))) {
        let (one, other) = (sandbox.table(one, &table), sandbox.table(other, &table));
        assert_eq!(one.names, other.names, "{table}");
        assert!(one.rows == other.rows, "{table}: {} and {} rows", one.rows.len(), other.rows.len());
    }
}

#[test]
fn partitions_put_together_are_the_trace() {
    let sandbox = Sandbox::new();
    hard(&sandbox);
    sandbox.t("convert a.etl b.etl --merge m -o whole --threads 2", 4);
    sandbox.t(&format!("convert a.etl b.etl --merge m -o parts --threads 2 {SIZE}"), 4);
    assert_eq!(partitions(&sandbox, "whole/trace=m"), 1);
    let count = partitions(&sandbox, "parts/trace=m");
    assert!((3..=8).contains(&count), "{count}");
    same_rows(&sandbox, "whole/trace=m", "parts/trace=m");
    // Ten buffers have 30 events behind one that cannot be read.
    let recovered = |trace: &str| {
        let tables = datasets(&sandbox, trace).into_iter().map(|name| sandbox.table(trace, &format!("events/{name}")));
        tables.map(|table| table.lines("recovered").iter().filter(|value| *value == "behind_damage").count()).sum()
    };
    assert_eq!((recovered("whole/trace=m"), recovered("parts/trace=m")), (300, 300));
    let counts = sandbox.table("parts/trace=m", "sidecar/buffers").lines("recovered_events");
    assert_eq!(counts.iter().filter(|count| *count == "30").count(), 10);
}

#[test]
fn partitions_do_not_depend_on_threads_and_memory() {
    let sandbox = Sandbox::new();
    hard(&sandbox);
    for (out, flags) in [("one", "--threads 1"), ("two", "--threads 2 --memory 384MiB"), ("seven", "--threads 7")] {
        sandbox.t(&format!("convert a.etl b.etl --merge m -o {out} {flags} {SIZE} --row-group-rows 1024"), 4);
        assert!(lasting(&sandbox, &format!("{out}/trace=m")) == lasting(&sandbox, "one/trace=m"), "{out}");
    }
}

#[test]
fn compressed_inputs_can_be_cut_too() {
    let sandbox = Sandbox::new();
    sandbox.file("c.etl", &bulk(20_000, 3, 3, 8).compressed(true).to_bytes());
    sandbox.t("convert c.etl -o whole", 0);
    sandbox.t("convert c.etl -o parts --partition-bytes 400000", 0);
    let count = partitions(&sandbox, "parts/trace=c");
    assert!(count >= 3, "{count}");
    same_rows(&sandbox, "whole/trace=c", "parts/trace=c");
}

#[test]
fn filters_move_no_cut() {
    let sandbox = Sandbox::new();
    hard(&sandbox);
    let flags = "a.etl b.etl --merge m --to +2ms";
    sandbox.t(&format!("convert {flags} -o whole"), 4);
    sandbox.t(&format!("convert {flags} -o parts {SIZE}"), 4);
    same_rows(&sandbox, "whole/trace=m", "parts/trace=m");
    sandbox.t(&format!("convert a.etl b.etl --merge m -o all {SIZE}"), 4);
    let (some, all) = (partitions(&sandbox, "parts/trace=m"), partitions(&sandbox, "all/trace=m"));
    assert!(some < all, "{some} of {all}");
}

#[test]
fn wild_disorder_makes_partitions_larger() {
    let sandbox = Sandbox::new();
    let mut random = Random::new(3);
    // Every buffer has events of all times, so that each partition would read all of them.
    let data = (1..=60_i64).map(|sequence| {
        let times: Vec<i64> = (0..60).map(|_| i64::from(random.below(1_000_000_u32))).collect();
        let events = times.into_iter().map(|ticks| event64(G, 1, 0, T0 + ticks).payload(vec![7; 300]));
        buffer(0x8000).sequence(sequence).events(events)
    });
    let bytes = trace(header().buffer_size(0x8000)).buffers(data.collect::<Vec<_>>()).to_bytes();
    sandbox.file("w.etl", &bytes);
    sandbox.t("convert w.etl -o whole", 0);
    sandbox.t("convert w.etl -o parts --partition-bytes 30000", 0);
    let count = partitions(&sandbox, "parts/trace=w");
    assert!((2..=3).contains(&count), "{count}");
    same_rows(&sandbox, "whole/trace=w", "parts/trace=w");
}

/// Plans the recording of [`hard`]; gives the folder of the plan and the number of partitions.
fn planned(sandbox: &Sandbox, out: &str) -> (String, u32) {
    planned_with(sandbox, &format!("a.etl b.etl --merge m -o {out} {SIZE} --threads 2"))
}

fn planned_with(sandbox: &Sandbox, flags: &str) -> (String, u32) {
    let said = sandbox.t(&format!("plan {flags} --json"), 0).out;
    let plan: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(plan["trace"], "m");
    (plan["plan"].as_str().unwrap().to_owned(), u32::try_from(plan["partitions"].as_u64().unwrap()).unwrap())
}

/// Converts the recording of [`hard`] in one process, into `one`.
fn in_one_process(sandbox: &Sandbox) {
    sandbox.t(&format!("convert a.etl b.etl --merge m -o one --threads 2 {SIZE}"), 4);
}

#[test]
fn steps_in_processes_of_their_own_write_the_same_bytes() {
    let sandbox = Sandbox::new();
    hard(&sandbox);
    in_one_process(&sandbox);
    let (plan, partitions) = planned(&sandbox, "out");
    assert!(partitions >= 3, "{partitions}");
    // The same plan has the same folder, and keeps what is there.
    assert_eq!(planned(&sandbox, "out"), (plan.clone(), partitions));
    for number in (0..partitions).rev() {
        sandbox.t(&format!("convert-partition {plan} {number} --threads 1"), 0);
    }
    let again = sandbox.t(&format!("convert-partition {plan} 1"), 0);
    assert!(again.err.contains("converted already"), "{}", again.err);
    assert_eq!(planned(&sandbox, "out"), (plan.clone(), partitions));
    sandbox.t(&format!("commit {plan}"), 4);
    assert!(lasting(&sandbox, "out/trace=m") == lasting(&sandbox, "one/trace=m"));
    assert!(sandbox.names("out").iter().all(|name| name.starts_with("trace=m/")), "{:?}", sandbox.names("out"));
    let again = sandbox.t(&format!("commit {plan}"), 0);
    assert!(again.err.contains("committed already"), "{}", again.err);
}

#[test]
fn a_plan_made_again_knows_the_files_as_they_are_now() {
    let sandbox = Sandbox::new();
    hard(&sandbox);
    let (plan, _) = planned(&sandbox, "out");
    let input = fs::File::options().write(true).open(sandbox.path("a.etl")).unwrap();
    input.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000)).unwrap();
    let refused = sandbox.t(&format!("convert-partition {plan} 0"), 1);
    assert!(
        refused.err.contains("a.etl: the file changed since it was planned (plan the recording again"),
        "{}",
        refused.err
    );
    // The bytes are the same, and so is the plan but for the time of the file.
    assert_eq!(planned(&sandbox, "out").0, plan);
    sandbox.t(&format!("convert-partition {plan} 0"), 0);
}

#[test]
fn a_plan_that_was_committed_before_leaves_nothing_the_second_time() {
    let sandbox = Sandbox::new();
    hard(&sandbox);
    in_one_process(&sandbox);
    for code in [4, 0] {
        let said = sandbox.t(&format!("plan a.etl b.etl --merge m -o out {SIZE} --if-exists replace --json"), 0).out;
        let said: Value = serde_json::from_str(&said).unwrap();
        let plan = said["plan"].as_str().unwrap();
        for number in 0..said["partitions"].as_u64().unwrap() {
            sandbox.t(&format!("convert-partition {plan} {number}"), 0);
        }
        sandbox.t(&format!("commit {plan}"), code);
        assert!(sandbox.names("out").iter().all(|name| name.starts_with("trace=m/")), "{:?}", sandbox.names("out"));
        assert!(lasting(&sandbox, "out/trace=m") == lasting(&sandbox, "one/trace=m"));
    }
}

#[test]
fn a_file_that_was_changed_is_not_published() {
    let sandbox = Sandbox::new();
    hard(&sandbox);
    let (plan, partitions) = planned(&sandbox, "out");
    for number in 0..partitions {
        sandbox.t(&format!("convert-partition {plan} {number}"), 0);
    }
    let names = sandbox.names(&plan);
    let part = names.iter().find(|name| name.contains("part-00001-00000.parquet")).unwrap();
    let path = sandbox.path(&plan).join(part);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, vec![0; whole.len()]).unwrap();
    let refused = sandbox.t(&format!("commit {plan}"), 6);
    assert!(refused.err.contains("expected a Parquet file, found none"), "{}", refused.err);
    fs::write(&path, &whole[1..]).unwrap();
    let refused = sandbox.t(&format!("commit {plan}"), 6);
    assert!(refused.err.contains(" bytes, found one of "), "{}", refused.err);
    fs::write(&path, &whole).unwrap();
    sandbox.t(&format!("commit {plan}"), 4);
}

#[test]
fn a_commit_needs_every_partition_and_no_input() {
    let sandbox = Sandbox::new();
    hard(&sandbox);
    in_one_process(&sandbox);
    let (plan, partitions) = planned(&sandbox, "out");
    for number in 0..partitions - 1 {
        sandbox.t(&format!("convert-partition {plan} {number}"), 0);
    }
    let refused = sandbox.t(&format!("commit {plan}"), 6);
    let expected = format!("1 of {partitions} partitions are not converted: {}", partitions - 1);
    assert!(refused.err.contains(&expected), "{}", refused.err);
    let refused = sandbox.t(&format!("convert-partition {plan} {partitions}"), 2);
    assert!(refused.err.contains("expected a partition from 0"), "{}", refused.err);
    sandbox.t(&format!("convert-partition {plan} {}", partitions - 1), 0);
    for input in ["a.etl", "b.etl"] {
        fs::remove_file(sandbox.path(input)).unwrap();
    }
    sandbox.t(&format!("commit {plan}"), 4);
    assert!(lasting(&sandbox, "out/trace=m") == lasting(&sandbox, "one/trace=m"));
}

/// Where the buffers of a partition lie in an input.
fn extents(sandbox: &Sandbox, plan: &str, number: u32, input: u16) -> Vec<std::ops::Range<usize>> {
    let bytes = fs::read(sandbox.path(&format!("{plan}/segments-{number:05}"))).unwrap();
    let segments = bytes.chunks_exact(size_of::<Segment>()).map(|record| Segment::read_from_bytes(record).unwrap());
    let extent = |segment: Segment| {
        let extent = segment.buffer.extent;
        let start = usize::try_from(extent.offset).unwrap();
        start..start + extent.stored_len as usize
    };
    segments.filter(|segment| segment.input == input).map(extent).collect()
}

/// Overwrites both inputs but for the buffers of these partitions, under the times that the files had.
fn leave_only(sandbox: &Sandbox, plan: &str, numbers: std::ops::Range<u32>) {
    for (input, name) in [(0, "a.etl"), (1, "b.etl")] {
        let path = sandbox.path(name);
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        let whole = if input == 0 { hard_bytes() } else { second_bytes() };
        let mut bytes = vec![0xFF; whole.len()];
        for extent in numbers.clone().flat_map(|number| extents(sandbox, plan, number, input)) {
            bytes[extent.clone()].copy_from_slice(&whole[extent]);
        }
        assert!(bytes != whole);
        fs::write(&path, bytes).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    }
}

#[test]
fn a_worker_reads_the_bytes_of_its_partition_alone() {
    let sandbox = Sandbox::new();
    hard(&sandbox);
    in_one_process(&sandbox);
    let (plan, partitions) = planned(&sandbox, "out");
    for number in 0..partitions {
        leave_only(&sandbox, &plan, number..number + 1);
        sandbox.t(&format!("convert-partition {plan} {number}"), 0);
    }
    sandbox.t(&format!("commit {plan}"), 4);
    assert!(lasting(&sandbox, "out/trace=m") == lasting(&sandbox, "one/trace=m"));
}

#[test]
fn partitions_outside_of_a_filter_are_not_read() {
    let sandbox = Sandbox::new();
    hard(&sandbox);
    let flags = format!("a.etl b.etl --merge m --to +2ms {SIZE}");
    sandbox.t(&format!("convert {flags} -o one"), 4);
    let with_rows = u32::try_from(self::partitions(&sandbox, "one/trace=m")).unwrap();
    let (plan, partitions) = planned_with(&sandbox, &format!("{flags} -o out"));
    assert!(with_rows < partitions, "{with_rows} of {partitions}");
    // Time goes forward, so the rows are in the first partitions; nothing is left of the others.
    leave_only(&sandbox, &plan, 0..with_rows);
    for number in 0..partitions {
        sandbox.t(&format!("convert-partition {plan} {number}"), 0);
    }
    sandbox.t(&format!("commit {plan}"), 4);
    assert!(lasting(&sandbox, "out/trace=m") == lasting(&sandbox, "one/trace=m"));
}

#[test]
fn workers_that_meet_or_are_killed_leave_nothing_behind() {
    let sandbox = Sandbox::new();
    hard(&sandbox);
    in_one_process(&sandbox);
    let (plan, partitions) = planned(&sandbox, "out");
    let worker = |number: u32| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_etl2parquet"));
        command.args(["convert-partition", &plan, &number.to_string(), "--quiet"]);
        command.current_dir(sandbox.path("")).spawn().unwrap()
    };
    for number in 0..partitions {
        // At any moment of its work, and at the latest when it is done.
        let mut killed = worker(number);
        std::thread::sleep(std::time::Duration::from_millis(7 * u64::from(number)));
        killed.kill().unwrap();
        killed.wait().unwrap();
        let both = [worker(number), worker(number)];
        for mut one in both {
            assert_eq!(one.wait().unwrap().code(), Some(0), "partition {number}");
        }
    }
    sandbox.t(&format!("commit {plan}"), 4);
    assert!(lasting(&sandbox, "out/trace=m") == lasting(&sandbox, "one/trace=m"));
    assert!(sandbox.names("out").iter().all(|name| name.starts_with("trace=m/")), "{:?}", sandbox.names("out"));
}

#[test]
fn a_plan_that_somebody_changed_is_refused() {
    let sandbox = Sandbox::new();
    hard(&sandbox);
    let (plan, _) = planned(&sandbox, "out");
    let change = |file: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let path = sandbox.path(&format!("{plan}/{file}"));
        let before = fs::read(&path).unwrap();
        let mut after = before.clone();
        change(&mut after);
        fs::write(&path, after).unwrap();
        let refused = sandbox.run(&format!("convert-partition {plan} 0"));
        assert!([3, 6].contains(&refused.code), "{file}: {}", refused.err);
        assert!(refused.err.contains(file), "{}", refused.err);
        fs::write(&path, before).unwrap();
    };
    change("segments-00000", &|bytes| bytes[130] ^= 1);
    change("segments-00000", &|bytes| bytes.truncate(200));
    change("plan.json", &|bytes| bytes.truncate(1000));
    change("job.json", &|bytes| bytes.truncate(100));
    sandbox.t(&format!("convert-partition {plan} 0"), 0);
}

#[test]
fn a_report_that_somebody_changed_is_not_published() {
    let sandbox = Sandbox::new();
    hard(&sandbox);
    let (plan, partitions) = planned(&sandbox, "out");
    for number in 0..partitions {
        sandbox.t(&format!("convert-partition {plan} {number}"), 0);
    }
    let path = sandbox.path(&format!("{plan}/report-00001.json"));
    let before = fs::read(&path).unwrap();
    let report: Value = serde_json::from_slice(before.splitn(2, |&byte| byte == b'\n').last().unwrap()).unwrap();
    let sealed =
        |report: &str| format!("{}\n{report}", json!({ "blake3": blake3::hash(report.as_bytes()).to_hex().as_str() }));
    let refused_as = |expected: &str, content: &str| {
        fs::write(&path, content).unwrap();
        let refused = sandbox.t(&format!("commit {plan}"), 6);
        assert!(refused.err.contains("report-00001.json: ") && refused.err.contains(expected), "{}", refused.err);
        assert!(!sandbox.path("out/trace=m").exists(), "{expected}");
    };
    let t = |expected: &str, change: &dyn Fn(&mut Value)| {
        let mut stored = report.clone();
        change(&mut stored);
        assert!(stored != report, "{expected}: nothing was changed");
        refused_as(expected, &sealed(&stored.to_string()));
    };
    let as_written = "this report is not as it was written (remove the file and convert the partition again)";
    refused_as(as_written, &format!("{} ", String::from_utf8(before.clone()).unwrap()));
    refused_as(as_written, &report.to_string());
    refused_as(as_written, "");
    let fault = |fault: &str| format!("expected a report on partition 1 without contradictions, found {fault} (remove");
    let add = |number: &mut Value| *number = json!(number.as_u64().unwrap() + 1);
    t("this file is not the one that was planned", &|stored| stored["plan"] = json!("0"));
    t("cannot understand this file of a plan", &|stored| stored["report"] = json!(7));
    t(&fault("a name that no worker has"), &|stored| stored["attempt"] = json!("../x"));
    t(&fault("another partition"), &|stored| stored["report"]["partition"] = json!(0));
    t(&fault("files of another partition or of none of its tables"), &|stored| {
        stored["report"]["files"][0]["path"] = json!("events/A/../x");
    });
    t(&fault("other rows of event shapes than in files"), &|stored| add(&mut stored["report"]["shapes"][0][1]["rows"]));
    t(&fault("other rows of event shapes than in files"), &|stored| add(&mut stored["report"]["files"][0]["rows"]));
    t(&fault("more decoded rows than rows"), &|stored| {
        stored["report"]["shapes"][0][1]["ok_rows"] = json!(1_000_000);
    });
    t(&fault("other rows of decoding than in files"), &|stored| stored["report"]["decode"] = json!({}));
    t(&fault("event shapes that the plan does not have"), &|stored| stored["report"]["shapes"][0][0] = json!(1000));
    t(&fault("inputs that the plan does not have"), &|stored| {
        stored["report"]["inputs"] = json!([[2, {
            "damaged": 0, "filtered": 0, "ties": 0, "saturated_times": 0, "double_formula_error_ns": 0
        }]]);
    });
    t(&fault("other times than those of its rows"), &|stored| stored["report"]["last_row"] = Value::Null);
    t(&fault("other events than the plan has"), &|stored| add(&mut stored["report"]["inputs"][0][1]["filtered"]));
    fs::write(&path, &before).unwrap();
    sandbox.t(&format!("commit {plan}"), 4);
}

#[test]
fn a_survey_of_other_inputs_is_not_published() {
    let sandbox = Sandbox::new();
    hard(&sandbox);
    let (plan, partitions) = planned(&sandbox, "out");
    for number in 0..partitions {
        sandbox.t(&format!("convert-partition {plan} {number}"), 0);
    }
    // The same names, another content of one file; and one file less.
    let cut = second_bytes();
    sandbox.file("b.etl", &cut[..cut.len() - 0x8000]);
    let (other, _) = planned(&sandbox, "other");
    let (fewer, _) = planned_with(&sandbox, "a.etl --merge m -o fewer");
    let survey = |plan: &str| ["json", "buffers"].map(|ending| sandbox.path(&format!("{plan}/survey.{ending}")));
    let own = survey(&plan).map(|path| fs::read(path).unwrap());
    for (plan_of_survey, expected) in [
        (&other, "expected the survey of b.etl, which was planned, found that of another input"),
        (&fewer, "expected the survey of the 2 inputs that were planned, found one of 1 (plan anew"),
    ] {
        for (from, to) in survey(plan_of_survey).iter().zip(survey(&plan)) {
            fs::copy(from, to).unwrap();
        }
        let refused = sandbox.t(&format!("commit {plan}"), 6);
        let place = format!("{}survey.json: ", std::path::MAIN_SEPARATOR);
        assert!(refused.err.contains(&place) && refused.err.contains(expected), "{}", refused.err);
        assert!(!sandbox.path("out/trace=m").exists());
    }
    survey(&plan).iter().zip(own).for_each(|(path, content)| fs::write(path, content).unwrap());
    sandbox.t(&format!("commit {plan}"), 4);
}

#[test]
fn a_job_that_somebody_changed_is_refused() {
    let sandbox = Sandbox::new();
    hard(&sandbox);
    let (plan, _) = planned(&sandbox, "out");
    let path = sandbox.path(&format!("{plan}/job.json"));
    let text = fs::read_to_string(&path).unwrap();
    let changed = text.replacen("\"if_exists\":\"error\"", "\"if_exists\":\"replace\"", 1);
    assert!(changed != text, "{text}");
    fs::write(&path, changed).unwrap();
    for step in [format!("convert-partition {plan} 0"), format!("commit {plan}")] {
        let refused = sandbox.t(&step, 6);
        assert!(
            refused.err.contains("job.json: this file is not the one that was planned (plan anew"),
            "{}",
            refused.err
        );
    }
}

#[test]
fn if_exists_counts_for_a_plan_too() {
    let sandbox = Sandbox::new();
    hard(&sandbox);
    in_one_process(&sandbox);
    sandbox.t(&format!("plan a.etl b.etl --merge m -o one {SIZE}"), 6);
    let skipped = sandbox.t(&format!("plan a.etl b.etl --merge m -o one {SIZE} --if-exists skip"), 0);
    assert_eq!(skipped.out, "");
    let said = sandbox.t("plan a.etl b.etl --merge m -o one --if-exists replace", 0).out;
    let plan = said.trim();
    sandbox.t(&format!("convert-partition {plan} 0"), 0);
    sandbox.t(&format!("commit {plan}"), 4);
    assert_eq!(partitions(&sandbox, "one/trace=m"), 1);
    assert!(sandbox.names("one").iter().all(|name| name.starts_with("trace=m/")), "{:?}", sandbox.names("one"));
}
