//! The loss ledger: every sign in a file that something is missing from the recording, with where and when.
//!
//! | evidence | kind | file |
//! |---|---|---|
//! | counters of the header event | `events_lost`, `buffers_lost`, `real_time_buffers_lost` | `counters` |
//! | a series of files with a hole | `missing_file` | `series` |
//! | numbers that no buffer has | `sequence_gap` | `counters` |
//! | a ring: file or memory | `circular_overwrite` | `history` |
//! | the file ends early | `truncated_tail` | `history`, `buffers` |
//! | flags of buffers | `buffer_flag_events_lost`, `buffer_flag_buffer_lost` | `buffers` |
//! | bytes that cannot be read | `damaged_buffer`, `damaged_event` | `buffers` |
//! | records of the loss itself | `lost_event_record`, `last_dropped_time` | `records` |
//!
//! Several rows may tell of one loss: they are evidence and do not add up. Within the rows counted in bytes each byte
//! is counted once. What damage may have caused is never certain.

mod buffers;
mod counters;
mod history;
mod notices;
mod series;

pub use history::{Overwritten, missing_at_end, overwritten};

use std::collections::BTreeMap;

use super::buffer_summary::BufferSummary;
use super::result::FileSurvey;
use super::streams::by_stream;
use crate::clock::Ticks;

const EVENTS_LOST: &str = "events_lost";
const BUFFERS_LOST: &str = "buffers_lost";
const REAL_TIME_BUFFERS_LOST: &str = "real_time_buffers_lost";
const CIRCULAR_OVERWRITE: &str = "circular_overwrite";
const TRUNCATED_TAIL: &str = "truncated_tail";
const DAMAGED_BUFFER: &str = "damaged_buffer";
const DAMAGED_EVENT: &str = "damaged_event";
/// A member of a series of files that is not among the inputs.
pub(super) const MISSING_FILE: &str = "missing_file";

/// One known or possible gap in a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LossRow {
    /// What kind of evidence there is.
    pub kind: &'static str,
    /// The processor; `None` where it is not known, or where it is all of them.
    pub cpu: Option<u16>,
    /// When the gap begins at the earliest, Unix nanoseconds.
    pub from_ns: Option<i64>,
    /// When it ends at the latest.
    pub to_ns: Option<i64>,
    /// The last buffer before it, numbered in file order.
    pub from_buffer: Option<u64>,
    /// The first buffer behind it; equal to [`LossRow::from_buffer`] where the gap lies within one.
    pub to_buffer: Option<u64>,
    /// How much was lost; `None` where nothing says.
    pub count: Option<u64>,
    /// What is counted: `events`, `buffers`, `bytes` or `files`.
    pub unit: &'static str,
    /// Whether more may have been lost than the count says.
    pub is_lower_bound: bool,
    /// Whether the row states a fact; else it is a possible loss.
    pub is_certain: bool,
    /// Where in the file that is written.
    pub evidence: String,
    /// What else there is to know; may be empty.
    pub note: &'static str,
}

impl LossRow {
    fn new(kind: &'static str, unit: &'static str, evidence: impl Into<String>) -> LossRow {
        LossRow {
            kind,
            cpu: None,
            from_ns: None,
            to_ns: None,
            from_buffer: None,
            to_buffer: None,
            count: None,
            unit,
            is_lower_bound: false,
            is_certain: false,
            evidence: evidence.into(),
            note: "",
        }
    }

    /// Whether the row is that of a counter, which every file has.
    pub fn is_counter(&self) -> bool {
        matches!(self.kind, EVENTS_LOST | BUFFERS_LOST | REAL_TIME_BUFFERS_LOST)
    }

    /// Whether the row proves that the recording lost something. What a ring overwrote is no loss: to keep the latest
    /// is its purpose.
    pub fn is_known_loss(&self) -> bool {
        self.is_certain && self.count != Some(0) && self.kind != CIRCULAR_OVERWRITE
    }

    /// Whether the row tells of a part of the file that is missing or cannot be read.
    pub fn is_damage(&self) -> bool {
        matches!(self.kind, TRUNCATED_TAIL | DAMAGED_BUFFER | DAMAGED_EVENT) && self.count != Some(0)
    }

    /// Adds another row of the kind: the window of both, and what both count.
    fn absorb(&mut self, other: &LossRow) {
        let earliest = |a: Option<i64>, b: Option<i64>| Some(a?.min(b?));
        let latest = |a: Option<i64>, b: Option<i64>| Some(a?.max(b?));
        (self.from_ns, self.to_ns) = (earliest(self.from_ns, other.from_ns), latest(self.to_ns, other.to_ns));
        self.from_buffer = self.from_buffer.zip(other.from_buffer).map(|(a, b)| a.min(b));
        self.to_buffer = self.to_buffer.zip(other.to_buffer).map(|(a, b)| a.max(b));
        self.count = match (self.count, other.count) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (count, None) | (None, count) => count,
        };
        self.is_lower_bound |= other.is_lower_bound;
        self.is_certain |= other.is_certain;
    }

    /// Between two times, of which a disordered file may have the later one first.
    fn between(mut self, from_ns: Option<i64>, to_ns: Option<i64>) -> LossRow {
        (self.from_ns, self.to_ns) = match (from_ns, to_ns) {
            (Some(from), Some(to)) => (Some(from.min(to)), Some(from.max(to))),
            window => window,
        };
        self
    }
}

/// Rows of one kind and unit that are listed one by one: far more than a trace that is worth reading has.
const LISTED: usize = 10_000;

/// The first rows of each kind as they are, and one row for all others of the kind, so that a ledger stays small whatever
/// a file claims.
fn listed(rows: impl Iterator<Item = LossRow>, most: usize) -> Vec<LossRow> {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut rest: BTreeMap<(&str, &str), LossRow> = BTreeMap::new();
    let mut listed = Vec::new();
    for row in rows {
        let key = (row.kind, row.unit);
        let count = counts.entry(key).or_default();
        *count += 1;
        match rest.get_mut(&key) {
            _ if *count <= most => listed.push(row),
            Some(rest) => rest.absorb(&row),
            None => {
                rest.insert(key, LossRow { cpu: None, note: "rows that are not listed one by one", ..row });
            }
        }
    }
    let further = rest.into_iter().map(|(key, row)| {
        let evidence = format!("{} more of this kind", counts[&key].saturating_sub(most));
        LossRow { evidence, ..row }
    });
    listed.extend(further);
    listed
}

/// What one file of a recording says of its losses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ledger {
    /// Header counters first, then kind by kind in a fixed order; of a kind with very many the first ones, and one row for
    /// the others.
    pub rows: Vec<LossRow>,
    /// Events that were not recorded, by the header; `None` where that says nothing.
    pub events_lost: Option<u32>,
    /// Buffers that could not be written, by the header; `None` where that says nothing.
    pub buffers_lost: Option<u32>,
    /// Why nobody can know whether the recording lost more.
    pub unknown_because: Option<&'static str>,
}

impl Ledger {
    /// Events that are known to be lost: the header's counter, or what records in the file count, if that is more.
    pub fn known_events_lost(&self) -> u64 {
        let counted = |is_counter: bool| {
            let rows = self.rows.iter().filter(move |row| row.is_counter() == is_counter && row.unit == "events");
            let lost = rows.filter(|row| row.is_known_loss() || row.is_damage());
            lost.filter_map(|row| row.count).fold(0, u64::saturating_add)
        };
        counted(true).max(counted(false))
    }

    /// Buffers that are known to be lost, by the header.
    pub fn known_buffers_lost(&self) -> u64 {
        let row = self.rows.iter().find(|row| row.kind == BUFFERS_LOST && row.is_certain);
        row.and_then(|row| row.count).unwrap_or(0)
    }

    /// A loss that is no number of events: buffers or bytes, or events that nothing counts.
    pub fn uncounted_loss(&self) -> Option<&LossRow> {
        let lost = || self.rows.iter().filter(|row| row.is_known_loss() || row.is_damage());
        let by_parts = lost().find(|row| row.unit != "events");
        by_parts.or_else(|| lost().next().filter(|_| self.known_events_lost() == 0))
    }
}

/// The ledger of every file of a recording, in their order.
pub fn ledgers(files: &[FileSurvey]) -> Vec<Ledger> {
    let mut ledgers: Vec<Ledger> = files.iter().map(ledger).collect();
    for (input, row) in series::rows(files) {
        let ledger = &mut ledgers[input];
        ledger.unknown_because = ledger.unknown_because.or(Some("a file of its series is missing"));
        ledger.rows.push(row);
    }
    ledgers
}

/// The ledger of a file by itself.
pub fn ledger(file: &FileSurvey) -> Ledger {
    let session = Window::of(file);
    let streams = by_stream(file);
    let mut rows = counters::rows(&session);
    rows.extend(history::rows(&session, &streams));
    rows.extend(buffers::rows(&session, &streams));
    rows.extend(notices::last_dropped(&session, &streams));
    let header = &file.session;
    let unknown_because = header.loss_unknown_because();
    let counter = |count: u32| unknown_because.is_none().then_some(count);
    Ledger {
        rows,
        events_lost: counter(header.events_lost),
        buffers_lost: counter(header.buffers_lost),
        unknown_because,
    }
}

/// A file and the time its session ran.
#[derive(Clone, Copy)]
struct Window<'a> {
    file: &'a FileSurvey,
    start_ns: i64,
    /// `None` when the session was never closed.
    end_ns: Option<i64>,
}

impl Window<'_> {
    fn of(file: &FileSurvey) -> Window<'_> {
        let start_ns = file.clock.to_unix(file.session.first_ticks).0;
        let end_ns = file.session.is_closed().then(|| file.session.end_time.to_unix().0);
        Window { file, start_ns, end_ns }
    }

    fn ns(&self, ticks: i64) -> i64 {
        self.file.clock.to_unix(Ticks(ticks)).0
    }

    /// The latest time of a buffer, or the start of the session where there is none.
    fn end_of(&self, buffer: Option<&BufferSummary>) -> i64 {
        buffer.map_or(self.start_ns, |buffer| self.ns(buffer.last_ticks))
    }

    /// The earliest time of a buffer, or the end of the session where there is none.
    fn start_of(&self, buffer: Option<&BufferSummary>) -> Option<i64> {
        buffer.map_or(self.end_ns, |buffer| Some(self.ns(buffer.first_ticks)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn very_many_rows_of_a_kind_become_one() {
        let row = |unit, n: u32, count| {
            let (cpu, time, buffer) = (Some(1), i64::from(n), u64::from(n));
            LossRow {
                cpu,
                count,
                from_buffer: Some(buffer),
                to_buffer: Some(buffer + 1),
                ..LossRow::new("k", unit, "e")
            }
            .between(Some(time), Some(time + 1))
        };
        let rows = [3, 5, 4, 9].map(|n| row("events", n, Some(u64::from(n))));
        let other = row("bytes", 7, None);
        let all = rows.iter().cloned().chain([other.clone()]);
        let found = listed(all.clone(), 2);
        assert_eq!(found[..3], [rows[0].clone(), rows[1].clone(), other]);
        let expected = LossRow {
            cpu: None,
            count: Some(13),
            from_buffer: Some(4),
            to_buffer: Some(10),
            note: "rows that are not listed one by one",
            ..LossRow::new("k", "events", "2 more of this kind")
        };
        assert_eq!(found[3..], [expected.between(Some(4), Some(10))]);
        assert_eq!(listed(all.clone(), 4), all.collect::<Vec<_>>());
    }
}
