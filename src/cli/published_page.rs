//! `inspect` of what was converted: what the manifests of published traces say.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use base::calendar::rfc3339;
use base::readable::count::{ByteCount, Count, counted};
use base::readable::printable::printable;
use base::readable::share::share;
use columnar::output::manifest::{CommitRecord, FileEntry, LossCounts};
use published::{Details, InspectedTrace};

use super::fold::Width;
use super::page::{most_frequent, noted, running, section, span};
use super::text_table::{Align, TextTable};

fn datasets_of(record: &CommitRecord) -> BTreeMap<&str, Dataset> {
    let mut datasets = BTreeMap::<_, Dataset>::new();
    for file in &record.files {
        let Some(name) = dataset(file) else { continue };
        datasets.entry(name).or_default().add(1, file.rows, file.bytes);
    }
    datasets
}

/// The first and the last time of a row.
fn time(record: &CommitRecord) -> Option<(i64, i64)> {
    let first = record.files.iter().filter_map(|file| file.min_timestamp_ns).min()?;
    Some((first, record.files.iter().filter_map(|file| file.max_timestamp_ns).max()?))
}

fn bytes(record: &CommitRecord) -> u64 {
    record.files.iter().fold(0, |sum, file| sum.saturating_add(file.bytes))
}

/// Of all rows those that are decoded whole.
fn decoded(record: &CommitRecord) -> String {
    let is_whole = |kind: &str| kind.ends_with("/ok") || kind.ends_with("/padded");
    let sum = |sum: u64, rows: &u64| sum.saturating_add(*rows);
    let whole = record.decode.iter().filter(|(kind, _)| is_whole(kind)).map(|(_, rows)| rows).fold(0, sum);
    share(whole, record.decode.values().fold(0, sum))
}

/// The page of a trace.
pub(super) fn page(trace: &InspectedTrace, width: Width) -> String {
    let record = &trace.manifest;
    let mut table = TextTable::of_values();
    for input in &record.inputs {
        table.value("input", format!("{} ({})", input.source, ByteCount(input.size)));
    }
    let from_to = |(first, last)| format!("{} to {} ({})", rfc3339(first), rfc3339(last), span((first, last)));
    table.value("time", time(record).map_or("-".to_owned(), from_to));
    let events = record.events;
    let mut counts = format!("{} found, {} written", Count(events.found), Count(events.written));
    for (count, what) in [(events.filtered, "filtered"), (events.damaged, "damaged")] {
        if count > 0 {
            let _ = write!(counts, ", {} {what}", Count(count));
        }
    }
    table.value("events", counts);
    table.value("lost", lost(&record.lost));
    table.value("decoded", decoded(record));
    let (by, format) = (&record.tool_version, record.format_version);
    table.value("converted", format!("{} by version {by}, format {format}", record.run.created));
    table.value("files", format!("{}, {}", Count(record.files.len() as u64), ByteCount(bytes(record))));
    let details = trace.details.as_ref().map(|details| sections(details, time(record), width));
    format!(
        "{}\n\n{}{}{}",
        printable(&trace.folder),
        section("Trace", &table.render(width)),
        section("Datasets", &datasets(&[record], width)),
        details.unwrap_or_default()
    )
}

/// What the sidecar says, as the page of a trace that is not converted shows it. `time`: of the first and the last event.
fn sections(details: &Details, time: Option<(i64, i64)>, width: Width) -> String {
    let Details { providers, processes, notable } = details;
    let providers: Vec<_> =
        providers.iter().map(|provider| (&*provider.dataset, provider.events, &provider.top_events)).collect();
    most_frequent(&providers, width) + &running(processes, time, width) + &noted(notable, width)
}

/// The page of several traces: a line each, and what all of them have of each dataset.
pub(super) fn overview(traces: &[InspectedTrace], width: Width) -> String {
    let mut table = TextTable::new([
        ("TRACE", Align::Left),
        ("SIZE", Align::Right),
        ("SPAN", Align::Right),
        ("EVENTS", Align::Right),
        ("DECODED", Align::Right),
        ("LOST", Align::Left),
    ]);
    for InspectedTrace { manifest, .. } in traces {
        table.row([
            manifest.trace.clone(),
            ByteCount(bytes(manifest)).to_string(),
            time(manifest).map(span).unwrap_or_default(),
            Count(manifest.events.written).to_string(),
            decoded(manifest),
            lost(&manifest.lost),
        ]);
    }
    let all: Vec<&CommitRecord> = traces.iter().map(|trace| &trace.manifest).collect();
    format!("{}{}", section("Traces", &table.render(width)), section("Datasets", &datasets(&all, width)))
}

/// What a dataset has, in one trace or in several.
#[derive(Clone, Copy, Debug, Default)]
struct Dataset {
    traces: u64,
    files: u64,
    rows: u64,
    bytes: u64,
}

impl Dataset {
    fn add(&mut self, files: u64, rows: u64, bytes: u64) {
        self.files = self.files.saturating_add(files);
        self.rows = self.rows.saturating_add(rows);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// Datasets, most rows first.
fn datasets(traces: &[&CommitRecord], width: Width) -> String {
    let mut sums = BTreeMap::<&str, Dataset>::new();
    for (name, dataset) in traces.iter().flat_map(|record| datasets_of(record)) {
        let sum = sums.entry(name).or_default();
        sum.traces = sum.traces.saturating_add(1);
        sum.add(dataset.files, dataset.rows, dataset.bytes);
    }
    let mut sums: Vec<(&str, Dataset)> = sums.into_iter().collect();
    sums.sort_by_key(|(_, dataset)| Reverse(dataset.rows));
    let mut table = TextTable::new([
        ("DATASET", Align::Left),
        ("EVENTS", Align::Right),
        ("TRACES", Align::Right),
        ("FILES", Align::Right),
        ("SIZE", Align::Right),
    ]);
    for (name, dataset) in sums {
        table.row([
            name.to_owned(),
            Count(dataset.rows).to_string(),
            Count(dataset.traces).to_string(),
            Count(dataset.files).to_string(),
            ByteCount(dataset.bytes).to_string(),
        ]);
    }
    table.render(width)
}

/// The folder of a file below `events`; `None` of one of the sidecar.
fn dataset(file: &FileEntry) -> Option<&str> {
    Some(file.path.strip_prefix("events/")?.rsplit_once('/')?.0)
}

fn lost(lost: &LossCounts) -> String {
    let known = [(lost.events_lost, "events"), (lost.buffers_lost, "buffers")];
    let known =
        known.iter().filter_map(|(count, what)| count.filter(|count| *count > 0).map(|count| counted(count, what)));
    let known = known.collect::<Vec<_>>().join(", ");
    match (&lost.unknown_because, known.is_empty()) {
        (Some(_), true) => "unknown".to_owned(),
        (Some(_), false) => format!("at least {known}"),
        (None, true) => "-".to_owned(),
        (None, false) => known,
    }
}
