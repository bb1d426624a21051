//! All tables of a recording.

use base::error::Result;
use columnar::output::FileEntry;

use super::facts::SidecarFacts;
use super::row::SidecarRow;
use super::tables::{TakeTables, each_table};
use super::target::SidecarTarget;
use super::{table, views};

/// Where a trace keeps the names that it uses, below `trace=<name>`.
pub const NAMES_PATH: &str = "sidecar/schema.lock";

/// Writes all tables below `sidecar`, the scripts of views that are asked for, and the names that depend on a lock, and lists the
/// files. Of what ids meant only the tables that have rows: most recordings have none of them, and many recordings are small.
///
/// # Errors
/// [`Output`](base::error::ErrorKind::Output) when a file cannot be written.
pub fn write(target: &SidecarTarget<'_>, facts: &SidecarFacts<'_>) -> Result<Vec<FileEntry>> {
    let mut writer = TableFiles { target, written: Vec::new() };
    each_table(facts, &mut writer)?;
    let mut written = writer.written;
    written.extend(views::write(target, facts, &written)?);
    if let Some(names) = &facts.plan.lock_use {
        written.push(target.write_text(NAMES_PATH, &names.text)?);
    }
    Ok(written)
}

/// Writes each table.
struct TableFiles<'a> {
    target: &'a SidecarTarget<'a>,
    written: Vec<FileEntry>,
}

impl TakeTables for TableFiles<'_> {
    fn take<R: SidecarRow>(&mut self, rows: impl Iterator<Item = R>) -> Result<()> {
        self.written.extend(table::write(self.target, rows)?);
        Ok(())
    }

    fn take_optional<R: SidecarRow>(&mut self, rows: impl Iterator<Item = R>) -> Result<()> {
        self.written.extend(table::write_if_any(self.target, rows)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use arrow_schema::{DataType, TimeUnit};
    use columnar::output::manifest::OLDEST_FORMAT_VERSION;

    use crate::sidecar::declared::{DeclaredColumn, DeclaredTable, declared_tables};

    /// A type as docs/sidecar.md calls it.
    fn word(data_type: &DataType) -> String {
        match data_type {
            DataType::Utf8 => "STRING".to_owned(),
            DataType::Binary => "BINARY".to_owned(),
            DataType::Boolean => "BOOLEAN".to_owned(),
            DataType::Float64 => "DOUBLE".to_owned(),
            DataType::Int32 => "INT32".to_owned(),
            DataType::Int64 => "INT64".to_owned(),
            DataType::UInt8 => "UINT_8".to_owned(),
            DataType::UInt16 => "UINT_16".to_owned(),
            DataType::UInt32 => "UINT_32".to_owned(),
            DataType::Timestamp(TimeUnit::Microsecond, Some(zone)) => format!("TIMESTAMP(MICROS, {zone})"),
            other => panic!("{other}: no word for it"),
        }
    }

    fn words(portable: &DataType, exact: &DataType) -> String {
        match (portable, exact) {
            (DataType::List(portable), DataType::List(exact)) => {
                format!("LIST&lt;{}&gt;", words(portable.data_type(), exact.data_type()))
            }
            _ if portable == exact => word(portable),
            _ => format!("{} / {}", word(portable), word(exact)),
        }
    }

    /// The rows of a table in the documentation: column, type, unit, meaning.
    fn documented(table: &str) -> Vec<Vec<&'static str>> {
        let page = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sidecar.md"));
        let (_, section) =
            page.split_once(&format!("### `{table}`\n")).unwrap_or_else(|| panic!("{table}: no section"));
        let rows = section.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
        let rows = rows.take_while(|line| line.starts_with('|'));
        rows.map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
    }

    #[test]
    fn every_column_is_documented_with_its_type_unit_and_meaning() {
        for DeclaredTable { name: table, columns } in declared_tables() {
            let rows = documented(table);
            let named = |row: &Vec<&str>| (row[0].to_owned(), row[1].to_owned());
            let declared =
                |column: &DeclaredColumn| (format!("`{}`", column.name), words(&column.portable, &column.exact));
            let declared: Vec<_> = columns.iter().map(declared).collect();
            assert_eq!(rows.iter().map(named).collect::<Vec<_>>(), declared, "{table}");
            for (row, declared) in rows.into_iter().zip(columns) {
                let [column, _, unit, meaning] = row[..] else { panic!("{table}: {row:?}") };
                assert_eq!(column.ends_with("_ns`"), unit == "ns", "{table}.{column}");
                assert!(!meaning.is_empty(), "{table}.{column}");
                let since = meaning.rsplit_once("; since format ").map(|(_, since)| since.to_owned());
                let is_newer = declared.since > OLDEST_FORMAT_VERSION;
                assert_eq!(since, is_newer.then(|| declared.since.to_string()), "{table}.{column}");
            }
        }
    }
}
