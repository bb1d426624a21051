//! `etl2parquet clean`.

use std::time::Duration;

use base::error::{Error, ErrorKind, Result};
use base::readable::count::{ByteCount, counted};
use base::remote;
use batch::status;
use columnar::output::clean::{Cleaned, clean};
use columnar::output::remote_output::check_writable;
use columnar::output::remote_store::RemoteStore;
use serde_json::json;

use super::args::CleanArgs;
use super::console;
use super::run::Run;

/// Removes what interrupted runs have left in a store; returns the exit code.
///
/// # Errors
/// What keeps the run from starting, and a document that cannot be written.
pub(super) fn run(args: &CleanArgs) -> Result<u8> {
    let Some(url) = remote::url_of(&args.output) else {
        let message = "expected the address of a store, found a path of this system";
        let hint = "in a folder the next run of a trace removes what an interrupted one has left";
        return Err(Error::new(ErrorKind::Usage, message).in_file(&args.output).with_hint(hint));
    };
    check_writable(&url)?;
    let run = Run::start(&args.run)?;
    let store = RemoteStore::new(&url).with_stop(run.interrupt.stop());
    let age = Duration::from_secs(args.older_than.saturating_mul(60 * 60));
    run.interrupt.working(true);
    let cleaned = run.job("clean", |progress| clean(&store, age, args.dry_run, progress));
    run.interrupt.working(false);
    let Cleaned { objects, bytes, young } = match cleaned {
        Ok(cleaned) => cleaned,
        Err(error) => return Ok(run.failed(&error)),
    };
    if args.json {
        let document = json!({ "objects": objects, "bytes": bytes, "young": young, "dry_run": args.dry_run });
        console::to_stdout(&console::json(&document))?;
    }
    let verb = if args.dry_run { "would be removed" } else { "removed" };
    let left = if young == 0 { String::new() } else { format!("; {} are too young", counted(young, "objects")) };
    run.console.line(format_args!("{verb}: {}, {}{left}", counted(objects, "objects"), ByteCount(bytes)));
    Ok(status::SUCCESS)
}
