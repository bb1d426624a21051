//! `fields`: one row per payload field of a shape, and one per further column that a field fills.

use super::SidecarFacts;
use super::table::Table;
use crate::dataset::EncodeOptions;
use crate::decode::{FieldRow, RenameReason};
use crate::error::Result;
use crate::output::{FileEntry, LocalFolder};
use crate::plan::CatalogEntry;

struct Row {
    shape: u32,
    field: FieldRow,
}

pub(super) fn write(staging: &LocalFolder, facts: &SidecarFacts<'_>, encode: &EncodeOptions) -> Result<Vec<FileEntry>> {
    // Made shape by shape while they are written: all of them together may take more than the rest of the sidecar.
    let of_shape =
        |(entry, shape): (CatalogEntry<'_>, u32)| entry.field_rows().into_iter().map(move |field| Row { shape, field });
    table().write(staging, encode, facts.plan.catalog().zip(0u32..).flat_map(of_shape))
}

fn table() -> Table<Row> {
    Table::<Row>::new("fields")
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
