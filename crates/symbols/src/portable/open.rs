//! A portable PDB that is open.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use etl::input::{Input, LocalFile};

use super::metadata::Metadata;
use super::names::Names;
use super::points::{Point, Points};
use crate::container::streams::{HEAD, PORTABLE, is_of_windows, other};
use crate::found::{Readable, Reason};
use crate::identity::PdbId;

/// The table of the tokens of methods.
const METHOD_TOKEN: u32 = 0x06;

/// A portable PDB that is open.
#[derive(Debug)]
pub struct PortablePdb {
    path: PathBuf,
    bytes: Vec<u8>,
    limit: u64,
    id: PdbId,
}

/// A place in a managed method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MethodPlace {
    /// The method, as its assembly numbers it: `0x06rrrrrr`.
    pub token: u32,
    /// The offset in its IL, in bytes.
    pub il_offset: u32,
}

/// A line of source code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file, as the compiler was told it.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
}

/// A place of a method that has sequence points.
#[derive(Debug)]
struct At {
    /// The blob of the points, and whether it says which document it begins in.
    blob: u32,
    has_document: bool,
    il_offset: u32,
    document: u32,
    /// The number of the place among those that are asked for.
    index: usize,
}

impl PortablePdb {
    /// Opens a file, which is in memory as a whole: at most `limit` bytes.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, or is no portable PDB.
    pub fn open(path: &Path, limit: u64) -> Readable<PortablePdb> {
        PortablePdb::of(&LocalFile::open(path)?, limit)
    }

    /// Opens a portable PDB that is in memory; `path` is where it comes from.
    ///
    /// # Errors
    /// Those of [`PortablePdb::open`].
    pub fn from_bytes(path: &str, bytes: Vec<u8>, limit: u64) -> Readable<PortablePdb> {
        PortablePdb::held(PathBuf::from(path), bytes, limit)
    }

    pub(crate) fn of(input: &dyn Input, limit: u64) -> Readable<PortablePdb> {
        let mut scratch = Vec::new();
        check(input.bytes(0, HEAD, &mut scratch)?, input.size(), limit)?;
        let mut bytes = Vec::new();
        let len = usize::try_from(input.size()).map_err(|_| too_long(limit))?;
        bytes.try_reserve_exact(len).map_err(|_| Reason::damaged(format!("no memory for {len} bytes")))?;
        bytes.resize(len, 0);
        input.read_into(0, &mut bytes)?;
        PortablePdb::held(input.path().to_owned(), bytes, limit)
    }

    pub(crate) fn held(path: PathBuf, bytes: Vec<u8>, limit: u64) -> Readable<PortablePdb> {
        check(&bytes, bytes.len() as u64, limit)?;
        let id = PdbId { guid: Metadata::read(&bytes)?.guid, age: PdbId::AGE_OF_PORTABLE };
        Ok(PortablePdb { path, bytes, limit, id })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its identity, which a binary names with the age 1.
    pub fn id(&self) -> PdbId {
        self.id
    }

    /// The source line of each place: that of the last sequence point at or before it; `None` where that point is hidden, there is none,
    /// or the method has none.
    ///
    /// The points of a method are decoded once, whatever the order of the places.
    ///
    /// # Errors
    /// When the PDB is damaged, or names of files take more memory than they may.
    pub fn lines(&self, asked: &[MethodPlace]) -> Readable<Vec<Option<SourceLine>>> {
        let metadata = Metadata::read(&self.bytes)?;
        let mut places: Vec<At> =
            asked.iter().enumerate().filter_map(|(index, place)| at(&metadata, place, index)).collect();
        // By the document, too: of two that are damaged, the same one is told whatever the order of the places.
        places.sort_unstable_by_key(|at| (at.blob, at.has_document, at.il_offset, at.document));
        let mut names = Names::new(metadata, self.limit.saturating_sub(self.bytes.len() as u64));
        let mut lines = vec![None; asked.len()];
        let (mut left, mut before) = (metadata.blobs.0.len(), 0);
        for places in places.chunk_by(|one, other| (one.blob, one.has_document) == (other.blob, other.has_document)) {
            let Some(&At { blob: index, has_document, .. }) = places.first() else { continue };
            let outside = || Reason::damaged("sequence points lie outside of the portable PDB");
            let blob = metadata.blobs.blob(index).ok_or_else(outside)?;
            if index != before {
                // Methods of several files share a blob where their points are the same; other blobs share no bytes.
                let overlap =
                    || Reason::damaged("methods of the portable PDB have parts of each other's sequence points");
                left = left.checked_sub(blob.len()).ok_or_else(overlap)?;
                before = index;
            }
            each(Points::new(blob, has_document)?, places, |at, line, document| {
                let file = names.get(document.unwrap_or(at.document))?;
                if let Some(answer) = lines.get_mut(at.index) {
                    *answer = Some(SourceLine { file, line });
                }
                Ok(())
            })?;
        }
        Ok(lines)
    }
}

/// Whether a file of this size, and that begins so, may be opened.
fn check(head: &[u8], len: u64, limit: u64) -> Readable<()> {
    if is_of_windows(head) {
        return Err(Reason::unsupported("a Windows PDB, of which lines of managed code are not read"));
    }
    if !head.starts_with(PORTABLE) {
        return Err(other(head));
    }
    if len > limit { Err(too_long(limit)) } else { Ok(()) }
}

fn too_long(limit: u64) -> Reason {
    Reason::damaged(format!("takes more than {limit} bytes of memory"))
}

/// Where a place is looked for; `None` where the method has no sequence points.
fn at(metadata: &Metadata<'_>, place: &MethodPlace, index: usize) -> Option<At> {
    let [table, number @ ..] = place.token.to_be_bytes();
    let [a, b, c] = number;
    let number = Some(u32::from_be_bytes([0, a, b, c])).filter(|_| u32::from(table) == METHOD_TOKEN)?;
    let method = metadata.method(number).filter(|method| method.points != 0)?;
    let (blob, document) = (method.points, method.document);
    Some(At { blob, has_document: document == 0, il_offset: place.il_offset, document, index })
}

/// Hands on the line of each place, which are in the order of their offsets, and the document where the points name one.
fn each(
    points: Points<'_>,
    mut places: &[At],
    mut show: impl FnMut(&At, u32, Option<u32>) -> Readable<()>,
) -> Readable<()> {
    let mut show_all = |point: Option<Point>, places: &[At]| {
        let Some(Point { line: Some(line), document, .. }) = point else { return Ok(()) };
        places.iter().try_for_each(|at| show(at, line, document))
    };
    let mut last = None;
    for point in points {
        let point = point?;
        let count = places.iter().take_while(|at| at.il_offset < point.il_offset).count();
        let (before, rest) = places.split_at(count);
        show_all(last, before)?;
        (last, places) = (Some(point), rest);
    }
    show_all(last, places)
}
