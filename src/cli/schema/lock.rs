//! `etl2parquet schema lock`.

use base::error::Result;
use base::readable::count::counted;
use base::resources::pool;
use batch::status;
use conversion::convert::Stage;
use published::{lock_of, published};

use super::args::LockArgs;
use crate::cli::console;
use crate::cli::run::Run;

/// Settles the names that traces use; returns the exit code.
///
/// # Errors
/// What keeps it from doing its work.
pub(super) fn lock(args: &LockArgs) -> Result<u8> {
    let run = Run::start(&args.run)?;
    let traces = published(&args.outputs)?;
    let lock = run.job("lock", |progress| {
        progress.stage(Stage::Plan);
        pool(run.threads)?.install(|| lock_of(&traces, progress))
    });
    let lock = match lock {
        Ok(lock) => lock,
        Err(error) => return Ok(run.failed(&error)),
    };
    console::to_file(&args.output, &lock.text())?;
    let (traces, providers) = (counted(traces.len() as u64, "traces"), counted(lock.len() as u64, "providers"));
    run.console.line(format_args!("{traces}: the names of {providers} are settled"));
    Ok(status::SUCCESS)
}
