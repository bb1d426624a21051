//! `etl2parquet completions` and `etl2parquet man`: what shells and `man` need, from the declarations of the command line.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::Path;

use base::error::{Error, ErrorKind, Result};
use batch::status;
use clap::Command;
use clap_mangen::Man;

use super::args::{self, CompletionsArgs, ManArgs};
use super::console;
use super::console::Console;
use super::help::COMPLETIONS;

/// Writes what a shell reads.
///
/// # Errors
/// [`ErrorKind::Output`] when it cannot be written.
pub(super) fn completions(asked: &CompletionsArgs) -> Result<u8> {
    let mut text = Vec::new();
    clap_complete::generate(asked.shell, &mut args::command(), "etl2parquet", &mut text);
    console::to_stdout(&String::from_utf8_lossy(&text))?;
    if io::stdout().is_terminal() {
        // Who sees the script has not sent it anywhere.
        Console::default().page(COMPLETIONS);
    }
    Ok(status::SUCCESS)
}

/// Writes man pages.
///
/// # Errors
/// [`ErrorKind::Output`] when one cannot be written.
pub(super) fn man(asked: &ManArgs) -> Result<u8> {
    let mut command = args::command();
    // Pages of commands are called by all of their name.
    command.build();
    match &asked.folder {
        None => console::to_stdout(&page(&command)?)?,
        Some(folder) => {
            fs::create_dir_all(folder).map_err(|cause| failure("the folder cannot be made", folder, cause))?;
            pages(&command, "etl2parquet", folder)?;
        }
    }
    Ok(status::SUCCESS)
}

fn pages(command: &Command, name: &str, folder: &Path) -> Result<()> {
    let path = folder.join(format!("{name}.1"));
    fs::write(&path, page(command)?).map_err(|cause| failure("the page cannot be written", &path, cause))?;
    let shown = command.get_subcommands().filter(|sub| sub.get_name() != "help" && !sub.is_hide_set());
    shown.into_iter().try_for_each(|sub| pages(sub, &format!("{name}-{}", sub.get_name()), folder))
}

fn page(command: &Command) -> Result<String> {
    let mut text = Vec::new();
    let name = command.get_display_name().unwrap_or("etl2parquet").to_owned();
    let rendered = Man::new(command.clone().display_name(name).disable_help_subcommand(true)).render(&mut text);
    rendered.map_err(|cause| Error::bug("a page that is not rendered").caused_by(cause))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn failure(message: &str, path: &Path, cause: std::io::Error) -> Error {
    Error::new(ErrorKind::Output, message).in_file(path).caused_by(cause)
}
