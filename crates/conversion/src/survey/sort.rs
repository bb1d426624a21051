//! Sorts lists that are as long as a file has buffers, or longer, and stops when the caller asks to.

use base::error::Result;
use base::progress::{Progress, Step, stop_if_cancelled, timed};

/// Items that are sorted at once: a small part of a second.
const AT_ONCE: usize = 1 << 19;

/// The threads that sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// The calling one, which says itself what it is busy with.
    One,
    /// Those of the current pool, busy with this.
    All(Step),
}

/// Sorts items by keys that differ.
///
/// # Errors
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub fn sort_by_key<T: Send, K: Ord>(
    items: &mut [T],
    key: &(impl Fn(&T) -> K + Sync),
    threads: Threads,
    progress: &dyn Progress,
) -> Result<()> {
    // Most lists are those of a few processors, one behind the other, each in order: this way of sorting finds that.
    let sort = |items: &mut [T]| items.sort_by_key(key);
    sort_parts(items, key, &sort, threads, AT_ONCE, progress)
}

/// Sorts numbers of records by keys that differ, each of which stands in its record, far from that of the next. A key ends in
/// the number itself, which `place` takes out of it.
///
/// # Errors
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub(crate) fn sort_places<K: Ord>(
    places: &mut [u32],
    key: &(impl Fn(u32) -> K + Sync),
    place: &(impl Fn(&K) -> u32 + Sync),
    threads: Threads,
    progress: &dyn Progress,
) -> Result<()> {
    // Each key is fetched once.
    let sort = |places: &mut [u32]| {
        let mut keys: Vec<K> = places.iter().map(|&place| key(place)).collect();
        keys.sort();
        places.iter_mut().zip(&keys).for_each(|(sorted, key)| *sorted = place(key));
    };
    sort_parts(places, &|&place| key(place), &sort, threads, AT_ONCE, progress)
}

/// Halves the items until the parts are small.
fn sort_parts<T: Send, K: Ord>(
    items: &mut [T],
    key: &(impl Fn(&T) -> K + Sync),
    sort: &(impl Fn(&mut [T]) + Sync),
    threads: Threads,
    at_once: usize,
    progress: &dyn Progress,
) -> Result<()> {
    stop_if_cancelled(progress)?;
    let halves = match threads {
        Threads::One => halve(items, key, sort, at_once),
        Threads::All(step) => timed(progress, step, || halve(items, key, sort, at_once)),
    };
    let Some([smaller, greater]) = halves else { return Ok(()) };
    let mut smaller = || sort_parts(smaller, key, sort, threads, at_once, progress);
    let mut greater = || sort_parts(greater, key, sort, threads, at_once, progress);
    match threads {
        Threads::One => smaller().and_then(|()| greater()),
        Threads::All(_) => {
            let (smaller, greater) = rayon::join(smaller, greater);
            smaller.and(greater)
        }
    }
}

/// Sorts items that are few, and of many brings the smaller half to the front: the halves that are still to be sorted.
fn halve<'i, T, K: Ord>(
    items: &'i mut [T],
    key: &impl Fn(&T) -> K,
    sort: &impl Fn(&mut [T]),
    at_once: usize,
) -> Option<[&'i mut [T]; 2]> {
    if items.len() <= at_once.max(1) {
        sort(items);
        return None;
    }
    if items.is_sorted_by_key(key) {
        return None;
    }
    let (smaller, _, greater) = items.select_nth_unstable_by_key(items.len() / 2, key);
    Some([smaller, greater])
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use base::error::ErrorKind;

    use super::*;

    /// Asks to stop at the look with this number.
    struct StopAt(AtomicUsize);

    impl Progress for StopAt {
        fn advance(&self, _amount: u64) {}

        fn is_cancelled(&self) -> bool {
            self.0.fetch_sub(1, Ordering::Relaxed) == 0
        }
    }

    fn mixed() -> Vec<u64> {
        (0..1000_u64).map(|n| n * 7919 % 1009).collect()
    }

    #[test]
    fn parts_of_any_size_are_sorted() {
        let mut expected = mixed();
        expected.sort_unstable();
        for threads in [Threads::One, Threads::All(Step::Plan)] {
            for at_once in [0, 1, 2, 10, 999, 1000] {
                let mut items = mixed();
                let never = StopAt(AtomicUsize::new(usize::MAX));
                sort_parts(&mut items, &|item| *item, &<[u64]>::sort, threads, at_once, &never).unwrap();
                assert_eq!(items, expected, "{threads:?} {at_once}");
            }
        }
    }

    #[test]
    fn places_are_sorted_by_what_stands_there() {
        let records = mixed();
        let mut places: Vec<u32> = (0..1000).collect();
        let never = StopAt(AtomicUsize::new(usize::MAX));
        let all = Threads::All(Step::Plan);
        sort_places(&mut places, &|place| (records[place as usize], place), &|key| key.1, all, &never).unwrap();
        let mut expected = mixed();
        expected.sort_unstable();
        assert_eq!(places.iter().map(|&place| records[place as usize]).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn an_interrupt_ends_it_between_two_parts() {
        for look in [0, 1, 50] {
            let stop = StopAt(AtomicUsize::new(look));
            let error = sort_parts(&mut mixed(), &|item| *item, &<[u64]>::sort, Threads::One, 10, &stop).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Interrupted);
        }
    }
}
