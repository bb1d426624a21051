//! `etl2parquet plan`, `convert-partition` and `commit`: a conversion in steps that several processes take.

use base::error::{Error, ErrorKind, Result};
use batch::notice::Notice;
use batch::schemas::LoadedSchemas;
use batch::{Batch, Inputs, RunStatus, open_by};
use conversion::convert::{Outcome, Report};
use conversion::job::steps::{self, CommitOutcome, PartOutcome, PlanOutcome, StepOptions};
use etl::input::{OpenOptions, STDIN};
use serde_json::json;

use super::args::{CommitArgs, JobArgs, PartitionArgs, PlanArgs};
use super::console;
use super::convert::start;
use super::log;
use super::options;
use super::run::{Run, label};
use super::run_args::RunArgs;

/// Plans; returns the exit code.
///
/// # Errors
/// What keeps the run from starting, and a result that cannot be written.
pub(super) fn plan(args: &PlanArgs) -> Result<u8> {
    let run = start(&args.job)?;
    refuse_stdin(&args.job)?;
    let asked = options::of_job(&args.job, &run)?;
    let schemas = LoadedSchemas::load(&args.job.schemas.choice(), asked.convert.language.as_deref(), &run)?;
    let mut batch = Batch::new(&asked, &run);
    batch.outcomes.keep_records()?;
    let Inputs { jobs, open, schemas: found } = batch.inputs()?;
    let mut options = schemas.into_options(asked.convert.clone(), &found, &run);
    open_by(&mut options, &jobs, open);
    run.interrupt.working(true);
    for (position, job) in jobs.iter().enumerate() {
        if batch.outcomes.is_stopped() {
            break;
        }
        let label = label(&job.name, position, jobs.len());
        let planned = run.job(&label, |progress| match args.stretch {
            Some(stretch) => steps::survey_stretch(job, &options, stretch, progress).map(|()| None),
            None => steps::plan(job, &options, progress).map(Some),
        });
        match planned {
            Ok(None) => batch.outcomes.status.readable += 1,
            Ok(Some(PlanOutcome::Planned { folder, partitions })) => {
                batch.outcomes.status.readable += 1;
                batch.outcomes.release(job);
                let folder = folder.display().to_string();
                let line = json!({ "trace": job.name, "plan": folder, "partitions": partitions }).to_string();
                console::to_stdout(&((if args.json { line } else { folder }) + "\n"))?;
            }
            Ok(Some(PlanOutcome::Done(outcome))) => {
                run.console.say(&batch.outcomes.trace_summary(job, Ok(outcome)).notice());
            }
            Err(error) => _ = batch.outcomes.trace_summary(job, Err(error)),
        }
    }
    run.interrupt.working(false);
    Ok(batch.outcomes.status.code())
}

/// Those who convert the partitions of a plan could not read it again.
fn refuse_stdin(args: &JobArgs) -> Result<()> {
    if !args.input.inputs.iter().any(|input| input == STDIN) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Usage, "standard input cannot be planned: others could not read it again")
        .with_hint("save it to a file first, or use `etl2parquet convert`"))
}

/// Converts a partition; returns the exit code.
///
/// # Errors
/// What keeps the run from starting.
pub(super) fn convert_partition(args: &PartitionArgs) -> Result<u8> {
    let label = format!("partition {}", args.number);
    step(&args.run, |run, status| {
        let options = run.step_options(args.input.options.open.clone());
        let converted =
            run.job(&label, |progress| steps::convert_partition(&args.plan, args.number, &options, progress));
        match converted? {
            PartOutcome::Converted { rows } => run.console.line(format_args!("{label}: {rows} rows")),
            PartOutcome::AlreadyConverted => run.console.line(format_args!("{label} is converted already")),
        }
        status.readable += 1;
        Ok(())
    })
}

/// Publishes the trace of a plan; returns the exit code.
///
/// # Errors
/// What keeps the run from starting.
pub(super) fn commit(args: &CommitArgs) -> Result<u8> {
    step(&args.run, |run, status| {
        let options = StepOptions { run_id: args.id.run_id.clone(), ..run.step_options(OpenOptions::default()) };
        let done = run.job("commit", |progress| steps::commit(&args.plan, &options, progress))?;
        let outcome = match done {
            CommitOutcome::Done(outcome) => outcome,
            CommitOutcome::AlreadyCommitted(folder) => {
                status.readable += 1;
                run.console.line(format_args!("{}: this plan is committed already", folder.display()));
                return Ok(());
            }
        };
        status.count(&outcome);
        match outcome {
            Outcome::Published(report) => published(&report, run),
            Outcome::Refused(report, why) => {
                let text = format!("{} is not published: {why}", report.folder.display());
                log::write(&Notice::error(text));
            }
            Outcome::Empty(report) => {
                let folder = report.folder.display();
                run.console.warning(format_args!("{folder} is not published: no event passes the filters"));
            }
            Outcome::Skipped | Outcome::Busy | Outcome::KnownRefusal(_) | Outcome::DryRun(_) => {}
        }
        Ok(())
    })
}

fn published(report: &Report, run: &Run) {
    run.report(report);
    let (folder, events, files) = (report.folder.display(), report.events.written, report.written.len());
    run.console.line(format_args!("{folder}: {events} events in {files} files"));
}

/// Takes a step; a failure decides the exit code.
fn step(args: &RunArgs, work: impl FnOnce(&Run, &mut RunStatus) -> Result<()>) -> Result<u8> {
    let run = Run::start(args)?;
    let mut status = RunStatus::default();
    run.interrupt.working(true);
    let done = work(&run, &mut status);
    run.interrupt.working(false);
    let failed = |error: Error| {
        console::error(&error);
        status.fail(error.kind(), run.interrupt.code());
    };
    done.unwrap_or_else(failed);
    Ok(status.code())
}
