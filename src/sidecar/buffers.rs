//! `buffers`: one row per buffer of every input file.

use super::SidecarFacts;
use super::table::Table;
use crate::clock::Ticks;
use crate::dataset::EncodeOptions;
use crate::error::Result;
use crate::output::{FileEntry, LocalFolder};
use crate::survey::{BufferSummary, FileSurvey};

struct Row<'a> {
    file: &'a FileSurvey,
    buffer: &'a BufferSummary,
}

pub(super) fn write(staging: &LocalFolder, facts: &SidecarFacts<'_>, encode: &EncodeOptions) -> Result<Vec<FileEntry>> {
    let rows = facts.files.iter().flat_map(|file| file.buffers.iter().map(move |buffer| Row { file, buffer }));
    table().write(staging, encode, rows)
}

fn table<'a>() -> Table<Row<'a>> {
    Table::<Row<'a>>::new("buffers")
        .text("source", |row| Some(&row.file.name))
        .count("buffer", |row| Some(row.buffer.extent.ordinal))
        .count("file_offset", |row| Some(row.buffer.extent.offset))
        .uint32("stored_bytes", |row| Some(row.buffer.extent.present))
        .count("expanded_bytes", |row| Some(row.expanded_bytes()))
        .count("used_bytes", |row| Some(row.buffer.used_bytes()))
        .uint16("cpu", |row| row.file.cpu(row.buffer))
        .int64("sequence", |row| Some(row.buffer.extent.sequence))
        .uint16("flags", |row| Some(row.buffer.extent.flags))
        .uint16("type", |row| Some(row.buffer.extent.kind))
        .int64("first_time_ns", |row| row.time(row.buffer.first_ticks))
        .int64("last_time_ns", |row| row.time(row.buffer.last_ticks))
        .uint32("events", |row| Some(row.buffer.events))
}

impl Row<'_> {
    /// What the stored bytes become: themselves, unless they are compressed.
    fn expanded_bytes(&self) -> u64 {
        let stored = u64::from(self.buffer.extent.present);
        if self.buffer.extent.is_compressed() { self.buffer.used_bytes() } else { stored }
    }

    fn time(&self, ticks: i64) -> Option<i64> {
        (self.buffer.events > 0).then(|| self.file.clock.to_unix(Ticks(ticks)).0)
    }
}
