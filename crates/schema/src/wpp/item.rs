//! The names of item types in TMF files, from what they were read as.

use std::borrow::Cow;

use super::argument::ArgumentType;
use crate::pack::CodeTable;

impl ArgumentType {
    /// The name by which a TMF file declares it, without labels: [`ArgumentType::parse`] reads it back. Of several names of one
    /// encoding it is the first.
    pub fn item(&self) -> Cow<'_, str> {
        let name = match self {
            ArgumentType::Integer { bytes, signed } => integer(*bytes, *signed),
            ArgumentType::Hexadecimal { bytes: 8 } => "ItemLongLongX",
            ArgumentType::Hexadecimal { .. } => "ItemULongX",
            ArgumentType::Pointer => "ItemPtr",
            ArgumentType::List { bytes, .. } => by_size(*bytes, ["ItemListByte", "ItemListShort", "ItemListLong"]),
            ArgumentType::Set { bytes, .. } => by_size(*bytes, ["ItemSetByte", "ItemSetShort", "ItemSetLong"]),
            ArgumentType::Enumeration(_) => "ItemEnum",
            ArgumentType::FlagsEnumeration(_) => "ItemFlagsEnum",
            ArgumentType::Code(table) => match table {
                CodeTable::NtStatus => "ItemNTSTATUS",
                CodeTable::HResult => "ItemHRESULT",
                CodeTable::Win32 => "ItemWINERROR",
                CodeTable::NdisStatus => "ItemNDIS_STATUS",
                CodeTable::NdisOid => "ItemNDIS_OID",
            },
            ArgumentType::Double => "ItemDouble",
            ArgumentType::Characters => "ItemChar4",
            ArgumentType::Text { wide, counted, trimmed } => match (wide, counted, trimmed) {
                (false, false, false) => "ItemString",
                (false, false, true) => "ItemRString",
                (true, false, false) => "ItemWString",
                (true, false, true) => "ItemRWString",
                (false, true, _) => "ItemPString",
                (true, true, _) => "ItemPWString",
            },
            ArgumentType::HexDump => "ItemHexDump",
            ArgumentType::Guid => "ItemGuid",
            ArgumentType::Sid => "ItemSid",
            ArgumentType::FileTime => "ItemTimestamp",
            ArgumentType::TimeDelta => "ItemTimeDelta",
            ArgumentType::Port => "ItemPort",
            ArgumentType::IPv4 => "ItemIPAddr",
            ArgumentType::IPv6 => "ItemIPV6Addr",
            ArgumentType::MacAddress => "ItemMACAddr",
            ArgumentType::Unknown(declared) => return Cow::Borrowed(declared),
        };
        Cow::Borrowed(name)
    }
}

fn by_size(bytes: u8, names: [&'static str; 3]) -> &'static str {
    match bytes {
        1 => names[0],
        2 => names[1],
        _ => names[2],
    }
}

fn integer(bytes: u8, signed: bool) -> &'static str {
    match (bytes, signed) {
        (1, true) => "ItemChar",
        (1, false) => "ItemUChar",
        (2, true) => "ItemShort",
        (2, false) => "ItemUShort",
        (8, true) => "ItemLongLong",
        (8, false) => "ItemULongLong",
        (_, true) => "ItemLong",
        (_, false) => "ItemULong",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every name that is read, by `defaultwpp.ini`; in pairs those that are read as one.
    const NAMES: [&str; 47] = [
        "ItemChar",
        "ItemUChar",
        "ItemShort",
        "ItemUShort",
        "ItemLong",
        "ItemULong",
        "ItemLongLong",
        "ItemULongLong",
        "ItemLongLongO",
        "ItemULongX",
        "ItemLongLongX",
        "ItemLongLongXX",
        "ItemPtr",
        "ItemListByte",
        "ItemListShort",
        "ItemListLong",
        "ItemSetByte",
        "ItemSetShort",
        "ItemSetLong",
        "ItemEnum",
        "ItemFlagsEnum",
        "ItemNTSTATUS",
        "ItemHRESULT",
        "ItemWINERROR",
        "ItemNDIS_STATUS",
        "ItemNDIS_OID",
        "ItemDouble",
        "ItemChar4",
        "ItemString",
        "ItemRString",
        "ItemWString",
        "ItemRWString",
        "ItemPString",
        "ItemPWString",
        "ItemHexDump",
        "ItemGuid",
        "ItemCLSID",
        "ItemLIBID",
        "ItemIID",
        "ItemSid",
        "ItemTimestamp",
        "ItemWaitTime",
        "ItemTimeDelta",
        "ItemPort",
        "ItemIPAddr",
        "ItemIPV6Addr",
        "ItemMACAddr",
    ];

    #[test]
    fn names_read_back_as_what_they_stand_for() {
        for name in NAMES.into_iter().chain(["ItemOdd(a,b)", ""]) {
            let read = ArgumentType::parse(name);
            assert_eq!(ArgumentType::parse(&read.item()), read, "{name}");
        }
        assert_eq!(ArgumentType::parse("ItemLongLongO").item(), "ItemULongLong");
        assert_eq!(ArgumentType::parse("ItemRWString").item(), "ItemRWString");
    }
}
