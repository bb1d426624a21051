//! Names for the values of enumerations and bit sets.

use std::io::Write;

use schema::model::{MapKind, ValueMap};
use schema::pack::{CodeTable, Pack};

/// The longest label, in bytes; a longer one is cut and ends in `…`. A map can have thousands of names for one bit.
const MAX_LABEL: usize = 1024;
const CUT: &str = "…";

/// Appends the name of a value. `false`, and nothing is written, when it has none.
///
/// Bits: the names of all entries whose bits are set, then the bits without a name in hexadecimal, joined with `|`.
pub(super) fn push(map: &ValueMap, value: u64, out: &mut Vec<u8>) -> bool {
    push_joined(map, value, "|", out)
}

/// The same as a message has it: names of bits are parted by ` | `, and bits none of which has a name have none together.
pub(super) fn push_in_words(map: &ValueMap, value: u64, out: &mut Vec<u8>) -> bool {
    let is_set = |(bits, _): (u64, &str)| bits != 0 && value & bits == bits;
    let is_named = map.kind == MapKind::Values || value == 0 || map.distinct().any(is_set);
    is_named && push_joined(map, value, " | ", out)
}

fn push_joined(map: &ValueMap, value: u64, separator: &str, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    match map.kind {
        MapKind::Bits if value != 0 => push_bits(map, value, separator, out),
        _ => match map.exact(value) {
            Some(name) => push_name(name, out),
            None => return false,
        },
    }
    cut(start, out);
    true
}

/// Appends the name of a status code of 32 bits. `false`, and nothing is written, when it has none.
pub(super) fn push_status(table: CodeTable, code: u64, out: &mut Vec<u8>) -> bool {
    let name = u32::try_from(code).ok().and_then(|code| Pack::builtin().status_name(table, code));
    name.inspect(|name| out.extend_from_slice(name.as_bytes())).is_some()
}

fn push_bits(map: &ValueMap, value: u64, between: &str, out: &mut Vec<u8>) {
    let start = out.len();
    let mut unknown = value;
    let mut separator = "";
    for (bits, name) in map.distinct().filter(|(bits, _)| *bits != 0 && value & bits == *bits) {
        out.extend_from_slice(separator.as_bytes());
        push_name(name, out);
        separator = between;
        unknown &= !bits;
        if out.len() - start > MAX_LABEL {
            return;
        }
    }
    if unknown != 0 {
        write!(out, "{separator}{unknown:#x}").expect("writing to memory does not fail");
    }
}

/// Appends no more of a name than [`cut`] leaves of it.
fn push_name(name: &str, out: &mut Vec<u8>) {
    let bytes = name.as_bytes();
    out.extend_from_slice(bytes.get(..=MAX_LABEL).unwrap_or(bytes));
}

/// Shortens a label that begins at `start`, between two characters.
fn cut(start: usize, out: &mut Vec<u8>) {
    let is_inside = |byte: &u8| byte & 0xc0 == 0x80;
    if out.len() - start > MAX_LABEL {
        let mut end = start + MAX_LABEL - CUT.len();
        while out.get(end).is_some_and(is_inside) {
            end -= 1;
        }
        out.truncate(end);
        out.extend_from_slice(CUT.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(kind: MapKind, entries: &[(u64, &str)], value: u64) -> Option<String> {
        let entries = entries.iter().map(|(value, name)| (*value, (*name).to_owned())).collect();
        let mut out = b"before".to_vec();
        let found = push(&ValueMap::new("", kind, entries), value, &mut out);
        let text = String::from_utf8(out).unwrap();
        found.then(|| text.strip_prefix("before").unwrap().to_owned())
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
        let entries = [(2, "B"), (1, "A"), (12, "CD"), (2, "B"), (1, "A")];
        let table =
            [(0, None), (1, Some("A")), (3, Some("B|A")), (4, Some("0x4")), (0x8000_000d, Some("A|CD|0x80000000"))];
        for (value, name) in table {
            assert_eq!(label(MapKind::Bits, &entries, value).as_deref(), name, "{value}");
        }
        assert_eq!(label(MapKind::Bits, &[(0, "None")], 0).as_deref(), Some("None"));
    }

    #[test]
    fn status_codes_have_the_names_of_their_tables() {
        for (table, code, expected) in [
            (CodeTable::NtStatus, 0, "STATUS_SUCCESS"),
            (CodeTable::NtStatus, 0xc000_0034, "STATUS_OBJECT_NAME_NOT_FOUND"),
            (CodeTable::Win32, 2, "ERROR_FILE_NOT_FOUND"),
            (CodeTable::HResult, 0x8000_4005, "E_FAIL"),
            // An HRESULT that wraps a Win32 error has the error's name.
            (CodeTable::HResult, 0x8007_0005, "ERROR_ACCESS_DENIED"),
            (CodeTable::NdisStatus, 0x4001_000b, "NDIS_STATUS_MEDIA_CONNECT"),
            (CodeTable::NtStatus, 0xe000_1234, ""),
            (CodeTable::NtStatus, 1 << 32, ""),
        ] {
            let mut out = Vec::new();
            assert_eq!(push_status(table, code, &mut out), !expected.is_empty(), "{table:?} {code:#x}");
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn a_label_has_an_end() {
        let names: Vec<String> = (0..20_000).map(|number| format!("N{number:05}")).collect();
        let entries: Vec<(u64, &str)> = names.iter().map(|name| (1, name.as_str())).collect();
        let text = label(MapKind::Bits, &entries, 3).unwrap();
        assert_eq!(text.len(), 1024);
        assert!(text.starts_with("N00000|N00001|") && text.ends_with("|N00144|N00145…"), "{text}");
        // A character of two bytes is not cut in two.
        let long = format!("a{}", "ä".repeat(2000));
        let cut = format!("a{}…", "ä".repeat(510));
        assert_eq!(label(MapKind::Values, &[(1, &long)], 1), Some(cut));
        let longest = "b".repeat(1024);
        assert_eq!(label(MapKind::Values, &[(1, &longest)], 1), Some(longest));
    }

    #[test]
    fn names_of_bits_are_told_apart_or_not() {
        let t = |map_kind, names: &[&str], expected| {
            let entries = names.iter().zip(0..).map(|(name, bit)| (1 << bit, (*name).to_owned()));
            assert_eq!(ValueMap::new("M", map_kind, entries.collect()).names().as_str(), expected, "{names:?}");
        };
        t(MapKind::Values, &["a|b"], "values");
        t(MapKind::Bits, &["a", "b"], "bits");
        t(MapKind::Bits, &["a", "b|c"], "unclear bits");
        t(MapKind::Bits, &["0x80"], "unclear bits");
    }
}
