//! Packed values become Arrow arrays of full length.

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

use super::builders::{Builder, BytesBuilder, ColumnValues, FixedBuilder, ListBuilder, Nested, StructBuilder};

/// The array of one column in a batch of so many rows; `None` when it has no value.
pub(super) fn column(column: &ColumnValues, total: usize) -> Option<ArrayRef> {
    if column.rows.is_empty() {
        return None;
    }
    // Rows ascend, so as many values as rows means one per row.
    let rows = (column.rows.len() < total).then_some(column.rows.as_slice());
    Some(array(&column.builder, &column.data_type, Place { rows, nulls: &[], total }))
}

/// Where packed values go.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// The row of each value; `None`: values and rows are the same.
    rows: Option<&'a [u32]>,
    /// Positions among the packed values that are NULL.
    nulls: &'a [u32],
    total: usize,
}

impl Place<'_> {
    fn validity(&self) -> Option<NullBuffer> {
        if self.rows.is_none() && self.nulls.is_empty() {
            return None;
        }
        let filled: u8 = if self.rows.is_none() { 0xff } else { 0 };
        let mut bits = vec![filled; self.total.div_ceil(8)];
        for &row in self.rows.unwrap_or_default() {
            bits[row as usize / 8] |= 1 << (row % 8);
        }
        for &null in self.nulls {
            let row = self.rows.map_or(null, |rows| rows[null as usize]);
            bits[row as usize / 8] &= !(1 << (row % 8));
        }
        Some(NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(bits), 0, self.total)))
    }

    /// Values of `N` bytes at their rows; zero elsewhere.
    fn scatter<const N: usize, T: Copy + Default>(&self, bytes: &[u8], from_le: impl Fn([u8; N]) -> T) -> Vec<T> {
        let values = bytes.as_chunks::<N>().0.iter().map(|value| from_le(*value));
        let Some(rows) = self.rows else { return values.collect() };
        let mut all = vec![T::default(); self.total];
        for (&row, value) in rows.iter().zip(values) {
            all[row as usize] = value;
        }
        all
    }

    /// Offsets of all rows from the ends of the values; rows without a value are empty.
    fn offsets(&self, ends: &[i32]) -> OffsetBuffer<i32> {
        let mut offsets = vec![0; self.total + 1];
        match self.rows {
            None => offsets[1..].copy_from_slice(ends),
            Some(rows) => {
                let (mut last, mut filled) = (0, 1);
                for (&row, &end) in rows.iter().zip(ends) {
                    let place = row as usize + 1;
                    offsets[filled..place].fill(last);
                    offsets[place] = end;
                    (last, filled) = (end, place + 1);
                }
                offsets[filled..].fill(last);
            }
        }
        OffsetBuffer::new(ScalarBuffer::from(offsets))
    }
}

fn array(builder: &Builder, data_type: &DataType, place: Place<'_>) -> ArrayRef {
    match (builder, data_type) {
        (Builder::Fixed(fixed), _) => fixed_array(fixed, data_type, place),
        (Builder::Bytes(bytes), DataType::Utf8) => Arc::new(text_array(bytes, place)),
        (Builder::Bytes(bytes), _) => Arc::new(binary_array(bytes, place)),
        (Builder::List(list), DataType::List(item)) => Arc::new(list_array(list, item, place)),
        (Builder::Struct(record), DataType::Struct(fields)) => Arc::new(struct_array(record, fields, place)),
        (Builder::List(_) | Builder::Struct(_), other) => unreachable!("a builder is made from its type, not {other}"),
    }
}

fn fixed_array(fixed: &FixedBuilder, data_type: &DataType, place: Place<'_>) -> ArrayRef {
    let bytes = fixed.bytes.as_slice();
    match data_type {
        DataType::Boolean => {
            let values = place.scatter(bytes, |[byte]: [u8; 1]| byte != 0);
            Arc::new(BooleanArray::new(BooleanBuffer::from(values), place.validity()))
        }
        DataType::Int8 => primitive::<Int8Type, 1>(place.scatter(bytes, i8::from_le_bytes), data_type, place),
        DataType::Int16 => primitive::<Int16Type, 2>(place.scatter(bytes, i16::from_le_bytes), data_type, place),
        DataType::Int32 => primitive::<Int32Type, 4>(place.scatter(bytes, i32::from_le_bytes), data_type, place),
        DataType::UInt8 => primitive::<UInt8Type, 1>(place.scatter(bytes, u8::from_le_bytes), data_type, place),
        DataType::UInt16 => primitive::<UInt16Type, 2>(place.scatter(bytes, u16::from_le_bytes), data_type, place),
        DataType::UInt32 => primitive::<UInt32Type, 4>(place.scatter(bytes, u32::from_le_bytes), data_type, place),
        DataType::UInt64 => primitive::<UInt64Type, 8>(place.scatter(bytes, u64::from_le_bytes), data_type, place),
        DataType::Float32 => primitive::<Float32Type, 4>(place.scatter(bytes, f32::from_le_bytes), data_type, place),
        DataType::Float64 => primitive::<Float64Type, 8>(place.scatter(bytes, f64::from_le_bytes), data_type, place),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            primitive::<TimestampNanosecondType, 8>(place.scatter(bytes, i64::from_le_bytes), data_type, place)
        }
        DataType::Timestamp(..) => {
            primitive::<TimestampMicrosecondType, 8>(place.scatter(bytes, i64::from_le_bytes), data_type, place)
        }
        DataType::FixedSizeBinary(_) => {
            let values = place.scatter(bytes, |value: [u8; 16]| value).concat();
            let array = FixedSizeBinaryArray::try_new(16, Buffer::from_vec(values), place.validity());
            Arc::new(array.expect("every value has 16 bytes and the validity covers all rows"))
        }
        _ => primitive::<Int64Type, 8>(place.scatter(bytes, i64::from_le_bytes), data_type, place),
    }
}

fn primitive<T: ArrowPrimitiveType, const N: usize>(
    values: Vec<T::Native>,
    data_type: &DataType,
    place: Place<'_>,
) -> ArrayRef {
    debug_assert_eq!(size_of::<T::Native>(), N);
    let array = PrimitiveArray::<T>::new(ScalarBuffer::from(values), place.validity());
    Arc::new(array.with_data_type(data_type.clone()))
}

fn text_array(bytes: &BytesBuilder, place: Place<'_>) -> StringArray {
    let values = Buffer::from_vec(bytes.bytes.clone());
    let array = StringArray::try_new(place.offsets(&bytes.ends), values, place.validity());
    array.expect("text builders are given whole UTF-8 strings only")
}

fn binary_array(bytes: &BytesBuilder, place: Place<'_>) -> BinaryArray {
    let values = Buffer::from_vec(bytes.bytes.clone());
    let array = BinaryArray::try_new(place.offsets(&bytes.ends), values, place.validity());
    array.expect("offsets end with the bytes and the validity covers all rows")
}

fn list_array(list: &ListBuilder, item: &FieldRef, place: Place<'_>) -> ListArray {
    let values = nested_array(&list.items, item.data_type(), None, list.items.builder.len());
    let array = ListArray::try_new(item.clone(), place.offsets(&list.ends), values, place.validity());
    array.expect("lists end within their items and items have the list's type")
}

fn struct_array(record: &StructBuilder, fields: &Fields, place: Place<'_>) -> StructArray {
    let members = record.members.iter().zip(fields);
    let members = members.map(|(member, field)| nested_array(member, field.data_type(), place.rows, place.total));
    let array = StructArray::try_new(fields.clone(), members.collect(), place.validity());
    array.expect("every member has one value per row")
}

fn nested_array(nested: &Nested, data_type: &DataType, rows: Option<&[u32]>, total: usize) -> ArrayRef {
    array(&nested.builder, data_type, Place { rows, nulls: &nested.nulls, total })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;

    fn fixed(width: usize, bytes: &[u8]) -> Builder {
        Builder::Fixed(FixedBuilder { width, bytes: bytes.to_vec() })
    }

    fn values(rows: &[u32], builder: Builder, data_type: DataType) -> ColumnValues {
        ColumnValues { rows: rows.to_vec(), builder, data_type }
    }

    #[test]
    fn a_column_without_values_is_not_made() {
        assert!(column(&values(&[], fixed(1, &[]), DataType::Int8), 3).is_none());
    }

    #[test]
    fn numbers_are_spread_to_their_rows() {
        let sparse = column(&values(&[1, 3], fixed(2, &[1, 0, 2, 1]), DataType::UInt16), 5).unwrap();
        let read: Vec<_> = sparse.as_primitive::<UInt16Type>().iter().collect();
        assert_eq!(read, [None, Some(1), None, Some(0x102), None]);
        let dense = column(&values(&[0, 1], fixed(1, &[0xff, 2]), DataType::Int8), 2).unwrap();
        assert_eq!(dense.as_primitive::<Int8Type>().values(), &[-1, 2]);
        assert!(dense.nulls().is_none());
    }

    #[test]
    fn texts_lists_and_structures_are_spread_too() {
        let text = Builder::Bytes(BytesBuilder { ends: vec![1, 1, 3], bytes: b"abc".to_vec() });
        let sparse = column(&values(&[0, 2, 3], text, DataType::Utf8), 5).unwrap();
        let read: Vec<_> = sparse.as_string::<i32>().iter().collect();
        assert_eq!(read, [Some("a"), None, Some(""), Some("bc"), None]);

        let item = Arc::new(arrow_schema::Field::new("element", DataType::UInt8, true));
        let items = Nested { nulls: vec![1], builder: fixed(1, &[7, 0, 9]) };
        let list = Builder::List(Box::new(ListBuilder { ends: vec![2, 3], items }));
        let sparse = column(&values(&[1, 2], list, DataType::List(item)), 3).unwrap();
        let read: Vec<Option<Vec<Option<u8>>>> = sparse
            .as_list::<i32>()
            .iter()
            .map(|list| list.map(|list| list.as_primitive::<UInt8Type>().iter().collect()))
            .collect();
        assert_eq!(read, [None, Some(vec![Some(7), None]), Some(vec![Some(9)])]);

        let fields = Fields::from(vec![arrow_schema::Field::new("x", DataType::UInt8, true)]);
        let members = vec![Nested { nulls: vec![0], builder: fixed(1, &[0, 5]) }];
        let record = Builder::Struct(StructBuilder { len: 2, members });
        let sparse = column(&values(&[1, 3], record, DataType::Struct(fields)), 4).unwrap();
        let sparse = sparse.as_struct();
        assert_eq!((0..4).map(|row| sparse.is_valid(row)).collect::<Vec<_>>(), [false, true, false, true]);
        let x: Vec<_> = sparse.column(0).as_primitive::<UInt8Type>().iter().collect();
        assert_eq!(x, [None, None, None, Some(5)]);
    }

    #[test]
    fn validity_is_one_bit_a_row() {
        let place = Place { rows: Some(&[1, 9, 17, 18]), nulls: &[2], total: 20 };
        let validity = place.validity().unwrap();
        let valid: Vec<usize> = (0..20).filter(|&row| validity.is_valid(row)).collect();
        assert_eq!(valid, [1, 9, 18]);
        let place = Place { rows: None, nulls: &[12], total: 20 };
        assert_eq!(place.validity().unwrap().null_count(), 1);
        assert!(place.validity().unwrap().is_null(12));
    }
}
