//! What processors did from one context switch to the next. The definition is that of the view `cpu_intervals`.

use std::collections::{BTreeMap, HashMap};

use base::error::Result;
use conversion::read_columns;

use crate::row_filter::RowFilter;
use crate::source::Source;
use crate::who::walked;

/// A processor of an input.
pub type Processor = (Option<i64>, Option<i64>);

/// The process that runs where nothing else does; its thread has the same id.
pub const IDLE: i64 = 0;

/// The bit of `Reserved` of a sample during which the processor executed a deferred procedure call instead of its thread.
pub const IN_DPC: i64 = 1;

/// The same of an interrupt service routine.
pub const IN_ISR: i64 = 2;

/// Who ran on a processor since when.
#[derive(Clone, Copy, Debug)]
pub struct Running {
    /// The machine.
    pub machine: i64,
    /// The thread.
    pub thread: Option<i64>,
    /// Its process, as the switch has it.
    pub process: Option<i64>,
    /// Its process, where the walk of the switch names it.
    pub walked: Option<i64>,
    /// When the switch was, Unix nanoseconds.
    pub since: i64,
    /// Whether the filter passes the switch.
    pub passes: bool,
    /// When another processor's switch named the thread for the first time since: none runs on two at once.
    elsewhere: Option<i64>,
}

/// What a processor did for a time, unless something interrupted it.
#[derive(Clone, Copy, Debug)]
pub enum Doing {
    /// It ran a thread.
    Thread(Running),
    /// It ran the idle thread.
    Idle,
    /// Nobody knows: the two switches contradict each other, or it is the first of the processor.
    Unknown,
}

/// The time of a processor up to a switch.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    /// The processor.
    pub processor: Processor,
    /// When its switch before was, Unix nanoseconds; `None` of the first.
    pub since: Option<i64>,
    /// When the switch is that ends it.
    pub until: i64,
    /// What the processor did.
    pub doing: Doing,
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

impl Running {
    /// Whether this thread ran up to the switch that took a thread from the processor.
    fn is_known(self, (_, cpu): Processor, taken: Option<i64>, until: i64) -> bool {
        let is_elsewhere = self.elsewhere.is_some_and(|time| time < until);
        cpu.is_some() && self.thread.is_some() && self.thread == taken && !is_elsewhere
    }
}

/// What a processor did up to the switch that took a thread from it.
fn doing(before: Option<Running>, processor: Processor, taken: Option<i64>, until: i64) -> Doing {
    match before.filter(|before| before.is_known(processor, taken, until)) {
        Some(Running { thread: Some(IDLE), .. }) => Doing::Idle,
        Some(running) => Doing::Thread(running),
        None => Doing::Unknown,
    }
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

/// Reads context switches and hands over what processors did up to each, in the order of the switches; gives back when the last switch of
/// each processor was, and nothing where there are no switches.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub fn on_cpu(
    source: &Source<'_>,
    filter: Option<&RowFilter>,
    mut each: impl FnMut(Interval),
) -> Result<BTreeMap<Processor, i64>> {
    let mut processors = Processors::default();
    source.events_passing::<Switch<'_>>("Kernel-Thread", filter, |passes, row| {
        let Some(time) = row.time.filter(|_| row.name == Some("Thread/CSwitch")) else { return };
        let now = Running {
            machine: source.machine(row.input),
            thread: row.new_thread,
            process: row.process,
            walked: walked(row.process, row.attribution),
            since: time,
            passes,
            elsewhere: None,
        };
        let (processor, taken) = ((row.input, row.cpu), row.old_thread);
        let before = processors.switch(processor, now, taken);
        let since = before.map(|before| before.since);
        each(Interval { processor, since, until: time, doing: doing(before, processor, taken, time) });
    })?;
    Ok(processors.running.into_iter().map(|(processor, last)| (processor, last.since)).collect())
}
