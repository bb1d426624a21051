//! How long threads were not on a processor. The definition is that of the view `off_cpu`.

use base::error::Result;

use super::axis::Axis;
use super::profile::Profile;
use super::starts::Starts;
use super::tally::{Most, Ranked, Tally};
use super::zoom::{MOST_IN_SLICE, Slice, Zoom};
use crate::frames::Owner;
use crate::off_cpu::{OffCpu, off_cpu};
use crate::source::Source;
use crate::who::{Who, walked};

/// The counter of nanoseconds of waits that have a stack.
const WALKED: usize = 3;

/// Time off the processors.
#[derive(Debug, Default)]
pub(super) struct Waits {
    /// Nanoseconds of waiting by process, from leaving a processor until running again. The first counter has the waits, the others have
    /// preemptions and their nanoseconds, and the nanoseconds of waits that have a stack.
    pub by_process: Ranked,
    /// Nanoseconds of waiting in slices of the time.
    pub slices: Vec<Slice>,
    /// Departures that there was no room for.
    pub left_out: u64,
}

/// Reads context switches, `None` where no thread came back, and the stacks of waits: those of the switches that end them, as the view
/// `waits` has it.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn waits<'a>(
    source: &Source<'_>,
    axis: &Axis,
    who: &'a Who,
    starts: &mut Starts,
    most: Most,
) -> Result<(Option<Waits>, Profile<'a>)> {
    let (mut tally, mut is_there, mut profile) = (Tally::default(), false, Profile::default());
    let mut zoom = Zoom::new(axis, most.slices);
    let left_out = off_cpu(source, None, |span @ OffCpu { from, to, length, machine, process, .. }| {
        is_there = true;
        let walked = walked(process, span.attribution);
        let name = who.name(machine, walked, Some(span.thread), to);
        let amounts = tally.of(&name);
        if !span.is_wait {
            amounts.count(0, [0, 1, length, 0, 0, 0]);
            return;
        }
        amounts.count_one(length);
        starts.wait(machine, who.process(machine, walked, Some(span.thread), to), (from, to));
        axis.spread(from, to, |bin, ns| amounts.draw(bin, ns));
        zoom.spread(&name, from, to);
        if let Some(recorded) = span.stack {
            amounts.count(0, [0, 0, 0, length, 0, 0]);
            profile.add(name, Owner { machine, process }, to, recorded, length);
        }
    })?;
    if profile.has_stacks() {
        profile.unwalked(tally.without(WALKED));
    }
    let (by_process, slices) = (tally.ranked(most.processes), zoom.ranked(MOST_IN_SLICE));
    let waits = Waits { by_process, slices, left_out };
    Ok((is_there.then_some(waits), profile))
}
