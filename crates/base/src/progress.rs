//! How a long run reports what it is doing, and learns that it should stop.

use std::fmt;
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind, Result};
use crate::remote::Stop;

/// Where a long run reports how far it is, and learns that it should stop.
pub trait Progress: Sync {
    /// So many more bytes (survey) or events (conversion) are done.
    fn advance(&self, amount: u64);

    /// Whether to stop at the next opportunity.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// The same question, for whoever waits longer than this reference lives. Default: it is never answered by yes.
    fn stop(&self) -> Stop {
        Stop::default()
    }

    /// A thread was busy with some work for so long. The times of all threads and of all kinds of work may be added
    /// up: none is counted twice.
    fn worked(&self, step: Step, time: Duration) {
        let _ = (step, time);
    }
}

/// Ends the work where the caller asked to stop.
///
/// # Errors
/// [`ErrorKind::Interrupted`] if so.
pub fn stop_if_cancelled(progress: &dyn Progress) -> Result<()> {
    if progress.is_cancelled() { Err(Error::new(ErrorKind::Interrupted, "interrupted")) } else { Ok(()) }
}

/// Reports to nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn advance(&self, _amount: u64) {}
}

/// Does not report how far it is, but the rest: for work that is done again.
pub struct Silent<'a>(pub &'a dyn Progress);

impl fmt::Debug for Silent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Silent").finish_non_exhaustive()
    }
}

impl Progress for Silent<'_> {
    fn advance(&self, _amount: u64) {}

    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    fn stop(&self) -> Stop {
        self.0.stop()
    }

    fn worked(&self, step: Step, time: Duration) {
        self.0.worked(step, time);
    }
}

/// What threads are busy with, in the order of a conversion.
///
/// Waiting is no work: neither for another thread, nor for the disk when a finished trace is brought to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Finding the buffers, and adding up what was found in them.
    Scan,
    /// Walking through the buffers.
    Survey,
    /// Hashing the input.
    Hash,
    /// Reading samples of events, choosing their schemas, setting up tables and their writers.
    Schema,
    /// Adding all that up; laying out slices.
    Plan,
    /// Walking through the buffers that lie in several slices.
    Cut,
    /// Reading slices and bringing their events into order.
    Order,
    /// Turning events into packed values.
    Decode,
    /// Cutting row groups.
    CutRows,
    /// Turning packed values into Arrow columns.
    Columns,
    /// Encoding and compressing columns.
    Encode,
    /// Appending row groups to files and hashing them.
    Write,
    /// Sidecar and manifest.
    Publish,
}

/// How many threads can do the same kind of work at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parallelism {
    /// One.
    One,
    /// One for each table.
    OnePerTable,
    /// All there are.
    All,
}

impl Step {
    /// All kinds, each at the place of its number.
    pub const ALL: [Step; 13] = {
        use Step::{Columns, Cut, CutRows, Decode, Encode, Hash, Order, Plan, Publish, Scan, Schema, Survey, Write};
        [Scan, Survey, Hash, Schema, Plan, Cut, Order, Decode, CutRows, Columns, Encode, Write, Publish]
    };

    /// The name, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Step::Scan => "scan",
            Step::Survey => "survey",
            Step::Hash => "hash",
            Step::Schema => "schema",
            Step::Plan => "plan",
            Step::Cut => "cut",
            Step::Order => "order",
            Step::Decode => "decode",
            Step::CutRows => "cut rows",
            Step::Columns => "columns",
            Step::Encode => "encode",
            Step::Write => "write",
            Step::Publish => "publish",
        }
    }

    /// How many threads can do it at a time.
    pub const fn parallelism(self) -> Parallelism {
        match self {
            Step::Scan | Step::Plan | Step::CutRows | Step::Publish => Parallelism::One,
            Step::Write => Parallelism::OnePerTable,
            Step::Survey
            | Step::Hash
            | Step::Schema
            | Step::Cut
            | Step::Order
            | Step::Decode
            | Step::Columns
            | Step::Encode => Parallelism::All,
        }
    }
}

/// Does some work and reports how long it took.
///
/// The work must not wait for other tasks of the pool: a thread that waits takes up another task meanwhile, whose time
/// would be counted twice.
pub fn timed<T>(progress: &dyn Progress, step: Step, task: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let done = task();
    progress.worked(step, started.elapsed());
    done
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Log(Mutex<Vec<(Step, Duration)>>);

    impl Progress for Log {
        fn advance(&self, _amount: u64) {}

        fn worked(&self, step: Step, time: Duration) {
            self.0.lock().unwrap().push((step, time));
        }
    }

    #[test]
    fn the_time_of_a_task_is_reported_when_it_is_done() {
        let log = Log::default();
        let pause = Duration::from_millis(2);
        let done = timed(&log, Step::CutRows, || {
            std::thread::sleep(pause);
            log.0.lock().unwrap().len()
        });
        let reported = log.0.into_inner().unwrap();
        assert_eq!((done, reported.len(), reported[0].0), (0, 1, Step::CutRows));
        assert!(reported[0].1 >= pause);
    }

    #[test]
    fn numbers_are_places_in_the_list() {
        for (place, step) in Step::ALL.into_iter().enumerate() {
            assert_eq!(step as usize, place, "{}", step.name());
        }
    }
}
