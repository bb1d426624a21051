//! Booleans: a bit each, the first one lowest.

use std::ops::Range;

use parquet::basic::Encoding;
use parquet::file::statistics::{Statistics, ValueStatistics};

use super::leaf::Leaf;
use super::values::{Dictionary, PageValues, Values};
use crate::columns::BatchValues;

const BYTE_BITS: usize = u8::BITS as usize;

/// The booleans of a column chunk.
#[derive(Debug, Default)]
pub(super) struct FlagValues {
    /// Of the page.
    bits: Vec<u8>,
    count: usize,
    range: Option<(bool, bool)>,
}

impl FlagValues {
    /// `None` where pages have statistics, or another encoding than the plain one is asked for.
    pub(super) fn new(leaf: &Leaf) -> Option<Self> {
        let covered = !leaf.dictionary && !leaf.page_statistics && leaf.encoding == Encoding::PLAIN;
        covered.then(FlagValues::default)
    }
}

impl Values for FlagValues {
    fn put(&mut self, values: &BatchValues<'_>, range: Range<usize>) -> Option<()> {
        let BatchValues::Flags(flags) = values else { return None };
        let flags = flags.get(range)?;
        self.bits.resize((self.count + flags.len()).div_ceil(BYTE_BITS), 0);
        for (place, &flag) in (self.count..).zip(flags) {
            self.bits[place / BYTE_BITS] |= u8::from(flag) << (place % BYTE_BITS);
        }
        self.count += flags.len();
        for flag in [false, true].into_iter().filter(|flag| flags.contains(flag)) {
            let (min, max) = self.range.unwrap_or((flag, flag));
            self.range = Some((min & flag, max | flag));
        }
        Some(())
    }

    fn page_bytes(&self) -> usize {
        self.bits.len()
    }

    fn dictionary_bytes(&self) -> Option<usize> {
        None
    }

    fn most_bytes(&self, _: &BatchValues<'_>, count: usize) -> (usize, usize) {
        ((self.count + count).div_ceil(BYTE_BITS), 0)
    }

    fn width(&self) -> Option<usize> {
        Some(size_of::<bool>())
    }

    fn fit(&self, _: &BatchValues<'_>, range: Range<usize>, bytes: usize) -> Option<usize> {
        Some(range.len().min(bytes / size_of::<bool>()))
    }

    fn end_page(&mut self, page: &mut Vec<u8>) -> PageValues {
        page.append(&mut self.bits);
        self.count = 0;
        PageValues { encoding: Encoding::PLAIN, range: None, bytes: None }
    }

    fn take_dictionary(&mut self) -> Option<Dictionary> {
        None
    }

    fn statistics(&self, leaf: &Leaf, nulls: u64) -> Statistics {
        let (min, max) = self.range.unzip();
        let statistics = ValueStatistics::new(min, max, None, Some(nulls), false);
        statistics.with_backwards_compatible_min_max(leaf.is_signed()).into()
    }
}
