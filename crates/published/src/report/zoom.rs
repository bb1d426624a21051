//! The time in slices, each cut into as many parts as the whole: what a chart leads to.

use std::borrow::Borrow;
use std::fmt::Display;
use std::hash::Hash;

use super::axis::Axis;
use super::tally::{Counters, Ranked, Tally};

/// Names that are listed one by one of a slice.
pub(super) const MOST_IN_SLICE: usize = 6;

/// A slice of the time.
#[derive(Debug)]
pub(super) struct Slice {
    /// Its time.
    pub axis: Axis,
    /// Amounts by name in it.
    pub ranked: Ranked,
}

/// Amounts by name in each slice.
#[derive(Debug)]
pub(super) struct Zoom<K> {
    slices: Vec<(Axis, Tally<K>)>,
}

impl<K: Hash + Eq + Display + Clone + Borrow<K>> Zoom<K> {
    /// So many slices; none of a time that is too short for them.
    pub(super) fn new(axis: &Axis, count: usize) -> Zoom<K> {
        Zoom { slices: axis.slices(count).into_iter().map(|slice| (slice, Tally::default())).collect() }
    }

    /// Adds the nanoseconds between two times, the later one excluded.
    pub(super) fn spread(&mut self, name: &K, from: i64, to: i64) {
        for (axis, tally) in &mut self.slices {
            if from > axis.last() || to <= axis.first() {
                continue;
            }
            let amounts = tally.of(name);
            axis.spread(from, to, |bin, ns| {
                amounts.count(ns, Counters::default());
                amounts.draw(bin, ns);
            });
        }
    }

    /// Adds an amount at a time.
    pub(super) fn add(&mut self, name: &K, time: i64, amount: u64) {
        for (axis, tally) in &mut self.slices {
            if let Some(bin) = axis.bin(time) {
                let amounts = tally.of(name);
                amounts.count(amount, Counters::default());
                amounts.draw(bin, amount);
            }
        }
    }

    /// The slices, in each the names with most in it.
    pub(super) fn ranked(self, most: usize) -> Vec<Slice> {
        self.slices.into_iter().map(|(axis, tally)| Slice { axis, ranked: tally.ranked(most) }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_has_what_lies_in_it() {
        let axis = Axis::new(1000, 1000 + 2 * 1600 - 1);
        let mut zoom = Zoom::<String>::new(&axis, 2);
        let (a, b) = ("a".to_owned(), "b".to_owned());
        zoom.spread(&a, 1000 + 1595, 1000 + 1610);
        zoom.spread(&b, 0, 1003);
        zoom.add(&b, 1000 + 1600, 1);
        let slices = zoom.ranked(1);
        let found: Vec<_> = slices.iter().map(|slice| (slice.axis.moment(0), slice.axis.moment(160))).collect();
        assert_eq!(found, [(0, 1600), (1600, 3200)]);
        let weights = slices.iter().map(|slice| {
            let Ranked { shown, rest } = &slice.ranked;
            (
                shown.first().map(|(name, amounts)| (name.as_str(), amounts.weight)),
                rest.as_ref().map(|rest| rest.amounts.weight),
            )
        });
        let weights: Vec<_> = weights.collect();
        assert_eq!(weights, [(Some(("a", 5)), Some(3)), (Some(("a", 10)), Some(1))]);
        assert_eq!(slices.first().map(|slice| slice.ranked.shown[0].1.bins[159]), Some(5));
    }

    #[test]
    fn a_short_time_has_no_slices() {
        assert!(Zoom::<String>::new(&Axis::new(0, 300), 8).ranked(1).is_empty());
    }
}
