//! `etl2parquet convert`.

use std::path::Path;

use base::error::{ErrorCode, Result};
use batch::notice::Notice;
use batch::schemas::LoadedSchemas;
use batch::{Batch, BatchOptions, Inputs, exposition, inputs, open_by};
use conversion::convert::LockFrom;
use conversion::job::workers::Workers;

use super::args::{ConvertArgs, JobArgs};
use super::fold::Width;
use super::look::Look;
use super::run::Run;
use super::{console, log, options, output_file, summary};

/// How a run ended that a signal has ended, as a word that stays.
const INTERRUPTED: &str = ErrorCode::Interrupted.as_str();

/// Converts; returns the exit code.
///
/// # Errors
/// What keeps the run from starting.
pub(super) fn run(args: &ConvertArgs) -> Result<u8> {
    check_files(args)?;
    let run = start(&args.job)?;
    let mut asked = options::of_job(&args.job, &run)?;
    let schemas = LoadedSchemas::load(&args.job.schemas.choice(), asked.convert.language.as_deref(), &run)?;
    asked.convert = asked.convert.run_id(args.id.run_id.clone()).dry_run(args.dry_run);
    let mut batch = Batch::new(&asked, &run);
    if !args.dry_run {
        batch.outcomes.keep_records()?;
    }
    let Inputs { jobs, open, schemas: found } = batch.inputs()?;
    let mut options = schemas.into_options(asked.convert.clone(), &found, &run);
    open_by(&mut options, &jobs, open);
    run.interrupt.working(true);
    let workers = Workers::new(&options);
    if let Ok(workers) = &workers {
        batch.convert_all(&jobs, &options, &Look { run: &run, workers });
    }
    run.interrupt.working(false);
    workers?;
    if options.lock_in_use() == Some(LockFrom::Folder) && !options.dry_run {
        batch.extend_lock(&options.out);
    }
    Ok(finish(batch, &run, args.summary.as_deref(), args.metrics.as_deref()))
}

/// Looks at the places of the files that are written besides traces.
///
/// # Errors
/// [`ErrorKind::Usage`](base::error::ErrorKind::Usage) where one of them would damage something.
fn check_files(args: &ConvertArgs) -> Result<()> {
    let mut files = [&args.summary, &args.metrics].into_iter().flatten();
    files.try_for_each(|file| output_file::check(file, &args.job.input.inputs))?;
    match (&args.summary, &args.metrics) {
        (Some(summary), Some(metrics)) => output_file::check_apart(summary, metrics),
        _ => Ok(()),
    }
}

/// Starts a run that writes.
///
/// # Errors
/// What keeps the run from starting.
pub(super) fn start(args: &JobArgs) -> Result<Run> {
    BatchOptions { convert: options::chosen(args), ..args.batch.options.clone() }.check()?;
    inputs::check_output(&args.output.output)?;
    Run::start(&args.run)
}

/// Shows and writes what came of the run; returns the exit code.
fn finish(mut batch: Batch<'_>, run: &Run, summary: Option<&Path>, metrics: Option<&Path>) -> u8 {
    batch.finish();
    let of_run = &batch.outcomes.summary;
    if log::is_json() {
        run.console.line(of_run.ends());
    } else {
        run.console.page(&summary::page(of_run, Width::of_stderr()));
    }
    if run.interrupt.is_set() {
        let text = "ended before the last trace: what is published is whole, run again for the rest";
        log::write(&Notice::error(format_args!("{text} ({})", of_run.ends())).with_code(INTERRUPTED));
    }
    if summary.is_some() || metrics.is_some() {
        batch.end_summary();
    }
    let outcomes = &mut batch.outcomes;
    let json = summary.map(|path| (path, console::json(&outcomes.summary)));
    let exposition = metrics.map(|path| (path, exposition(&outcomes.summary)));
    for (path, text) in json.into_iter().chain(exposition) {
        let written = console::to_file_within(path, &text, &run.interrupt.cleanup());
        let written = written.map_err(|error| error.with_hint("the traces themselves are not affected"));
        written.unwrap_or_else(|error| outcomes.fail(&error, None));
    }
    outcomes.status.code()
}
