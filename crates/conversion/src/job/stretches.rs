//! The survey of large inputs, shared by processes: each surveys a stretch of them, and who plans puts together what they found.
//!
//! What was found lies in a folder beside that of the plan, with a name like it, whose digits are of the inputs and of the version of
//! the program: what was found in others, or in another state of them, has another folder.

use std::path::{Path, PathBuf};

use base::error::Result;
use base::resources::pool;
use columnar::output::folder::{check_absent, plan_folder_name};
use columnar::output::{IfExists, store_at};
use etl::input::{Identity, InputId};
use spill::SpillSpace;

use super::plan_place::PlanPlace;
use super::prepare::inputs;
use super::update::Update;
use crate::convert::{ConvertOptions, InputFile, JobProgress, Recording, Stage};
use crate::survey::{self, Stretch, Stretches};

/// Surveys a stretch of every input of a job, and leaves what was found for [`plan`](super::steps::plan), which need not read the
/// stretch then. Any number of processes may do so at a time, for the same stretch, too: what is there stays.
///
/// Of members of archives nothing is surveyed, nor of what need not be converted.
///
/// # Errors
/// Those of [`plan`](super::steps::plan) up to there.
pub fn survey_stretch(
    job: &Recording,
    options: &ConvertOptions,
    stretch: Stretch,
    progress: &dyn JobProgress,
) -> Result<()> {
    check_absent(&options.out, &job.name, options.if_exists)?;
    let pool = pool(options.threads)?;
    let is_packed = |input: &InputFile| input.address.is_stdin() || input.address.split().is_some();
    if job.inputs.iter().any(is_packed)
        || options.if_exists == IfExists::Update && Update::of(job, options).known(&pool, progress)?.is_some()
    {
        return Ok(());
    }
    let inputs = inputs(job, options, progress)?;
    let digits = digits(inputs.identities());
    let place = PlanPlace::begin(&options.out, (&job.name, &digits), &options.open, progress)?;
    let folder = folder(&options.out, &job.name, inputs.identities());
    let bytes = inputs.identities().map(|identity| stretch.bytes(identity.size)).map(|bytes| bytes.end - bytes.start);
    progress.stage(Stage::Survey { bytes: bytes.sum() });
    for id in (0..).take(inputs.len()).map(InputId) {
        if !find(&folder, id.0)?.has(stretch) {
            let (input, space) = (inputs.get(id)?, SpillSpace::temporary());
            let survey = || survey::survey_stretch(&space, (&*input, id.0), stretch, place.output.files(), progress);
            pool.install(survey)?;
        }
    }
    place.output.keep();
    Ok(())
}

/// What was found in stretches of an input, by its number in the recording.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the folder cannot be read.
pub(super) fn find(folder: &Path, input: u16) -> Result<Stretches> {
    Stretches::find(store_at(folder), input)
}

/// The folder of what is found in stretches of these inputs of a trace, whether it is there or not.
pub(super) fn folder<'i>(out: &Path, trace: &str, inputs: impl Iterator<Item = &'i Identity>) -> PathBuf {
    store_at(out).location(&plan_folder_name(trace, &digits(inputs)))
}

/// Digits that are those of these inputs in this state, for this version of the program.
fn digits<'i>(inputs: impl Iterator<Item = &'i Identity>) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
    for Identity { source, size, modified, tag } in inputs {
        let state = format!("{:?}", (source.absolute(), size, modified, tag));
        hasher.update(state.as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}
