//! A row of a sidecar table is a struct: its fields are the columns, in their order.
//!
//! Files and documents are made of the same structs, so that they cannot differ. What a column holds follows from the
//! type of the field: see the implementations of [`Cell`].

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::types::{ArrowPrimitiveType, Int64Type, UInt32Type};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Float64Array, Int32Array, Int64Array, StringArray, TimestampMicrosecondArray,
    UInt8Array, UInt16Array, UInt32Array,
};
use arrow_schema::{DataType, TimeUnit};
use base::calendar::rfc3339;
use columnar::columns::IntegerType;
use serde::{Serialize, Serializer};

use crate::survey::loss::LossKind;
use crate::survey::{IssueCode, Severity};
use crate::table::header::element;

/// A row of a sidecar table.
pub(crate) trait SidecarRow: Sized + Send + Sync {
    /// The table's name, which is also that of its file.
    const TABLE: &'static str;

    /// Columns of numbers that mostly rise from row to row.
    const RISING: &'static [&'static str];

    /// The columns, with numbers in these types.
    fn columns(integers: IntegerType) -> Vec<SidecarColumn<Self>>;

    /// Bytes of text and binary values, where a row may hold many.
    fn weight(&self) -> usize {
        0
    }
}

/// A column of a table with rows of type `R`.
pub(crate) struct SidecarColumn<R> {
    pub name: &'static str,
    pub data_type: DataType,
    /// The format version since which it is there.
    pub since: u32,
    /// The values of some rows.
    pub array: fn(&[R], IntegerType) -> ArrayRef,
}

/// Declares the row of a sidecar table: a struct with public fields, one per column. A column that the oldest format version
/// lacks says since which one it is there: `column: Type => since 4`.
macro_rules! sidecar_row {
    (
        $(#[$attribute:meta])*
        $table:literal $row:ident $(<$life:lifetime>)? {
            $( $(#[$doc:meta])* $field:ident: $type:ty $(=> since $since:literal)?, )+
        }
        $( rising: $rising:literal )?
        $( weight: $weight:expr )?
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        pub struct $row $(<$life>)? {
            $( $(#[$doc])* pub $field: $type, )+
        }

        impl $(<$life>)? $crate::sidecar::row::SidecarRow for $row $(<$life>)? {
            const TABLE: &'static str = $table;
            const RISING: &'static [&'static str] = &[$( $rising )?];

            fn columns(integers: columnar::columns::IntegerType) -> Vec<$crate::sidecar::row::SidecarColumn<Self>> {
                vec![ $( $crate::sidecar::row::SidecarColumn {
                    name: stringify!($field).trim_start_matches("r#"),
                    data_type: <$type as $crate::sidecar::row::Cell>::data_type(integers),
                    since: [$($since,)? columnar::output::manifest::OLDEST_FORMAT_VERSION][0],
                    array: |rows, integers| {
                        <$type as $crate::sidecar::row::Cell>::array(rows.iter().map(|row: &Self| &row.$field), integers)
                    },
                }, )+ ]
            }

            $(
                fn weight(&self) -> usize {
                    let weight: fn(&Self) -> usize = $weight;
                    weight(self)
                }
            )?
        }
    };
}

pub(crate) use sidecar_row;

/// A type that fields of rows can have. Where it is an `Option`, `None` is NULL.
pub(crate) trait Cell {
    /// The Arrow type of its column, with numbers in these types.
    fn data_type(integers: IntegerType) -> DataType;

    /// A column of values.
    fn array<'a>(values: impl Iterator<Item = &'a Self>, integers: IntegerType) -> ArrayRef
    where
        Self: 'a;
}

/// A point in time in Unix nanoseconds: TIMESTAMP(MICROS, UTC) in a file, rounded toward the past, and RFC 3339 in a
/// document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub i64);

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&rfc3339(self.0))
    }
}

/// The value of a column that no trace records: NULL throughout, of type INT64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NotRecorded;

impl Serialize for NotRecorded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_none()
    }
}

impl Cell for NotRecorded {
    fn data_type(_: IntegerType) -> DataType {
        DataType::Int64
    }

    fn array<'a>(values: impl Iterator<Item = &'a Self>, _: IntegerType) -> ArrayRef {
        Arc::new(values.map(|_| None::<i64>).collect::<Int64Array>())
    }
}

/// A type and its `Option`, whose column is collected from a value that `$value` makes of a reference.
macro_rules! cells {
    ($( $type:ty $(where $life:lifetime)?: $data_type:expr, $array:ty, |$cell:ident| $value:expr; )+) => { $(
        impl $(<$life>)? Cell for $type {
            fn data_type(_: IntegerType) -> DataType {
                $data_type
            }

            fn array<'rows>(values: impl Iterator<Item = &'rows Self>, _: IntegerType) -> ArrayRef
            where
                Self: 'rows,
            {
                Arc::new(values.map(|$cell| Some($value)).collect::<$array>())
            }
        }

        impl $(<$life>)? Cell for Option<$type> {
            fn data_type(_: IntegerType) -> DataType {
                $data_type
            }

            fn array<'rows>(values: impl Iterator<Item = &'rows Self>, _: IntegerType) -> ArrayRef
            where
                Self: 'rows,
            {
                Arc::new(values.map(|value| value.as_ref().map(|$cell| $value)).collect::<$array>())
            }
        }
    )+ };
}

cells! {
    String: DataType::Utf8, StringArray, |text| text.as_str();
    &'a str where 'a: DataType::Utf8, StringArray, |text| *text;
    Cow<'a, str> where 'a: DataType::Utf8, StringArray, |text| text.as_ref();
    &'a [u8] where 'a: DataType::Binary, BinaryArray, |bytes| *bytes;
    LossKind: DataType::Utf8, StringArray, |kind| kind.as_str();
    Severity: DataType::Utf8, StringArray, |severity| severity.name();
    IssueCode: DataType::Utf8, StringArray, |code| code.as_str();
    bool: DataType::Boolean, BooleanArray, |value| *value;
    i64: DataType::Int64, Int64Array, |value| *value;
    // A count is signed in a file, because readers turn UINT_64 into decimals.
    u64: DataType::Int64, Int64Array, |count| i64::try_from(*count).unwrap_or(i64::MAX);
    f64: DataType::Float64, Float64Array, |value| *value;
}

/// Unsigned numbers and their `Option`, which are made of `$exact` or wider signed ones.
macro_rules! unsigned_cells {
    ($( $type:ty, $bytes:literal: $exact:ty, $portable:ty; )+) => { $(
        impl Cell for $type {
            fn data_type(integers: IntegerType) -> DataType {
                integers.unsigned($bytes)
            }

            fn array<'rows>(values: impl Iterator<Item = &'rows Self>, integers: IntegerType) -> ArrayRef {
                match integers {
                    IntegerType::Exact => Arc::new(values.copied().map(Some).collect::<$exact>()),
                    IntegerType::Portable => Arc::new(values.map(|value| Some((*value).into())).collect::<$portable>()),
                }
            }
        }

        impl Cell for Option<$type> {
            fn data_type(integers: IntegerType) -> DataType {
                <$type as Cell>::data_type(integers)
            }

            fn array<'rows>(values: impl Iterator<Item = &'rows Self>, integers: IntegerType) -> ArrayRef {
                match integers {
                    IntegerType::Exact => Arc::new(values.copied().collect::<$exact>()),
                    IntegerType::Portable => Arc::new(values.map(|value| value.map(Into::into)).collect::<$portable>()),
                }
            }
        }
    )+ };
}

unsigned_cells! {
    u8, 1: UInt8Array, Int32Array;
    u16, 2: UInt16Array, Int32Array;
    u32, 4: UInt32Array, Int64Array;
}

impl Cell for Option<Time> {
    fn data_type(_: IntegerType) -> DataType {
        DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
    }

    fn array<'a>(values: impl Iterator<Item = &'a Self>, _: IntegerType) -> ArrayRef {
        let micros = values.map(|time| time.map(|Time(ns)| ns.div_euclid(1000)));
        Arc::new(micros.collect::<TimestampMicrosecondArray>().with_timezone("UTC"))
    }
}

impl Cell for Vec<String> {
    fn data_type(_: IntegerType) -> DataType {
        DataType::List(element(DataType::Utf8))
    }

    fn array<'a>(values: impl Iterator<Item = &'a Self>, _: IntegerType) -> ArrayRef {
        texts(values.map(|list| Some(list.as_slice())))
    }
}

impl Cell for Option<Vec<String>> {
    fn data_type(_: IntegerType) -> DataType {
        DataType::List(element(DataType::Utf8))
    }

    fn array<'a>(values: impl Iterator<Item = &'a Self>, _: IntegerType) -> ArrayRef {
        texts(values.map(Option::as_deref))
    }
}

impl Cell for Option<&[String]> {
    fn data_type(_: IntegerType) -> DataType {
        DataType::List(element(DataType::Utf8))
    }

    fn array<'a>(values: impl Iterator<Item = &'a Self>, _: IntegerType) -> ArrayRef
    where
        Self: 'a,
    {
        texts(values.copied())
    }
}

impl Cell for Option<Vec<u32>> {
    fn data_type(integers: IntegerType) -> DataType {
        DataType::List(element(integers.unsigned(4)))
    }

    fn array<'a>(values: impl Iterator<Item = &'a Self>, integers: IntegerType) -> ArrayRef {
        match integers {
            IntegerType::Exact => numbers::<UInt32Type>(values),
            IntegerType::Portable => numbers::<Int64Type>(values),
        }
    }
}

fn numbers<'a, T: ArrowPrimitiveType<Native: From<u32>>>(rows: impl Iterator<Item = &'a Option<Vec<u32>>>) -> ArrayRef {
    let mut lists = ListBuilder::new(PrimitiveBuilder::<T>::new()).with_field(element(T::DATA_TYPE));
    for row in rows {
        row.iter().flatten().for_each(|&number| lists.values().append_value(number.into()));
        lists.append(row.is_some());
    }
    Arc::new(lists.finish())
}

fn texts<'a>(rows: impl Iterator<Item = Option<&'a [String]>>) -> ArrayRef {
    let mut lists = ListBuilder::new(StringBuilder::new()).with_field(element(DataType::Utf8));
    for row in rows {
        row.into_iter().flatten().for_each(|text| lists.values().append_value(text));
        lists.append(row.is_some());
    }
    Arc::new(lists.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int32Type, TimestampMicrosecondType, UInt8Type};

    #[test]
    fn times_are_rounded_toward_the_past_and_counts_saturate() {
        let times = Cell::array([Some(Time(-1)), Some(Time(1999)), None].iter(), IntegerType::Portable);
        assert_eq!(times.as_primitive::<TimestampMicrosecondType>().values()[..2], [-1, 1]);
        assert!(times.is_null(2));
        let counts = Cell::array([0_u64, u64::MAX].iter(), IntegerType::Exact);
        assert_eq!(counts.as_primitive::<Int64Type>().values(), &[0, i64::MAX]);
    }

    #[test]
    fn unsigned_numbers_are_exact_or_portable() {
        let exact = Cell::array([Some(u8::MAX), None].iter(), IntegerType::Exact);
        assert_eq!(exact.as_primitive::<UInt8Type>().iter().collect::<Vec<_>>(), [Some(u8::MAX), None]);
        let portable = Cell::array([u16::MAX].iter(), IntegerType::Portable);
        assert_eq!(portable.as_primitive::<Int32Type>().values(), &[i32::from(u16::MAX)]);
        let portable = Cell::array([u32::MAX].iter(), IntegerType::Portable);
        assert_eq!(portable.as_primitive::<Int64Type>().values(), &[i64::from(u32::MAX)]);
        let lists = Cell::array([Some(vec![u32::MAX]), None].iter(), IntegerType::Portable);
        assert_eq!(lists.data_type(), &<Option<Vec<u32>> as Cell>::data_type(IntegerType::Portable));
        assert_eq!(lists.as_list::<i32>().value(0).as_primitive::<Int64Type>().values(), &[i64::from(u32::MAX)]);
        assert!(lists.is_null(1));
    }

    sidecar_row! {
        #[expect(unreachable_pub, reason = "rows are public")]
        "things" Thing<'a> {
            name: &'a str,
            seen_time: Option<Time>,
            age: NotRecorded => since 9,
            parts: Vec<String>,
        }
    }

    #[test]
    fn a_document_has_the_columns_of_the_file() {
        let row = Thing { name: "x", seen_time: Some(Time(1)), age: NotRecorded, parts: vec!["a".to_owned()] };
        let json = r#"{"name":"x","seen_time":"1970-01-01T00:00:00.000000001Z","age":null,"parts":["a"]}"#;
        assert_eq!(serde_json::to_string(&row).unwrap(), json);
        let columns = Thing::columns(IntegerType::Portable);
        let names: Vec<_> = columns.iter().map(|column| (column.name, column.since)).collect();
        assert_eq!((names, row.weight()), (vec![("name", 3), ("seen_time", 3), ("age", 9), ("parts", 3)], 0));
    }
}
