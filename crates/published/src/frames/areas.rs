//! Areas of memory of processes, each for a time.
//!
//! Areas lie within others: a trace records a method of a whole address space, or a module that was loaded again and again at one place.
//! So a tree stands over the areas in their order: a node says how far those below it reach, in memory and in time, and a look-up passes
//! over all of a node that cannot hold what is asked.

use std::iter;

/// Nodes and areas that a look-up visits. A hundred find what one process has in memory at a time; more are those of a damaged trace.
const MOST_VISITED: usize = 1 << 14;

/// Areas, or nodes, below a node, as a power of two.
const BITS: usize = 3;
/// Areas, or nodes, below a node.
const BELOW: usize = 1 << BITS;

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

    fn reach(&self) -> Reach {
        Reach { end: self.end(), from: self.from, to: self.to }
    }
}

/// How far areas reach, at most.
#[derive(Clone, Copy, Debug)]
struct Reach {
    /// The address behind all of them.
    end: i64,
    from: i64,
    to: i64,
}

impl Reach {
    /// Whether one of them may hold an address that is not before it, at a time; of a single area, whether it does.
    fn may_hold(self, address: i64, time: i64) -> bool {
        address < self.end && (self.from..self.to).contains(&time)
    }

    fn with(self, other: Reach) -> Reach {
        Reach { end: self.end.max(other.end), from: self.from.min(other.from), to: self.to.max(other.to) }
    }
}

/// Areas, as many as there is room for.
#[derive(Debug)]
pub(crate) struct Areas {
    /// By process, base and time, once settled.
    rows: Vec<Area>,
    /// The nodes over them, the lowest first.
    levels: Vec<Vec<Reach>>,
    most: usize,
    left_out: u64,
}

impl Areas {
    /// None yet, and so many at most.
    pub(crate) fn with_room_for(most: usize) -> Areas {
        Areas { rows: Vec::new(), levels: Vec::new(), most, left_out: 0 }
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
        self.rows.sort_by_key(|area| (area.process, area.base, area.from));
        self.levels.clear();
        let mut level = over(self.rows.iter().map(Area::reach));
        while !level.is_empty() {
            let next = if level.len() > 1 { over(level.iter().copied()) } else { Vec::new() };
            self.levels.push(level);
            level = next;
        }
    }

    /// Those of a process that hold an address at a time, that of the highest base first.
    pub(crate) fn holding(&self, process: (i64, i64), address: i64, time: i64) -> impl Iterator<Item = &Area> {
        let first = self.rows.partition_point(|area| area.process < process);
        let behind = self.rows.partition_point(|area| (area.process, area.base) <= (process, address));
        let mut walk = Walk { areas: self, level: 0, behind, first, visits: MOST_VISITED };
        iter::from_fn(move || walk.next_with(address, time))
    }

    /// How far the areas below a node reach; on level 0 these are the areas themselves.
    fn reach(&self, level: usize, at: usize) -> Option<Reach> {
        match level.checked_sub(1) {
            None => self.rows.get(at).map(Area::reach),
            Some(above) => self.levels.get(above)?.get(at).copied(),
        }
    }

    /// How many nodes a level has; level 0 is that of the areas.
    fn length(&self, level: usize) -> usize {
        level.checked_sub(1).map_or(self.rows.len(), |above| self.levels.get(above).map_or(0, Vec::len))
    }

    /// Those that no other has the process, the base and the begin of.
    pub(crate) fn distinct(&self) -> impl Iterator<Item = &Area> {
        let same = self.rows.chunk_by(|a, b| (a.process, a.base, a.from) == (b.process, b.base, b.from));
        same.filter_map(|areas| if let [area] = areas { Some(area) } else { None })
    }

    /// How many had no room.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// The nodes over some others.
fn over(below: impl ExactSizeIterator<Item = Reach>) -> Vec<Reach> {
    let mut nodes: Vec<Reach> = Vec::with_capacity(below.len().div_ceil(BELOW));
    for (at, reach) in below.enumerate() {
        match nodes.last_mut().filter(|_| at % BELOW != 0) {
            Some(node) => *node = node.with(reach),
            None => nodes.push(reach),
        }
    }
    nodes
}

/// A way through the tree, from an address towards lower ones.
struct Walk<'a> {
    areas: &'a Areas,
    /// How many levels it is above the areas.
    level: usize,
    /// The number behind that of the node, or area, that comes next.
    behind: usize,
    /// The last area to visit.
    first: usize,
    /// How many may still be visited.
    visits: usize,
}

impl<'a> Walk<'a> {
    /// The next area that holds an address, which is not before it, at a time.
    fn next_with(&mut self, address: i64, time: i64) -> Option<&'a Area> {
        loop {
            let at = self.behind.checked_sub(1).filter(|at| *at >= self.first >> (BITS * self.level))?;
            self.visits = self.visits.checked_sub(1)?;
            let may_hold = self.areas.reach(self.level, at)?.may_hold(address, time);
            if may_hold && self.level > 0 {
                self.descend();
                continue;
            }
            self.pass(at);
            if may_hold {
                return self.areas.rows.get(at);
            }
        }
    }

    /// Goes to the last of what is below the next node.
    fn descend(&mut self) {
        self.level -= 1;
        self.behind = (self.behind << BITS).min(self.areas.length(self.level));
    }

    /// Leaves a node, and all below it, behind; goes up where what comes next is all of a node.
    fn pass(&mut self, at: usize) {
        self.behind = at;
        while self.level < self.areas.levels.len() && self.behind > 0 && self.behind.is_multiple_of(BELOW) {
            self.behind >>= BITS;
            self.level += 1;
        }
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
    fn an_area_is_found_below_any_number_of_others() {
        let upon: Vec<_> = (0..5000).map(|base| (1, base, if base == 0 { 10_000 } else { 1 }, 0, 9)).collect();
        let upon = areas(5000, &upon);
        t(&upon, (1, 4000, 0), &[4000, 0]);
        t(&upon, (1, 6000, 0), &[0]);
        t(&upon, (1, 10_000, 0), &[]);
        // The last of so many that were at one place one after another, and what was below all of them.
        let again: Vec<_> = (0..5000).map(|time| (1, 5, 5, time, time + 1)).chain([(1, 0, 9, 0, 4000)]).collect();
        let again = areas(9000, &again);
        t(&again, (1, 6, 4999), &[4999]);
        t(&again, (1, 6, 17), &[17, 5000]);
    }

    #[test]
    fn what_is_found_is_what_holds_it() {
        // Numbers that repeat, of a generator with known constants (Knuth).
        let mut seed = 1_u64;
        let mut below = |most: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i64::try_from((seed >> 33) % most).unwrap()
        };
        for count in [0, 1, 7, 8, 9, 63, 64, 65, 513, 700] {
            let rows: Vec<_> = (0..count)
                .map(|_| {
                    let (process, base, from) = (below(3), below(300), below(20));
                    let size = if below(9) == 0 { 200 } else { below(12) };
                    (process, base, size, from, from + below(9))
                })
                .collect();
            let all = areas(1000, &rows);
            for _ in 0..300 {
                let (process, address, time) = (below(4), below(520), below(30));
                let mut found: Vec<_> = all.holding((0, process), address, time).map(|area| area.base).collect();
                assert!(found.is_sorted_by(|a, b| a >= b), "that of the highest base first");
                found.reverse();
                let mut expected: Vec<_> = rows
                    .iter()
                    .filter(|(of, base, size, from, to)| {
                        *of == process && *base <= address && address < base + size && *from <= time && time < *to
                    })
                    .map(|(_, base, ..)| *base)
                    .collect();
                expected.sort_unstable();
                assert_eq!(found, expected, "{count} areas, {process} {address} {time}");
            }
        }
    }

    #[test]
    fn a_look_up_ends_where_a_damaged_trace_has_too_much_at_one_place() {
        let upon: Vec<_> = (0..40_000).map(|_| (1, 0, 10, 0, 9)).collect();
        let found = areas(40_000, &upon).holding((0, 1), 5, 5).count();
        assert!((1000..=MOST_VISITED).contains(&found), "{found}");
        // Each node has one that is there at another time, and one that ends before.
        let none: Vec<_> =
            (0..200_000).map(|at| if at % 2 == 0 { (1, at, 900_000, 5, 6) } else { (1, at, 1, 0, 9) }).collect();
        assert_eq!(areas(200_000, &none).holding((0, 1), 300_000, 2).count(), 0);
    }
}
