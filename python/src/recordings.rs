//! Recordings of a run that processes convert one by one, as an engine has them do it.

use std::ffi::OsString;
use std::path::PathBuf;

use base::error::{Error, Result};
use batch::keywords::Arguments;
use batch::schemas::LoadedSchemas;
use batch::{Batch, BatchOptions, Converter, Inputs};
use conversion::convert::{ConvertOptions, InputFile, Outcome, Recording};
use conversion::job::steps::{self, CommitOutcome, PlanOutcome, StepOptions};
use conversion::job::workers::Workers;
use etl::input::{Address, Unopened};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use crate::convert::{Ended, Lanes, asked, ended};
use crate::errors::{Failure, exception, json};
use crate::steps::checked;
use crate::work::{State, wait};

/// A recording as it travels.
#[derive(Debug, Serialize, Deserialize)]
struct Listed {
    name: String,
    inputs: Vec<(Address, String, i64)>,
}

impl Listed {
    fn of(recording: &Recording) -> Listed {
        let input = |input: &InputFile| (input.address.clone(), input.source.clone(), input.offset_ns);
        Listed { name: recording.name.clone(), inputs: recording.inputs.iter().map(input).collect() }
    }

    fn read(text: &str) -> Result<Recording> {
        let listed: Listed = serde_json::from_str(text)
            .map_err(|cause| Error::bug("a recording has changed on its way").caused_by(cause))?;
        let input = |(address, source, offset_ns)| InputFile { address, source, offset_ns };
        Ok(Recording { name: listed.name, inputs: listed.inputs.into_iter().map(input).collect() })
    }

    /// Bytes of its files and objects; members of archives are none.
    fn bytes(&self) -> u64 {
        self.inputs.iter().filter_map(|(address, ..)| Unopened::at(address)?.size).sum()
    }
}

/// A schema file beside the traces: its name, and where it is.
type Beside = Vec<(String, PathBuf)>;

/// What a run is to convert: each recording with its name, and its bytes, none where a bad input has ended the run; the schemas beside
/// them; and how the run would end if none of them were converted.
type Found = (Vec<(String, String, u64)>, Beside, (u8, String));

/// Finds the recordings of a run.
#[pyfunction]
pub(crate) fn recordings(
    py: Python<'_>,
    inputs: Vec<OsString>,
    out: PathBuf,
    arguments: Arguments,
    told: Option<Py<PyAny>>,
) -> PyResult<Found> {
    wait(py, told, |state| {
        let (asked, _) = asked(inputs, out, arguments)?;
        let mut batch = Batch::new(&asked, state);
        batch.outcomes.keep_records()?;
        let Inputs { jobs, schemas, .. } = batch.inputs()?;
        batch.convert_all(&jobs, &asked.convert, &Nobody);
        batch.end_summary();
        let has_ended = batch.outcomes.is_stopped();
        let listed: Vec<Listed> = jobs.iter().filter(|_| !has_ended).map(Listed::of).collect();
        let listed = listed.iter().zip(bytes_of(&listed)).map(|(one, bytes)| Ok((one.name.clone(), json(one)?, bytes)));
        let end = (batch.outcomes.status.code(), json(&batch.outcomes.summary)?);
        Ok((listed.collect::<Result<_>>()?, schemas, end))
    })
}

/// Threads that ask how large traces are.
const ASKING: usize = 16;

/// The bytes of each; of thousands of objects several are asked for side by side.
fn bytes_of(listed: &[Listed]) -> Vec<u64> {
    let some = listed.len().div_ceil(ASKING).max(1);
    std::thread::scope(|scope| {
        let count = |some: &[Listed]| some.iter().map(Listed::bytes).collect::<Vec<u64>>();
        let counting: Vec<_> = listed.chunks(some).map(|some| scope.spawn(move || count(some))).collect();
        counting.into_iter().flat_map(|bytes| bytes.join().expect("who asks for sizes does not panic")).collect()
    })
}

/// Leaves everything to others.
#[derive(Debug)]
struct Nobody;

impl Converter for Nobody {
    fn convert(
        &self,
        _: &[Recording],
        _: &[usize],
        _: &ConvertOptions,
        _: &mut dyn FnMut(usize, Result<Outcome>) -> bool,
    ) {
    }
}

/// Converts some of them, with the schemas that were found beside all. The schema lock of the output stays as it is.
#[pyfunction]
pub(crate) fn convert_recordings(
    py: Python<'_>,
    recordings: Vec<String>,
    beside: Beside,
    out: PathBuf,
    arguments: Arguments,
    told: Option<Py<PyAny>>,
) -> PyResult<Ended> {
    let ((), ended) = of_some(py, &recordings, &beside, (out, arguments), told, |jobs, options, batch, state| {
        let workers = Workers::new(options)?;
        batch.convert_all(jobs, options, &Lanes { workers: &workers, state });
        Ok(())
    })?;
    Ok(ended)
}

/// Surveys a stretch of one of them ahead: its number, and how many there are.
#[pyfunction]
pub(crate) fn survey_recording(
    py: Python<'_>,
    recording: &str,
    beside: Beside,
    out: PathBuf,
    arguments: Arguments,
    stretch: (u32, u32),
    told: Option<Py<PyAny>>,
) -> PyResult<()> {
    let stretch = checked(stretch).map_err(|error| exception(py, error))?;
    let work = |jobs: &[Recording], options: &ConvertOptions, _: &mut Batch<'_>, state: &State| {
        steps::survey_stretch(&jobs[0], options, stretch, state)
    };
    of_some(py, &[recording], &beside, (out, arguments), told, work).map(drop)
}

/// Plans one of them: the folder of the plan and its partitions, if there is something to convert.
#[pyfunction]
pub(crate) fn plan_recording(
    py: Python<'_>,
    recording: &str,
    beside: Beside,
    out: PathBuf,
    arguments: Arguments,
    told: Option<Py<PyAny>>,
) -> PyResult<(Option<(OsString, usize)>, Ended)> {
    of_some(py, &[recording], &beside, (out, arguments), told, |jobs, options, batch, state| {
        let outcome = match steps::plan(&jobs[0], options, state) {
            Ok(PlanOutcome::Planned { folder, partitions }) => return Ok(Some((folder.into_os_string(), partitions))),
            Ok(PlanOutcome::Done(outcome)) => Ok(outcome),
            Err(error) => Err(error),
        };
        add(batch, &jobs[0], outcome);
        Ok(None)
    })
}

/// Publishes the trace of its plan.
#[pyfunction]
pub(crate) fn commit_recording(
    py: Python<'_>,
    recording: &str,
    plan: PathBuf,
    out: PathBuf,
    arguments: Arguments,
    told: Option<Py<PyAny>>,
) -> PyResult<Ended> {
    let ((), ended) = of_some(py, &[recording], &[], (out, arguments), told, |jobs, options, batch, state| {
        let ConvertOptions { threads, memory, open, .. } = options.clone();
        let step = StepOptions { threads, memory, open, run_id: options.run_id.clone() };
        let outcome = steps::commit(&plan, &step, state).map(|done| match done {
            CommitOutcome::Done(outcome) => outcome,
            CommitOutcome::AlreadyCommitted(_) => Outcome::Skipped,
        });
        add(batch, &jobs[0], outcome);
        Ok(())
    })?;
    Ok(ended)
}

fn add(batch: &mut Batch<'_>, job: &Recording, outcome: Result<Outcome>) {
    let trace = batch.outcomes.trace_summary(job, outcome);
    batch.outcomes.summary.traces.push(trace);
}

/// A run over some recordings, on which `work` is done.
fn of_some<T: Send>(
    py: Python<'_>,
    recordings: &[impl AsRef<str> + Sync],
    beside: &[(String, PathBuf)],
    (out, arguments): (PathBuf, Arguments),
    told: Option<Py<PyAny>>,
    work: impl FnOnce(&[Recording], &ConvertOptions, &mut Batch<'_>, &State) -> Result<T> + Send,
) -> PyResult<(T, Ended)> {
    let (done, (code, summary, metrics, failure)) = wait(py, told, |state| {
        let (asked, run): (BatchOptions, _) = asked(Vec::new(), out, arguments)?;
        let jobs = recordings.iter().map(|text| Listed::read(text.as_ref())).collect::<Result<Vec<_>>>()?;
        let schemas = LoadedSchemas::load(&run.schemas, asked.convert.language.as_deref(), state)?;
        let mut batch = Batch::new(&asked, state);
        batch.outcomes.keep_records()?;
        let mut options = schemas.into_options(asked.convert.clone(), beside, state);
        options.open = asked.convert.open.or_in(&asked.convert.out);
        let done = work(&jobs, &options, &mut batch, state)?;
        batch.finish();
        batch.end_summary();
        Ok((done, ended(&batch, state)?))
    })?;
    Ok((done, (code, summary, metrics, failure.map(|failure| failure.into_object(py)))))
}

/// Adds the names that published traces use to the schema lock of their folder, if it has one.
#[pyfunction]
pub(crate) fn extend_lock(py: Python<'_>, out: PathBuf, traces: Vec<String>) -> PyResult<()> {
    wait(py, None, |state| batch::extend_lock(&out, traces.iter().map(String::as_str), state))
}

/// The exception of a run that ended with this code and this error.
#[pyfunction]
pub(crate) fn failure(py: Python<'_>, code: u8, error: Option<String>) -> Py<PyAny> {
    let told = error.map(batch::notice::Notice::error);
    Failure::of_run(code, told.as_ref()).into_object(py)
}
