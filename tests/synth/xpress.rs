//! Plain LZ77 (MS-XCA 2.3), the compressor's side.

/// A match has at least this many bytes.
const MINIMUM: usize = 3;
/// A distance has 13 bits, stored less one.
const WINDOW: usize = 1 << 13;
const HASH_BITS: u32 = 13;

/// Compresses greedily: at each place the latest earlier occurrence of the next three bytes, as far as it agrees.
pub fn compress(input: &[u8]) -> Vec<u8> {
    let mut out = Output::new();
    let mut latest = vec![None; 1 << HASH_BITS];
    let mut at = 0;
    while at < input.len() {
        if let Some((distance, length)) = find(input, at, &mut latest) {
            out.copy(distance, length);
            (at + 1..at + length).for_each(|passed| _ = remember(input, passed, &mut latest));
            at += length;
        } else {
            out.literal(input[at]);
            at += 1;
        }
    }
    out.finish()
}

/// Notes that the next three bytes stand at `at`, and shows where bytes of the same hash stood before.
fn remember(input: &[u8], at: usize, latest: &mut [Option<usize>]) -> Option<usize> {
    let &[a, b, c] = input.get(at..at + MINIMUM)? else { return None };
    let hash = u32::from_le_bytes([a, b, c, 0]).wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS);
    latest[hash as usize].replace(at)
}

fn find(input: &[u8], at: usize, latest: &mut [Option<usize>]) -> Option<(usize, usize)> {
    let from = remember(input, at, latest)?;
    let length = input[at..].iter().zip(&input[from..]).take_while(|(a, b)| a == b).count();
    (at - from <= WINDOW && length >= MINIMUM).then_some((at - from, length))
}

/// The stream: words of 32 flags, each before the symbols it describes.
struct Output {
    bytes: Vec<u8>,
    /// Where the word of the current flags stands.
    flags_at: usize,
    flags: u32,
    flag_count: u32,
    /// Where the byte stands whose high nibble is still free.
    half_byte: Option<usize>,
}

impl Output {
    fn new() -> Self {
        Self { bytes: vec![0; 4], flags_at: 0, flags: 0, flag_count: 0, half_byte: None }
    }

    fn literal(&mut self, byte: u8) {
        self.bytes.push(byte);
        self.flag(0);
    }

    /// A match; lengths from 10 on continue in a nibble, a byte, a word, a double word.
    fn copy(&mut self, distance: usize, length: usize) {
        let length = u32::try_from(length - MINIMUM).expect("buffers are smaller than 4 GiB");
        let distance = u16::try_from(distance - 1).expect("the window has 13 bits");
        self.bytes.extend_from_slice(&(distance << 3 | length.min(7) as u16).to_le_bytes());
        if length >= 7 {
            self.nibble((length - 7).min(15) as u8);
        }
        if length >= 7 + 15 {
            self.bytes.push((length - 22).min(255) as u8);
        }
        if length >= 7 + 15 + 255 {
            match u16::try_from(length) {
                Ok(word) => self.bytes.extend_from_slice(&word.to_le_bytes()),
                Err(_) => self.bytes.extend([0, 0].into_iter().chain(length.to_le_bytes())),
            }
        }
        self.flag(1);
    }

    /// Two matches share a byte of nibbles, the first takes the low one.
    fn nibble(&mut self, value: u8) {
        if let Some(at) = self.half_byte.take() {
            self.bytes[at] |= value << 4;
        } else {
            self.half_byte = Some(self.bytes.len());
            self.bytes.push(value);
        }
    }

    fn flag(&mut self, bit: u32) {
        self.flags = self.flags << 1 | bit;
        self.flag_count += 1;
        if self.flag_count == 32 {
            self.write_flags(self.flags);
            self.flags_at = self.bytes.len();
            self.bytes.extend([0; 4]);
            (self.flags, self.flag_count) = (0, 0);
        }
    }

    /// Unused flags are ones; the word is there even if all of it is unused.
    fn finish(mut self) -> Vec<u8> {
        let shifted = self.flags.checked_shl(32 - self.flag_count).unwrap_or(0);
        self.write_flags(shifted | u32::MAX >> self.flag_count);
        self.bytes
    }

    fn write_flags(&mut self, flags: u32) {
        self.bytes[self.flags_at..self.flags_at + 4].copy_from_slice(&flags.to_le_bytes());
    }
}
