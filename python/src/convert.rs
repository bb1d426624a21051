//! `convert`: a run over many recordings.

use std::ffi::OsString;
use std::path::PathBuf;

use base::error::Result;
use batch::keywords::{self, Arguments, RunOptions};
use batch::schemas::{LoadedSchemas, with_lock};
use batch::{Batch, BatchOptions, Converter, Inputs, caught, exposition, inputs, lanes, open_by};
use conversion::convert::{ConvertOptions, LockFrom, Outcome, Recording};
use conversion::job::workers::Workers;
use pyo3::prelude::*;

use crate::errors::{Failure, json};
use crate::work::{State, wait};

/// What came of a run: its exit code, its summary as JSON, its metrics as Prometheus reads them, and the exception of a run that
/// failed.
pub(crate) type Ended = (u8, String, String, Option<Py<PyAny>>);

/// Converts; `told` hears how far that is.
#[pyfunction]
pub(crate) fn convert(
    py: Python<'_>,
    inputs: Vec<OsString>,
    out: PathBuf,
    arguments: Arguments,
    told: Option<Py<PyAny>>,
) -> PyResult<Ended> {
    let (code, summary, metrics, failure) = wait(py, told, |state| run(inputs, out, arguments, state))?;
    Ok((code, summary, metrics, failure.map(|failure| failure.into_object(py))))
}

/// What a run is asked for, with its inputs and its output, and what it may use.
pub(crate) fn asked(inputs: Vec<OsString>, out: PathBuf, arguments: Arguments) -> Result<(BatchOptions, RunOptions)> {
    let (mut asked, run) = keywords::of_run(arguments)?;
    asked.inputs = inputs;
    asked.convert.out = out;
    asked.check()?;
    inputs::check_output(&asked.convert.out)?;
    let convert = with_lock(std::mem::take(&mut asked.convert), run.schema_lock.as_deref())?;
    asked.convert = convert.threads(run.threads()).memory(run.memory()).run_id(run.run_id.clone()).dry_run(run.dry_run);
    asked.convert.recorded = asked.record();
    Ok((asked, run))
}

fn run(
    inputs: Vec<OsString>,
    out: PathBuf,
    arguments: Arguments,
    state: &State,
) -> Result<(u8, String, String, Option<Failure>)> {
    let (asked, run) = asked(inputs, out, arguments)?;
    let schemas = LoadedSchemas::load(&run.schemas, asked.convert.language.as_deref(), state)?;
    let mut batch = Batch::new(&asked, state);
    if !run.dry_run {
        batch.outcomes.keep_records()?;
    }
    let Inputs { jobs, open, schemas: found } = batch.inputs()?;
    state.expect_traces(jobs.len());
    let mut options = schemas.into_options(asked.convert.clone(), &found, state);
    open_by(&mut options, &jobs, open);
    let workers = Workers::new(&options)?;
    batch.convert_all(&jobs, &options, &Lanes { workers: &workers, state });
    if options.lock_in_use() == Some(LockFrom::Folder) && !options.dry_run {
        batch.extend_lock(&options.out);
    }
    batch.finish();
    batch.end_summary();
    ended(&batch, state)
}

/// What came of a run that is over.
pub(crate) fn ended(batch: &Batch<'_>, state: &State) -> Result<(u8, String, String, Option<Failure>)> {
    let code = batch.outcomes.status.code();
    let failed = !matches!(code, batch::status::SUCCESS | batch::status::DAMAGED);
    let failure = failed.then(|| Failure::of_run(code, state.first_error().as_ref()));
    let summary = &batch.outcomes.summary;
    Ok((code, json(summary)?, exposition(summary), failure))
}

/// Converts recordings several at a time, and counts them.
pub(crate) struct Lanes<'a> {
    pub workers: &'a Workers,
    pub state: &'a State,
}

impl Converter for Lanes<'_> {
    fn convert(
        &self,
        jobs: &[Recording],
        positions: &[usize],
        options: &ConvertOptions,
        report: &mut dyn FnMut(usize, Result<Outcome>) -> bool,
    ) {
        let work = |place: usize| {
            let job: &Recording = &jobs[positions[place]];
            let is_stopped = base::progress::Progress::is_cancelled(self.state);
            let outcome = (!is_stopped).then(|| caught(|| self.workers.convert(job, options, self.state)));
            options.open.shared.forget(job.addresses());
            outcome
        };
        lanes::drive(positions.len(), self.workers.lanes(), work, |place, outcome| {
            let Some(outcome) = outcome else { return false };
            self.state.end_trace();
            report(positions[place], outcome)
        });
    }
}
