//! Areas of memory of processes, each for a time.

use std::iter;

/// Areas in front of an address that are looked at. Those of one process and time lie apart; only damaged ones overlap that much.
const MOST_TRIED: usize = 4096;

/// Bytes of a process's memory for a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    /// The process: its machine and its id.
    pub process: (i64, i64),
    /// The first address, as the bits of 64.
    pub base: i64,
    /// Bytes.
    pub size: i64,
    /// From when on, Unix nanoseconds.
    pub from: i64,
    /// Until when.
    pub to: i64,
    /// What is there: a number of whoever reads the areas.
    pub means: u32,
}

impl Area {
    /// The address behind it. None lies across the border of the sign, which is that of user and kernel.
    fn end(&self) -> i64 {
        let most = if self.base < 0 { 0 } else { i64::MAX };
        self.base.saturating_add(self.size.max(0)).min(most)
    }

    fn holds(&self, address: i64, time: i64) -> bool {
        (self.base..self.end()).contains(&address) && (self.from..self.to).contains(&time)
    }
}

/// Areas, as many as there is room for.
#[derive(Debug)]
pub(crate) struct Areas {
    /// By process and base, once settled.
    rows: Vec<Area>,
    /// For each the furthest end of it and those of its process before it.
    reach: Vec<i64>,
    most: usize,
    left_out: u64,
}

impl Areas {
    /// None yet, and so many at most.
    pub(crate) fn with_room_for(most: usize) -> Areas {
        Areas { rows: Vec::new(), reach: Vec::new(), most, left_out: 0 }
    }

    /// Whether there is room for no more.
    pub(crate) fn is_full(&self) -> bool {
        self.rows.len() >= self.most
    }

    /// Adds one, if there is room.
    pub(crate) fn add(&mut self, area: Area) {
        if self.is_full() {
            self.left_out = self.left_out.saturating_add(1);
        } else {
            self.rows.push(area);
        }
    }

    /// Puts them in order, when all are there.
    pub(crate) fn settle(&mut self) {
        self.rows.sort_by_key(|area| (area.process, area.base));
        let mut before: Option<((i64, i64), i64)> = None;
        let furthest = self.rows.iter().map(|area| {
            let of_process = before.filter(|(process, _)| *process == area.process);
            let end = of_process.map_or(area.end(), |(_, end)| end.max(area.end()));
            before = Some((area.process, end));
            end
        });
        self.reach = furthest.collect();
    }

    /// Those of a process that hold an address at a time, that of the highest base first.
    pub(crate) fn holding(&self, process: (i64, i64), address: i64, time: i64) -> impl Iterator<Item = &Area> {
        let behind = self.rows.partition_point(|area| (area.process, area.base) <= (process, address));
        let before = iter::zip(&self.rows, &self.reach).take(behind).rev().take(MOST_TRIED);
        let near = before.take_while(move |(area, reach)| area.process == process && **reach > address);
        near.map(|(area, _)| area).filter(move |area| area.holds(address, time))
    }

    /// How many had no room.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn areas(most: usize, of: &[(i64, i64, i64, i64, i64)]) -> Areas {
        let mut areas = Areas::with_room_for(most);
        for (&(process, base, size, from, to), means) in of.iter().zip(0..) {
            areas.add(Area { process: (0, process), base, size, from, to, means });
        }
        areas.settle();
        areas
    }

    #[track_caller]
    fn t(areas: &Areas, (process, address, time): (i64, i64, i64), expected: &[u32]) {
        let found: Vec<u32> = areas.holding((0, process), address, time).map(|area| area.means).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn an_address_lies_in_areas_of_its_process_and_time() {
        let around = (7, 0x1000, 0x1000, 0, 90);
        let all = areas(9, &[(7, 0x1800, 0x10, 0, 50), around, (7, 0x1100, 0x10, 0, 90), (8, 0x1000, 0x10, 0, 90)]);
        t(&all, (7, 0x1800, 49), &[0, 1]);
        t(&all, (7, 0x180f, 0), &[0, 1]);
        t(&all, (7, 0x1800, 50), &[1]);
        t(&all, (7, 0x1810, 0), &[1]);
        t(&all, (7, 0x1fff, 89), &[1]);
        t(&all, (7, 0x2000, 5), &[]);
        t(&all, (7, 0xfff, 5), &[]);
        t(&all, (7, 0x1000, 90), &[]);
        t(&all, (7, 0x1000, -1), &[]);
        t(&all, (8, 0x1000, 5), &[3]);
        t(&all, (8, 0x1100, 5), &[]);
        t(&all, (6, 0x1000, 5), &[]);
        assert_eq!(all.holding((1, 7), 0x1000, 5).count(), 0, "of another machine");
    }

    #[test]
    fn numbers_of_a_damaged_trace_reach_nowhere() {
        let all = areas(
            9,
            &[
                (7, 0x1000, i64::MAX, 0, 90),
                (7, i64::MIN, i64::MAX, 0, 90),
                (7, 0x10, -5, 0, 90),
                (7, -0x10, 0x20, 0, 90),
                (9, 0x10, 0, 0, 90),
            ],
        );
        t(&all, (7, i64::MAX - 1, 0), &[0]);
        t(&all, (7, i64::MIN, 0), &[1]);
        t(&all, (7, -2, 0), &[3, 1]);
        t(&all, (7, 0x8, 0), &[]);
        t(&all, (7, 0x10, 0), &[]);
        t(&all, (9, 0x10, 0), &[]);
    }

    #[test]
    fn what_has_no_room_is_counted() {
        let all = areas(2, &[(1, 0, 1, 0, 9), (1, 1, 1, 0, 9), (1, 2, 1, 0, 9), (1, 3, 1, 0, 9)]);
        t(&all, (1, 1, 0), &[1]);
        t(&all, (1, 2, 0), &[]);
        assert_eq!(all.left_out(), 2);
    }

    #[test]
    fn areas_upon_one_another_are_given_up() {
        let upon: Vec<_> = (0..5000).map(|base| (1, base, if base == 0 { 10_000 } else { 1 }, 0, 9)).collect();
        t(&areas(5000, &upon), (1, 4000, 0), &[4000, 0]);
        t(&areas(5000, &upon), (1, 6000, 0), &[]);
    }
}
