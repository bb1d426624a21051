//! What events record of ids becomes what the ids meant, and when.

use base::error::Result;
use base::guid::Guid;
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use etl::event::subject::{Lifecycle, Subject, records_image_paths};
use hashbrown::HashMap;
use rayon::prelude::*;
use spill::{SpillSpace, Spilled};

use super::attributes::{NUMBERS, TEXTS, image, process, thread};
use super::fact::{Fact, ScopedId};
use super::span::Span;
use crate::plan::{PlanResult, PlannedInputs};
use crate::survey::FileSurvey;
use crate::survey::sort::{Threads, sort_by_key, sort_places};

/// How long after the one provider another may describe the same start or end.
const RETOLD_NS: i64 = 1_000_000_000;

/// Facts that one thread folds together: their spans are held until it has done all of them.
const PORTION: usize = 1 << 13;

/// Portions that are folded side by side before their spans are kept.
const TOGETHER: usize = 16;

/// From when to when the recording of a machine reaches, in Unix nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// Its first event.
    pub from_ns: i64,
    /// Behind its last event.
    pub to_ns: i64,
}

impl Extent {
    /// Of nothing.
    const EMPTY: Extent = Extent { from_ns: i64::MAX, to_ns: i64::MIN };

    /// From the first event of each machine to the last, by the machine's number.
    pub(super) fn of_machines(files: &[FileSurvey], inputs: &PlannedInputs<'_>) -> Vec<Self> {
        let mut extents = Vec::new();
        for (file, planned) in files.iter().zip(inputs) {
            let machine = usize::from(planned.machine);
            if extents.len() <= machine {
                extents.resize(machine + 1, Extent::EMPTY);
            }
            for (_, shape) in &file.shapes {
                let (first, last) = (file.unix_ns(shape.first_ticks), file.unix_ns(shape.last_ticks));
                let Extent { from_ns, to_ns } = extents[machine];
                extents[machine] = Extent { from_ns: from_ns.min(first), to_ns: to_ns.max(last.saturating_add(1)) };
            }
        }
        extents
    }
}

/// What is common to all subjects of a recording.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recorded<'a> {
    /// From when to when it reaches, by number of the machine.
    pub extents: &'a [Extent],
    /// From when on no more is known of the subjects.
    pub until_ns: i64,
    /// The providers of its event shapes, by number.
    pub sources: &'a [Guid],
}

/// What facts of all subjects of a recording are held against.
#[derive(Debug)]
pub(super) struct RecordedTimes {
    extents: Vec<Extent>,
    sources: Vec<Guid>,
}

impl RecordedTimes {
    pub(super) fn of(files: &[FileSurvey], inputs: &PlannedInputs<'_>, plan: &PlanResult) -> Self {
        let sources = plan.shapes.iter().map(|shape| shape.key.identity.provider).collect();
        RecordedTimes { extents: Extent::of_machines(files, inputs), sources }
    }

    /// The same, of a recording that is known to its end.
    pub(super) fn recorded(&self) -> Recorded<'_> {
        Recorded { extents: &self.extents, until_ns: i64::MAX, sources: &self.sources }
    }
}

impl<'a> Recorded<'a> {
    /// The same, of a recording of which no more is known from a time on.
    pub(super) fn until(&self, ns: Option<i64>) -> Recorded<'a> {
        Recorded { until_ns: ns.map_or(self.until_ns, |ns| self.until_ns.min(ns)), ..*self }
    }

    /// From when to when is known what ids of a machine meant.
    fn extent(&self, machine: u16) -> Extent {
        let Extent { from_ns, to_ns } = self.extents.get(usize::from(machine)).copied().unwrap_or(Extent::EMPTY);
        Extent { from_ns, to_ns: to_ns.min(self.until_ns) }
    }
}

/// Turns facts into spans, ordered by process where ids hold within one, by id, by machine, and by time. `owners` are the spans
/// of the processes, once they are known.
///
/// # Errors
/// When there is no space, or when the caller asked to stop.
pub(super) fn fold(
    subject: Subject,
    facts: &[Fact],
    owners: &[Span],
    recording: &Recorded<'_>,
    space: &SpillSpace,
    progress: &dyn Progress,
) -> Result<Spilled<Span>> {
    let folder = Folder::new(subject, owners, recording);
    let is_within = |fact: &u32| folder.is_within(&facts[*fact as usize]);
    let order = timed(progress, Step::Plan, || (0..).take(facts.len()).filter(is_within).collect());
    let mut order = by_id(order, |place| facts[place as usize].id(), progress)?;
    let is_same = |a: &u32, b: &u32| facts[*a as usize].id() == facts[*b as usize].id();
    let mut found = space.records();
    let (mut rest, mut portions) = (&mut order[..], Vec::with_capacity(TOGETHER));
    while !rest.is_empty() {
        stop_if_cancelled(progress)?;
        let mut len = portion_len(rest, is_same);
        while len > 0 && portions.len() < TOGETHER {
            let (portion, behind) = rest.split_at_mut(len);
            portions.push(portion);
            rest = behind;
            len = portion_len(rest, is_same);
        }
        if portions.is_empty() {
            // One id may have meant as much as it has facts, which is not held at once.
            let len = rest.chunk_by(is_same).next().map_or(0, <[u32]>::len);
            let (of_id, behind) = rest.split_at_mut(len);
            timed(progress, Step::Plan, || folder.fold_id(of_id, facts, progress, |span| found.push(span)))?;
            rest = behind;
            continue;
        }
        let folded = portions
            .par_drain(..)
            .map(|portion| timed(progress, Step::Schema, || folder.fold_all(portion, facts, is_same, progress)));
        let folded: Vec<Vec<Span>> = folded.collect::<Result<_>>()?;
        timed(progress, Step::Plan, || folded.iter().try_for_each(|spans| found.extend(spans)))?;
    }
    timed(progress, Step::Plan, || found.finish())
}

/// How many of the first places are a portion: whole ids; none where the first id has more facts than that.
fn portion_len(places: &[u32], is_same: impl Fn(&u32, &u32) -> bool) -> usize {
    if places.len() <= PORTION {
        return places.len();
    }
    (1..=PORTION).rev().find(|&len| !is_same(&places[len - 1], &places[len])).unwrap_or(0)
}

/// Sorts places by the ids that stand there; those of one id stay in the order in which they come.
///
/// # Errors
/// When the caller asked to stop.
pub(super) fn by_id(
    mut places: Vec<u32>,
    id: impl Fn(u32) -> ScopedId + Sync,
    progress: &dyn Progress,
) -> Result<Vec<u32>> {
    let id_and_place = |place: u32| {
        let (scope, key, machine) = id(place);
        (scope, key, u64::from(machine) << u32::BITS | u64::from(place))
    };
    let place = |&(.., last): &(u64, u64, u64)| u32::try_from(last & u64::from(u32::MAX)).unwrap_or(u32::MAX);
    sort_places(&mut places, &id_and_place, &place, Threads::All(Step::Schema), progress)?;
    Ok(places)
}

/// What makes spans of the facts of one subject.
#[derive(Debug)]
pub(super) struct Folder<'a> {
    subject: Subject,
    owners: Processes<'a>,
    recording: Recorded<'a>,
}

/// The processes of a recording, by their ids and machines: what an id meant, in the order of time.
#[derive(Debug)]
struct Processes<'a>(HashMap<(u64, u16), &'a [Span]>);

impl<'a> Processes<'a> {
    fn of(spans: &'a [Span]) -> Self {
        let id = |span: &Span| (span.key, span.machine);
        let by_id = spans.chunk_by(|a, b| id(a) == id(b));
        Processes(by_id.filter_map(|of_id| Some((id(of_id.first()?), of_id))).collect())
    }

    /// The process that an id of a machine means at a time.
    fn at(&self, id: (u64, u16), ns: i64) -> Option<&'a Span> {
        let of_id = self.0.get(&id)?;
        let place = of_id.partition_point(|span| span.from_ns <= ns).checked_sub(1)?;
        of_id.get(place).filter(|span| span.holds_at(ns))
    }
}

impl<'a> Folder<'a> {
    /// For a recording; `owners` are the spans of its processes.
    pub(super) fn new(subject: Subject, owners: &'a [Span], recording: &Recorded<'a>) -> Self {
        Folder { subject, owners: Processes::of(owners), recording: *recording }
    }

    /// Whether a fact is of the time of which something is known.
    pub(super) fn is_within(&self, fact: &Fact) -> bool {
        fact.ns < self.recording.extent(fact.machine).to_ns
    }

    /// What the ids of a portion of places mean.
    fn fold_all(
        &self,
        portion: &mut [u32],
        facts: &[Fact],
        is_same: impl Fn(&u32, &u32) -> bool,
        progress: &dyn Progress,
    ) -> Result<Vec<Span>> {
        let mut found = Vec::new();
        for of_id in portion.chunk_by_mut(is_same) {
            self.fold_id(of_id, facts, progress, |span| {
                found.push(span);
                Ok(())
            })?;
        }
        Ok(found)
    }

    /// Hands over what one id means, span by span.
    fn fold_id(
        &self,
        of_id: &mut [u32],
        facts: &[Fact],
        progress: &dyn Progress,
        mut keep: impl FnMut(Span) -> Result<()>,
    ) -> Result<()> {
        // Mostly they are in the order of the recording.
        let in_order = |fact: &u32| facts[*fact as usize].order();
        if !of_id.is_sorted_by_key(in_order) {
            sort_by_key(of_id, &in_order, Threads::One, progress)?;
        }
        let mut current = None;
        of_id.iter().filter_map(|&fact| self.take(&mut current, &facts[fact as usize])).try_for_each(&mut keep)?;
        current.map_or(Ok(()), |span| keep(self.end(span)))
    }

    /// Adds the next fact of an id to what the id means; what it meant before, where that ends.
    pub(super) fn take(&self, current: &mut Option<Span>, fact: &Fact) -> Option<Span> {
        let before = current.take_if(|span| self.is_another(span, fact));
        let ended = before.map(|span| {
            let next = self.begin_behind(&span, fact);
            *current = Some(open(fact, next));
            self.close(span, next)
        });
        let span = current.get_or_insert_with(|| open(fact, self.begin(fact)));
        self.learn(span, fact);
        ended
    }

    /// What an id meant last, which ends with the recording.
    pub(super) fn end(&self, span: Span) -> Span {
        self.close(span, self.recording.extent(span.machine).to_ns)
    }

    /// When what a fact describes began, or had begun: with the recording, or later with the process that it is in.
    fn begin(&self, fact: &Fact) -> i64 {
        if fact.lifecycle() == Lifecycle::Start {
            return fact.ns;
        }
        let first_ns = self.recording.extent(fact.machine).from_ns;
        if fact.lifecycle() == Lifecycle::Defunct {
            // Of one that ended before, the id is there when an event names it.
            return if has_run(fact, first_ns) { first_ns } else { fact.ns };
        }
        let created = fact.number(process::CREATE_TIME).filter(|_| self.subject == Subject::Process);
        let owner = self.owner(fact).map(|owner| owner.from_ns);
        let from = created.map(u64::cast_signed).or(owner).unwrap_or(first_ns);
        from.min(fact.ns).max(first_ns)
    }

    /// The same of what an id means next, behind a span whose end or whose successor's start was not recorded.
    fn begin_behind(&self, span: &Span, fact: &Fact) -> i64 {
        let begin = self.begin(fact);
        match fact.lifecycle() {
            Lifecycle::Start => begin,
            // Two ends: it began somewhere between them.
            Lifecycle::End => span.ended_ns().map_or(begin, |ended| ended.saturating_add(1)),
            Lifecycle::Defunct => match span.ended_ns() {
                Some(ended) if has_run(fact, ended.saturating_add(1)) => ended.saturating_add(1),
                _ => fact.ns,
            },
            Lifecycle::Holds | Lifecycle::Detail if begin > span.from_ns => begin,
            Lifecycle::Holds | Lifecycle::Detail => fact.ns,
        }
    }

    /// The process that a subject is in, as far as it is known.
    fn owner(&self, fact: &Fact) -> Option<&Span> {
        let process = match self.subject {
            Subject::Image | Subject::Method => Some(fact.scope),
            Subject::Thread => fact.number(thread::PROCESS),
            Subject::Process | Subject::File | Subject::Volume => None,
        };
        self.owners.at((process?, fact.machine), fact.ns)
    }

    /// Ends a span where the next begins, or before.
    fn close(&self, mut span: Span, to_ns: i64) -> Span {
        span.to_ns = to_ns;
        if span.is_defunct() {
            // It can have done nothing: the id means it where the rundown names it.
            span.to_ns = span.from_ns.saturating_add(1).min(to_ns);
        }
        if self.subject != Subject::Process && self.subject != Subject::Thread && self.subject != Subject::File {
            // An address range means nothing once it is unmapped. Late events of processes and threads follow their end.
            span.to_ns = span.ended_ns().map_or(to_ns, |ended| ended.min(to_ns));
        }
        if matches!(self.subject, Subject::Image | Subject::Method)
            && let Some(owner) = self.owners.at((span.scope, span.machine), span.from_ns)
        {
            // The id of its process may mean another one next.
            span.to_ns = span.to_ns.min(owner.to_ns);
        }
        span
    }

    /// Whether a subject is in another process than the one of which something is recorded, by the same id.
    fn has_another_owner(&self, span: &Span, fact: &Fact) -> bool {
        matches!(self.subject, Subject::Image | Subject::Method)
            && self.owner(fact).is_some_and(|owner| !owner.holds_at(span.from_ns))
    }

    /// Whether what is recorded is of another subject than before: one that starts, or one whose start, or the end of the one
    /// before, was not recorded.
    fn is_another(&self, span: &Span, fact: &Fact) -> bool {
        match fact.lifecycle() {
            Lifecycle::Start => {
                !span.is_bare()
                    && !self.is_repeated(span.started_ns().filter(|_| span.ended_ns().is_none()), span, fact)
            }
            Lifecycle::Holds => span.ended_ns().is_some() || span.is_defunct() || self.contradicts(span, fact),
            Lifecycle::Defunct => is_another_defunct(span, fact),
            Lifecycle::End if span.is_defunct() => true,
            Lifecycle::End => span.ended_ns().is_some() && !self.is_repeated(span.ended_ns(), span, fact),
            Lifecycle::Detail => self.has_another_owner(span, fact),
        }
    }

    /// Whether another provider records once more what one has recorded: the kernel and its manifest provider describe the same
    /// process, each at its own time.
    fn is_repeated(&self, before: Option<i64>, span: &Span, fact: &Fact) -> bool {
        let source = |shape: u32| self.recording.sources.get(shape as usize);
        before.is_some_and(|before| fact.ns.saturating_sub(before) < RETOLD_NS)
            && source(span.shape) != source(fact.shape)
    }

    /// Whether what is recorded cannot be of the same subject.
    fn contradicts(&self, span: &Span, fact: &Fact) -> bool {
        let differs = |place| matches!((span.number(place), fact.number(place)), (Some(a), Some(b)) if a != b);
        match self.subject {
            Subject::Process => differs(process::UNIQUE_KEY) || differs(process::CREATE_TIME),
            Subject::Thread => differs(thread::PROCESS),
            _ => self.has_another_owner(span, fact),
        }
    }

    /// Adds what a fact records of the subject: what is known first stays, but for what is known better later.
    fn learn(&self, span: &mut Span, fact: &Fact) {
        let lifecycle = fact.lifecycle();
        for place in 0..NUMBERS {
            if let Some(number) = fact.number(place).filter(|_| self.is_news(span, fact, place)) {
                span.numbers[place] = number;
                span.present |= 1 << place;
            }
        }
        let is_renamed = self.subject == Subject::Thread && lifecycle == Lifecycle::Detail;
        for place in 0..TEXTS {
            let is_better = || is_renamed || self.has_path(span, fact, place);
            if fact.texts[place] != 0 && (span.texts[place] == 0 || is_better()) {
                span.texts[place] = fact.texts[place];
            }
        }
        match lifecycle {
            Lifecycle::Start if span.started_ns().is_none() => {
                span.from_ns = fact.ns;
                span.start_at(fact.ns);
            }
            Lifecycle::End if span.ended_ns().is_none() => span.end_at(fact.ns),
            Lifecycle::Defunct => {
                if span.is_bare() && !has_run(fact, span.from_ns) {
                    span.set_defunct();
                }
                let can_be = |ended: &i64| span.ended_ns().is_none() && (span.is_defunct() || *ended >= span.from_ns);
                if let Some(ended) = exit_time(fact).filter(can_be) {
                    span.end_at(ended);
                }
            }
            _ => {}
        }
        if lifecycle != Lifecycle::Detail && span.is_bare() {
            span.describe_by(fact.shape);
        }
    }

    /// Whether a number of a fact is to be kept.
    fn is_news(&self, span: &Span, fact: &Fact, place: usize) -> bool {
        let is_end = matches!(fact.lifecycle(), Lifecycle::End | Lifecycle::Defunct);
        match self.subject {
            Subject::Process if place == process::EXIT_STATUS && !is_end => false,
            Subject::Process if place == process::EXIT_TIME && fact.lifecycle() == Lifecycle::Defunct => false,
            // Details have the size that the linker wrote, the others that of the memory.
            Subject::Image if place == image::SIZE && span.is_bare() => true,
            _ => span.number(place).is_none(),
        }
    }

    /// Whether a text of a fact is the path of a process's image, where the name alone may be known.
    fn has_path(&self, span: &Span, fact: &Fact, place: usize) -> bool {
        let records_paths = |shape: u32| self.recording.sources.get(shape as usize).is_some_and(records_image_paths);
        self.subject == Subject::Process
            && place == process::IMAGE
            && matches!(fact.lifecycle(), Lifecycle::Start | Lifecycle::Holds)
            && records_paths(fact.shape)
            && !records_paths(span.shape)
    }
}

/// When a defunct process ended, if that is recorded and can be.
fn exit_time(fact: &Fact) -> Option<i64> {
    fact.number(process::EXIT_TIME).map(u64::cast_signed).filter(|ended| (1..=fact.ns).contains(ended))
}

/// Whether a defunct process ended at a time or later.
fn has_run(fact: &Fact, from_ns: i64) -> bool {
    exit_time(fact).is_some_and(|ended| ended >= from_ns)
}

/// Whether a defunct process is another one than that of a span: it has another object, or ended before that began.
fn is_another_defunct(span: &Span, fact: &Fact) -> bool {
    match (span.number(process::UNIQUE_KEY), fact.number(process::UNIQUE_KEY)) {
        (Some(known), Some(described)) => known != described,
        _ => !span.is_bare() && exit_time(fact).is_some_and(|ended| ended < span.from_ns),
    }
}

/// A span that begins with a fact.
fn open(fact: &Fact, from_ns: i64) -> Span {
    Span::begin(fact.id(), from_ns, fact.shape)
}

#[cfg(test)]
mod tests {
    use base::progress::NoProgress;

    use super::*;
    use crate::plan::Key;
    use crate::survey::FileKey;

    const RECORDED: Recorded<'_> = Recorded {
        extents: &[Extent { from_ns: 0, to_ns: 100 }, Extent { from_ns: 30, to_ns: 90 }],
        until_ns: i64::MAX,
        sources: &[Guid([1; 16]), Guid([2; 16])],
    };

    fn described(lifecycle: Lifecycle, scope: u64, key: u64, ns: i64, numbers: &[(usize, u64)]) -> Fact {
        let at = FileKey { ticks: ns, stream: 0, sequence: 0, ordinal: 0, offset: 0 };
        let mut fact = Fact::new(&Key { ns, input: 0, at }, 0, lifecycle, 0);
        (fact.scope, fact.key) = (scope, key);
        numbers.iter().for_each(|&(place, number)| fact.record(place, number));
        fact
    }

    /// Process or 0, id, begin and end of each span of a recording from 0 to 99.
    fn spans(subject: Subject, facts: &[Fact], owners: &[Span]) -> Vec<(u64, u64, i64, i64)> {
        let spans = fold(subject, facts, owners, &RECORDED, &SpillSpace::temporary(), &NoProgress).unwrap();
        spans.iter().map(|span| (span.scope, span.key, span.from_ns, span.to_ns)).collect()
    }

    use Lifecycle::{Defunct, Detail, End, Holds, Start};

    #[test]
    fn an_id_means_a_process_up_to_the_next_start() {
        // Facts come in any order.
        let facts = [
            described(Start, 0, 7, 60, &[]),
            described(End, 0, 7, 40, &[(process::EXIT_STATUS, 3)]),
            described(Holds, 0, 7, 10, &[(process::EXIT_STATUS, 259)]),
            described(Start, 0, 8, 20, &[]),
        ];
        assert_eq!(spans(Subject::Process, &facts, &[]), [(0, 7, 0, 60), (0, 7, 60, 100), (0, 8, 20, 100)]);
        let found = fold(Subject::Process, &facts, &[], &RECORDED, &SpillSpace::temporary(), &NoProgress).unwrap();
        assert_eq!((found[0].started_ns(), found[0].ended_ns()), (None, Some(40)));
        assert_eq!((found[1].started_ns(), found[1].ended_ns()), (Some(60), None));
        // A process that runs has no exit status, whatever the rundown says.
        assert_eq!(found[0].number(process::EXIT_STATUS), Some(3));
        let owners = Processes::of(&found);
        let t = |process, ns, from_ns| {
            assert_eq!(owners.at((process, 0), ns).map(|span| span.from_ns), from_ns, "{process} at {ns}");
        };
        for _ in 0..2 {
            t(7, 59, Some(0));
            t(7, 60, Some(60));
            t(7, 99, Some(60));
            t(7, 100, None);
            t(8, 19, None);
            t(8, 20, Some(20));
            t(9, 50, None);
        }
    }

    #[test]
    fn ids_are_folded_whole_and_in_their_order_however_many_facts_there_are() {
        // A few ids with more facts than a portion, among many with one or two.
        let id = |number: u64| if number.is_multiple_of(3) { number % 5 * 1000 } else { number };
        let facts = (0..150_000).map(|number| described(Holds, 0, id(number), 10, &[(thread::PROCESS, 4)]));
        let mut ids: Vec<u64> = (0..150_000).map(id).collect();
        ids.sort_unstable();
        let several = ids.chunk_by(|a, b| a == b).filter(|of_id| of_id.len() > PORTION).count();
        ids.dedup();
        assert!(several == 5 && ids.len() > PORTION * TOGETHER / 2, "{several} {}", ids.len());
        let found = spans(Subject::Thread, &facts.collect::<Vec<_>>(), &[]);
        assert_eq!(found, ids.iter().map(|&id| (0, id, 0, 100)).collect::<Vec<_>>());
    }

    #[test]
    fn an_id_may_have_meant_more_than_a_portion_holds() {
        let starts = |id, count| (0..count).map(move |_| described(Start, 0, id, 10, &[]));
        let long = PORTION + 5;
        let facts = starts(6, 1).chain(starts(7, long)).chain(starts(8, 1)).chain(starts(9, long));
        let of_long = |id| (1..long).map(move |_| (0, id, 10, 10)).chain([(0, id, 10, 100)]);
        let expected = [(0, 6, 10, 100)].into_iter().chain(of_long(7)).chain([(0, 8, 10, 100)]).chain(of_long(9));
        assert_eq!(spans(Subject::Process, &facts.collect::<Vec<_>>(), &[]), expected.collect::<Vec<_>>());
    }

    #[test]
    fn what_is_not_known_to_its_end_is_known_up_to_there() {
        let facts = [described(Start, 0, 7, 10, &[]), described(Start, 0, 7, 60, &[]), described(Start, 0, 8, 49, &[])];
        let found =
            fold(Subject::Process, &facts, &[], &RECORDED.until(Some(50)), &SpillSpace::temporary(), &NoProgress)
                .unwrap();
        let found: Vec<_> = found.iter().map(|span| (span.key, span.from_ns, span.to_ns)).collect();
        assert_eq!(found, [(7, 10, 50), (8, 49, 50)]);
    }

    #[test]
    fn a_start_that_was_not_recorded_parts_two_processes() {
        let key = |ns, lifecycle, key| described(lifecycle, 0, 7, ns, &[(process::UNIQUE_KEY, key)]);
        assert_eq!(
            spans(Subject::Process, &[key(10, Holds, 1), key(50, Holds, 2)], &[]),
            [(0, 7, 0, 50), (0, 7, 50, 100)]
        );
        assert_eq!(spans(Subject::Process, &[key(10, Holds, 1), key(50, Holds, 1)], &[]), [(0, 7, 0, 100)]);
        let ends = [described(End, 0, 7, 30, &[]), described(End, 0, 7, 70, &[])];
        assert_eq!(spans(Subject::Process, &ends, &[]), [(0, 7, 0, 31), (0, 7, 31, 100)]);
    }

    /// Span, end, exit status, and whether it is defunct.
    type DescribedFacts = (i64, i64, Option<i64>, Option<u64>, bool);

    #[test]
    fn a_defunct_process_has_ended_where_its_exit_time_says() {
        let at = |lifecycle, ns, key: Option<u64>, exit: Option<u64>| {
            let mut fact = described(lifecycle, 0, 7, ns, &[(process::EXIT_STATUS, 3)]);
            key.into_iter().for_each(|key| fact.record(process::UNIQUE_KEY, key));
            exit.into_iter().for_each(|exit| fact.record(process::EXIT_TIME, exit));
            fact
        };
        let defunct = |ns, key, exit| at(Defunct, ns, key, exit);
        // The recording of the machine 1 reaches from 30 to 89.
        let t = |facts: &[Fact], expected: &[DescribedFacts]| {
            let mut facts = facts.to_vec();
            facts.iter_mut().for_each(|fact| fact.machine = 1);
            let found = fold(Subject::Process, &facts, &[], &RECORDED, &SpillSpace::temporary(), &NoProgress).unwrap();
            let spans = found.iter().map(|span| {
                let status = span.number(process::EXIT_STATUS);
                assert_eq!(span.number(process::CREATE_TIME), None);
                (span.from_ns, span.to_ns, span.ended_ns(), status, span.is_defunct())
            });
            assert_eq!(spans.collect::<Vec<_>>(), expected);
        };
        // Before the recording, or nobody knows when.
        t(&[defunct(80, None, Some(20))], &[(80, 81, Some(20), Some(3), true)]);
        t(&[defunct(80, None, None)], &[(80, 81, None, Some(3), true)]);
        t(&[defunct(80, None, Some(81))], &[(80, 81, None, Some(3), true)]);
        // While it was recorded, and nothing else describes it.
        t(&[defunct(80, None, Some(40))], &[(30, 90, Some(40), Some(3), false)]);
        // The end that was seen stays; one that was not is recorded.
        let held = at(Holds, 35, Some(1), None);
        t(&[held, at(End, 50, Some(1), None), defunct(80, Some(1), Some(49))], &[(30, 90, Some(50), Some(3), false)]);
        t(&[held, defunct(80, Some(1), Some(49))], &[(30, 90, Some(49), Some(3), false)]);
        t(&[held, defunct(80, Some(1), None)], &[(30, 90, None, Some(3), false)]);
        // Another object, and one that ended before the other began.
        t(&[held, defunct(80, Some(2), Some(20))], &[(30, 80, None, None, false), (80, 81, Some(20), Some(3), true)]);
        let started = at(Start, 60, None, None);
        t(&[started, defunct(80, None, Some(50))], &[(60, 80, None, None, false), (80, 81, Some(50), Some(3), true)]);
        let ended = at(End, 40, Some(1), None);
        t(
            &[ended, defunct(80, Some(2), Some(50))],
            &[(30, 41, Some(40), Some(3), false), (41, 90, Some(50), Some(3), false)],
        );
        // The id is given away, once nobody holds the object.
        t(&[defunct(31, None, Some(20)), started], &[(31, 32, Some(20), Some(3), true), (60, 90, None, None, false)]);
        let late = at(Holds, 70, None, None);
        t(&[defunct(31, None, None), late], &[(31, 32, None, Some(3), true), (70, 90, None, None, false)]);
        t(&[defunct(31, Some(1), None), defunct(80, Some(1), None)], &[(31, 32, None, Some(3), true)]);
    }

    #[test]
    fn the_better_of_two_sources_is_kept_field_by_field() {
        let mut facts = [described(Detail, 7, 0x1000, 5, &[(image::SIZE, 5), (image::TIME_STAMP, 6)])].to_vec();
        facts.push(described(Start, 7, 0x1000, 20, &[(image::SIZE, 4096), (image::CHECKSUM, 8)]));
        facts.push(described(Detail, 7, 0x1000, 21, &[(image::SIZE, 5), (image::CHECKSUM, 9)]));
        let found = fold(Subject::Image, &facts, &[], &RECORDED, &SpillSpace::temporary(), &NoProgress).unwrap();
        let numbers = [image::SIZE, image::TIME_STAMP, image::CHECKSUM].map(|place| found[0].number(place));
        assert_eq!((found.len(), numbers), (1, [Some(4096), Some(6), Some(8)]));
        // The path of an image, whether it is recorded first or last, but for an end, which names the image alone.
        let provider = Guid::from_parts(0x22fb_2cd6, 0x0e7b, 0x422b, 0xa0c7_2fad_1fd0_e716);
        let recorded = Recorded { sources: &[Guid([1; 16]), provider], ..RECORDED };
        for (shapes, lifecycle, expected) in
            [([0, 1], Start, 2), ([1, 0], Start, 1), ([0, 1], End, 1), ([0, 0], Holds, 1), ([0, 1], Holds, 2)]
        {
            let mut facts = [described(Start, 0, 7, 10, &[]), described(lifecycle, 0, 7, 11, &[])];
            for (fact, (shape, text)) in facts.iter_mut().zip(shapes.into_iter().zip(1..)) {
                (fact.shape, fact.texts[process::IMAGE]) = (shape, text);
            }
            let found = fold(Subject::Process, &facts, &[], &recorded, &SpillSpace::temporary(), &NoProgress).unwrap();
            assert_eq!((found.len(), found[0].text(process::IMAGE)), (1, expected), "{shapes:?} {lifecycle:?}");
        }
    }

    #[test]
    fn an_id_of_two_machines_means_something_else_on_each() {
        let of = |machine, mut fact: Fact| {
            fact.machine = machine;
            fact
        };
        let facts = [
            of(1, described(Holds, 0, 7, 50, &[])),
            of(0, described(Holds, 0, 7, 10, &[])),
            of(1, described(End, 0, 7, 60, &[])),
            of(1, described(Start, 0, 7, 70, &[])),
            of(0, described(End, 0, 7, 80, &[])),
        ];
        let owners = fold(Subject::Process, &facts, &[], &RECORDED, &SpillSpace::temporary(), &NoProgress).unwrap();
        let t = |found: &[Span], expected: &[(u16, i64, i64, Option<i64>)]| {
            let spans = found.iter().map(|span| (span.machine, span.from_ns, span.to_ns, span.ended_ns()));
            assert_eq!(spans.collect::<Vec<_>>(), expected);
        };
        t(&owners, &[(0, 0, 100, Some(80)), (1, 30, 70, Some(60)), (1, 70, 90, None)]);
        // Modules end with the process of their machine.
        let modules = [of(1, described(Holds, 7, 0x1000, 50, &[])), of(0, described(Holds, 7, 0x1000, 55, &[]))];
        let found = fold(Subject::Image, &modules, &owners, &RECORDED, &SpillSpace::temporary(), &NoProgress).unwrap();
        t(&found, &[(0, 0, 100, None), (1, 30, 70, None)]);
        // What is not known from a time on is not known of any machine.
        let known =
            fold(Subject::Process, &facts, &[], &RECORDED.until(Some(65)), &SpillSpace::temporary(), &NoProgress)
                .unwrap();
        t(&known, &[(0, 0, 65, None), (1, 30, 65, Some(60))]);
    }

    #[test]
    fn what_two_providers_describe_is_one_process() {
        let mut facts = [
            described(Start, 0, 7, 10, &[]),
            described(Start, 0, 7, 11, &[]),
            described(End, 0, 7, 40, &[]),
            described(End, 0, 7, 41, &[]),
        ];
        assert_eq!(spans(Subject::Process, &facts, &[]), [(0, 7, 10, 11), (0, 7, 11, 41), (0, 7, 41, 100)]);
        (facts[1].shape, facts[3].shape) = (1, 1);
        assert_eq!(spans(Subject::Process, &facts, &[]), [(0, 7, 10, 100)]);
    }

    #[test]
    fn details_may_come_before_what_they_belong_to() {
        let mut facts = [described(Detail, 7, 0x1000, 5, &[]), described(Start, 7, 0x1000, 20, &[])];
        facts[1].shape = 1;
        let found = fold(Subject::Image, &facts, &[], &RECORDED, &SpillSpace::temporary(), &NoProgress).unwrap();
        assert_eq!((found.len(), found[0].from_ns, found[0].shape), (1, 20, 1));
    }

    #[test]
    fn modules_end_when_they_are_unloaded_and_with_their_process() {
        let processes =
            [described(Holds, 0, 7, 10, &[]), described(End, 0, 7, 40, &[]), described(Start, 0, 7, 60, &[])];
        let owners = fold(Subject::Process, &processes, &[], &RECORDED, &SpillSpace::temporary(), &NoProgress).unwrap();
        let facts = [
            // Unloaded, and another one loaded there later.
            described(Start, 7, 0x1000, 20, &[]),
            described(End, 7, 0x1000, 25, &[]),
            described(Start, 7, 0x1000, 30, &[]),
            // Recorded by the rundown at the end: it is in the process that is there then.
            described(Holds, 7, 0x2000, 95, &[]),
            described(Detail, 7, 0x2000, 96, &[]),
            // Of the system, of which there is no process.
            described(Holds, 0, 0x3000, 95, &[]),
        ];
        assert_eq!(
            spans(Subject::Image, &facts, &owners),
            [(0, 0x3000, 0, 100), (7, 0x1000, 20, 25), (7, 0x1000, 30, 60), (7, 0x2000, 60, 100)]
        );
    }

    #[test]
    fn the_same_module_of_two_processes_of_one_id_is_two() {
        let processes = [described(Start, 0, 7, 10, &[]), described(Start, 0, 7, 60, &[])];
        let owners = fold(Subject::Process, &processes, &[], &RECORDED, &SpillSpace::temporary(), &NoProgress).unwrap();
        let facts = [described(Start, 7, 0x1000, 20, &[]), described(Holds, 7, 0x1000, 95, &[])];
        assert_eq!(spans(Subject::Image, &facts, &owners), [(7, 0x1000, 20, 60), (7, 0x1000, 60, 100)]);
    }

    #[test]
    fn the_name_that_a_thread_got_last_is_its_name() {
        let mut facts =
            [described(Start, 0, 5, 10, &[]), described(Detail, 0, 5, 20, &[]), described(Detail, 0, 5, 30, &[])];
        (facts[0].texts[0], facts[1].texts[0], facts[2].texts[0]) = (1, 2, 3);
        let found = fold(Subject::Thread, &facts, &[], &RECORDED, &SpillSpace::temporary(), &NoProgress).unwrap();
        assert_eq!((found.len(), found[0].text(thread::NAME)), (1, 3));
    }
}
