//! Reads the buffers that describe subjects, and gathers what they record.

use base::calendar::rfc3339;
use base::error::Result;
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use etl::buffer::content::Scratch;
use etl::event::subject::Subject;
use etl::reader::BufferReader;
use rayon::prelude::*;
use spill::{SpillSpace, SpillWriter, Spilled};

use super::fact::Fact;
use super::fold::{Recorded, RecordedTimes, fold};
use super::local_texts::Adoption;
use super::paths::DosPaths;
use super::reader::{DescribedFacts, Readers, Reading};
use super::result::Dimensions;
use super::texts::TextWriter;
use crate::plan::{Key, PlanResult, PlannedInputs, ShapeIds};
use crate::survey::{self, BufferSummary, FileSurvey, Issue, IssueCode, OneBehind, Severity};

/// Bytes of buffers that are read side by side: what they record may take some times as many.
const TOGETHER_BYTES: u64 = 8 << 20;

/// Bytes of buffers that one thread reads together: of texts that come again one is converted.
const PORTION_BYTES: u64 = 1 << 20;

/// Events whose facts are handed over together.
const TOGETHER_ROWS: usize = 1 << 14;

/// Facts of one subject that are kept: those that are first in the recording's files. The others are counted, and what ids
/// meant is known up to the first of them.
pub(super) const MAX_FACTS: usize = 1 << 24;

/// Gathers what the events of a recording record of some subjects; says what is left out of it.
///
/// # Errors
/// When an input cannot be read or has changed, when there is no space, or
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub fn gather(
    subjects: &[Subject],
    files: &[FileSurvey],
    inputs: &PlannedInputs<'_>,
    plan: &PlanResult,
    space: &SpillSpace,
    progress: &dyn Progress,
) -> Result<(Dimensions, Vec<(u16, Issue)>)> {
    let readers = timed(progress, Step::Plan, || Readers::of(plan, subjects));
    let mut gathered = Gathered::new(space);
    if !readers.is_empty() {
        let ids = timed(progress, Step::Plan, || ShapeIds::new(plan.shapes.iter().map(|shape| &shape.key)));
        for (number, file) in (0u16..).zip(files) {
            gathered.read((&readers, &ids), subjects, (file, number), inputs, progress)?;
        }
    }
    gathered.finish(&RecordedTimes::of(files, inputs, plan).recorded(), space, progress)
}

/// What was gathered so far.
struct Gathered {
    facts: [SpillWriter<Fact>; Subject::ALL.len()],
    texts: TextWriter,
    /// What is beyond the limit, by subject.
    left_out: [Option<LeftOut>; Subject::ALL.len()],
}

/// Facts that are beyond the limit.
#[derive(Clone, Copy, Debug)]
struct LeftOut {
    /// The input in which the first of them is.
    input: u16,
    /// How many they are.
    events: u64,
    /// The earliest time of them.
    from_ns: i64,
}

impl Gathered {
    fn new(space: &SpillSpace) -> Self {
        let facts = Subject::ALL.map(|_| space.records());
        Gathered { facts, texts: TextWriter::new(space), left_out: [None; Subject::ALL.len()] }
    }

    fn read(
        &mut self,
        (readers, ids): (&Readers, &ShapeIds),
        subjects: &[Subject],
        (file, number): (&FileSurvey, u16),
        inputs: &PlannedInputs<'_>,
        progress: &dyn Progress,
    ) -> Result<()> {
        let input = inputs.open(number)?;
        let reader = BufferReader { rules: file.rules(), input: &*input };
        let describing: Vec<&BufferSummary> = file.buffers.iter().filter(|buffer| buffer.describes(subjects)).collect();
        let machine = inputs.get(number).machine;
        let source = Source { readers, ids, subjects, reader: &reader, file, number, machine };
        let take = |gathered: &mut Self, described: Vec<Vec<DescribedFacts>>| {
            timed(progress, Step::Plan, || {
                described.into_iter().flatten().try_for_each(|described| gathered.take(described, number))
            })
        };
        let mut behind = OneBehind::default();
        for together in describing.chunk_by(survey::together(TOGETHER_BYTES)) {
            stop_if_cancelled(progress)?;
            // What a large buffer records is not held at once.
            if together.len() == 1 {
                behind.end(|described| take(self, described))?;
                let mut scratch = Scratch::default();
                source.read(together, &mut scratch, |described| take(self, vec![vec![described]]))?;
                continue;
            }
            behind.turn(|| source.read_parallel(together, progress), |described| take(self, described))?;
        }
        behind.end(|described| take(self, described))
    }

    fn take(&mut self, described: DescribedFacts, input: u16) -> Result<()> {
        let DescribedFacts { facts, texts, .. } = described;
        let mut adoption = Adoption::of(&texts);
        let blocks = facts
            .into_iter()
            .enumerate()
            .flat_map(|(place, facts)| facts.blocks.into_iter().map(move |block| (place, block)));
        for (place, mut facts) in blocks {
            let room = MAX_FACTS.saturating_sub(self.facts[place].len());
            self.leave_out(place, input, facts.get(room..).unwrap_or_default());
            facts.truncate(room);
            for fact in &mut facts {
                adoption.adopt(&mut fact.texts, &mut self.texts)?;
            }
            self.facts[place].extend(&facts)?;
        }
        Ok(())
    }

    /// Counts facts for which there is no room.
    fn leave_out(&mut self, place: usize, input: u16, facts: &[Fact]) {
        for fact in facts {
            let left_out = self.left_out[place].get_or_insert(LeftOut { input, events: 0, from_ns: fact.ns });
            left_out.events += 1;
            left_out.from_ns = left_out.from_ns.min(fact.ns);
        }
    }

    fn finish(
        self,
        recorded: &Recorded<'_>,
        space: &SpillSpace,
        progress: &dyn Progress,
    ) -> Result<(Dimensions, Vec<(u16, Issue)>)> {
        let issues =
            Subject::ALL.iter().zip(self.left_out).filter_map(|(subject, left)| Some(left_out(*subject, left?)));
        let issues = issues.collect();
        let texts = self.texts.finish()?;
        let [processes, threads, images, files, methods, volumes] = self.facts;
        let volumes: Spilled<Fact> = volumes.finish()?;
        let spans = |subject, facts: SpillWriter<Fact>, owners: &[_]| {
            let place = Subject::ALL.iter().position(|known| *known == subject);
            let left_out = place.and_then(|place| self.left_out[place]);
            let recorded = recorded.until(left_out.map(|left_out| left_out.from_ns));
            fold(subject, &facts.finish()?, owners, &recorded, space, progress)
        };
        let processes = spans(Subject::Process, processes, &[])?;
        let ((threads, images), (files, methods)) = rayon::join(
            || {
                let threads = || spans(Subject::Thread, threads, &processes);
                rayon::join(threads, || spans(Subject::Image, images, &processes))
            },
            || {
                let files = || spans(Subject::File, files, &[]);
                rayon::join(files, || spans(Subject::Method, methods, &processes))
            },
        );
        let (threads, images, files, methods) = (threads?, images?, files?, methods?);
        let paths = DosPaths::of(&volumes, &texts);
        Ok((Dimensions { processes, threads, images, files, methods, texts, paths }, issues))
    }
}

/// Where facts are read from.
struct Source<'a> {
    readers: &'a Readers,
    ids: &'a ShapeIds,
    subjects: &'a [Subject],
    reader: &'a BufferReader<'a>,
    file: &'a FileSurvey,
    number: u16,
    machine: u16,
}

impl Source<'_> {
    /// What buffers record, in their order, read side by side.
    fn read_parallel(&self, buffers: &[&BufferSummary], progress: &dyn Progress) -> Result<Vec<Vec<DescribedFacts>>> {
        let portions: Vec<_> = buffers.chunk_by(survey::together(PORTION_BYTES)).collect();
        let described = portions.par_iter().map_init(Scratch::default, |scratch, portion| {
            timed(progress, Step::Schema, || {
                let mut all = Vec::new();
                self.read(portion, scratch, |described| {
                    all.push(described);
                    Ok(())
                })?;
                Ok(all)
            })
        });
        described.collect()
    }

    /// Hands over what buffers record, some facts at a time.
    fn read(
        &self,
        buffers: &[&BufferSummary],
        scratch: &mut Scratch,
        mut take: impl FnMut(DescribedFacts) -> Result<()>,
    ) -> Result<()> {
        let mut reading = Reading::new(self.readers, self.ids, self.machine);
        for buffer in buffers {
            self.file.descriptive.visit(self.subjects, (self.reader, buffer), scratch, |raw, at| {
                let key = || Key::new(&self.file.clock, self.number, at);
                let waiting = reading.push(raw, &self.reader.rules.context, key)?;
                if waiting >= TOGETHER_ROWS { take(reading.finish()) } else { Ok(()) }
            })?;
        }
        take(reading.finish())
    }
}

fn left_out(subject: Subject, left_out: LeftOut) -> (u16, Issue) {
    let LeftOut { input, events, from_ns } = left_out;
    let table = match subject {
        Subject::Process => "processes",
        Subject::Thread => "threads",
        Subject::Image => "images",
        Subject::File => "files",
        Subject::Method => "methods",
        Subject::Volume => "volumes",
    };
    let message = format!(
        "{events} events that describe {table} are not looked at: expected at most {MAX_FACTS} of them in a recording; \
         they are rows like any other, and what is described of {table} ends at {}",
        rfc3339(from_ns)
    );
    (input, Issue::new(Severity::Warning, IssueCode::EventsNotLookedAt, message))
}
