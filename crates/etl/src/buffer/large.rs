//! Lets few large buffers be in memory at a time.
//!
//! Twenty kilobytes of a file may expand to 16 MiB per buffer, and every worker may be at one. What such buffers take
//! is bounded for the whole process, whatever the number of workers: who wants to hold one waits until there is room.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes that a buffer may take unasked; larger ones than this wait for room.
pub(super) const SMALL: usize = 1 << 20;

/// Bytes that all large buffers in memory may take together: twice the most that one can ask for, a buffer of 16 MiB
/// that is as large where it is stored.
const ROOM: usize = 64 << 20;

static LARGE: Room = Room { taken: Mutex::new(0), freed: Condvar::new() };

struct Room {
    taken: Mutex<usize>,
    freed: Condvar,
}

impl Room {
    fn taken(&self) -> MutexGuard<'_, usize> {
        // Nothing that can panic runs while it is locked.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Room for one large buffer, until it is dropped. A thread that has one must not ask for another before that.
#[derive(Debug)]
pub(super) struct Permit(usize);

impl Permit {
    /// Waits for room for so many bytes; a buffer that is small needs none.
    pub(super) fn wait_for(bytes: usize) -> Option<Permit> {
        if bytes <= SMALL {
            return None;
        }
        // More than there is room for is let in alone.
        let bytes = bytes.min(ROOM);
        let is_full = |taken: &mut usize| *taken + bytes > ROOM;
        let mut taken = LARGE.freed.wait_while(LARGE.taken(), is_full).unwrap_or_else(PoisonError::into_inner);
        *taken += bytes;
        Some(Permit(bytes))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        *LARGE.taken() -= self.0;
        LARGE.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn large_buffers_wait_for_one_another() {
        assert!(Permit::wait_for(SMALL).is_none());
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for bytes in [ROOM / 3, ROOM / 2, 2 * ROOM] {
                        let permit = Permit::wait_for(bytes).unwrap();
                        let now = inside.fetch_add(permit.0, Ordering::SeqCst) + permit.0;
                        most.fetch_max(now, Ordering::SeqCst);
                        std::thread::yield_now();
                        inside.fetch_sub(permit.0, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(most.into_inner(), ROOM);
    }
}
