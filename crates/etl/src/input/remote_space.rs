//! Where what came over a network is kept while it is read: memory, as far as all inputs together may take, or a file.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::error::{Error, Result};
use base::progress::Progress;
use base::remote::Stop;

use super::access::{Identity, Input};
use super::address::Address;
use super::remote_packed::PackedBlocks;

/// Bytes that are asked for at a time: 128 requests for a GiB.
pub(super) const BLOCK: u64 = 8 << 20;

/// Memory that inputs of stores may take together, until one that has some is dropped.
#[derive(Debug)]
pub struct RemoteSpace {
    room: Arc<Room>,
    /// Inputs that may be opened again: their first blocks are there.
    recent: Mutex<VecDeque<Arc<dyn Input>>>,
}

/// What inputs share with each other.
#[derive(Debug)]
pub(super) struct Room {
    left: AtomicU64,
    /// Whether whoever waits for one of them is to stop.
    stop: Mutex<Stop>,
}

/// Inputs that are kept for whoever opens them again.
const RECENT: usize = 16;

/// Blocks of one input.
#[derive(Debug)]
pub(super) enum Kept {
    /// In memory; of a large input those that were read last.
    Memory(KeptInMemory),
    /// In a file without a name, each at its own place.
    File(Arc<File>),
}

/// Blocks in memory.
#[derive(Debug)]
pub(super) struct KeptInMemory {
    blocks: Vec<BlockInMemory>,
    most: usize,
    /// Copies until now.
    copies: u64,
    /// Bytes that were taken, and whom they are given back to.
    taken: u64,
    room: Arc<Room>,
}

#[derive(Debug)]
struct BlockInMemory {
    number: usize,
    bytes: Vec<u8>,
    /// The copy of it that was the last one, or its coming, as the number of copies before.
    used: u64,
}

/// Blocks that one input may have in memory in any case: one that is read, and one that comes.
const LEAST: usize = 2;

/// Blocks that one input has in memory at most that are kept packed, too: some for each of many threads.
const MOST_UNPACKED: u64 = 64;

impl Default for RemoteSpace {
    /// For who reads a trace or two.
    fn default() -> RemoteSpace {
        RemoteSpace::new(256 << 20)
    }
}

impl RemoteSpace {
    /// What it may have of a budget: a third.
    pub fn share(budget: u64) -> u64 {
        budget / 3
    }

    /// So many bytes.
    pub fn new(bytes: u64) -> RemoteSpace {
        let room = Arc::new(Room { left: AtomicU64::new(bytes), stop: Mutex::default() });
        RemoteSpace { room, recent: Mutex::default() }
    }

    /// An input that was opened before, and is still the same object.
    pub(super) fn opened(&self, address: &Address, identity: &Identity) -> Option<Arc<dyn Input>> {
        let mut recent = locked(&self.recent);
        let place = recent.iter().position(|input| input.identity().source == *address)?;
        let found = recent.remove(place).filter(|input| input.identity() == identity)?;
        recent.push_back(Arc::clone(&found));
        Some(found)
    }

    /// Keeps an input for whoever opens it again.
    pub(super) fn remember(&self, input: &Arc<dyn Input>) {
        let mut recent = locked(&self.recent);
        let oldest = if recent.len() >= RECENT { recent.pop_front() } else { None };
        recent.push_back(Arc::clone(input));
        drop(recent);
        drop(oldest);
    }

    /// Whoever waits stops when the caller of `progress` says so.
    pub(super) fn watch(&self, progress: &dyn Progress) {
        let stop = progress.stop();
        if stop.can_be_asked() {
            *locked(&self.room.stop) = stop;
        }
    }

    /// What its inputs share.
    pub(super) fn room(&self) -> &Arc<Room> {
        &self.room
    }

    /// Room for an input: in memory where all of it finds room there; else in a file in `folder`, of at most `most` bytes: as it is, or
    /// packed, beside what was read last of it; for that alone where no file can be made.
    pub(super) fn keep(&self, size: u64, folder: &Path, most: u64) -> (Kept, Option<PackedBlocks>) {
        if let Some(taken) = self.take_or_free(size) {
            return (self.in_memory(size.div_ceil(BLOCK), taken), None);
        }
        let file = if most > 0 { tempfile::tempfile_in(folder).ok() } else { None };
        let Some(file) = file else { return (self.last_in_memory(u64::MAX), None) };
        if size <= most {
            return (Kept::File(Arc::new(file)), None);
        }
        let count = usize::try_from(size.div_ceil(BLOCK)).unwrap_or(usize::MAX);
        (self.last_in_memory(MOST_UNPACKED), Some(PackedBlocks::new(file, count, most)))
    }

    /// Room for what was read last of an input, `most` blocks if so many are left.
    fn last_in_memory(&self, most: u64) -> Kept {
        let most = most.saturating_mul(BLOCK);
        let taken =
            self.room.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left - left.min(most)));
        let taken = taken.map_or(0, |left| left.min(most));
        self.in_memory(taken / BLOCK, taken)
    }

    fn in_memory(&self, blocks: u64, taken: u64) -> Kept {
        let most = usize::try_from(blocks).unwrap_or(usize::MAX).max(LEAST);
        Kept::Memory(KeptInMemory { blocks: Vec::new(), most, copies: 0, taken, room: Arc::clone(&self.room) })
    }

    /// Takes room; those that nobody reads any more give theirs back for it.
    fn take_or_free(&self, bytes: u64) -> Option<u64> {
        if let Some(taken) = self.take(bytes) {
            return Some(taken);
        }
        let mut recent = locked(&self.recent);
        let (unused, used) = recent.drain(..).partition(|input| Arc::strong_count(input) == 1);
        *recent = used;
        drop(recent);
        let unused: VecDeque<Arc<dyn Input>> = unused;
        drop(unused);
        self.take(bytes)
    }

    fn take(&self, bytes: u64) -> Option<u64> {
        let taken = self.room.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        taken.ok().map(|_| bytes)
    }
}

impl Room {
    /// Whether to wait no more.
    pub(super) fn stop(&self) -> Stop {
        locked(&self.stop).clone()
    }
}

impl Kept {
    /// Blocks that may come at a time.
    pub(super) fn most_at_a_time(&self) -> usize {
        match self {
            Kept::Memory(memory) => (memory.most / 2).max(1),
            Kept::File(_) => usize::MAX,
        }
    }

    /// Makes room for blocks that come; returns those that have to go for them.
    pub(super) fn make_room(&mut self, coming: usize) -> Vec<usize> {
        match self {
            Kept::Memory(memory) => memory.make_room(coming),
            Kept::File(_) => Vec::new(),
        }
    }
}

impl KeptInMemory {
    /// Copies what lies at a place of a block that is there.
    pub(super) fn copy(&mut self, block: usize, within: u64, target: &mut [u8]) -> Result<()> {
        self.copies += 1;
        let found = self.blocks.iter_mut().find(|kept| kept.number == block);
        let start = usize::try_from(within).unwrap_or(usize::MAX);
        let bytes = found.and_then(|kept| {
            kept.used = self.copies;
            kept.bytes.get(start..)?.get(..target.len())
        });
        let bytes = bytes.ok_or_else(|| {
            Error::bug("expected a block that has come, found none").caused_by(io::Error::from(io::ErrorKind::NotFound))
        })?;
        target.copy_from_slice(bytes);
        Ok(())
    }

    /// Those that nobody has read for longest go, until there is room for so many.
    fn make_room(&mut self, coming: usize) -> Vec<usize> {
        let excess = self.blocks.len().saturating_add(coming).saturating_sub(self.most).min(self.blocks.len());
        if excess > 0 {
            self.blocks.sort_by_key(|kept| kept.used);
        }
        self.blocks.drain(..excess).map(|kept| kept.number).collect()
    }

    /// Keeps a block that has come.
    pub(super) fn keep(&mut self, number: usize, bytes: Vec<u8>) {
        self.blocks.push(BlockInMemory { number, bytes, used: self.copies });
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each is whole after any of its changes.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for KeptInMemory {
    fn drop(&mut self) {
        self.room.left.fetch_add(self.taken, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_that_is_read_stays() {
        let Kept::Memory(mut kept) = RemoteSpace::new(0).last_in_memory(MOST_UNPACKED) else {
            panic!("expected room in memory")
        };
        let mut byte = [0];
        assert!(kept.make_room(2).is_empty(), "two find room in any case");
        [7, 8].into_iter().for_each(|number| kept.keep(number.into(), vec![number]));
        kept.copy(8, 0, &mut byte).unwrap();
        kept.copy(7, 0, &mut byte).unwrap();
        assert_eq!(kept.make_room(1), [8]);
        kept.keep(9, vec![9]);
        kept.copy(7, 0, &mut byte).unwrap();
        assert_eq!(kept.make_room(1), [9], "nobody has read it");
        assert!(kept.copy(9, 0, &mut byte).is_err() && kept.copy(7, 1, &mut byte).is_err());
        assert_eq!(kept.make_room(3), [7], "what comes for many threads takes more");
    }

    #[test]
    fn an_input_that_is_kept_packed_leaves_memory_to_others() {
        let space = RemoteSpace::new(100 * BLOCK);
        let folder = std::env::temp_dir();
        let (kept, packed) = space.keep(200 * BLOCK, &folder, BLOCK);
        assert!(matches!(&kept, Kept::Memory(memory) if memory.most == 64) && packed.is_some());
        let (others, packed) = space.keep(200 * BLOCK, &folder, 0);
        assert!(matches!(&others, Kept::Memory(memory) if memory.most == 36) && packed.is_none());
        drop((kept, others));
        assert_eq!(space.room.left.load(Ordering::Relaxed), 100 * BLOCK);
    }
}
