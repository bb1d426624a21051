//! What is unusual about the files of a recording once all of them are surveyed.

use base::clock::ClockKind;

use super::issue::{Issue, Severity};
use super::issue_code::IssueCode;
use super::loss::{LossRow, missing_files};
use super::result::FileSurvey;

/// Adds what is unusual about the order of a file's events, and about a file among others, to the issues of the files.
pub fn settle(files: &mut [FileSurvey]) {
    for file in &mut *files {
        let issues = [step_back(file), step_forward(file)];
        issues.into_iter().flatten().for_each(|issue| file.issues.push(issue));
    }
    for (input, row) in missing_files(files) {
        files[input].issues.push(missing_file(&row));
    }
}

/// A hole in a series of files.
fn missing_file(row: &LossRow) -> Issue {
    Issue::new(Severity::Warning, IssueCode::MissingFile, format!("{}: {}", row.evidence, row.note))
}

/// Buffers that begin before those before them have ended.
fn step_back(file: &FileSurvey) -> Option<Issue> {
    let disorder = &file.disorder;
    let buffer = file.buffer(disorder.late_buffer?)?;
    let cause = match file.clock.kind() {
        ClockKind::SystemTime if is_time_zone(file) => {
            ", by the recorded time zone: times before are local, and not UTC"
        }
        ClockKind::SystemTime => ": the system clock was set back",
        ClockKind::Qpc | ClockKind::CpuCycle => "",
    };
    let message = format!(
        "the events of {} buffers are earlier than those of a buffer before them in their stream, here most{cause}; the \
         rows are sorted",
        disorder.between_buffers
    );
    let issue = Issue::new(Severity::Warning, IssueCode::StepBack, message);
    Some(Issue { ticks: Some(buffer.first_ticks), ..issue.at(buffer.extent.ordinal, buffer.extent.offset) })
}

/// What may pass between two buffers of which one has local time.
const BETWEEN_BUFFERS_NS: i64 = 60_000_000_000;

/// Whether times go back by what local time is ahead of UTC, in summer or in winter.
fn is_time_zone(file: &FileSurvey) -> bool {
    let ahead = i64::from(file.session.time_zone_bias_min).saturating_neg();
    [ahead, ahead.saturating_add(60)].into_iter().any(|minutes| {
        let rest = minutes.saturating_mul(60_000_000_000).saturating_sub(file.disorder.largest_step_back_ns);
        (0..=BETWEEN_BUFFERS_NS).contains(&rest)
    })
}

/// A pause of a session whose clock can be set from which on it may have been.
const LONG_PAUSE_NS: i64 = 600_000_000_000;

/// A pause that is long enough to be none.
fn step_forward(file: &FileSurvey) -> Option<Issue> {
    let disorder = &file.disorder;
    let buffer = file.buffer(disorder.early_buffer?)?;
    let is_long = disorder.largest_step_forward_ns >= LONG_PAUSE_NS && file.clock.sees_adjustments();
    is_long.then(|| {
        let seconds = disorder.largest_step_forward_ns / 1_000_000_000;
        let message =
            format!("no events for {seconds} s before this buffer: a pause, or the system clock was set forward");
        let issue = Issue::new(Severity::Info, IssueCode::StepForward, message);
        Issue { ticks: Some(buffer.first_ticks), ..issue.at(buffer.extent.ordinal, buffer.extent.offset) }
    })
}
