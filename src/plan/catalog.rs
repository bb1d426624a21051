//! What is known of every event shape of a recording.

use super::resolve::Resolved;
use super::tables::TablePlan;
use crate::decode::FieldRow;
use crate::event::ShapeKey;
use crate::layout::header::HeaderKind;
use crate::schema::{DecodeSource, Registry};

/// One event shape; its number is its place in the catalog.
#[derive(Clone, Debug)]
pub struct CatalogEntry {
    /// What identifies the shape.
    pub key: ShapeKey,
    /// The provider's name, if anything names it.
    pub provider_name: Option<String>,
    /// Folder of the dataset below `events`.
    pub dataset: String,
    /// The name people know the event by.
    pub event_name: Option<String>,
    /// The task's name.
    pub task_name: Option<String>,
    /// The opcode's name.
    pub opcode_name: Option<String>,
    /// Names of the declared keywords.
    pub keyword_names: Vec<String>,
    /// Where the layout came from.
    pub decode_source: DecodeSource,
    /// Which description exactly: file, build, process.
    pub schema_origin: Option<String>,
    /// How many layouts were considered.
    pub candidates: u32,
    /// Why this one won.
    pub chosen_because: Option<String>,
    /// What would make an undecoded shape decodable.
    pub fix_hint: Option<String>,
    /// The payload fields and their columns.
    pub fields: Vec<FieldRow>,
    /// Readable events in all files, before filters.
    pub events: u64,
    /// Earliest event, Unix nanoseconds.
    pub first_ns: i64,
    /// Latest event, Unix nanoseconds.
    pub last_ns: i64,
}

impl CatalogEntry {
    /// The entry of a shape that goes to the given table.
    pub fn new(shape: Resolved, table: &TablePlan, fields: Vec<FieldRow>, registry: &Registry) -> Self {
        let fix_hint = fix_hint(&shape, table);
        let event_name = event_name(&shape, registry);
        let schema = shape.choice.as_ref().map(|choice| choice.candidate.schema.as_ref().clone()).unwrap_or_default();
        let message = shape.message.as_ref();
        CatalogEntry {
            provider_name: table.provider_name.clone(),
            dataset: table.dataset.clone(),
            event_name,
            task_name: schema.task_name,
            opcode_name: schema.opcode_name,
            keyword_names: schema.keyword_names,
            decode_source: match (&shape.choice, message) {
                (Some(choice), _) => choice.candidate.source,
                (None, Some(_)) => DecodeSource::Wpp,
                (None, None) => DecodeSource::None,
            },
            schema_origin: match (&shape.choice, message) {
                (Some(choice), _) => Some(choice.candidate.origin.clone()),
                (None, Some(message)) => Some(message.origin.source_place.clone()),
                (None, None) => None,
            },
            candidates: u32::try_from(shape.candidates).unwrap_or(u32::MAX),
            chosen_because: shape.choice.map(|choice| choice.reason),
            fix_hint,
            fields,
            events: shape.events,
            first_ns: shape.first_ns,
            last_ns: shape.last_ns,
            key: shape.key,
        }
    }
}

/// The name people know an event by, also where only its name is known.
pub(super) fn event_name(shape: &Resolved, registry: &Registry) -> Option<String> {
    let described = shape.choice.as_ref().and_then(|choice| choice.candidate.schema.event_name.clone());
    described.or_else(|| registry.classic_name(&shape.key.identity))
}

/// What the user could give to have the payload of a shape decoded.
fn fix_hint(shape: &Resolved, table: &TablePlan) -> Option<String> {
    let identity = &shape.key.identity;
    if shape.choice.as_ref().is_some_and(|choice| choice.wrong_pointer_size) {
        return Some(
            "the payload fits the schema only with pointers of the other size: the writer's header is wrong".to_owned(),
        );
    }
    if shape.choice.is_some() || shape.message.is_some() {
        return None;
    }
    let name = table.provider_name.as_deref().unwrap_or("unnamed");
    Some(match identity.kind {
        HeaderKind::Message if identity.provider.is_zero() => {
            "the message names no source file: its format cannot be found".to_owned()
        }
        HeaderKind::Message => format!("TMF file {}.tmf, or the PDB it is made from", identity.provider),
        HeaderKind::Timed | HeaderKind::Error | HeaderKind::Wnode => "headers of this kind have no schema".to_owned(),
        kind if kind.is_event() => format!(
            "manifest of provider {} ({name}) with event {} version {}",
            identity.provider, identity.id, identity.version
        ),
        _ => format!(
            "description of class {} ({name}), opcode {} version {}",
            identity.provider, identity.opcode, identity.version
        ),
    })
}
