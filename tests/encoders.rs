//! The encoder of column chunks against arrow-rs: the same rows give the same files.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder, StringBuilder, UInt64Builder};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, DictionaryArray, FixedSizeBinaryArray, Float32Array, Float64Array, Int8Array,
    Int32Array, Int64Array, ListArray, StringArray, StructArray, TimestampMicrosecondArray, UInt16Array, UInt32Array,
    UInt64Array,
};
use arrow_schema::{DataType, Field, Fields, Schema};
use columnar::chunks::{ChunkEncoder, Leaf, Push};
use columnar::columns::{BatchScratch, BatchSink, BatchValues, ColumnBatch, KeyTable, Present, RowSource, emit};
use columnar::dataset::{Compression, EncodeOptions, EncoderKind, FileNaming, TableSpec, TableWriter};
use columnar::output::{MemoryOutput, Output};
use etl2parquet::{Guid, Result};
use parquet::arrow::ArrowSchemaConverter;
use parquet::basic::Encoding;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;
use proptest::prelude::*;

/// What the column of a table holds.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Int8,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    /// Rises from page to page and has statistics for each: `seq`.
    Seq,
    /// Differences without statistics of pages: `ticks`.
    Ticks,
    Timestamp,
    Text,
    LongText,
    /// Up to half a page each.
    HugeText,
    Binary,
    GuidText,
    GuidBytes,
    Label,
    /// Numbers, texts and GUIDs that the source hands over as keys.
    KeyNumber,
    KeyGuid,
    Stack,
    Bytes,
    Texts,
    HugeTexts,
    /// A number, a text, a GUID, a time and a boolean where a row has the structure.
    Structure,
    Float,
    /// As they come with `--integers exact`.
    Float32,
    /// None of them is a number.
    Nan,
    Floats,
    Flag,
}

const KINDS: [Kind; 26] = [
    Kind::Int8,
    Kind::UInt16,
    Kind::Int32,
    Kind::UInt32,
    Kind::Int64,
    Kind::UInt64,
    Kind::Seq,
    Kind::Ticks,
    Kind::Timestamp,
    Kind::Text,
    Kind::LongText,
    Kind::Binary,
    Kind::GuidText,
    Kind::GuidBytes,
    Kind::Label,
    Kind::KeyNumber,
    Kind::KeyGuid,
    Kind::Stack,
    Kind::Bytes,
    Kind::Texts,
    Kind::Structure,
    Kind::Float,
    Kind::Float32,
    Kind::Nan,
    Kind::Floats,
    Kind::Flag,
];

/// How the values follow one another.
#[derive(Clone, Copy, Debug)]
enum Order {
    Constant,
    /// So many different ones at random.
    Few(u64),
    /// Runs of such a length.
    Runs(u64),
    Rising(u64),
    Random,
    /// Constant first, then all different.
    Late(u64),
}

/// Which rows are NULL.
#[derive(Clone, Copy, Debug)]
enum Nulls {
    Never,
    Always,
    /// One in so many is NULL.
    OneIn(u64),
    /// One in so many is not.
    AllButOneIn(u64),
    /// Batches in turn: without, throughout, at random.
    ByBatch,
}

#[derive(Clone, Copy, Debug)]
struct Column {
    kind: Kind,
    order: Order,
    nulls: Nulls,
}

/// A number without pattern that follows from others.
fn mixed(seed: u64, row: u64) -> u64 {
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ row.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x = (x ^ (x >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^ (x >> 29)
}

impl Column {
    fn value(&self, row: u64) -> u64 {
        match self.order {
            Order::Constant => 7,
            Order::Few(count) => mixed(1, mixed(2, row) % count),
            Order::Runs(length) => mixed(3, row / length),
            Order::Rising(step) => row * step + mixed(4, row) % 3,
            Order::Random => mixed(5, row),
            Order::Late(start) => {
                if row < start {
                    1
                } else {
                    mixed(6, row)
                }
            }
        }
    }

    fn is_null(&self, row: u64) -> bool {
        let batch = row >> 14;
        match self.nulls {
            Nulls::Never => false,
            Nulls::Always => true,
            Nulls::OneIn(count) => mixed(7, row).is_multiple_of(count),
            Nulls::AllButOneIn(count) => !mixed(7, row).is_multiple_of(count),
            Nulls::ByBatch => batch % 3 == 1 || (batch % 3 == 2 && mixed(7, row).is_multiple_of(2)),
        }
    }

    fn data_type(&self) -> DataType {
        let list = |item| DataType::List(Arc::new(Field::new("element", item, true)));
        match self.kind {
            Kind::Int8 => DataType::Int8,
            Kind::UInt16 => DataType::UInt16,
            Kind::Int32 | Kind::KeyNumber => DataType::Int32,
            Kind::UInt32 => DataType::UInt32,
            Kind::Int64 | Kind::Seq | Kind::Ticks => DataType::Int64,
            Kind::UInt64 => DataType::UInt64,
            Kind::Timestamp => DataType::Timestamp(arrow_schema::TimeUnit::Microsecond, Some("UTC".into())),
            Kind::Text | Kind::LongText | Kind::HugeText | Kind::GuidText | Kind::Label => DataType::Utf8,
            Kind::Binary => DataType::Binary,
            Kind::GuidBytes | Kind::KeyGuid => DataType::FixedSizeBinary(16),
            Kind::Stack => list(DataType::UInt64),
            Kind::Bytes => list(DataType::Int8),
            Kind::Texts | Kind::HugeTexts => list(DataType::Utf8),
            Kind::Structure => DataType::Struct(self.members().0),
            Kind::Float | Kind::Nan => DataType::Float64,
            Kind::Float32 => DataType::Float32,
            Kind::Floats => list(DataType::Float64),
            Kind::Flag => DataType::Boolean,
        }
    }

    /// The columns that the members of a structure are, NULL where it is.
    fn members(&self) -> (Fields, Vec<Column>) {
        let kinds = [Kind::UInt16, Kind::Text, Kind::GuidBytes, Kind::Timestamp, Kind::Flag];
        let columns = kinds.map(|kind| Column { kind, ..*self });
        let fields = (0..)
            .zip(&columns)
            .map(|(number, column)| Field::new(format!("member {number}"), column.data_type(), true));
        (fields.collect(), columns.to_vec())
    }

    fn name(&self, number: usize) -> String {
        match self.kind {
            Kind::Seq => "seq".into(),
            Kind::Ticks => "ticks".into(),
            Kind::Timestamp => "timestamp".into(),
            _ => format!("column {number}"),
        }
    }

    fn field(&self, number: usize) -> Field {
        Field::new(self.name(number), self.data_type(), !matches!(self.nulls, Nulls::Never))
    }

    #[expect(clippy::cast_possible_truncation, reason = "the low bits are values as good as others")]
    fn array(&self, range: Range<usize>) -> ArrayRef {
        let rows = || (range.start as u64..range.end as u64).map(|row| (!self.is_null(row)).then(|| self.value(row)));
        let text = |value: u64| format!("{:x}", value >> 40);
        match self.kind {
            Kind::Int8 => Arc::new(rows().map(|value| value.map(|value| value as i8)).collect::<Int8Array>()),
            Kind::UInt16 => Arc::new(rows().map(|value| value.map(|value| value as u16)).collect::<UInt16Array>()),
            Kind::Int32 => Arc::new(rows().map(|value| value.map(|value| value as i32)).collect::<Int32Array>()),
            Kind::KeyNumber => Arc::new(rows().map(|value| number_by_key(value? % 5)).collect::<Int32Array>()),
            Kind::UInt32 => Arc::new(rows().map(|value| value.map(|value| value as u32)).collect::<UInt32Array>()),
            Kind::Int64 | Kind::Seq | Kind::Ticks => {
                Arc::new(rows().map(|value| value.map(u64::cast_signed)).collect::<Int64Array>())
            }
            Kind::UInt64 => Arc::new(rows().collect::<UInt64Array>()),
            Kind::Timestamp => {
                let times = rows().map(|value| value.map(u64::cast_signed)).collect::<TimestampMicrosecondArray>();
                Arc::new(times.with_timezone("UTC"))
            }
            Kind::Text => Arc::new(rows().map(|value| value.map(text)).collect::<StringArray>()),
            Kind::LongText => {
                let long = |value: u64| format!("{}\u{e9}{}", "\u{d7ff}x".repeat((value % 40) as usize), text(value));
                Arc::new(rows().map(|value| value.map(long)).collect::<StringArray>())
            }
            Kind::HugeText => Arc::new(rows().map(|value| value.map(huge)).collect::<StringArray>()),
            Kind::Binary => {
                let bytes = |value: u64| {
                    [value.to_be_bytes().as_slice(), &[0xff; 70]].concat()[..(value % 78) as usize].to_vec()
                };
                Arc::new(rows().map(|value| value.map(bytes)).collect::<BinaryArray>())
            }
            Kind::GuidText => {
                let text = |value: u64| guid(value).to_string();
                Arc::new(rows().map(|value| value.map(text)).collect::<StringArray>())
            }
            Kind::GuidBytes => fixed(rows().map(|value| value.map(|value| guid(value).to_text_order()))),
            Kind::KeyGuid => fixed(rows().map(|value| guid_by_key(value? % 5))),
            Kind::Label => {
                let labels = StringArray::from_iter_values((0..100).map(|label| format!("label {}", label % 60)));
                let keys = rows().map(|value| value.map(|value| (value % 100) as i32)).collect::<Int32Array>();
                Arc::new(DictionaryArray::<Int32Type>::new(keys, Arc::new(labels)))
            }
            Kind::Stack => stacks(rows()),
            Kind::Bytes => {
                let bytes = |value: u64| (0..value % 5).map(move |at| Some((value >> at) as i8)).collect::<Vec<_>>();
                let lists = rows().map(|value| value.map(bytes));
                let lists = ListArray::from_iter_primitive::<arrow_array::types::Int8Type, _, _>(lists);
                let (_, offsets, items, nulls) = lists.into_parts();
                let item = Arc::new(Field::new("element", DataType::Int8, true));
                Arc::new(ListArray::new(item, offsets, items, nulls))
            }
            Kind::Texts => texts(rows(), |value| format!("{:x}", value >> 40)),
            Kind::HugeTexts => texts(rows(), huge),
            Kind::Structure => self.structure(range.clone()),
            Kind::Float | Kind::Float32 | Kind::Nan | Kind::Floats => floats(self.kind, rows()),
            Kind::Flag => Arc::new(rows().map(|value| value.map(|value| value % 2 == 0)).collect::<BooleanArray>()),
        }
    }

    fn structure(&self, rows: Range<usize>) -> ArrayRef {
        let (fields, members) = self.members();
        let arrays = members.iter().map(|member| member.array(rows.clone())).collect();
        let present = (rows.start as u64..rows.end as u64).map(|row| !self.is_null(row)).collect();
        Arc::new(StructArray::new(fields, arrays, Some(present)))
    }
}

/// Lists of up to 22 addresses.
fn stacks(rows: impl Iterator<Item = Option<u64>>) -> ArrayRef {
    let element = Field::new("element", DataType::UInt64, true);
    let mut lists = ListBuilder::new(UInt64Builder::new()).with_field(element);
    rows.for_each(|value| {
        lists.append_option(value.map(|value| (0..value % 23).map(move |frame| Some(mixed(value, frame)))));
    });
    Arc::new(lists.finish())
}

/// Lists of up to three texts.
fn texts(rows: impl Iterator<Item = Option<u64>>, text: impl Fn(u64) -> String + Copy) -> ArrayRef {
    let element = Field::new("element", DataType::Utf8, true);
    let mut lists = ListBuilder::new(StringBuilder::new()).with_field(element);
    rows.for_each(|value| {
        lists.append_option(value.map(|value| (0..value % 4).map(move |at| Some(text(mixed(value, at))))));
    });
    Arc::new(lists.finish())
}

/// Floating-point numbers of a kind.
#[expect(clippy::cast_possible_truncation, reason = "rounded numbers are as good as others")]
fn floats(kind: Kind, rows: impl Iterator<Item = Option<u64>>) -> ArrayRef {
    let nan = |value: u64| f64::from_bits(f64::NAN.to_bits() | value & (1 << 63 | 0xff));
    match kind {
        Kind::Float32 => Arc::new(rows.map(|value| value.map(|value| float(value) as f32)).collect::<Float32Array>()),
        Kind::Nan => Arc::new(rows.map(|value| value.map(nan)).collect::<Float64Array>()),
        Kind::Floats => {
            let element = Field::new("element", DataType::Float64, true);
            let mut lists = ListBuilder::new(Float64Builder::new()).with_field(element);
            rows.for_each(|value| {
                lists.append_option(value.map(|value| (0..value % 4).map(move |at| Some(float(mixed(value, at))))));
            });
            Arc::new(lists.finish())
        }
        _ => Arc::new(rows.map(|value| value.map(float)).collect::<Float64Array>()),
    }
}

/// Every third time one that has an order of its own.
fn float(value: u64) -> f64 {
    const ODD: [f64; 7] = [0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -2.5];
    match value % 3 {
        0 => ODD[usize::try_from(value / 3 % 7).unwrap()],
        _ => f64::from_bits(value),
    }
}

/// Mostly short, seldom half a page.
fn huge(value: u64) -> String {
    let len = if value.is_multiple_of(7) { value >> 45 } else { value >> 60 };
    format!("{value:x}{}", "x".repeat(usize::try_from(len).unwrap()))
}

fn guid(value: u64) -> Guid {
    Guid::from_parts(u32::MAX, 1, 2, value)
}

fn fixed(values: impl Iterator<Item = Option<[u8; 16]>>) -> ArrayRef {
    Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, 16).unwrap())
}

/// What a key of a table of numbers stands for; two stand for the same, one for NULL where there may be one.
fn number_by_key(key: u64) -> Option<i32> {
    [Some(-5), Some(9), None, Some(9), Some(i32::MIN)][usize::try_from(key).unwrap()]
}

fn guid_by_key(key: u64) -> Option<[u8; 16]> {
    number_by_key(key).map(|number| guid(u64::from(number.unsigned_abs())).to_text_order())
}

/// Rows whose columns are made when they are asked for.
struct Rows {
    columns: Vec<Column>,
    rows: usize,
}

impl RowSource for Rows {
    fn rows(&self) -> usize {
        self.rows
    }

    fn column(&self, index: usize, rows: Range<usize>) -> Result<ArrayRef> {
        Ok(match self.columns.get(index) {
            Some(column) => column.array(rows),
            // The others only make the table wide.
            None => Arc::new(Int32Array::new_null(rows.len())),
        })
    }

    fn batch(
        &self,
        index: usize,
        rows: Range<usize>,
        scratch: &mut BatchScratch,
        sink: &mut BatchSink<'_>,
    ) -> Result<()> {
        let Some(column) = self.columns.get(index) else { return sink(ColumnBatch::nulls(rows.len())) };
        if let Kind::Structure = column.kind {
            let members = Rows { columns: column.members().1, rows: self.rows };
            // Where a batch of a column comes as an array, arrow-rs has to begin again.
            return match column.order {
                Order::Late(_) if rows.start > 0 => sink(ColumnBatch::Array(column.array(rows))),
                _ => {
                    (0..members.columns.len()).try_for_each(|member| members.batch(member, rows.clone(), scratch, sink))
                }
            };
        }
        let first = rows.start as u64;
        let present: Vec<u32> = (0..).take(rows.len()).filter(|&row| !column.is_null(first + u64::from(row))).collect();
        let some = |row: &u32| column.value(first + u64::from(*row));
        let keys: Vec<u32> = present.iter().map(|row| u32::try_from(some(row) % 5).unwrap()).collect();
        let guids = present.iter().map(|row| Some(guid(some(row)).to_text_order()));
        // As they come where what is distinct is found in each batch.
        let places: Vec<u32> = (0..).take(present.len()).collect();
        let table = Arc::new(match column.kind {
            Kind::KeyNumber => KeyTable::Numbers((0..5).map(|key| number_by_key(key).map(i64::from)).collect()),
            Kind::KeyGuid => KeyTable::Guids((0..5).map(guid_by_key).collect()),
            _ => KeyTable::Guids(guids.collect()),
        });
        let values = match column.kind {
            Kind::KeyNumber | Kind::KeyGuid => BatchValues::Keys { keys: &keys, table: &table },
            Kind::GuidText | Kind::GuidBytes => BatchValues::Keys { keys: &places, table: &table },
            _ => return emit(&column.array(rows), scratch, sink),
        };
        sink(ColumnBatch::Values { rows: rows.len(), present: Present::Rows(&present), values })
    }

    fn all_null(&self, index: usize, _: Range<usize>) -> bool {
        self.columns.get(index).is_none_or(|column| matches!(column.nulls, Nulls::Always))
    }
}

/// The content of the one file of a table.
fn file(rows: &Rows, width: usize, compression: Compression, encoder: EncoderKind) -> Vec<u8> {
    let fields = (0..width).map(|number| match rows.columns.get(number) {
        Some(column) => column.field(number),
        None => Field::new(format!("column {number}"), DataType::Int32, true),
    });
    let spec = TableSpec {
        folder: "t".to_owned(),
        files: FileNaming::Single("t".to_owned()),
        schema: Arc::new(Schema::new(fields.collect::<Vec<_>>())),
        metadata: Vec::new(),
        provider_id: None,
        provider_name: None,
    };
    let output = Arc::new(MemoryOutput::new("a"));
    let options = EncodeOptions { compression, encoder, ..EncodeOptions::default() };
    let writer = TableWriter::new(Arc::clone(&output) as Arc<dyn Output>, spec, &options).unwrap();
    writer.append(0, writer.encode(rows).unwrap()).unwrap();
    let files = writer.finish().unwrap();
    output.read(&output.own(&files[0].path), 0..files[0].bytes).unwrap()
}

/// Both encoders write the same file.
fn same(columns: &[Column], rows: usize, width: usize, compression: Compression) {
    for column in columns {
        let column = match column.kind {
            // NULL comes with the key.
            Kind::KeyNumber | Kind::KeyGuid if matches!(column.nulls, Nulls::Never) => {
                Column { nulls: Nulls::OneIn(1_000_000_007), ..*column }
            }
            _ => *column,
        };
        let table = Rows { columns: vec![column], rows };
        let own = file(&table, width, compression, EncoderKind::Own);
        let arrow = file(&table, width, compression, EncoderKind::Arrow);
        let first = own.iter().zip(&arrow).position(|(own, arrow)| own != arrow);
        assert!(
            own == arrow,
            "{column:?}, {rows} rows, {width} columns: {} bytes, expected {}, first difference at {first:?}",
            own.len(),
            arrow.len()
        );
    }
}

/// What the encoder relies on in the parquet crate. The first to fail where another version is taken: read what it changes in
/// `column/writer`, `arrow/arrow_writer` and `encodings`, mend `crates/columnar/src/chunks` until the other tests here pass, then state the new
/// version.
#[test]
fn the_parquet_crate_is_the_one_whose_choices_are_known() {
    let lock = include_str!("../Cargo.lock");
    let version_of = |name: &str| {
        let entry = lock.split("[[package]]").find(|entry| entry.contains(&format!("name = \"{name}\"\n"))).unwrap();
        entry.lines().find_map(|line| line.strip_prefix("version = ")).unwrap()
    };
    assert_eq!(version_of("parquet"), "\"60.1.0\"");

    // Whether a page ends or the dictionary is full is looked at after 1024 levels of a batch, to the end of the row where
    // there are lists; where all levels of a batch are one, after as many as a page may have rows.
    let properties = WriterProperties::default();
    let path = ColumnPath::from("any");
    assert_eq!(properties.write_batch_size(), 1024);
    // A page ends at its rows or at an estimate of its bytes, which takes positions in a dictionary at their worst; a
    // dictionary ends at the bytes of its values, each behind four of its length.
    assert_eq!(properties.column_data_page_size_limit(&path), 1 << 20);
    assert_eq!(properties.column_dictionary_page_size_limit(&path), 1 << 20);
    // Pages of version 1: levels and values compressed as one, levels behind their length.
    assert_eq!(properties.writer_version(), WriterVersion::PARQUET_1_0);
    assert_eq!(properties.dictionary_data_page_encoding(), Encoding::RLE_DICTIONARY);
    assert_eq!(properties.dictionary_page_encoding(), Encoding::PLAIN);
    // Statistics stand in the footer, cut at 64 bytes, and not in page headers.
    assert_eq!(properties.statistics_truncate_length(), Some(64));
    assert!(!properties.write_page_header_statistics(&path));
    assert_eq!(properties.bloom_filter_properties(&path), None);
    // Both compress with the same library.
    assert_eq!(lock.matches("name = \"zstd-sys\"").count(), 1);
}

fn orders() -> impl Strategy<Value = Order> {
    prop_oneof![
        Just(Order::Constant),
        (1..5000u64).prop_map(Order::Few),
        (1..300u64).prop_map(Order::Runs),
        (0..1000u64).prop_map(Order::Rising),
        Just(Order::Random),
        (0..200_000u64).prop_map(Order::Late),
    ]
}

fn nulls() -> impl Strategy<Value = Nulls> {
    prop_oneof![
        Just(Nulls::Never),
        Just(Nulls::Always),
        (2..1000u64).prop_map(Nulls::OneIn),
        (2..1000u64).prop_map(Nulls::AllButOneIn),
        Just(Nulls::ByBatch),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_column_is_encoded_as_arrow_encodes_it(
        kind in prop::sample::select(KINDS.to_vec()),
        order in orders(),
        nulls in nulls(),
        rows in prop_oneof![1..70usize, 1..40_000usize, 60_000..180_000usize],
        wide in any::<bool>(),
        plain in any::<bool>(),
    ) {
        let compression = if plain { Compression::None } else { Compression::default() };
        same(&[Column { kind, order, nulls }], rows, if wide { 200 } else { 1 }, compression);
    }
}

#[test]
fn every_kind_with_every_kind_of_nulls_is_encoded_as_arrow_encodes_it() {
    let nulls = [Nulls::Never, Nulls::Always, Nulls::OneIn(10), Nulls::AllButOneIn(30), Nulls::ByBatch];
    for kind in KINDS {
        for nulls in nulls {
            same(&[Column { kind, order: Order::Few(300), nulls }], 70_000, 1, Compression::None);
        }
    }
}

#[test]
fn dictionaries_that_become_full_fall_back_as_arrow_falls_back() {
    let kinds = [
        Kind::Int32,
        Kind::UInt64,
        Kind::Text,
        Kind::LongText,
        Kind::GuidText,
        Kind::GuidBytes,
        Kind::Stack,
        Kind::Binary,
        Kind::Texts,
        Kind::Float,
        Kind::Float32,
        Kind::Structure,
    ];
    let nulls = [Nulls::Never, Nulls::OneIn(1 << 40), Nulls::OneIn(3), Nulls::ByBatch];
    for kind in kinds {
        for nulls in nulls {
            for (order, width) in [(Order::Random, 1), (Order::Random, 200), (Order::Late(100_000), 200)] {
                same(&[Column { kind, order, nulls }], 420_000, width, Compression::None);
            }
        }
    }
}

/// One value can be most of what a page or a dictionary holds: both end within the steps in which they are looked at.
#[test]
fn huge_values_end_pages_as_arrow_ends_them() {
    for kind in [Kind::HugeText, Kind::HugeTexts] {
        for nulls in [Nulls::Never, Nulls::OneIn(1 << 40), Nulls::OneIn(3), Nulls::AllButOneIn(4), Nulls::ByBatch] {
            for (order, width) in [(Order::Random, 1), (Order::Few(30), 1), (Order::Late(300), 200)] {
                same(&[Column { kind, order, nulls }], 1_500, width, Compression::None);
            }
        }
    }
}

/// Pages of wide tables end by their bytes alone.
#[test]
fn long_pages_end_as_arrow_ends_them() {
    for kind in [
        Kind::UInt64,
        Kind::Int32,
        Kind::Ticks,
        Kind::Timestamp,
        Kind::Text,
        Kind::LongText,
        Kind::GuidBytes,
        Kind::Stack,
        Kind::Texts,
    ] {
        for nulls in [Nulls::Never, Nulls::OneIn(1 << 40), Nulls::OneIn(5)] {
            for order in [Order::Few(100_000), Order::Few(20_000), Order::Random] {
                same(&[Column { kind, order, nulls }], 1 << 20, 200, Compression::None);
            }
        }
    }
}

#[test]
fn every_codec_is_written_as_arrow_writes_it() {
    let column = |kind| Column { kind, order: Order::Few(50), nulls: Nulls::OneIn(4) };
    let codecs =
        [Compression::Zstd(1), Compression::Zstd(19), Compression::Snappy, Compression::Lz4, Compression::None];
    for codec in codecs {
        same(&[Kind::Int64, Kind::Text, Kind::Stack, Kind::Texts, Kind::Flag].map(column), 30_000, 1, codec);
    }
}

#[test]
fn a_full_dictionary_of_texts_is_no_reason_to_begin_again() {
    let field = Field::new("text", DataType::Utf8, true);
    let schema = ArrowSchemaConverter::new().convert(&Schema::new(vec![field.clone()])).unwrap();
    let properties = WriterProperties::builder()
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_encoding(Encoding::DELTA_LENGTH_BYTE_ARRAY)
        .set_dictionary_page_size_limit(100);
    let leaf = Arc::new(Leaf::new(&schema.column(0), &properties.build()).unwrap());
    let mut encoder = ChunkEncoder::new(&field, &leaf).unwrap();
    let texts: Vec<_> = (0..2_000).map(|number| number.to_string()).collect();
    let texts: Vec<_> = texts.iter().map(String::as_bytes).collect();
    let batch = ColumnBatch::Values { rows: texts.len(), present: Present::All, values: BatchValues::Bytes(&texts) };
    assert_eq!(encoder.push(&batch).unwrap(), Push::Taken);
    let chunk = encoder.finish().unwrap();
    let encodings: Vec<_> =
        chunk.close.metadata.page_encoding_stats().unwrap().iter().map(|page| page.encoding).collect();
    assert_eq!(encodings, [Encoding::PLAIN, Encoding::RLE_DICTIONARY, Encoding::DELTA_LENGTH_BYTE_ARRAY]);
}
