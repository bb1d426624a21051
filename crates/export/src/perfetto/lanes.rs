//! Lanes: slices of a track must lie within one another or apart, so what overlaps otherwise stands on several.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use base::guid::Guid;

/// Lanes that there is room for: viewers draw each.
const MOST_LANES: usize = 1 << 12;
/// Slices within one another: the viewer leaves out what lies deeper than 512.
const DEEPEST: usize = 256;

/// Whose slices share lanes: machine, process, and the number of the provider.
pub(super) type Group = (i64, Option<u64>, Option<u32>);

/// Lanes, and what is open on each. Slices come in the order of their begins.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// What is open on each lane, the outermost slice first.
    open: Vec<Vec<Open>>,
    /// The lanes of a group, the one that is free first in front.
    free: HashMap<Group, BinaryHeap<Reverse<(i64, usize)>>>,
    /// Where the last slice of each activity is: its lane and its number.
    activities: HashMap<(Group, Guid), (usize, u64)>,
    count: u64,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    number: u64,
    to: i64,
}

impl Lanes {
    /// The lane of a slice, new ones with the next number: within the slice of one of the activities, where that is the innermost one
    /// that is open and ends no earlier; else one on which nothing is open. `None` where there is no room for another lane.
    pub(super) fn place(&mut self, group: Group, (from, to): (i64, i64), activities: &[Guid]) -> Option<usize> {
        self.count = self.count.saturating_add(1);
        let slice = Open { number: self.count, to };
        let lane = match activities.iter().find_map(|activity| self.within(group, from, to, *activity)) {
            Some(lane) => lane,
            None => self.alone(group, from, to)?,
        };
        self.open.get_mut(lane)?.push(slice);
        if let Some(own) = activities.first() {
            self.activities.insert((group, *own), (lane, slice.number));
        }
        Some(lane)
    }

    fn within(&mut self, group: Group, from: i64, to: i64, activity: Guid) -> Option<usize> {
        let (lane, number) = *self.activities.get(&(group, activity))?;
        let open = self.open.get_mut(lane)?;
        while open.last().is_some_and(|last| last.to <= from) {
            open.pop();
        }
        let is_within = open.last().is_some_and(|last| last.number == number && to <= last.to) && open.len() < DEEPEST;
        is_within.then_some(lane)
    }

    fn alone(&mut self, group: Group, from: i64, to: i64) -> Option<usize> {
        let free = self.free.entry(group).or_default();
        let first = free.peek().filter(|Reverse((end, _))| *end <= from).map(|Reverse((_, lane))| *lane);
        let lane = match first {
            Some(lane) => {
                free.pop();
                self.open.get_mut(lane)?.clear();
                lane
            }
            None if self.open.len() >= MOST_LANES => return None,
            None => {
                self.open.push(Vec::new());
                self.open.len() - 1
            }
        };
        free.push(Reverse((to, lane)));
        Some(lane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_a_lane_lie_within_one_another_or_apart() {
        let activity = |number: u8| Guid::from_text_order([number; 16]);
        let mut lanes = Lanes::default();
        let one: Group = (0, Some(4), Some(1));
        let mut t = |group, from, to, activities: &[u8], expected| {
            let activities: Vec<Guid> = activities.iter().map(|number| activity(*number)).collect();
            assert_eq!(lanes.place(group, (from, to), &activities), Some(expected), "{from} to {to}");
        };
        t(one, 0, 100, &[1], 0);
        // Within the activity that it is related to; beside what it is not related to; longer than what it is related to.
        t(one, 10, 50, &[2, 1], 0);
        t(one, 20, 30, &[3], 1);
        t(one, 25, 120, &[4, 2], 2);
        // The innermost one that is open is another.
        t(one, 30, 40, &[5, 1], 1);
        t((1, Some(4), Some(1)), 35, 40, &[6, 1], 3);
        // At the end of one begins the next.
        t(one, 50, 60, &[7, 1], 0);
        t(one, 60, 60, &[8, 1], 0);
        t(one, 60, 100, &[9, 1], 0);
        t(one, 100, 130, &[1], 1);
        t(one, 100, 130, &[2], 0);
    }
}
