//! Showing a page in the browser of whoever runs the program.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// The system's command that opens a file with the program for its kind.
fn opener() -> Command {
    if cfg!(windows) {
        Command::new("explorer")
    } else if cfg!(target_os = "macos") {
        Command::new("open")
    } else {
        Command::new("xdg-open")
    }
}

/// Opens a page, and waits for nothing.
///
/// # Errors
/// Where the system has no such command, or its path is unknown.
pub(super) fn open(page: &Path) -> io::Result<()> {
    let page = std::path::absolute(page)?;
    let mut command = opener();
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(drop)
}
