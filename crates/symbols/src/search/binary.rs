//! The identity of a PDB from the binary that was linked with it.
//!
//! Layout: <https://learn.microsoft.com/windows/win32/debug/pe-format>; the record of the PDB is `RSDS`, see
//! `CV_INFO_PDB70` in <https://www.debuginfo.com/articles/debuginfomatch.html>.

use etl::input::Input;

use crate::bytes::{Bytes, from, shown};
use crate::found::{Readable, Reason};
use crate::identity::{BinaryId, PdbId};

/// Bytes of the headers that are read.
const HEADERS: usize = 4096;
/// The headers begin no later.
const MOST_BEFORE: u32 = 1 << 20;
/// Sections that a binary may have.
const MOST_SECTIONS: u16 = 96;
/// Bytes of an entry of the debug directory, and entries that are looked at.
const ENTRY: usize = 28;
const MOST_ENTRIES: usize = 64;
/// The kind of an entry that names a PDB.
const CODEVIEW: u32 = 2;
/// Bytes of the record that are read: what stands before the name, and the name.
const MOST_RECORD: usize = 24 + 4096;

/// What the headers of a binary say.
#[derive(Debug)]
pub(super) struct Binary {
    pub(super) id: BinaryId,
    /// Where the debug directory lies in memory, and its bytes.
    directory: (u32, u32),
    /// Of each section: where it lies in memory, its bytes there, and where it lies in the file.
    sections: Vec<(u32, u32, u32)>,
}

fn cut() -> Reason {
    Reason::damaged("the headers of the binary are cut off")
}

impl Binary {
    pub(super) fn read(input: &dyn Input) -> Readable<Binary> {
        let mut scratch = Vec::new();
        let head = input.bytes(0, 64, &mut scratch)?;
        if !head.starts_with(b"MZ") {
            return Err(Reason::damaged("no program of Windows"));
        }
        let at = from(head, 60).and_then(|mut bytes| bytes.u32()).ok_or_else(cut)?;
        if at > MOST_BEFORE {
            return Err(cut());
        }
        let mut scratch = Vec::new();
        headers(Bytes(input.bytes(at.into(), HEADERS, &mut scratch)?)).ok_or_else(cut)
    }

    /// The name of the PDB, as the linker was told it, and its identity.
    pub(super) fn pdb(&self, input: &dyn Input) -> Readable<(String, PdbId)> {
        let (address, len) = self.directory;
        let len = usize::try_from(len).unwrap_or(usize::MAX).min(ENTRY * MOST_ENTRIES);
        let none = || Reason::unsupported("a binary that names no PDB");
        let offset = self.offset_of(address).filter(|_| len > 0).ok_or_else(none)?;
        let mut scratch = Vec::new();
        let entries = input.bytes(offset.into(), len, &mut scratch)?;
        let (entries, _) = entries.as_chunks::<ENTRY>();
        for (len, at) in entries.iter().filter_map(|entry| codeview(Bytes(entry))) {
            let len = usize::try_from(len).unwrap_or(usize::MAX).min(MOST_RECORD);
            let mut scratch = Vec::new();
            if let Some(found) = record(Bytes(input.bytes(at.into(), len, &mut scratch)?)) {
                return Ok(found);
            }
        }
        Err(none())
    }

    fn offset_of(&self, address: u32) -> Option<u32> {
        let within = |&(from, len, at): &(u32, u32, u32)| {
            let offset = address.checked_sub(from).filter(|&offset| offset < len)?;
            at.checked_add(offset)
        };
        self.sections.iter().find_map(within)
    }
}

fn headers(bytes: Bytes<'_>) -> Option<Binary> {
    let mut coff = bytes;
    if coff.take(4)? != b"PE\0\0" {
        return None;
    }
    coff.skip(2)?;
    let (count, time_stamp) = (coff.u16()?.min(MOST_SECTIONS), coff.u32()?);
    coff.skip(8)?;
    let (len, _characteristics) = (coff.u16()?, coff.u16()?);
    let mut sections = coff;
    sections.skip(len.into())?;
    let mut optional = Bytes(coff.take(len.into())?);
    let is_wide = optional.u16()? == 0x20B;
    optional.skip(54)?;
    let size = optional.u32()?;
    // Behind the sizes of stacks and heaps, which take eight bytes each in 64 bits, comes the number of directories.
    optional.skip(if is_wide { 48 } else { 32 })?;
    let directories = optional.u32()?;
    let mut debug = optional;
    debug.skip(6 * 8)?;
    let directory = if directories > 6 { debug.u32().zip(debug.u32())? } else { (0, 0) };
    let sections = (0..count).map(|_| section(&mut sections)).collect::<Option<Vec<_>>>()?;
    Some(Binary { id: BinaryId { time_stamp, size }, directory, sections })
}

fn section(bytes: &mut Bytes<'_>) -> Option<(u32, u32, u32)> {
    bytes.skip(8)?;
    let (_size, address, raw_size, raw) = (bytes.u32()?, bytes.u32()?, bytes.u32()?, bytes.u32()?);
    bytes.skip(16)?;
    Some((address, raw_size, raw))
}

/// The length of a record, and where it lies in the file.
fn codeview(mut entry: Bytes<'_>) -> Option<(u32, u32)> {
    entry.skip(12)?;
    let (kind, len, _address, at) = (entry.u32()?, entry.u32()?, entry.u32()?, entry.u32()?);
    (kind == CODEVIEW).then_some((len, at))
}

fn record(mut bytes: Bytes<'_>) -> Option<(String, PdbId)> {
    if bytes.take(4)? != b"RSDS" {
        return None;
    }
    let (guid, age) = (bytes.guid()?, bytes.u32()?);
    Some((shown(bytes.text()), PdbId { guid, age }))
}
