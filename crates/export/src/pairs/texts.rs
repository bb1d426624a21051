//! Texts, each once.

use std::collections::HashMap;
use std::rc::Rc;

use crate::cut::cut;

/// Bytes of all texts, of one, and how many there are.
const MOST_BYTES: usize = 32 << 20;
const MOST_TEXT: usize = 1024;
const MOST_TEXTS: usize = 1 << 18;

/// Texts by their numbers, as many as there is room for.
#[derive(Debug, Default)]
pub(super) struct Texts {
    all: Vec<Rc<str>>,
    numbers: HashMap<Rc<str>, u32>,
    bytes: usize,
}

impl Texts {
    /// The number of a text, which has the beginning of one that is long; `None` where there is no room for it.
    pub(super) fn number(&mut self, text: &str) -> Option<u32> {
        let text = cut(text, MOST_TEXT);
        if let Some(number) = self.numbers.get(text) {
            return Some(*number);
        }
        let bytes = self.bytes.saturating_add(text.len());
        let number = u32::try_from(self.all.len()).ok()?;
        if bytes > MOST_BYTES || self.all.len() >= MOST_TEXTS {
            return None;
        }
        self.bytes = bytes;
        let text = Rc::<str>::from(text);
        self.all.push(Rc::clone(&text));
        self.numbers.insert(text, number);
        Some(number)
    }

    /// The text of a number.
    pub(super) fn get(&self, number: Option<u32>) -> Option<&str> {
        self.all.get(usize::try_from(number?).ok()?).map(AsRef::as_ref)
    }
}
