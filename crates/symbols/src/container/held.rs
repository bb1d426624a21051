//! How much of a file is in memory at a time.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::found::{Readable, Reason};

/// Room for the streams of a file that are in memory at a time.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    left: Arc<AtomicU64>,
    limit: u64,
}

impl Room {
    pub(crate) fn new(limit: u64) -> Room {
        Room { left: Arc::new(AtomicU64::new(limit)), limit }
    }

    /// The number of bytes that all of them may take.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// Takes room for a stream of `len` bytes, which is known to be no longer than what it comes from.
    pub(crate) fn take(&self, len: u64) -> Readable<Taken> {
        let less = |left: u64| left.checked_sub(len);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).map_err(|_| {
            Reason::damaged(format!("takes more than {} bytes of memory, by a stream of {len} bytes", self.limit))
        })?;
        Ok(Taken { left: Arc::clone(&self.left), len })
    }
}

/// Room that is free again with this.
#[derive(Debug)]
pub(crate) struct Taken {
    left: Arc<AtomicU64>,
    len: u64,
}

impl Drop for Taken {
    fn drop(&mut self) {
        // What is given back was taken before.
        self.left.fetch_add(self.len, Ordering::Relaxed);
    }
}

/// The bytes of a stream.
#[derive(Debug)]
pub(crate) struct Stream {
    bytes: Vec<u8>,
    _taken: Taken,
}

impl Stream {
    /// A stream of `len` zeros.
    pub(crate) fn zeros(len: u32, room: &Room) -> Readable<Stream> {
        let taken = room.take(len.into())?;
        let len = usize::try_from(len).map_err(|_| Reason::damaged("a stream is longer than memory"))?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len).map_err(|_| Reason::damaged(format!("no memory for a stream of {len} bytes")))?;
        bytes.resize(len, 0);
        Ok(Stream { bytes, _taken: taken })
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Deref for Stream {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}
