//! Positions in a dictionary: the values of a page while its dictionary grows.

use super::bits::{pack, put_varint};
use super::levels::MAX_GROUPS;

/// The positions of a page. How many bits each takes follows from the dictionary at the end of the page.
#[derive(Debug, Default)]
pub(super) struct Indices {
    /// The first of them, so many times: a column of one value is only counted.
    run: (u32, usize),
    /// Those behind; the first is another one, and if there are any, eight at least are counted or none.
    rest: Vec<u32>,
}

impl Indices {
    pub(super) fn len(&self) -> usize {
        self.run.1 + self.rest.len()
    }

    /// Whether the next ones are only counted where they are `index`.
    pub(super) fn counts(&self, index: u32) -> bool {
        self.rest.is_empty() && (self.run.1 == 0 || self.run.0 == index)
    }

    /// Adds an index `count` times, where [`Indices::counts`] says so.
    pub(super) fn count(&mut self, index: u32, count: usize) {
        self.run = (index, self.run.1 + count);
    }

    /// Adds indices one by one; `None` where one of them is.
    #[inline]
    pub(super) fn extend(&mut self, indices: impl Iterator<Item = Option<u32>>) -> Option<()> {
        let mut indices = indices.fuse();
        for index in indices.by_ref() {
            let index = index?;
            if self.counts(index) {
                self.count(index, 1);
                continue;
            }
            if self.run.1 < 8 {
                self.rest.extend(std::iter::repeat_n(self.run.0, std::mem::take(&mut self.run.1)));
            }
            self.rest.push(index);
            break;
        }
        self.rest.reserve(indices.size_hint().0);
        for index in indices {
            self.rest.push(index?);
        }
        Some(())
    }

    /// The most bytes that so many indices of `width` bits can take: each group of eight packed behind a header, or a run.
    pub(super) fn most_bytes(width: u32, count: usize) -> usize {
        count.div_ceil(8) * (1 + (width as usize).max(width.div_ceil(8) as usize))
    }

    /// Appends the width and all indices, and begins anew.
    pub(super) fn finish(&mut self, width: u32, page: &mut Vec<u8>) {
        page.push(width.to_le_bytes()[0]);
        if self.run.1 > 0 {
            put_run(self.run, width, page);
        }
        put_hybrid(&self.rest, width, page);
        self.run = (0, 0);
        self.rest.clear();
    }
}

/// Runs begin where groups of eight do, and go on to where their value ends; all other groups are packed.
fn put_hybrid(values: &[u32], width: u32, page: &mut Vec<u8>) {
    let (mut at, mut packed_from) = (0, 0);
    while let Some(group) = values[at..].first_chunk::<8>() {
        if group.iter().all(|value| value == &group[0]) {
            put_packed(&values[packed_from..at], width, page);
            let rest = &values[at + 8..];
            let length = 8 + rest.iter().position(|value| value != &group[0]).unwrap_or(rest.len());
            put_run((group[0], length), width, page);
            at += length;
            packed_from = at;
        } else {
            at += 8;
            if at - packed_from == MAX_GROUPS * 8 {
                put_packed(&values[packed_from..at], width, page);
                packed_from = at;
            }
        }
    }
    let tail = &values[at..];
    match tail.first() {
        Some(&first) if packed_from == at && tail.iter().all(|&value| value == first) => {
            put_run((first, tail.len()), width, page);
        }
        _ => put_packed(&values[packed_from..], width, page),
    }
}

fn put_run((value, length): (u32, usize), width: u32, page: &mut Vec<u8>) {
    put_varint((length as u64) << 1, page);
    page.extend_from_slice(&value.to_le_bytes()[..width.div_ceil(8) as usize]);
}

/// A packed run of at most [`MAX_GROUPS`] groups, the last one filled up with zeros.
fn put_packed(values: &[u32], width: u32, page: &mut Vec<u8>) {
    if values.is_empty() {
        return;
    }
    page.push(u8::try_from(values.len().div_ceil(8) << 1 | 1).unwrap_or(u8::MAX));
    let (groups, tail) = values.as_chunks::<8>();
    pack(groups.as_flattened(), width, page);
    if !tail.is_empty() {
        let mut last = [0; 8];
        last[..tail.len()].copy_from_slice(tail);
        pack(&last, width, page);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_become_runs_and_packed_groups() {
        let t = |values: &[u32], width, expected: &[u8]| {
            let mut indices = Indices::default();
            let run = values.iter().take_while(|&value| Some(value) == values.first()).count();
            if run > 0 {
                assert!(indices.counts(values[0]));
                indices.count(values[0], run);
                assert!(indices.counts(values[0]) && !indices.counts(values[0] + 1));
            }
            indices.extend(values[run..].iter().copied().map(Some)).unwrap();
            assert_eq!(indices.len(), values.len());
            let mut page = Vec::new();
            indices.finish(width, &mut page);
            assert_eq!(page, expected, "{values:?}");
            assert!(page.len() <= 1 + Indices::most_bytes(width, values.len()));
            assert_eq!(indices.len(), 0);
        };
        t(&[], 0, &[0]);
        t(&[0; 5], 0, &[0, 10]);
        t(&[3; 5], 2, &[2, 10, 3]);
        t(&[0, 1], 1, &[1, 3, 0b10]);
        t(&[300; 9], 9, &[9, 18, 44, 1]);
        t(&[[1; 8].as_slice(), &[0]].concat(), 1, &[1, 16, 1, 2, 0]);
        t(&[[1; 7].as_slice(), &[0; 9]].concat(), 1, &[1, 3, 0b0111_1111, 16, 0]);
        t(&[1, 2, 1, 2, 1, 2, 1, 2, 1, 1], 2, &[2, 5, 0x99, 0x99, 0b0101, 0]);
    }
}
