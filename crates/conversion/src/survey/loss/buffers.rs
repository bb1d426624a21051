//! Buffers that say that something is missing before them, and buffers that cannot be read whole.

use base::error::Result;
use base::progress::{Progress, stop_if_cancelled};
use etl::buffer::scan::{RegionContent, UnreadableRegion};
use etl::layout::buffer::flags;
use etl::layout::logfile::mode;

use super::listed::{LISTED, listed};
use super::notices;
use super::row::{LossKind, LossRow};
use super::span::SessionSpan;
use crate::survey::buffer_summary::BufferSummary;
use crate::survey::sort::{Threads, sort_by_key};
use crate::survey::streams::each_stream;
use crate::survey::unreadable::FurtherRegions;

/// A buffer between its neighbours in its stream that have events.
struct Placed<'a> {
    buffer: &'a BufferSummary,
    /// Never the header buffer, whose last events are of the session's end.
    before: Option<&'a BufferSummary>,
    behind: Option<&'a BufferSummary>,
}

pub(super) fn rows(
    session: &SessionSpan<'_>,
    streams: &[&BufferSummary],
    progress: &dyn Progress,
) -> Result<Vec<LossRow>> {
    let mut suspects = Vec::new();
    for stream in each_stream(session.file, streams) {
        let is_wanted = |buffer: &BufferSummary| is_suspect(buffer) || has_notice(session, buffer);
        suspects.extend(placed(stream, is_wanted, progress)?);
    }
    sort_by_key(&mut suspects, &|place| place.buffer.extent.ordinal, Threads::One, progress)?;
    let mut rows = listed(suspects.iter().flat_map(|place| flag_rows(session, place)), LISTED, progress)?;
    for place in &suspects {
        stop_if_cancelled(progress)?;
        rows.extend(notices::notices(session, place.buffer, place.before));
    }
    rows.extend(notices::further_notices(session));
    let damage = suspects.iter().flat_map(|place| damage_rows(session, place));
    let (regions, further) = region_rows(session);
    rows.extend(listed(damage.chain(regions), LISTED, progress)?);
    rows.extend(further);
    Ok(rows)
}

fn is_suspect(buffer: &BufferSummary) -> bool {
    let is_flagged = buffer.extent.flags & (flags::EVENTS_LOST | flags::BUFFER_LOST) != 0;
    is_flagged || buffer.damaged_bytes > 0 || buffer.extent.is_truncated()
}

fn has_notice(session: &SessionSpan<'_>, buffer: &BufferSummary) -> bool {
    !session.file.notices.of_buffer(buffer.extent.ordinal).is_empty()
}

/// The wanted buffers of a stream with their neighbours.
fn placed<'a>(
    stream: &[&'a BufferSummary],
    wanted: impl Fn(&BufferSummary) -> bool,
    progress: &dyn Progress,
) -> Result<Vec<Placed<'a>>> {
    let (mut found, mut open): (Vec<Placed<'a>>, usize) = (Vec::new(), 0);
    let mut before = None;
    for &buffer in stream {
        stop_if_cancelled(progress)?;
        let is_data = buffer.is_data();
        if is_data {
            found[open..].iter_mut().for_each(|place| place.behind = Some(buffer));
            open = found.len();
        }
        if wanted(buffer) {
            found.push(Placed { buffer, before, behind: None });
        }
        if is_data {
            before = Some(buffer);
        }
    }
    Ok(found)
}

/// Something is missing between the last event before the buffer and its own first.
fn flag_rows(session: &SessionSpan<'_>, place: &Placed<'_>) -> Vec<LossRow> {
    let buffer = place.buffer;
    let kinds = [
        (flags::EVENTS_LOST, LossKind::BufferFlagEventsLost, "events", "BufferFlag EVENTS_LOST"),
        (flags::BUFFER_LOST, LossKind::BufferFlagBufferLost, "buffers", "BufferFlag BUFFER_LOST"),
    ];
    let next = Some(buffer).filter(|buffer| buffer.has_events()).or(place.behind);
    let row = |(_, kind, unit, evidence)| {
        LossRow {
            cpu: session.file.cpu(buffer),
            from_buffer: place.before.map(|before| before.extent.ordinal),
            to_buffer: Some(buffer.extent.ordinal),
            is_certain: true,
            ..LossRow::new(kind, unit, evidence)
        }
        .between(Some(session.end_of(place.before)), session.start_of(next))
    };
    kinds.into_iter().filter(|(flag, ..)| buffer.extent.flags & flag != 0).map(row).collect()
}

/// What is not there lies behind the last event that can be read, up to the next buffer; what cannot be read, behind the last
/// event before it.
fn damage_rows(session: &SessionSpan<'_>, place: &Placed<'_>) -> Vec<LossRow> {
    let buffer = place.buffer;
    let last = Some(buffer).filter(|buffer| buffer.has_events()).or(place.before);
    let ordinal = buffer.extent.ordinal;
    let behind = |from, kind, unit, count: u32, evidence: &str| {
        LossRow {
            cpu: session.file.cpu(buffer),
            from_buffer: Some(ordinal),
            to_buffer: Some(place.behind.map_or(ordinal, |behind| behind.extent.ordinal)),
            count: Some(u64::from(count)),
            ..LossRow::new(kind, unit, evidence)
        }
        .between(Some(from), session.start_of(place.behind))
    };
    let from = session.end_of(last);
    let row = |kind, unit, count, evidence| behind(from, kind, unit, count, evidence);
    let damaged = |unit, count, evidence| {
        let from = match buffer.intact_until {
            BufferSummary::INTACT => from,
            i64::MIN => session.end_of(place.before),
            ticks => session.ns(ticks),
        };
        behind(from, LossKind::DamagedEvent, unit, count, evidence)
    };
    let missing = buffer.missing_bytes();
    let unreadable = buffer.damaged_bytes.saturating_sub(missing);
    let mut rows = Vec::new();
    if buffer.extent.is_truncated() {
        let row = row(LossKind::TruncatedTail, "bytes", missing, "the file ends within the buffer");
        let note = if missing == 0 { "of this buffer only unused space is missing" } else { "" };
        rows.push(LossRow { to_buffer: None, is_lower_bound: true, note, ..row });
    } else if missing > 0 {
        rows.push(row(
            LossKind::DamagedBuffer,
            "bytes",
            missing,
            "the event data is not all there, or cannot be expanded",
        ));
    }
    if buffer.damaged_events > 0 {
        let row = damaged("events", buffer.damaged_events, "an event does not fit into its buffer");
        let note = if buffer.recovered > 0 {
            "what follows it in the buffer cannot be read, up to where events begin again"
        } else {
            "what follows it in the buffer cannot be read"
        };
        rows.push(LossRow { is_lower_bound: true, note, ..row });
    }
    if unreadable > 0 {
        let evidence = if buffer.recovered > 0 {
            "events cannot be read from these bytes"
        } else {
            "the bytes up to the end of the buffer hold no event"
        };
        rows.push(damaged("bytes", unreadable, evidence));
    }
    rows
}

/// Stretches of the file without a buffer header: those that follow one another are one row, and all that are not listed
/// are another.
fn region_rows(session: &SessionSpan<'_>) -> (impl Iterator<Item = LossRow>, Option<LossRow>) {
    let file = session.file;
    let filled: Vec<_> = if file.unreadable.is_empty() {
        Vec::new()
    } else {
        file.buffers.iter().filter(|buffer| buffer.is_data()).collect()
    };
    // A buffer that stands twice is not lost.
    let listed = file.unreadable.listed().iter().filter(|region| region.content != RegionContent::Repeated);
    let lost: Vec<UnreadableRegion> = listed.copied().collect();
    let touching = |a: &UnreadableRegion, b: &UnreadableRegion| a.end() == b.offset;
    let rows: Vec<LossRow> =
        lost.chunk_by(touching).map(|regions| region_row(session, &filled, &Stretch::of(regions))).collect();
    let further = file.unreadable.further().filter(|further| further.lost_bytes > 0).map(|further| LossRow {
        note: "regions that are not listed one by one",
        evidence: format!("{} more regions without a buffer that is read", further.regions),
        ..region_row(session, &filled, &Stretch::of_further(further))
    });
    (rows.into_iter(), further)
}

/// Part of a file without a buffer.
struct Stretch {
    /// Number of the first buffer that should be there.
    first: u64,
    /// Number of the last.
    last: u64,
    bytes: u64,
}

impl Stretch {
    fn of(regions: &[UnreadableRegion]) -> Self {
        Stretch {
            first: regions.first().map_or(0, |region| region.ordinal),
            last: regions.last().map_or(0, |region| region.ordinal + region.buffers.saturating_sub(1)),
            bytes: regions.iter().map(|region| region.len).sum(),
        }
    }

    fn of_further(further: &FurtherRegions) -> Self {
        Stretch { first: further.first_buffer, last: further.last_buffer, bytes: further.lost_bytes }
    }
}

fn region_row(session: &SessionSpan<'_>, filled: &[&BufferSummary], stretch: &Stretch) -> LossRow {
    let before = filled.partition_point(|buffer| buffer.extent.ordinal < stretch.first);
    let behind = filled.partition_point(|buffer| buffer.extent.ordinal <= stretch.last);
    let before = before.checked_sub(1).and_then(|before| filled.get(before)).copied();
    let behind = filled.get(behind).copied();
    let row = LossRow {
        from_buffer: Some(stretch.first),
        to_buffer: Some(stretch.last),
        count: Some(stretch.bytes),
        note: "the buffer numbers that are missing may be those of the buffers here",
        ..LossRow::new(LossKind::DamagedBuffer, "bytes", "no buffer header where one should be")
    };
    // In a ring, neighbours in the file are no neighbours in time.
    if session.file.session.has_mode(mode::CIRCULAR) {
        return row;
    }
    row.between(Some(session.end_of(before)), session.start_of(behind))
}
