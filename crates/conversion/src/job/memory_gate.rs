//! Lets as many jobs work at a time as the memory budget has room for, in the order in which they ask.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::error::Result;
use base::progress::{Progress, stop_if_cancelled};

/// Time between two looks whether to stop.
const PAUSE: Duration = Duration::from_millis(50);

/// A memory budget that jobs share.
#[derive(Debug)]
pub(super) struct MemoryGate {
    room: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    taken: u64,
    next: u64,
    /// Who waits, by number.
    waiting: VecDeque<u64>,
}

/// Part of the budget, until it is dropped.
#[derive(Debug)]
pub(super) struct Ticket<'a> {
    turnstile: &'a MemoryGate,
    bytes: u64,
}

/// Where in the queue somebody takes place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueueEnd {
    First,
    Last,
}

impl MemoryGate {
    /// For a budget of so many bytes.
    pub(super) fn new(room: u64) -> Self {
        MemoryGate { room, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Bytes of all together.
    pub(super) fn room(&self) -> u64 {
        self.room
    }

    /// Waits until there is room for so many bytes; what is more than all of it takes all of it.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
    pub(super) fn enter(&self, bytes: u64, progress: &dyn Progress) -> Result<Ticket<'_>> {
        self.wait(bytes, QueueEnd::Last, progress)
    }

    /// For a job that has turned out to need more than it has: gives its part back and waits, before all who have not begun,
    /// for a larger one. So two of them cannot wait for each other.
    ///
    /// # Errors
    /// As [`MemoryGate::enter`].
    pub(super) fn exchange<'a>(
        &'a self,
        ticket: Ticket<'a>,
        bytes: u64,
        progress: &dyn Progress,
    ) -> Result<Ticket<'a>> {
        if bytes.min(self.room) <= ticket.bytes {
            return Ok(ticket);
        }
        drop(ticket);
        self.wait(bytes, QueueEnd::First, progress)
    }

    /// Gives back what is more than so many bytes.
    pub(super) fn reduce<'a>(&'a self, mut ticket: Ticket<'a>, bytes: u64) -> Ticket<'a> {
        let surplus = ticket.bytes.saturating_sub(bytes);
        if surplus > 0 {
            ticket.bytes = bytes;
            self.give_back(surplus);
        }
        ticket
    }

    fn wait(&self, bytes: u64, place: QueueEnd, progress: &dyn Progress) -> Result<Ticket<'_>> {
        let bytes = bytes.min(self.room);
        let mut state = self.state();
        let own = state.next;
        state.next += 1;
        match place {
            QueueEnd::First => state.waiting.push_front(own),
            QueueEnd::Last => state.waiting.push_back(own),
        }
        let outcome = loop {
            if let Err(error) = stop_if_cancelled(progress) {
                break Err(error);
            }
            if state.waiting.front() == Some(&own) && state.taken + bytes <= self.room {
                state.taken += bytes;
                break Ok(Ticket { turnstile: self, bytes });
            }
            state = self.changed.wait_timeout(state, PAUSE).unwrap_or_else(PoisonError::into_inner).0;
        };
        state.waiting.retain(|waiting| *waiting != own);
        self.wake(state);
        outcome
    }

    fn give_back(&self, bytes: u64) {
        let mut state = self.state();
        state.taken -= bytes;
        self.wake(state);
    }

    /// To wake nobody costs a call of the system all the same.
    fn wake(&self, state: MutexGuard<'_, State>) {
        let somebody_waits = !state.waiting.is_empty();
        drop(state);
        if somebody_waits {
            self.changed.notify_all();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic runs while it is locked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.turnstile.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::thread;

    use base::error::ErrorKind;
    use base::progress::NoProgress;

    use super::*;

    #[derive(Default)]
    struct Switch(AtomicBool);

    impl Progress for Switch {
        fn advance(&self, _amount: u64) {}

        fn is_cancelled(&self) -> bool {
            self.0.load(Ordering::SeqCst)
        }
    }

    fn queue(turnstile: &MemoryGate) -> usize {
        turnstile.state().waiting.len()
    }

    #[test]
    fn nobody_passes_the_budget_together() {
        let turnstile = MemoryGate::new(100);
        let (inside, most) = (AtomicU64::new(0), AtomicU64::new(0));
        let holding = |bytes: u64| {
            let now = inside.fetch_add(bytes, Ordering::SeqCst) + bytes;
            most.fetch_max(now, Ordering::SeqCst);
            thread::yield_now();
            inside.fetch_sub(bytes, Ordering::SeqCst);
        };
        thread::scope(|scope| {
            for number in 0..8 {
                let (turnstile, holding) = (&turnstile, &holding);
                scope.spawn(move || {
                    for step in 0..20 {
                        let bytes = 10 + (number * 7 + step) % 30;
                        let ticket = turnstile.enter(bytes, &NoProgress).unwrap();
                        holding(bytes);
                        let more = if step % 5 == 0 { 1000 } else { bytes + 20 };
                        let ticket = turnstile.exchange(ticket, more, &NoProgress).unwrap();
                        holding(more.min(100));
                        drop(ticket);
                    }
                });
            }
        });
        assert!((60..=100).contains(&most.into_inner()));
        assert_eq!(queue(&turnstile), 0);
        assert_eq!(turnstile.state().taken, 0);
    }

    #[test]
    fn a_large_job_is_not_passed_by_small_ones_and_goes_alone() {
        let turnstile = MemoryGate::new(100);
        let first = turnstile.enter(30, &NoProgress).unwrap();
        let order = Mutex::new(Vec::new());
        thread::scope(|scope| {
            let wait = |bytes: u64, queued: usize| {
                let (turnstile, order) = (&turnstile, &order);
                scope.spawn(move || {
                    let ticket = turnstile.enter(bytes, &NoProgress).unwrap();
                    order.lock().unwrap().push(ticket.bytes);
                });
                while queue(turnstile) < queued {
                    thread::yield_now();
                }
            };
            wait(5000, 1);
            wait(10, 2);
            assert!(order.lock().unwrap().is_empty());
            drop(first);
        });
        assert_eq!(order.into_inner().unwrap(), [100, 10]);
    }

    #[test]
    fn who_needs_more_goes_before_those_who_have_not_begun() {
        let turnstile = MemoryGate::new(100);
        let (running, growing) = (turnstile.enter(60, &NoProgress).unwrap(), turnstile.enter(10, &NoProgress).unwrap());
        assert_eq!(turnstile.exchange(turnstile.enter(9, &NoProgress).unwrap(), 9, &NoProgress).unwrap().bytes, 9);
        let order = Mutex::new(Vec::new());
        thread::scope(|scope| {
            let (turnstile, order) = (&turnstile, &order);
            scope.spawn(move || {
                let ticket = turnstile.enter(50, &NoProgress).unwrap();
                order.lock().unwrap().push(ticket.bytes);
            });
            while queue(turnstile) < 1 {
                thread::yield_now();
            }
            scope.spawn(move || {
                let ticket = turnstile.exchange(growing, 90, &NoProgress).unwrap();
                order.lock().unwrap().push(ticket.bytes);
            });
            while queue(turnstile) < 2 {
                thread::yield_now();
            }
            drop(running);
        });
        assert_eq!(order.into_inner().unwrap(), [90, 50]);
    }

    #[test]
    fn what_is_given_back_lets_others_in() {
        let turnstile = MemoryGate::new(100);
        let ticket = turnstile.reduce(turnstile.enter(90, &NoProgress).unwrap(), 30);
        assert_eq!((ticket.bytes, turnstile.state().taken), (30, 30));
        let ticket = turnstile.reduce(ticket, 40);
        assert_eq!((ticket.bytes, turnstile.enter(70, &NoProgress).unwrap().bytes), (30, 70));
        drop(ticket);
        assert_eq!(turnstile.state().taken, 0);
    }

    #[test]
    fn who_is_asked_to_stop_leaves_the_queue() {
        let (turnstile, switch) = (MemoryGate::new(100), Switch::default());
        let all = turnstile.enter(u64::MAX, &NoProgress).unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| turnstile.enter(1, &switch).map(|ticket| ticket.bytes));
            while queue(&turnstile) == 0 {
                thread::yield_now();
            }
            switch.0.store(true, Ordering::SeqCst);
            assert_eq!(waiting.join().unwrap().unwrap_err().kind(), ErrorKind::Interrupted);
        });
        assert_eq!(queue(&turnstile), 0);
        drop(all);
        assert_eq!(turnstile.state().taken, 0);
    }
}
