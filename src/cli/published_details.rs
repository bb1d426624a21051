//! What the sidecar of a published trace says that its manifest does not: events by name, processes, what is notable.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use base::error::Result;
use base::progress::NoProgress;
use columnar::output::manifest::CommitRecord;
use conversion::read_columns;
use conversion::sidecar::catalog::CatalogRow;
use conversion::sidecar::dimensions::ProcessRow;
use conversion::sidecar::undecoded::event_label;
use published::Sidecar;
use serde::Serialize;

use super::notable::notable;
use super::processes::Processes;
use super::top_events::TopEvents;

/// What the tables of a trace's sidecar say.
#[derive(Debug, Default, Serialize)]
pub(super) struct Details {
    /// Most events first.
    pub providers: Vec<ProviderEvents>,
    #[serde(flatten)]
    pub processes: Processes,
    /// What somebody should know before they rely on the trace.
    pub notable: Vec<String>,
}

/// The events of a provider.
#[derive(Debug, Serialize)]
pub(super) struct ProviderEvents {
    /// Its folder.
    pub dataset: String,
    pub events: u64,
    #[serde(flatten)]
    pub top_events: TopEvents,
}

impl Details {
    /// Reads them.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) when a table cannot be read.
    pub(super) fn read(folder: &Path, record: &CommitRecord) -> Result<Details> {
        let tables = Sidecar::of(folder, record, &NoProgress);
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
