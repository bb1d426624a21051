//! The place of an event in its file, as a record.

use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::survey::FileKey;

/// A [`FileKey`] without gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, Immutable, IntoBytes)]
#[repr(C)]
pub struct EventPlace {
    ticks: i64,
    sequence: i64,
    ordinal: u64,
    offset: u32,
    stream: u16,
    padding: u16,
}

impl From<FileKey> for EventPlace {
    fn from(at: FileKey) -> Self {
        let FileKey { ticks, stream, sequence, ordinal, offset } = at;
        EventPlace { ticks, sequence, ordinal, offset, stream, padding: 0 }
    }
}

impl EventPlace {
    /// The place in the order of the file.
    pub fn key(&self) -> FileKey {
        let EventPlace { ticks, sequence, ordinal, offset, stream, .. } = *self;
        FileKey { ticks, stream, sequence, ordinal, offset }
    }

    /// The time, in ticks.
    pub fn ticks(&self) -> i64 {
        self.ticks
    }
}
