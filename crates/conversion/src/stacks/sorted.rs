//! Brings records into another order.

use base::error::Result;
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use spill::{Record, SpillSpace, Spilled};

use crate::survey::sort::{Threads, sort_by_key, sort_places};

/// Records that are copied without a look at whether to stop.
const AT_ONCE: usize = 1 << 16;

/// Records in the order of keys that differ; no more than 2^32 of them. Few have the same `coarse` key, which is the first part of
/// the other: to compare it costs less.
///
/// # Errors
/// When there is no space, or when the caller asked to stop.
pub(super) fn sorted<T: Record + Sync, C: Ord, K: Ord>(
    records: Spilled<T>,
    coarse: impl Fn(&T) -> C + Sync,
    key: impl Fn(&T) -> K + Sync,
    space: &SpillSpace,
    progress: &dyn Progress,
) -> Result<Spilled<T>> {
    if timed(progress, Step::Plan, || records.is_sorted_by_key(&key)) {
        return Ok(records);
    }
    let coarse = |place: u32| coarse(&records[place as usize]);
    let key = |place: u32| key(&records[place as usize]);
    let mut order: Vec<u32> = (0..).take(records.len()).collect();
    let all = Threads::All(Step::Schema);
    sort_places(&mut order, &|place| (coarse(place), place), &|key| key.1, all, progress)?;
    let is_same = |a: &u32, b: &u32| coarse(*a) == coarse(*b);
    let sort = |same: &mut [u32], threads| sort_by_key(same, &|&place| key(place), threads, progress);
    // Most are few.
    let few = 2..=AT_ONCE;
    timed(progress, Step::Plan, || {
        let mut those = order.chunk_by_mut(is_same).filter(|same| few.contains(&same.len()));
        those.try_for_each(|same| sort(same, Threads::One))
    })?;
    let mut others = order.chunk_by_mut(is_same).filter(|same| same.len() > AT_ONCE);
    others.try_for_each(|same| sort(same, all))?;
    timed(progress, Step::Plan, || {
        let mut sorted = space.records();
        for places in order.chunks(AT_ONCE) {
            stop_if_cancelled(progress)?;
            places.iter().try_for_each(|&place| sorted.push(records[place as usize]))?;
        }
        sorted.finish()
    })
}

#[cfg(test)]
mod tests {
    use base::progress::NoProgress;

    use super::*;

    #[test]
    fn records_of_one_coarse_key_are_sorted_by_the_other() {
        let mut records = SpillSpace::temporary().records();
        let numbers: Vec<u64> = (0..5000).map(|n| n * 7919 % 5003).collect();
        records.extend(&numbers).unwrap();
        let space = SpillSpace::temporary();
        let found = sorted(records.finish().unwrap(), |n| n / 100, |n| *n, &space, &NoProgress).unwrap();
        let mut expected = numbers;
        expected.sort_unstable();
        assert_eq!(*found, expected);
    }
}
