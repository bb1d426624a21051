//! Plain LZ77 of the XPRESS family, as published in MS-XCA sections 2.3 and 2.4.
//!
//! A stream of literals and matches, steered by groups of 32 flag bits read from the most significant end. A match
//! is a `u16` of a 13-bit distance and a 3-bit length; longer lengths go on in a half byte (two of which share one
//! byte), a byte, a `u16` and a `u32`.

/// Why a stream could not be expanded to its full length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum XpressError {
    /// The stream ends before the expected length is reached.
    #[error("the compressed data ends early")]
    EndOfInput,
    /// A match reaches back before the first byte.
    #[error("a match reaches back before the start of the data")]
    Distance,
    /// A long length is shorter than the form it is written in.
    #[error("a match has an impossible length")]
    Length,
    /// A match goes on beyond the expected length.
    #[error("the data is longer than its buffer header says")]
    TooLong,
}

/// Bytes that are copied at once, which takes one instruction and no call. What is too much is written over by what
/// follows, or stays behind the end of the good bytes.
const BLOCK: usize = 16;

/// Longer matches are copied by a call, which takes fewer steps then.
const LONG: usize = 8 * BLOCK;

/// Behind the last flag of a group stands another one that is set; this is the group when only that one is left.
const END_OF_FLAGS: u64 = 1 << 63;

/// The flags of a group that has no items, as Windows writes them.
const WITHOUT_ITEMS: [u8; 4] = [0xFF; 4];

/// How far a stream could be expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// Bytes of the input that were used.
    pub consumed: usize,
    /// Good bytes of the output, from its start.
    pub written: usize,
    /// Why the rest of the output is missing.
    pub result: Result<(), XpressError>,
}

/// Expands `input` into `output`, whose length is the expected one.
pub fn expand(input: &[u8], output: &mut [u8]) -> Expansion {
    let mut state = Expander { rest: input, output, written: 0, half_byte: None };
    let result = state.run();
    Expansion { consumed: input.len() - state.rest.len(), written: state.written, result }
}

struct Expander<'a> {
    /// What is not used of the input.
    rest: &'a [u8],
    output: &'a mut [u8],
    written: usize,
    /// The half of a byte that the next long length takes.
    half_byte: Option<u8>,
}

impl Expander<'_> {
    fn run(&mut self) -> Result<(), XpressError> {
        let mut flags_left = false;
        while self.written < self.output.len() {
            let flags = u32::from_le_bytes(self.take()?);
            flags_left = self.group(flags)?;
        }
        // Behind a group that is just full, and where there is none, stand the flags of another without items.
        let has_no_items = self.rest.len() == WITHOUT_ITEMS.len() || self.rest.starts_with(&WITHOUT_ITEMS);
        if !flags_left && has_no_items {
            let _flags: [u8; 4] = self.take()?;
        }
        Ok(())
    }

    /// Runs the up to 32 items of one group of flags; says whether flags were left over when the output was full.
    fn group(&mut self, flags: u32) -> Result<bool, XpressError> {
        let mut flags = u64::from(flags) << u32::BITS | END_OF_FLAGS >> u32::BITS;
        loop {
            let literals = flags.leading_zeros();
            if literals > 0 {
                flags <<= literals;
                self.copy_literals(literals as usize)?;
            }
            if flags == END_OF_FLAGS {
                return Ok(false);
            }
            if self.written == self.output.len() {
                return Ok(true);
            }
            self.copy_match()?;
            flags <<= 1;
        }
    }

    fn copy_literals(&mut self, wanted: usize) -> Result<(), XpressError> {
        let to = &mut self.output[self.written..];
        if wanted <= BLOCK
            && let Some(from) = self.rest.first_chunk::<BLOCK>()
            && let Some(to) = to.first_chunk_mut()
        {
            *to = *from;
            self.rest = &self.rest[wanted..];
            self.written += wanted;
            return Ok(());
        }
        // Fewer are fine where the output is full: the last group is padded.
        let wanted = wanted.min(to.len());
        let count = wanted.min(self.rest.len());
        let (from, rest) = self.rest.split_at(count);
        to[..count].copy_from_slice(from);
        self.rest = rest;
        self.written += count;
        if count < wanted { Err(XpressError::EndOfInput) } else { Ok(()) }
    }

    fn copy_match(&mut self) -> Result<(), XpressError> {
        let word = usize::from(u16::from_le_bytes(self.take()?));
        let distance = (word >> 3) + 1;
        let length = match word & 7 {
            7 => self.long_length()?,
            short => short + 3,
        };
        let from = self.written.checked_sub(distance).ok_or(XpressError::Distance)?;
        let room = self.output.len() - self.written;
        if length > room {
            self.repeat(from, distance, room);
            return Err(XpressError::TooLong);
        }
        match length {
            ..=BLOCK if length <= distance && room >= BLOCK => {
                *block(self.output, self.written) = *block(self.output, from);
                self.written += length;
            }
            ..=LONG if room >= LONG + BLOCK => self.repeat_blocks(from, distance, length),
            _ => self.repeat(from, distance, length),
        }
        Ok(())
    }

    /// Copies up to [`LONG`] bytes from `from`; the last block may be written beyond the end.
    ///
    /// A match may overlap what it writes, and then repeats it.
    fn repeat_blocks(&mut self, from: usize, distance: usize, count: usize) {
        let (before, behind) = self.output.split_at_mut(self.written);
        let blocks = &mut behind.as_chunks_mut::<BLOCK>().0[..count.div_ceil(BLOCK)];
        if let Some(source) = before[from..].as_chunks::<BLOCK>().0.get(..blocks.len()) {
            for (to, from) in blocks.iter_mut().zip(source) {
                *to = *from;
            }
            self.written += count;
        } else if distance < BLOCK {
            let (pattern, step) = repeated(*block(self.output, from), distance);
            let (mut at, end) = (self.written, self.written + count);
            while at < end {
                *block(self.output, at) = pattern;
                at += step;
            }
            self.written = end;
        } else {
            self.repeat(from, distance, count);
        }
    }

    /// Copies `count` bytes from `from` and none beyond.
    fn repeat(&mut self, from: usize, distance: usize, count: usize) {
        let mut done = 0;
        while done < count {
            // What lies between `from` and the end grows with every step, so the steps do, too.
            let step = (distance + done).min(count - done);
            self.output.copy_within(from..from + step, self.written + done);
            done += step;
        }
        self.written += count;
    }

    fn long_length(&mut self) -> Result<usize, XpressError> {
        let half = if let Some(half) = self.half_byte.take() {
            half
        } else {
            let [byte] = self.take()?;
            self.half_byte = Some(byte >> 4);
            byte & 15
        };
        if half < 15 {
            return Ok(usize::from(half) + 7 + 3);
        }
        let [byte] = self.take()?;
        if byte < 255 {
            return Ok(usize::from(byte) + 15 + 7 + 3);
        }
        let length = match u16::from_le_bytes(self.take()?) {
            0 => u32::from_le_bytes(self.take()?),
            length => u32::from(length),
        };
        // These forms hold the length less 3, and would not have been used for less than 15 + 7.
        let length = length.checked_sub(15 + 7).ok_or(XpressError::Length)?;
        usize::try_from(length).ok().and_then(|length| length.checked_add(15 + 7 + 3)).ok_or(XpressError::TooLong)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], XpressError> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(XpressError::EndOfInput)?;
        self.rest = rest;
        Ok(*bytes)
    }
}

/// The block at a place behind which there is room for it.
fn block(output: &mut [u8], at: usize) -> &mut [u8; BLOCK] {
    output[at..].first_chunk_mut().expect("there is room for a block")
}

/// The first `distance` bytes again and again, and how many of the bytes are so: a multiple of the distance.
fn repeated(bytes: [u8; BLOCK], mut distance: usize) -> ([u8; BLOCK], usize) {
    let mut pattern = u128::from_le_bytes(bytes) & ((1 << (distance * 8)) - 1);
    while distance <= BLOCK / 2 {
        pattern |= pattern << (distance * 8);
        distance *= 2;
    }
    (pattern.to_le_bytes(), distance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn expanded(input: &[u8], len: usize) -> (Vec<u8>, Result<(), XpressError>) {
        let mut output = vec![0; len];
        let expansion = expand(input, &mut output);
        output.truncate(expansion.written);
        (output, expansion.result)
    }

    #[test]
    fn a_stream_ends_where_the_output_is_full() {
        let input = [0, 0, 0, 0, b'a', b'b', b'c', b'd'];
        let expansion = |len| expand(&input, &mut vec![0; len]);
        assert_eq!(expansion(4), Expansion { consumed: 8, written: 4, result: Ok(()) });
        assert_eq!(expansion(3), Expansion { consumed: 7, written: 3, result: Ok(()) });
        assert_eq!(expansion(0), Expansion { consumed: 0, written: 0, result: Ok(()) });
        assert_eq!(expand(&[0xFF; 4], &mut []).consumed, 4);
        // 32 literals and the flags of an empty group, which belong to the stream; other bytes do not.
        let full = [&[0; 4][..], &[b'a'; 32], &[0xFF; 4]].concat();
        assert_eq!(expand(&full, &mut [0; 32]).consumed, 40);
        assert_eq!(expand(&full, &mut [0; 31]).consumed, 35);
        assert_eq!(expand(&[&[0; 4][..], &[b'a'; 37]].concat(), &mut [0; 32]).consumed, 36);
    }

    #[test]
    fn the_published_examples_expand() {
        let letters = b"abcdefghijklmnopqrstuvwxyz";
        let input = [&[0x3f, 0, 0, 0][..], letters].concat();
        assert_eq!(expanded(&input, 26), (letters.to_vec(), Ok(())));
        let input = [0xff, 0xff, 0xff, 0x1f, b'a', b'b', b'c', 0x17, 0x00, 0x0f, 0xff, 0x26, 0x01];
        assert_eq!(expanded(&input, 300), (b"abc".repeat(100), Ok(())));
    }

    #[test]
    fn two_long_lengths_share_a_byte() {
        // Literal a; two matches of distance 1 with half bytes 1 and 2: lengths 11 and 12.
        let input = [0, 0, 0, 0x60, b'a', 0x07, 0x00, 0x21, 0x07, 0x00];
        assert_eq!(expanded(&input, 24), (b"a".repeat(24), Ok(())));
    }

    #[test]
    fn a_damaged_stream_keeps_what_came_before() {
        for (input, len, good, error) in [
            (&[0x00][..], 4, &b""[..], XpressError::EndOfInput),
            (&[0, 0, 0, 0, b'a'], 4, b"a", XpressError::EndOfInput),
            (&[0, 0, 0, 0x40, b'a', 0x08, 0x00], 9, b"a", XpressError::Distance),
            (&[0, 0, 0, 0x40, b'a', 0x00, 0x00], 3, b"aaa", XpressError::TooLong),
            (&[0, 0, 0, 0x40, b'a', 0x07, 0x00, 0x0f, 0xff, 0x15, 0x00], 300, b"a", XpressError::Length),
        ] {
            assert_eq!(expanded(input, len), (good.to_vec(), Err(error)), "{input:?}");
        }
    }

    /// A literal, or how far back a match begins and how long it is.
    #[derive(Clone, Copy, Debug)]
    enum Item {
        Literal(u8),
        Match(u16, u8),
    }

    fn item() -> impl Strategy<Value = Item> {
        prop_oneof![
            any::<u8>().prop_map(Item::Literal),
            (1u16..300, prop_oneof![3u8..25, 25u8..=254]).prop_map(|(far, len)| Item::Match(far, len))
        ]
    }

    /// The stream of some items, and what it stands for, byte by byte. A match reaches no further back than there is.
    fn stream(items: &[Item]) -> (Vec<u8>, Vec<u8>) {
        let (mut input, mut output, mut shared) = (Vec::new(), Vec::new(), None);
        for group in items.chunks(32) {
            let flags = group.iter().zip(0..).map(|(item, n)| u32::from(matches!(item, Item::Match(..))) << (31 - n));
            input.extend(flags.sum::<u32>().to_le_bytes());
            for &item in group {
                match item {
                    Item::Literal(byte) => {
                        input.push(byte);
                        output.push(byte);
                    }
                    Item::Match(far, len) => {
                        let far = usize::from(far).min(output.len());
                        let word = ((far - 1) << 3) | usize::from(len.min(10) - 3);
                        input.extend(u16::try_from(word).unwrap().to_le_bytes());
                        match (len.checked_sub(10).map(|half| half.min(15)), shared.take()) {
                            (None, before) => shared = before,
                            (Some(half), Some(at)) => input[at] |= half << 4,
                            (Some(half), None) => {
                                shared = Some(input.len());
                                input.push(half);
                            }
                        }
                        input.extend(len.checked_sub(25));
                        (0..len).for_each(|_| output.push(output[output.len() - far]));
                    }
                }
            }
        }
        (input, output)
    }

    proptest! {
        #[test]
        fn items_expand_to_what_they_stand_for(mut items in prop::collection::vec(item(), 1..200), first: u8) {
            items[0] = Item::Literal(first);
            let (input, output) = stream(&items);
            prop_assert_eq!(expanded(&input, output.len()), (output, Ok(())));
        }

        #[test]
        fn no_input_gets_out_of_bounds(input: Vec<u8>, len in 0usize..5000) {
            let (output, result) = expanded(&input, len);
            prop_assert_eq!(output.len() == len, result.is_ok() || result == Err(XpressError::TooLong));
        }
    }
}
