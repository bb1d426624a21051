//! A table as a list of columns, each with the function that takes its value from a row.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::types::UInt32Type;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Float64Array, Int64Array, StringArray, TimestampMicrosecondArray, UInt8Array,
    UInt16Array, UInt32Array,
};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::calendar::rfc3339;
use crate::columns::RowSource;
use crate::dataset::{EncodeOptions, FileNaming, TableSpec, TableWriter};
use crate::error::Result;
use crate::output::{FileEntry, LocalFolder};
use crate::table::header::element;

/// Rows at which a row group is closed.
const GROUP_ROWS: usize = 1 << 20;

/// Bytes of text and binary values at which a row group is closed. Far below the 2 GiB that one Arrow array can hold.
const GROUP_WEIGHT: usize = 128 << 20;

/// A table with rows of type `R`.
pub(super) struct Table<R> {
    name: &'static str,
    columns: Vec<Column<R>>,
    weight: fn(&R) -> usize,
}

struct Column<R> {
    name: &'static str,
    values: Values<R>,
}

/// A row for a document: the columns in their order, NULL as null, points in time as RFC 3339.
#[derive(Clone, Debug, PartialEq)]
pub struct Record(Vec<(&'static str, Value)>);

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// How a row's value is made, by the type of the column.
enum Values<R> {
    Text(fn(&R) -> Option<&str>),
    MadeText(fn(&R) -> Option<String>),
    Texts(fn(&R) -> Option<Vec<String>>),
    Bytes(fn(&R) -> Option<&[u8]>),
    Bool(fn(&R) -> Option<bool>),
    UInt8(fn(&R) -> Option<u8>),
    UInt16(fn(&R) -> Option<u16>),
    UInt32(fn(&R) -> Option<u32>),
    UInt32s(fn(&R) -> Option<Vec<u32>>),
    Int64(fn(&R) -> Option<i64>),
    Count(fn(&R) -> Option<u64>),
    Double(fn(&R) -> Option<f64>),
    Time(fn(&R) -> Option<i64>),
}

impl<R: Send + Sync> Table<R> {
    /// A table without columns.
    pub(super) fn new(name: &'static str) -> Self {
        Table { name, columns: Vec::new(), weight: |_| 0 }
    }

    /// Sets how many bytes of text and binary values a row holds, where that may be many.
    pub(super) fn weight(self, weight: fn(&R) -> usize) -> Self {
        Table { weight, ..self }
    }

    fn column(mut self, name: &'static str, values: Values<R>) -> Self {
        self.columns.push(Column { name, values });
        self
    }

    /// A STRING column.
    pub(super) fn text(self, name: &'static str, value: fn(&R) -> Option<&str>) -> Self {
        self.column(name, Values::Text(value))
    }

    /// A STRING column of texts that are put together.
    pub(super) fn made_text(self, name: &'static str, value: fn(&R) -> Option<String>) -> Self {
        self.column(name, Values::MadeText(value))
    }

    /// A LIST of STRING.
    pub(super) fn texts(self, name: &'static str, value: fn(&R) -> Option<Vec<String>>) -> Self {
        self.column(name, Values::Texts(value))
    }

    /// A BINARY column.
    pub(super) fn bytes(self, name: &'static str, value: fn(&R) -> Option<&[u8]>) -> Self {
        self.column(name, Values::Bytes(value))
    }

    /// A BOOLEAN column.
    pub(super) fn bool(self, name: &'static str, value: fn(&R) -> Option<bool>) -> Self {
        self.column(name, Values::Bool(value))
    }

    /// A `UINT_8` column.
    pub(super) fn uint8(self, name: &'static str, value: fn(&R) -> Option<u8>) -> Self {
        self.column(name, Values::UInt8(value))
    }

    /// A `UINT_16` column.
    pub(super) fn uint16(self, name: &'static str, value: fn(&R) -> Option<u16>) -> Self {
        self.column(name, Values::UInt16(value))
    }

    /// A `UINT_32` column.
    pub(super) fn uint32(self, name: &'static str, value: fn(&R) -> Option<u32>) -> Self {
        self.column(name, Values::UInt32(value))
    }

    /// A LIST of `UINT_32`.
    pub(super) fn uint32s(self, name: &'static str, value: fn(&R) -> Option<Vec<u32>>) -> Self {
        self.column(name, Values::UInt32s(value))
    }

    /// An INT64 column.
    pub(super) fn int64(self, name: &'static str, value: fn(&R) -> Option<i64>) -> Self {
        self.column(name, Values::Int64(value))
    }

    /// An INT64 column of counts: signed, because readers turn `UINT_64` into decimals.
    pub(super) fn count(self, name: &'static str, value: fn(&R) -> Option<u64>) -> Self {
        self.column(name, Values::Count(value))
    }

    /// A DOUBLE column.
    pub(super) fn double(self, name: &'static str, value: fn(&R) -> Option<f64>) -> Self {
        self.column(name, Values::Double(value))
    }

    /// A TIMESTAMP(MICROS, UTC) column of Unix nanoseconds, rounded toward the past.
    pub(super) fn time(self, name: &'static str, ns: fn(&R) -> Option<i64>) -> Self {
        self.column(name, Values::Time(ns))
    }

    /// A column that is NULL throughout, of type INT64: no trace records it.
    pub(super) fn never(self, name: &'static str) -> Self {
        self.int64(name, |_| None)
    }

    /// A row as names and values.
    pub(super) fn record(&self, row: &R) -> Record {
        Record(self.columns.iter().map(|column| (column.name, column.values.json(row))).collect())
    }

    /// Rows as names and values.
    pub(super) fn records(&self, rows: impl Iterator<Item = R>) -> Vec<Record> {
        rows.map(|row| self.record(&row)).collect()
    }

    /// Writes the rows; of them only one row group's are held at a time.
    pub(super) fn write(
        self,
        staging: &LocalFolder,
        encode: &EncodeOptions,
        rows: impl Iterator<Item = R>,
    ) -> Result<Vec<FileEntry>> {
        let fields: Vec<_> = self.columns.iter().map(Column::field).collect();
        let spec = TableSpec {
            folder: "sidecar".to_owned(),
            files: FileNaming::Single(self.name.to_owned()),
            schema: Arc::new(Schema::new(fields)),
            metadata: Vec::new(),
            provider_id: None,
            provider_name: None,
        };
        let writer = TableWriter::new(staging, spec, encode)?;
        let mut rows = rows.peekable();
        for ordinal in 0.. {
            let group = Group { columns: &self.columns, rows: self.next_group(&mut rows) };
            if group.rows.is_empty() {
                break;
            }
            writer.append(ordinal, writer.encode(&group)?)?;
        }
        writer.finish()
    }

    fn next_group(&self, rows: &mut impl Iterator<Item = R>) -> Vec<R> {
        let (mut group, mut weight) = (Vec::new(), 0usize);
        while group.len() < GROUP_ROWS && weight < GROUP_WEIGHT {
            let Some(row) = rows.next() else { break };
            weight = weight.saturating_add((self.weight)(&row));
            group.push(row);
        }
        group
    }
}

/// The rows of one row group.
struct Group<'a, R> {
    columns: &'a [Column<R>],
    rows: Vec<R>,
}

impl<R: Send + Sync> RowSource for Group<'_, R> {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn column(&self, index: usize, rows: Range<usize>) -> Result<ArrayRef> {
        Ok(self.columns[index].array(&self.rows[rows]))
    }
}

impl<R> Values<R> {
    fn json(&self, row: &R) -> Value {
        match self {
            Values::Text(value) => value(row).into(),
            Values::MadeText(value) => value(row).into(),
            Values::Texts(value) => value(row).into(),
            Values::Bytes(value) => value(row).into(),
            Values::Bool(value) => value(row).into(),
            Values::UInt8(value) => value(row).into(),
            Values::UInt16(value) => value(row).into(),
            Values::UInt32(value) => value(row).into(),
            Values::UInt32s(value) => value(row).into(),
            Values::Int64(value) => value(row).into(),
            Values::Count(value) => value(row).into(),
            Values::Double(value) => value(row).into(),
            Values::Time(ns) => ns(row).map(rfc3339).into(),
        }
    }
}

impl<R> Column<R> {
    fn field(&self) -> Field {
        let data_type = match self.values {
            Values::Text(_) | Values::MadeText(_) => DataType::Utf8,
            Values::Texts(_) => DataType::List(element(DataType::Utf8)),
            Values::Bytes(_) => DataType::Binary,
            Values::Bool(_) => DataType::Boolean,
            Values::UInt8(_) => DataType::UInt8,
            Values::UInt16(_) => DataType::UInt16,
            Values::UInt32(_) => DataType::UInt32,
            Values::UInt32s(_) => DataType::List(element(DataType::UInt32)),
            Values::Int64(_) | Values::Count(_) => DataType::Int64,
            Values::Double(_) => DataType::Float64,
            Values::Time(_) => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        };
        Field::new(self.name, data_type, true)
    }

    fn array(&self, rows: &[R]) -> ArrayRef {
        let rows = rows.iter();
        match self.values {
            Values::Text(value) => Arc::new(rows.map(value).collect::<StringArray>()),
            Values::MadeText(value) => Arc::new(rows.map(value).collect::<StringArray>()),
            Values::Texts(value) => texts(rows.map(value)),
            Values::Bytes(value) => Arc::new(rows.map(value).collect::<BinaryArray>()),
            Values::Bool(value) => Arc::new(rows.map(value).collect::<BooleanArray>()),
            Values::UInt8(value) => Arc::new(rows.map(value).collect::<UInt8Array>()),
            Values::UInt16(value) => Arc::new(rows.map(value).collect::<UInt16Array>()),
            Values::UInt32(value) => Arc::new(rows.map(value).collect::<UInt32Array>()),
            Values::UInt32s(value) => uint32s(rows.map(value)),
            Values::Int64(value) => Arc::new(rows.map(value).collect::<Int64Array>()),
            Values::Count(value) => Arc::new(rows.map(|row| value(row).map(saturated)).collect::<Int64Array>()),
            Values::Double(value) => Arc::new(rows.map(value).collect::<Float64Array>()),
            Values::Time(ns) => {
                let micros = rows.map(|row| ns(row).map(|ns| ns.div_euclid(1000)));
                Arc::new(micros.collect::<TimestampMicrosecondArray>().with_timezone("UTC"))
            }
        }
    }
}

fn saturated(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn texts(rows: impl Iterator<Item = Option<Vec<String>>>) -> ArrayRef {
    let mut lists = ListBuilder::new(StringBuilder::new()).with_field(element(DataType::Utf8));
    for row in rows {
        let is_valid = row.is_some();
        row.iter().flatten().for_each(|text| lists.values().append_value(text));
        lists.append(is_valid);
    }
    Arc::new(lists.finish())
}

fn uint32s(rows: impl Iterator<Item = Option<Vec<u32>>>) -> ArrayRef {
    let values = PrimitiveBuilder::<UInt32Type>::new();
    let mut lists = ListBuilder::new(values).with_field(element(DataType::UInt32));
    for row in rows {
        let is_valid = row.is_some();
        lists.values().append_slice(row.as_deref().unwrap_or_default());
        lists.append(is_valid);
    }
    Arc::new(lists.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int64Type, TimestampMicrosecondType};
    use parquet::file::metadata::ParquetMetaDataReader;

    #[test]
    fn times_are_rounded_toward_the_past_and_counts_saturate() {
        let table = Table::<(i64, u64)>::new("t").time("time", |row| Some(row.0)).count("count", |row| Some(row.1));
        let rows = [(-1, 0), (1999, u64::MAX)];
        let array = |index: usize| table.columns[index].array(&rows);
        assert_eq!(array(0).as_primitive::<TimestampMicrosecondType>().values(), &[-1, 1]);
        assert_eq!(array(1).as_primitive::<Int64Type>().values(), &[0, i64::MAX]);
    }

    #[test]
    fn heavy_rows_close_a_row_group_early() {
        let folder = tempfile::tempdir().unwrap();
        let table = Table::<u64>::new("t").weight(|_| 100 << 20).count("n", |row| Some(*row));
        let staging = LocalFolder::create(folder.path(), "a").unwrap();
        let files = table.write(&staging, &EncodeOptions::default(), 0..5).unwrap();
        assert_eq!((files.len(), files[0].rows), (1, 5));
        let file = std::fs::File::open(staging.root().join("sidecar/t.parquet.tmp")).unwrap();
        let footer = ParquetMetaDataReader::new().parse_and_finish(&file).unwrap();
        let groups: Vec<_> =
            footer.row_groups().iter().map(parquet::file::metadata::RowGroupMetaData::num_rows).collect();
        assert_eq!(groups, [2, 2, 1]);
    }
}
