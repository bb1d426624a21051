//! A row group as record batches: some of its columns, a range of rows at a time.

use std::iter;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray, new_null_array};
use arrow_schema::{DataType, SchemaRef};
use arrow_select::take::take;
use base::error::{Error, Result};
use columnar::columns::RowSource as _;

use super::row_group::RowGroup;

/// Columns of a table that a reader wants.
#[derive(Clone, Debug)]
pub struct Projection {
    /// Their names and types.
    pub schema: SchemaRef,
    /// What fills each of them.
    pub columns: Vec<Filled>,
}

/// What fills a column that a reader wants.
#[derive(Clone, Debug)]
pub enum Filled {
    /// The column of the table at this place in its schema.
    Column(usize),
    /// The same text in each row.
    Text(Arc<str>),
    /// NULL in each row.
    Nothing,
}

impl Projection {
    /// Some rows of a row group, with a value of the column's own type in each cell.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`](base::error::ErrorKind::Internal) when a column does not fit its type.
    pub fn batch(&self, group: &RowGroup, rows: Range<usize>) -> Result<RecordBatch> {
        let types = self.schema.fields().iter().map(|field| field.data_type());
        let columns = self.columns.iter().zip(types);
        let columns = columns.map(|(filled, data_type)| match filled {
            Filled::Column(index) => column(group, *index, rows.clone(), data_type),
            Filled::Text(text) => {
                Ok(Arc::new(StringArray::from_iter_values(iter::repeat_n(text, rows.len()))) as ArrayRef)
            }
            Filled::Nothing => Ok(new_null_array(data_type, rows.len())),
        });
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        RecordBatch::try_new_with_options(SchemaRef::clone(&self.schema), columns, &options)
            .map_err(|error| Error::bug("a batch does not fit its schema").caused_by(error))
    }
}

fn column(group: &RowGroup, index: usize, rows: Range<usize>, data_type: &DataType) -> Result<ArrayRef> {
    if group.all_null(index, rows.clone()) {
        return Ok(new_null_array(data_type, rows.len()));
    }
    let values = group.column(index, rows)?;
    match values.as_dictionary_opt::<Int32Type>() {
        Some(dictionary) if values.data_type() != data_type => take(dictionary.values(), dictionary.keys(), None)
            .map_err(|error| Error::bug("a key of a column has no value").caused_by(error)),
        _ => Ok(values),
    }
}
