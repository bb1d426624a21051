//! Which process a thread or an event belongs to, by id and time.

use std::collections::HashMap;

use super::source::Source;
use crate::error::Result;

/// Spans of ids that are kept of each table; where there are more, the report says so.
const MOST_SPANS: usize = 1 << 21;

/// What an id meant for a time.
#[derive(Clone, Copy, Debug)]
struct Span {
    id: i64,
    from: i64,
    to: i64,
    means: Option<i64>,
}

/// What ids meant, and when.
#[derive(Debug, Default)]
struct Spans {
    rows: Vec<Span>,
    left_out: u64,
}

impl Spans {
    fn add(&mut self, span: Span) {
        if self.rows.len() < MOST_SPANS {
            self.rows.push(span);
        } else {
            self.left_out = self.left_out.saturating_add(1);
        }
    }

    fn settle(&mut self) {
        self.rows.sort_by_key(|span| (span.id, span.from, span.to));
    }

    fn at(&self, id: i64, time: i64) -> Option<i64> {
        let behind = self.rows.partition_point(|span| (span.id, span.from) <= (id, time));
        let span = self.rows.get(behind.checked_sub(1)?)?;
        (span.id == id && time < span.to).then_some(span.means)?
    }
}

/// Processes and threads of a trace.
#[derive(Debug, Default)]
pub(super) struct Who {
    names: Vec<String>,
    processes: Spans,
    threads: Spans,
}

/// What a process is called of which the trace does not tell the name.
pub(super) const UNKNOWN: &str = "unknown";

impl Who {
    /// Reads what the sidecar tells.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) when it cannot be read.
    pub(super) fn read(source: &Source<'_>) -> Result<Who> {
        let mut who = Who::default();
        let mut numbers = HashMap::<String, i64>::new();
        source.sidecar("processes", &["process_id", "from_ns", "to_ns", "image_name"], |batch, row| {
            let number = |column| batch.integer(column, row);
            let Some(((id, from), to)) = number(0).zip(number(1)).zip(number(2)) else { return };
            let means = batch.text(3, row).map(|name| {
                *numbers.entry(name.to_owned()).or_insert_with(|| {
                    who.names.push(name.to_owned());
                    i64::try_from(who.names.len() - 1).unwrap_or(i64::MAX)
                })
            });
            who.processes.add(Span { id, from, to, means });
        })?;
        source.sidecar("threads", &["thread_id", "from_ns", "to_ns", "process_id"], |batch, row| {
            let number = |column| batch.integer(column, row);
            let Some(((id, from), to)) = number(0).zip(number(1)).zip(number(2)) else { return };
            who.threads.add(Span { id, from, to, means: number(3) });
        })?;
        who.processes.settle();
        who.threads.settle();
        Ok(who)
    }

    /// The name of the process of an event: of the id that it says, else of the thread's process.
    pub(super) fn name(&self, process: Option<i64>, thread: Option<i64>, time: i64) -> &str {
        let process = self.process(process, thread, time);
        let name = process.and_then(|process| self.processes.at(process, time));
        let name = name.and_then(|number| self.names.get(usize::try_from(number).ok()?));
        name.map_or(UNKNOWN, String::as_str)
    }

    /// The id of that process.
    pub(super) fn process(&self, process: Option<i64>, thread: Option<i64>, time: i64) -> Option<i64> {
        process.or_else(|| self.threads.at(thread?, time))
    }

    /// Spans of processes and threads that the report had no room for.
    pub(super) fn left_out(&self) -> u64 {
        self.processes.left_out.saturating_add(self.threads.left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_means_what_it_meant_at_the_time() {
        let mut who = Who { names: vec!["a.exe".to_owned(), "b.exe".to_owned()], ..Who::default() };
        let span = |id, from, to, means| Span { id, from, to, means };
        for one in [span(8, 50, 90, Some(1)), span(8, 0, 50, Some(0)), span(9, 0, 90, None)] {
            who.processes.add(one);
        }
        who.threads.add(span(1, 10, 60, Some(8)));
        who.processes.settle();
        who.threads.settle();
        assert_eq!((who.name(Some(8), None, 49), who.name(Some(8), None, 50)), ("a.exe", "b.exe"));
        assert_eq!(
            (who.name(Some(8), None, 90), who.name(Some(8), None, -1), who.name(Some(9), None, 5)),
            (UNKNOWN, UNKNOWN, UNKNOWN)
        );
        assert_eq!((who.name(None, Some(1), 20), who.name(None, Some(1), 60)), ("a.exe", UNKNOWN));
        assert_eq!((who.process(Some(7), Some(1), 20), who.process(None, None, 20)), (Some(7), None));
    }
}
