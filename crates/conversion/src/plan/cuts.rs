//! Where the order of events is cut, into partitions and into slices.
//!
//! A cut is a full key and need not be the key of any event: a clock that stands still for a million events still
//! splits, by stream, buffer and offset.

use super::input::BufferRef;
use super::key::{Key, KeyRange};
use crate::survey::BufferSummary;

/// Bytes of a buffer that one possible cut stands for.
const CUT_POINT_BYTES: u32 = 256 << 10;

/// Possible cuts that are looked at; where there are more, every so many are.
const MAX_CUT_POINTS: usize = 1 << 20;

/// How far cuts are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spacing {
    /// Event bytes between two cuts.
    pub bytes: u64,
    /// Event bytes that must be left behind the last cut.
    pub least: u64,
}

/// Keys at which a part of the order is cut, in order. They depend on the buffers alone.
pub(crate) fn choose<'a, B>(buffers: impl Fn() -> B, within: &KeyRange, spacing: Spacing) -> Vec<Key>
where
    B: Iterator<Item = BufferRef<'a>>,
{
    let count: usize = buffers().map(|buffer| cut_points(buffer.buffer)).sum();
    let stride = count.div_ceil(MAX_CUT_POINTS).max(1);
    let points = buffers().flat_map(points_of).step_by(stride);
    let is_within = |(key, _): &(Key, u32)| within.contains(key);
    let mut points: Vec<(Key, u32)> = points.filter(is_within).collect();
    points.sort_unstable();
    let weight = |point: u32| u64::from(point).saturating_mul(stride as u64);
    let mut left: u64 = points.iter().map(|(_, bytes)| weight(*bytes)).sum();
    let mut cuts = Vec::new();
    let mut since = 0;
    for (key, bytes) in points {
        if since >= spacing.bytes && left >= spacing.least {
            cuts.push(key);
            since = 0;
        }
        since += weight(bytes);
        left -= weight(bytes);
    }
    cuts.dedup();
    cuts
}

/// How many possible cuts a buffer has.
fn cut_points(buffer: &BufferSummary) -> usize {
    if buffer.events == 0 { 0 } else { buffer.content_bytes.div_ceil(CUT_POINT_BYTES).max(1) as usize }
}

/// The possible cuts of a buffer, each with the bytes that it stands for.
fn points_of(buffer: BufferRef<'_>) -> impl Iterator<Item = (Key, u32)> {
    let count = cut_points(buffer.buffer);
    let bytes = buffer.buffer.content_bytes / u32::try_from(count.max(1)).unwrap_or(u32::MAX);
    (0..count).map(move |point| (interpolate(&buffer, point as u64, count as u64), bytes))
}

/// The key at `point` of `points` through a buffer, as if its events were spread evenly: over time, or over its bytes
/// where all have one time.
fn interpolate(buffer: &BufferRef<'_>, point: u64, points: u64) -> Key {
    let part = |whole: u64| u64::try_from(u128::from(whole) * u128::from(point) / u128::from(points)).unwrap_or(whole);
    let BufferSummary { first_ticks, last_ticks, content_bytes, .. } = *buffer.buffer;
    let span = last_ticks.abs_diff(first_ticks);
    let offset = if span == 0 { part(u64::from(content_bytes)) } else { 0 };
    buffer.key(first_ticks.saturating_add_unsigned(part(span)), u32::try_from(offset).unwrap_or(u32::MAX))
}
