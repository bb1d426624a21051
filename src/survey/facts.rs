//! What is known of every file of a recording once all of them are surveyed.
//!
//! Checks, sidecar, manifest, summary and `inspect` tell the same values, because there are no others.

use super::loss::{Ledger, ledgers};
use super::result::FileSurvey;
use super::streams::{Stream, first_ticks, streams};
use crate::clock::Ticks;

/// What is known of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileFacts {
    /// The path relative to the input named by the user, with `/`.
    pub source: String,
    /// The first and the last event, Unix nanoseconds. A ring begins with the window that it holds.
    pub window: Option<(i64, i64)>,
    /// What it says of losses.
    pub ledger: Ledger,
    /// Its streams, by processor.
    pub streams: Vec<Stream>,
}

impl FileFacts {
    /// The facts of the files of a recording, in their order.
    pub fn of(files: &[FileSurvey]) -> Vec<Self> {
        let facts = |(file, ledger): (&FileSurvey, Ledger)| FileFacts {
            source: file.name.clone(),
            window: window(file),
            streams: streams(file),
            ledger,
        };
        files.iter().zip(ledgers(files)).map(facts).collect()
    }
}

fn window(file: &FileSurvey) -> Option<(i64, i64)> {
    let ns = |ticks| file.clock.to_unix(Ticks(ticks)).0;
    let last = file.buffers.iter().filter(|buffer| buffer.events > 0).map(|buffer| buffer.last_ticks).max();
    Some((ns(first_ticks(file, file.buffers.iter())?), ns(last?)))
}
