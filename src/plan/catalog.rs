//! What is known of every event shape of a recording.

use crate::decode::FieldRow;
use crate::event::ShapeKey;
use crate::schema::DecodeSource;

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
