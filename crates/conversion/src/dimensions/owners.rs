//! Which process had a thread, and what processes were called, at any time of a recording.

use std::sync::Arc;

use columnar::columns::KeyTable;
use hashbrown::HashMap;

use super::attributes::{process, thread};
use super::paths::file_name;
use super::result::Dimensions;
use super::span::Span;
use crate::survey::{Issue, IssueCode, Severity};

/// Bytes of different names of processes that are kept; processes behind that have none.
const MAX_NAME_BYTES: usize = 16 << 20;

/// The processes of a recording and their threads.
#[derive(Debug)]
pub struct Owners<'a> {
    processes: &'a [Span],
    threads: &'a [Span],
    /// The number of each process's name.
    name_of: Vec<Option<u32>>,
    names: Arc<KeyTable>,
    /// Processes whose name is not kept.
    unnamed: u64,
}

/// What an id means, and for how long: from one time up to, but not at, another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meaning {
    pub from_ns: i64,
    pub to_ns: i64,
    pub value: Option<u32>,
}

impl<'a> Owners<'a> {
    /// Those of a recording.
    pub fn of(dimensions: &'a Dimensions) -> Self {
        let (mut numbers, mut names, mut bytes, mut unnamed) = (HashMap::new(), Vec::new(), 0, 0);
        let mut number = |name: &'a str| {
            if let Some(&known) = numbers.get(name) {
                return Some(known);
            }
            let next = u32::try_from(names.len()).ok().filter(|_| bytes + name.len() <= MAX_NAME_BYTES);
            let Some(next) = next else {
                unnamed += 1;
                return None;
            };
            bytes += name.len();
            names.push(name);
            numbers.insert(name, next);
            Some(next)
        };
        let name = |span: &Span| dimensions.text(span, process::IMAGE).map(file_name).filter(|name| !name.is_empty());
        let name_of = dimensions.processes.iter().map(|span| name(span).and_then(&mut number)).collect();
        Owners {
            processes: &dimensions.processes,
            threads: &dimensions.threads,
            name_of,
            names: Arc::new(KeyTable::of_texts(names.into_iter().map(Some))),
            unnamed,
        }
    }

    /// What is left out of the names.
    pub fn issue(&self) -> Option<Issue> {
        let message = format!(
            "the rows of {} processes have no process_name: expected at most {MAX_NAME_BYTES} bytes of different names in a \
             recording; `processes` has all of them",
            self.unnamed
        );
        (self.unnamed > 0).then(|| Issue::new(Severity::Warning, IssueCode::ProcessNamesLeftOut, message))
    }

    /// The names of processes, by number.
    pub fn names(&self) -> &Arc<KeyTable> {
        &self.names
    }

    /// The process that a thread of a machine was in.
    pub(super) fn process_of(&self, machine: u16, thread_id: u32, ns: i64) -> Meaning {
        let (place, known) = find(self.threads, (machine, thread_id), ns);
        let process = place.and_then(|place| self.threads[place].number(thread::PROCESS));
        Meaning { value: process.and_then(|id| u32::try_from(id).ok()), ..known }
    }

    /// The number of the name of a process of a machine.
    pub(super) fn name_of(&self, machine: u16, process_id: u32, ns: i64) -> Meaning {
        let (place, known) = find(self.processes, (machine, process_id), ns);
        Meaning { value: place.and_then(|place| self.name_of[place]), ..known }
    }
}

/// The place of the span of an id of a machine that holds at a time, and for how long it or its absence does.
fn find(spans: &[Span], (machine, id): (u16, u32), ns: i64) -> (Option<usize>, Meaning) {
    let id = u64::from(id);
    let behind = spans.partition_point(|span| (span.key, span.machine, span.from_ns) <= (id, machine, ns));
    let of_id = |place: usize| spans.get(place).filter(|span| (span.key, span.machine) == (id, machine));
    let before = behind.checked_sub(1);
    match before.and_then(|place| Some((place, of_id(place)?))) {
        Some((place, span)) if span.holds_at(ns) => {
            (Some(place), Meaning { from_ns: span.from_ns, to_ns: span.to_ns, value: None })
        }
        ended => {
            let from_ns = ended.map_or(i64::MIN, |(_, span)| span.to_ns);
            let to_ns = of_id(behind).map_or(i64::MAX, |span| span.from_ns);
            (None, Meaning { from_ns, to_ns, value: None })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_means_the_same_for_as_long_as_it_is_known_to() {
        let spans = [(7, 0, 10, 20), (7, 0, 20, 30), (7, 0, 40, 50), (7, 2, 15, 45), (9, 0, 0, 5)];
        let spans = spans.map(|(key, machine, from, to)| {
            let mut span = Span::plain(key, from, to);
            span.machine = machine;
            span
        });
        let of_machine = |machine, id, ns, place: Option<usize>, from_ns, to_ns| {
            let found = find(&spans, (machine, id), ns);
            assert_eq!(found, (place, Meaning { from_ns, to_ns, value: None }), "{id} of {machine} at {ns}");
        };
        let t = |id, ns, place, from_ns, to_ns| of_machine(0, id, ns, place, from_ns, to_ns);
        t(7, 9, None, i64::MIN, 10);
        t(7, 10, Some(0), 10, 20);
        t(7, 19, Some(0), 10, 20);
        t(7, 20, Some(1), 20, 30);
        t(7, 30, None, 30, 40);
        t(7, 49, Some(2), 40, 50);
        t(7, 50, None, 50, i64::MAX);
        t(8, 12, None, i64::MIN, i64::MAX);
        t(9, 4, Some(4), 0, 5);
        t(9, i64::MAX, None, 5, i64::MAX);
        of_machine(2, 7, 14, None, i64::MIN, 15);
        of_machine(2, 7, 44, Some(3), 15, 45);
        of_machine(2, 7, 45, None, 45, i64::MAX);
        of_machine(1, 7, 20, None, i64::MIN, i64::MAX);
        of_machine(2, 9, 4, None, i64::MIN, i64::MAX);
    }
}
