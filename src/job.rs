//! The corridor from inputs to a published trace: survey, plan, convert, commit.

use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use rayon::ThreadPool;

use crate::commit::record::{self, RunContext};
use crate::commit::report::{all_filtered, of_survey};
use crate::commit::{Commit, checks};
use crate::convert::ConvertOptions;
use crate::convert::job::{Job, JobProgress, Outcome, Report, Stage, Surveyed};
use crate::convert::partitions::Conversion;
use crate::convert::repeated;
use crate::convert::write_options::WriteOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::input::{InputId, Inputs};
use crate::output::manifest::FORMAT_VERSION;
use crate::output::{IfExists, LocalFolder, Output, folder};
use crate::plan::{self, PlanOptions, PlanResult, PlannedInputs, partition};
use crate::spill::SpillSpace;
use crate::survey::{self, FileFacts, FileSurvey, Step, SurveyOptions, timed};

/// Surveys and plans a job and says what a conversion would find; writes nothing.
///
/// # Errors
/// [`ErrorKind::Input`] when a file is no trace or cannot be read.
pub fn inspect(job: &Job, options: &ConvertOptions, progress: &dyn JobProgress) -> Result<Report> {
    let pool = pool(options)?;
    let surveyed = survey_and_plan(&pool, job, &inputs(job)?, options, &SpillSpace::temporary(), false, progress)?;
    Ok(of_survey(Path::new(""), surveyed))
}

/// Converts a job and publishes it as one trace.
///
/// # Errors
/// [`ErrorKind::Input`] when a file is no trace or cannot be read, [`ErrorKind::Output`] when the trace is there
/// already or cannot be written, [`ErrorKind::Interrupted`] when the caller asked to stop, [`ErrorKind::Internal`] when
/// an input changed or the counts do not meet. Whatever the error, nothing is left half-published.
pub fn convert(job: &Job, options: &ConvertOptions, progress: &dyn JobProgress) -> Result<Outcome> {
    let started = (SystemTime::now(), Instant::now());
    let pool = pool(options)?;
    let staged = || LocalFolder::create_in(&progress.custody(), &options.out, &job.name);
    let staging = (!options.dry_run).then(staged).transpose()?.map(Arc::new);
    folder::check_absent(&options.out, &job.name, options.if_exists)?;
    let space = staging.as_ref().map_or_else(SpillSpace::temporary, |_| SpillSpace::new(&options.out));
    let inputs = &inputs(job)?;
    let surveyed = survey_and_plan(&pool, job, inputs, options, &space, true, progress)?;
    let target = folder::trace_folder(&options.out, &job.name);
    if passes_nothing(&surveyed.plan) {
        return Ok(Outcome::Empty(Box::new(all_filtered(of_survey(&target, surveyed)))));
    }
    let Some(staging) = staging else { return Ok(Outcome::DryRun(Box::new(of_survey(&target, surveyed)))) };
    let settings = record::options(options);
    if options.if_exists == IfExists::Skip {
        let hashes: Vec<String> = surveyed.files.iter().filter_map(|file| file.blake3.clone()).collect();
        let hash = crate::output::manifest::options_hash(&settings);
        if folder::is_current(&options.out, &job.name, &hashes, FORMAT_VERSION, &hash)? {
            return Ok(Outcome::Skipped);
        }
    }
    if let Some(reason) = checks::before(&surveyed.files, &surveyed.facts, &options.gates) {
        return Ok(Outcome::Gated(Box::new(of_survey(&target, surveyed)), reason));
    }
    let write = write_options(options, settings);
    let planned = PlannedInputs::of(&surveyed.files, inputs);
    let size = partition_bytes(options);
    let partitions = pool.install(|| partition::cut(&surveyed.files, &planned, size, &space, progress))?;
    progress.stage(Stage::Convert { events: surveyed.files.iter().map(FileSurvey::events).sum() });
    let conversion = Conversion {
        plan: &surveyed.plan,
        inputs: &planned,
        options: &write,
        output: &(Arc::clone(&staging) as Arc<dyn Output>),
        memory: options.memory,
        space: &space,
    };
    let views: Vec<_> = partitions.list().iter().map(|partition| partitions.view(partition, &planned)).collect();
    let reports = conversion.run(&pool, &views, progress)?;
    let commit = Commit {
        name: &job.name,
        options: &write,
        gates: &options.gates,
        if_exists: options.if_exists,
        run: RunContext { threads: options.threads, memory: options.memory, out: options.out.clone(), plan: None },
        started,
    };
    commit.finish(surveyed, partitions.list(), reports, staging, || inputs.check_unchanged(), progress)
}

fn pool(options: &ConvertOptions) -> Result<ThreadPool> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(options.threads)
        .thread_name(|number| format!("worker-{number}"))
        .build()
        .map_err(|cause| Error::new(ErrorKind::Internal, "cannot start the worker threads").caused_by(cause))
}

fn inputs(job: &Job) -> Result<Inputs> {
    Inputs::open(job.inputs.iter().map(|input| input.path.clone()))
}

fn survey_and_plan(
    pool: &ThreadPool,
    job: &Job,
    inputs: &Inputs,
    options: &ConvertOptions,
    space: &SpillSpace,
    hash: bool,
    progress: &dyn JobProgress,
) -> Result<Surveyed> {
    progress.stage(Stage::Survey { bytes: inputs.identities().map(|identity| identity.size).sum() });
    let survey_options = SurveyOptions { anchor: options.anchor, hash };
    let plan_options = PlanOptions {
        types: options.types,
        all_columns: options.all_columns,
        layout: options.layout,
        schemas: Arc::clone(&options.schemas),
        filter: options.filter.clone(),
    };
    pool.install(|| {
        let mut files = Vec::with_capacity(inputs.len());
        for (id, input) in (0..).map(InputId).zip(&job.inputs) {
            let file = inputs.get(id)?;
            files.push(survey::survey_within(space, &*file, input.source.clone(), &survey_options, progress)?);
        }
        repeated::check(&mut files, options.allow_repeated)?;
        progress.stage(Stage::Plan);
        let facts = timed(progress, Step::Plan, || {
            survey::settle(&mut files);
            FileFacts::of(&files)
        });
        let (plan, issues) = plan::plan(&files, inputs, &plan_options, progress)?;
        for (file, issues) in files.iter_mut().zip(issues) {
            file.issues.append(issues);
        }
        Ok(Surveyed { files, facts, plan })
    })
}

/// Whether the filters leave out every event shape.
fn passes_nothing(plan: &PlanResult) -> bool {
    plan.filter.is_some() && (0..).zip(&plan.shapes).all(|(shape, _)| !plan.may_pass(shape))
}

/// Event bytes of a partition.
fn partition_bytes(options: &ConvertOptions) -> u64 {
    options.partition_bytes.unwrap_or(partition::PARTITION_BYTES)
}

/// What of the options decides the bytes of event files.
fn write_options(options: &ConvertOptions, settings: serde_json::Value) -> WriteOptions {
    WriteOptions {
        settings,
        types: options.types,
        raw: options.raw,
        compression: options.compression,
        row_group_rows: options.row_group_rows,
        max_file_size: options.max_file_size,
    }
}
