//! Rows of a trace as streams of Arrow's C interface.

use std::fmt;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, SchemaRef};
use base::error::{Error, ErrorKind, Result};
use batch::caught;
use conversion::job::stream::{EventStream, of_stream};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::exception;
use crate::work::{LOOK, OfProcess, is_interrupted, know_main};

/// Where rows come from.
pub(crate) enum Source {
    /// A trace that is not converted.
    Events(Box<EventStream>),
    /// What has its batches at hand.
    Batches(Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>),
}

/// Rows that can be read as often as one likes.
#[pyclass(frozen, module = "etl2parquet._native")]
pub(crate) struct Rows {
    schema: SchemaRef,
    process: OfProcess,
    open: Box<dyn Fn() -> Result<Source> + Send + Sync>,
}

impl Rows {
    /// Rows with these columns, which `open` starts to read.
    pub(crate) fn new(schema: SchemaRef, open: impl Fn() -> Result<Source> + Send + Sync + 'static) -> Rows {
        Rows { schema, process: OfProcess::current(), open: Box::new(open) }
    }
}

#[pymethods]
impl Rows {
    /// A new stream of all rows. The columns that somebody would rather have are theirs to make.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        know_main(py)?;
        let source = py.detach(|| caught(|| self.process.check().and_then(|()| (self.open)())));
        let source = source.map_err(|error| exception(py, error))?;
        let schema = SchemaRef::clone(&self.schema);
        let reader = WatchedReader { schema, source: Some(source), looked: Instant::now() };
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }

    /// The columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema)
            .map_err(|error| exception(py, Error::bug("the columns have no form in C").caused_by(error)))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Names of the columns, each with its type as Arrow calls it.
    fn columns(&self) -> Vec<(String, String)> {
        self.schema.fields().iter().map(|field| (field.name().clone(), field.data_type().to_string())).collect()
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("schema", &self.schema).finish_non_exhaustive()
    }
}

/// Reads rows for whoever asks through C: no panic gets there, and the user of Python can interrupt it.
struct WatchedReader {
    schema: SchemaRef,
    /// `None` once it is over.
    source: Option<Source>,
    looked: Instant,
}

impl WatchedReader {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if self.looked.elapsed() >= LOOK {
                self.looked = Instant::now();
                if is_interrupted() {
                    return Err(Error::new(ErrorKind::Interrupted, "interrupted"));
                }
            }
            let next = match &mut self.source {
                None => return Ok(None),
                Some(Source::Events(stream)) => stream.next_within(LOOK),
                Some(Source::Batches(batches)) => Poll::Ready(batches.next()),
            };
            if let Poll::Ready(next) = next {
                return next.transpose().map_err(of_stream);
            }
        }
    }
}

impl Iterator for WatchedReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = caught(|| self.next_batch()).map_err(|error| ArrowError::ExternalError(Box::new(error))).transpose();
        if !matches!(next, Some(Ok(_))) {
            // After an error there is nothing more, and what is behind it ends at once.
            let source = self.source.take();
            let _ = caught(|| {
                drop(source);
                Ok(())
            });
        }
        next
    }
}

impl RecordBatchReader for WatchedReader {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}

/// Batches that are in memory.
pub(crate) fn in_memory(schema: SchemaRef, batches: Vec<RecordBatch>) -> Rows {
    let batches: Arc<[RecordBatch]> = batches.into();
    Rows::new(schema, move || {
        let batches = Arc::clone(&batches);
        let each = (0..batches.len()).map(move |at| Ok(batches[at].clone()));
        Ok(Source::Batches(Box::new(each)))
    })
}
