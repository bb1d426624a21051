//! Turns one row group of Arrow columns into finished column chunks, on any thread.
//!
//! parquet's page boundaries depend on how rows are handed over, so a column is handed over as one array, always. That
//! makes the bytes a function of the columns alone, whether they are encoded one after another or side by side.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;

use arrow_array::{ArrayRef, new_null_array};
use arrow_schema::{DataType, Field, SchemaRef};
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::statistics::Statistics;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{SchemaDescriptor, TypePtr};
use rayon::prelude::*;

use super::failure::internal;
use crate::error::{Error, Result};

/// The column whose least and greatest value a file's manifest entry states.
const TIME_COLUMN: &str = "timestamp_ns";

/// What one row group holds, made column by column while it is encoded, so that only one column is in memory as Arrow.
pub trait RowGroup: Send + Sync {
    /// The number of rows.
    fn rows(&self) -> usize;

    /// The whole column at this position of the table's schema, [`RowGroup::rows`] long, of the schema's type or a dictionary of it.
    ///
    /// Called at most once per column, in any order and from any thread; equal calls must give equal arrays.
    ///
    /// # Errors
    /// Whatever keeps the column from being made; it ends the conversion.
    fn column(&self, index: usize) -> Result<ArrayRef>;

    /// Whether the column is NULL in every row. Then [`RowGroup::column`] is not called: all such columns of one type
    /// share one array. The bytes are the same either way.
    fn all_null(&self, index: usize) -> bool {
        let _ = index;
        false
    }
}

/// A row group in its final bytes, waiting for its place in a file.
pub struct EncodedGroup {
    pub(super) chunks: Vec<ArrowColumnChunk>,
    rows: usize,
    bytes: u64,
    pub(super) time_range: Option<(i64, i64)>,
    permit: Option<Box<dyn Any + Send>>,
}

impl EncodedGroup {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The encoded, compressed size in bytes: about what it occupies in memory and exactly what its pages take in the
    /// file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Keeps `permit` (a share of a memory budget, say) until the group has been written or dropped.
    #[must_use]
    pub fn holding(mut self, permit: impl Any + Send) -> Self {
        self.permit = Some(Box::new(permit));
        self
    }
}

impl fmt::Debug for EncodedGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncodedGroup").field("rows", &self.rows).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// Encodes the row groups of one table.
pub(super) struct Encoder {
    schema: SchemaRef,
    factory: ArrowRowGroupWriterFactory,
    /// How many leaf columns each top-level column has.
    leaves: Vec<usize>,
    /// The leaf position of [`TIME_COLUMN`].
    time_leaf: Option<usize>,
}

impl Encoder {
    pub(super) fn new(
        schema: SchemaRef,
        file_schema: &SchemaDescriptor,
        properties: WriterPropertiesPtr,
    ) -> Result<Self> {
        let mut leaves = vec![0; schema.fields().len()];
        for leaf in 0..file_schema.num_columns() {
            leaves[file_schema.get_column_root_idx(leaf)] += 1;
        }
        let columns = file_schema.columns();
        let time_leaf = columns.iter().position(|leaf| matches!(leaf.path().parts(), [name] if name == TIME_COLUMN));
        let factory = factory(file_schema.root_schema_ptr(), &schema, properties)
            .map_err(|cause| internal("cannot set up the column writers").caused_by(cause))?;
        Ok(Encoder { schema, factory, leaves, time_leaf })
    }

    /// One column after another.
    pub(super) fn encode(&self, group: &dyn RowGroup) -> Result<EncodedGroup> {
        let nulls = self.null_arrays(group);
        let mut chunks = Vec::with_capacity(self.leaves.iter().sum());
        for (index, writers) in self.column_writers()?.into_iter().enumerate() {
            chunks.extend(self.encode_column(group, index, writers, &nulls)?);
        }
        Ok(self.finished(group, chunks))
    }

    /// Columns side by side on the current rayon pool; every column in work is in memory at once.
    pub(super) fn encode_parallel(&self, group: &dyn RowGroup) -> Result<EncodedGroup> {
        let nulls = self.null_arrays(group);
        let columns: Vec<Vec<ArrowColumnChunk>> = self
            .column_writers()?
            .into_par_iter()
            .enumerate()
            .map(|(index, writers)| self.encode_column(group, index, writers, &nulls))
            .collect::<Result<_>>()?;
        Ok(self.finished(group, columns.into_iter().flatten().collect()))
    }

    /// New writers, one list per top-level column.
    fn column_writers(&self) -> Result<Vec<Vec<ArrowColumnWriter>>> {
        // The index matters only to encryption.
        let writers = self.factory.create_column_writers(0);
        let mut writers =
            writers.map_err(|cause| internal("cannot set up the column writers").caused_by(cause))?.into_iter();
        Ok(self.leaves.iter().map(|&count| writers.by_ref().take(count).collect()).collect())
    }

    /// One shared array per type of the columns that are NULL throughout.
    fn null_arrays(&self, group: &dyn RowGroup) -> HashMap<DataType, ArrayRef> {
        let mut arrays = HashMap::new();
        for (index, field) in self.schema.fields().iter().enumerate() {
            if group.all_null(index) && !arrays.contains_key(field.data_type()) {
                arrays.insert(field.data_type().clone(), new_null_array(field.data_type(), group.rows()));
            }
        }
        arrays
    }

    fn encode_column(
        &self,
        group: &dyn RowGroup,
        index: usize,
        writers: Vec<ArrowColumnWriter>,
        nulls: &HashMap<DataType, ArrayRef>,
    ) -> Result<Vec<ArrowColumnChunk>> {
        let field = self.schema.field(index);
        let array = if group.all_null(index) { nulls.get(field.data_type()).cloned() } else { None };
        let array = array.map_or_else(|| group.column(index), Ok)?;
        check(field, &array, group.rows())?;
        encode_array(field, &array, writers)
            .map_err(|cause| internal(format!("cannot encode column {:?}", field.name())).caused_by(cause))
    }

    fn finished(&self, group: &dyn RowGroup, chunks: Vec<ArrowColumnChunk>) -> EncodedGroup {
        let bytes = chunks.iter().map(|chunk| chunk.close().bytes_written).sum();
        let time_range = self.time_leaf.and_then(|leaf| match chunks.get(leaf)?.close().metadata.statistics()? {
            Statistics::Int64(values) => Some((*values.min_opt()?, *values.max_opt()?)),
            _ => None,
        });
        EncodedGroup { chunks, rows: group.rows(), bytes, time_range, permit: None }
    }
}

/// The maker of column writers. It wants a file writer to copy schema and settings from; no file is needed for that.
fn factory(
    root: TypePtr,
    schema: &SchemaRef,
    properties: WriterPropertiesPtr,
) -> Result<ArrowRowGroupWriterFactory, ParquetError> {
    let pattern = SerializedFileWriter::new(std::io::sink(), root, properties)?;
    Ok(ArrowRowGroupWriterFactory::new(&pattern, SchemaRef::clone(schema)))
}

/// A column that does not fit the schema is a bug of whoever made it; parquet would panic or write wrong rows.
fn check(field: &Field, array: &ArrayRef, rows: usize) -> Result<(), Error> {
    let name = field.name();
    // A dictionary stands for the values in it: parquet writes the same bytes.
    let found = match array.data_type() {
        DataType::Dictionary(_, values) => values,
        plain => plain,
    };
    if found != field.data_type() {
        let expected = field.data_type();
        return Err(internal(format!("column {name:?} should be {expected}, found {found}")));
    }
    if array.len() != rows {
        return Err(internal(format!("column {name:?} should have {rows} rows, found {}", array.len())));
    }
    if !field.is_nullable() && array.null_count() > 0 {
        return Err(internal(format!("column {name:?} must not be NULL, found {} NULLs", array.null_count())));
    }
    Ok(())
}

fn encode_array(
    field: &Field,
    array: &ArrayRef,
    writers: Vec<ArrowColumnWriter>,
) -> Result<Vec<ArrowColumnChunk>, ParquetError> {
    let leaves = compute_leaves(field, array)?;
    if leaves.len() != writers.len() {
        return Err(ParquetError::General(format!("{} leaves for {} writers", leaves.len(), writers.len())));
    }
    let encode_leaf = |(leaf, mut writer): (_, ArrowColumnWriter)| {
        writer.write(&leaf)?;
        writer.close()
    };
    leaves.into_iter().zip(writers).map(encode_leaf).collect()
}
