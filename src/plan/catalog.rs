//! What is known of every event shape of a recording.

use super::choose::Choice;
use super::images::Images;
use super::resolve::Resolved;
use super::tables::PlannedTable;
use crate::decode::FieldRow;
use crate::event::{EventIdentity, Shape};
use crate::layout::header::HeaderFamily;
use crate::schema::eventsource::Standing;
use crate::schema::{DecodeSource, Registry};

/// One event shape; its number is its place in the catalog.
#[derive(Clone, Debug)]
pub struct CatalogEntry {
    /// What identifies the shape.
    pub key: Shape,
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

#[cfg(test)]
impl CatalogEntry {
    /// A shape of which nothing is known, without events.
    pub(crate) fn bare(identity: EventIdentity, decode_source: DecodeSource) -> Self {
        CatalogEntry {
            key: Shape { identity, metadata: Box::default() },
            provider_name: None,
            dataset: String::new(),
            event_name: None,
            task_name: None,
            opcode_name: None,
            keyword_names: Vec::new(),
            decode_source,
            schema_origin: None,
            candidates: 0,
            chosen_because: None,
            fix_hint: None,
            fields: Vec::new(),
            events: 0,
            first_ns: 0,
            last_ns: 0,
        }
    }
}

impl CatalogEntry {
    /// The entry of a shape that goes to the given table.
    pub fn new(
        shape: Resolved,
        table: &PlannedTable,
        fields: Vec<FieldRow>,
        registry: &Registry,
        binaries: &Images,
    ) -> Self {
        let fix_hint = fix_hint(&shape, table, registry, binaries);
        let event_name = shape.event_name(registry);
        let schema = shape.choice.as_ref().map(|choice| choice.candidate.schema.as_ref().clone()).unwrap_or_default();
        let message = shape.message.as_ref();
        CatalogEntry {
            provider_name: table.provider_name.clone(),
            dataset: table.dataset.clone(),
            event_name,
            task_name: schema.task_name,
            opcode_name: schema.opcode_name.or_else(|| registry.classic_type(&shape.key.identity).map(str::to_owned)),
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

/// What the user could give to have the payload of a shape decoded.
fn fix_hint(shape: &Resolved, table: &PlannedTable, registry: &Registry, binaries: &Images) -> Option<String> {
    let identity = &shape.key.identity;
    if table.is_other() {
        return Some(
            "nothing: events beyond the event shapes and datasets that a trace may have are not decoded".to_owned(),
        );
    }
    if let Some(choice) = &shape.choice {
        return misfit_hint(choice);
    }
    if shape.message.is_some() {
        return None;
    }
    if shape.is_empty && identity.kind != HeaderFamily::Message {
        return None;
    }
    let name = table.provider_name.as_deref().unwrap_or("unnamed");
    Some(match identity.kind {
        HeaderFamily::Message if identity.provider.is_zero() => {
            "the message names no source file: its format cannot be found".to_owned()
        }
        HeaderFamily::Message => {
            let pdb = match binaries.symbol_files() {
                Some(files) if files.contains(',') => format!("one of the PDBs that the trace names: {files}"),
                Some(file) => format!("the PDB {file}"),
                None => "the PDB it is made from".to_owned(),
            };
            format!("TMF file {}.tmf, or {pdb}", identity.provider)
        }
        HeaderFamily::Timed | HeaderFamily::Error | HeaderFamily::Wnode => {
            "headers of this kind have no schema".to_owned()
        }
        kind if kind.is_event() => {
            if let Some(hint) = own_manifest_hint(registry.eventsource.standing(&shape.schema_provider)) {
                return Some(hint);
            }
            let binary = binaries.path(&identity.provider).map_or(String::new(), |path| format!(" (of {path})"));
            let what = described(identity, name);
            format!("{what}{binary} with event {} version {}", identity.id, identity.version)
        }
        _ => format!("{}, opcode {} version {}", described(identity, name), identity.opcode, identity.version),
    })
}

/// What helps where the provider wrote its own manifest into the trace.
fn own_manifest_hint(standing: Standing<'_>) -> Option<String> {
    match standing {
        Standing::Absent => None,
        Standing::Known => Some(
            "the provider's manifest in the trace does not describe the event: one of another build, with --schemas"
                .to_owned(),
        ),
        Standing::Unusable(fault) => {
            Some(format!("the provider's manifest in the trace is not used ({fault}): a whole one, with --schemas"))
        }
    }
}

/// What kind of description a provider's events need.
pub fn described(identity: &EventIdentity, name: &str) -> String {
    let id = identity.provider.to_string();
    // A provider without a name is called by its id.
    let id = if name.eq_ignore_ascii_case(&id) { id } else { format!("{id} ({name})") };
    match identity.kind {
        kind if kind.is_event() => format!("manifest of provider {id}"),
        kind if kind.is_kernel() && identity.provider.is_zero() => {
            format!("description of kernel group {:02X}", identity.group)
        }
        _ => format!("description of class {id}"),
    }
}

/// What helps where a layout is known and no payload fits it.
fn misfit_hint(choice: &Choice) -> Option<String> {
    let origin = &choice.candidate.origin;
    if choice.wrong_pointer_size {
        return Some(
            "the payload fits the schema only with pointers of the other size: the writer's header is wrong".to_owned(),
        );
    }
    choice.is_contradicted.then(|| match choice.candidate.source {
        DecodeSource::TraceLogging | DecodeSource::String => {
            format!("no payload fits the {origin}: the writer contradicts itself")
        }
        source => format!(
            "no payload fits the layout from {} ({origin}): the manifest of the build that wrote it, with --schemas",
            source.name()
        ),
    })
}
