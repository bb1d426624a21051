//! 7z archives: files lie one behind another in streams, each packed as a whole.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::Path;

use base::error::{Error, Result};
use base::progress::Progress;
use bzip2::bufread::MultiBzDecoder;
use deflate64::Deflate64Decoder;
use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use lzma_rust2::filter::bcj::BcjReader;
use lzma_rust2::{Lzma2Reader, LzmaReader};

use super::checked::Checked;
use super::cursor::Cursor;
use super::fault::{damaged, invalid, of_decoder, unsupported};
use super::joint::Stream;
use super::member::{Member, Members, Obstacle};
use super::seven_header::{self as header, Folder, Header};
use super::xz::{MAX_DICTIONARY, dictionary_size};
use crate::input::access::Input;

/// Bytes before everything else.
const SIGNATURE_HEADER: u64 = 32;

/// Bytes of a directory that is read: those of a million members with names of twenty characters.
const MOST_HEADER: u64 = 64 << 20;

/// How many times its packed bytes a directory may be, beyond the first MiB: what no list of members comes to.
const MOST_HEADER_RATIO: u64 = 256;

/// What a 7z archive holds, and where.
#[derive(Debug)]
pub(super) struct SevenDirectory {
    folders: Vec<Folder>,
    /// For every member the folder that it lies in and its place there.
    places: Vec<Option<(usize, usize)>>,
}

impl SevenDirectory {
    /// Reads the directory of an archive.
    ///
    /// # Errors
    /// Of the kind `Input` when it is damaged or encrypted.
    pub(super) fn read(input: &dyn Input, progress: &dyn Progress) -> Result<(SevenDirectory, Vec<Member>)> {
        let path = input.path();
        let wrong = || damaged("the directory of the 7z archive is damaged", path);
        let mut bytes = first_header(input)?;
        loop {
            if bytes.is_empty() {
                return SevenDirectory::of(Vec::new(), Vec::new(), path);
            }
            match header::parse(&bytes).ok_or_else(wrong)? {
                Header::Plain(folders, files) => return SevenDirectory::of(folders, files, path),
                Header::Packed(folders) => {
                    let folder = folders.first().ok_or_else(wrong)?;
                    if let Some(obstacle) = obstacle(folder) {
                        return Err(unsupported(format!("the directory is {}", obstacle.reason()), path));
                    }
                    // Each is smaller than the one before, as nobody packs a header twice.
                    let more = unpacked_header(input, folder, progress)?;
                    if more.first() == bytes.first() {
                        return Err(wrong());
                    }
                    bytes = more;
                }
            }
        }
    }

    fn of(folders: Vec<Folder>, files: Vec<header::File>, path: &Path) -> Result<(SevenDirectory, Vec<Member>)> {
        let (mut members, mut places) = (Members::default(), Vec::new());
        let mut parts = (0..).zip(&folders).flat_map(|(number, folder)| {
            (0..).zip(&folder.parts).map(move |(place, part)| (number, place, part.size, folder))
        });
        for file in files {
            if file.has_stream {
                let Some((number, place, size, folder)) = parts.next() else {
                    return Err(damaged("the 7z archive has fewer streams than files", path));
                };
                members.push(file.name.as_bytes(), Some(size), obstacle(folder), path)?;
                places.push(Some((number, place)));
            } else if file.is_empty {
                members.push(file.name.as_bytes(), Some(0), None, path)?;
                places.push(None);
            }
        }
        drop(parts);
        Ok((SevenDirectory { folders, places }, members.finish()))
    }

    /// The number of the stream that a member lies in, and its place there.
    pub(super) fn place(&self, index: usize) -> Option<(usize, usize)> {
        self.places.get(index).copied().flatten()
    }

    /// Members of a stream in the order in which they lie there, with the places in it.
    fn by_stream(&self, wanted: &BTreeSet<usize>) -> Vec<(usize, usize, usize)> {
        let place = |&index: &usize| self.place(index).map(|(folder, place)| (folder, place, index));
        let mut places: Vec<_> = wanted.iter().filter_map(place).collect();
        places.sort_unstable();
        places
    }

    /// Unpacks members, and hands the bytes of each to `take`, stream by stream. Of a stream that is damaged, whatever lies behind the
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
        let is_empty = |index: &&usize| self.place(**index).is_none();
        wanted.iter().filter(is_empty).try_for_each(|&index| take(index, &mut io::empty()))?;
        for of_folder in self.by_stream(wanted).chunk_by(|one, next| one.0 == next.0) {
            let Some(folder) = of_folder.first().and_then(|(folder, ..)| self.folders.get(*folder)) else { continue };
            let mut plain = Stream::new(decoder(input, folder, progress))?;
            let mut wanted = of_folder.iter().map(|(_, place, index)| (*place, *index)).peekable();
            for (place, part) in (0..).zip(&folder.parts) {
                let Some(&(next, index)) = wanted.peek() else { break };
                let mut bytes = plain.by_ref().take(part.size);
                if next == place {
                    wanted.next();
                    take(index, &mut Checked::new(&mut bytes, part.size, part.crc32))?;
                }
                let rest = bytes.limit();
                plain.skip(rest)?;
            }
        }
        Ok(())
    }
}

/// The header at the end of the archive, as it lies there.
fn first_header(input: &dyn Input) -> Result<Vec<u8>> {
    let path = input.path();
    let mut scratch = Vec::new();
    let start = input.bytes(0, 32, &mut scratch)?;
    let Some(start) = start.first_chunk::<32>() else {
        return Err(damaged("the 7z archive is cut off", path));
    };
    let long = |at: usize| u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|byte| start[at + byte]));
    let sum = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| start[at + byte]));
    if crc32(&start[12..]) != sum(8) {
        return Err(damaged("the start of the 7z archive is damaged", path));
    }
    let (offset, size) = (long(12), long(20));
    let end = SIGNATURE_HEADER.checked_add(offset).and_then(|start| start.checked_add(size));
    if end.is_none_or(|end| end > input.size()) {
        return Err(damaged("the 7z archive is cut off: the directory at its end is missing", path));
    }
    let header = bytes(input, SIGNATURE_HEADER + offset, size)?;
    if crc32(&header) == sum(28) {
        Ok(header)
    } else {
        Err(damaged("the directory of the 7z archive is damaged", path))
    }
}

fn bytes(input: &dyn Input, offset: u64, size: u64) -> Result<Vec<u8>> {
    let Some(len) = usize::try_from(size).ok().filter(|_| size <= MOST_HEADER) else {
        let message = format!("expected a directory of at most {MOST_HEADER} bytes, found one of {size}");
        return Err(unsupported(message, input.path()));
    };
    let mut scratch = Vec::new();
    input.bytes(offset, len, &mut scratch)?;
    Ok(scratch)
}

/// A header that is packed itself.
fn unpacked_header(input: &dyn Input, folder: &Folder, progress: &dyn Progress) -> Result<Vec<u8>> {
    let most = folder.packed.saturating_mul(MOST_HEADER_RATIO).saturating_add(1 << 20).min(MOST_HEADER);
    if folder.size > most {
        let message = format!("expected a directory of at most {most} bytes, found one of {}", folder.size);
        return Err(unsupported(message, input.path()));
    }
    let mut header = Vec::new();
    let plain = decoder(input, folder, progress).map_err(|cause| of_decoder(cause, input.path()))?;
    let mut plain = Checked::new(plain.take(folder.size), folder.size, folder.crc32);
    plain.read_to_end(&mut header).map_err(|cause| of_decoder(cause, input.path()))?;
    Ok(header)
}

/// Coders by their number in the format.
const COPY: &[u8] = &[0x00];
const LZMA2: &[u8] = &[0x21];
const LZMA: &[u8] = &[0x03, 0x01, 0x01];
const DEFLATE: &[u8] = &[0x04, 0x01, 0x08];
const DEFLATE64: &[u8] = &[0x04, 0x01, 0x09];
const BZIP2: &[u8] = &[0x04, 0x02, 0x02];
const AES: &[u8] = &[0x06, 0xF1, 0x07, 0x01];
/// A filter for programs of x86 processors, by its old and its new number; py7zr puts it before every LZMA2.
const X86: [&[u8]; 2] = [&[0x03, 0x03, 0x01, 0x03], &[0x04]];

/// What keeps a stream from being read.
fn obstacle(folder: &Folder) -> Option<Obstacle> {
    match &folder.coders[..] {
        coders if coders.iter().any(|coder| coder.method == AES) => Some(Obstacle::Encrypted),
        [coder, filters @ ..]
            if [COPY, LZMA2, LZMA, DEFLATE, DEFLATE64, BZIP2].contains(&&coder.method[..])
                && (filters.is_empty() || folder.is_chain)
                && filters.iter().all(|filter| X86.contains(&&filter.method[..])) =>
        {
            None
        }
        [coder] => Some(Obstacle::Method(match &coder.method[..] {
            [0x03, 0x04, 0x01] => "PPMd".to_owned(),
            method => format!("the method {method:02x?}"),
        })),
        _ => Some(Obstacle::Method("several coders".to_owned())),
    }
}

/// The unpacked bytes of a stream.
fn decoder<'a>(input: &'a dyn Input, folder: &Folder, progress: &'a dyn Progress) -> io::Result<Box<dyn Read + 'a>> {
    let start = SIGNATURE_HEADER.checked_add(folder.offset);
    let range = start.and_then(|start| Some(start..start.checked_add(folder.packed)?));
    let range = range.filter(|range| range.end <= input.size()).ok_or_else(|| invalid("a stream is cut off"))?;
    let packed = Cursor::new(input, range, progress);
    let [coder, filters @ ..] = &folder.coders[..] else {
        return Err(io::Error::other(Error::bug("a stream without a coder cannot be unpacked")));
    };
    let unpacked: Box<dyn Read + 'a> = match (&coder.method[..], &coder.properties[..]) {
        (COPY, _) => Box::new(packed),
        (LZMA2, [bits]) => Box::new(Lzma2Reader::new(packed, dictionary_size(*bits)?, None)),
        (LZMA, [properties, a, b, c, d]) => {
            let dictionary = u32::from_le_bytes([*a, *b, *c, *d]);
            if dictionary > MAX_DICTIONARY && folder.size > u64::from(MAX_DICTIONARY) {
                let (most, found) = (MAX_DICTIONARY >> 20, dictionary >> 20);
                return Err(invalid(format!("expected a dictionary of at most {most} MiB, found one of {found}")));
            }
            let dictionary = dictionary.min(MAX_DICTIONARY);
            Box::new(LzmaReader::new_with_props(packed, folder.size, *properties, dictionary, None)?)
        }
        (DEFLATE, _) => Box::new(DeflateDecoder::new(packed)),
        (DEFLATE64, _) => Box::new(Deflate64Decoder::with_buffer(packed)),
        (BZIP2, _) => Box::new(MultiBzDecoder::new(packed)),
        _ => return Err(invalid("the properties of a coder are damaged")),
    };
    Ok(filters.iter().fold(unpacked, |unpacked, _| Box::new(BcjReader::new_x86(unpacked, 0))))
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}
