//! `answers`: one row per question that people ask of traces, whether this one can answer it, and if not, what to record.
//!
//! The counts of event shapes decide, so that `inspect` can say before anything is converted.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use base::readable::count::counted;
use etl::event::subject::{self, Subject};

use super::row::sidecar_row;
use crate::convert::ShapeCounts;
use crate::plan::{CatalogEntry, PlanResult};
use crate::views::{Events, Evidence, QUESTIONS, Question};

/// Events that a row names, those with most of them.
const NAMED: usize = 32;

sidecar_row! {
    /// A question.
    "answers" AnswerRow {
        /// What it is called: as the view that answers it; `symbols` are those of `images`.
        question: Cow<'static, str>,
        /// Whether there are events for it that can be decoded.
        answerable: bool,
        /// The events for it; of ids the filters leave out none.
        events: u64,
        /// Their datasets and names, those with most events first, as their views are called; 32 at most.
        event_names: Vec<String>,
        /// What to record, or what would decode the events; `None` of a question that can be answered.
        needed: Option<String>,
    }
}

/// The rows of a recording. `counts` is what the conversion counted of each shape; without it, what the plan expects of
/// the shapes that may pass the filters.
pub fn rows(plan: &PlanResult, counts: &[ShapeCounts]) -> Vec<AnswerRow> {
    of_shapes(plan.catalog(), |shape, entry| match counts.get(shape as usize) {
        Some(count) => count.rows,
        None if plan.may_pass(shape) => entry.shape.events,
        None => 0,
    })
}

/// The rows. `passing` is how many events of a shape pass the filters.
fn of_shapes<'a>(
    catalog: impl Iterator<Item = CatalogEntry<'a>>,
    passing: impl Fn(u32, CatalogEntry<'a>) -> u64,
) -> Vec<AnswerRow> {
    let mut found: Vec<FoundEvents<'a>> = QUESTIONS.iter().map(|_| FoundEvents::default()).collect();
    for (shape, entry) in (0u32..).zip(catalog) {
        let (dataset, passing) = (provider(entry), passing(shape, entry));
        for (question, events) in ASKED.of_dataset(dataset) {
            if passing > 0 && is_among(entry, events) {
                found[*question].add(entry, passing);
            } else if passing > 0 {
                found[*question].add_other(dataset, passing);
            }
        }
        // What ids meant follows from the recording, whatever is filtered.
        if let Some((subject, _)) = subject::described_by(&entry.shape.key.identity) {
            of_subject(subject).for_each(|question| found[question].add(entry, entry.shape.events));
        }
    }
    QUESTIONS.iter().zip(found).map(|(question, found)| found.row(question)).collect()
}

/// The dataset of a whole provider.
fn provider(entry: CatalogEntry<'_>) -> &str {
    entry.dataset().split('/').next().unwrap_or_default()
}

/// The same for all traces.
static ASKED: LazyLock<Asked> = LazyLock::new(Asked::new);

/// Where the questions are that events may answer.
struct Asked {
    /// By dataset, which engines distinguish by more than case.
    datasets: HashMap<String, Vec<(usize, Events<'static>)>>,
}

impl Asked {
    fn new() -> Self {
        let mut datasets: HashMap<String, Vec<_>> = HashMap::new();
        for (number, question) in QUESTIONS.iter().enumerate() {
            for (dataset, events) in question.reads() {
                let reads = datasets.entry(dataset.to_ascii_lowercase()).or_default();
                // Two selects of one view may read the same events.
                if !reads.contains(&(number, events.clone())) {
                    reads.push((number, events));
                }
            }
        }
        Asked { datasets }
    }

    fn of_dataset(&self, dataset: &str) -> &[(usize, Events<'static>)] {
        self.datasets.get(&dataset.to_ascii_lowercase()).map_or(&[], Vec::as_slice)
    }
}

/// Where the questions are that what is recorded of a subject answers.
fn of_subject(subject: Subject) -> impl Iterator<Item = usize> {
    let lifecycle = move |question: &Question| matches!(question.evidence, Evidence::Described(of) if of == subject);
    QUESTIONS.iter().enumerate().filter(move |(_, question)| lifecycle(question)).map(|(number, _)| number)
}

/// Whether the events of a shape are among some of its dataset.
fn is_among(entry: CatalogEntry<'_>, events: &Events<'_>) -> bool {
    let (name, id) = (entry.event_name(), entry.shape.key.identity.event_id());
    match events {
        Events::All => true,
        Events::Named(names) => name.is_some_and(|name| names.contains(&name)),
        Events::NotNamed(names) => name.is_some_and(|name| !names.contains(&name)),
        Events::Numbered(ids) => id.is_some_and(|id| ids.contains(&id)),
        Events::With(column) => {
            entry.schema.is_some_and(|schema| schema.fields.iter().any(|field| field.name.eq_ignore_ascii_case(column)))
        }
    }
}

/// The events that were found for a question.
#[derive(Default)]
struct FoundEvents<'a> {
    events: u64,
    /// By dataset and label.
    of_names: BTreeMap<(&'a str, Cow<'a, str>), u64>,
    /// Names of those that can be decoded.
    decodable: HashSet<Option<&'a str>>,
    /// What would decode the others.
    hint: Option<&'a str>,
    /// Events of its datasets that are none of it.
    others: BTreeMap<&'a str, u64>,
}

impl<'a> FoundEvents<'a> {
    fn add(&mut self, entry: CatalogEntry<'a>, events: u64) {
        self.events = self.events.saturating_add(events);
        let count = self.of_names.entry((provider(entry), label(entry))).or_default();
        *count = count.saturating_add(events);
        match &entry.shape.fix_hint {
            None => {
                self.decodable.insert(entry.event_name());
            }
            Some(hint) => self.hint = self.hint.or(Some(hint)),
        }
    }

    fn add_other(&mut self, dataset: &'a str, events: u64) {
        let count = self.others.entry(dataset).or_default();
        *count = count.saturating_add(events);
    }

    /// What to record: where that names a provider that is there, with other events, it says so.
    fn to_record(&self, question: &Question) -> String {
        let is_named = |dataset: &str| {
            question.record.match_indices(dataset).any(|(at, name)| {
                let behind = question.record.get(at + name.len()..).and_then(|rest| rest.chars().next());
                behind.is_none_or(|c| !c.is_alphanumeric() && c != '-')
            })
        };
        let others = self.others.iter().filter(|(dataset, _)| is_named(dataset));
        let others = others.map(|(dataset, events)| format!("{} of {dataset}", counted(*events, "events")));
        let others: Vec<String> = others.collect();
        if others.is_empty() {
            return question.record.to_owned();
        }
        format!("{}; the {} here are others", question.record, others.join(" and the "))
    }

    fn row(self, question: &Question) -> AnswerRow {
        let answerable = match question.evidence {
            Evidence::Together(names) => names.iter().all(|name| self.decodable.contains(&Some(name))),
            Evidence::Rows | Evidence::Described(_) | Evidence::Named(..) => !self.decodable.is_empty(),
        };
        // Events that nothing decodes need no other recording.
        let hint = self.hint.filter(|_| self.decodable.is_empty()).map(str::to_owned);
        let needed = (!answerable).then(|| hint.unwrap_or_else(|| self.to_record(question)));
        let mut names: Vec<_> = self.of_names.into_iter().collect();
        names.sort_by_key(|(_, events)| Reverse(*events));
        let named = names.into_iter().take(NAMED).map(|((dataset, label), _)| format!("{dataset}/{label}"));
        let question = question.name.into();
        AnswerRow { question, answerable, events: self.events, event_names: named.collect(), needed }
    }
}

/// The name of an event, or what stands for it.
fn label(entry: CatalogEntry<'_>) -> Cow<'_, str> {
    let identity = &entry.shape.key.identity;
    match (entry.event_name(), identity.event_id(), identity.event_opcode()) {
        (Some(name), _, _) => name.into(),
        (None, Some(id), _) => format!("Event-{id}").into(),
        (None, None, opcode) => format!("Opcode-{}", opcode.unwrap_or_default()).into(),
    }
}

#[cfg(test)]
mod tests {
    use base::guid::Guid;
    use etl::event::{EventIdentity, Shape};
    use etl::layout::header::HeaderFamily;
    use etl::layout::kernel::{GROUP_PROCESS, KERNEL_CLASSES};
    use schema::model::{EventSchema, Field, Wire};

    use super::*;
    use crate::plan::{DecodeSource, PlannedShape, PlannedTable, ShapeName};
    use crate::views::to_record;

    /// A shape of a manifest event: its dataset, id, name, events, and what would decode it.
    fn shape(
        dataset: &str,
        id: u16,
        name: Option<&str>,
        events: u64,
        hint: Option<&str>,
    ) -> (PlannedShape, PlannedTable) {
        let provider = Guid::from_parts(1, 2, 3, 4);
        of_identity(identity(HeaderFamily::Event64, provider, id, 0), dataset, name, events, hint)
    }

    fn identity(family: HeaderFamily, provider: Guid, id: u16, opcode: u8) -> EventIdentity {
        EventIdentity { provider, group: 0, id, version: 0, opcode, property: 0, pointer_size: 8, family }
    }

    fn of_identity(
        identity: EventIdentity,
        dataset: &str,
        name: Option<&str>,
        events: u64,
        hint: Option<&str>,
    ) -> (PlannedShape, PlannedTable) {
        let shape = PlannedShape {
            event_name: name.map_or(ShapeName::Unknown, |name| ShapeName::Settled(name.to_owned())),
            fix_hint: hint.map(str::to_owned),
            events,
            ..PlannedShape::bare(Shape { identity, metadata: Box::default() }, DecodeSource::Pack)
        };
        (shape, PlannedTable { dataset: dataset.to_owned(), ..PlannedTable::default() })
    }

    /// Rows that are not those of a trace without events: question, whether it can be answered, events, names, what is needed.
    fn rows(
        shapes: &[(PlannedShape, PlannedTable)],
        schema: Option<&EventSchema>,
        passing: fn(u64) -> u64,
    ) -> Vec<String> {
        let entries = || shapes.iter().map(|(shape, table)| CatalogEntry { shape, table, schema, template: None });
        let rows = of_shapes(entries(), |_, entry| passing(entry.shape.events));
        assert_eq!(rows.len(), QUESTIONS.len());
        let found = rows.iter().filter(|row| row.events > 0);
        let show = |row: &AnswerRow| {
            let needed = row.needed.as_deref().unwrap_or("-");
            format!("{} {} {} [{}] {needed}", row.question, row.answerable, row.events, row.event_names.join(", "))
        };
        found.map(show).collect()
    }

    #[test]
    fn a_trace_without_events_answers_nothing_and_says_what_to_record() {
        let rows = of_shapes(std::iter::empty(), |_, _| 0);
        for (row, question) in rows.iter().zip(QUESTIONS) {
            let expected = AnswerRow {
                question: question.name.into(),
                answerable: false,
                events: 0,
                event_names: Vec::new(),
                needed: Some(question.record.to_owned()),
            };
            assert_eq!(*row, expected);
        }
    }

    #[test]
    fn events_answer_by_dataset_and_name_or_id() {
        let shapes = [
            shape("Kernel-Thread", 0, Some("Thread/CSwitch"), 7, None),
            shape("Kernel-Thread", 0, Some("Thread/Start"), 9, None),
            shape("kernel-diskio/DiskIo.Read", 0, Some("DiskIo/Read"), 2, None),
            shape("Kernel-DiskIo/DiskIo.Write", 0, Some("DiskIo/Write"), 3, None),
            shape("Kernel-DiskIo", 0, Some("DiskIo/ReadInit"), 5, None),
            shape("Kernel-FileIo", 0, Some("FileIo/Name"), 5, None),
            shape("Kernel-FileIo", 0, None, 5, None),
            shape("Microsoft-Windows-DotNETRuntime", 80, None, 4, None),
            shape("Another", 80, Some("Thread/CSwitch"), 4, None),
        ];
        let expected = [
            "cpu_intervals true 7 [Kernel-Thread/Thread/CSwitch] -",
            "waits true 7 [Kernel-Thread/Thread/CSwitch] -",
            "disk_io true 5 [Kernel-DiskIo/DiskIo/Write, kernel-diskio/DiskIo/Read] -",
            "exceptions true 4 [Microsoft-Windows-DotNETRuntime/Event-80] -",
        ];
        assert_eq!(rows(&shapes, None, |events| events), expected);
        assert_eq!(rows(&shapes, None, |_| 0), [""; 0]);
    }

    #[test]
    fn what_needs_two_events_needs_both() {
        let begin = || shape("Microsoft-Windows-DotNETRuntime", 9, Some("GarbageCollection/GCSuspendEEBegin"), 3, None);
        let end = shape("Microsoft-Windows-DotNETRuntime", 3, Some("GarbageCollection/GCRestartEEEnd"), 2, None);
        let name = "Microsoft-Windows-DotNETRuntime/GarbageCollection";
        let record = "Microsoft-Windows-DotNETRuntime with the keyword GC (0x1) at level 4";
        let expected = [format!("gc_pauses false 3 [{name}/GCSuspendEEBegin] {record}")];
        assert_eq!(rows(&[begin()], None, |events| events), expected);
        let expected = [format!("gc_pauses true 5 [{name}/GCSuspendEEBegin, {name}/GCRestartEEEnd] -")];
        assert_eq!(rows(&[begin(), end], None, |events| events), expected);
    }

    #[test]
    fn events_that_nothing_decodes_answer_nothing() {
        let sample = |hint| shape("Kernel-PerfInfo", 0, Some("PerfInfo/SampleProf"), 6, hint);
        let names = "[Kernel-PerfInfo/PerfInfo/SampleProf]";
        let expected = [format!("cpu_samples false 6 {names} give its manifest")];
        assert_eq!(rows(&[sample(Some("give its manifest"))], None, |events| events), expected);
        let expected = [format!("cpu_samples true 12 {names} -")];
        assert_eq!(rows(&[sample(Some("give its manifest")), sample(None)], None, |events| events), expected);
    }

    #[test]
    fn a_column_that_is_asked_for_is_one_of_the_schema() {
        let query = [shape("Microsoft-Windows-DNS-Client", 3006, Some("task_03006"), 8, None)];
        let schema =
            |field: &str| EventSchema { fields: vec![Field::value(field, Wire::Int32)], ..EventSchema::default() };
        let expected = ["dns_queries true 8 [Microsoft-Windows-DNS-Client/task_03006] -"];
        assert_eq!(rows(&query, Some(&schema("queryname")), |events| events), expected);
        assert_eq!(rows(&query, Some(&schema("Interface")), |events| events), [""; 0]);
        // The provider that the question needs is there: what is missing are its events.
        let entries = || query.iter().map(|(shape, table)| CatalogEntry { shape, table, schema: None, template: None });
        let needed = |question: &str| {
            let all = of_shapes(entries(), |_, entry| entry.shape.events);
            all.into_iter().find(|row| row.question == question).unwrap().needed.unwrap()
        };
        assert_eq!(
            needed("dns_queries"),
            "Microsoft-Windows-DNS-Client with all keywords at level 4, while names are looked up; \
             the 8 events of Microsoft-Windows-DNS-Client here are others"
        );
        assert_eq!(needed("gc_pauses"), to_record("gc_pauses"), "no event of that provider is here");
    }

    #[test]
    fn what_ids_meant_is_known_of_events_that_are_filtered_too() {
        let class = KERNEL_CLASSES[usize::from(GROUP_PROCESS)].guid;
        let start = identity(HeaderFamily::System64, class, 0, 1);
        let shapes = [of_identity(start, "Kernel-Process", Some("Process/Start"), 6, None)];
        let expected = ["processes true 6 [Kernel-Process/Process/Start] -"];
        assert_eq!(rows(&shapes, None, |_| 0), expected);
    }

    #[test]
    fn of_many_events_the_most_are_named() {
        let update = |n: u64| shape("WUTraceLogging", 0, Some(&format!("Event{n:02}")), n, None);
        let shapes: Vec<_> = (1..=40).map(update).collect();
        let entries = shapes.iter().map(|(shape, table)| CatalogEntry { shape, table, schema: None, template: None });
        let rows = of_shapes(entries, |_, entry| entry.shape.events);
        let row = rows.iter().find(|row| row.question == "windows_update").unwrap();
        assert_eq!((row.events, row.event_names.len()), (820, 32));
        assert_eq!((&*row.event_names[0], &*row.event_names[31]), ("WUTraceLogging/Event40", "WUTraceLogging/Event09"));
    }
}
