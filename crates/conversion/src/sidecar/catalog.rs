//! `catalog`: one row per event shape.

use std::borrow::Cow;

use etl::layout::header::HeaderFamily;

use super::row::sidecar_row;
use crate::convert::ShapeCounts;
use crate::plan::{CatalogEntry, PlanResult};

sidecar_row! {
    /// An event shape. Times are Unix nanoseconds.
    "catalog" CatalogRow<'a> {
        /// Its number.
        shape: u32,
        /// The provider, event class or message GUID.
        provider_id: Option<String>,
        /// Its name, if anything names it.
        provider_name: Option<&'a str>,
        /// Folder below `events`.
        dataset: &'a str,
        /// `event`, `classic` or `message`.
        kind: &'a str,
        /// The header family.
        header_type: &'a str,
        /// 4 or 8, where the header shows it.
        pointer_size: Option<u8>,
        /// The event id, or the number of a message.
        event_id: Option<u16>,
        /// The version.
        event_version: Option<u16>,
        /// The opcode.
        opcode: Option<u8>,
        /// `EventProperty` of the header.
        event_property: Option<u16>,
        /// The name people know the event by.
        event_name: Option<&'a str>,
        /// The name that its schema has for the event.
        declared_name: Option<&'a str>,
        /// The task's name.
        task_name: Option<&'a str>,
        /// The opcode's name.
        opcode_name: Option<&'a str>,
        /// Names of the declared keywords.
        keyword_names: Option<Cow<'a, [String]>>,
        /// TraceLogging metadata.
        metadata: Option<&'a [u8]>,
        /// The schema source.
        decode_source: &'a str,
        /// Which description exactly: file, build, process.
        schema_origin: Option<&'a str>,
        /// How many payload layouts were considered.
        candidates: u32,
        /// Why this one won.
        chosen_because: Option<&'a str>,
        /// Rows written.
        rows: Option<u64>,
        /// Those whose columns represent all of the payload.
        ok_rows: Option<u64>,
        /// Bytes of their payloads.
        payload_bytes: Option<u64>,
        /// Earliest event.
        first_time_ns: i64,
        /// Latest event.
        last_time_ns: i64,
        /// What would make undecoded rows decodable.
        fix_hint: Option<&'a str>,
        /// What its events say in words, with `%1` for the first field; since format 5.
        message_template: Option<&'a str> => since 5,
    }
    weight: |row| row.metadata.map_or(0, <[u8]>::len) + row.message_template.map_or(0, str::len)
}

/// The rows of a recording. Where a shape has no counts, what is counted of it is NULL.
pub(super) fn rows<'a>(plan: &'a PlanResult, counts: &'a [ShapeCounts]) -> impl Iterator<Item = CatalogRow<'a>> {
    plan.catalog().zip(0u32..).map(|(entry, shape)| row(shape, entry, counts.get(shape as usize)))
}

fn row<'a>(number: u32, entry: CatalogEntry<'a>, counts: Option<&ShapeCounts>) -> CatalogRow<'a> {
    let shape = entry.shape;
    let identity = &shape.key.identity;
    CatalogRow {
        shape: number,
        provider_id: identity.provider_id().map(|id| id.to_string()),
        provider_name: entry.provider_name(),
        dataset: entry.dataset(),
        kind: kind(identity.family),
        header_type: identity.family.name(),
        pointer_size: identity.known_pointer_size(),
        event_id: identity.event_id(),
        event_version: identity.event_version(),
        opcode: identity.event_opcode(),
        event_property: identity.event_property(),
        event_name: entry.event_name(),
        declared_name: entry.declared_name(),
        task_name: entry.task_name(),
        opcode_name: entry.opcode_name(),
        keyword_names: Some(entry.keyword_names()).filter(|names| !names.is_empty()).map(Cow::Borrowed),
        metadata: Some(&*shape.key.metadata).filter(|metadata| !metadata.is_empty()),
        decode_source: shape.decode_source.name(),
        schema_origin: shape.schema_origin.as_deref(),
        candidates: shape.candidates,
        chosen_because: shape.chosen_because.as_deref(),
        rows: counts.map(|counts| counts.rows),
        ok_rows: counts.map(|counts| counts.ok_rows),
        payload_bytes: counts.map(|counts| counts.payload_bytes),
        first_time_ns: shape.first_ns,
        last_time_ns: shape.last_ns,
        fix_hint: shape.fix_hint.as_deref(),
        message_template: entry.template,
    }
}

/// How people call the header families: manifest and TraceLogging events, WPP messages, and all before them.
pub(super) fn kind(family: HeaderFamily) -> &'static str {
    match family {
        HeaderFamily::Message => "message",
        family if family.is_event() => "event",
        _ => "classic",
    }
}
