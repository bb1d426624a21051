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
/// Bits of `Reserved` of a sample: the processor executed a deferred procedure call, or an interrupt service routine, instead of its
/// thread, and what samples are listed under that have one.
const INTERRUPTS: [(i64, &str); 2] = [(2, "interrupt service routines"), (1, "deferred procedure calls")];

/// Time on processors.
#[derive(Debug, Default)]
pub(super) struct CpuUsage {
    /// Nanoseconds by process, without those of the idle thread; the first counter has the runs.
    pub by_process: Ranked,
    /// Nanoseconds of the idle thread.
    pub idle_ns: u64,
    /// Nanoseconds of which nobody knows who ran: between two switches that contradict each other, before the first switch of a
    /// processor and behind its last one.
    pub unknown_ns: u64,
    /// Processors that switched.
    pub processors: usize,
}

/// A processor of an input.
type Processor = (Option<i64>, Option<i64>);

/// Who ran on a processor since when.
#[derive(Clone, Copy, Debug)]
struct Running {
    machine: i64,
    thread: Option<i64>,
    since: i64,
    /// When another processor's switch named the thread for the first time since: none runs on two at once.
    elsewhere: Option<i64>,
}

/// The threads that run, as far as switches say it.
#[derive(Debug, Default)]
struct Processors {
    running: BTreeMap<Processor, Running>,
    /// The processors that run a thread of an input: one, unless switches are missing.
    places: HashMap<(Option<i64>, i64), Vec<Option<i64>>>,
}

impl Processors {
    /// Brings a thread to a processor, and gives the one before.
    fn switch(&mut self, (input, cpu): Processor, now: Running, taken: Option<i64>) -> Option<Running> {
        let before = self.running.insert((input, cpu), now);
        if let Some(places) = before.and_then(|before| self.places.get_mut(&(input, before.thread?))) {
            places.retain(|place| *place != cpu);
        }
        for thread in [taken, now.thread].into_iter().flatten().filter(|thread| *thread != IDLE) {
            for place in self.places.get(&(input, thread)).into_iter().flatten() {
                let running = self.running.get_mut(&(input, *place)).filter(|running| running.since < now.since);
                running.into_iter().for_each(|running| running.elsewhere = running.elsewhere.or(Some(now.since)));
            }
        }
        if let Some(thread) = now.thread.filter(|thread| *thread != IDLE) {
            self.places.entry((input, thread)).or_default().push(cpu);
        }
        before
    }
}

/// Reads context switches; `None` where there are none.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) when a table cannot be read.
pub(super) fn usage(source: &Source<'_>, axis: &Axis, who: &Who) -> Result<Option<CpuUsage>> {
    let mut processors = Processors::default();
    let mut spans = recorded_spans(source)?;
    let (mut tally, mut usage) = (Tally::default(), CpuUsage::default());
    let columns = ["event_name", "timestamp_ns", "input", "cpu", "NewThreadId", "OldThreadId"];
    source.events("Kernel-Thread", &columns, |batch, row| {
        let Some(time) = batch.integer(1, row).filter(|_| batch.text(0, row) == Some("Thread/CSwitch")) else { return };
        let machine = source.machine(batch.integer(2, row));
        let now = Running { machine, thread: batch.integer(4, row), since: time, elsewhere: None };
        let (processor, taken) = ((batch.integer(2, row), batch.integer(3, row)), batch.integer(5, row));
        match processors.switch(processor, now, taken) {
            Some(before) if before.is_known(processor, taken, time) => usage.add(&mut tally, axis, who, before, time),
            Some(before) => usage.add_unknown(before.since, time),
            None => usage.add_unknown(spans.get(&processor).map_or(time, |(first, _)| *first), time),
        }
    })?;
    let running = processors.running;
    for (processor, last) in &running {
        let (_, end) = spans.remove(processor).unwrap_or((last.since, last.since));
        usage.add_unknown(last.since, end);
    }
    // Processors that never switched, of inputs that recorded switches.
    let inputs: BTreeSet<Option<i64>> = running.keys().map(|(input, _)| *input).collect();
    let silent = spans.into_iter().filter(|((input, _), _)| inputs.contains(input));
    silent.for_each(|(_, (first, last))| usage.add_unknown(first, last));
    usage.processors = running.keys().map(|(_, cpu)| *cpu).collect::<BTreeSet<_>>().len();
    usage.by_process = tally.ranked(MOST_PROCESSES);
    Ok((!running.is_empty()).then_some(usage))
}

/// From when to when an input recorded a processor; of two inputs that are called the same nobody knows which.
fn recorded_spans(source: &Source<'_>) -> Result<BTreeMap<Processor, (i64, i64)>> {
    let mut inputs = HashMap::<String, Option<i64>>::new();
    source.sidecar("sessions", &["source", "input"], |batch, row| {
        let Some(name) = batch.text(0, row) else { return };
        let input = batch.integer(1, row);
        inputs.entry(name.to_owned()).and_modify(|known| *known = None).or_insert(input);
    })?;
    let mut spans = BTreeMap::new();
    source.sidecar("streams", &["source", "cpu", "first_time_ns", "last_time_ns"], |batch, row| {
        let input = batch.text(0, row).and_then(|name| *inputs.get(name)?);
        let (Some(input), Some(cpu)) = (input, batch.integer(1, row)) else { return };
        spans.extend(batch.integer(2, row).zip(batch.integer(3, row)).map(|span| ((Some(input), Some(cpu)), span)));
    })?;
    Ok(spans)
}

impl Running {
    /// Whether this thread ran up to the switch that took a thread from the processor.
    fn is_known(self, (_, cpu): Processor, taken: Option<i64>, until: i64) -> bool {
        let is_elsewhere = self.elsewhere.is_some_and(|time| time < until);
        cpu.is_some() && self.thread.is_some() && self.thread == taken && !is_elsewhere
    }
}

impl CpuUsage {
    fn add(&mut self, tally: &mut Tally, axis: &Axis, who: &Who, ran: Running, until: i64) {
        let spent = nanoseconds(ran.since, until);
        if ran.thread == Some(IDLE) {
            self.idle_ns = self.idle_ns.saturating_add(spent);
            return;
        }
        let amounts = tally.of(who.name(ran.machine, None, ran.thread, ran.since));
        amounts.count(spent, [1, 0, 0, 0]);
        axis.spread(ran.since, until, |bin, ns| amounts.draw(bin, ns));
    }

    fn add_unknown(&mut self, from: i64, until: i64) {
        self.unknown_ns = self.unknown_ns.saturating_add(nanoseconds(from, until));
    }
}

/// The time from one to the other; 0 where time went back.
fn nanoseconds(from: i64, until: i64) -> u64 {
    until.checked_sub(from).and_then(|ns| u64::try_from(ns).ok()).unwrap_or(0)
}

/// Samples of the profiler.
#[derive(Debug, Default)]
pub(super) struct CpuSamples {
    /// Samples by process, without those of the idle one; those of interrupts by what these are.
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
    let columns = ["event_name", "timestamp_ns", "process_id", "ThreadId", "InstructionPointer", "input", "Reserved"];
    let mut idle = 0_u64;
    let mut add = |batch: &Batch, row: usize| {
        let Some(time) = batch.integer(1, row).filter(|_| batch.text(0, row) == Some("PerfInfo/SampleProf")) else {
            return;
        };
        let (process, thread) = (batch.integer(2, row), batch.integer(3, row));
        let machine = source.machine(batch.integer(5, row));
        let id = who.process(machine, process, thread, time);
        let bits = batch.integer(6, row).unwrap_or(0);
        let interrupt = INTERRUPTS.iter().find(|(bit, _)| bits & bit != 0);
        if id == Some(IDLE) && interrupt.is_none() {
            idle = idle.saturating_add(1);
            return;
        }
        let amounts =
            processes.of(interrupt.map_or_else(|| who.name(machine, process, thread, time), |(_, name)| name));
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
