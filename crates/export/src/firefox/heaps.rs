//! Counters of memory: the heaps of .NET as collections leave them.

use std::collections::HashMap;

use base::error::Result;
use fxprof_processed_profile::{CounterHandle, Profile};
use published::gc_collections::{GcHeap, gc_heaps};

use super::chosen::Chosen;
use super::threads::Threads;
use crate::exported::Exported;
use crate::opened::Opened;

/// Run-times whose heaps are told apart.
const MOST_RUNTIMES: usize = 1 << 12;

/// The counter of a process.
struct Heaps {
    counter: CounterHandle,
    /// Bytes of the heap of each of its run-times.
    runtimes: HashMap<Option<i64>, u64>,
}

/// Adds a counter to each process that is chosen and has a heap of .NET: its bytes, in the category by which the viewer knows memory.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn draw_heaps(
    opened: &Opened<'_>,
    chosen: &Chosen,
    profile: &mut Profile,
    threads: &mut Threads,
    exported: &mut Exported,
) -> Result<()> {
    let mut known = HashMap::<(i64, Option<i64>), Heaps>::new();
    let (mut runtimes, mut left_out) = (0usize, 0u64);
    gc_heaps(&opened.source, opened.filter.as_deref(), |GcHeap { machine, process, runtime, time, bytes }| {
        if !chosen.has(machine, process) {
            return;
        }
        let heaps = known.get(&(machine, process));
        if !heaps.is_some_and(|heaps| heaps.runtimes.contains_key(&runtime)) {
            if runtimes >= MOST_RUNTIMES {
                left_out = left_out.saturating_add(1);
                return;
            }
            runtimes = runtimes.saturating_add(1);
        }
        let heaps = known.entry((machine, process)).or_insert_with(|| {
            let process = threads.of_process(profile, machine, process);
            let counter = profile.add_counter(process, "gcHeap", "Memory", "Heaps of .NET behind collections");
            Heaps { counter, runtimes: HashMap::new() }
        });
        let before = heaps.runtimes.insert(runtime, bytes).unwrap_or(0);
        profile.add_counter_sample(heaps.counter, threads.at(time), difference(before, bytes), 1);
    })?;
    exported.warn_of(left_out, "sizes of heaps are left out: there are too many run-times");
    Ok(())
}

/// Bytes more than before.
#[expect(clippy::cast_precision_loss, reason = "the format has no other numbers")]
fn difference(before: u64, bytes: u64) -> f64 {
    bytes as f64 - before as f64
}
