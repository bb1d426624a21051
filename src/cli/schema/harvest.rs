//! `etl2parquet schema harvest`.

use base::error::{Error, ErrorKind, Result};
use base::names::NameFrom;
use base::readable::count::counted;
use base::resources::pool;
use batch::harvest::Harvester;
use batch::{RunStatus, inputs, recordings};
use conversion::convert::{ConvertOptions, Stage};
use conversion::job;
use published::{PublishedTrace, all_published, harvest_of};

use super::args::HarvestArgs;
use crate::cli::console;
use crate::cli::run::{Run, label};

/// What is wrong with descriptions is said of so many; the rest is a number.
const SHOWN: usize = 20;

/// Gathers what traces say of payloads into the store; returns the exit code.
///
/// # Errors
/// What keeps the run from starting, and a store that cannot be read or written.
pub(super) fn harvest(args: &HarvestArgs) -> Result<u8> {
    let run = Run::start(&args.run)?;
    let mut harvester = Harvester::open(args.store.store.as_deref())?;
    let status = match all_published(&args.inputs) {
        Some(traces) => of_published(&traces, &run, &mut harvester)?,
        None => of_traces(args, &run, &mut harvester)?,
    };
    if status.is_stopped() {
        return Ok(status.code());
    }
    let found = harvester.finish()?;
    found.skipped.iter().take(SHOWN).for_each(|issue| run.console.warning(issue));
    if let Some(more) = found.skipped.len().checked_sub(SHOWN).filter(|&more| more > 0) {
        run.console.warning(format_args!("{} more are not used", counted(more as u64, "descriptions")));
    }
    let traces = counted(found.traces, "traces");
    let providers = counted(found.providers, "providers");
    let layouts = counted(found.layouts, "layouts");
    let text = format!(
        "{traces} read: {providers}, {layouts}\n{} are new, {} are in {}\n",
        found.new,
        found.stored,
        found.store.display()
    );
    console::to_stdout(&text)?;
    Ok(status.code())
}

fn fail(status: &mut RunStatus, error: &Error, run: &Run) {
    console::error(error);
    status.fail(error.kind(), run.interrupt.code());
}

fn of_published(traces: &[PublishedTrace], run: &Run, harvester: &mut Harvester) -> Result<RunStatus> {
    let mut status = RunStatus::default();
    for (position, trace) in traces.iter().enumerate() {
        let found = run.job(&label(&trace.label(), position, traces.len()), |progress| {
            progress.stage(Stage::Plan);
            pool(run.threads)?.install(|| harvest_of(trace, progress))
        });
        match found {
            Ok(found) => {
                status.readable += 1;
                harvester.add(&trace.label(), found)?;
            }
            Err(error) => fail(&mut status, &error, run),
        }
        if status.is_stopped() {
            break;
        }
    }
    Ok(status)
}

fn of_traces(args: &HarvestArgs, run: &Run, harvester: &mut Harvester) -> Result<RunStatus> {
    let mut options = ConvertOptions::default().allow_repeated(true).threads(run.threads).memory(run.memory);
    options = options.dry_run(true);
    let found = inputs::find(&args.inputs, options.open.clone());
    let mut jobs = recordings::separate(&found.all(), NameFrom::Stem);
    found.settle(&mut jobs);
    options.open = found.open.clone();
    let mut status = RunStatus::default();
    found.notes.iter().for_each(|note| run.console.warning(note));
    found.problems.iter().for_each(|problem| fail(&mut status, problem, run));
    for (position, recording) in jobs.iter().enumerate() {
        let gathered = run.job(&label(&recording.name, position, jobs.len()), |progress| {
            job::harvest::harvest(recording, &options, progress)
        });
        options.open.shared.forget(recording.addresses());
        match gathered {
            Ok(gathered) => {
                status.readable += 1;
                harvester.add(&recording.name, gathered)?;
            }
            Err(error) => fail(&mut status, &error, run),
        }
        if run.interrupt.is_set() && position + 1 < jobs.len() {
            status.fail(ErrorKind::Interrupted, run.interrupt.code());
        }
        if status.is_stopped() {
            break;
        }
    }
    Ok(status)
}
