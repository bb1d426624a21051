//! xz streams: the container around LZMA2, so that what a header claims is checked before anything is set aside for it.
//!
//! ```text
//! stream header   magic, kind of check                       once more for every stream of the file
//!   block header  sizes, filters        LZMA2 data    padding    check
//! index           sizes of all blocks
//! stream footer   kind of check, magic
//! ```

use std::io::{self, Read};

use flate2::Crc;
use lzma_rust2::Lzma2Reader;

use super::fault::invalid;
use super::format::LZMA_WINDOW;
use super::xz_check::{Check, crc32};

/// The largest window that is read.
pub(super) const MAX_DICTIONARY: u32 = 256 << 20;
const _: () = assert!(MAX_DICTIONARY as u64 == LZMA_WINDOW, "room is asked for by the same number");

const HEADER_MAGIC: [u8; 6] = *b"\xFD7zXZ\0";
const FOOTER_MAGIC: [u8; 2] = *b"YZ";

/// The number of the one filter that a file has which was not made for programs.
const LZMA2: u64 = 0x21;

/// Unpacks a file of one xz stream or several.
pub(super) struct XzStream<R> {
    state: State<R>,
    /// The flags of the stream, which its footer repeats.
    flags: [u8; 2],
    sums: Sums,
}

/// What the index must record of the blocks of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    blocks: u64,
    packed: u64,
    plain: u64,
}

enum State<R> {
    /// Before a stream: the first, or one that may follow.
    Stream(Counted<R>, bool),
    /// Before a block or the index.
    Block(Counted<R>),
    /// In a block that began at this position.
    Data { reader: Box<Lzma2Reader<Counted<R>>>, start: u64, plain: u64, check: Check },
    /// At the end, or behind an error.
    Done,
}

/// Counts what is read.
struct Counted<R> {
    inner: R,
    read: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(target)?;
        self.read += read as u64;
        Ok(read)
    }
}

impl<R: Read> Counted<R> {
    fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Zeros up to a multiple of four bytes behind `start`.
    fn padding(&mut self, start: u64) -> io::Result<()> {
        while !(self.read - start).is_multiple_of(4) {
            if self.array::<1>()? != [0] {
                return Err(invalid("the padding of the xz stream is not zero"));
            }
        }
        Ok(())
    }
}

impl<R: Read> XzStream<R> {
    /// Unpacks what begins with a stream header.
    pub(super) fn new(inner: R) -> Self {
        let inner = Counted { inner, read: 0 };
        XzStream { state: State::Stream(inner, true), flags: [0; 2], sums: Sums::default() }
    }

    /// Goes on until there is data, or nothing more.
    fn step(&mut self, target: &mut [u8]) -> io::Result<Option<usize>> {
        self.state = match std::mem::replace(&mut self.state, State::Done) {
            State::Done => return Ok(Some(0)),
            State::Stream(mut inner, is_first) => match stream_header(&mut inner, is_first)? {
                Some(flags) => {
                    (self.flags, self.sums) = (flags, Sums::default());
                    State::Block(inner)
                }
                None => State::Done,
            },
            State::Block(mut inner) => self.block_or_index(&mut inner)?.enter(inner),
            State::Data { mut reader, start, plain, mut check } => {
                let read = reader.read(target)?;
                if read > 0 {
                    check.update(&target[..read]);
                    self.state = State::Data { reader, start, plain: plain + read as u64, check };
                    return Ok(Some(read));
                }
                let mut inner = reader.into_inner();
                self.end_block(&mut inner, start, plain, check)?;
                State::Block(inner)
            }
        };
        Ok(None)
    }

    /// What a block or the index begins with.
    fn block_or_index(&mut self, inner: &mut Counted<R>) -> io::Result<Next> {
        let start = inner.read;
        let [size] = inner.array()?;
        if size > 0 {
            let dictionary = block_header(inner, size)?;
            return Ok(Next::Data { start, dictionary, check: Check::of(self.flags[1])? });
        }
        index(inner, start, self.sums)?;
        self.footer(inner)?;
        Ok(Next::Stream)
    }

    fn end_block(&mut self, inner: &mut Counted<R>, start: u64, plain: u64, check: Check) -> io::Result<()> {
        let unpadded = inner.read - start;
        inner.padding(start)?;
        let mut stored = [0; Check::MAX_LEN];
        let stored = &mut stored[..check.len()];
        inner.read_exact(stored)?;
        self.sums.blocks += 1;
        self.sums.packed = self.sums.packed.wrapping_add(unpadded + stored.len() as u64);
        self.sums.plain = self.sums.plain.wrapping_add(plain);
        if check.is(stored) { Ok(()) } else { Err(invalid("the check sum of an xz block is wrong")) }
    }

    fn footer(&self, inner: &mut Counted<R>) -> io::Result<()> {
        let footer: [u8; 12] = inner.array()?;
        let is_sound =
            footer[..4] == crc32(&footer[4..10]) && footer[8..10] == self.flags && footer[10..] == FOOTER_MAGIC;
        if is_sound { Ok(()) } else { Err(invalid("the footer of the xz stream is damaged")) }
    }
}

impl<R: Read> Read for XzStream<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        if target.is_empty() {
            return Ok(0);
        }
        loop {
            if let Some(read) = self.step(target)? {
                return Ok(read);
            }
        }
    }
}

/// What comes behind a header.
enum Next {
    Data { start: u64, dictionary: u32, check: Check },
    Stream,
}

impl Next {
    fn enter<R: Read>(self, inner: Counted<R>) -> State<R> {
        match self {
            Next::Stream => State::Stream(inner, false),
            Next::Data { start, dictionary, check } => {
                let reader = Box::new(Lzma2Reader::new(inner, dictionary, None));
                State::Data { reader, start, plain: 0, check }
            }
        }
    }
}

/// The flags of a stream, behind zeros unless it is the first; nothing at the end of the file.
fn stream_header<R: Read>(inner: &mut Counted<R>, is_first: bool) -> io::Result<Option<[u8; 2]>> {
    let mut word = [0; 4];
    loop {
        let read = io::copy(&mut inner.by_ref().take(4), &mut &mut word[..])?;
        match read {
            0 if !is_first => return Ok(None),
            4 if word == [0; 4] && !is_first => {}
            4 => break,
            _ => return Err(invalid("the xz stream is cut off")),
        }
    }
    let rest: [u8; 8] = inner.array()?;
    let is_sound = word == HEADER_MAGIC[..4] && rest[..2] == HEADER_MAGIC[4..] && rest[4..] == crc32(&rest[2..4]);
    match [rest[2], rest[3]] {
        flags @ [0, 0..16] if is_sound => Ok(Some(flags)),
        _ => Err(invalid("the header of the xz stream is damaged")),
    }
}

/// The size of the window that a block needs.
fn block_header<R: Read>(inner: &mut Counted<R>, size: u8) -> io::Result<u32> {
    let mut header = vec![size; (usize::from(size) + 1) * 4];
    inner.read_exact(&mut header[1..])?;
    let (fields, sum) = header.split_at(header.len() - 4);
    if crc32(fields) != sum {
        return Err(invalid("the header of an xz block is damaged"));
    }
    let Some((flags, mut fields)) = fields.get(1..).and_then(<[u8]>::split_first) else {
        return Err(invalid("the header of an xz block is too short"));
    };
    for _ in 0..(flags >> 6).count_ones() {
        number(&mut fields)?;
    }
    let (filter, properties) = (number(&mut fields)?, number(&mut fields)?);
    if flags & 0x3F != 0 || filter != LZMA2 || properties != 1 {
        return Err(invalid("expected LZMA2 alone as the filter of an xz block, found others"));
    }
    let [bits] = byte(&mut fields)?;
    dictionary_size(bits)
}

/// The size of a window by the byte of LZMA2 for it.
///
/// # Errors
/// When it is more than [`MAX_DICTIONARY`].
pub(super) fn dictionary_size(bits: u8) -> io::Result<u32> {
    let size = match bits {
        0..40 => (2 | u32::from(bits & 1)) << (bits / 2 + 11),
        _ => u32::MAX,
    };
    if size <= MAX_DICTIONARY {
        return Ok(size);
    }
    Err(invalid(format!("expected a dictionary of at most {} MiB, found one of {}", MAX_DICTIONARY >> 20, size >> 20)))
}

/// The index, whose first byte is read, must describe as many blocks and bytes as there were.
fn index<R: Read>(inner: &mut Counted<R>, start: u64, expected: Sums) -> io::Result<()> {
    let mut summed = Summed { inner, crc: Crc::new() };
    summed.crc.update(&[0]);
    let mut found = Sums { blocks: number(&mut summed)?, ..Sums::default() };
    if found.blocks != expected.blocks {
        return Err(invalid(format!("expected {} blocks in the index, found {}", expected.blocks, found.blocks)));
    }
    for _ in 0..found.blocks {
        found.packed = found.packed.wrapping_add(number(&mut summed)?);
        found.plain = found.plain.wrapping_add(number(&mut summed)?);
    }
    while !(summed.inner.read - start).is_multiple_of(4) {
        byte(&mut summed)?;
    }
    let sum = summed.crc.sum().to_le_bytes();
    if found == expected && inner.array()? == sum {
        return Ok(());
    }
    Err(invalid("the index of the xz stream is damaged"))
}

/// Adds up a check sum of what is read.
struct Summed<'a, R> {
    inner: &'a mut Counted<R>,
    crc: Crc,
}

impl<R: Read> Read for Summed<'_, R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(target)?;
        self.crc.update(&target[..read]);
        Ok(read)
    }
}

fn byte(from: &mut impl Read) -> io::Result<[u8; 1]> {
    let mut byte = [0];
    from.read_exact(&mut byte)?;
    Ok(byte)
}

/// A number in groups of seven bits, the lowest first.
fn number(from: &mut impl Read) -> io::Result<u64> {
    let mut value = 0;
    for group in 0..9 {
        let [byte] = byte(from)?;
        value |= u64::from(byte & 0x7F) << (7 * group);
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(invalid("a number in the xz stream has too many bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `printf 'hello hello hello\n' | xz -C CHECK` writes.
    const CRC64: &[u8] = include_bytes!("testdata/hello.crc64.xz");
    const CRC32: &[u8] = include_bytes!("testdata/hello.crc32.xz");
    const SHA256: &[u8] = include_bytes!("testdata/hello.sha256.xz");
    const NONE: &[u8] = include_bytes!("testdata/hello.none.xz");

    fn unpacked(packed: &[u8]) -> Result<String, String> {
        let mut text = String::new();
        XzStream::new(packed).read_to_string(&mut text).map(|_| text).map_err(|error| error.to_string())
    }

    #[test]
    fn every_check_is_understood() {
        for packed in [CRC64, CRC32, SHA256, NONE] {
            assert_eq!(unpacked(packed).unwrap(), "hello hello hello\n");
        }
    }

    #[test]
    fn streams_follow_one_another_with_zeros_between() {
        let both = [CRC64, &[0; 8], SHA256, &[0; 4]].concat();
        assert_eq!(unpacked(&both).unwrap(), "hello hello hello\n".repeat(2));
    }

    #[test]
    fn no_byte_can_change_unnoticed() {
        for packed in [CRC64, CRC32, SHA256] {
            for at in 0..packed.len() {
                let mut changed = packed.to_owned();
                changed[at] ^= 0x04;
                assert!(unpacked(&changed).is_err(), "byte {at}");
                assert!(unpacked(&packed[..at]).is_err(), "cut at {at}");
            }
        }
    }

    #[test]
    fn windows_have_a_limit() {
        assert_eq!(dictionary_size(0).unwrap(), 4096);
        assert_eq!(dictionary_size(22).unwrap(), 8 << 20);
        assert_eq!(dictionary_size(32).unwrap(), MAX_DICTIONARY);
        let text = dictionary_size(40).unwrap_err().to_string();
        assert_eq!(text, "expected a dictionary of at most 256 MiB, found one of 4095");
    }
}
