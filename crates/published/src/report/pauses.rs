//! How long .NET kept the threads of processes stopped. The definition is that of the view `gc_pauses`.

use std::cmp::Reverse;

use base::error::Result;

use super::axis::Axis;
use super::tally::{Most, Ranked, Tally};
use crate::gc_pauses::gc_pauses;
use crate::source::Source;
use crate::who::Who;

/// Pauses that are shown one by one, the longest ones.
const MOST_PAUSES: usize = 10;

/// Pauses of .NET.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    /// Nanoseconds by process; the first counter has the pauses.
    pub by_process: Ranked,
    /// The longest ones, longest first.
    pub longest: Vec<Pause>,
    /// Marks that the report had no room for.
    pub left_out: u64,
}

/// A pause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pause {
    /// When it began.
    pub from: i64,
    /// Its length in nanoseconds.
    pub length: u64,
    /// The process.
    pub process: String,
    /// Why.
    pub reason: Option<String>,
}

/// Reads pauses; `None` where there are none.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn pauses(source: &Source<'_>, axis: &Axis, who: &Who, most: Most) -> Result<Option<Pauses>> {
    let mut found = gc_pauses(source, None)?;
    let mut tally = Tally::default();
    for pause in &found.pauses {
        let amounts = tally.of(&who.name(pause.machine, pause.process, None, pause.from));
        amounts.count_one(pause.length());
        axis.spread(pause.from, pause.to, |bin, ns| amounts.draw(bin, ns));
    }
    found.pauses.sort_by_key(|pause| (Reverse(pause.length()), pause.from, pause.seq));
    let longest = found.pauses.iter().take(MOST_PAUSES).map(|pause| Pause {
        from: pause.from,
        length: pause.length(),
        process: who.name(pause.machine, pause.process, None, pause.from).to_string(),
        reason: found.reason(pause).map(str::to_owned),
    });
    let longest: Vec<Pause> = longest.collect();
    let pauses = Pauses { by_process: tally.ranked(most.processes), longest, left_out: found.left_out };
    Ok((!pauses.longest.is_empty()).then_some(pauses))
}
