//! Processes that started while the trace was recorded, and what they did in their first seconds.
//!
//! What is looked at of a process is the time from its start to five seconds later, to its end or to that of the recording, whichever
//! is first. Time of threads counts as far as it lies within; an event counts if it lies within.

use std::cmp::Reverse;

use base::error::Result;
use conversion::read_columns;
use conversion::sidecar::dimensions::ProcessRow;

use super::axis::Axis;
use crate::source::Source;
use crate::who::{Span, Spans, Who};

/// Nanoseconds that are looked at of each process.
pub(super) const FIRST_NS: i64 = 5_000_000_000;
/// Processes whose first seconds are looked at.
const MOST_STARTS: usize = 1 << 16;
/// Processes that are shown.
const MOST_SHOWN: usize = 20;
/// Characters of a command line that are held: more than are shown.
const LONGEST: usize = 200;

/// A process that started, and its first seconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Start {
    /// The name of its image.
    pub name: Option<String>,
    /// Its id.
    pub id: i64,
    /// The process that started it: its id, and its name at that time.
    pub parent: Option<String>,
    /// The begin of its command line.
    pub command_line: Option<String>,
    /// When it started.
    pub from: i64,
    /// Until when it is looked at, the time itself excluded.
    pub until: i64,
    /// When it ended, where that was seen.
    pub ended: Option<i64>,
    /// Nanoseconds of its threads on processors, without those of interrupts.
    pub cpu_ns: u64,
    /// Samples of the profiler in it, without those of interrupts.
    pub samples: u64,
    /// Nanoseconds that its threads waited, all together.
    pub waited_ns: u64,
    /// Bytes that finished disk operations read and wrote for it.
    pub disk_bytes: [u64; 2],
    /// Its hard page faults.
    pub hard_faults: u64,
    /// Modules that were loaded into it.
    pub modules: u64,
    /// When the last of them was.
    pub last_module: Option<i64>,
}

/// Processes that started.
#[derive(Debug, Default)]
pub(super) struct Starts {
    all: Vec<Start>,
    spans: Spans,
    /// Whether the trace records hard page faults.
    pub has_faults: bool,
    /// Whether it records modules that are loaded.
    pub has_modules: bool,
    /// Processes that there was no room for.
    pub left_out: u64,
}

read_columns! {
    /// A process.
    struct StartedProcess<'b> of ProcessRow<'static> {
        process_id: i64,
        parent_process_id: Option<i64>,
        image_name: Option<&'b str>,
        command_line: Option<&'b str>,
        started_ns: Option<i64>,
        ended_ns: Option<i64>,
        to_ns: i64,
        is_defunct: Option<bool>,
        machine: i64,
    }
}

read_columns! {
    /// A row of `Kernel-PageFault`.
    struct Fault<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        process: Option<i64> = "process_id",
        input: Option<i64> = "input",
    }
}

read_columns! {
    /// A row of `Kernel-Image`.
    struct KernelModule<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        process: Option<i64> = "ProcessId",
        input: Option<i64> = "input",
    }
}

read_columns! {
    /// A row of `Microsoft-Windows-Kernel-Process`.
    struct ManifestModule {
        event: Option<i64> = "event_id",
        time: Option<i64> = "timestamp_ns",
        process: Option<i64> = "ProcessID",
        input: Option<i64> = "input",
    }
}

/// The event of `Microsoft-Windows-Kernel-Process` that a module was loaded.
const MODULE_LOADED: i64 = 5;

impl Starts {
    /// Reads which processes started, their hard page faults and their modules.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
    pub(super) fn read(source: &Source<'_>, axis: &Axis, who: &Who) -> Result<Starts> {
        let mut starts = Starts::default();
        source.sidecar::<StartedProcess<'_>>(|row| {
            let from = row.started_ns.filter(|from| axis.bin(*from).is_some() && row.is_defunct != Some(true));
            if let Some(from) = from {
                starts.add(axis, who, &row, from);
            }
        })?;
        starts.spans.settle();
        if !starts.all.is_empty() {
            starts.read_faults(source)?;
            starts.read_modules(source)?;
        }
        Ok(starts)
    }

    fn add(&mut self, axis: &Axis, who: &Who, row: &StartedProcess<'_>, from: i64) {
        let (machine, id) = (row.machine, row.process_id);
        let end = row.ended_ns.unwrap_or(row.to_ns).min(axis.last().saturating_add(1));
        let until = from.saturating_add(FIRST_NS).min(end).max(from);
        if self.all.len() >= MOST_STARTS {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        let means = i64::try_from(self.all.len()).ok();
        self.spans.add(Span { machine, id, from, to: until, means });
        let parent = row.parent_process_id.map(|parent| {
            let name = who.name(machine, Some(parent), None, from).to_string();
            if name == format!("process {parent}") { name } else { format!("{name} ({parent})") }
        });
        self.all.push(Start {
            name: row.image_name.map(str::to_owned),
            id,
            parent,
            command_line: row.command_line.map(|text| text.chars().take(LONGEST).collect()),
            from,
            until,
            ended: row.ended_ns,
            ..Start::default()
        });
    }

    fn read_faults(&mut self, source: &Source<'_>) -> Result<()> {
        source.events::<Fault<'_>>("Kernel-PageFault", |row| {
            let Some(time) = row.time.filter(|_| row.name == Some("PageFault/HardFault")) else { return };
            self.has_faults = true;
            if let Some(start) = self.at(source.machine(row.input), row.process, time) {
                start.hard_faults = start.hard_faults.saturating_add(1);
            }
        })?;
        Ok(())
    }

    /// Modules by the kernel's own events; where it has none, by those of its provider with a manifest.
    fn read_modules(&mut self, source: &Source<'_>) -> Result<()> {
        source.events::<KernelModule<'_>>("Kernel-Image", |row| {
            if row.name == Some("Image/Load") {
                self.load(source.machine(row.input), row.process, row.time);
            }
        })?;
        if self.has_modules {
            return Ok(());
        }
        source.events::<ManifestModule>("Microsoft-Windows-Kernel-Process", |row| {
            if row.event == Some(MODULE_LOADED) {
                self.load(source.machine(row.input), row.process, row.time);
            }
        })?;
        Ok(())
    }

    fn load(&mut self, machine: i64, process: Option<i64>, time: Option<i64>) {
        self.has_modules = true;
        let Some((start, time)) = time.and_then(|time| Some((self.at(machine, process, time)?, time))) else { return };
        start.modules = start.modules.saturating_add(1);
        start.last_module = start.last_module.max(Some(time));
    }

    /// The process that is in its first seconds at a time.
    fn at(&mut self, machine: i64, process: Option<i64>, time: i64) -> Option<&mut Start> {
        let number = self.spans.at(machine, process?, time)?;
        self.all.get_mut(usize::try_from(number).ok()?)
    }

    /// Whether any process started.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Adds time that a thread was on a processor.
    pub(super) fn run(&mut self, machine: i64, process: Option<i64>, (from, to): (i64, i64)) {
        if let Some(start) = self.at(machine, process, from) {
            start.cpu_ns = start.cpu_ns.saturating_add(start.within(from, to));
        }
    }

    /// Adds time that a thread waited.
    pub(super) fn wait(&mut self, machine: i64, process: Option<i64>, (from, to): (i64, i64)) {
        if let Some(start) = self.at(machine, process, from) {
            start.waited_ns = start.waited_ns.saturating_add(start.within(from, to));
        }
    }

    /// Adds a sample.
    pub(super) fn sample(&mut self, machine: i64, process: Option<i64>, time: i64) {
        if let Some(start) = self.at(machine, process, time) {
            start.samples = start.samples.saturating_add(1);
        }
    }

    /// Adds bytes that were read and written on a disk.
    pub(super) fn transfer(&mut self, machine: i64, process: Option<i64>, time: i64, bytes: [u64; 2]) {
        if let Some(start) = self.at(machine, process, time) {
            for (sum, more) in start.disk_bytes.iter_mut().zip(bytes) {
                *sum = sum.saturating_add(more);
            }
        }
    }

    /// The processes that used processors most in their first seconds, most first, then in the order of their starts; and how many more
    /// there are.
    pub(super) fn shown(&self) -> (Vec<&Start>, usize) {
        let mut shown: Vec<&Start> = self.all.iter().collect();
        shown.sort_by_key(|start| (Reverse(start.cpu_ns), Reverse(start.samples), start.from, start.id));
        let more = shown.len().saturating_sub(MOST_SHOWN);
        shown.truncate(MOST_SHOWN);
        (shown, more)
    }
}

impl Start {
    /// Nanoseconds of a time that begins within the first seconds.
    fn within(&self, from: i64, to: i64) -> u64 {
        to.min(self.until).checked_sub(from).and_then(|ns| u64::try_from(ns).ok()).unwrap_or(0)
    }

    /// Nanoseconds that are looked at.
    pub(super) fn length(&self) -> u64 {
        self.until.abs_diff(self.from)
    }

    /// Nanoseconds from its start to the last module; `None` where it loaded none.
    pub(super) fn loaded_after(&self) -> Option<u64> {
        self.last_module.map(|last| last.abs_diff(self.from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(from: i64, ended_ns: Option<i64>, to_ns: i64) -> StartedProcess<'static> {
        StartedProcess {
            process_id: 8,
            parent_process_id: Some(4),
            image_name: Some("a.exe"),
            command_line: Some("a.exe /x"),
            started_ns: Some(from),
            ended_ns,
            to_ns,
            is_defunct: None,
            machine: 0,
        }
    }

    #[test]
    fn the_first_seconds_end_with_what_ends_first() {
        let (axis, who) = (Axis::new(0, 20 * FIRST_NS), Who::default());
        let t = |from: i64, ended, to, expected: i64| {
            let mut starts = Starts::default();
            starts.add(&axis, &who, &started(from, ended, to), from);
            assert_eq!(starts.all.first().map(|start| start.until), Some(expected));
        };
        t(10, None, i64::MAX, 10 + FIRST_NS);
        t(10, Some(30), i64::MAX, 30);
        t(10, None, 50, 50);
        t(10, Some(3), i64::MAX, 10);
        t(20 * FIRST_NS - 5, None, i64::MAX, 20 * FIRST_NS + 1);
    }

    #[test]
    fn what_lies_within_counts() {
        let (axis, who) = (Axis::new(0, 20 * FIRST_NS), Who::default());
        let mut starts = Starts::default();
        starts.add(&axis, &who, &started(100, Some(200), 200), 100);
        starts.add(&axis, &who, &started(200, None, 300), 200);
        starts.spans.settle();
        for (from, to) in [(90, 110), (100, 110), (190, 250), (200, 1000), (300, 400)] {
            starts.run(0, Some(8), (from, to));
        }
        starts.run(1, Some(8), (100, 110));
        starts.run(0, None, (100, 110));
        starts.transfer(0, Some(8), 199, [5, 0]);
        starts.transfer(0, Some(8), 200, [0, 6]);
        starts.load(0, Some(8), Some(150));
        starts.load(0, Some(8), Some(120));
        let (shown, more) = starts.shown();
        let found: Vec<_> = shown.iter().map(|start| (start.from, start.cpu_ns, start.disk_bytes)).collect();
        assert_eq!((found, more), (vec![(200, 100, [0, 6]), (100, 20, [5, 0])], 0));
        assert_eq!(shown.last().map(|start| (start.modules, start.loaded_after())), Some((2, Some(50))));
        assert_eq!(shown.last().and_then(|start| start.parent.as_deref()), Some("process 4"));
    }
}
