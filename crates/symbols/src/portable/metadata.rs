//! Root, streams and tables.

use base::guid::Guid;

use super::blobs::Blobs;
use crate::bytes::{Bytes, from};
use crate::found::{Readable, Reason};

/// The tables that are read, which are the first ones of a portable PDB.
const DOCUMENT: u32 = 0x30;
const METHOD: u32 = 0x31;
/// The bits of the tables of types, which stand before these.
const TYPE_TABLES: u64 = (1 << DOCUMENT) - 1;
/// Bits of `HeapSizes`: which indexes take four bytes, and that a number follows the counts of rows.
const WIDE_GUIDS: u8 = 2;
const WIDE_BLOBS: u8 = 4;
const MORE: u8 = 0x40;

/// What a portable PDB consists of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Metadata<'a> {
    pub(super) guid: Guid,
    pub(super) blobs: Blobs<'a>,
    tables: Tables<'a>,
}

/// The tables that are read.
#[derive(Clone, Copy, Debug)]
struct Tables<'a> {
    documents: Rows<'a>,
    methods: Rows<'a>,
    /// Whether indexes of blobs and of documents take four bytes.
    has_wide_blobs: bool,
    has_wide_documents: bool,
}

/// The rows of a table, which are counted from 1.
#[derive(Clone, Copy, Debug)]
struct Rows<'a> {
    bytes: &'a [u8],
    len: usize,
}

/// Where the lines of a method are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Method {
    /// The document that it lies in; 0 where it lies in several, or has no lines.
    pub(super) document: u32,
    /// The blob of its sequence points; 0 where it has none.
    pub(super) points: u32,
}

fn cut(what: &str) -> Reason {
    Reason::damaged(format!("{what} of the portable PDB is cut off"))
}

impl<'a> Metadata<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Readable<Metadata<'a>> {
        let (mut pdb, mut tables, mut blobs) = (None, None, None);
        for Stream { name, bytes } in streams(bytes).ok_or_else(|| cut("the root"))? {
            let stream = match name {
                b"#Pdb" => &mut pdb,
                b"#~" => &mut tables,
                b"#Blob" => &mut blobs,
                _ => continue,
            };
            let bytes = bytes.ok_or_else(|| cut("a stream"))?;
            stream.get_or_insert(bytes);
        }
        let pdb = pdb.ok_or_else(|| Reason::unsupported("metadata of .NET that is no portable PDB"))?;
        let guid = Bytes(pdb).guid().ok_or_else(|| cut("the identity"))?;
        let tables = tables.ok_or_else(|| Reason::unsupported("a portable PDB without compressed tables"))?;
        let tables = Tables::read(tables)?;
        Ok(Metadata { guid, blobs: Blobs(blobs.unwrap_or_default()), tables })
    }

    /// Where the lines of a method are; `None` where there is none of this number.
    pub(super) fn method(&self, number: u32) -> Option<Method> {
        let mut row = self.tables.methods.row(number)?;
        let document = index(&mut row, self.tables.has_wide_documents)?;
        let points = index(&mut row, self.tables.has_wide_blobs)?;
        Some(Method { document, points })
    }

    /// The blob that has the name of a document; `None` where there is none of this number.
    pub(super) fn document(&self, number: u32) -> Option<u32> {
        index(&mut self.tables.documents.row(number)?, self.tables.has_wide_blobs)
    }
}

/// A part of the file.
struct Stream<'a> {
    name: &'a [u8],
    /// `None` where it does not lie in the file.
    bytes: Option<&'a [u8]>,
}

/// The streams; `None` where the root is cut off.
fn streams(bytes: &[u8]) -> Option<Vec<Stream<'_>>> {
    let mut root = Bytes(bytes);
    root.skip(12)?;
    let len = root.u32()?;
    root.take_u32(len)?;
    root.skip(2)?;
    let count = root.u16()?;
    let mut found = Vec::new();
    for _ in 0..count {
        let (offset, len) = (root.u32()?, root.u32()?);
        let name = root.text();
        // With the zero at its end, a multiple of four bytes.
        root.skip(name.len().wrapping_neg().wrapping_sub(1) & 3)?;
        found.push(Stream { name, bytes: from(bytes, offset).and_then(|mut part| part.take_u32(len)) });
    }
    Some(found)
}

impl<'a> Tables<'a> {
    fn read(bytes: &'a [u8]) -> Readable<Tables<'a>> {
        let mut bytes = Bytes(bytes);
        let head = |bytes: &mut Bytes<'_>| {
            bytes.skip(6)?;
            let sizes = bytes.u8()?;
            bytes.skip(1)?;
            let (valid, _sorted) = (bytes.u64()?, bytes.u64()?);
            Some((sizes, valid))
        };
        let (sizes, valid) = head(&mut bytes).ok_or_else(|| cut("the table of tables"))?;
        if valid & TYPE_TABLES != 0 {
            return Err(Reason::unsupported("a portable PDB that has tables of types, too"));
        }
        let (mut documents, mut methods) = (0, 0);
        for table in (DOCUMENT..u64::BITS).filter(|table| valid & (1 << table) != 0) {
            let rows = bytes.u32().ok_or_else(|| cut("the table of tables"))?;
            match table {
                DOCUMENT => documents = rows,
                METHOD => methods = rows,
                _ => {}
            }
        }
        if sizes & MORE != 0 {
            bytes.skip(4).ok_or_else(|| cut("the table of tables"))?;
        }
        let (has_wide_blobs, has_wide_documents) = (sizes & WIDE_BLOBS != 0, documents > u32::from(u16::MAX));
        let (blob, guid) = (width(has_wide_blobs), width(sizes & WIDE_GUIDS != 0));
        // Name, algorithm of the hash, hash, language.
        let documents = Rows::take(&mut bytes, documents, blob + guid + blob + guid);
        let documents = documents.ok_or_else(|| cut("the table of source files"))?;
        let methods = Rows::take(&mut bytes, methods, width(has_wide_documents) + blob);
        let methods = methods.ok_or_else(|| cut("the table of methods"))?;
        Ok(Tables { documents, methods, has_wide_blobs, has_wide_documents })
    }
}

impl<'a> Rows<'a> {
    fn take(bytes: &mut Bytes<'a>, count: u32, len: usize) -> Option<Rows<'a>> {
        let all = usize::try_from(count).ok()?.checked_mul(len)?;
        Some(Rows { bytes: bytes.take(all)?, len })
    }

    fn row(&self, number: u32) -> Option<Bytes<'a>> {
        let begin = usize::try_from(number.checked_sub(1)?).ok()?.checked_mul(self.len)?;
        self.bytes.get(begin..begin.checked_add(self.len)?).map(Bytes)
    }
}

/// Bytes of an index.
fn width(is_wide: bool) -> usize {
    if is_wide { 4 } else { 2 }
}

fn index(row: &mut Bytes<'_>, is_wide: bool) -> Option<u32> {
    if is_wide { row.u32() } else { row.u16().map(u32::from) }
}
