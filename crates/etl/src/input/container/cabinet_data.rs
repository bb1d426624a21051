//! The blocks of a folder of a cabinet.

use std::fmt;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

use flate2::{Decompress, FlushDecompress, Status};
use lzxd::{Lzxd, WindowSize};

use super::fault::invalid;

/// Bytes that a packed block may become, and that a block of MSZIP looks back to.
const BLOCK: usize = 1 << 15;

/// How a folder is packed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Method {
    Stored,
    MsZip,
    Lzx(WindowSize),
}

impl Method {
    /// The method that a folder names, or the name of one that is not read.
    pub(super) fn of(packing: u16) -> Result<Method, String> {
        let [kind, parameter] = packing.to_le_bytes();
        match (kind & 0x0F, parameter & 0x1F) {
            (0, _) => Ok(Method::Stored),
            (1, _) => Ok(Method::MsZip),
            (2, _) => Err("Quantum".to_owned()),
            (3, 15) => Ok(Method::Lzx(WindowSize::KB32)),
            (3, 16) => Ok(Method::Lzx(WindowSize::KB64)),
            (3, 17) => Ok(Method::Lzx(WindowSize::KB128)),
            (3, 18) => Ok(Method::Lzx(WindowSize::KB256)),
            (3, 19) => Ok(Method::Lzx(WindowSize::KB512)),
            (3, 20) => Ok(Method::Lzx(WindowSize::MB1)),
            (3, 21) => Ok(Method::Lzx(WindowSize::MB2)),
            (3, bits) => Err(format!("LZX of a window of 2^{bits} bytes")),
            (kind, _) => Err(format!("method {kind}")),
        }
    }
}

/// The unpacked bytes of a folder, from the first on.
pub(super) struct FolderReader<R> {
    from: R,
    decoder: Decoder,
    blocks_left: u16,
    reserve: u8,
    /// The bytes of the last block, and how many of them are read.
    plain: Vec<u8>,
    read: usize,
}

enum Decoder {
    Stored,
    MsZip(MsZip),
    Lzx(Box<Lzxd>),
}

impl<R> fmt::Debug for FolderReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FolderReader").field("blocks_left", &self.blocks_left).finish_non_exhaustive()
    }
}

impl<R: Read> FolderReader<R> {
    /// Reads a folder of so many blocks, each with `reserve` bytes before its data.
    pub(super) fn new(from: R, method: Method, blocks: u16, reserve: u8) -> Self {
        let decoder = match method {
            Method::Stored => Decoder::Stored,
            Method::MsZip => Decoder::MsZip(MsZip::new()),
            Method::Lzx(window) => Decoder::Lzx(Box::new(Lzxd::new(window))),
        };
        FolderReader { from, decoder, blocks_left: blocks, reserve, plain: Vec::new(), read: 0 }
    }

    /// Unpacks the next block; `false` at the end of the folder.
    fn next_block(&mut self) -> io::Result<bool> {
        let Some(left) = self.blocks_left.checked_sub(1) else { return Ok(false) };
        self.blocks_left = left;
        let mut head = vec![0; 8 + usize::from(self.reserve)];
        self.from.read_exact(&mut head)?;
        let (sum, rest) = head.split_at(4);
        let packed_len = u16::from_le_bytes([rest[0], rest[1]]);
        let plain_len = usize::from(u16::from_le_bytes([rest[2], rest[3]]));
        let mut packed = vec![0; usize::from(packed_len)];
        self.from.read_exact(&mut packed)?;
        let expected = u32::from_le_bytes([sum[0], sum[1], sum[2], sum[3]]);
        if expected != 0 && expected != check_sum(&packed) ^ check_sum(rest) {
            return Err(invalid("the check sum of a block of the cabinet is wrong"));
        }
        if plain_len == 0 {
            return Err(invalid("a block of the cabinet is continued in another one"));
        }
        self.read = 0;
        self.decoder.unpack(packed, plain_len, &mut self.plain)?;
        Ok(true)
    }
}

impl<R: Read> Read for FolderReader<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        if target.is_empty() || (self.read == self.plain.len() && !self.next_block()?) {
            return Ok(0);
        }
        let rest = self.plain.get(self.read..).unwrap_or_default();
        let len = rest.len().min(target.len());
        target[..len].copy_from_slice(&rest[..len]);
        self.read += len;
        Ok(len)
    }
}

impl Decoder {
    /// Unpacks a block to exactly so many bytes.
    fn unpack(&mut self, packed: Vec<u8>, len: usize, plain: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Decoder::Stored if packed.len() == len => *plain = packed,
            Decoder::Stored => return Err(invalid("a stored block of the cabinet has two sizes")),
            _ if len > BLOCK => return Err(invalid(format!("expected blocks of at most {BLOCK} bytes, found {len}"))),
            Decoder::MsZip(decoder) => decoder.unpack(&packed, len, plain)?,
            Decoder::Lzx(decoder) => {
                // The library stops itself at some data that no encoder writes; afterwards nothing of it is used.
                let unpacked = catch_unwind(AssertUnwindSafe(|| {
                    decoder.decompress_next(&packed, len).map(<[u8]>::to_vec).map_err(|error| error.to_string())
                }));
                *plain = unpacked.unwrap_or_else(|_| Err("no LZX data".to_owned())).map_err(invalid)?;
            }
        }
        if plain.len() == len { Ok(()) } else { Err(invalid("a block of the cabinet has another size")) }
    }
}

/// MSZIP: deflate, every block of which looks back to those before it.
struct MsZip {
    inflate: Decompress,
    /// The last bytes unpacked.
    history: Vec<u8>,
}

impl MsZip {
    fn new() -> MsZip {
        MsZip { inflate: Decompress::new(false), history: Vec::new() }
    }

    fn unpack(&mut self, packed: &[u8], len: usize, plain: &mut Vec<u8>) -> io::Result<()> {
        let packed = packed.strip_prefix(b"CK").ok_or_else(|| invalid("expected the sign of an MSZIP block"))?;
        self.inflate.reset(false);
        if !self.history.is_empty() {
            self.inflate.set_dictionary(&self.history).map_err(io::Error::from)?;
        }
        plain.clear();
        plain.resize(len, 0);
        let status = self.inflate.decompress(packed, plain, FlushDecompress::Finish).map_err(io::Error::from)?;
        if status != Status::StreamEnd || self.inflate.total_out() != len as u64 {
            return Err(invalid("an MSZIP block has another size"));
        }
        self.history.extend_from_slice(plain);
        let older = self.history.len().saturating_sub(BLOCK);
        self.history.drain(..older);
        Ok(())
    }
}

/// The sum of words of four bytes; of what is left the first byte is the highest.
fn check_sum(bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks::<4>();
    let sum = words.iter().fold(0, |sum, word| sum ^ u32::from_le_bytes(*word));
    sum ^ rest.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_take_what_is_left_the_other_way_round() {
        assert_eq!(check_sum(&[1, 2, 3, 4, 0, 0, 0, 0x10, 5, 6, 7]), 0x1403_0201 ^ 0x0005_0607);
        assert_eq!(check_sum(&[]), 0);
    }

    #[test]
    fn methods_are_named() {
        assert!(matches!(Method::of(0x1503), Ok(Method::Lzx(WindowSize::MB2))));
        assert!(matches!(Method::of(1), Ok(Method::MsZip)));
        assert_eq!(Method::of(0x0402).unwrap_err(), "Quantum");
        assert_eq!(Method::of(0x0303).unwrap_err(), "LZX of a window of 2^3 bytes");
    }
}
