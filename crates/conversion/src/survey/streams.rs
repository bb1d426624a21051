//! The streams of a file, and how far its events are from being in order.
//!
//! Windows assumes two things: the events of a buffer are in time order, and the buffers of one processor do not
//! overlap. Rows are sorted whether they hold or not; here is counted where they do not.

use std::collections::BTreeMap;

use base::error::Result;
use base::progress::{Progress, stop_if_cancelled};

use super::buffer_summary::BufferSummary;
use super::disorder::Disorder;
use super::result::FileSurvey;
use super::sequence::SequenceGap;
use super::sort::{Threads, sort_by_key};

/// The buffers of one processor, or all of them where the processors share one stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// The processor; `None` where all share the stream.
    pub cpu: Option<u16>,
    /// Buffers, the header buffer included.
    pub buffers: u64,
    /// Readable events.
    pub events: u64,
    /// Bytes of expanded buffers in use: headers and event data.
    pub bytes_used: u64,
    /// [`Stream::bytes_used`] as a part of the size of the buffers in memory.
    pub fill_ratio: f64,
    /// Earliest event, Unix nanoseconds; in a ring, where others are, not one of the header buffer.
    pub first_ns: Option<i64>,
    /// Latest event, Unix nanoseconds.
    pub last_ns: Option<i64>,
    /// Events that are earlier than the event before them in their buffer.
    pub disorder_in_buffer: u64,
    /// Buffers that begin before those before them, in sequence order, have ended.
    pub disorder_between_buffers: u64,
    /// Numbers that no buffer has. A session numbers the buffers of all streams in one row, so that nobody knows which
    /// of several streams lacks a number: `None` unless there is one stream.
    pub sequence_gaps: Option<u64>,
}

/// The streams, by processor, of all buffers [by stream](by_stream) and of the numbers that no buffer has.
///
/// # Errors
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub(super) fn streams(
    file: &FileSurvey,
    buffers: &[&BufferSummary],
    gaps: &[SequenceGap],
    progress: &dyn Progress,
) -> Result<Vec<Stream>> {
    let streams: Vec<_> = each_stream(file, buffers).collect();
    let missing = (streams.len() == 1).then(|| gaps.iter().map(|gap| gap.missing).fold(0, u64::saturating_add));
    let stream = |buffers| Ok(Stream { sequence_gaps: missing, ..stream(file, buffers, progress)? });
    streams.into_iter().map(stream).collect()
}

/// Counts the disorder of a file.
///
/// # Errors
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub fn disorder(file: &FileSurvey, progress: &dyn Progress) -> Result<Disorder> {
    let buffers = by_stream(file, progress)?;
    let mut found = Disorder { in_file: in_file(file), ..Disorder::default() };
    let (mut back, mut forward) = (0, 0);
    for stream in each_stream(file, &buffers) {
        found.in_buffer += in_buffers(stream);
        for Step { buffer, ticks, is_new_session } in steps(stream) {
            stop_if_cancelled(progress)?;
            let ordinal = Some(buffer.extent.ordinal);
            found.between_buffers += u64::from(ticks < 0);
            if ticks < back {
                (back, found.late_buffer) = (ticks, ordinal);
            }
            // How long nobody recorded between two sessions says nothing of the clock.
            if ticks > forward && !(is_new_session && file.session.is_appended()) {
                (forward, found.early_buffer) = (ticks, ordinal);
            }
        }
    }
    let within = file.buffers.iter().map(|buffer| buffer.step_back).max().unwrap_or(0);
    found.largest_step_back_ns = duration_ns(file, within.max(back.saturating_neg()));
    found.largest_step_forward_ns = duration_ns(file, forward);
    Ok(found)
}

/// All buffers by stream, then sequence, then place in the file: within a stream the order in which they were filled.
///
/// The buffers of each stream are brought together first: mostly they are in order then.
pub(super) fn by_stream<'a>(file: &'a FileSurvey, progress: &dyn Progress) -> Result<Vec<&'a BufferSummary>> {
    let rules = file.rules();
    let mut places: BTreeMap<u16, usize> = BTreeMap::new();
    for buffer in file.buffers.iter() {
        stop_if_cancelled(progress)?;
        *places.entry(rules.stream(&buffer.extent)).or_default() += 1;
    }
    let mut start = 0;
    for place in places.values_mut() {
        start += std::mem::replace(place, start);
    }
    let mut ordered: Vec<&BufferSummary> = file.buffers.iter().collect();
    for buffer in file.buffers.iter() {
        stop_if_cancelled(progress)?;
        if let Some(place) = places.get_mut(&rules.stream(&buffer.extent)) {
            ordered[*place] = buffer;
            *place += 1;
        }
    }
    for stream in ordered.chunk_by_mut(|a, b| rules.stream(&a.extent) == rules.stream(&b.extent)) {
        let key = |buffer: &&BufferSummary| (rules.sequence(&buffer.extent), buffer.extent.ordinal);
        sort_by_key(stream, &key, Threads::One, progress)?;
    }
    Ok(ordered)
}

/// The streams of [`by_stream`], one after another.
pub(super) fn each_stream<'b, 'a>(
    file: &'a FileSurvey,
    buffers: &'b [&'a BufferSummary],
) -> impl Iterator<Item = &'b [&'a BufferSummary]> {
    let rules = file.rules();
    buffers.chunk_by(move |a, b| rules.stream(&a.extent) == rules.stream(&b.extent))
}

fn stream(file: &FileSurvey, buffers: &[&BufferSummary], progress: &dyn Progress) -> Result<Stream> {
    stop_if_cancelled(progress)?;
    let ns = |ticks| file.unix_ns(ticks);
    let bytes_used = buffers.iter().map(|buffer| buffer.used_bytes()).sum();
    let capacity: u64 = buffers.iter().map(|buffer| capacity(file, buffer)).sum();
    let mut overlaps = 0;
    for step in steps(buffers) {
        stop_if_cancelled(progress)?;
        overlaps += u64::from(step.ticks < 0);
    }
    Ok(Stream {
        cpu: buffers.first().and_then(|buffer| file.cpu(buffer)),
        buffers: buffers.len() as u64,
        events: buffers.iter().map(|buffer| u64::from(buffer.events)).sum(),
        bytes_used,
        fill_ratio: ratio(bytes_used, capacity),
        first_ns: first_ticks(file, buffers.iter().copied()).map(ns),
        last_ns: last_ticks(buffers.iter().copied()).map(ns),
        disorder_in_buffer: in_buffers(buffers),
        disorder_between_buffers: overlaps,
        sequence_gaps: None,
    })
}

/// Bytes that the buffer had in memory.
fn capacity(file: &FileSurvey, buffer: &BufferSummary) -> u64 {
    let size = if buffer.extent.is_compressed() { file.session.buffer_size } else { buffer.extent.size };
    u64::from(size).max(buffer.used_bytes())
}

#[expect(clippy::cast_precision_loss, reason = "a ratio is not exact")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn in_buffers(buffers: &[&BufferSummary]) -> u64 {
    buffers.iter().map(|buffer| u64::from(buffer.disorder)).sum()
}

/// How a buffer follows those before it in its stream.
struct Step<'a> {
    buffer: &'a BufferSummary,
    /// From their latest event to its earliest; below 0 where it begins before they have ended.
    ticks: i64,
    /// Whether its number is no higher than that of the buffer before it.
    is_new_session: bool,
}

fn steps<'a>(buffers: &[&'a BufferSummary]) -> impl Iterator<Item = Step<'a>> {
    let mut state: Option<(i64, i64)> = None;
    buffers.iter().filter(|buffer| buffer.has_events()).filter_map(move |&buffer| {
        let sequence = buffer.extent.sequence;
        let latest = state.map_or(buffer.last_ticks, |(latest, _)| buffer.last_ticks.max(latest));
        let (before, number) = state.replace((latest, sequence))?;
        Some(Step { buffer, ticks: buffer.first_ticks.saturating_sub(before), is_new_session: sequence <= number })
    })
}

/// The earliest event of some buffers of a file, in ticks. The events of the header buffer are of the session's start,
/// which a ring keeps apart from the window that it holds: there they count only where no others are.
pub fn first_ticks<'a>(file: &FileSurvey, buffers: impl Iterator<Item = &'a BufferSummary> + Clone) -> Option<i64> {
    let window = first_data_ticks(buffers.clone()).filter(|_| file.session.is_ring());
    window.or_else(|| buffers.filter(|buffer| buffer.has_events()).map(|buffer| buffer.first_ticks).min())
}

/// The earliest event of some buffers that is not one of the header buffer, in ticks.
pub fn first_data_ticks<'a>(buffers: impl Iterator<Item = &'a BufferSummary>) -> Option<i64> {
    buffers.filter(|buffer| buffer.is_data()).map(|buffer| buffer.first_ticks).min()
}

/// The latest event of some buffers, in ticks.
pub fn last_ticks<'a>(buffers: impl Iterator<Item = &'a BufferSummary>) -> Option<i64> {
    buffers.filter(|buffer| buffer.has_events()).map(|buffer| buffer.last_ticks).max()
}

fn in_file(file: &FileSurvey) -> u64 {
    let mut before = None;
    let filled = file.buffers.iter().filter(|buffer| buffer.has_events());
    let late =
        filled.filter(|buffer| before.replace(buffer.first_ticks).is_some_and(|first| buffer.first_ticks < first));
    late.count() as u64
}

/// A number of ticks in nanoseconds, rounded up: a step is never shown as none.
fn duration_ns(file: &FileSurvey, ticks: i64) -> i64 {
    let (numerator, denominator) = file.clock.ratio().unwrap_or((1, 1));
    let (whole, denominator) = (i128::from(ticks) * i128::from(numerator), i128::from(denominator));
    i64::try_from((whole + denominator - 1).div_euclid(denominator)).unwrap_or(i64::MAX)
}
