//! What of a recording somebody should know before they rely on it, in sentences: events beyond its recorded time, processors
//! without events.

use std::collections::BTreeSet;

use base::readable::count::counted;
use base::readable::time::duration;
use conversion::sidecar::{SessionRow, StreamRow, Time};

/// How far events may lie beyond the recorded time: it is of the system clock, events of most sessions of another one, and the
/// last buffers are written while the session ends.
const NEAR_NS: u64 = 1_000_000_000;

/// Processors that are looked at.
const MOST_PROCESSORS: i64 = 4096;

/// Processors that a sentence names.
const SHOWN_PROCESSORS: usize = 6;

/// What an input says of its recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RecordedInput {
    /// What it is called.
    pub source: String,
    /// When its session started and ended.
    pub session: (Option<i64>, Option<i64>),
    /// The times of its first and last event.
    pub events: (Option<i64>, Option<i64>),
    /// The processors of its machine.
    pub processors: u64,
    /// Its streams.
    pub streams: Vec<RecordedStream>,
}

/// What a stream of buffers holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RecordedStream {
    /// The processor; `None` where all share the stream.
    pub cpu: Option<i64>,
    /// Readable events.
    pub events: u64,
    /// The time of its last event.
    pub last_ns: Option<i64>,
}

impl RecordedInput {
    /// What rows of the sidecar say.
    pub(super) fn of(session: &SessionRow, streams: &[StreamRow]) -> RecordedInput {
        // The sidecar has microseconds.
        let time = |time: Option<Time>| time.map(|Time(ns)| ns.div_euclid(1000).saturating_mul(1000));
        let stream = |stream: &StreamRow| RecordedStream {
            cpu: stream.cpu.map(i64::from),
            events: stream.events,
            last_ns: stream.last_time_ns,
        };
        RecordedInput {
            source: session.source.clone(),
            session: (time(session.start_time), time(session.end_time)),
            events: (time(session.first_event_time), time(session.last_event_time)),
            processors: session.cpu_count.into(),
            streams: streams.iter().map(stream).collect(),
        }
    }

    /// What is notable of it.
    fn notes(&self) -> Vec<String> {
        [self.before_its_start(), self.behind_its_end(), self.without_events()].into_iter().flatten().collect()
    }

    fn before_its_start(&self) -> Option<String> {
        let far = beyond(self.events.0?, self.session.0?)?;
        Some(format!("events begin {far} before the recorded start"))
    }

    fn behind_its_end(&self) -> Option<String> {
        let end = self.session.1?;
        let far = beyond(end, self.events.1?)?;
        let late = self.streams.iter().filter(|stream| stream.last_ns.is_some_and(|last| beyond(end, last).is_some()));
        let late: BTreeSet<i64> = late.filter_map(|stream| stream.cpu).collect();
        let processors = if late.is_empty() { String::new() } else { format!(", on {}", listed(&late)) };
        Some(format!("events go on for {far} behind the recorded end{processors}"))
    }

    fn without_events(&self) -> Option<String> {
        let is_shared = self.streams.iter().any(|stream| stream.cpu.is_none());
        let filled = self.streams.iter().filter(|stream| stream.events > 0);
        let with: BTreeSet<i64> = filled.filter_map(|stream| stream.cpu).collect();
        let all = 0..i64::try_from(self.processors).ok()?.min(MOST_PROCESSORS);
        let without: BTreeSet<i64> = all.filter(|cpu| !with.contains(cpu)).collect();
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

/// How far the later of two times is behind the earlier one, where that is far.
fn beyond(earlier: i64, later: i64) -> Option<String> {
    let far = u64::try_from(later.checked_sub(earlier)?).ok()?;
    (far > NEAR_NS).then(|| duration(far))
}

/// `processor 3`, `processors 0, 1 and 4`.
fn listed(processors: &BTreeSet<i64>) -> String {
    let mut numbers: Vec<String> = processors.iter().take(SHOWN_PROCESSORS).map(i64::to_string).collect();
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
pub(super) fn notable(inputs: &[RecordedInput]) -> Vec<String> {
    let of = |input: &RecordedInput| {
        let source = if inputs.len() > 1 { format!("{}: ", input.source) } else { String::new() };
        input.notes().into_iter().map(move |note| format!("{source}{note}")).collect::<Vec<_>>()
    };
    inputs.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn stream(cpu: i64, events: u64, last_s: i64) -> RecordedStream {
        RecordedStream { cpu: Some(cpu), events, last_ns: Some(last_s * SECOND) }
    }

    fn t(input: RecordedInput, expected: &[&str]) {
        assert_eq!(notable(&[input]), expected);
    }

    #[test]
    fn a_recording_as_it_should_be_has_nothing() {
        let input = RecordedInput {
            session: (Some(10 * SECOND), Some(20 * SECOND)),
            events: (Some(9 * SECOND), Some(21 * SECOND)),
            processors: 2,
            streams: vec![stream(0, 5, 21), stream(1, 1, 12)],
            ..RecordedInput::default()
        };
        t(input, &[]);
        let unknown = RecordedInput { events: (Some(0), Some(i64::MAX)), ..RecordedInput::default() };
        t(unknown, &[]);
        let shared = RecordedStream { cpu: None, events: 0, last_ns: None };
        t(RecordedInput { processors: 8, streams: vec![shared], ..RecordedInput::default() }, &[]);
    }

    #[test]
    fn events_beyond_the_recorded_time_are_told() {
        let input = RecordedInput {
            source: "a.etl".to_owned(),
            session: (Some(10 * SECOND), Some(20 * SECOND)),
            events: (Some(2 * SECOND), Some(23 * SECOND)),
            processors: 3,
            streams: vec![stream(0, 5, 21), stream(1, 1, 22), stream(2, 7, 23)],
        };
        let expected = [
            "events begin 8 s before the recorded start",
            "events go on for 3 s behind the recorded end, on processors 1 and 2",
        ];
        t(input.clone(), &expected);
        let both = notable(&[RecordedInput::default(), input]);
        assert_eq!(both, expected.map(|note| format!("a.etl: {note}")));
        let wide = RecordedInput {
            session: (Some(i64::MIN), Some(i64::MIN)),
            events: (Some(i64::MAX), Some(i64::MAX)),
            ..RecordedInput::default()
        };
        t(wide, &[]);
    }

    #[test]
    fn processors_without_events_are_told() {
        let input = |processors, streams| RecordedInput { processors, streams, ..RecordedInput::default() };
        t(
            input(2, vec![stream(0, 5, 1), stream(1, 0, 1)]),
            &["1 of 2 processors have events: none are of processor 1"],
        );
        let expected = "1 of 16 processors have events: none are of processors 0, 1, 2, 4, 5, 6 and 9 more";
        t(input(16, vec![stream(3, 5, 1)]), &[expected]);
        t(input(u64::MAX, vec![stream(3, 5, 1)]), &[]);
    }
}
