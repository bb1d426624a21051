//! Events that describe a loss.

use super::row::{LossKind, LossRow};
use super::span::SessionSpan;
use crate::survey::buffer_summary::BufferSummary;
use crate::survey::marked::{Notice, Notices};

/// The rows of one buffer's notices; `before` is the buffer with events before it in its stream.
pub(super) fn notices(
    session: &SessionSpan<'_>,
    buffer: &BufferSummary,
    before: Option<&BufferSummary>,
) -> Vec<LossRow> {
    let notices = session.file.notices.of_buffer(buffer.extent.ordinal);
    notices.iter().map(|notices| notice_row(session, buffer, before, notices)).collect()
}

/// The rows of the notices in so many buffers that they are not listed one by one.
pub(super) fn further_notices(session: &SessionSpan<'_>) -> Vec<LossRow> {
    let row = |notices: &Notices| {
        let (unit, what, _) = notice_words(notices.notice);
        LossRow {
            from_buffer: Some(notices.first_buffer),
            to_buffer: Some(notices.last_buffer),
            count: (notices.notice == Notice::Error).then_some(notices.count),
            is_certain: true,
            note: "in further buffers, which are not listed one by one",
            ..LossRow::new(LossKind::LostEventRecord, unit, format!("{what}, {} in all of them", notices.count))
        }
        .between(Some(session.ns(notices.first_ticks)), Some(session.ns(notices.last_ticks)))
    };
    session.file.notices.rest.values().map(row).collect()
}

/// The unit, the evidence and a note.
fn notice_words(notice: Notice) -> (&'static str, &'static str, &'static str) {
    match notice {
        Notice::Events => ("events", "RT_LostEvent with opcode 32", "a real-time consumer missed events"),
        Notice::Buffers => ("buffers", "RT_LostEvent with opcode 33", "a real-time consumer missed buffers"),
        Notice::BackingFile => ("events", "RT_LostEvent with opcode 34", "the real-time backing file lost events"),
        Notice::Unknown => ("events", "RT_LostEvent with an unknown opcode", ""),
        Notice::Error => ("events", "header of type ERROR", "events that could not be logged"),
    }
}

/// A notice stands in front of the events that follow the loss. An event that could not be logged is an instant.
fn notice_row(
    session: &SessionSpan<'_>,
    buffer: &BufferSummary,
    before: Option<&BufferSummary>,
    notices: &Notices,
) -> LossRow {
    let (unit, what, note) = notice_words(notices.notice);
    let is_error = notices.notice == Notice::Error;
    let from_ns = if is_error { session.ns(notices.first_ticks) } else { session.end_of(before) };
    let from_buffer = if is_error { Some(buffer) } else { before };
    LossRow {
        cpu: session.file.cpu(buffer),
        from_buffer: from_buffer.map(|buffer| buffer.extent.ordinal),
        to_buffer: Some(buffer.extent.ordinal),
        count: is_error.then_some(notices.count),
        is_certain: true,
        note,
        ..LossRow::new(LossKind::LostEventRecord, unit, format!("{what}, {} in this buffer", notices.count))
    }
    .between(Some(from_ns), Some(session.ns(notices.last_ticks)))
}

/// When each processor dropped its last event: an instant, and the buffers around it.
pub(super) fn last_dropped(session: &SessionSpan<'_>, streams: &[&BufferSummary]) -> Vec<LossRow> {
    let dropped = &session.file.last_dropped;
    if dropped.is_empty() {
        return Vec::new();
    }
    let rules = session.file.rules();
    let filled: Vec<_> = streams.iter().copied().filter(|buffer| buffer.has_events()).collect();
    let row = |(&cpu, &ticks): (&u16, &i64)| {
        let stream = if rules.one_stream { 0 } else { cpu };
        let start = filled.partition_point(|buffer| rules.stream(&buffer.extent) < stream);
        let end = filled.partition_point(|buffer| rules.stream(&buffer.extent) <= stream);
        let buffers = filled.get(start..end).unwrap_or_default();
        let begun = buffers.partition_point(|buffer| buffer.first_ticks <= ticks);
        let ended = buffers.partition_point(|buffer| buffer.last_ticks < ticks);
        let ordinal = |buffer: &&BufferSummary| buffer.extent.ordinal;
        LossRow {
            cpu: (!rules.one_stream).then_some(cpu),
            from_buffer: begun.checked_sub(1).and_then(|last| buffers.get(last)).map(ordinal),
            to_buffer: buffers.get(ended).map(ordinal),
            is_certain: true,
            note: "the last event that was dropped; when others were is not recorded",
            ..LossRow::new(LossKind::LastDroppedTime, "events", "LastDroppedTimes")
        }
        .between(Some(session.ns(ticks)), Some(session.ns(ticks)))
    };
    dropped.iter().map(row).collect()
}
