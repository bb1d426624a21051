//! `WEVT`: one provider.

use std::collections::BTreeMap;

use base::guid::Guid;

use super::events::EventReader;
use super::maps::Maps;
use super::names::Names;
use super::reader::Reader;
use super::{channels, levels, traits};
use crate::manifest::ProviderSchemas;

/// Bytes of an entry of the provider's table: the type of elements, and the place of their list.
const LIST: u32 = 8;

const LEVELS: u32 = 0;
const EVENTS: u32 = 4;
const CHANNELS: u32 = 5;
const MAPS: u32 = 6;
const TRAITS: u32 = 13;

/// Reads the provider that is described at a place.
pub(super) fn read(reader: &mut Reader<'_>, guid: Guid, at: u32) -> Option<ProviderSchemas> {
    if !reader.is_sign(*b"WEVT", at) || !reader.budget.take(size_of::<ProviderSchemas>()) {
        return None;
    }
    let lists = lists(reader, at);
    let list_of = |kind: u32| lists.get(&kind).copied();
    let names = Names::read(reader, list_of);
    let maps = list_of(MAPS).map(|list| Maps::read(reader, list)).unwrap_or_default();
    let mut events = EventReader::new(reader, &names, &maps);
    let mut events = list_of(EVENTS).map(|list| events.all(list)).unwrap_or_default();
    events.sort_by_key(|event| (event.id, event.version));
    Some(ProviderSchemas {
        guid,
        name: list_of(TRAITS).and_then(|list| traits::name(reader, list)).unwrap_or_default(),
        events,
        levels: list_of(LEVELS).map(|list| levels::read(reader, list)).unwrap_or_default(),
        channels: list_of(CHANNELS).map(|list| channels::read(reader, list)).unwrap_or_default(),
        keywords: names.keywords.own(),
        tasks: names.tasks,
        opcodes: names.opcodes,
        maps: maps.into_sorted(),
        ..ProviderSchemas::default()
    })
}

/// The place of the list of each type of elements, the first of each.
fn lists(reader: &mut Reader<'_>, at: u32) -> BTreeMap<u32, u32> {
    let mut lists = BTreeMap::new();
    for entry in reader.list(at.saturating_add(12), at.saturating_add(16), LIST) {
        let Some((kind, place)) = reader.u32(entry).zip(reader.u32(entry.saturating_add(4))) else { break };
        if *lists.entry(kind).or_insert(place) != place {
            reader.report(entry, format!("expected one list of elements of type {kind}, found another"));
        }
    }
    lists
}
