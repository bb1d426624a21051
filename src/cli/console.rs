//! What goes to the terminal: results to standard output, everything else to standard error.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::fold::{Width, wrapped};
use super::whole_file;
use crate::error::{Error, ErrorKind, Result};
use crate::readable::printable::printable;

/// How much is said on standard error.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Console {
    /// Errors only.
    pub quiet: bool,
    /// More detail.
    pub verbose: bool,
}

impl Console {
    /// Something may be missing, or is not as asked for.
    pub(super) fn warning(self, message: impl Display) {
        self.line(format_args!("warning: {message}"));
    }

    /// One line.
    pub(super) fn line(self, message: impl Display) {
        if !self.quiet {
            to_stderr(&message.to_string());
        }
    }
}

/// A failure.
pub(super) fn error(error: &dyn Display) {
    to_stderr(&format!("error: {error}"));
}

/// A document for other programs, which ends with a line break.
pub(super) fn json(document: &impl Serialize) -> String {
    serde_json::to_string_pretty(document).expect("numbers, texts and keys that are texts are valid JSON") + "\n"
}

/// One line; that nobody listens is no failure.
fn to_stderr(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", printable(line));
}

/// Writes a page to standard output. Lines that are too wide for it go on below, indented.
///
/// # Errors
/// As [`to_stdout`].
pub(super) fn page_to_stdout(page: &str) -> Result<()> {
    to_stdout(&wrapped(page, Width::of_stdout()))
}

/// Writes a report to standard output. A reader that has seen enough is no failure.
///
/// # Errors
/// [`ErrorKind::Output`] when it cannot be written for any other reason.
pub(super) fn to_stdout(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::new(ErrorKind::Output, "cannot write to standard output").caused_by(cause))
        }
        _ => Ok(()),
    }
}

/// Writes a text to a file, which is there whole or not at all, or for `-` to standard output.
///
/// # Errors
/// As [`to_stdout`].
pub(super) fn to_file(path: &Path, text: &str) -> Result<()> {
    if path == Path::new("-") {
        return to_stdout(text);
    }
    whole_file::write(path, text.as_bytes())
        .map_err(|cause| Error::new(ErrorKind::Output, "the file cannot be written").in_file(path).caused_by(cause))
}
