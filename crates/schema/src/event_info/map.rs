//! `EVENT_MAP_INFO`: one value map of a provider.

use std::sync::Arc;

use base::guid::Guid;

use super::reader::Blob;
use crate::model::{MapKind, SchemaError, ValueMap};

/// The opcode of an event whose payload [`MapInfo::parse`] reads.
pub const OPCODE_MAP_INFO: u8 = 33;

/// One value map of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapInfo {
    /// The provider.
    pub provider: Guid,
    /// The map, named as the properties name it.
    pub map: Arc<ValueMap>,
}

impl MapInfo {
    /// Reads a provider GUID and the `EVENT_MAP_INFO` behind it, whose offsets count from its own start.
    ///
    /// # Errors
    /// When the entries or a name lie outside, or the map is of a kind that names no numbers (a pattern map).
    pub fn parse(payload: &[u8]) -> Result<MapInfo, SchemaError> {
        const PROVIDER_BYTES: usize = 16;
        let provider = Blob::new(payload).guid(0, "provider GUID")?;
        let info = payload.get(PROVIDER_BYTES..).unwrap_or_default();
        let map = parse_map(&mut Blob::new(info).placed_at(PROVIDER_BYTES))?;
        Ok(MapInfo { provider, map: Arc::new(map) })
    }
}

/// Flags of `MAP_FLAGS` in `tdh.h`: the first three for manifests, the others for MOF classes.
mod map_flag {
    pub(super) const VALUES: u32 = 1;
    pub(super) const BITS: u32 = 2;
    pub(super) const MOF_VALUES: u32 = 8;
    pub(super) const MOF_FLAG: u32 = 32;
}

fn parse_map(blob: &mut Blob<'_>) -> Result<ValueMap, SchemaError> {
    const ENTRIES: usize = 16;
    const ENTRY_BYTES: usize = 8;
    let name = blob.name_at(0, "map name")?.ok_or_else(|| blob.fault(0, "expected a map name, found none"))?;
    let kind = match blob.u32(4, "map flags")? {
        map_flag::VALUES | map_flag::MOF_VALUES => MapKind::Values,
        map_flag::BITS => MapKind::Bits,
        flags if flags == map_flag::MOF_VALUES | map_flag::MOF_FLAG => MapKind::Bits,
        other => return Err(blob.fault(4, format!("expected a value or bit map, found flags {other:#x}"))),
    };
    let count = blob.array(8, ENTRIES, ENTRY_BYTES, "map entries")?;
    if blob.u32(12, "map value type")? != 0 {
        return Err(blob.fault(12, "expected numbers as map values, found text"));
    }
    let mut entries = Vec::with_capacity(count);
    for at in (ENTRIES..).step_by(ENTRY_BYTES).take(count) {
        let value = blob.u32(at + 4, "map value")?;
        entries.push((u64::from(value), blob.name_at(at, "map entry")?.unwrap_or_default()));
    }
    Ok(ValueMap::new(name, kind, entries))
}
