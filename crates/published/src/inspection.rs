//! What is known of a published trace, as the document that `inspect --json` has of one that is not converted.

use std::collections::BTreeMap;

use base::error::Result;
use base::progress::NoProgress;
use columnar::output::CommitRecord;
use columnar::output::manifest::LossCounts;
use conversion::inspect::{
    InputLoss, InspectedDataset, InspectedInput, InspectedShape, LossTotals, Processes, TimeRange, notable,
};
use conversion::sidecar::catalog::CatalogRow;
use conversion::sidecar::dimensions::ProcessRow;
use conversion::sidecar::undecoded::event_label;
use conversion::sidecar::{AnswerRow, InputFacts, IssueRow, LossRow};
use conversion::survey::Severity;
use serde::Serialize;

use super::sidecar::Sidecar;
use super::trace::PublishedTrace;

/// A published trace. Its events are those that were written.
#[derive(Debug, Serialize)]
pub struct PublishedInspection {
    /// What it is called.
    pub trace: String,
    /// Events that became rows.
    pub events: u64,
    /// Those of them that can be decoded.
    pub decodable_events: u64,
    /// Events that could not be read.
    pub damaged_events: u64,
    /// Bytes in which no events can be counted.
    pub damaged_bytes: u64,
    /// From the first to the last event.
    pub time: TimeRange,
    /// The inputs.
    pub files: Vec<InspectedInput>,
    /// The events by dataset, most first.
    pub providers: Vec<InspectedDataset>,
    /// What can be asked of it, and what not.
    pub answers: Vec<AnswerRow>,
    /// Its processes.
    #[serde(flatten)]
    pub processes: Processes,
    /// What somebody should know before they rely on it.
    pub notable: Vec<String>,
}

impl PublishedInspection {
    /// Reads the sidecar of a trace, given its manifest.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
    pub fn read(trace: &PublishedTrace, record: &CommitRecord) -> Result<PublishedInspection> {
        let tables = Sidecar::of(&*trace.store, record, &NoProgress);
        let mut processes = Processes::default();
        tables.rows::<ProcessRow<'_>>(|process| processes.add(process))?;
        let mut answers = Vec::new();
        tables.rows::<AnswerRow>(|row| answers.push(row))?;
        let inputs = tables.inputs()?;
        let streams = || inputs.iter().flat_map(|input| &input.streams);
        let first = streams().filter_map(|stream| stream.first_time_ns).min();
        let time = TimeRange::of(first.zip(streams().filter_map(|stream| stream.last_time_ns).max()));
        let notable = notable(&inputs);
        let providers = providers(&tables)?;
        Ok(PublishedInspection {
            trace: record.trace.clone(),
            events: record.events.written,
            decodable_events: providers.iter().map(|provider| provider.decodable_events).sum(),
            damaged_events: record.events.damaged,
            damaged_bytes: record.events.damaged_bytes,
            time,
            files: files(&tables, inputs)?,
            providers,
            answers,
            processes,
            notable,
        })
    }
}

/// The inputs with what the tables say of each. Rows of inputs that are called the same stand with the first of them.
fn files(tables: &Sidecar<'_>, inputs: Vec<InputFacts>) -> Result<Vec<InspectedInput>> {
    let (mut lost, mut issues) = (BTreeMap::<String, Vec<LossRow>>::new(), BTreeMap::<String, Vec<IssueRow>>::new());
    tables.rows::<LossRow>(|row| lost.entry(row.source.clone()).or_default().push(row))?;
    tables.rows::<IssueRow>(|row| issues.entry(row.source.clone()).or_default().push(row))?;
    let input = |InputFacts { session, clock, streams }: InputFacts| {
        let ledger = lost.remove(&session.source).unwrap_or_default();
        let is_advice = |issue: &IssueRow| issue.severity == Severity::Advice;
        let (advice, findings) = issues.remove(&session.source).unwrap_or_default().into_iter().partition(is_advice);
        let mut gaps = BTreeMap::new();
        for row in ledger.iter().filter(|row| !row.is_counter()) {
            *gaps.entry(row.kind.as_str()).or_default() += 1;
        }
        let counts = LossCounts {
            events_lost: session.events_lost.map(u64::from),
            buffers_lost: session.buffers_lost.map(u64::from),
            unknown_because: session.loss_unknown_because.as_deref().map(str::to_owned),
        };
        let totals = LossTotals { counts, gaps, ..LossTotals::default() };
        let loss = InputLoss { totals, ledger };
        InspectedInput {
            source: session.source.clone(),
            size: session.size,
            session,
            clock,
            loss,
            streams,
            findings,
            advice,
        }
    };
    Ok(inputs.into_iter().map(input).collect())
}

fn providers(tables: &Sidecar<'_>) -> Result<Vec<InspectedDataset>> {
    let mut shapes: Vec<OwnedShape> = Vec::new();
    tables.rows::<CatalogRow<'_>>(|row| shapes.push(OwnedShape::of(&row)))?;
    let written = shapes.iter().filter(|shape| shape.rows > 0);
    Ok(InspectedDataset::all(written.map(OwnedShape::borrowed)))
}

/// A shape of the catalog, kept.
struct OwnedShape {
    dataset: String,
    provider_id: Option<String>,
    provider_name: Option<String>,
    event: String,
    rows: u64,
    decode_source: String,
    time: (i64, i64),
    fix_hint: Option<String>,
}

impl OwnedShape {
    fn of(row: &CatalogRow<'_>) -> OwnedShape {
        let [id, version] = [row.event_id, row.event_version].map(|number| number.unwrap_or_default().into());
        let label = || event_label(row.kind, id, version, row.opcode.unwrap_or_default().into());
        OwnedShape {
            dataset: row.dataset.to_owned(),
            provider_id: row.provider_id.clone(),
            provider_name: row.provider_name.map(str::to_owned),
            event: row.event_name.map_or_else(label, str::to_owned),
            rows: row.rows.unwrap_or_default(),
            decode_source: row.decode_source.to_owned(),
            time: (row.first_time_ns, row.last_time_ns),
            fix_hint: row.fix_hint.map(str::to_owned),
        }
    }

    fn borrowed(&self) -> InspectedShape<'_> {
        InspectedShape {
            dataset: &self.dataset,
            provider_id: self.provider_id.clone(),
            provider_name: self.provider_name.as_deref(),
            event: self.event.clone(),
            events: self.rows,
            decode_source: &self.decode_source,
            time: self.time,
            fix_hint: self.fix_hint.as_deref(),
        }
    }
}
