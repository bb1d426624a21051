//! What the numbers say: the header event's counters, and the numbers of the buffers.

use etl::layout::logfile::mode;

use super::history::{Overwritten, overwritten};
use super::row::{LossKind, LossRow};
use super::span::SessionSpan;
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
    /// The number of the buffer that was written first: its last event is the earliest one. Lower numbers are those of
    /// processors that took long to fill their buffer, and wrote it behind the seam.
    oldest: i64,
    /// The earliest event of that buffer.
    oldest_ticks: i64,
    /// As many buffers as there are processors may be filled at a time, and reach the file in any order.
    width: u64,
}

/// Where the numbers that no buffer has lie in a ring.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HolePlace {
    /// Below that of the oldest buffer.
    BeforeOldest,
    /// Next to the lowest or the highest number.
    BesideSeam,
    /// Between others, or the file is no ring that has wrapped.
    Between,
}

impl Seam {
    fn of(session: &SessionSpan<'_>) -> Option<Seam> {
        let file = session.file;
        let has_wrapped = overwritten(file) != Overwritten::None || file.session.has_mode(mode::BUFFERING);
        let (lowest, highest) = sequence_range(file).filter(|_| has_wrapped)?;
        let numbered = file.buffers.iter().filter(|buffer| buffer.is_data() && buffer.extent.sequence > 0);
        let first = numbered.min_by_key(|buffer| (buffer.last_ticks, buffer.extent.sequence))?;
        let (oldest, oldest_ticks) = (first.extent.sequence, first.first_ticks);
        Some(Seam { lowest, highest, oldest, oldest_ticks, width: u64::from(file.session.cpu_count.max(1)) })
    }

    fn place(self, gap: &SequenceGap) -> HolePlace {
        let last = gap.first.saturating_add_unsigned(gap.missing);
        match () {
            // A row for several stretches says where the first one begins alone.
            () if last <= self.oldest && gap.stretches == 1 => HolePlace::BeforeOldest,
            () if gap.first.abs_diff(self.lowest) <= self.width => HolePlace::BesideSeam,
            () if self.highest.abs_diff(last) < self.width => HolePlace::BesideSeam,
            () => HolePlace::Between,
        }
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
    let row = LossRow {
        from_buffer: Some(gap.from_buffer),
        to_buffer: Some(gap.to_buffer),
        count: Some(gap.missing),
        ..LossRow::new(LossKind::SequenceGap, "buffers", evidence)
    };
    if let Some(seam) = seam.filter(|seam| seam.place(gap) == HolePlace::BeforeOldest) {
        let note = "below the number of the buffer that was written first: overwritten, or never filled";
        let row = LossRow { kind: LossKind::CircularOverwrite, note, ..row };
        return row.between(Some(session.start_ns), Some(session.ns(seam.oldest_ticks)));
    }
    let note = if seam.is_some_and(|seam| seam.place(gap) == HolePlace::BesideSeam) {
        "beside the seam of the ring: as likely overwritten, or not yet written, as never filled"
    } else {
        "a number can be spent on a buffer that was never filled"
    };
    let from_ns = gap.from_ticks.map_or(session.start_ns, |ticks| session.ns(ticks));
    let to_ns = gap.to_ticks.map_or(session.end_ns, |ticks| Some(session.ns(ticks)));
    LossRow { is_lower_bound: true, note, ..row }.between(Some(from_ns), to_ns)
}
