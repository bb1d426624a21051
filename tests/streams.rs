//! Streams of an opened trace: the same rows as its files, as many as are asked for, and no work for a reader that is gone.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch, RecordBatchReader, make_array};
use arrow_schema::{ArrowError, Field};
use arrow_select::concat::concat_batches;
use conversion::job::one_stream::AskedRows;
use conversion::job::part_stream::PlannedPart;
use conversion::job::steps::{PlanOutcome, StepOptions, plan};
use etl2parquet::{
    ConvertOptions, Error, ErrorCode, EventPattern, EventStream, Filter, GuidType, IntegerType, NamePattern,
    NoProgress, NumberSet, Outcome, RawPolicy, Recording, StackPolicy, TimeBound, TimestampType, Trace, TypeOptions,
    convert,
};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use support::corpus;
use synth::*;

fn open(path: &Path, options: &ConvertOptions) -> Trace {
    Trace::open(&Recording::of_file(path), options, &NoProgress).unwrap()
}

/// All rows of a stream.
fn rows(trace: &Trace, dataset: &str, columns: Option<&[&str]>, filter: &Filter) -> RecordBatch {
    let stream = trace.stream(dataset, columns, filter).unwrap();
    let schema = stream.schema();
    let batches: Vec<RecordBatch> = stream.map(Result::unwrap).collect();
    assert!(batches.iter().all(|batch| (1..=16_384).contains(&batch.num_rows()) && batch.schema() == schema));
    concat_batches(&schema, &batches).unwrap()
}

/// All rows of the files of a dataset; `None` where there is no file.
fn rows_of_files(folder: &Path) -> Option<RecordBatch> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).ok()?.map(|file| file.unwrap().path()).collect();
    files.sort();
    let read = |file: &PathBuf| ParquetRecordBatchReaderBuilder::try_new(File::open(file).unwrap()).unwrap();
    let batches: Vec<RecordBatch> =
        files.iter().flat_map(|file| read(file).build().unwrap().map(Result::unwrap)).collect();
    Some(concat_batches(&batches[0].schema(), &batches).unwrap())
}

/// Holds that both have the same columns, by name, type and whether they may be NULL, with the same values. What a type says
/// of the elements of its lists beyond that, files do not keep.
fn assert_same(streamed: &RecordBatch, files: &RecordBatch, what: &str) {
    assert_eq!(streamed.num_rows(), files.num_rows(), "{what}");
    assert_eq!(streamed.num_columns(), files.num_columns(), "{what}");
    let fields = |batch: &RecordBatch| batch.schema().fields().iter().cloned().collect::<Vec<_>>();
    for (index, (left, right)) in fields(streamed).iter().zip(fields(files)).enumerate() {
        let described = |field: &Field| (field.name().clone(), field.is_nullable());
        assert_eq!(described(left), described(&right), "{what}");
        assert!(left.data_type().equals_datatype(right.data_type()), "{what}: {left:?} {right:?}");
        let same = streamed.column(index).to_data().into_builder().data_type(right.data_type().clone());
        assert_eq!(make_array(same.build().unwrap()).as_ref(), files.column(index).as_ref(), "{what}: {}", left.name());
    }
}

/// Converts a trace to files, and holds that the stream of every dataset has the rows of the files.
fn check_all(path: &Path, options: &ConvertOptions) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let mut to_files = options.clone();
    folder.path().clone_into(&mut to_files.out);
    let Ok(Outcome::Published(report)) = convert(&Recording::of_file(path), &to_files, &NoProgress) else { return 0 };
    let trace = open(path, options);
    let common = rows_of_all(&trace, &Filter::default());
    let mut compared = 0;
    for dataset in trace.datasets() {
        let what = format!("{} {}", path.display(), dataset.name);
        let streamed = rows(&trace, dataset.name, None, &Filter::default());
        assert_eq!(streamed.num_rows() as u64, dataset.events, "{what}");
        assert_eq!(streamed.schema(), trace.schema(dataset.name).unwrap());
        let files = rows_of_files(&report.folder.join("events").join(dataset.name));
        assert_eq!(files.is_some(), streamed.num_rows() > 0, "{what}");
        if let Some(files) = files {
            assert_same(&streamed, &files, &what);
            assert_common(&common[dataset.name], &files, &what);
        }
        compared += streamed.num_rows();
    }
    assert_eq!(compared as u64, report.events.written, "{}", path.display());
    compared
}

/// The rows of all datasets, by dataset and in order, of a stream whose batches are of one dataset each.
fn rows_of_all(trace: &Trace, filter: &Filter) -> BTreeMap<String, RecordBatch> {
    let stream = trace.stream_all(None, filter).unwrap();
    let schema = trace.common_schema();
    assert_eq!(stream.schema(), schema);
    let mut by_dataset: BTreeMap<String, Vec<RecordBatch>> = BTreeMap::new();
    for batch in stream.map(Result::unwrap) {
        let dataset = batch["provider"].as_string::<i32>().value(0).to_owned();
        assert!(batch["provider"].as_string::<i32>().iter().all(|name| name == Some(&dataset)));
        by_dataset.entry(dataset).or_default().push(batch);
    }
    let in_order = |mut batches: Vec<RecordBatch>| {
        batches.sort_by_key(|batch| batch["seq"].as_primitive::<Int64Type>().value(0));
        concat_batches(&schema, &batches).unwrap()
    };
    by_dataset.into_iter().map(|(name, batches)| (name, in_order(batches))).collect()
}

/// Holds that columns which all datasets have are those of the files of one, and NULL where the files lack them.
fn assert_common(common: &RecordBatch, files: &RecordBatch, what: &str) {
    assert_eq!(common.num_rows(), files.num_rows(), "{what}");
    for field in common.schema().fields().iter().filter(|field| field.name() != "provider") {
        let streamed = &common[field.name().as_str()];
        match files.column_by_name(field.name()) {
            Some(column) => {
                let same = streamed.to_data().into_builder().data_type(column.data_type().clone());
                assert_eq!(make_array(same.build().unwrap()).as_ref(), column.as_ref(), "{what}: {}", field.name());
            }
            None => assert_eq!(streamed.null_count(), streamed.len(), "{what}: {}", field.name()),
        }
    }
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/example.etl")
}

/// Types and policies that make other columns than the usual ones.
fn other_options() -> [ConvertOptions; 2] {
    let types = TypeOptions { integers: IntegerType::Exact, guid: GuidType::Uuid, timestamps: TimestampType::Nanos };
    let mut exact = ConvertOptions::new("");
    (exact.types, exact.raw, exact.all_columns) = (types, RawPolicy::Always, true);
    let mut small = ConvertOptions::new("");
    (small.stacks, small.raw) = (StackPolicy::Keep, RawPolicy::Never);
    (small.row_group_rows, small.partition_bytes) = (7, Some(1 << 14));
    [exact, small]
}

#[test]
fn streams_have_the_rows_of_files() {
    assert_eq!(check_all(&example(), &ConvertOptions::new("")), 1219);
    for options in other_options() {
        assert_eq!(check_all(&example(), &options), 1219);
    }
}

#[test]
fn streams_of_real_traces_have_the_rows_of_files() {
    let Some(corpus) = corpus() else { return };
    let mut compared = 0;
    for path in traces(&corpus).chain(traces(&corpus.join("wpp"))) {
        compared += check_all(&path, &ConvertOptions::new(""));
    }
    assert!(compared > 500_000, "{compared} rows");
}

fn traces(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "etl"))
}

#[test]
fn a_stream_has_the_columns_asked_for_in_their_order() {
    let trace = open(&example(), &ConvertOptions::new(""));
    let dns = "Microsoft-Windows-DNS-Client";
    let all = rows(&trace, dns, None, &Filter::default());
    let some = rows(&trace, dns, Some(&["QueryName", "seq"]), &Filter::default());
    let names: Vec<String> = some.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["QueryName", "seq"]);
    for name in ["QueryName", "seq"] {
        assert_eq!(some.column_by_name(name), all.column_by_name(name));
    }
    // Without a column, rows are counted.
    let none = trace.stream(dns, Some(&[]), &Filter::default()).unwrap();
    assert_eq!(none.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 73);
}

#[test]
fn a_trace_that_is_opened_for_one_stream_has_its_rows() {
    let (recording, options, filter) = (Recording::of_file(example()), ConvertOptions::new(""), Filter::default());
    let trace = open(&example(), &options);
    for dataset in trace.datasets() {
        for columns in [None, Some(&["process_name", "seq"][..]), Some(&["stack", "thread_id"]), Some(&["level"])] {
            let rows_asked_for = AskedRows { columns, filter: &filter };
            let choose = |_: &[&str]| Ok(dataset.name.to_owned());
            let opened = rows_asked_for.open(&recording, &options, choose, &NoProgress).unwrap();
            let schema = opened.stream.schema();
            let batches: Vec<_> = opened.stream.map(Result::unwrap).collect();
            let found = concat_batches(&schema, &batches).unwrap();
            assert_eq!(found, rows(&trace, dataset.name, columns, &filter), "{} {columns:?}", dataset.name);
        }
    }
}

#[test]
fn what_is_not_there_is_refused_with_what_is() {
    let trace = open(&example(), &ConvertOptions::new(""));
    let refused = |dataset: &str, columns: Option<&[&str]>| {
        let error = trace.stream(dataset, columns, &Filter::default()).map(drop).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Usage);
        (error.message().to_owned(), error.hint().unwrap().to_owned())
    };
    let (message, hint) = refused("dns", None);
    assert_eq!(message, "the trace has no dataset dns");
    assert_eq!(hint, "did you mean Microsoft-Windows-DNS-Client?");
    let (_, hint) = refused("zzz", None);
    assert!(hint.starts_with("it has ") && hint.contains("Microsoft-Windows-DNS-Client"), "{hint}");
    let (message, hint) = refused("Microsoft-Windows-DNS-Client", Some(&["seq", "queryname"]));
    assert_eq!(message, "Microsoft-Windows-DNS-Client has no column queryname");
    assert_eq!(hint, "did you mean QueryName?");
    let (_, hint) = refused("Microsoft-Windows-DNS-Client", Some(&["zzz"]));
    assert!(hint.starts_with("it has timestamp, timestamp_ns, ") && hint.ends_with(" more"), "{hint}");

    let mut filtered = ConvertOptions::new("");
    filtered.filter.level = Some(2);
    let error = Trace::open(&Recording::of_file(example()), &filtered, &NoProgress).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Usage);
}

/// Filters with something of everything that a filter can ask for, by a row of the trace where it asks for a number.
fn filters(row: &RecordBatch) -> Vec<Filter> {
    let number = |name: &str| {
        let column = row.column_by_name(name).unwrap();
        let wide = column.as_primitive_opt::<Int64Type>().map(|column| column.value(0));
        let narrow = column.as_primitive_opt::<Int32Type>().map(|column| i64::from(column.value(0)));
        wide.or(narrow).filter(|_| column.is_valid(0))
    };
    let set = |name: &str| number(name).and_then(|number| number.to_string().parse::<NumberSet>().ok());
    let middle = number("timestamp_ns").map(TimeBound::At);
    let of = |change: &dyn Fn(&mut Filter)| {
        let mut filter = Filter::default();
        change(&mut filter);
        filter
    };
    vec![
        of(&|filter| filter.level = Some(4)),
        of(&|filter| filter.keywords = Some(0x11)),
        of(&|filter| filter.processes = Vec::from_iter(set("process_id"))),
        of(&|filter| filter.threads = Vec::from_iter(set("thread_id"))),
        of(&|filter| filter.cpus = Vec::from_iter(set("cpu"))),
        of(&|filter| filter.from = middle),
        of(&|filter| filter.to = middle),
        of(&|filter| filter.events = vec!["*st*".parse::<EventPattern>().unwrap()]),
        of(&|filter| filter.keyword_names = vec!["*e*".parse::<NamePattern>().unwrap()]),
        of(&|filter| filter.process_names = vec!["*s*".parse::<NamePattern>().unwrap()]),
        of(&|filter| filter.excluded_providers = vec!["*Kernel*".parse::<NamePattern>().unwrap()]),
    ]
}

/// Holds that streams with a filter have the rows of a conversion with the filter, whose tables have no columns of events that
/// it leaves out.
fn check_filter(path: &Path, trace: &Trace, filter: &Filter) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let mut options = ConvertOptions::new(folder.path());
    options.filter = filter.clone();
    let (events, written) = match convert(&Recording::of_file(path), &options, &NoProgress).unwrap() {
        Outcome::Published(report) => (report.folder.join("events"), report.events.written),
        Outcome::Empty(_) => (folder.path().to_owned(), 0),
        other => panic!("{other:?}"),
    };
    let mut rows_of_streams = 0;
    for dataset in trace.datasets() {
        let what = format!("{} {} {filter:?}", path.display(), dataset.name);
        let streamed = rows(trace, dataset.name, None, filter);
        rows_of_streams += streamed.num_rows() as u64;
        let Some(files) = rows_of_files(&events.join(dataset.name)) else {
            assert_eq!(streamed.num_rows(), 0, "{what}");
            continue;
        };
        let (mut both, mut left_out) = (Vec::new(), Vec::new());
        for (index, field) in streamed.schema().fields().iter().enumerate() {
            let is_in_files = files.schema().index_of(field.name()).is_ok();
            if is_in_files { &mut both } else { &mut left_out }.push(index);
        }
        assert!(left_out.iter().all(|&index| streamed.column(index).null_count() == streamed.num_rows()), "{what}");
        assert_same(&streamed.project(&both).unwrap(), &files, &what);
    }
    assert_eq!(rows_of_streams, written, "{}", path.display());
    written
}

/// Holds that of each filter, and gives back how many rows passed.
fn check_filters(path: &Path) -> u64 {
    let trace = open(path, &ConvertOptions::new(""));
    let largest = trace.datasets().max_by_key(|dataset| dataset.events).unwrap();
    let all = rows(&trace, largest.name, None, &Filter::default());
    let filters = filters(&all.slice(all.num_rows() / 2, 1));
    filters.iter().map(|filter| check_filter(path, &trace, filter)).sum()
}

#[test]
fn filters_pass_the_rows_that_they_pass_in_a_conversion() {
    assert!(check_filters(&example()) > 1219);
    let Some(corpus) = corpus() else { return };
    for name in ["tx-Process", "perfview-gcevents", "filtrace-diskio", "wpp/made-wppitems", "krabsetw-powershell"] {
        assert!(check_filters(&corpus.join(name).with_extension("etl")) > 0, "{name}");
    }
}

#[test]
fn streams_are_independent_and_outlive_the_trace() {
    let trace = open(&example(), &ConvertOptions::new(""));
    let dns = || trace.stream("Microsoft-Windows-DNS-Client", Some(&["seq"]), &Filter::default()).unwrap();
    let (first, second) = (dns(), dns());
    drop(trace);
    let seqs = |stream: EventStream| {
        let batches: Vec<RecordBatch> = stream.map(Result::unwrap).collect();
        let values = batches.iter().flat_map(|batch| batch.column(0).as_primitive::<Int64Type>().values().to_vec());
        values.collect::<Vec<i64>>()
    };
    let (first, second) = std::thread::scope(|scope| {
        let other = scope.spawn(|| seqs(second));
        (seqs(first), other.join().unwrap())
    });
    assert_eq!(first.len(), 73);
    assert!(first.is_sorted());
    assert_eq!(first, second);
}

#[test]
fn a_trace_that_changes_ends_its_streams_with_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.etl");
    fs::copy(example(), &path).unwrap();
    let trace = open(&path, &ConvertOptions::new(""));
    let mut bytes = fs::read(&path).unwrap();
    bytes.truncate(bytes.len() - 1);
    fs::write(&path, bytes).unwrap();
    let mut stream = trace.stream("Microsoft-Windows-DNS-Client", None, &Filter::default()).unwrap();
    let error = stream.by_ref().find_map(Result::err).unwrap();
    let ArrowError::ExternalError(error) = error else { panic!("{error}") };
    assert_eq!(error.downcast_ref::<Error>().unwrap().code(), ErrorCode::InputChanged);
    assert!(stream.next().is_none(), "a stream with an error is over");
}

/// A trace of events without a schema, of 60,000 bytes each.
fn of_large_events(count: i64) -> Vec<u8> {
    let provider = guid("a1000000-0000-4000-8000-000000000001");
    let event = |n: i64| event64(provider, 1, 0, T0 + 10 * n).payload(vec![u8::try_from(n % 251).unwrap(); 60_000]);
    let buffers = (0..count / 10).map(|n| buffer(0xa0000).events((0..10).map(|k| event(10 * n + k))));
    trace(header().buffer_size(0xa0000)).buffers(buffers).to_bytes()
}

/// The dataset of [`of_large_events`].
const LARGE: &str = "a1000000-0000-4000-8000-000000000001";

#[test]
fn dropping_a_stream_ends_its_work() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.etl");
    fs::write(&path, of_large_events(4000)).unwrap();
    let trace = open(&path, &ConvertOptions::new(""));
    for batches in [0, 1] {
        let mut stream = trace.stream(LARGE, None, &Filter::default()).unwrap();
        assert!(stream.by_ref().take(batches).all(|batch| batch.is_ok()));
        let dropped = Instant::now();
        // This waits for the thread behind the stream.
        drop(stream);
        assert!(dropped.elapsed() < Duration::from_secs(1), "{:?}", dropped.elapsed());
    }
}

/// Set in a process that reads a stream slowly: the trace.
#[cfg(target_os = "linux")]
const SLOW_READER: &str = "ETL2PARQUET_TEST_SLOW_READER";

/// A number from a file of `/proc/self`, behind a name.
#[cfg(target_os = "linux")]
fn of_process(file: &str, name: &str) -> u64 {
    let text = fs::read_to_string(Path::new("/proc/self").join(file)).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// Reads a batch, stops until nothing is read from the trace any more, and reads the rest.
#[cfg(target_os = "linux")]
fn read_slowly(path: &Path) {
    let mut options = ConvertOptions::new("").threads(2);
    options.memory = ConvertOptions::MIN_MEMORY;
    let trace = open(path, &options);
    let bytes_read = || of_process("io", "rchar:");
    let surveyed = bytes_read();
    let mut stream = trace.stream(LARGE, Some(&["payload"]), &Filter::default()).unwrap();
    let first = stream.next().unwrap().unwrap().num_rows();
    loop {
        let before = bytes_read();
        std::thread::sleep(Duration::from_millis(500));
        // To look at the number is to read a little.
        if bytes_read() - before < 1 << 16 {
            break;
        }
    }
    let (while_stopped, memory) = (bytes_read() - surveyed, of_process("status", "VmHWM:") << 10);
    let rest: usize = stream.map(|batch| batch.unwrap().num_rows()).sum();
    let all = bytes_read() - surveyed;
    assert_eq!(first + rest, 7500);
    assert!(while_stopped < all / 2, "{while_stopped} of {all} bytes were read for a reader that had stopped");
    assert!(memory < ConvertOptions::MIN_MEMORY, "{memory} bytes");
}

#[test]
#[cfg(target_os = "linux")]
fn a_reader_that_stops_holds_the_work_within_its_memory() {
    if let Some(path) = std::env::var_os(SLOW_READER) {
        return read_slowly(Path::new(&path));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.etl");
    fs::write(&path, of_large_events(7500)).unwrap();
    // In a process of its own, whose memory and reads are those of the stream.
    let name = "a_reader_that_stops_holds_the_work_within_its_memory";
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--exact", name, "--nocapture"]).env(SLOW_READER, &path).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && shown.contains("1 passed"), "{shown}");
}

#[test]
fn what_all_events_have_is_filtered_and_projected() {
    let trace = open(&example(), &ConvertOptions::new(""));
    let filter = Filter { cpus: vec!["1".parse().unwrap()], ..Filter::default() };
    let (all, of_one) = (rows_of_all(&trace, &Filter::default()), rows_of_all(&trace, &filter));
    let on_one =
        |batch: &RecordBatch| batch["cpu"].as_primitive::<Int32Type>().iter().filter(|&cpu| cpu == Some(1)).count();
    for (dataset, batch) in &all {
        assert_eq!(of_one.get(dataset).map_or(0, RecordBatch::num_rows), on_one(batch), "{dataset}");
    }
    assert!(of_one.len() > 3, "{}", of_one.len());
    let columns = ["seq", "provider"];
    let projected = trace.stream_all(Some(&columns), &filter).unwrap();
    assert_eq!(projected.schema().fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>(), columns);
    let count: usize = projected.map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(count, of_one.values().map(RecordBatch::num_rows).sum::<usize>());
    let of_nothing: usize =
        trace.stream_all(Some(&[]), &Filter::default()).unwrap().map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(of_nothing, 1219);
    assert_eq!(trace.stream_all(Some(&["sequence"]), &filter).unwrap_err().hint(), Some("did you mean seq?"));
    // Of a provider that no pattern of a name leaves, there is no dataset.
    let providers = Filter { providers: vec!["Kernel-*".parse().unwrap()], ..Filter::default() };
    assert_eq!(
        trace.datasets_with(&providers).collect::<Vec<_>>(),
        ["Kernel-Image", "Kernel-Process", "Kernel-Thread", "Kernel-DiskIo", "Kernel-EventTrace", "Kernel-PerfInfo"]
    );
}

#[test]
fn partitions_of_a_plan_have_together_the_rows_of_the_trace() {
    let out = tempfile::tempdir().unwrap();
    let mut options = ConvertOptions::new(out.path());
    options.partition_bytes = Some(1 << 13);
    let filters = [Filter::default(), Filter { cpus: vec!["1-2".parse().unwrap()], ..Filter::default() }];
    for filter in filters {
        let whole = open(&example(), &ConvertOptions::new(""));
        let mut planned = options.clone();
        planned.filter = filter.clone();
        let PlanOutcome::Planned { folder, partitions } =
            plan(&Recording::of_file(example()), &planned, &NoProgress).unwrap()
        else {
            panic!("nothing to convert")
        };
        assert!(partitions > 3, "{partitions}");
        let parts: Vec<PlannedPart> = (0..u32::try_from(partitions).unwrap())
            .map(|number| PlannedPart::open(&folder, number, StepOptions::default()).unwrap())
            .collect();
        for dataset in ["Kernel-Thread", "Microsoft-Windows-DNS-Client", "WPP"] {
            let columns = ["seq", "timestamp", "process_name", "stack", "event_name"];
            for columns in [None, Some(&columns[..])] {
                let expected = rows(&whole, dataset, columns, &filter);
                let streams = parts.iter().map(|part| part.stream(dataset, columns).unwrap());
                let batches: Vec<RecordBatch> = streams.flatten().map(Result::unwrap).collect();
                assert!(batches.len() > 1 || dataset == "WPP");
                assert_eq!(parts[0].projected(dataset, columns).unwrap(), expected.schema());
                assert_eq!(concat_batches(&expected.schema(), &batches).unwrap(), expected, "{dataset}");
            }
        }
        let error = parts[0].stream("Kernel-Threads", None).unwrap_err();
        assert_eq!(error.hint(), Some("did you mean Kernel-Thread?"));
        assert_eq!(parts[0].stream("WPP", Some(&["sequel"])).unwrap_err().hint(), Some("did you mean seq?"));
    }
    assert!(PlannedPart::open(&out.path().join("no plan"), 0, StepOptions::default()).is_err());
}
