//! What `inspect --json` shows of a trace; the page for people is made from the same.
//!
//! Whatever is in the sidecar is shown as its rows. Times are Unix nanoseconds in `_ns`, text otherwise.

use std::collections::BTreeMap;

use serde::Serialize;

use super::loss::{InputLoss, LossTotals};
use super::notable::notable;
use super::processes::Processes;
use super::time_range::TimeRange;
use super::top_events::TopEvents;
use crate::job::Inspected;
use crate::plan::CatalogEntry;
use crate::sidecar::undecoded::{Undecoded, label, undecoded};
use crate::sidecar::{
    AnswerRow, ClockRow, DimensionRows, InputFacts, IssueRow, SessionRow, StreamRow, answers, issues, lost_events,
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
    pub decode_sources: BTreeMap<&'static str, u64>,
    /// From the first to the last event.
    pub time: TimeRange,
    /// What would make events decodable that are not.
    pub fix_hint: Option<String>,
    /// The events that it has most of.
    #[serde(flatten)]
    pub top_events: TopEvents,
}

impl Inspection {
    /// What is known of an inspected trace.
    pub fn of(trace: &str, inspected: &Inspected) -> Self {
        let Inspected { report, dimensions } = inspected;
        let surveyed = || report.files.iter().zip(&report.facts);
        let inputs: Vec<InputFacts> = surveyed().map(|(file, facts)| InputFacts::of(file, facts)).collect();
        let notable = notable(&inputs);
        let files = surveyed().zip(inputs).map(|((file, facts), input)| InspectedInput::of(file, facts, input));
        let mut processes = Processes::default();
        DimensionRows { dimensions, plan: &report.plan }.processes().for_each(|process| processes.add(process));
        let providers = providers(report.plan.catalog());
        Inspection {
            trace: trace.to_owned(),
            events: report.files.iter().map(FileSurvey::events).sum(),
            decodable_events: providers.iter().map(|provider| provider.decodable_events).sum(),
            damaged_events: report.files.iter().map(FileSurvey::damaged_events).sum(),
            damaged_bytes: report.files.iter().map(FileSurvey::damaged_bytes).sum(),
            is_damaged: report.files.iter().any(FileSurvey::is_damaged),
            time: TimeRange::of(report.time_range),
            undecodable: undecoded(&report.plan, &report.shapes),
            answers: answers::rows(&report.plan, &report.shapes),
            notable,
            processes,
            files: files.collect(),
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

/// The shapes of each dataset added up; most events first.
fn providers<'a>(catalog: impl Iterator<Item = CatalogEntry<'a>>) -> Vec<InspectedDataset> {
    let mut datasets: BTreeMap<&str, Vec<CatalogEntry<'_>>> = BTreeMap::new();
    for entry in catalog {
        datasets.entry(entry.dataset()).or_default().push(entry);
    }
    let mut providers: Vec<_> = datasets.into_iter().map(|(dataset, entries)| provider(dataset, &entries)).collect();
    providers.sort_by_key(|provider| std::cmp::Reverse(provider.events));
    providers
}

fn provider(dataset: &str, entries: &[CatalogEntry<'_>]) -> InspectedDataset {
    // What has a hint is not decodable: nothing describes it, or what does fits none of its payloads.
    let decodable = || entries.iter().filter(|entry| entry.shape.fix_hint.is_none());
    let mut decode_sources = BTreeMap::new();
    for entry in entries {
        *decode_sources.entry(entry.shape.decode_source.name()).or_default() += entry.shape.events;
    }
    let first = entries.iter().map(|entry| entry.shape.first_ns).min();
    InspectedDataset {
        dataset: dataset.to_owned(),
        provider_id: entries.iter().find_map(|entry| entry.shape.key.identity.provider_id()).map(|id| id.to_string()),
        provider_name: entries.iter().find_map(|entry| entry.provider_name()).map(str::to_owned),
        shapes: entries.len() as u64,
        events: entries.iter().map(|entry| entry.shape.events).sum(),
        decodable_events: decodable().map(|entry| entry.shape.events).sum(),
        decode_sources,
        time: TimeRange::of(first.zip(entries.iter().map(|entry| entry.shape.last_ns).max())),
        fix_hint: entries.iter().find_map(|entry| entry.shape.fix_hint.clone()),
        top_events: TopEvents::of(entries.iter().map(|entry| {
            let name = entry.event_name().map_or_else(|| label(&entry.shape.key.identity), str::to_owned);
            (name, entry.shape.events)
        })),
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
        let entries = catalog.iter().map(|(shape, table)| CatalogEntry { shape, table, schema: None });
        let found = providers(entries);
        let names: Vec<_> = found.iter().map(|provider| provider.dataset.as_str()).collect();
        assert_eq!(names, ["Big", "Small"]);
        let big = &found[0];
        assert_eq!((big.shapes, big.events, big.decodable_events), (2, 10, 6));
        assert_eq!(big.decode_sources, BTreeMap::from([("none", 4), ("pack", 6)]));
        assert_eq!(big.time.ns(), Some((5, 30)));
        assert_eq!(big.provider_id.as_deref(), Some("00000001-0002-0003-0000-000000000004"));
        assert_eq!(big.fix_hint.as_deref(), Some("give its manifest"));
        assert_eq!(found[1].fix_hint, None);
    }
}
