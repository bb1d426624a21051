//! Packed values and the rows that they belong to.
//!
//! Columns keep only the values that there are, with their rows ([`RowNumbers`]). Once the rows of an Arrow array are
//! known, each run of packed values has a [`RowSelection`] in it, and the array's validity and offsets follow from the places
//! alone.

use std::ops::Range;

use arrow_buffer::{BooleanBufferBuilder, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;
use base::error::{Error, ErrorKind, Result};

/// Something that is filled, emptied and filled again.
pub trait Recycle {
    /// Takes the content out, without spare memory; the memory stays for what comes next.
    #[must_use]
    fn take_exact(&mut self) -> Self;
}

/// Bytes from which content is taken out as it lies: a copy would cost more than other memory for what comes next.
const MOVED_BYTES: usize = 64 << 10;

impl<T: Copy> Recycle for Vec<T> {
    fn take_exact(&mut self) -> Self {
        if size_of_val(self.as_slice()) >= MOVED_BYTES {
            // A little more than it was this time.
            let next = Vec::with_capacity(self.len() + self.len() / 8);
            let mut content = std::mem::replace(self, next);
            content.shrink_to_fit();
            return content;
        }
        // A copy has no more capacity than it needs.
        let packed = self.as_slice().to_vec();
        self.clear();
        packed
    }
}

/// The rows of packed values, ascending. While values and rows are the same, they are only counted.
#[derive(Clone, Debug, Default)]
pub struct RowNumbers {
    count: u32,
    /// Whether values and rows differ.
    is_listed: bool,
    /// The rows, if they are listed; else empty.
    rows: Vec<u32>,
}

impl RowNumbers {
    /// Adds the row of the next value; it lies behind the last one.
    #[expect(clippy::inline_always, reason = "most columns of most rows pass through here")]
    #[inline(always)]
    pub fn push(&mut self, row: u32) {
        if self.is_listed {
            self.rows.push(row);
        } else if row != self.count {
            self.list(row);
        }
        self.count += 1;
    }

    /// Adds the rows of so many values; they lie one behind another from `first` on.
    pub fn extend(&mut self, first: u32, count: usize) {
        if self.is_listed || first != self.count {
            (first..).take(count).for_each(|row| self.push(row));
        } else {
            // No more than there are rows.
            self.count += u32::try_from(count).unwrap_or(u32::MAX);
        }
    }

    /// Lists the rows from the first one on that is not that of its value.
    #[cold]
    fn list(&mut self, row: u32) {
        self.is_listed = true;
        self.rows.extend((0..self.count).chain([row]));
    }

    /// Number of values.
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// Whether the last value is that of `row`.
    pub fn ends_with(&self, row: u32) -> bool {
        let last = if self.is_listed { self.rows.last().copied() } else { self.count.checked_sub(1) };
        last == Some(row)
    }

    /// The values of a range of rows, and how they lie in it.
    pub fn select(&self, range: &Range<u32>) -> RowSelection<'_> {
        let (first, len) = (range.start, range.len());
        if self.is_listed {
            // Most ranges begin with the first row or end behind the last one, and a search reaches for memory far apart.
            let before = |end: u32| match self.rows.last() {
                Some(&last) if last < end => self.rows.len(),
                _ if end == 0 => 0,
                _ => self.rows.partition_point(|&row| row < end),
            };
            let values = before(range.start)..before(range.end);
            RowSelection { rows: Some(&self.rows[values.clone()]), values, first, len }
        } else {
            let values = range.start.min(self.count) as usize..range.end.min(self.count) as usize;
            RowSelection { values, rows: None, first, len }
        }
    }
}

impl Recycle for RowNumbers {
    fn take_exact(&mut self) -> Self {
        let (count, is_listed) = (std::mem::take(&mut self.count), std::mem::take(&mut self.is_listed));
        RowNumbers { count, is_listed, rows: self.rows.take_exact() }
    }
}

/// Where a run of packed values lies in some rows of an array.
#[derive(Clone, Debug)]
pub struct RowSelection<'a> {
    /// Which of the packed values.
    pub values: Range<usize>,
    /// Their rows; `None`: the first of the range, one after another.
    rows: Option<&'a [u32]>,
    /// The row at which the range begins.
    first: u32,
    /// Number of rows.
    pub len: usize,
}

impl<'a> RowSelection<'a> {
    /// Values that fill their rows.
    pub fn full(values: Range<usize>) -> Self {
        RowSelection { len: values.len(), values, rows: None, first: 0 }
    }

    /// Rows without a value.
    pub fn empty(len: usize) -> Self {
        RowSelection { values: 0..0, rows: None, first: 0, len }
    }

    /// Whether every row has a value.
    pub fn is_full(&self) -> bool {
        self.values.len() == self.len
    }

    /// The row of every value, counted from the start of the range.
    pub fn rows(&self) -> impl Iterator<Item = usize> + 'a {
        let (rows, first) = (self.rows, self.first);
        (0..self.values.len()).map(move |value| rows.map_or(value, |rows| rows[value].wrapping_sub(first) as usize))
    }

    /// Appends the row of every value, counted from `first` at the start of the range.
    pub fn list(&self, first: u32, all: &mut Vec<u32>) {
        match self.rows {
            // Fewer rows than a range of 32 bits.
            None => all.extend((first..).take(self.values.len())),
            Some(rows) => all.extend(rows.iter().map(|row| row.wrapping_sub(self.first).wrapping_add(first))),
        }
    }

    /// The row of the value with this number among all packed values, counted from the start of the range.
    fn row_of(&self, value: usize) -> usize {
        let value = value - self.values.start;
        self.rows.map_or(value, |rows| rows[value].wrapping_sub(self.first) as usize)
    }

    /// Sets the bit of every row with a value, which lies in the range; that of the first row of the range is at `first`.
    pub fn set_bits(&self, bits: &mut BooleanBufferBuilder, first: usize) {
        let bytes = bits.as_slice_mut();
        let mut set = |row: usize| bytes[row / 8] |= 1 << (row % 8);
        match self.rows {
            None => (first..first + self.values.len()).for_each(set),
            Some(rows) => rows.iter().for_each(|row| set(first.wrapping_add(row.wrapping_sub(self.first) as usize))),
        }
    }

    /// Appends one item per row: those of the values at their rows, and `T::default()` elsewhere.
    pub fn scatter<T: Copy + Default>(&self, values: impl ExactSizeIterator<Item = T>, all: &mut Vec<T>) {
        let end = all.len() + self.len;
        if self.rows.is_none() {
            all.extend(values);
            all.resize(end, T::default());
        } else {
            all.resize(end, T::default());
            self.scatter_into(values, all);
        }
    }

    /// Puts the values among the last rows, where others have none.
    pub fn scatter_into<T>(&self, values: impl ExactSizeIterator<Item = T>, all: &mut [T]) {
        debug_assert_eq!(values.len(), self.values.len());
        let first = all.len() - self.len;
        let own = &mut all[first..];
        match self.rows {
            None => own.iter_mut().zip(values).for_each(|(slot, value)| *slot = value),
            Some(rows) => {
                rows.iter().zip(values).for_each(|(row, value)| own[row.wrapping_sub(self.first) as usize] = value);
            }
        }
    }
}

/// Which rows of an array have a value; free while all have one.
#[derive(Debug, Default)]
pub struct Validity {
    rows: usize,
    bits: Option<BooleanBufferBuilder>,
}

impl Validity {
    /// Adds some rows.
    pub fn add(&mut self, selection: &RowSelection<'_>) {
        if self.bits.is_some() || !selection.is_full() {
            let first = self.rows;
            let bits = self.bits_of_all();
            if selection.rows.is_none() {
                bits.append_n(selection.values.len(), true);
                bits.append_n(selection.len - selection.values.len(), false);
            } else {
                bits.append_n(selection.len, false);
                selection.set_bits(bits, first);
            }
        }
        self.rows += selection.len;
    }

    /// Adds values to the last rows.
    pub fn merge(&mut self, selection: &RowSelection<'_>) {
        let first = self.rows - selection.len;
        if let Some(bits) = &mut self.bits {
            selection.set_bits(bits, first);
        }
    }

    /// Takes the values at these positions, among all packed values, back from the rows just added.
    pub fn clear(&mut self, selection: &RowSelection<'_>, values: &[u32]) {
        if values.is_empty() {
            return;
        }
        let first = self.rows - selection.len;
        let bits = self.bits_of_all();
        values.iter().for_each(|&value| bits.set_bit(first + selection.row_of(value as usize), false));
    }

    fn bits_of_all(&mut self) -> &mut BooleanBufferBuilder {
        self.bits.get_or_insert_with(|| {
            let mut bits = BooleanBufferBuilder::new(self.rows);
            bits.append_n(self.rows, true);
            bits
        })
    }

    /// The bitmap, or `None` if every row has a value.
    pub fn finish(self) -> Option<NullBuffer> {
        self.bits.map(|mut bits| NullBuffer::new(bits.finish()))
    }
}

/// Where the values of variable length end, row by row; a row without one is empty.
#[derive(Debug)]
pub struct Offsets(Vec<i32>);

impl Offsets {
    /// For so many rows.
    pub fn with_capacity(rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Offsets(offsets)
    }

    /// Adds some rows; the values have so many items each.
    ///
    /// # Errors
    /// When Arrow's 32-bit offsets can hold no more.
    pub fn add(&mut self, selection: &RowSelection<'_>, lens: impl Iterator<Item = usize>) -> Result<()> {
        let (first, mut last) = (self.0.len(), self.0.last().copied().unwrap_or(0));
        for (row, len) in selection.rows().zip(lens) {
            self.0.resize(first + row, last);
            last = i32::try_from(len).ok().and_then(|len| last.checked_add(len)).ok_or_else(too_large)?;
            self.0.push(last);
        }
        self.0.resize(first + selection.len, last);
        Ok(())
    }

    /// The offsets of an array.
    pub fn finish(self) -> OffsetBuffer<i32> {
        OffsetBuffer::new(ScalarBuffer::from(self.0))
    }
}

fn too_large() -> Error {
    Error::new(ErrorKind::Internal, "a column of a row group passes 2 GiB")
        .with_hint("convert with a smaller --row-group-rows")
}

/// An array whose parts do not fit each other, which is a bug: offsets end with their items, validity covers all rows, and
/// text columns are given whole UTF-8 strings only.
pub fn array_error(cause: ArrowError) -> Error {
    Error::bug("a column cannot be built").caused_by(cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(rows: &[u32]) -> RowNumbers {
        let mut numbers = RowNumbers::default();
        rows.iter().for_each(|&row| numbers.push(row));
        numbers
    }

    #[test]
    fn rows_are_stored_from_the_first_gap_on() {
        let select = |rows: &[u32], range: Range<u32>| {
            let numbers = numbers(rows);
            let selection = numbers.select(&range);
            (selection.values.clone(), selection.rows().collect::<Vec<_>>(), selection.is_full())
        };
        assert!(numbers(&[0, 1]).rows.is_empty());
        assert_eq!(select(&[0, 1], 0..2), (0..2, vec![0, 1], true));
        assert_eq!(select(&[0, 1], 1..5), (1..2, vec![0], false));
        assert_eq!(select(&[0, 1], 3..5), (2..2, vec![], false));
        assert_eq!(select(&[0, 1, 4], 0..5), (0..3, vec![0, 1, 4], false));
        assert_eq!(select(&[0, 1, 4], 1..4), (1..2, vec![0], false));
        assert_eq!(select(&[0, 1, 4], 2..9), (2..3, vec![2], false));
        assert_eq!(select(&[2], 0..3), (0..1, vec![2], false));
        assert_eq!([0, 1, 2].map(|row| numbers(&[0, 1]).ends_with(row)), [false, true, false]);
        assert_eq!([1, 2, 4].map(|row| numbers(&[0, 4]).ends_with(row)), [false, false, true]);
        assert!(!numbers(&[]).ends_with(0));
    }

    #[test]
    fn rows_one_behind_another_are_counted() {
        let mut numbers = RowNumbers::default();
        numbers.extend(0, 3);
        assert_eq!((numbers.count(), numbers.is_listed), (3, false));
        numbers.extend(5, 2);
        numbers.extend(7, 0);
        numbers.extend(7, 1);
        assert_eq!((numbers.count(), numbers.rows.as_slice()), (6, &[0, 1, 2, 5, 6, 7][..]));
    }

    #[test]
    fn what_is_taken_out_leaves_memory_only() {
        let mut numbers = numbers(&[0, 3]);
        let taken = numbers.take_exact();
        assert_eq!((taken.count(), taken.rows.capacity(), taken.ends_with(3)), (2, 2, true));
        assert_eq!((numbers.count(), numbers.is_listed, numbers.rows.len()), (0, false, 0));
        assert!(numbers.rows.capacity() >= 2);
        numbers.push(0);
        assert!(numbers.rows.is_empty());
    }

    #[test]
    fn what_is_much_is_taken_out_as_it_lies() {
        let mut bytes: Vec<u64> = Vec::with_capacity(MOVED_BYTES);
        bytes.extend(0..MOVED_BYTES as u64 / 8);
        let place = bytes.as_ptr();
        let taken = bytes.take_exact();
        assert_eq!((taken.capacity(), taken[MOVED_BYTES / 8 - 1]), (8192, 8191));
        // Other allocators may move what is made smaller.
        if cfg!(all(target_os = "linux", target_env = "gnu")) {
            assert_eq!(taken.as_ptr(), place);
        }
        assert_eq!((bytes.len(), bytes.capacity()), (0, 9216));
        bytes.extend(1..8192);
        let copy = bytes.take_exact();
        assert_eq!((copy.capacity(), copy[8190], bytes.len(), bytes.capacity()), (8191, 8191, 0, 9216));
    }

    #[test]
    fn a_range_has_the_values_of_its_rows() {
        let rows = numbers(&[1, 4, 5, 9]);
        for (range, values) in
            [(0..10, 0..4), (0..1, 0..0), (1..5, 0..2), (4..6, 1..3), (6..9, 3..3), (9..20, 3..4), (10..20, 4..4)]
        {
            let selection = rows.select(&range);
            assert_eq!((selection.values, selection.len), (values, range.len()), "{range:?}");
        }
    }

    #[test]
    fn values_go_to_their_rows() {
        let mut all = vec![9];
        numbers(&[1, 3]).select(&(1..5)).scatter([10, 30].into_iter(), &mut all);
        numbers(&[0, 1]).select(&(0..3)).scatter([7, 8].into_iter(), &mut all);
        RowSelection::empty(1).scatter([].into_iter(), &mut all);
        RowSelection::full(4..6).scatter([5, 6].into_iter(), &mut all);
        assert_eq!(all, [9, 10, 0, 30, 0, 7, 8, 0, 0, 5, 6]);
    }

    #[test]
    fn validity_is_one_bit_a_row() {
        let mut validity = Validity::default();
        validity.add(&RowSelection::full(0..3));
        assert_eq!(validity.finish(), None);

        let mut validity = Validity::default();
        validity.add(&RowSelection::full(0..2));
        let packed = numbers(&[1, 3, 4]);
        validity.add(&packed.select(&(1..5)));
        validity.clear(&packed.select(&(1..5)), &[1]);
        validity.add(&RowSelection::full(0..1));
        validity.add(&RowSelection::empty(2));
        let bits: Vec<bool> = validity.finish().unwrap().iter().collect();
        assert_eq!(bits, [true, true, true, false, false, true, true, false, false]);

        let mut validity = Validity::default();
        validity.add(&RowSelection::full(5..8));
        validity.clear(&RowSelection::full(5..8), &[6]);
        assert_eq!(validity.finish().unwrap().iter().collect::<Vec<_>>(), [true, false, true]);
    }

    #[test]
    fn rows_without_a_value_end_where_the_last_one_did() {
        let mut offsets = Offsets::with_capacity(4);
        offsets.add(&numbers(&[1, 2]).select(&(0..4)), [3, 2].into_iter()).unwrap();
        offsets.add(&RowSelection::full(0..1), [4].into_iter()).unwrap();
        assert_eq!(&offsets.finish()[..], [0, 0, 3, 5, 5, 9]);

        let mut offsets = Offsets::with_capacity(2);
        let most = usize::try_from(i32::MAX).unwrap();
        offsets.add(&RowSelection::full(0..1), [most].into_iter()).unwrap();
        let error = offsets.add(&RowSelection::full(0..1), [1].into_iter()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
    }
}
