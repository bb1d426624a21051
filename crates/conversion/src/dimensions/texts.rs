//! Texts of facts and spans, each by its place in one list of bytes.

use std::hash::BuildHasher;

use base::error::Result;
use hashbrown::{DefaultHashBuilder, HashTable};
use spill::{SpillSpace, SpillWriter, Spilled};

/// Where a text stands: its place and one, so that 0 is none.
pub type TextId = u64;

/// A bit of the ids of texts that came with the rows.
pub(super) const LATE: TextId = 1 << 63;

/// Bytes in front of a text: its length, little-endian.
const PREFIX: usize = size_of::<u32>();

/// Texts that are remembered while more come: paths and names of modules come again and again.
const REMEMBERED: usize = 1 << 16;

/// Bytes of texts that are remembered.
const REMEMBERED_BYTES: usize = 8 << 20;

/// Texts while they are collected.
#[derive(Debug)]
pub(super) struct TextWriter {
    bytes: SpillWriter<u8>,
    known: HashTable<RememberedText>,
    /// The bytes of those that are remembered, one after another.
    known_bytes: Vec<u8>,
    hasher: DefaultHashBuilder,
}

/// A text that is remembered.
#[derive(Clone, Copy, Debug)]
struct RememberedText {
    id: TextId,
    hash: u64,
    /// Where its bytes are remembered.
    start: usize,
    end: usize,
}

/// All texts.
#[derive(Debug, Default)]
pub struct Texts {
    bytes: Spilled<u8>,
    /// Those whose ids have the bit [`LATE`].
    late: Spilled<u8>,
}

impl TextWriter {
    /// No texts; they are kept in this space.
    pub(super) fn new(space: &SpillSpace) -> Self {
        TextWriter {
            bytes: space.records(),
            known: HashTable::new(),
            known_bytes: Vec::new(),
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// Adds a text, valid UTF-8, unless it was there a while ago.
    ///
    /// # Errors
    /// Those of [`SpillWriter::push`].
    pub(super) fn add(&mut self, text: &[u8]) -> Result<TextId> {
        let hash = self.hasher.hash_one(text);
        let is_it = |known: &RememberedText| known.hash == hash && self.known_bytes[known.start..known.end] == *text;
        if let Some(known) = self.known.find(hash, is_it) {
            return Ok(known.id);
        }
        // No event has so much payload.
        let Ok(len) = u32::try_from(text.len()) else { return Ok(0) };
        let id = self.bytes.len() as u64 + 1;
        self.bytes.extend(&len.to_le_bytes())?;
        self.bytes.extend(text)?;
        if self.known.len() >= REMEMBERED || self.known_bytes.len() >= REMEMBERED_BYTES {
            self.known.clear();
            self.known_bytes.clear();
        }
        let start = self.known_bytes.len();
        self.known_bytes.extend_from_slice(text);
        let known = RememberedText { id, hash, start, end: self.known_bytes.len() };
        self.known.insert_unique(hash, known, |known| known.hash);
        Ok(id)
    }

    /// All texts.
    ///
    /// # Errors
    /// Those of [`SpillWriter::finish`].
    pub(super) fn finish(self) -> Result<Texts> {
        Ok(Texts::of(self.bytes.finish()?))
    }
}

impl Texts {
    /// Texts that were stored as [`Texts::bytes`].
    pub fn of(bytes: Spilled<u8>) -> Self {
        Texts { bytes, late: Spilled::default() }
    }

    /// The same with texts that came later, whose ids have the bit [`LATE`].
    pub(super) fn with_late(self, late: Texts) -> Texts {
        Texts { late: late.bytes, ..self }
    }

    /// All of them, as they can be stored.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The text in a place; `None` where there is none.
    pub fn get(&self, id: TextId) -> Option<&str> {
        let bytes = if id & LATE == 0 { &self.bytes } else { &self.late };
        let start = usize::try_from((id & !LATE).checked_sub(1)?).ok()?;
        let (len, rest) = bytes.get(start..)?.split_first_chunk::<PREFIX>()?;
        let text = rest.get(..usize::try_from(u32::from_le_bytes(*len)).ok()?)?;
        str::from_utf8(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_their_places() {
        let mut writer = TextWriter::new(&SpillSpace::temporary());
        let ids = ["a", "", "é", "a"].map(|text| writer.add(text.as_bytes()).unwrap());
        assert_eq!(ids, [1, 6, 10, 1]);
        let texts = writer.finish().unwrap();
        assert_eq!(ids.map(|id| texts.get(id)), [Some("a"), Some(""), Some("é"), Some("a")]);
        // Whatever a file may say.
        assert_eq!([0, 2, 13, 16, 17, u64::MAX].map(|id| texts.get(id)), [None; 6]);
    }
}
