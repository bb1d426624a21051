//! Deferred procedure calls and interrupt service routines: which driver's ran, and when processors executed them instead of a thread. The
//! definitions are those of the views `interrupts` and `cpu_time`.

use std::collections::BTreeMap;
use std::fmt;

use base::error::Result;
use conversion::read_columns;

use super::tally::{Ranked, Tally};
use crate::frames::{AddressPlace, Modules};
use crate::on_cpu::Processor;
use crate::source::Source;

/// Runs that are kept, to take them out of the time of threads.
const MOST_RUNS: usize = 1 << 21;
/// Drivers that are shown one by one.
const MOST_DRIVERS: usize = 20;

/// What a processor executes instead of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Interrupt {
    /// A deferred procedure call.
    Dpc,
    /// An interrupt service routine, within a deferred procedure call, too.
    Isr,
}

impl Interrupt {
    /// That of an event; `None` of another one.
    fn of(event: &str) -> Option<Interrupt> {
        match event {
            "PerfInfo/DPC" | "PerfInfo/ThreadedDPC" | "PerfInfo/TimerDPC" => Some(Interrupt::Dpc),
            "PerfInfo/ISR" | "PerfInfo/ISR-MSI" => Some(Interrupt::Isr),
            _ => None,
        }
    }

    /// What its time and its samples are listed under.
    pub(super) fn name(self) -> &'static str {
        match self {
            Interrupt::Dpc => "deferred procedure calls",
            Interrupt::Isr => "interrupt service routines",
        }
    }
}

/// The routines of a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Driver<'a> {
    interrupt: Interrupt,
    module: Option<&'a str>,
}

impl fmt::Display for Driver<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.interrupt {
            Interrupt::Dpc => "DPC",
            Interrupt::Isr => "ISR",
        };
        write!(f, "{} ({kind})", self.module.unwrap_or("no known module"))
    }
}

/// A time in which a processor executed no thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    from: i64,
    to: i64,
    interrupt: Interrupt,
}

/// What interrupted threads.
#[derive(Debug, Default)]
pub(super) struct Interrupts {
    /// Nanoseconds by driver; the first counter has the runs.
    pub by_driver: Ranked,
    /// Runs that there was no room for: their time is that of whoever they interrupted.
    pub left_out: u64,
    /// Whether there are events of deferred procedure calls, and of interrupt service routines.
    is_recorded: [bool; 2],
    /// Of each processor, one after another.
    pieces: BTreeMap<Processor, Vec<Piece>>,
}

read_columns! {
    /// A run of a routine, of which `Kernel-PerfInfo` has an event at its end.
    struct Run<'b> {
        name: Option<&'b str> = "event_name",
        to: Option<i64> = "timestamp_ns",
        from: Option<i64> = "InitialTime_ns",
        routine: Option<i64> = "Routine",
        input: Option<i64> = "input",
        cpu: Option<i64> = "cpu",
    }
}

/// Reads the events of interrupts.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn interrupts(source: &Source<'_>, modules: &Modules) -> Result<Interrupts> {
    let (mut tally, mut interrupts, mut kept) = (Tally::default(), Interrupts::default(), 0);
    source.events::<Run<'_>>("Kernel-PerfInfo", |row| {
        let Some((interrupt, to)) = row.name.and_then(Interrupt::of).zip(row.to) else { return };
        let machine = source.machine(row.input);
        let module = row.routine.and_then(|routine| match modules.at(machine, None, routine, to) {
            AddressPlace::Module(name) => name,
            AddressPlace::Method | AddressPlace::Nowhere => None,
        });
        let length = row.from.and_then(|from| u64::try_from(to.checked_sub(from)?).ok());
        tally.of(&Driver { interrupt, module }).count_one(length.unwrap_or(0));
        interrupts.see(interrupt);
        let Some((from, cpu)) = row.from.zip(row.cpu).filter(|(from, _)| *from < to) else { return };
        if kept >= MOST_RUNS {
            interrupts.left_out = interrupts.left_out.saturating_add(1);
            return;
        }
        kept += 1;
        interrupts.pieces.entry((row.input, Some(cpu))).or_default().push(Piece { from, to, interrupt });
    })?;
    interrupts.pieces.values_mut().for_each(|runs| *runs = one_after_another(runs));
    interrupts.by_driver = tally.ranked(MOST_DRIVERS);
    Ok(interrupts)
}

impl Interrupts {
    fn see(&mut self, interrupt: Interrupt) {
        if let Some(is_recorded) = self.is_recorded.get_mut(interrupt as usize) {
            *is_recorded = true;
        }
    }

    /// Whether there are events of this kind: without them nobody knows their time.
    pub(super) fn has(&self, interrupt: Interrupt) -> bool {
        self.is_recorded.get(interrupt as usize).is_some_and(|is_recorded| *is_recorded)
    }

    /// Hands over the time of a processor in parts, each with what interrupted its thread.
    pub(super) fn cut(
        &self,
        processor: Processor,
        (from, until): (i64, i64),
        mut each: impl FnMut((i64, i64), Option<Interrupt>),
    ) {
        let pieces = self.pieces.get(&processor).map_or(&[][..], Vec::as_slice);
        let first = pieces.partition_point(|piece| piece.to <= from);
        let mut from = from;
        for piece in pieces.iter().skip(first).take_while(|piece| piece.from < until) {
            if from < piece.from {
                each((from, piece.from), None);
            }
            let end = piece.to.min(until);
            each((from.max(piece.from), end), Some(piece.interrupt));
            from = end;
        }
        if from < until {
            each((from, until), None);
        }
    }
}

/// The times of runs that interrupt one another: an interrupt service routine goes before a deferred procedure call.
fn one_after_another(runs: &[Piece]) -> Vec<Piece> {
    let mut bounds: Vec<(i64, Interrupt, bool)> = Vec::with_capacity(runs.len().saturating_mul(2));
    for run in runs {
        bounds.extend([(run.from, run.interrupt, true), (run.to, run.interrupt, false)]);
    }
    bounds.sort_unstable();
    let (mut pieces, mut open, mut since) = (Vec::<Piece>::new(), [0_usize; 2], i64::MIN);
    for (time, kind, is_begin) in bounds {
        let [dpcs, isrs] = open;
        let running = [(isrs, Interrupt::Isr), (dpcs, Interrupt::Dpc)].into_iter().find(|(count, _)| *count > 0);
        if let Some((_, interrupt)) = running.filter(|_| since < time) {
            match pieces.last_mut() {
                Some(last) if last.to == since && last.interrupt == interrupt => last.to = time,
                _ => pieces.push(Piece { from: since, to: time, interrupt }),
            }
        }
        since = time;
        if let Some(count) = open.get_mut(kind as usize) {
            *count = if is_begin { count.saturating_add(1) } else { count.saturating_sub(1) };
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(from: i64, to: i64, interrupt: Interrupt) -> Piece {
        Piece { from, to, interrupt }
    }

    #[test]
    fn a_routine_within_a_call_takes_its_time() {
        let (dpc, isr) = (Interrupt::Dpc, Interrupt::Isr);
        let runs = [piece(10, 50, dpc), piece(20, 30, isr), piece(30, 35, isr), piece(40, 70, dpc), piece(90, 95, isr)];
        let expected = [piece(10, 20, dpc), piece(20, 35, isr), piece(35, 70, dpc), piece(90, 95, isr)];
        assert_eq!(one_after_another(&runs), expected);
    }

    #[test]
    fn time_is_cut_where_interrupts_begin_and_end() {
        let mut interrupts = Interrupts::default();
        let pieces = vec![piece(10, 20, Interrupt::Dpc), piece(20, 35, Interrupt::Isr), piece(90, 95, Interrupt::Isr)];
        interrupts.pieces.insert((Some(0), Some(1)), pieces);
        let cut = |cpu, span| {
            let mut parts = Vec::new();
            interrupts.cut((Some(0), Some(cpu)), span, |(from, to), interrupt| parts.push((from, to, interrupt)));
            parts
        };
        let (dpc, isr) = (Some(Interrupt::Dpc), Some(Interrupt::Isr));
        assert_eq!(cut(1, (0, 40)), [(0, 10, None), (10, 20, dpc), (20, 35, isr), (35, 40, None)]);
        assert_eq!(cut(1, (15, 30)), [(15, 20, dpc), (20, 30, isr)]);
        assert_eq!(cut(1, (35, 90)), [(35, 90, None)]);
        assert_eq!(cut(1, (92, 99)), [(92, 95, isr), (95, 99, None)]);
        assert_eq!(cut(1, (50, 50)), []);
        assert_eq!(cut(2, (0, 40)), [(0, 40, None)]);
    }
}
