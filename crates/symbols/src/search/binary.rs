//! The identity of a PDB from the binary that was linked with it.
//!
//! Layout: <https://learn.microsoft.com/windows/win32/debug/pe-format>; the record of the PDB is `RSDS`, see
//! `CV_INFO_PDB70` in <https://www.debuginfo.com/articles/debuginfomatch.html>.

use etl::input::Input;

use crate::bytes::{Bytes, shown};
use crate::found::{Readable, Reason};
use crate::identity::{BinaryId, PdbId};
use crate::image::Image;

/// The number of the debug directory.
const DEBUG: usize = 6;
/// Bytes of an entry of the debug directory, and entries that are looked at.
const ENTRY: usize = 28;
const MOST_ENTRIES: usize = 64;
/// The kind of an entry that names a PDB.
const CODEVIEW: u32 = 2;
/// Bytes of the record that are read: what stands before the name, and the name.
const MOST_RECORD: usize = 24 + 4096;

/// A binary whose headers are read.
#[derive(Debug)]
pub(super) struct Binary {
    pub(super) id: BinaryId,
    image: Image,
}

impl Binary {
    pub(super) fn read(input: &dyn Input) -> Readable<Binary> {
        let image = Image::read(input)?;
        Ok(Binary { id: BinaryId { time_stamp: image.time_stamp, size: image.size }, image })
    }

    /// The name of the PDB, as the linker was told it, and its identity.
    pub(super) fn pdb(&self, input: &dyn Input) -> Readable<(String, PdbId)> {
        let (address, len) = self.image.directory(DEBUG);
        let len = usize::try_from(len).unwrap_or(usize::MAX).min(ENTRY * MOST_ENTRIES);
        let none = || Reason::unsupported("a binary that names no PDB");
        let offset = self.image.offset_of(address).filter(|_| len > 0).ok_or_else(none)?;
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
