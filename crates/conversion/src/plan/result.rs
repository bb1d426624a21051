//! What a plan says: plain data, from which a worker needs nothing else to decode events.

use std::sync::Arc;

use base::guid::Guid;
use etl::event::Shape;
use schema::model::EventSchema;
use schema::pack::EventFacts;
use schema::wpp::MessageFormat;
use schema::{DecodeSource, shared_serde};
use serde::{Deserialize, Serialize};

use super::filter::CompiledFilter;
use super::locked::LockUse;
use crate::decode::{FieldColumn, PayloadColumns};
use crate::table::header::HeaderColumn;

/// Everything that is decided before events become rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanResult {
    /// The event shapes; the index is the shape's number.
    pub shapes: Vec<PlannedShape>,
    /// What describes payloads, each once: shapes share them.
    #[serde(with = "shared_serde::schemas")]
    pub schemas: Vec<Arc<EventSchema>>,
    /// The formats of WPP messages, each once.
    #[serde(with = "shared_serde::messages")]
    pub messages: Vec<Arc<MessageFormat>>,
    /// What events say in words, each text once.
    pub templates: Vec<Arc<str>>,
    /// The tables.
    pub tables: Vec<PlannedTable>,
    /// What keeps events from becoming rows; `None` where all of them do.
    pub filter: Option<CompiledFilter>,
    /// The names that it has of providers whose names a lock settles; `None` where there is none of these, or no lock.
    pub lock_use: Option<LockUse>,
}

/// How events of one shape become rows, and why so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedShape {
    /// What identifies it.
    pub key: Shape,
    /// Index of its table.
    pub table: u32,
    /// Index of the schema of its payloads.
    pub schema: Option<u32>,
    /// Which binding of its table says where the fields go; `None` where they fill no column.
    pub binding: Option<u32>,
    /// Whether a schema is known and contradicted by every sample, so that the rows are errors.
    pub is_refused: bool,
    /// Index of the format of a WPP message.
    pub message: Option<u32>,
    /// Index of what the event says in words.
    pub template: Option<u32>,
    /// The name people know the event by.
    pub event_name: ShapeName,
    /// The opcode's name, where its schema has none.
    pub opcode_name: Option<String>,
    /// Where the schema came from.
    pub decode_source: DecodeSource,
    /// Which description exactly: file, build, process.
    pub schema_origin: Option<String>,
    /// How many schemas were considered.
    pub candidates: u32,
    /// Why this one won.
    pub chosen_because: Option<String>,
    /// What would make an undecoded shape decodable.
    pub fix_hint: Option<String>,
    /// Whether the sidecar lists its fields: not beyond what a trace may have of them.
    pub lists_fields: bool,
    /// Readable events in all inputs, before filters.
    pub events: u64,
    /// Earliest event, Unix nanoseconds.
    pub first_ns: i64,
    /// Latest event, Unix nanoseconds.
    pub last_ns: i64,
}

/// The name of the events of a shape.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShapeName {
    /// That of its schema, if it has one.
    #[default]
    Declared,
    /// Another one.
    Settled(String),
    /// None, whatever its schema says.
    Unknown,
}

/// One dataset of the trace and its columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTable {
    /// Its folder below `events`.
    pub dataset: String,
    /// The provider; `None` for messages and headers without one.
    pub provider_id: Option<Guid>,
    /// Its name, if anything names it.
    pub provider_name: Option<String>,
    /// The header columns.
    pub header: Vec<HeaderColumn>,
    /// The payload columns, and which field of which schema fills them.
    pub columns: PayloadColumns,
    /// Payload columns beyond those that a table, or all, may have; what they would hold stays in `payload`.
    pub left_out: usize,
    /// The shapes whose events go here, ascending.
    pub shapes: Vec<u32>,
}

impl PlanResult {
    /// Whether events of the shape with this number may become rows.
    pub fn may_pass(&self, shape: u32) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.may_pass(shape))
    }

    /// What describes the payloads of a shape.
    pub fn schema(&self, shape: &PlannedShape) -> Option<&Arc<EventSchema>> {
        self.schemas.get(shape.schema? as usize)
    }

    /// The format of the messages of a shape.
    pub fn message(&self, shape: &PlannedShape) -> Option<&Arc<MessageFormat>> {
        self.messages.get(shape.message? as usize)
    }

    /// What the events of a shape say in words, with insertions for their fields.
    pub fn template(&self, shape: &PlannedShape) -> Option<&Arc<str>> {
        self.templates.get(shape.template? as usize)
    }
}

impl PlannedShape {
    /// A shape of which nothing is known, without events.
    pub fn bare(key: Shape, decode_source: DecodeSource) -> Self {
        PlannedShape {
            key,
            table: 0,
            schema: None,
            binding: None,
            is_refused: false,
            message: None,
            template: None,
            event_name: ShapeName::Declared,
            opcode_name: None,
            decode_source,
            schema_origin: None,
            candidates: 0,
            chosen_because: None,
            fix_hint: None,
            lists_fields: false,
            events: 0,
            first_ns: 0,
            last_ns: 0,
        }
    }
}

impl PlannedTable {
    /// Whether its rows say in words what their event does.
    pub fn renders_messages(&self) -> bool {
        self.header.contains(&HeaderColumn::RenderedMessage)
    }

    /// Whether its rows say themselves which events they are, because their shapes do not, and are not decoded.
    pub fn is_other(&self) -> bool {
        self.header.contains(&HeaderColumn::ProviderId)
    }

    /// The rows of the sidecar table `fields` for a shape that goes here. `facts`: what is known of its fields.
    pub fn field_columns(&self, shape: &PlannedShape, schema: &EventSchema, facts: EventFacts<'_>) -> Vec<FieldColumn> {
        shape.binding.map_or_else(Vec::new, |binding| self.columns.field_columns(binding as usize, schema, facts))
    }
}
