//! `streams`: one row per stream of buffers of every input file.

use super::SidecarFacts;
use super::table::Table;
use crate::dataset::EncodeOptions;
use crate::error::Result;
use crate::output::{FileEntry, LocalFolder};
use crate::survey::FileFacts;
use crate::survey::streams::Stream;

pub(super) struct Row<'a> {
    source: &'a str,
    stream: &'a Stream,
}

pub(super) fn write(staging: &LocalFolder, facts: &SidecarFacts<'_>, encode: &EncodeOptions) -> Result<Vec<FileEntry>> {
    table().write(staging, encode, facts.facts.iter().flat_map(rows))
}

pub(super) fn rows(file: &FileFacts) -> impl Iterator<Item = Row<'_>> {
    file.streams.iter().map(|stream| Row { source: &file.session.source, stream })
}

pub(super) fn table<'a>() -> Table<Row<'a>> {
    Table::<Row<'a>>::new("streams")
        .text("source", |row| Some(row.source))
        .uint16("cpu", |row| row.stream.cpu)
        .count("buffers", |row| Some(row.stream.buffers))
        .count("events", |row| Some(row.stream.events))
        .count("bytes_used", |row| Some(row.stream.bytes_used))
        .double("fill_ratio", |row| Some(row.stream.fill_ratio))
        .int64("first_time_ns", |row| row.stream.first_ns)
        .int64("last_time_ns", |row| row.stream.last_ns)
        .count("disorder_in_buffer", |row| Some(row.stream.disorder_in_buffer))
        .count("disorder_between_buffers", |row| Some(row.stream.disorder_between_buffers))
        .count("sequence_gaps", |row| row.stream.sequence_gaps)
}
