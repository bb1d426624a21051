//! Surveys one file.

use std::collections::BTreeMap;

use base::error::Result;
use base::progress::{Progress, Silent, Step, stop_if_cancelled, timed};
use etl::input::Input;
use etl::reader::{BufferReader, ReadRules};
use etl::session;
use spill::SpillSpace;

use super::audit;
use super::disorder::Disorder;
use super::hash::FileHash;
use super::options::SurveyOptions;
use super::pass::{Pass, PassResult};
use super::repeats;
use super::result::FileSurvey;
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
    let (session, scan) = session::read(input)?;
    let clock = session.clock(options.anchor).moved_by(options.offset_ns);
    let mut hasher = options.hash.then(FileHash::default);
    let reader = BufferReader { rules: ReadRules::of(&session), input };
    let pass = Pass { space, session: &session, scan, reader, progress };
    let mut found = pass.over(&[], hasher.as_mut())?;
    let repeated = repeats::find(input, &found.buffers, progress)?;
    if !repeated.is_empty() {
        // What was counted twice cannot be taken back, so all is counted again.
        drop(found);
        found = Pass { progress: &Silent(progress), ..pass }.over(&repeated, None)?;
    }
    let blake3 = hasher.map(|hasher| hasher.finish(input, progress)).transpose()?;
    let PassResult { buffers, unreadable, tail, shapes, marked, notices, descriptive, issues } = found;
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
