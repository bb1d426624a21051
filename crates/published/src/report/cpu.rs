//! Who used the processors, by context switches. The definitions are those of the views `cpu_intervals` and `cpu_time`.

use std::collections::{BTreeMap, BTreeSet};

use base::error::Result;
use conversion::sidecar::{InputFacts, StreamRow};

use super::axis::Axis;
use super::interrupts::{Interrupt, Interrupts};
use super::starts::Starts;
use super::tally::{Counters, Most, Ranked, Tally};
use super::zoom::{MOST_IN_SLICE, Slice, Zoom};
use crate::on_cpu::{Doing, Interval, Processor, on_cpu};
use crate::source::Source;
use crate::who::{Name, Who};

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
    let mut spans = recorded_spans(inputs);
    let (tally, zoom) = (Tally::default(), Zoom::new(axis, most.slices));
    let mut sums = Sums { axis, who, interrupts, starts, tally, zoom, usage: CpuUsage::default() };
    let last_switches = on_cpu(source, None, |Interval { processor, since, until, doing }| {
        let first = || spans.get(&processor).map_or(until, |(first, _)| *first);
        sums.spend(processor, (since.unwrap_or_else(first), until), doing);
    })?;
    for (processor, last) in &last_switches {
        let (_, end) = spans.remove(processor).unwrap_or((*last, *last));
        sums.spend(*processor, (*last, end), Doing::Unknown);
    }
    // Processors that never switched, of inputs that recorded switches.
    let inputs: BTreeSet<Option<i64>> = last_switches.keys().map(|(input, _)| *input).collect();
    let silent = spans.into_iter().filter(|((input, _), _)| inputs.contains(input));
    silent.for_each(|(processor, span)| sums.spend(processor, span, Doing::Unknown));
    let Sums { tally, zoom, mut usage, .. } = sums;
    usage.processors = last_switches.keys().map(|(_, cpu)| *cpu).collect::<BTreeSet<_>>().len();
    usage.by_process = tally.ranked(most.processes);
    usage.slices = zoom.ranked(MOST_IN_SLICE);
    Ok((!last_switches.is_empty()).then_some(usage))
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
        let name = ran.map(|ran| who.name(ran.machine, ran.walked, ran.thread, ran.since));
        let process = ran.filter(|_| !starts.is_empty());
        let process = process.map(|ran| (ran.machine, who.process(ran.machine, ran.walked, ran.thread, ran.since)));
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
