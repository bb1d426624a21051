//! The loss ledger: every sign in a file that something is missing from the recording, with where and when.
//!
//! | evidence | kind | file |
//! |---|---|---|
//! | counters of the header event | `events_lost`, `buffers_lost`, `real_time_buffers_lost` | `counters` |
//! | numbers that no buffer has | `sequence_gap` | `counters` |
//! | a ring: file or memory | `circular_overwrite` | `history` |
//! | the file ends early | `truncated_tail` | `history`, `buffers` |
//! | flags of buffers | `buffer_flag_events_lost`, `buffer_flag_buffer_lost` | `buffers` |
//! | bytes that cannot be read | `damaged_buffer`, `damaged_event` | `buffers` |
//! | records of the loss itself | `lost_event_record`, `last_dropped_time` | `records` |
//!
//! Several rows may tell of one loss: they are evidence and do not add up. Within the rows counted in bytes each byte
//! is counted once.

mod buffers;
mod counters;
mod history;
mod records;

pub use history::{missing_at_end, overwritten_buffers};

use super::file::FileSurvey;
use super::record::BufferRecord;
use super::streams::by_stream;
use crate::clock::Ticks;
use crate::error::Result;

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
    /// What is counted: `events`, `buffers` or `bytes`.
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

    /// Between two times, of which a disordered file may have the later one first.
    fn between(mut self, from_ns: Option<i64>, to_ns: Option<i64>) -> LossRow {
        (self.from_ns, self.to_ns) = match (from_ns, to_ns) {
            (Some(from), Some(to)) => (Some(from.min(to)), Some(from.max(to))),
            window => window,
        };
        self
    }
}

/// The ledger of a file: header counters first, then kind by kind in a fixed order.
///
/// # Errors
/// When the file cannot be read or has changed since the survey.
pub fn ledger(file: &FileSurvey) -> Result<Vec<LossRow>> {
    let session = Window::of(file);
    let streams = by_stream(file);
    let records = records::Records::read(file)?;
    let mut rows = counters::rows(&session);
    rows.extend(history::rows(&session, &streams));
    rows.extend(buffers::rows(&session, &streams, &records));
    rows.extend(records::dropped(&session, &streams, &records));
    Ok(rows)
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
    fn end_of(&self, buffer: Option<&BufferRecord>) -> i64 {
        buffer.map_or(self.start_ns, |buffer| self.ns(buffer.last_ticks))
    }

    /// The earliest time of a buffer, or the end of the session where there is none.
    fn start_of(&self, buffer: Option<&BufferRecord>) -> Option<i64> {
        buffer.map_or(self.end_ns, |buffer| Some(self.ns(buffer.first_ticks)))
    }
}
