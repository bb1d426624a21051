//! Counters of the time that processes were on processors: from context switches, of traces without them from samples.

use base::error::Result;
use conversion::read_columns;
use conversion::sidecar::StreamRow;
use fxprof_processed_profile::Profile;
use published::on_cpu::{Doing, IDLE, on_cpu};

use super::chosen::Chosen;
use super::threads::Threads;
use super::usage::Usage;
use crate::exported::Exported;
use crate::opened::Opened;
use crate::profile::amounts;
use crate::request::Of;

read_columns! {
    /// What a processor recorded.
    struct Recorded of StreamRow {
        last_time_ns: Option<i64>,
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
    // What begins with a switch that the filter does not pass is left out.
    let processors = on_cpu(&opened.source, opened.filter.as_deref(), |interval| match interval.doing {
        Doing::Thread(ran) if ran.passes => {
            add(ran.machine, ran.process, since(start, ran.since), since(start, interval.until));
        }
        Doing::Thread(_) | Doing::Idle | Doing::Unknown => {}
    })?;
    if let Some(each) = each.filter(|_| processors.is_empty()) {
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
