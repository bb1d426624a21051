//! Which question to ask first of a trace, by what it answers.

use conversion::sidecar::answers::AnswerRow;

/// A question to ask first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Which of [`conversion::views::QUESTIONS`] has to be answerable; none for what every trace answers.
    question: &'static str,
    /// The view that is asked.
    pub view: &'static str,
    /// What it is asked for, that by which rows are sorted first.
    columns: &'static str,
}

/// All of them, in the order in which a page about a trace answers them. Processors come first, packets before what
/// is made of them, and what nearly every trace has comes last.
const ASKED: [Asked; 18] = [
    of("cpu_samples", "cpu_samples", "count(*) AS samples, process_name, module"),
    of("cpu_intervals", "cpu_usage", "sum(running_ns) AS running_ns, process_name"),
    of("waits", "off_cpu", "sum(off_cpu_ns) AS off_cpu_ns, process_name"),
    of("gc_pauses", "gc_pauses", "sum(duration_ns) AS paused_ns, process_name, reason"),
    of("disk_io", "disk_io", "sum(bytes) AS bytes, process_name, operation, file"),
    of("file_io", "file_io", "count(*) AS operations, process_name, operation, file"),
    of("network", "network", "sum(bytes) AS bytes, process_name, direction, remote_address"),
    of("http_requests", "http_requests", "count(*) AS requests, url, status"),
    of("dns_queries", "dns_queries", "count(*) AS events, process_name, query_name"),
    of("packets", "packets", "count(*) AS packets, protocol, is_dropped"),
    of("exceptions", "exceptions", "count(*) AS exceptions, process_name, type"),
    of("jit", "jit", "sum(duration_ns) AS compiling_ns, process_name, namespace"),
    of("registry", "registry", "count(*) AS operations, process_name, operation, key_name"),
    of("page_faults", "page_faults", "count(*) AS faults, process_name, kind"),
    of("windows_update", "windows_update", "count(*) AS lines, component"),
    of("image_loads", "image_loads", "count(*) AS loads, process_name, path"),
    of("interrupts", "interrupts", "sum(duration_ns) AS duration_ns, kind, module"),
    EVENTS,
];

/// What every trace answers.
const EVENTS: Asked = of("", "all_events", "count(*) AS events, provider, event_name");

const fn of(question: &'static str, view: &'static str, columns: &'static str) -> Asked {
    Asked { question, view, columns }
}

impl Asked {
    /// All of them, in that order.
    pub fn all() -> impl Iterator<Item = Asked> {
        ASKED.into_iter()
    }

    /// The first that rows were found for.
    pub fn first_of(answers: &[AnswerRow]) -> Asked {
        let has_rows = |asked: &Asked| answers.iter().any(|row| row.question == asked.question && row.answerable);
        ASKED.into_iter().find(has_rows).unwrap_or(EVENTS)
    }

    /// The earlier one in that order.
    #[must_use]
    pub fn or_earlier(self, other: Asked) -> Asked {
        ASKED.into_iter().find(|asked| [self, other].contains(asked)).unwrap_or(EVENTS)
    }

    /// Its statement, in one line without quotes.
    pub fn statement(self) -> String {
        format!("SELECT {} FROM {} GROUP BY ALL ORDER BY 1 DESC", self.columns, self.view)
    }
}

#[cfg(test)]
mod tests {
    use conversion::views::QUESTIONS;

    use super::*;

    fn row(question: &'static str, answerable: bool) -> AnswerRow {
        AnswerRow { question: question.into(), answerable, events: 7, event_names: Vec::new(), needed: None }
    }

    #[test]
    fn every_question_is_one_that_traces_answer() {
        for asked in Asked::all().filter(|asked| *asked != EVENTS) {
            assert!(QUESTIONS.iter().any(|question| question.name == asked.question), "{asked:?}");
        }
    }

    #[test]
    fn what_can_be_answered_is_asked() {
        let first = |rows: &[AnswerRow]| Asked::first_of(rows).view;
        assert_eq!(first(&[row("disk_io", true), row("cpu_intervals", true), row("cpu_samples", false)]), "cpu_usage");
        assert_eq!(first(&[row("processes", true), row("dns_queries", true)]), "dns_queries");
        assert_eq!(first(&[row("services", true), row("waits", false)]), "all_events");
        let (disk, dns) = (Asked::first_of(&[row("disk_io", true)]), Asked::first_of(&[row("dns_queries", true)]));
        assert_eq!((dns.or_earlier(disk), disk.or_earlier(EVENTS)), (disk, disk));
    }
}
