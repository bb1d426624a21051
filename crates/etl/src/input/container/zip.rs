//! Zip archives: any member can be read at once.

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use base::error::{Error, Result};
use base::progress::{Progress, stop_if_cancelled};
use bzip2::bufread::MultiBzDecoder;
use deflate64::Deflate64Decoder;
use flate2::bufread::DeflateDecoder;
use rawzip::{
    CompressionMethod, MAX_CENTRAL_DIRECTORY_RECORD_SIZE, ReaderAt, ZipArchive, ZipArchiveEntryWayfinder,
    ZipFileHeaderRecord, ZipLocator,
};

use super::checked::Checked;
use super::cursor::Cursor;
use super::fault::{damaged, of_decoder, own};
use super::format::Format;
use super::member::{Member, Members, Obstacle};
use crate::input::access::Input;

/// A zip archive, and where its members are.
pub(super) struct ZipDirectory {
    archive: ZipArchive<At>,
    places: Vec<ZipEntry>,
}

/// Where a member is.
#[derive(Clone, Copy, Debug)]
struct ZipEntry {
    method: CompressionMethod,
    wayfinder: ZipArchiveEntryWayfinder,
    offset: u64,
    crc32: u32,
}

struct At(Arc<dyn Input>);

impl ReaderAt for At {
    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        let len = self.0.available(offset, target.len());
        // A directory may lead behind the end, where not even nothing can be read.
        if len == 0 {
            return Ok(0);
        }
        self.0.read_into(offset, &mut target[..len]).map_err(io::Error::other)?;
        Ok(len)
    }
}

impl fmt::Debug for ZipDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.places).finish()
    }
}

impl ZipDirectory {
    /// Reads the directory of an archive.
    ///
    /// # Errors
    /// Of the kind `Input` when it is damaged or has too many members.
    pub(super) fn read(input: &Arc<dyn Input>, progress: &dyn Progress) -> Result<(ZipDirectory, Vec<Member>)> {
        let path = input.path();
        let mut buffer = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
        let archive = ZipLocator::new().locate_in_reader(At(Arc::clone(input)), &mut buffer, input.size());
        let archive = archive.map_err(|(_, cause)| no_directory(cause, path))?;
        let (mut members, mut places, mut records) = (Members::default(), Vec::new(), 0_u64);
        let mut entries = archive.entries(&mut buffer);
        while let Some(record) = entries.next_entry().map_err(|cause| no_directory(cause, path))? {
            stop_if_cancelled(progress)?;
            records += 1;
            if record.is_dir() {
                continue;
            }
            let name = record.file_path();
            members.push(name.as_bytes(), Some(record.uncompressed_size_hint()), obstacle(&record), path)?;
            let (method, wayfinder, crc32) = (record.compression_method(), record.wayfinder(), record.crc32());
            places.push(ZipEntry { method, wayfinder, offset: record.local_header_offset(), crc32 });
        }
        // Archives of more than 65,535 members may count them modulo 65,536.
        if (records ^ archive.entries_hint()) & 0xFFFF != 0 {
            let message = format!("expected {} members in the directory, found {records}", archive.entries_hint());
            return Err(damaged(message, path));
        }
        Ok((ZipDirectory { archive, places }, members.finish()))
    }

    /// Bytes of the archive that a member takes.
    pub(super) fn packed_size(&self, index: usize) -> u64 {
        self.places.get(index).map_or(0, |place| place.wayfinder.compressed_size_hint())
    }

    /// Where in the archive a member begins.
    pub(super) fn lies_at(&self, index: usize) -> u64 {
        self.places.get(index).map_or(0, |place| place.offset)
    }

    /// Bytes that unpacking a member takes in memory at most.
    pub(super) fn room(&self, index: usize) -> u64 {
        match self.places.get(index).map(|place| place.method) {
            None | Some(CompressionMethod::STORE) => 0,
            Some(CompressionMethod::ZSTD) => Format::Zstd.room(),
            Some(_) => Format::Gzip.room(),
        }
    }

    /// Where in the archive the bytes of a member are, if they lie there as they are.
    ///
    /// # Errors
    /// Of the kind `Input` when they are not where the directory says.
    pub(super) fn stored(&self, index: usize) -> Result<Option<(Range<u64>, u32)>> {
        let place = self.place(index)?;
        if place.method != CompressionMethod::STORE {
            return Ok(None);
        }
        let data = self.data(&place)?;
        if data.end - data.start != place.wayfinder.uncompressed_size_hint() {
            return Err(damaged("a stored member has two sizes", self.path()));
        }
        Ok(Some((data, place.crc32)))
    }

    /// Unpacks a member, and hands its bytes to `take`.
    ///
    /// # Errors
    /// Of the kind `Input` when the member is damaged, and those of `take`.
    pub(super) fn unpack(
        &self,
        index: usize,
        progress: &dyn Progress,
        take: &mut dyn FnMut(&mut dyn Read) -> Result<()>,
    ) -> Result<()> {
        let place = self.place(index)?;
        let packed = Cursor::new(&*self.archive.get_ref().0, self.data(&place)?, progress);
        let plain: Box<dyn Read + '_> = match place.method {
            CompressionMethod::STORE => Box::new(packed),
            CompressionMethod::DEFLATE => Box::new(DeflateDecoder::new(packed)),
            CompressionMethod::DEFLATE64 => Box::new(Deflate64Decoder::with_buffer(packed)),
            CompressionMethod::BZIP2 => Box::new(MultiBzDecoder::new(packed)),
            CompressionMethod::ZSTD => {
                let decoder = zstd::stream::read::Decoder::with_buffer(packed);
                Box::new(decoder.map_err(|cause| of_decoder(cause, self.path()))?)
            }
            other => return Err(Obstacle::Method(other.to_string()).error(self.path())),
        };
        take(&mut Checked::new(plain, place.wayfinder.uncompressed_size_hint(), Some(place.crc32)))
    }

    fn path(&self) -> &Path {
        self.archive.get_ref().0.path()
    }

    fn place(&self, index: usize) -> Result<ZipEntry> {
        self.places.get(index).copied().ok_or_else(|| Error::bug("a member has no place in its archive"))
    }

    /// The packed bytes of a member.
    fn data(&self, place: &ZipEntry) -> Result<Range<u64>> {
        let entry = self.archive.get_entry(place.wayfinder).map_err(|cause| no_directory(cause, self.path()))?;
        let (start, end) = entry.compressed_data_range();
        if start > end || end > self.archive.get_ref().0.size() {
            return Err(damaged("a member ends behind the end of the archive", self.path()));
        }
        Ok(start..end)
    }
}

/// What keeps a member from being read.
fn obstacle(record: &ZipFileHeaderRecord<'_>) -> Option<Obstacle> {
    const READ: [CompressionMethod; 5] = [
        CompressionMethod::STORE,
        CompressionMethod::DEFLATE,
        CompressionMethod::DEFLATE64,
        CompressionMethod::BZIP2,
        CompressionMethod::ZSTD,
    ];
    let (flags, method) = (record.flags(), record.compression_method());
    if flags.is_encrypted() || flags.has_strong_encryption() || method == CompressionMethod::AES {
        return Some(Obstacle::Encrypted);
    }
    (!READ.contains(&method)).then(|| Obstacle::Method(method.to_string()))
}

/// What is said of an archive whose directory does not lead to its members.
fn no_directory(cause: rawzip::Error, path: &Path) -> Error {
    match cause.into_kind() {
        rawzip::ErrorKind::IO(cause) => own(cause)
            .unwrap_or_else(|cause| damaged("the directory of the zip archive is damaged", path).caused_by(cause)),
        rawzip::ErrorKind::MissingEndOfCentralDirectory => {
            damaged("the zip archive is cut off: the directory at its end is missing", path)
        }
        kind => damaged(format!("the directory of the zip archive is damaged: {kind}"), path),
    }
}
