//! Which process a thread or an event belongs to, by id and time.

use std::collections::HashMap;
use std::fmt;

use base::error::Result;
use conversion::read_columns;
use conversion::sidecar::dimensions::{ProcessRow, ThreadRow};

use crate::source::Source;

/// Spans of ids that are kept of each table; where there are more, the report says so.
const MOST_SPANS: usize = 1 << 21;

/// What an id meant for a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// The machine on which it did.
    pub machine: i64,
    /// The id.
    pub id: i64,
    /// Unix nanoseconds from when on.
    pub from: i64,
    /// Until when, the time itself excluded.
    pub to: i64,
    /// A number of whoever asks.
    pub means: Option<i64>,
}

/// What ids meant, and when.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    rows: Vec<Span>,
    left_out: u64,
}

impl Spans {
    /// Adds a span, as far as there is room.
    pub(crate) fn add(&mut self, span: Span) {
        if self.rows.len() < MOST_SPANS {
            self.rows.push(span);
        } else {
            self.left_out = self.left_out.saturating_add(1);
        }
    }

    /// Brings all into order, before the first look-up.
    pub(crate) fn settle(&mut self) {
        self.rows.sort_by_key(|span| (span.machine, span.id, span.from, span.to));
    }

    /// Spans that there was no room for.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// What an id meant at a time.
    pub(crate) fn at(&self, machine: i64, id: i64, time: i64) -> Option<i64> {
        let behind = self.rows.partition_point(|span| (span.machine, span.id, span.from) <= (machine, id, time));
        let span = self.rows.get(behind.checked_sub(1)?)?;
        ((span.machine, span.id) == (machine, id) && time < span.to).then_some(span.means)?
    }
}

/// Processes and threads of a trace.
#[derive(Debug, Default)]
pub struct Who {
    names: Vec<String>,
    processes: Spans,
    threads: Spans,
}

/// Whose something is, as far as the trace says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Name<'a> {
    /// A name: of a process, or of what is nobody's.
    Known(&'a str),
    /// The id of a process without a known name.
    Process(i64),
    /// The id of a thread of an unknown process.
    Thread(i64),
    /// Nothing says whose it is.
    Nobody,
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Known(name) => f.write_str(name),
            Name::Process(id) => write!(f, "process {id}"),
            Name::Thread(id) => write!(f, "thread {id}"),
            Name::Nobody => f.write_str("no process recorded"),
        }
    }
}

/// Whether the text of a name is that of something whose name is not recorded, which other traces have other ids for.
pub(crate) fn is_nameless(text: &str) -> bool {
    let is_id = |text: &str| text.parse::<i64>().is_ok();
    let of = |word: &str| text.strip_prefix(word).is_some_and(is_id);
    of("process ") || of("thread ")
}

/// The process that the walk of an event names, of a thread that the table of threads does not have: its columns `process_id`
/// and `attribution` say so.
pub fn walked(process: Option<i64>, attribution: Option<&str>) -> Option<i64> {
    process.filter(|_| attribution == Some("walk"))
}

read_columns! {
    /// A span of a process id.
    struct ProcessSpan<'b> of ProcessRow<'static> {
        process_id: i64,
        image_name: Option<&'b str>,
        from_ns: i64,
        to_ns: i64,
        machine: i64,
    }
}

read_columns! {
    /// A span of a thread id.
    struct ThreadSpan of ThreadRow<'static> {
        thread_id: i64,
        process_id: Option<i64>,
        from_ns: i64,
        to_ns: i64,
        machine: i64,
    }
}

impl Who {
    /// Reads processes and threads from the sidecar.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when it cannot be read.
    pub fn read(source: &Source<'_>) -> Result<Who> {
        let mut who = Who::default();
        let mut numbers = HashMap::<String, i64>::new();
        source.sidecar::<ProcessSpan<'_>>(|row| {
            let means = row.image_name.map(|name| {
                *numbers.entry(name.to_owned()).or_insert_with(|| {
                    who.names.push(name.to_owned());
                    i64::try_from(who.names.len() - 1).unwrap_or(i64::MAX)
                })
            });
            let ProcessSpan { process_id: id, from_ns: from, to_ns: to, machine, .. } = row;
            who.processes.add(Span { machine, id, from, to, means });
        })?;
        source.sidecar::<ThreadSpan>(|row| {
            let ThreadSpan { thread_id: id, from_ns: from, to_ns: to, process_id: means, machine } = row;
            who.threads.add(Span { machine, id, from, to, means });
        })?;
        who.processes.settle();
        who.threads.settle();
        Ok(who)
    }

    /// The process of an event on a machine: of the id that it says, else of the thread's process.
    pub fn name(&self, machine: i64, process: Option<i64>, thread: Option<i64>, time: i64) -> Name<'_> {
        let Some(id) = self.process(machine, process, thread, time) else {
            return thread.map_or(Name::Nobody, Name::Thread);
        };
        let name = self.processes.at(machine, id, time);
        let name = name.and_then(|number| self.names.get(usize::try_from(number).ok()?));
        name.map_or(Name::Process(id), |name| Name::Known(name))
    }

    /// The id of that process.
    pub fn process(&self, machine: i64, process: Option<i64>, thread: Option<i64>, time: i64) -> Option<i64> {
        process.or_else(|| self.threads.at(machine, thread?, time))
    }

    /// Spans of processes and threads that the report had no room for.
    pub fn left_out(&self) -> u64 {
        self.processes.left_out.saturating_add(self.threads.left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_means_what_it_meant_at_the_time() {
        let mut who = Who { names: vec!["a.exe".to_owned(), "b.exe".to_owned()], ..Who::default() };
        let span = |machine, id, from, to, means| Span { machine, id, from, to, means };
        let other = span(1, 8, 0, 90, Some(1));
        for one in [span(0, 8, 50, 90, Some(1)), other, span(0, 8, 0, 50, Some(0)), span(0, 9, 0, 90, None)] {
            who.processes.add(one);
        }
        who.threads.add(span(0, 1, 10, 60, Some(8)));
        who.threads.add(span(1, 1, 0, 90, Some(9)));
        who.processes.settle();
        who.threads.settle();
        let of = |process, time| who.name(0, Some(process), None, time).to_string();
        assert_eq!((of(8, 49), of(8, 50)), ("a.exe".to_owned(), "b.exe".to_owned()));
        assert_eq!([of(8, 90), of(8, -1), of(9, 5)], ["process 8", "process 8", "process 9"]);
        let of = |machine, process, thread, time| who.name(machine, process, thread, time);
        assert_eq!((of(0, None, Some(1), 20), of(0, None, Some(1), 60)), (Name::Known("a.exe"), Name::Thread(1)));
        assert_eq!((of(0, None, None, 20), Name::Nobody.to_string()), (Name::Nobody, "no process recorded".to_owned()));
        assert_eq!((who.process(0, Some(7), Some(1), 20), who.process(0, None, None, 20)), (Some(7), None));
        // Of another machine.
        assert_eq!((of(1, Some(8), None, 49), of(2, Some(8), None, 49)), (Name::Known("b.exe"), Name::Process(8)));
        assert_eq!((who.process(1, None, Some(1), 20), who.process(2, None, Some(1), 20)), (Some(9), None));
    }
}
