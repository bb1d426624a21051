//! Columns that follow from a number per row: each takes its values from a short table.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, DictionaryArray, FixedSizeBinaryArray, Int32Array, PrimitiveArray, StringArray};
use arrow_schema::DataType;
use base::error::Result;
use base::guid::Guid;

use super::column_batch::KeyTable;
use super::presence::array_error;

/// The value of each row's key in a table, NULL where the row has no key or the table no value; of an integer type that
/// holds them all, of text, or of 16 bytes.
///
/// # Errors
/// When the values do not fit into one array.
pub fn lookup(keys: &Int32Array, table: &KeyTable, data_type: &DataType) -> Result<ArrayRef> {
    match table {
        KeyTable::Numbers(values) => Ok(numbers(keys, values, data_type)),
        KeyTable::Texts { places, labels } => label(&pick::<Int32Type, _>(keys, places), labels),
        KeyTable::Guids(guids) if *data_type == DataType::Utf8 => {
            let text = |guid: &Option<[u8; 16]>| Guid::from_text_order(guid.unwrap_or_default()).to_string();
            let positions: Vec<_> = (0..).zip(guids).map(|(position, guid)| guid.map(|_: [u8; 16]| position)).collect();
            let labels = StringArray::from_iter_values(guids.iter().map(text));
            label(&pick::<Int32Type, u32>(keys, &positions), &labels)
        }
        KeyTable::Guids(guids) => {
            let guids: Vec<_> = guids.iter().map(|guid| guid.map(i128::from_ne_bytes)).collect();
            let (_, values, nulls) = pick::<Decimal128Type, _>(keys, &guids).into_parts();
            Ok(Arc::new(FixedSizeBinaryArray::try_new(16, values.into_inner(), nulls).map_err(array_error)?))
        }
    }
}

/// Texts by their position among all labels.
fn label(keys: &Int32Array, labels: &StringArray) -> Result<ArrayRef> {
    let values: ArrayRef = Arc::new(labels.clone());
    Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys.clone(), values).map_err(array_error)?))
}

fn numbers(keys: &Int32Array, table: &[Option<i64>], data_type: &DataType) -> ArrayRef {
    match data_type {
        DataType::UInt8 => Arc::new(pick::<UInt8Type, _>(keys, table)),
        DataType::UInt16 => Arc::new(pick::<UInt16Type, _>(keys, table)),
        DataType::UInt32 => Arc::new(pick::<UInt32Type, _>(keys, table)),
        DataType::UInt64 => Arc::new(pick::<UInt64Type, _>(keys, table)),
        DataType::Int16 => Arc::new(pick::<Int16Type, _>(keys, table)),
        DataType::Int32 => Arc::new(pick::<Int32Type, _>(keys, table)),
        _ => Arc::new(pick::<Int64Type, _>(keys, table)),
    }
}

fn pick<T: ArrowPrimitiveType<Native: TryFrom<V>>, V: Copy>(
    keys: &Int32Array,
    table: &[Option<V>],
) -> PrimitiveArray<T> {
    let table: Vec<Option<T::Native>> =
        table.iter().map(|value| value.and_then(|value| value.try_into().ok())).collect();
    keys.iter().map(|key| *table.get(usize::try_from(key?).ok()?)?).collect()
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;

    use super::*;

    fn texts(array: &ArrayRef) -> Vec<Option<&str>> {
        array.as_dictionary::<Int32Type>().downcast_dict::<StringArray>().unwrap().into_iter().collect()
    }

    #[test]
    fn rows_take_their_values_from_the_table() {
        let keys = Int32Array::from(vec![Some(1), Some(0), None, Some(2)]);
        let look_up = |table: &KeyTable, data_type: &DataType| lookup(&keys, table, data_type).unwrap();
        let numbers = look_up(&KeyTable::Numbers(vec![Some(7), None, Some(300)]), &DataType::Int32);
        assert_eq!(numbers.as_primitive::<Int32Type>().iter().collect::<Vec<_>>(), [None, Some(7), None, Some(300)]);
        let all = look_up(&KeyTable::Numbers(vec![Some(7), Some(8), Some(9)]), &DataType::UInt8);
        assert_eq!(all.as_primitive::<UInt8Type>().iter().collect::<Vec<_>>(), [Some(8), Some(7), None, Some(9)]);
        let names = look_up(&KeyTable::of_texts([Some("a"), None, Some("c")]), &DataType::Utf8);
        assert_eq!(texts(&names), [None, Some("a"), None, Some("c")]);
    }

    #[test]
    fn guids_are_texts_or_bytes() {
        let guid = Guid::from_parts(0x0011_2233, 0x4455, 0x6677, 0x8899_aabb_ccdd_eeff);
        let table = KeyTable::Guids(vec![Some(guid.to_text_order()), None]);
        let named = lookup(&Int32Array::from(vec![0, 1]), &table, &DataType::Utf8).unwrap();
        assert_eq!(texts(&named), [Some("00112233-4455-6677-8899-aabbccddeeff"), None]);
        let bytes = lookup(&Int32Array::from(vec![1, 0]), &table, &DataType::FixedSizeBinary(16)).unwrap();
        let bytes = bytes.as_fixed_size_binary();
        assert!(bytes.is_null(0));
        assert_eq!(bytes.value(1)[..4], [0, 0x11, 0x22, 0x33]);
    }
}
