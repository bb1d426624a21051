//! Sums by key, for keys that are many: without amounts over time.

use std::collections::HashMap;
use std::hash::Hash;

use super::tally::{Amounts, Counters, Ranked, Rest};

/// Keys that are distinguished; what comes with others is added up under none.
const MOST_KEYS: usize = 1 << 20;

/// Counters by key.
#[derive(Debug)]
pub(super) struct Sums<K> {
    by_key: HashMap<K, Counters>,
    beyond: Option<Counters>,
}

impl<K> Default for Sums<K> {
    fn default() -> Sums<K> {
        Sums { by_key: HashMap::new(), beyond: None }
    }
}

impl<K: Hash + Eq> Sums<K> {
    /// Adds to the counters of a key.
    pub(super) fn add(&mut self, key: K, counters: Counters) {
        let has_room = self.by_key.len() < MOST_KEYS || self.by_key.contains_key(&key);
        let sums = if has_room { self.by_key.entry(key).or_default() } else { self.beyond.get_or_insert_default() };
        add(sums, counters);
    }

    /// The keys with most weight first, of equal ones in the order of names; at most so many, the others added up. Names differ.
    pub(super) fn ranked(&self, most: usize, weight: impl Fn(&Counters) -> u64, name: impl Fn(&K) -> String) -> Ranked {
        let amounts = |counters: &Counters| Amounts::without_time(weight(counters), *counters);
        let mut all: Vec<(&K, &Counters)> = self.by_key.iter().collect();
        all.sort_by_cached_key(|(key, counters)| (std::cmp::Reverse(weight(counters)), name(key)));
        let shown = all.iter().take(most).map(|(key, counters)| (name(key), amounts(counters)));
        let mut rest = Rest { is_open: self.beyond.is_some(), amounts: Amounts::without_time(0, [0; 6]), names: 0 };
        for counters in all.iter().skip(most).map(|(_, counters)| *counters).chain(&self.beyond) {
            rest.amounts.count(weight(counters), *counters);
        }
        rest.names = all.len().saturating_sub(most);
        Ranked { shown: shown.collect(), rest: Some(rest).filter(|rest| rest.is_open || rest.names > 0) }
    }
}

fn add(sums: &mut Counters, more: Counters) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum = sum.saturating_add(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_ranked_by_what_is_asked() {
        let mut sums = Sums::default();
        for (key, there, back) in [(1, 5, 0), (2, 1, 9), (3, 5, 1), (2, 1, 0)] {
            sums.add(key, [there, back, 1, 0, 0, 0]);
        }
        let names = |ranked: &Ranked| ranked.shown.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let by_first = sums.ranked(2, |counters| counters[0], |key| format!("k{key}"));
        assert_eq!(names(&by_first), ["k1", "k3"]);
        let rest = by_first.rest.unwrap();
        assert_eq!(
            (rest.names, rest.is_open, rest.amounts.counters, rest.amounts.weight),
            (1, false, [2, 9, 2, 0, 0, 0], 2)
        );
        let by_second = sums.ranked(9, |counters| counters[1], |key| format!("k{key}"));
        assert_eq!(names(&by_second), ["k2", "k3", "k1"]);
        assert!(by_second.rest.is_none());
    }
}
