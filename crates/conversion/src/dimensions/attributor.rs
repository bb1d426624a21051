//! Whose an event is: the process and thread of its header, of its payload, or by the thread table or the walk of its stack.

use etl::event::named_ids::{AttributedIds, Attribution, Ids};

use super::owners::{Meaning, Owners};

/// Says whose events are. One thread has it: it remembers what the last ids meant, and for how long.
#[derive(Debug)]
pub struct Attributor<'a> {
    owners: &'a Owners<'a>,
    threads: Recent,
    processes: Recent,
}

impl<'a> Attributor<'a> {
    /// By the processes of a recording.
    pub fn new(owners: &'a Owners<'a>) -> Self {
        Attributor { owners, threads: Recent::default(), processes: Recent::default() }
    }

    /// Whose an event of a machine is that has these ids in its header, and, where it has none there, in its payload; at a
    /// time in Unix nanoseconds. `walked` is the process that the walk of its stack names.
    #[expect(clippy::inline_always, reason = "ids that go through memory cost more than to find them")]
    #[inline(always)]
    pub fn attribute(
        &mut self,
        machine: u16,
        header: Ids,
        payload: impl FnOnce() -> Ids,
        walked: impl FnOnce() -> Option<u32>,
        ns: i64,
    ) -> AttributedIds {
        let (mut ids, mut source) = (header, Attribution::Header);
        if ids == Ids::default() {
            (ids, source) = (payload(), Attribution::Payload);
        }
        let Ids { mut process, thread } = ids;
        if let (None, Some(thread)) = (process, thread) {
            process = self.threads.get((machine, thread), ns, |ns| self.owners.process_of(machine, thread, ns));
            if process.is_some() {
                source = Attribution::Thread;
            } else if let Some(walked) = walked() {
                (process, source) = (Some(walked), Attribution::Walk);
            }
        }
        let name = |id| self.processes.get((machine, id), ns, |ns| self.owners.name_of(machine, id, ns));
        let name = process.and_then(name);
        let is_known = process.is_some() || thread.is_some();
        AttributedIds { process, thread, name, source: is_known.then_some(source) }
    }
}

/// Ids whose meaning is remembered, each in a place that follows from its lowest bits and its machine. Windows gives out
/// multiples of four.
const REMEMBERED: usize = 1024;

/// What ids meant that were asked for, each with the number of its machine in front.
#[derive(Debug)]
struct Recent(Box<[(u64, Meaning)]>);

impl Default for Recent {
    fn default() -> Self {
        // A span that holds at no time.
        let nothing = Meaning { from_ns: 0, to_ns: 0, value: None };
        Recent(vec![(0, nothing); REMEMBERED].into())
    }
}

impl Recent {
    #[inline]
    fn get(&mut self, (machine, id): (u16, u32), ns: i64, find: impl FnOnce(i64) -> Meaning) -> Option<u32> {
        let slot = &mut self.0[((id >> 2) ^ u32::from(machine)) as usize % REMEMBERED];
        let id = u64::from(machine) << u32::BITS | u64::from(id);
        let (known_id, known) = *slot;
        if known_id == id && (known.from_ns..known.to_ns).contains(&ns) {
            return known.value;
        }
        let found = find(ns);
        *slot = (id, found);
        found.value
    }
}

#[cfg(test)]
mod tests {
    use spill::{SpillSpace, Spilled};

    use super::super::attributes::{process, thread};
    use super::super::result::Dimensions;
    use super::super::span::Span;
    use super::super::texts::TextWriter;
    use super::*;

    /// Process 8 is `a.exe` from 0 and `b.exe` from 50; process 4 has no name. Thread 100 is in 8 from 10 to 60, then in 4. On
    /// machine 1 process 8 is `b.exe`, and thread 100 in 12.
    fn dimensions() -> Dimensions {
        let mut texts = TextWriter::new(&SpillSpace::temporary());
        let [a, b] = [r"\Device\a.exe", "b.exe"].map(|name| texts.add(name.as_bytes()).unwrap());
        let named = |key, from_ns, to_ns, name| {
            let mut span = Span::plain(key, from_ns, to_ns);
            span.texts[process::IMAGE] = name;
            span
        };
        let of = |key, from_ns, to_ns, process: u64| {
            let mut span = Span::plain(key, from_ns, to_ns);
            span.present = 1 << thread::PROCESS;
            span.numbers[thread::PROCESS] = process;
            span
        };
        let other = |mut span: Span| {
            span.machine = 1;
            span
        };
        Dimensions {
            processes: spilled(&[
                named(4, 0, 100, 0),
                named(8, 0, 50, a),
                named(8, 50, 100, b),
                other(named(8, 0, 100, b)),
            ]),
            threads: spilled(&[
                of(100, 10, 60, 8),
                of(100, 60, 100, 4),
                other(of(100, 0, 100, 12)),
                of(104, 0, 100, u64::MAX),
            ]),
            texts: texts.finish().unwrap(),
            ..Dimensions::default()
        }
    }

    fn spilled(spans: &[Span]) -> Spilled<Span> {
        let mut records = SpillSpace::temporary().records();
        records.extend(spans).unwrap();
        records.finish().unwrap()
    }

    #[test]
    fn ids_of_two_machines_are_distinguished() {
        let dimensions = dimensions();
        let owners = Owners::of(&dimensions);
        let mut attributor = Attributor::new(&owners);
        let mut t = |machine, process, thread, expected: Option<u32>, name: Option<&str>| {
            let found = attributor.attribute(machine, Ids { process, thread }, Ids::default, || None, 20);
            let found_name = found.name.and_then(|name| owners.names().text(name as usize));
            assert_eq!((found.process, found_name), (expected, name), "{process:?} {thread:?} of {machine}");
        };
        for _ in 0..2 {
            t(0, Some(8), None, Some(8), Some("a.exe"));
            t(1, Some(8), None, Some(8), Some("b.exe"));
            t(2, Some(8), None, Some(8), None);
            t(0, None, Some(100), Some(8), Some("a.exe"));
            t(1, None, Some(100), Some(12), None);
            t(2, None, Some(100), None, None);
            // The place of machine 1's process 8 is that of machine 0's process 12.
            t(0, Some(12), None, Some(12), None);
        }
    }

    #[test]
    fn header_payload_thread_table_and_walk_are_asked_in_this_order() {
        use Attribution::{Header, Payload, Thread, Walk};
        let dimensions = dimensions();
        let owners = Owners::of(&dimensions);
        let mut attributor = Attributor::new(&owners);
        let ids = |process, thread| Ids { process, thread };
        let walked = std::cell::Cell::new(None);
        let mut t = |header, payload, ns, process, name: Option<&str>, source| {
            let found = attributor.attribute(0, header, || payload, || walked.get(), ns);
            let found_name = found.name.and_then(|name| owners.names().text(name as usize));
            assert_eq!(
                (found.process, found_name, found.source),
                (process, name, source),
                "{header:?} {payload:?} {ns}"
            );
        };
        let (none, other) = (ids(None, None), ids(Some(9), Some(9)));
        t(ids(Some(8), Some(7)), other, 49, Some(8), Some("a.exe"), Some(Header));
        t(ids(Some(8), Some(7)), other, 50, Some(8), Some("b.exe"), Some(Header));
        t(none, ids(Some(8), None), 0, Some(8), Some("a.exe"), Some(Payload));
        t(none, ids(None, Some(100)), 20, Some(8), Some("a.exe"), Some(Thread));
        t(none, ids(None, Some(100)), 55, Some(8), Some("b.exe"), Some(Thread));
        t(none, ids(None, Some(100)), 60, Some(4), None, Some(Thread));
        t(none, ids(None, Some(100)), 9, None, None, Some(Payload));
        t(ids(None, Some(100)), other, 20, Some(8), Some("a.exe"), Some(Thread));
        t(ids(None, Some(7)), other, 20, None, None, Some(Header));
        // A process whose number no process can have.
        t(none, ids(None, Some(104)), 20, None, None, Some(Payload));
        t(none, none, 20, None, None, None);
        // What a walk names is asked for last, and only of a thread.
        walked.set(Some(8));
        t(ids(None, Some(7)), other, 20, Some(8), Some("a.exe"), Some(Walk));
        t(none, ids(None, Some(100)), 9, Some(8), Some("a.exe"), Some(Walk));
        t(none, ids(None, Some(104)), 60, Some(8), Some("b.exe"), Some(Walk));
        t(none, ids(None, Some(100)), 60, Some(4), None, Some(Thread));
        t(ids(Some(4), None), other, 20, Some(4), None, Some(Header));
        t(none, none, 20, None, None, None);
        walked.set(None);
        // Ids that share a place are not taken for one another.
        t(ids(Some(8 + 4 * 1024), None), none, 49, Some(8 + 4 * 1024), None, Some(Header));
        t(ids(Some(8), None), none, 49, Some(8), Some("a.exe"), Some(Header));
    }
}
