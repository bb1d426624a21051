//! From the buffers of a recording to the stacks of its events.

use base::error::Result;
use base::progress::{Progress, Step, timed};
use etl::reader::BufferReader;
use spill::{SpillSpace, SpillWriter};

use super::buffers::Buffers;
use super::join::Join;
use super::keys::resolve;
use super::matching::{Sighting, sightings};
use super::result::{StackOfEvent, Stacks};
use super::sorted::sorted;
use super::unjoined::Unjoined;
use super::wanted::WantedWalks;
use crate::plan::{CompiledFilter, PlanResult, PlannedInputs};
use crate::survey::walks::{Definition, FoundWalks, ListWriter, RecordedWalks, Walk, WalkLog};
use crate::survey::{BufferSummary, FileSurvey, Issue};

/// Finds the stacks of the events of a recording that a filter may pass, without one of all events; says what walks of them are not
/// joined to one. `logs` are those of the survey, by input.
///
/// # Errors
/// When an input cannot be read or has changed, when there is no space, or
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub fn gather(
    (files, logs): (&[FileSurvey], Vec<Option<WalkLog>>),
    inputs: &PlannedInputs<'_>,
    plan: &PlanResult,
    filter: Option<&CompiledFilter>,
    space: &SpillSpace,
    progress: &dyn Progress,
) -> Result<(Stacks, Vec<(u16, Issue)>)> {
    let Some(wanted) = WantedWalks::of(plan, filter, files) else { return Ok(Default::default()) };
    let (mut events, mut lists, mut issues) = (space.records(), ListWriter::new(space), Vec::new());
    for ((number, file), log) in (0u16..).zip(files).zip(logs) {
        let describes = |buffer: &&BufferSummary| buffer.describes_stacks() && wanted.may_be_in(buffer, &file.clock);
        if !file.buffers.iter().any(|buffer| describes(&buffer)) {
            continue;
        }
        let log = log.unwrap_or_else(|| WalkLog::new(space));
        let is_to_read = |buffer: &&BufferSummary| describes(buffer) && !log.covers(buffer.extent.ordinal);
        let to_read: Vec<_> = file.buffers.iter().filter(is_to_read).collect();
        let input = inputs.open(number)?;
        let buffers = Buffers { file, reader: BufferReader { rules: file.rules(), input: &*input }, progress };
        let mut of_input = space.records();
        let unjoined = join_input(&buffers, number, (&to_read, log), &wanted, (&mut lists, &mut of_input), space)?;
        // Inputs come in order, and so all of them are.
        let of_input = sorted(of_input.finish()?, StackOfEvent::order, StackOfEvent::order, space, progress)?;
        events.extend(&of_input)?;
        issues.extend(unjoined.issue().map(|issue| (number, issue)));
    }
    Ok((Stacks::new(events.finish()?, lists.finish()?), issues))
}

/// Joins the walks of an input to its events; `log` has what the survey took down of some buffers, or nothing.
fn join_input(
    buffers: &Buffers<'_>,
    input: u16,
    (describing, mut log): (&[&BufferSummary], WalkLog),
    wanted: &WantedWalks,
    (lists, events): (&mut ListWriter, &mut SpillWriter<StackOfEvent>),
    space: &SpillSpace,
) -> Result<Unjoined> {
    let (progress, clock) = (buffers.progress, &buffers.file.clock);
    let read = |buffer: &BufferSummary, scratch: &mut _, found: &mut FoundWalks| {
        buffers.find(buffer, scratch, |at, event_ticks| wanted.contains(at.ticks, event_ticks, clock), found)
    };
    buffers.read(describing, read, |found| log.take(&found))?;
    let RecordedWalks { walks, definitions, parts, walked, count, no_room } = log.finish()?;
    let (walks, count) = if wanted.are_all() { (walks, count) } else { wanted.only(&walks, clock, space, progress)? };
    let mut unjoined = Unjoined::of(count, no_room);
    let definitions = sorted(definitions, |definition| definition.key, Definition::order, space, progress)?;
    let walks = timed(progress, Step::Plan, || resolve(walks, &definitions, space, progress))?;
    let walks = sorted(walks, |walk| walk.event_ticks, Walk::order, space, progress)?;
    drop(definitions);
    let sightings = sightings(buffers, &walks, &walked, space)?;
    drop(walked);
    let sightings = sorted(sightings, |event| event.at.ticks(), Sighting::order, space, progress)?;
    let (parts, sightings, addresses) = (&parts, &sightings, Vec::new());
    let join = Join { input, clock, parts, sightings, unjoined: &mut unjoined, lists, events, addresses };
    timed(progress, Step::Plan, || join.run(&walks, progress))?;
    Ok(unjoined)
}
