//! Who used the processors, by context switches. The definitions are those of the views `cpu_intervals` and `cpu_time`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use base::error::Result;
use conversion::read_columns;
use conversion::sidecar::{InputFacts, StreamRow};

use super::axis::Axis;
use super::interrupts::{Interrupt, Interrupts, Processor};
use super::starts::Starts;
use super::tally::{Counters, Most, Ranked, Tally};
use super::zoom::{MOST_IN_SLICE, Slice, Zoom};
use crate::source::Source;
use crate::who::{Name, Who, walked};

/// The process that runs where nothing else does; its thread has the same id.
pub(super) const IDLE: i64 = 0;
/// Time on processors.
#[derive(Debug, Default)]
pub(super) struct CpuUsage {
    /// Nanoseconds by process, without those of the idle thread; the first counter has the runs. Those of interrupts are listed by
    /// what these are.
    pub by_process: Ranked,
    /// The same in slices of the time.
    pub slices: Vec<Slice>,
    /// Nanoseconds of processes.
    pub busy_ns: u64,
    /// Nanoseconds of interrupts, [by what they are](Interrupt).
    pub interrupts_ns: [u64; 2],
    /// Nanoseconds of the idle thread.
    pub idle_ns: u64,
    /// Nanoseconds of which nobody knows who ran: between two switches that contradict each other, before the first switch of a
    /// processor and behind its last one.
    pub unknown_ns: u64,
    /// Processors that switched.
    pub processors: usize,
}

/// Who ran on a processor since when.
#[derive(Clone, Copy, Debug)]
struct Running {
    machine: i64,
    thread: Option<i64>,
    /// Its process, where the walk of the switch names it.
    process: Option<i64>,
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

/// What a processor did for a time, unless something interrupted it.
#[derive(Clone, Copy, Debug)]
enum Doing {
    /// It ran a thread.
    Thread(Running),
    /// It ran the idle thread.
    Idle,
    /// Nobody knows.
    Unknown,
}

/// Reads context switches; `None` where there are none.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn usage(
    source: &Source<'_>,
    axis: &Axis,
    who: &Who,
    interrupts: &Interrupts,
    inputs: &[InputFacts],
    starts: &mut Starts,
    most: Most,
) -> Result<Option<CpuUsage>> {
    let mut processors = Processors::default();
    let mut spans = recorded_spans(inputs);
    let (tally, zoom) = (Tally::default(), Zoom::new(axis, most.slices));
    let mut sums = Sums { axis, who, interrupts, starts, tally, zoom, usage: CpuUsage::default() };
    source.events::<Switch<'_>>("Kernel-Thread", |row| {
        let Some(time) = row.time.filter(|_| row.name == Some("Thread/CSwitch")) else { return };
        let machine = source.machine(row.input);
        let process = walked(row.process, row.attribution);
        let now = Running { machine, thread: row.new_thread, process, since: time, elsewhere: None };
        let (processor, taken) = ((row.input, row.cpu), row.old_thread);
        let before = processors.switch(processor, now, taken);
        let first = || spans.get(&processor).map_or(time, |(first, _)| *first);
        let since = before.map_or_else(first, |before| before.since);
        sums.spend(processor, (since, time), doing(before, processor, taken, time));
    })?;
    let running = processors.running;
    for (processor, last) in &running {
        let (_, end) = spans.remove(processor).unwrap_or((last.since, last.since));
        sums.spend(*processor, (last.since, end), Doing::Unknown);
    }
    // Processors that never switched, of inputs that recorded switches.
    let inputs: BTreeSet<Option<i64>> = running.keys().map(|(input, _)| *input).collect();
    let silent = spans.into_iter().filter(|((input, _), _)| inputs.contains(input));
    silent.for_each(|(processor, span)| sums.spend(processor, span, Doing::Unknown));
    let Sums { tally, zoom, mut usage, .. } = sums;
    usage.processors = running.keys().map(|(_, cpu)| *cpu).collect::<BTreeSet<_>>().len();
    usage.by_process = tally.ranked(most.processes);
    usage.slices = zoom.ranked(MOST_IN_SLICE);
    Ok((!running.is_empty()).then_some(usage))
}

/// What a processor did up to the switch that took a thread from it.
fn doing(before: Option<Running>, processor: Processor, taken: Option<i64>, until: i64) -> Doing {
    match before.filter(|before| before.is_known(processor, taken, until)) {
        Some(Running { thread: Some(IDLE), .. }) => Doing::Idle,
        Some(running) => Doing::Thread(running),
        None => Doing::Unknown,
    }
}

/// From when to when an input recorded a processor.
fn recorded_spans(inputs: &[InputFacts]) -> BTreeMap<Processor, (i64, i64)> {
    let of_input = |input: &InputFacts| {
        let number = i64::from(input.session.input);
        let span = move |stream: &StreamRow| {
            let span = stream.first_time_ns.zip(stream.last_time_ns)?;
            Some(((Some(number), Some(stream.cpu?.into())), span))
        };
        input.streams.iter().filter_map(span).collect::<Vec<_>>()
    };
    inputs.iter().flat_map(of_input).collect()
}

read_columns! {
    /// A row of `Kernel-Thread`.
    struct Switch<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        input: Option<i64> = "input",
        cpu: Option<i64> = "cpu",
        new_thread: Option<i64> = "NewThreadId",
        old_thread: Option<i64> = "OldThreadId",
        process: Option<i64> = "process_id",
        attribution: Option<&'b str> = "attribution",
    }
}

impl Running {
    /// Whether this thread ran up to the switch that took a thread from the processor.
    fn is_known(self, (_, cpu): Processor, taken: Option<i64>, until: i64) -> bool {
        let is_elsewhere = self.elsewhere.is_some_and(|time| time < until);
        cpu.is_some() && self.thread.is_some() && self.thread == taken && !is_elsewhere
    }
}

/// Time that is added up.
struct Sums<'a> {
    axis: &'a Axis,
    who: &'a Who,
    interrupts: &'a Interrupts,
    starts: &'a mut Starts,
    tally: Tally<Name<'a>>,
    zoom: Zoom<Name<'a>>,
    usage: CpuUsage,
}

impl Sums<'_> {
    /// Adds what a processor did from one time to another, and what interrupted it.
    fn spend(&mut self, processor: Processor, span: (i64, i64), doing: Doing) {
        let Sums { axis, who, interrupts, starts, tally, zoom, usage } = self;
        let ran = match doing {
            Doing::Thread(ran) => Some(ran),
            Doing::Idle | Doing::Unknown => None,
        };
        let name = ran.map(|ran| who.name(ran.machine, ran.process, ran.thread, ran.since));
        let process = ran.filter(|_| !starts.is_empty());
        let process = process.map(|ran| (ran.machine, who.process(ran.machine, ran.process, ran.thread, ran.since)));
        if let Some(name) = name {
            tally.of(&name).count(0, [1, 0, 0, 0, 0, 0]);
        }
        interrupts.cut(processor, span, |(from, until), interrupt| {
            let ns = nanoseconds(from, until);
            let sum = usage.of(doing, interrupt);
            *sum = sum.saturating_add(ns);
            if let Some((machine, process)) = process.filter(|_| interrupt.is_none()) {
                starts.run(machine, process, (from, until));
            }
            if let Some(name) = interrupt.map(|interrupt| Name::Known(interrupt.name())).or(name) {
                let amounts = tally.of(&name);
                amounts.count(ns, Counters::default());
                axis.spread(from, until, |bin, ns| amounts.draw(bin, ns));
                zoom.spread(&name, from, until);
            }
        });
    }
}

impl CpuUsage {
    /// The sum that a time belongs to.
    fn of(&mut self, doing: Doing, interrupt: Option<Interrupt>) -> &mut u64 {
        let [dpc, isr] = &mut self.interrupts_ns;
        match (interrupt, doing) {
            (Some(Interrupt::Dpc), _) => dpc,
            (Some(Interrupt::Isr), _) => isr,
            (None, Doing::Thread(_)) => &mut self.busy_ns,
            (None, Doing::Idle) => &mut self.idle_ns,
            (None, Doing::Unknown) => &mut self.unknown_ns,
        }
    }

    /// The time of which it is known what the processors did.
    pub(super) fn known_ns(&self) -> u64 {
        let interrupts = self.interrupts_ns.iter().fold(0_u64, |sum, ns| sum.saturating_add(*ns));
        self.busy_ns.saturating_add(self.idle_ns).saturating_add(interrupts)
    }
}

/// The time from one to the other; 0 where time went back.
fn nanoseconds(from: i64, until: i64) -> u64 {
    until.checked_sub(from).and_then(|ns| u64::try_from(ns).ok()).unwrap_or(0)
}
