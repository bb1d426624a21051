//! Time on processors by short intervals.

use std::collections::BTreeMap;

/// Nanoseconds of an interval, as long as a trace has few enough of them.
const SHORTEST: u64 = 10_000_000;
/// Intervals of a trace: in longer traces each is twice as long, or four times, ….
const MOST_INTERVALS: u64 = 1 << 16;
/// Intervals of all processes that are kept: some 40 MiB.
const MOST_KEPT: usize = 1 << 20;

/// Time on processors of processes, by machine and id.
#[derive(Debug)]
pub(super) struct Usage {
    /// Nanoseconds of an interval.
    each: u64,
    processes: BTreeMap<(i64, i64), BTreeMap<u64, Interval>>,
    kept: usize,
    /// Times that there was no room for.
    pub(super) left_out: u64,
}

/// An interval in which something changes.
#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    /// Nanoseconds in it of what begins or ends in it.
    part: u64,
    /// How many processors more than before are busy in all of it.
    more: i64,
}

impl Usage {
    /// None yet, of a recording that takes so many nanoseconds.
    pub(super) fn of(length: u64) -> Usage {
        let mut each = SHORTEST;
        while length.checked_div(each).unwrap_or(0) >= MOST_INTERVALS {
            each = each.saturating_mul(2);
        }
        Usage { each, processes: BTreeMap::new(), kept: 0, left_out: 0 }
    }

    /// Adds a time on a processor, in nanoseconds since the begin of the recording.
    pub(super) fn add(&mut self, process: (i64, i64), (from, to): (u64, u64)) {
        let Some(length) = to.checked_sub(from).filter(|length| *length > 0) else { return };
        if self.kept >= MOST_KEPT {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        let each = self.each;
        let intervals = self.processes.entry(process).or_default();
        let before = intervals.len();
        let number = |time: u64| time.checked_div(each).unwrap_or(0);
        let (first, last) = (number(from), number(to));
        if first == last {
            add(intervals, first, length, 0);
        } else {
            let begins = first.saturating_add(1);
            add(intervals, first, begins.saturating_mul(each).saturating_sub(from), 0);
            add(intervals, begins, 0, 1);
            add(intervals, last, to.saturating_sub(last.saturating_mul(each)), -1);
        }
        self.kept = self.kept.saturating_add(intervals.len().saturating_sub(before));
    }

    /// The processes, each with the ends of times, in nanoseconds since the begin of the recording, and how many nanoseconds it was on
    /// processors in each. A time is an interval; of those that are alike the first is one, and the others together are another.
    pub(super) fn iter(&self) -> impl Iterator<Item = ((i64, i64), impl Iterator<Item = (u64, u64)>)> {
        self.processes.iter().map(|(process, intervals)| (*process, times(intervals, self.each)))
    }
}

fn add(intervals: &mut BTreeMap<u64, Interval>, number: u64, part: u64, more: i64) {
    let interval = intervals.entry(number).or_default();
    interval.part = interval.part.saturating_add(part);
    interval.more = interval.more.saturating_add(more);
}

fn times(intervals: &BTreeMap<u64, Interval>, each: u64) -> impl Iterator<Item = (u64, u64)> {
    let begin = intervals.keys().next().map(|first| (first.saturating_mul(each), 0));
    let next = intervals.keys().skip(1).copied().map(Some).chain([None]);
    let mut busy = 0i64;
    let rest = intervals.iter().zip(next).flat_map(move |((number, interval), next)| {
        busy = busy.saturating_add(interval.more);
        let all = busy.unsigned_abs().saturating_mul(each);
        let behind = number.saturating_add(1);
        // Behind the last one nothing is busy any more: one interval without any time says so.
        let next = next.unwrap_or(behind.saturating_add(1));
        let at = |number: u64| number.saturating_mul(each);
        let alike = next.saturating_sub(behind);
        [
            Some((at(behind), interval.part.saturating_add(all))),
            (alike > 0).then(|| (at(behind.saturating_add(1)), all)),
            (alike > 1).then(|| (at(next), all.saturating_mul(alike.saturating_sub(1)))),
        ]
        .into_iter()
        .flatten()
    });
    begin.into_iter().chain(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn times_add_up_by_intervals() {
        let mut usage = Usage::of(60_000 * MS);
        // From 4 to 9, from 8 to 53 and from 25 to 46, in milliseconds.
        for (from, to) in [(8, 53), (4, 9), (25, 46), (7, 7), (9, 8)] {
            usage.add((0, 5), (from * MS, to * MS));
        }
        usage.add((0, 5), (200 * MS, 210 * MS));
        let found: Vec<_> = usage.iter().flat_map(|(_, times)| times.map(|(to, ns)| (to / MS, ns / MS))).collect();
        let expected = [
            (0, 0), // begins
            (10, 5 + 2),
            (20, 10),
            (30, 10 + 5),
            (40, 20),
            (50, 10 + 6),
            (60, 3),
            (70, 0),
            (200, 0),
            (210, 10),
            (220, 0),
            (230, 0),
        ];
        assert_eq!(found, expected);
        assert_eq!(found.iter().map(|(_, ms)| ms).sum::<u64>(), 5 + 45 + 21 + 10);
    }

    #[test]
    fn times_of_many_intervals_are_few_and_intervals_of_long_recordings_longer() {
        let mut usage = Usage::of(655_360 * MS);
        usage.add((1, 7), (0, 655_360 * MS));
        let found: Vec<_> = usage.iter().flat_map(|(_, times)| times).collect();
        assert_eq!(found.first(), Some(&(0, 0)));
        assert_eq!(found.iter().map(|(_, ns)| ns).sum::<u64>(), 655_360 * MS);
        assert_eq!(found.get(1), Some(&(20 * MS, 20 * MS)));
        assert!(found.len() < 9);
    }
}
