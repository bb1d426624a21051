//! The streams of a file, and how far its events are from being in order.
//!
//! Windows assumes two things: the events of a buffer are in time order, and the buffers of one processor do not
//! overlap. Rows are sorted whether they hold or not; here is counted where they do not.

use super::file::FileSurvey;
use super::record::BufferRecord;
use super::sequence::sequence_gaps;
use crate::clock::Ticks;

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
    /// Earliest event, Unix nanoseconds.
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

/// How far the events of a file are from being in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disorder {
    /// Events that are earlier than the event before them in their buffer.
    pub in_buffer: u64,
    /// Buffers that begin before those before them in their stream have ended.
    pub between_buffers: u64,
    /// Buffers that begin before the buffer before them in the file begins. Usual with several processors.
    pub in_file: u64,
    /// The largest step back in time within a buffer, or from the end of a stream's buffers to the next one.
    pub largest_step_back_ns: i64,
}

impl Disorder {
    /// Whether events would come out of order if they were read stream by stream. Disorder in the file alone is usual.
    pub fn is_any(&self) -> bool {
        self.in_buffer > 0 || self.between_buffers > 0
    }
}

/// The streams, by processor.
pub fn streams(file: &FileSurvey) -> Vec<Stream> {
    let buffers = by_stream(file);
    let streams: Vec<_> = each_stream(file, &buffers).collect();
    let missing = (streams.len() == 1).then(|| sequence_gaps(file).iter().map(|gap| gap.missing).sum());
    streams.into_iter().map(|buffers| Stream { sequence_gaps: missing, ..stream(file, buffers) }).collect()
}

/// Counts the disorder of a file.
pub fn disorder(file: &FileSurvey) -> Disorder {
    let buffers = by_stream(file);
    let mut found = Disorder { in_file: in_file(file), ..Disorder::default() };
    let mut step_back = file.buffers.iter().map(|buffer| buffer.step_back).max().unwrap_or(0);
    for stream in each_stream(file, &buffers) {
        found.in_buffer += in_buffers(stream);
        for step in steps_back(stream) {
            found.between_buffers += 1;
            step_back = step_back.max(step);
        }
    }
    found.largest_step_back_ns = duration_ns(file, step_back);
    found
}

/// All buffers by stream, then sequence, then place in the file: within a stream the order in which they were filled.
pub(super) fn by_stream(file: &FileSurvey) -> Vec<&BufferRecord> {
    let ground = file.ground();
    let mut buffers: Vec<_> = file.buffers.iter().collect();
    buffers.sort_unstable_by_key(|b| (ground.stream(&b.frame), ground.sequence(&b.frame), b.frame.ordinal));
    buffers
}

/// The streams of [`by_stream`], one after another.
pub(super) fn each_stream<'b, 'a>(
    file: &'a FileSurvey,
    buffers: &'b [&'a BufferRecord],
) -> impl Iterator<Item = &'b [&'a BufferRecord]> {
    let ground = file.ground();
    buffers.chunk_by(move |a, b| ground.stream(&a.frame) == ground.stream(&b.frame))
}

fn stream(file: &FileSurvey, buffers: &[&BufferRecord]) -> Stream {
    let filled = || buffers.iter().filter(|buffer| buffer.events > 0);
    let ns = |ticks| file.clock.to_unix(Ticks(ticks)).0;
    let bytes_used = buffers.iter().map(|buffer| buffer.used_bytes()).sum();
    let capacity: u64 = buffers.iter().map(|buffer| capacity(file, buffer)).sum();
    Stream {
        cpu: buffers.first().and_then(|buffer| file.cpu(buffer)),
        buffers: buffers.len() as u64,
        events: buffers.iter().map(|buffer| u64::from(buffer.events)).sum(),
        bytes_used,
        fill_ratio: ratio(bytes_used, capacity),
        first_ns: filled().map(|buffer| buffer.first_ticks).min().map(ns),
        last_ns: filled().map(|buffer| buffer.last_ticks).max().map(ns),
        disorder_in_buffer: in_buffers(buffers),
        disorder_between_buffers: steps_back(buffers).count() as u64,
        sequence_gaps: None,
    }
}

/// Bytes that the buffer had in memory.
fn capacity(file: &FileSurvey, buffer: &BufferRecord) -> u64 {
    let size = if buffer.frame.is_compressed() { file.session.buffer_size } else { buffer.frame.size };
    u64::from(size).max(buffer.used_bytes())
}

#[expect(clippy::cast_precision_loss, reason = "a ratio is not exact")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn in_buffers(buffers: &[&BufferRecord]) -> u64 {
    buffers.iter().map(|buffer| u64::from(buffer.disorder)).sum()
}

/// In ticks, how far each late buffer of a stream begins before the latest event of those before it.
fn steps_back(buffers: &[&BufferRecord]) -> impl Iterator<Item = i64> {
    let mut latest = None;
    buffers.iter().filter(|buffer| buffer.events > 0).filter_map(move |buffer| {
        let before = latest.replace(buffer.last_ticks.max(latest.unwrap_or(i64::MIN)))?;
        (buffer.first_ticks < before).then(|| before.saturating_sub(buffer.first_ticks))
    })
}

fn in_file(file: &FileSurvey) -> u64 {
    let mut before = None;
    let filled = file.buffers.iter().filter(|buffer| buffer.events > 0);
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
