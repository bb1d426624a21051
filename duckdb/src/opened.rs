//! The trace that was opened last: a query may name one several times, DuckDB binds a query more than once, and the next query
//! is often about the same trace.

use std::ffi::OsString;
use std::path::{self, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use base::error::Result;
use batch::keywords::{self, Arguments};
use conversion::convert::{ConvertOptions, Recording};
use conversion::job::trace::Trace;

use super::interrupt::Watch;

/// What a trace was opened from.
#[derive(Debug, PartialEq)]
struct Key {
    files: Vec<String>,
    arguments: Arguments,
    /// The schemas besides, by name and hash.
    schemas: Option<serde_json::Value>,
}

static LAST: Mutex<Option<(Key, Trace)>> = Mutex::new(None);

/// Opens the trace that a path leads to; the one that was opened last need not be read again while its files, the schemas and the
/// arguments are the same.
///
/// # Errors
/// Why it cannot be opened.
pub(crate) fn open(path: &str, arguments: Arguments) -> Result<Trace> {
    // The working folder may be another one when rows are read.
    let absolute = if path.contains("://") { Err(path) } else { path::absolute(Path::new(path)).map_err(|_| path) };
    let input = absolute.map_or_else(OsString::from, PathBuf::into_os_string);
    let (recording, options) = keywords::of_trace(input, arguments.clone(), &Watch)?;
    let key = key(&recording, arguments, &options);
    if let Some(last) = last_opened(&key) {
        return Ok(last);
    }
    // Two are not held at once, unless a query reads the other.
    keep(None);
    let trace = Trace::open(&recording, &options, &Watch)?;
    keep(Some((key, trace.clone())));
    Ok(trace)
}

fn keep(opened: Option<(Key, Trace)>) {
    let before = std::mem::replace(&mut *LAST.lock().unwrap_or_else(PoisonError::into_inner), opened);
    // What that lets go of takes its time, which nobody else waits for.
    drop(before);
}

fn key(recording: &Recording, arguments: Arguments, options: &ConvertOptions) -> Key {
    let files = recording.addresses().map(|address| address.display().to_string()).collect();
    Key { files, arguments, schemas: options.recorded.get("schemas").cloned() }
}

fn last_opened(key: &Key) -> Option<Trace> {
    let last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let (_, trace) = last.as_ref().filter(|(last, _)| last == key)?;
    trace.check_unchanged().ok().map(|()| trace.clone())
}
