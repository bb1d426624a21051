//! What a recording lost, and how long it was at most.

use base::error::Result;
use base::readable::count::counted;
use columnar::output::manifest::{CommitRecord, LossCounts};
use conversion::read_columns;
use conversion::sidecar::{InputFacts, LossRow};
use conversion::survey::loss::LossKind;

use super::super::axis::Axis;
use crate::source::Source;

/// What a recording lost.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Loss {
    /// What, where it is certain.
    pub lost: Option<String>,
    /// Why nobody knows whether anything was lost, where nothing says that it was.
    pub unproven: Option<String>,
    /// Events at most; `None` where nothing bounds them.
    pub events: Option<u64>,
    /// Whether parts of the files are missing or cannot be read: the end of a recording may be one.
    is_cut: bool,
}

impl Loss {
    pub(super) fn of(source: &Source<'_>, inputs: &[InputFacts]) -> Result<Loss> {
        let mut gaps = Gaps::default();
        source.sidecar::<Gap>(|gap| gaps.add(&gap))?;
        // Of a closed session the header counts the buffers: of one without a gap only unused space is missing.
        let is_cut = |input: &InputFacts| {
            let InputFacts { session, .. } = input;
            session.truncated && (session.relogged || !session.closed)
        };
        gaps.is_cut |= inputs.iter().any(is_cut);
        Ok(Loss::told(&source.record, &gaps))
    }

    /// By the counters of a recording and its gaps.
    fn told(record: &CommitRecord, gaps: &Gaps) -> Loss {
        let LossCounts { events_lost, buffers_lost, unknown_because } = &record.lost;
        let events = events_lost.unwrap_or(0);
        // A counter of events has those that other rows say were lost at a time.
        let certain = gaps.certain.saturating_add(if events_lost.is_none() { gaps.of_events } else { 0 });
        let is_cut = gaps.is_cut || record.events.has_damage();
        let is_counted = certain == 0 && buffers_lost == &Some(0) && unknown_because.is_none() && !is_cut;
        let mut lost = Vec::new();
        lost.extend((events > 0).then(|| counted(events, "events")));
        lost.extend(buffers_lost.filter(|buffers| *buffers > 0).map(|buffers| counted(buffers, "buffers")));
        if lost.is_empty() && certain > 0 {
            lost.push(format!("more than nothing, by {}", counted(certain, "gaps")));
        }
        match gaps.buffers_behind {
            0 => lost.extend((gaps.is_cut && !record.events.has_damage()).then(|| BEHIND.to_owned())),
            buffers => lost.push(format!("{} behind the end of the file", counted(buffers, "buffers"))),
        }
        lost.extend(record.events.has_damage().then(|| "what damaged parts of the file held".to_owned()));
        if lost.is_empty() {
            return Loss { unproven: unknown_because.clone(), events: Some(0), ..Loss::default() };
        }
        Loss { lost: Some(lost.join(", ")), unproven: None, events: is_counted.then_some(events), is_cut }
    }

    /// What amounts that are no counts of events may be larger by.
    pub(super) fn of_sums(&self) -> Option<u64> {
        self.events.filter(|events| *events == 0)
    }

    /// How many nanoseconds may lie between the first event and the last, those that were lost among them; `None` where nothing
    /// bounds that. What was lost lies within the time of its session.
    pub(super) fn longest(&self, axis: &Axis, inputs: &[InputFacts]) -> Option<u64> {
        if self.lost.is_none() {
            return Some(axis.length());
        }
        let (mut first, mut last) = (axis.first(), axis.last());
        for input in inputs {
            let (start, end) = self.session(input)?;
            last = last.max(end);
            // Of a ring, the begin may be what was lost.
            first = if self.events.is_none() { first.min(start) } else { first };
        }
        (!inputs.is_empty()).then(|| last.abs_diff(first))
    }

    /// When the session of an input began and ended, where its header says it. The header of a file that was written from others has
    /// the times of one of them; and a clock that was set shows where the session seems to have ended before its last event.
    fn session(&self, input: &InputFacts) -> Option<(i64, i64)> {
        let session = &input.session;
        let is_said = session.closed && !session.relogged;
        let (start, end) = session.start_time_ns.zip(session.end_time_ns).filter(|_| is_said)?;
        let is_before_its_events =
            input.streams.iter().any(|stream| stream.last_time_ns.is_some_and(|last| end < last));
        (!(self.is_cut && is_before_its_events)).then_some((start, end))
    }
}

/// What is missing of a file that was cut, where nothing counts it.
const BEHIND: &str = "what stood behind the end of the file";

/// The gaps of a recording.
///
/// Missing numbers of buffers are none. A number can be spent on a buffer that was never filled, and where the session was closed its
/// counters say whether buffers are missing: those that were lost, and those that the header counts and the file lacks. Where it was
/// not, or the file was merged, nothing proves that nothing was lost, which is said of the trace. What a ring overwrote is no loss: it
/// is before the time that is compared.
#[derive(Debug, Default)]
struct Gaps {
    /// Those that are certain, other than of events.
    certain: u64,
    /// Those of events.
    of_events: u64,
    /// Buffers that the header counts, behind the end of the file.
    buffers_behind: u64,
    /// Whether the end of a file is missing, or a part of it cannot be read.
    is_cut: bool,
}

impl Gaps {
    fn add(&mut self, gap: &Gap) {
        if gap.count == Some(0) {
            return;
        }
        match gap.kind {
            LossKind::TruncatedTail | LossKind::DamagedBuffer | LossKind::DamagedEvent => {
                self.is_cut = true;
                let is_behind = gap.kind == LossKind::TruncatedTail && gap.unit == "buffers";
                let buffers = gap.count.filter(|_| is_behind).unwrap_or(0);
                self.buffers_behind = self.buffers_behind.saturating_add(buffers);
            }
            LossKind::CircularOverwrite => {}
            _ if !gap.is_certain => {}
            _ if gap.unit == "events" => self.of_events = self.of_events.saturating_add(1),
            _ => self.certain = self.certain.saturating_add(1),
        }
    }
}

read_columns! {
    /// A loss.
    struct Gap of LossRow {
        kind: LossKind,
        unit: String,
        count: Option<u64>,
        is_certain: bool,
    }
}

#[cfg(test)]
mod tests {
    use columnar::output::manifest::EventCounts;
    use conversion::sidecar::{SessionRow, StreamRow};
    use serde_json::json;

    use super::*;

    fn record(lost: &LossCounts, damaged_bytes: u64) -> CommitRecord {
        let events = EventCounts { damaged_bytes, ..EventCounts::default() };
        let record = json!({
            "trace": "a", "format_version": 5, "tool_version": "", "options": {}, "options_hash": "", "inputs": [],
            "events": events, "decode": {}, "lost": lost, "files": [],
            "run": { "created": "", "duration_ms": 0, "threads": 0, "memory_bytes": 0, "output": "", "inputs": [] },
        });
        serde_json::from_value(record).unwrap()
    }

    fn counted_by(events: u64, buffers: u64) -> LossCounts {
        LossCounts { events_lost: Some(events), buffers_lost: Some(buffers), unknown_because: None }
    }

    fn gap(kind: LossKind, unit: &str, count: Option<u64>, is_certain: bool) -> Gap {
        Gap { kind, unit: unit.to_owned(), count, is_certain }
    }

    fn told(lost: &LossCounts, damaged_bytes: u64, rows: &[Gap]) -> Loss {
        let mut gaps = Gaps::default();
        rows.iter().for_each(|row| gaps.add(row));
        Loss::told(&record(lost, damaged_bytes), &gaps)
    }

    #[track_caller]
    fn t(loss: &Loss, lost: Option<&str>, events: Option<u64>) {
        assert_eq!((loss.lost.as_deref(), loss.events), (lost, events));
    }

    #[test]
    fn counted_events_bound_what_was_lost() {
        t(&told(&counted_by(0, 0), 0, &[]), None, Some(0));
        let rows = [
            gap(LossKind::EventsLost, "events", Some(3), true),
            gap(LossKind::BuffersLost, "buffers", Some(0), true),
            gap(LossKind::RealTimeBuffersLost, "buffers", None, false),
            gap(LossKind::BufferFlagEventsLost, "events", None, true),
        ];
        t(&told(&counted_by(3, 0), 0, &rows), Some("3 events"), Some(3));
        t(&told(&counted_by(3, 2), 0, &rows), Some("3 events, 2 buffers"), None);
    }

    #[test]
    fn nothing_bounds_what_stood_behind_the_end_of_a_file() {
        let buffers = gap(LossKind::TruncatedTail, "buffers", Some(8), false);
        t(&told(&counted_by(3, 0), 0, &[buffers]), Some("3 events, 8 buffers behind the end of the file"), None);
        let bytes = || gap(LossKind::TruncatedTail, "bytes", Some(9), false);
        t(&told(&counted_by(0, 0), 0, &[bytes()]), Some("what stood behind the end of the file"), None);
        t(&told(&counted_by(0, 0), 9, &[bytes()]), Some("what damaged parts of the file held"), None);
        // Of a buffer that was not full, only unused space is missing.
        t(&told(&counted_by(0, 0), 0, &[gap(LossKind::TruncatedTail, "bytes", Some(0), false)]), None, Some(0));
    }

    #[test]
    fn what_may_never_have_been_recorded_is_not_lost() {
        let unfilled = gap(LossKind::SequenceGap, "buffers", Some(2), false);
        let overwritten = gap(LossKind::CircularOverwrite, "buffers", Some(2), true);
        t(&told(&counted_by(0, 0), 0, &[unfilled, overwritten]), None, Some(0));
    }

    #[test]
    fn events_that_no_counter_has_are_lost() {
        let unknown = || LossCounts { unknown_because: Some("never closed".to_owned()), ..LossCounts::default() };
        let row = gap(LossKind::LostEventRecord, "events", Some(5), true);
        t(&told(&unknown(), 0, &[row]), Some("more than nothing, by 1 gap"), None);
        assert_eq!(told(&unknown(), 0, &[]).unproven.as_deref(), Some("never closed"));
    }

    fn input(closed: bool, end_ns: i64, last_event_ns: i64) -> InputFacts {
        let session =
            SessionRow { closed, start_time_ns: Some(100), end_time_ns: Some(end_ns), ..SessionRow::default() };
        let stream = StreamRow { last_time_ns: Some(last_event_ns), ..StreamRow::default() };
        InputFacts { session, streams: vec![stream], ..InputFacts::default() }
    }

    #[test]
    fn a_recording_is_no_longer_than_its_session() {
        let axis = Axis::new(150, 400);
        let [whole, counted, cut] = [
            told(&counted_by(0, 0), 0, &[]),
            told(&counted_by(3, 0), 0, &[]),
            told(&counted_by(0, 0), 0, &[gap(LossKind::TruncatedTail, "buffers", Some(8), false)]),
        ];
        let closed = [input(true, 900, 400)];
        let longest = |inputs: &[InputFacts]| [&whole, &counted, &cut].map(|loss| loss.longest(&axis, inputs));
        // To the last event; to the end of the session; and from its begin, where buffers are missing, on.
        assert_eq!(longest(&closed), [Some(250), Some(750), Some(800)]);
        assert_eq!(longest(&[input(false, 900, 400)]), [Some(250), None, None]);
        let [mut merged] = closed;
        merged.session.relogged = true;
        assert_eq!(longest(&[merged]), [Some(250), None, None]);
        // A session that has events after its end had a clock that was set.
        assert_eq!(longest(&[input(true, 399, 400)]), [Some(250), Some(250), None]);
        assert_eq!(longest(&[]), [Some(250), None, None]);
    }
}
