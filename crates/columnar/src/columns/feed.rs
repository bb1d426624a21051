//! Packed values of several batches on their way to the encoder: there is no array between them, and a column costs by its
//! values, not by its rows.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_buffer::BooleanBufferBuilder;
use arrow_schema::{DataType, FieldRef, Fields};
use base::error::Result;

use super::array_batch::{BatchSink, emit};
use super::batch::PackedColumns;
use super::batch_scratch::BatchScratch;
use super::column_batch::{BatchValues, ColumnBatch, KeyTable, ListItems, Present};
use super::gather;
use super::packed::Packed;
use super::physical::{NumberType, StoredNumber};
use super::piece::{Piece, Values, end_of, extent, total};
use super::prefix::{NumberForm, PrefixForm};
use super::presence::RowSelection;

/// A column in some rows of several batches, one after another.
#[derive(Debug)]
pub struct PackedRows<'a> {
    pieces: Vec<Piece<'a>>,
    rows: usize,
}

impl<'a> PackedRows<'a> {
    /// The column with this number.
    pub fn new(parts: &[(&'a PackedColumns, Range<u32>)], column: usize) -> Self {
        let pieces = Piece::of(parts, column);
        PackedRows { rows: total(&pieces), pieces }
    }

    /// Hands on the values; `data_type` is the column's. Of a structure, those of its members one after another, unless it
    /// goes as an array.
    ///
    /// # Errors
    /// When the values do not fit into one array, and those of `sink`.
    pub fn emit(&self, data_type: &DataType, scratch: &mut BatchScratch, sink: &mut BatchSink<'_>) -> Result<()> {
        if let DataType::Struct(members) = data_type {
            return match self.members(members) {
                Some(all) => {
                    members.iter().zip(all).try_for_each(|(member, rows)| rows.emit(member.data_type(), scratch, sink))
                }
                None => sink(ColumnBatch::Array(self.array(data_type)?)),
            };
        }
        if self.is_null() {
            return sink(ColumnBatch::nulls(self.rows));
        }
        let BatchScratch { rows, int32, int64, ends, .. } = scratch;
        let mut present = PresentRows::new(rows);
        let values = match data_type {
            DataType::Utf8 | DataType::Binary | DataType::FixedSizeBinary(_) => match self.text_source() {
                TextSource::Bytes => {
                    let texts = self.texts(&mut present);
                    return sink(self.batch(&present, BatchValues::Bytes(&texts)));
                }
                TextSource::Values => return self.emit_distinct(scratch, sink),
                TextSource::Both => return emit(&self.array(data_type)?, scratch, sink),
            },
            DataType::List(item) => match NumberType::of(item.data_type()).filter(|_| self.has_plain_lists()) {
                Some(number) => BatchValues::Lists {
                    items: self.items(number, int32, int64),
                    ends: self.list_ends(&mut present, ends),
                },
                None => return sink(ColumnBatch::Array(self.array(data_type)?)),
            },
            other => match NumberType::of(other) {
                Some(number) if number.is_wide => BatchValues::Int64(self.numbers(number, &mut present, int64)),
                Some(number) => BatchValues::Int32(self.numbers(number, &mut present, int32)),
                None => return emit(&self.array(data_type)?, scratch, sink),
            },
        };
        sink(self.batch(&present, values))
    }

    /// The members of a structure, each in the rows that have one; `None` where a member is nested, or NULL beside others.
    fn members(&self, members: &Fields) -> Option<Vec<Self>> {
        let member = |index: usize, field: &FieldRef| {
            let pieces: Vec<_> = self.pieces.iter().map(|piece| piece.member(index)).collect();
            let is_plain = !field.data_type().is_nested() && pieces.iter().all(|piece| piece.nulls.is_empty());
            is_plain.then_some(PackedRows { pieces, rows: self.rows })
        };
        members.iter().enumerate().map(|(index, field)| member(index, field)).collect()
    }

    /// Hands on what the numbers of the column, unsigned and of at most 4 bytes, stand for in a table.
    ///
    /// # Errors
    /// Those of `sink`.
    pub fn emit_keys(
        &self,
        table: &Arc<KeyTable>,
        key: impl Fn(u32) -> u32,
        scratch: &mut BatchScratch,
        sink: &mut BatchSink<'_>,
    ) -> Result<()> {
        let BatchScratch { rows, int32, keys, .. } = scratch;
        let mut present = PresentRows::new(rows);
        let numbers = self.numbers(NumberType::UNSIGNED, &mut present, int32);
        keys.clear();
        keys.extend(numbers.iter().map(|number| key(number.cast_unsigned())));
        sink(self.batch(&present, BatchValues::Keys { keys, table }))
    }

    /// Hands on what the numbers of 8 bytes of the column become.
    ///
    /// # Errors
    /// Those of `sink`.
    pub fn emit_converted(
        &self,
        convert: impl Fn(i64) -> i64,
        scratch: &mut BatchScratch,
        sink: &mut BatchSink<'_>,
    ) -> Result<()> {
        let BatchScratch { rows, int64, .. } = scratch;
        let mut present = PresentRows::new(rows);
        let values = self.numbers(NumberType::WIDE, &mut present, int64);
        values.iter_mut().for_each(|value| *value = convert(*value));
        sink(self.batch(&present, BatchValues::Int64(values)))
    }

    fn batch<'b>(&self, present: &'b PresentRows<'_>, values: BatchValues<'b>) -> ColumnBatch<'b> {
        ColumnBatch::Values { rows: self.rows, present: present.get(), values }
    }

    fn array(&self, data_type: &DataType) -> Result<ArrayRef> {
        gather::array(&self.pieces, data_type)
    }

    fn is_null(&self) -> bool {
        self.pieces.iter().all(|piece| piece.rows.values.is_empty())
    }

    fn text_source(&self) -> TextSource {
        let is_text = |piece: &&Piece<'_>| matches!(piece.values, Values::Packed(Packed::Bytes(_)));
        let mut filled = self.pieces.iter().filter(|piece| !piece.rows.values.is_empty());
        match filled.clone().filter(is_text).count() {
            0 => TextSource::Values,
            texts if texts == filled.by_ref().count() => TextSource::Bytes,
            _ => TextSource::Both,
        }
    }

    /// Hands on values that stand for texts, and GUIDs, as keys of those that are distinct.
    fn emit_distinct(&self, scratch: &mut BatchScratch, sink: &mut BatchSink<'_>) -> Result<()> {
        let BatchScratch { rows, keys, distinct, .. } = scratch;
        let mut present = PresentRows::new(rows);
        distinct.clear();
        let mut are_guids = false;
        let mut read = |piece: &Piece<'_>, keys: &mut Vec<u32>| {
            let values = piece.rows.values.clone();
            match piece.values {
                Values::Prefix(column) => {
                    if let PrefixForm::Text(form) = column.form {
                        distinct.read(column, form, values, keys);
                    }
                }
                Values::Packed(Packed::Fixed(fixed)) => {
                    are_guids = true;
                    distinct.read_guids(&fixed.bytes.as_chunks().0[values], keys);
                }
                _ => {}
            }
        };
        self.collect(&mut read, &mut present, keys);
        let table = Arc::new(if are_guids { distinct.guids() } else { distinct.texts() });
        sink(self.batch(&present, BatchValues::Keys { keys, table: &table }))
    }

    fn texts(&self, present: &mut PresentRows<'_>) -> Vec<&'a [u8]> {
        let mut texts = Vec::with_capacity(self.pieces.iter().map(|piece| piece.rows.values.len()).sum());
        for piece in &self.pieces {
            present.add(&piece.rows);
            let Some(values) = piece.bytes() else { continue };
            let mut start = end_of(&values.ends, piece.rows.values.start);
            texts.extend(values.ends[piece.rows.values.clone()].iter().map(|&end| {
                let end = usize::try_from(end).unwrap_or(0);
                &values.bytes[std::mem::replace(&mut start, end)..end]
            }));
        }
        texts
    }

    /// Whether no item of a list is NULL, and the items are few enough for one array.
    fn has_plain_lists(&self) -> bool {
        let has_nulls = |piece: &Piece<'_>| !piece.nulls.is_empty();
        let items: usize = self.lists().map(|items| items.rows.values.len()).sum();
        i32::try_from(items).is_ok() && !self.lists().any(|items| has_nulls(&items))
    }

    /// The items of the lists of each piece that has some.
    fn lists(&self) -> impl Iterator<Item = Piece<'a>> {
        self.pieces.iter().filter_map(Piece::items)
    }

    fn items<'b>(&self, number: NumberType, int32: &'b mut Vec<i32>, int64: &'b mut Vec<i64>) -> ListItems<'b> {
        fn read<'b, T: StoredNumber>(pieces: impl Iterator<Item = Piece<'b>>, number: NumberType, all: &mut Vec<T>) {
            all.clear();
            pieces.for_each(|piece| read_numbers(&piece, number, all));
        }
        if number.is_wide {
            read(self.lists(), number, int64);
            ListItems::Int64(int64)
        } else {
            read(self.lists(), number, int32);
            ListItems::Int32(int32)
        }
    }

    fn list_ends<'b>(&self, present: &mut PresentRows<'_>, ends: &'b mut Vec<u32>) -> &'b [u32] {
        ends.clear();
        let mut before = 0;
        for piece in &self.pieces {
            present.add(&piece.rows);
            let Some(list) = piece.list() else { continue };
            let items = extent(&list.ends, &piece.rows.values);
            let end_of_list = |&end: &i32| before + usize::try_from(end).unwrap_or(0).saturating_sub(items.start);
            // All of them are at most 2^31.
            let lists = list.ends[piece.rows.values.clone()].iter().map(end_of_list);
            ends.extend(lists.map(|end| u32::try_from(end).unwrap_or(u32::MAX)));
            before += items.len();
        }
        ends
    }

    fn numbers<'b, T: StoredNumber>(
        &self,
        number: NumberType,
        present: &mut PresentRows<'_>,
        numbers: &'b mut Vec<T>,
    ) -> &'b mut [T] {
        self.collect(&mut |piece, numbers| read_numbers(piece, number, numbers), present, numbers);
        numbers
    }

    /// The values that `read` appends for each piece, in the order of the rows.
    fn collect<T: Copy + Default>(
        &self,
        read: &mut impl FnMut(&Piece<'_>, &mut Vec<T>),
        present: &mut PresentRows<'_>,
        all: &mut Vec<T>,
    ) {
        all.clear();
        for layouts in self.pieces.chunk_by(|_, next| next.overlays) {
            let mut filled = layouts.iter().filter(|piece| !piece.rows.values.is_empty());
            match (filled.next(), filled.next()) {
                (None, _) => present.add(&RowSelection::empty(layouts[0].rows.len)),
                (Some(only), None) => {
                    read(only, all);
                    present.add(&only.rows);
                }
                _ => merge(layouts, read, present, all),
            }
        }
    }
}

/// Where the texts and GUIDs of a column come from.
enum TextSource {
    /// Its own bytes.
    Bytes,
    /// Values of fixed width.
    Values,
    /// In some rows the one, in some the other.
    Both,
}

/// Brings the values of pieces that lie over the same rows into the order of the rows.
fn merge<T: Copy + Default>(
    layouts: &[Piece<'_>],
    read: &mut impl FnMut(&Piece<'_>, &mut Vec<T>),
    present: &mut PresentRows<'_>,
    all: &mut Vec<T>,
) {
    let (rows, first) = (layouts[0].rows.len, all.len());
    all.resize(first + rows, T::default());
    let mut own = Vec::new();
    for piece in layouts {
        own.clear();
        read(piece, &mut own);
        piece.rows.scatter_into(own.iter().copied(), all);
    }
    if layouts.iter().map(|piece| piece.rows.values.len()).sum::<usize>() == rows {
        return present.add(&RowSelection::full(0..rows));
    }
    let mut bits = BooleanBufferBuilder::new(rows);
    bits.append_n(rows, false);
    layouts.iter().for_each(|piece| piece.rows.set_bits(&mut bits, 0));
    let (bits, mut end) = (bits.finish(), first);
    for row in bits.set_indices() {
        all[end] = all[first + row];
        end += 1;
    }
    all.truncate(end);
    present.add_rows(bits.set_indices(), rows);
}

fn read_numbers<T: StoredNumber>(piece: &Piece<'_>, number: NumberType, all: &mut Vec<T>) {
    let Range { start, end } = piece.rows.values;
    match piece.values {
        Values::Prefix(column) => {
            let form = match column.form {
                PrefixForm::Number(form) if form != NumberForm::Unsigned => form,
                _ => number.form(column.width),
            };
            T::read(column.bytes(start..end), column.width, form, all);
        }
        Values::Packed(Packed::Fixed(fixed)) => {
            let values = &fixed.bytes[start * fixed.width..end * fixed.width];
            T::read(values, fixed.width, number.form(fixed.width), all);
        }
        _ => {}
    }
}

/// The rows of a batch that have a value; while all have one they are only counted.
struct PresentRows<'a> {
    rows: usize,
    is_listed: bool,
    listed: &'a mut Vec<u32>,
}

impl<'a> PresentRows<'a> {
    fn new(listed: &'a mut Vec<u32>) -> Self {
        listed.clear();
        PresentRows { rows: 0, is_listed: false, listed }
    }

    fn get(&self) -> Present<'_> {
        if self.is_listed { Present::Rows(self.listed) } else { Present::All }
    }

    /// Adds the rows of a run.
    fn add(&mut self, rows: &RowSelection<'_>) {
        if self.is_listed || !rows.is_full() {
            let first = self.list();
            rows.list(first, self.listed);
        }
        self.rows += rows.len;
    }

    /// Adds so many rows, of which these have a value.
    fn add_rows(&mut self, present: impl Iterator<Item = usize>, rows: usize) {
        let first = self.list();
        // A batch has some ten thousand rows.
        self.listed.extend(present.map(|row| first.saturating_add(u32::try_from(row).unwrap_or(u32::MAX))));
        self.rows += rows;
    }

    /// Lists the rows so far; says how many they are.
    fn list(&mut self) -> u32 {
        let rows = u32::try_from(self.rows).unwrap_or(u32::MAX);
        if !std::mem::replace(&mut self.is_listed, true) {
            self.listed.extend(0..rows);
        }
        rows
    }
}

#[cfg(test)]
mod tests;
