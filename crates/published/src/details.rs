//! What is known of a published trace, as a document: its manifest, and what its sidecar says besides.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use base::error::Result;
use base::progress::NoProgress;
use columnar::output::{CommitRecord, Store};
use conversion::inspect::{Processes, TopEvents, notable};
use conversion::read_columns;
use conversion::sidecar::catalog::CatalogRow;
use conversion::sidecar::dimensions::ProcessRow;
use conversion::sidecar::undecoded::event_label;
use serde::Serialize;

use super::sidecar::Sidecar;
use super::trace::PublishedTrace;

/// A published trace: where it is, its manifest, and what its sidecar says where that is asked for.
#[derive(Debug, Serialize)]
pub struct InspectedTrace {
    /// Where it is.
    pub folder: String,
    /// Its manifest.
    pub manifest: CommitRecord,
    /// What its sidecar says.
    #[serde(flatten)]
    pub details: Option<Details>,
}

impl InspectedTrace {
    /// Reads the manifest of a trace, and tables of its sidecar if it is looked at `closely`.
    ///
    /// # Errors
    /// When it cannot be read or is none.
    pub fn read(trace: &PublishedTrace, closely: bool) -> Result<InspectedTrace> {
        let manifest = trace.record()?;
        let details = closely.then(|| Details::read(&*trace.store, &manifest)).transpose()?;
        Ok(InspectedTrace { folder: trace.label(), manifest, details })
    }
}

/// What the tables of a trace's sidecar say.
#[derive(Debug, Default, Serialize)]
pub struct Details {
    /// Most events first.
    pub providers: Vec<ProviderEvents>,
    /// Its processes.
    #[serde(flatten)]
    pub processes: Processes,
    /// What somebody should know before they rely on the trace.
    pub notable: Vec<String>,
}

/// The events of a provider.
#[derive(Debug, Serialize)]
pub struct ProviderEvents {
    /// Its folder.
    pub dataset: String,
    /// How many there are.
    pub events: u64,
    /// Which it has most of.
    #[serde(flatten)]
    pub top_events: TopEvents,
}

impl Details {
    /// Reads them.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
    fn read(trace: &dyn Store, record: &CommitRecord) -> Result<Details> {
        let tables = Sidecar::of(trace, record, &NoProgress);
        let mut processes = Processes::default();
        tables.rows::<ProcessRow<'_>>(|process| processes.add(process))?;
        Ok(Details { providers: providers(&tables)?, processes, notable: notable(&tables.inputs()?) })
    }
}

read_columns! {
    /// An event shape, and how many rows of it there are.
    struct ShapeRows<'b> of CatalogRow<'static> {
        dataset: &'b str,
        rows: Option<u64>,
        event_name: Option<&'b str>,
        kind: &'b str,
        event_id: Option<u64>,
        event_version: Option<u64>,
        opcode: Option<u64>,
    }
}

fn providers(tables: &Sidecar<'_>) -> Result<Vec<ProviderEvents>> {
    let mut shapes = BTreeMap::<String, Vec<(String, u64)>>::new();
    tables.rows::<ShapeRows<'_>>(|row| {
        let provider = row.dataset.split('/').next().unwrap_or_default();
        let [id, version, opcode] = [row.event_id, row.event_version, row.opcode].map(Option::unwrap_or_default);
        let name = row.event_name.map(str::to_owned);
        let name = name.unwrap_or_else(|| event_label(row.kind, id, version, opcode));
        shapes.entry(provider.to_owned()).or_default().push((name, row.rows.unwrap_or_default()));
    })?;
    let provider = |(dataset, mut shapes): (String, Vec<(String, u64)>)| {
        shapes.retain(|(_, rows)| *rows > 0);
        let events = shapes.iter().fold(0_u64, |sum, (_, rows)| sum.saturating_add(*rows));
        ProviderEvents { dataset, events, top_events: TopEvents::of(shapes.into_iter()) }
    };
    let mut providers: Vec<ProviderEvents> = shapes.into_iter().map(provider).collect();
    providers.retain(|provider| provider.events > 0);
    providers.sort_by_key(|provider| Reverse(provider.events));
    Ok(providers)
}
