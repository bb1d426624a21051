//! Records of symbols and of types: each a length, a kind, and what the kind says.
//!
//! Layout: <https://llvm.org/docs/PDB/CodeViewSymbols.html>, and `cvinfo.h` of microsoft/microsoft-pdb.

use crate::bytes::Bytes;

/// A public: a name that the linker knows.
pub(crate) const S_PUB32: u16 = 0x110E;
/// Procedures: of one file, and known to all; their types are in the stream of types, or in that of identities.
pub(crate) const PROCEDURES: [u16; 6] = [0x110F, 0x1110, 0x1146, 0x1147, 0x1155, 0x1156];
/// Texts of the source code.
pub(crate) const S_ANNOTATION: u16 = 0x1019;
/// A part of a procedure that lies elsewhere.
pub(crate) const S_SEPCODE: u16 = 0x1132;
/// What begins the code of a function that is inlined, in two forms.
pub(crate) const S_INLINESITE: u16 = 0x114D;
pub(crate) const S_INLINESITE2: u16 = 0x115D;
/// What ends it.
pub(crate) const S_INLINESITE_END: u16 = 0x114E;

/// A record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    /// Where it begins, in bytes from the start of what is read.
    pub(crate) at: u32,
    pub(crate) kind: u16,
    /// What stands behind the kind.
    pub(crate) data: &'a [u8],
}

/// The records from a place on, up to the end or to one that is cut off.
#[derive(Clone, Debug)]
pub(crate) struct Records<'a> {
    bytes: Bytes<'a>,
    at: u32,
}

impl<'a> Records<'a> {
    /// `at` counts from the start of `bytes`.
    pub(crate) fn new(bytes: &'a [u8], at: u32) -> Records<'a> {
        Records { bytes: crate::bytes::from(bytes, at).unwrap_or(Bytes(&[])), at }
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        let len = self.bytes.u16()?;
        let mut body = Bytes(self.bytes.take(len.into())?);
        let kind = body.u16()?;
        let record = Record { at: self.at, kind, data: body.0 };
        self.at = self.at.checked_add(u32::from(len))?.checked_add(2)?;
        Some(record)
    }
}
