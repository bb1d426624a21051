//! The columns of a table as DuckDB reads them without opening a file: names and types in one text.
//!
//! The text is `name TYPE; name TYPE`, which the macro `parquet_rows` of each script takes apart.

use std::fmt::Write as _;

use super::dialect::Dialect;
use super::lake::{LakeTable, REQUIRED};

/// How many structures and lists stand in one another at most.
const DEEPEST: usize = 16;

/// What the macro calls a column of any spelling of `filename`: a name that no column has.
const FILE_NAME: &str = "file name";

/// Some columns of a table; `None` where files disagree in one, or a name or type cannot stand in the text.
pub(super) fn declared<'a>(table: &LakeTable, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let column = |name: &str| {
        let (name, kind) = table.column(name)?;
        let kind = kind_of(table, name, kind, DEEPEST)?;
        (table.is_settled(name) && is_word(name)).then(|| format!("{name} {kind}"))
    };
    Some(names.map(column).collect::<Option<Vec<_>>>()?.join("; "))
}

/// All of them, with those that no file has.
pub(super) fn all_declared(table: &LakeTable) -> Option<String> {
    let mut text = declared(table, table.columns().map(|(name, _)| name))?;
    for (name, kind) in table.missing() {
        let _ = write!(text, "; {name} {}", Dialect::DuckDb.kind(kind));
    }
    Some(text)
}

/// What a column of `parquet_rows` is selected as, so that it has its own name.
pub(super) fn selected(name: &str) -> String {
    let quoted = Dialect::DuckDb.name(name);
    if name.eq_ignore_ascii_case("filename") { format!("\"{FILE_NAME}\" AS {quoted}") } else { quoted }
}

/// What is behind the star of a select of all columns of a table, so that each has its own name.
pub(super) fn renamed(table: &LakeTable) -> String {
    let own = table.column("filename");
    own.map_or_else(String::new, |(name, _)| format!(" RENAME ({})", selected(name)))
}

/// A name that ends at the first blank.
fn is_word(name: &str) -> bool {
    !name.is_empty() && !name.contains([' ', ';'])
}

/// The type in DuckDB of a column or member, given its path and its type in the words of docs/columns.md.
fn kind_of(table: &LakeTable, path: &str, kind: &str, depth: usize) -> Option<String> {
    let (kind, depth) = (kind.trim_end_matches(REQUIRED), depth.checked_sub(1)?);
    if let Some(item) = kind.strip_prefix("LIST<") {
        return Some(kind_of(table, path, item.strip_suffix('>')?, depth)? + "[]");
    }
    if kind == "STRUCT" {
        let member = |(name, kind): (&str, &str)| {
            let kind = kind_of(table, &format!("{path}.{name}"), kind, depth)?;
            (!name.contains(';')).then(|| format!("{} {kind}", Dialect::DuckDb.name(name)))
        };
        let members = table.members_of(path).into_iter().map(member).collect::<Option<Vec<_>>>()?;
        return Some(format!("STRUCT({})", members.join(", ")));
    }
    KINDS.iter().find(|(known, _)| *known == kind).map(|(_, kind)| (*kind).to_owned())
}

/// Types in the words of docs/columns.md, and in DuckDB.
const KINDS: [(&str, &str); 19] = [
    ("STRING", "VARCHAR"),
    ("UUID", "UUID"),
    ("BINARY", "BLOB"),
    ("BINARY(16)", "BLOB"),
    ("BOOLEAN", "BOOLEAN"),
    ("FLOAT", "FLOAT"),
    ("DOUBLE", "DOUBLE"),
    ("INT_8", "TINYINT"),
    ("INT_16", "SMALLINT"),
    ("INT_32", "INTEGER"),
    ("INT32", "INTEGER"),
    ("INT_64", "BIGINT"),
    ("INT64", "BIGINT"),
    ("UINT_8", "UTINYINT"),
    ("UINT_16", "USMALLINT"),
    ("UINT_32", "UINTEGER"),
    ("UINT_64", "UBIGINT"),
    ("TIMESTAMP(MICROS, UTC)", "TIMESTAMPTZ"),
    ("TIMESTAMP(MICROS)", "TIMESTAMP"),
];

#[cfg(test)]
mod tests {
    use super::super::lake::Lake;
    use super::*;

    fn text(columns: &[(&str, &str)]) -> Option<String> {
        let mut lake = Lake::default();
        let table = lake.add_file("events/A/0.parquet").unwrap();
        for (name, kind) in columns {
            if name.contains('.') {
                table.add_member(name, (*kind).to_owned());
            } else {
                table.add_column((*name).to_owned(), (*kind).to_owned());
            }
        }
        all_declared(table)
    }

    #[test]
    fn columns_are_declared_as_they_stand_in_files() {
        let columns = [
            ("t", "TIMESTAMP(MICROS, UTC) NOT NULL"),
            ("FileName", "STRING"),
            ("s", "LIST<STRUCT>"),
            ("s.b", "UINT_8"),
            ("s.a", "STRUCT"),
            ("s.a.Z", "LIST<UINT_64>"),
            ("T", "TIMESTAMP(MICROS, UTC)"),
        ];
        let expected = "t TIMESTAMPTZ; FileName VARCHAR; s STRUCT(\"b\" UTINYINT, \"a\" STRUCT(\"Z\" UBIGINT[]))[]";
        assert_eq!(text(&columns).as_deref(), Some(expected));
        assert_eq!(selected("FileName"), "\"file name\" AS \"FileName\"");
        assert_eq!(selected("s"), "\"s\"");
    }

    #[test]
    fn what_files_disagree_in_is_not_declared() {
        assert_eq!(text(&[("a", "INT32"), ("A", "INT64")]), None);
        assert_eq!(text(&[("s", "STRUCT"), ("s.a", "INT32"), ("s.a", "STRING")]), None);
        assert_eq!(text(&[("a", "INT96")]), None);
        assert_eq!(text(&[("a b", "INT32")]), None);
        let deep = format!("{}INT32{}", "LIST<".repeat(20), ">".repeat(20));
        assert_eq!(text(&[("a", &deep)]), None);
    }
}
