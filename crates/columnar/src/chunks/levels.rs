//! Definition and repetition levels, run by run, in the hybrid of runs and packed groups of eight.

use std::ops::Range;

use super::bits::put_varint;

/// Groups of a packed run, at most: its header is one byte.
pub(super) const MAX_GROUPS: usize = 63;

/// The levels of a page while they come; of at most 8 bits each.
#[derive(Debug)]
pub(super) struct Levels {
    width: u32,
    /// A one in the lowest bit of each of eight places.
    ones: u64,
    /// Finished runs, and the packed run that is open.
    out: Vec<u8>,
    /// Where the open packed run has its header.
    header: Option<usize>,
    /// Groups in it.
    groups: usize,
    /// The group that is not full: its bits, the lowest first, and how many levels.
    group: u64,
    filled: u32,
    /// The run of one level that is open, with its length; there is no group then.
    run: Option<(u8, usize)>,
}

impl Levels {
    /// For levels from 0 to `max`; `None`: all are 0, and none is written.
    pub(super) fn new(max: i16) -> Option<Levels> {
        let max = u8::try_from(max).ok().filter(|&max| max > 0)?;
        let width = u8::BITS - max.leading_zeros();
        let ones = (0..8).fold(0, |ones, place| ones | 1 << (place * width));
        Some(Levels { width, ones, out: Vec::new(), header: None, groups: 0, group: 0, filled: 0, run: None })
    }

    /// Adds a level `count` times.
    #[inline]
    pub(super) fn put(&mut self, level: u8, mut count: usize) {
        while count > 0 {
            if let Some((value, length)) = &mut self.run {
                if *value == level {
                    *length += count;
                    return;
                }
                self.end_run();
            }
            if self.filled == 0 && count >= 8 {
                self.end_packed();
                self.run = Some((level, count));
                return;
            }
            let taken = count.min(8 - self.filled as usize);
            // At most 8.
            let taken_u32 = u32::try_from(taken).unwrap_or(8);
            self.group |= self.repeated(level, taken_u32) << (self.filled * self.width);
            self.filled += taken_u32;
            count -= taken;
            if self.filled == 8 {
                self.end_group(level);
            }
        }
    }

    /// Adds a level for each of some rows: `level` where the row is listed and 0 elsewhere. The list is ascending and within
    /// the rows.
    pub(super) fn put_listed(&mut self, rows: &Range<usize>, mut listed: &[u32], level: u8) {
        let mut row = rows.start;
        while row < rows.end {
            let is_at_group = self.run.is_none() && self.filled == 0;
            if is_at_group && rows.end - row >= 8 {
                let (group, taken) = group_at(row, listed);
                match group {
                    0 => self.put(0, 8),
                    u8::MAX => self.put(level, 8),
                    mixed => {
                        self.group = self.spread(mixed) * u64::from(level);
                        self.put_packed();
                    }
                }
                (row, listed) = (row + 8, &listed[taken..]);
            } else {
                let (is_listed, count) = run_at(row..rows.end, listed);
                self.put(if is_listed { level } else { 0 }, count);
                row += count;
                if is_listed {
                    listed = &listed[count..];
                }
            }
        }
    }

    /// Appends all levels behind their length, and begins anew.
    pub(super) fn finish(&mut self, page: &mut Vec<u8>) {
        let first = u8::try_from(self.group & ((1 << self.width) - 1)).unwrap_or(0);
        if self.run.is_some() {
            self.end_run();
        } else if self.filled > 0 {
            let filled = std::mem::take(&mut self.filled);
            if self.header.is_none() && self.group == self.repeated(first, filled) {
                self.group = 0;
                self.put_run(first, filled as usize);
            } else {
                self.pack_group();
            }
        }
        self.end_packed();
        page.extend_from_slice(&u32::try_from(self.out.len()).unwrap_or(u32::MAX).to_le_bytes());
        page.extend_from_slice(&self.out);
        self.out.clear();
    }

    /// A level so many times, at most 8, packed.
    fn repeated(&self, level: u8, count: u32) -> u64 {
        let places = count * self.width;
        let mask = if places == 64 { u64::MAX } else { (1 << places) - 1 };
        (self.ones & mask) * u64::from(level)
    }

    /// A one in the lowest bit of each of eight places that are marked.
    fn spread(&self, marked: u8) -> u64 {
        match self.width {
            1 => marked.into(),
            width => (0..8).fold(0, |ones, place| ones | u64::from(marked >> place & 1) << (place * width)),
        }
    }

    /// A full group: a run begins where all its levels are the last one.
    fn end_group(&mut self, level: u8) {
        self.filled = 0;
        if self.group == self.repeated(level, 8) {
            self.group = 0;
            self.end_packed();
            self.run = Some((level, 8));
        } else {
            self.put_packed();
        }
    }

    /// A full group that is no run.
    fn put_packed(&mut self) {
        self.pack_group();
        if self.groups == MAX_GROUPS {
            self.end_packed();
        }
    }

    fn pack_group(&mut self) {
        let out = &mut self.out;
        self.header.get_or_insert_with(|| {
            out.push(0);
            out.len() - 1
        });
        let bytes = self.group.to_le_bytes();
        // Most levels are of one bit; a copy of a length that is not known costs as much as all the rest.
        match self.width {
            1 => out.push(bytes[0]),
            width => out.extend_from_slice(&bytes[..width as usize]),
        }
        self.groups += 1;
        self.group = 0;
    }

    fn end_packed(&mut self) {
        if let Some(header) = self.header.take() {
            self.out[header] = u8::try_from(self.groups << 1 | 1).unwrap_or(u8::MAX);
            self.groups = 0;
        }
    }

    fn end_run(&mut self) {
        if let Some((level, length)) = self.run.take() {
            self.put_run(level, length);
        }
    }

    fn put_run(&mut self, level: u8, length: usize) {
        put_varint((length as u64) << 1, &mut self.out);
        self.out.push(level);
    }
}

/// Which of eight rows are listed, the first in the lowest bit, and how many.
fn group_at(row: usize, listed: &[u32]) -> (u8, usize) {
    let (mut group, mut taken) = (0, 0);
    for &listed in listed {
        let place = (listed as usize).wrapping_sub(row);
        if place >= 8 {
            break;
        }
        group |= 1 << place;
        taken += 1;
    }
    (group, taken)
}

/// Whether the first of some rows is listed, and of how many rows one after another that is so; at least one.
fn run_at(rows: Range<usize>, listed: &[u32]) -> (bool, usize) {
    match listed.first().map_or(rows.end, |&first| first as usize) - rows.start {
        0 => (true, listed.iter().zip(rows).take_while(|&(&listed, row)| listed as usize == row).count()),
        absent => (false, absent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(max: i16, runs: &[(u8, usize)]) -> Vec<u8> {
        let mut levels = Levels::new(max).unwrap();
        let mut page = Vec::new();
        // What came before leaves no trace.
        levels.put(0, 3);
        levels.put(1, 20);
        levels.finish(&mut page);
        page.clear();
        runs.iter().for_each(|&(level, count)| levels.put(level, count));
        levels.finish(&mut page);
        assert_eq!(page[..4], u32::try_from(page.len() - 4).unwrap().to_le_bytes());
        page.split_off(4)
    }

    #[test]
    fn levels_become_runs_and_packed_groups() {
        let t = |max, runs: &[(u8, usize)], expected: &[u8]| assert_eq!(encoded(max, runs), expected, "{runs:?}");
        t(1, &[], &[]);
        t(1, &[(1, 3)], &[3 << 1, 1]);
        t(1, &[(1, 3), (1, 5)], &[8 << 1, 1]);
        t(1, &[(1, 100)], &[0xc8, 1, 1]);
        t(1, &[(1, 3), (0, 1)], &[3, 0b0111]);
        t(1, &[(1, 3), (0, 5), (1, 2)], &[5, 0b0000_0111, 0b11]);
        t(1, &[(1, 9), (0, 1), (1, 1)], &[9 << 1, 1, 3, 0b10]);
        t(1, &[(0, 1), (1, 7 + 9)], &[3, 0b1111_1110, 9 << 1, 1]);
        t(3, &[(3, 8), (0, 1), (1, 1), (2, 1), (3, 1)], &[8 << 1, 3, 3, 0b1110_0100, 0]);
        t(3, &[(2, 4), (2, 1)], &[5 << 1, 2]);
        let mut long = vec![(0, 1), (1, 1)];
        long.extend_from_within(..);
        long.extend_from_within(..);
        let long: Vec<_> = long.iter().copied().cycle().take(64 * 8).collect();
        let mut expected = vec![63 << 1 | 1];
        expected.extend([0b1010_1010; 63]);
        expected.extend([3, 0b1010_1010]);
        t(1, &long, &expected);
    }

    proptest! {
        #[test]
        fn listed_rows_are_the_levels_one_by_one(
            lengths in prop::collection::vec(0..20_usize, 0..60),
            start in 0..9_usize,
            max in 1..4_u8,
        ) {
            let (mut level, mut row, mut listed) = (0, 100, Vec::new());
            let [mut one_by_one, mut together] = [(); 2].map(|()| Levels::new(max.into()).unwrap());
            one_by_one.put(max, start);
            together.put(max, start);
            for length in lengths {
                listed.extend((row..row + length).filter(|_| level > 0).map(|row| u32::try_from(row).unwrap()));
                (0..length).for_each(|_| one_by_one.put(level, 1));
                (level, row) = (max - level, row + length);
            }
            together.put_listed(&(100..row), &listed, max);
            let (mut expected, mut found) = (Vec::new(), Vec::new());
            one_by_one.finish(&mut expected);
            together.finish(&mut found);
            prop_assert_eq!(found, expected);
        }
    }
}
