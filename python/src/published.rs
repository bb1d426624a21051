//! What is asked of converted traces.

use std::ffi::OsString;
use std::path::PathBuf;

use base::error::{Error, ErrorKind, Result};
use base::resources::{default_threads, memory_budget, pool};
use base::sizes::parse_size;
use base::words::Words;
use batch::keywords::{self, Arguments};
use columnar::output::whole_file::WholeFile;
use compaction::{By as LakeBy, Request as LakeRequest};
use conversion::convert::JobProgress as _;
use conversion::views::{Dialect, Extent, messages_are_asked};
use export::{Fields, Format, Of, Packets, Request};
use published::describe::{LIMIT_BYTES, within};
use published::report::comparison::{By, TraceAmounts, amounts_of, compared};
use published::report::{facts, page};
use published::symbols::{Asked, resolve};
use published::{PublishedLake, PublishedTrace, all_published, published, statements};
use pyo3::prelude::*;

use crate::errors::json;
use crate::work::wait;

/// Whether traces are still what was published, as the document of `verify --json`.
#[pyfunction]
pub(crate) fn verify(py: Python<'_>, outputs: Vec<PathBuf>, quick: bool, told: Option<Py<PyAny>>) -> PyResult<String> {
    wait(py, told, |state| {
        let verified = pool(default_threads())?.install(|| published::verify::verify_all(&outputs, quick, state))?;
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
    with_frames: bool,
    told: Option<Py<PyAny>>,
) -> PyResult<String> {
    wait(py, told, |state| {
        let threads = default_threads();
        let path = published::symbols::symbol_path(symbol_path, memory_budget(None, threads), threads);
        let asked = Asked { path: &path, min_share, with_lines, with_frames };
        let traces = published(&outputs)?;
        json(&pool(threads)?.install(|| resolve(traces, &asked, state))?)
    })
}

/// The views over traces: for DuckDB or for Spark; all, or those that a question needs. `event_messages`: with the view of that name,
/// which a question that names it has by itself.
#[pyfunction]
pub(crate) fn views(
    py: Python<'_>,
    traces: PathBuf,
    spark: bool,
    single_events: bool,
    event_messages: bool,
    question: Option<String>,
) -> PyResult<String> {
    wait(py, None, |_| {
        let dialect = if spark { Dialect::Spark } else { Dialect::DuckDb };
        let extent = if single_events || question.is_some() { Extent::Whole } else { Extent::WithoutEvents };
        let with_messages = event_messages || question.as_deref().is_some_and(messages_are_asked);
        // Not on the threads that all share: a process that is forked has none of them.
        let statements = pool(default_threads())?.install(|| statements(&traces, dialect, extent, with_messages))?;
        Ok(match question {
            Some(question) => statements.text_for(&question),
            None => statements.text(),
        })
    })
}

/// What can be asked of traces, as the document of `describe --json`: all of it, or what its limit lets it have.
#[pyfunction]
pub(crate) fn describe(py: Python<'_>, traces: PathBuf, full: bool, told: Option<Py<PyAny>>) -> PyResult<String> {
    wait(py, told, |state| {
        let whole = pool(default_threads())?.install(|| published::describe::describe(&traces, state))?;
        json(&if full { whole } else { within(whole, LIMIT_BYTES) })
    })
}

/// The page about a converted trace, as HTML.
#[pyfunction]
pub(crate) fn report(py: Python<'_>, trace: PathBuf, told: Option<Py<PyAny>>) -> PyResult<String> {
    wait(py, told, |state| facts(&PublishedTrace::in_folder(trace), state).map(|facts| page(&facts)))
}

/// Two sets of converted traces side by side, as the document of `compare --json`.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    a: Vec<PathBuf>,
    b: Vec<PathBuf>,
    by: &str,
    min_share: f64,
    told: Option<Py<PyAny>>,
) -> PyResult<String> {
    wait(py, told, |state| {
        let by = of_word::<By>(by)?;
        let side = |folders: &[PathBuf]| -> Result<Vec<TraceAmounts>> {
            published(folders)?.iter().map(|trace| amounts_of(trace, by, state)).collect()
        };
        json(&compared(by, &side(&a)?, &side(&b)?, min_share))
    })
}

/// Writes a converted trace for a viewer; how many events it shows, and what is not in it. Of 0 events there is no file.
#[pyfunction]
pub(crate) fn export_trace(
    py: Python<'_>,
    trace: PathBuf,
    what: (String, String, String, String),
    out: PathBuf,
    arguments: Arguments,
    told: Option<Py<PyAny>>,
) -> PyResult<(u64, Vec<String>)> {
    let exported = wait(py, told, |state| {
        let request = Request {
            of: of_word::<Of>(&what.1)?,
            packets: of_word::<Packets>(&what.2)?,
            fields: of_word::<Fields>(&what.3)?,
            filter: keywords::of_rows(arguments)?,
            ..Request::new(of_word::<Format>(&what.0)?)
        };
        let request = request.for_file(&out);
        let failure =
            |cause| Error::new(ErrorKind::Output, "the file cannot be written").in_file(&out).caused_by(cause);
        let mut file = WholeFile::begin(&out, &state.cleanup()).map_err(failure)?;
        let exported = export::export(&PublishedTrace::in_folder(trace), &request, &mut file, state)?;
        if exported.events > 0 {
            file.finish().map_err(failure)?;
        }
        Ok(exported)
    })?;
    Ok((exported.events, exported.warnings))
}

fn of_word<W: Words>(word: &str) -> Result<W> {
    W::of_word(word).ok_or_else(|| {
        let words: Vec<&str> = W::WORDS.iter().map(|(_, word, _)| *word).collect();
        Error::new(ErrorKind::Usage, format!("expected one of {}, found {word}", words.join(", ")))
    })
}

/// Brings traces into a lake, as the document of `compact --json`.
#[pyfunction]
pub(crate) fn compact(
    py: Python<'_>,
    outputs: Vec<PathBuf>,
    lake: PathBuf,
    by: Option<&str>,
    target_size: Option<&str>,
    forget: Vec<String>,
    told: Option<Py<PyAny>>,
) -> PyResult<String> {
    wait(py, told, |state| {
        let by = by.map(of_word::<LakeBy>).transpose()?;
        let target_size = target_size.map(parse_size).transpose();
        let target_size = target_size.map_err(|message| Error::new(ErrorKind::Usage, message))?;
        let request = LakeRequest { outputs, lake, by, target_size, forget };
        json(&pool(default_threads())?.install(|| compaction::compact(&request, &state.cleanup(), state))?)
    })
}

/// Whether a path is a converted trace, or a folder of such.
#[pyfunction]
pub(crate) fn is_published(py: Python<'_>, path: OsString) -> bool {
    py.detach(|| all_published(&[path]).is_some())
}

/// Whether a path is a lake.
#[pyfunction]
pub(crate) fn is_lake(py: Python<'_>, path: PathBuf) -> bool {
    py.detach(|| PublishedLake::is_at(&path))
}
