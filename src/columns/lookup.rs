//! Columns that follow from a number per row: each takes its values from a short table.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, DictionaryArray, FixedSizeBinaryArray, Int32Array, PrimitiveArray, StringArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType;

use super::presence::array_error;
use crate::error::Result;
use crate::guid::Guid;

/// Each row's number from a table of them, NULL where the table has none; of an integer type that holds them all.
pub(crate) fn lookup_numbers(keys: &[u32], table: &[Option<u32>], data_type: &DataType) -> ArrayRef {
    match data_type {
        DataType::UInt8 => integers::<UInt8Type>(keys, table),
        DataType::UInt16 => integers::<UInt16Type>(keys, table),
        DataType::UInt32 => integers::<UInt32Type>(keys, table),
        DataType::UInt64 => integers::<UInt64Type>(keys, table),
        DataType::Int16 => integers::<Int16Type>(keys, table),
        DataType::Int32 => integers::<Int32Type>(keys, table),
        _ => integers::<Int64Type>(keys, table),
    }
}

fn integers<T: ArrowPrimitiveType>(keys: &[u32], table: &[Option<u32>]) -> ArrayRef
where
    T::Native: TryFrom<u32>,
{
    let table: Vec<_> = table.iter().map(|value| value.and_then(|value| T::Native::try_from(value).ok())).collect();
    Arc::new(lookup::<T>(keys, &table))
}

/// Each row's GUID from a table of them, as text or as 16 bytes.
///
/// # Errors
/// When the values do not fit into one array.
pub(crate) fn lookup_guids(keys: &[u32], table: &[Option<Guid>], data_type: &DataType) -> Result<ArrayRef> {
    if *data_type == DataType::Utf8 {
        let texts = StringArray::from_iter_values(table.iter().map(|guid| guid.unwrap_or_default().to_string()));
        let positions: Vec<_> = (0..).zip(table).map(|(position, guid)| guid.map(|_| position)).collect();
        return lookup_labels(keys, &positions, &texts);
    }
    let table: Vec<_> = table.iter().map(|guid| guid.map(|guid| i128::from_ne_bytes(guid.to_text_order()))).collect();
    let (_, values, nulls) = lookup::<Decimal128Type>(keys, &table).into_parts();
    Ok(Arc::new(FixedSizeBinaryArray::try_new(16, values.into_inner(), nulls).map_err(array_error)?))
}

/// Each row's text from a table of positions among labels, NULL where the table has none.
///
/// # Errors
/// When a position has no label.
pub(crate) fn lookup_labels(keys: &[u32], table: &[Option<i32>], labels: &StringArray) -> Result<ArrayRef> {
    label(lookup::<Int32Type>(keys, table), labels)
}

/// Texts by their position among all labels.
///
/// # Errors
/// When a key has no label.
pub(crate) fn label(keys: Int32Array, labels: &StringArray) -> Result<ArrayRef> {
    let values: ArrayRef = Arc::new(labels.clone());
    Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys, values).map_err(array_error)?))
}

fn lookup<T: ArrowPrimitiveType>(keys: &[u32], table: &[Option<T::Native>]) -> PrimitiveArray<T> {
    let plain: Vec<T::Native> = table.iter().map(|value| value.unwrap_or_default()).collect();
    let values: Vec<T::Native> = keys.iter().map(|&key| plain[key as usize]).collect();
    let nulls = table.iter().any(Option::is_none).then(|| {
        let is_valid = |row: usize| table[keys[row] as usize].is_some();
        NullBuffer::new(BooleanBuffer::collect_bool(keys.len(), is_valid))
    });
    PrimitiveArray::new(values.into(), nulls)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;

    #[test]
    fn rows_take_their_values_from_the_table() {
        let keys = [1, 0, 2, 1];
        let numbers = lookup_numbers(&keys, &[Some(7), None, Some(300)], &DataType::Int32);
        let numbers: Vec<_> = numbers.as_primitive::<Int32Type>().iter().collect();
        assert_eq!(numbers, [None, Some(7), Some(300), None]);
        let all = lookup_numbers(&keys, &[Some(7), Some(8), Some(9)], &DataType::UInt8);
        assert!(all.nulls().is_none());
        assert_eq!(all.as_primitive::<UInt8Type>().values(), &[8, 7, 9, 8]);

        let texts = lookup_labels(&keys, &[Some(0), None, Some(1)], &StringArray::from(vec!["a", "c"])).unwrap();
        let texts: Vec<_> =
            texts.as_dictionary::<Int32Type>().downcast_dict::<StringArray>().unwrap().into_iter().collect();
        assert_eq!(texts, [None, Some("a"), Some("c"), None]);
    }

    #[test]
    fn guids_are_texts_or_bytes() {
        let guid = Guid::from_parts(0x0011_2233, 0x4455, 0x6677, 0x8899_aabb_ccdd_eeff);
        let table = [Some(guid), None];
        let texts = lookup_guids(&[0, 1], &table, &DataType::Utf8).unwrap();
        let texts: Vec<_> =
            texts.as_dictionary::<Int32Type>().downcast_dict::<StringArray>().unwrap().into_iter().collect();
        assert_eq!(texts, [Some("00112233-4455-6677-8899-aabbccddeeff"), None]);
        let bytes = lookup_guids(&[1, 0], &table, &DataType::FixedSizeBinary(16)).unwrap();
        let bytes = bytes.as_fixed_size_binary();
        assert!(bytes.is_null(0));
        assert_eq!(bytes.value(1)[..4], [0, 0x11, 0x22, 0x33]);
    }
}
