//! What is asked of converted traces.

use std::ffi::OsString;
use std::path::PathBuf;

use base::resources::{default_threads, memory_budget, pool};
use conversion::views::{Dialect, Extent};
use published::report::{facts, page};
use published::symbols::{Asked, resolve};
use published::{PublishedTrace, statements};
use published::{all_published, published};
use pyo3::prelude::*;

use crate::errors::json;
use crate::work::wait;

/// Whether traces are still what was published, as the document of `verify --json`.
#[pyfunction]
pub(crate) fn verify(py: Python<'_>, outputs: Vec<PathBuf>, quick: bool, told: Option<Py<PyAny>>) -> PyResult<String> {
    wait(py, told, |state| {
        let traces = published(&outputs)?;
        let verified = pool(default_threads())?.install(|| published::verify::verify(&traces, quick, state))?;
        json(&verified.document())
    })
}

/// The search for the symbols of traces, as the document of `symbols --json`.
#[pyfunction]
pub(crate) fn symbols(
    py: Python<'_>,
    outputs: Vec<PathBuf>,
    symbol_path: &str,
    min_share: f64,
    with_lines: bool,
    told: Option<Py<PyAny>>,
) -> PyResult<String> {
    wait(py, told, |state| {
        let threads = default_threads();
        let path = published::symbols::symbol_path(symbol_path, memory_budget(None, threads), threads);
        let asked = Asked { path: &path, min_share, with_lines };
        let traces = published(&outputs)?;
        json(&pool(threads)?.install(|| resolve(traces, &asked, state))?)
    })
}

/// The views over traces: for DuckDB or for Spark; all, or those that a question needs.
#[pyfunction]
pub(crate) fn views(
    py: Python<'_>,
    traces: PathBuf,
    spark: bool,
    single_events: bool,
    question: Option<String>,
) -> PyResult<String> {
    wait(py, None, |_| {
        let dialect = if spark { Dialect::Spark } else { Dialect::DuckDb };
        let extent = if single_events || question.is_some() { Extent::Whole } else { Extent::WithoutEvents };
        // Not on the threads that all share: a process that is forked has none of them.
        let statements = pool(default_threads())?.install(|| statements(&traces, dialect, extent))?;
        Ok(match question {
            Some(question) => statements.text_for(&question),
            None => statements.text(),
        })
    })
}

/// The page about a converted trace, as HTML.
#[pyfunction]
pub(crate) fn report(py: Python<'_>, trace: PathBuf, told: Option<Py<PyAny>>) -> PyResult<String> {
    wait(py, told, |state| facts(&PublishedTrace::in_folder(trace), state).map(|facts| page(&facts)))
}

/// Whether a path is a converted trace, or a folder of such.
#[pyfunction]
pub(crate) fn is_published(py: Python<'_>, path: OsString) -> bool {
    py.detach(|| all_published(&[path]).is_some())
}
