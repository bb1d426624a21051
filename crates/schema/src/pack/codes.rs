//! Names of status codes (format of the text: `schemas/README.md`).

use serde::{Deserialize, Serialize};

/// The families of status codes that have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CodeTable {
    /// `NTSTATUS`.
    NtStatus,
    /// `HRESULT`.
    HResult,
    /// Win32 error codes.
    Win32,
    /// `NDIS_STATUS`.
    NdisStatus,
    /// Identifiers of objects that network drivers are asked for, `NDIS_OID`.
    NdisOid,
}

impl CodeTable {
    /// All tables with their names in the text.
    const NAMES: [(CodeTable, &str); 5] = [
        (CodeTable::NtStatus, "ntstatus"),
        (CodeTable::HResult, "hresult"),
        (CodeTable::Win32, "winerror"),
        (CodeTable::NdisStatus, "ndis"),
        (CodeTable::NdisOid, "ndis_oid"),
    ];
}

/// The tables, each in the order of its codes.
pub(super) struct Codes([Vec<(u32, &'static str)>; CodeTable::NAMES.len()]);

impl Codes {
    /// Reads the sections. The text is part of the program, and the tests hold that each of its lines is read.
    pub(super) fn parse(text: &'static str) -> Codes {
        let mut tables: [Vec<_>; CodeTable::NAMES.len()] = Default::default();
        let mut current = None;
        for line in text.lines() {
            match line.split_once('\t') {
                Some(("S", name)) => {
                    current = CodeTable::NAMES.iter().find(|(_, known)| *known == name).map(|&(table, _)| table);
                }
                Some((code, name)) => {
                    let code = u32::from_str_radix(code, 16).ok();
                    let table = current.and_then(|table| tables.get_mut(table as usize));
                    if let (Some(code), Some(table)) = (code, table) {
                        table.push((code, name));
                    }
                }
                None => {}
            }
        }
        Codes(tables)
    }

    pub(super) fn name(&self, table: CodeTable, code: u32) -> Option<&'static str> {
        let table = self.0.get(table as usize)?;
        // Most codes are that of success, the first.
        if let Some(&(first, name)) = table.first()
            && first == code
        {
            return Some(name);
        }
        let at = table.binary_search_by_key(&code, |&(code, _)| code).ok()?;
        table.get(at).map(|&(_, name)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::Pack;

    #[test]
    fn codes_have_the_names_that_windows_shows() {
        let pack = Pack::builtin();
        for (table, code, expected) in [
            (CodeTable::NtStatus, 0, Some("STATUS_SUCCESS")),
            (CodeTable::NtStatus, 0x103, Some("STATUS_PENDING")),
            (CodeTable::NtStatus, 0xc000_0022, Some("STATUS_ACCESS_DENIED")),
            (CodeTable::NtStatus, 0xe000_1234, None),
            (CodeTable::HResult, 0, Some("S_OK")),
            (CodeTable::HResult, 0x8000_4005, Some("E_FAIL")),
            (CodeTable::HResult, 0x8000_000a, Some("E_PENDING")),
            (CodeTable::HResult, 0x8024_0022, Some("WU_E_ALL_UPDATES_FAILED")),
            (CodeTable::HResult, 0x8024_402c, Some("WU_E_PT_WINHTTP_NAME_NOT_RESOLVED")),
            (CodeTable::Win32, 0, Some("ERROR_SUCCESS")),
            (CodeTable::Win32, 1722, Some("RPC_S_SERVER_UNAVAILABLE")),
            (CodeTable::Win32, 9501, Some("DNS_INFO_NO_RECORDS")),
            (CodeTable::Win32, 12007, Some("ERROR_INTERNET_NAME_NOT_RESOLVED")),
            (CodeTable::Win32, 12029, Some("ERROR_INTERNET_CANNOT_CONNECT")),
            (CodeTable::Win32, 13801, Some("ERROR_IPSEC_IKE_AUTH_FAIL")),
            (CodeTable::NdisStatus, 0x4001_000b, Some("NDIS_STATUS_MEDIA_CONNECT")),
            (CodeTable::NdisOid, 0x0001_0101, Some("OID_GEN_SUPPORTED_LIST")),
            (CodeTable::NdisOid, 0x4001_000b, None),
        ] {
            assert_eq!(pack.code_name(table, code), expected, "{table:?} {code:#x}");
        }
    }

    #[test]
    fn every_line_of_the_text_is_a_code_and_each_table_is_sorted() {
        let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/codes.txt"));
        let codes = Codes::parse(text);
        let read: usize = codes.0.iter().map(Vec::len).sum();
        assert_eq!(read + CodeTable::NAMES.len(), text.lines().count());
        for ((table, name), codes) in CodeTable::NAMES.into_iter().zip(&codes.0) {
            assert!(codes.len() > 200, "{name}: {}", codes.len());
            assert!(codes.is_sorted_by(|a, b| a.0 < b.0), "{name}");
            let position = CodeTable::NAMES.iter().position(|(known, _)| *known == table);
            assert_eq!(position, Some(table as usize), "{name}");
        }
    }
}
