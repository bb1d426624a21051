//! What is known of every event shape of a recording.

use crate::decode::FieldRow;
use crate::event::ShapeKey;

/// Where the layout of a payload came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DecodeSource {
    /// Metadata on the event itself.
    TraceLogging,
    /// A manifest that the provider wrote into the trace.
    EventSource,
    /// A description that a merging tool appended to the trace.
    EventInfo,
    /// A description given by the user.
    User,
    /// The built-in descriptions of manifest providers.
    Pack,
    /// The built-in descriptions of kernel and other classic classes.
    Kernel,
    /// A WPP message format.
    Wpp,
    /// The event says that its payload is one string.
    String,
    /// There is none.
    None,
}

impl DecodeSource {
    /// All sources, in the order of their numbers.
    pub const ALL: [DecodeSource; 9] = [
        DecodeSource::TraceLogging,
        DecodeSource::EventSource,
        DecodeSource::EventInfo,
        DecodeSource::User,
        DecodeSource::Pack,
        DecodeSource::Kernel,
        DecodeSource::Wpp,
        DecodeSource::String,
        DecodeSource::None,
    ];

    /// The value of the column `decode_source`.
    pub fn name(self) -> &'static str {
        match self {
            DecodeSource::TraceLogging => "tracelogging",
            DecodeSource::EventSource => "eventsource",
            DecodeSource::EventInfo => "event_info",
            DecodeSource::User => "user",
            DecodeSource::Pack => "pack",
            DecodeSource::Kernel => "kernel",
            DecodeSource::Wpp => "wpp",
            DecodeSource::String => "string",
            DecodeSource::None => "none",
        }
    }
}

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
