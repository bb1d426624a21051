//! What amounts are, and how people read them.

use base::readable::count::{ByteCount, counted};
use base::readable::time::duration;

/// What amounts are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unit {
    /// So many of what the word names in the plural.
    Things(&'static str),
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Time,
}

impl Unit {
    /// An amount as people read it.
    pub(super) fn shown(self, amount: u64) -> String {
        match self {
            Unit::Things(things) => counted(amount, things),
            Unit::Bytes => ByteCount(amount).to_string(),
            Unit::Time => duration(amount),
        }
    }
}
