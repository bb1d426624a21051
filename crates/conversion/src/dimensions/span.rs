//! For how long an id meant what.

use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::attributes::{NUMBERS, TEXTS};
use super::fact::ScopedId;
use super::texts::TextId;

/// What an id meant from one time to another. A record, because there may be millions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, Immutable, IntoBytes)]
#[repr(C)]
pub struct Span {
    /// The process in which the id holds; 0 where it holds in the system.
    pub scope: u64,
    /// The id: of a process or thread, an address of a module, method or file.
    pub key: u64,
    /// When the id began to mean this, as far as the recording shows: its own start otherwise. Unix nanoseconds.
    pub from_ns: i64,
    /// When it ceased to; that time is not in the span.
    pub to_ns: i64,
    started_ns: i64,
    ended_ns: i64,
    pub(super) numbers: [u64; NUMBERS],
    pub(super) texts: [TextId; TEXTS],
    /// Number of the shape of the event that described it first.
    pub shape: u32,
    /// The number of the machine on which the id holds.
    pub machine: u16,
    pub(super) present: u8,
    flags: u8,
}

const _: () = assert!(size_of::<Span>() == 136, "the size of a record is part of the format of plans");

/// The start was seen.
const STARTED: u8 = 1;
/// The end was seen.
const ENDED: u8 = 2;
/// More is recorded than details.
const TOLD: u8 = 4;
/// It had ended before the recording began.
const DEFUNCT: u8 = 8;

impl Span {
    /// A span that begins, and of which nothing is recorded yet.
    pub(super) fn begin((scope, key, machine): ScopedId, from_ns: i64, shape: u32) -> Self {
        Span { machine, scope, key, from_ns, to_ns: from_ns, shape, ..Span::default() }
    }

    /// A span of which nothing more is recorded.
    #[cfg(test)]
    pub(super) fn plain(key: u64, from_ns: i64, to_ns: i64) -> Self {
        Span { key, from_ns, to_ns, ..Span::default() }
    }

    /// What it describes.
    pub(super) fn id(&self) -> ScopedId {
        (self.scope, self.key, self.machine)
    }

    /// When it started, if that is known.
    pub fn started_ns(&self) -> Option<i64> {
        (self.flags & STARTED != 0).then_some(self.started_ns)
    }

    /// When it ended, if that was seen.
    pub fn ended_ns(&self) -> Option<i64> {
        (self.flags & ENDED != 0).then_some(self.ended_ns)
    }

    /// A number that is recorded of the subject.
    pub fn number(&self, place: usize) -> Option<u64> {
        (self.present >> place & 1 == 1).then(|| self.numbers[place])
    }

    /// A text that is recorded of the subject.
    pub fn text(&self, place: usize) -> TextId {
        self.texts[place]
    }

    /// Whether it holds at a time.
    pub fn holds_at(&self, ns: i64) -> bool {
        (self.from_ns..self.to_ns).contains(&ns)
    }

    /// Whether nothing but details is recorded.
    pub(super) fn is_bare(&self) -> bool {
        self.flags & TOLD == 0
    }

    /// Whether it had ended before the recording began, and only its id was still there.
    pub fn is_defunct(&self) -> bool {
        self.flags & DEFUNCT != 0
    }

    pub(super) fn set_defunct(&mut self) {
        self.flags |= DEFUNCT;
    }

    /// More than details are recorded, by an event of this shape, which is the first.
    pub(super) fn describe_by(&mut self, shape: u32) {
        (self.shape, self.flags) = (shape, self.flags | TOLD);
    }

    pub(super) fn start_at(&mut self, ns: i64) {
        (self.started_ns, self.flags) = (ns, self.flags | STARTED);
    }

    pub(super) fn end_at(&mut self, ns: i64) {
        (self.ended_ns, self.flags) = (ns, self.flags | ENDED);
    }
}
