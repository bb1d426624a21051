//! `lost_events`: the loss ledger of every input file.

use super::SidecarFacts;
use super::table::Table;
use crate::dataset::{EncodeOptions, FileEntry, Staging};
use crate::error::Result;
use crate::survey::FileSurvey;
use crate::survey::loss::{LossRow, ledger};

struct Row<'a> {
    file: &'a FileSurvey,
    loss: LossRow,
}

pub(super) fn write(staging: &Staging, facts: &SidecarFacts<'_>, encode: &EncodeOptions) -> Result<Vec<FileEntry>> {
    let ledgers: Vec<_> = facts.files.iter().map(|file| Ok((file, ledger(file)?))).collect::<Result<_>>()?;
    let rows = ledgers.into_iter().flat_map(|(file, rows)| rows.into_iter().map(move |loss| Row { file, loss }));
    table().write(staging, encode, rows)
}

fn table<'a>() -> Table<Row<'a>> {
    Table::<Row<'a>>::new("lost_events")
        .text("source", |row| Some(&row.file.name))
        .text("kind", |row| Some(row.loss.kind))
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
