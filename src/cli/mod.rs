//! The command line: what is typed becomes what is meant, then a call of the library; its results become text.
//!
//! ```text
//! args ──► inputs ──► jobs ─┐
//!     ├──► options ─────────┴─► run ──► convert ──► summary
//!     │                            └──► inspect ──► facts ──► page or JSON
//!     └──► schema ──► what is known ──► page or JSON
//! ```
//!
//! Reports and JSON go to standard output, everything else to standard error.

mod args;
mod choices;
mod console;
mod convert;
mod count;
mod exit;
mod facts;
mod filters;
mod inputs;
mod inspect;
mod interrupt;
mod loss;
mod options;
mod page;
mod progress;
mod resources;
mod run;
mod schema;
mod sizes;
mod stopwatch;
mod suggest;
mod summary;
mod table;
mod time;
mod undecoded;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

/// Does what the command line says.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(refusal) => {
            // Help is a refusal too; that nobody reads it is no failure.
            let _ = refusal.print();
            return ExitCode::from(u8::try_from(refusal.exit_code()).unwrap_or(exit::USAGE));
        }
    };
    let done = match &cli.command {
        Command::Convert(args) => convert::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Schema(command) => schema::run(command),
    };
    ExitCode::from(done.unwrap_or_else(|error| {
        console::error(&error);
        let mut verdict = exit::Verdict::default();
        verdict.fail(error.kind(), exit::INTERNAL);
        verdict.code()
    }))
}
