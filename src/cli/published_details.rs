//! What the sidecar of a published trace says that its manifest does not: events by name, processes, what is notable.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use base::error::Result;
use columnar::output::manifest::CommitRecord;
use conversion::sidecar::undecoded::event_label;
use published::{Batch, Sidecar};
use serde::Serialize;

use super::notable::{RecordedInput, RecordedStream, notable};
use super::processes::{InspectedProcess, Processes};
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
        let tables = Sidecar::of(folder, record);
        Ok(Details {
            providers: providers(&tables)?,
            processes: processes(&tables)?,
            notable: notable(&recorded(&tables)?),
        })
    }
}

/// Hands over columns of a table row by row, if the trace has it.
fn read(tables: &Sidecar<'_>, table: &str, columns: &[&str], mut each: impl FnMut(&Batch, usize)) -> Result<()> {
    tables.read(table, columns, &mut |batch| {
        (0..batch.rows()).for_each(|row| each(batch, row));
        Ok(())
    })
}

fn unsigned(batch: &Batch, column: usize, row: usize) -> u64 {
    batch.integer(column, row).and_then(|number| u64::try_from(number).ok()).unwrap_or_default()
}

fn providers(tables: &Sidecar<'_>) -> Result<Vec<ProviderEvents>> {
    let mut shapes = BTreeMap::<String, Vec<(String, u64)>>::new();
    let columns = ["dataset", "rows", "event_name", "kind", "event_id", "event_version", "opcode"];
    read(tables, "catalog", &columns, |batch, row| {
        let text = |column| batch.text(column, row).unwrap_or_default();
        let number = |column| unsigned(batch, column, row);
        let provider = text(0).split('/').next().unwrap_or_default();
        let name = batch.text(2, row).map(str::to_owned);
        let name = name.unwrap_or_else(|| event_label(text(3), number(4), number(5), number(6)));
        shapes.entry(provider.to_owned()).or_default().push((name, number(1)));
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

fn processes(tables: &Sidecar<'_>) -> Result<Processes> {
    let mut processes = Processes::default();
    let columns =
        "process_id parent_process_id image_name command_line started_ns ended_ns from_ns to_ns is_defunct".split(' ');
    let columns: Vec<&str> = columns.collect();
    read(tables, "processes", &columns, |batch, row| {
        let id = |column| batch.integer(column, row).and_then(|id| u32::try_from(id).ok());
        let text = |column| batch.text(column, row).map(str::to_owned);
        processes.add(InspectedProcess {
            process_id: id(0).unwrap_or_default(),
            parent_process_id: id(1),
            image_name: text(2),
            command_line: text(3),
            started_ns: batch.integer(4, row),
            ended_ns: batch.integer(5, row),
            from_ns: batch.integer(6, row).unwrap_or_default(),
            to_ns: batch.integer(7, row).unwrap_or_default(),
            is_defunct: batch.boolean(8, row).unwrap_or_default(),
        });
    })?;
    Ok(processes)
}

fn recorded(tables: &Sidecar<'_>) -> Result<Vec<RecordedInput>> {
    let mut inputs = Vec::new();
    let columns = ["source", "start_time", "end_time", "first_event_time", "last_event_time", "cpu_count"];
    read(tables, "sessions", &columns, |batch, row| {
        let time = |column| batch.time_ns(column, row);
        inputs.push(RecordedInput {
            source: batch.text(0, row).unwrap_or_default().to_owned(),
            session: (time(1), time(2)),
            events: (time(3), time(4)),
            processors: unsigned(batch, 5, row),
            streams: Vec::new(),
        });
    })?;
    let mut streams = BTreeMap::<String, Vec<RecordedStream>>::new();
    read(tables, "streams", &["source", "cpu", "events", "last_time_ns"], |batch, row| {
        let source = batch.text(0, row).unwrap_or_default().to_owned();
        streams.entry(source).or_default().push(RecordedStream {
            cpu: batch.integer(1, row),
            events: unsigned(batch, 2, row),
            last_ns: batch.integer(3, row),
        });
    })?;
    for input in &mut inputs {
        input.streams = streams.remove(&input.source).unwrap_or_default();
    }
    Ok(inputs)
}
