//! Arrow arrays as batches of values, where there is a form for their type.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ByteArrayType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampNanosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, GenericByteArray, StringArray};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_schema::{DataType, TimeUnit};
use base::error::Result;

use super::batch_scratch::BatchScratch;
use super::column_batch::{BatchValues, ColumnBatch, KeyTable, ListItems, Present};

/// Where the batches of a column go.
pub type BatchSink<'a> = dyn FnMut(ColumnBatch<'_>) -> Result<()> + 'a;

/// Hands on an array: as values where there is a form for its type, else as it is.
///
/// # Errors
/// Those of `sink`.
pub fn emit(array: &ArrayRef, scratch: &mut BatchScratch, sink: &mut BatchSink<'_>) -> Result<()> {
    match array.data_type() {
        DataType::Struct(_) => sink(ColumnBatch::Array(Arc::clone(array))),
        _ if array.null_count() == array.len() => sink(ColumnBatch::nulls(array.len())),
        DataType::Boolean => flags(array.as_boolean(), scratch, sink),
        DataType::Int8 => narrow::<Int8Type>(array, scratch, sink),
        DataType::Int16 => narrow::<Int16Type>(array, scratch, sink),
        DataType::UInt8 => narrow::<UInt8Type>(array, scratch, sink),
        DataType::UInt16 => narrow::<UInt16Type>(array, scratch, sink),
        DataType::Utf8 => bytes(array.as_string::<i32>(), scratch, sink),
        DataType::Binary => bytes(array.as_binary::<i32>(), scratch, sink),
        DataType::Dictionary(..) => dictionary(array, scratch, sink),
        DataType::List(_) => lists(array, scratch, sink),
        _ => {
            let BatchScratch { rows, int32, int64, .. } = scratch;
            let present = present(array.nulls(), rows);
            let values = match stored(array) {
                Some(ListItems::Int32(values)) => BatchValues::Int32(pick(values, present, int32)),
                Some(ListItems::Int64(values)) => BatchValues::Int64(pick(values, present, int64)),
                Some(ListItems::Bytes(_)) | None => return sink(ColumnBatch::Array(Arc::clone(array))),
            };
            sink(ColumnBatch::Values { rows: array.len(), present, values })
        }
    }
}

/// The rows without NULL.
fn present<'a>(nulls: Option<&NullBuffer>, rows: &'a mut Vec<u32>) -> Present<'a> {
    let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) else { return Present::All };
    rows.clear();
    // A batch has some ten thousand rows.
    rows.extend(nulls.valid_indices().filter_map(|row| u32::try_from(row).ok()));
    Present::Rows(rows)
}

/// The items of some rows, lent where that is all of them.
fn pick<'a, T: Copy>(items: &'a [T], present: Present<'_>, picked: &'a mut Vec<T>) -> &'a [T] {
    let Present::Rows(rows) = present else { return items };
    picked.clear();
    picked.extend(rows.iter().map(|&row| items[row as usize]));
    picked
}

/// The items of an array whose numbers lie as Parquet holds them, those of NULLs included.
fn stored(array: &dyn Array) -> Option<ListItems<'_>> {
    fn native<T: ArrowPrimitiveType, N: ArrowNativeType>(array: &dyn Array) -> &[N] {
        array.as_primitive::<T>().values().inner().typed_data()
    }
    Some(match array.data_type() {
        DataType::Int32 => ListItems::Int32(native::<Int32Type, _>(array)),
        DataType::UInt32 => ListItems::Int32(native::<UInt32Type, _>(array)),
        DataType::Float32 => ListItems::Int32(native::<Float32Type, _>(array)),
        DataType::Float64 => ListItems::Int64(native::<Float64Type, _>(array)),
        DataType::Int64 => ListItems::Int64(native::<Int64Type, _>(array)),
        DataType::UInt64 => ListItems::Int64(native::<UInt64Type, _>(array)),
        DataType::Timestamp(TimeUnit::Microsecond, _) => ListItems::Int64(native::<TimestampMicrosecondType, _>(array)),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => ListItems::Int64(native::<TimestampNanosecondType, _>(array)),
        _ => return None,
    })
}

/// Numbers of fewer bits.
fn narrow<T: ArrowPrimitiveType>(array: &ArrayRef, scratch: &mut BatchScratch, sink: &mut BatchSink<'_>) -> Result<()>
where
    T::Native: Into<i32>,
{
    let BatchScratch { rows, int32, .. } = scratch;
    let (items, present) = (array.as_primitive::<T>().values(), present(array.nulls(), rows));
    int32.clear();
    match present {
        Present::All => int32.extend(items.iter().map(|&item| item.into())),
        Present::Rows(rows) => int32.extend(rows.iter().map(|&row| items[row as usize].into())),
    }
    sink(ColumnBatch::Values { rows: array.len(), present, values: BatchValues::Int32(int32) })
}

/// Booleans.
fn flags(array: &BooleanArray, scratch: &mut BatchScratch, sink: &mut BatchSink<'_>) -> Result<()> {
    let BatchScratch { rows, flags, .. } = scratch;
    let present = present(array.nulls(), rows);
    flags.clear();
    match present {
        Present::All => flags.extend(array.values()),
        Present::Rows(rows) => flags.extend(rows.iter().map(|&row| array.value(row as usize))),
    }
    sink(ColumnBatch::Values { rows: array.len(), present, values: BatchValues::Flags(flags) })
}

/// Texts or binary values.
fn bytes<T: ByteArrayType>(
    array: &GenericByteArray<T>,
    scratch: &mut BatchScratch,
    sink: &mut BatchSink<'_>,
) -> Result<()> {
    let present = present(array.nulls(), &mut scratch.rows);
    let value = |row: usize| -> &[u8] { array.value(row).as_ref() };
    let values: Vec<_> = match present {
        Present::All => (0..array.len()).map(value).collect(),
        Present::Rows(rows) => rows.iter().map(|&row| value(row as usize)).collect(),
    };
    sink(ColumnBatch::Values { rows: array.len(), present, values: BatchValues::Bytes(&values) })
}

/// Positions among texts.
fn dictionary(array: &ArrayRef, scratch: &mut BatchScratch, sink: &mut BatchSink<'_>) -> Result<()> {
    let dictionary = array.as_dictionary_opt::<Int32Type>();
    let labels = dictionary.and_then(|dictionary| Some((dictionary, dictionary.values().as_string_opt::<i32>()?)));
    let Some((dictionary, labels)) = labels.filter(|(_, labels)| labels.null_count() == 0) else {
        return sink(ColumnBatch::Array(Arc::clone(array)));
    };
    let table = table_of(labels, scratch);
    let BatchScratch { rows, keys, .. } = scratch;
    let present = present(dictionary.keys().nulls(), rows);
    let key = |row: usize| dictionary.keys().value(row).unsigned_abs();
    keys.clear();
    match present {
        Present::All => keys.extend((0..array.len()).map(key)),
        Present::Rows(rows) => keys.extend(rows.iter().map(|&row| key(row as usize))),
    }
    sink(ColumnBatch::Values { rows: array.len(), present, values: BatchValues::Keys { keys, table: &table } })
}

/// The table of a dictionary: that of the batch before, where the labels are the same.
fn table_of(labels: &StringArray, scratch: &mut BatchScratch) -> Arc<KeyTable> {
    // The labels are kept with their table, so that no others can come to lie where they lie.
    let at = |labels: &StringArray| (labels.values().as_ptr(), labels.offsets().as_ptr(), labels.len());
    if let Some((last, table)) = scratch.dictionary.as_ref().filter(|(last, _)| at(last) == at(labels)) {
        debug_assert_eq!(last.len(), table.len());
        return Arc::clone(table);
    }
    let places = (0..).map(Some).take(labels.len()).collect();
    let table = Arc::new(KeyTable::Texts { places, labels: labels.clone() });
    scratch.dictionary = Some((labels.clone(), Arc::clone(&table)));
    table
}

/// Lists of numbers or texts; those with a NULL in them, and NULL lists that cover items, stay arrays.
fn lists(array: &ArrayRef, scratch: &mut BatchScratch, sink: &mut BatchSink<'_>) -> Result<()> {
    let list = array.as_list::<i32>();
    let (present, offsets) = (present(list.nulls(), &mut scratch.rows), list.offsets());
    let (first, last) = (offsets[0].as_usize(), offsets[list.len()].as_usize());
    let end = |row: usize| u32::try_from(offsets[row + 1].as_usize() - first).unwrap_or(u32::MAX);
    let ends = &mut scratch.ends;
    ends.clear();
    match present {
        Present::All => ends.extend((0..list.len()).map(end)),
        Present::Rows(rows) => ends.extend(rows.iter().map(|&row| end(row as usize))),
    }
    let covered: usize = match present {
        Present::All => last - first,
        Present::Rows(rows) => {
            rows.iter().map(|&row| offsets[row as usize + 1] - offsets[row as usize]).sum::<i32>().as_usize()
        }
    };
    let (narrowed, mut texts) = (&mut scratch.int32, Vec::new());
    let items = match list.values().null_count() {
        0 if covered == last - first => items(list.values(), first..last, narrowed, &mut texts),
        _ => None,
    };
    match items {
        Some(items) => {
            sink(ColumnBatch::Values { rows: array.len(), present, values: BatchValues::Lists { ends, items } })
        }
        None => sink(ColumnBatch::Array(Arc::clone(array))),
    }
}

/// Some items of lists as Parquet holds them.
fn items<'a>(
    array: &'a ArrayRef,
    range: std::ops::Range<usize>,
    narrowed: &'a mut Vec<i32>,
    texts: &'a mut Vec<&'a [u8]>,
) -> Option<ListItems<'a>> {
    fn widen<T: ArrowPrimitiveType<Native: Into<i32>>>(
        array: &ArrayRef,
        range: std::ops::Range<usize>,
        all: &mut Vec<i32>,
    ) {
        all.clear();
        all.extend(array.as_primitive::<T>().values()[range].iter().map(|&item| item.into()));
    }
    match array.data_type() {
        DataType::Int8 => widen::<Int8Type>(array, range, narrowed),
        DataType::Int16 => widen::<Int16Type>(array, range, narrowed),
        DataType::UInt8 => widen::<UInt8Type>(array, range, narrowed),
        DataType::UInt16 => widen::<UInt16Type>(array, range, narrowed),
        DataType::Utf8 => {
            let all = array.as_string::<i32>();
            texts.extend(range.map(|item| all.value(item).as_bytes()));
            return Some(ListItems::Bytes(texts));
        }
        _ => {
            return Some(match stored(array)? {
                ListItems::Int32(items) => ListItems::Int32(&items[range]),
                ListItems::Int64(items) => ListItems::Int64(&items[range]),
                ListItems::Bytes(items) => ListItems::Bytes(&items[range]),
            });
        }
    }
    Some(ListItems::Int32(narrowed))
}

#[cfg(test)]
mod tests {
    use arrow_array::{DictionaryArray, Float64Array, Int8Array, Int32Array, ListArray, UInt64Array, new_null_array};
    use arrow_buffer::OffsetBuffer;
    use arrow_schema::Field;

    use super::*;

    fn shown(array: impl Array + 'static) -> String {
        shown_with(&(Arc::new(array) as ArrayRef), &mut BatchScratch::default())
    }

    fn shown_with(array: &ArrayRef, scratch: &mut BatchScratch) -> String {
        let mut shown = String::new();
        let mut sink = |batch: ColumnBatch<'_>| {
            shown = match &batch {
                ColumnBatch::Array(array) => format!("array of {}", array.data_type()),
                ColumnBatch::Values { rows, present, values } => match values {
                    BatchValues::Keys { keys, table } => format!("{rows} {present:?} {keys:?} of {}", table.len()),
                    values => format!("{rows} {present:?} {values:?}"),
                },
            };
            Ok(())
        };
        emit(array, scratch, &mut sink).unwrap();
        shown
    }

    #[test]
    fn arrays_are_handed_on_in_the_form_of_their_type() {
        let table = [
            (shown(Int8Array::from(vec![-1, 2])), "2 All Int32([-1, 2])"),
            (shown(Int8Array::from(vec![None, Some(2)])), "2 Rows([1]) Int32([2])"),
            (shown(UInt64Array::from(vec![u64::MAX, 1])), "2 All Int64([-1, 1])"),
            (shown(UInt64Array::from(vec![Some(7), None, Some(8)])), "3 Rows([0, 2]) Int64([7, 8])"),
            (shown(UInt64Array::from(vec![Some(7), None, Some(8)]).slice(1, 2)), "2 Rows([1]) Int64([8])"),
            (shown(BooleanArray::from(vec![Some(true), None, Some(false)])), "3 Rows([0, 2]) Flags([true, false])"),
            (shown(BooleanArray::from(vec![false, true, true]).slice(1, 2)), "2 All Flags([true, true])"),
            (shown(StringArray::from(vec![Some("a"), None])), "2 Rows([0]) Bytes([[97]])"),
            (shown(new_null_array(&DataType::Float64, 3)), "3 Rows([]) Bytes([])"),
            (shown(Float64Array::from(vec![1.0])), "1 All Int64([4607182418800017408])"),
        ];
        for (found, expected) in table {
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn batches_of_one_dictionary_share_their_table() {
        let mut scratch = BatchScratch::default();
        let keys = Int32Array::from(vec![Some(1), None, Some(0), Some(1)]);
        let labels: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
        let array = DictionaryArray::try_new(keys, labels).unwrap();
        assert_eq!(shown_with(&(Arc::new(array.slice(0, 2)) as ArrayRef), &mut scratch), "2 Rows([0]) [1] of 2");
        let first = Arc::clone(&scratch.dictionary.as_ref().unwrap().1);
        assert_eq!(shown_with(&(Arc::new(array.slice(2, 2)) as ArrayRef), &mut scratch), "2 All [0, 1] of 2");
        assert!(Arc::ptr_eq(&first, &scratch.dictionary.as_ref().unwrap().1));
        let others: ArrayRef = Arc::new(StringArray::from(vec!["c", "d"]));
        let array: ArrayRef = Arc::new(DictionaryArray::try_new(Int32Array::from(vec![1]), others).unwrap());
        assert_eq!(shown_with(&array, &mut scratch), "1 All [1] of 2");
        assert!(!Arc::ptr_eq(&first, &scratch.dictionary.as_ref().unwrap().1));
    }

    #[test]
    fn lists_are_handed_on_where_their_items_lie_one_after_another() {
        let list = |ends: Vec<i32>, valid: Vec<bool>| -> ArrayRef {
            let item = Arc::new(Field::new("element", DataType::Int32, true));
            let items: ArrayRef = Arc::new(Int32Array::from((0..*ends.last().unwrap()).collect::<Vec<_>>()));
            Arc::new(ListArray::new(item, OffsetBuffer::new(ends.into()), items, Some(NullBuffer::from(valid))))
        };
        let whole = list(vec![0, 2, 2, 2, 5], vec![true, false, true, true]);
        assert_eq!(
            shown(Arc::clone(&whole)),
            "4 Rows([0, 2, 3]) Lists { ends: [2, 2, 5], items: Int32([0, 1, 2, 3, 4]) }"
        );
        assert_eq!(shown(whole.slice(2, 2)), "2 All Lists { ends: [0, 3], items: Int32([2, 3, 4]) }");
        assert!(shown(list(vec![0, 2, 4], vec![true, false])).starts_with("array of List"));
        let text = Arc::new(Field::new("element", DataType::Utf8, true));
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
        let texts = ListArray::new(text, OffsetBuffer::new(vec![0, 1, 3].into()), texts, None);
        assert_eq!(shown(texts.slice(1, 1)), "1 All Lists { ends: [2], items: Bytes([[98], [99]]) }");
        let item = Arc::new(Field::new("element", DataType::Int32, true));
        let items: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None]));
        assert!(shown(ListArray::new(item, OffsetBuffer::from_lengths([2]), items, None)).starts_with("array of List"));
    }
}
