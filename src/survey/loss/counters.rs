//! What the numbers say: the header event's counters, and the numbers of the buffers.

use super::{LossRow, Window};
use crate::layout::logfile::mode;
use crate::survey::sequence::{SequenceGap, sequence_gaps};

pub(super) fn rows(session: &Window<'_>) -> Vec<LossRow> {
    let header = &session.file.session;
    let mut rows = vec![
        counter(session, "events_lost", "events", "EventsLost of the header event", header.events_lost),
        counter(session, "buffers_lost", "buffers", "BuffersLost of the header event", header.buffers_lost),
        LossRow {
            note: "a file does not record this counter",
            ..LossRow::new("real_time_buffers_lost", "buffers", "none")
        },
    ];
    rows.extend(sequence_gaps(session.file).iter().map(|gap| missing_numbers(session, gap)));
    rows
}

/// A counter of the header event. It is final only in a closed session, and of a relogged file it is that of one of the
/// sources.
fn counter(
    session: &Window<'_>,
    kind: &'static str,
    unit: &'static str,
    evidence: &'static str,
    count: u32,
) -> LossRow {
    let header = &session.file.session;
    let (is_closed, is_merged) = (header.is_closed(), header.has_mode(mode::RELOG));
    let is_of_series = header.has_mode(mode::NEWFILE);
    let note = match (is_closed, is_merged, is_of_series) {
        (false, ..) => "not closed: the counter was not written",
        (_, true, _) => "merged: the counter is that of one source, or of none",
        (.., true) => "one of a series of files: the counter may be that of the series",
        _ => "",
    };
    let row = LossRow {
        count: is_closed.then_some(u64::from(count)),
        is_lower_bound: is_closed && is_merged,
        is_certain: is_closed && (!is_merged || count > 0),
        note,
        ..LossRow::new(kind, unit, evidence)
    };
    if is_merged || is_of_series { row } else { row.between(Some(session.start_ns), session.end_ns) }
}

fn missing_numbers(session: &Window<'_>, gap: &SequenceGap) -> LossRow {
    let last = gap.first.saturating_add_unsigned(gap.missing - 1);
    let evidence = match gap.missing {
        1 => format!("no buffer has number {last}"),
        _ => format!("no buffer has the numbers {} to {last}", gap.first),
    };
    let from_ns = gap.from_ticks.map_or(session.start_ns, |ticks| session.ns(ticks));
    let to_ns = gap.to_ticks.map_or(session.end_ns, |ticks| Some(session.ns(ticks)));
    LossRow {
        from_buffer: Some(gap.from_buffer),
        to_buffer: Some(gap.to_buffer),
        count: Some(gap.missing),
        is_lower_bound: true,
        note: "a number can be spent on a buffer that was never filled",
        ..LossRow::new("sequence_gap", "buffers", evidence)
    }
    .between(Some(from_ns), to_ns)
}
