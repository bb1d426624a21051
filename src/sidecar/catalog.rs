//! `catalog`: one row per event shape.

use super::SidecarFacts;
use super::table::Table;
use crate::convert::job::ShapeCounts;
use crate::dataset::EncodeOptions;
use crate::error::Result;
use crate::event::EventIdentity;
use crate::layout::header::HeaderFamily;
use crate::output::{FileEntry, LocalFolder};
use crate::plan::CatalogEntry;

struct Row<'a> {
    shape: u32,
    entry: CatalogEntry<'a>,
    identity: &'a EventIdentity,
    counts: Option<&'a ShapeCounts>,
}

pub(super) fn write(staging: &LocalFolder, facts: &SidecarFacts<'_>, encode: &EncodeOptions) -> Result<Vec<FileEntry>> {
    let rows = facts.plan.catalog().zip(0u32..).map(|(entry, shape)| Row {
        shape,
        entry,
        identity: &entry.shape.key.identity,
        counts: facts.shape_counts.get(shape as usize),
    });
    table().write(staging, encode, rows)
}

fn table<'a>() -> Table<Row<'a>> {
    Table::<Row<'a>>::new("catalog")
        .weight(|row| row.entry.shape.key.metadata.len())
        .uint32("shape", |row| Some(row.shape))
        .made_text("provider_id", |row| row.identity.provider_id().map(|id| id.to_string()))
        .text("provider_name", |row| row.entry.provider_name())
        .text("dataset", |row| Some(row.entry.dataset()))
        .text("kind", |row| Some(kind(row.identity.kind)))
        .text("header_type", |row| Some(row.identity.kind.name()))
        .uint8("pointer_size", |row| row.identity.known_pointer_size())
        .uint16("event_id", |row| row.identity.event_id())
        .uint16("event_version", |row| row.identity.event_version())
        .uint8("opcode", |row| row.identity.event_opcode())
        .uint16("event_property", |row| row.identity.event_property())
        .text("event_name", |row| row.entry.event_name())
        .text("task_name", |row| row.entry.task_name())
        .text("opcode_name", |row| row.entry.opcode_name())
        .texts("keyword_names", |row| Some(row.entry.keyword_names().to_vec()).filter(|names| !names.is_empty()))
        .bytes("metadata", |row| Some(&*row.entry.shape.key.metadata).filter(|metadata| !metadata.is_empty()))
        .text("decode_source", |row| Some(row.entry.shape.decode_source.name()))
        .text("schema_origin", |row| row.entry.shape.schema_origin.as_deref())
        .uint32("candidates", |row| Some(row.entry.shape.candidates))
        .text("chosen_because", |row| row.entry.shape.chosen_because.as_deref())
        .count("rows", |row| Some(row.counts?.rows))
        .count("ok_rows", |row| Some(row.counts?.ok_rows))
        .count("payload_bytes", |row| Some(row.counts?.payload_bytes))
        .int64("first_time_ns", |row| Some(row.entry.shape.first_ns))
        .int64("last_time_ns", |row| Some(row.entry.shape.last_ns))
        .text("fix_hint", |row| row.entry.shape.fix_hint.as_deref())
}

/// How people call the header families: manifest and TraceLogging events, WPP messages, and all before them.
fn kind(header: HeaderFamily) -> &'static str {
    match header {
        HeaderFamily::Message => "message",
        header if header.is_event() => "event",
        _ => "classic",
    }
}
