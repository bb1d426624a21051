//! Ranks the events that pass the filters among all events of a slice.
//!
//! The others need no order among themselves. It is enough to know between which two neighbours of the sorted few each
//! of them would stand:
//!
//! ```text
//! few, sorted          a        b     c
//! skipped        1  1     1 1 1    0     1     how many stand before a, between a and b, …
//! ranks                2        6     7        the sums from the left, and the few themselves
//! ```
//!
//! Skipped events of one segment come in the order of time, unless the trace is disordered, so they are ranked by going
//! forward through the few; where time steps back, the search begins anew. Either way the ranks are exact.

use std::cmp::Ordering;

use super::entry::Entry;

/// Events that do not pass: all that their rank depends on.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    /// Time in ticks and offset from the first event of the buffer.
    pub events: Vec<(i64, u32)>,
    /// Where the events of each segment end.
    pub ends: Vec<usize>,
}

/// The ranks of sorted entries among themselves and the skipped events; `base` is the rank of the first of all. The key is
/// what comes before segment and offset in the order.
pub(super) fn ranks<K: Ord + Copy>(
    entries: &[Entry],
    skipped: &Skipped,
    base: u64,
    key: impl Fn(i64, u32) -> K,
) -> Vec<u64> {
    let sorted: Vec<(K, u32, u32)> =
        entries.iter().map(|entry| (key(entry.ticks, entry.segment), entry.segment, entry.offset)).collect();
    // How many skipped events stand before each entry and behind the one before it.
    let mut between = vec![0_u64; sorted.len() + 1];
    let mut start = 0;
    for (segment, &end) in (0u32..).zip(&skipped.ends) {
        let (mut next, mut previous) = (0, None);
        for &(ticks, offset) in &skipped.events[start..end] {
            let event = (key(ticks, segment), segment, offset);
            if previous.is_some_and(|previous| event < previous) {
                next = 0;
            }
            next += gallop(&sorted[next..], |entry| entry.cmp(&event) == Ordering::Less);
            between[next] += 1;
            previous = Some(event);
        }
        start = end;
    }
    let mut next = base;
    let rank = |skipped: u64| {
        next += skipped + 1;
        next - 1
    };
    between.into_iter().take(sorted.len()).map(rank).collect()
}

/// How many items at the start of a slice something holds for, if it holds for none behind them. Takes as many steps
/// as the number has digits.
#[inline]
fn gallop<T>(items: &[T], holds: impl Fn(&T) -> bool) -> usize {
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
        fn ranks_are_those_in_the_order_of_all(
            segments in proptest::collection::vec(proptest::collection::vec((0_i64..20, any::<bool>()), 0..30), 0..6),
            base in 0_u64..1000,
        ) {
            let (mut all, mut entries, mut skipped) = (Vec::new(), Vec::new(), Skipped::default());
            for (segment, events) in (0_u32..).zip(&segments) {
                for (offset, &(ticks, passes)) in (0_u32..).zip(events) {
                    all.push(((ticks, segment, offset), passes));
                    if passes {
                        entries.push(Entry { ns: 0, ticks, segment, offset });
                    } else {
                        skipped.events.push((ticks, offset));
                    }
                }
                skipped.ends.push(skipped.events.len());
            }
            entries.sort_by_key(|entry| entry.ticks);
            all.sort_unstable();
            let expected: Vec<u64> =
                (base..).zip(&all).filter(|(_, (_, passes))| *passes).map(|(rank, _)| rank).collect();
            prop_assert_eq!(ranks(&entries, &skipped, base, |ticks, _| ticks), expected);
        }

        #[test]
        fn gallop_counts_what_holds(length in 0_usize..40, limit in 0_usize..50) {
            let items: Vec<usize> = (0..length).collect();
            prop_assert_eq!(gallop(&items, |&item| item < limit), length.min(limit));
        }
    }
}
