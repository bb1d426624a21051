//! What is kept of the events that describe stacks. Records, because there may be millions.

use etl::event::stack::StackEvent;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::place::EventPlace;
use crate::survey::FileKey;

/// Walks and keys that are kept of one input: those that are first in the file. The others are counted.
pub(super) const MAX_KEPT: usize = 1 << 25;

/// A walk: a part of the stack of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, Immutable, IntoBytes)]
#[repr(C)]
pub(super) struct Walk {
    /// The time of the event that it belongs to, in ticks.
    pub event_ticks: i64,
    value: u64,
    /// Where it stands itself.
    pub at: EventPlace,
    /// The thread of the event that it belongs to.
    pub thread: u32,
    /// The process of that thread, [`NO_PROCESS`] where it names none.
    pub process: u32,
    kind: u32,
    padding: u32,
}

/// The number that stands for no process.
pub(super) const NO_PROCESS: u32 = u32::MAX;

/// What a walk has of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WalkPart {
    /// The number of a list of addresses.
    List(u32),
    /// The key of one.
    Key(u64),
    /// A key that stands for nothing that is known.
    UnknownKey,
    /// More addresses than are joined.
    TooLong,
    /// Addresses for which there was no room.
    NoRoom,
}

impl Walk {
    /// A walk at a place, of the event of a thread of a process at a time in ticks.
    pub(super) fn new(at: FileKey, event_ticks: i64, (thread, process): (u32, Option<u32>), part: WalkPart) -> Self {
        let process = process.unwrap_or(NO_PROCESS);
        Walk { event_ticks, at: at.into(), thread, process, ..Walk::default() }.with(part)
    }

    /// The same with another part.
    #[must_use]
    pub(super) fn with(self, part: WalkPart) -> Self {
        let (kind, value) = match part {
            WalkPart::List(list) => (0, u64::from(list)),
            WalkPart::Key(key) => (1, key),
            WalkPart::UnknownKey => (2, 0),
            WalkPart::TooLong => (3, 0),
            WalkPart::NoRoom => (4, 0),
        };
        Walk { value, kind, ..self }
    }

    /// What it has of a stack.
    pub(super) fn part(&self) -> WalkPart {
        match self.kind {
            0 => WalkPart::List(u32::try_from(self.value).unwrap_or(u32::MAX)),
            1 => WalkPart::Key(self.value),
            2 => WalkPart::UnknownKey,
            3 => WalkPart::TooLong,
            _ => WalkPart::NoRoom,
        }
    }

    /// By the event that it belongs to, then by its place.
    pub(super) fn order(&self) -> (i64, u32, FileKey) {
        (self.event_ticks, self.thread, self.at.key())
    }
}

/// What a key stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, Immutable, IntoBytes)]
#[repr(C)]
pub(super) struct Definition {
    /// The key.
    pub key: u64,
    at: EventPlace,
    part: u32,
    when: u32,
}

/// The number of no list: the addresses are too many.
const TOO_LONG: u32 = u32::MAX;
/// The number of no list: there was no room.
const NO_ROOM: u32 = u32::MAX - 1;

impl Definition {
    /// What a key stands for, as an event in a place records it.
    pub(super) fn new(at: FileKey, key: u64, when: StackEvent, part: WalkPart) -> Self {
        let part = match part {
            WalkPart::List(list) => list,
            WalkPart::TooLong => TOO_LONG,
            _ => NO_ROOM,
        };
        let when = match when {
            StackEvent::KeyCreated => 0,
            StackEvent::KeyDeleted => 1,
            _ => 2,
        };
        Definition { key, at: at.into(), part, when }
    }

    /// Whether it holds for the time before it.
    pub(super) fn describes_before(&self) -> bool {
        self.when != 0
    }

    /// Whether it holds for the time behind it.
    pub(super) fn describes_behind(&self) -> bool {
        self.when != 1
    }

    /// What the key stands for.
    pub(super) fn part(&self) -> WalkPart {
        match self.part {
            TOO_LONG => WalkPart::TooLong,
            NO_ROOM => WalkPart::NoRoom,
            list => WalkPart::List(list),
        }
    }

    /// By key, then by place.
    pub(super) fn order(&self) -> (u64, FileKey) {
        (self.key, self.at.key())
    }
}

/// An event at a time of which there are walks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, Immutable, IntoBytes)]
#[repr(C)]
pub(super) struct Sighting {
    /// Where it stands.
    pub at: EventPlace,
    /// Its thread, of whose event at the time there is a walk; [`Sighting::OTHER`] where there is none.
    pub thread: u32,
    padding: u32,
}

impl Sighting {
    /// No thread of which there is a walk. It is the number that stands for no thread.
    pub(super) const OTHER: u32 = u32::MAX;

    /// An event in a place.
    pub(super) fn new(at: FileKey, thread: u32) -> Self {
        Sighting { at: at.into(), thread, padding: 0 }
    }

    /// By time and thread, then by place.
    pub(super) fn order(&self) -> (i64, u32, FileKey) {
        (self.at.ticks(), self.thread, self.at.key())
    }
}
