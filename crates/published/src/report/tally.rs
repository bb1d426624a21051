//! Amounts by name and over time.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt::Display;
use std::hash::Hash;

use super::axis::BINS;

/// How many names are listed one by one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Most {
    /// Processes.
    pub processes: usize,
    /// Modules, and methods.
    pub places: usize,
    /// Functions.
    pub functions: usize,
    /// Slices of the time in which processes are listed, too.
    pub slices: usize,
}

impl Most {
    /// What a page has room for.
    pub(super) const OF_A_PAGE: Most = Most { processes: 12, places: 20, functions: 20, slices: 8 };
    /// All of them.
    pub(super) const ALL: Most = Most { processes: usize::MAX, places: usize::MAX, functions: usize::MAX, slices: 0 };
}

/// Names that are distinguished; what comes with others is added up under none.
const MOST_NAMES: usize = 4096;

/// What is counted of a name besides its weight.
pub(super) type Counters = [u64; 6];

/// What belongs to one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Amounts {
    /// What decides the order of names.
    pub weight: u64,
    /// What else is counted.
    pub counters: Counters,
    /// The largest of what was counted.
    pub largest: u64,
    /// An amount for each part of the time.
    pub bins: Vec<u64>,
}

impl Default for Amounts {
    fn default() -> Amounts {
        Amounts { weight: 0, counters: Counters::default(), largest: 0, bins: vec![0; BINS] }
    }
}

impl Amounts {
    /// Sums without amounts over time.
    pub(super) fn without_time(weight: u64, counters: Counters) -> Amounts {
        Amounts { weight, counters, largest: 0, bins: Vec::new() }
    }

    /// Adds to the weight and the counters.
    pub(super) fn count(&mut self, weight: u64, counters: Counters) {
        self.weight = self.weight.saturating_add(weight);
        for (sum, more) in self.counters.iter_mut().zip(counters) {
            *sum = sum.saturating_add(more);
        }
    }

    /// Adds one thing of a size.
    pub(super) fn count_one(&mut self, size: u64) {
        self.count(size, [1, 0, 0, 0, 0, 0]);
        self.largest = self.largest.max(size);
    }

    /// Adds to a part of the time.
    pub(super) fn draw(&mut self, bin: usize, amount: u64) {
        if let Some(sum) = self.bins.get_mut(bin) {
            *sum = sum.saturating_add(amount);
        }
    }

    fn add(&mut self, other: &Amounts) {
        self.count(other.weight, other.counters);
        self.largest = self.largest.max(other.largest);
        (0..).zip(&other.bins).for_each(|(bin, amount)| self.draw(bin, *amount));
    }
}

/// Amounts by name; `K` distinguishes names.
#[derive(Debug)]
pub(super) struct Tally<K> {
    by_name: HashMap<K, Amounts>,
    beyond: Option<Amounts>,
}

impl<K> Default for Tally<K> {
    fn default() -> Tally<K> {
        Tally { by_name: HashMap::new(), beyond: None }
    }
}

impl<K: Hash + Eq + Display> Tally<K> {
    /// The amounts of a name.
    pub(super) fn of<Q>(&mut self, name: &Q) -> &mut Amounts
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        if self.by_name.len() < MOST_NAMES && !self.by_name.contains_key(name) {
            self.by_name.insert(name.to_owned(), Amounts::default());
        }
        match self.by_name.get_mut(name) {
            Some(amounts) => amounts,
            None => self.beyond.get_or_insert_default(),
        }
    }

    /// Of each name the weight without what a counter has of it, and of all names beyond those that are distinguished.
    pub(super) fn without(&self, counter: usize) -> (Vec<(String, u64)>, u64) {
        let rest = |amounts: &Amounts| {
            amounts.weight.saturating_sub(amounts.counters.get(counter).copied().unwrap_or_default())
        };
        let names = self.by_name.iter().map(|(name, amounts)| (name.to_string(), rest(amounts)));
        (names.collect(), self.beyond.as_ref().map_or(0, rest))
    }

    /// The names with most weight first, of equal ones in the order of names; at most so many, the others added up.
    pub(super) fn ranked(self, most: usize) -> Ranked {
        let mut shown: Vec<(String, Amounts)> =
            self.by_name.into_iter().map(|(name, amounts)| (name.to_string(), amounts)).collect();
        shown.sort_by(|(a, x), (b, y)| (y.weight, a).cmp(&(x.weight, b)));
        let mut rest = Rest { is_open: self.beyond.is_some(), amounts: self.beyond.unwrap_or_default(), names: 0 };
        for (_, amounts) in shown.drain(most.min(shown.len())..) {
            rest.names += 1;
            rest.amounts.add(&amounts);
        }
        Ranked { shown, rest: Some(rest).filter(|rest| rest.is_open || rest.names > 0) }
    }
}

/// Names in the order of their weight.
#[derive(Debug, Default)]
pub(super) struct Ranked {
    /// The first ones.
    pub shown: Vec<(String, Amounts)>,
    /// All others, where there are any.
    pub rest: Option<Rest>,
}

/// What is not shown one by one.
#[derive(Debug)]
pub(super) struct Rest {
    /// How many names.
    pub names: usize,
    /// Whether there were more names than are distinguished.
    pub is_open: bool,
    /// What they add up to.
    pub amounts: Amounts,
}

impl Ranked {
    /// The amounts of all names.
    pub(super) fn all(&self) -> impl Iterator<Item = &Amounts> {
        self.shown.iter().map(|(_, amounts)| amounts).chain(self.rest.iter().map(|rest| &rest.amounts))
    }

    /// All weights.
    pub(super) fn weight(&self) -> u64 {
        self.all().fold(0, |sum, amounts| sum.saturating_add(amounts.weight))
    }

    /// The sum of a counter over all names.
    pub(super) fn counter(&self, number: usize) -> u64 {
        self.all().filter_map(|amounts| amounts.counters.get(number)).fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The most that all names have together in one part of the time.
    pub(super) fn peak(&self) -> u64 {
        let sum =
            |bin| self.all().filter_map(|amounts| amounts.bins.get(bin)).fold(0_u64, |sum, x| sum.saturating_add(*x));
        (0..BINS).map(sum).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ranked_and_the_rest_is_added_up() {
        let mut tally = Tally::<String>::default();
        for (name, weight) in [("b", 5), ("a", 5), ("c", 9), ("d", 1), ("c", 1), ("e", 2)] {
            tally.of(name).count(weight, [weight, 1, 0, 0, 0, 0]);
            tally.of(name).draw(3, weight);
        }
        let ranked = tally.ranked(3);
        let names: Vec<_> = ranked.shown.iter().map(|(name, amounts)| (name.as_str(), amounts.weight)).collect();
        assert_eq!(names, [("c", 10), ("a", 5), ("b", 5)]);
        let rest = ranked.rest.as_ref().unwrap();
        assert_eq!((rest.names, rest.amounts.counters, rest.amounts.bins[3]), (2, [3, 2, 0, 0, 0, 0], 3));
        assert_eq!((ranked.weight(), ranked.peak()), (23, 23));
    }

    #[test]
    fn names_without_end_are_one() {
        let mut tally = Tally::<usize>::default();
        (0..MOST_NAMES + 3).for_each(|name| tally.of(&name).count_one(1));
        let ranked = tally.ranked(1);
        assert_eq!(ranked.weight(), MOST_NAMES as u64 + 3);
        let rest = ranked.rest.unwrap();
        assert_eq!((rest.names, rest.is_open), (MOST_NAMES - 1, true));
    }
}
