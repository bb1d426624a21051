//! `KEYW`: the keywords of a provider.

use std::collections::BTreeMap;

use super::reader::Reader;

/// Bytes of an element: the mask, the message, the name.
const KEYWORD: u32 = 16;

/// A keyword.
#[derive(Clone, Debug)]
pub(super) struct Keyword {
    pub(super) mask: u64,
    pub(super) shown: String,
    is_own: bool,
}

/// The keywords by their places, by which events refer to them.
#[derive(Debug, Default)]
pub(super) struct Keywords(BTreeMap<u32, Keyword>);

impl Keywords {
    pub(super) fn read(reader: &mut Reader<'_>, list: u32) -> Keywords {
        let mut keywords = BTreeMap::new();
        for at in reader.elements(*b"KEYW", list, KEYWORD) {
            let (mask, message) = (reader.u64(at), reader.u32(at.saturating_add(8)));
            let name = reader.u32(at.saturating_add(12));
            let (Some(mask), Some(message), Some(name)) = (mask, message, name) else { continue };
            let is_own = !reader.is_standard(name);
            match reader.shown(name, message) {
                Some(shown) => drop(keywords.insert(at, Keyword { mask, shown, is_own })),
                None => reader.report(at, "expected a keyword with a name"),
            }
        }
        Keywords(keywords)
    }

    /// The keyword at a place.
    pub(super) fn get(&self, at: u32) -> Option<&Keyword> {
        self.0.get(&at)
    }

    /// Mask and shown name of those that are the provider's own, lowest bit first.
    pub(super) fn own(&self) -> Vec<(u64, String)> {
        let own = self.0.values().filter(|keyword| keyword.is_own);
        let mut own: Vec<_> = own.map(|keyword| (keyword.mask, keyword.shown.clone())).collect();
        own.sort_by(|a, b| (a.0.trailing_zeros(), a).cmp(&(b.0.trailing_zeros(), b)));
        own.dedup();
        own
    }
}
