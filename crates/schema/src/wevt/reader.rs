//! The resource `WEVT_TEMPLATE`, read at offsets from its beginning.

use base::guid::Guid;

use super::messages::Messages;
use crate::budget::Budget;
use crate::model::SchemaError;

/// How many faults of a file are kept; the rest is a number.
const MAX_FAULTS: usize = 1000;
/// More UTF-16 units than any name has.
const MAX_NAME: usize = 2048;
/// What every element of a list is taken for, in bytes: lists can lie over each other, and are looked through each time.
const ITEM: usize = 32;

/// What cannot be used, with its offset.
#[derive(Debug, Default)]
pub(super) struct Faults {
    list: Vec<SchemaError>,
    /// How many more there are, and the offset of the first of them.
    more: Option<(usize, u32)>,
}

impl Faults {
    fn report(&mut self, at: u32, message: String) {
        if self.list.len() < MAX_FAULTS {
            self.list.push(SchemaError::at_offset(at as usize, message));
        } else {
            let (more, first) = self.more.unwrap_or((0, at));
            self.more = Some((more.saturating_add(1), first));
        }
    }

    pub(super) fn into_list(mut self) -> Vec<SchemaError> {
        let more = self.more.map(|(more, first)| SchemaError::at_offset(first as usize, format!("{more} more faults")));
        self.list.extend(more);
        self.list
    }
}

/// The resource, and what reading it takes.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) messages: &'a Messages<'a>,
    pub(super) budget: &'a mut Budget,
    pub(super) faults: &'a mut Faults,
}

impl<'a> Reader<'a> {
    fn array<const N: usize>(&self, at: u32) -> Option<[u8; N]> {
        let at = usize::try_from(at).ok()?;
        self.bytes.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    pub(super) fn sign(&self, at: u32) -> Option<[u8; 4]> {
        self.array(at)
    }

    pub(super) fn u8(&self, at: u32) -> Option<u8> {
        self.array(at).map(u8::from_le_bytes)
    }

    pub(super) fn u16(&self, at: u32) -> Option<u16> {
        self.array(at).map(u16::from_le_bytes)
    }

    pub(super) fn u32(&self, at: u32) -> Option<u32> {
        self.array(at).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&self, at: u32) -> Option<u64> {
        self.array(at).map(u64::from_le_bytes)
    }

    pub(super) fn guid(&self, at: u32) -> Option<Guid> {
        self.array(at).map(Guid)
    }

    /// Notes what cannot be used.
    pub(super) fn report(&mut self, at: u32, message: impl Into<String>) {
        self.faults.report(at, message.into());
    }

    /// The places of the elements of a list that lie one behind the other from `first` on, `size` bytes each; their number
    /// stands at `count`.
    pub(super) fn list(&mut self, count: u32, first: u32, size: u32) -> impl Iterator<Item = u32> + use<> {
        let declared = self.u32(count);
        let room = self.bytes.len().saturating_sub(first as usize) / (size as usize).max(1);
        let room = u32::try_from(room).unwrap_or(u32::MAX);
        let mut taken = declared.unwrap_or(0).min(room);
        if declared != Some(taken) {
            let found = declared.map_or("the end".to_owned(), |declared| format!("{declared}"));
            self.report(count, format!("expected a list of at most {room} elements, found {found}"));
        }
        if !self.budget.take((taken as usize).saturating_mul(ITEM)) {
            self.report(count, "expected a file that needs less memory: a list is left out");
            taken = 0;
        }
        // None of them lies beyond the end, so that nothing overflows.
        (0..taken).map(move |place| first.saturating_add(place.saturating_mul(size)))
    }

    /// The elements of a list with a sign, behind its head of 12 bytes.
    pub(super) fn elements(&mut self, sign: [u8; 4], list: u32, size: u32) -> impl Iterator<Item = u32> + use<> {
        let is_here = self.is_sign(sign, list);
        let (count, first) = (list.saturating_add(8), list.saturating_add(12));
        is_here.then(|| self.list(count, first, size)).into_iter().flatten()
    }

    /// Whether a sign stands at a place; else that is a fault.
    pub(super) fn is_sign(&mut self, sign: [u8; 4], at: u32) -> bool {
        let is_here = self.sign(at) == Some(sign);
        if !is_here {
            self.report(at, format!("expected {}, found something else", String::from_utf8_lossy(&sign)));
        }
        is_here
    }

    /// A name: its length in bytes, which counts itself, and UTF-16 up to a NUL.
    pub(super) fn name(&mut self, at: u32) -> Option<String> {
        let len = self.u32(at).and_then(|len| usize::try_from(len).ok()).and_then(|len| len.checked_sub(4));
        let start = usize::try_from(at).ok()?.checked_add(4)?;
        let bytes = len.and_then(|len| self.bytes.get(start..start.checked_add(len)?));
        let Some(bytes) = bytes.filter(|bytes| bytes.len() / 2 <= MAX_NAME) else {
            self.report(at, format!("expected a name of at most {MAX_NAME} characters"));
            return None;
        };
        if !self.budget.take(size_of::<String>() + bytes.len()) {
            return None;
        }
        Some(utf16(bytes))
    }

    /// UTF-16 up to a NUL; `None` where there is none within the length of a name.
    pub(super) fn text(&mut self, at: u32) -> Option<String> {
        let rest: &'a [u8] = self.bytes.get(usize::try_from(at).ok()?..)?;
        let end = rest.as_chunks::<2>().0.iter().take(MAX_NAME).position(|unit| *unit == [0, 0])?;
        let bytes = rest.get(..end.checked_mul(2)?)?;
        self.budget.take(size_of::<String>() + bytes.len()).then(|| utf16(bytes))
    }

    /// How people see what has this name and message: by the message, if that is a name, else by the name.
    pub(super) fn shown(&mut self, name: u32, message: u32) -> Option<String> {
        let declared = self.name(name)?;
        // Texts are long, and many elements can have the same.
        let text = if self.budget.take(self.messages.footprint(message)) { self.messages.name(message) } else { None };
        Some(text.unwrap_or_else(|| declared.strip_prefix(STANDARD).unwrap_or(&declared).to_owned()))
    }

    /// Whether a name is one of those that every provider has.
    pub(super) fn is_standard(&mut self, name: u32) -> bool {
        self.name(name).is_some_and(|name| name.starts_with(STANDARD))
    }
}

/// What the names that every provider has begin with.
const STANDARD: &str = "win:";

fn utf16(bytes: &[u8]) -> String {
    let units = bytes.as_chunks::<2>().0.iter().map(|&unit| u16::from_le_bytes(unit)).take_while(|&unit| unit != 0);
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}
