//! What ids meant of which no row asks: gathered with the rows, whose events pass in order.
//!
//! Modules, files and methods have tables, and no column of events depends on them. Their events are decoded anyway, so that
//! nothing is read for them a second time, and they come in the order of the recording, so that nothing has to be sorted.

use std::fmt;
use std::hash::BuildHasher;
use std::sync::{Mutex, PoisonError};

use base::error::Result;
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use etl::event::subject::{self, Subject};
use hashbrown::{DefaultHashBuilder, HashTable};
use spill::{SpillSpace, SpillWriter, Spilled};

use super::fact::Fact;
use super::fold::{Folder, RecordedTimes, by_id};
use super::gather::MAX_FACTS;
use super::local_texts::Adoption;
use super::reader::{DescribedFacts, Readers};
use super::result::Dimensions;
use super::span::Span;
use super::texts::{LATE, TextWriter, Texts};
use crate::plan::{PlanResult, PlannedInputs};
use crate::survey::FileSurvey;

/// The subjects of which no row asks.
const SUBJECTS: [Subject; 3] = [Subject::Image, Subject::File, Subject::Method];

/// The subjects that rows ask for.
pub const BEFORE_ROWS: [Subject; 3] = [Subject::Process, Subject::Thread, Subject::Volume];

/// Ids whose meaning is in memory: where there are more, all is gathered behind the rows.
const MAX_OPEN: usize = 1 << 18;

/// Spans that are put in order without a look at whether to stop.
const AT_ONCE: usize = 1 << 16;

/// Bytes of an id whose meaning is in memory.
const OPEN_BYTES: u64 = 160;

/// Events of a plan that describe modules, files and methods.
fn events(plan: &PlanResult) -> u64 {
    let is_late = |identity| subject::described_by(identity).is_some_and(|(subject, _)| SUBJECTS.contains(&subject));
    let events = plan.shapes.iter().filter(|shape| is_late(&shape.key.identity)).map(|shape| shape.events);
    events.sum()
}

/// Whether what ids of modules, files and methods meant can be gathered with the rows of a plan, if each event becomes one.
pub fn can_come_late(plan: &PlanResult) -> bool {
    events(plan) <= MAX_FACTS as u64
}

/// What takes the facts of a recording's modules, files and methods.
#[derive(Debug)]
pub struct LateFacts {
    readers: Readers,
    times: RecordedTimes,
    events: u64,
}

impl LateFacts {
    /// What takes those of a recording; `None` where it has none.
    pub fn of(files: &[FileSurvey], inputs: &PlannedInputs<'_>, plan: &PlanResult) -> Option<LateFacts> {
        let readers = Readers::of(plan, &SUBJECTS);
        let times = || RecordedTimes::of(files, inputs, plan);
        (!readers.is_empty()).then(|| LateFacts { readers, times: times(), events: events(plan) })
    }

    /// Begins, with the processes of the recording.
    pub fn begin<'a>(&'a self, processes: &'a [Span], space: &SpillSpace) -> LateSpans<'a> {
        let open = SUBJECTS.map(|subject| OpenSpans {
            folder: Folder::new(subject, processes, &self.times.recorded()),
            ended: space.records(),
            spans: Vec::new(),
            places: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        });
        let gathered = Gathered { open, texts: TextWriter::new(space), is_too_much: false };
        LateSpans { facts: self, gathered: Mutex::new(gathered) }
    }
}

/// What ids of modules, files and methods meant, while the rows come.
#[derive(Debug)]
pub struct LateSpans<'a> {
    facts: &'a LateFacts,
    gathered: Mutex<Gathered<'a>>,
}

#[derive(Debug)]
struct Gathered<'a> {
    open: [OpenSpans<'a>; SUBJECTS.len()],
    texts: TextWriter,
    is_too_much: bool,
}

/// Where the facts of a recording go while its rows are made. A trait, since what is gathered, behind a lock, would tie all that
/// converts a slice to its own lifetime.
pub trait TakesFacts: fmt::Debug + Sync {
    /// What reads the events that describe the subjects of which facts are taken.
    fn readers(&self) -> &Readers;

    /// Bytes that what is made of the facts may take while rows are made.
    fn reserve(&self) -> u64;

    /// Takes what some events record; those of all come in the order of the recording.
    ///
    /// # Errors
    /// When there is no space.
    fn take(&self, described: DescribedFacts) -> Result<()>;
}

impl TakesFacts for LateSpans<'_> {
    fn readers(&self) -> &Readers {
        &self.facts.readers
    }

    fn reserve(&self) -> u64 {
        self.facts.events.min(MAX_OPEN as u64) * OPEN_BYTES
    }

    fn take(&self, described: DescribedFacts) -> Result<()> {
        // Nothing is half taken: an error ends the conversion.
        let mut gathered = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        gathered.take(described)
    }
}

impl LateSpans<'_> {
    /// What they mean, once all rows are there.
    ///
    /// # Errors
    /// When there is no space, or when the caller asked to stop.
    pub fn finish(self, space: &SpillSpace, progress: &dyn Progress) -> Result<LateDimensions> {
        let gathered = self.gathered.into_inner().unwrap_or_else(PoisonError::into_inner);
        if gathered.is_too_much {
            return Ok(LateDimensions::TooMany);
        }
        let [images, files, methods] = gathered.open.map(|open| open.finish(space, progress));
        let texts = gathered.texts.finish()?;
        Ok(LateDimensions::Folded(FoldedSpans { images: images?, files: files?, methods: methods?, texts }))
    }
}

impl Gathered<'_> {
    fn take(&mut self, described: DescribedFacts) -> Result<()> {
        if self.is_too_much {
            return Ok(());
        }
        let DescribedFacts { mut facts, texts, .. } = described;
        let mut adoption = Adoption::of(&texts);
        for (subject, open) in SUBJECTS.iter().zip(&mut self.open) {
            for fact in facts[*subject as usize].blocks.iter_mut().flatten() {
                adoption.adopt(&mut fact.texts, &mut self.texts)?;
                fact.texts.iter_mut().filter(|text| **text != 0).for_each(|text| *text |= LATE);
                open.take(fact)?;
            }
        }
        self.is_too_much = self.open.iter().map(|open| open.spans.len()).sum::<usize>() > MAX_OPEN;
        if self.is_too_much {
            self.open.iter_mut().for_each(OpenSpans::forget);
        }
        Ok(())
    }
}

/// What the ids of one subject mean.
#[derive(Debug)]
struct OpenSpans<'a> {
    folder: Folder<'a>,
    /// The spans that have ended.
    ended: SpillWriter<Span>,
    /// The last span of each id.
    spans: Vec<Option<Span>>,
    /// The place of each id's.
    places: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl OpenSpans<'_> {
    fn take(&mut self, fact: &Fact) -> Result<()> {
        if !self.folder.is_within(fact) {
            return Ok(());
        }
        let OpenSpans { folder, ended, spans, places, hasher } = self;
        let id = fact.id();
        let id_at = |place: &u32| spans[*place as usize].as_ref().map(Span::id);
        let hash = hasher.hash_one(id);
        let known = places.find(hash, |place| id_at(place) == Some(id)).copied();
        let place = if let Some(place) = known {
            place
        } else {
            let place = u32::try_from(spans.len()).unwrap_or(u32::MAX);
            places.insert_unique(hash, place, |place| hasher.hash_one(id_at(place).unwrap_or_default()));
            spans.push(None);
            place
        };
        folder.take(&mut spans[place as usize], fact).map_or(Ok(()), |span| ended.push(span))
    }

    /// Gives its memory back.
    fn forget(&mut self) {
        (self.spans, self.places) = (Vec::new(), HashTable::new());
    }

    /// All spans by id, those of an id in order.
    fn finish(self, space: &SpillSpace, progress: &dyn Progress) -> Result<Spilled<Span>> {
        let OpenSpans { folder, mut ended, spans, places, .. } = self;
        drop(places);
        spans.into_iter().flatten().try_for_each(|span| ended.push(folder.end(span)))?;
        let found = ended.finish()?;
        let order = by_id((0..).take(found.len()).collect(), |place| found[place as usize].id(), progress)?;
        let mut sorted: SpillWriter<Span> = space.records();
        timed(progress, Step::Plan, || {
            for places in order.chunks(AT_ONCE) {
                stop_if_cancelled(progress)?;
                places.iter().try_for_each(|&place| sorted.push(found[place as usize]))?;
            }
            sorted.finish()
        })
    }
}

/// What came of gathering with the rows.
#[derive(Debug)]
pub enum LateDimensions {
    /// What the ids meant.
    Folded(FoldedSpans),
    /// They were too many; nothing is known of them.
    TooMany,
}

/// What ids of modules, files and methods meant.
#[derive(Debug)]
pub struct FoldedSpans {
    images: Spilled<Span>,
    files: Spilled<Span>,
    methods: Spilled<Span>,
    texts: Texts,
}

impl Dimensions {
    /// The same with what came late.
    #[must_use]
    pub fn with_late(self, late: FoldedSpans) -> Dimensions {
        let FoldedSpans { images, files, methods, texts } = late;
        Dimensions { images, files, methods, texts: self.texts.with_late(texts), ..self }
    }
}
