//! What one event records of a subject.

use etl::event::subject::Lifecycle;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::attributes::{NUMBERS, TEXTS};
use super::texts::TextId;
use crate::plan::Key;
use crate::survey::FileKey;

/// An id with all in which it holds: process or 0, id, machine.
pub(super) type ScopedId = (u64, u64, u16);

/// What one event records of a subject. A record, because there may be millions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, Immutable, IntoBytes)]
#[repr(C)]
pub(super) struct Fact {
    /// The process in which the id holds; 0 where it holds in the system.
    pub scope: u64,
    /// The id.
    pub key: u64,
    /// Unix time in nanoseconds.
    pub ns: i64,
    ticks: i64,
    sequence: i64,
    ordinal: u64,
    /// What is recorded, by the places of the subject; of those that are `present`.
    pub numbers: [u64; NUMBERS],
    /// The same of texts.
    pub texts: [TextId; TEXTS],
    /// Number of the event's shape.
    pub shape: u32,
    offset: u32,
    input: u16,
    stream: u16,
    /// The number of the machine on which the id holds.
    pub machine: u16,
    /// A bit for every number that is recorded.
    pub present: u8,
    lifecycle: u8,
}

impl Fact {
    /// A fact of a machine without any value.
    pub(super) fn new(key: &Key, machine: u16, lifecycle: Lifecycle, shape: u32) -> Self {
        let FileKey { ticks, stream, sequence, ordinal, offset } = key.at;
        Fact {
            ns: key.ns,
            ticks,
            sequence,
            ordinal,
            shape,
            offset,
            input: key.input,
            stream,
            machine,
            lifecycle: lifecycle as u8,
            ..Fact::default()
        }
    }

    /// What it describes.
    pub(super) fn id(&self) -> ScopedId {
        (self.scope, self.key, self.machine)
    }

    /// Its place in the order of the recording.
    pub(super) fn order(&self) -> Key {
        let Fact { ns, ticks, sequence, ordinal, offset, input, stream, .. } = *self;
        Key { ns, input, at: FileKey { ticks, stream, sequence, ordinal, offset } }
    }

    /// What it records.
    pub(super) fn lifecycle(&self) -> Lifecycle {
        match self.lifecycle {
            0 => Lifecycle::Start,
            1 => Lifecycle::Holds,
            3 => Lifecycle::End,
            4 => Lifecycle::Defunct,
            _ => Lifecycle::Detail,
        }
    }

    /// A number, if it is recorded.
    pub(super) fn number(&self, place: usize) -> Option<u64> {
        (self.present >> place & 1 == 1).then(|| self.numbers[place])
    }

    /// Records a number.
    pub(super) fn record(&mut self, place: usize, number: u64) {
        self.numbers[place] = number;
        self.present |= 1 << place;
    }
}

/// Facts while they are read, in blocks so small that the memory of one list is that of the next.
#[derive(Debug, Default)]
pub(super) struct FactList {
    pub(super) blocks: Vec<Vec<Fact>>,
}

/// Facts of a block, 36 KiB: what is much larger the allocator has from the system each time.
const BLOCK: usize = 256;

impl FactList {
    /// Adds a fact that `fill` fills in; `None`: it is none.
    #[inline]
    pub(super) fn add(&mut self, fact: Fact, fill: impl FnOnce(&mut Fact) -> Option<()>) {
        // It is filled in where it stays: to move it costs as much as some of its values.
        if self.blocks.last().is_none_or(|block| block.len() >= BLOCK) {
            self.begin_block();
        }
        let Some(block) = self.blocks.last_mut() else { return };
        block.push(fact);
        if block.last_mut().and_then(fill).is_none() {
            block.pop();
        }
    }

    #[cold]
    fn begin_block(&mut self) {
        self.blocks.push(Vec::with_capacity(BLOCK));
    }

    /// How many there are, or a few more.
    pub(super) fn capacity(&self) -> usize {
        self.blocks.len() * BLOCK
    }
}

const _: () = assert!(Lifecycle::Start as u8 == 0 && Lifecycle::Holds as u8 == 1 && Lifecycle::End as u8 == 3);
const _: () = assert!(Lifecycle::Defunct as u8 == 4 && NUMBERS <= 8);
