//! Names of numbers: the labels of lists and sets, and the enumerations of the source code.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::{MapKind, ValueMap};

/// The labels of one argument take at most this many bytes of text.
const MAX_LABEL_BYTES: usize = 1024;

/// The names of an argument's values, shared by all arguments that show them.
///
/// They are equal when their digests are: thousands of names would otherwise be compared with every message that uses them.
///
/// Where messages are written, the digest stands for them, and what is read back has no names yet: see
/// `schema::stored`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Names {
    map: Arc<ValueMap>,
    digest: blake3::Hash,
}

impl From<Names> for String {
    fn from(names: Names) -> Self {
        names.digest.to_hex().to_string()
    }
}

impl TryFrom<String> for Names {
    type Error = String;

    fn try_from(digest: String) -> Result<Self, String> {
        let digest = blake3::Hash::from_hex(&digest).map_err(|cause| format!("not the digest of names: {cause}"))?;
        Ok(Names { digest, map: Arc::new(ValueMap::new("", MapKind::Values, Vec::new())) })
    }
}

impl Names {
    /// The names of a map.
    pub fn new(map: ValueMap) -> Names {
        let mut hasher = blake3::Hasher::new();
        let kind = u64::from(map.kind == MapKind::Bits);
        for (value, name) in map.entries().iter().map(|(value, name)| (*value, name)).chain([(kind, &map.name)]) {
            hasher.update(&value.to_le_bytes()).update(&name.len().to_le_bytes()).update(name.as_bytes());
        }
        Names { digest: hasher.finalize(), map: Arc::new(map) }
    }

    /// No names, of an enumeration that is still to be found.
    pub(super) fn unknown(enumeration: &str, kind: MapKind) -> Names {
        Names::new(ValueMap::new(enumeration, kind, Vec::new()))
    }

    /// The labels in the brackets of an item type, separated by commas and numbered from 0; `=` and a number behind a label
    /// sets its number, and counting goes on from there. A label of bits names the bit of its number.
    pub(super) fn numbered(text: &str, kind: MapKind) -> Names {
        let (mut entries, mut next) = (Vec::new(), 0_u64);
        for declared in text.split(',').map(str::trim) {
            let (label, at) = match declared.rsplit_once('=').map(|(label, text)| (label, number(text))) {
                Some((label, Some(at))) => (label.trim_end(), at),
                _ => (declared, next),
            };
            let value = match kind {
                MapKind::Values => Some(at),
                MapKind::Bits => u32::try_from(at).ok().and_then(|bit| 1_u64.checked_shl(bit)),
            };
            if let Some(value) = value.filter(|_| !label.is_empty()) {
                entries.push((value, label.to_owned()));
            }
            next = at.wrapping_add(1);
        }
        Names::new(ValueMap::new("", kind, entries))
    }

    /// What distinguishes these names from all others.
    pub fn digest(&self) -> blake3::Hash {
        self.digest
    }

    /// Values and names. An enumeration's map has its name, that of labels none.
    pub fn map(&self) -> &ValueMap {
        &self.map
    }
}

impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Eq for Names {}

impl Hash for Names {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.as_bytes().hash(state);
    }
}

/// The low 32 bits of `0x1F` or `31`: enumerations are declared with values of up to 64 bits, arguments have 32.
pub fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => text.parse().ok()?,
    };
    Some(number & u64::from(u32::MAX))
}

/// Text of labels that ends where it grows beyond what names are: what is left out shows as `…`.
pub(super) struct LabelText<'a> {
    out: &'a mut String,
    room: usize,
    is_whole: bool,
}

impl<'a> LabelText<'a> {
    pub(super) fn new(out: &'a mut String) -> Self {
        LabelText { out, room: MAX_LABEL_BYTES, is_whole: true }
    }

    /// Appends a label behind its separator; `false` when there is no room for it, and then for none behind it.
    pub(super) fn push(&mut self, separator: &str, label: &str) -> bool {
        self.out.push_str(separator);
        let room = self.room.checked_sub(separator.len() + label.len());
        self.is_whole = room.is_some();
        self.room = room.unwrap_or(0);
        self.out.push_str(if self.is_whole { label } else { "…" });
        self.is_whole
    }

    /// Whether nothing was left out.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(names: &Names) -> Vec<(u64, &str)> {
        names.map().entries().iter().map(|(value, name)| (*value, name.as_str())).collect()
    }

    #[test]
    fn labels_are_numbered_from_zero_and_from_where_they_say() {
        for (text, expected) in [
            ("", &[][..]),
            ("Low, APC,DPC", &[(0, "Low"), (1, "APC"), (2, "DPC")]),
            ("A,B=5,C", &[(0, "A"), (5, "B"), (6, "C")]),
            ("A,B = 0x10 ,C,D=2", &[(0, "A"), (16, "B"), (17, "C"), (2, "D")]),
            ("A,,C", &[(0, "A"), (2, "C")]),
            ("a=b,c", &[(0, "a=b"), (1, "c")]),
            ("A=0xFFFFFFFFFFFFFFFF", &[(0xffff_ffff, "A")]),
        ] {
            assert_eq!(entries(&Names::numbered(text, MapKind::Values)), expected, "{text}");
        }
        let bits = Names::numbered("a,b,z=31,never=64", MapKind::Bits);
        assert_eq!(entries(&bits), [(1, "a"), (2, "b"), (1 << 31, "z")]);
    }

    #[test]
    fn equal_names_of_equal_values_are_equal() {
        let names = |name: &str, kind, entries: &[(u64, &str)]| {
            let entries = entries.iter().map(|&(value, name)| (value, name.to_owned()));
            Names::new(ValueMap::new(name, kind, entries.collect()))
        };
        let one = names("E", MapKind::Values, &[(1, "a"), (2, "b")]);
        assert_eq!(one, names("E", MapKind::Values, &[(1, "a"), (2, "b")]));
        for other in [
            names("F", MapKind::Values, &[(1, "a"), (2, "b")]),
            names("E", MapKind::Bits, &[(1, "a"), (2, "b")]),
            names("E", MapKind::Values, &[(1, "a")]),
            names("E", MapKind::Values, &[(1, "a"), (3, "b")]),
            names("E", MapKind::Values, &[(1, "a"), (2, "c")]),
        ] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn numbers_are_cut_to_what_an_argument_holds() {
        for (text, expected) in [
            ("0x1f", Some(31)),
            (" 31 ", Some(31)),
            ("0xFFFFFFFFFFFFFFFF", Some(0xffff_ffff)),
            ("0x100000001", Some(1)),
            ("0x1FFFFFFFFFFFFFFFF", None),
            ("0x", None),
            ("-1", None),
            ("", None),
        ] {
            assert_eq!(number(text), expected, "{text}");
        }
    }
}
