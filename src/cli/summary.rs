//! What came of a conversion: `--summary` as JSON, and the same facts in a few lines for people.

use std::collections::BTreeMap;

use indicatif::{HumanBytes, HumanCount};
use serde::Serialize;

use super::facts::{TimeRange, providers};
use super::loss::{LossFacts, LossTotals};
use super::page::span;
use super::table::{Align, Table};
use crate::convert::job::Report;
use crate::dataset::manifest::{EventCounts, FileEntry};
use crate::error::Result;
use crate::survey::FileSurvey;

/// Providers that are shown with their rows; the rest is a number.
const SHOWN: usize = 10;

/// A run.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    pub tool_version: &'static str,
    pub exit_code: u8,
    /// The output folder.
    pub output: String,
    pub traces: Vec<TraceSummary>,
    /// Inputs that could not be read and failures, as their messages.
    pub errors: Vec<String>,
}

/// A recording.
#[derive(Debug, Serialize)]
pub(super) struct TraceSummary {
    pub trace: String,
    /// `published`, `skipped`, `dry_run`, `gated` or `failed`.
    pub status: &'static str,
    /// Why it was gated or failed.
    pub reason: Option<String>,
    /// What was found and written; `None` for a recording that was skipped or failed.
    pub result: Option<TraceResult>,
}

/// What was found in a recording, and what of it was written.
#[derive(Debug, Serialize)]
pub(super) struct TraceResult {
    pub folder: String,
    pub time: TimeRange,
    pub events: EventCounts,
    pub lost: LossTotals,
    /// Rows by `<decode_source>/<decode_status>`.
    pub decode: BTreeMap<String, u64>,
    pub undecoded_rows: u64,
    /// Findings of all files, information not counted.
    pub warnings: u64,
    pub datasets: Vec<DatasetSummary>,
    pub files: u64,
    pub bytes: u64,
}

/// The rows of one dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct DatasetSummary {
    pub dataset: String,
    pub rows: u64,
}

impl TraceResult {
    /// The facts of a report; `written` tells rows in files from events that would have become rows.
    ///
    /// # Errors
    /// When the ledger of losses cannot be read.
    pub(super) fn of(report: &Report, written: bool) -> Result<Self> {
        let mut lost = LossTotals::none();
        for file in &report.files {
            lost.add(&LossFacts::of(file)?.totals);
        }
        Ok(TraceResult {
            folder: report.folder.display().to_string(),
            time: TimeRange::of(report.time_range),
            events: report.events,
            lost,
            decode: report.decode.clone(),
            undecoded_rows: undecoded(&report.decode),
            warnings: report.files.iter().map(warnings).sum(),
            datasets: if written { written_datasets(&report.written) } else { planned_datasets(report) },
            files: report.written.len() as u64,
            bytes: report.written.iter().map(|file| file.bytes).sum(),
        })
    }
}

fn warnings(file: &FileSurvey) -> u64 {
    file.findings.rows().filter(|finding| finding.severity > crate::survey::Severity::Info).count() as u64
}

/// Rows whose payload is not decoded whole.
fn undecoded(decode: &BTreeMap<String, u64>) -> u64 {
    let whole = |key: &str| matches!(key.rsplit('/').next(), Some("ok" | "padded"));
    decode.iter().filter(|(key, _)| !whole(key)).map(|(_, rows)| rows).sum()
}

/// Rows per folder below `events`; most rows first.
fn written_datasets(files: &[FileEntry]) -> Vec<DatasetSummary> {
    let event_files = files.iter().filter_map(|file| {
        let (dataset, _) = file.path.strip_prefix("events/")?.split_once('/')?;
        Some((dataset.to_owned(), file.rows))
    });
    add_up(event_files)
}

fn planned_datasets(report: &Report) -> Vec<DatasetSummary> {
    add_up(providers(&report.catalog).into_iter().map(|provider| (provider.dataset, provider.events)))
}

fn add_up(rows: impl Iterator<Item = (String, u64)>) -> Vec<DatasetSummary> {
    let mut datasets: BTreeMap<String, u64> = BTreeMap::new();
    for (dataset, rows) in rows {
        *datasets.entry(dataset).or_default() += rows;
    }
    let mut datasets: Vec<_> = datasets.into_iter().map(|(dataset, rows)| DatasetSummary { dataset, rows }).collect();
    datasets.sort_by_key(|dataset| std::cmp::Reverse(dataset.rows));
    datasets
}

impl TraceSummary {
    /// One line: `boot: published, 1,234 rows, lost: nothing`.
    pub(super) fn line(&self) -> String {
        let mut line = format!("{}: {}", self.trace, self.status);
        if let Some(result) = &self.result {
            line += &format!(", {} rows, lost: {}", HumanCount(result.events.written), result.lost.words());
        }
        self.reason.iter().fold(line, |line, reason| line + ": " + reason)
    }
}

impl Summary {
    /// The JSON document.
    pub(super) fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("numbers, texts and keys that are texts are valid JSON");
        text + "\n"
    }

    /// A few lines for people; nothing when no recording got that far.
    pub(super) fn page(&self) -> String {
        let results: Vec<&TraceResult> = self.traces.iter().filter_map(|trace| trace.result.as_ref()).collect();
        if results.is_empty() {
            return String::new();
        }
        let datasets = add_up(results.iter().flat_map(|r| &r.datasets).map(|d| (d.dataset.clone(), d.rows)));
        rows_table(&datasets) + "\n" + &totals(&results) + &self.output_lines(&datasets)
    }

    fn output_lines(&self, datasets: &[DatasetSummary]) -> String {
        let mut table = Table::of_values();
        let published: Vec<&TraceSummary> = self.traces.iter().filter(|trace| trace.status == "published").collect();
        match published.as_slice() {
            [] => table.value("output", "none"),
            [one] => {
                table.value("output", one.result.as_ref().map_or("", |result| &result.folder));
            }
            several => table.value("output", format!("{} traces in {}", several.len(), self.output)),
        }
        if let (Some(first), Some(largest)) = (published.first(), datasets.first()) {
            let trace = if published.len() == 1 { &first.trace } else { "*" };
            table.value("DuckDB", query(&self.output, trace, &largest.dataset));
        }
        // The first column is as wide as that of the totals above.
        table.value("exit code", self.exit_code.to_string());
        table.render()
    }
}

/// A query that works as it stands.
fn query(output: &str, trace: &str, dataset: &str) -> String {
    let path = format!("{}/trace={trace}/events/{dataset}/*.parquet", output.trim_end_matches(['/', '\\']));
    let path = path.replace('\'', "''");
    format!("FROM read_parquet('{path}', hive_partitioning = true, union_by_name = true) LIMIT 20;")
}

fn rows_table(datasets: &[DatasetSummary]) -> String {
    let mut table = Table::new([("PROVIDER", Align::Left), ("ROWS", Align::Right)]);
    for dataset in datasets.iter().take(SHOWN) {
        table.row([dataset.dataset.clone(), HumanCount(dataset.rows).to_string()]);
    }
    if let Some(rest @ [_, ..]) = datasets.get(SHOWN..) {
        let rows = rest.iter().map(|dataset| dataset.rows).sum();
        table.row([format!("{} more", rest.len()), HumanCount(rows).to_string()]);
    }
    table.render()
}

fn totals(results: &[&TraceResult]) -> String {
    let sum = |of: fn(&TraceResult) -> u64| HumanCount(results.iter().map(|result| of(result)).sum());
    let ranges = || results.iter().filter_map(|result| result.time.ns());
    let range = ranges().map(|range| range.0).min().zip(ranges().map(|range| range.1).max());
    let mut lost = LossTotals::none();
    results.iter().for_each(|result| lost.add(&result.lost));
    let time = TimeRange::of(range);
    let mut table = Table::of_values();
    table.value("events", format!("{} found, {} written", sum(|r| r.events.found), sum(|r| r.events.written)));
    if let (Some(first), Some(last), Some(range)) = (time.first_time, time.last_time, range) {
        table.value("time", format!("{first} to {last} ({})", span(range)));
    }
    table.value("lost", lost.words());
    table.value("undecoded", format!("{} rows", sum(|r| r.undecoded_rows)));
    table.value("damaged", format!("{} events, {} bytes", sum(|r| r.events.damaged), sum(|r| r.events.damaged_bytes)));
    table.value("warnings", sum(|r| r.warnings).to_string());
    let bytes = HumanBytes(results.iter().map(|result| result.bytes).sum());
    table.value("files", format!("{}, {bytes}", sum(|r| r.files)));
    table.render()
}
