//! Samples of the profiler: whose code ran, of which module and method. The definition is that of the view `cpu_samples`.

use std::collections::{HashMap, HashSet};

use base::error::Result;
use conversion::read_columns;

use super::axis::Axis;
use super::executed::Leaves;
use super::interrupts::Interrupt;
use super::profile::Profile;
use super::starts::Starts;
use super::tally::{Most, Ranked, Tally};
use super::zoom::{MOST_IN_SLICE, Slice, Zoom};
use crate::frames::names_of;
use crate::frames::{AddressPlace, EventStack, Modules, Owner, StackCell};
use crate::on_cpu::{IDLE, IN_DPC, IN_ISR};
use crate::source::Source;
use crate::who::{Name, Who};

/// What an address without a module is listed under.
const NO_MODULE: &str = "no known module";
/// What methods without a module are listed under.
const METHODS: &str = ".NET methods outside of modules";
/// The counter of samples that have a stack.
const WALKED: usize = 1;
/// Bits of `Reserved` of a sample, and what the processor executed instead of its thread.
const INTERRUPTS: [(i64, Interrupt); 2] = [(IN_ISR, Interrupt::Isr), (IN_DPC, Interrupt::Dpc)];

/// Samples of the profiler.
#[derive(Debug, Default)]
pub(super) struct CpuSamples {
    /// Samples by process, without those of the idle one; those of interrupts by what these are.
    pub by_process: Ranked,
    /// The same in slices of the time.
    pub slices: Vec<Slice>,
    /// The same by module.
    pub by_module: Ranked,
    /// The same by method of .NET, those in other code left out.
    pub by_method: Ranked,
    /// Samples of the idle process.
    pub idle: u64,
    /// Spans of modules and methods that there was no room for.
    pub left_out: u64,
}

/// Reads samples, `None` where there are none, and their stacks; into `leaves` where each of them executed.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn samples<'a>(
    source: &Source<'_>,
    axis: &Axis,
    who: &'a Who,
    modules: &Modules,
    starts: &mut Starts,
    most: Most,
    mut leaves: Option<&mut Leaves>,
) -> Result<(Option<CpuSamples>, Profile<'a>)> {
    let (mut sums, mut profile) = (Sums::new(axis, most), Profile::default());
    source.events::<SampleEvent<'_>>("Kernel-PerfInfo", |event| {
        let Some(sample) = Sample::of(source, &event) else { return };
        let Some(name) = sums.add(axis, who, modules, sample) else { return };
        let process = who.process(sample.machine, sample.process, sample.thread, sample.time);
        if let Some((leaves, address)) = leaves.as_deref_mut().zip(sample.address) {
            leaves.add(modules, Owner { machine: sample.machine, process }, address, sample.time);
        }
        if sample.interrupt.is_none() {
            starts.sample(sample.machine, process, sample.time);
        }
        if let Some(recorded) = sample.recorded {
            profile.add(name, Owner { machine: sample.machine, process: sample.process }, sample.time, recorded, 1);
        }
    })?;
    if profile.has_stacks() {
        profile.unwalked(sums.processes.without(WALKED));
    }
    let by_process = sums.processes.ranked(most.processes);
    if by_process.weight() == 0 && sums.idle == 0 {
        return Ok((None, profile));
    }
    let samples = CpuSamples {
        by_process,
        slices: sums.zoom.ranked(MOST_IN_SLICE),
        by_module: by_module(sums.places, most),
        by_method: by_method(source, &sums.methods, most)?,
        idle: sums.idle,
        left_out: modules.left_out(),
    };
    Ok((Some(samples), profile))
}

/// One sample.
#[derive(Clone, Copy, Debug)]
struct Sample<'b> {
    time: i64,
    machine: i64,
    process: Option<i64>,
    thread: Option<i64>,
    address: Option<i64>,
    interrupt: Option<Interrupt>,
    recorded: Option<EventStack<'b>>,
}

impl<'b> Sample<'b> {
    fn of(source: &Source<'_>, event: &SampleEvent<'b>) -> Option<Sample<'b>> {
        let time = event.time.filter(|_| event.name == Some("PerfInfo/SampleProf"))?;
        let bits = event.bits.unwrap_or(0);
        let interrupt = INTERRUPTS.iter().find(|(bit, _)| bits & bit != 0);
        Some(Sample {
            time,
            machine: source.machine(event.input),
            process: event.process,
            thread: event.thread,
            address: event.address,
            interrupt: interrupt.map(|(_, interrupt)| *interrupt),
            recorded: EventStack::of(event.stack_id, event.stack),
        })
    }
}

read_columns! {
    /// A row of `Kernel-PerfInfo`.
    struct SampleEvent<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        process: Option<i64> = "process_id",
        thread: Option<i64> = "ThreadId",
        address: Option<i64> = "InstructionPointer",
        input: Option<i64> = "input",
        bits: Option<i64> = "Reserved",
        stack_id: Option<i64> = "stack_id",
        stack: StackCell<'b> = "stack",
    }
}

/// Samples that are added up.
struct Sums<'a, 'm> {
    processes: Tally<Name<'a>>,
    zoom: Zoom<Name<'a>>,
    places: HashMap<AddressPlace<'m>, u64>,
    /// By the row of the method.
    methods: HashMap<u32, u64>,
    idle: u64,
}

impl<'a, 'm> Sums<'a, 'm> {
    fn new(axis: &Axis, most: Most) -> Sums<'a, 'm> {
        Sums {
            processes: Tally::default(),
            zoom: Zoom::new(axis, most.slices),
            places: HashMap::new(),
            methods: HashMap::new(),
            idle: 0,
        }
    }

    /// Adds a sample; whose it is, unless it is one of the idle process.
    fn add(&mut self, axis: &Axis, who: &'a Who, modules: &'m Modules, sample: Sample<'_>) -> Option<Name<'a>> {
        let Sample { time, machine, process, thread, address, interrupt, recorded } = sample;
        let id = who.process(machine, process, thread, time);
        if id == Some(IDLE) && interrupt.is_none() {
            self.idle = self.idle.saturating_add(1);
            return None;
        }
        let name = interrupt.map(|interrupt| Name::Known(interrupt.name()));
        let name = name.unwrap_or_else(|| who.name(machine, process, thread, time));
        let amounts = self.processes.of(&name);
        amounts.count(1, [1, recorded.is_some().into(), 0, 0, 0, 0]);
        if let Some(bin) = axis.bin(time) {
            amounts.draw(bin, 1);
        }
        self.zoom.add(&name, time, 1);
        let place = address.map_or(AddressPlace::Nowhere, |address| modules.at(machine, id, address, time));
        add_one(self.places.entry(place).or_default());
        let method = id.zip(address).and_then(|(id, address)| modules.method((machine, id), address, time));
        if let Some(method) = method {
            add_one(self.methods.entry(method).or_default());
        }
        Some(name)
    }
}

fn add_one(count: &mut u64) {
    *count = count.saturating_add(1);
}

fn by_module(places: HashMap<AddressPlace<'_>, u64>, most: Most) -> Ranked {
    let mut tally = Tally::default();
    for (place, samples) in places {
        let name = match place {
            AddressPlace::Module(name) => name.unwrap_or("module without a name"),
            AddressPlace::Method => METHODS,
            AddressPlace::Nowhere => NO_MODULE,
        };
        tally.of(name).count(samples, [samples, 0, 0, 0, 0, 0]);
    }
    tally.ranked(most.places)
}

fn by_method(source: &Source<'_>, methods: &HashMap<u32, u64>, most: Most) -> Result<Ranked> {
    let mut tally = Tally::<String>::default();
    names_of(source, &methods.keys().copied().collect::<HashSet<u32>>(), |number, name| {
        let samples = methods.get(&number).copied().unwrap_or(0);
        tally.of(name).count(samples, [samples, 0, 0, 0, 0, 0]);
    })?;
    Ok(tally.ranked(most.places))
}
