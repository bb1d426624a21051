//! All rows of a file, and what they come to.

use base::error::Result;
use base::progress::{Progress, stop_if_cancelled};

use super::row::{LossKind, LossRow};
use super::span::SessionSpan;
use super::{buffers, counters, history, notices};
use crate::survey::buffer_summary::BufferSummary;
use crate::survey::result::FileSurvey;
use crate::survey::sequence::SequenceGap;

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
    /// The ledger of a file by itself: of all its buffers by stream, and of the numbers that no buffer has.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
    pub(in crate::survey) fn of(
        file: &FileSurvey,
        streams: &[&BufferSummary],
        gaps: &[SequenceGap],
        progress: &dyn Progress,
    ) -> Result<Ledger> {
        let session = SessionSpan::of(file);
        let mut rows = counters::rows(&session, gaps);
        rows.extend(history::rows(&session, streams));
        rows.extend(buffers::rows(&session, streams, progress)?);
        stop_if_cancelled(progress)?;
        rows.extend(notices::last_dropped(&session, streams));
        let header = &file.session;
        let unknown_because = header.loss_unknown_because();
        let counter = |count: u32| unknown_because.is_none().then_some(count);
        Ok(Ledger {
            rows,
            events_lost: counter(header.events_lost),
            buffers_lost: counter(header.buffers_lost),
            unknown_because,
        })
    }

    /// Adds that files are missing behind this one in its series.
    pub(in crate::survey) fn add_missing_files(&mut self, row: LossRow) {
        self.unknown_because = self.unknown_because.or(Some("a file of its series is missing"));
        self.rows.push(row);
    }

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
        let row = self.rows.iter().find(|row| row.kind == LossKind::BuffersLost && row.is_certain);
        row.and_then(|row| row.count).unwrap_or(0)
    }

    /// A loss that is no number of events: buffers or bytes, or events that nothing counts.
    pub fn uncounted_loss(&self) -> Option<&LossRow> {
        let lost = || self.rows.iter().filter(|row| row.is_known_loss() || row.is_damage());
        let by_parts = lost().find(|row| row.unit != "events");
        by_parts.or_else(|| lost().next().filter(|_| self.known_events_lost() == 0))
    }
}
