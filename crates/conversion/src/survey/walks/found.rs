//! What some buffers record of stacks.

use etl::event::stack::{Addresses, Part, StackDescription, StackEvent, WalkedThread};

use super::lists::MAX_OF_EVENT;
use super::records::WalkedEvent;
use crate::survey::FileKey;

/// What some buffers record of stacks, in file order.
#[derive(Debug, Default)]
pub struct FoundWalks {
    pub(super) records: Vec<(FileKey, StackRecord)>,
    pub(super) addresses: Vec<u64>,
    pub(super) walked: Vec<WalkedEvent>,
    pub(super) buffers: Vec<FoundBuffer>,
}

/// What an event records of a stack; its addresses are the next ones, so many.
#[derive(Clone, Copy, Debug)]
pub(super) enum StackRecord {
    /// Of the event of a thread at a time.
    Walk { event_ticks: i64, ids: (u32, Option<u32>), part: FoundPart },
    /// Of a key.
    Key { key: u64, when: StackEvent, part: FoundPart },
}

#[derive(Clone, Copy, Debug)]
pub(super) enum FoundPart {
    Addresses(usize),
    Key(u64),
    TooLong,
}

/// A buffer, and how many of the records and events are of it and of those before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoundBuffer {
    pub(super) ordinal: u64,
    pub(super) ends: Ends,
    /// Whether all events are there that a walk can be of.
    pub(super) has_walked: bool,
}

/// How many there are of each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ends {
    pub(super) records: usize,
    pub(super) addresses: usize,
    pub(super) walked: usize,
}

impl FoundWalks {
    /// Adds what an event of the open buffer says of a stack.
    pub fn describe(&mut self, at: FileKey, described: &StackDescription<'_>) {
        let record = match *described {
            StackDescription::Walk { event_ticks, thread, process, stack } => {
                let part = match stack {
                    Part::Key(key) => FoundPart::Key(key),
                    Part::Addresses(addresses) => self.keep(addresses),
                };
                StackRecord::Walk { event_ticks, ids: (thread, process), part }
            }
            StackDescription::Key { key, when, addresses } => {
                StackRecord::Key { key, when, part: self.keep(addresses) }
            }
        };
        self.records.push((at, record));
    }

    fn keep(&mut self, addresses: Addresses<'_>) -> FoundPart {
        if addresses.len() > MAX_OF_EVENT {
            return FoundPart::TooLong;
        }
        addresses.append_to(&mut self.addresses);
        FoundPart::Addresses(addresses.len())
    }

    /// Adds an event of the open buffer that a walk can be of.
    #[inline]
    pub fn add_walked(&mut self, at: FileKey, thread: WalkedThread) {
        self.walked.push(WalkedEvent::new(at, thread));
    }

    /// Ends the buffer with this number; `has_walked` says whether all events are there that a walk can be of.
    pub fn end(&mut self, ordinal: u64, has_walked: bool) {
        let ends = self.ends();
        self.buffers.push(FoundBuffer { ordinal, ends, has_walked });
    }

    /// Forgets what was found in the open buffer.
    pub(super) fn give_up(&mut self) {
        let Ends { records, addresses, walked } = self.ended();
        self.records.truncate(records);
        self.addresses.truncate(addresses);
        self.walked.truncate(walked);
    }

    /// Bytes of what was found in the open buffer.
    pub(super) fn open_bytes(&self) -> usize {
        bytes(self.ends()).saturating_sub(bytes(self.ended()))
    }

    /// Bytes of what was found in the buffers that have ended.
    pub(super) fn bytes(&self) -> usize {
        bytes(self.ended())
    }

    fn ends(&self) -> Ends {
        Ends { records: self.records.len(), addresses: self.addresses.len(), walked: self.walked.len() }
    }

    fn ended(&self) -> Ends {
        self.buffers.last().map_or_else(Ends::default, |buffer| buffer.ends)
    }
}

fn bytes(ends: Ends) -> usize {
    let Ends { records, addresses, walked } = ends;
    records * size_of::<(FileKey, StackRecord)>() + addresses * size_of::<u64>() + walked * size_of::<WalkedEvent>()
}
