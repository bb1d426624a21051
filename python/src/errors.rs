//! Failures as exceptions of Python.

use base::error::{Error, ErrorKind, Location, Result};
use batch::notice::{Level, Notice};
use batch::status;
use pyo3::prelude::*;
use serde::Serialize;

/// A failure as Python gets it: the class of its exception, and what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    class: &'static str,
    message: String,
    code: Option<String>,
    hint: Option<String>,
    location: Location,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let class = match error.kind() {
            ErrorKind::Usage => "UsageError",
            ErrorKind::Input => "InputError",
            ErrorKind::Output => "OutputError",
            ErrorKind::Interrupted => "Interrupted",
            _ => "InternalError",
        };
        Failure {
            class,
            message: error.to_string(),
            code: Some(error.code().as_str().to_owned()),
            hint: error.hint().map(str::to_owned),
            location: error.location().clone(),
        }
    }
}

impl Failure {
    /// How a run failed, by its exit code and the first error that it has told.
    pub(crate) fn of_run(exit_code: u8, told: Option<&Notice>) -> Failure {
        let class = match exit_code {
            status::USAGE => "UsageError",
            status::NO_INPUT => "InputError",
            status::REFUSED => "RefusedError",
            status::OUTPUT => "OutputError",
            status::BUSY => "BusyError",
            _ => "InternalError",
        };
        let told = told.filter(|notice| notice.level == Level::Error);
        let Some(Notice { text, code, hint, location, .. }) = told else {
            let message = format!("the run ended with code {exit_code}: its summary says why");
            return Failure { class, message, code: None, hint: None, location: Location::default() };
        };
        let code = code.map(str::to_owned);
        Failure { class, message: text.clone(), code, hint: hint.clone(), location: location.clone() }
    }

    /// The exception as an object that was not raised.
    pub(crate) fn into_object(self, py: Python<'_>) -> Py<PyAny> {
        self.exception(py).into_value(py).into_any()
    }

    /// The exception.
    pub(crate) fn exception(&self, py: Python<'_>) -> PyErr {
        let Failure { class, message, code, hint, location } = self;
        let file = location.file.as_ref().map(|file| file.display().to_string());
        let parts = (message, code, hint, file, location.buffer, location.offset);
        let made = py.import("etl2parquet._errors").and_then(|module| module.getattr(class)?.call1(parts));
        made.map_or_else(|failure| failure, PyErr::from_value)
    }
}

/// A document as text.
pub(crate) fn json(document: &impl Serialize) -> Result<String> {
    serde_json::to_string(document).map_err(|cause| Error::bug("a document is no JSON").caused_by(cause))
}

/// The exception of a failure.
pub(crate) fn exception(py: Python<'_>, error: Error) -> PyErr {
    Failure::from(error).exception(py)
}
