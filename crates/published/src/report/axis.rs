//! The time of a report: a span, cut into parts of equal length.

/// Parts of the time axis: as many as a small screen has room for.
pub(super) const BINS: usize = 160;

/// A span of Unix nanoseconds, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    first: i64,
    last: i64,
    /// Nanoseconds from the begin of the time that it is a slice of.
    since: u64,
}

impl Axis {
    /// From the first to the last time.
    pub(super) fn new(first: i64, last: i64) -> Axis {
        Axis { first, last: last.max(first), since: 0 }
    }

    /// Slices of equal length, each with as many parts as the whole; none of a span that has fewer nanoseconds than they have parts.
    pub(super) fn slices(&self, count: usize) -> Vec<Axis> {
        let parts = count.saturating_mul(BINS);
        if parts == 0 || self.points() < parts as i128 {
            return Vec::new();
        }
        let begin = |number: usize| self.offset_of(number, count);
        let slice = |number| {
            let (since, end) = (begin(number), begin(number + 1));
            let at = |offset: u64| self.first.saturating_add_unsigned(offset);
            Axis { first: at(since), last: at(end.saturating_sub(1)), since: self.since.saturating_add(since) }
        };
        (0..count).map(slice).collect()
    }

    /// The first time.
    pub(super) fn first(&self) -> i64 {
        self.first
    }

    /// The last time.
    pub(super) fn last(&self) -> i64 {
        self.last
    }

    /// Nanoseconds from the first time to the last.
    pub(super) fn length(&self) -> u64 {
        self.last.abs_diff(self.first)
    }

    /// Points in time that the span has.
    fn points(&self) -> i128 {
        i128::from(self.length()) + 1
    }

    /// The part that a time lies in; `None` outside of the span.
    pub(super) fn bin(&self, time: i64) -> Option<usize> {
        let offset = i128::from(time) - i128::from(self.first);
        let is_within = time >= self.first && time <= self.last;
        is_within.then(|| usize::try_from(offset * BINS as i128 / self.points()).unwrap_or(0).min(BINS - 1))
    }

    /// Nanoseconds from the first time to the begin of a part; of the part behind the last, to the end of the span.
    pub(super) fn offset(&self, bin: usize) -> u64 {
        self.offset_of(bin, BINS)
    }

    /// The same from the begin of the time that it is a slice of.
    pub(super) fn moment(&self, bin: usize) -> u64 {
        self.since.saturating_add(self.offset(bin))
    }

    /// Nanoseconds from the first time to the begin of one of so many parts.
    fn offset_of(&self, part: usize, parts: usize) -> u64 {
        let (part, parts) = (part.min(parts) as i128, parts as i128);
        u64::try_from((part * self.points() + parts - 1) / parts).unwrap_or(u64::MAX)
    }

    /// Hands over the nanoseconds of each part that lie between two times, the later one excluded.
    pub(super) fn spread(&self, from: i64, to: i64, mut each: impl FnMut(usize, u64)) {
        let (from, to) = (from.max(self.first), to.min(self.last.saturating_add(1)));
        if from >= to {
            return;
        }
        let (Some(begin), Some(end)) = (self.bin(from), self.bin(to - 1)) else { return };
        let (from, to) = (from.abs_diff(self.first), to.abs_diff(self.first));
        for bin in begin..=end {
            let (lower, upper) = (self.offset(bin).max(from), self.offset(bin + 1).min(to));
            each(bin, upper.saturating_sub(lower));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_lies_in_one_part() {
        let axis = Axis::new(1000, 1000 + 1599);
        assert_eq!((axis.bin(999), axis.bin(2600)), (None, None));
        assert_eq!(
            (axis.bin(1000), axis.bin(1009), axis.bin(1010), axis.bin(2599)),
            (Some(0), Some(0), Some(1), Some(159))
        );
        assert_eq!((axis.offset(0), axis.offset(1), axis.offset(160)), (0, 10, 1600));
    }

    #[test]
    fn the_ends_of_time_are_no_overflow() {
        let axis = Axis::new(i64::MIN, i64::MAX);
        assert_eq!((axis.bin(i64::MIN), axis.bin(0), axis.bin(i64::MAX)), (Some(0), Some(80), Some(159)));
        let mut sum = 0_u128;
        axis.spread(i64::MIN, i64::MAX, |_, ns| sum += u128::from(ns));
        assert_eq!(sum, u128::from(u64::MAX));
        let moment = Axis::new(5, 5);
        assert_eq!((moment.bin(5), moment.bin(4), moment.offset(160)), (Some(0), None, 1));
    }

    #[test]
    fn a_span_is_spread_over_the_parts_that_it_touches() {
        let axis = Axis::new(0, 1599);
        let parts = |from, to| {
            let mut parts = Vec::new();
            axis.spread(from, to, |bin, ns| parts.push((bin, ns)));
            parts
        };
        assert_eq!(parts(5, 27), [(0, 5), (1, 10), (2, 7)]);
        assert_eq!(parts(-100, 3), [(0, 3)]);
        assert_eq!(parts(1598, 9999), [(159, 2)]);
        assert_eq!(parts(7, 7), []);
    }
}
