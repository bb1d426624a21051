#![allow(
    clippy::from_iter_instead_of_collect,
    clippy::format_collect,
    reason = "reads better where speed is no matter"
)]

use std::collections::HashMap;
use std::fs::{self, File};
use std::ops::Range;
use std::path::PathBuf;

use arrow_array::builder::{ListBuilder, StringBuilder, UInt64Builder};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray, StructArray, TimestampMicrosecondArray, UInt16Array, UInt64Array, new_null_array,
};
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::LogicalType;
use parquet::file::metadata::{KeyValue, PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::writer::SerializedFileWriter;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::*;
use crate::dataset::properties::Compression;
use crate::output::LocalFolder;

/// A row group of ready arrays; a missing one is NULL throughout.
struct Ready {
    rows: usize,
    columns: Vec<Option<ArrayRef>>,
}

impl RowSource for Ready {
    fn rows(&self) -> usize {
        self.rows
    }

    fn column(&self, index: usize, rows: Range<usize>) -> Result<ArrayRef> {
        let column = self.columns[index].as_ref();
        let column = column.ok_or_else(|| Error::bug("asked for a column that is NULL throughout"))?;
        Ok(if rows == (0..self.rows) { Arc::clone(column) } else { column.slice(rows.start, rows.len()) })
    }

    fn all_null(&self, index: usize, _rows: Range<usize>) -> bool {
        self.columns[index].is_none()
    }
}

fn list_of(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("element", item, true)))
}

fn item_fields() -> Fields {
    Fields::from(vec![Field::new("type", DataType::UInt16, false), Field::new("data", DataType::Binary, true)])
}

/// A column of every shape that event tables have.
fn schema() -> SchemaRef {
    let utc = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    Arc::new(Schema::new(vec![
        Field::new("timestamp", utc, false),
        Field::new("timestamp_ns", DataType::Int64, false),
        Field::new("seq", DataType::Int64, false),
        Field::new("cpu", DataType::UInt16, true),
        Field::new("keyword", DataType::UInt64, true),
        Field::new("flag", DataType::Boolean, true),
        Field::new("ratio", DataType::Float64, true),
        Field::new("name", DataType::Utf8, true),
        Field::new("stack", list_of(DataType::UInt64), true),
        Field::new("item", DataType::Struct(item_fields()), true),
        Field::new("never", DataType::Utf8, true),
    ]))
}

/// A row group whose values all depend on the row's number in the table.
fn group(first: i64, rows: i64) -> Ready {
    let numbers = || first..first + rows;
    let unsigned = |n: i64| n.unsigned_abs();
    let some = |n: i64, every: i64| n % every != 0;
    let mut stack = ListBuilder::new(UInt64Builder::new()).with_field(Field::new("element", DataType::UInt64, true));
    for n in numbers() {
        stack.append_option(
            some(n, 3).then(|| (0..unsigned(n) % 4).map(move |depth| Some((unsigned(n) << 32) + depth))),
        );
    }
    let item: Vec<ArrayRef> = vec![
        Arc::new(UInt16Array::from_iter_values(numbers().map(|n| u16::try_from(n % 7).unwrap()))),
        Arc::new(BinaryArray::from_iter(numbers().map(|n| some(n, 2).then(|| n.to_le_bytes())))),
    ];
    let columns: Vec<ArrayRef> = vec![
        Arc::new(TimestampMicrosecondArray::from_iter_values(numbers().map(|n| n * 10)).with_timezone("UTC")),
        Arc::new(Int64Array::from_iter_values(numbers().map(|n| n * 10_000 + n % 3))),
        Arc::new(Int64Array::from_iter_values(numbers())),
        Arc::new(UInt16Array::from_iter(numbers().map(|n| some(n, 5).then_some(u16::MAX)))),
        Arc::new(UInt64Array::from_iter_values(numbers().map(|n| u64::MAX - unsigned(n).wrapping_mul(0x9E37_79B9)))),
        Arc::new(BooleanArray::from_iter(numbers().map(|n| some(n, 4).then_some(n % 2 == 0)))),
        Arc::new(Float64Array::from_iter_values(numbers().map(|n| f64::from(u32::try_from(n).unwrap()) / 8.0))),
        Arc::new(StringArray::from_iter(numbers().map(|n| some(n, 6).then(|| format!("name {}", n % 100))))),
        Arc::new(stack.finish()),
        Arc::new(StructArray::new(item_fields(), item, None)),
    ];
    let present = columns.into_iter().map(Some).chain([None]).collect();
    Ready { rows: usize::try_from(rows).unwrap(), columns: present }
}

fn spec(files: FileNaming) -> TableSpec {
    TableSpec {
        folder: "events/Some-Provider".to_owned(),
        files,
        schema: schema(),
        metadata: vec![("etl2parquet.provider_name".to_owned(), "Some-Provider".to_owned())],
        provider_id: Some(Guid::from_parts(1, 2, 3, 4)),
        provider_name: Some("Some-Provider".to_owned()),
    }
}

/// A staging folder; dropped before the folder around it.
struct Stage {
    folder: Arc<LocalFolder>,
    _out: TempDir,
}

impl Stage {
    fn output(&self) -> Arc<dyn Output> {
        Arc::clone(&self.folder) as Arc<dyn Output>
    }
}

fn stage() -> Stage {
    let out = tempfile::tempdir().unwrap();
    let folder = Arc::new(LocalFolder::create(out.path(), "a").unwrap());
    Stage { folder, _out: out }
}

fn writer(stage: &Stage, max_file_size: u64) -> TableWriter {
    let options = EncodeOptions { max_file_size, ..EncodeOptions::default() };
    TableWriter::new(stage.output(), spec(FileNaming::Parts), &options).unwrap()
}

fn staged(stage: &Stage, entry: &FileEntry) -> PathBuf {
    stage.folder.locate(&entry.path).unwrap()
}

fn read(stage: &Stage, entry: &FileEntry) -> Vec<u8> {
    fs::read(staged(stage, entry)).unwrap()
}

fn rows_of(stage: &Stage, entry: &FileEntry) -> Vec<RecordBatch> {
    let file = File::open(staged(stage, entry)).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().with_batch_size(1 << 20).build();
    reader.unwrap().collect::<Result<_, _>>().unwrap()
}

fn row_count(stage: &Stage, entry: &FileEntry) -> u64 {
    rows_of(stage, entry).iter().map(|batch| batch.num_rows() as u64).sum()
}

fn footer_of(stage: &Stage, entry: &FileEntry) -> ParquetMetaData {
    let reader = ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Optional);
    reader.parse_and_finish(&File::open(staged(stage, entry)).unwrap()).unwrap()
}

#[test]
fn what_was_written_reads_back_equal() {
    let folder = stage();
    let table = writer(&folder, u64::MAX);
    let groups = [group(0, 5000), group(5000, 70_000), group(75_000, 1)];
    for (ordinal, group) in (0..).zip(&groups) {
        table.append(ordinal, table.encode(group).unwrap()).unwrap();
    }
    let entries = table.finish().unwrap();
    let [entry] = entries.as_slice() else { panic!("{entries:?}") };
    let found = rows_of(&folder, entry);
    let whole = RecordBatch::try_new(schema(), {
        let all = group(0, 75_001);
        all.columns.iter().map(|c| c.clone().unwrap_or_else(|| new_null_array(&DataType::Utf8, 75_001))).collect()
    });
    assert_eq!(arrow_select::concat::concat_batches(&schema(), &found).unwrap(), whole.unwrap());
}

#[test]
fn an_entry_states_what_the_file_holds() {
    let folder = stage();
    let table = writer(&folder, u64::MAX);
    table.append(0, table.encode(&group(10, 90)).unwrap()).unwrap();
    table.append(1, table.encode(&group(100, 900)).unwrap()).unwrap();
    let entries = table.finish().unwrap();
    let bytes = read(&folder, &entries[0]);
    let sha256: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(
        entries,
        [FileEntry {
            path: "events/Some-Provider/part-00000-00000.parquet".to_owned(),
            provider_id: Some(Guid::from_parts(1, 2, 3, 4)),
            provider_name: Some("Some-Provider".to_owned()),
            rows: 990,
            bytes: bytes.len() as u64,
            sha256,
            min_timestamp_ns: Some(100_001),
            max_timestamp_ns: Some(9_990_000),
        }]
    );
}

#[test]
fn bytes_depend_neither_on_threads_nor_on_the_order_of_arrival() {
    let groups: Vec<Ready> = (0..12).map(|i| group(i * 3000, 3000)).collect();
    let run = |order: &[usize], threads: usize, parallel_columns: bool| {
        let folder = stage();
        let table = writer(&folder, 150_000);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            order.par_iter().for_each(|&i| {
                let encode = if parallel_columns { TableWriter::encode_parallel } else { TableWriter::encode };
                table.append(i as u64, encode(&table, &groups[i]).unwrap()).unwrap();
            });
        });
        let entries = table.finish().unwrap();
        assert!(entries.iter().all(|entry| entry.rows == row_count(&folder, entry)));
        let bytes: Vec<_> = entries.iter().map(|entry| read(&folder, entry)).collect();
        (entries, bytes)
    };
    let expected = run(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], 1, false);
    assert!(expected.0.len() > 2, "the files should roll, found {}", expected.0.len());
    assert_eq!(expected.0[1].path, "events/Some-Provider/part-00000-00001.parquet");
    for (order, threads, parallel_columns) in [
        ([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0], 1, false),
        ([3, 11, 0, 7, 9, 1, 10, 4, 2, 8, 6, 5], 4, false),
        ([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], 7, true),
    ] {
        assert!(run(&order, threads, parallel_columns) == expected, "{order:?}, {threads} threads, {parallel_columns}");
    }
}

#[test]
fn a_file_ends_before_the_row_group_that_would_take_it_past_the_limit() {
    let folder = stage();
    let size = writer(&folder, 1).encode(&group(0, 1000)).unwrap().bytes();
    let rows_per_file = |limit: u64| {
        let folder = stage();
        let table = writer(&folder, limit);
        for ordinal in 0..5 {
            table.append(ordinal, table.encode(&group(0, 1000)).unwrap()).unwrap();
        }
        table.finish().unwrap().iter().map(|entry| entry.rows).collect::<Vec<_>>()
    };
    assert_eq!(rows_per_file(size * 2), [2000, 2000, 1000]);
    assert_eq!(rows_per_file(size * 2 - 1), [1000; 5]);
    assert_eq!(rows_per_file(1), [1000; 5]);
    assert_eq!(rows_per_file(size * 5), [5000]);
}

#[test]
fn a_file_ends_before_its_footer_grows_too_large() {
    const COLUMNS: usize = 3000;
    let fields = (0..COLUMNS).map(|i| Field::new(format!("c{i}"), DataType::Int64, true));
    let folder = stage();
    let spec = TableSpec { schema: Arc::new(Schema::new(fields.collect::<Vec<_>>())), ..spec(FileNaming::Parts) };
    let table = TableWriter::new(folder.output(), spec, &EncodeOptions::default()).unwrap();
    for ordinal in 0..12 {
        let group = Ready { rows: 1, columns: vec![None; COLUMNS] };
        table.append(ordinal, table.encode(&group).unwrap()).unwrap();
    }
    let rows: Vec<_> = table.finish().unwrap().iter().map(|entry| entry.rows).collect();
    assert_eq!(rows, [10, 2]);
}

#[test]
fn a_shared_null_array_gives_the_bytes_of_a_built_one() {
    let run = |group: &Ready| {
        let folder = stage();
        let table = writer(&folder, u64::MAX);
        table.append(0, table.encode(group).unwrap()).unwrap();
        read(&folder, &table.finish().unwrap()[0])
    };
    let mut built = group(0, 1000);
    built.columns[10] = Some(Arc::new(StringArray::new_null(1000)));
    assert_eq!(run(&built), run(&group(0, 1000)));
}

#[test]
fn a_wide_table_has_one_page_per_column_chunk() {
    const COLUMNS: usize = 1500;
    let fields = (0..COLUMNS).map(|i| {
        let types = [DataType::Utf8, DataType::UInt32, DataType::Int64, list_of(DataType::UInt64)];
        Field::new(format!("c{i}"), types[i % 4].clone(), true)
    });
    let schema: SchemaRef = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let folder = stage();
    let wide = TableSpec { schema, ..spec(FileNaming::Parts) };
    let table = TableWriter::new(folder.output(), wide, &EncodeOptions::default()).unwrap();
    let mut columns = vec![None; COLUMNS];
    columns[2] = Some(Arc::new(Int64Array::from_iter_values((0..100_000).map(|n| n % 5))) as ArrayRef);
    table.append(0, table.encode(&Ready { rows: 100_000, columns }).unwrap()).unwrap();
    let entries = table.finish().unwrap();
    assert_eq!((entries[0].rows, entries[0].min_timestamp_ns), (100_000, None));
    assert!(entries[0].bytes < 700_000, "{} bytes", entries[0].bytes);
    let footer = footer_of(&folder, &entries[0]);
    let pages = footer.page_index().unwrap();
    for column in 0..COLUMNS {
        assert_eq!(pages.offset_index(0, column).unwrap().page_locations().len(), 1, "column {column}");
    }
}

#[test]
fn the_footer_holds_the_settings_of_the_contract() {
    let folder = stage();
    let table = writer(&folder, u64::MAX);
    table.append(0, table.encode(&group(0, 100_000)).unwrap()).unwrap();
    let footer = footer_of(&folder, &table.finish().unwrap()[0]);
    let file = footer.file_metadata();
    assert_eq!(file.created_by(), Some(concat!("etl2parquet version ", env!("CARGO_PKG_VERSION"))));
    let pairs: Vec<_> =
        file.key_value_metadata().unwrap().iter().map(|kv| (kv.key.as_str(), kv.value.as_deref())).collect();
    assert_eq!(pairs, [("etl2parquet.provider_name", Some("Some-Provider"))]);
    let group = footer.row_group(0);
    let order: Vec<_> = group.sorting_columns().unwrap().iter().map(|s| (s.column_idx, s.descending)).collect();
    assert_eq!(order, [(1, false), (2, false)]);
    assert!(group.columns().iter().all(|column| column.statistics().is_some()));
    let pages = footer.page_index().unwrap();
    let with_page_statistics: Vec<_> = (0..group.num_columns())
        .filter(|&c| pages.column_index(0, c).is_some())
        .map(|c| group.column(c).column_path().string())
        .collect();
    assert_eq!(with_page_statistics, ["timestamp", "timestamp_ns", "seq"]);
    // 100,000 rows in pages of at most 65,536.
    assert_eq!(pages.offset_index(0, 2).unwrap().page_locations().len(), 2);
}

#[test]
fn a_table_without_rows_has_a_file_only_if_its_name_is_fixed() {
    let folder = stage();
    let empty = |files| {
        let table = TableWriter::new(folder.output(), spec(files), &EncodeOptions::default()).unwrap();
        table.append(0, table.encode(&group(0, 0)).unwrap()).unwrap();
        table.finish().unwrap()
    };
    assert_eq!(empty(FileNaming::Parts), []);
    assert_eq!(folder.folder.list().unwrap(), []);
    let entries = empty(FileNaming::Single("issues".to_owned()));
    assert_eq!((entries.len(), entries[0].rows, entries[0].min_timestamp_ns), (1, 0, None));
    assert_eq!(entries[0].path, "events/Some-Provider/issues.parquet");
    assert_eq!(row_count(&folder, &entries[0]), 0);
}

#[test]
fn a_uuid_column_is_written_as_such() {
    let folder = stage();
    let metadata = HashMap::from([("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned())]);
    let field = Field::new("id", DataType::FixedSizeBinary(16), true).with_metadata(metadata);
    let uuids = TableSpec { schema: Arc::new(Schema::new(vec![field])), ..spec(FileNaming::Parts) };
    let table = TableWriter::new(folder.output(), uuids, &EncodeOptions::default()).unwrap();
    let values = vec![Some([7u8; 16].as_slice()), None];
    let column: ArrayRef =
        Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(values.into_iter(), 16).unwrap());
    table.append(0, table.encode(&Ready { rows: 2, columns: vec![Some(Arc::clone(&column))] }).unwrap()).unwrap();
    let entries = table.finish().unwrap();
    let footer = footer_of(&folder, &entries[0]);
    assert_eq!(footer.file_metadata().schema_descr().column(0).logical_type_ref(), Some(&LogicalType::Uuid));
    assert_eq!(rows_of(&folder, &entries[0])[0].column(0), &column);
}

#[test]
fn every_codec_reads_back() {
    for compression in [Compression::Zstd(1), Compression::Snappy, Compression::Lz4, Compression::None] {
        let folder = stage();
        let options = EncodeOptions { compression, ..EncodeOptions::default() };
        let table = TableWriter::new(folder.output(), spec(FileNaming::Parts), &options).unwrap();
        table.append(0, table.encode(&group(0, 1000)).unwrap()).unwrap();
        assert_eq!(row_count(&folder, &table.finish().unwrap()[0]), 1000, "{compression}");
    }
}

#[test]
fn mistakes_of_the_caller_are_errors() {
    let folder = stage();
    let internal_error = |outcome: Result<()>, text: &str| {
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
        assert!(error.to_string().contains(text), "{error}");
    };
    let table = writer(&folder, u64::MAX);
    let encode = |change: &dyn Fn(&mut Ready)| {
        let mut wrong = group(0, 10);
        change(&mut wrong);
        table.encode(&wrong).map(drop)
    };
    internal_error(
        encode(&|g| g.columns[2] = Some(Arc::new(Int64Array::from(vec![1; 9])))),
        "\"seq\" should have 10 rows",
    );
    internal_error(
        encode(&|g| g.columns[2] = Some(Arc::new(UInt64Array::from(vec![1; 10])))),
        "\"seq\" should be Int64",
    );
    internal_error(encode(&|g| g.columns[2] = None), "\"seq\" must not be NULL");
    table.append(1, table.encode(&group(0, 10)).unwrap()).unwrap();
    internal_error(table.append(1, table.encode(&group(0, 10)).unwrap()), "row group 1");
    internal_error(table.finish().map(drop), "row group 0");
}

#[test]
fn an_output_failure_ends_the_table() {
    let folder = stage();
    let events = folder.folder.folder().join("parts/events");
    fs::write(events, "in the way").unwrap();
    let table = writer(&folder, u64::MAX);
    for ordinal in 0..2 {
        let error = table.append(ordinal, table.encode(&group(0, 10)).unwrap()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Output, "{error}");
    }
    assert_eq!(table.finish().unwrap_err().kind(), ErrorKind::Output);
}

#[cfg(target_os = "linux")]
#[test]
fn unfinished_files_hold_no_descriptors() {
    let folder = stage();
    let table = |i| {
        let spec = TableSpec { folder: format!("events/{i}"), ..spec(FileNaming::Parts) };
        TableWriter::new(folder.output(), spec, &EncodeOptions::default()).unwrap()
    };
    let tables: Vec<_> = (0..50).map(table).collect();
    for table in &tables {
        table.append(0, table.encode(&group(0, 10)).unwrap()).unwrap();
    }
    let open = fs::read_dir("/proc/self/fd").unwrap().flatten().filter_map(|fd| fs::read_link(fd.path()).ok());
    assert_eq!(open.filter(|path| path.starts_with(folder.folder.folder().join("parts"))).count(), 0);
    assert!(tables.into_iter().all(|table| table.finish().unwrap()[0].rows == 10));
}

/// Columns that statistics are kept of in ways of their own, beside those of [`schema`].
fn odd_columns() -> Vec<(Field, ArrayRef)> {
    let long = |n: usize| "é".repeat(n % 90) + "end";
    let uuid = HashMap::from([("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned())]);
    let guids = (0..ODD_ROWS).map(|n| (!n.is_multiple_of(4)).then_some([u8::try_from(n % 251).unwrap(); 16]));
    let fixed = FixedSizeBinaryArray::try_from_sparse_iter_with_size(guids, 16).unwrap();
    let some = |n: usize, value: f64| (!n.is_multiple_of(3)).then_some(value);
    let ratio = |n: usize| if n.is_multiple_of(5) { f64::NAN } else { -(u32::try_from(n).map_or(0.0, f64::from)) };
    let mut texts = ListBuilder::new(StringBuilder::new()).with_field(Field::new("element", DataType::Utf8, true));
    for n in 0..ODD_ROWS {
        texts.append_option((!n.is_multiple_of(7)).then(|| (0..n % 3).map(|i| (i != 1).then(|| long(n)))));
    }
    let rows = || 0..ODD_ROWS;
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("signed", Arc::new(Int32Array::from_iter(rows().map(|n| i32::try_from(n).ok().map(|n| 7 - n * 3))))),
        ("nan", Arc::new(Float64Array::from_iter(rows().map(|n| some(n, ratio(n)))))),
        ("only_nan", Arc::new(Float64Array::from_iter(rows().map(|n| some(n, f64::NAN))))),
        ("long", Arc::new(StringArray::from_iter_values(rows().map(long)))),
        ("long_binary", Arc::new(BinaryArray::from_iter_values(rows().map(|n| vec![0xFF; n % 90])))),
        ("texts", Arc::new(texts.finish())),
        ("no_lists", new_null_array(&list_of(DataType::UInt64), ODD_ROWS)),
        ("no_numbers", new_null_array(&DataType::Int32, ODD_ROWS)),
        ("no_flags", new_null_array(&DataType::Boolean, ODD_ROWS)),
        ("guid", Arc::new(fixed)),
    ];
    let field = |name: &str, array: &ArrayRef| {
        let metadata = if name == "guid" { uuid.clone() } else { HashMap::new() };
        Field::new(name, array.data_type().clone(), true).with_metadata(metadata)
    };
    columns.into_iter().map(|(name, array)| (field(name, &array), array)).collect()
}

const ODD_ROWS: usize = 70_000;

/// The file that parquet's own writer makes of row groups.
fn released(table: &TableWriter, groups: &[Ready]) -> Vec<u8> {
    let TableFormat { spec, encoder, .. } = &*table.table;
    let (schema, properties) = (encoder.descriptor().root_schema_ptr(), Arc::clone(encoder.properties()));
    let mut file = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    for (key, value) in &spec.metadata {
        file.append_key_value_metadata(KeyValue::new(key.clone(), value.clone()));
    }
    for group in groups {
        let mut row_group = file.next_row_group().unwrap();
        for chunk in table.encode(group).unwrap().chunks {
            row_group.append_column(&chunk.bytes, chunk.close).unwrap();
        }
        row_group.close().unwrap();
    }
    file.into_inner().unwrap()
}

#[test]
fn a_file_is_what_the_released_writer_makes_of_the_same_row_groups() {
    let (odd_fields, odd_arrays): (Vec<_>, Vec<_>) = odd_columns().into_iter().unzip();
    let odd = || Ready { rows: ODD_ROWS, columns: odd_arrays.iter().cloned().map(Some).collect() };
    let none = || Ready { rows: 3, columns: vec![None; odd_arrays.len()] };
    let odd_schema = Arc::new(Schema::new(odd_fields));
    let wide = || Ready { rows: 3, columns: vec![None; 5000] };
    let wide_fields = (0..5000).map(|n| Field::new(format!("f{n}"), DataType::Int64, true)).collect::<Vec<_>>();
    let wide_schema = Arc::new(Schema::new(wide_fields));
    let cases = [
        ("all shapes", schema(), vec![group(0, 5000), group(5000, 140_000), group(145_000, 1)]),
        ("odd statistics", Arc::clone(&odd_schema), vec![odd(), none(), odd()]),
        ("one row group", Arc::clone(&odd_schema), vec![odd()]),
        ("no row group", odd_schema, vec![]),
        ("too many columns to keep what a writer says", wide_schema, vec![wide()]),
    ];
    for (case, schema, groups) in cases {
        for compression in [Compression::default(), Compression::None] {
            let folder = stage();
            let spec = TableSpec { schema: Arc::clone(&schema), ..spec(FileNaming::Single("file".to_owned())) };
            let options = EncodeOptions { compression, ..EncodeOptions::default() };
            let table = TableWriter::new(folder.output(), spec, &options).unwrap();
            let expected = released(&table, &groups);
            for (ordinal, group) in (0..).zip(&groups) {
                table.append(ordinal, table.encode(group).unwrap()).unwrap();
            }
            let found = read(&folder, &table.finish().unwrap()[0]);
            assert_eq!(found.len(), expected.len(), "{case}, {compression}");
            assert!(found == expected, "{case}, {compression}");
        }
    }
}
