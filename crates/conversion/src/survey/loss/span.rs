//! The time of a session, for the rows of its ledger.

use crate::survey::buffer_summary::BufferSummary;
use crate::survey::result::FileSurvey;

/// A file and the time its session ran.
#[derive(Clone, Copy)]
pub(super) struct SessionSpan<'a> {
    pub(super) file: &'a FileSurvey,
    pub(super) start_ns: i64,
    /// `None` when the session was never closed.
    pub(super) end_ns: Option<i64>,
}

impl SessionSpan<'_> {
    pub(super) fn of(file: &FileSurvey) -> SessionSpan<'_> {
        let start_ns = file.clock.to_unix(file.session.first_ticks).0;
        let end_ns = file.session.is_closed().then(|| file.clock.system_time(file.session.end_time).0);
        SessionSpan { file, start_ns, end_ns }
    }

    pub(super) fn ns(&self, ticks: i64) -> i64 {
        self.file.unix_ns(ticks)
    }

    /// The latest time of a buffer, or the start of the session where there is none.
    pub(super) fn end_of(&self, buffer: Option<&BufferSummary>) -> i64 {
        buffer.map_or(self.start_ns, |buffer| self.ns(buffer.last_ticks))
    }

    /// The earliest time of a buffer, or the end of the session where there is none.
    pub(super) fn start_of(&self, buffer: Option<&BufferSummary>) -> Option<i64> {
        buffer.map_or(self.end_ns, |buffer| Some(self.ns(buffer.first_ticks)))
    }
}
