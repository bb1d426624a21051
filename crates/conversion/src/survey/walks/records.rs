//! What is kept of the events that describe stacks. Records, because there may be millions.

use etl::event::stack::{StackEvent, WalkedThread};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::place::EventPlace;
use crate::survey::FileKey;

/// Walks and keys that are kept of one input: those that are first in the file. The others are counted.
pub const MAX_KEPT: usize = 1 << 25;

/// A walk: a part of the stack of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, Immutable, IntoBytes)]
#[repr(C)]
pub struct Walk {
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
pub const NO_PROCESS: u32 = u32::MAX;

/// What a walk has of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkPart {
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
    pub fn new(at: FileKey, event_ticks: i64, (thread, process): (u32, Option<u32>), part: WalkPart) -> Self {
        let process = process.unwrap_or(NO_PROCESS);
        Walk { event_ticks, at: at.into(), thread, process, ..Walk::default() }.with(part)
    }

    /// The same with another part.
    #[must_use]
    pub fn with(self, part: WalkPart) -> Self {
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
    pub fn part(&self) -> WalkPart {
        match self.kind {
            0 => WalkPart::List(u32::try_from(self.value).unwrap_or(u32::MAX)),
            1 => WalkPart::Key(self.value),
            2 => WalkPart::UnknownKey,
            3 => WalkPart::TooLong,
            _ => WalkPart::NoRoom,
        }
    }

    /// By the event that it belongs to, then by its place.
    pub fn order(&self) -> (i64, u32, FileKey) {
        (self.event_ticks, self.thread, self.at.key())
    }
}

/// What a key stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, Immutable, IntoBytes)]
#[repr(C)]
pub struct Definition {
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
    pub fn new(at: FileKey, key: u64, when: StackEvent, part: WalkPart) -> Self {
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
    pub fn describes_before(&self) -> bool {
        self.when != 0
    }

    /// Whether it holds for the time behind it.
    pub fn describes_behind(&self) -> bool {
        self.when != 1
    }

    /// What the key stands for.
    pub fn part(&self) -> WalkPart {
        match self.part {
            TOO_LONG => WalkPart::TooLong,
            NO_ROOM => WalkPart::NoRoom,
            list => WalkPart::List(list),
        }
    }

    /// By key, then by place.
    pub fn order(&self) -> (u64, FileKey) {
        (self.key, self.at.key())
    }
}

/// An event that a walk can be of, in a buffer that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, Immutable, IntoBytes)]
#[repr(C)]
pub struct WalkedEvent {
    /// Its time, in ticks.
    pub ticks: i64,
    /// Its thread, [`NO_THREAD`] where nobody says.
    thread: u32,
    /// Its offset from the first event of the buffer.
    pub offset: u32,
}

/// The number that stands for no thread.
const NO_THREAD: u32 = u32::MAX;

impl WalkedEvent {
    /// An event in a place.
    pub fn new(at: FileKey, thread: WalkedThread) -> Self {
        let thread = match thread {
            WalkedThread::Known(thread) => thread,
            WalkedThread::Unknown => NO_THREAD,
        };
        WalkedEvent { ticks: at.ticks, thread, offset: at.offset }
    }

    /// Its thread: no number that stands for none was ever that of one.
    pub fn thread(&self) -> WalkedThread {
        if self.thread == NO_THREAD { WalkedThread::Unknown } else { WalkedThread::Known(self.thread) }
    }
}

/// A buffer of which all events that a walk can be of are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, Immutable, IntoBytes)]
#[repr(C)]
pub(super) struct WalkedBuffer {
    /// Its number in the file.
    pub ordinal: u64,
    /// The place of the first of its events among those of all buffers.
    pub start: u64,
    /// How many they are.
    pub events: u64,
}
