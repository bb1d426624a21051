//! `--layout` and `--columns`: which datasets a trace becomes and which columns they have, by the whole program.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

#[path = "support/corpus.rs"]
mod corpus;
mod synth;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use corpus::corpus;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use synth::tracelogging::{field, schema, traits, ty};
use synth::*;

const KERNEL_PROCESS: Guid = guid("22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716");
const SHOP: Guid = guid("5f0b6c1e-3c0a-5d7e-9a41-20c8a5e0f311");
const UNKNOWN: Guid = guid("aaaaaaaa-0000-1111-2222-333333333333");

/// Columns that every table begins with.
const COMMON: usize = 39;

/// A folder with an input and an output.
struct Sandbox {
    folder: tempfile::TempDir,
}

impl Sandbox {
    fn new(events: impl IntoIterator<Item = Vec<u8>>) -> Sandbox {
        let sandbox = Sandbox { folder: tempfile::tempdir().unwrap() };
        let bytes = trace(header()).buffer(buffer(0x1000).sequence(1).events(events)).to_bytes();
        fs::write(sandbox.folder.path().join("t.etl"), bytes).unwrap();
        sandbox
    }

    /// Converts and returns the folder of the trace.
    fn convert(&self, output: &str, arguments: &[&str]) -> PathBuf {
        let mut command = Command::new(env!("CARGO_BIN_EXE_etl2parquet"));
        command.current_dir(self.folder.path()).args(["convert", "t.etl", "-q", "-o", output]).args(arguments);
        let output_text = command.output().unwrap();
        assert!(output_text.status.success(), "{}", String::from_utf8_lossy(&output_text.stderr));
        self.folder.path().join(output).join("trace=t")
    }
}

/// All files below a folder with their bytes, by path.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().replace('\\', "/");
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// The tables below `events`: folder, number of rows, payload columns.
fn tables(trace: &Path) -> Vec<String> {
    let events = trace.join("events");
    let paths = files(&events).into_keys();
    let tables = paths.map(|path| {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(events.join(&path)).unwrap()).unwrap();
        let fields = reader.schema().fields().clone();
        let columns: Vec<_> = fields.iter().skip(COMMON).map(|field| field.name().as_str()).collect();
        let rows = reader.metadata().file_metadata().num_rows();
        format!("{} {rows}: {}", path.strip_suffix("/part-00000-00000.parquet").unwrap(), columns.join(" "))
    });
    tables.collect()
}

/// The column `dataset` of the catalog, in the order of the shapes.
fn datasets(trace: &Path) -> Vec<String> {
    let file = File::open(trace.join("sidecar/catalog.parquet")).unwrap();
    let batches = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let datasets = batches.map(Result::unwrap).flat_map(|batch| {
        let column = batch.column_by_name("dataset").unwrap().as_string::<i32>().clone();
        (0..column.len()).map(move |row| column.value(row).to_owned()).collect::<Vec<_>>()
    });
    datasets.collect()
}

fn freeze(event: Event) -> Vec<u8> {
    event.payload(payload().u32(4)).on_disk()
}

fn sale(time: i64, name: &str, kind: u8, value: Payload) -> Vec<u8> {
    let metadata = schema(name).field(field("Amount", kind));
    event64(SHOP, 0, 0, time).tracelogging(traits("Shop"), metadata).payload(value).on_disk()
}

/// Several events of several providers, and several shapes of some of them.
fn mixed() -> Vec<Vec<u8>> {
    vec![
        freeze(event64(KERNEL_PROCESS, 11, 0, T0 + 1)),
        event64(KERNEL_PROCESS, 11, 1, T0 + 2).payload(payload().u32(4).u64(0)).on_disk(),
        freeze(event32(KERNEL_PROCESS, 11, 0, T0 + 3)),
        freeze(event64(KERNEL_PROCESS, 12, 0, T0 + 4)),
        event64(KERNEL_PROCESS, 4711, 0, T0 + 5).payload(payload().u64(1)).on_disk(),
        sale(T0 + 6, "Sale", ty::UINT32, payload().u32(5)),
        sale(T0 + 7, "Sale", ty::UTF16Z, payload().wstr("five")),
        sale(T0 + 8, "SALE", ty::UINT32, payload().u32(5)),
        sale(T0 + 9, "a/b=c", ty::UINT32, payload().u32(5)),
        event64(UNKNOWN, 7, 0, T0 + 10).payload(payload().u32(1)).on_disk(),
        event64(UNKNOWN, 7, 1, T0 + 11).payload(payload().u32(1)).on_disk(),
        event64(UNKNOWN, 8, 0, T0 + 12).payload(payload().u32(1)).on_disk(),
        full64(UNKNOWN, 9, 0, T0 + 13).payload(payload().u32(1)).on_disk(),
        message(3).guid(UNKNOWN).time(T0 + 14).on_disk(),
    ]
}

const HEADER_COLUMNS: &str = "BufferSize Version ProviderVersion NumberOfProcessors EndTime EndTime_filetime \
    TimerResolution MaxFileSize LogFileMode BuffersWritten StartBuffers PointerSize EventsLost CPUSpeed LoggerName \
    LogFileName TimeZoneInformation BootTime BootTime_filetime PerfFreq StartTime StartTime_filetime ReservedFlags \
    BuffersLost SessionNameString LogFileNameString";

#[test]
fn one_dataset_per_provider_unless_asked_otherwise() {
    let sandbox = Sandbox::new(mixed());
    let header = format!("Kernel-EventTrace 1: {HEADER_COLUMNS}");
    let expected = [
        header.as_str(),
        "Microsoft-Windows-Kernel-Process 5: CreateTime CreateTime_filetime FrozenProcessID",
        "Shop 4: Amount__int Amount",
        "WPP 1: message_guid sequence component_id message arguments",
        "aaaaaaaa-0000-1111-2222-333333333333 4: ",
    ];
    assert_eq!(tables(&sandbox.convert("out", &[])), expected);
    assert_eq!(tables(&sandbox.convert("same", &["--layout", "provider"])), expected);
}

#[test]
fn one_dataset_per_event_for_all_its_shapes() {
    let sandbox = Sandbox::new(mixed());
    let trace = sandbox.convert("out", &["--layout", "event"]);
    let header = format!("Kernel-EventTrace/EventTrace.Header 1: {HEADER_COLUMNS}");
    let expected = [
        header.as_str(),
        "Microsoft-Windows-Kernel-Process/Event-4711 1: ",
        "Microsoft-Windows-Kernel-Process/ProcessFreeze.Start 3: CreateTime CreateTime_filetime FrozenProcessID",
        "Microsoft-Windows-Kernel-Process/ProcessFreeze.Stop 1: FrozenProcessID",
        "Shop/SALE~111a2e41 1: Amount__int",
        "Shop/Sale~e906a2a4 2: Amount__int Amount",
        "Shop/a.b_x3D_c 1: Amount__int",
        "WPP 1: message_guid sequence component_id message arguments",
        "aaaaaaaa-0000-1111-2222-333333333333/Event-7 2: ",
        "aaaaaaaa-0000-1111-2222-333333333333/Event-8 1: ",
        "aaaaaaaa-0000-1111-2222-333333333333/Send 1: ",
    ];
    assert_eq!(tables(&trace), expected);
    let folders: BTreeSet<_> = expected.iter().map(|table| table.rsplit_once(": ").unwrap().0).collect();
    let folders: BTreeSet<_> = folders.iter().map(|table| table.rsplit_once(' ').unwrap().0.to_owned()).collect();
    assert_eq!(datasets(&trace).into_iter().collect::<BTreeSet<_>>(), folders);
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(trace.join("sidecar/manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["options"]["layout"], "event");
    assert_eq!(manifest["events"]["written"], 15);
}

#[test]
fn the_number_of_threads_does_not_show() {
    let sandbox = Sandbox::new(mixed());
    let one = sandbox.convert("one", &["--layout", "event", "--threads", "1"]);
    let many = sandbox.convert("many", &["--layout", "event", "--threads", "5"]);
    let without_manifest = |trace: &Path| {
        let mut files = files(trace);
        assert!(files.remove("sidecar/manifest.json").is_some());
        files
    };
    assert!(without_manifest(&one) == without_manifest(&many));
}

#[test]
fn declared_columns_are_the_same_in_every_trace_of_a_provider() {
    let of_events = |events: Vec<Vec<u8>>, arguments: &[&str]| {
        let sandbox = Sandbox::new(events);
        let all = tables(&sandbox.convert("out", arguments));
        let columns = |table: &String| {
            let (folder, columns) = table.split_once(": ").unwrap();
            let folder = folder.rsplit_once(' ').unwrap().0.to_owned();
            (folder, columns.split(' ').map(str::to_owned).collect::<Vec<_>>())
        };
        all.iter().map(columns).collect::<BTreeMap<_, _>>()
    };
    let freeze_only = || vec![freeze(event64(KERNEL_PROCESS, 11, 0, T0 + 1))];
    let priority = || {
        let body = payload().u32(4).u32(8).u8(1).u8(2);
        vec![event32(KERNEL_PROCESS, 10, 0, T0 + 1).payload(body).on_disk()]
    };
    let name = "Microsoft-Windows-Kernel-Process";
    let (one, other) = (of_events(freeze_only(), &[]), of_events(priority(), &[]));
    assert_eq!(one[name], ["FrozenProcessID"]);
    assert_eq!(other[name], ["ProcessID", "ThreadID", "OldPriority", "NewPriority"]);
    let declared = ["--columns", "declared"];
    let (one, other) = (of_events(freeze_only(), &declared), of_events(priority(), &declared));
    assert_eq!(one[name], other[name]);
    assert_eq!(one[name][..3], ["ProcessID", "CreateTime", "CreateTime_filetime"]);
    assert!(one[name].len() > 60, "{:?}", one[name]);
    // Of one event: those of all its versions.
    let declared = ["--columns", "declared", "--layout", "event"];
    let one = of_events(freeze_only(), &declared);
    let freeze = format!("{name}/ProcessFreeze.Start");
    assert_eq!(one[&freeze], ["CreateTime", "CreateTime_filetime", "FrozenProcessID"]);
}

#[test]
fn a_very_wide_table_is_pointed_out() {
    let sandbox = Sandbox { folder: tempfile::tempdir().unwrap() };
    let write = |fields: u32| {
        let metadata = (0..fields).fold(schema("Wide"), |event, n| event.field(field(&format!("f{n}"), ty::UINT8)));
        let event = event64(SHOP, 0, 0, T0 + 1).tracelogging(traits("Shop"), metadata);
        let event = event.payload(vec![1; fields as usize]).on_disk();
        let bytes = trace(header().buffer_size(0x8000)).buffer(buffer(0x8000).sequence(1).event(event)).to_bytes();
        fs::write(sandbox.folder.path().join("t.etl"), bytes).unwrap();
    };
    let stderr = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_etl2parquet"));
        command.current_dir(sandbox.folder.path()).args(["convert", "t.etl", "-o", "out", "--if-exists", "replace"]);
        let output = command.args(arguments).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    write(961);
    assert!(!stderr(&[]).contains("warning:"));
    write(962);
    let expected = "warning: t.etl: the table Shop has 1001 columns: --layout event makes one table of each event";
    assert!(stderr(&[]).contains(expected));
    assert!(!stderr(&["-q"]).contains("warning:"));
    assert!(
        stderr(&["--layout", "event"]).contains("warning: t.etl: the table Shop/Wide has 1001 columns (wide_table)")
    );
}

/// Names that a tool made of numbers were withdrawn: what is left is a name from elsewhere, the opcode, or none.
#[test]
fn an_event_that_nobody_named_has_no_name() {
    let pktmon = guid("4d4f80d9-c8bd-4d73-bb5b-19c90402c5ac");
    let transfers = guid("ef1cc15b-46c1-414e-bb95-e76b077bd51e");
    let failed = event64(pktmon, 10, 0, T0 + 1).payload(payload().u32(5)).on_disk();
    let address = event64(pktmon, 65, 0, T0 + 2).payload(payload().u16(1).u16(2).u32(3)).on_disk();
    let started = event64(transfers, 0, 0, T0 + 3).opcode(1).payload(payload()).on_disk();
    let sandbox = Sandbox::new([failed, address, started]);
    let all = tables(&sandbox.convert("out", &["--layout", "event"]));
    let expected = [
        "Microsoft-Windows-Bits-Client/Start~0 1: ",
        "Microsoft-Windows-PktMon/DriverEntryFailed 1: Status",
        "Microsoft-Windows-PktMon/Event-65 1: Type ComponentId IpAddress",
    ];
    // Behind the session's own table.
    assert_eq!(all[1..], expected);
}

const RUNTIME: Guid = guid("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4");

#[test]
fn corrections_and_the_pack_declare_the_same_columns_whichever_an_event_uses() {
    let columns = |event: Event, body: Payload, arguments: &[&str]| {
        let sandbox = Sandbox::new([event.payload(body).on_disk()]);
        let all = tables(&sandbox.convert("out", arguments));
        all.into_iter().find(|table| table.starts_with("Microsoft-Windows-DotNETRuntime")).unwrap()
    };
    // A stack of two frames, described by a correction; the end of a collection, described by the pack.
    let stack = || payload().u16(9).u8(0).u8(0).u32(2).u64(1).u64(2);
    let end = || payload().u32(5).u16(2);
    let of_stack = |arguments: &[&str]| columns(event64(RUNTIME, 82, 0, T0 + 1), stack(), arguments);
    let of_end = |arguments: &[&str]| columns(event64(RUNTIME, 2, 0, T0 + 1), end(), arguments);
    assert_eq!(
        of_stack(&[]),
        "Microsoft-Windows-DotNETRuntime 1: ClrInstanceID Reserved1 Reserved2 FrameCount Stack__field"
    );
    assert_eq!(of_end(&[]), "Microsoft-Windows-DotNETRuntime 1: Count Depth");
    let declared = ["--columns", "declared"];
    assert_eq!(of_stack(&declared), of_end(&declared));
}

#[test]
fn declared_columns_agree_between_real_traces() {
    let Some(corpus) = corpus() else { return };
    let columns = |trace: &str, dataset: &str, arguments: &[&str]| {
        let sandbox = Sandbox { folder: tempfile::tempdir().unwrap() };
        fs::copy(corpus.join(trace), sandbox.folder.path().join("t.etl")).unwrap();
        let all = tables(&sandbox.convert("out", arguments));
        let table = all.into_iter().find(|table| table.split(' ').next() == Some(dataset));
        table.unwrap().split_once(": ").unwrap().1.to_owned()
    };
    for (one, other, dataset) in [
        ("perfview-gcevents.etl", "perfview-diaghub.user_paged.1.etl", "Microsoft-Windows-DotNETRuntime"),
        ("sawbuck-process_data_32_v1.etl", "etlparser-ShutdownPerfDiagLogger.etl", "Kernel-Process"),
    ] {
        assert_ne!(columns(one, dataset, &[]), columns(other, dataset, &[]), "{dataset}");
        let declared = ["--columns", "declared"];
        assert_eq!(columns(one, dataset, &declared), columns(other, dataset, &declared), "{dataset}");
    }
}
