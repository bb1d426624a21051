//! `TRACE_EVENT_INFO`: the description of one event.

use base::guid::Guid;

use super::properties::Properties;
use super::reader::Blob;
use super::source::DecodingSource;
use crate::model::{EventSchema, Field, FieldKind, SchemaError};
use crate::types;

/// The opcode of an event whose payload [`EventInfo::parse`] reads.
pub const OPCODE_EVENT_INFO: u8 = 32;

/// What an [`EventInfo`] describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EventInfoKey {
    /// An event with an `EVENT_HEADER`.
    Event {
        /// The provider.
        provider: Guid,
        /// The event id.
        id: u16,
        /// The event version.
        version: u8,
    },
    /// An event with a classic header.
    Classic {
        /// The event class.
        class: Guid,
        /// The opcode (called type in classic headers).
        opcode: u8,
        /// The version.
        version: u8,
    },
}

/// The description of one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventInfo {
    /// The provider.
    pub provider: Guid,
    /// The event class; zero for most manifest events.
    pub class: Guid,
    /// The event id.
    pub id: u16,
    /// The event version.
    pub version: u8,
    /// The channel's number.
    pub channel: u8,
    /// The level.
    pub level: u8,
    /// The opcode.
    pub opcode: u8,
    /// The task's number.
    pub task: u16,
    /// The keyword mask.
    pub keywords: u64,
    /// Where the recording machine had the description from.
    pub source: DecodingSource,
    /// The provider's name.
    pub provider_name: Option<String>,
    /// The level's name.
    pub level_name: Option<String>,
    /// The channel's name.
    pub channel_name: Option<String>,
    /// The message template.
    pub message: Option<String>,
    /// The layout and the names. A field with a value map holds only the map's name (and no entries) until
    /// [`EventInfoSet::finish`](super::EventInfoSet::finish) has joined the maps.
    pub schema: EventSchema,
}

impl EventInfo {
    /// Reads a `TRACE_EVENT_INFO`.
    ///
    /// # Errors
    /// When the fixed part or the property array does not fit into `blob`, a structure's members lie outside the
    /// array or contain themselves, a length or count is not held by an earlier integer, or a name lies outside. The
    /// place is the offset in `blob`.
    pub fn parse(blob: &[u8]) -> Result<EventInfo, SchemaError> {
        let mut blob = Blob::new(blob);
        let source = match blob.u32(48, "decoding source")? {
            0 => DecodingSource::Manifest,
            1 => DecodingSource::Mof,
            2 => DecodingSource::Wpp,
            3 => DecodingSource::TraceLogging,
            other => DecodingSource::Other(other),
        };
        let fields = Properties::new(&mut blob, source)?.top_level()?;
        Ok(EventInfo {
            provider: blob.guid(0, "provider GUID")?,
            class: blob.guid(16, "event GUID")?,
            id: blob.u16(32, "event id")?,
            version: blob.u8(34, "version")?,
            channel: blob.u8(35, "channel")?,
            level: blob.u8(36, "level")?,
            opcode: blob.u8(37, "opcode")?,
            task: blob.u16(38, "task")?,
            keywords: blob.u64(40, "keywords")?,
            source,
            provider_name: blob.name_at(52, "provider name")?,
            level_name: blob.name_at(56, "level name")?.map(unprefixed),
            channel_name: blob.name_at(60, "channel name")?,
            message: blob.name_at(76, "event message")?,
            schema: names(&mut blob, source)?.with_fields(fields),
        })
    }

    /// About how many bytes it takes, without the maps of its fields.
    pub fn footprint(&self) -> usize {
        let names = [&self.provider_name, &self.level_name, &self.channel_name, &self.message];
        let names: usize = names.into_iter().flatten().map(String::len).sum();
        // A map's name stands as a map of its own until the maps are joined.
        size_of::<EventInfo>() + names + self.schema.footprint() + map_names(&self.schema.fields)
    }

    /// What the description is looked up by: a MOF class is found by class and opcode, everything else by id.
    pub fn key(&self) -> EventInfoKey {
        match self.source {
            DecodingSource::Mof => {
                EventInfoKey::Classic { class: self.class, opcode: self.opcode, version: self.version }
            }
            _ => EventInfoKey::Event { provider: self.provider, id: self.id, version: self.version },
        }
    }
}

fn map_names(fields: &[Field]) -> usize {
    let of = |field: &Field| match &field.kind {
        FieldKind::Struct(members) => map_names(members),
        FieldKind::Value { .. } => field.map.as_ref().map_or(0, |map| map.footprint()),
    };
    fields.iter().map(of).sum()
}

impl EventSchema {
    fn with_fields(self, fields: Vec<Field>) -> EventSchema {
        EventSchema { fields, ..self }
    }
}

fn names(blob: &mut Blob<'_>, source: DecodingSource) -> Result<EventSchema, SchemaError> {
    let task_name = blob.name_at(68, "task name")?.map(unprefixed);
    let opcode_name = blob.name_at(72, "opcode name")?.map(unprefixed);
    // The same word is the name of the activity id where the source is a manifest.
    let own_name = match source {
        DecodingSource::Manifest | DecodingSource::Other(_) => None,
        _ => blob.name_at(92, "event name")?,
    };
    let event_name = match own_name {
        Some(name) if source == DecodingSource::TraceLogging || task_name.is_none() => Some(name),
        _ => types::event_name(task_name.as_deref(), opcode_name.as_deref()),
    };
    let keyword_names = blob.name_list_at(64, "keyword names")?.into_iter().map(unprefixed).collect();
    Ok(EventSchema { event_name, task_name, opcode_name, keyword_names, fields: Vec::new() })
}

/// Without the prefix of standard names, which Windows 7 and 8 write (`win:Info`).
fn unprefixed(name: String) -> String {
    name.strip_prefix("win:").map(str::to_owned).unwrap_or(name)
}
