//! A row of a sidecar table is a struct: its fields are the columns, in their order.
//!
//! Files and documents are made of the same structs, so that they cannot differ. What a column holds follows from the
//! type of the field: see the implementations of [`Cell`](super::cell::Cell).

use arrow_array::ArrayRef;
use arrow_schema::DataType;
use columnar::columns::IntegerType;

use super::read::SidecarTable;

/// A row of a sidecar table.
pub(crate) trait SidecarRow: SidecarTable + Sized + Send + Sync {
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
    /// The values of some rows.
    pub array: fn(&[R], IntegerType) -> ArrayRef,
    /// The same, or a dictionary of it.
    pub encoded: fn(&[R], IntegerType) -> ArrayRef,
    /// Whether a row has none.
    pub is_null: fn(&R) -> bool,
}

/// Declares the row of a sidecar table, to be written and to be read: a struct with public fields, one per column. A column that
/// the oldest format version lacks names the first one that has it, and is NULL in older traces: `column: Option<Type> => since 4`.
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

        impl $(<$life>)? $crate::sidecar::read::SidecarTable for $row $(<$life>)? {
            const TABLE: &'static str = $table;
            const SINCE: &'static [(&'static str, u32)] = &[ $( (
                $crate::sidecar::row::column_name(stringify!($field)),
                [$($since,)? columnar::output::manifest::OLDEST_FORMAT_VERSION][0],
            ), )+ ];
        }

        impl $(<$life>)? $crate::sidecar::row::SidecarRow for $row $(<$life>)? {
            const RISING: &'static [&'static str] = &[$( $rising )?];

            fn columns(integers: columnar::columns::IntegerType) -> Vec<$crate::sidecar::row::SidecarColumn<Self>> {
                vec![ $( $crate::sidecar::row::SidecarColumn {
                    name: $crate::sidecar::row::column_name(stringify!($field)),
                    data_type: <$type as $crate::sidecar::cell::Cell>::data_type(integers),
                    array: |rows, integers| {
                        <$type as $crate::sidecar::cell::Cell>::array(rows.iter().map(|row: &Self| &row.$field), integers)
                    },
                    encoded: |rows, integers| {
                        <$type as $crate::sidecar::cell::Cell>::encoded(rows.iter().map(|row: &Self| &row.$field), integers)
                    },
                    is_null: |row| $crate::sidecar::cell::Cell::is_null(&row.$field),
                }, )+ ]
            }

            $(
                fn weight(&self) -> usize {
                    let weight: fn(&Self) -> usize = $weight;
                    weight(self)
                }
            )?
        }

        $crate::read_columns! {
            @read $row [$($life)?] { $( $field: $crate::sidecar::row::column_name(stringify!($field)), )+ } {
                $( const { assert!(
                    <$type as $crate::sidecar::read::FromColumn<'_>>::TAKES_NULL || $crate::sidecar::read::is_always_there(
                        <Self as $crate::sidecar::read::SidecarTable>::SINCE,
                        $crate::sidecar::row::column_name(stringify!($field)),
                    ),
                    "older traces lack the column: make it an Option"
                ) } )+
            }
        }

        impl $(<$life>)? $crate::sidecar::read::ReadSidecarRow for $row $(<$life>)? {
            type Table = Self;
        }
    };
}

pub(crate) use sidecar_row;

/// The name of the column of a field.
pub(crate) const fn column_name(field: &'static str) -> &'static str {
    match field.as_bytes() {
        [b'r', b'#', ..] => field.split_at(2).1,
        _ => field,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sidecar::cell::{NotRecorded, Time};

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
        let names: Vec<_> = columns.iter().map(|column| column.name).collect();
        assert_eq!((names, row.weight()), (vec!["name", "seen_time", "age", "parts"], 0));
        assert_eq!(Thing::SINCE, [("name", 3), ("seen_time", 3), ("age", 9), ("parts", 3)]);
        assert_eq!((column_name("r#type"), column_name("r")), ("type", "r"));
    }
}
