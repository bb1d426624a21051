//! Columns of which only the rows with a value are kept.

use std::ops::{Deref, DerefMut, Range};

use crate::columns::presence::{Recycle, RowNumbers, RowSelection};

/// Values with their rows, ascending.
#[derive(Clone, Debug)]
pub struct Sparse<T> {
    values: Vec<T>,
    rows: RowNumbers,
}

impl<T> Default for Sparse<T> {
    fn default() -> Self {
        Sparse { values: Vec::new(), rows: RowNumbers::default() }
    }
}

impl<T> Sparse<T> {
    /// Adds the value of a row behind the last one.
    #[inline]
    pub fn push(&mut self, row: u32, value: T) {
        self.rows.push(row);
        self.values.push(value);
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
        self.rows.ends_with(row)
    }

    /// Number of values.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// The values of a range of rows, and how they lie in it.
    pub fn part(&self, rows: &Range<u32>) -> (&[T], RowSelection<'_>) {
        let place = self.rows.part(rows);
        (&self.values[place.values.clone()], place)
    }
}

/// A column that most tables do not have: while it is empty, it takes no more than a pointer.
///
/// A trace with a thousand tables has tens of thousands of [`Rows`](super::rows::Rows) with few rows each in its open row
/// groups; there, empty columns would take more memory than values.
#[derive(Clone, Debug)]
pub struct Rare<C>(Option<Box<C>>);

/// A column that can be [`Rare`].
pub trait Column: Default + 'static {
    /// One without values.
    const EMPTY: &'static Self;

    /// Whether it is without values.
    fn is_empty(&self) -> bool;
}

impl<C> Default for Rare<C> {
    fn default() -> Self {
        Rare(None)
    }
}

impl<C: Column> Deref for Rare<C> {
    type Target = C;

    fn deref(&self) -> &C {
        self.0.as_deref().unwrap_or(C::EMPTY)
    }
}

impl<C: Column> DerefMut for Rare<C> {
    fn deref_mut(&mut self) -> &mut C {
        self.0.get_or_insert_default()
    }
}

impl<C: Column + Recycle> Recycle for Rare<C> {
    fn take_exact(&mut self) -> Self {
        Rare(self.0.as_mut().filter(|column| !column.is_empty()).map(|column| Box::new(column.take_exact())))
    }
}

impl<T: 'static> Column for Sparse<T> {
    const EMPTY: &'static Self = &Sparse { values: Vec::new(), rows: RowNumbers::new() };

    fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

impl<T: 'static> Column for SparseLists<T> {
    const EMPTY: &'static Self =
        &SparseLists { spans: Sparse { values: Vec::new(), rows: RowNumbers::new() }, items: Vec::new() };

    fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }
}

impl<T: Copy> Recycle for Sparse<T> {
    fn take_exact(&mut self) -> Self {
        Sparse { values: self.values.take_exact(), rows: self.rows.take_exact() }
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

impl<T: Copy> Recycle for SparseLists<T> {
    fn take_exact(&mut self) -> Self {
        SparseLists { spans: self.spans.take_exact(), items: self.items.take_exact() }
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
        // A part of a slice ends at a weight far below 4 G items, and holds no more payload than the slice has bytes.
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
    u32::try_from(count).expect("a part of a slice holds far less than 4 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_its_own_values() {
        let mut column = Sparse::default();
        [(0, 10), (1, 11), (4, 14)].into_iter().for_each(|(row, value)| column.push(row, value));
        let part = |rows| {
            let (values, place) = column.part(&rows);
            (values.to_vec(), place.rows().collect::<Vec<_>>())
        };
        assert_eq!(part(0..5), (vec![10, 11, 14], vec![0, 1, 4]));
        assert_eq!(part(1..4), (vec![11], vec![0]));
        assert_eq!((column.count(), column.ends_with(4), column.ends_with(3)), (3, true, false));
    }

    #[test]
    fn lists_of_rows_lie_in_one_place() {
        let mut lists = SparseLists::default();
        lists.push(1, b"abc");
        lists.push(2, b"");
        lists.push(5, b"de");
        let (spans, place) = lists.spans.part(&(0..9));
        let texts = spans.iter().map(|span| lists.items[span.range()].to_vec());
        assert_eq!(texts.collect::<Vec<_>>(), [b"abc".to_vec(), vec![], b"de".to_vec()]);
        assert_eq!(place.rows().collect::<Vec<_>>(), [1, 2, 5]);
    }

    #[test]
    fn a_rare_column_takes_memory_when_it_has_values() {
        let mut column = Rare::<SparseLists<u8>>::default();
        assert_eq!(column.spans.count(), 0);
        assert!(column.take_exact().0.is_none());
        column.push(3, b"ab");
        let taken = column.take_exact();
        assert_eq!((taken.spans.count(), taken.items.as_slice()), (1, &b"ab"[..]));
        // What is filled again keeps its memory, what is taken has none.
        assert!(column.is_empty() && column.0.is_some());
        assert!(column.take_exact().0.is_none());
        assert_eq!(size_of_val(&taken), size_of::<usize>());
    }
}
