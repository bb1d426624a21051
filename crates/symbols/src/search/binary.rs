//! What a binary says of its PDB: the identity, or a portable PDB as a whole.
//!
//! Layout: <https://learn.microsoft.com/windows/win32/debug/pe-format>; the record of the PDB is `RSDS`, see
//! `CV_INFO_PDB70` in <https://www.debuginfo.com/articles/debuginfomatch.html>, and a portable PDB that lies in the binary
//! <https://github.com/dotnet/runtime/blob/main/docs/design/specs/PE-COFF.md>.

use std::io::Read;

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
/// The kind of an entry of a portable PDB, and how that begins before it is unpacked.
const EMBEDDED: u32 = 17;
const EMBEDDED_SIGN: &[u8] = b"MPDB";
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
        let none = || Reason::unsupported("a binary that names no PDB");
        for entry in self.entries(input, CODEVIEW)? {
            let len = usize::try_from(entry.len).unwrap_or(usize::MAX).min(MOST_RECORD);
            let mut scratch = Vec::new();
            if let Some(found) = record(Bytes(input.bytes(entry.offset.into(), len, &mut scratch)?)) {
                return Ok(found);
            }
        }
        Err(none())
    }

    /// The portable PDB that lies in the binary, unpacked; packed and unpacked it takes at most `limit` bytes.
    pub(super) fn embedded(&self, input: &dyn Input, limit: u64) -> Readable<Option<Vec<u8>>> {
        let entry = self.entries(input, EMBEDDED)?.into_iter().next();
        entry.map(|entry| unpacked(input, entry, limit)).transpose()
    }

    /// The entries of a kind in the debug directory.
    fn entries(&self, input: &dyn Input, kind: u32) -> Readable<Vec<Entry>> {
        let (address, len) = self.image.directory(DEBUG);
        let len = usize::try_from(len).unwrap_or(usize::MAX).min(ENTRY * MOST_ENTRIES);
        let Some(offset) = self.image.offset_of(address).filter(|_| len > 0) else { return Ok(Vec::new()) };
        let mut scratch = Vec::new();
        let (entries, _) = input.bytes(offset.into(), len, &mut scratch)?.as_chunks::<ENTRY>();
        Ok(entries.iter().filter_map(|bytes| entry(Bytes(bytes), kind)).collect())
    }
}

/// Where what an entry of the debug directory describes lies in the file, and its bytes.
#[derive(Clone, Copy, Debug)]
struct Entry {
    offset: u32,
    len: u32,
}

fn entry(mut bytes: Bytes<'_>, wanted: u32) -> Option<Entry> {
    bytes.skip(12)?;
    let (kind, len, _address, offset) = (bytes.u32()?, bytes.u32()?, bytes.u32()?, bytes.u32()?);
    (kind == wanted).then_some(Entry { offset, len })
}

fn unpacked(input: &dyn Input, entry: Entry, limit: u64) -> Readable<Vec<u8>> {
    let damaged = || Reason::damaged("the portable PDB in the binary is damaged");
    if u64::from(entry.offset).saturating_add(entry.len.into()) > input.size() {
        return Err(Reason::damaged("the portable PDB in the binary is cut off"));
    }
    let too_long = || Reason::damaged(format!("takes more than {limit} bytes of memory, unpacked"));
    let left = limit.checked_sub(entry.len.into()).ok_or_else(too_long)?;
    let mut scratch = Vec::new();
    let len = usize::try_from(entry.len).map_err(|_| too_long())?;
    let mut bytes = Bytes(input.bytes(entry.offset.into(), len, &mut scratch)?);
    let sign = bytes.take(EMBEDDED_SIGN.len()).filter(|sign| *sign == EMBEDDED_SIGN);
    let len = sign.and_then(|_| bytes.u32()).ok_or_else(damaged)?;
    if u64::from(len) > left {
        return Err(too_long());
    }
    let mut plain = Vec::new();
    let most = u64::from(len).saturating_add(1);
    let read = flate2::read::DeflateDecoder::new(bytes.0).take(most).read_to_end(&mut plain);
    if read.is_err() || plain.len() as u64 != u64::from(len) {
        return Err(damaged());
    }
    Ok(plain)
}

fn record(mut bytes: Bytes<'_>) -> Option<(String, PdbId)> {
    if bytes.take(4)? != b"RSDS" {
        return None;
    }
    let (guid, age) = (bytes.guid()?, bytes.u32()?);
    Some((shown(bytes.text()), PdbId { guid, age }))
}
