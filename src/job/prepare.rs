//! What a job needs before its events become rows.

use std::sync::Arc;

use rayon::ThreadPool;

use crate::commit::checks;
use crate::commit::report::{all_filtered, of_survey};
use crate::convert::ConvertOptions;
use crate::convert::job::{JobProgress, Outcome, Recording, Stage, Surveyed};
use crate::convert::repeated;
use crate::convert::write_options::WriteOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::input::{InputId, Inputs};
use crate::output::manifest::FORMAT_VERSION;
use crate::output::{IfExists, folder, options_hash};
use crate::plan::{self, PlanOptions, PlanResult, partition};
use crate::spill::SpillSpace;
use crate::survey::{self, FileFacts, Step, SurveyOptions, timed};

pub(super) fn pool(threads: usize) -> Result<ThreadPool> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|number| format!("worker-{number}"))
        .build()
        .map_err(|cause| Error::new(ErrorKind::Internal, "cannot start the worker threads").caused_by(cause))
}

pub(super) fn inputs(job: &Recording) -> Result<Inputs> {
    Inputs::open(job.inputs.iter().map(|input| input.path.clone()))
}

pub(super) fn survey_and_plan(
    pool: &ThreadPool,
    job: &Recording,
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
            FileFacts::of(&files, progress)
        })?;
        let (plan, issues) = plan::plan(&files, inputs, &plan_options, progress)?;
        for (file, issues) in files.iter_mut().zip(issues) {
            file.issues.append(issues);
        }
        Ok(Surveyed { files, facts, plan })
    })
}

/// What becomes of a job of which no events need become rows: none passes the filters, none is asked for, the trace is
/// there already, or a check keeps it from being published. Gives back what was surveyed where some do.
///
/// # Errors
/// [`ErrorKind::Output`] when there is another trace of the name.
pub(super) fn without_rows(
    job: &Recording,
    options: &ConvertOptions,
    settings: &serde_json::Value,
    surveyed: Surveyed,
) -> Result<std::result::Result<Surveyed, Outcome>> {
    let target = folder::trace_folder(&options.out, &job.name);
    if passes_nothing(&surveyed.plan) {
        return Ok(Err(Outcome::Empty(Box::new(all_filtered(of_survey(&target, surveyed))))));
    }
    if options.dry_run {
        return Ok(Err(Outcome::DryRun(Box::new(of_survey(&target, surveyed)))));
    }
    if options.if_exists == IfExists::Skip {
        let hashes: Vec<String> = surveyed.files.iter().filter_map(|file| file.blake3.clone()).collect();
        if folder::is_current(&options.out, &job.name, &hashes, FORMAT_VERSION, &options_hash(settings))? {
            return Ok(Err(Outcome::Skipped));
        }
    }
    if let Some(reason) = checks::check_survey(&surveyed.files, &surveyed.facts, &options.checks) {
        return Ok(Err(Outcome::Refused(Box::new(of_survey(&target, surveyed)), reason)));
    }
    Ok(Ok(surveyed))
}

/// Whether the filters leave out every event shape.
fn passes_nothing(plan: &PlanResult) -> bool {
    plan.filter.is_some() && (0..).zip(&plan.shapes).all(|(shape, _)| !plan.may_pass(shape))
}

/// Event bytes of a partition.
pub(super) fn partition_bytes(options: &ConvertOptions, plan: &PlanResult) -> u64 {
    options.partition_bytes.unwrap_or_else(|| partition::size_for(plan.shapes.len()))
}

/// What of the options decides the bytes of event files.
pub(super) fn write_options(options: &ConvertOptions, settings: serde_json::Value) -> WriteOptions {
    WriteOptions {
        settings,
        types: options.types,
        raw: options.raw,
        compression: options.compression,
        row_group_rows: options.row_group_rows,
        max_file_size: options.max_file_size,
        encoder: options.encoder,
    }
}
