//! Functions in which the profiler found the processors, whether its samples have stacks or not.

use std::collections::{HashMap, HashSet};

use base::error::Result;

use super::flame::labelled;
use super::labels::LabelKind;
use super::tally::{Most, Ranked, Tally};
use crate::frames::{Frame, Modules, Owner, Stack, frames, names_of};
use crate::source::Source;
use crate::symbols::StoredNames;

/// Different places that are held: some 64 MiB.
const MOST_PLACES: usize = 1 << 20;

/// Samples by function.
#[derive(Debug)]
pub(super) struct Executed {
    /// Samples of each function.
    pub by_function: Ranked,
    /// Samples that there was no room for.
    pub left_out: u64,
}

/// Samples by the place that the processor executed.
#[derive(Debug, Default)]
pub(super) struct Leaves {
    samples: HashMap<Frame, u64>,
    left_out: u64,
}

impl Leaves {
    /// Adds a sample of a process at an address.
    pub(super) fn add(&mut self, modules: &Modules, owner: Owner, address: i64, time: i64) {
        let stack = Stack { owner, id: 0, addresses: &[address], first: time, last: time, count: 1 };
        let Some(frame) = frames(modules, stack).next() else { return };
        let has_room = self.samples.len() < MOST_PLACES || self.samples.contains_key(&frame);
        let sum = if has_room { self.samples.entry(frame).or_default() } else { &mut self.left_out };
        *sum = sum.saturating_add(1);
    }
}

/// Names the functions; `None` where symbols name none of those that executed, since methods and modules say all then.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the names of methods cannot be read.
pub(super) fn most_executed(
    source: &Source<'_>,
    modules: &Modules,
    names: &StoredNames,
    leaves: Leaves,
    most: Most,
) -> Result<Option<Executed>> {
    let asked: HashSet<u32> = leaves.samples.keys().filter_map(|frame| frame.method).collect();
    let mut methods = HashMap::<u32, String>::new();
    names_of(source, &asked, |number, name| drop(methods.insert(number, name.to_owned())))?;
    let (mut sums, mut is_named) = (HashMap::<String, u64>::new(), false);
    for (frame, samples) in leaves.samples {
        let method = frame.method.and_then(|method| methods.get(&method)).map(String::as_str);
        let (name, kind) = labelled(frame, modules, method, |id, offset| names.function_around(id, offset));
        is_named |= matches!(kind, LabelKind::Kernel | LabelKind::Program);
        let sum = sums.entry(name).or_default();
        *sum = sum.saturating_add(samples);
    }
    let mut tally = Tally::<String>::default();
    // Of more names than a tally holds it holds those with most.
    let mut sums: Vec<(String, u64)> = sums.into_iter().collect();
    sums.sort_by(|(a, x), (b, y)| (y, a).cmp(&(x, b)));
    sums.into_iter().for_each(|(name, samples)| tally.of(&name).count(samples, [samples, 0, 0, 0, 0, 0]));
    Ok(is_named.then(|| Executed { by_function: tally.ranked(most.places), left_out: leaves.left_out }))
}
