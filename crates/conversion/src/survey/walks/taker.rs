//! Takes down what the events of a buffer say of stacks while the survey walks it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use etl::event::stack::{StackDescription, Walkable};
use etl::event::{FileContext, RawEvent};

use super::found::FoundWalks;
use crate::survey::FileKey;

/// Room for what workers take down of a file; without, they take down nothing.
#[derive(Clone, Debug, Default)]
pub struct WalkRoom(Option<Arc<Shared>>);

/// What workers share.
#[derive(Debug)]
struct Shared {
    /// Bytes that are left.
    left: AtomicUsize,
    /// Whether what comes is still taken down.
    is_open: AtomicBool,
    /// Whether the file has a walk, as far as it was seen.
    has_walks: AtomicBool,
}

impl WalkRoom {
    /// Room for so many bytes that were taken down and wait to be logged.
    pub fn of(bytes: usize) -> Self {
        let (is_open, has_walks) = (AtomicBool::new(true), AtomicBool::new(false));
        WalkRoom(Some(Arc::new(Shared { left: AtomicUsize::new(bytes), is_open, has_walks })))
    }

    /// Takes down nothing more.
    pub(super) fn close(&self) {
        self.with(|shared| shared.is_open.store(false, Ordering::Relaxed));
    }

    /// Gives room back for bytes that were logged.
    pub(super) fn give_back(&self, bytes: usize) {
        self.with(|shared| _ = shared.left.fetch_add(bytes, Ordering::Relaxed));
    }

    fn with(&self, act: impl FnOnce(&Shared)) {
        if let Some(shared) = self.0.as_deref() {
            act(shared);
        }
    }
}

impl Shared {
    fn take(&self, bytes: usize) -> bool {
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }
}

/// Takes down what the events of one buffer after the other say of stacks.
#[derive(Debug, Default)]
pub struct WalkTaker {
    room: WalkRoom,
    /// Whether the open buffer is taken down.
    is_taking: bool,
    /// Whether the events of it are that a walk can be of.
    takes_walked: bool,
    found: FoundWalks,
    /// What other workers found.
    others: Vec<FoundWalks>,
    /// The first buffer for which there was no room.
    left_out: Option<u64>,
}

impl WalkTaker {
    /// Takes down what there is room for.
    pub fn within(room: &WalkRoom) -> Self {
        WalkTaker { room: room.clone(), ..WalkTaker::default() }
    }

    /// Begins a buffer.
    pub fn begin(&mut self) {
        let is_set = |flag: fn(&Shared) -> &AtomicBool| {
            self.room.0.as_deref().is_some_and(|shared| flag(shared).load(Ordering::Relaxed))
        };
        self.is_taking = is_set(|shared| &shared.is_open);
        // Of what stands before the first walk of the file, hardly anything has one.
        self.takes_walked = self.is_taking && is_set(|shared| &shared.has_walks);
    }

    /// Takes down an event of the buffer that describes the stack of another.
    pub fn describe(&mut self, raw: &RawEvent<'_>, file: &FileContext, at: FileKey) {
        if !self.is_taking {
            return;
        }
        if !self.takes_walked {
            self.room.with(|shared| shared.has_walks.store(true, Ordering::Relaxed));
        }
        if let Some(described) = StackDescription::of(raw, file) {
            self.found.describe(at, &described);
        }
    }

    /// Whether the events of the buffer are taken down that a walk can be of.
    #[inline]
    pub fn takes_walked(&self) -> bool {
        self.takes_walked
    }

    /// Takes down such an event.
    #[inline]
    pub fn add_walked(&mut self, walkable: Walkable, raw: &RawEvent<'_>, file: &FileContext, at: FileKey) {
        self.found.add_walked(at, walkable.thread(raw, file));
    }

    /// Ends the buffer with this number.
    pub fn end(&mut self, ordinal: u64) {
        let Some(shared) = self.room.0.as_deref() else { return };
        if self.is_taking && shared.take(self.found.open_bytes()) {
            self.found.end(ordinal, self.takes_walked);
            return;
        }
        self.found.give_up();
        self.left_out = Some(self.left_out.map_or(ordinal, |first| first.min(ordinal)));
        self.room.close();
    }

    /// Adds what another worker has taken down.
    pub fn merge(&mut self, other: WalkTaker) {
        self.others.push(other.found);
        self.others.extend(other.others);
        self.left_out = [self.left_out, other.left_out].into_iter().flatten().min();
    }

    /// What all workers found, in file order; and the first buffer for which there was no room.
    pub(super) fn into_found(self) -> (Vec<FoundWalks>, Option<u64>) {
        let mut found = self.others;
        found.push(self.found);
        // A worker takes buffers that follow one another.
        found.sort_unstable_by_key(|found| found.buffers.first().map(|buffer| buffer.ordinal));
        (found, self.left_out)
    }
}
