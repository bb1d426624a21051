//! How long threads were not on a processor. The definition is that of the view `off_cpu`.

use std::collections::HashMap;

use base::error::Result;

use super::axis::Axis;
use super::source::Source;
use super::tally::{Ranked, Tally};
use super::who::{Who, walked};

/// Threads that are off a processor at a time and kept.
const MOST_THREADS: usize = 1 << 20;
/// Processes that are shown one by one.
const MOST_PROCESSES: usize = 12;
/// The idle thread, which waits for nothing.
const IDLE: i64 = 0;
/// States in which a thread leaves a processor: it waits, or it could go on.
const WAITING: i64 = 5;
const READY: [i64; 2] = [1, 7];

/// Time off the processors.
#[derive(Debug, Default)]
pub(super) struct Waits {
    /// Nanoseconds of waiting by process, from leaving a processor until running again. The first counter has the waits, the others have
    /// preemptions and their nanoseconds.
    pub by_process: Ranked,
    /// Departures that there was no room for.
    pub left_out: u64,
}

/// A thread that left a processor.
#[derive(Clone, Copy, Debug)]
struct Departure {
    time: i64,
    state: Option<i64>,
}

/// Reads context switches; `None` where no thread came back.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn waits(source: &Source<'_>, axis: &Axis, who: &Who) -> Result<Option<Waits>> {
    let (mut tally, mut left_out, mut is_there) = (Tally::default(), 0_u64, false);
    let mut away = HashMap::<(i64, i64), Departure>::new();
    let columns = [
        "event_name",
        "timestamp_ns",
        "input",
        "OldThreadId",
        "OldThreadState",
        "NewThreadId",
        "process_id",
        "attribution",
    ];
    source.events("Kernel-Thread", &columns, |batch, row| {
        let Some(time) = batch.integer(1, row).filter(|_| batch.text(0, row) == Some("Thread/CSwitch")) else { return };
        let machine = source.machine(batch.integer(2, row));
        let thread = |column| batch.integer(column, row).filter(|thread| *thread != IDLE);
        if let Some(thread) = thread(3) {
            if away.len() < MOST_THREADS || away.contains_key(&(machine, thread)) {
                away.insert((machine, thread), Departure { time, state: batch.integer(4, row) });
            } else {
                left_out = left_out.saturating_add(1);
            }
        }
        let Some(thread) = thread(5) else { return };
        let Some(left) = away.remove(&(machine, thread)) else { return };
        let length = time.checked_sub(left.time).and_then(|ns| u64::try_from(ns).ok()).unwrap_or(0);
        let is_ready = left.state.is_some_and(|state| READY.contains(&state));
        if left.state != Some(WAITING) && !is_ready {
            return;
        }
        is_there = true;
        let process = walked(batch.integer(6, row), batch.text(7, row));
        let amounts = tally.of(&who.name(machine, process, Some(thread), time));
        if is_ready {
            amounts.count(0, [0, 1, length, 0, 0, 0]);
            return;
        }
        amounts.count_one(length);
        axis.spread(left.time, time, |bin, ns| amounts.draw(bin, ns));
    })?;
    Ok(is_there.then(|| Waits { by_process: tally.ranked(MOST_PROCESSES), left_out }))
}
