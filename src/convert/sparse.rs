//! Columns of which only the rows with a value are kept.

use std::ops::Range;

/// Values with their rows, ascending. While every row has one, the rows are not stored.
#[derive(Clone, Debug)]
pub struct Sparse<T> {
    values: Vec<T>,
    /// `None`: value `i` is that of row `i`.
    rows: Option<Vec<u32>>,
}

impl<T> Default for Sparse<T> {
    fn default() -> Self {
        Sparse { values: Vec::new(), rows: None }
    }
}

impl<T> Sparse<T> {
    /// Adds the value of a row behind the last one.
    #[inline]
    pub fn push(&mut self, row: u32, value: T) {
        if let Some(rows) = &mut self.rows {
            rows.push(row);
        } else if row as usize != self.values.len() {
            self.leave_dense(row);
        }
        self.values.push(value);
    }

    #[cold]
    fn leave_dense(&mut self, row: u32) {
        let before = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        self.rows = Some((0..before).chain([row]).collect());
    }

    /// Adds the value of a row, if there is one.
    #[inline]
    pub fn push_option(&mut self, row: u32, value: Option<T>) {
        if let Some(value) = value {
            self.push(row, value);
        }
    }

    /// Whether the last value is that of `row`.
    pub fn ends_with(&self, row: u32) -> bool {
        let last = match &self.rows {
            Some(rows) => rows.last().copied(),
            None => self.values.len().checked_sub(1).and_then(|last| u32::try_from(last).ok()),
        };
        last == Some(row)
    }

    /// Number of values.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// The values of a range of rows, and how they lie in it.
    pub fn part(&self, rows: &Range<u32>) -> Part<'_, T> {
        match &self.rows {
            None => {
                let end = self.values.len();
                let (start, stop) = ((rows.start as usize).min(end), (rows.end as usize).min(end));
                Part { values: &self.values[start..stop], rows: None, first: rows.start }
            }
            Some(all) => {
                let range = all.partition_point(|&row| row < rows.start)..all.partition_point(|&row| row < rows.end);
                Part { values: &self.values[range.clone()], rows: Some(&all[range]), first: rows.start }
            }
        }
    }
}

/// The values of a range of rows of a [`Sparse`] column.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a, T> {
    /// The values.
    pub values: &'a [T],
    /// Their rows; `None`: the first `values.len()` rows of the range.
    rows: Option<&'a [u32]>,
    first: u32,
}

impl<'a, T> Part<'a, T> {
    /// Whether each of the first rows has a value.
    pub fn is_dense(&self) -> bool {
        self.rows.is_none()
    }

    /// Every value with its row, counted from the start of the range.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &'a T)> + '_ {
        let row = |i: usize| match self.rows {
            None => i,
            Some(rows) => rows[i].wrapping_sub(self.first) as usize,
        };
        self.values.iter().enumerate().map(move |(i, value)| (row(i), value))
    }
}

/// Where the items of one row lie in the items of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Index of the first item.
    pub start: u32,
    /// Number of items.
    pub len: u32,
}

impl Span {
    /// As a range of indices.
    pub fn range(self) -> Range<usize> {
        let start = self.start as usize;
        start..start + self.len as usize
    }
}

/// A sparse column of lists, texts or bytes: all items in one place.
#[derive(Clone, Debug)]
pub struct SparseLists<T> {
    /// Per row with a value, where its items lie.
    pub spans: Sparse<Span>,
    /// The items.
    pub items: Vec<T>,
}

impl<T> Default for SparseLists<T> {
    fn default() -> Self {
        SparseLists { spans: Sparse::default(), items: Vec::new() }
    }
}

impl<T> SparseLists<T> {
    /// Adds the items of a row behind the last one.
    #[inline]
    pub fn extend(&mut self, row: u32, items: impl IntoIterator<Item = T>) {
        let start = self.items.len();
        self.items.extend(items);
        self.end_row(row, start);
    }

    /// Adds one item to the last row with a value.
    pub fn grow_last(&mut self, item: T) {
        if let Some(span) = self.spans.values.last_mut() {
            self.items.push(item);
            span.len += 1;
        }
    }

    /// Makes everything from item `start` on the value of a row.
    pub fn end_row(&mut self, row: u32, start: usize) {
        // A slice holds at most a few hundred MB; the slices' own limit is far below 4 G items.
        let (start, len) = (to_u32(start), to_u32(self.items.len() - start));
        self.spans.push(row, Span { start, len });
    }
}

impl SparseLists<u8> {
    /// Adds the bytes of a row behind the last one.
    #[inline]
    pub fn push(&mut self, row: u32, bytes: &[u8]) {
        let start = self.items.len();
        self.items.extend_from_slice(bytes);
        self.end_row(row, start);
    }
}

fn to_u32(count: usize) -> u32 {
    u32::try_from(count).expect("a slice of the order holds less than 4 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(column: &Sparse<u8>, rows: Range<u32>) -> (bool, Vec<(usize, u8)>) {
        let part = column.part(&rows);
        (part.is_dense(), part.iter().map(|(row, value)| (row, *value)).collect())
    }

    #[test]
    fn rows_are_stored_from_the_first_gap_on() {
        let mut column = Sparse::default();
        column.push(0, 10);
        column.push(1, 11);
        assert_eq!(part(&column, 1..5), (true, vec![(0, 11)]));
        assert_eq!(part(&column, 3..5), (true, vec![]));
        column.push(4, 14);
        assert_eq!(part(&column, 0..5), (false, vec![(0, 10), (1, 11), (4, 14)]));
        assert_eq!(part(&column, 1..4), (false, vec![(0, 11)]));
        assert_eq!(part(&column, 2..9), (false, vec![(2, 14)]));
    }

    #[test]
    fn a_column_may_begin_with_a_gap() {
        let mut column = Sparse::default();
        column.push(2, 12);
        assert_eq!(part(&column, 0..3), (false, vec![(2, 12)]));
    }

    #[test]
    fn lists_of_rows_lie_in_one_place() {
        let mut lists = SparseLists::default();
        lists.push(1, b"abc");
        lists.push(2, b"");
        lists.push(5, b"de");
        let spans: Vec<_> =
            lists.spans.part(&(0..9)).iter().map(|(row, span)| (row, lists.items[span.range()].to_vec())).collect();
        assert_eq!(spans, [(1, b"abc".to_vec()), (2, vec![]), (5, b"de".to_vec())]);
    }
}
