//! Counters of the time that processes were on processors: from context switches, of traces without them from samples.

use std::collections::HashMap;

use base::error::Result;
use conversion::read_columns;
use conversion::sidecar::StreamRow;
use fxprof_processed_profile::Profile;

use super::chosen::Chosen;
use super::threads::Threads;
use super::usage::Usage;
use crate::exported::Exported;
use crate::opened::Opened;
use crate::profile::amounts;
use crate::request::Of;

/// The idle thread, and the idle process.
const IDLE: i64 = 0;
/// Processors that are told apart.
const MOST_PROCESSORS: usize = 1 << 16;

read_columns! {
    /// What a processor recorded.
    struct Recorded of StreamRow {
        last_time_ns: Option<i64>,
    }
}

read_columns! {
    /// A row of `Kernel-Thread`.
    struct Switch<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        input: Option<i64> = "input",
        cpu: Option<i64> = "cpu",
        process: Option<i64> = "process_id",
        old_thread: Option<i64> = "OldThreadId",
        new_thread: Option<i64> = "NewThreadId",
    }
}

/// Adds a counter to each process that is chosen and has been on a processor, with the name and the category by which the viewer knows
/// the time of a process, in microseconds as that of samples. `each`: the nanoseconds that a sample stands for.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn draw_processor_time(
    opened: &Opened<'_>,
    chosen: &Chosen,
    profile: &mut Profile,
    threads: &mut Threads,
    each: Option<u64>,
    exported: &mut Exported,
) -> Result<()> {
    let (start, mut end) = (opened.source.start_ns()?, i64::MIN);
    opened.source.sidecar::<Recorded>(|row| end = end.max(row.last_time_ns.unwrap_or(i64::MIN)))?;
    let mut usage = Usage::of(since(start, end));
    let mut add = |machine: i64, process: Option<i64>, from: u64, to: u64| {
        if let Some(process) = process.filter(|id| *id != IDLE && chosen.has(machine, Some(*id))) {
            usage.add((machine, process), (from, to));
        }
    };
    let has_switches = switches(opened, |machine, ran| {
        add(machine, ran.process, since(start, ran.from), since(start, ran.to));
    })?;
    if let Some(each) = each.filter(|_| !has_switches) {
        amounts(opened, Of::Samples, &mut Exported::default(), |sample| {
            let to = since(start, sample.time);
            add(sample.machine, sample.process, to.saturating_sub(each), to);
        })?;
    }
    for ((machine, id), times) in usage.iter() {
        let process = threads.of_process(profile, machine, Some(id));
        let counter = profile.add_counter(process, "processCPU", "CPU", "Time on processors");
        for (time, ns) in times {
            let time = threads.at(start.saturating_add_unsigned(time));
            profile.add_counter_sample(counter, time, microseconds(ns), 0);
        }
    }
    exported.warn_of(usage.left_out, "times on processors are left out of the counters: there are too many");
    Ok(())
}

fn since(start: i64, time: i64) -> u64 {
    time.checked_sub(start).and_then(|since| u64::try_from(since).ok()).unwrap_or(0)
}

#[expect(clippy::cast_precision_loss, reason = "the format has no other numbers")]
fn microseconds(ns: u64) -> f64 {
    ns as f64 / 1000.0
}

/// What a processor runs, from one switch to the next.
#[derive(Clone, Copy, Debug)]
struct Ran {
    from: i64,
    to: i64,
    thread: i64,
    process: Option<i64>,
    /// When another processor has named the thread first.
    elsewhere: Option<i64>,
    /// Whether it is asked for.
    passes: bool,
}

/// Hands over what processors ran, and the machine; as the view `cpu_intervals` has it, where it is busy. What begins with a switch that
/// the filter does not pass is left out. Says whether there are context switches.
fn switches(opened: &Opened<'_>, mut each: impl FnMut(i64, Ran)) -> Result<bool> {
    let mut processors = HashMap::<(Option<i64>, i64), Ran>::new();
    // Where each thread is.
    let mut places = HashMap::<(Option<i64>, i64), i64>::new();
    let mut is_any = false;
    opened.source.events_passing::<Switch<'_>>("Kernel-Thread", opened.filter.as_deref(), |passes, row| {
        let Some(time) = row.time.filter(|_| row.name == Some("Thread/CSwitch")) else { return };
        is_any = true;
        let Some((cpu, thread)) = row.cpu.zip(row.new_thread) else { return };
        let input = row.input;
        if let Some(ran) = processors.remove(&(input, cpu)) {
            if places.get(&(input, ran.thread)) == Some(&cpu) {
                places.remove(&(input, ran.thread));
            }
            let is_known =
                row.old_thread == Some(ran.thread) && ran.elsewhere.is_none_or(|elsewhere| elsewhere >= time);
            if ran.passes && is_known && ran.thread != IDLE {
                each(opened.source.machine(input), Ran { to: time, ..ran });
            }
        }
        for named in row.old_thread.into_iter().chain([thread]) {
            let other = places.get(&(input, named)).and_then(|cpu| processors.get_mut(&(input, *cpu)));
            if let Some(ran) = other.filter(|ran| ran.from < time) {
                ran.elsewhere.get_or_insert(time);
            }
        }
        if processors.len() < MOST_PROCESSORS {
            let ran = Ran { from: time, to: time, thread, process: row.process, elsewhere: None, passes };
            processors.insert((input, cpu), ran);
            places.insert((input, thread), cpu);
        }
    })?;
    Ok(is_any)
}
