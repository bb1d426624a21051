//! What the numbers say: the header event's counters, and the numbers of the buffers.

use super::history::{Overwritten, overwritten};
use super::row::{LossKind, LossRow};
use super::span::SessionSpan;
use crate::layout::logfile::mode;
use crate::survey::sequence::{SequenceGap, sequence_range};

pub(super) fn rows(session: &SessionSpan<'_>, gaps: &[SequenceGap]) -> Vec<LossRow> {
    let header = &session.file.session;
    let mut rows = vec![
        counter(session, LossKind::EventsLost, "events", "EventsLost of the header event", header.events_lost),
        counter(session, LossKind::BuffersLost, "buffers", "BuffersLost of the header event", header.buffers_lost),
        LossRow {
            note: "a file does not record this counter",
            ..LossRow::new(LossKind::RealTimeBuffersLost, "buffers", "none")
        },
    ];
    let seam = Seam::of(session);
    rows.extend(gaps.iter().map(|gap| missing_numbers(session, gap, seam)));
    rows
}

/// A counter of the header event. It is final only in a closed session, and of a relogged file it is that of one of the
/// sources.
fn counter(
    session: &SessionSpan<'_>,
    kind: LossKind,
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
        count: (is_closed && (!is_merged || count > 0)).then_some(u64::from(count)),
        is_lower_bound: is_closed && is_merged && count > 0,
        is_certain: is_closed && (!is_merged || count > 0),
        note,
        ..LossRow::new(kind, unit, evidence)
    };
    if is_merged || is_of_series { row } else { row.between(Some(session.start_ns), session.end_ns) }
}

/// Where a ring that has wrapped begins and ends: between its lowest and its highest number lies the place of what was
/// overwritten.
#[derive(Clone, Copy)]
struct Seam {
    lowest: i64,
    highest: i64,
    /// As many buffers as there are processors may be filled at a time, and reach the file in any order.
    width: u64,
}

impl Seam {
    fn of(session: &SessionSpan<'_>) -> Option<Seam> {
        let file = session.file;
        let (lowest, highest) = sequence_range(file).filter(|_| overwritten(file) != Overwritten::None)?;
        Some(Seam { lowest, highest, width: u64::from(file.session.cpu_count.max(1)) })
    }

    fn is_beside(self, gap: &SequenceGap) -> bool {
        let last = gap.first.saturating_add_unsigned(gap.missing);
        gap.first.abs_diff(self.lowest) <= self.width || self.highest.abs_diff(last) < self.width
    }
}

fn missing_numbers(session: &SessionSpan<'_>, gap: &SequenceGap, seam: Option<Seam>) -> LossRow {
    let last = gap.first.saturating_add_unsigned(gap.missing - 1);
    let evidence = match gap.missing {
        _ if gap.stretches > 1 => {
            format!("{} stretches of numbers from {} on that no buffer has", gap.stretches, gap.first)
        }
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
        note: if seam.is_some_and(|seam| seam.is_beside(gap)) {
            "beside the seam of the ring: as likely overwritten, or not yet written, as never filled"
        } else {
            "a number can be spent on a buffer that was never filled"
        },
        ..LossRow::new(LossKind::SequenceGap, "buffers", evidence)
    }
    .between(Some(from_ns), to_ns)
}
