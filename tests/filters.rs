//! The filters of `convert`: which rows a dataset has, and that they are the rows of an unfiltered one.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod synth;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type};
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter_record_batch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use synth::tracelogging::{schema, traits};
use synth::*;

/// What one conversion left behind.
struct Converted {
    folder: tempfile::TempDir,
    /// The rows of each dataset.
    tables: BTreeMap<String, RecordBatch>,
    manifest: serde_json::Value,
}

fn run(inputs: &[&Path], out: &Path, flags: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_etl2parquet"));
    command.arg("convert").args(inputs).arg("-o").arg(out).args(["--merge", "all"]).args(flags);
    command.stdin(Stdio::null()).output().unwrap()
}

fn convert(inputs: &[&Path], flags: &[&str]) -> Converted {
    let folder = tempfile::tempdir().unwrap();
    let output = run(inputs, folder.path(), flags);
    assert!(output.status.success(), "{flags:?}: {}", String::from_utf8_lossy(&output.stderr));
    let trace = folder.path().join("trace=all");
    let manifest = serde_json::from_slice(&fs::read(trace.join("sidecar/manifest.json")).unwrap()).unwrap();
    let mut tables = BTreeMap::new();
    if let Ok(datasets) = fs::read_dir(trace.join("events")) {
        for dataset in datasets.map(|dataset| dataset.unwrap()) {
            tables.insert(dataset.file_name().into_string().unwrap(), table(&dataset.path()));
        }
    }
    Converted { folder, tables, manifest }
}

/// All rows of a folder.
fn table(folder: &Path) -> RecordBatch {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let batches: Vec<RecordBatch> = files.iter().flat_map(|file| batches(file)).collect();
    concat_batches(&batches[0].schema(), &batches).unwrap()
}

fn batches(file: &Path) -> Vec<RecordBatch> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(file).unwrap()).unwrap();
    reader.build().unwrap().map(Result::unwrap).collect()
}

fn numbers<T: ArrowPrimitiveType<Native: Into<i64>>>(table: &RecordBatch, column: &str) -> Vec<Option<i64>> {
    let column = table.column_by_name(column).unwrap().as_primitive::<T>();
    column.iter().map(|value| value.map(Into::into)).collect()
}

fn seqs(table: &RecordBatch) -> Vec<i64> {
    numbers::<Int64Type>(table, "seq").into_iter().map(Option::unwrap).collect()
}

impl Converted {
    /// The positions of all rows, ascending.
    fn seqs(&self) -> Vec<i64> {
        let mut all: Vec<i64> = self.tables.values().flat_map(seqs).collect();
        all.sort_unstable();
        all
    }

    fn count(&self, name: &str) -> u64 {
        self.manifest["events"][name].as_u64().unwrap()
    }

    /// Holds the counts to one another and to the rows that are there.
    fn is_conserved(&self) {
        let rows: u64 = self.tables.values().map(|table| table.num_rows() as u64).sum();
        assert_eq!(self.count("written"), rows);
        assert_eq!(self.count("found"), rows + self.count("filtered") + self.count("damaged"));
        assert!(self.tables.values().all(|table| table.num_rows() > 0));
    }

    fn catalog(&self) -> RecordBatch {
        let batches = batches(&self.folder.path().join("trace=all/sidecar/catalog.parquet"));
        concat_batches(&batches[0].schema(), &batches).unwrap()
    }
}

/// A trace on disk.
struct OnFile(tempfile::TempDir);

impl OnFile {
    fn new(bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.etl"), bytes).unwrap();
        OnFile(folder)
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("a.etl")
    }
}

const ALPHA: Guid = guid("a1000000-0000-4000-8000-000000000001");
const BETA: Guid = guid("b2000000-0000-4000-8000-000000000002");
const CLASS: Guid = guid("c3000000-0000-4000-8000-000000000003");
const SOURCE: Guid = guid("d4000000-0000-4000-8000-000000000004");

fn alpha(name: &str, ticks: i64) -> Event {
    let names: Vec<u8> = traits("Alpha").into();
    let metadata: Vec<u8> = schema(name).into();
    event64(ALPHA, 0, 0, T0 + ticks).tracelogging(names, metadata).pid(100)
}

fn beta(id: u16, ticks: i64) -> Event {
    event64(BETA, id, 0, T0 + ticks)
}

/// Ten events on two processors; a tick is 100 ns. Their `seq`, by time:
///
/// | seq | ticks | cpu | event                    | level | keyword | pid | tid |
/// |-----|-------|-----|--------------------------|-------|---------|-----|-----|
/// | 0   | 0     | 0   | the header event         |       |         | 9   | 9   |
/// | 1   | 10    | 0   | Alpha `Begin`            | 4     | 1       | 100 | 1   |
/// | 2   | 15    | 1   | Beta 2                   | 3     | 0       | 200 | 3   |
/// | 3   | 20    | 0   | kernel, context switch   |       |         |     |     |
/// | 4   | 25    | 1   | Alpha `Finish`           | 5     | 3       | 100 | 4   |
/// | 5   | 30    | 0   | Beta 1                   | 2     | 0x10    | 200 | 2   |
/// | 6   | 30    | 1   | WPP message 7            |       |         | 200 | 3   |
/// | 7   | 35    | 1   | Beta 1                   | 0     | 0x20    | 300 | 5   |
/// | 8   | 40    | 0   | kernel, thread start     |       |         | 100 | 1   |
/// | 9   | 50    | 1   | classic, opcode 1        | 1     |         | 200 | 2   |
fn small() -> Trace {
    let first = buffer(0x1000)
        .sequence(1)
        .event(alpha("Begin", 10).tid(1).keyword(1))
        .event(perfinfo64(0x0524, T0 + 20).version(4).payload([0; 24]))
        .event(beta(1, 30).level(2).keyword(0x10).pid(200).tid(2))
        .event(system64(0x0501, T0 + 40).pid(100).tid(1));
    let second = buffer(0x1000)
        .cpu(1)
        .sequence(2)
        .event(beta(2, 15).level(3).pid(200).tid(3))
        .event(alpha("Finish", 25).tid(4).level(5).keyword(3))
        .event(message(7).guid(SOURCE).time(T0 + 30).system_info(3, 200))
        .event(beta(1, 35).level(0).keyword(0x20).pid(300).tid(5))
        .event(full64(CLASS, 1, 0, T0 + 50).level(1).pid(200).tid(2));
    trace(header().pid(9).tid(9)).buffers([first, second])
}

/// Converts the small trace and compares the rows with the ones expected.
fn t(file: &Path, flags: &[&str], expected: &[i64]) -> Converted {
    let converted = convert(&[file], flags);
    assert_eq!(converted.seqs(), expected, "{flags:?}");
    converted.is_conserved();
    assert_eq!((converted.count("found"), converted.count("damaged")), (10, 0), "{flags:?}");
    converted
}

/// Filters that pass nothing publish nothing, and say so.
fn nothing(file: &Path, flags: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&[file], folder.path(), flags);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(5), "{flags:?}: {said}");
    assert!(said.contains("no event passes the filters"), "{flags:?}: {said}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{flags:?}");
}

#[test]
fn each_filter_passes_its_rows() {
    let file = OnFile::new(&small().to_bytes());
    let t = |flags: &[&str], expected: &[i64]| t(&file.path(), flags, expected);
    t(&[], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);

    t(&["--provider", "alpha"], &[1, 4]);
    t(&["--provider", "Alpha", "--provider", "wpp"], &[1, 4, 6]);
    t(&["--provider", "Alpha,wpp"], &[1, 4, 6]);
    t(&["--provider", "{B2000000-0000-4000-8000-000000000002}"], &[2, 5, 7]);
    t(&["--provider", "d4000000-0000-4000-8000-000000000004"], &[6]);
    t(&["--provider", "kernel-*"], &[0, 3, 8]);
    t(&["--exclude-provider", "Kernel-*", "--exclude-provider", "ALPHA"], &[2, 5, 6, 7, 9]);

    t(&["--event", "1"], &[5, 7]);
    t(&["--event", "7"], &[6]);
    t(&["--event", "finish", "--event", "2"], &[2, 4]);
    t(&["--event", "*"], &[0, 1, 3, 4, 8, 9]);
    t(&["--event", "?egin"], &[1]);

    t(&["--level", "warning"], &[2, 5, 7, 9]);
    t(&["--level", "2"], &[5, 7, 9]);
    t(&["--level", "255"], &[1, 2, 4, 5, 7, 9]);
    t(&["--keywords", "0x10"], &[2, 5]);
    t(&["--keywords", "3"], &[1, 2, 4]);

    t(&["--pid", "100"], &[1, 4, 8]);
    t(&["--pid", "200-300"], &[2, 5, 6, 7, 9]);
    t(&["--tid", "2", "--tid", "3,4"], &[2, 4, 5, 6, 9]);
    t(&["--cpu", "1"], &[2, 4, 6, 7, 9]);
    t(&["--cpu", "0-1"], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn time_filters_take_the_start_and_not_the_end() {
    let file = OnFile::new(&small().to_bytes());
    let t = |flags: &[&str], expected: &[i64]| t(&file.path(), flags, expected);
    t(&["--from", "+2us"], &[3, 4, 5, 6, 7, 8, 9]);
    t(&["--to", "+2us"], &[0, 1, 2]);
    t(&["--from", "+2.5us", "--to", "+3500ns"], &[4, 5, 6]);
    t(&["--from", "2025-01-01T00:00:00.000004Z"], &[8, 9]);
    t(&["--from", "2025-01-01T01:00:00.0000015+01:00", "--to", "+0.000002s"], &[2]);
    nothing(&file.path(), &["--to", "2024-12-31T23:59:59Z"]);
    nothing(&file.path(), &["--from", "+1h"]);
}

#[test]
fn different_filters_must_all_hold() {
    let file = OnFile::new(&small().to_bytes());
    let t = |flags: &[&str], expected: &[i64]| t(&file.path(), flags, expected);
    t(&["--provider", "b2*", "--level", "2"], &[5, 7]);
    t(&["--provider", "b2*", "--level", "2", "--pid", "300"], &[7]);
    t(&["--cpu", "0", "--to", "+3.5us", "--pid", "100"], &[1]);
    nothing(&file.path(), &["--provider", "alpha", "--event", "1"]);
    nothing(&file.path(), &["--provider", "alpha", "--exclude-provider", "a1*"]);
    t(&["--level", "5", "--keywords", "0x3", "--cpu", "1"], &[2, 4]);
}

/// Lines that say which values of filters nothing has.
fn said_of_missing(output: &Output) -> Vec<String> {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    said.lines().filter(|line| line.starts_with("warning: no ")).map(str::to_owned).collect()
}

#[test]
fn values_that_nothing_has_are_said() {
    let file = OnFile::new(&small().to_bytes());
    let t = |flags: &[&str], expected: &[&str]| {
        for dry in [&[][..], &["--dry-run"]] {
            let out = tempfile::tempdir().unwrap();
            let output = run(&[&file.path()], out.path(), &[flags, dry].concat());
            assert_eq!(output.status.code(), Some(0), "{flags:?}");
            assert_eq!(said_of_missing(&output), expected, "{flags:?} {dry:?}");
        }
    };
    t(&["--provider", "alpha,b2*,d4000000-0000-4000-8000-000000000004", "--event", "1,finish,7"], &[]);
    let alpho = "warning: no provider here is called alpho; did you mean Alpha?";
    t(&["--provider", "alpho,Alpha"], &[alpho]);
    let excluded = "warning: no provider to exclude is called kernel-threads; did you mean Kernel-Thread?";
    t(&["--exclude-provider", "Kernel-Threads,alpha"], &[excluded]);
    let begun = "warning: no event here is called begun; did you mean Begin?";
    t(&["--event", "begun,77,2"], &[begun, "warning: no event here has the id 77"]);
    let keyword = "warning: no event here has a keyword called gc, or any with a name; masks such as 0x30 work on all";
    t(&["--keywords", "gc,0x10"], &[keyword]);
    t(&["--cpu", "1", "--cpu", "4-7"], &["warning: no event here is of processor 4-7; there are events of 0-1"]);
    // Of one that is empty, the reason has all of them.
    let out = tempfile::tempdir().unwrap();
    let output = run(&[&file.path()], out.path(), &["--provider", "alpho", "--event", "77"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let why = "warning: trace=all is not published: no event passes the filters: no provider here is called alpho; did you mean \
               Alpha?; no event here has the id 77\n";
    assert!(said.contains(why) && said_of_missing(&output).is_empty(), "{said}");
}

#[test]
fn processes_and_threads_that_no_row_is_of_are_said() {
    let file = OnFile::new(&small().to_bytes());
    let t = |flags: &str, expected: &[&str]| {
        for threads in ["1", "3"] {
            let out = tempfile::tempdir().unwrap();
            let flags: Vec<&str> = flags.split(' ').chain(["--threads", threads]).collect();
            let output = run(&[&file.path()], out.path(), &flags);
            assert_eq!(output.status.code(), Some(0), "{flags:?}");
            assert_eq!(said_of_missing(&output), expected, "{flags:?}");
        }
    };
    t("--pid 100,250-300 --tid 1 --tid 5", &[]);
    t(
        "--pid 100,7,400-500",
        &["warning: no event here is of process 7", "warning: no event here is of process 400-500"],
    );
    t("--tid 1 --tid 77", &["warning: no event here is of thread 77"]);
    // Thread 3 is in process 200 alone.
    let other = "warning: no event that passes the other filters is of thread 3";
    t("--pid 100 --tid 3 --tid 4", &[other]);
    t("--pid 100,nosuch.exe", &["warning: no event here is of a process called nosuch.exe"]);
    // Where nothing passes, each filter is explained, or those are named that pass nothing together.
    let empty = |flags: &str, why: &str| {
        let out = tempfile::tempdir().unwrap();
        let output = run(&[&file.path()], out.path(), &flags.split(' ').collect::<Vec<_>>());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(&format!("no event passes the filters: {why}\n")), "{flags}: {said}");
    };
    empty("--pid 7 --pid nosuch.exe", "no event here is of process 7; no event here is of a process called nosuch.exe");
    empty("--level 4 --provider Kernel-Thread", "none passes --provider and --level");
    empty("--tid 1 --cpu 1", "no event that passes the other filters is of thread 1");
    let span = "the events are from 2025-01-01T00:00:00.000000000Z to 2025-01-01T00:00:00.000005000Z";
    empty("--from +1h", span);
}

#[test]
fn values_are_missing_where_all_inputs_lack_them() {
    let first = OnFile::new(&small().to_bytes());
    let names: Vec<u8> = traits("Gamma").into();
    let metadata: Vec<u8> = schema("Other").into();
    let gamma = event64(SOURCE, 0, 0, T0 + 10).tracelogging(names, metadata);
    fs::write(first.0.path().join("b.etl"), trace(header()).buffer(buffer(0x1000).event(gamma)).to_bytes()).unwrap();
    let out = tempfile::tempdir().unwrap();
    let t = |flags: &[&str], expected: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_etl2parquet"));
        command.arg("convert").arg(first.0.path()).arg("-o").arg(out.path()).args(flags);
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert_eq!(said_of_missing(&output), expected, "{flags:?}");
    };
    let nobody = "warning: no provider here is called nobody";
    t(&["--provider", "kernel-*,Gamma,nobody"], &[nobody]);
    // What was not looked into again may have it.
    t(&["--provider", "kernel-*,Gamma,nobody", "--if-exists", "update"], &[]);
    t(&["--provider", "kernel-*,Gamma,nobody", "--if-exists", "replace"], &[nobody]);
    fs::write(first.0.path().join("c.etl"), b"no trace").unwrap();
    t(&["--provider", "kernel-*,Gamma,nobody", "--if-exists", "replace"], &[]);
}

#[test]
fn what_is_filtered_away_has_no_table_but_stands_in_the_catalog() {
    let file = OnFile::new(&small().to_bytes());
    let converted = t(&file.path(), &["--provider", "alpha", "--event", "Finish"], &[4]);
    assert_eq!(converted.tables.keys().collect::<Vec<_>>(), ["Alpha"]);
    let catalog = converted.catalog();
    let names = catalog.column_by_name("dataset").unwrap().as_string::<i32>();
    let rows = numbers::<Int64Type>(&catalog, "rows");
    let counts: Vec<(&str, i64)> = names.iter().map(Option::unwrap).zip(rows.into_iter().flatten()).collect();
    let expected = [
        ("Kernel-Thread", 0),
        ("Kernel-Thread", 0),
        ("Kernel-EventTrace", 0),
        ("Alpha", 0),
        ("Alpha", 1),
        ("b2000000-0000-4000-8000-000000000002", 0),
        ("b2000000-0000-4000-8000-000000000002", 0),
        ("c3000000-0000-4000-8000-000000000003", 0),
        ("WPP", 0),
    ];
    assert_eq!(counts, expected);
    nothing(&file.path(), &["--provider", "nobody"]);
}

#[test]
fn columns_of_events_that_are_filtered_away_are_not_there() {
    let bulk = OnFile::new(&bulk(2000, 1, 2, 7).to_bytes());
    let columns = |flags: &[&str]| {
        let converted = convert(&[&bulk.path()], flags);
        let schema = converted.tables["Synth-Bulk-0"].schema();
        let payload = schema.fields().iter().skip_while(|field| field.name() != "recovered").skip(1);
        payload.map(|field| field.name().clone()).collect::<Vec<_>>()
    };
    let all: Vec<String> = columns(&["--provider", "synth-bulk-*"]);
    assert!(
        ["Url", "Status", "Bytes", "Length", "Seconds", "RequestId"].iter().all(|name| all.contains(&(*name).into()))
    );
    assert_eq!(columns(&["--event", "Queue"]), ["Length", "Seconds"]);
    assert_eq!(columns(&["--event", "2,3"]), ["Length", "Seconds", "RequestId"]);
}

#[test]
fn a_session_without_processors_has_none_to_name() {
    let trace = trace(header().log_file_mode(0x1000_0001)).buffer(buffer(0x1000).event(beta(1, 10)).event(beta(2, 20)));
    let file = OnFile::new(&trace.to_bytes());
    nothing(&file.path(), &["--cpu", "0-65535"]);
}

#[test]
fn damage_is_counted_whether_its_buffer_is_read_or_not() {
    let broken = buffer(0x1000).sequence(1).event(beta(1, 10)).event(beta(2, 20).size(0x0FFF));
    let later = buffer(0x1000).sequence(2).event(beta(1, 1000));
    let file = OnFile::new(&trace(header()).buffers([broken, later]).to_bytes());
    for (flags, expected) in [
        (vec![], vec![0, 1, 2]),
        (vec!["--event", "1"], vec![1, 2]),
        (vec!["--from", "+50us"], vec![2]),
        (vec!["--to", "+500ns"], vec![0]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let output = run(&[&file.path()], folder.path(), &flags);
        // Published, with damage.
        assert_eq!(output.status.code(), Some(4), "{flags:?}: {}", String::from_utf8_lossy(&output.stderr));
        let manifest = fs::read(folder.path().join("trace=all/sidecar/manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
        let count = |name: &str| manifest["events"][name].as_u64().unwrap();
        let counts = (count("found"), count("written"), count("filtered"), count("damaged"));
        let written = expected.len() as u64;
        assert_eq!(counts, (4, written, 3 - written, 1), "{flags:?}");
    }
}

#[test]
fn options_stand_in_the_manifest_in_one_form() {
    let event = |pid: u32, tid: u32| beta(1, 20).level(2).keyword(0x10).pid(pid).tid(tid);
    let events = buffer(0x1000).sequence(1).event(event(4, 16)).event(event(16, 4));
    let file = OnFile::new(&trace(header()).buffer(events).to_bytes());
    let flags = [
        "--provider",
        "B2*",
        "--provider",
        "ALPHA,alpha",
        "--exclude-provider",
        "Gamma",
        "--event",
        "Begin,1",
        "--level",
        "error",
        "--keywords",
        "48",
        "--pid",
        "5,4",
        "--tid",
        "0x10",
        "--cpu",
        "1",
        "--cpu",
        "0",
        "--from",
        "+1us",
        "--to",
        "2025-01-01T01:00:01+01:00",
    ];
    let options = &convert(&[&file.path()], &flags).manifest["options"];
    let expected = serde_json::json!({
        "provider": ["alpha", "b2*"], "exclude_provider": ["gamma"], "event": ["1", "begin"], "level": 2,
        "keywords": "0x30", "pid": "4-5", "tid": "16", "cpu": "0-1", "from": "+1us",
        "to": "2025-01-01T00:00:01.000000000Z",
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&options[name], value, "{name}");
    }
    let hash = |flags: &[&str]| convert(&[&file.path()], flags).manifest["options_hash"].clone();
    assert_eq!(hash(&["--pid", "4,5"]), hash(&["--pid", "5", "--pid", "4"]));
    assert_ne!(hash(&["--pid", "4"]), hash(&["--tid", "4"]));
    assert_ne!(hash(&["--pid", "4"]), hash(&[]));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let file = OnFile::new(&small().to_bytes());
    for (flags, message) in [
        (vec!["--from", "+2s", "--to", "+2s"], "there is no time between"),
        (vec!["--from", "yesterday"], "expected a time, such as"),
        (vec!["--level", "0"], "expected critical"),
        (vec!["--keywords", "0"], "expected a mask"),
        (vec!["--pid", "7-4"], "expected numbers and ranges"),
        (vec!["--provider", "a[b"], "not a valid pattern"),
        (vec!["--event", ""], "expected a name"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let output = run(&[&file.path()], folder.path(), &flags);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {said}");
        assert!(said.contains(message), "{flags:?}: {said}");
    }
}

/// A trace with everything that makes order hard: several processors, many slices, buffers whose events are not in the
/// order of time, and times that many events share. `scale` ticks of its clock are one microsecond.
fn hard(events: u64, scale: i64, seed: u64) -> Trace {
    let mut random = Random::new(seed);
    let mut session = Session::new(3, 0x1_0000);
    let mut time = T0;
    for _ in 0..events {
        time += scale * i64::from(random.below(3_u16)) / 2;
        let back = if random.below(50_u8) == 0 { scale * i64::from(random.below(2000_u32)) } else { 0 };
        let (at, cpu, thread) = (time - back - T0, random.below(3_u16), u32::from(random.below(5_u8)));
        match random.below(8_u8) {
            0..4 => session.log(cpu, time, perfinfo64(0x0524, T0 + at).version(4).payload([0; 24])),
            4 => session.log(cpu, time, alpha("Begin", at).tid(thread).keyword(1)),
            5 => session.log(cpu, time, message(7).guid(SOURCE).system_info(thread, 200)),
            6 => {
                let event = beta(3, at).pid(200).tid(thread).level(random.below(6)).keyword(random.below(4));
                session.log(cpu, time, event);
            }
            _ => session.log(cpu, time, beta(4, at).pid(300).tid(thread).level(0).payload([7; 40])),
        }
    }
    trace(header().buffer_size(0x1_0000).processors(3).frequency(scale * 1_000_000)).buffers(session.finish(time))
}

/// What a row must be to pass, in the terms of its columns.
type Condition = fn(&Row) -> bool;

/// The columns that filters look at.
#[derive(Clone, Debug)]
struct Row {
    dataset: String,
    ns: i64,
    cpu: Option<i64>,
    pid: Option<i64>,
    tid: Option<i64>,
    id: Option<i64>,
    level: Option<i64>,
    keywords: Option<i64>,
}

fn rows(dataset: &str, table: &RecordBatch) -> Vec<Row> {
    let (pid, tid) = (numbers::<Int64Type>(table, "process_id"), numbers::<Int64Type>(table, "thread_id"));
    let (cpu, id) = (numbers::<Int32Type>(table, "cpu"), numbers::<Int32Type>(table, "event_id"));
    let (level, keywords) = (numbers::<Int32Type>(table, "level"), numbers::<Int64Type>(table, "keywords"));
    let ns = numbers::<Int64Type>(table, "timestamp_ns");
    let row = |at: usize| Row {
        dataset: dataset.to_owned(),
        ns: ns[at].unwrap(),
        cpu: cpu[at],
        pid: pid[at],
        tid: tid[at],
        id: id[at],
        level: level[at],
        keywords: keywords[at],
    };
    (0..table.num_rows()).map(row).collect()
}

/// 2025-01-01T00:00:00Z, the start of every trace here.
const START_NS: i64 = 1_735_689_600_000_000_000;

const CONDITIONS: [(&[&str], Condition); 9] = [
    (&["--provider", "alpha"], |row| row.dataset == "Alpha"),
    (&["--event", "3"], |row| row.id == Some(3)),
    (&["--level", "3"], |row| row.level.is_some_and(|level| level <= 3)),
    (&["--keywords", "2", "--tid", "1-3"], |row| {
        row.keywords.is_some_and(|mask| mask == 0 || mask & 2 != 0) && row.tid.is_some_and(|tid| (1..=3).contains(&tid))
    }),
    (&["--pid", "200"], |row| row.pid == Some(200)),
    (&["--cpu", "1,2", "--exclude-provider", "Kernel-*"], |row| {
        matches!(row.cpu, Some(1 | 2)) && !row.dataset.starts_with("Kernel-")
    }),
    (&["--from", "+10ms", "--to", "+20ms"], |row| (10_000_000..20_000_000).contains(&(row.ns - START_NS))),
    (&["--to", "+15ms", "--provider", "wpp"], |row| row.ns - START_NS < 15_000_000 && row.dataset == "WPP"),
    (&["--from", "+25ms", "--level", "1"], |row| {
        row.ns - START_NS >= 25_000_000 && row.level.is_some_and(|level| level <= 1)
    }),
];

/// Filtered rows are the rows of the unfiltered dataset that meet the condition, with all of their columns.
fn join(inputs: &[&Path]) {
    let all = convert(inputs, &["--columns", "declared"]);
    let (found, total) = (all.seqs(), i64::try_from(all.count("found")).unwrap());
    assert!(found.iter().copied().eq(0..total));
    for (flags, condition) in CONDITIONS {
        let mut flags = flags.to_vec();
        flags.extend(["--columns", "declared"]);
        let some = convert(inputs, &flags);
        some.is_conserved();
        let mut expected = BTreeMap::new();
        for (dataset, table) in &all.tables {
            let passing: Vec<bool> = rows(dataset, table).iter().map(condition).collect();
            if passing.contains(&true) {
                expected.insert(dataset, filter_record_batch(table, &passing.into()).unwrap());
            }
        }
        assert_eq!(some.tables.keys().collect::<Vec<_>>(), expected.keys().copied().collect::<Vec<_>>(), "{flags:?}");
        assert!(!expected.is_empty(), "{flags:?} pass nothing and prove nothing");
        for (dataset, table) in &some.tables {
            assert_eq!(seqs(table), seqs(&expected[dataset]), "{flags:?}, {dataset}");
            for (name, column) in table.schema().fields().iter().map(|field| field.name()).zip(table.columns()) {
                assert!(column == expected[dataset].column_by_name(name).unwrap(), "{flags:?}, {dataset}, {name}");
            }
        }
    }
}

#[test]
fn filtered_rows_are_rows_of_the_unfiltered_dataset() {
    let file = OnFile::new(&hard(250_000, 10, 1).to_bytes());
    join(&[&file.path()]);
}

#[test]
fn so_they_are_in_a_merged_recording() {
    // Clocks of 100 ns and of 0.25 ns.
    let files = [hard(60_000, 10, 2), hard(60_000, 4000, 3)].map(|trace| OnFile::new(&trace.to_bytes()));
    join(&[&files[0].path(), &files[1].path()]);
}

#[test]
fn filtered_datasets_are_the_same_for_any_number_of_threads() {
    let file = OnFile::new(&hard(250_000, 10, 4).to_bytes());
    let files_of = |threads: &str| {
        let flags = ["--level", "4", "--from", "+10ms", "--threads", threads];
        let converted = convert(&[&file.path()], &flags);
        let manifest = &converted.manifest["files"];
        let path = |file: &serde_json::Value| (file["path"].to_string(), file["sha256"].to_string());
        manifest.as_array().unwrap().iter().map(path).collect::<BTreeSet<_>>()
    };
    let one = files_of("1");
    assert!(one.len() > 8, "the sidecar and some datasets: {one:?}");
    assert_eq!(files_of("2"), one);
    assert_eq!(files_of("7"), one);
}
