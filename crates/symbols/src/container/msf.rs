//! MSF, the container of PDBs: a file of pages, with a directory of the pages of each stream.
//!
//! Layout: <https://llvm.org/docs/PDB/MsfFile.html>.

use std::sync::Arc;

use etl::input::Input;

use super::held::{Room, Stream, Taken};
use crate::bytes::Bytes;
use crate::found::{Readable, Reason};

/// How an MSF begins.
pub(crate) const MAGIC: &[u8] = b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0";
/// How an MSF of before the year 2000 begins.
pub(crate) const OLD_MAGIC: &[u8] = b"Microsoft C/C++ program database 2.00\r\n\x1aJG";
/// The size of a stream that there is not.
const NIL: u32 = u32::MAX;
/// Bytes of the header, without the numbers of pages.
const HEADER: usize = 52;
const MAX_PAGE: u32 = 64 << 10;

/// An MSF whose directory has been read.
///
/// Streams share no pages, so together they are no longer than the file: what claims more is refused before a byte is allocated
/// for it, and reading all of them takes no more than reading the file.
#[derive(Debug)]
pub(crate) struct Msf {
    input: Arc<dyn Input>,
    page_size: u32,
    /// Of each stream: its size, and where its pages begin in `pages`.
    streams: Vec<(u32, usize)>,
    pages: Vec<u32>,
    room: Room,
    _taken: Taken,
}

fn cut() -> Reason {
    Reason::damaged("the stream directory of the PDB is cut off")
}

impl Msf {
    pub(crate) fn open(input: Arc<dyn Input>, room: Room) -> Readable<Msf> {
        let header = Header::read(&*input)?;
        let directory = header.directory(&*input, &room)?;
        let mut left = Bytes(&directory);
        let count = left.u32().ok_or_else(cut)?;
        let count = usize::try_from(count).ok().filter(|&count| count <= directory.len() / 4).ok_or_else(cut)?;
        // The numbers of the directory once more.
        let taken = room.take((directory.len() as u64).saturating_mul(4))?;
        let mut sizes = Bytes(left.take(count.saturating_mul(4)).ok_or_else(cut)?);
        let mut pages = Vec::with_capacity(left.0.len() / 4);
        while let Some(page) = left.u32() {
            pages.push(page);
        }
        let (mut streams, mut first, mut sum) = (Vec::with_capacity(count), 0_usize, 0_u64);
        while let Some(size) = sizes.u32() {
            streams.push((size, first));
            let bytes = if size == NIL { 0 } else { size };
            first = first.saturating_add(header.pages_of(bytes));
            sum = sum.saturating_add(bytes.into());
        }
        if first > pages.len() {
            return Err(cut());
        }
        if sum > input.size() {
            let message = format!("the streams of the PDB claim {sum} bytes, and the file has {}", input.size());
            return Err(Reason::damaged(message));
        }
        Ok(Msf { input, page_size: header.page_size, streams, pages, room, _taken: taken })
    }

    /// The bytes of a stream; `None` where there is none of this number.
    pub(crate) fn stream(&self, number: u32) -> Readable<Option<Stream>> {
        let found = usize::try_from(number).ok().and_then(|number| self.streams.get(number));
        let Some(&(size, first)) = found.filter(|(size, _)| *size != NIL) else { return Ok(None) };
        let mut stream = Stream::zeros(size, &self.room)?;
        let pages = self.pages.get(first..).unwrap_or_default();
        read_pages(&*self.input, self.page_size, pages, stream.bytes_mut())?;
        Ok(Some(stream))
    }
}

struct Header {
    page_size: u32,
    directory_size: u32,
}

impl Header {
    fn read(input: &dyn Input) -> Readable<Header> {
        let mut scratch = Vec::new();
        let mut bytes = Bytes(input.bytes(0, HEADER, &mut scratch)?);
        let fields = |bytes: &mut Bytes<'_>| {
            bytes.skip(MAGIC.len())?;
            let page_size = bytes.u32()?;
            bytes.skip(8)?;
            let directory_size = bytes.u32()?;
            bytes.skip(4)?;
            Some(Header { page_size, directory_size })
        };
        let header = fields(&mut bytes).ok_or_else(|| Reason::damaged("the header of the PDB is cut off"))?;
        if !header.page_size.is_power_of_two() || !(512..=MAX_PAGE).contains(&header.page_size) {
            return Err(Reason::damaged(format!("{} bytes are no page of a PDB", header.page_size)));
        }
        if u64::from(header.directory_size) > input.size() {
            return Err(Reason::damaged("the stream directory claims to be longer than the PDB"));
        }
        Ok(header)
    }

    fn pages_of(&self, bytes: u32) -> usize {
        usize::try_from(bytes.div_ceil(self.page_size)).unwrap_or(usize::MAX)
    }

    /// The header names the pages that name the pages of the directory.
    fn directory(&self, input: &dyn Input, room: &Room) -> Readable<Stream> {
        // No longer than the file, as the directory is.
        let map_size = self.directory_size.div_ceil(self.page_size).saturating_mul(4);
        let mut scratch = Vec::new();
        let numbers = self.pages_of(map_size).saturating_mul(4);
        let numbers = input.bytes(HEADER as u64, numbers, &mut scratch)?;
        let mut map = Stream::zeros(map_size, room)?;
        read_pages(input, self.page_size, &numbers_in(numbers), map.bytes_mut())?;
        let mut directory = Stream::zeros(self.directory_size, room)?;
        read_pages(input, self.page_size, &numbers_in(&map), directory.bytes_mut())?;
        Ok(directory)
    }
}

fn numbers_in(bytes: &[u8]) -> Vec<u32> {
    let (numbers, _) = bytes.as_chunks();
    numbers.iter().copied().map(u32::from_le_bytes).collect()
}

/// Fills `target` from pages; those that lie one behind the other are read as one.
fn read_pages(input: &dyn Input, page_size: u32, pages: &[u32], mut target: &mut [u8]) -> Readable<()> {
    let page_len = usize::try_from(page_size).map_err(|_| cut())?;
    let mut pages = pages;
    while !target.is_empty() {
        let (&first, rest) = pages.split_first().ok_or_else(cut)?;
        // Numbers count up to where one does not; at most up to the greatest.
        let next = (1_u32..u32::MAX).map(|more| first.checked_add(more));
        let more = rest.iter().zip(next).take_while(|&(&page, next)| next == Some(page)).count();
        pages = rest.get(more..).unwrap_or_default();
        let len = more.saturating_add(1).saturating_mul(page_len).min(target.len());
        let (part, left) = target.split_at_mut(len);
        let offset = u64::from(first).saturating_mul(page_size.into());
        if offset.saturating_add(part.len() as u64) > input.size() {
            return Err(Reason::damaged(format!("page {first} of the PDB lies beyond its end")));
        }
        input.read_into(offset, part)?;
        target = left;
    }
    Ok(())
}
