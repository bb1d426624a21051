//! Holds a file against what its header event promises.

use etl::layout::buffer::flags;
use etl::layout::logfile::mode;

use super::ending::TailKind;
use super::issue::{Issue, Severity};
use super::issue_code::IssueCode;
use super::result::FileSurvey;

/// Adds the issues that concern the file as a whole.
pub(super) fn audit(file: &mut FileSurvey) {
    let found = [counters(file), clock(file), tail(file), disorder(file), backing_file(file)];
    found.into_iter().flatten().for_each(|issue| file.issues.push(issue));
}

fn counters(file: &FileSurvey) -> Option<Issue> {
    let (promised, found) = (u64::from(file.session.buffers_written), file.buffers.len() as u64);
    if !file.session.is_closed() {
        let message = "the session was never closed: its loss counters are unknown and its end may be missing";
        return Some(Issue::new(Severity::Warning, IssueCode::NotClosed, message));
    }
    if promised == found {
        return None;
    }
    let wrapped = promised > found && file.session.has_mode(mode::CIRCULAR);
    let (severity, why) = match (promised > found, wrapped) {
        (_, true) => (Severity::Info, "older buffers were overwritten"),
        (true, _) => (Severity::Warning, "the file was cut, or buffers are unreadable"),
        (false, _) => (Severity::Warning, "the file was extended after its header was written"),
    };
    let message = format!("expected {promised} buffers, found {found}: {why}");
    Some(Issue::new(severity, IssueCode::BufferCountMismatch, message))
}

fn clock(file: &FileSurvey) -> Option<Issue> {
    if let Some(declared) = file.clock.declared_type_ignored() {
        let message = format!(
            "the header declares clock type {declared}, but its own tick {} can only be of the clock {}; that one is used",
            file.session.first_ticks.0,
            file.clock.kind().name()
        );
        return Some(Issue::new(Severity::Warning, IssueCode::ClockTypeOverruled, message));
    }
    if file.clock.ratio().is_none() {
        let message = "the header holds no usable clock frequency: each tick is counted as one nanosecond";
        return Some(Issue::new(Severity::Warning, IssueCode::ClockUnscaled, message));
    }
    None
}

fn tail(file: &FileSurvey) -> Option<Issue> {
    let tail = file.tail?;
    let (severity, code, what) = match tail.kind {
        TailKind::Zero => (Severity::Info, IssueCode::ZeroTail, "unused bytes behind the last buffer"),
        TailKind::Ones => (Severity::Info, IssueCode::ZeroTail, "unused bytes, all FF, behind the last buffer"),
        TailKind::Stale => (Severity::Info, IssueCode::StaleTail, "bytes of an older recording behind the last buffer"),
        TailKind::Fragment => (Severity::Error, IssueCode::TruncatedBuffer, "bytes are too few for a buffer header"),
    };
    let issue = Issue::new(severity, code, format!("{} {what}", tail.len));
    Some(Issue { offset: Some(tail.offset), ..issue })
}

fn disorder(file: &FileSurvey) -> Option<Issue> {
    let unsorted = || file.buffers.iter().filter(|buffer| buffer.disorder > 0);
    let first = unsorted().next()?;
    let events: u64 = unsorted().map(|buffer| u64::from(buffer.disorder)).sum();
    let message = format!(
        "{events} events in {} buffers are earlier than the event before them; the rows are sorted",
        unsorted().count()
    );
    Some(
        Issue::new(Severity::Warning, IssueCode::UnsortedBuffer, message).at(first.extent.ordinal, first.extent.offset),
    )
}

fn backing_file(file: &FileSurvey) -> Option<Issue> {
    let damaged = file.buffers.iter().find(|buffer| buffer.extent.flags & flags::RTBACKUP_CORRUPT != 0)?;
    let message = "the file that backed the real-time session was damaged";
    Some(
        Issue::new(Severity::Warning, IssueCode::RealTimeBackupDamaged, message)
            .at(damaged.extent.ordinal, damaged.extent.offset),
    )
}
