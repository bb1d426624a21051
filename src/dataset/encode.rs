//! Turns one row group of Arrow columns into finished column chunks, on any thread.
//!
//! parquet's page boundaries depend on how rows are handed over. A column is handed over in batches of a fixed number of
//! rows, always: the bytes are a function of the columns alone, whether they are encoded one after another or side by
//! side, and what is in memory as Arrow is one batch of one column per thread.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, new_null_array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::statistics::Statistics;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type};
use rayon::prelude::*;

use super::properties::PAGE_ROWS;
use crate::columns::RowSource;
use crate::error::{Error, Result};

/// The column whose least and greatest value a file's manifest entry states.
const TIME_COLUMN: &str = "timestamp_ns";

/// Rows that are handed over together: few enough for a core's cache, even with a call stack each.
pub const BATCH_ROWS: usize = 1 << 14;

// Pages of columns without lists end where batches do.
const _: () = assert!(PAGE_ROWS.is_multiple_of(BATCH_ROWS));

/// A row group in its final bytes, waiting for its place in a file.
pub struct EncodedRowGroup {
    pub(super) chunks: Vec<ArrowColumnChunk>,
    rows: usize,
    bytes: u64,
    pub(super) time_range: Option<(i64, i64)>,
    time: EncodeTime,
}

/// How long threads worked on a row group, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EncodeTime {
    /// Making its Arrow columns: in [`RowSource::column`].
    pub columns: Duration,
    /// Encoding and compressing them.
    pub encode: Duration,
}

impl EncodedRowGroup {
    /// How long it took.
    pub fn time(&self) -> EncodeTime {
        self.time
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The encoded, compressed size in bytes: about what it occupies in memory and exactly what its pages take in the
    /// file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl fmt::Debug for EncodedRowGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncodedRowGroup").field("rows", &self.rows).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// One array of NULLs per type.
type NullArrays = HashMap<DataType, ArrayRef>;

/// The chunks of a column, one per leaf.
struct EncodedColumn {
    chunks: Vec<ArrowColumnChunk>,
    time: EncodeTime,
}

/// Encodes the row groups of one table.
pub(super) struct Encoder {
    schema: SchemaRef,
    descriptor: SchemaDescPtr,
    properties: WriterPropertiesPtr,
    /// How many leaf columns there are.
    leaves: usize,
    /// The leaf position of [`TIME_COLUMN`].
    time_leaf: Option<usize>,
}

impl Encoder {
    pub(super) fn new(schema: SchemaRef, file_schema: &SchemaDescriptor, properties: WriterPropertiesPtr) -> Self {
        let columns = file_schema.columns();
        let time_leaf = columns.iter().position(|leaf| matches!(leaf.path().parts(), [name] if name == TIME_COLUMN));
        let leaves = columns.len();
        let descriptor = Arc::new(file_schema.clone());
        Encoder { schema, descriptor, properties, leaves, time_leaf }
    }

    /// The schema of the files.
    pub(super) fn descriptor(&self) -> &SchemaDescPtr {
        &self.descriptor
    }

    /// One column after another.
    pub(super) fn encode(&self, group: &dyn RowSource) -> Result<EncodedRowGroup> {
        let (nulls, started) = self.started(group);
        let columns = (0..self.schema.fields().len()).map(|index| self.encode_column(group, index, &nulls));
        let columns = columns.collect::<Result<_>>()?;
        Ok(self.finished(group, columns, started))
    }

    /// Columns side by side on the current rayon pool.
    pub(super) fn encode_parallel(&self, group: &dyn RowSource) -> Result<EncodedRowGroup> {
        let (nulls, started) = self.started(group);
        let columns = (0..self.schema.fields().len()).into_par_iter();
        let columns = columns.map(|index| self.encode_column(group, index, &nulls));
        let columns = columns.collect::<Result<_>>()?;
        Ok(self.finished(group, columns, started))
    }

    /// The arrays of NULLs, and the time that they took.
    fn started(&self, group: &dyn RowSource) -> (NullArrays, Duration) {
        let clock = Instant::now();
        let nulls = self.null_arrays(group);
        (nulls, clock.elapsed())
    }

    /// New writers for the leaves of one column. Parquet would make those of all columns at once: of a table with
    /// thousands of columns they take more than all its rows.
    fn column_writers(&self, index: usize) -> Result<Vec<ArrowColumnWriter>, ParquetError> {
        let root = self.descriptor.root_schema();
        let column = root.get_fields().get(index).cloned().into_iter().collect();
        let root = Type::group_type_builder(root.name()).with_fields(column).build()?;
        let schema = Arc::new(Schema::new(vec![Arc::clone(&self.schema.fields()[index])]));
        // The factory wants a file writer to copy the schema from; no file is needed for that.
        let pattern = SerializedFileWriter::new(std::io::sink(), Arc::new(root), Arc::clone(&self.properties))?;
        // The index matters only to encryption.
        ArrowRowGroupWriterFactory::new(&pattern, schema).create_column_writers(0)
    }

    /// One shared array of a batch's rows per type.
    fn null_arrays(&self, group: &dyn RowSource) -> NullArrays {
        let mut arrays = HashMap::new();
        for field in self.schema.fields() {
            if !arrays.contains_key(field.data_type()) {
                let rows = group.rows().min(BATCH_ROWS);
                arrays.insert(field.data_type().clone(), new_null_array(field.data_type(), rows));
            }
        }
        arrays
    }

    fn encode_column(&self, group: &dyn RowSource, index: usize, nulls: &NullArrays) -> Result<EncodedColumn> {
        let (clock, mut columns) = (Instant::now(), Duration::ZERO);
        let field = self.schema.field(index);
        let cannot_encode =
            |cause: ParquetError| Error::bug(format!("cannot encode column {:?}", field.name())).caused_by(cause);
        let mut writers = self.column_writers(index).map_err(cannot_encode)?;
        for rows in batches(group.rows()) {
            let gathering = Instant::now();
            let nulls = nulls.get(field.data_type()).filter(|_| group.all_null(index, rows.clone()));
            let array =
                nulls.map_or_else(|| group.column(index, rows.clone()), |nulls| Ok(nulls.slice(0, rows.len())))?;
            columns += gathering.elapsed();
            check(field, &array, rows.len())?;
            write_array(field, &array, &mut writers).map_err(cannot_encode)?;
        }
        let chunks =
            writers.into_iter().map(ArrowColumnWriter::close).collect::<Result<_, _>>().map_err(cannot_encode)?;
        Ok(EncodedColumn { chunks, time: EncodeTime { columns, encode: clock.elapsed().saturating_sub(columns) } })
    }

    fn finished(&self, group: &dyn RowSource, columns: Vec<EncodedColumn>, started: Duration) -> EncodedRowGroup {
        let mut time = EncodeTime { encode: started, ..EncodeTime::default() };
        let mut chunks = Vec::with_capacity(self.leaves);
        for column in columns {
            time.columns += column.time.columns;
            time.encode += column.time.encode;
            chunks.extend(column.chunks);
        }
        let bytes = chunks.iter().map(|chunk: &ArrowColumnChunk| chunk.close().bytes_written).sum();
        let time_range = self.time_leaf.and_then(|leaf| match chunks.get(leaf)?.close().metadata.statistics()? {
            Statistics::Int64(values) => Some((*values.min_opt()?, *values.max_opt()?)),
            _ => None,
        });
        EncodedRowGroup { chunks, rows: group.rows(), bytes, time_range, time }
    }
}

/// The rows of a group, batch by batch.
fn batches(rows: usize) -> impl Iterator<Item = Range<usize>> {
    (0..rows).step_by(BATCH_ROWS).map(move |start| start..rows.min(start + BATCH_ROWS))
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
        return Err(Error::bug(format!("column {name:?} should be {expected}, found {found}")));
    }
    if array.len() != rows {
        return Err(Error::bug(format!("column {name:?} should have {rows} rows, found {}", array.len())));
    }
    if !field.is_nullable() && array.null_count() > 0 {
        return Err(Error::bug(format!("column {name:?} must not be NULL, found {} NULLs", array.null_count())));
    }
    Ok(())
}

fn write_array(field: &Field, array: &ArrayRef, writers: &mut [ArrowColumnWriter]) -> Result<(), ParquetError> {
    let leaves = compute_leaves(field, array)?;
    if leaves.len() != writers.len() {
        return Err(ParquetError::General(format!("{} leaves for {} writers", leaves.len(), writers.len())));
    }
    leaves.iter().zip(writers).try_for_each(|(leaf, writer)| writer.write(leaf))
}
