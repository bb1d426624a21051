//! Spans in which threads were not on a processor. The definition is that of the view `off_cpu`.

use std::collections::HashMap;

use base::error::Result;
use conversion::read_columns;

use crate::frames::{EventStack, StackCell};
use crate::on_cpu::IDLE;
use crate::row_filter::RowFilter;
use crate::source::Source;

/// Threads that are off a processor at a time and kept.
const MOST_THREADS: usize = 1 << 20;
/// States in which a thread leaves a processor: it waits, or it could go on.
const WAITING: i64 = 5;
const READY: [i64; 2] = [1, 7];

/// A span that ends where its thread runs again.
#[derive(Clone, Copy, Debug)]
pub struct OffCpu<'b> {
    /// When the thread left its processor, Unix nanoseconds.
    pub from: i64,
    /// When it ran again.
    pub to: i64,
    /// Nanoseconds between; 0 where the switches are not in the order of their times.
    pub length: u64,
    /// Whether it waited for something; else it was preempted.
    pub is_wait: bool,
    /// The machine.
    pub machine: i64,
    /// The thread.
    pub thread: i64,
    /// The column `process_id` of the switch that brought it back.
    pub process: Option<i64>,
    /// The column `process_name` of that.
    pub process_name: Option<&'b str>,
    /// The column `attribution` of that.
    pub attribution: Option<&'b str>,
    /// Where it waited: the stack of the same switch.
    pub stack: Option<EventStack<'b>>,
    /// Whether the filter passes that switch.
    pub passes: bool,
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
        thread: Option<i64> = "TThreadId",
        old_thread: Option<i64> = "OldThreadId",
        old_state: Option<i64> = "OldThreadState",
        new_thread: Option<i64> = "NewThreadId",
        process: Option<i64> = "process_id",
        process_name: Option<&'b str> = "process_name",
        attribution: Option<&'b str> = "attribution",
        stack_id: Option<i64> = "stack_id",
        stack: StackCell<'b> = "stack",
    }
}

/// Reads context switches and hands over waits and preemptions, in the order in which they end; counts the departures of threads
/// that there was no room for.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub fn off_cpu(
    source: &Source<'_>,
    filter: Option<&RowFilter>,
    mut each: impl for<'b> FnMut(OffCpu<'b>),
) -> Result<u64> {
    let mut left_out = 0_u64;
    let mut away = HashMap::<(i64, i64), Departure>::new();
    source.events_passing::<Switch<'_>>("Kernel-Thread", filter, |passes, row| {
        let machine = source.machine(row.input);
        if let (Some("Thread/Start" | "Thread/End"), Some(thread)) = (row.name, row.thread) {
            // What runs again is another thread of the same id.
            away.remove(&(machine, thread));
        }
        let Some(time) = row.time.filter(|_| row.name == Some("Thread/CSwitch")) else { return };
        // The idle thread waits for nothing.
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
        let is_wait = left.state == Some(WAITING);
        if !is_wait && !left.state.is_some_and(|state| READY.contains(&state)) {
            return;
        }
        each(OffCpu {
            from: left.time,
            to: time,
            length: time.checked_sub(left.time).and_then(|ns| u64::try_from(ns).ok()).unwrap_or(0),
            is_wait,
            machine,
            thread,
            process: row.process,
            process_name: row.process_name,
            attribution: row.attribution,
            stack: EventStack::of(row.stack_id, row.stack),
            passes,
        });
    })?;
    Ok(left_out)
}
