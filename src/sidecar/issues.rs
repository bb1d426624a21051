//! `issues`: everything unusual that was found in the input files.

use super::SidecarFacts;
use super::table::Table;
use crate::clock::Ticks;
use crate::dataset::EncodeOptions;
use crate::error::Result;
use crate::output::{FileEntry, LocalFolder};
use crate::survey::{FileSurvey, Issue};

pub(super) struct Row<'a> {
    file: &'a FileSurvey,
    finding: Issue,
}

pub(super) fn write(staging: &LocalFolder, facts: &SidecarFacts<'_>, encode: &EncodeOptions) -> Result<Vec<FileEntry>> {
    table().write(staging, encode, facts.files.iter().flat_map(rows))
}

pub(super) fn rows(file: &FileSurvey) -> impl Iterator<Item = Row<'_>> {
    file.issues.rows().map(move |finding| Row { file, finding })
}

pub(super) fn table<'a>() -> Table<Row<'a>> {
    Table::<Row<'a>>::new("issues")
        .text("source", |row| Some(&row.file.name))
        .text("severity", |row| Some(row.finding.severity.name()))
        .text("code", |row| Some(row.finding.code.as_str()))
        .count("buffer", |row| row.finding.buffer)
        .count("offset", |row| row.finding.offset)
        .int64("time_ns", |row| row.finding.ticks.map(|ticks| row.file.clock.to_unix(Ticks(ticks)).0))
        .text("message", |row| Some(&row.finding.message))
}
