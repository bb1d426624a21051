//! All schemas that one trace carries, with their value maps joined.

use std::collections::HashMap;
use std::sync::Arc;

use base::guid::Guid;

use super::info::{EventInfo, EventInfoKey};
use super::map::MapInfo;
use crate::budget::Budget;
use crate::model::{Field, FieldKind, SchemaError, ValueMap};

/// How many different descriptions under one key are kept.
const MAX_VARIANTS: usize = 64;

/// Why a blob is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddError {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] SchemaError),
    /// There is no room for it.
    #[error("there are too many, or they need too much memory")]
    Limit,
}

/// Collects the blobs of a trace, in any order: maps usually come after the events that use them.
#[derive(Clone, Debug, Default)]
pub struct EventInfoSet {
    events: Vec<EventInfo>,
    known: HashMap<EventInfoKey, Vec<usize>>,
    maps: HashMap<Guid, HashMap<String, Arc<ValueMap>>>,
}

impl EventInfoSet {
    /// An empty set.
    pub fn new() -> Self {
        EventInfoSet::default()
    }

    /// Takes the payload of an event of opcode [`super::OPCODE_EVENT_INFO`]. A repetition is dropped, a different
    /// description under the same key is kept beside the first, up to 64 of them. What is kept is taken from `budget`.
    ///
    /// # Errors
    /// Those of [`EventInfo::parse`]; [`AddError::Limit`] when there is no room.
    pub fn add_event_info(&mut self, payload: &[u8], budget: &mut Budget) -> Result<(), AddError> {
        // To read what cannot be kept would cost as much as to keep it.
        if budget.is_spent() {
            return Err(AddError::Limit);
        }
        let event = EventInfo::parse(payload)?;
        let same_key = self.known.entry(event.key()).or_default();
        if same_key.iter().any(|&index| self.events.get(index) == Some(&event)) {
            return Ok(());
        }
        if same_key.len() >= MAX_VARIANTS || !budget.take(event.footprint()) {
            return Err(AddError::Limit);
        }
        same_key.push(self.events.len());
        self.events.push(event);
        Ok(())
    }

    /// Takes the payload of an event of opcode [`super::OPCODE_MAP_INFO`]. The first map of a name stands. What is kept
    /// is taken from `budget`.
    ///
    /// # Errors
    /// Those of [`MapInfo::parse`]; [`AddError::Limit`] when there is no room.
    pub fn add_map_info(&mut self, payload: &[u8], budget: &mut Budget) -> Result<(), AddError> {
        if budget.is_spent() {
            return Err(AddError::Limit);
        }
        let MapInfo { provider, map } = MapInfo::parse(payload)?;
        let maps = self.maps.entry(provider).or_default();
        if maps.contains_key(&map.name) {
            return Ok(());
        }
        if !budget.take(map.footprint() + map.name.len()) {
            return Err(AddError::Limit);
        }
        maps.insert(map.name.clone(), map);
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
