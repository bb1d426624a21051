//! The arguments of a message: which types there are, and how long each is.

use std::ops::Range;

use base::sid::Sid;
use serde::{Deserialize, Serialize};

use super::labels::Names;
use crate::model::MapKind;
use crate::pack::CodeTable;

/// One argument as the TMF file declares it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Argument {
    /// The expression in the source code.
    pub expression: String,
    /// The number under which the format inserts it, 10 for the first.
    pub number: u16,
    /// How it is encoded.
    pub encoding: ArgumentType,
}

impl Argument {
    /// An argument of the given expression, number and encoding.
    pub fn new(expression: &str, number: u16, encoding: ArgumentType) -> Self {
        Argument { expression: expression.to_owned(), number, encoding }
    }
}

/// What stands for a security identifier that was not valid.
pub(super) const INVALID_SID: &[u8] = b"NULL\0";

/// How an argument is encoded. All integers are little-endian unless stated otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ArgumentType {
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
    /// One of the numbers that labels are given for.
    List {
        /// 1, 2 or 4.
        bytes: u8,
        /// By value.
        names: Names,
    },
    /// A set of bits with labels.
    Set {
        /// 1, 2 or 4.
        bytes: u8,
        /// By bit.
        names: Names,
    },
    /// A value of an enumeration, in 4 bytes.
    Enumeration(Names),
    /// Values of an enumeration that are bits or groups of bits, in 4 bytes.
    FlagsEnumeration(Names),
    /// A status code, in 4 bytes.
    Code(CodeTable),
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
        /// Messages show it on one line.
        trimmed: bool,
    },
    /// Bytes behind a `u16` count.
    HexDump,
    /// 16 bytes.
    Guid,
    /// A security identifier; `NULL` and a NUL stand for one that was not valid.
    Sid,
    /// 100 ns intervals since 1601.
    FileTime,
    /// A span of time in 100 ns intervals.
    TimeDelta,
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

impl ArgumentType {
    /// The names of its values.
    pub fn names(&self) -> Option<&Names> {
        match self {
            ArgumentType::List { names, .. }
            | ArgumentType::Set { names, .. }
            | ArgumentType::Enumeration(names)
            | ArgumentType::FlagsEnumeration(names) => Some(names),
            _ => None,
        }
    }

    /// The names of its values, to be put in.
    pub(crate) fn names_mut(&mut self) -> Option<&mut Names> {
        match self {
            ArgumentType::List { names, .. }
            | ArgumentType::Set { names, .. }
            | ArgumentType::Enumeration(names)
            | ArgumentType::FlagsEnumeration(names) => Some(names),
            _ => None,
        }
    }

    /// The encoding behind a declared type: `ItemLong`, `ItemListByte(Low,High)`.
    pub fn parse(declared: &str) -> ArgumentType {
        let (name, labels) = declared.split_once('(').unwrap_or((declared, ""));
        let inner = labels.trim_end().strip_suffix(')').unwrap_or(labels);
        let list = |bytes| ArgumentType::List { bytes, names: Names::numbered(inner, MapKind::Values) };
        let set = |bytes| ArgumentType::Set { bytes, names: Names::numbered(inner, MapKind::Bits) };
        let integer = |bytes, signed| ArgumentType::Integer { bytes, signed };
        let text = |wide, counted, trimmed| ArgumentType::Text { wide, counted, trimmed };
        match name.trim() {
            "ItemChar" => integer(1, true),
            "ItemUChar" => integer(1, false),
            "ItemShort" => integer(2, true),
            "ItemUShort" => integer(2, false),
            "ItemLong" => integer(4, true),
            "ItemULong" => integer(4, false),
            "ItemLongLong" => integer(8, true),
            "ItemULongLong" | "ItemLongLongO" => integer(8, false),
            "ItemULongX" => ArgumentType::Hexadecimal { bytes: 4 },
            "ItemLongLongX" | "ItemLongLongXX" => ArgumentType::Hexadecimal { bytes: 8 },
            "ItemPtr" => ArgumentType::Pointer,
            "ItemListByte" => list(1),
            "ItemListShort" => list(2),
            "ItemListLong" => list(4),
            "ItemSetByte" => set(1),
            "ItemSetShort" => set(2),
            "ItemSetLong" => set(4),
            "ItemEnum" => ArgumentType::Enumeration(Names::unknown(inner.trim(), MapKind::Values)),
            "ItemFlagsEnum" => ArgumentType::FlagsEnumeration(Names::unknown(inner.trim(), MapKind::Bits)),
            "ItemNTSTATUS" => ArgumentType::Code(CodeTable::NtStatus),
            "ItemHRESULT" => ArgumentType::Code(CodeTable::HResult),
            "ItemWINERROR" => ArgumentType::Code(CodeTable::Win32),
            "ItemNDIS_STATUS" => ArgumentType::Code(CodeTable::NdisStatus),
            "ItemNDIS_OID" => ArgumentType::Code(CodeTable::NdisOid),
            "ItemDouble" => ArgumentType::Double,
            "ItemChar4" => ArgumentType::Characters,
            "ItemString" => text(false, false, false),
            "ItemRString" => text(false, false, true),
            "ItemWString" => text(true, false, false),
            "ItemRWString" => text(true, false, true),
            "ItemPString" => text(false, true, false),
            "ItemPWString" => text(true, true, false),
            "ItemHexDump" => ArgumentType::HexDump,
            "ItemGuid" | "ItemCLSID" | "ItemLIBID" | "ItemIID" => ArgumentType::Guid,
            "ItemSid" => ArgumentType::Sid,
            "ItemTimestamp" | "ItemWaitTime" => ArgumentType::FileTime,
            "ItemTimeDelta" => ArgumentType::TimeDelta,
            "ItemPort" => ArgumentType::Port,
            "ItemIPAddr" => ArgumentType::IPv4,
            "ItemIPV6Addr" => ArgumentType::IPv6,
            "ItemMACAddr" => ArgumentType::MacAddress,
            _ => ArgumentType::Unknown(declared.to_owned()),
        }
    }

    /// The names of its enumeration.
    pub fn enumeration_mut(&mut self) -> Option<&mut Names> {
        match self {
            ArgumentType::Enumeration(names) | ArgumentType::FlagsEnumeration(names) => Some(names),
            _ => None,
        }
    }

    /// Where in `bytes` the value stands, and where the next argument begins; `None` when it is cut off.
    pub(super) fn extent(&self, bytes: &[u8], pointer_bytes: usize) -> Option<(Range<usize>, usize)> {
        let length = match self {
            ArgumentType::Integer { bytes, .. }
            | ArgumentType::Hexadecimal { bytes }
            | ArgumentType::List { bytes, .. }
            | ArgumentType::Set { bytes, .. } => usize::from(*bytes),
            ArgumentType::Port => 2,
            ArgumentType::Enumeration(_)
            | ArgumentType::FlagsEnumeration(_)
            | ArgumentType::Code(_)
            | ArgumentType::Characters
            | ArgumentType::IPv4 => 4,
            ArgumentType::MacAddress => 6,
            ArgumentType::Double | ArgumentType::FileTime | ArgumentType::TimeDelta => 8,
            ArgumentType::Guid | ArgumentType::IPv6 => 16,
            ArgumentType::Pointer => pointer_bytes,
            ArgumentType::Sid if bytes.starts_with(INVALID_SID) => INVALID_SID.len(),
            ArgumentType::Sid => Sid::read(bytes)?.size(),
            ArgumentType::Text { counted: false, wide, .. } => return terminated(bytes, *wide),
            ArgumentType::Text { counted: true, wide, .. } => {
                return counted(bytes).filter(|(_, end)| !wide || end % 2 == 0);
            }
            ArgumentType::HexDump => return counted(bytes),
            ArgumentType::Unknown(_) => return None,
        };
        (length <= bytes.len()).then_some((0..length, length))
    }
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
