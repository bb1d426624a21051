//! What a recording itself says of payloads, gathered for others.

use std::sync::Arc;

use base::error::Result;
use base::progress::Progress;
use base::resources;
use etl::input::Inputs;
use etl::layout::logfile::mode;
use schema::Registry;
use schema::harvest::Harvest;
use spill::SpillSpace;

use super::prepare::{self, OfInputs};
use crate::convert::{ConvertOptions, JobProgress, Recording, Stage};
use crate::plan::descriptions::{TraceSchemas, descriptions};
use crate::plan::resolve::resolve;
use crate::survey::{FileSurvey, Issues};

/// What a recording says of payloads: descriptions that a merging tool appended, manifests that providers wrote, and the names of
/// providers whose events describe themselves. Events are not read but for those. Beside it what is wrong with descriptions, as
/// messages.
///
/// # Errors
/// Of the kind `Input` when a file is no trace or cannot be read, `Interrupted` when the caller asked to stop.
pub fn harvest(
    job: &Recording,
    options: &ConvertOptions,
    progress: &dyn JobProgress,
) -> Result<(Harvest, Vec<String>)> {
    let pool = resources::pool(options.threads)?;
    let (inputs, space) = (prepare::inputs(job, options, progress)?, SpillSpace::temporary());
    let files = prepare::survey(&pool, job, &inputs, options, &space, OfInputs::default(), progress)?;
    progress.stage(Stage::Plan);
    let harvested = pool.install(|| gather(&files, &inputs, progress))?;
    inputs.check_unchanged()?;
    Ok(harvested)
}

fn gather(files: &[FileSurvey], inputs: &Inputs, progress: &dyn Progress) -> Result<(Harvest, Vec<String>)> {
    let TraceSchemas { eventsource, event_info, issues } = descriptions(files, inputs, None, progress)?;
    let mut harvest = Harvest::default();
    harvest.add_event_info(&event_info, build(files));
    eventsource.all().for_each(|manifest| harvest.add_manifest(manifest));
    let registry = Registry::new(eventsource, event_info, Arc::default());
    for shape in resolve(files, inputs, &registry, progress)?.shapes {
        harvest.add_name(shape.key.identity.provider, shape.traits_name.as_deref().unwrap_or_default());
    }
    let issues = issues.iter().flat_map(Issues::rows).map(|issue| issue.message);
    Ok((harvest, issues.collect()))
}

/// The build of Windows that recorded all files; `None` where they do not record it, or differ.
fn build(files: &[FileSurvey]) -> Option<u32> {
    let build = |file: &FileSurvey| {
        let session = &file.session;
        // Programs that record themselves or write traces anew name an older system than the one that they run on.
        let is_of_system = !session.has_mode(mode::PRIVATE_LOGGER) && !session.has_mode(mode::RELOG);
        Some(session.os_build).filter(|&build| build > 0 && is_of_system)
    };
    let first = build(files.first()?)?;
    files.iter().all(|file| build(file) == Some(first)).then_some(first)
}
