//! What is known of one file of a recording.

use super::clock::ClockFacts;
use super::session::SessionFacts;
use crate::survey::loss::{Ledger, ledgers};
use crate::survey::result::FileSurvey;
use crate::survey::streams::{Stream, streams};

/// What is known of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileFacts {
    /// Its session.
    pub session: SessionFacts,
    /// Its clock.
    pub clock: ClockFacts,
    /// What it says of losses.
    pub ledger: Ledger,
    /// Its streams, by processor.
    pub streams: Vec<Stream>,
}

impl FileFacts {
    /// The facts of the files of a recording, in their order.
    pub fn of(files: &[FileSurvey]) -> Vec<Self> {
        let facts = |(file, ledger): (&FileSurvey, Ledger)| FileFacts {
            session: SessionFacts::of(file, &ledger),
            clock: ClockFacts::of(file),
            streams: streams(file),
            ledger,
        };
        files.iter().zip(ledgers(files)).map(facts).collect()
    }

    /// The first and the last event, Unix nanoseconds. A ring begins with the window that it holds.
    pub fn window(&self) -> Option<(i64, i64)> {
        self.session.first_event_ns.zip(self.session.last_event_ns)
    }
}
