//! The types a payload column can have, how they widen, and what they are in Arrow.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{DataType, Field as ArrowField, FieldRef, TimeUnit};
use base::words;
use serde::{Deserialize, Serialize};

/// How numbers are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntegerType {
    /// In types that every engine binds: integers of payloads as `Int64`, unsigned ones of 64 bits with their bits
    /// unchanged, `float` as `double`; header columns and the sidecar as `Int32` and `Int64`.
    #[default]
    Portable,
    /// In types of their width and sign.
    Exact,
}

words! { IntegerType {
    Portable = "portable": "In types that every engine binds: INT64 and DOUBLE, INT32 in common columns",
    Exact = "exact": "In types of their width and sign, UINT_8 to UINT_64 and FLOAT: for one trace at a time",
} }

impl IntegerType {
    /// The Arrow type of unsigned numbers of so many bytes in a column that every table of its kind has.
    pub fn unsigned(self, bytes: u8) -> DataType {
        match (self, bytes) {
            (IntegerType::Exact, _) => integer(bytes, false),
            (IntegerType::Portable, 1 | 2) => DataType::Int32,
            (IntegerType::Portable, _) => DataType::Int64,
        }
    }
}

/// How GUIDs are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuidType {
    /// As 36 characters in lower case.
    #[default]
    String,
    /// As 16 bytes in the order of the text form.
    Binary,
    /// As 16 bytes in the order of the text form, marked with the extension type `arrow.uuid`.
    Uuid,
}

words! { GuidType {
    String = "string": "As 36 characters in lower case",
    Binary = "binary": "As 16 bytes",
    Uuid = "uuid": "As Parquet's UUID (Spark 4 refuses it by default)",
} }

/// How points in time are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimestampType {
    /// In microseconds, rounded toward the past.
    #[default]
    Micros,
    /// In nanoseconds.
    Nanos,
}

words! { TimestampType {
    Micros = "micros": "Microseconds",
    Nanos = "nanos": "Nanoseconds (Spark 4 refuses them by default)",
} }

/// The choices of the command line that change column types, never column names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct TypeOptions {
    /// Numbers.
    pub integers: IntegerType,
    /// GUIDs.
    pub guid: GuidType,
    /// Points in time.
    pub timestamps: TimestampType,
}

/// The type of a column before the options apply.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnType {
    /// True or false.
    Boolean,
    /// A whole number.
    Int {
        /// Its width: 1, 2, 4 or 8.
        bytes: u8,
        /// Whether it has a sign.
        signed: bool,
    },
    /// A floating-point number of 4 bytes.
    Float32,
    /// A floating-point number of 8 bytes.
    Float64,
    /// Text.
    Utf8,
    /// Bytes.
    Binary,
    /// A GUID.
    Guid,
    /// A point in time in UTC.
    Timestamp,
    /// A calendar time of the traced machine.
    LocalTimestamp,
    /// Any number of values of one type.
    List(Box<ColumnType>),
    /// Values with names.
    Struct(Vec<Member>),
}

/// A member of a structure column.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Member {
    /// Its name.
    pub name: String,
    /// The type of its values.
    pub column_type: ColumnType,
}

/// Counts and lengths of 2 bytes.
pub const UINT16: ColumnType = ColumnType::Int { bytes: 2, signed: false };
/// Numbers of 8 bytes without a sign: pointers, masks.
pub const UINT64: ColumnType = ColumnType::Int { bytes: 8, signed: false };
/// Numbers of 8 bytes.
pub const INT64: ColumnType = ColumnType::Int { bytes: 8, signed: true };

impl ColumnType {
    /// The type that holds the values of both, which are of one family; integers that no signed type holds both of keep their
    /// 64 bits. Members of structures are settled elsewhere.
    #[must_use]
    pub fn merge(&self, other: &ColumnType) -> ColumnType {
        use ColumnType::{Float32, Float64, Guid, Int, List, Utf8};
        match (self, other) {
            (&Int { bytes: a, signed: s }, &Int { bytes: b, signed: t }) => merge_integers((a, s), (b, t)),
            (Float32, Float64) => Float64,
            (Guid, Utf8) => Utf8,
            (List(a), List(b)) => List(Box::new(a.merge(b))),
            _ => self.clone(),
        }
    }

    /// The Arrow type under the given options.
    pub fn data_type(&self, options: TypeOptions) -> DataType {
        match self {
            ColumnType::Boolean => DataType::Boolean,
            ColumnType::Int { .. } if options.integers == IntegerType::Portable => DataType::Int64,
            ColumnType::Int { bytes, signed } => integer(*bytes, *signed),
            ColumnType::Float32 if options.integers == IntegerType::Exact => DataType::Float32,
            ColumnType::Float32 | ColumnType::Float64 => DataType::Float64,
            ColumnType::Guid if options.guid != GuidType::String => DataType::FixedSizeBinary(16),
            ColumnType::Utf8 | ColumnType::Guid => DataType::Utf8,
            ColumnType::Binary => DataType::Binary,
            ColumnType::Timestamp => DataType::Timestamp(unit(options), Some("UTC".into())),
            ColumnType::LocalTimestamp => DataType::Timestamp(unit(options), None),
            ColumnType::List(item) => DataType::List(Arc::new(item.field("element", options))),
            ColumnType::Struct(members) => {
                DataType::Struct(members.iter().map(|m| FieldRef::new(m.column_type.field(&m.name, options))).collect())
            }
        }
    }

    /// A nullable Arrow field of this type.
    pub fn field(&self, name: &str, options: TypeOptions) -> ArrowField {
        let field = ArrowField::new(name, self.data_type(options), true);
        match self {
            ColumnType::Guid if options.guid == GuidType::Uuid => with_uuid_type(field),
            _ => field,
        }
    }
}

/// The name of Arrow's canonical extension type of a `FixedSizeBinary(16)` that holds a UUID.
pub const UUID_EXTENSION: &str = "arrow.uuid";

/// Marks a field of 16 bytes as a UUID.
pub fn with_uuid_type(field: ArrowField) -> ArrowField {
    let metadata = [(EXTENSION_TYPE_NAME_KEY, UUID_EXTENSION), (EXTENSION_TYPE_METADATA_KEY, "")];
    field.with_metadata(HashMap::from(metadata.map(|(key, value)| (key.to_owned(), value.to_owned()))))
}

fn unit(options: TypeOptions) -> TimeUnit {
    match options.timestamps {
        TimestampType::Micros => TimeUnit::Microsecond,
        TimestampType::Nanos => TimeUnit::Nanosecond,
    }
}

fn integer(bytes: u8, signed: bool) -> DataType {
    match (bytes, signed) {
        (1, true) => DataType::Int8,
        (2, true) => DataType::Int16,
        (4, true) => DataType::Int32,
        (_, true) => DataType::Int64,
        (1, false) => DataType::UInt8,
        (2, false) => DataType::UInt16,
        (4, false) => DataType::UInt32,
        (_, false) => DataType::UInt64,
    }
}

/// Same sign: the wider. Mixed: the next signed width above the unsigned one, at most 8 bytes.
fn merge_integers((a, a_signed): (u8, bool), (b, b_signed): (u8, bool)) -> ColumnType {
    if a_signed == b_signed {
        return ColumnType::Int { bytes: a.max(b), signed: a_signed };
    }
    let (signed, unsigned) = if a_signed { (a, b) } else { (b, a) };
    ColumnType::Int { bytes: signed.max(unsigned.saturating_mul(2)).min(8), signed: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(bits: u8) -> ColumnType {
        ColumnType::Int { bytes: bits / 8, signed: true }
    }

    fn uint(bits: u8) -> ColumnType {
        ColumnType::Int { bytes: bits / 8, signed: false }
    }

    #[test]
    fn types_widen_where_no_value_can_change() {
        use ColumnType::{Float32, Float64, Guid, Utf8};
        let list = |item: ColumnType| ColumnType::List(Box::new(item));
        let table = [
            (int(8), int(32), int(32)),
            (uint(16), uint(64), uint(64)),
            (uint(8), int(8), int(16)),
            (uint(8), int(32), int(32)),
            (uint(16), int(8), int(32)),
            (uint(32), int(32), int(64)),
            (uint(32), int(64), int(64)),
            (uint(64), int(8), int(64)),
            (Float32, Float64, Float64),
            (Guid, Utf8, Utf8),
            (Guid, Guid, Guid),
            (list(int(8)), list(int(16)), list(int(16))),
        ];
        for (a, b, merged) in table {
            assert_eq!(a.merge(&b), merged, "{a:?} and {b:?}");
            assert_eq!(b.merge(&a), merged, "{b:?} and {a:?}");
        }
    }

    #[test]
    fn options_decide_the_arrow_type() {
        let portable = TypeOptions::default();
        let other =
            TypeOptions { integers: IntegerType::Exact, guid: GuidType::Uuid, timestamps: TimestampType::Nanos };
        let table = [
            (int(8), DataType::Int64, DataType::Int8),
            (int(16), DataType::Int64, DataType::Int16),
            (int(32), DataType::Int64, DataType::Int32),
            (int(64), DataType::Int64, DataType::Int64),
            (uint(8), DataType::Int64, DataType::UInt8),
            (uint(16), DataType::Int64, DataType::UInt16),
            (uint(32), DataType::Int64, DataType::UInt32),
            (uint(64), DataType::Int64, DataType::UInt64),
            (ColumnType::Float32, DataType::Float64, DataType::Float32),
            (ColumnType::Float64, DataType::Float64, DataType::Float64),
            (ColumnType::Guid, DataType::Utf8, DataType::FixedSizeBinary(16)),
            (
                ColumnType::Timestamp,
                DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
                DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
            ),
            (
                ColumnType::LocalTimestamp,
                DataType::Timestamp(TimeUnit::Microsecond, None),
                DataType::Timestamp(TimeUnit::Nanosecond, None),
            ),
        ];
        for (column_type, first, second) in table {
            assert_eq!(column_type.data_type(portable), first);
            assert_eq!(column_type.data_type(other), second);
        }
        assert_eq!(ColumnType::Guid.field("g", other).metadata()["ARROW:extension:name"], "arrow.uuid");
        assert!(ColumnType::Guid.field("g", portable).metadata().is_empty());
        let unsigned = |integers: IntegerType| [1, 2, 4, 8].map(|bytes| integers.unsigned(bytes));
        let (narrow, wide) = (DataType::Int32, DataType::Int64);
        assert_eq!(unsigned(IntegerType::Portable), [narrow.clone(), narrow, wide.clone(), wide]);
        let exact = [DataType::UInt8, DataType::UInt16, DataType::UInt32, DataType::UInt64];
        assert_eq!(unsigned(IntegerType::Exact), exact);
    }
}
