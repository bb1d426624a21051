//! Who used the processors: by context switches, and by samples of the profiler. The definitions are those of the views
//! `cpu_intervals` and `cpu_samples`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::axis::Axis;
use super::modules::{Modules, Place};
use super::source::Source;
use super::tally::{Ranked, Tally};
use super::who::Who;
use crate::error::Result;
use crate::published::Batch;

/// Processes that are shown one by one.
const MOST_PROCESSES: usize = 12;
/// Modules that are shown one by one.
const MOST_MODULES: usize = 20;
/// The process that runs where nothing else does; its thread has the same id.
const IDLE: i64 = 0;
/// What an address without a module is listed under.
const NO_MODULE: &str = "no known module";
/// What methods without a module are listed under.
const METHODS: &str = ".NET methods outside of modules";

/// Time on processors.
#[derive(Debug, Default)]
pub(super) struct CpuUsage {
    /// Nanoseconds by process, without those of the idle thread; the first counter has the runs.
    pub by_process: Ranked,
    /// Nanoseconds of the idle thread.
    pub idle_ns: u64,
    /// Processors that switched.
    pub processors: usize,
}

/// Who ran on a processor since when.
#[derive(Clone, Copy, Debug)]
struct Running {
    machine: i64,
    thread: Option<i64>,
    since: i64,
}

/// Reads context switches; `None` where there are none.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) when a table cannot be read.
pub(super) fn usage(source: &Source<'_>, axis: &Axis, who: &Who) -> Result<Option<CpuUsage>> {
    let mut running = BTreeMap::<(Option<i64>, Option<i64>), Running>::new();
    let (mut tally, mut usage) = (Tally::default(), CpuUsage::default());
    let columns = ["event_name", "timestamp_ns", "input", "cpu", "NewThreadId"];
    source.events("Kernel-Thread", &columns, |batch, row| {
        let Some(time) = batch.integer(1, row).filter(|_| batch.text(0, row) == Some("Thread/CSwitch")) else { return };
        let machine = source.machine(batch.integer(2, row));
        let now = Running { machine, thread: batch.integer(4, row), since: time };
        let before = running.insert((batch.integer(2, row), batch.integer(3, row)), now);
        if let Some(before) = before {
            usage.add(&mut tally, axis, who, before, time);
        }
    })?;
    usage.processors = running.keys().map(|(_, cpu)| *cpu).collect::<BTreeSet<_>>().len();
    usage.by_process = tally.ranked(MOST_PROCESSES);
    Ok((!running.is_empty()).then_some(usage))
}

impl CpuUsage {
    fn add(&mut self, tally: &mut Tally, axis: &Axis, who: &Who, ran: Running, until: i64) {
        let spent = until.checked_sub(ran.since).and_then(|ns| u64::try_from(ns).ok()).unwrap_or(0);
        if ran.thread == Some(IDLE) {
            self.idle_ns = self.idle_ns.saturating_add(spent);
            return;
        }
        let amounts = tally.of(who.name(ran.machine, None, ran.thread, ran.since));
        amounts.count(spent, [1, 0, 0, 0]);
        axis.spread(ran.since, until, |bin, ns| amounts.draw(bin, ns));
    }
}

/// Samples of the profiler.
#[derive(Debug, Default)]
pub(super) struct CpuSamples {
    /// Samples by process, without those of the idle one.
    pub by_process: Ranked,
    /// The same by module.
    pub by_module: Ranked,
    /// Samples of the idle process.
    pub idle: u64,
    /// Spans of modules and methods that there was no room for.
    pub left_out: u64,
}

/// Reads samples; `None` where there are none.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) when a table cannot be read.
pub(super) fn samples(source: &Source<'_>, axis: &Axis, who: &Who) -> Result<Option<CpuSamples>> {
    const DATASET: &str = "Kernel-PerfInfo";
    if !source.has_events(DATASET) {
        return Ok(None);
    }
    let modules = Modules::read(source)?;
    let (mut processes, mut by_module) = (Tally::default(), HashMap::<Place<'_>, u64>::new());
    let columns = ["event_name", "timestamp_ns", "process_id", "ThreadId", "InstructionPointer", "input"];
    let mut idle = 0_u64;
    let mut add = |batch: &Batch, row: usize| {
        let Some(time) = batch.integer(1, row).filter(|_| batch.text(0, row) == Some("PerfInfo/SampleProf")) else {
            return;
        };
        let (process, thread) = (batch.integer(2, row), batch.integer(3, row));
        let machine = source.machine(batch.integer(5, row));
        let id = who.process(machine, process, thread, time);
        if id == Some(IDLE) {
            idle = idle.saturating_add(1);
            return;
        }
        let amounts = processes.of(who.name(machine, process, thread, time));
        amounts.count(1, [0; 4]);
        if let Some(bin) = axis.bin(time) {
            amounts.draw(bin, 1);
        }
        let place = batch.integer(4, row).map_or(Place::Nowhere, |address| modules.at(machine, id, address, time));
        let samples = by_module.entry(place).or_default();
        *samples = samples.saturating_add(1);
    };
    source.events(DATASET, &columns, &mut add)?;
    let mut tally = Tally::default();
    for (place, samples) in by_module {
        let name = match place {
            Place::Module(name) => name.unwrap_or("module without a name"),
            Place::Method => METHODS,
            Place::Nowhere => NO_MODULE,
        };
        tally.of(name).count(samples, [0; 4]);
    }
    let by_process = processes.ranked(MOST_PROCESSES);
    let is_there = by_process.weight() > 0 || idle > 0;
    let (by_module, left_out) = (tally.ranked(MOST_MODULES), modules.left_out());
    Ok(is_there.then_some(CpuSamples { by_process, by_module, idle, left_out }))
}
