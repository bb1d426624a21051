//! From the command line to a command.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use base::error::{Error, Result};
use base::words::Words;
use batch::{RunStatus, status};
use clap::FromArgMatches;

use super::args::{self, Cli, Command};
use super::choices::{ColorMode, LogFormat};
use super::help::on_a_screen;
use super::hints::with_hint;
use super::{
    clean, compact, compare, config, console, convert, describe, events, export, generate, inspect, log, query,
    refusal, report, schema, steps, symbols, verify, views,
};

/// Does what the command line says.
pub fn run() -> ExitCode {
    #[cfg(feature = "cloud")]
    cloud::install();
    if let Some(format) = peek("log-format").and_then(|format| LogFormat::of_word(&format.to_string_lossy())) {
        log::set_format(format);
    }
    let cli = match parse() {
        Ok(Ok(cli)) => cli,
        Ok(Err(refusal)) => return refuse(refusal),
        Err(error) => return failed(&error),
    };
    log::set_format(cli.terminal.log_format);
    console::set_color(cli.terminal.color);
    let done = match &cli.command {
        Command::Convert(args) => convert::run(args),
        Command::Plan(args) => steps::plan(args),
        Command::ConvertPartition(args) => steps::convert_partition(args),
        Command::Commit(args) => steps::commit(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Events(args) => events::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Report(args) => report::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Compact(args) => compact::run(args),
        Command::Clean(args) => clean::run(args),
        Command::Symbols(args) => symbols::run(args),
        Command::Query(args) => query::run(args),
        Command::Describe(args) => describe::run(args),
        Command::Views(args) => views::run(args),
        Command::Export(args) => export::run(args),
        Command::Schema(command) => schema::run(command),
        Command::Completions(args) => generate::completions(args),
        Command::Man(args) => generate::man(args),
    };
    done.map_or_else(|error| failed(&error), ExitCode::from)
}

/// What keeps a command from its work.
fn failed(error: &Error) -> ExitCode {
    console::error(error);
    let mut status = RunStatus::default();
    status.fail(error.kind(), status::INTERNAL);
    ExitCode::from(status.code())
}

/// What is typed, with what the file of `--config` says where nothing is.
fn parse() -> Result<std::result::Result<Cli, clap::Error>> {
    let mut command = on_a_screen(args::command()).color(console::set_color(color()));
    if let Some(file) = peek("config") {
        command = config::apply(command, Path::new(&file))?;
    }
    let matches = command.try_get_matches_from_mut(std::env::args_os());
    Ok(matches.and_then(|mut matches| {
        Cli::from_arg_matches_mut(&mut matches).map_err(|refusal| refusal.format(&mut command))
    }))
}

/// Says what is wrong with the command line, or shows the help that it asks for.
fn refuse(refusal: clap::Error) -> ExitCode {
    let typed: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let refusal = with_hint(refusal, &typed);
    if refusal.use_stderr() && log::is_json() {
        log::write(&refusal::notice(&refusal));
    } else {
        // That nobody reads it is no failure.
        let _ = refusal.print();
    }
    ExitCode::from(u8::try_from(refusal.exit_code()).unwrap_or(status::USAGE))
}

/// When text is coloured: what the command line refuses is, too.
fn color() -> ColorMode {
    let typed = peek("color").and_then(|typed| ColorMode::of_word(&typed.to_string_lossy()));
    typed.unwrap_or_default()
}

/// What a global option is, before the command line is taken apart: by it, or by its environment variable.
fn peek(name: &str) -> Option<OsString> {
    let option = format!("--{name}");
    let mut typed = std::env::args_os().skip(1).take_while(|argument| argument != "--");
    let mut found = None;
    while let Some(argument) = typed.next() {
        if argument == *option {
            found = typed.next();
        } else if let Some(value) = argument.to_str().and_then(|text| text.strip_prefix(&option)?.strip_prefix('=')) {
            found = Some(value.into());
        }
    }
    let variable = || std::env::var_os(format!("ETL2PARQUET_{}", name.to_uppercase().replace('-', "_")));
    found.or_else(variable).filter(|value| !value.is_empty())
}
