//! The arguments of a message: how long each is, and its text.

use std::fmt::Write;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use super::printf::Spec;
use super::time::push_filetime;
use crate::guid::Guid;
use crate::schema::text;

/// One argument as the TMF file declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The expression in the source code.
    pub expression: String,
    /// The number under which the format inserts it, 10 for the first.
    pub number: u16,
    /// How it is encoded.
    pub kind: ItemKind,
}

impl Item {
    /// An argument of the given expression, number and encoding.
    pub fn new(expression: &str, number: u16, kind: ItemKind) -> Self {
        Item { expression: expression.to_owned(), number, kind }
    }
}

/// How an argument is encoded. All integers are little-endian unless stated otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// An integer of the given bytes.
    Integer {
        /// 1, 2, 4 or 8.
        bytes: u8,
        /// Whether it can be negative.
        signed: bool,
    },
    /// An integer that people read in hexadecimal: flags and codes.
    Hexadecimal {
        /// 4 or 8.
        bytes: u8,
    },
    /// An address of the writer's pointer size.
    Pointer,
    /// An index into labels.
    Label {
        /// 1, 2 or 4.
        bytes: u8,
        /// From 0.
        labels: Vec<String>,
    },
    /// A set of bits with labels.
    Flags {
        /// 1, 2 or 4.
        bytes: u8,
        /// From bit 0.
        labels: Vec<String>,
    },
    /// IEEE 754 double precision.
    Double,
    /// Four 8-bit characters.
    Characters,
    /// Text up to a NUL, or behind a `u16` count of bytes.
    Text {
        /// UTF-16, else 8-bit.
        wide: bool,
        /// A count of bytes stands before it.
        counted: bool,
        /// Messages show it without a line end.
        trimmed: bool,
    },
    /// Bytes behind a `u16` count.
    HexDump,
    /// 16 bytes.
    Guid,
    /// A security identifier.
    Sid,
    /// 100 ns intervals since 1601.
    FileTime,
    /// A 16-bit big-endian port number.
    Port,
    /// 4 bytes in network order.
    IPv4,
    /// 16 bytes in network order.
    IPv6,
    /// 6 bytes.
    MacAddress,
    /// A type of unknown length: nothing behind it can be read.
    Unknown(String),
}

impl ItemKind {
    /// The kind behind a declared type: `ItemLong`, `ItemListByte(Low,High)`.
    pub fn parse(declared: &str) -> ItemKind {
        let (name, labels) = declared.split_once('(').unwrap_or((declared, ""));
        let labels = || {
            let inner = labels.trim_end().strip_suffix(')').unwrap_or(labels);
            inner.split(',').map(|label| label.trim().to_owned()).collect()
        };
        let integer = |bytes, signed| ItemKind::Integer { bytes, signed };
        let text = |wide, counted, trimmed| ItemKind::Text { wide, counted, trimmed };
        match name.trim() {
            "ItemChar" => integer(1, true),
            "ItemUChar" => integer(1, false),
            "ItemShort" => integer(2, true),
            "ItemUShort" | "ItemWChar" => integer(2, false),
            "ItemLong" | "ItemEnum" => integer(4, true),
            "ItemULong" | "ItemWINERROR" => integer(4, false),
            // A duration; sources disagree about its unit, so it stays a number.
            "ItemLongLong" | "ItemTimeDelta" | "ItemWaitTime" => integer(8, true),
            "ItemULongLong" => integer(8, false),
            "ItemULongX" | "ItemFlagsEnum" | "ItemNTSTATUS" | "ItemHRESULT" | "ItemNDIS_STATUS" | "ItemNDIS_OID" => {
                ItemKind::Hexadecimal { bytes: 4 }
            }
            "ItemLongLongX" | "ItemLongLongXX" | "ItemLongLongO" => ItemKind::Hexadecimal { bytes: 8 },
            "ItemPtr" => ItemKind::Pointer,
            "ItemListByte" => ItemKind::Label { bytes: 1, labels: labels() },
            "ItemListShort" => ItemKind::Label { bytes: 2, labels: labels() },
            "ItemListLong" => ItemKind::Label { bytes: 4, labels: labels() },
            "ItemSetByte" => ItemKind::Flags { bytes: 1, labels: labels() },
            "ItemSetShort" => ItemKind::Flags { bytes: 2, labels: labels() },
            "ItemSetLong" => ItemKind::Flags { bytes: 4, labels: labels() },
            "ItemDouble" => ItemKind::Double,
            "ItemChar4" => ItemKind::Characters,
            "ItemString" => text(false, false, false),
            "ItemRString" => text(false, false, true),
            "ItemWString" => text(true, false, false),
            "ItemRWString" => text(true, false, true),
            "ItemPString" => text(false, true, false),
            "ItemPWString" => text(true, true, false),
            "ItemHexDump" => ItemKind::HexDump,
            "ItemGuid" | "ItemCLSID" | "ItemLIBID" | "ItemIID" => ItemKind::Guid,
            "ItemSid" => ItemKind::Sid,
            "ItemTimestamp" => ItemKind::FileTime,
            "ItemPort" => ItemKind::Port,
            "ItemIPAddr" => ItemKind::IPv4,
            "ItemIPV6Addr" => ItemKind::IPv6,
            "ItemMACAddr" => ItemKind::MacAddress,
            _ => ItemKind::Unknown(declared.to_owned()),
        }
    }

    /// Where in `bytes` the value stands, and where the next argument begins; `None` when it is cut off.
    pub(super) fn extent(&self, bytes: &[u8], pointer_bytes: usize) -> Option<(Range<usize>, usize)> {
        let length = match self {
            ItemKind::Integer { bytes, .. }
            | ItemKind::Hexadecimal { bytes }
            | ItemKind::Label { bytes, .. }
            | ItemKind::Flags { bytes, .. } => usize::from(*bytes),
            ItemKind::Port => 2,
            ItemKind::Characters | ItemKind::IPv4 => 4,
            ItemKind::MacAddress => 6,
            ItemKind::Double | ItemKind::FileTime => 8,
            ItemKind::Guid | ItemKind::IPv6 => 16,
            ItemKind::Pointer => pointer_bytes,
            ItemKind::Sid => sid_length(bytes)?,
            ItemKind::Text { counted: false, wide, .. } => return terminated(bytes, *wide),
            ItemKind::Text { counted: true, wide, .. } => {
                return counted(bytes).filter(|(_, end)| !wide || end % 2 == 0);
            }
            ItemKind::HexDump => return counted(bytes),
            ItemKind::Unknown(_) => return None,
        };
        (length <= bytes.len()).then_some((0..length, length))
    }

    /// Appends the value as text; `false` when it is not all there is to see (text that is not valid).
    pub(super) fn write_plain(&self, value: &[u8], out: &mut String) -> bool {
        // Writing to a string cannot fail.
        let _ = match self {
            ItemKind::Integer { signed: true, .. } => write!(out, "{}", signed(value)),
            ItemKind::Integer { .. } => write!(out, "{}", unsigned(value)),
            ItemKind::Hexadecimal { .. } | ItemKind::Pointer => write!(out, "{:#x}", unsigned(value)),
            ItemKind::Label { labels, .. } => write_label(unsigned(value), labels, out),
            ItemKind::Flags { labels, .. } => write_flags(unsigned(value), labels, out),
            ItemKind::Double => write!(out, "{}", double(value)),
            ItemKind::Text { wide: true, .. } => return push_utf16(value, out),
            ItemKind::Text { .. } | ItemKind::Characters => return push_ansi(value, out),
            ItemKind::HexDump | ItemKind::Unknown(_) => value.iter().try_for_each(|byte| write!(out, "{byte:02x}")),
            ItemKind::Guid => write!(out, "{}", Guid(array(value))),
            ItemKind::Sid => write_sid(value, out),
            ItemKind::FileTime => {
                push_filetime(unsigned(value), out);
                Ok(())
            }
            ItemKind::Port => write!(out, "{}", u16::from_be_bytes(array(value))),
            ItemKind::IPv4 => write!(out, "{}", Ipv4Addr::from(array::<4>(value))),
            ItemKind::IPv6 => write!(out, "{}", Ipv6Addr::from(array::<16>(value))),
            ItemKind::MacAddress => {
                let mut bytes = value.iter().zip(0..);
                bytes.try_for_each(|(byte, at)| write!(out, "{}{byte:02x}", if at == 0 { "" } else { ":" }))
            }
        };
        true
    }

    /// Appends the value as a message shows it.
    pub(super) fn write_formatted(&self, value: &[u8], spec: &Spec, scratch: &mut String, out: &mut String) {
        let bits = u32::try_from(value.len()).unwrap_or(8).min(8) * 8;
        let written = match self {
            ItemKind::Integer { .. }
            | ItemKind::Hexadecimal { .. }
            | ItemKind::Pointer
            | ItemKind::Label { .. }
            | ItemKind::Flags { .. }
            | ItemKind::FileTime => spec.write_integer(unsigned(value), bits, out),
            ItemKind::Port => spec.write_integer(u64::from(u16::from_be_bytes(array(value))), 16, out),
            ItemKind::Double => spec.write_float(double(value), out),
            _ => None,
        };
        if written.is_none() {
            scratch.clear();
            self.write_plain(value, scratch);
            let shown = match self {
                ItemKind::Text { trimmed: true, .. } => scratch.trim_end_matches(['\r', '\n']),
                _ => scratch.as_str(),
            };
            spec.write_text(shown, out);
        }
    }
}

/// The first `N` bytes, with zeros for what is missing; extents have made sure that nothing is.
fn array<const N: usize>(value: &[u8]) -> [u8; N] {
    value.first_chunk().copied().unwrap_or([0; N])
}

fn unsigned(value: &[u8]) -> u64 {
    value.iter().take(8).rev().fold(0, |number, &byte| (number << 8) | u64::from(byte))
}

fn signed(value: &[u8]) -> i64 {
    let unused = 64 - 8 * value.len().clamp(1, 8);
    (unsigned(value) << unused).cast_signed() >> unused
}

fn double(value: &[u8]) -> f64 {
    f64::from_bits(unsigned(value))
}

/// Text up to a NUL; without one, all that is left, if that is whole units.
fn terminated(bytes: &[u8], wide: bool) -> Option<(Range<usize>, usize)> {
    if wide {
        let (pairs, odd) = bytes.as_chunks::<2>();
        return match pairs.iter().position(|pair| *pair == [0, 0]) {
            Some(units) => Some((0..2 * units, 2 * units + 2)),
            None => odd.is_empty().then_some((0..bytes.len(), bytes.len())),
        };
    }
    let end = bytes.iter().position(|&byte| byte == 0);
    Some(end.map_or((0..bytes.len(), bytes.len()), |end| (0..end, end + 1)))
}

/// Bytes behind a `u16` count.
fn counted(bytes: &[u8]) -> Option<(Range<usize>, usize)> {
    let end = 2 + usize::from(u16::from_le_bytes(*bytes.first_chunk()?));
    (end <= bytes.len()).then_some((2..end, end))
}

fn sid_length(bytes: &[u8]) -> Option<usize> {
    const MAX_PARTS: u8 = 15;
    match bytes {
        [1, parts, ..] if *parts <= MAX_PARTS => Some(8 + 4 * usize::from(*parts)),
        _ => None,
    }
}

/// `S-1-5-18`; an authority of more than 32 bits is written in hexadecimal.
fn write_sid(value: &[u8], out: &mut String) -> std::fmt::Result {
    let Some(([_, _, authority @ ..], parts)) = value.split_first_chunk::<8>() else { return Ok(()) };
    let authority = authority.iter().fold(0u64, |number, &byte| (number << 8) | u64::from(byte));
    match u32::try_from(authority) {
        Ok(authority) => write!(out, "S-1-{authority}")?,
        Err(_) => write!(out, "S-1-0x{authority:012x}")?,
    }
    parts.as_chunks::<4>().0.iter().try_for_each(|part| write!(out, "-{}", u32::from_le_bytes(*part)))
}

fn write_label(value: u64, labels: &[String], out: &mut String) -> std::fmt::Result {
    match usize::try_from(value).ok().and_then(|index| labels.get(index)).filter(|label| !label.is_empty()) {
        Some(label) => out.write_str(label),
        None => write!(out, "{value}"),
    }
}

/// The labels of the set bits joined with `|`; bits without one in hexadecimal.
fn write_flags(value: u64, labels: &[String], out: &mut String) -> std::fmt::Result {
    let mut left = value;
    let mut separator = "";
    for (label, bit) in labels.iter().zip(0..64).filter(|(label, _)| !label.is_empty()) {
        if value & (1 << bit) != 0 {
            left &= !(1 << bit);
            write!(out, "{separator}{label}")?;
            separator = "|";
        }
    }
    match left {
        0 if value != 0 => Ok(()),
        left => write!(out, "{separator}{left:#x}"),
    }
}

fn push_utf16(value: &[u8], out: &mut String) -> bool {
    let units = value.as_chunks::<2>().0.iter().map(|&pair| u16::from_le_bytes(pair));
    let mut valid = true;
    out.extend(char::decode_utf16(units).map(|c| {
        valid &= c.is_ok();
        c.unwrap_or(char::REPLACEMENT_CHARACTER)
    }));
    valid
}

fn push_ansi(value: &[u8], out: &mut String) -> bool {
    let text = text::ansi(value);
    out.push_str(&text);
    matches!(text, std::borrow::Cow::Borrowed(_))
}
