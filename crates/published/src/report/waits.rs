//! How long threads were not on a processor. The definition is that of the view `off_cpu`.

use std::collections::HashMap;

use base::error::Result;
use conversion::read_columns;

use super::axis::Axis;
use super::profile::{EventStack, Profile};
use super::tally::{Ranked, Tally};
use super::who::{Who, walked};
use crate::frames::{Owner, StackCell};
use crate::source::Source;

/// Threads that are off a processor at a time and kept.
const MOST_THREADS: usize = 1 << 20;
/// Processes that are shown one by one.
const MOST_PROCESSES: usize = 12;
/// The idle thread, which waits for nothing.
const IDLE: i64 = 0;
/// States in which a thread leaves a processor: it waits, or it could go on.
const WAITING: i64 = 5;
const READY: [i64; 2] = [1, 7];
/// The counter of nanoseconds of waits that have a stack.
const WALKED: usize = 3;

/// Time off the processors.
#[derive(Debug, Default)]
pub(super) struct Waits {
    /// Nanoseconds of waiting by process, from leaving a processor until running again. The first counter has the waits, the others have
    /// preemptions and their nanoseconds, and the nanoseconds of waits that have a stack.
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

read_columns! {
    /// A row of `Kernel-Thread`.
    struct Switch<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        input: Option<i64> = "input",
        old_thread: Option<i64> = "OldThreadId",
        old_state: Option<i64> = "OldThreadState",
        new_thread: Option<i64> = "NewThreadId",
        process: Option<i64> = "process_id",
        attribution: Option<&'b str> = "attribution",
        stack_id: Option<i64> = "stack_id",
        stack: StackCell<'b> = "stack",
    }
}

/// Reads context switches, `None` where no thread came back, and the stacks of waits: those of the switches that end them, as the view
/// `waits` has it.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn waits<'a>(source: &Source<'_>, axis: &Axis, who: &'a Who) -> Result<(Option<Waits>, Profile<'a>)> {
    let (mut tally, mut left_out, mut is_there, mut profile) = (Tally::default(), 0_u64, false, Profile::default());
    let mut away = HashMap::<(i64, i64), Departure>::new();
    source.events::<Switch<'_>>("Kernel-Thread", |row| {
        let Some(time) = row.time.filter(|_| row.name == Some("Thread/CSwitch")) else { return };
        let machine = source.machine(row.input);
        let is_idle = |thread: &i64| *thread == IDLE;
        if let Some(thread) = row.old_thread.filter(|thread| !is_idle(thread)) {
            if away.len() < MOST_THREADS || away.contains_key(&(machine, thread)) {
                away.insert((machine, thread), Departure { time, state: row.old_state });
            } else {
                left_out = left_out.saturating_add(1);
            }
        }
        let Some(thread) = row.new_thread.filter(|thread| !is_idle(thread)) else { return };
        let Some(left) = away.remove(&(machine, thread)) else { return };
        let length = time.checked_sub(left.time).and_then(|ns| u64::try_from(ns).ok()).unwrap_or(0);
        let is_ready = left.state.is_some_and(|state| READY.contains(&state));
        if left.state != Some(WAITING) && !is_ready {
            return;
        }
        is_there = true;
        let process = walked(row.process, row.attribution);
        let name = who.name(machine, process, Some(thread), time);
        let amounts = tally.of(&name);
        if is_ready {
            amounts.count(0, [0, 1, length, 0, 0, 0]);
            return;
        }
        amounts.count_one(length);
        axis.spread(left.time, time, |bin, ns| amounts.draw(bin, ns));
        if let Some(recorded) = EventStack::of(row.stack_id, row.stack) {
            amounts.count(0, [0, 0, 0, length, 0, 0]);
            profile.add(name, Owner { machine, process: row.process }, time, recorded, length);
        }
    })?;
    if profile.has_stacks() {
        profile.unwalked(tally.without(WALKED));
    }
    Ok((is_there.then(|| Waits { by_process: tally.ranked(MOST_PROCESSES), left_out }), profile))
}
