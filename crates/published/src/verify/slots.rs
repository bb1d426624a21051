//! A stretch of the order of all events of a trace: the time at each number of `seq`.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// Times by number; threads fill it side by side.
pub(super) struct Slots {
    /// The number of the first one.
    start: u64,
    times: Vec<AtomicI64>,
    /// A bit for each number that has a time.
    seen: Vec<AtomicU64>,
}

/// What stands in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placed {
    /// It was free.
    New,
    /// It has a time already.
    Twice,
    /// It is not in this stretch.
    Outside,
}

impl Slots {
    /// A stretch of so many numbers.
    pub(super) fn new(start: u64, length: usize) -> Slots {
        let times = (0..length).map(|_| AtomicI64::new(0)).collect();
        Slots { start, times, seen: (0..length.div_ceil(64)).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Puts a time at a number.
    pub(super) fn place(&self, seq: i64, time: i64) -> Placed {
        let index = u64::try_from(seq).ok().and_then(|seq| seq.checked_sub(self.start));
        let index = index.and_then(|index| usize::try_from(index).ok());
        let found = index.and_then(|index| Some((index, self.times.get(index)?, self.seen.get(index / 64)?)));
        let Some((index, slot, bits)) = found else { return Placed::Outside };
        let bit = 1u64 << (index % 64);
        if bits.fetch_or(bit, Ordering::Relaxed) & bit != 0 {
            return Placed::Twice;
        }
        slot.store(time, Ordering::Relaxed);
        Placed::New
    }

    /// The numbers in order, with their times; `None` where there is none.
    pub(super) fn all(&self) -> impl Iterator<Item = (u64, Option<i64>)> {
        (self.start..).zip(self.times.iter().enumerate()).map(|(seq, (index, time))| {
            let bits = self.seen.get(index / 64).map_or(0, |bits| bits.load(Ordering::Relaxed));
            (seq, (bits >> (index % 64) & 1 == 1).then(|| time.load(Ordering::Relaxed)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_placed_once_and_listed_in_order() {
        use Placed::{New, Outside, Twice};
        let slots = Slots::new(100, 67);
        let placed =
            [(101, 5), (166, -7), (101, 6), (99, 1), (167, 1), (-1, 1)].map(|(seq, time)| slots.place(seq, time));
        assert_eq!(placed, [New, New, Twice, Outside, Outside, Outside]);
        let all: Vec<_> = slots.all().filter(|(_, time)| time.is_some()).collect();
        assert_eq!((slots.all().count(), all), (67, vec![(101, Some(5)), (166, Some(-7))]));
    }
}
