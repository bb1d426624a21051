//! Garbage collections of .NET, from their start to their stop, with the pauses that they caused and the sizes of the heap. The
//! definition is that of the view `gc_collections`.

use std::collections::{HashMap, HashSet};

use base::error::Result;
use conversion::read_columns;

use crate::row_filter::RowFilter;
use crate::source::Source;

/// The dataset of the run-time.
const DATASET: &str = "Microsoft-Windows-DotNETRuntime";
/// Marks that are kept, to bring them into order.
const MOST_MARKS: usize = 1 << 20;
/// Run-times that are distinguished; marks of others are counted.
const MOST_RUNTIMES: usize = 1 << 16;
/// The reason of a pause in which a background collection prepares its end.
const PREPARES: i64 = 6;
/// The type of a collection that runs beside the program.
const BACKGROUND: i64 = 1;

/// A collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GcCollection {
    /// The machine.
    pub machine: i64,
    /// The process.
    pub process: Option<i64>,
    /// The generation that it collects, with those younger.
    pub generation: Option<i64>,
    /// Whether it runs beside the program.
    pub is_background: bool,
    /// When it started, Unix nanoseconds.
    pub from: i64,
    /// When it stopped, where that was seen.
    pub to: Option<i64>,
    /// Nanoseconds of its pauses, where it has stopped and any is known.
    pub pause_ns: Option<u64>,
    /// Bytes of the heap behind it.
    pub heap_bytes: Option<u64>,
    /// Bytes that survived it.
    pub promoted_bytes: Option<u64>,
}

/// All collections of a trace.
#[derive(Clone, Debug, Default)]
pub struct GcCollections {
    /// The collections, those of a run-time in the order of their starts.
    pub collections: Vec<GcCollection>,
    /// Marks that there was no room for.
    pub left_out: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Start { number: Option<i64>, generation: Option<i64>, is_background: bool },
    Stop { number: Option<i64> },
    Heap { bytes: u64, promoted: u64 },
    Suspend { prepares: bool, number: Option<i64> },
    Restart,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    seq: i64,
    time: i64,
    /// The place of its run-time among those that are known.
    runtime: usize,
    thread: Option<i64>,
    kind: Kind,
}

/// Machine, process and run-time in it.
type Runtime = (i64, Option<i64>, Option<i64>);

read_columns! {
    /// A row of .NET.
    struct MarkEvent<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        seq: Option<i64> = "seq",
        process: Option<i64> = "process_id",
        thread: Option<i64> = "thread_id",
        runtime: Option<i64> = "ClrInstanceID",
        number: Option<i64> = "Count",
        generation: Option<i64> = "Depth",
        type_number: Option<i64> = "Type",
        reason: Option<i64> = "Reason",
        size_0: Option<u64> = "GenerationSize0",
        size_1: Option<u64> = "GenerationSize1",
        size_2: Option<u64> = "GenerationSize2",
        size_3: Option<u64> = "GenerationSize3",
        size_4: Option<u64> = "GenerationSize4",
        promoted_0: Option<u64> = "TotalPromotedSize0",
        promoted_1: Option<u64> = "TotalPromotedSize1",
        promoted_2: Option<u64> = "TotalPromotedSize2",
        promoted_3: Option<u64> = "TotalPromotedSize3",
        promoted_4: Option<u64> = "TotalPromotedSize4",
        input: Option<i64> = "input",
    }
}

impl MarkEvent<'_> {
    fn kind(&self) -> Option<Kind> {
        let MarkEvent { number, generation, .. } = *self;
        match self.name?.strip_prefix("GarbageCollection/")? {
            "Start" => Some(Kind::Start { number, generation, is_background: self.type_number == Some(BACKGROUND) }),
            "Stop" => Some(Kind::Stop { number }),
            "GCHeapStats" => Some(Kind::Heap {
                bytes: sum([self.size_0, self.size_1, self.size_2, self.size_3, self.size_4]),
                promoted: sum([self.promoted_0, self.promoted_1, self.promoted_2, self.promoted_3, self.promoted_4]),
            }),
            "GCSuspendEEBegin" => Some(Kind::Suspend { prepares: self.reason == Some(PREPARES), number }),
            "GCRestartEEEnd" => Some(Kind::Restart),
            _ => None,
        }
    }
}

fn sum(sizes: [Option<u64>; 5]) -> u64 {
    sizes.into_iter().flatten().fold(0, u64::saturating_add)
}

/// The heap of a run-time of .NET behind a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GcHeap {
    /// The machine.
    pub machine: i64,
    /// The process.
    pub process: Option<i64>,
    /// The number of the run-time in it.
    pub runtime: Option<i64>,
    /// When it was said, Unix nanoseconds.
    pub time: i64,
    /// Bytes of all generations, of large and of pinned objects.
    pub bytes: u64,
}

/// Reads heaps behind collections, those that a filter passes, in the order of their events.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub fn gc_heaps(source: &Source<'_>, filter: Option<&RowFilter>, mut each: impl FnMut(GcHeap)) -> Result<()> {
    source.events_passing::<MarkEvent<'_>>(DATASET, filter, |passes, row| {
        if let Some((Kind::Heap { bytes, .. }, time)) = row.kind().filter(|_| passes).zip(row.time) {
            let MarkEvent { process, runtime, input, .. } = row;
            each(GcHeap { machine: source.machine(input), process, runtime, time, bytes });
        }
    })?;
    Ok(())
}

/// Reads collections.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub fn gc_collections(source: &Source<'_>) -> Result<GcCollections> {
    let (mut marks, mut runtimes) = (Vec::new(), HashMap::<Runtime, usize>::new());
    let mut found = GcCollections::default();
    source.events::<MarkEvent<'_>>(DATASET, |row| {
        let Some(((kind, time), seq)) = row.kind().zip(row.time).zip(row.seq) else { return };
        let (key, next) = ((source.machine(row.input), row.process, row.runtime), runtimes.len());
        let is_full = marks.len() >= MOST_MARKS || next >= MOST_RUNTIMES && !runtimes.contains_key(&key);
        if is_full {
            found.left_out = found.left_out.saturating_add(1);
            return;
        }
        let runtime = *runtimes.entry(key).or_insert(next);
        marks.push(Mark { seq, time, runtime, thread: row.thread, kind });
    })?;
    marks.sort_by_key(|mark| (mark.runtime, mark.seq));
    let mut keys: Vec<(Runtime, usize)> = runtimes.into_iter().collect();
    keys.sort_by_key(|(_, place)| *place);
    for ((key, _), marks) in keys.into_iter().zip(marks.chunk_by(|a, b| a.runtime == b.runtime)) {
        found.collections.extend(of_runtime(key, marks));
    }
    Ok(found)
}

/// The collections of one run-time, whose marks are in order.
fn of_runtime((machine, process, _): Runtime, marks: &[Mark]) -> Vec<GcCollection> {
    let mut found = Found::default();
    for mark in marks {
        found.collect(machine, process, mark);
        found.stop(mark);
    }
    found.settled()
}

/// What pauses of a collection's number add up to, and the first of them.
#[derive(Clone, Copy, Debug)]
struct Paused {
    ns: u64,
    first: i64,
}

/// A suspension that has not ended, and the collections that began in it.
#[derive(Debug)]
struct Suspension {
    seq: i64,
    time: i64,
    numbers: HashSet<Option<i64>>,
}

/// What is known of a run-time up to a mark.
#[derive(Debug, Default)]
struct Found {
    /// Number and `seq` of the start of each collection.
    starts: Vec<(Option<i64>, i64)>,
    collections: Vec<GcCollection>,
    /// By number the collection whose start was seen last, `None` where a stop was.
    running: HashMap<Option<i64>, Option<usize>>,
    /// By thread its last stop, and the collection that it ended; `None` from its first statistics on.
    stopped: HashMap<Option<i64>, Option<usize>>,
    suspension: Option<Suspension>,
    paused: HashMap<Option<i64>, Paused>,
}

impl Found {
    /// Follows starts, stops and statistics.
    fn collect(&mut self, machine: i64, process: Option<i64>, mark: &Mark) {
        match mark.kind {
            // A start may be written twice, by two versions of the event.
            Kind::Start { number, .. } if matches!(self.running.get(&number), Some(Some(_))) => {}
            Kind::Start { number, generation, is_background } => {
                self.running.insert(number, Some(self.collections.len()));
                self.starts.push((number, mark.seq));
                self.collections.push(GcCollection {
                    machine,
                    process,
                    generation,
                    is_background,
                    from: mark.time,
                    to: None,
                    pause_ns: None,
                    heap_bytes: None,
                    promoted_bytes: None,
                });
            }
            Kind::Stop { number } => {
                let ended = self.running.insert(number, None).flatten();
                if let Some(collection) = ended.and_then(|place| self.collections.get_mut(place)) {
                    collection.to = Some(mark.time);
                }
                self.stopped.insert(mark.thread, ended);
            }
            Kind::Heap { bytes, promoted } => {
                let ended = self.stopped.insert(mark.thread, None).flatten();
                if let Some(collection) = ended.and_then(|place| self.collections.get_mut(place)) {
                    (collection.heap_bytes, collection.promoted_bytes) = (Some(bytes), Some(promoted));
                }
            }
            Kind::Suspend { .. } | Kind::Restart => {}
        }
    }

    /// Follows pauses: those of a collection are the ones in which it begins, and the one that it prepares its end in.
    fn stop(&mut self, mark: &Mark) {
        match mark.kind {
            Kind::Suspend { prepares, number } => {
                let numbers = if prepares { HashSet::from([number]) } else { HashSet::new() };
                self.suspension = Some(Suspension { seq: mark.seq, time: mark.time, numbers });
            }
            Kind::Start { number, .. } => {
                if let Some(open) = &mut self.suspension {
                    open.numbers.insert(number);
                }
            }
            Kind::Restart => {
                let Some(Suspension { seq, time, numbers }) = self.suspension.take() else { return };
                let ns = mark.time.checked_sub(time).and_then(|ns| u64::try_from(ns).ok()).unwrap_or(0);
                for number in numbers {
                    let paused = self.paused.entry(number).or_insert(Paused { ns: 0, first: seq });
                    paused.ns = paused.ns.saturating_add(ns);
                }
            }
            Kind::Stop { .. } | Kind::Heap { .. } => {}
        }
    }

    fn settled(mut self) -> Vec<GcCollection> {
        for (collection, (number, seq)) in self.collections.iter_mut().zip(&self.starts) {
            let paused = number.and_then(|_| self.paused.get(number)).filter(|paused| paused.first < *seq);
            collection.pause_ns = paused.filter(|_| collection.to.is_some()).map(|paused| paused.ns);
        }
        self.collections
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(marks: &[(i64, i64, Kind)]) -> Vec<GcCollection> {
        let mark = |(place, (time, thread, kind)): (i64, &(i64, i64, Kind))| Mark {
            seq: place,
            time: *time,
            runtime: 0,
            thread: Some(*thread),
            kind: *kind,
        };
        of_runtime((0, Some(8), Some(1)), &(0..).zip(marks).map(mark).collect::<Vec<Mark>>())
    }

    const fn start(number: i64, generation: i64, is_background: bool) -> Kind {
        Kind::Start { number: Some(number), generation: Some(generation), is_background }
    }

    #[test]
    fn a_background_collection_has_two_pauses_and_one_within() {
        let suspend = |prepares, number| Kind::Suspend { prepares, number };
        let heap = |bytes| Kind::Heap { bytes, promoted: bytes / 2 };
        let found = of(&[
            (100, 1, suspend(false, None)),
            (110, 1, start(1, 2, true)),
            (130, 1, Kind::Restart),
            (200, 2, suspend(false, None)),
            (210, 2, start(2, 0, false)),
            (220, 2, Kind::Stop { number: Some(2) }),
            (221, 3, heap(7)),
            (222, 2, heap(40)),
            (223, 2, heap(50)),
            (240, 2, Kind::Restart),
            (300, 1, suspend(true, Some(1))),
            (305, 1, Kind::Restart),
            (306, 1, Kind::Restart),
            (400, 1, Kind::Stop { number: Some(1) }),
            (500, 1, start(3, 1, false)),
            (501, 1, start(3, 1, false)),
        ]);
        let seen: Vec<_> = found
            .iter()
            .map(|one| {
                (one.generation, one.is_background, one.from, one.to, one.pause_ns, one.heap_bytes, one.promoted_bytes)
            })
            .collect();
        assert_eq!(
            seen,
            [
                (Some(2), true, 110, Some(400), Some(35), None, None),
                (Some(0), false, 210, Some(220), Some(40), Some(40), Some(20)),
                (Some(1), false, 500, None, None, None, None),
            ]
        );
    }

    #[test]
    fn what_began_before_the_trace_is_none() {
        assert_eq!(of(&[(1, 1, Kind::Stop { number: Some(1) }), (2, 1, Kind::Heap { bytes: 1, promoted: 1 })]), []);
        let found =
            of(&[(1, 1, start(1, 0, false)), (2, 1, Kind::Stop { number: Some(1) }), (3, 1, start(1, 1, false))]);
        assert_eq!(found.iter().map(|one| one.to).collect::<Vec<_>>(), [Some(2), None]);
    }
}
