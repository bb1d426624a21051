//! `schema`: what is known of the payloads of events.

use std::path::PathBuf;

use base::resources::{default_threads, pool};
use batch::keywords::{self, Arguments};
use batch::known;
use batch::schemas::LoadedSchemas;
use published::{lock_of, published};
use pyo3::prelude::*;

use crate::errors::json;
use crate::work::wait;

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

/// Copies manifests, TMF files and what binaries declare into the schema store; gives back what came of it, as JSON.
#[pyfunction]
pub(crate) fn schema_import(py: Python<'_>, paths: Vec<PathBuf>, store: Option<PathBuf>) -> PyResult<String> {
    wait(py, None, |_| json(&known::import(&paths, store.as_deref())?))
}

/// The names that converted traces use, as the text of a schema lock.
#[pyfunction]
pub(crate) fn schema_lock(py: Python<'_>, outputs: Vec<PathBuf>) -> PyResult<String> {
    wait(py, None, |state| {
        let traces = published(&outputs)?;
        Ok(pool(default_threads())?.install(|| lock_of(&traces, state))?.text())
    })
}
