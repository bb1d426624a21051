//! `lost_events`: the loss ledger of every input file.

use super::SidecarFacts;
use super::table::Table;
use crate::dataset::EncodeOptions;
use crate::error::Result;
use crate::output::{FileEntry, LocalFolder};
use crate::survey::FileFacts;
use crate::survey::loss::LossRow;

pub(super) struct Row<'a> {
    source: &'a str,
    loss: &'a LossRow,
}

pub(super) fn write(staging: &LocalFolder, facts: &SidecarFacts<'_>, encode: &EncodeOptions) -> Result<Vec<FileEntry>> {
    table().write(staging, encode, facts.facts.iter().flat_map(rows))
}

pub(super) fn rows(file: &FileFacts) -> impl Iterator<Item = Row<'_>> {
    file.ledger.rows.iter().map(|loss| Row { source: &file.session.source, loss })
}

pub(super) fn table<'a>() -> Table<Row<'a>> {
    Table::<Row<'a>>::new("lost_events")
        .text("source", |row| Some(row.source))
        .text("kind", |row| Some(row.loss.kind.as_str()))
        .uint16("cpu", |row| row.loss.cpu)
        .int64("from_time_ns", |row| row.loss.from_ns)
        .int64("to_time_ns", |row| row.loss.to_ns)
        .count("from_buffer", |row| row.loss.from_buffer)
        .count("to_buffer", |row| row.loss.to_buffer)
        .count("count", |row| row.loss.count)
        .text("unit", |row| Some(row.loss.unit))
        .bool("is_lower_bound", |row| Some(row.loss.is_lower_bound))
        .bool("is_certain", |row| Some(row.loss.is_certain))
        .text("evidence", |row| Some(&row.loss.evidence))
        .text("note", |row| Some(row.loss.note).filter(|note| !note.is_empty()))
}
