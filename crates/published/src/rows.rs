//! Rows of a published trace as record batches, with the filters and columns that a trace has which is not converted.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema, SchemaRef};
use base::error::{Error, ErrorKind, Result};
use base::progress::NoProgress;
use columnar::output::CommitRecord;
use conversion::job::trace::{DatasetInfo, absent};
use conversion::plan::filter::Filter;
use conversion::sidecar::{SidecarBatches, table_names};
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;

use super::inspection::PublishedInspection;
use super::row_filter::RowFilter;
use super::sidecar::Sidecar;
use super::table::{Passing, TableFile, failure};
use super::trace::PublishedTrace;

/// A published trace whose rows can be read as often as one likes.
#[derive(Clone, Debug)]
pub struct PublishedRows {
    trace: PublishedTrace,
    record: Arc<CommitRecord>,
    datasets: Vec<PublishedDataset>,
}

/// A dataset of a published trace.
#[derive(Clone, Debug)]
struct PublishedDataset {
    name: String,
    provider_name: Option<String>,
    rows: u64,
    /// Its files, in the order of their rows.
    files: Vec<String>,
}

impl PublishedRows {
    /// Opens a trace: reads its manifest.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when that cannot be read.
    pub fn open(trace: PublishedTrace) -> Result<PublishedRows> {
        let record = trace.record()?;
        let mut datasets: Vec<PublishedDataset> = Vec::new();
        for file in record.files.iter().filter(|file| file.is_table()) {
            let folder = file.path.strip_prefix("events/").and_then(|path| path.rsplit_once('/'));
            let Some((name, _)) = folder else { continue };
            let place = datasets.iter().position(|dataset| dataset.name == name).unwrap_or_else(|| {
                let provider_name = file.provider_name.clone();
                datasets.push(PublishedDataset { name: name.to_owned(), provider_name, rows: 0, files: Vec::new() });
                datasets.len() - 1
            });
            let dataset = &mut datasets[place];
            dataset.rows = dataset.rows.saturating_add(file.rows);
            dataset.files.push(file.path.clone());
        }
        datasets.sort_by(|a, b| a.name.cmp(&b.name));
        datasets.iter_mut().for_each(|dataset| dataset.files.sort());
        Ok(PublishedRows { trace, record: Arc::new(record), datasets })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.record.trace
    }

    /// Where it is.
    pub fn folder(&self) -> PathBuf {
        self.trace.folder()
    }

    /// All that is known of it, as a document.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when its sidecar cannot be read.
    pub fn inspection(&self) -> Result<PublishedInspection> {
        PublishedInspection::read(&self.trace, &self.record)
    }

    /// The datasets, sorted by name.
    pub fn datasets(&self) -> impl Iterator<Item = DatasetInfo<'_>> {
        self.datasets.iter().map(|dataset| DatasetInfo {
            name: &dataset.name,
            provider_name: dataset.provider_name.as_deref(),
            events: dataset.rows,
        })
    }

    /// A table of the sidecar; of what ids meant without rows, where the trace has none.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when there is no such table, [`ErrorKind::Output`] when it cannot be read.
    pub fn table(&self, name: &str) -> Result<SidecarBatches> {
        if !table_names().any(|table| table == name) {
            return Err(absent(format!("the sidecar has no table {name}"), name, table_names()));
        }
        let path = format!("sidecar/{name}.parquet");
        if !self.record.files.iter().any(|file| file.path == path) {
            return Ok(SidecarBatches::empty(name));
        }
        let file = TableFile::open(&*self.trace.store, &path)?;
        let (schema, location) = (file.schema(), self.trace.location(&path));
        let batches = file.read(None, None)?.collect::<std::result::Result<Vec<_>, _>>();
        let batches = batches.map_err(|cause| failure(&location, "cannot read").caused_by(cause))?;
        Ok(SidecarBatches { schema, batches })
    }

    /// The columns of a dataset that a stream of it has.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when there is no such dataset or column, [`ErrorKind::Output`] when its files cannot be read.
    pub fn projected(&self, dataset: &str, columns: Option<&[&str]>) -> Result<SchemaRef> {
        let dataset = self.dataset(dataset)?;
        let Some(first) = dataset.files.first() else { return Ok(Arc::new(Schema::empty())) };
        let schema = TableFile::open(&*self.trace.store, first)?.schema();
        let Some(columns) = columns else { return Ok(schema) };
        let field = |name: &&str| {
            let names = schema.fields().iter().map(|field| field.name().as_str());
            let found = schema.fields().find(name).map(|(_, field)| Arc::clone(field));
            found.ok_or_else(|| absent(format!("{} has no column {name}", dataset.name), name, names))
        };
        Ok(Arc::new(Schema::new(columns.iter().map(field).collect::<Result<Vec<_>>>()?)))
    }

    /// The rows of a dataset in the order of their times: those that the filter passes, with the columns of a schema that
    /// [`PublishedRows::projected`] has made.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when there is no such dataset, [`ErrorKind::Output`] when the sidecar cannot be read.
    pub fn stream(&self, dataset: &str, schema: SchemaRef, filter: &Filter) -> Result<DatasetRows> {
        let filter = RowFilter::of(&Sidecar::of(&*self.trace.store, &self.record, &NoProgress), filter)?;
        self.stream_passing(dataset, schema, filter)
    }

    /// The rows of a dataset, as [`PublishedRows::stream`] has them, with a filter that is made already; all of them without one.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when there is no such dataset.
    pub fn stream_passing(
        &self,
        dataset: &str,
        schema: SchemaRef,
        filter: Option<Arc<RowFilter>>,
    ) -> Result<DatasetRows> {
        let files = self.dataset(dataset)?.files.clone();
        Ok(DatasetRows { trace: self.trace.clone(), schema, files: files.into_iter(), filter, open: None })
    }

    fn dataset(&self, name: &str) -> Result<&PublishedDataset> {
        let found = self.datasets.iter().find(|dataset| dataset.name == name);
        let names = self.datasets.iter().map(|dataset| dataset.name.as_str());
        found.ok_or_else(|| absent(format!("the trace has no dataset {name}"), name, names))
    }
}

/// The rows of a dataset, batch by batch.
pub struct DatasetRows {
    trace: PublishedTrace,
    schema: SchemaRef,
    files: std::vec::IntoIter<String>,
    filter: Option<Arc<RowFilter>>,
    /// The file that is read.
    open: Option<(PathBuf, ParquetRecordBatchReader)>,
}

impl DatasetRows {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some((path, batches)) = &mut self.open {
                match batches.next() {
                    Some(Ok(batch)) if batch.num_rows() == 0 => continue,
                    Some(Ok(batch)) => return self.in_order(&batch).map(Some),
                    Some(Err(cause)) => return Err(failure(path, "cannot read").caused_by(cause)),
                    None => self.open = None,
                }
            }
            let Some(file) = self.files.next() else { return Ok(None) };
            let columns: Vec<&str> = self.schema.fields().iter().map(|field| field.name().as_str()).collect();
            let table = TableFile::open(&*self.trace.store, &file)?;
            let passes = self.filter.clone().map(|filter| {
                let passing = move |batch: &RecordBatch| {
                    filter.passing(batch).map_err(|error| ArrowError::ExternalError(Box::new(error)))
                };
                (RowFilter::COLUMNS, Box::new(passing) as Passing)
            });
            self.open = Some((self.trace.location(&file), table.read(Some(&columns), passes)?));
        }
    }

    /// A batch with its columns in the order that was asked for.
    fn in_order(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let differ = |cause| Error::new(ErrorKind::Output, "files of a dataset differ").caused_by(cause);
        let of = |name: &String| batch.schema_ref().index_of(name);
        let places =
            self.schema.fields().iter().map(|field| of(field.name())).collect::<std::result::Result<Vec<_>, _>>();
        let batch = batch.project(&places.map_err(differ)?).map_err(differ)?;
        batch.with_schema(SchemaRef::clone(&self.schema)).map_err(differ)
    }
}

impl Iterator for DatasetRows {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().map_err(|error| ArrowError::ExternalError(Box::new(error))).transpose()
    }
}

impl fmt::Debug for DatasetRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatasetRows").field("trace", &self.trace).finish_non_exhaustive()
    }
}
