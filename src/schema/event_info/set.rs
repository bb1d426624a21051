//! All schemas that one trace carries, with their value maps joined.

use std::collections::HashMap;
use std::sync::Arc;

use super::{EventInfo, EventKey, MapInfo};
use crate::guid::Guid;
use crate::schema::model::{Field, FieldKind, SchemaError, ValueMap};

/// How many different descriptions under one key are kept.
const MAX_VARIANTS: usize = 64;

/// Collects the blobs of a trace, in any order: maps usually come after the events that use them.
#[derive(Clone, Debug, Default)]
pub struct EventInfoSet {
    events: Vec<EventInfo>,
    known: HashMap<EventKey, Vec<usize>>,
    maps: HashMap<Guid, HashMap<String, Arc<ValueMap>>>,
}

impl EventInfoSet {
    /// An empty set.
    pub fn new() -> Self {
        EventInfoSet::default()
    }

    /// Takes the payload of an event of opcode [`super::OPCODE_EVENT_INFO`]. A repetition is dropped, a different
    /// description under the same key is kept beside the first, up to 64 of them.
    ///
    /// # Errors
    /// Those of [`EventInfo::parse`].
    pub fn add_event_info(&mut self, payload: &[u8]) -> Result<(), SchemaError> {
        let event = EventInfo::parse(payload)?;
        let same_key = self.known.entry(event.key()).or_default();
        if same_key.len() < MAX_VARIANTS && !same_key.iter().any(|&index| self.events.get(index) == Some(&event)) {
            same_key.push(self.events.len());
            self.events.push(event);
        }
        Ok(())
    }

    /// Takes the payload of an event of opcode [`super::OPCODE_MAP_INFO`]. The first map of a name stands.
    ///
    /// # Errors
    /// Those of [`MapInfo::parse`].
    pub fn add_map_info(&mut self, payload: &[u8]) -> Result<(), SchemaError> {
        let MapInfo { provider, map } = MapInfo::parse(payload)?;
        self.maps.entry(provider).or_default().entry(map.name.clone()).or_insert(map);
        Ok(())
    }

    /// The descriptions in the order in which they were added, each field with its map if the trace has it.
    pub fn finish(self) -> Vec<EventInfo> {
        let EventInfoSet { mut events, maps, .. } = self;
        let none = HashMap::new();
        for event in &mut events {
            join(&mut event.schema.fields, maps.get(&event.provider).unwrap_or(&none));
        }
        events
    }
}

fn join(fields: &mut [Field], maps: &HashMap<String, Arc<ValueMap>>) {
    for field in fields {
        field.map = field.map.take().and_then(|named| maps.get(&named.name).cloned());
        if let FieldKind::Struct(members) = &mut field.kind {
            join(members, maps);
        }
    }
}
