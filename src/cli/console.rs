//! What goes to the terminal: reports to standard output, everything else to standard error.

use std::borrow::Cow;
use std::fmt::Display;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::error::{Error, ErrorKind, Result};

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

    /// One line of the report.
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

/// One line; that nobody listens is no failure.
fn to_stderr(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", printable(line));
}

/// Text from a trace or a path without the control characters that would move the cursor or end the line.
pub(super) fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().any(char::is_control) {
        return text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect();
    }
    Cow::Borrowed(text)
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

/// Writes a report to a file, or for `-` to standard output.
///
/// # Errors
/// As [`to_stdout`].
pub(super) fn to_file(path: &Path, text: &str) -> Result<()> {
    if path == Path::new("-") {
        return to_stdout(text);
    }
    fs::write(path, text)
        .map_err(|cause| Error::new(ErrorKind::Output, "the report cannot be written").in_file(path).caused_by(cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_stay_away_from_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\n"), "a\u{fffd}[31mb\u{fffd}");
        assert!(matches!(printable("größe"), Cow::Borrowed("größe")));
    }
}
