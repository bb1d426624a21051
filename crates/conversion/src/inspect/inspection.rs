//! What `inspect --json` shows of a trace; the page for people is made from the same.
//!
//! Whatever is in the sidecar is shown as its rows. Times are Unix nanoseconds in `_ns`, text otherwise.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use serde::Serialize;

use super::loss::{InputLoss, LossTotals};
use super::notable::notable;
use super::processes::Processes;
use super::time_range::TimeRange;
use super::top_events::TopEvents;
use crate::commit::report::window;
use crate::plan::CatalogEntry;
use crate::sidecar::undecoded::{Undecoded, label, undecoded};
use crate::sidecar::{
    AnswerRow, ClockRow, DimensionRows, InputFacts, IssueRow, SessionRow, SidecarFacts, StreamRow, answers, issues,
    lost_events,
};
use crate::survey::{FileFacts, FileSurvey};

/// A trace.
#[derive(Debug, Serialize)]
pub struct Inspection {
    /// What it is called.
    pub trace: String,
    /// Readable events.
    pub events: u64,
    /// Those of them that can be decoded.
    pub decodable_events: u64,
    /// Events that cannot be read.
    pub damaged_events: u64,
    /// Bytes in which no events can be counted.
    pub damaged_bytes: u64,
    /// Whether something is damaged, or missing without being counted in bytes.
    #[serde(skip)]
    pub is_damaged: bool,
    /// From the first to the last event.
    pub time: TimeRange,
    /// The inputs.
    pub files: Vec<InspectedInput>,
    /// The events by dataset, most first.
    pub providers: Vec<InspectedDataset>,
    /// What is not decodable, most events first.
    pub undecodable: Vec<Undecoded>,
    /// What can be asked of it, and what not.
    pub answers: Vec<AnswerRow>,
    /// Its processes.
    #[serde(flatten)]
    pub processes: Processes,
    /// What somebody should know before they rely on it.
    pub notable: Vec<String>,
}

/// An input.
#[derive(Debug, Serialize)]
pub struct InspectedInput {
    /// The path relative to the input named by the user, with `/`.
    pub source: String,
    /// Bytes.
    pub size: u64,
    /// Its session.
    pub session: SessionRow,
    /// Its clock.
    pub clock: ClockRow,
    /// What it lost.
    pub loss: InputLoss,
    /// Its streams of buffers.
    pub streams: Vec<StreamRow>,
    /// Everything unusual.
    pub findings: Vec<IssueRow>,
    /// What would likely have prevented losses; no finding.
    pub advice: Vec<IssueRow>,
}

/// The events of one dataset.
#[derive(Debug, Serialize)]
pub struct InspectedDataset {
    /// Its name.
    pub dataset: String,
    /// The provider.
    pub provider_id: Option<String>,
    /// The provider's name.
    pub provider_name: Option<String>,
    /// Event shapes.
    pub shapes: u64,
    /// Readable events.
    pub events: u64,
    /// Those of them that can be decoded.
    pub decodable_events: u64,
    /// Events by the source of their layout.
    pub decode_sources: BTreeMap<String, u64>,
    /// From the first to the last event.
    pub time: TimeRange,
    /// What would make events decodable that are not.
    pub fix_hint: Option<String>,
    /// The events that it has most of.
    #[serde(flatten)]
    pub top_events: TopEvents,
}

impl Inspection {
    /// What is known of a trace that is not converted.
    pub fn of(known: &SidecarFacts<'_>) -> Self {
        let SidecarFacts { trace, files, facts, plan, shape_counts, dimensions, .. } = *known;
        let surveyed = || files.iter().zip(facts);
        let inputs: Vec<InputFacts> = surveyed().map(|(file, facts)| InputFacts::of(file, facts)).collect();
        let notable = notable(&inputs);
        let inspected = surveyed().zip(inputs).map(|((file, facts), input)| InspectedInput::of(file, facts, input));
        let mut processes = Processes::default();
        let shown = &OnceCell::new();
        DimensionRows { dimensions, plan, shown }.processes().for_each(|process| processes.add(process));
        let providers = InspectedDataset::all(plan.catalog().map(InspectedShape::from));
        Inspection {
            trace: trace.to_owned(),
            events: files.iter().map(FileSurvey::events).sum(),
            decodable_events: providers.iter().map(|provider| provider.decodable_events).sum(),
            damaged_events: files.iter().map(FileSurvey::damaged_events).sum(),
            damaged_bytes: files.iter().map(FileSurvey::damaged_bytes).sum(),
            is_damaged: files.iter().any(FileSurvey::is_damaged),
            time: TimeRange::of(window(facts)),
            undecodable: undecoded(plan, shape_counts),
            answers: answers::rows(plan, shape_counts),
            notable,
            processes,
            files: inspected.collect(),
            providers,
        }
    }
}

impl InspectedInput {
    fn of(file: &FileSurvey, facts: &FileFacts, input: InputFacts) -> Self {
        let InputFacts { session, clock, streams } = input;
        InspectedInput {
            source: file.name.clone(),
            size: file.identity.size,
            session,
            clock,
            loss: InputLoss {
                totals: LossTotals::of(std::slice::from_ref(facts)),
                ledger: lost_events::rows(facts).collect(),
            },
            streams,
            findings: issues::rows(file).collect(),
            advice: issues::advice(facts).collect(),
        }
    }
}

/// What of an event shape its dataset adds up.
#[derive(Clone, Debug)]
pub struct InspectedShape<'a> {
    /// The dataset.
    pub dataset: &'a str,
    /// The provider.
    pub provider_id: Option<String>,
    /// The provider's name.
    pub provider_name: Option<&'a str>,
    /// The event's name, or what stands for it.
    pub event: String,
    /// Events.
    pub events: u64,
    /// The source of their layout.
    pub decode_source: &'a str,
    /// Earliest and latest event, Unix nanoseconds.
    pub time: (i64, i64),
    /// What would make them decodable, where they are not.
    pub fix_hint: Option<&'a str>,
}

impl<'a> From<CatalogEntry<'a>> for InspectedShape<'a> {
    fn from(entry: CatalogEntry<'a>) -> Self {
        let identity = &entry.shape.key.identity;
        InspectedShape {
            dataset: entry.dataset(),
            provider_id: identity.provider_id().map(|id| id.to_string()),
            provider_name: entry.provider_name(),
            event: entry.event_name().map_or_else(|| label(identity), str::to_owned),
            events: entry.shape.events,
            decode_source: entry.shape.decode_source.name(),
            time: (entry.shape.first_ns, entry.shape.last_ns),
            fix_hint: entry.shape.fix_hint.as_deref(),
        }
    }
}

impl InspectedDataset {
    /// The shapes of each dataset added up; most events first.
    pub fn all<'a>(shapes: impl Iterator<Item = InspectedShape<'a>>) -> Vec<InspectedDataset> {
        let mut datasets: BTreeMap<&str, Vec<InspectedShape<'_>>> = BTreeMap::new();
        for shape in shapes {
            datasets.entry(shape.dataset).or_default().push(shape);
        }
        let mut all: Vec<_> = datasets.into_iter().map(|(name, shapes)| InspectedDataset::of(name, shapes)).collect();
        all.sort_by_key(|dataset| std::cmp::Reverse(dataset.events));
        all
    }

    fn of(dataset: &str, shapes: Vec<InspectedShape<'_>>) -> InspectedDataset {
        // What has a hint is not decodable: nothing describes it, or what does fits none of its payloads.
        let decodable = shapes.iter().filter(|shape| shape.fix_hint.is_none());
        let mut decode_sources = BTreeMap::new();
        for shape in &shapes {
            *decode_sources.entry(shape.decode_source.to_owned()).or_default() += shape.events;
        }
        let (first, last) = shapes.iter().map(|shape| shape.time).unzip::<_, _, Vec<_>, Vec<_>>();
        InspectedDataset {
            dataset: dataset.to_owned(),
            provider_id: shapes.iter().find_map(|shape| shape.provider_id.clone()),
            provider_name: shapes.iter().find_map(|shape| shape.provider_name).map(str::to_owned),
            shapes: shapes.len() as u64,
            events: shapes.iter().map(|shape| shape.events).sum(),
            decodable_events: decodable.map(|shape| shape.events).sum(),
            decode_sources,
            time: TimeRange::of(first.into_iter().min().zip(last.into_iter().max())),
            fix_hint: shapes.iter().find_map(|shape| shape.fix_hint).map(str::to_owned),
            top_events: TopEvents::of(shapes.into_iter().map(|shape| (shape.event, shape.events))),
        }
    }
}

#[cfg(test)]
mod tests {
    use base::guid::Guid;
    use etl::event::{EventIdentity, Shape};
    use etl::layout::header::HeaderFamily;

    use super::*;
    use crate::plan::{DecodeSource, PlannedShape, PlannedTable};

    /// A shape of a dataset.
    fn entry(dataset: &str, source: DecodeSource, events: u64, first_ns: i64) -> (PlannedShape, PlannedTable) {
        let provider = Guid::from_parts(1, 2, 3, 4);
        let identity = EventIdentity {
            provider,
            group: 0,
            id: 1,
            version: 0,
            opcode: 0,
            property: 0,
            pointer_size: 8,
            family: HeaderFamily::Event64,
        };
        let shape = PlannedShape {
            fix_hint: (source == DecodeSource::None).then(|| "give its manifest".to_owned()),
            events,
            first_ns,
            last_ns: first_ns + 10,
            ..PlannedShape::bare(Shape { identity, metadata: Box::default() }, source)
        };
        let (provider_name, dataset) = (Some(dataset.to_owned()), dataset.to_owned());
        (shape, PlannedTable { dataset, provider_name, ..PlannedTable::default() })
    }

    #[test]
    fn shapes_add_up_to_providers() {
        let catalog = [
            entry("Small", DecodeSource::TraceLogging, 3, 50),
            entry("Big", DecodeSource::None, 4, 20),
            entry("Big", DecodeSource::Pack, 6, 5),
        ];
        let entries = catalog.iter().map(|(shape, table)| CatalogEntry { shape, table, schema: None, template: None });
        let found = InspectedDataset::all(entries.map(InspectedShape::from));
        let names: Vec<_> = found.iter().map(|provider| provider.dataset.as_str()).collect();
        assert_eq!(names, ["Big", "Small"]);
        let big = &found[0];
        assert_eq!((big.shapes, big.events, big.decodable_events), (2, 10, 6));
        assert_eq!(big.decode_sources, BTreeMap::from([("none".to_owned(), 4), ("pack".to_owned(), 6)]));
        assert_eq!(big.time.ns(), Some((5, 30)));
        assert_eq!(big.provider_id.as_deref(), Some("00000001-0002-0003-0000-000000000004"));
        assert_eq!(big.fix_hint.as_deref(), Some("give its manifest"));
        assert_eq!(found[1].fix_hint, None);
    }
}
