//! A trace that is opened, converted or not.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::SchemaRef;
use base::error::{Error, ErrorKind, Result};
use batch::keywords::{self, Arguments};
use batch::not_one;
use conversion::job::trace::Trace as OpenedTrace;
use conversion::plan::filter::Filter;
use conversion::sidecar::table_names;
use published::{PublishedLake, PublishedRows, PublishedTrace, all_published, published};
use pyo3::prelude::*;

use crate::errors::{exception, json};
use crate::rows::{Rows, Source, in_memory};
use crate::work::{OfProcess, State, wait};

/// A trace: what is known of it, and where its rows come from.
#[pyclass(frozen, module = "etl2parquet._native")]
#[derive(Debug)]
pub(crate) struct Trace {
    opened: Opened,
    process: OfProcess,
}

#[derive(Clone, Debug)]
enum Opened {
    Recording(OpenedTrace),
    Published(Arc<PublishedRows>),
}

/// Opens a trace. `told` hears how far that is.
#[pyfunction]
pub(crate) fn open(py: Python<'_>, path: OsString, arguments: Arguments, told: Option<Py<PyAny>>) -> PyResult<Trace> {
    let opened = wait(py, told, |state| opened(path, arguments, state))?;
    Ok(Trace { opened, process: OfProcess::current() })
}

fn opened(path: OsString, arguments: Arguments, state: &State) -> Result<Opened> {
    if let Some(traces) = all_published(std::slice::from_ref(&path)) {
        return published_rows(traces, arguments.is_empty()).map(|rows| Opened::Published(Arc::new(rows)));
    }
    if PublishedLake::is_at(Path::new(&path)) {
        // Says what it is.
        published(&[PathBuf::from(&path)])?;
    }
    let (recording, options) = keywords::of_trace(path, arguments, state)?;
    OpenedTrace::open(&recording, &options, state).map(Opened::Recording)
}

/// The one trace of some that are converted, which takes no options any more.
fn published_rows(mut traces: Vec<PublishedTrace>, is_plain: bool) -> Result<PublishedRows> {
    if traces.len() != 1 {
        return Err(not_one(traces.len(), traces.first().map(PublishedTrace::label)));
    }
    let trace = traces.swap_remove(0);
    if !is_plain {
        let message = "the trace is converted, and options decide nothing about it any more";
        let error = Error::new(ErrorKind::Usage, message).in_file(trace.folder());
        return Err(error.with_hint("leave them out, or open the recording"));
    }
    PublishedRows::open(trace)
}

#[pymethods]
impl Trace {
    /// What it is called.
    fn name(&self) -> String {
        match &self.opened {
            Opened::Recording(trace) => trace.name().to_owned(),
            Opened::Published(trace) => trace.name().to_owned(),
        }
    }

    /// Where it is, if it is converted.
    fn folder(&self) -> Option<String> {
        match &self.opened {
            Opened::Recording(_) => None,
            Opened::Published(trace) => Some(trace.folder().display().to_string()),
        }
    }

    /// All that is known of it, as JSON.
    fn document(&self, py: Python<'_>) -> PyResult<String> {
        let json = py.detach(|| match &self.opened {
            Opened::Recording(trace) => json(&trace.inspection()),
            Opened::Published(trace) => trace.inspection().and_then(|known| json(&known)),
        });
        json.map_err(|error| exception(py, error))
    }

    /// Its datasets: name, name of the provider, events.
    fn datasets(&self) -> Vec<(String, Option<String>, u64)> {
        match &self.opened {
            Opened::Recording(trace) => {
                let datasets = trace.datasets();
                datasets.map(|of| (of.name.to_owned(), of.provider_name.map(str::to_owned), of.events)).collect()
            }
            Opened::Published(trace) => {
                let datasets = trace.datasets();
                datasets.map(|of| (of.name.to_owned(), of.provider_name.map(str::to_owned), of.events)).collect()
            }
        }
    }

    /// The names of its tables.
    #[staticmethod]
    fn tables() -> Vec<&'static str> {
        table_names().collect()
    }

    /// The rows of a dataset.
    fn events(
        &self,
        py: Python<'_>,
        dataset: String,
        select: Option<Vec<String>>,
        arguments: Arguments,
    ) -> PyResult<Rows> {
        self.rows(dataset, select, arguments).map_err(|error| exception(py, error))
    }

    /// The rows of a table of the sidecar.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Rows> {
        let table = py.detach(|| match &self.opened {
            Opened::Recording(trace) => trace.table(name),
            Opened::Published(trace) => trace.table(name),
        });
        let table = table.map_err(|error| exception(py, error))?;
        Ok(in_memory(table.schema, table.batches))
    }
}

impl Trace {
    fn rows(&self, dataset: String, select: Option<Vec<String>>, arguments: Arguments) -> Result<Rows> {
        let filter: Filter = keywords::of_rows(arguments)?;
        self.process.check()?;
        match self.opened.clone() {
            Opened::Recording(trace) => {
                let schema = trace.projected(&dataset, as_strs(select.as_deref()).as_deref())?;
                Ok(Rows::new(schema, move || {
                    let stream = trace.stream(&dataset, as_strs(select.as_deref()).as_deref(), &filter)?;
                    Ok(Source::Events(Box::new(stream)))
                }))
            }
            Opened::Published(trace) => {
                let schema = trace.projected(&dataset, as_strs(select.as_deref()).as_deref())?;
                Ok(Rows::new(SchemaRef::clone(&schema), move || {
                    let rows = trace.stream(&dataset, SchemaRef::clone(&schema), &filter)?;
                    Ok(Source::Batches(Box::new(rows)))
                }))
            }
        }
    }
}

/// Names as they are asked for.
pub(crate) fn as_strs(names: Option<&[String]>) -> Option<Vec<&str>> {
    names.map(|names| names.iter().map(String::as_str).collect())
}
