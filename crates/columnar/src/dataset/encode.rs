//! Turns one row group of Arrow columns into finished column chunks, on any thread.
//!
//! parquet's page boundaries depend on how rows are handed over. A column is handed over in batches of a fixed number of
//! rows, always: the bytes are a function of the columns alone, whether they are encoded one after another or side by
//! side, and what is in memory as Arrow is one batch of one column per thread.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, new_null_array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use base::error::{Error, Result};
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::statistics::Statistics;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type};
use rayon::prelude::*;

use super::chunk::{Chunk, of_arrow};
use super::footer::FooterFrame;
use super::properties::{EncoderKind, PAGE_ROWS};
use crate::chunks::{ChunkEncoder, Leaf, Push};
use crate::columns::{BatchScratch, ColumnBatch, RowSource, emit};

/// The column whose least and greatest value a file's manifest entry states.
const TIME_COLUMN: &str = "timestamp_ns";

/// Rows that are handed over together: few enough for a core's cache, even with a call stack each.
pub const BATCH_ROWS: usize = 1 << 14;

// Pages of columns without lists end where batches do.
const _: () = assert!(PAGE_ROWS.is_multiple_of(BATCH_ROWS));

/// A row group in its final bytes, waiting for its place in a file.
pub struct EncodedRowGroup {
    pub(super) chunks: Vec<Chunk>,
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

/// One array of NULLs per type, of a batch's rows, made when it is first asked for.
#[derive(Default)]
struct NullArrays(Mutex<HashMap<DataType, ArrayRef>>);

impl NullArrays {
    fn get(&self, data_type: &DataType, rows: usize) -> ArrayRef {
        // What is in it is whole at any time.
        let mut arrays = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let array = arrays.entry(data_type.clone()).or_insert_with(|| new_null_array(data_type, BATCH_ROWS));
        array.slice(0, rows)
    }
}

/// Memory that the columns of a row group take one after another.
#[derive(Default)]
struct Scratch {
    batches: BatchScratch,
    /// For batches that come as Arrow arrays.
    arrays: BatchScratch,
}

/// The chunks of a column, one per leaf.
struct EncodedColumn {
    chunks: Vec<Chunk>,
    time: EncodeTime,
}

/// Encodes the row groups of tables with the same columns.
pub(super) struct Encoder {
    schema: SchemaRef,
    descriptor: SchemaDescPtr,
    properties: WriterPropertiesPtr,
    kind: EncoderKind,
    /// The leaf columns of each column: from its own place here to the next one.
    leaves: Vec<usize>,
    /// By leaf column; `None` where arrow-rs has to encode.
    settings: Vec<Option<Arc<Leaf>>>,
    /// The leaf position of [`TIME_COLUMN`].
    time_leaf: Option<usize>,
    footer_frame: FooterFrame,
}

impl Encoder {
    pub(super) fn new(
        schema: SchemaRef,
        file_schema: SchemaDescriptor,
        properties: WriterPropertiesPtr,
        kind: EncoderKind,
    ) -> Result<Self, ParquetError> {
        let columns = file_schema.columns();
        let time_leaf = columns.iter().position(|leaf| matches!(leaf.path().parts(), [name] if name == TIME_COLUMN));
        let settings = columns.iter().map(|leaf| Leaf::new(leaf, &properties).map(Arc::new)).collect();
        let mut leaves = vec![0; schema.fields().len() + 1];
        (0..columns.len()).for_each(|leaf| leaves[file_schema.get_column_root_idx(leaf) + 1] = leaf + 1);
        let descriptor = Arc::new(file_schema);
        let footer_frame = FooterFrame::new(&descriptor, &properties)?;
        Ok(Encoder { schema, descriptor, properties, kind, leaves, settings, time_leaf, footer_frame })
    }

    /// The columns.
    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// How the columns are laid out.
    #[cfg(test)]
    pub(super) fn properties(&self) -> &WriterPropertiesPtr {
        &self.properties
    }

    /// What the footers of all files say.
    pub(super) fn footer_frame(&self) -> &FooterFrame {
        &self.footer_frame
    }

    /// The schema of the files.
    pub(super) fn descriptor(&self) -> &SchemaDescPtr {
        &self.descriptor
    }

    /// One column after another.
    pub(super) fn encode(&self, group: &dyn RowSource) -> Result<EncodedRowGroup> {
        let nulls = NullArrays::default();
        let mut scratch = Scratch::default();
        let columns = 0..self.schema.fields().len();
        let columns = columns.map(|index| self.encode_column(group, index, &nulls, &mut scratch));
        let columns = columns.collect::<Result<_>>()?;
        Ok(self.finished(group, columns))
    }

    /// Columns side by side on the current rayon pool.
    pub(super) fn encode_parallel(&self, group: &dyn RowSource) -> Result<EncodedRowGroup> {
        let nulls = NullArrays::default();
        let columns = (0..self.schema.fields().len()).into_par_iter();
        let columns =
            columns.map_init(Scratch::default, |scratch, index| self.encode_column(group, index, &nulls, scratch));
        let columns = columns.collect::<Result<_>>()?;
        Ok(self.finished(group, columns))
    }

    /// New writers for the leaves of one column, and the schema that has only this one. Parquet would make those of all columns at once: of a table with
    /// thousands of columns they take more than all its rows.
    fn column_writers(&self, index: usize) -> Result<(SchemaDescPtr, Vec<ArrowColumnWriter>), ParquetError> {
        let root = self.descriptor.root_schema();
        let column = root.get_fields().get(index).cloned().into_iter().collect();
        let root = Type::group_type_builder(root.name()).with_fields(column).build()?;
        let schema = Arc::new(Schema::new(vec![Arc::clone(&self.schema.fields()[index])]));
        // The factory wants a file writer to copy the schema from; no file is needed for that.
        let pattern = SerializedFileWriter::new(std::io::sink(), Arc::new(root), Arc::clone(&self.properties))?;
        // The index matters only to encryption.
        let writers = ArrowRowGroupWriterFactory::new(&pattern, schema).create_column_writers(0)?;
        Ok((Arc::new(pattern.schema_descr().clone()), writers))
    }

    fn encode_column(
        &self,
        group: &dyn RowSource,
        index: usize,
        nulls: &NullArrays,
        scratch: &mut Scratch,
    ) -> Result<EncodedColumn> {
        let (clock, mut columns) = (Instant::now(), Duration::ZERO);
        let own = match self.kind {
            EncoderKind::Own => self.own_chunks(group, index, scratch, &mut columns)?,
            EncoderKind::Arrow => None,
        };
        let chunks = match own {
            Some(chunks) => chunks,
            None => self.arrow_chunks(group, index, nulls, &mut columns)?,
        };
        Ok(EncodedColumn { chunks, time: EncodeTime { columns, encode: clock.elapsed().saturating_sub(columns) } })
    }

    /// The chunks of a column that this crate encodes itself. `columns` gets the time that its batches took.
    fn own_chunks(
        &self,
        group: &dyn RowSource,
        index: usize,
        scratch: &mut Scratch,
        columns: &mut Duration,
    ) -> Result<Option<Vec<Chunk>>> {
        let field = self.schema.field(index);
        let leaves = &self.settings[self.leaves[index]..self.leaves[index + 1]];
        if group.rows() == 0 {
            return Ok(None);
        }
        if field.is_nullable() && group.all_null(index, 0..group.rows()) {
            let nulls = leaves.iter().map(|leaf| null_chunk(leaf.as_ref(), group.rows()));
            return nulls.collect::<Result<_, _>>().map_err(|cause| cannot_encode(field, cause));
        }
        let Some(mut encoders) = encoders(field, leaves) else { return Ok(None) };
        for rows in batches(group.rows()) {
            let (gathering, mut encoding, len) = (Instant::now(), Duration::ZERO, rows.len());
            let (mut unfilled, mut progress) = (encoders.iter_mut(), Push::Taken);
            group.batch(index, rows, &mut scratch.batches, &mut |batch| {
                let clock = Instant::now();
                let mut push = |batch: ColumnBatch<'_>| {
                    check_rows(field, batch.rows(), len)?;
                    check_nulls(field, batch.null_count())?;
                    let encoder = unfilled.next().ok_or_else(|| wrong_leaves(field))?;
                    if encoder.push(&batch).map_err(|cause| cannot_encode(field, cause))? == Push::Unsupported {
                        progress = Push::Unsupported;
                    }
                    Ok(())
                };
                let pushed = match batch {
                    ColumnBatch::Array(array) => {
                        check(field, &array, len).and_then(|()| emit(&array, &mut scratch.arrays, &mut push))
                    }
                    values @ ColumnBatch::Values { .. } => push(values),
                };
                encoding += clock.elapsed();
                pushed
            })?;
            *columns += gathering.elapsed().saturating_sub(encoding);
            match progress {
                Push::Unsupported => return Ok(None),
                Push::Taken if unfilled.len() > 0 => return Err(wrong_leaves(field)),
                Push::Taken => {}
            }
        }
        let chunks = encoders.into_iter().map(|encoder| Ok(Box::new(encoder.finish()?)));
        chunks.collect::<Result<_, _>>().map(Some).map_err(|cause| cannot_encode(field, cause))
    }

    /// The chunks of a column that arrow-rs encodes. `columns` gets the time that its arrays took.
    fn arrow_chunks(
        &self,
        group: &dyn RowSource,
        index: usize,
        nulls: &NullArrays,
        columns: &mut Duration,
    ) -> Result<Vec<Chunk>> {
        let field = self.schema.field(index);
        let cannot_encode = |cause| cannot_encode(field, cause);
        let (schema, mut writers) = self.column_writers(index).map_err(cannot_encode)?;
        for rows in batches(group.rows()) {
            let gathering = Instant::now();
            let array = if group.all_null(index, rows.clone()) {
                nulls.get(field.data_type(), rows.len())
            } else {
                group.column(index, rows.clone())?
            };
            *columns += gathering.elapsed();
            check(field, &array, rows.len())?;
            write_array(field, &array, &mut writers).map_err(cannot_encode)?;
        }
        let leaves = writers.into_iter().map(ArrowColumnWriter::close).collect::<Result<_, _>>();
        leaves.and_then(|leaves| of_arrow(leaves, schema, Arc::clone(&self.properties))).map_err(cannot_encode)
    }

    fn finished(&self, group: &dyn RowSource, columns: Vec<EncodedColumn>) -> EncodedRowGroup {
        let mut time = EncodeTime::default();
        let mut chunks = Vec::with_capacity(self.descriptor.num_columns());
        for column in columns {
            time.columns += column.time.columns;
            time.encode += column.time.encode;
            chunks.extend(column.chunks);
        }
        let bytes = chunks.iter().map(|chunk: &Chunk| chunk.close.bytes_written).sum();
        let time_range = self.time_leaf.and_then(|leaf| match chunks.get(leaf)?.close.metadata.statistics()? {
            Statistics::Int64(values) => Some((*values.min_opt()?, *values.max_opt()?)),
            _ => None,
        });
        EncodedRowGroup { chunks, rows: group.rows(), bytes, time_range, time }
    }
}

/// An encoder for each leaf of a column; `None` where arrow-rs has to encode one of them.
fn encoders(field: &Field, leaves: &[Option<Arc<Leaf>>]) -> Option<Vec<ChunkEncoder>> {
    let encoder = |field: &Field, leaf: &Option<Arc<Leaf>>| ChunkEncoder::new(field, leaf.as_ref()?);
    match field.data_type() {
        DataType::Struct(members) if members.iter().all(|member| !member.data_type().is_nested()) => {
            members.iter().zip(leaves).map(|(member, leaf)| encoder(member, leaf)).collect()
        }
        _ => leaves.iter().map(|leaf| encoder(field, leaf)).collect(),
    }
}

/// The chunk of a leaf of a column that is NULL throughout, if it can be encoded here.
fn null_chunk(leaf: Option<&Arc<Leaf>>, rows: usize) -> Result<Option<Chunk>, ParquetError> {
    let Some(mut encoder) = leaf.and_then(ChunkEncoder::of_nulls) else { return Ok(None) };
    for rows in batches(rows) {
        if encoder.push(&ColumnBatch::nulls(rows.len()))? == Push::Unsupported {
            return Ok(None);
        }
    }
    Ok(Some(Box::new(encoder.finish()?)))
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
    check_rows(field, array.len(), rows)?;
    check_nulls(field, array.null_count())
}

fn check_rows(field: &Field, found: usize, rows: usize) -> Result<()> {
    let name = field.name();
    if found == rows {
        Ok(())
    } else {
        Err(Error::bug(format!("column {name:?} should have {rows} rows, found {found}")))
    }
}

fn check_nulls(field: &Field, found: usize) -> Result<()> {
    if field.is_nullable() || found == 0 {
        return Ok(());
    }
    Err(Error::bug(format!("column {:?} must not be NULL, found {found} NULLs", field.name())))
}

fn wrong_leaves(field: &Field) -> Error {
    Error::bug(format!("column {:?} comes in more or fewer parts than it has", field.name()))
}

fn cannot_encode(field: &Field, cause: ParquetError) -> Error {
    Error::bug(format!("cannot encode column {:?}", field.name())).caused_by(cause)
}

fn write_array(field: &Field, array: &ArrayRef, writers: &mut [ArrowColumnWriter]) -> Result<(), ParquetError> {
    let leaves = compute_leaves(field, array)?;
    if leaves.len() != writers.len() {
        return Err(ParquetError::General(format!("{} leaves for {} writers", leaves.len(), writers.len())));
    }
    leaves.iter().zip(writers).try_for_each(|(leaf, writer)| writer.write(leaf))
}
