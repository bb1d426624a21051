//! What the encoders of values have in common.

use std::ops::Range;
use std::sync::Arc;

use parquet::basic::Encoding;
use parquet::file::statistics::Statistics;

use super::leaf::Leaf;
use crate::columns::{BatchValues, KeyTable};

/// The values of a column chunk, page by page. How they are encoded may change between two pages, once: the dictionary is full.
pub(super) trait Values {
    /// Adds some values of a batch, of its items where it has lists. `None`: they are not of this column's type.
    fn put(&mut self, values: &BatchValues<'_>, range: Range<usize>) -> Option<()>;

    /// An estimate of the page's bytes, which never falls within a page.
    fn page_bytes(&self) -> usize;

    /// The bytes of the dictionary, if the page's values are positions in one.
    fn dictionary_bytes(&self) -> Option<usize>;

    /// The most that the two can come to by so many values of a batch.
    fn most_bytes(&self, values: &BatchValues<'_>, count: usize) -> (usize, usize);

    /// The bytes of each value, where all have as many.
    fn width(&self) -> Option<usize>;

    /// How many of some values are so many bytes, up to the one, if any, with which they are more; of numbers, as many as
    /// are no more. `None` where arrow-rs would count them in one form of array and not in another.
    fn fit(&self, values: &BatchValues<'_>, range: Range<usize>, bytes: usize) -> Option<usize>;

    /// Appends the values of the page, and begins a new one.
    fn end_page(&mut self, page: &mut Vec<u8>) -> PageValues;

    /// Takes the dictionary, if there is one; from then on values are encoded one by one.
    fn take_dictionary(&mut self) -> Option<Dictionary>;

    /// The statistics of the whole chunk, once the dictionary is taken.
    fn statistics(&self, leaf: &Leaf, nulls: u64) -> Statistics;
}

/// A dictionary as it is written.
#[derive(Debug)]
pub(super) struct Dictionary {
    /// The values one after another.
    pub(super) page: Vec<u8>,
    pub(super) count: usize,
}

/// What is to be said of the values of a page.
#[derive(Debug)]
pub(super) struct PageValues {
    pub(super) encoding: Encoding,
    /// The least and the greatest, where each page has statistics and this one values.
    pub(super) range: Option<(Bound, Bound)>,
    /// Bytes of texts and binary values.
    pub(super) bytes: Option<i64>,
}

/// A value as statistics of pages state it.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    /// Of the same order as the values.
    pub(super) order: i64,
    pub(super) bytes: Vec<u8>,
}

/// Where the values of a table of keys are in the dictionary.
#[derive(Debug, Default)]
pub(super) struct KeyIndices {
    table: Option<Arc<KeyTable>>,
    /// By key; [`UNKNOWN`] until it is met.
    indices: Vec<u32>,
}

/// No position in a dictionary.
const UNKNOWN: u32 = u32::MAX;

impl KeyIndices {
    /// Begins anew where the table is another one.
    pub(super) fn begin(&mut self, table: &Arc<KeyTable>) {
        // The table is kept, so that no other can come to lie where it lies.
        if self.table.as_ref().is_none_or(|last| !Arc::ptr_eq(last, table)) {
            self.indices.clear();
            self.indices.resize(table.len(), UNKNOWN);
            self.table = Some(Arc::clone(table));
        }
    }

    /// The position of a key's value, which `intern` finds the first time.
    #[inline]
    pub(super) fn index(&mut self, key: u32, intern: impl FnOnce() -> Option<u32>) -> Option<u32> {
        let known = self.indices.get_mut(key as usize)?;
        if *known == UNKNOWN {
            *known = intern()?;
        }
        Some(*known)
    }
}
