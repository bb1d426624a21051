//! From the command line to a command.

use std::process::ExitCode;

use clap::Parser;

use super::args::{Cli, Command};
use super::hints::with_hint;
use super::{console, convert, exit, inspect, schema, steps, verify};

/// Does what the command line says.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(refusal) => {
            // Help is a refusal too; that nobody reads it is no failure.
            let refusal = with_hint(refusal);
            let _ = refusal.print();
            return ExitCode::from(u8::try_from(refusal.exit_code()).unwrap_or(exit::USAGE));
        }
    };
    let done = match &cli.command {
        Command::Convert(args) => convert::run(args),
        Command::Plan(args) => steps::plan(args),
        Command::ConvertPartition(args) => steps::convert_partition(args),
        Command::Commit(args) => steps::commit(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Schema(command) => schema::run(command),
    };
    ExitCode::from(done.unwrap_or_else(|error| {
        console::error(&error);
        let mut status = exit::RunStatus::default();
        status.fail(error.kind(), exit::INTERNAL);
        status.code()
    }))
}
