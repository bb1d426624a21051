//! Names of values: `ValueMap` and `Values`, `BitMap` and `BitValues`.

use std::borrow::Cow;

use super::faults::quoted;
use super::qualifiers::Qualifiers;
use super::tokens::number;
use crate::model::{MapKind, ValueMap};

/// The names of a property's values, where it has any.
///
/// # Errors
/// What cannot be used of them.
pub(super) fn map(name: &str, qualifiers: &Qualifiers<'_>) -> Result<Option<ValueMap>, String> {
    if let Some(names) = qualifiers.values("Values") {
        let is_flag = qualifiers.text("ValueType").is_some_and(|kind| kind.eq_ignore_ascii_case("flag"));
        let kind = if is_flag { MapKind::Bits } else { MapKind::Values };
        let values = match qualifiers.values("ValueMap") {
            Some(values) => values.iter().map(|value| parsed(value)).collect::<Result<Vec<u64>, _>>()?,
            // The value counts the names from 0.
            None => (0..).take(names.len()).collect(),
        };
        return paired(name, kind, values, names).map(Some);
    }
    let Some(names) = qualifiers.values("BitValues") else { return Ok(None) };
    let bits = match qualifiers.values("BitMap") {
        Some(bits) => bits.iter().map(|bit| parsed(bit)).collect::<Result<Vec<u64>, _>>()?,
        // The lowest bit is that of the first name.
        None => (0..).take(names.len()).collect(),
    };
    let mask = |bit: u64| {
        let shifted = u32::try_from(bit).ok().and_then(|bit| 1_u64.checked_shl(bit));
        shifted.ok_or_else(|| format!("expected a bit from 0 to 63, found {bit}"))
    };
    let masks = bits.into_iter().map(mask).collect::<Result<Vec<u64>, _>>()?;
    paired(name, MapKind::Bits, masks, names).map(Some)
}

fn parsed(value: &str) -> Result<u64, String> {
    number(value).ok_or_else(|| format!("expected a number that has a name, found \"{}\"", quoted(value)))
}

fn paired(name: &str, kind: MapKind, values: Vec<u64>, names: &[Cow<'_, str>]) -> Result<ValueMap, String> {
    if values.len() != names.len() {
        return Err(format!("expected a name for each of {} values, found {} names", values.len(), names.len()));
    }
    let names = names.iter().map(|name| name.trim().to_owned());
    Ok(ValueMap::new(name, kind, values.into_iter().zip(names).collect()))
}
