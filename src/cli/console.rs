//! What goes to the terminal: results to standard output, everything else to standard error.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use base::error::{Error, ErrorKind, Result};
use batch::Observer;
use batch::notice::{Level, Notice};
use columnar::output::folder::CleanupRegistry;
use columnar::output::whole_file;
use serde::Serialize;

use super::choices::ColorMode;
use super::fold::{Width, wrapped};
use super::{log, output_file};

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
        self.say(&Notice::warning(message));
    }

    /// One line.
    pub(super) fn line(self, message: impl Display) {
        self.say(&Notice::info(message));
    }

    /// The lines of a page, as wide as they are.
    pub(super) fn page(self, page: &str) {
        page.lines().for_each(|line| self.say(&Notice::laid_out(line)));
    }

    /// Anything but a failure.
    pub(super) fn say(self, notice: &Notice) {
        if !self.quiet {
            log::write(notice);
        }
    }
}

impl Observer for Console {
    fn say(&self, notice: &Notice) {
        if !self.quiet || notice.level == Level::Error {
            log::write(notice);
        }
    }

    fn is_verbose(&self) -> bool {
        self.verbose
    }
}

/// Settles when text is coloured, for both outputs; gives the same for help texts.
pub(super) fn set_color(mode: ColorMode) -> clap::ColorChoice {
    let (choice, of_help) = match mode {
        ColorMode::Auto => (anstream::ColorChoice::Auto, clap::ColorChoice::Auto),
        ColorMode::Always => (anstream::ColorChoice::Always, clap::ColorChoice::Always),
        ColorMode::Never => (anstream::ColorChoice::Never, clap::ColorChoice::Never),
    };
    choice.write_global();
    of_help
}

/// A failure.
pub(super) fn error(error: &Error) {
    log::write(&Notice::of(error));
}

/// A document for other programs, which ends with a line break.
pub(super) fn json(document: &impl Serialize) -> String {
    serde_json::to_string_pretty(document).expect("numbers, texts and keys that are texts are valid JSON") + "\n"
}

/// A document as JSON on one line, as programs read it.
pub(super) fn json_line(document: &impl Serialize) -> String {
    serde_json::to_string(document).expect("numbers, texts and keys that are texts are valid JSON") + "\n"
}

/// Writes a page to standard output. Lines that are too wide for it go on below, indented.
///
/// # Errors
/// As [`to_stdout`].
pub(super) fn page_to_stdout(page: &str) -> Result<()> {
    let page = wrapped(page, Width::of_stdout());
    written(anstream::stdout().lock().write_all(with_titles(&page).as_bytes()))
}

/// The page with its titles, lines that are not indented, in bold letters.
fn with_titles(page: &str) -> String {
    let style = clap::builder::styling::Style::new().bold();
    let mut styled = String::with_capacity(page.len());
    for line in page.split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(title) if !title.is_empty() && !title.starts_with([' ', '-']) => {
                styled.extend([
                    style.render().to_string().as_str(),
                    title,
                    style.render_reset().to_string().as_str(),
                    "\n",
                ]);
            }
            _ => styled += line,
        }
    }
    styled
}

/// Writes a report to standard output. A reader that has seen enough is no failure.
///
/// # Errors
/// [`ErrorKind::Output`] when it cannot be written for any other reason.
pub(super) fn to_stdout(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    written(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
}

/// What came of writing to standard output.
///
/// # Errors
/// As [`to_stdout`].
pub(super) fn written(written: io::Result<()>) -> Result<()> {
    match written {
        Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::new(ErrorKind::Output, "cannot write to standard output").caused_by(cause))
        }
        _ => Ok(()),
    }
}

/// Writes a text to a file, which is there whole or not at all, or for `-` to standard output.
///
/// # Errors
/// As [`to_stdout`], and [`ErrorKind::Usage`] where a recording or a converted trace would be damaged.
pub(super) fn to_file(path: &Path, text: &str) -> Result<()> {
    output_file::check(path, &[])?;
    to_file_within(path, text, &CleanupRegistry::default())
}

/// The same, with what is not finished registered for cleanup by whoever may end the program.
///
/// # Errors
/// As [`to_file`].
pub(super) fn to_file_within(path: &Path, text: &str, cleanup: &CleanupRegistry) -> Result<()> {
    if path == Path::new("-") {
        return to_stdout(text);
    }
    whole_file::write(path, text.as_bytes(), cleanup)
        .map_err(|cause| Error::new(ErrorKind::Output, "the file cannot be written").in_file(path).caused_by(cause))
}
