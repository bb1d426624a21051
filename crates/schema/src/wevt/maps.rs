//! `MAPS`: the value maps (`VMAP`) and bit maps (`BMAP`) of a provider.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::reader::Reader;
use crate::model::{MapKind, ValueMap};

/// Bytes of an entry: the value, the message.
const ENTRY: u32 = 8;
/// Bytes before the entries of a map: the sign, the length, the name, flags, the number of entries.
const HEAD: u32 = 20;

/// The maps by their places, by which fields refer to them.
#[derive(Debug, Default)]
pub(super) struct Maps(BTreeMap<u32, Arc<ValueMap>>);

impl Maps {
    /// Reads the maps whose places the list has.
    pub(super) fn read(reader: &mut Reader<'_>, list: u32) -> Maps {
        let mut maps = BTreeMap::new();
        for at in reader.elements(*b"MAPS", list, 4) {
            let Some(place) = reader.u32(at).filter(|place| !maps.contains_key(place)) else { continue };
            maps.extend(map(reader, place).map(|map| (place, Arc::new(map))));
        }
        Maps(maps)
    }

    /// The map at a place.
    pub(super) fn get(&self, at: u32) -> Option<Arc<ValueMap>> {
        self.0.get(&at).cloned()
    }

    /// All of them by name.
    pub(super) fn into_sorted(self) -> Vec<Arc<ValueMap>> {
        let mut maps: Vec<_> = self.0.into_values().collect();
        maps.sort_by(|a, b| a.name.cmp(&b.name));
        maps
    }
}

fn map(reader: &mut Reader<'_>, at: u32) -> Option<ValueMap> {
    let kind = match reader.sign(at) {
        Some(sign) if sign == *b"VMAP" => MapKind::Values,
        Some(sign) if sign == *b"BMAP" => MapKind::Bits,
        _ => {
            reader.report(at, "expected VMAP or BMAP, found something else");
            return None;
        }
    };
    let place = reader.u32(at.checked_add(8)?)?;
    let name = reader.name(place)?;
    let mut entries = Vec::new();
    for entry in reader.list(at.checked_add(16)?, at.checked_add(HEAD)?, ENTRY) {
        let Some((value, message)) = reader.u32(entry).zip(reader.u32(entry.saturating_add(4))) else { break };
        if !reader.budget.take(reader.messages.footprint(message)) {
            break;
        }
        entries.push((value.into(), reader.messages.any_name(message).unwrap_or_default()));
    }
    Some(ValueMap::new(name, kind, entries))
}
