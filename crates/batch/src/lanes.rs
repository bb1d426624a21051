//! Several jobs at a time, reported in their order.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Jobs that may be done before one that is reported first, for each lane: what came of them waits in memory.
const AHEAD: usize = 4;

/// Where the lanes are in the list of jobs.
#[derive(Debug)]
struct Course {
    state: Mutex<State>,
    changed: Condvar,
    jobs: usize,
    ahead: usize,
}

#[derive(Debug, Default)]
struct State {
    next: usize,
    /// Jobs whose result has been reported.
    reported: usize,
    is_stopped: bool,
}

/// Does jobs 0 to `jobs` - 1 on as many threads as there are lanes, and describes each in that order, on the calling thread.
/// When `report` says that it is enough, no further job begins; those that have begun end and are reported.
pub fn drive<T: Send>(
    jobs: usize,
    lanes: NonZero<usize>,
    work: impl Fn(usize) -> T + Sync,
    mut report: impl FnMut(usize, T) -> bool,
) {
    let lanes = lanes.get().min(jobs);
    let course = Course { state: Mutex::default(), changed: Condvar::new(), jobs, ahead: lanes * AHEAD };
    thread::scope(|scope| {
        let (sender, receiver) = channel();
        let (course, work) = (&course, &work);
        let mut started = 0;
        for number in 0..lanes {
            let sender = sender.clone();
            let lane = thread::Builder::new().name(format!("lane-{number}"));
            started += usize::from(lane.spawn_scoped(scope, move || course.run(work, &sender)).is_ok());
        }
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        loop {
            if started == 0 {
                // The system gives no threads: this one does it all.
                let Some(position) = course.take() else { break };
                waiting.insert(position, work(position));
            } else {
                // Ends when the last lane has, for the sender of this thread is among them.
                let Ok((position, done)) = receiver.recv() else { break };
                let Some(done) = done else {
                    started -= 1;
                    if started == 0 {
                        break;
                    }
                    continue;
                };
                waiting.insert(position, done);
            }
            while let Some(done) = waiting.remove(&next) {
                let goes_on = report(next, done);
                next += 1;
                course.reported(next, goes_on);
            }
        }
    });
}

impl Course {
    fn run<T>(&self, work: &(impl Fn(usize) -> T + Sync), sender: &Sender<(usize, Option<T>)>) {
        while let Some(position) = self.take() {
            // The receiver lives until all lanes have ended.
            let _ = sender.send((position, Some(work(position))));
        }
        let _ = sender.send((self.jobs, None));
    }

    /// The next job, once those before it have been reported as far as they must.
    fn take(&self) -> Option<usize> {
        let is_ahead = |state: &mut State| {
            !state.is_stopped && state.next < self.jobs && state.next >= state.reported + self.ahead
        };
        let mut state = self.changed.wait_while(self.state(), is_ahead).unwrap_or_else(PoisonError::into_inner);
        let next = state.next;
        (!state.is_stopped && next < self.jobs).then(|| {
            state.next += 1;
            next
        })
    }

    fn reported(&self, reported: usize, goes_on: bool) {
        let mut state = self.state();
        state.reported = reported;
        state.is_stopped |= !goes_on;
        drop(state);
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic runs while it is locked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    fn lanes(count: usize) -> NonZero<usize> {
        NonZero::new(count).unwrap()
    }

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        for count in [1, 2, 7] {
            let (at_work, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let work = |job: usize| {
                most.fetch_max(at_work.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                thread::sleep(Duration::from_micros((job as u64 * 37) % 400));
                at_work.fetch_sub(1, Ordering::SeqCst);
                job * job
            };
            let mut reported = Vec::new();
            drive(100, lanes(count), work, |job, square| {
                reported.push((job, square));
                true
            });
            assert_eq!(reported, (0..100).map(|job| (job, job * job)).collect::<Vec<_>>());
            assert!(most.into_inner() <= count);
        }
        drive(0, lanes(3), |job| job, |_, _| panic!("there is no job"));
    }

    #[test]
    fn few_jobs_are_done_before_one_that_takes_long() {
        let (begun, seen) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |job: usize| {
            begun.fetch_add(1, Ordering::SeqCst);
            if job == 0 {
                while begun.load(Ordering::SeqCst) < 2 * AHEAD {
                    thread::yield_now();
                }
                thread::sleep(Duration::from_millis(20));
                seen.store(begun.load(Ordering::SeqCst), Ordering::SeqCst);
            }
        };
        drive(50, lanes(2), work, |_, ()| true);
        assert_eq!(seen.into_inner(), 2 * AHEAD);
    }

    #[test]
    fn when_it_is_enough_nothing_more_begins_and_what_has_begun_is_reported() {
        let begun = AtomicUsize::new(0);
        let work = |job: usize| {
            begun.fetch_add(1, Ordering::SeqCst);
            job
        };
        let mut reported = Vec::new();
        drive(1000, lanes(3), work, |job, _| {
            reported.push(job);
            job < 5
        });
        assert!(reported.len() < 1000 && reported.len() >= 6, "{reported:?}");
        assert_eq!(reported, (0..begun.into_inner()).collect::<Vec<_>>());
    }
}
