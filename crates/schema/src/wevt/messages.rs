//! Message tables: the texts of a binary, by numbers.
//!
//! Layout: `MESSAGE_RESOURCE_DATA`, `MESSAGE_RESOURCE_BLOCK` and `MESSAGE_RESOURCE_ENTRY` of `winnt.h`.

use std::sync::Arc;

use super::language::is_english;
use crate::manifest::is_name;
use crate::text;

/// Bytes of a block, and before the text of an entry.
const BLOCK: usize = 12;
const ENTRY: usize = 4;
/// What the flags of an entry say of its text; else it is in the code page of the machine that it was made on.
const UNICODE: u16 = 1;
const UTF8: u16 = 2;
/// The number that stands for no message.
const NONE: u32 = u32::MAX;

/// A message table.
#[derive(Clone, Debug)]
pub struct MessageTable<'a> {
    bytes: &'a [u8],
    /// Number and place of each entry, by number; of several of one number the first.
    entries: Vec<(u32, u32)>,
    is_english: bool,
}

impl<'a> MessageTable<'a> {
    /// Reads where the texts lie. What is damaged ends its block, and what blocks say of the same bytes again is left out.
    pub fn read(bytes: &'a [u8], language: u16) -> MessageTable<'a> {
        let mut table = MessageTable { bytes, entries: Vec::new(), is_english: is_english(language) };
        // Whoever has more entries than fit has some twice.
        let most = bytes.len() / ENTRY;
        let count = table.word(0).unwrap_or(0);
        for at in (4..).step_by(BLOCK).take(usize::try_from(count).unwrap_or(usize::MAX)) {
            if table.block(at, most).is_none() {
                break;
            }
        }
        table.entries.sort_by_key(|&(id, _)| id);
        table.entries.dedup_by_key(|&mut (id, _)| id);
        table
    }

    /// Adds the entries of the block that is described at a place; `None` when there is none, or nothing more is read.
    fn block(&mut self, at: usize, most: usize) -> Option<()> {
        let (first, last, mut place) = (self.word(at)?, self.word(at.checked_add(4)?)?, self.word(at.checked_add(8)?)?);
        for id in first..=last {
            if self.entries.len() >= most {
                return None;
            }
            let len = self.half(place).filter(|&len| usize::from(len) >= ENTRY);
            let Some(len) = len.filter(|&len| self.slice(place, len.into()).is_some()) else { break };
            self.entries.push((id, place));
            let Some(next) = place.checked_add(len.into()) else { break };
            place = next;
        }
        Some(())
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The text of a number, without the line end that the compiler puts behind each.
    pub fn text(&self, id: u32) -> Option<String> {
        let (bytes, flags) = self.entry(id)?;
        let text: String = if flags == UNICODE {
            let units = bytes.as_chunks::<2>().0.iter().map(|&unit| u16::from_le_bytes(unit));
            let units = units.take_while(|&unit| unit != 0);
            char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
        } else {
            let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
            let bytes = bytes.get(..end).unwrap_or_default();
            if flags == UTF8 { String::from_utf8_lossy(bytes).into_owned() } else { text::ansi(bytes).into_owned() }
        };
        Some(text.strip_suffix("\r\n").map_or(text.clone(), str::to_owned))
    }

    /// The bytes of a text, and its flags.
    fn entry(&self, id: u32) -> Option<(&'a [u8], u16)> {
        let at = self.entries.binary_search_by_key(&id, |&(id, _)| id).ok()?;
        let &(_, place) = self.entries.get(at)?;
        let (len, flags) = (self.half(place)?, self.half(place.checked_add(2)?)?);
        Some((self.slice(place, len.into())?.get(ENTRY..)?, flags))
    }

    fn slice(&self, at: u32, len: usize) -> Option<&'a [u8]> {
        let at = usize::try_from(at).ok()?;
        self.bytes.get(at..at.checked_add(len)?)
    }

    fn half(&self, at: u32) -> Option<u16> {
        Some(u16::from_le_bytes(self.slice(at, 2)?.try_into().ok()?))
    }

    fn word(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.slice(u32::try_from(at).ok()?, 4)?.try_into().ok()?))
    }
}

/// The message tables of a binary, in the order in which texts are looked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Messages<'a> {
    pub(super) tables: Vec<MessageTable<'a>>,
}

impl Messages<'_> {
    /// About how many bytes the text of a number takes.
    pub(super) fn footprint(&self, id: u32) -> usize {
        self.tables.iter().find_map(|table| table.entry(id)).map_or(0, |(bytes, _)| bytes.len())
    }

    /// The text of a number.
    pub(super) fn text(&self, id: u32) -> Option<Arc<str>> {
        if id == NONE {
            return None;
        }
        self.tables.iter().find_map(|table| table.text(id)).map(Arc::from)
    }

    /// The text of a number, if it is a name. Names identify, so they are English, and do not change with the language
    /// of the machine that the binary is from.
    pub(super) fn name(&self, id: u32) -> Option<String> {
        self.name_in(id, |table| table.is_english)
    }

    /// The text of a number, if it is a name, English or not: of what has no other name.
    pub(super) fn any_name(&self, id: u32) -> Option<String> {
        self.name(id).or_else(|| self.name_in(id, |_| true))
    }

    fn name_in(&self, id: u32, is_wanted: impl Fn(&MessageTable<'_>) -> bool) -> Option<String> {
        let mut wanted = self.tables.iter().filter(|table| id != NONE && is_wanted(table));
        let text = wanted.find_map(|table| table.text(id))?;
        Some(text.trim()).filter(|text| is_name(text)).map(str::to_owned)
    }
}
