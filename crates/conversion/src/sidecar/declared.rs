//! Which tables the sidecar may have, with their columns, and since which format version each column is there.

use std::sync::LazyLock;

use arrow_schema::DataType;
use columnar::columns::IntegerType;

use super::answers::AnswerRow;
use super::buffers::BufferRow;
use super::catalog::CatalogRow;
use super::clock::ClockRow;
use super::dimensions::{FileRow, ImageRow, MethodRow, ProcessRow, ThreadRow};
use super::fields::FieldRow;
use super::issues::IssueRow;
use super::lost_events::LossRow;
use super::row::SidecarRow;
use super::sessions::SessionRow;
use super::streams::StreamRow;

/// A column of a table of the sidecar.
#[derive(Debug)]
pub struct DeclaredColumn {
    /// Its name.
    pub name: &'static str,
    /// Its type with portable integers.
    pub portable: DataType,
    /// Its type with exact integers.
    pub exact: DataType,
    /// The format version since which every file of the table has it.
    pub since: u32,
}

/// A table of the sidecar.
#[derive(Debug)]
pub(crate) struct DeclaredTable {
    /// Its name, which is also that of its file.
    pub name: &'static str,
    /// Its columns, in order.
    pub columns: Vec<DeclaredColumn>,
}

/// All tables.
pub(crate) fn declared_tables() -> &'static [DeclaredTable] {
    static TABLES: LazyLock<[DeclaredTable; 14]> = LazyLock::new(|| {
        [
            table::<SessionRow>(),
            table::<ClockRow>(),
            table::<LossRow>(),
            table::<StreamRow>(),
            table::<CatalogRow<'_>>(),
            table::<FieldRow>(),
            table::<AnswerRow>(),
            table::<BufferRow<'_>>(),
            table::<IssueRow>(),
            table::<ProcessRow<'_>>(),
            table::<ThreadRow<'_>>(),
            table::<ImageRow<'_>>(),
            table::<FileRow<'_>>(),
            table::<MethodRow<'_>>(),
        ]
    });
    &*TABLES
}

/// The names of all tables.
pub fn table_names() -> impl Iterator<Item = &'static str> + Clone {
    declared_tables().iter().map(|table| table.name)
}

/// The columns of a table, none of one that is not declared.
pub fn declared_columns(table: &str) -> &'static [DeclaredColumn] {
    let found = declared_tables().iter().find(|declared| declared.name == table);
    found.map_or(&[], |declared| &declared.columns)
}

fn table<R: SidecarRow>() -> DeclaredTable {
    let columns = R::columns(IntegerType::Portable).into_iter().zip(R::columns(IntegerType::Exact));
    let columns = columns.map(|(portable, exact)| DeclaredColumn {
        name: portable.name,
        portable: portable.data_type,
        exact: exact.data_type,
        since: R::SINCE.iter().find(|(name, _)| *name == portable.name).map_or(u32::MAX, |(_, since)| *since),
    });
    DeclaredTable { name: R::TABLE, columns: columns.collect() }
}
