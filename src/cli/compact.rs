//! `etl2parquet compact`.

use base::error::Result;
use base::readable::count::{ByteCount, counted};
use base::resources::pool;
use batch::status;
use compaction::{Compacted, Request, compact};
use conversion::convert::Stage;

use super::args::CompactArgs;
use super::console;
use super::run::Run;

/// Brings traces into a lake; returns the exit code.
///
/// # Errors
/// What keeps the run from starting, and a document that cannot be written.
pub(super) fn run(args: &CompactArgs) -> Result<u8> {
    let run = Run::start(&args.run)?;
    let request = Request {
        outputs: args.outputs.clone(),
        lake: args.output.clone(),
        by: args.by,
        target_size: args.target_size,
        forget: args.forget.clone(),
    };
    run.interrupt.working(true);
    let compacted = run.job("compact", |progress| {
        progress.stage(Stage::Publish);
        pool(run.threads)?.install(|| compact(&request, &run.interrupt.cleanup(), progress))
    });
    run.interrupt.working(false);
    let compacted = match compacted {
        Ok(compacted) => compacted,
        Err(error) => return Ok(run.failed(&error)),
    };
    compacted.warnings.iter().for_each(|warning| run.console.warning(warning));
    for mismatch in &compacted.mismatches {
        run.console.warning(format_args!("{mismatch}"));
    }
    if !compacted.mismatches.is_empty() {
        run.console.line(
            "these rows stand in files side by side; of providers that describe themselves a lock settles it: etl2parquet schema lock \
             OUT -o names.lock, then convert with --schema-lock names.lock",
        );
    }
    if args.json {
        console::to_stdout(&console::json(&compacted))?;
    }
    run.console.line(summary(&compacted));
    Ok(status::SUCCESS)
}

fn summary(compacted: &Compacted) -> String {
    let changes = [
        (compacted.added.len(), "added"),
        (compacted.replaced.len(), "replaced"),
        (compacted.forgotten.len(), "forgotten"),
    ];
    let changes: Vec<String> =
        changes.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let changes = if changes.is_empty() { "nothing to do".to_owned() } else { changes.join(", ") };
    let (traces, files) = (counted(compacted.traces, "traces"), counted(compacted.files, "files"));
    let written = counted(compacted.written_files, "files");
    let (all, new) = (ByteCount(compacted.bytes), ByteCount(compacted.written_bytes));
    format!("{changes}: {written} written, {new}; the lake has {traces} in {files}, {all}")
}
