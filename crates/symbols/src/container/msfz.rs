//! MSFZ, the compressed container of PDBs: each stream is a list of fragments, which lie in the file or in a chunk that is
//! compressed as a whole.
//!
//! Layout: <https://github.com/microsoft/pdb-rs/blob/main/docs/pdb/msfz.md>, which commits itself to nothing: version 0 is read.

use std::collections::HashMap;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use etl::input::Input;

use super::held::{Room, Stream, Taken};
use crate::bytes::Bytes;
use crate::found::{Readable, Reason};

/// How an MSFZ begins.
pub(crate) const MAGIC: &[u8] = b"Microsoft MSFZ Container\r\n\x1aALD\0\0";
/// Bytes of the header.
const HEADER: usize = 80;
/// Bytes of a row of the table of chunks.
const CHUNK: usize = 20;
/// The size of the first fragment of a stream that there is not.
const NIL: u32 = u32::MAX;
const IS_COMPRESSED: u32 = 1 << 31;
/// The bits of an offset in the file.
const OFFSET_MASK: u64 = (1 << 48) - 1;

/// An MSFZ whose directory has been read.
#[derive(Debug)]
pub(crate) struct Msfz {
    input: Arc<dyn Input>,
    chunks: Vec<Packed>,
    streams: Vec<Option<Vec<Fragment>>>,
    /// The chunks that were needed, as a whole.
    unpacked: Mutex<HashMap<u32, Chunk>>,
    room: Room,
    _taken: Taken,
}

/// A chunk, decompressed, and the room that it takes.
#[derive(Debug)]
struct Chunk {
    plain: Arc<[u8]>,
    _taken: Taken,
}

/// Bytes of the file that are to be decompressed.
#[derive(Clone, Copy, Debug)]
struct Packed {
    offset: u64,
    method: u32,
    len: u32,
    plain: u32,
}

#[derive(Clone, Copy, Debug)]
struct Fragment {
    size: u32,
    place: Place,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    File(u64),
    Chunk(u32, u32),
}

fn cut() -> Reason {
    Reason::damaged("the stream directory of the MSFZ is cut off")
}

struct Header {
    directory: Packed,
    chunks_at: u64,
    streams: u32,
    chunks: u32,
}

impl Msfz {
    pub(crate) fn open(input: Arc<dyn Input>, room: Room) -> Readable<Msfz> {
        let header = Header::read(&*input)?;
        let chunks = header.chunks(&*input)?;
        let directory = unpack(&*input, header.directory, room.limit())?;
        // Each fragment takes 12 bytes of the directory and twice that in memory; each stream at least four.
        let taken = room.take((directory.len() as u64).saturating_mul(8))?;
        let streams = streams(&directory, header.streams)?;
        // Streams may share bytes, but none does: so reading all of them takes no more than reading what there is room for.
        let fragments = streams.iter().flatten().flatten();
        let plain = fragments.fold(0_u64, |sum, fragment| sum.saturating_add(fragment.size.into()));
        if plain > room.limit() {
            let message = format!("is {plain} bytes long, unpacked: more than {} of memory", room.limit());
            return Err(Reason::damaged(message));
        }
        Ok(Msfz { input, chunks, streams, unpacked: Mutex::default(), room, _taken: taken })
    }

    /// The bytes of a stream; `None` where there is none of this number.
    pub(crate) fn stream(&self, number: u32) -> Readable<Option<Stream>> {
        let found = usize::try_from(number).ok().and_then(|number| self.streams.get(number));
        let Some(Some(fragments)) = found else { return Ok(None) };
        let size = fragments.iter().try_fold(0_u32, |sum, fragment| sum.checked_add(fragment.size));
        let size = size.ok_or_else(|| Reason::damaged("a stream of the MSFZ is longer than 4 GiB"))?;
        let mut stream = Stream::zeros(size, &self.room)?;
        let mut target = stream.bytes_mut();
        for fragment in fragments {
            let len = usize::try_from(fragment.size).map_err(|_| cut())?;
            let (part, rest) = target.split_at_mut_checked(len).ok_or_else(cut)?;
            self.read(fragment, part)?;
            target = rest;
        }
        Ok(Some(stream))
    }

    fn read(&self, fragment: &Fragment, target: &mut [u8]) -> Readable<()> {
        match fragment.place {
            Place::File(offset) => {
                if offset.saturating_add(target.len() as u64) > self.input.size() {
                    return Err(Reason::damaged("a fragment of the MSFZ lies beyond its end"));
                }
                Ok(self.input.read_into(offset, target)?)
            }
            Place::Chunk(number, offset) => {
                let chunk = self.chunk(number)?;
                let begin = usize::try_from(offset).map_err(|_| cut())?;
                let part = begin.checked_add(target.len()).and_then(|end| chunk.get(begin..end));
                target.copy_from_slice(part.ok_or_else(|| Reason::damaged("a fragment lies beyond its chunk"))?);
                Ok(())
            }
        }
    }

    fn chunk(&self, number: u32) -> Readable<Arc<[u8]>> {
        let mut unpacked = self.unpacked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(chunk) = unpacked.get(&number) {
            return Ok(Arc::clone(&chunk.plain));
        }
        let found = usize::try_from(number).ok().and_then(|number| self.chunks.get(number));
        let packed = found.ok_or_else(|| Reason::damaged("a fragment lies in a chunk that there is not"))?;
        let taken = self.room.take(packed.plain.into())?;
        let plain: Arc<[u8]> = unpack(&*self.input, *packed, self.room.limit())?.into();
        unpacked.insert(number, Chunk { plain: Arc::clone(&plain), _taken: taken });
        Ok(plain)
    }
}

impl Header {
    fn read(input: &dyn Input) -> Readable<Header> {
        let mut scratch = Vec::new();
        let mut bytes = Bytes(input.bytes(0, HEADER, &mut scratch)?);
        let (version, chunks_size, header) =
            Header::fields(&mut bytes).ok_or_else(|| Reason::damaged("the header of the MSFZ is cut off"))?;
        if version != 0 {
            return Err(Reason::unsupported(format!("an MSFZ of version {version}")));
        }
        let len = u64::from(header.chunks).saturating_mul(CHUNK as u64);
        if len != u64::from(chunks_size) || header.chunks_at.saturating_add(len) > input.size() && len > 0 {
            return Err(Reason::damaged("the table of chunks of the MSFZ is cut off"));
        }
        Ok(header)
    }

    fn fields(bytes: &mut Bytes<'_>) -> Option<(u64, u32, Header)> {
        bytes.skip(MAGIC.len())?;
        let (version, offset, chunks_at) = (bytes.u64()?, bytes.u64()?, bytes.u64()?);
        let (streams, method, len, plain) = (bytes.u32()?, bytes.u32()?, bytes.u32()?, bytes.u32()?);
        let (chunks, chunks_size) = (bytes.u32()?, bytes.u32()?);
        let directory = Packed { offset, method, len, plain };
        Some((version, chunks_size, Header { directory, chunks_at, streams, chunks }))
    }

    fn chunks(&self, input: &dyn Input) -> Readable<Vec<Packed>> {
        let len = usize::try_from(self.chunks).unwrap_or(usize::MAX).saturating_mul(CHUNK);
        let mut scratch = Vec::new();
        let mut rows = Bytes(input.bytes(self.chunks_at, len, &mut scratch)?);
        let mut chunks = Vec::new();
        while !rows.is_empty() {
            let row = |rows: &mut Bytes<'_>| {
                let (offset, method, len, plain) = (rows.u64()?, rows.u32()?, rows.u32()?, rows.u32()?);
                Some(Packed { offset, method, len, plain })
            };
            chunks.push(row(&mut rows).ok_or_else(cut)?);
        }
        Ok(chunks)
    }
}

/// The fragments of each stream.
fn streams(directory: &[u8], count: u32) -> Readable<Vec<Option<Vec<Fragment>>>> {
    let mut bytes = Bytes(directory);
    let mut streams = Vec::new();
    for _ in 0..count {
        let mut size = bytes.u32().ok_or_else(cut)?;
        if size == NIL {
            streams.push(None);
            continue;
        }
        let mut fragments = Vec::new();
        while size != 0 {
            let (low, high) = bytes.u32().zip(bytes.u32()).ok_or_else(cut)?;
            let place = if high & IS_COMPRESSED != 0 {
                Place::Chunk(high & !IS_COMPRESSED, low)
            } else {
                Place::File((u64::from(high) << 32 | u64::from(low)) & OFFSET_MASK)
            };
            fragments.push(Fragment { size, place });
            size = bytes.u32().ok_or_else(cut)?;
        }
        streams.push(Some(fragments));
    }
    Ok(streams)
}

/// Decompresses bytes of the file; memory grows with what comes out, not with what is claimed.
fn unpack(input: &dyn Input, packed: Packed, limit: u64) -> Readable<Vec<u8>> {
    if packed.offset.saturating_add(packed.len.into()) > input.size() || u64::from(packed.plain) > limit {
        return Err(Reason::damaged("a compressed part of the MSFZ claims more than there can be"));
    }
    let mut scratch = Vec::new();
    let len = usize::try_from(packed.len).map_err(|_| cut())?;
    let bytes = input.bytes(packed.offset, len, &mut scratch)?;
    let mut plain = Vec::new();
    let most = u64::from(packed.plain).saturating_add(1);
    let read = match packed.method {
        0 => bytes.take(most).read_to_end(&mut plain),
        1 => zstd::Decoder::new(bytes).and_then(|decoder| decoder.take(most).read_to_end(&mut plain)),
        2 => flate2::read::DeflateDecoder::new(bytes).take(most).read_to_end(&mut plain),
        method => return Err(Reason::unsupported(format!("an MSFZ compressed by method {method}"))),
    };
    read.map_err(|error| Reason::damaged(format!("a compressed part of the MSFZ is damaged: {error}")))?;
    if plain.len() as u64 != u64::from(packed.plain) {
        return Err(Reason::damaged("a compressed part of the MSFZ has another size than it claims"));
    }
    Ok(plain)
}
