//! Takes from a slice the events that pass the filters, and tells their places among all of its events.
//!
//! The others need no order among themselves. It is enough to know between which two neighbours of the sorted few each
//! of them would stand:
//!
//! ```text
//! few, sorted          a        b     c
//! others         1  1     1 1 1    0     1     how many stand before a, between a and b, …
//! places               2        6     7        the sums from the left, and the few themselves
//! ```
//!
//! Others of one segment come in the order of time, unless the trace is disordered, so their gaps are found by going
//! forward through the few; where time steps back, the search begins anew. Either way the places are exact.

use std::cmp::Ordering;

use hashbrown::HashMap;

use super::super::aside::AsideWalk;
use super::super::segments::Segment;
use super::super::slices::Slice;
use super::{Entry, OrderedSlice};
use crate::buffer::content::Scratch;
use crate::clock::Ticks;
use crate::error::Result;
use crate::event::{RawEvent, Shape, TimedStep, TimedWalk};
use crate::plan::CompiledFilter;
use crate::plan::filter::Overlap;

/// Events that do not pass: all that their place in the order depends on.
#[derive(Debug, Default)]
struct Others {
    /// Time in ticks and offset from the first event of the buffer.
    events: Vec<(i64, u32)>,
    /// Where the events of each segment end.
    ends: Vec<usize>,
}

impl OrderedSlice<'_> {
    /// Reads a slice, keeps what passes the filter in order, and counts the rest. Buffers outside of the time that passes
    /// are not read: the survey has counted their events.
    pub(super) fn sift(
        &mut self,
        slice: &Slice,
        filter: &CompiledFilter,
        numbers: &HashMap<Shape, u32>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let mut before = 0;
        for segment in self.slices.segments(slice) {
            match self.overlap(segment, slice, filter) {
                Overlap::Before => before += self.skip(segment),
                Overlap::After => _ = self.skip(segment),
                Overlap::Inside | Overlap::Across => self.load(segment, scratch)?,
            }
        }
        let others = self.walk_through(slice, filter, numbers)?;
        self.sort();
        self.places = Some(self.places(&others, before));
        Ok(())
    }

    /// How the time of a segment lies to the time that passes.
    fn overlap(&self, segment: &Segment, slice: &Slice, filter: &CompiledFilter) -> Overlap {
        let file = &self.files[usize::from(segment.input)];
        let buffer = &file.buffers[segment.buffer as usize];
        let ns = |ticks| file.clock.to_unix(Ticks(ticks)).0;
        let first = slice.from.map_or(i64::MIN, |from| from.ns).max(ns(buffer.first_ticks));
        let last = slice.to.map_or(i64::MAX, |to| to.ns).min(ns(buffer.last_ticks));
        filter.window().overlap(first, last)
    }

    /// Counts the events of a segment that is not read; says how many they are.
    fn skip(&mut self, segment: &Segment) -> u64 {
        let input = usize::from(segment.input);
        if segment.owns_end() {
            self.damaged[input] += u64::from(self.files[input].buffers[segment.buffer as usize].damaged_events);
        }
        self.filtered[input] += u64::from(segment.events);
        u64::from(segment.events)
    }

    /// Finds the events that pass, in no order yet, and the others.
    fn walk_through(
        &mut self,
        slice: &Slice,
        filter: &CompiledFilter,
        numbers: &HashMap<Shape, u32>,
    ) -> Result<Others> {
        let (mut entries, mut others) = (std::mem::take(&mut self.entries), Others::default());
        let (mut damaged, mut filtered) = (std::mem::take(&mut self.damaged), std::mem::take(&mut self.filtered));
        others.events.reserve_exact(usize::try_from(slice.events).unwrap_or(0));
        for (number, loaded) in (0u32..).zip(&self.segments) {
            let segment = &loaded.segment;
            let input = usize::from(segment.input);
            let file = &self.files[input];
            let (ground, context) = (file.reader(), file.session.context());
            let passes_cpu = filter.passes_cpu(file.cpu(&file.buffers[segment.buffer as usize]));
            let is_inside = self.overlap(segment, slice, filter) == Overlap::Inside;
            let others_before = others.events.len();
            let mut take = |raw: &RawEvent<'_>, ticks| -> Result<()> {
                let ns = || file.clock.to_unix(Ticks(ticks)).0;
                let passes = passes_cpu && filter.passes(raw, &context, numbers)?;
                if passes && (is_inside || filter.window().contains(ns())) {
                    entries.push(Entry { ns: ns(), ticks, segment: number, offset: raw.offset });
                } else {
                    others.events.push((ticks, raw.offset));
                }
                Ok(())
            };
            if segment.is_aside() {
                AsideWalk::new(self.bytes_of(number as usize)).try_for_each(|(ticks, raw)| take(&raw, ticks))?;
                damaged[input] += segment.damaged_beside();
            } else {
                for step in TimedWalk::new(self.bytes_of(number as usize), segment.from, ground.fallback_ticks) {
                    match step {
                        TimedStep::Event(event) => take(&event.raw, event.ticks)?,
                        TimedStep::Damage { recognisable, .. } => {
                            damaged[input] += u64::from(recognisable && segment.owns_end());
                        }
                    }
                }
            }
            others.ends.push(others.events.len());
            filtered[input] += (others.events.len() - others_before) as u64;
        }
        (self.entries, self.damaged, self.filtered) = (entries, damaged, filtered);
        Ok(others)
    }

    /// The places of the sorted entries among all events, of which so many before them are not among the others.
    fn places(&self, others: &Others, before: u64) -> Vec<u64> {
        if self.files.len() == 1 {
            // One clock: its ticks are in the order of the times that they stand for.
            return places(&self.entries, others, before, |ticks, _| ticks);
        }
        places(&self.entries, others, before, |ticks, segment| {
            let input = self.segments[segment as usize].segment.input;
            (self.files[usize::from(input)].clock.to_unix(Ticks(ticks)).0, input, ticks)
        })
    }
}

/// The places of sorted entries among themselves and others. The key is what comes before segment and offset in the
/// order.
fn places<K: Ord + Copy>(entries: &[Entry], others: &Others, before: u64, key: impl Fn(i64, u32) -> K) -> Vec<u64> {
    let sorted: Vec<(K, u32, u32)> =
        entries.iter().map(|entry| (key(entry.ticks, entry.segment), entry.segment, entry.offset)).collect();
    let mut gaps = vec![0_u64; sorted.len() + 1];
    let mut start = 0;
    for (segment, &end) in (0u32..).zip(&others.ends) {
        let (mut gap, mut previous) = (0, None);
        for &(ticks, offset) in &others.events[start..end] {
            let at = (key(ticks, segment), segment, offset);
            if previous.is_some_and(|previous| at < previous) {
                gap = 0;
            }
            gap += leading(&sorted[gap..], |entry| entry.cmp(&at) == Ordering::Less);
            gaps[gap] += 1;
            previous = Some(at);
        }
        start = end;
    }
    let mut next = before;
    let place = |others: u64| {
        next += others + 1;
        next - 1
    };
    gaps.into_iter().take(sorted.len()).map(place).collect()
}

/// How many items at the start of a slice something holds for, if it holds for none behind them. Takes as many steps
/// as the number has digits.
#[inline]
fn leading<T>(items: &[T], holds: impl Fn(&T) -> bool) -> usize {
    let mut end = 1;
    while end <= items.len() && holds(&items[end - 1]) {
        end *= 2;
    }
    let start = end / 2;
    start + items[start..items.len().min(end - 1)].partition_point(holds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_those_in_the_order_of_all(
            segments in proptest::collection::vec(proptest::collection::vec((0_i64..20, any::<bool>()), 0..30), 0..6),
            before in 0_u64..1000,
        ) {
            let (mut all, mut entries, mut others) = (Vec::new(), Vec::new(), Others::default());
            for (segment, events) in (0_u32..).zip(&segments) {
                for (offset, &(ticks, passes)) in (0_u32..).zip(events) {
                    all.push(((ticks, segment, offset), passes));
                    if passes {
                        entries.push(Entry { ns: 0, ticks, segment, offset });
                    } else {
                        others.events.push((ticks, offset));
                    }
                }
                others.ends.push(others.events.len());
            }
            entries.sort_by_key(|entry| entry.ticks);
            all.sort_unstable();
            let expected: Vec<u64> =
                (before..).zip(&all).filter(|(_, (_, passes))| *passes).map(|(place, _)| place).collect();
            prop_assert_eq!(places(&entries, &others, before, |ticks, _| ticks), expected);
        }

        #[test]
        fn leading_counts_what_holds(length in 0_usize..40, limit in 0_usize..50) {
            let items: Vec<usize> = (0..length).collect();
            prop_assert_eq!(leading(&items, |&item| item < limit), length.min(limit));
        }
    }
}
