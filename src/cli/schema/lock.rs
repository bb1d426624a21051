//! `etl2parquet schema lock`.

use base::error::Result;
use base::guid::Guid;
use base::readable::count::counted;
use base::resources::pool;
use batch::status;
use conversion::convert::Stage;
use published::{published, settle};
use schema::lock::SchemaLock;
use schema::pack::Pack;

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
    // Of others the built-in schemas settle the names.
    let is_wanted = |provider: &Guid| !Pack::builtin().settles(provider);
    let names = run.job("lock", |progress| {
        progress.stage(Stage::Plan);
        pool(run.threads)?.install(|| settle(&traces, &is_wanted, progress))
    });
    let names = match names {
        Ok(names) => names,
        Err(error) => return Ok(run.failed(&error)),
    };
    let lock = SchemaLock::new(names.into_iter().filter(|(_, names)| !names.is_empty()));
    console::to_file(&args.output, &lock.text())?;
    let (traces, providers) = (counted(traces.len() as u64, "traces"), counted(lock.len() as u64, "providers"));
    run.console.line(format_args!("{traces}: the names of {providers} are settled"));
    Ok(status::SUCCESS)
}
