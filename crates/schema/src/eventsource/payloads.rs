//! Payloads of chunks, each kept once however often it was written.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use base::guid::Guid;

/// What stands in front of the text of a chunk.
pub(super) const ENVELOPE_BYTES: usize = 8;

/// How many bytes of payloads are held to compare others with; all manifests of a recording have two million or so.
const MAX_HELD_BYTES: usize = 8 << 20;
/// What holding a payload costs besides its bytes.
const OVERHEAD: usize = 128;

/// A payload, shared with those that are known to be equal.
#[derive(Clone, Debug)]
pub struct ChunkPayload {
    /// Of one store, two payloads with the same number are equal; equal ones may have two numbers.
    pub(super) number: u64,
    /// All of it, with the envelope.
    pub bytes: Arc<[u8]>,
}

impl ChunkPayload {
    /// The fragment of the manifest; of a payload without an envelope, nothing.
    pub(super) fn text(&self) -> &[u8] {
        self.bytes.get(ENVELOPE_BYTES..).unwrap_or_default()
    }
}

/// What one chunk must have in common with another before the two are compared: provider, envelope, length.
type Likeness = (Guid, [u8; ENVELOPE_BYTES], usize);

/// The last payload of each likeness.
///
/// Every process writes the whole manifest of each of its providers, when a session starts and when it ends, so that
/// most chunks of a trace were there before. To compare one with the last of its likeness is cheaper than to copy or to hash
/// it. Threads may share a store; which of equal payloads is kept, and whether two of them get the same number, depends
/// on their order and must not be seen.
#[derive(Debug, Default)]
pub struct ChunkPayloads {
    held: Mutex<LastPayloads>,
    given: AtomicU64,
}

#[derive(Debug, Default)]
struct LastPayloads {
    last: HashMap<Likeness, ChunkPayload>,
    bytes: usize,
}

impl ChunkPayloads {
    /// The payload of an event of a provider, shared where the last of its likeness is equal.
    pub fn share(&self, provider: Guid, payload: &[u8]) -> ChunkPayload {
        let Some(&envelope) = payload.first_chunk::<ENVELOPE_BYTES>() else { return self.number(payload) };
        let likeness = (provider, envelope, payload.len());
        let last = self.with_held(|held| held.last.get(&likeness).cloned());
        if let Some(last) = last.filter(|last| *last.bytes == *payload) {
            return last;
        }
        let new = self.number(payload);
        self.with_held(|held| held.hold(likeness, new.clone()));
        new
    }

    fn number(&self, payload: &[u8]) -> ChunkPayload {
        ChunkPayload { number: self.given.fetch_add(1, Ordering::Relaxed), bytes: Arc::from(payload) }
    }

    fn with_held<T>(&self, use_it: impl FnOnce(&mut LastPayloads) -> T) -> T {
        use_it(&mut self.held.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl LastPayloads {
    /// Where there is no room, the others go: they are no more than a short cut.
    fn hold(&mut self, likeness: Likeness, payload: ChunkPayload) {
        let bytes = payload.bytes.len() + OVERHEAD;
        if self.bytes + bytes > MAX_HELD_BYTES {
            *self = LastPayloads::default();
        }
        // One that replaces another has its length.
        if self.last.insert(likeness, payload).is_none() {
            self.bytes += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Guid = Guid::from_parts(0xa1ed_8a83, 0xd5e4, 0x5d15, 0x84b5_d50d_7b6d_5cb5);
    const B: Guid = Guid::from_parts(0xb1ed_8a83, 0xd5e4, 0x5d15, 0x84b5_d50d_7b6d_5cb5);

    #[test]
    fn equal_payloads_are_kept_once() {
        let payloads = ChunkPayloads::default();
        let share = |provider, payload: &[u8]| payloads.share(provider, payload);
        let first = share(A, b"envelope and text");
        let again = share(A, b"envelope and text");
        assert!(Arc::ptr_eq(&first.bytes, &again.bytes));
        assert_eq!((&*first.bytes, first.text()), (&b"envelope and text"[..], &b" and text"[..]));
        let others =
            [(B, &b"envelope and text"[..]), (A, b"envelope"), (A, b"envelops and text"), (A, b"short"), (A, b"")];
        let mut numbers = vec![first.number];
        for (provider, bytes) in others {
            let other = share(provider, bytes);
            assert_eq!(&*other.bytes, bytes);
            numbers.push(other.number);
        }
        // One that differs behind the envelope takes the place of the last of its likeness.
        numbers.extend([share(A, b"envelope and more").number, share(A, b"envelope and text").number]);
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!((again.number, share(A, b"envelope and text").number), (0, 7));
    }

    #[test]
    fn what_is_held_is_limited() {
        let payloads = ChunkPayloads::default();
        let payload = |number: u64| [number.to_le_bytes().to_vec(), vec![0; 0xff00]].concat();
        for number in 0..500 {
            payloads.share(A, &payload(number));
            payloads.share(A, &payload(number));
        }
        let held = payloads.held.lock().unwrap();
        assert_eq!(held.bytes, held.last.values().map(|payload| payload.bytes.len() + OVERHEAD).sum::<usize>());
        // 128 have room; of 500, the last 116 came after the rest had to go.
        assert_eq!(held.last.len(), 116);
    }
}
