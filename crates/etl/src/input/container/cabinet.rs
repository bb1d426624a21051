//! Windows cabinets: files in folders, each of which is one stream of blocks.
//!
//! ```text
//! header     folders and files, how much room every structure reserves
//! folders    where the blocks begin, how many there are, how they are packed
//! files      size, offset in the unpacked folder, number of the folder, name
//! blocks     check sum, packed size, size (at most 32 KiB unless they are stored), data
//! ```

use std::collections::BTreeSet;
use std::io::{self, BufRead, Read};
use std::path::Path;

use base::error::Result;
use base::progress::{Progress, stop_if_cancelled};

use super::cabinet_data::{FolderReader, Method};
use super::checked::Checked;
use super::cursor::Cursor;
use super::fault::{damaged, of_decoder, unsupported};
use super::joint::Stream;
use super::member::{Member, Members, Obstacle};
use crate::input::access::Input;

/// What a cabinet holds, and where.
#[derive(Debug)]
pub(super) struct CabinetDirectory {
    folders: Vec<Folder>,
    places: Vec<FileInFolder>,
    /// Bytes that stand before the data of every block.
    block_reserve: u8,
}

#[derive(Clone, Copy, Debug)]
struct Folder {
    offset: u32,
    blocks: u16,
    packing: u16,
}

/// Where a file is.
#[derive(Clone, Copy, Debug)]
struct FileInFolder {
    folder: u16,
    offset: u32,
    size: u32,
}

impl FileInFolder {
    fn end(self) -> u64 {
        u64::from(self.offset) + u64::from(self.size)
    }
}

/// Flags of the header.
const HAS_PREVIOUS: u16 = 1;
const HAS_NEXT: u16 = 2;
const HAS_RESERVE: u16 = 4;

/// The lowest number of a folder that stands for one that other cabinets share.
const SHARED: u16 = 0xFFFD;

impl CabinetDirectory {
    /// Reads the directory of a cabinet.
    ///
    /// # Errors
    /// Of the kind `Input` when it is damaged.
    pub(super) fn read(input: &dyn Input, progress: &dyn Progress) -> Result<(CabinetDirectory, Vec<Member>)> {
        let path = input.path();
        let cut = |cause: io::Error| match cause.kind() {
            io::ErrorKind::UnexpectedEof => damaged("the cabinet is cut off in its directory", path),
            _ => of_decoder(cause, path),
        };
        let mut from = Cursor::new(input, 0..input.size(), progress);
        let header: [u8; 36] = array(&mut from).map_err(cut)?;
        let word = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        let (size, files_at) = (long(&header, 8), long(&header, 16));
        let (folders, files, flags) = (word(26), word(28), word(30));
        if u64::from(size) > input.size() {
            let found = input.size();
            return Err(damaged(format!("expected a cabinet of {size} bytes, found {found}: it is cut off"), path));
        }
        let [folder_reserve, block_reserve] = skip_reserves(&mut from, flags).map_err(cut)?;
        let folders = (0..folders).map(|_| folder(&mut from, folder_reserve)).collect::<io::Result<Vec<_>>>();
        let mut directory = CabinetDirectory { folders: folders.map_err(cut)?, places: Vec::new(), block_reserve };
        let mut from = Cursor::new(input, u64::from(files_at)..input.size(), progress);
        let mut members = Members::default();
        for _ in 0..files {
            stop_if_cancelled(progress)?;
            let (place, name) = file(&mut from).map_err(cut)?;
            members.push(&name, Some(u64::from(place.size)), directory.obstacle(place), path)?;
            directory.places.push(place);
        }
        directory.refuse_overlaps(path)?;
        Ok((directory, members.finish()))
    }

    fn obstacle(&self, place: FileInFolder) -> Option<Obstacle> {
        let folder = self.folders.get(usize::from(place.folder));
        match folder.map(|folder| Method::of(folder.packing)) {
            None => Some(Obstacle::Split),
            Some(Err(method)) => Some(Obstacle::Method(method)),
            Some(Ok(_)) => None,
        }
    }

    /// Files lie one behind another, so that unpacking all takes time by what there is.
    fn refuse_overlaps(&self, path: &Path) -> Result<()> {
        let mut places = self.places.clone();
        places.sort_by_key(|place| (place.folder, place.offset, place.size));
        let overlap = |two: &[FileInFolder]| {
            two[0].folder == two[1].folder && two[0].folder < SHARED && two[0].end() > u64::from(two[1].offset)
        };
        if places.windows(2).any(overlap) { Err(damaged("files of the cabinet overlap", path)) } else { Ok(()) }
    }

    /// The number of the folder that a member lies in, and its offset there.
    pub(super) fn place_of(&self, index: usize) -> Option<(usize, u64)> {
        self.places.get(index).map(|place| (usize::from(place.folder), u64::from(place.offset)))
    }

    /// Unpacks members, and hands the bytes of each to `take`, folder by folder. Of a folder that is damaged, whatever lies behind the
    /// damage is handed over as damaged.
    ///
    /// # Errors
    /// Of the kind `Input` when the file cannot be read, and those of `take`.
    pub(super) fn unpack(
        &self,
        input: &dyn Input,
        wanted: &BTreeSet<usize>,
        progress: &dyn Progress,
        take: &mut dyn FnMut(usize, &mut dyn Read) -> Result<()>,
    ) -> Result<()> {
        let place =
            |index: &usize| self.places.get(*index).map(|place| (place.folder, place.offset, *index, place.size));
        let mut places: Vec<_> = wanted.iter().filter_map(place).collect();
        places.sort_unstable();
        let mut open: Option<(u16, u64, Stream<FolderReader<Cursor<'_>>>)> = None;
        for (number, offset, index, size) in places {
            let (mut position, mut reader) = match open.take() {
                Some((open, position, reader)) if open == number => (position, reader),
                _ => (0, Stream::new(Ok(self.folder(number, input, progress)?))?),
            };
            let (offset, size) = (u64::from(offset), u64::from(size));
            reader.skip(offset.saturating_sub(position))?;
            let mut bytes = reader.by_ref().take(size);
            take(index, &mut Checked::new(&mut bytes, size, None))?;
            position = offset + (size - bytes.limit());
            open = Some((number, position, reader));
        }
        Ok(())
    }

    /// The unpacked bytes of a folder.
    fn folder<'a>(
        &self,
        number: u16,
        input: &'a dyn Input,
        progress: &'a dyn Progress,
    ) -> Result<FolderReader<Cursor<'a>>> {
        let folder = self.folders.get(usize::from(number)).map(|folder| (folder, Method::of(folder.packing)));
        let Some((folder, Ok(method))) = folder else {
            return Err(unsupported("a file of the cabinet is packed in a way that is not read", input.path()));
        };
        let from = Cursor::new(input, u64::from(folder.offset)..input.size(), progress);
        Ok(FolderReader::new(from, method, folder.blocks, self.block_reserve))
    }
}

/// Passes over what the header reserves and the names of other cabinets; returns what folders and blocks reserve.
fn skip_reserves(from: &mut Cursor<'_>, flags: u16) -> io::Result<[u8; 2]> {
    let mut reserves = [0; 2];
    if flags & HAS_RESERVE != 0 {
        let [low, high, folder, block] = array(from)?;
        let header = u64::from(u16::from_le_bytes([low, high]));
        io::copy(&mut from.take(header), &mut io::sink())?;
        reserves = [folder, block];
    }
    for flag in [HAS_PREVIOUS, HAS_NEXT] {
        if flags & flag != 0 {
            // A cabinet, and the disk that it is on.
            text(from)?;
            text(from)?;
        }
    }
    Ok(reserves)
}

fn folder(from: &mut Cursor<'_>, reserve: u8) -> io::Result<Folder> {
    let bytes: [u8; 8] = array(from)?;
    io::copy(&mut from.take(u64::from(reserve)), &mut io::sink())?;
    let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    Ok(Folder { offset: long(&bytes, 0), blocks: word(4), packing: word(6) })
}

fn file(from: &mut Cursor<'_>) -> io::Result<(FileInFolder, Vec<u8>)> {
    let bytes: [u8; 16] = array(from)?;
    let folder = u16::from_le_bytes([bytes[8], bytes[9]]);
    Ok((FileInFolder { size: long(&bytes, 0), offset: long(&bytes, 4), folder }, text(from)?))
}

/// A name up to its zero.
fn text(from: &mut Cursor<'_>) -> io::Result<Vec<u8>> {
    /// With its zero.
    const LONGEST: u64 = 256;
    let mut name = Vec::new();
    from.take(LONGEST).read_until(0, &mut name)?;
    if name.pop() == Some(0) { Ok(name) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn array<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn long(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
}
