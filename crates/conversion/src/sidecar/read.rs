//! Rows of tables, read from Parquet: a struct has the columns that its reader wants, each bound once per batch.
//!
//! `sidecar_row!` makes whole rows of the sidecar readable,
//! [`read_columns!`](crate::read_columns!) declares rows with some of the columns. For tables of the sidecar the compiler
//! checks that a column is declared, what kind of value it has, and that a value that may be absent is an [`Option`].

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Float64Array, ListArray, PrimitiveArray, StringArray,
    TimestampMicrosecondArray,
};
use arrow_schema::DataType;
use base::error::{Error, ErrorKind};
use columnar::output::manifest::OLDEST_FORMAT_VERSION;
use schema::model::MapNames;

use super::cell::{Cell, NotRecorded, Time, kind};
use crate::survey::loss::LossKind;
use crate::survey::{IssueCode, Severity};

/// A row that can be read from batches of a Parquet table.
pub trait ReadRow {
    /// The row; its texts and bytes are those of the batch.
    type Row<'b>;

    /// The names of the columns that it reads.
    const COLUMNS: &'static [&'static str];

    /// Hands over the rows of a batch. A column that the batch lacks, or has in another type, is NULL.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] where a value is NULL that never is.
    fn read<'b>(batch: &'b RecordBatch, each: impl FnMut(Self::Row<'b>)) -> Result<()>;
}

/// A table of the sidecar as it is declared.
pub trait SidecarTable {
    /// The table's name, which is also that of its file.
    const TABLE: &'static str;

    /// The columns, each with the format version since which every file of the table has it.
    const SINCE: &'static [(&'static str, u32)];
}

/// A row with columns of a table of the sidecar.
pub trait ReadSidecarRow: ReadRow {
    /// The table.
    type Table: SidecarTable;
}

/// A type that the values of a column are read as: an [`Option`] where they may be NULL.
pub trait FromColumn<'b>: Sized {
    /// What kind of values it takes, one of [`kind`].
    type Kind;

    /// A column of a batch.
    type Column;

    /// Whether it has room for NULL.
    const TAKES_NULL: bool;

    /// The column of an array; `None` of one with values of another kind.
    fn bind(array: &'b ArrayRef) -> Option<Self::Column>;

    /// The value in a row; `None` where there is none that this type can hold.
    fn at(column: Option<&Self::Column>, row: usize) -> Option<Self>;
}

/// A column of a batch, bound to the type of its values.
#[derive(Debug)]
pub struct BoundColumn<'b, T: FromColumn<'b>> {
    name: &'static str,
    column: Option<T::Column>,
}

impl<'b, T: FromColumn<'b>> BoundColumn<'b, T> {
    /// The column of this name.
    pub fn of(batch: &'b RecordBatch, name: &'static str) -> Self {
        BoundColumn { name, column: batch.column_by_name(name).and_then(T::bind) }
    }

    /// The value in a row.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] where there is none, and the type has no room for NULL.
    pub fn at(&self, row: usize) -> Result<T> {
        T::at(self.column.as_ref(), row).ok_or_else(|| {
            let message = format!("expected a value of {} in every row, found a row without one", self.name);
            Error::new(ErrorKind::Output, message).with_hint("convert the trace again")
        })
    }
}

/// Lets the compiler refuse a type that the values of a declared column cannot be read as.
pub const fn check_column<'b, R, C: Cell, T: FromColumn<'b, Kind = C::Kind>>(_: fn(&R) -> &C) {
    const { assert!(T::TAKES_NULL || !C::MAY_BE_NULL, "the column may be NULL: read it as an Option") }
}

/// Whether every trace that is read has a column.
pub const fn is_always_there(since: &[(&str, u32)], name: &str) -> bool {
    let mut at = 0;
    while at < since.len() {
        if is_same(since[at].0.as_bytes(), name.as_bytes()) {
            return since[at].1 <= OLDEST_FORMAT_VERSION;
        }
        at += 1;
    }
    false
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// Declares a row with some of the columns of a table, and makes it readable.
///
/// `of` names the declared row of a sidecar table, whose fields are the columns; without it each field names its column.
///
/// ```
/// # use etl2parquet_conversion as conversion;
/// use conversion::read_columns;
/// use conversion::sidecar::dimensions::ProcessRow;
/// use conversion::sidecar::read::{ReadRow, RecordBatch};
///
/// read_columns! {
///     /// The name of a process.
///     struct Named<'b> of ProcessRow<'static> {
///         process_id: u32,
///         image_name: Option<&'b str>,
///     }
/// }
/// assert_eq!(Named::COLUMNS, ["process_id", "image_name"]);
/// # fn read(batch: &RecordBatch) { Named::read(batch, |_| {}).unwrap() }
/// # read(&RecordBatch::new_empty(std::sync::Arc::new(arrow_schema::Schema::empty())));
/// ```
///
/// A value that may be NULL is an [`Option`]:
///
/// ```compile_fail,E0080
/// # use etl2parquet_conversion as conversion;
/// # use conversion::read_columns;
/// # use conversion::sidecar::dimensions::ProcessRow;
/// # use conversion::sidecar::read::{ReadRow, RecordBatch};
/// read_columns! {
///     struct Named<'b> of ProcessRow<'static> {
///         image_name: &'b str,
///     }
/// }
/// # fn read(batch: &RecordBatch) { Named::read(batch, |_| {}).unwrap() }
/// # read(&RecordBatch::new_empty(std::sync::Arc::new(arrow_schema::Schema::empty())));
/// ```
///
/// A text is no number, and what is not declared is no column:
///
/// ```compile_fail
/// # use etl2parquet_conversion as conversion;
/// # use conversion::read_columns;
/// # use conversion::sidecar::dimensions::ProcessRow;
/// read_columns! {
///     struct Named of ProcessRow<'static> {
///         image_name: Option<i64>,
///     }
/// }
/// ```
///
/// ```compile_fail
/// # use etl2parquet_conversion as conversion;
/// # use conversion::read_columns;
/// # use conversion::sidecar::dimensions::ProcessRow;
/// read_columns! {
///     struct Named<'b> of ProcessRow<'static> {
///         nickname: Option<&'b str>,
///     }
/// }
/// ```
#[macro_export]
macro_rules! read_columns {
    (
        $(#[$attribute:meta])*
        $vis:vis struct $row:ident $(<$life:lifetime>)? of $table:ty {
            $( $(#[$doc:meta])* $field:ident: $type:ty, )+
        }
    ) => {
        $crate::read_columns! { @declare [$(#[$attribute])*] $vis $row [$($life)?] { $( [$(#[$doc])*] $field: $type, )+ } }
        $crate::read_columns! { @read $row [$($life)?] { $( $field: stringify!($field), )+ } {
            $(
                $crate::sidecar::read::check_column::<$table, _, $type>(|row| &row.$field);
                const { assert!(
                    <$type as $crate::sidecar::read::FromColumn<'_>>::TAKES_NULL || $crate::sidecar::read::is_always_there(
                        <$table as $crate::sidecar::read::SidecarTable>::SINCE,
                        stringify!($field),
                    ),
                    "older traces lack the column: read it as an Option"
                ) }
            )+
        } }
        impl $(<$life>)? $crate::sidecar::read::ReadSidecarRow for $row $(<$life>)? {
            type Table = $table;
        }
    };
    (
        $(#[$attribute:meta])*
        $vis:vis struct $row:ident $(<$life:lifetime>)? {
            $( $(#[$doc:meta])* $field:ident: $type:ty = $name:literal, )+
        }
    ) => {
        $crate::read_columns! { @declare [$(#[$attribute])*] $vis $row [$($life)?] { $( [$(#[$doc])*] $field: $type, )+ } }
        $crate::read_columns! { @read $row [$($life)?] { $( $field: $name, )+ } {} }
    };
    (@declare [$(#[$attribute:meta])*] $vis:vis $row:ident [$($life:lifetime)?] {
        $( [$(#[$doc:meta])*] $field:ident: $type:ty, )+
    }) => {
        $(#[$attribute])*
        $vis struct $row $(<$life>)? {
            $( $(#[$doc])* pub $field: $type, )+
        }
    };
    (@read $row:ident [$($life:lifetime)?] { $( $field:ident: $name:expr, )+ } { $($checks:tt)* }) => {
        impl $(<$life>)? $crate::sidecar::read::ReadRow for $row $(<$life>)? {
            type Row<'batch> = $crate::read_columns!(@type 'batch $row [$($life)?]);

            const COLUMNS: &'static [&'static str] = &[$( $name, )+];

            fn read<'batch>(
                batch: &'batch $crate::sidecar::read::RecordBatch,
                mut each: impl FnMut(Self::Row<'batch>),
            ) -> $crate::sidecar::read::Result<()> {
                $($checks)*
                $( let $field = $crate::sidecar::read::BoundColumn::of(batch, $name); )+
                for row in 0..batch.num_rows() {
                    each($row { $( $field: $field.at(row)?, )+ });
                }
                Ok(())
            }
        }
    };
    (@type $b:lifetime $row:ident []) => { $row };
    (@type $b:lifetime $row:ident [$life:lifetime]) => { $row<$b> };
}

pub use arrow_array::RecordBatch;
pub use base::error::Result;

/// An array of integers of any width.
#[derive(Clone, Copy, Debug)]
pub enum Integers<'b> {
    /// INT8.
    Int8(&'b PrimitiveArray<Int8Type>),
    /// INT16.
    Int16(&'b PrimitiveArray<Int16Type>),
    /// INT32.
    Int32(&'b PrimitiveArray<Int32Type>),
    /// INT64.
    Int64(&'b PrimitiveArray<Int64Type>),
    /// UINT8.
    UInt8(&'b PrimitiveArray<UInt8Type>),
    /// UINT16.
    UInt16(&'b PrimitiveArray<UInt16Type>),
    /// UINT32.
    UInt32(&'b PrimitiveArray<UInt32Type>),
    /// UINT64, read as its bits.
    UInt64(&'b PrimitiveArray<UInt64Type>),
}

impl<'b> Integers<'b> {
    fn bind(array: &'b ArrayRef) -> Option<Self> {
        Some(match array.data_type() {
            DataType::Int8 => Integers::Int8(array.as_primitive()),
            DataType::Int16 => Integers::Int16(array.as_primitive()),
            DataType::Int32 => Integers::Int32(array.as_primitive()),
            DataType::Int64 => Integers::Int64(array.as_primitive()),
            DataType::UInt8 => Integers::UInt8(array.as_primitive()),
            DataType::UInt16 => Integers::UInt16(array.as_primitive()),
            DataType::UInt32 => Integers::UInt32(array.as_primitive()),
            DataType::UInt64 => Integers::UInt64(array.as_primitive()),
            _ => return None,
        })
    }

    fn at(&self, row: usize) -> Option<i64> {
        match self {
            Integers::Int8(array) => number(array, row).map(Into::into),
            Integers::Int16(array) => number(array, row).map(Into::into),
            Integers::Int32(array) => number(array, row).map(Into::into),
            Integers::Int64(array) => number(array, row),
            Integers::UInt8(array) => number(array, row).map(Into::into),
            Integers::UInt16(array) => number(array, row).map(Into::into),
            Integers::UInt32(array) => number(array, row).map(Into::into),
            Integers::UInt64(array) => number(array, row).map(u64::cast_signed),
        }
    }
}

fn number<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>, row: usize) -> Option<T::Native> {
    array.is_valid(row).then(|| array.value(row))
}

fn text<'b>(array: &&'b StringArray, row: usize) -> Option<&'b str> {
    array.is_valid(row).then(|| array.value(row))
}

/// A list of texts; what is NULL in it is left out.
fn texts(lists: &&ListArray, row: usize) -> Option<Vec<String>> {
    let list = lists.is_valid(row).then(|| lists.value(row))?;
    Some(list.as_string_opt::<i32>()?.iter().flatten().map(str::to_owned).collect())
}

/// A list of numbers; what is NULL in it is left out.
fn numbers(lists: &&ListArray, row: usize) -> Option<Vec<u32>> {
    let list = lists.is_valid(row).then(|| lists.value(row))?;
    let numbers = Integers::bind(&list)?;
    Some((0..list.len()).filter_map(|at| numbers.at(at)?.try_into().ok()).collect())
}

/// Types and their `Option`: the kind of their values, a column of them, and how they come from it.
macro_rules! from_columns {
    ($( $type:ty $(where $life:lifetime)?: $kind:ident, $column:ty, $bind:expr, |$values:ident, $row:ident| $value:expr; )+) => { $(
        impl<'b $(, $life)?> FromColumn<'b> for $type {
            type Kind = kind::$kind;
            type Column = $column;
            const TAKES_NULL: bool = false;

            fn bind(array: &'b ArrayRef) -> Option<Self::Column> {
                $bind(array)
            }

            fn at(column: Option<&Self::Column>, $row: usize) -> Option<Self> {
                let $values = column?;
                $value
            }
        }

        impl<'b $(, $life)?> FromColumn<'b> for Option<$type> {
            type Kind = kind::$kind;
            type Column = $column;
            const TAKES_NULL: bool = true;

            fn bind(array: &'b ArrayRef) -> Option<Self::Column> {
                $bind(array)
            }

            fn at(column: Option<&Self::Column>, $row: usize) -> Option<Self> {
                Some(column.and_then(|$values| $value))
            }
        }
    )+ };
}

from_columns! {
    &'b str: Text, &'b StringArray, AsArray::as_string_opt::<i32>, |all, row| text(all, row);
    String: Text, &'b StringArray, AsArray::as_string_opt::<i32>, |all, row| text(all, row).map(str::to_owned);
    Cow<'c, str> where 'c: Text, &'b StringArray, AsArray::as_string_opt::<i32>,
        |all, row| text(all, row).map(|text| Cow::Owned(text.to_owned()));
    LossKind: Text, &'b StringArray, AsArray::as_string_opt::<i32>, |all, row| LossKind::of_name(text(all, row)?);
    MapNames: Text, &'b StringArray, AsArray::as_string_opt::<i32>, |all, row| MapNames::of_name(text(all, row)?);
    Severity: Text, &'b StringArray, AsArray::as_string_opt::<i32>, |all, row| Severity::of_name(text(all, row)?);
    IssueCode: Text, &'b StringArray, AsArray::as_string_opt::<i32>, |all, row| IssueCode::of_name(text(all, row)?);
    &'b [u8]: Bytes, &'b BinaryArray, AsArray::as_binary_opt::<i32>,
        |all, row| all.is_valid(row).then(|| all.value(row));
    bool: Truth, &'b BooleanArray, AsArray::as_boolean_opt, |all, row| all.is_valid(row).then(|| all.value(row));
    f64: Float, &'b Float64Array, AsArray::as_primitive_opt, |all, row| number(all, row);
    i64: Integer, Integers<'b>, Integers::bind, |all, row| all.at(row);
    u64: Integer, Integers<'b>, Integers::bind, |all, row| all.at(row)?.try_into().ok();
    u32: Integer, Integers<'b>, Integers::bind, |all, row| all.at(row)?.try_into().ok();
    u16: Integer, Integers<'b>, Integers::bind, |all, row| all.at(row)?.try_into().ok();
    u8: Integer, Integers<'b>, Integers::bind, |all, row| all.at(row)?.try_into().ok();
    Time: Instant, &'b TimestampMicrosecondArray, AsArray::as_primitive_opt::<TimestampMicrosecondType>,
        |all, row| number(all, row)?.checked_mul(1000).map(Time);
    Vec<String>: Texts, &'b ListArray, AsArray::as_list_opt::<i32>, |all, row| texts(all, row);
    Cow<'c, [String]> where 'c: Texts, &'b ListArray, AsArray::as_list_opt::<i32>,
        |all, row| texts(all, row).map(Cow::Owned);
    Vec<u32>: Numbers, &'b ListArray, AsArray::as_list_opt::<i32>, |all, row| numbers(all, row);
}

impl<'b> FromColumn<'b> for NotRecorded {
    type Kind = kind::Integer;
    type Column = ();
    const TAKES_NULL: bool = true;

    fn bind(_: &'b ArrayRef) -> Option<()> {
        Some(())
    }

    fn at(_: Option<&()>, _: usize) -> Option<Self> {
        Some(NotRecorded)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Int64Array, UInt16Array, UInt64Array};

    use super::*;
    use crate::sidecar::LossRow;
    use crate::sidecar::buffers::BufferRow;

    read_columns! {
        struct Few<'b> of BufferRow<'static> {
            source: &'b str,
            cpu: Option<u8>,
            events: u32,
            recovered_events: Option<u32>,
        }
    }

    fn batch(columns: &[(&str, ArrayRef)]) -> RecordBatch {
        RecordBatch::try_from_iter_with_nullable(columns.iter().map(|(name, array)| (*name, Arc::clone(array), true)))
            .unwrap()
    }

    #[test]
    fn columns_are_read_by_name_in_whatever_integers_they_are_written() {
        let batch = batch(&[
            ("events", Arc::new(Int64Array::from(vec![7, i64::from(u32::MAX)]))),
            ("cpu", Arc::new(UInt16Array::from(vec![Some(300), Some(3)]))),
            ("source", Arc::new(StringArray::from(vec!["a", "b"]))),
        ]);
        let mut found = Vec::new();
        Few::read(&batch, |row| {
            found.push(format!("{} {:?} {} {:?}", row.source, row.cpu, row.events, row.recovered_events));
        })
        .unwrap();
        // Of a column that older traces lack nothing is known, and 300 is no number of 8 bits.
        assert_eq!(found, ["a None 7 None", "b Some(3) 4294967295 None"]);
    }

    #[test]
    fn a_row_without_a_value_that_there_always_is_is_an_error() {
        let sources: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
        for events in [None, Some(-1), Some(1 << 32)] {
            let columns = [("source", Arc::clone(&sources)), ("events", Arc::new(Int64Array::from(vec![events])) as _)];
            let error = Few::read(&batch(&columns), |_| panic!("no row")).unwrap_err();
            assert!(error.to_string().contains("expected a value of events in every row"), "{error}");
        }
        assert!(Few::read(&batch(&[("source", sources)]), |_| panic!("no row")).is_err(), "no such column");
    }

    #[test]
    fn whole_rows_come_back_as_they_were_written() {
        use crate::sidecar::row::SidecarRow;
        let row = LossRow {
            source: "a".to_owned(),
            kind: LossKind::SequenceGap,
            cpu: Some(3),
            from_time_ns: None,
            to_time_ns: Some(-1),
            from_buffer: Some(0),
            to_buffer: None,
            count: Some(1 << 40),
            unit: "buffers".into(),
            is_lower_bound: true,
            is_certain: false,
            evidence: "e".to_owned(),
            note: None,
        };
        for integers in [columnar::columns::IntegerType::Exact, columnar::columns::IntegerType::Portable] {
            let rows = [row.clone()];
            let columns = LossRow::columns(integers);
            let arrays: Vec<_> = columns.iter().map(|column| (column.name, (column.array)(&rows, integers))).collect();
            let mut found = Vec::new();
            LossRow::read(&batch(&arrays), |row| found.push(row)).unwrap();
            assert_eq!(found, rows);
        }
    }

    #[test]
    fn bits_of_64_bits_are_kept() {
        let all: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX]));
        assert_eq!(Integers::bind(&all).unwrap().at(0), Some(-1));
    }

    #[test]
    fn every_name_is_read_as_what_it_was() {
        assert!(LossKind::ALL.iter().all(|kind| LossKind::of_name(kind.as_str()) == Some(*kind)));
        assert!(IssueCode::ALL.iter().all(|code| IssueCode::of_name(code.as_str()) == Some(*code)));
        let severities = [Severity::Advice, Severity::Info, Severity::Warning, Severity::Error];
        assert!(severities.iter().all(|severity| Severity::of_name(severity.name()) == Some(*severity)));
        let names = [MapNames::Values, MapNames::Bits, MapNames::UnclearBits];
        assert!(names.iter().all(|names| MapNames::of_name(names.as_str()) == Some(*names)));
        assert_eq!(LossKind::of_name("Sequence_gap"), None);
    }
}
