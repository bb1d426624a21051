//! What of a recording somebody should know before they rely on it, in sentences: events beyond its recorded time, processors
//! without events.

use std::collections::BTreeSet;

use base::readable::count::counted;
use base::readable::time::duration;

use crate::sidecar::{InputFacts, StreamRow, Time};

/// How far events may lie beyond the recorded time: it is of the system clock, events of most sessions of another one, and the
/// last buffers are written while the session ends.
const NEAR_NS: u64 = 1_000_000_000;

/// Processors that a machine may have: of more, nothing is said.
const MOST_PROCESSORS: u32 = 4096;

/// Processors that a sentence names.
const SHOWN_PROCESSORS: usize = 6;

/// What is notable of an input.
struct Recorded<'a>(&'a InputFacts);

impl Recorded<'_> {
    /// What is notable of it.
    fn notes(&self) -> Vec<String> {
        [self.before_its_start(), self.behind_its_end(), self.without_events()].into_iter().flatten().collect()
    }

    fn before_its_start(&self) -> Option<String> {
        let session = &self.0.session;
        let far = beyond(ns(session.first_event_time)?, ns(session.start_time)?)?;
        Some(format!("events begin {far} before the recorded start"))
    }

    fn behind_its_end(&self) -> Option<String> {
        let InputFacts { session, streams, .. } = self.0;
        let end = ns(session.end_time)?;
        let far = beyond(end, ns(session.last_event_time)?)?;
        let is_late = |stream: &&StreamRow| stream.last_time_ns.is_some_and(|last| beyond(end, last).is_some());
        let late: BTreeSet<u32> = streams.iter().filter(is_late).filter_map(cpu).collect();
        let processors = if late.is_empty() { String::new() } else { format!(", on {}", listed(&late)) };
        Some(format!("events go on for {far} behind the recorded end{processors}"))
    }

    fn without_events(&self) -> Option<String> {
        let InputFacts { session, streams, .. } = self.0;
        let is_shared = streams.iter().any(|stream| stream.cpu.is_none());
        let with: BTreeSet<u32> = streams.iter().filter(|stream| stream.events > 0).filter_map(cpu).collect();
        let all = 0..Some(session.cpu_count).filter(|count| *count <= MOST_PROCESSORS)?;
        let without: BTreeSet<u32> = all.filter(|cpu| !with.contains(cpu)).collect();
        (!is_shared && !with.is_empty() && !without.is_empty()).then(|| {
            let known = with.len().saturating_add(without.len());
            format!(
                "{} of {} have events: none are of {}",
                with.len(),
                counted(known as u64, "processors"),
                listed(&without)
            )
        })
    }
}

/// A time as the sidecar has it: in microseconds.
fn ns(time: Option<Time>) -> Option<i64> {
    time.map(|Time(ns)| ns.div_euclid(1000).saturating_mul(1000))
}

fn cpu(stream: &StreamRow) -> Option<u32> {
    stream.cpu.map(u32::from)
}

/// How far the later of two times is behind the earlier one, where that is far.
fn beyond(earlier: i64, later: i64) -> Option<String> {
    let far = u64::try_from(later.checked_sub(earlier)?).ok()?;
    (far > NEAR_NS).then(|| duration(far))
}

/// `processor 3`, `processors 0, 1 and 4`.
fn listed(processors: &BTreeSet<u32>) -> String {
    let mut numbers: Vec<String> = processors.iter().take(SHOWN_PROCESSORS).map(u32::to_string).collect();
    match processors.len().saturating_sub(SHOWN_PROCESSORS) {
        0 => {}
        more => numbers.push(format!("{more} more")),
    }
    let last = numbers.pop().unwrap_or_default();
    if numbers.is_empty() {
        format!("processor {last}")
    } else {
        format!("processors {} and {last}", numbers.join(", "))
    }
}

/// What is notable of inputs, each sentence with the input where there are several.
pub fn notable(inputs: &[InputFacts]) -> Vec<String> {
    let of = |input: &InputFacts| {
        let source = if inputs.len() > 1 { format!("{}: ", input.session.source) } else { String::new() };
        Recorded(input).notes().into_iter().map(move |note| format!("{source}{note}")).collect::<Vec<_>>()
    };
    inputs.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use crate::sidecar::SessionRow;

    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn stream(cpu: u16, events: u64, last_s: i64) -> StreamRow {
        StreamRow { cpu: Some(cpu), events, last_time_ns: Some(last_s * SECOND), ..StreamRow::default() }
    }

    /// An input of a session and events with these starts and ends in seconds.
    fn input(session: [i64; 2], events: [i64; 2], cpu_count: u32, streams: Vec<StreamRow>) -> InputFacts {
        let [start_time, end_time] = session.map(|s| Some(Time(s.saturating_mul(SECOND))));
        let [first_event_time, last_event_time] = events.map(|s| Some(Time(s.saturating_mul(SECOND))));
        let times = SessionRow { start_time, end_time, first_event_time, last_event_time, ..SessionRow::default() };
        InputFacts { session: SessionRow { cpu_count, ..times }, streams, ..InputFacts::default() }
    }

    fn t(input: InputFacts, expected: &[&str]) {
        assert_eq!(notable(&[input]), expected);
    }

    #[test]
    fn a_recording_as_it_should_be_has_nothing() {
        t(input([10, 20], [9, 21], 2, vec![stream(0, 5, 21), stream(1, 1, 12)]), &[]);
        let mut unknown = input([0, 0], [0, i64::MAX], 0, Vec::new());
        (unknown.session.start_time, unknown.session.end_time) = (None, None);
        t(unknown, &[]);
        let shared = StreamRow { cpu: None, events: 0, ..StreamRow::default() };
        t(input([0, 0], [0, 0], 8, vec![shared]), &[]);
    }

    #[test]
    fn events_beyond_the_recorded_time_are_reported() {
        let mut far = input([10, 20], [2, 23], 3, vec![stream(0, 5, 21), stream(1, 1, 22), stream(2, 7, 23)]);
        far.session.source = "a.etl".to_owned();
        let expected = [
            "events begin 8 s before the recorded start",
            "events go on for 3 s behind the recorded end, on processors 1 and 2",
        ];
        t(far.clone(), &expected);
        let both = notable(&[InputFacts::default(), far]);
        assert_eq!(both, expected.map(|note| format!("a.etl: {note}")));
        t(input([i64::MIN, i64::MIN], [i64::MAX, i64::MAX], 0, Vec::new()), &[]);
    }

    #[test]
    fn processors_without_events_are_reported() {
        let input = |cpu_count, streams| input([0, 0], [0, 0], cpu_count, streams);
        t(
            input(2, vec![stream(0, 5, 1), stream(1, 0, 1)]),
            &["1 of 2 processors have events: none are of processor 1"],
        );
        let expected = "1 of 16 processors have events: none are of processors 0, 1, 2, 4, 5, 6 and 9 more";
        t(input(16, vec![stream(3, 5, 1)]), &[expected]);
        t(input(u32::MAX, vec![stream(3, 5, 1)]), &[]);
    }
}
