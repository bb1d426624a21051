//! From the buffers of a recording to the stacks of its events.

use base::error::Result;
use base::progress::{Progress, Step, timed};
use etl::event::stack::{Addresses, Part, StackDescription, StackEvent};
use etl::reader::BufferReader;
use spill::{SpillSpace, SpillWriter, Spilled};

use super::buffers::Buffers;
use super::join::{Join, MAX_ADDRESSES};
use super::keys::resolve;
use super::lists::{Added, ListWriter, Lists};
use super::matching::sightings;
use super::records::{Definition, MAX_KEPT, Sighting, Walk, WalkPart};
use super::result::{StackOfEvent, Stacks};
use super::sorted::sorted;
use super::unjoined::{Reason, Unjoined};
use super::wanted::WantedWalks;
use crate::plan::{CompiledFilter, PlanResult, PlannedInputs};
use crate::survey::{BufferSummary, FileKey, FileSurvey, Issue};

/// Finds the stacks of the events of a recording that a filter may pass, without one of all events; says what walks of them are not
/// joined to one.
///
/// # Errors
/// When an input cannot be read or has changed, when there is no space, or
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub fn gather(
    files: &[FileSurvey],
    inputs: &PlannedInputs<'_>,
    plan: &PlanResult,
    filter: Option<&CompiledFilter>,
    space: &SpillSpace,
    progress: &dyn Progress,
) -> Result<(Stacks, Vec<(u16, Issue)>)> {
    let Some(wanted) = WantedWalks::of(plan, filter, files) else { return Ok(Default::default()) };
    let (mut events, mut lists, mut issues) = (space.records(), ListWriter::new(space), Vec::new());
    for (number, file) in (0u16..).zip(files) {
        let describes = |buffer: &&BufferSummary| buffer.describes_stacks() && wanted.may_be_in(buffer, &file.clock);
        let describing: Vec<_> = file.buffers.iter().filter(describes).collect();
        if describing.is_empty() {
            continue;
        }
        let input = inputs.open(number)?;
        let buffers = Buffers { file, reader: BufferReader { rules: file.rules(), input: &*input }, progress };
        let mut of_input = space.records();
        let unjoined = join_input(&buffers, number, (&describing, &wanted), (&mut lists, &mut of_input), space)?;
        // Inputs come in order, and so all of them are.
        let of_input = sorted(of_input.finish()?, StackOfEvent::order, StackOfEvent::order, space, progress)?;
        events.extend(&of_input)?;
        issues.extend(unjoined.issue().map(|issue| (number, issue)));
    }
    Ok((Stacks::new(events.finish()?, lists.finish()?), issues))
}

/// Joins the walks of an input to its events.
fn join_input(
    buffers: &Buffers<'_>,
    input: u16,
    (describing, wanted): (&[&BufferSummary], &WantedWalks),
    (lists, events): (&mut ListWriter, &mut SpillWriter<StackOfEvent>),
    space: &SpillSpace,
) -> Result<Unjoined> {
    let (progress, clock) = (buffers.progress, &buffers.file.clock);
    let mut gathered = Gathered::new(space);
    let read = |buffer: &BufferSummary, scratch: &mut _, found: &mut GatheredStacks| {
        buffers.visit_describing(buffer, scratch, |raw, at| {
            match StackDescription::of(raw, &buffers.reader.rules.context) {
                Some(StackDescription::Walk { event_ticks, .. }) if !wanted.contains(at.ticks, event_ticks, clock) => {}
                Some(described) => found.push(at, described),
                None => {}
            }
        })
    };
    buffers.read(describing, read, |found| gathered.take(&found))?;
    let (walks, definitions, parts, mut unjoined) = gathered.finish()?;
    let definitions = sorted(definitions, |definition| definition.key, Definition::order, space, progress)?;
    let walks = timed(progress, Step::Plan, || resolve(walks, &definitions, space, progress))?;
    let walks = sorted(walks, |walk| walk.event_ticks, Walk::order, space, progress)?;
    drop(definitions);
    let sightings = sightings(buffers, &walks, space)?;
    let sightings = sorted(sightings, |event| event.at.ticks(), Sighting::order, space, progress)?;
    let (parts, sightings, addresses) = (&parts, &sightings, Vec::new());
    let join = Join { input, clock, parts, sightings, unjoined: &mut unjoined, lists, events, addresses };
    timed(progress, Step::Plan, || join.run(&walks, progress))?;
    Ok(unjoined)
}

/// What some buffers record of stacks.
#[derive(Default)]
struct GatheredStacks {
    events: Vec<(FileKey, Event)>,
    addresses: Vec<u64>,
}

/// What an event records of a stack; its addresses are the next ones, so many.
enum Event {
    Walk { event_ticks: i64, ids: (u32, Option<u32>), part: FoundPart },
    Key { key: u64, when: StackEvent, part: FoundPart },
}

enum FoundPart {
    Addresses(usize),
    Key(u64),
    TooLong,
}

impl GatheredStacks {
    fn push(&mut self, at: FileKey, described: StackDescription<'_>) {
        let event = match described {
            StackDescription::Walk { event_ticks, thread, process, stack } => {
                let part = match stack {
                    Part::Key(key) => FoundPart::Key(key),
                    Part::Addresses(addresses) => self.keep(addresses),
                };
                Event::Walk { event_ticks, ids: (thread, process), part }
            }
            StackDescription::Key { key, when, addresses } => Event::Key { key, when, part: self.keep(addresses) },
        };
        self.events.push((at, event));
    }

    fn keep(&mut self, addresses: Addresses<'_>) -> FoundPart {
        if addresses.len() > MAX_ADDRESSES {
            return FoundPart::TooLong;
        }
        addresses.append_to(&mut self.addresses);
        FoundPart::Addresses(addresses.len())
    }
}

/// What is recorded of stacks in one input.
struct Gathered {
    walks: SpillWriter<Walk>,
    definitions: SpillWriter<Definition>,
    parts: ListWriter,
    unjoined: Unjoined,
}

impl Gathered {
    fn new(space: &SpillSpace) -> Self {
        Gathered {
            walks: space.records(),
            definitions: space.records(),
            parts: ListWriter::new(space),
            unjoined: Unjoined::default(),
        }
    }

    fn take(&mut self, found: &GatheredStacks) -> Result<()> {
        let mut rest = &found.addresses[..];
        for (at, event) in &found.events {
            match *event {
                Event::Walk { event_ticks, ids, ref part } => {
                    self.unjoined.walks += 1;
                    if self.walks.len() >= MAX_KEPT {
                        self.unjoined.count(Reason::NoRoom);
                        pass_over(&mut rest, part);
                        continue;
                    }
                    let part = self.part(part, &mut rest)?;
                    self.walks.push(Walk::new(*at, event_ticks, ids, part))?;
                }
                Event::Key { ref part, .. } if self.definitions.len() >= MAX_KEPT => pass_over(&mut rest, part),
                Event::Key { key, when, ref part } => {
                    let part = self.part(part, &mut rest)?;
                    self.definitions.push(Definition::new(*at, key, when, part))?;
                }
            }
        }
        Ok(())
    }

    /// A part with its addresses, which are taken from the front of `rest`.
    fn part(&mut self, part: &FoundPart, rest: &mut &[u64]) -> Result<WalkPart> {
        let addresses = match *part {
            FoundPart::Addresses(count) => rest.split_off(..count).unwrap_or_default(),
            FoundPart::Key(key) => return Ok(WalkPart::Key(key)),
            FoundPart::TooLong => return Ok(WalkPart::TooLong),
        };
        // Parts have no ids: those of events do.
        Ok(match self.parts.add(addresses, |_| 0)? {
            Added::Number(list) => WalkPart::List(list),
            Added::NoRoom => WalkPart::NoRoom,
        })
    }

    fn finish(self) -> Result<(Spilled<Walk>, Spilled<Definition>, Lists, Unjoined)> {
        Ok((self.walks.finish()?, self.definitions.finish()?, self.parts.finish()?, self.unjoined))
    }
}

/// Passes over the addresses of a part that is not kept.
fn pass_over(rest: &mut &[u64], part: &FoundPart) {
    if let FoundPart::Addresses(count) = part {
        _ = rest.split_off(..*count);
    }
}
