//! Packed values of several batches become one Arrow array.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampNanosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, ListArray, PrimitiveArray, StringArray, StructArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, FieldRef, Fields, TimeUnit};
use base::error::Result;
use base::guid::Guid;

use super::batch::PackedColumns;
use super::packed::Packed;
use super::piece::{Piece, Values, end_of, extent, total};
use super::prefix::PrefixForm;
use super::presence::{Offsets, RowSelection, Validity, array_error};

/// One column in some rows of several batches, one after another. `data_type` is the column's.
///
/// # Errors
/// When the values do not fit into one array.
pub fn gather(parts: &[(&PackedColumns, Range<u32>)], column: usize, data_type: &DataType) -> Result<ArrayRef> {
    let pieces = Piece::of(parts, column);
    array(&pieces, data_type)
}

/// The numbers of `N` bytes of a column that has one in every row.
pub fn gather_required<const N: usize, T: Copy + Default>(
    parts: &[(&PackedColumns, Range<u32>)],
    column: usize,
    from_le: impl Fn([u8; N]) -> T,
) -> Vec<T> {
    let pieces = Piece::of(parts, column);
    numbers(&pieces, from_le)
}

fn validity(pieces: &[Piece<'_>]) -> Option<NullBuffer> {
    let mut validity = Validity::default();
    for piece in pieces {
        if piece.overlays {
            validity.merge(&piece.rows);
        } else {
            validity.add(&piece.rows);
        }
        validity.clear(&piece.rows, piece.nulls);
    }
    validity.finish()
}

pub(super) fn array(pieces: &[Piece<'_>], data_type: &DataType) -> Result<ArrayRef> {
    Ok(match data_type {
        DataType::Utf8 => Arc::new(text_array(pieces)?),
        DataType::Binary => Arc::new(binary_array(pieces)?),
        DataType::List(item) => Arc::new(list_array(pieces, item)?),
        DataType::Struct(fields) => Arc::new(struct_array(pieces, fields)?),
        DataType::Boolean => {
            let values = numbers(pieces, |[byte]: [u8; 1]| byte != 0);
            Arc::new(BooleanArray::new(BooleanBuffer::from(values), validity(pieces)))
        }
        DataType::FixedSizeBinary(_) => {
            let values = numbers(pieces, i128::from_ne_bytes);
            let array = FixedSizeBinaryArray::try_new(16, Buffer::from_vec(values), validity(pieces));
            Arc::new(array.map_err(array_error)?)
        }
        DataType::Int8 => primitive::<Int8Type, 1>(pieces, data_type, i8::from_le_bytes),
        DataType::Int16 => primitive::<Int16Type, 2>(pieces, data_type, i16::from_le_bytes),
        DataType::Int32 => primitive::<Int32Type, 4>(pieces, data_type, i32::from_le_bytes),
        DataType::UInt8 => primitive::<UInt8Type, 1>(pieces, data_type, u8::from_le_bytes),
        DataType::UInt16 => primitive::<UInt16Type, 2>(pieces, data_type, u16::from_le_bytes),
        DataType::UInt32 => primitive::<UInt32Type, 4>(pieces, data_type, u32::from_le_bytes),
        DataType::UInt64 => primitive::<UInt64Type, 8>(pieces, data_type, u64::from_le_bytes),
        DataType::Float32 => primitive::<Float32Type, 4>(pieces, data_type, f32::from_le_bytes),
        DataType::Float64 => primitive::<Float64Type, 8>(pieces, data_type, f64::from_le_bytes),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            primitive::<TimestampNanosecondType, 8>(pieces, data_type, i64::from_le_bytes)
        }
        DataType::Timestamp(..) => primitive::<TimestampMicrosecondType, 8>(pieces, data_type, i64::from_le_bytes),
        _ => primitive::<Int64Type, 8>(pieces, data_type, i64::from_le_bytes),
    })
}

/// Values of `N` bytes at their rows; zero elsewhere.
fn numbers<const N: usize, T: Copy + Default>(pieces: &[Piece<'_>], from_le: impl Fn([u8; N]) -> T) -> Vec<T> {
    let mut all = Vec::with_capacity(total(pieces));
    for piece in pieces {
        let range = piece.rows.values.clone();
        match piece.values {
            Values::Prefix(column) => piece.put(column.values(range).map(&from_le), &mut all),
            Values::Packed(Packed::Fixed(fixed)) if fixed.width == N => {
                piece.put(fixed.bytes.as_chunks::<N>().0[range].iter().map(|value| from_le(*value)), &mut all);
            }
            Values::Packed(Packed::Fixed(fixed)) => piece.put(fixed.widened(range).map(&from_le), &mut all),
            _ => piece.put([].into_iter(), &mut all),
        }
    }
    all
}

fn primitive<T: ArrowPrimitiveType, const N: usize>(
    pieces: &[Piece<'_>],
    data_type: &DataType,
    from_le: impl Fn([u8; N]) -> T::Native,
) -> ArrayRef {
    let array = PrimitiveArray::<T>::new(ScalarBuffer::from(numbers(pieces, from_le)), validity(pieces));
    Arc::new(array.with_data_type(data_type.clone()))
}

fn text_array(pieces: &[Piece<'_>]) -> Result<StringArray> {
    let are_bytes = |piece: &Piece<'_>| matches!(piece.values, Values::None | Values::Packed(Packed::Bytes(_)));
    let (offsets, bytes) = if pieces.iter().all(are_bytes) { joined_bytes(pieces)? } else { made_texts(pieces)? };
    StringArray::try_new(offsets, bytes, validity(pieces)).map_err(array_error)
}

fn binary_array(pieces: &[Piece<'_>]) -> Result<BinaryArray> {
    let (offsets, bytes) = joined_bytes(pieces)?;
    BinaryArray::try_new(offsets, bytes, validity(pieces)).map_err(array_error)
}

/// Texts some of which have to be made: of GUIDs in the order of their text, and of what lies in payloads.
fn made_texts(pieces: &[Piece<'_>]) -> Result<(OffsetBuffer<i32>, Buffer)> {
    let (mut made, mut spans) = (Vec::new(), Vec::with_capacity(total(pieces)));
    for piece in pieces {
        let mut before = made.len();
        let ends = make_texts(piece, &mut made);
        piece.put(ends.into_iter().map(|end| (std::mem::replace(&mut before, end), end)), &mut spans);
    }
    let mut bytes = Vec::with_capacity(made.len());
    spans.iter().for_each(|&(start, end)| bytes.extend_from_slice(&made[start..end]));
    let mut offsets = Offsets::with_capacity(spans.len());
    offsets.add(&RowSelection::full(0..spans.len()), spans.iter().map(|(start, end)| end - start))?;
    Ok((offsets.finish(), Buffer::from_vec(bytes)))
}

/// Appends the texts of a piece, and says where each ends.
fn make_texts(piece: &Piece<'_>, made: &mut Vec<u8>) -> Vec<usize> {
    let values = piece.rows.values.clone();
    match piece.values {
        Values::Prefix(column) => {
            let make = |value: &[u8]| {
                if let PrefixForm::Text(form) = column.form {
                    form.push(value, made);
                }
                made.len()
            };
            column.bytes(values).chunks_exact(column.width).map(make).collect()
        }
        Values::Packed(Packed::Fixed(guids)) => {
            let make = |guid: &[u8; 16]| {
                made.extend_from_slice(&Guid::from_text_order(*guid).to_text());
                made.len()
            };
            guids.bytes.as_chunks().0[values].iter().map(make).collect()
        }
        Values::Packed(Packed::Bytes(texts)) => {
            let mut before = end_of(&texts.ends, values.start);
            let copy = |&end: &i32| {
                let end = usize::try_from(end).unwrap_or(0);
                made.extend_from_slice(&texts.bytes[std::mem::replace(&mut before, end)..end]);
                made.len()
            };
            texts.ends[values].iter().map(copy).collect()
        }
        _ => Vec::new(),
    }
}

fn joined_bytes(pieces: &[Piece<'_>]) -> Result<(OffsetBuffer<i32>, Buffer)> {
    let runs = pieces.iter().map(|piece| piece.bytes().map(|bytes| (bytes, extent(&bytes.ends, &piece.rows.values))));
    let runs: Vec<_> = runs.collect();
    let mut bytes = Vec::with_capacity(runs.iter().flatten().map(|(_, run)| run.len()).sum());
    runs.iter().flatten().for_each(|(source, run)| bytes.extend_from_slice(&source.bytes[run.clone()]));
    let offsets = offsets(pieces, |piece| piece.bytes().map(|bytes| bytes.ends.as_slice()))?;
    Ok((offsets, Buffer::from_vec(bytes)))
}

fn list_array(pieces: &[Piece<'_>], item: &FieldRef) -> Result<ListArray> {
    let items: Vec<_> = pieces.iter().filter_map(Piece::items).collect();
    let values = array(&items, item.data_type())?;
    let offsets = offsets(pieces, |piece| piece.list().map(|list| list.ends.as_slice()))?;
    ListArray::try_new(item.clone(), offsets, values, validity(pieces)).map_err(array_error)
}

/// Every member has a value, or a NULL in its rows, for each structure.
fn struct_array(pieces: &[Piece<'_>], fields: &Fields) -> Result<StructArray> {
    let member = |(index, field): (usize, &FieldRef)| {
        let members: Vec<_> = pieces.iter().map(|piece| piece.member(index)).collect();
        array(&members, field.data_type())
    };
    let members = fields.iter().enumerate().map(member).collect::<Result<Vec<_>>>()?;
    StructArray::try_new(fields.clone(), members, validity(pieces)).map_err(array_error)
}

/// The offsets of all rows from the ends of the packed values.
fn offsets<'a>(pieces: &[Piece<'a>], ends: impl Fn(&Piece<'a>) -> Option<&'a [i32]>) -> Result<OffsetBuffer<i32>> {
    let mut offsets = Offsets::with_capacity(total(pieces));
    for piece in pieces {
        let ends = ends(piece).unwrap_or_default();
        let mut before = end_of(ends, piece.rows.values.start);
        let lens = ends[piece.rows.values.clone()].iter().map(|&end| {
            let end = usize::try_from(end).unwrap_or(0);
            end - std::mem::replace(&mut before, end)
        });
        offsets.add(&piece.rows, lens)?;
    }
    Ok(offsets.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;

    use super::super::packed::{BytesValues, Elements, FixedValues, ListValues, PackedColumn, StructValues};
    use super::super::presence::RowNumbers;

    fn fixed(width: usize, bytes: &[u8]) -> Packed {
        Packed::Fixed(FixedValues::new(width, bytes.to_vec()))
    }

    /// A batch with one column.
    fn batch(rows: &[u32], values: Packed) -> PackedColumns {
        let mut numbers = RowNumbers::default();
        rows.iter().for_each(|&row| numbers.push(row));
        PackedColumns::new(vec![(0, PackedColumn { rows: numbers, values })], Vec::new(), 0)
    }

    /// Rows from 0 on of one batch.
    fn column(batch: &PackedColumns, rows: u32, data_type: &DataType) -> ArrayRef {
        gather(&[(batch, 0..rows)], 0, data_type).unwrap()
    }

    #[test]
    fn numbers_are_scattered_to_their_rows() {
        let sparse = column(&batch(&[1, 3], fixed(2, &[1, 0, 2, 1])), 5, &DataType::UInt16);
        let read: Vec<_> = sparse.as_primitive::<UInt16Type>().iter().collect();
        assert_eq!(read, [None, Some(1), None, Some(0x102), None]);
        let dense = column(&batch(&[0, 1], fixed(1, &[0xff, 2])), 2, &DataType::Int8);
        assert_eq!(dense.as_primitive::<Int8Type>().values(), &[-1, 2]);
        assert!(dense.nulls().is_none());
    }

    #[test]
    fn texts_lists_and_structures_are_scattered_too() {
        let text = Packed::Bytes(BytesValues { ends: vec![1, 1, 3], bytes: b"abc".to_vec() });
        let sparse = column(&batch(&[0, 2, 3], text), 5, &DataType::Utf8);
        let read: Vec<_> = sparse.as_string::<i32>().iter().collect();
        assert_eq!(read, [Some("a"), None, Some(""), Some("bc"), None]);

        let sparse = column(&batch(&[1, 2], list()), 3, &list_type());
        assert_eq!(lists(&sparse), [None, Some(vec![Some(7), None]), Some(vec![Some(9)])]);

        let fields = Fields::from(vec![arrow_schema::Field::new("x", DataType::UInt8, true)]);
        let members = vec![Elements { nulls: vec![0], values: fixed(1, &[0, 5]) }];
        let record = Packed::Struct(StructValues { len: 2, members });
        let sparse = column(&batch(&[1, 3], record), 4, &DataType::Struct(fields));
        let sparse = sparse.as_struct();
        assert_eq!((0..4).map(|row| sparse.is_valid(row)).collect::<Vec<_>>(), [false, true, false, true]);
        let x: Vec<_> = sparse.column(0).as_primitive::<UInt8Type>().iter().collect();
        assert_eq!(x, [None, None, None, Some(5)]);
    }

    #[test]
    fn batches_follow_one_another() {
        let first = batch(&[0, 2, 3], Packed::Bytes(BytesValues { ends: vec![1, 1, 3], bytes: b"abc".to_vec() }));
        let (none, second) = (PackedColumns::default(), batch(&[0, 1], text(&["x", "yz"])));
        let parts = [(&first, 1..4), (&none, 0..2), (&second, 1..2), (&first, 0..1)];
        let all = gather(&parts, 0, &DataType::Utf8).unwrap();
        let read: Vec<_> = all.as_string::<i32>().iter().collect();
        assert_eq!(read, [None, Some(""), Some("bc"), None, None, Some("yz"), Some("a")]);

        let batch = batch(&[1, 2], list());
        let all = gather(&[(&batch, 2..3), (&none, 0..1), (&batch, 1..2)], 0, &list_type()).unwrap();
        assert_eq!(lists(&all), [Some(vec![Some(9)]), None, Some(vec![Some(7), None])]);
    }

    fn text(values: &[&str]) -> Packed {
        let mut texts = Packed::new(&DataType::Utf8);
        let Packed::Bytes(bytes) = &mut texts else { panic!("texts are bytes") };
        for value in values {
            bytes.bytes.extend_from_slice(value.as_bytes());
            assert!(bytes.end());
        }
        texts
    }

    fn list_type() -> DataType {
        DataType::List(Arc::new(arrow_schema::Field::new("element", DataType::UInt8, true)))
    }

    /// `[7, NULL]` and `[9]`.
    fn list() -> Packed {
        let items = Elements { nulls: vec![1], values: fixed(1, &[7, 0, 9]) };
        Packed::List(Box::new(ListValues { ends: vec![2, 3], items }))
    }

    fn lists(array: &ArrayRef) -> Vec<Option<Vec<Option<u8>>>> {
        let list = |list: ArrayRef| list.as_primitive::<UInt8Type>().iter().collect();
        array.as_list::<i32>().iter().map(|items| items.map(list)).collect()
    }
}
