//! The values that columns of the sidecar can have: their types in Rust, in Arrow and in documents.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type, UInt32Type};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, StringArray,
    TimestampMicrosecondArray, UInt8Array, UInt16Array, UInt32Array,
};
use arrow_schema::{DataType, TimeUnit};
use base::calendar::rfc3339;
use columnar::columns::IntegerType;
use hashbrown::HashMap;
use schema::model::MapNames;
use serde::{Serialize, Serializer};

use crate::survey::loss::LossKind;
use crate::survey::{IssueCode, Severity};
use crate::table::header::element;

/// What kinds of values columns have.
pub mod kind {
    macro_rules! kinds {
        ($( $(#[$doc:meta])* $kind:ident )+) => { $( $(#[$doc])* #[derive(Debug)] pub enum $kind {} )+ };
    }

    kinds! {
        /// Texts.
        Text
        /// Bytes.
        Bytes
        /// Truth values.
        Truth
        /// Integers of any width.
        Integer
        /// Floating-point numbers.
        Float
        /// Points in time.
        Instant
        /// Lists of texts.
        Texts
        /// Lists of numbers.
        Numbers
    }
}

/// A type that fields of rows can have. Where it is an `Option`, `None` is NULL.
pub trait Cell {
    /// What kind of value it is, one of [`kind`].
    type Kind;

    /// Whether it can be NULL.
    const MAY_BE_NULL: bool;

    /// The Arrow type of its column, with numbers in these types.
    fn data_type(integers: IntegerType) -> DataType;

    /// A column of values.
    fn array<'a>(values: impl Iterator<Item = &'a Self>, integers: IntegerType) -> ArrayRef
    where
        Self: 'a;

    /// The same, or a dictionary of it, as it costs the encoder least.
    fn encoded<'a>(values: impl Iterator<Item = &'a Self> + Clone, integers: IntegerType) -> ArrayRef
    where
        Self: 'a,
    {
        Self::array(values, integers)
    }

    /// Whether the value is NULL.
    fn is_null(&self) -> bool {
        false
    }
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
    type Kind = kind::Integer;
    const MAY_BE_NULL: bool = true;

    fn data_type(_: IntegerType) -> DataType {
        DataType::Int64
    }

    fn array<'a>(values: impl Iterator<Item = &'a Self>, _: IntegerType) -> ArrayRef {
        Arc::new(values.map(|_| None::<i64>).collect::<Int64Array>())
    }
}

/// A type and its `Option`, whose column is collected from a value that `$value` makes of a reference.
macro_rules! cells {
    ($(
        $type:ty $(where $life:lifetime)?: $kind:ident, $data_type:expr, $array:ty, |$cell:ident| $value:expr $(, $lent:ident)?;
    )+) => { $(
        impl $(<$life>)? Cell for $type {
            type Kind = kind::$kind;
            const MAY_BE_NULL: bool = false;

            fn data_type(_: IntegerType) -> DataType {
                $data_type
            }

            fn array<'rows>(values: impl Iterator<Item = &'rows Self>, _: IntegerType) -> ArrayRef
            where
                Self: 'rows,
            {
                Arc::new(values.map(|$cell| Some($value)).collect::<$array>())
            }

            $(
                fn encoded<'rows>(values: impl Iterator<Item = &'rows Self> + Clone, integers: IntegerType) -> ArrayRef
                where
                    Self: 'rows,
                {
                    $lent(values.clone().map(|$cell| Some($value))).unwrap_or_else(|| Self::array(values, integers))
                }
            )?
        }

        impl $(<$life>)? Cell for Option<$type> {
            type Kind = kind::$kind;
            const MAY_BE_NULL: bool = true;

            fn data_type(_: IntegerType) -> DataType {
                $data_type
            }

            fn array<'rows>(values: impl Iterator<Item = &'rows Self>, _: IntegerType) -> ArrayRef
            where
                Self: 'rows,
            {
                Arc::new(values.map(|value| value.as_ref().map(|$cell| $value)).collect::<$array>())
            }

            fn is_null(&self) -> bool {
                self.is_none()
            }

            $(
                fn encoded<'rows>(values: impl Iterator<Item = &'rows Self> + Clone, integers: IntegerType) -> ArrayRef
                where
                    Self: 'rows,
                {
                    let lent = values.clone().map(|value| value.as_ref().map(|$cell| $value));
                    $lent(lent).unwrap_or_else(|| Self::array(values, integers))
                }
            )?
        }
    )+ };
}

cells! {
    String: Text, DataType::Utf8, StringArray, |text| text.as_str();
    &'a str where 'a: Text, DataType::Utf8, StringArray, |text| *text, dictionary;
    Cow<'a, str> where 'a: Text, DataType::Utf8, StringArray, |text| text.as_ref(), dictionary;
    &'a [u8] where 'a: Bytes, DataType::Binary, BinaryArray, |bytes| *bytes;
    LossKind: Text, DataType::Utf8, StringArray, |kind| kind.as_str();
    MapNames: Text, DataType::Utf8, StringArray, |names| names.as_str();
    Severity: Text, DataType::Utf8, StringArray, |severity| severity.name();
    IssueCode: Text, DataType::Utf8, StringArray, |code| code.as_str();
    bool: Truth, DataType::Boolean, BooleanArray, |value| *value;
    i64: Integer, DataType::Int64, Int64Array, |value| *value;
    // A count is signed in a file, because readers turn UINT_64 into decimals.
    u64: Integer, DataType::Int64, Int64Array, |count| i64::try_from(*count).unwrap_or(i64::MAX);
    f64: Float, DataType::Float64, Float64Array, |value| *value;
}

/// Texts that are held against each other before a dictionary is given up.
const TRIED: usize = 1 << 10;

/// Texts as a dictionary, in which one that is lent to several rows stands once; `None` where few are.
fn dictionary<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> Option<ArrayRef> {
    let (mut keys, mut labels, mut known) = (Vec::new(), Vec::new(), HashMap::new());
    for text in texts {
        if labels.len() > TRIED.max(keys.len() / 4) {
            return None;
        }
        let key = |text: &'a str| {
            *known.entry((text.as_ptr().addr(), text.len())).or_insert_with(|| {
                labels.push(text);
                labels.len().wrapping_sub(1)
            })
        };
        keys.push(text.map(key).map(i32::try_from).transpose().ok()?);
    }
    let labels = Arc::new(StringArray::from_iter_values(labels));
    let array = DictionaryArray::<Int32Type>::try_new(keys.into_iter().collect(), labels).ok()?;
    Some(Arc::new(array))
}

/// Unsigned numbers and their `Option`, which are made of `$exact` or wider signed ones.
macro_rules! unsigned_cells {
    ($( $type:ty, $bytes:literal: $exact:ty, $portable:ty; )+) => { $(
        impl Cell for $type {
            type Kind = kind::Integer;
            const MAY_BE_NULL: bool = false;

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
            type Kind = kind::Integer;
            const MAY_BE_NULL: bool = true;

            fn data_type(integers: IntegerType) -> DataType {
                <$type as Cell>::data_type(integers)
            }

            fn array<'rows>(values: impl Iterator<Item = &'rows Self>, integers: IntegerType) -> ArrayRef {
                match integers {
                    IntegerType::Exact => Arc::new(values.copied().collect::<$exact>()),
                    IntegerType::Portable => Arc::new(values.map(|value| value.map(Into::into)).collect::<$portable>()),
                }
            }

            fn is_null(&self) -> bool {
                self.is_none()
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
    type Kind = kind::Instant;
    const MAY_BE_NULL: bool = true;

    fn data_type(_: IntegerType) -> DataType {
        DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
    }

    fn array<'a>(values: impl Iterator<Item = &'a Self>, _: IntegerType) -> ArrayRef {
        let micros = values.map(|time| time.map(|Time(ns)| ns.div_euclid(1000)));
        Arc::new(micros.collect::<TimestampMicrosecondArray>().with_timezone("UTC"))
    }
}

impl Cell for Vec<String> {
    type Kind = kind::Texts;
    const MAY_BE_NULL: bool = false;

    fn data_type(_: IntegerType) -> DataType {
        DataType::List(element(DataType::Utf8))
    }

    fn array<'a>(values: impl Iterator<Item = &'a Self>, _: IntegerType) -> ArrayRef {
        texts(values.map(|list| Some(list.as_slice())))
    }
}

impl Cell for Option<Vec<String>> {
    type Kind = kind::Texts;
    const MAY_BE_NULL: bool = true;

    fn data_type(_: IntegerType) -> DataType {
        DataType::List(element(DataType::Utf8))
    }

    fn array<'a>(values: impl Iterator<Item = &'a Self>, _: IntegerType) -> ArrayRef {
        texts(values.map(Option::as_deref))
    }
}

impl Cell for Option<Cow<'_, [String]>> {
    type Kind = kind::Texts;
    const MAY_BE_NULL: bool = true;

    fn data_type(_: IntegerType) -> DataType {
        DataType::List(element(DataType::Utf8))
    }

    fn array<'a>(values: impl Iterator<Item = &'a Self>, _: IntegerType) -> ArrayRef
    where
        Self: 'a,
    {
        texts(values.map(Option::as_deref))
    }
}

impl Cell for Option<Vec<u32>> {
    type Kind = kind::Numbers;
    const MAY_BE_NULL: bool = true;

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
}
