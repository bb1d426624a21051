//! Where the events of a buffer begin, and which other words look like the start of one.

use crate::layout::header::EVENT_ALIGNMENT;

/// Bytes of a word; events begin with one.
pub(super) const WORD: usize = EVENT_ALIGNMENT as usize;

/// Words that are compared at a time: as many as become a few wide instructions, and have their bits in one byte.
const BLOCK: usize = 8;

/// Where the events of a buffer begin.
#[derive(Debug, Default)]
pub struct Starts(Bits);

impl Starts {
    /// Forgets all of them, and makes room for those of so many bytes.
    pub fn clear(&mut self, bytes: usize) {
        self.0.clear(bytes.div_ceil(WORD) + 1);
    }

    /// Adds the offset of an event, or of the end of all of them, in bytes from the first event.
    #[inline]
    pub fn add(&mut self, offset: usize) {
        self.0.set(offset.div_ceil(WORD));
    }

    /// Whether an event begins with a word, or the last one ends before it.
    pub(super) fn has(&self, word: usize) -> bool {
        self.0.has(word)
    }

    /// Whether any word that looks like the start of an event, and is none, passes a test.
    #[inline]
    pub(super) fn any_other(&self, bytes: &[u8], test: impl Fn(usize) -> bool) -> bool {
        let (words, _) = bytes.as_chunks::<WORD>();
        let (blocks, rest) = words.as_chunks::<BLOCK>();
        let mut last = [[0; WORD]; BLOCK];
        last.iter_mut().zip(rest).for_each(|(last, word)| *last = *word);
        blocks.iter().chain([&last]).zip(&self.0.0).enumerate().any(|(block, (words, &starts))| {
            let others = marked(words) & !starts;
            others != 0 && (0..BLOCK).any(|bit| others >> bit & 1 != 0 && test(block * BLOCK + bit))
        })
    }
}

/// A bit for each word of a block that looks like the start of an event.
#[inline]
fn marked(words: &[[u8; WORD]; BLOCK]) -> u8 {
    // A byte for each, which are compared side by side; then the product moves the lowest bit of the n-th to bit 56 + n.
    let bytes = words.map(|word| u8::from(is_marked(marker(&word))));
    (u64::from_le_bytes(bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56).to_le_bytes()[0]
}

/// The first four bytes, or 0 where there are fewer.
#[inline]
pub(super) fn marker(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |&marker| u32::from_le_bytes(marker))
}

/// Types of headers are below 20, and the third byte of a message is 0. The obsolete B0 is nowhere looked for.
#[inline]
#[expect(clippy::needless_bitwise_bool, reason = "without a branch, so that eight words are compared at a time")]
pub(super) fn is_marked(marker: u32) -> bool {
    (marker & 0xFFE0_0000 == 0xC000_0000) | (marker & 0xFFFF_0000 == 0x9000_0000)
}

/// A bit for each word of a buffer, in blocks of eight.
#[derive(Debug, Default)]
pub(super) struct Bits(Vec<u8>);

impl Bits {
    pub(super) fn new(words: usize) -> Bits {
        Bits(vec![0; words.div_ceil(BLOCK)])
    }

    fn clear(&mut self, words: usize) {
        self.0.clear();
        self.0.resize(words.div_ceil(BLOCK), 0);
    }

    #[inline]
    pub(super) fn set(&mut self, word: usize) {
        if let Some(bits) = self.0.get_mut(word / BLOCK) {
            *bits |= 1 << (word % BLOCK);
        }
    }

    pub(super) fn has(&self, word: usize) -> bool {
        self.0.get(word / BLOCK).is_some_and(|bits| bits >> (word % BLOCK) & 1 != 0)
    }
}
