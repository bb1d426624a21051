//! Some rows of a column on their way to the encoder: which rows have a value, and the values one after another.
//!
//! A source of rows hands over a column in batches ([`RowSource::batch`](super::RowSource::batch)), each in the form that
//! costs it least: values that lie packed are lent and not copied, what follows from a number per row comes as that number
//! and a short table, and what has no form of its own comes as an Arrow array. The bytes of a column chunk are the same
//! whichever form is chosen, for each batch anew; a batch without a NULL says [`Present::All`].

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, StringArray};

/// Some rows of a column.
#[derive(Clone, Debug)]
pub enum ColumnBatch<'a> {
    /// Rows and their values, of a top-level column.
    Values {
        /// Number of rows.
        rows: usize,
        /// Those that are not NULL.
        present: Present<'a>,
        /// The values of those, in the order of their rows.
        values: BatchValues<'a>,
    },
    /// Any column of any type, one item per row.
    Array(ArrayRef),
}

/// Which rows of a batch have a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Present<'a> {
    /// All of them.
    All,
    /// These, ascending and counted from the start of the batch; it may be none.
    Rows(&'a [u32]),
}

/// The values of the rows that have one.
#[derive(Clone, Debug)]
pub enum BatchValues<'a> {
    /// Numbers that Parquet holds in 32 bits: integers of up to 32 bits, unsigned and floating-point ones of 32 bits with
    /// their bits unchanged.
    Int32(&'a [i32]),
    /// Numbers that Parquet holds in 64 bits: the other integers, timestamps in their unit, the bits of floating-point ones.
    Int64(&'a [i64]),
    /// Booleans.
    Flags(&'a [bool]),
    /// Texts, valid UTF-8, or binary values.
    Bytes(&'a [&'a [u8]]),
    /// Places in a table; a place without a value makes its row NULL.
    Keys {
        /// One per row of those that are present.
        keys: &'a [u32],
        /// Where values follow from numbers, best the same one for all batches of a column: each is looked up once then.
        table: &'a Arc<KeyTable>,
    },
    /// Lists without a NULL among the items.
    Lists {
        /// Where each list ends in `items`.
        ends: &'a [u32],
        /// The items of all lists, one after another.
        items: ListItems<'a>,
    },
}

/// The items of lists.
#[derive(Clone, Copy, Debug)]
pub enum ListItems<'a> {
    /// As [`BatchValues::Int32`].
    Int32(&'a [i32]),
    /// As [`BatchValues::Int64`].
    Int64(&'a [i64]),
    /// As [`BatchValues::Bytes`].
    Bytes(&'a [&'a [u8]]),
}

/// The values that keys stand for; `None`: NULL.
#[derive(Debug)]
pub enum KeyTable {
    /// Integers of any width, unsigned ones with their bits unchanged.
    Numbers(Vec<Option<i64>>),
    /// Texts, as their positions among labels.
    Texts {
        /// By key.
        places: Vec<Option<u32>>,
        /// No NULL among them.
        labels: StringArray,
    },
    /// GUIDs in the order of their text, for a column of texts or of 16 bytes.
    Guids(Vec<Option<[u8; 16]>>),
}

impl ColumnBatch<'_> {
    /// Rows that are all NULL, of a column of any type.
    pub fn nulls(rows: usize) -> Self {
        ColumnBatch::Values { rows, present: Present::Rows(&[]), values: BatchValues::Bytes(&[]) }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            ColumnBatch::Values { rows, .. } => *rows,
            ColumnBatch::Array(array) => array.len(),
        }
    }

    /// Rows that are NULL, but for those whose key says so.
    pub fn null_count(&self) -> usize {
        match self {
            ColumnBatch::Values { rows, present, .. } => rows.saturating_sub(present.count(*rows)),
            ColumnBatch::Array(array) => array.null_count(),
        }
    }
}

impl Present<'_> {
    /// How many rows of a batch of `rows` have a value.
    pub fn count(&self, rows: usize) -> usize {
        match self {
            Present::All => rows,
            Present::Rows(present) => present.len(),
        }
    }
}

impl BatchValues<'_> {
    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            BatchValues::Int32(values) => values.len(),
            BatchValues::Int64(values) => values.len(),
            BatchValues::Flags(values) => values.len(),
            BatchValues::Bytes(values) => values.len(),
            BatchValues::Keys { keys, .. } => keys.len(),
            BatchValues::Lists { ends, .. } => ends.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl ListItems<'_> {
    /// The number of items of all lists.
    pub fn len(&self) -> usize {
        match self {
            ListItems::Int32(items) => items.len(),
            ListItems::Int64(items) => items.len(),
            ListItems::Bytes(items) => items.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl KeyTable {
    /// A key for each of some texts, `None` for NULL.
    pub fn of_texts<'a>(texts: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let (places, texts): (Vec<_>, Vec<_>) =
            (0..).zip(texts).map(|(place, text)| (text.map(|_| place), text.unwrap_or_default())).unzip();
        KeyTable::Texts { places, labels: StringArray::from_iter_values(texts) }
    }

    /// The text of each key, `None` where it stands for none.
    pub fn texts(&self) -> impl Iterator<Item = Option<&str>> {
        (0..self.len()).map(|key| self.text(key))
    }

    /// The text of a key, where it stands for one.
    pub fn text(&self, key: usize) -> Option<&str> {
        let KeyTable::Texts { places, labels } = self else { return None };
        let place = places.get(key).copied().flatten()?;
        Some(labels.value(place as usize))
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        match self {
            KeyTable::Numbers(values) => values.len(),
            KeyTable::Texts { places, .. } => places.len(),
            KeyTable::Guids(values) => values.len(),
        }
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a key stands for NULL.
    pub fn is_null(&self, key: u32) -> bool {
        let key = key as usize;
        match self {
            KeyTable::Numbers(values) => values.get(key).is_none_or(Option::is_none),
            KeyTable::Texts { places, .. } => places.get(key).is_none_or(Option::is_none),
            KeyTable::Guids(values) => values.get(key).is_none_or(Option::is_none),
        }
    }

    /// Whether all keys stand for the same value, or all for NULL.
    pub fn is_constant(&self) -> bool {
        fn is_one<T: PartialEq>(values: &[T]) -> bool {
            values.windows(2).all(|pair| pair[0] == pair[1])
        }
        match self {
            KeyTable::Numbers(values) => is_one(values),
            KeyTable::Texts { places, labels } => {
                let text = |place: &Option<u32>| place.map(|place| labels.value(place as usize));
                places.windows(2).all(|pair| text(&pair[0]) == text(&pair[1]))
            }
            KeyTable::Guids(values) => is_one(values),
        }
    }

    /// Whether some key stands for NULL.
    pub fn has_nulls(&self) -> bool {
        match self {
            KeyTable::Numbers(values) => values.contains(&None),
            KeyTable::Texts { places, .. } => places.contains(&None),
            KeyTable::Guids(values) => values.contains(&None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_one_value_is_constant() {
        let t = |table: KeyTable, expected| assert_eq!(table.is_constant(), expected, "{table:?}");
        t(KeyTable::Numbers(vec![Some(3), Some(3)]), true);
        t(KeyTable::Numbers(vec![None, None]), true);
        t(KeyTable::Numbers(vec![Some(3), None]), false);
        t(KeyTable::of_texts([Some("a"), Some("a"), Some("a")]), true);
        t(KeyTable::of_texts([Some("a"), Some("b")]), false);
        t(KeyTable::of_texts([Some(""), None]), false);
        t(KeyTable::Guids(vec![Some([1; 16]), Some([2; 16])]), false);
        t(KeyTable::Guids(vec![Some([1; 16])]), true);
    }
}
