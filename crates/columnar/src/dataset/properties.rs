//! How each column of a table is laid out in its Parquet files, decided from the schema alone.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use base::error::{Error, ErrorKind, Result};
use base::words;
use parquet::basic::{Encoding, Type as PhysicalType, ZstdLevel};
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterPropertiesPtr};
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor, SchemaDescriptor};
use serde::{Deserialize, Serialize};

/// Columns that rise from row to row: stored as differences, without trying a dictionary first.
const RISING: [&str; 4] = ["timestamp", "timestamp_ns", "seq", "ticks"];

/// Columns with minimum and maximum per page, for readers that prune within a row group.
const PAGE_STATISTICS: [&str; 3] = ["timestamp", "timestamp_ns", "seq"];

/// The order of rows, claimed in the footer where the table has both.
const SORT_KEY: [&str; 2] = ["timestamp_ns", "seq"];

/// What rows of several traces are sorted by before that, where the table has it.
const TRACE: &str = "trace";

/// From this many leaf columns a table counts as wide: most columns of most row groups are NULL, and every page costs.
const WIDE: usize = 200;

/// Ends the name of a column in nanoseconds: instants or time spans, nearly all of them distinct.
const NANOSECONDS: &str = "_ns";

/// CPU times, which have few distinct values: they are counted in ticks of the timer.
const CPU_TIMES: [&str; 2] = ["kernel_time_ns", "user_time_ns"];

/// Encoding and dictionary of integers that neither rise nor stand in lists.
const OF_MOST: (Encoding, bool) = (Encoding::DELTA_BINARY_PACKED, true);

/// Rows per page of a table that is not wide: 16 pages in a full row group.
pub(super) const PAGE_ROWS: usize = 1 << 16;

/// Rows per page of a wide table, i.e. as many as its row group has; long values still end a page at 1 MiB.
const WIDE_PAGE_ROWS: usize = 1 << 30;

/// The program that the footer names. The form `<application> version <version>` is what parquet-java parses before it
/// trusts the statistics of text columns.
const CREATED_BY: &str = concat!("etl2parquet version ", env!("CARGO_PKG_VERSION"));

/// The codec of every page (`--compression`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compression {
    /// Zstandard with a level from 1 to 22.
    Zstd(i32),
    /// Snappy.
    Snappy,
    /// LZ4 without framing (`LZ4_RAW`).
    Lz4,
    /// None.
    None,
}

impl Default for Compression {
    fn default() -> Self {
        Compression::Zstd(3)
    }
}

impl Compression {
    fn codec(self) -> Result<parquet::basic::Compression> {
        Ok(match self {
            Compression::Zstd(level) => parquet::basic::Compression::ZSTD(
                ZstdLevel::try_new(level).map_err(|_| unknown_compression(&self.to_string()))?,
            ),
            Compression::Snappy => parquet::basic::Compression::SNAPPY,
            Compression::Lz4 => parquet::basic::Compression::LZ4_RAW,
            Compression::None => parquet::basic::Compression::UNCOMPRESSED,
        })
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Compression::Zstd(level) => write!(f, "zstd({level})"),
            Compression::Snappy => f.write_str("snappy"),
            Compression::Lz4 => f.write_str("lz4"),
            Compression::None => f.write_str("none"),
        }
    }
}

impl FromStr for Compression {
    type Err = Error;

    /// Accepts `zstd`, `zstd(N)` with N from 1 to 22, `snappy`, `lz4` and `none`.
    fn from_str(text: &str) -> Result<Self> {
        let level = || text.strip_prefix("zstd(")?.strip_suffix(')')?.parse().ok();
        Ok(match text {
            "zstd" => Compression::default(),
            "snappy" => Compression::Snappy,
            "lz4" => Compression::Lz4,
            "none" => Compression::None,
            _ => match level() {
                Some(level @ 1..=22) => Compression::Zstd(level),
                _ => return Err(unknown_compression(text)),
            },
        })
    }
}

fn unknown_compression(text: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("unknown compression {text:?}"))
        .with_hint("one of zstd, zstd(1) to zstd(22), snappy, lz4, none")
}

/// Who encodes column chunks. The bytes are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EncoderKind {
    /// This crate, where it can.
    #[default]
    Own,
    /// arrow-rs, always.
    Arrow,
}

words! { EncoderKind {
    Own = "own": "This program, where it can",
    Arrow = "arrow": "arrow-rs",
} }

/// The choices of the user that shape the files of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeOptions {
    /// The codec of every page.
    pub compression: Compression,
    /// A file ends before the row group that would take it past this many bytes; its footer comes on top.
    pub max_file_size: u64,
    /// Who encodes.
    pub encoder: EncoderKind,
    /// Columns of the table that mostly rise from row to row, beside those that do so in every table.
    pub rising: &'static [&'static str],
}

impl Default for EncodeOptions {
    fn default() -> Self {
        EncodeOptions {
            compression: Compression::default(),
            max_file_size: 512 << 20,
            encoder: EncoderKind::default(),
            rising: &[],
        }
    }
}

/// The writer's settings for a table, but for the key-value metadata of its files.
///
/// Every column gets an encoding that its physical type supports (parquet 60 panics when one meets a type without it).
/// Integers, most columns of most tables, share one setting: of a thousand tables each keeps its settings to the end.
///
/// # Errors
/// [`ErrorKind::Usage`] for a compression level that does not exist.
pub fn writer_properties(
    schema: &SchemaDescriptor,
    compression: Compression,
    rising: &[&str],
) -> Result<WriterPropertiesPtr> {
    let wide = schema.num_columns() >= WIDE;
    let base = WriterProperties::builder()
        .set_created_by(CREATED_BY.to_owned())
        .set_compression(compression.codec()?)
        .set_encoding(OF_MOST.0)
        .set_dictionary_enabled(OF_MOST.1)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(false)
        .set_data_page_row_count_limit(if wide { WIDE_PAGE_ROWS } else { PAGE_ROWS })
        .set_sorting_columns(sorting_columns(schema));
    let set = |builder, leaf: &ColumnDescPtr| set_column(builder, leaf, compression, rising);
    let builder = schema.columns().iter().fold(base, set);
    Ok(Arc::new(builder.build()))
}

/// The settings of one leaf.
fn set_column(
    builder: WriterPropertiesBuilder,
    leaf: &ColumnDescriptor,
    compression: Compression,
    rising: &[&str],
) -> WriterPropertiesBuilder {
    let path = leaf.path();
    let builder = match encoding_of(leaf, compression, rising) {
        OF_MOST => builder,
        (encoding, dictionary) => {
            builder.set_column_encoding(path.clone(), encoding).set_column_dictionary_enabled(path.clone(), dictionary)
        }
    };
    if matches!(path.parts(), [name] if PAGE_STATISTICS.contains(&name.as_str())) {
        builder.set_column_statistics_enabled(path.clone(), EnabledStatistics::Page)
    } else {
        builder
    }
}

/// The encoding of a column, or, with a dictionary, of what follows once the dictionary is full.
///
/// Read back by `DuckDB`, pyarrow and both of Spark's Parquet readers, for all logical types of `docs/columns.md`.
fn encoding_of(leaf: &ColumnDescriptor, compression: Compression, rising: &[&str]) -> (Encoding, bool) {
    match leaf.physical_type() {
        PhysicalType::INT32 | PhysicalType::INT64 if is_distinct(leaf, rising) => {
            (Encoding::DELTA_BINARY_PACKED, false)
        }
        // Lists repeat as a whole, call stacks above all: Zstandard finds that in plain values, but not in indices of a
        // bit width of their own. Codecs that look back less far, or not at all, need the dictionary.
        PhysicalType::INT32 | PhysicalType::INT64
            if leaf.max_rep_level() > 0 && matches!(compression, Compression::Zstd(_)) =>
        {
            (Encoding::PLAIN, false)
        }
        PhysicalType::INT32 | PhysicalType::INT64 => OF_MOST,
        PhysicalType::BYTE_ARRAY => (Encoding::DELTA_LENGTH_BYTE_ARRAY, true),
        PhysicalType::BOOLEAN => (Encoding::PLAIN, false),
        PhysicalType::FLOAT | PhysicalType::DOUBLE | PhysicalType::FIXED_LEN_BYTE_ARRAY | PhysicalType::INT96 => {
            (Encoding::PLAIN, true)
        }
    }
}

/// Whether nearly every row has a value of its own, so that a dictionary would only grow.
fn is_distinct(leaf: &ColumnDescriptor, rising: &[&str]) -> bool {
    let [name] = leaf.path().parts() else { return false };
    let is_rising = RISING.iter().chain(rising).any(|rising| rising == name);
    is_rising || (name.ends_with(NANOSECONDS) && !CPU_TIMES.contains(&name.as_str()))
}

/// The sort key as leaf positions, if the table has it.
fn sorting_columns(schema: &SchemaDescriptor) -> Option<Vec<SortingColumn>> {
    let position = |name: &&str| {
        let at = schema.columns().iter().position(|leaf| matches!(leaf.path().parts(), [part] if part == name))?;
        Some(SortingColumn { column_idx: i32::try_from(at).ok()?, descending: false, nulls_first: false })
    };
    let key: Option<Vec<SortingColumn>> = SORT_KEY.iter().map(position).collect();
    key.map(|key| position(&TRACE).into_iter().chain(key).collect())
}

#[cfg(test)]
mod tests {
    use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
    use parquet::arrow::ArrowSchemaConverter;
    use parquet::schema::types::ColumnPath;

    use super::*;
    use EnabledStatistics::{Chunk, Page};

    fn descriptor(fields: Vec<Field>) -> SchemaDescriptor {
        ArrowSchemaConverter::new().convert(&Schema::new(fields)).unwrap()
    }

    fn path(parts: &[&str]) -> ColumnPath {
        ColumnPath::new(parts.iter().map(|&p| p.to_owned()).collect())
    }

    #[test]
    fn every_leaf_gets_the_encoding_of_its_type() {
        let list = |item| DataType::List(Arc::new(Field::new("element", item, true)));
        let item = DataType::Struct(Fields::from(vec![
            Field::new("type", DataType::UInt16, false),
            Field::new("seq", DataType::Int64, false),
            Field::new("data", DataType::Binary, true),
        ]));
        let schema = descriptor(vec![
            Field::new("timestamp", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), false),
            Field::new("timestamp_ns", DataType::Int64, false),
            Field::new("seq", DataType::Int64, false),
            Field::new("ticks", DataType::Int64, true),
            Field::new("base", DataType::Int64, true),
            Field::new("size", DataType::Int64, true),
            Field::new("EventTimeStamp_ns", DataType::Int64, true),
            Field::new("kernel_time_ns", DataType::Int64, true),
            Field::new("user_time_ns", DataType::Int64, true),
            Field::new("flag", DataType::Boolean, true),
            Field::new("f", DataType::Float64, true),
            Field::new("text", DataType::Utf8, true),
            Field::new("guid", DataType::FixedSizeBinary(16), true),
            Field::new("stack", list(DataType::UInt64), true),
            Field::new("Offsets", list(DataType::UInt32), true),
            Field::new("Times_ns", list(DataType::Int64), true),
            Field::new("extended", list(item), true),
        ]);
        let properties = writer_properties(&schema, Compression::default(), &["base"]).unwrap();
        let t = |parts: &[&str], encoding, dictionary, statistics| {
            let path = path(parts);
            let found = (
                properties.encoding(&path),
                properties.dictionary_enabled(&path),
                properties.statistics_enabled(&path),
            );
            assert_eq!(found, (Some(encoding), dictionary, statistics), "{parts:?}");
        };
        t(&["timestamp"], Encoding::DELTA_BINARY_PACKED, false, Page);
        t(&["timestamp_ns"], Encoding::DELTA_BINARY_PACKED, false, Page);
        t(&["seq"], Encoding::DELTA_BINARY_PACKED, false, Page);
        t(&["ticks"], Encoding::DELTA_BINARY_PACKED, false, Chunk);
        t(&["base"], Encoding::DELTA_BINARY_PACKED, false, Chunk);
        t(&["size"], Encoding::DELTA_BINARY_PACKED, true, Chunk);
        t(&["EventTimeStamp_ns"], Encoding::DELTA_BINARY_PACKED, false, Chunk);
        t(&["kernel_time_ns"], Encoding::DELTA_BINARY_PACKED, true, Chunk);
        t(&["user_time_ns"], Encoding::DELTA_BINARY_PACKED, true, Chunk);
        t(&["flag"], Encoding::PLAIN, false, Chunk);
        t(&["f"], Encoding::PLAIN, true, Chunk);
        t(&["text"], Encoding::DELTA_LENGTH_BYTE_ARRAY, true, Chunk);
        t(&["guid"], Encoding::PLAIN, true, Chunk);
        t(&["stack", "list", "element"], Encoding::PLAIN, false, Chunk);
        t(&["Offsets", "list", "element"], Encoding::PLAIN, false, Chunk);
        t(&["Times_ns", "list", "element"], Encoding::PLAIN, false, Chunk);
        t(&["extended", "list", "element", "type"], Encoding::PLAIN, false, Chunk);
        t(&["extended", "list", "element", "seq"], Encoding::PLAIN, false, Chunk);
        t(&["extended", "list", "element", "data"], Encoding::DELTA_LENGTH_BYTE_ARRAY, true, Chunk);
        assert!(!properties.offset_index_disabled());
        let order: Vec<_> = properties.sorting_columns().unwrap().iter().map(|s| s.column_idx).collect();
        assert_eq!(order, [1, 2]);
    }

    #[test]
    fn rows_of_several_traces_are_sorted_by_trace_first() {
        let long = |name| Field::new(name, DataType::Int64, false);
        let schema = descriptor(vec![
            Field::new("trace", DataType::Utf8, false),
            long("cpu"),
            long("timestamp_ns"),
            long("seq"),
        ]);
        let properties = writer_properties(&schema, Compression::default(), &[]).unwrap();
        let order: Vec<_> = properties.sorting_columns().unwrap().iter().map(|s| s.column_idx).collect();
        assert_eq!(order, [0, 2, 3]);
    }

    #[test]
    fn only_zstandard_finds_what_repeats_in_plain_lists() {
        let item = Arc::new(Field::new("element", DataType::UInt64, true));
        let schema = descriptor(vec![Field::new("stack", DataType::List(item), true)]);
        let t = |compression, encoding, dictionary| {
            let properties = writer_properties(&schema, compression, &[]).unwrap();
            let path = path(&["stack", "list", "element"]);
            let found = (properties.encoding(&path), properties.dictionary_enabled(&path));
            assert_eq!(found, (Some(encoding), dictionary), "{compression}");
        };
        t(Compression::Zstd(1), Encoding::PLAIN, false);
        t(Compression::Zstd(22), Encoding::PLAIN, false);
        t(Compression::Snappy, Encoding::DELTA_BINARY_PACKED, true);
        t(Compression::Lz4, Encoding::DELTA_BINARY_PACKED, true);
        t(Compression::None, Encoding::DELTA_BINARY_PACKED, true);
    }

    #[test]
    fn a_table_without_the_sort_key_claims_no_order() {
        let schema = descriptor(vec![Field::new("timestamp_ns", DataType::Int64, false)]);
        let properties = writer_properties(&schema, Compression::default(), &[]).unwrap();
        assert_eq!(properties.sorting_columns(), None);
    }

    #[test]
    fn compression_names_are_those_of_the_command_line() {
        let t = |text: &str, expected| assert_eq!(text.parse::<Compression>().ok(), expected, "{text}");
        t("zstd", Some(Compression::Zstd(3)));
        t("zstd(1)", Some(Compression::Zstd(1)));
        t("zstd(22)", Some(Compression::Zstd(22)));
        t("snappy", Some(Compression::Snappy));
        t("lz4", Some(Compression::Lz4));
        t("none", Some(Compression::None));
        for wrong in ["", "zstd(0)", "zstd(23)", "zstd(3", "gzip", "ZSTD"] {
            t(wrong, None);
        }
        for compression in [Compression::Zstd(7), Compression::Snappy, Compression::Lz4, Compression::None] {
            t(&compression.to_string(), Some(compression));
            assert!(compression.codec().is_ok());
        }
    }
}
