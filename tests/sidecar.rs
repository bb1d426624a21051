//! The tables of the sidecar, read back from their files.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod synth;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::LazyLock;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use base::clock::ClockAnchor;
use base::progress::NoProgress;
use columnar::columns::TypeOptions;
use columnar::dataset::EncodeOptions;
use columnar::output::{IfExists, LocalFolder, Output};
use conversion::convert::{InputCounts, ShapeCounts, ViewScripts};
use conversion::decode::assign_columns;
use conversion::dimensions::Dimensions;
use conversion::plan::{DecodeSource, PlanResult, PlannedShape, PlannedTable};
use conversion::sidecar::{self, SidecarFacts, SidecarTarget};
use conversion::survey::{FileFacts, FileSurvey, SurveyOptions, settle};
use conversion::views::QUESTIONS;
use etl::input::MemoryInput;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use schema::model::{EventSchema, Field, Wire};
use synth::header::group_masks;
use synth::*;

/// A table as text: column names with types, then rows, cell by cell.
struct Table {
    columns: Vec<(String, DataType)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn read(folder: &Path, name: &str) -> Table {
        let file = File::open(folder.join(format!("sidecar/{name}.parquet"))).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let fields = reader.schema().fields().clone();
        let columns = fields.iter().map(|field| (field.name().clone(), field.data_type().clone())).collect();
        let batches = reader.build().unwrap().map(Result::unwrap);
        let rows = batches.flat_map(|batch| {
            let row = |row| batch.columns().iter().map(|column| cell(column, row)).collect();
            (0..batch.num_rows()).map(row).collect::<Vec<Vec<String>>>()
        });
        Table { columns, rows: rows.collect() }
    }

    fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// One row's cells of the named columns, separated by `|`.
    fn show(&self, row: usize, columns: &str) -> String {
        let cell = |name| {
            let column = self.names().iter().position(|column| *column == name);
            self.rows[row][column.unwrap_or_else(|| panic!("no column {name}"))].as_str()
        };
        columns.split(' ').map(cell).collect::<Vec<_>>().join("|")
    }
}

/// A value as text, NULL as `-`.
fn cell(column: &ArrayRef, row: usize) -> String {
    if column.is_null(row) {
        return "-".to_owned();
    }
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
        DataType::Binary => format!("{:?}", column.as_binary::<i32>().value(row)),
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).to_string(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            column.as_primitive::<TimestampMicrosecondType>().value(row).to_string()
        }
        DataType::List(_) => {
            let items = column.as_list::<i32>().value(row);
            let items: Vec<_> = (0..items.len()).map(|item| cell(&items, item)).collect();
            format!("[{}]", items.join(","))
        }
        other => panic!("no sidecar table has {other}"),
    }
}

fn survey(bytes: &[u8], name: &str) -> FileSurvey {
    let options = SurveyOptions { anchor: ClockAnchor::Start, hash: true, ..SurveyOptions::default() };
    let input = MemoryInput::new(name, bytes.to_vec());
    conversion::survey::survey(&input, name.to_owned(), &options, &NoProgress).unwrap()
}

/// A published trace with nothing but a sidecar.
struct Written {
    root: PathBuf,
    _out: tempfile::TempDir,
}

impl Written {
    fn path(&self) -> &Path {
        &self.root
    }
}

fn write(facts: &SidecarFacts<'_>) -> Written {
    let out = tempfile::tempdir().unwrap();
    let output: Arc<dyn Output> = Arc::new(LocalFolder::create(out.path(), "a").unwrap());
    let encode = EncodeOptions::default();
    let types = TypeOptions::default();
    let target =
        SidecarTarget { output: Arc::clone(&output), encode, types, scripts: ViewScripts::None, progress: &NoProgress };
    let files = sidecar::write(&target, facts).unwrap();
    let names: Vec<_> = files.iter().map(|file| output.own(&file.path)).collect();
    let root = output.publish(&names, IfExists::Error, &NoProgress).unwrap().folder;
    let folder = Written { root, _out: out };
    let paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
    let expected = ["sessions", "clock", "lost_events", "streams", "catalog", "fields", "answers", "buffers", "issues"];
    let tables = expected.map(|name| format!("sidecar/{name}.parquet"));
    assert_eq!(paths, tables);
    for file in files {
        let bytes = std::fs::read(folder.path().join(&file.path)).unwrap();
        assert_eq!((file.bytes, file.provider_id), (bytes.len() as u64, None));
    }
    folder
}

/// Input files and what is known of each.
struct Inputs {
    files: Vec<FileSurvey>,
    facts: Vec<FileFacts>,
}

fn inputs(files: impl Into<Vec<FileSurvey>>) -> Inputs {
    let mut files = files.into();
    settle(&mut files);
    let facts = FileFacts::of(&files, &NoProgress).unwrap();
    Inputs { files, facts }
}

/// What is known of inputs without shapes.
static NO_SHAPES: LazyLock<PlanResult> = LazyLock::new(PlanResult::default);

/// Nothing is known of ids.
static NO_DIMENSIONS: LazyLock<Dimensions> = LazyLock::new(Dimensions::default);

fn facts(inputs: &Inputs) -> SidecarFacts<'_> {
    let Inputs { files, facts } = inputs;
    SidecarFacts {
        files,
        facts,
        file_counts: &[],
        plan: &NO_SHAPES,
        shape_counts: &[],
        dimensions: &NO_DIMENSIONS,
        trace: "a",
        events: &[],
    }
}

fn at(ticks: i64) -> Kernel {
    perfinfo64(0x0F22, T0 + ticks).payload([0; 8])
}

fn filled(cpu: u16, sequence: i64, ticks: &[i64]) -> Buffer {
    buffer(0x1000).cpu(cpu).sequence(sequence).events(ticks.iter().map(|&ticks| at(ticks)))
}

/// The column names that readers rely on, in order.
const CONTRACT: [(&str, &str); 9] = [
    (
        "sessions",
        "source size blake3 logger_name logger_name_folded log_file_name os_version os_build layout_version pointer_size cpu_count buffer_size \
         start_buffers buffers_written buffers_found minimum_buffers maximum_buffers maximum_file_size flush_timer_s \
         age_limit_min log_file_mode log_file_mode_names enable_flags enable_flag_names group_masks \
         timer_resolution_ns start_time start_time_ns end_time end_time_ns boot_time boot_time_ns first_event_time last_event_time window_start_time \
         events_lost buffers_lost real_time_buffers_lost loss_unknown_because logger_thread_id file_series_number private_logger_pid compressed truncated wrapped \
         relogged reached_maximum_size private_logger closed input machine",
    ),
    (
        "clock",
        "source clock_type clock perf_frequency cpu_mhz ticks_to_ns_numerator ticks_to_ns_denominator first_ticks \
         base_ns anchor start_anchor_ns boot_anchor_ns anchor_difference_ns offset_ns resolution_ns \
         time_zone_bias_min time_zone_name sees_clock_adjustments quality disorder_in_buffer disorder_between_buffers disorder_in_file largest_step_back_ns \
         largest_step_forward_ns ties inherited_times saturated_times double_formula_max_error_ns",
    ),
    (
        "lost_events",
        "source kind cpu from_time_ns to_time_ns from_buffer to_buffer count unit is_lower_bound is_certain evidence \
         note",
    ),
    (
        "streams",
        "source cpu buffers events bytes_used fill_ratio first_time_ns last_time_ns disorder_in_buffer \
         disorder_between_buffers sequence_gaps",
    ),
    (
        "catalog",
        "shape provider_id provider_name dataset kind header_type pointer_size event_id event_version opcode \
         event_property event_name declared_name task_name opcode_name keyword_names metadata decode_source \
         schema_origin candidates chosen_because rows ok_rows payload_bytes first_time_ns last_time_ns fix_hint message_template",
    ),
    ("fields", "shape position field in_type out_type column column_type renamed_because unit description map_kind"),
    ("answers", "question answerable events event_names needed"),
    (
        "buffers",
        "source buffer file_offset stored_bytes expanded_bytes used_bytes cpu sequence flags type first_time_ns \
         last_time_ns events recovered_events",
    ),
    ("issues", "source severity code buffer offset time_ns message"),
];

#[test]
fn tables_have_the_columns_of_the_contract_even_without_rows() {
    let folder = write(&facts(&inputs([])));
    for (name, columns) in CONTRACT {
        let table = Table::read(folder.path(), name);
        assert_eq!(table.names().join(" "), columns, "{name}");
        // What can be asked is the same of all traces.
        let rows = if name == "answers" { QUESTIONS.len() } else { 0 };
        assert_eq!(table.rows.len(), rows, "{name}");
    }
}

#[test]
fn equal_facts_give_equal_bytes() {
    let bytes = trace(header()).buffers((1..50).map(|n| filled(0, n, &[n, n + 1]))).to_bytes();
    let files = inputs([survey(&bytes, "a.etl")]);
    let (first, second) = (write(&facts(&files)), write(&facts(&files)));
    for (name, _) in CONTRACT {
        let read = |folder: &Written| std::fs::read(folder.path().join(format!("sidecar/{name}.parquet"))).unwrap();
        assert!(read(&first) == read(&second), "{name}");
    }
}

#[test]
fn a_closed_session() {
    let mask = group_masks(0x0020, T0 + 50, [0x1_0101, 2, 0, 0, 0, 0, 0, 0x8000_0000]);
    let head = header().log_file_mode(0x0200_2008).session("NT Kernel Logger").file("C:\\logs\\kernel.012.etl");
    let head = head.maximum_file_size(64).events_lost(3).processors(2);
    let bytes = trace(head).header_event(mask).buffer(filled(1, 908, &[70, 90])).to_bytes();
    let table = Table::read(write(&facts(&inputs([survey(&bytes, "x/renamed.etl")]))).path(), "sessions");
    let t = |columns: &str, expected: &str| assert_eq!(table.show(0, columns), expected);
    t("source size logger_name log_file_name", "x/renamed.etl|8192|NT Kernel Logger|C:\\logs\\kernel.012.etl");
    assert_eq!(table.show(0, "blake3"), blake3::hash(&bytes).to_hex().as_str());
    t("os_version os_build pointer_size cpu_count", "10.0|26100|8|2");
    t("buffer_size start_buffers buffers_written buffers_found", "4096|1|2|2");
    t("minimum_buffers maximum_buffers flush_timer_s age_limit_min", "-|-|-|-");
    t("real_time_buffers_lost logger_thread_id", "-|-");
    // 64 KiB.
    t("maximum_file_size log_file_mode", "65536|33562632");
    t("log_file_mode_names", "[NEWFILE,USE_KBYTES_FOR_SIZE,SYSTEM_LOGGER]");
    t("enable_flags enable_flag_names", "65793|[PROCESS,DISK_IO,NETWORK_TCPIP]");
    t("group_masks", "[65793,2,0,0,0,0,0,2147483648]");
    t("timer_resolution_ns start_time end_time", "15625000|1735689600000000|1735689610000000");
    t("boot_time first_event_time last_event_time", "1735686000000000|1735689600000000|1735689600000009");
    t("window_start_time logger_name_folded layout_version", "1735689600000007|nt kernel logger|1.5");
    t("events_lost buffers_lost loss_unknown_because file_series_number private_logger_pid", "3|0|-|12|-");
    t("compressed truncated wrapped relogged private_logger closed", "false|false|false|false|false|true");
    // Another buffer of 4 KiB would have had room in 64 KiB.
    t("reached_maximum_size", "false");
}

#[test]
fn an_open_private_session() {
    let head = header().log_file_mode(0x0401_0802).not_closed().boot_time(0).events_lost(9);
    let head = head.session("").file("C:\\logs\\app.etl");
    let mut bytes = trace(head).buffer(filled(0, 4, &[7]).compressed()).to_bytes();
    damage::truncate(&mut bytes, 0x1000 + 72 + 8);
    let table = Table::read(write(&facts(&inputs([survey(&bytes, "logs/app.etl_0815")]))).path(), "sessions");
    let t = |columns: &str, expected: &str| assert_eq!(table.show(0, columns), expected);
    t("buffers_written buffers_found events_lost buffers_lost end_time boot_time", "0|2|-|-|-|-");
    t("logger_name logger_name_folded", "-|-");
    t("enable_flags enable_flag_names group_masks", "-|-|-");
    t("file_series_number private_logger_pid", "-|815");
    t("loss_unknown_because", "the session was never closed");
    // Its lowest number is 4, which proves no wrap; and the limit of a relogged file is that of a source.
    t("compressed truncated wrapped relogged private_logger closed", "true|true|-|true|true|false");
    t("reached_maximum_size", "-");
}

#[test]
fn clocks_of_a_recording_of_two_files() {
    let zone = TimeZone { bias: -60, standard_name: "@tzres.dll,-322".to_owned(), ..TimeZone::default() };
    let qpc = header().frequency(3_579_545).boot_time(START - 7).time_zone(zone).time(7 * 3_579_545);
    let mut disordered = filled(0, 1, &[]);
    let ticks = 7 * 3_579_545;
    for later in [0, 10, 3] {
        disordered = disordered.event(perfinfo64(0x0F22, ticks + later).payload([0; 8]));
    }
    let system = header().clock(2).time(START).build(7601).cpu_mhz(0);
    let wpp = message(5).guid(guid("00112233-4455-6677-8899-aabbccddeeff"));
    let second = trace(system).buffer(buffer(0x1000).sequence(1).event(wpp)).to_bytes();
    let files = inputs([survey(&trace(qpc).buffer(disordered).to_bytes(), "a.etl"), survey(&second, "b.etl")]);
    let counts = [
        InputCounts { damaged: 0, filtered: 0, ties: 4, saturated_times: 5, double_formula_error_ns: -100 },
        InputCounts { damaged: 0, filtered: 0, ties: 0, saturated_times: 0, double_formula_error_ns: 0 },
    ];
    let folder = write(&SidecarFacts { file_counts: &counts, ..facts(&files) });
    let table = Table::read(folder.path(), "clock");
    let t = |row, columns: &str, expected: &str| assert_eq!(table.show(row, columns), expected);
    t(0, "source clock_type clock perf_frequency cpu_mhz", "a.etl|1|qpc|3579545|3000");
    // 10^9 / 3,579,545 in lowest terms.
    t(0, "ticks_to_ns_numerator ticks_to_ns_denominator first_ticks", "200000000|715909|25056815");
    t(0, "base_ns anchor start_anchor_ns", "1735689600000000000|start|1735689600000000000");
    // Seven seconds behind a boot 700 ns before the start.
    t(0, "boot_anchor_ns anchor_difference_ns", "1735689606999999300|6999999300");
    t(0, "resolution_ns time_zone_bias_min time_zone_name quality", "280|-60|@tzres.dll,-322|good");
    t(0, "offset_ns sees_clock_adjustments largest_step_forward_ns", "0|false|0");
    // Seven ticks of 279.365 ns, rounded up.
    t(0, "disorder_in_buffer disorder_between_buffers disorder_in_file largest_step_back_ns", "1|0|0|1956");
    t(0, "ties inherited_times saturated_times double_formula_max_error_ns", "4|0|5|-100");
    t(1, "source clock_type clock cpu_mhz boot_anchor_ns anchor_difference_ns", "b.etl|2|system_time|-|-|-");
    t(1, "resolution_ns quality time_zone_name inherited_times ties", "15625000|coarse|-|1|0");
    t(1, "offset_ns sees_clock_adjustments", "0|true");
    // Without pass 2 its counts are not known.
    let table = Table::read(write(&facts(&files)).path(), "clock");
    assert_eq!(table.show(1, "ties inherited_times saturated_times double_formula_max_error_ns"), "-|1|-|-");
}

#[test]
fn losses_streams_buffers_and_issues_name_their_file() {
    let whole = trace(header().processors(2)).buffer(filled(1, 2, &[10, -3])).buffer(filled(0, 3, &[40]));
    let mut damaged = whole.to_bytes();
    damage::set_marker(&mut damaged, whole.event_position(2, 0), 0x1234_5678);
    let shared = trace(header().log_file_mode(0x1400_0000)).buffer(filled(3, 1, &[5]).compressed()).to_bytes();
    let folder = write(&facts(&inputs([survey(&damaged, "a.etl"), survey(&shared, "b.etl")])));

    let lost = Table::read(folder.path(), "lost_events");
    let kinds: Vec<_> = (0..lost.rows.len()).map(|row| lost.show(row, "source kind")).collect();
    let both =
        |source: &str| ["events_lost", "buffers_lost", "real_time_buffers_lost"].map(|kind| format!("{source}|{kind}"));
    let own = ["a.etl|sequence_gap", "a.etl|damaged_event"].map(str::to_owned);
    assert_eq!(kinds, [&both("a.etl")[..], &own, &both("b.etl")].concat());
    let row = "cpu from_time_ns to_time_ns from_buffer to_buffer count unit is_lower_bound is_certain evidence note";
    let expected = "0|1735689600000000000|1735689610000000000|2|2|24|bytes|false|false|\
                    the bytes up to the end of the buffer hold no event|-";
    assert_eq!(lost.show(4, row), expected);

    let streams = Table::read(folder.path(), "streams");
    let row = "source cpu buffers events first_time_ns last_time_ns disorder_in_buffer sequence_gaps";
    let rows: Vec<_> = (0..streams.rows.len()).map(|n| streams.show(n, row)).collect();
    let expected = [
        "a.etl|0|2|1|1735689600000000000|1735689600000000000|0|-",
        "a.etl|1|1|2|1735689599999999700|1735689600000001000|1|-",
        "b.etl|-|2|2|1735689600000000000|1735689600000000500|0|0",
    ];
    assert_eq!(rows, expected);

    let buffers = Table::read(folder.path(), "buffers");
    let row = "source buffer file_offset used_bytes cpu sequence flags type first_time_ns last_time_ns events recovered_events";
    let rows: Vec<_> = (0..buffers.rows.len()).map(|n| buffers.show(n, row)).collect();
    let expected = [
        "a.etl|0|0|424|0|0|32|4|1735689600000000000|1735689600000000000|1|0",
        "a.etl|1|4096|120|1|2|32|0|1735689599999999700|1735689600000001000|2|0",
        "a.etl|2|8192|96|0|3|32|0|-|-|0|0",
        "b.etl|0|0|424|-|0|32|4|1735689600000000000|1735689600000000000|1|0",
        "b.etl|1|4096|96|-|1|96|0|1735689600000000500|1735689600000000500|1|0",
    ];
    assert_eq!(rows, expected);
    assert_eq!(buffers.show(1, "stored_bytes expanded_bytes"), "4096|4096");
    let packed = shared.len() - 4096;
    assert_eq!(buffers.show(4, "stored_bytes expanded_bytes"), format!("{packed}|96"));

    let issues = Table::read(folder.path(), "issues");
    let rows: Vec<_> = (0..issues.rows.len()).map(|n| issues.show(n, "source severity code buffer offset")).collect();
    assert_eq!(rows, ["a.etl|error|damaged_event|2|8264", "a.etl|warning|unsorted_buffer|1|4096"]);
}

/// The shape with this number in a file, in a table of its own.
fn shape(file: &FileSurvey, number: usize) -> PlannedShape {
    let (key, counted) = &file.shapes[number];
    PlannedShape {
        table: u32::try_from(number).unwrap(),
        events: counted.events,
        first_ns: 1,
        last_ns: 2,
        ..PlannedShape::bare(key.clone(), DecodeSource::None)
    }
}

#[test]
fn shapes_and_fields() {
    const G: Guid = guid("00112233-4455-6677-8899-aabbccddeeff");
    let events = buffer(0x1000)
        .sequence(1)
        .event(event32(G, 7, 1, T0).opcode(3).property(2))
        .event(message(5).guid(G).time(T0))
        .event(full64(G, 9, 2, T0))
        .event(vec![8, 0, 0x0D, 0xC0, 1, 2, 3, 4]);
    let file = survey(&trace(header()).buffer(events).to_bytes(), "a.etl");
    let mut shapes: Vec<PlannedShape> = (0..file.shapes.len()).map(|number| shape(&file, number)).collect();
    let event = shapes.iter().position(|shape| shape.key.identity.family.name() == "event32").unwrap();
    let fields = ["A", "B", "C", "D", "Trace"].map(|name| Field::value(name, Wire::Int32));
    let schema = EventSchema {
        event_name: Some("T/Start".to_owned()),
        keyword_names: vec!["k1".to_owned(), "k2".to_owned()],
        fields: fields.to_vec(),
        ..EventSchema::default()
    };
    let dataset = |number| PlannedTable { dataset: format!("D{number}"), ..PlannedTable::default() };
    let mut tables: Vec<PlannedTable> = (0..shapes.len()).map(dataset).collect();
    tables[event].provider_name = Some("P".to_owned());
    tables[event].columns = assign_columns(&[&schema], &["trace"], TypeOptions::default());
    shapes[event] = PlannedShape {
        schema: Some(0),
        binding: Some(0),
        lists_fields: true,
        decode_source: DecodeSource::EventInfo,
        candidates: 2,
        ..shapes[event].clone()
    };
    let mut counts = vec![ShapeCounts::default(); shapes.len()];
    counts[event] = ShapeCounts { rows: 11, ok_rows: 10, payload_bytes: 99 };
    let files = inputs([file]);
    let plan = PlanResult { shapes, schemas: vec![schema.into()], tables, ..PlanResult::default() };
    let folder = write(&SidecarFacts { plan: &plan, shape_counts: &counts, ..facts(&files) });
    let table = Table::read(folder.path(), "catalog");
    let id = "00112233-4455-6677-8899-aabbccddeeff";
    let all = "provider_id kind pointer_size event_id event_version opcode event_property";
    let rows: Vec<_> = (0..table.rows.len()).map(|row| table.show(row, all)).collect();
    let mut sorted = rows.clone();
    sorted.sort();
    let expected = [
        "-|classic|8|-|-|-|-".to_owned(),
        format!("{id}|classic|8|-|2|9|-"),
        format!("{id}|event|4|7|1|3|2"),
        format!("{id}|message|8|5|-|-|-"),
        "68fdd900-4a3e-11d1-84f4-0000f80464e3|classic|8|-|2|0|-".to_owned(),
    ];
    assert_eq!(sorted, expected);
    let t = |columns: &str, expected: &str| assert_eq!(table.show(event, columns), expected);
    t("shape provider_name event_name task_name keyword_names", &format!("{event}|P|T/Start|-|[k1,k2]"));
    t("decode_source candidates rows ok_rows payload_bytes", "event_info|2|11|10|99");
    t("first_time_ns last_time_ns metadata fix_hint", "1|2|-|-");
    let other = (event + 1) % 5;
    assert_eq!(table.show(other, "keyword_names rows decode_source"), "-|0|none");
    let fields = Table::read(folder.path(), "fields");
    let row = fields.rows[4].join("|");
    assert_eq!(row, format!("{event}|4|Trace|Int32|-|Trace__field|Int64|common_column|-|-|-"));
    assert_eq!(fields.rows.len(), 5);
}

#[test]
fn a_file_that_is_full_and_one_of_a_merge() {
    let full = header().maximum_file_size(8).log_file_mode(0x2001);
    let merged = header().log_file_mode(0x1_0001).session("Relogger");
    let of = |head: Header| trace(head).buffer(filled(0, 1, &[7])).to_bytes();
    let files = inputs([survey(&of(full), "a.etl"), survey(&of(merged), "b.etl")]);
    let table = Table::read(write(&facts(&files)).path(), "sessions");
    let columns = "events_lost buffers_lost loss_unknown_because reached_maximum_size";
    assert_eq!(table.show(0, columns), "0|0|-|true");
    assert_eq!(table.show(1, columns), "-|-|a merged file does not keep its sources' counters|-");
}
