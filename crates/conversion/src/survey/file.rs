//! Surveys one file.

use std::collections::BTreeMap;

use base::error::Result;
use base::progress::{Progress, Silent, Step, stop_if_cancelled, timed};
use columnar::output::Store;
use etl::input::Input;
use etl::reader::{BufferReader, ReadRules};
use etl::session;
use spill::SpillSpace;

use super::assembly::PassResult;
use super::audit;
use super::disorder::Disorder;
use super::hash::FileHash;
use super::options::{Keeps, SurveyOptions};
use super::pass::Pass;
use super::repeats;
use super::result::FileSurvey;
use super::stretch::Stretch;
use super::stretch_file::Stretches;
use super::{session_events, streams};

/// Surveys a file; what does not fit into memory goes to the system's folder for temporary files.
///
/// # Errors
/// Those of [`survey_within`].
pub fn survey(input: &dyn Input, name: String, options: &SurveyOptions, progress: &dyn Progress) -> Result<FileSurvey> {
    survey_within(&SpillSpace::temporary(), input, name, options, progress)
}

/// Surveys a file; `space` is for what does not fit into memory.
///
/// # Errors
/// Of the kind `Input` when it is no trace or cannot be read, `Output` when there is no space, `Interrupted` when the
/// caller asked to stop.
pub fn survey_within(
    space: &SpillSpace,
    input: &dyn Input,
    name: String,
    options: &SurveyOptions,
    progress: &dyn Progress,
) -> Result<FileSurvey> {
    survey_joined(space, input, name, options, &Stretches::default(), progress)
}

/// As [`survey_within`], with stretches of the file that were surveyed ahead: what was found in them is not looked for again.
///
/// # Errors
/// Those of [`survey_within`], and `Input` when the survey of a stretch cannot be read or is not of this file.
pub fn survey_joined(
    space: &SpillSpace,
    input: &dyn Input,
    name: String,
    options: &SurveyOptions,
    stretches: &Stretches,
    progress: &dyn Progress,
) -> Result<FileSurvey> {
    let (session, scan) = session::read(input)?;
    let clock = session.clock(options.anchor).moved_by(options.offset_ns);
    let mut hasher = options.hash.then(FileHash::default);
    let reader = BufferReader { rules: ReadRules::of(&session), input };
    let pass = Pass { space, session: &session, scan, reader, keeps: options.keeps, progress };
    let mut found = pass.over(stretches, &[], hasher.as_mut())?;
    let repeated = repeats::find(input, &found.buffers, progress)?;
    if !repeated.is_empty() {
        // What was counted twice cannot be taken back, so all is counted again.
        drop(found);
        found = Pass { progress: &Silent(progress), ..pass }.over(stretches, &repeated, None)?;
    }
    let blake3 = hasher.map(|hasher| hasher.finish(input, progress)).transpose()?;
    let PassResult { buffers, unreadable, tail, shapes, marked, notices, descriptive, walks, issues } = found;
    let mut file = FileSurvey {
        identity: input.identity().clone(),
        name,
        blake3,
        session,
        clock,
        buffers,
        unreadable,
        tail,
        shapes,
        marked,
        notices,
        descriptive,
        walks,
        group_masks: None,
        last_dropped: BTreeMap::new(),
        disorder: Disorder::default(),
        issues,
    };
    stop_if_cancelled(progress)?;
    file.disorder = timed(progress, Step::Scan, || streams::disorder(&file, progress))?;
    session_events::read(&mut file, input, progress)?;
    stop_if_cancelled(progress)?;
    timed(progress, Step::Scan, || audit::audit(&mut file));
    Ok(file)
}

/// Surveys a stretch of a file ahead, and writes what was found to a store, unless it is there; `number` is that of the file in
/// its recording.
///
/// # Errors
/// Those of [`survey_within`], and `Output` when it cannot be written.
pub fn survey_stretch(
    space: &SpillSpace,
    (input, number): (&dyn Input, u16),
    stretch: Stretch,
    store: &dyn Store,
    progress: &dyn Progress,
) -> Result<()> {
    let (session, scan) = session::read(input)?;
    let reader = BufferReader { rules: ReadRules::of(&session), input };
    let found =
        Pass { space, session: &session, scan, reader, keeps: Keeps::default(), progress }.of_stretch(stretch)?;
    input.check_unchanged()?;
    found.write(store, number, progress)
}
