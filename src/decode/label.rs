//! Names for the values of enumerations and bit sets.

use std::io::Write;

use crate::schema::model::{MapKind, ValueMap};

/// A [`ValueMap`] made ready for lookup.
#[derive(Debug)]
pub(super) enum Labels {
    /// Sorted by value, each once.
    Values(Vec<(u64, String)>),
    /// In declared order.
    Bits(Vec<(u64, String)>),
}

impl Labels {
    pub(super) fn new(map: &ValueMap) -> Labels {
        let mut entries = map.entries.clone();
        match map.kind {
            MapKind::Bits => Labels::Bits(entries),
            MapKind::Values => {
                // The sort is stable: of equal values the first declared stays.
                entries.sort_by_key(|(value, _)| *value);
                entries.dedup_by_key(|(value, _)| *value);
                Labels::Values(entries)
            }
        }
    }

    /// Appends the name of a value. `false`, and nothing is written, when it has none.
    ///
    /// Bits: the names of all entries whose bits are set, then the bits without a name in hexadecimal, joined with `|`.
    pub(super) fn push(&self, value: u64, out: &mut Vec<u8>) -> bool {
        match self {
            Labels::Values(entries) => push_exact(entries.binary_search_by_key(&value, |(v, _)| *v).ok(), entries, out),
            Labels::Bits(entries) if value == 0 => push_exact(entries.iter().position(|(v, _)| *v == 0), entries, out),
            Labels::Bits(entries) => {
                push_bits(entries, value, out);
                true
            }
        }
    }
}

fn push_exact(found: Option<usize>, entries: &[(u64, String)], out: &mut Vec<u8>) -> bool {
    let name = found.and_then(|index| entries.get(index));
    out.extend(name.iter().flat_map(|(_, name)| name.bytes()));
    name.is_some()
}

fn push_bits(entries: &[(u64, String)], value: u64, out: &mut Vec<u8>) {
    let mut unknown = value;
    let mut separator = "";
    for (bits, name) in entries.iter().filter(|(bits, _)| *bits != 0 && value & bits == *bits) {
        out.extend_from_slice(separator.as_bytes());
        out.extend_from_slice(name.as_bytes());
        separator = "|";
        unknown &= !bits;
    }
    if unknown != 0 {
        write!(out, "{separator}{unknown:#x}").expect("writing to memory does not fail");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(kind: MapKind, entries: &[(u64, &str)], value: u64) -> Option<String> {
        let entries = entries.iter().map(|(value, name)| (*value, (*name).to_owned())).collect();
        let mut out = Vec::new();
        let found = Labels::new(&ValueMap { name: String::new(), kind, entries }).push(value, &mut out);
        found.then(|| String::from_utf8(out).unwrap())
    }

    #[test]
    fn values_match_whole() {
        let entries = [(7, "seven"), (1, "one"), (7, "again")];
        let table = [(1, Some("one")), (7, Some("seven")), (3, None)];
        for (value, name) in table {
            assert_eq!(label(MapKind::Values, &entries, value).as_deref(), name);
        }
    }

    #[test]
    fn bits_are_joined() {
        let entries = [(2, "B"), (1, "A"), (12, "CD")];
        let table =
            [(0, None), (1, Some("A")), (3, Some("B|A")), (4, Some("0x4")), (0x8000_000d, Some("A|CD|0x80000000"))];
        for (value, name) in table {
            assert_eq!(label(MapKind::Bits, &entries, value).as_deref(), name, "{value}");
        }
        assert_eq!(label(MapKind::Bits, &[(0, "None")], 0).as_deref(), Some("None"));
    }
}
