//! What lies before the first and behind the last buffer of a file.

use etl::layout::logfile::mode;

use super::row::{LossKind, LossRow};
use super::span::SessionSpan;
use crate::survey::buffer_summary::BufferSummary;
use crate::survey::ending::TailKind;
use crate::survey::result::FileSurvey;
use crate::survey::sequence::sequence_range;
use crate::survey::streams::{each_stream, last_ticks};

/// What a circular file has lost of its past, which is its purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwritten {
    /// Nothing: it has not wrapped, or is no circular file.
    None,
    /// So many buffers: the header counts more than there are.
    Buffers(u64),
    /// Nobody knows: the session was never closed. No more than so many buffers, and perhaps none, because a number can be
    /// spent on a buffer that is never written.
    AtMost(u64),
}

/// What newer buffers have overwritten in a file.
pub fn overwritten(file: &FileSurvey) -> Overwritten {
    if !file.session.has_mode(mode::CIRCULAR) || file.has_room() {
        return Overwritten::None;
    }
    let below_lowest = sequence_range(file).map_or(0, |(lowest, _)| lowest.abs_diff(1));
    match (file.session.is_closed(), file.absent_buffers(), below_lowest) {
        (true, 0, _) | (false, _, 0) => Overwritten::None,
        (true, absent, _) => Overwritten::Buffers(absent),
        (false, _, most) => Overwritten::AtMost(most),
    }
}

pub(super) fn rows(session: &SessionSpan<'_>, streams: &[&BufferSummary]) -> Vec<LossRow> {
    let mut rows = overwritten_rows(session, streams);
    rows.extend(absent(session, streams));
    rows.extend(fragment(session, streams));
    rows
}

/// A ring keeps the latest buffers: what came before the first event of each processor may be gone.
fn overwritten_rows(session: &SessionSpan<'_>, streams: &[&BufferSummary]) -> Vec<LossRow> {
    let file = session.file;
    let row = |evidence: String| LossRow::new(LossKind::CircularOverwrite, "buffers", evidence);
    let row = match overwritten(file) {
        Overwritten::Buffers(count) => {
            let is_whole = !file.is_damaged() && !file.is_truncated();
            let note = if is_whole { "" } else { "what cannot be read of the file may be among them" };
            let evidence = "BuffersWritten of the header event".to_owned();
            LossRow { count: Some(count), is_certain: is_whole, note, ..row(evidence) }
        }
        Overwritten::AtMost(count) => {
            let evidence = format!("no buffer has a number up to {count}");
            LossRow {
                note: "so many at most: a number can be spent on a buffer that is never written",
                ..row(evidence)
            }
        }
        Overwritten::None if file.session.has_mode(mode::BUFFERING) => {
            let note = "a ring in memory: what was overwritten before the ring was saved is not counted";
            LossRow { note, ..row("session mode BUFFERING".to_owned()) }
        }
        Overwritten::None => return Vec::new(),
    };
    let firsts: Vec<_> = each_stream(file, streams)
        .filter_map(|stream| first_data(stream))
        .map(|buffer| (file.cpu(buffer), buffer))
        .collect();
    let latest = firsts.iter().max_by_key(|(_, buffer)| buffer.first_ticks);
    let before = |row: LossRow, buffer: &BufferSummary| {
        let row = LossRow { to_buffer: Some(buffer.extent.ordinal), ..row };
        row.between(Some(session.start_ns), Some(session.ns(buffer.first_ticks)))
    };
    let per_cpu = firsts.iter().filter(|(cpu, _)| cpu.is_some()).map(|(cpu, buffer)| {
        let note = "the part of this processor is not counted";
        before(LossRow { cpu: *cpu, count: None, is_lower_bound: false, note, ..row.clone() }, buffer)
    });
    let all = latest.map_or(row.clone(), |(_, buffer)| before(row.clone(), buffer));
    std::iter::once(all).chain(per_cpu).collect()
}

/// The buffer of a stream with the earliest event, not counting the header buffer, which a ring never overwrites.
fn first_data<'a>(stream: &[&'a BufferSummary]) -> Option<&'a BufferSummary> {
    let data = stream.iter().copied().filter(|buffer| buffer.is_data());
    data.min_by_key(|buffer| buffer.first_ticks)
}

/// Buffers that the header counts and the file does not have.
fn absent(session: &SessionSpan<'_>, streams: &[&BufferSummary]) -> Option<LossRow> {
    let count = session.file.missing_buffers();
    let row = LossRow {
        count: Some(count),
        ..LossRow::new(LossKind::TruncatedTail, "buffers", "BuffersWritten of the header event")
    };
    (count > 0).then(|| behind_the_end(session, streams, row))
}

/// Bytes at the end that are too few for a buffer header.
fn fragment(session: &SessionSpan<'_>, streams: &[&BufferSummary]) -> Option<LossRow> {
    let tail = session.file.tail.filter(|tail| tail.kind == TailKind::Fragment)?;
    let row = LossRow {
        count: Some(tail.len),
        is_lower_bound: true,
        ..LossRow::new(
            LossKind::TruncatedTail,
            "bytes",
            format!("the file ends within the buffer header at {}", tail.offset),
        )
    };
    Some(behind_the_end(session, streams, row))
}

/// From the end of the stream that ends first: any stream may lack its end.
fn behind_the_end(session: &SessionSpan<'_>, streams: &[&BufferSummary], row: LossRow) -> LossRow {
    let file = session.file;
    let ends: Vec<_> = each_stream(file, streams).map(|stream| last_ticks(stream.iter().copied())).collect();
    let is_complete = file.session.has_one_stream() || ends.len() >= file.session.cpu_count as usize;
    let earliest = ends.into_iter().min().flatten().filter(|_| is_complete);
    let from_buffer = file.buffers.last().map(|buffer| buffer.extent.ordinal);
    let row = LossRow { from_buffer, ..row };
    row.between(Some(earliest.map_or(session.start_ns, |ticks| session.ns(ticks))), session.end_ns)
}
