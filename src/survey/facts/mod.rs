//! What is known of every file of a recording once all of them are surveyed.
//!
//! It is computed once. Gates, sidecar, manifest, summary and `inspect` tell the same values, because there are no others.

mod clock;
mod session;

pub use clock::ClockFacts;
pub use session::SessionFacts;

use super::issue::{Issue, Severity};
use super::issue_code::IssueCode;
use super::loss::{self, Ledger, MISSING_FILE};
use super::result::FileSurvey;
use super::streams::{Disorder, Stream, disorder, streams};
use crate::clock::ClockKind;

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
    /// The first and the last event, Unix nanoseconds. A ring begins with the window that it holds.
    pub fn window(&self) -> Option<(i64, i64)> {
        self.session.first_event_ns.zip(self.session.last_event_ns)
    }
}

/// The facts of the files of a recording, in their order. What is unusual about them joins the files' findings.
pub fn settle(files: &mut [FileSurvey]) -> Vec<FileFacts> {
    let ledgers = loss::ledgers(files);
    files.iter_mut().zip(ledgers).map(|(file, ledger)| facts(file, ledger)).collect()
}

fn facts(file: &mut FileSurvey, ledger: Ledger) -> FileFacts {
    let disorder = disorder(file);
    let found = [step_back(file, &disorder), step_forward(file, &disorder)];
    found.into_iter().flatten().chain(missing_files(&ledger)).for_each(|finding| file.issues.push(finding));
    FileFacts {
        session: SessionFacts::of(file, &ledger),
        clock: ClockFacts::of(file, &disorder),
        streams: streams(file),
        ledger,
    }
}

/// Members of the file's series that are not among the inputs.
fn missing_files(ledger: &Ledger) -> impl Iterator<Item = Issue> {
    let rows = ledger.rows.iter().filter(|row| row.kind == MISSING_FILE);
    rows.map(|row| Issue::new(Severity::Warning, IssueCode::MissingFile, format!("{}: {}", row.evidence, row.note)))
}

/// Buffers that begin before those before them have ended.
fn step_back(file: &FileSurvey, disorder: &Disorder) -> Option<Issue> {
    let buffer = file.buffer(disorder.late_buffer?)?;
    let cause = match file.clock.kind() {
        ClockKind::SystemTime => ": the system clock was set back",
        ClockKind::Qpc | ClockKind::CpuCycle => "",
    };
    let message = format!(
        "the events of {} buffers are earlier than those of a buffer before them in their stream, here most{cause}; the \
         rows are sorted",
        disorder.between_buffers
    );
    let finding = Issue::new(Severity::Warning, IssueCode::StepBack, message);
    Some(Issue { ticks: Some(buffer.first_ticks), ..finding.at(buffer.extent.ordinal, buffer.extent.offset) })
}

/// A pause of a session whose clock can be set from which on it may have been.
const LONG_PAUSE_NS: i64 = 600_000_000_000;

/// A pause that is long enough to be none.
fn step_forward(file: &FileSurvey, disorder: &Disorder) -> Option<Issue> {
    let buffer = file.buffer(disorder.early_buffer?)?;
    let is_long = disorder.largest_step_forward_ns >= LONG_PAUSE_NS && file.clock.sees_adjustments();
    is_long.then(|| {
        let seconds = disorder.largest_step_forward_ns / 1_000_000_000;
        let message =
            format!("no events for {seconds} s before this buffer: a pause, or the system clock was set forward");
        let finding = Issue::new(Severity::Info, IssueCode::StepForward, message);
        Issue { ticks: Some(buffer.first_ticks), ..finding.at(buffer.extent.ordinal, buffer.extent.offset) }
    })
}
