//! Builds one Arrow column from the parts of a row group.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BinaryArray, FixedSizeBinaryArray, Int64Array, ListArray, PrimitiveArray,
    StringArray, types,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer};

use super::header::element;
use super::rows::Rows;
use super::sparse::{Sparse, SparseLists};
use crate::columns::presence::{Offsets, RowSelection, Validity, array_error};
use crate::columns::{GuidType, UnsignedType};
use crate::error::Result;
use crate::event::EventIdentity;
use crate::guid::Guid;

/// Some rows of a slice's rows.
#[derive(Clone, Debug)]
pub struct RowsPart<'a> {
    /// All rows.
    pub all: &'a Rows,
    /// Those that are meant.
    pub range: Range<u32>,
}

/// An unsigned integer and the two Arrow types it is written as.
pub trait Unsigned: Copy {
    /// The unsigned type of the same width.
    type Native: ArrowPrimitiveType<Native = Self>;
    /// The next wider signed type; for 64 bits, that of the same width.
    type Signed: ArrowPrimitiveType;

    /// The value in the signed type: the same number, or for 64 bits the same bits.
    fn to_signed(self) -> <Self::Signed as ArrowPrimitiveType>::Native;
}

macro_rules! unsigned {
    ($($native:ty: $unsigned:ident, $signed:ident;)*) => {$(
        impl Unsigned for $native {
            type Native = types::$unsigned;
            type Signed = types::$signed;

            fn to_signed(self) -> <types::$signed as ArrowPrimitiveType>::Native {
                self.into()
            }
        }
    )*};
}

unsigned! {
    u8: UInt8Type, Int16Type;
    u16: UInt16Type, Int32Type;
    u32: UInt32Type, Int64Type;
}

impl Unsigned for u64 {
    type Native = types::UInt64Type;
    type Signed = types::Int64Type;

    fn to_signed(self) -> i64 {
        self.cast_signed()
    }
}

/// A column of numbers that every row has.
pub fn dense<S: Copy, T: ArrowPrimitiveType>(
    parts: &[RowsPart<'_>],
    column: impl Fn(&Rows) -> &[S],
    map: impl Fn(S) -> T::Native,
) -> PrimitiveArray<T> {
    let mut values = Vec::with_capacity(total(parts));
    for part in parts {
        values.extend(column(part.all)[indices(&part.range)].iter().map(|&value| map(value)));
    }
    PrimitiveArray::new(values.into(), None)
}

/// A column of unsigned numbers that every row has.
pub fn dense_unsigned<S: Unsigned>(
    parts: &[RowsPart<'_>],
    form: UnsignedType,
    column: impl Fn(&Rows) -> &[S],
) -> ArrayRef {
    match form {
        UnsignedType::Native => Arc::new(dense::<S, S::Native>(parts, column, |value| value)),
        UnsignedType::Signed => Arc::new(dense::<S, S::Signed>(parts, column, S::to_signed)),
    }
}

/// A range of rows as indices.
pub fn indices(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// A column of numbers that some rows have.
pub fn sparse<S: Copy, T: ArrowPrimitiveType>(
    parts: &[RowsPart<'_>],
    column: impl Fn(&Rows) -> &Sparse<S>,
    map: impl Fn(S) -> T::Native,
) -> PrimitiveArray<T> {
    let mut values = Vec::with_capacity(total(parts));
    let mut validity = Validity::default();
    for part in parts {
        let (packed, place) = column(part.all).part(&part.range);
        place.scatter(packed.iter().map(|&value| map(value)), &mut values);
        validity.add(&place);
    }
    PrimitiveArray::new(values.into(), validity.finish())
}

/// A column of unsigned numbers that some rows have.
pub fn sparse_unsigned<S: Unsigned>(
    parts: &[RowsPart<'_>],
    form: UnsignedType,
    column: impl Fn(&Rows) -> &Sparse<S>,
) -> ArrayRef {
    match form {
        UnsignedType::Native => Arc::new(sparse::<S, S::Native>(parts, column, |value| value)),
        UnsignedType::Signed => Arc::new(sparse::<S, S::Signed>(parts, column, S::to_signed)),
    }
}

/// A column of 64-bit numbers that some rows have.
pub fn sparse_i64(parts: &[RowsPart<'_>], column: impl Fn(&Rows) -> &Sparse<i64>) -> ArrayRef {
    let array: Int64Array = sparse(parts, column, |value| value);
    Arc::new(array)
}

/// A column of GUIDs that some rows have.
pub fn guids(parts: &[RowsPart<'_>], form: GuidType, column: impl Fn(&Rows) -> &Sparse<Guid>) -> Result<ArrayRef> {
    match form {
        GuidType::String => {
            let mut text = Text::of(parts);
            for part in parts {
                let (guids, place) = column(part.all).part(&part.range);
                text.add(guids, &place, |guid, bytes| bytes.extend_from_slice(&guid.to_text()))?;
            }
            text.finish()
        }
        GuidType::Binary | GuidType::Uuid => {
            let array: PrimitiveArray<types::Decimal128Type> =
                sparse(parts, column, |guid: Guid| i128::from_ne_bytes(guid.to_text_order()));
            let (_, values, nulls) = array.into_parts();
            Ok(Arc::new(FixedSizeBinaryArray::new(16, values.into_inner(), nulls)))
        }
    }
}

/// A column of texts that are already UTF-8.
pub fn texts(parts: &[RowsPart<'_>], column: impl Fn(&Rows) -> &SparseLists<u8>) -> Result<ArrayRef> {
    bytes(parts, column)?.finish()
}

/// A column of bytes.
pub fn binaries(parts: &[RowsPart<'_>], column: impl Fn(&Rows) -> &SparseLists<u8>) -> Result<ArrayRef> {
    bytes(parts, column)?.finish_binary()
}

fn bytes(parts: &[RowsPart<'_>], column: impl Fn(&Rows) -> &SparseLists<u8>) -> Result<Text> {
    let mut text = Text::of(parts);
    for part in parts {
        let lists = column(part.all);
        let (spans, place) = lists.spans.part(&part.range);
        text.add(spans, &place, |span, bytes| bytes.extend_from_slice(&lists.items[span.range()]))?;
    }
    Ok(text)
}

/// A column of lists of numbers.
pub fn number_lists(
    parts: &[RowsPart<'_>],
    form: UnsignedType,
    column: impl Fn(&Rows) -> &SparseLists<u64>,
) -> Result<ArrayRef> {
    let mut items = Vec::new();
    let outline = outline(parts, &column, |_, list| items.extend_from_slice(list))?;
    let values: ArrayRef = match form {
        UnsignedType::Native => Arc::new(PrimitiveArray::<types::UInt64Type>::from(items)),
        UnsignedType::Signed => Arc::new(dense_signed(&items)),
    };
    outline.finish(values)
}

fn dense_signed(items: &[u64]) -> Int64Array {
    items.iter().map(|item| item.to_signed()).collect()
}

/// The offsets of a column of lists; `take` gets the items of every list in order.
pub fn outline<'a, T: 'a>(
    parts: &[RowsPart<'a>],
    column: impl Fn(&'a Rows) -> &'a SparseLists<T>,
    mut take: impl FnMut(&'a Rows, &'a [T]),
) -> Result<Outline> {
    let mut outline = Outline { ends: Offsets::with_capacity(total(parts)), validity: Validity::default() };
    for part in parts {
        let lists = column(part.all);
        let (spans, place) = lists.spans.part(&part.range);
        outline.validity.add(&place);
        let lens = spans.iter().map(|span| {
            let list = &lists.items[span.range()];
            take(part.all, list);
            list.len()
        });
        outline.ends.add(&place, lens)?;
    }
    Ok(outline)
}

/// Where the lists of a column begin and end.
#[derive(Debug)]
pub struct Outline {
    ends: Offsets,
    validity: Validity,
}

impl Outline {
    /// The column with the given items, none of which is NULL.
    pub fn finish(self, values: ArrayRef) -> Result<ArrayRef> {
        let field = element(values.data_type().clone());
        let array =
            ListArray::try_new(field, self.ends.finish(), values, self.validity.finish()).map_err(array_error)?;
        Ok(Arc::new(array))
    }
}

/// Texts or bytes of variable length, one after another.
#[derive(Debug)]
pub struct Text {
    ends: Offsets,
    bytes: Vec<u8>,
    validity: Validity,
}

impl Text {
    /// None yet, of the rows that the parts have.
    pub fn of(parts: &[RowsPart<'_>]) -> Self {
        Text { ends: Offsets::with_capacity(total(parts)), bytes: Vec::new(), validity: Validity::default() }
    }

    /// Adds the values of some rows; `write` appends one.
    pub fn add<T>(&mut self, values: &[T], place: &RowSelection<'_>, write: impl Fn(&T, &mut Vec<u8>)) -> Result<()> {
        self.validity.add(place);
        let bytes = &mut self.bytes;
        let lens = values.iter().map(|value| {
            let before = bytes.len();
            write(value, bytes);
            bytes.len() - before
        });
        self.ends.add(place, lens)
    }

    /// As texts.
    pub fn finish(self) -> Result<ArrayRef> {
        let (offsets, bytes, nulls) = self.into_parts();
        Ok(Arc::new(StringArray::try_new(offsets, bytes, nulls).map_err(array_error)?))
    }

    /// As bytes.
    pub fn finish_binary(self) -> Result<ArrayRef> {
        let (offsets, bytes, nulls) = self.into_parts();
        Ok(Arc::new(BinaryArray::try_new(offsets, bytes, nulls).map_err(array_error)?))
    }

    fn into_parts(self) -> (OffsetBuffer<i32>, Buffer, Option<NullBuffer>) {
        (self.ends.finish(), Buffer::from_vec(self.bytes), self.validity.finish())
    }
}

/// Number of rows of all parts.
pub fn total(parts: &[RowsPart<'_>]) -> usize {
    parts.iter().map(|part| part.range.len()).sum()
}

/// A column that takes each row's value, or NULL, from its place in a table.
pub fn lookup<T: ArrowPrimitiveType>(places: &[u32], table: &[Option<T::Native>]) -> PrimitiveArray<T> {
    let plain: Vec<T::Native> = table.iter().map(|value| value.unwrap_or_default()).collect();
    let values: Vec<T::Native> = places.iter().map(|&place| plain[place as usize]).collect();
    let nulls = table.iter().any(Option::is_none).then(|| {
        let is_valid = |row: usize| table[places[row] as usize].is_some();
        NullBuffer::new(BooleanBuffer::collect_bool(places.len(), is_valid))
    });
    PrimitiveArray::new(values.into(), nulls)
}

/// A column of unsigned numbers that takes each row's value from its place in a table.
pub fn lookup_unsigned<S: Unsigned>(places: &[u32], table: &[Option<S>], form: UnsignedType) -> ArrayRef {
    match form {
        UnsignedType::Native => Arc::new(lookup::<S::Native>(places, table)),
        UnsignedType::Signed => {
            let table: Vec<_> = table.iter().map(|value| value.map(S::to_signed)).collect();
            Arc::new(lookup::<S::Signed>(places, &table))
        }
    }
}

/// A column of unsigned numbers that rows have because their shapes do not tell.
pub fn by_identity<S: Unsigned>(
    parts: &[RowsPart<'_>],
    form: UnsignedType,
    value: impl Fn(&EventIdentity) -> Option<S>,
) -> ArrayRef {
    let mut table = Vec::with_capacity(total(parts));
    for part in parts {
        table.extend(part.all.identity.part(&part.range).0.iter().map(&value));
    }
    let places: Vec<u32> = (0..).take(table.len()).collect();
    lookup_unsigned(&places, &table, form)
}

/// The providers of rows whose shapes do not tell.
pub fn providers(parts: &[RowsPart<'_>], form: GuidType) -> Result<ArrayRef> {
    let rows = parts.iter().map(|part| {
        let mut found = Sparse::default();
        let identities = part.all.identity.part(&part.range).0;
        identities.iter().zip(0..).for_each(|(identity, row)| found.push_option(row, identity.provider_id()));
        Rows { activity_id: found, ..Rows::default() }
    });
    let rows: Vec<Rows> = rows.collect();
    made_guids(&rows, parts, form)
}

/// A column of GUIDs that follow from the shape.
pub fn guids_by(parts: &[RowsPart<'_>], form: GuidType, value: impl Fn(u32) -> Option<Guid>) -> Result<ArrayRef> {
    let rows = parts.iter().map(|part| {
        let mut found = Sparse::default();
        let shapes = &part.all.shape[indices(&part.range)];
        shapes.iter().zip(0..).for_each(|(&shape, row)| found.push_option(row, value(shape)));
        Rows { activity_id: found, ..Rows::default() }
    });
    let rows: Vec<Rows> = rows.collect();
    made_guids(&rows, parts, form)
}

/// A column of GUIDs that were made for the rows of each part and lie in `activity_id`.
fn made_guids(rows: &[Rows], parts: &[RowsPart<'_>], form: GuidType) -> Result<ArrayRef> {
    let found = rows.iter().zip(parts).map(|(all, part)| RowsPart { all, range: 0..part.range.end - part.range.start });
    guids(&found.collect::<Vec<_>>(), form, |rows| &rows.activity_id)
}
