//! The order of all events of a recording.

use base::clock::{Clock, Ticks};
use serde::{Deserialize, Serialize};

use crate::survey::FileKey;

/// The place of an event in the order of a recording of several inputs.
///
/// Inputs are compared by nanoseconds, never by raw ticks, which may be of different clocks; within an input the tick
/// decides before anything else, because several ticks of a fast clock fall into one nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// Unix time in nanoseconds.
    pub ns: i64,
    /// Number of the input in the recording.
    pub input: u16,
    /// The place within the input.
    pub at: FileKey,
}

impl Key {
    /// The key of a place in an input whose ticks are of this clock.
    pub fn new(clock: &Clock, input: u16, at: FileKey) -> Self {
        Key { ns: clock.to_unix(Ticks(at.ticks)).0, input, at }
    }
}

/// A part of the order: `from` is in it, `to` is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRange {
    /// Where it begins; `None` with the first event.
    pub from: Option<Key>,
    /// Where it ends; `None` behind the last event.
    pub to: Option<Key>,
}

impl KeyRange {
    /// Whether a key lies in it.
    #[inline]
    pub fn contains(&self, key: &Key) -> bool {
        self.from.is_none_or(|from| from <= *key) && self.to.is_none_or(|to| *key < to)
    }

    /// The part of it that lies in another.
    #[must_use]
    pub fn within(self, other: &KeyRange) -> Self {
        let to = self.to.into_iter().chain(other.to).min();
        KeyRange { from: self.from.max(other.from), to }
    }

    /// The part between two neighbouring cuts; the parts are one more than the cuts.
    pub fn between(cuts: &[Key], part: usize) -> Self {
        KeyRange { from: part.checked_sub(1).and_then(|before| cuts.get(before).copied()), to: cuts.get(part).copied() }
    }
}

/// The part that a key lies in, of those between cuts.
pub(crate) fn part_of(cuts: &[Key], key: &Key) -> usize {
    cuts.partition_point(|cut| cut <= key)
}
