//! Texts of some events: those that come again are converted once.

use std::hash::BuildHasher;
use std::ops::Range;

use base::error::Result;
use hashbrown::{DefaultHashBuilder, HashTable};

use super::texts::{TextId, TextWriter};
use crate::decode::FieldValue;

/// Texts of some events, each by its number; the first has the number 1, and 0 is none.
#[derive(Debug, Default)]
pub(super) struct LocalTexts {
    /// All texts, one after another, and where each ends.
    text: Vec<u8>,
    ends: Vec<usize>,
    known: HashTable<KnownText>,
    /// The bytes in which the known ones lay in their payloads, one after another.
    known_bytes: Vec<u8>,
    hasher: DefaultHashBuilder,
}

/// A text by what stands for it in a payload.
#[derive(Debug)]
struct KnownText {
    hash: u64,
    form: u8,
    bytes: Range<usize>,
    number: TextId,
}

impl LocalTexts {
    /// The number of the text that a value is; 0 where it is none, or empty.
    pub(super) fn number(&mut self, value: &FieldValue<'_>) -> TextId {
        let Some(form) = value.text_form() else { return self.push(value) };
        let hash = self.hasher.hash_one((form, value.bytes));
        let is_it = |known: &KnownText| {
            known.hash == hash && known.form == form && self.known_bytes[known.bytes.clone()] == *value.bytes
        };
        if let Some(known) = self.known.find(hash, is_it) {
            return known.number;
        }
        let number = self.push(value);
        let start = self.known_bytes.len();
        self.known_bytes.extend_from_slice(value.bytes);
        let known = KnownText { hash, form, bytes: start..self.known_bytes.len(), number };
        self.known.insert_unique(hash, known, |known| known.hash);
        number
    }

    fn push(&mut self, value: &FieldValue<'_>) -> TextId {
        let before = self.text.len();
        if !value.push_text(&mut self.text) {
            self.text.truncate(before);
        }
        if self.text.len() == before {
            return 0;
        }
        self.ends.push(self.text.len());
        self.ends.len() as TextId
    }

    /// A text by its number.
    fn get(&self, number: TextId) -> Option<&[u8]> {
        let place = usize::try_from(number.checked_sub(1)?).ok()?;
        let start = place.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.text.get(start..*self.ends.get(place)?)
    }

    /// The texts alone: no more are to come.
    pub(super) fn finish(self) -> LocalTexts {
        LocalTexts { text: self.text, ends: self.ends, ..LocalTexts::default() }
    }
}

/// Texts of some events on their way to those of all.
pub(super) struct Adoption<'a> {
    local: &'a LocalTexts,
    /// The place of each among all; 0 of those that nobody has asked for.
    ids: Vec<TextId>,
}

impl<'a> Adoption<'a> {
    /// None is there yet.
    pub(super) fn of(local: &'a LocalTexts) -> Self {
        Adoption { local, ids: vec![0; local.ends.len()] }
    }

    /// Puts in the place of numbers what the texts are called among all.
    ///
    /// # Errors
    /// Those of [`TextWriter::add`].
    pub(super) fn adopt(&mut self, numbers: &mut [TextId], texts: &mut TextWriter) -> Result<()> {
        for number in numbers {
            let place = usize::try_from(*number).ok().and_then(|number| number.checked_sub(1));
            let (Some(id), Some(text)) = (place.and_then(|place| self.ids.get_mut(place)), self.local.get(*number))
            else {
                continue;
            };
            if *id == 0 {
                *id = texts.add(text)?;
            }
            *number = *id;
        }
        Ok(())
    }
}
