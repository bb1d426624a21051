//! Names of source files.

use std::collections::HashMap;
use std::sync::Arc;

use super::blobs::{Blobs, unsigned};
use super::metadata::Metadata;
use crate::bytes::Bytes;
use crate::found::{Readable, Reason};

/// Bytes that a part of a name has at most, with the separator. A part takes a byte of the name's blob at least, so that all names
/// together are no longer than so many heaps.
const MOST_PART: u64 = 256;
/// Bytes of a name: as many as the longest path of Windows can have.
const MOST_NAME: usize = 3 * 32_767;

/// Names of documents, made when they are needed.
///
/// Names share their parts, and a blob of a few bytes can name large ones many times: so what names take, in memory and in time, is
/// bounded for all of them together.
#[derive(Debug)]
pub(super) struct Names<'a> {
    metadata: Metadata<'a>,
    known: HashMap<u32, Arc<str>>,
    /// Bytes that names may still take.
    left: u64,
}

impl<'a> Names<'a> {
    /// Names that together take at most `room` bytes.
    pub(super) fn new(metadata: Metadata<'a>, room: u64) -> Names<'a> {
        let left = (metadata.blobs.0.len() as u64).saturating_mul(MOST_PART).min(room);
        Names { metadata, known: HashMap::new(), left }
    }

    /// The name of a document, by its row.
    pub(super) fn get(&mut self, document: u32) -> Readable<Arc<str>> {
        if let Some(name) = self.known.get(&document) {
            return Ok(Arc::clone(name));
        }
        let index = self.metadata.document(document);
        let index = index.ok_or_else(|| Reason::damaged("a method lies in a file that the portable PDB has not"))?;
        let bytes = self.name(index)?;
        let name: Arc<str> = String::from_utf8_lossy(&bytes).into();
        // What is no UTF-8 has become longer.
        self.take(name.len().saturating_sub(bytes.len()))?;
        self.known.insert(document, Arc::clone(&name));
        Ok(name)
    }

    /// Takes room for so many bytes.
    fn take(&mut self, bytes: usize) -> Readable<()> {
        self.left = self.left.checked_sub(bytes as u64).ok_or_else(too_long)?;
        Ok(())
    }

    fn name(&mut self, index: u32) -> Readable<Vec<u8>> {
        let damaged = || Reason::damaged("the name of a file in the portable PDB is damaged");
        let blobs = self.metadata.blobs;
        let mut blob = Bytes(blobs.blob(index).ok_or_else(damaged)?);
        let mut name = Vec::new();
        let Some(separator) = blob.u8() else { return Ok(name) };
        if !separator.is_ascii() {
            return Err(damaged());
        }
        let mut is_first = true;
        while !blob.is_empty() {
            let part = part(blobs, &mut blob).ok_or_else(damaged)?;
            self.take(part.len().saturating_add(1))?;
            if name.len().saturating_add(part.len()) >= MOST_NAME {
                return Err(too_long());
            }
            if !is_first && separator != 0 {
                name.push(separator);
            }
            name.extend_from_slice(part);
            is_first = false;
        }
        Ok(name)
    }
}

fn too_long() -> Reason {
    Reason::damaged("the names of files in the portable PDB are longer than there can be")
}

fn part<'a>(blobs: Blobs<'a>, name: &mut Bytes<'_>) -> Option<&'a [u8]> {
    blobs.blob(unsigned(name)?)
}
