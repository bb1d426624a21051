//! From the batches of a column to its chunk: where pages end, and where the dictionary is full.
//!
//! arrow-rs looks at both after every so many levels of a batch, and that decides its bytes. While neither can happen within
//! a batch, whatever its values are, the batch is taken as a whole; else it is taken in the same steps.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow_schema::{DataType, Field};
use parquet::basic::Type;
use parquet::errors::{ParquetError, Result};

use super::byte_values::ByteValues;
use super::flag_values::FlagValues;
use super::leaf::Leaf;
use super::number_values::NumberValues;
use super::pages::{EncodedChunk, Pages};
use super::values::Values;
use crate::columns::{BatchValues, ColumnBatch, KeyTable, Present};

/// Whether a chunk goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Push {
    /// The batch is in the chunk.
    Taken,
    /// The chunk is not one for this encoder: arrow-rs has to write the column from its start.
    Unsupported,
}

/// Encodes one column chunk.
pub struct ChunkEncoder(Column);

enum Column {
    Int32(LeafEncoder<NumberValues<i32>>),
    Int64(LeafEncoder<NumberValues<i64>>),
    Bytes(LeafEncoder<ByteValues>),
    Flags(LeafEncoder<FlagValues>),
}

impl fmt::Debug for ChunkEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkEncoder").finish_non_exhaustive()
    }
}

impl ChunkEncoder {
    /// For a top-level column, a list of numbers or texts, or a member of a top-level structure; `None` for what arrow-rs has to
    /// encode.
    pub fn new(field: &Field, leaf: &Arc<Leaf>) -> Option<ChunkEncoder> {
        let empty_list = match field.data_type() {
            DataType::List(item) if item.data_type().is_numeric() || *item.data_type() == DataType::Utf8 => {
                Some(u8::from(field.is_nullable()))
            }
            data_type if data_type.is_nested() => return None,
            _ => None,
        };
        ChunkEncoder::of_type(empty_list, leaf)
    }

    /// For rows that are all NULL, at a leaf of a column of any type.
    pub fn of_nulls(leaf: &Arc<Leaf>) -> Option<ChunkEncoder> {
        (leaf.descr.max_def_level() > 0).then(|| ChunkEncoder::of_type(None, leaf))?
    }

    fn of_type(empty_list: Option<u8>, leaf: &Arc<Leaf>) -> Option<Self> {
        let kept = Arc::clone(leaf);
        Some(ChunkEncoder(match leaf.descr.physical_type() {
            Type::INT32 | Type::FLOAT => Column::Int32(LeafEncoder::new(NumberValues::new(leaf)?, kept, empty_list)?),
            Type::INT64 | Type::DOUBLE => Column::Int64(LeafEncoder::new(NumberValues::new(leaf)?, kept, empty_list)?),
            Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => {
                Column::Bytes(LeafEncoder::new(ByteValues::new(leaf)?, kept, empty_list)?)
            }
            Type::BOOLEAN => Column::Flags(LeafEncoder::new(FlagValues::new(leaf)?, kept, empty_list)?),
            Type::INT96 => return None,
        }))
    }

    /// Adds the next rows.
    ///
    /// # Errors
    /// When a page cannot be compressed, and for a batch whose parts contradict one another.
    pub fn push(&mut self, batch: &ColumnBatch<'_>) -> Result<Push> {
        let ColumnBatch::Values { rows, present, values } = batch else { return Ok(Push::Unsupported) };
        match &mut self.0 {
            Column::Int32(leaf) => leaf.push(*rows, *present, values),
            Column::Int64(leaf) => leaf.push(*rows, *present, values),
            Column::Bytes(leaf) => leaf.push(*rows, *present, values),
            Column::Flags(leaf) => leaf.push(*rows, *present, values),
        }
    }

    /// The chunk of all rows so far.
    ///
    /// # Errors
    /// When a page cannot be compressed.
    pub fn finish(self) -> Result<EncodedChunk> {
        match self.0 {
            Column::Int32(leaf) => leaf.finish(),
            Column::Int64(leaf) => leaf.finish(),
            Column::Bytes(leaf) => leaf.finish(),
            Column::Flags(leaf) => leaf.finish(),
        }
    }
}

/// The lists of a batch.
struct Lists<'a> {
    rows: usize,
    present: Present<'a>,
    /// Where each list ends among the items.
    ends: &'a [u32],
}

/// How far the lists of a batch are read.
#[derive(Clone, Copy, Default)]
struct ListPlace {
    row: usize,
    list: usize,
    item: usize,
}

/// Rows that are read together.
#[derive(Clone, Copy)]
enum ListRows {
    /// So many without a list.
    Nulls(usize),
    /// One with a list of so many items.
    List(usize),
}

impl Lists<'_> {
    /// Reads on from a place, up to row `end`, until there are so many levels or the row that has them ends. Returns how many
    /// there are.
    fn walk(&self, at: &mut ListPlace, most: usize, end: usize, mut read: impl FnMut(ListRows)) -> usize {
        let mut levels = 0;
        while at.row < end && levels < most {
            let row = match self.present {
                _ if at.list == self.ends.len() => self.rows,
                Present::All => at.list,
                Present::Rows(rows) => rows[at.list] as usize,
            };
            if row == at.row {
                let list_end = self.ends[at.list] as usize;
                let items = list_end - at.item;
                read(ListRows::List(items));
                levels += items.max(1);
                *at = ListPlace { row: row + 1, list: at.list + 1, item: list_end };
            } else {
                // Rows without a list are taken together, up to where the ends are looked at.
                let nulls = (row.min(end) - at.row).min(most - levels);
                read(ListRows::Nulls(nulls));
                levels += nulls;
                at.row += nulls;
            }
        }
        levels
    }
}

struct LeafEncoder<V> {
    pages: Pages,
    values: V,
    /// The definition level of an empty list.
    empty_list: Option<u8>,
    /// Rows and keys of a batch without those that stand for NULL.
    rows: Vec<u32>,
    keys: Vec<u32>,
    /// The table of the last keys, and whether one of them stands for NULL.
    table: Option<(Arc<KeyTable>, bool)>,
}

impl<V: Values> LeafEncoder<V> {
    fn new(values: V, leaf: Arc<Leaf>, empty_list: Option<u8>) -> Option<Self> {
        Some(LeafEncoder {
            pages: Pages::new(leaf)?,
            values,
            empty_list,
            rows: Vec::new(),
            keys: Vec::new(),
            table: None,
        })
    }

    fn push(&mut self, rows: usize, present: Present<'_>, values: &BatchValues<'_>) -> Result<Push> {
        check(rows, present, values, self.pages.leaf.max_definition() > 0)?;
        match values {
            // Of a member, such a row is a structure with a NULL in it.
            BatchValues::Keys { table, .. } if self.pages.leaf.max_definition() > 1 && self.has_nulls(table) => {
                Ok(Push::Unsupported)
            }
            BatchValues::Keys { keys, table } if self.has_nulls(table) => {
                let (mut kept_rows, mut kept_keys) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.keys));
                kept_rows.clear();
                kept_keys.clear();
                for (at, &key) in (0..).zip(*keys).filter(|(_, key)| !table.is_null(**key)) {
                    kept_rows.push(match present {
                        Present::All => at,
                        Present::Rows(rows) => rows[at as usize],
                    });
                    kept_keys.push(key);
                }
                if kept_rows.len() < present.count(rows) && self.pages.leaf.max_definition() == 0 {
                    return Err(contradiction("a row is NULL"));
                }
                let values = BatchValues::Keys { keys: &kept_keys, table };
                let progress = self.push_flat(rows, Present::Rows(&kept_rows), &values);
                (self.rows, self.keys) = (kept_rows, kept_keys);
                progress
            }
            BatchValues::Lists { ends, .. } if !ends.is_empty() => match self.empty_list {
                Some(empty) => self.push_lists(&Lists { rows, present, ends }, values, empty),
                None => Ok(Push::Unsupported),
            },
            _ => self.push_flat(rows, present, values),
        }
    }

    /// Whether some key of a table stands for NULL; asked once for the batches of one table.
    fn has_nulls(&mut self, table: &Arc<KeyTable>) -> bool {
        match &self.table {
            Some((last, has_nulls)) if Arc::ptr_eq(last, table) => *has_nulls,
            _ => self.table.insert((Arc::clone(table), table.has_nulls())).1,
        }
    }

    fn push_flat(&mut self, rows: usize, present: Present<'_>, values: &BatchValues<'_>) -> Result<Push> {
        let count = present.count(rows);
        let present = if count == rows { Present::All } else { present };
        if !self.can_end(rows, count, values) {
            self.put_flat(0..rows, 0..count, present, values)?;
            return self.look(true);
        }
        let leaf = &self.pages.leaf;
        // Levels that are all the same are not looked at one by one.
        let is_uniform = leaf.max_definition() > 0 && (count == rows || count == 0);
        let step = if is_uniform { leaf.page_rows } else { leaf.batch };
        let value_at = |row: usize| match present {
            Present::All => row,
            Present::Rows(rows) => rows.partition_point(|&at| (at as usize) < row),
        };
        let (mut row, mut value) = (0, 0);
        while row < rows {
            let end = rows.min(row.saturating_add(step));
            let window = self.window(end - row, value..value_at(end), values, step);
            while row < end {
                let to = window.map_or(end, |window| end.min(row + window));
                let value_to = value_at(to);
                self.put_flat(row..to, value..value_to, present, values)?;
                if self.look(window.is_some())? == Push::Unsupported {
                    return Ok(Push::Unsupported);
                }
                (row, value) = (to, value_to);
            }
        }
        Ok(Push::Taken)
    }

    /// Whether a page can end, or the dictionary be full, before the end of a batch.
    fn can_end(&self, rows: usize, count: usize, values: &BatchValues<'_>) -> bool {
        let leaf = &self.pages.leaf;
        let (page, dictionary) = self.values.most_bytes(values, count);
        self.pages.rows + rows > leaf.page_rows
            || page >= leaf.page_bytes
            || (self.values.dictionary_bytes().is_some() && dictionary >= leaf.dictionary_bytes)
    }

    /// How many of so many levels, with these values, are taken before arrow-rs looks whether something ends: fewer than
    /// all of them where the values are more than there is room for. `None` where that depends on the form in which it
    /// would get the values.
    fn window(&self, levels: usize, range: Range<usize>, values: &BatchValues<'_>, step: usize) -> Option<usize> {
        let leaf = &self.pages.leaf;
        let (limit, used) = match self.values.dictionary_bytes() {
            Some(used) => (leaf.dictionary_bytes, used),
            None => (leaf.page_bytes, 0),
        };
        let count = range.len();
        if count == 0 || self.values.width().is_some_and(|width| step.saturating_mul(width) <= limit) {
            return Some(levels);
        }
        let fit = self.values.fit(values, range, limit.saturating_sub(used))?;
        Some(if fit >= count { levels } else { (fit.max(1) * levels).div_ceil(count) })
    }

    fn put_flat(
        &mut self,
        rows: Range<usize>,
        value_range: Range<usize>,
        present: Present<'_>,
        values: &BatchValues<'_>,
    ) -> Result<()> {
        let max = self.pages.leaf.max_definition();
        match present {
            Present::All => self.pages.put_definition(max, rows.len()),
            Present::Rows(present) => self.pages.put_present(&rows, &present[value_range.clone()]),
        }
        self.pages.put_repetition(0, rows.len());
        self.pages.rows += rows.len();
        self.put_values(values, value_range)
    }

    fn put_values(&mut self, values: &BatchValues<'_>, range: Range<usize>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        self.values.put(values, range).ok_or_else(|| contradiction("its values are not of the column's type"))
    }

    fn push_lists(&mut self, lists: &Lists<'_>, values: &BatchValues<'_>, empty: u8) -> Result<Push> {
        let items = lists.ends.last().map_or(0, |&end| end as usize);
        let is_uniform = items == 0 && lists.ends.len() == lists.rows;
        let step = if is_uniform { self.pages.leaf.page_rows } else { self.pages.leaf.batch };
        let fits = self.window(items, 0..items, values, step) == Some(items);
        let mut at = ListPlace::default();
        while at.row < lists.rows {
            let (mut end, mut window) = (lists.rows, Some(step));
            if !fits {
                // Windows are counted from the start of a step, and a step ends with a row.
                let mut step_end = at;
                let levels = lists.walk(&mut step_end, step, lists.rows, |_| ());
                (end, window) = (step_end.row, self.window(levels, at.item..step_end.item, values, step));
            }
            loop {
                let item = at.item;
                lists.walk(&mut at, window.unwrap_or(step), end, |rows| self.put_list_rows(rows, empty));
                self.put_values(values, item..at.item)?;
                if self.look(window.is_some())? == Push::Unsupported {
                    return Ok(Push::Unsupported);
                }
                if fits || at.row == end {
                    break;
                }
            }
        }
        Ok(Push::Taken)
    }

    /// Adds the levels of rows with or without a list.
    fn put_list_rows(&mut self, rows: ListRows, empty: u8) {
        let max = self.pages.leaf.max_definition();
        let (rows, items) = match rows {
            ListRows::Nulls(rows) => {
                self.pages.put_definition(0, rows);
                (rows, 0)
            }
            ListRows::List(items) => {
                self.pages.put_definition(if items == 0 { empty } else { max }, items.max(1));
                (1, items)
            }
        };
        self.pages.put_repetition(0, rows);
        self.pages.put_repetition(1, items.saturating_sub(1));
        self.pages.rows += rows;
    }

    /// Ends the page where it is full, and the dictionary. `exactly`: arrow-rs looks here for the first time too.
    fn look(&mut self, exactly: bool) -> Result<Push> {
        let leaf = &self.pages.leaf;
        let is_long = self.values.page_bytes() >= leaf.page_bytes;
        let is_dictionary_full = self.values.dictionary_bytes().is_some_and(|bytes| bytes >= leaf.dictionary_bytes);
        if (is_long || is_dictionary_full) && !exactly {
            return Ok(Push::Unsupported);
        }
        if is_long || self.pages.rows >= leaf.page_rows {
            self.pages.end_page(&mut self.values)?;
        }
        if is_dictionary_full {
            self.end_dictionary()?;
        }
        Ok(Push::Taken)
    }

    fn end_dictionary(&mut self) -> Result<()> {
        if !self.pages.is_empty() {
            self.pages.end_page(&mut self.values)?;
        }
        match self.values.take_dictionary() {
            Some(dictionary) => self.pages.set_dictionary(&dictionary),
            None => Ok(()),
        }
    }

    fn finish(mut self) -> Result<EncodedChunk> {
        self.end_dictionary()?;
        self.pages.close(&self.values)
    }
}

/// Holds the parts of a batch against one another: what follows relies on it.
fn check(rows: usize, present: Present<'_>, values: &BatchValues<'_>, is_nullable: bool) -> Result<()> {
    if let Present::Rows(listed) = present {
        if !is_nullable && listed.len() != rows {
            return Err(contradiction("a row is NULL"));
        }
        let in_order = listed.windows(2).all(|pair| pair[0] < pair[1]);
        if !in_order || listed.last().is_some_and(|&last| last as usize >= rows) {
            return Err(contradiction("its rows are not in order"));
        }
    }
    if values.len() != present.count(rows) {
        return Err(contradiction("it has more or fewer values than rows"));
    }
    if let BatchValues::Lists { ends, items } = values {
        let in_order = ends.windows(2).all(|pair| pair[0] <= pair[1]);
        if !in_order || ends.last().map_or(0, |&end| end as usize) != items.len() {
            return Err(contradiction("its lists do not end in order"));
        }
    }
    Ok(())
}

fn contradiction(what: &str) -> ParquetError {
    ParquetError::General(format!("a batch contradicts itself: {what}"))
}
