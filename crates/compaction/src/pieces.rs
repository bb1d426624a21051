//! Rows of one trace that lie one after another, as they wait for their row group: of a column that is mostly NULL only the rest.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, RecordBatch, StructArray, UInt32Array, new_null_array};
use arrow_schema::{ArrowError, DataType, FieldRef, SchemaRef};
use arrow_select::concat::concat;
use arrow_select::take::take;

/// Rows as they are read, with the columns of the table behind `trace`; `None` is one that their file lacks.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    /// How many.
    pub rows: usize,
    /// Their values.
    pub columns: Vec<Option<ArrayRef>>,
}

impl Rows {
    /// Those of a batch. `places`: of each column behind `trace`, its place in the batch.
    pub(crate) fn of(batch: &RecordBatch, places: &[Option<usize>]) -> Rows {
        let column = |place: &Option<usize>| batch.columns().get((*place)?).cloned();
        Rows { rows: batch.num_rows(), columns: places.iter().map(column).collect() }
    }

    /// Some of them.
    pub(crate) fn slice(&self, from: usize, rows: usize) -> Rows {
        let column = |values: &Option<ArrayRef>| values.as_ref().map(|values| values.slice(from, rows));
        Rows { rows, columns: self.columns.iter().map(column).collect() }
    }
}

/// Some rows of a trace.
#[derive(Debug)]
pub(crate) struct Piece {
    /// The trace, by its place.
    pub trace: usize,
    /// How many rows.
    pub rows: usize,
    columns: Vec<Stored>,
}

/// A column of them.
#[derive(Debug)]
enum Stored {
    /// All NULL.
    Null,
    /// As it is.
    Whole(ArrayRef),
    /// The values, and in which rows they are.
    Sparse { rows: Vec<u32>, values: ArrayRef },
}

/// What a column of a piece takes in memory besides its values, about.
const OVERHEAD: usize = 128;

impl Piece {
    /// All of some rows of one trace that lie one after another.
    pub(crate) fn of(trace: usize, parts: &[Rows], schema: &SchemaRef) -> Result<Piece, ArrowError> {
        let column = |(index, field): (usize, &FieldRef)| {
            let part = |part: &Rows| match part.columns.get(index) {
                Some(Some(values)) => retyped(values, field.data_type()),
                _ => Ok(new_null_array(field.data_type(), part.rows)),
            };
            if parts.iter().all(|part| matches!(part.columns.get(index), Some(None) | None)) {
                return Ok(Stored::Null);
            }
            let parts = parts.iter().map(part).collect::<Result<Vec<_>, _>>()?;
            match &parts[..] {
                [one] => stored(one),
                several => stored(&concat(&several.iter().map(|part| &**part as &dyn Array).collect::<Vec<_>>())?),
            }
        };
        let columns = schema.fields().iter().skip(1).enumerate().map(column).collect::<Result<_, _>>()?;
        Ok(Piece { trace, rows: parts.iter().map(|part| part.rows).sum(), columns })
    }

    /// The bytes that it takes, which depend on its rows alone.
    pub(crate) fn weight(&self) -> usize {
        let of_column = |column: &Stored| match column {
            Stored::Null => 0,
            Stored::Whole(values) => OVERHEAD + weight(&**values),
            Stored::Sparse { rows, values } => OVERHEAD + rows.len() * 4 + weight(&**values),
        };
        self.columns.iter().map(of_column).sum()
    }

    /// Whether a column is NULL in all rows. Columns are counted from the one behind `trace`.
    pub(crate) fn is_null(&self, column: usize) -> bool {
        matches!(self.columns.get(column), Some(Stored::Null) | None)
    }

    /// Some rows of a column.
    pub(crate) fn values(&self, column: usize, range: Range<usize>, of: &DataType) -> Result<ArrayRef, ArrowError> {
        match self.columns.get(column) {
            Some(Stored::Whole(values)) => Ok(values.slice(range.start, range.len())),
            Some(Stored::Sparse { rows, values }) => {
                let place = |row: usize| rows.partition_point(|&with| (with as usize) < row);
                let (first, last) = (place(range.start), place(range.end));
                let mut indices: Vec<Option<u32>> = vec![None; range.len()];
                for (index, row) in (first..last).zip(rows.get(first..last).unwrap_or_default()) {
                    let slot = indices.get_mut((*row as usize).saturating_sub(range.start));
                    slot.into_iter().for_each(|slot| *slot = u32::try_from(index).ok());
                }
                take(values, &UInt32Array::from(indices), None)
            }
            Some(Stored::Null) | None => Ok(new_null_array(of, range.len())),
        }
    }
}

fn stored(array: &ArrayRef) -> Result<Stored, ArrowError> {
    let nulls = array.null_count();
    if nulls == array.len() {
        return Ok(Stored::Null);
    }
    match array.nulls().filter(|_| nulls.saturating_mul(2) > array.len()) {
        Some(valid) => {
            let rows: Vec<u32> = valid.valid_indices().filter_map(|row| u32::try_from(row).ok()).collect();
            let values = take(array, &UInt32Array::from(rows.clone()), None)?;
            Ok(Stored::Sparse { rows, values })
        }
        None => Ok(Stored::Whole(ArrayRef::clone(array))),
    }
}

/// The bytes of the values of an array, whatever else its buffers hold.
fn weight(array: &dyn Array) -> usize {
    let rows = array.len();
    let values = match array.data_type() {
        DataType::Boolean => rows / 8,
        DataType::Utf8 => rows * 4 + span(array.as_string::<i32>().value_offsets()),
        DataType::Binary => rows * 4 + span(array.as_binary::<i32>().value_offsets()),
        DataType::FixedSizeBinary(bytes) => rows * usize::try_from(*bytes).unwrap_or(0),
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            let offsets = list.value_offsets();
            let start = offsets.first().and_then(|&start| usize::try_from(start).ok()).unwrap_or(0);
            rows * 4 + weight(&*list.values().slice(start, span(offsets)))
        }
        DataType::Struct(_) => array.as_struct().columns().iter().map(|member| weight(&**member)).sum(),
        other => rows * other.primitive_width().unwrap_or(16),
    };
    values + rows / 8
}

fn span(offsets: &[i32]) -> usize {
    let (first, last) = offsets.first().zip(offsets.last()).unwrap_or((&0, &0));
    usize::try_from(last.saturating_sub(*first)).unwrap_or(0)
}

/// The same values in a type that differs in what it says of them at most: that they are UUIDs.
fn retyped(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    let mismatch = || ArrowError::SchemaError(format!("expected {to}, found {}", array.data_type()));
    if array.data_type() == to {
        return Ok(ArrayRef::clone(array));
    }
    Ok(match to {
        DataType::List(item) => {
            let list = array.as_list_opt::<i32>().ok_or_else(mismatch)?;
            let values = retyped(list.values(), item.data_type())?;
            let nulls = list.nulls().cloned();
            Arc::new(ListArray::try_new(FieldRef::clone(item), list.offsets().clone(), values, nulls)?)
        }
        DataType::Struct(fields) => {
            let structure = array.as_struct_opt().ok_or_else(mismatch)?;
            let members = fields.iter().zip(structure.columns());
            let members = members.map(|(field, member)| retyped(member, field.data_type()));
            let nulls = structure.nulls().cloned();
            Arc::new(StructArray::try_new(fields.clone(), members.collect::<Result<_, _>>()?, nulls)?)
        }
        _ => return Err(mismatch()),
    })
}

#[cfg(test)]
mod tests {
    use arrow_array::{Int64Array, StringArray};
    use arrow_schema::{Field, Schema};

    use super::*;

    #[test]
    fn another_type_is_an_error() {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        let item = Field::new("item", DataType::Int64, true);
        let (list, structure) = (DataType::List(Arc::new(item.clone())), DataType::Struct(vec![item].into()));
        for to in [list, structure, DataType::Utf8] {
            let error = retyped(&numbers, &to).unwrap_err().to_string();
            assert!(error.contains(&format!("expected {to}, found Int64")), "{error}");
        }
    }

    #[test]
    fn rows_come_back_however_they_are_kept() {
        let schema: SchemaRef = Arc::new(Schema::new(vec![
            Field::new("trace", DataType::Utf8, false),
            Field::new("most", DataType::Int64, true),
            Field::new("few", DataType::Utf8, true),
            Field::new("none", DataType::Int64, true),
            Field::new("lacking", DataType::Int64, true),
        ]));
        let batch = |most: Vec<Option<i64>>, few: Vec<Option<&str>>| {
            let none = Int64Array::new_null(most.len());
            RecordBatch::try_from_iter_with_nullable([
                ("none", Arc::new(none) as ArrayRef, true),
                ("few", Arc::new(StringArray::from(few)) as ArrayRef, true),
                ("most", Arc::new(Int64Array::from(most)) as ArrayRef, true),
            ])
            .unwrap()
        };
        let rows = [
            batch(vec![Some(1), None, Some(3)], vec![None, Some("b"), None]),
            batch(vec![Some(4), Some(5)], vec![None, Some("e")]),
        ];
        let places = [Some(2), Some(1), Some(0), None];
        let rows = rows.map(|batch| Rows::of(&batch, &places));
        let piece = Piece::of(7, &rows, &schema).unwrap();
        assert_eq!((piece.trace, piece.rows), (7, 5));
        assert!(matches!(piece.columns[..], [Stored::Whole(_), Stored::Sparse { .. }, Stored::Null, Stored::Null]));
        let most = piece.values(0, 1..4, &DataType::Int64).unwrap();
        assert_eq!(most.to_data(), Int64Array::from(vec![None, Some(3), Some(4)]).to_data());
        let few = piece.values(1, 1..5, &DataType::Utf8).unwrap();
        let expected: ArrayRef = Arc::new(StringArray::from(vec![Some("b"), None, None, Some("e")]));
        assert_eq!(&few, &expected);
        assert_eq!(piece.values(3, 0..2, &DataType::Int64).unwrap().null_count(), 2);
        // One batch of the same rows weighs the same.
        let whole = batch(vec![Some(1), None, Some(3), Some(4), Some(5)], vec![None, Some("b"), None, None, Some("e")]);
        let whole = Rows::of(&whole, &places);
        assert_eq!(whole.slice(1, 3).columns[1].as_ref().unwrap().len(), 3);
        assert_eq!(Piece::of(7, &[whole], &schema).unwrap().weight(), piece.weight());
    }
}
