//! `schema`: what is known of the payloads of events.

use std::ffi::OsString;
use std::path::PathBuf;

use base::error::Result;
use base::names::NameFrom;
use base::resources::{default_threads, memory_budget, pool};
use batch::harvest::Harvester;
use batch::keywords::{self, Arguments};
use batch::schemas::LoadedSchemas;
use batch::{inputs, known, recordings, stored};
use conversion::convert::ConvertOptions;
use conversion::job;
use published::{all_published, harvest_of, lock_of, published, symbols};
use pyo3::prelude::*;

use crate::errors::json;
use crate::work::{State, wait};

/// The providers whose events are known, as the document of `schema list --json`.
#[pyfunction]
pub(crate) fn schema_list(py: Python<'_>, providers: Vec<String>, arguments: Arguments) -> PyResult<String> {
    wait(py, None, |state| {
        let catalog = LoadedSchemas::load(&keywords::of_schemas(arguments)?, None, state)?.into_catalog();
        json(&known::list(&catalog, &providers)?)
    })
}

/// What is known of a provider or an event, as the document of `schema show --json`.
#[pyfunction]
pub(crate) fn schema_show(
    py: Python<'_>,
    provider: String,
    event: Option<String>,
    arguments: Arguments,
) -> PyResult<String> {
    wait(py, None, |state| {
        let catalog = LoadedSchemas::load(&keywords::of_schemas(arguments)?, None, state)?.into_catalog();
        json(&known::show(&catalog, &provider, event.as_deref())?)
    })
}

/// What a user has given or imported, as the document of `schema export`.
#[pyfunction]
pub(crate) fn schema_export(
    py: Python<'_>,
    provider: Option<String>,
    built_in: bool,
    arguments: Arguments,
) -> PyResult<String> {
    wait(py, None, |state| {
        let catalog = LoadedSchemas::load(&keywords::of_schemas(arguments)?, None, state)?.into_catalog();
        json(&known::export(&catalog, provider.as_ref(), built_in)?)
    })
}

/// Copies schema files into the schema store, and the messages that the traces in `of` lack from symbol files; gives back what came
/// of it, as JSON.
#[pyfunction]
pub(crate) fn schema_import(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    of: Vec<PathBuf>,
    symbol_path: &str,
    store: Option<PathBuf>,
) -> PyResult<String> {
    wait(py, None, |state| {
        let read = if of.is_empty() {
            Vec::new()
        } else {
            let threads = default_threads();
            let path = symbols::symbol_path(symbol_path, memory_budget(None, threads), threads);
            let traces = published(&of)?;
            pool(threads)?.install(|| symbols::messages(&traces, &path, state))?.files
        };
        json(&stored::import_with(&paths, read, store.as_deref())?)
    })
}

/// The files of the schema store, as the document of `schema imports --json`.
#[pyfunction]
pub(crate) fn schema_imports(py: Python<'_>, store: Option<PathBuf>) -> PyResult<String> {
    wait(py, None, |_| json(&stored::imports(store.as_deref())?))
}

/// Takes files out of the schema store; gives back what came of it, as JSON.
#[pyfunction]
pub(crate) fn schema_remove(py: Python<'_>, origins: Vec<String>, store: Option<PathBuf>) -> PyResult<String> {
    wait(py, None, |_| json(&stored::remove(&origins, store.as_deref())?))
}

/// Gathers what traces say of their events into the schema store; gives back what came of it, as JSON.
#[pyfunction]
pub(crate) fn schema_harvest(py: Python<'_>, traces: Vec<OsString>, store: Option<PathBuf>) -> PyResult<String> {
    wait(py, None, |state| {
        let mut harvester = Harvester::open(store.as_deref())?;
        match all_published(&traces) {
            Some(traces) => {
                for trace in traces {
                    let found = pool(default_threads())?.install(|| harvest_of(&trace, state))?;
                    harvester.add(&trace.label(), found)?;
                }
            }
            None => harvest_traces(&traces, &mut harvester, state)?,
        }
        json(&harvester.finish()?)
    })
}

fn harvest_traces(traces: &[OsString], harvester: &mut Harvester, state: &State) -> Result<()> {
    let mut options = ConvertOptions::default().allow_repeated(true).dry_run(true);
    let mut found = inputs::find(traces, options.open.clone());
    if !found.problems.is_empty() {
        return Err(found.problems.swap_remove(0));
    }
    let mut jobs = recordings::separate(&found.all(), NameFrom::Stem);
    found.settle(&mut jobs);
    options.open = found.open.clone();
    for recording in &jobs {
        harvester.add(&recording.name, job::harvest::harvest(recording, &options, state)?)?;
        options.open.shared.forget(recording.addresses());
    }
    Ok(())
}

/// The names that converted traces use, as the text of a schema lock.
#[pyfunction]
pub(crate) fn schema_lock(py: Python<'_>, outputs: Vec<PathBuf>) -> PyResult<String> {
    wait(py, None, |state| {
        let traces = published(&outputs)?;
        Ok(pool(default_threads())?.install(|| lock_of(&traces, state))?.text())
    })
}
