//! A Parquet table as text.

use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// Column names, then rows, cell by cell; NULL is `-`, bytes are hexadecimal digits.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub names: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Reads one file.
    pub fn read(path: &Path) -> Table {
        let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let names = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
        let mut table = Table { names, rows: Vec::new() };
        for batch in reader.build().unwrap() {
            let batch = batch.unwrap();
            let row = |row| batch.columns().iter().map(|column| cell(column, row)).collect();
            table.rows.extend((0..batch.num_rows()).map(row));
        }
        table
    }

    /// Reads all files of a folder, in the order of their names.
    pub fn read_folder(folder: &Path) -> Table {
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        let mut tables = files.iter().map(|file| Table::read(file));
        let first = tables.next().expect("a dataset has a file");
        tables.fold(first, |mut all, table| {
            assert_eq!(all.names, table.names);
            all.rows.extend(table.rows);
            all
        })
    }

    fn place(&self, column: &str) -> usize {
        let place = self.names.iter().position(|name| name == column);
        place.unwrap_or_else(|| panic!("no column {column} among {:?}", self.names))
    }

    /// One cell.
    pub fn cell(&self, row: usize, column: &str) -> &str {
        &self.rows[row][self.place(column)]
    }

    /// One row's cells of the named columns, with `|` between.
    pub fn row(&self, row: usize, columns: &str) -> String {
        columns.split_whitespace().map(|column| self.cell(row, column)).collect::<Vec<_>>().join("|")
    }

    /// All rows' cells of the named columns.
    pub fn lines(&self, columns: &str) -> Vec<String> {
        (0..self.rows.len()).map(|row| self.row(row, columns)).collect()
    }

    /// The columns of a row that have a value, as `name=value`, without those of its time and place.
    pub fn set(&self, row: usize) -> String {
        const PLACE: [&str; 5] = ["timestamp", "timestamp_ns", "seq", "input", "shape"];
        let pairs = self.names.iter().zip(&self.rows[row]);
        let set = pairs.filter(|(name, value)| *value != "-" && !PLACE.contains(&name.as_str()));
        set.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    }

    /// A column of integers without NULL.
    pub fn numbers(&self, column: &str) -> Vec<i64> {
        let place = self.place(column);
        self.rows.iter().map(|row| row[place].parse().unwrap()).collect()
    }
}

/// A value as text.
fn cell(column: &ArrayRef, row: usize) -> String {
    if column.is_null(row) {
        return "-".to_owned();
    }
    macro_rules! number {
        ($kind:ty) => {
            column.as_primitive::<$kind>().value(row).to_string()
        };
    }
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
        DataType::Binary => hex(column.as_binary::<i32>().value(row)),
        DataType::FixedSizeBinary(_) => hex(column.as_fixed_size_binary().value(row)),
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::Float32 => number!(Float32Type),
        DataType::Float64 => number!(Float64Type),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Timestamp(TimeUnit::Microsecond, _) => number!(TimestampMicrosecondType),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => number!(TimestampNanosecondType),
        DataType::Dictionary(_, _) => {
            let (keys, values) = (column.as_any_dictionary().normalized_keys(), column.as_any_dictionary().values());
            cell(values, keys[row])
        }
        DataType::List(_) => {
            let items = column.as_list::<i32>().value(row);
            let items: Vec<String> = (0..items.len()).map(|item| cell(&items, item)).collect();
            format!("[{}]", items.join(","))
        }
        DataType::Struct(_) => {
            let members: Vec<String> = column.as_struct().columns().iter().map(|member| cell(member, row)).collect();
            format!("{{{}}}", members.join(":"))
        }
        other => panic!("no table has {other}"),
    }
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}
