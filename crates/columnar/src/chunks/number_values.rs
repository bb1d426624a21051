//! Numbers: positions in a dictionary, and differences or plain numbers once it is full or from the start.

use std::ops::Range;

use parquet::basic::Encoding;
use parquet::file::statistics::{Statistics, ValueStatistics};

use super::bits::width_of;
use super::delta::Deltas;
use super::indices::Indices;
use super::leaf::Leaf;
use super::number::{Meaning, Number};
use super::values::{Bound, Dictionary, KeyIndices, PageValues, Values};
use crate::columns::interner::Interner;
use crate::columns::{BatchValues, KeyTable};

/// The numbers of a column chunk.
#[derive(Debug)]
pub(super) struct NumberValues<N> {
    dictionary: Option<NumberDictionary<N>>,
    /// Those of the page that are not in a dictionary.
    listed: Listed<N>,
    /// The ranges are of numbers in the order of signed ones.
    meaning: Meaning,
    /// How many are no number, of floating-point ones, once there is any.
    nans: Option<u64>,
    page_statistics: bool,
    page_range: Option<(N, N)>,
    range: Option<(N, N)>,
}

/// Numbers one by one.
#[derive(Debug)]
enum Listed<N> {
    Deltas(Deltas<N>),
    Plain(Vec<u8>),
}

#[derive(Debug, Default)]
struct NumberDictionary<N> {
    numbers: Interner<N>,
    /// Of the page.
    indices: Indices,
    keys: KeyIndices,
}

impl<N: Number> NumberValues<N> {
    /// `None` where something else comes without or behind a dictionary.
    pub(super) fn new(leaf: &Leaf) -> Option<Self> {
        // Statistics of pages would have to be taken from each value; columns that have them rise.
        let covered = !(leaf.dictionary && leaf.page_statistics);
        let listed = match leaf.encoding {
            Encoding::DELTA_BINARY_PACKED => Listed::Deltas(Deltas::new()),
            Encoding::PLAIN => Listed::Plain(Vec::new()),
            _ => return None,
        };
        covered.then(|| NumberValues {
            dictionary: leaf.dictionary.then(NumberDictionary::default),
            listed,
            meaning: leaf.meaning(),
            nans: None,
            page_statistics: leaf.page_statistics,
            page_range: None,
            range: None,
        })
    }

    fn range_of(&self, values: &[N]) -> Option<(N, N)> {
        let meaning = self.meaning;
        if meaning == Meaning::Floating {
            let numbers = values.iter().filter(|value| !value.is_nan());
            return range(numbers, meaning).or_else(|| range(values.iter(), meaning));
        }
        range(values.iter(), meaning)
    }

    /// The range of both; what is no number counts where there is nothing else.
    fn merged(&self, a: Option<(N, N)>, b: Option<(N, N)>) -> Option<(N, N)> {
        let is_nan = |(min, _): (N, N)| self.meaning == Meaning::Floating && min.ordered(self.meaning).is_nan();
        match (a, b) {
            (Some(a), Some(b)) if is_nan(a) == is_nan(b) => Some((a.0.min(b.0), a.1.max(b.1))),
            (Some(a), Some(b)) => Some(if is_nan(a) { b } else { a }),
            (a, b) => a.or(b),
        }
    }

    fn count_nans(&mut self, values: &[N]) {
        let nans = values.iter().filter(|value| value.is_nan()).count();
        *self.nans.get_or_insert(0) += nans as u64;
    }

    fn bound(&self, ordered: N) -> Bound {
        let mut bytes = Vec::new();
        N::append_le(&[ordered.ordered(self.meaning)], &mut bytes);
        Bound { order: ordered.wide(), bytes }
    }
}

impl<N: Number> Values for NumberValues<N> {
    fn put(&mut self, values: &BatchValues<'_>, range: Range<usize>) -> Option<()> {
        if self.meaning == Meaning::Floating {
            self.count_nans(N::of(values)?.get(range.clone())?);
        }
        match (values, &mut self.dictionary) {
            (BatchValues::Keys { keys, table }, Some(dictionary)) => dictionary.put_keys(keys.get(range)?, table),
            (BatchValues::Keys { keys, table }, None) => {
                let number = |key: &u32| number_of(table, *key);
                let numbers: Vec<N> = keys.get(range)?.iter().map(number).collect::<Option<_>>()?;
                self.list(&numbers);
                Some(())
            }
            (values, Some(dictionary)) => dictionary.put(N::of(values)?.get(range)?),
            (values, None) => {
                self.list(N::of(values)?.get(range)?);
                Some(())
            }
        }
    }

    fn page_bytes(&self) -> usize {
        match &self.dictionary {
            Some(dictionary) => dictionary.most_page_bytes(0),
            None => self.listed.bytes(),
        }
    }

    fn dictionary_bytes(&self) -> Option<usize> {
        self.dictionary.as_ref().map(|dictionary| size_of_val(dictionary.numbers.values()))
    }

    fn most_bytes(&self, _: &BatchValues<'_>, count: usize) -> (usize, usize) {
        match &self.dictionary {
            Some(dictionary) => {
                let numbers = dictionary.numbers.values().len() + count;
                (dictionary.most_page_bytes(count), numbers * size_of::<N>())
            }
            None => (self.listed.most_bytes(count), 0),
        }
    }

    fn width(&self) -> Option<usize> {
        Some(size_of::<N>())
    }

    fn fit(&self, _: &BatchValues<'_>, range: Range<usize>, bytes: usize) -> Option<usize> {
        Some(range.len().min(bytes / size_of::<N>()))
    }

    fn end_page(&mut self, page: &mut Vec<u8>) -> PageValues {
        if let Some(dictionary) = &mut self.dictionary {
            dictionary.indices.finish(dictionary.width(), page);
            return PageValues { encoding: Encoding::RLE_DICTIONARY, range: None, bytes: None };
        }
        let encoding = self.listed.finish(page);
        let range = self.page_range.take();
        self.range = self.merged(self.range, range);
        let stated = range.filter(|_| self.page_statistics);
        let range = stated.map(|(min, max)| (self.bound(min), self.bound(max)));
        PageValues { encoding, range, bytes: None }
    }

    fn take_dictionary(&mut self) -> Option<Dictionary> {
        let numbers = self.dictionary.take()?.numbers;
        self.range = self.merged(self.range, self.range_of(numbers.values()));
        let mut page = Vec::new();
        N::append_le(numbers.values(), &mut page);
        Some(Dictionary { page, count: numbers.values().len() })
    }

    fn statistics(&self, leaf: &Leaf, nulls: u64) -> Statistics {
        let range = self.range.map(|(min, max)| (min.ordered(self.meaning), max.ordered(self.meaning)));
        let (min, max) = range.unzip();
        if self.meaning == Meaning::Floating {
            let (min, max) = (min.map(N::floating), max.map(N::floating));
            let statistics = ValueStatistics::new(min, max, None, Some(nulls), false).with_nan_count(self.nans);
            return N::floating_statistics(statistics.with_backwards_compatible_min_max(leaf.is_signed()));
        }
        let statistics = ValueStatistics::new(min, max, None, Some(nulls), false);
        N::statistics(statistics.with_backwards_compatible_min_max(leaf.is_signed()))
    }
}

impl<N: Number> NumberValues<N> {
    fn list(&mut self, numbers: &[N]) {
        self.page_range = self.merged(self.page_range, self.range_of(numbers));
        match &mut self.listed {
            Listed::Deltas(deltas) => deltas.put(numbers),
            Listed::Plain(bytes) => N::append_le(numbers, bytes),
        }
    }
}

impl<N: Number> Listed<N> {
    fn bytes(&self) -> usize {
        match self {
            Listed::Deltas(deltas) => deltas.bytes(),
            Listed::Plain(bytes) => bytes.len(),
        }
    }

    /// The most that so many numbers more come to.
    fn most_bytes(&self, more: usize) -> usize {
        match self {
            Listed::Deltas(deltas) => deltas.most_bytes(more),
            Listed::Plain(bytes) => bytes.len() + more * size_of::<N>(),
        }
    }

    fn finish(&mut self, page: &mut Vec<u8>) -> Encoding {
        match self {
            Listed::Deltas(deltas) => {
                deltas.finish(page);
                Encoding::DELTA_BINARY_PACKED
            }
            Listed::Plain(bytes) => {
                page.append(bytes);
                Encoding::PLAIN
            }
        }
    }
}

impl<N: Number> NumberDictionary<N> {
    fn width(&self) -> u32 {
        width_of((self.numbers.values().len() as u64).saturating_sub(1))
    }

    /// The most that the positions of the page can take once so many values more have come, were all of them new.
    fn most_page_bytes(&self, more: usize) -> usize {
        let numbers = (self.numbers.values().len() + more) as u64;
        Indices::most_bytes(width_of(numbers.saturating_sub(1)), self.indices.len() + more)
    }

    fn put(&mut self, values: &[N]) -> Option<()> {
        let mut values = values;
        let Some(&first) = values.first() else { return Some(()) };
        let (mut last, mut index) = (first, self.numbers.intern(first).0);
        if self.indices.counts(index) {
            let count = run_length(values);
            self.indices.count(index, count);
            values = &values[count..];
        }
        let numbers = &mut self.numbers;
        self.indices.extend(values.iter().map(|&value| {
            if value != last {
                (last, index) = (value, numbers.intern(value).0);
            }
            Some(index)
        }))
    }

    fn put_keys(&mut self, keys: &[u32], table: &std::sync::Arc<KeyTable>) -> Option<()> {
        let NumberDictionary { numbers, indices, keys: known } = self;
        known.begin(table);
        let mut find = |key: u32| known.index(key, || Some(numbers.intern(number_of(table, key)?).0));
        let mut keys = keys;
        let Some(&first) = keys.first() else { return Some(()) };
        let index = find(first)?;
        if indices.counts(index) {
            let count = run_length(keys);
            indices.count(index, count);
            keys = &keys[count..];
        }
        indices.extend(keys.iter().map(|&key| find(key)))
    }
}

/// How often the first of some values stands there before another one comes.
pub(super) fn run_length<T: PartialEq>(values: &[T]) -> usize {
    let Some(first) = values.first() else { return 0 };
    let whole = values.chunks_exact(32).take_while(|part| part.iter().all(|value| value == first)).count() * 32;
    whole + values[whole..].iter().take_while(|&value| value == first).count()
}

fn number_of<N: Number>(table: &KeyTable, key: u32) -> Option<N> {
    match table {
        KeyTable::Numbers(numbers) => numbers.get(key as usize).copied().flatten().map(N::narrow),
        _ => None,
    }
}

/// The least and the greatest of some numbers, in the order of signed ones.
fn range<'a, N: Number>(mut values: impl Iterator<Item = &'a N>, meaning: Meaning) -> Option<(N, N)> {
    let first = values.next()?.ordered(meaning);
    Some(values.fold((first, first), |(min, max), value| {
        let value = value.ordered(meaning);
        (min.min(value), max.max(value))
    }))
}
