//! Garbage collections of .NET by process and generation, and how large heaps were behind them.

use std::collections::HashMap;
use std::fmt;

use base::error::Result;

use super::axis::{Axis, BINS};
use super::sums::Sums;
use super::tally::{Most, Ranked};
use crate::gc_collections::{GcCollection, gc_collections};
use crate::source::Source;
use crate::who::{Name, Who};

/// Processes whose heaps are distinguished.
const MOST_HEAPS: usize = 4096;

/// Collections.
#[derive(Debug, Default)]
pub(super) struct Collections {
    /// By process and generation, those with the longest pauses first; in nanoseconds of pauses. Counters are collections, those that stopped,
    /// nanoseconds from their starts to their stops, nanoseconds of pauses, those whose pauses are known, and bytes that survived.
    pub by_generation: Ranked,
    /// Heaps by process, the largest first.
    pub heaps: Vec<Heap>,
    /// How many more processes have heaps.
    pub more_heaps: usize,
    /// Marks of collections that there was no room for.
    pub left_out: u64,
}

/// The heap of the processes of one name, behind collections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heap {
    /// The process.
    pub name: String,
    /// How often its size is known.
    pub sizes: u64,
    /// Bytes at most.
    pub largest: u64,
    /// Bytes behind the last collection.
    pub last: u64,
    /// Bytes at most in each part of the time.
    pub bins: Vec<u64>,
    last_time: i64,
}

/// What collections are added up by: process, generation, and whether they run beside the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Kind<'a> {
    name: Name<'a>,
    generation: Option<i64>,
    is_background: bool,
}

impl fmt::Display for Kind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, ", self.name)?;
        match self.generation {
            Some(generation) => write!(f, "generation {generation}")?,
            None => f.write_str("no generation recorded")?,
        }
        f.write_str(if self.is_background { ", background" } else { "" })
    }
}

/// Reads collections; `None` where there are none.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn collections(source: &Source<'_>, axis: &Axis, who: &Who, most: Most) -> Result<Option<Collections>> {
    let found = gc_collections(source)?;
    let (mut sums, mut heaps) = (Sums::default(), HashMap::<Name<'_>, Heap>::new());
    for one in &found.collections {
        let name = who.name(one.machine, one.process, None, one.from);
        let GcCollection { generation, is_background, from, to, pause_ns, promoted_bytes, .. } = *one;
        let took = to.and_then(|to| u64::try_from(to.checked_sub(from)?).ok()).unwrap_or(0);
        let (paused, promoted) = (pause_ns.unwrap_or(0), promoted_bytes.unwrap_or(0));
        let [stopped, known] = [to.is_some(), pause_ns.is_some()].map(u64::from);
        sums.add(Kind { name, generation, is_background }, [1, stopped, took, paused, known, promoted]);
        if let Some((bytes, time)) = one.heap_bytes.zip(to)
            && (heaps.len() < MOST_HEAPS || heaps.contains_key(&name))
        {
            heaps.entry(name).or_insert_with(|| Heap::new(name.to_string())).see(axis, bytes, time);
        }
    }
    let mut heaps: Vec<Heap> = heaps.into_values().collect();
    heaps.sort_by(|a, b| (b.largest, &a.name).cmp(&(a.largest, &b.name)));
    let more_heaps = heaps.len().saturating_sub(most.processes);
    heaps.truncate(most.processes);
    let by_generation = sums.ranked(most.places, |[_, _, _, paused, ..]| *paused, Kind::to_string);
    let is_there = !found.collections.is_empty();
    Ok(is_there.then_some(Collections { by_generation, heaps, more_heaps, left_out: found.left_out }))
}

impl Heap {
    fn new(name: String) -> Heap {
        Heap { name, sizes: 0, largest: 0, last: 0, bins: vec![0; BINS], last_time: i64::MIN }
    }

    /// Adds a size at a time.
    fn see(&mut self, axis: &Axis, bytes: u64, time: i64) {
        self.sizes = self.sizes.saturating_add(1);
        self.largest = self.largest.max(bytes);
        if time >= self.last_time {
            (self.last, self.last_time) = (bytes, time);
        }
        if let Some(bin) = axis.bin(time).and_then(|bin| self.bins.get_mut(bin)) {
            *bin = bytes.max(*bin);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heap_has_its_largest_and_its_last_size() {
        let mut heap = Heap::new("a.exe".to_owned());
        for (bytes, time) in [(10, 5), (30, 6), (20, 15), (7, 12)] {
            heap.see(&Axis::new(0, 1599), bytes, time);
        }
        assert_eq!((heap.sizes, heap.largest, heap.last, &heap.bins[..3]), (4, 30, 20, &[30, 20, 0][..]));
    }

    #[test]
    fn generations_have_names() {
        let t = |generation, is_background, expected: &str| {
            let name = Name::Known("a.exe");
            assert_eq!(Kind { name, generation, is_background }.to_string(), expected);
        };
        t(Some(2), true, "a.exe, generation 2, background");
        t(Some(0), false, "a.exe, generation 0");
        t(None, false, "a.exe, no generation recorded");
    }
}
