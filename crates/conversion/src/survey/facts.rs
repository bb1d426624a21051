//! What is known of every file of a recording once all of them are surveyed.
//!
//! Checks, sidecar, manifest, summary and `inspect` show the same values, because there are no others.

use base::error::Result;
use base::progress::Progress;

use super::advice::advice;
use super::issue::Issue;
use super::loss::{Ledger, missing_files};
use super::machine::machines;
use super::result::FileSurvey;
use super::sequence::sequence_gaps;
use super::streams::{Stream, by_stream, first_ticks, last_ticks, streams};

/// What is known of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileFacts {
    /// The path relative to the input named by the user, with `/`.
    pub source: String,
    /// Its number in the recording.
    pub input: u16,
    /// The number of its machine in the recording; files of one number were recorded between one start of a system and the
    /// next.
    pub machine: u16,
    /// The first and the last event, Unix nanoseconds. A ring begins with the window that it holds.
    pub window: Option<(i64, i64)>,
    /// What it says of losses.
    pub ledger: Ledger,
    /// Its streams, by processor.
    pub streams: Vec<Stream>,
    /// What would likely have prevented its losses; no finding.
    pub advice: Vec<Issue>,
}

impl FileFacts {
    /// The facts of the files of a recording, in their order.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
    pub fn of(files: &[FileSurvey], progress: &dyn Progress) -> Result<Vec<Self>> {
        let numbers = (0..=u16::MAX).zip(machines(files));
        let facts = files.iter().zip(numbers).map(|(file, numbers)| FileFacts::of_file(file, numbers, progress));
        let mut facts: Vec<FileFacts> = facts.collect::<Result<_>>()?;
        for (input, row) in missing_files(files) {
            facts[input].ledger.add_missing_files(row);
        }
        Ok(facts)
    }

    /// What is known of a file by itself.
    fn of_file(file: &FileSurvey, (input, machine): (u16, u16), progress: &dyn Progress) -> Result<Self> {
        let (buffers, gaps) = (by_stream(file, progress)?, sequence_gaps(file, progress)?);
        let ledger = Ledger::of(file, &buffers, &gaps, progress)?;
        Ok(FileFacts {
            source: file.name.clone(),
            input,
            machine,
            window: window(file),
            advice: advice(file, &ledger, &buffers, progress)?,
            ledger,
            streams: streams(file, &buffers, &gaps, progress)?,
        })
    }
}

fn window(file: &FileSurvey) -> Option<(i64, i64)> {
    let (first, last) = (first_ticks(file, file.buffers.iter())?, last_ticks(file.buffers.iter())?);
    Some((file.unix_ns(first), file.unix_ns(last)))
}
