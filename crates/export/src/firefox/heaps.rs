//! Counters of memory: the heaps of .NET as collections leave them.

use std::collections::HashMap;

use base::error::Result;
use conversion::read_columns;
use fxprof_processed_profile::{CounterHandle, Profile};

use super::chosen::Chosen;
use super::threads::Threads;
use crate::exported::Exported;
use crate::opened::Opened;

/// Run-times whose heaps are told apart.
const MOST_RUNTIMES: usize = 1 << 12;

read_columns! {
    /// What a run-time of .NET says of its heap behind a collection.
    struct HeapStats<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        input: Option<i64> = "input",
        process: Option<i64> = "process_id",
        runtime: Option<i64> = "ClrInstanceID",
        size_0: Option<u64> = "GenerationSize0",
        size_1: Option<u64> = "GenerationSize1",
        size_2: Option<u64> = "GenerationSize2",
        large: Option<u64> = "GenerationSize3",
        pinned: Option<u64> = "GenerationSize4",
    }
}

impl HeapStats<'_> {
    /// Bytes of all generations, of large and of pinned objects; `None` of another event.
    fn bytes(&self) -> Option<u64> {
        let sizes = [self.size_0, self.size_1, self.size_2, self.large, self.pinned];
        let is_it = self.name == Some("GarbageCollection/GCHeapStats");
        is_it.then(|| sizes.into_iter().flatten().fold(0, u64::saturating_add))
    }
}

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
    let source = &opened.source;
    source.events_passing::<HeapStats<'_>>(
        "Microsoft-Windows-DotNETRuntime",
        opened.filter.as_deref(),
        |passes, row| {
            let machine = source.machine(row.input);
            let Some((bytes, time)) = row.bytes().filter(|_| passes).zip(row.time) else { return };
            if !chosen.has(machine, row.process) {
                return;
            }
            let has_it =
                known.get(&(machine, row.process)).is_some_and(|heaps| heaps.runtimes.contains_key(&row.runtime));
            if !has_it {
                if runtimes >= MOST_RUNTIMES {
                    left_out = left_out.saturating_add(1);
                    return;
                }
                runtimes = runtimes.saturating_add(1);
            }
            let heaps = known.entry((machine, row.process)).or_insert_with(|| {
                let process = threads.of_process(profile, machine, row.process);
                let counter = profile.add_counter(process, "gcHeap", "Memory", "Heaps of .NET behind collections");
                Heaps { counter, runtimes: HashMap::new() }
            });
            let before = heaps.runtimes.insert(row.runtime, bytes).unwrap_or(0);
            profile.add_counter_sample(heaps.counter, threads.at(time), difference(before, bytes), 1);
        },
    )?;
    exported.warn_of(left_out, "sizes of heaps are left out: there are too many run-times");
    Ok(())
}

/// Bytes more than before.
#[expect(clippy::cast_precision_loss, reason = "the format has no other numbers")]
fn difference(before: u64, bytes: u64) -> f64 {
    bytes as f64 - before as f64
}
