//! `plan`, `convert_partition` and `commit`: a conversion that several processes share.

use std::ffi::OsString;
use std::path::PathBuf;

use base::error::{Error, ErrorKind, Result};
use batch::keywords::{self, Arguments};
use batch::schemas::LoadedSchemas;
use batch::{Batch, Inputs, open_by};
use conversion::convert::Outcome;
use conversion::job::part_stream::PlannedPart;
use conversion::job::steps::{self, CommitOutcome, PartOutcome, PlanOutcome, StepOptions};
use conversion::survey::Stretch;
use pyo3::prelude::*;

use crate::convert::asked;
use crate::errors::{Failure, exception};
use crate::rows::{Rows, Source};
use crate::trace::as_strs;
use crate::work::{State, wait};

/// A trace that was planned: its name, its plan, how many partitions that has; or, of a trace without a plan, what became of it.
/// Paths go to Python as text: its own would take a slash from an address.
type Planned = (String, Option<OsString>, usize, &'static str);

/// Plans traces, or surveys a stretch of them ahead: its number, and how many there are.
#[pyfunction]
pub(crate) fn plan(
    py: Python<'_>,
    inputs: Vec<OsString>,
    out: PathBuf,
    arguments: Arguments,
    stretch: Option<(u32, u32)>,
    told: Option<Py<PyAny>>,
) -> PyResult<Vec<Planned>> {
    let work = |state: &State| planned(inputs, out, arguments, stretch.map(checked).transpose()?, state);
    let (planned, failure) = wait(py, told, work)?;
    failure.map_or(Ok(planned), |failure| Err(failure.exception(py)))
}

/// A stretch that there is.
pub(crate) fn checked((number, count): (u32, u32)) -> Result<Stretch> {
    Stretch::new(number, count).ok_or_else(|| {
        let message = format!("expected a stretch from 0 to {}, found {number}", count.saturating_sub(1));
        Error::new(ErrorKind::Usage, message).with_hint("(0, 8) is the first of eight")
    })
}

fn planned(
    inputs: Vec<OsString>,
    out: PathBuf,
    arguments: Arguments,
    stretch: Option<Stretch>,
    state: &State,
) -> Result<(Vec<Planned>, Option<Failure>)> {
    let (asked, run) = asked(inputs, out, arguments)?;
    if run.dry_run {
        let message = "a plan is written or not: dry_run is an option of convert";
        return Err(Error::new(ErrorKind::Usage, message));
    }
    let schemas = LoadedSchemas::load(&run.schemas, asked.convert.language.as_deref(), state)?;
    let mut batch = Batch::new(&asked, state);
    batch.outcomes.keep_records()?;
    let Inputs { jobs, open, schemas: found } = batch.inputs()?;
    state.expect_traces(jobs.len());
    let mut options = schemas.into_options(asked.convert.clone(), &found, state);
    open_by(&mut options, &jobs, open);
    let mut planned = Vec::new();
    for job in &jobs {
        if batch.outcomes.is_stopped() {
            break;
        }
        let outcome = match stretch {
            Some(stretch) => steps::survey_stretch(job, &options, stretch, state).map(|()| None),
            None => steps::plan(job, &options, state).map(Some),
        };
        match outcome {
            Ok(None) => planned.push((job.name.clone(), None, 0, "surveyed")),
            Ok(Some(PlanOutcome::Planned { folder, partitions })) => {
                batch.outcomes.status.readable += 1;
                batch.outcomes.release(job);
                planned.push((job.name.clone(), Some(folder.into_os_string()), partitions, "planned"));
            }
            Ok(Some(PlanOutcome::Done(outcome))) => {
                let trace = batch.outcomes.trace_summary(job, Ok(outcome));
                planned.push((job.name.clone(), None, 0, trace.status));
            }
            Err(error) => _ = batch.outcomes.trace_summary(job, Err(error)),
        }
        state.end_trace();
    }
    let code = batch.outcomes.status.code();
    let failed = planned.is_empty() && code != batch::status::SUCCESS;
    Ok((planned, failed.then(|| Failure::of_run(code, state.first_error().as_ref()))))
}

fn step_options(arguments: Arguments) -> Result<StepOptions> {
    let (options, run) = keywords::of_step(arguments)?;
    Ok(StepOptions { threads: run.threads(), memory: run.memory(), open: options.open, run_id: run.run_id })
}

/// Converts a partition of a plan; gives back the rows written, nothing where it was converted before.
#[pyfunction]
pub(crate) fn convert_partition(
    py: Python<'_>,
    plan: PathBuf,
    number: u32,
    arguments: Arguments,
    told: Option<Py<PyAny>>,
) -> PyResult<Option<u64>> {
    wait(py, told, |state| match steps::convert_partition(&plan, number, &step_options(arguments)?, state)? {
        PartOutcome::Converted { rows } => Ok(Some(rows)),
        PartOutcome::AlreadyConverted => Ok(None),
    })
}

/// The rows of a dataset in a partition of a plan, which is there as long as they are read.
#[pyfunction]
pub(crate) fn part_rows(
    py: Python<'_>,
    plan: PathBuf,
    number: u32,
    dataset: String,
    select: Option<Vec<String>>,
    arguments: Arguments,
) -> PyResult<Rows> {
    let rows = py.detach(|| {
        let part = PlannedPart::open(&plan, number, step_options(arguments)?)?;
        let schema = part.projected(&dataset, as_strs(select.as_deref()).as_deref())?;
        Ok(Rows::new(schema, move || {
            let stream = part.stream(&dataset, as_strs(select.as_deref()).as_deref())?;
            Ok(Source::Events(Box::new(stream)))
        }))
    });
    rows.map_err(|error| exception(py, error))
}

/// Publishes the trace of a plan; gives back its folder, and what became of it.
#[pyfunction]
pub(crate) fn commit(
    py: Python<'_>,
    plan: PathBuf,
    arguments: Arguments,
    told: Option<Py<PyAny>>,
) -> PyResult<(Option<OsString>, &'static str)> {
    let done = wait(py, told, |state| steps::commit(&plan, &step_options(arguments)?, state))?;
    match done {
        CommitOutcome::AlreadyCommitted(folder) => Ok((Some(folder.into_os_string()), "already_committed")),
        CommitOutcome::Done(Outcome::Published(report)) => Ok((Some(report.folder.into_os_string()), "published")),
        CommitOutcome::Done(Outcome::Empty(_)) => Ok((None, "empty")),
        CommitOutcome::Done(Outcome::Skipped) => Ok((None, "skipped")),
        CommitOutcome::Done(Outcome::Refused(report, why)) => {
            let message = format!("{} is not published: {why}", report.folder.display());
            let told = batch::notice::Notice::error(message).with_code("refused");
            Err(Failure::of_run(batch::status::REFUSED, Some(&told)).exception(py))
        }
        CommitOutcome::Done(_) => Err(exception(py, Error::bug("a commit ended without a trace"))),
    }
}
