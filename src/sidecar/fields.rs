//! `fields`: one row per payload field of a shape, and one per further column that a field fills.

use super::SidecarFacts;
use super::table::Table;
use crate::dataset::EncodeOptions;
use crate::decode::{FieldRow, RenameReason};
use crate::error::Result;
use crate::output::{FileEntry, LocalFolder};

struct Row<'a> {
    shape: u32,
    field: &'a FieldRow,
}

pub(super) fn write(staging: &LocalFolder, facts: &SidecarFacts<'_>, encode: &EncodeOptions) -> Result<Vec<FileEntry>> {
    let shapes = facts.catalog.iter().zip(0u32..);
    let rows = shapes.flat_map(|(entry, shape)| entry.fields.iter().map(move |field| Row { shape, field }));
    table().write(staging, encode, rows)
}

fn table<'a>() -> Table<Row<'a>> {
    Table::<Row<'a>>::new("fields")
        .weight(|row| {
            let texts = [&row.field.out_type, &row.field.column, &row.field.column_type].into_iter().flatten();
            row.field.field.len() + texts.map(String::len).sum::<usize>()
        })
        .uint32("shape", |row| Some(row.shape))
        .uint32("position", |row| Some(row.field.position))
        .text("field", |row| Some(&row.field.field))
        .text("in_type", |row| Some(&row.field.in_type))
        .text("out_type", |row| row.field.out_type.as_deref())
        .text("column", |row| row.field.column.as_deref())
        .text("column_type", |row| row.field.column_type.as_deref())
        .text("renamed_because", |row| row.field.renamed_because.map(RenameReason::as_str))
}
