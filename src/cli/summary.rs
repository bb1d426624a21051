//! What came of a conversion: `--summary` as JSON, and the same facts in a few lines for people.

use std::collections::BTreeMap;
use std::path::Path;

use base::readable::count::counted;
use batch::quarantine::BadInput;
use columnar::output::manifest::EventCounts;
use conversion::convert::job::{Recording, Report};
use conversion::plan::DecodeSource;
use conversion::sidecar::undecoded::Undecoded;
use conversion::sidecar::{IssueRow, answers, issues};
use conversion::survey::FileSurvey;
use indicatif::{HumanBytes, HumanCount};
use serde::Serialize;

use super::datasets::{self, DatasetSummary};
use super::fold::Width;
use super::input_ends::{EndedTrace, InputEnd, ends};
use super::inspection::TimeRange;
use super::log::Entry;
use super::loss::{LossTotals, words_of_all};
use super::next_steps::{self, Asked};
use super::page::span;
use super::run_facts::RunFacts;
use super::text_table::TextTable;
use super::undecoded;
use super::warnings::is_warning;

/// What can become of a trace.
pub(super) const STATUSES: [&str; 10] =
    ["published", "skipped", "busy", "dry_run", "empty", "gated", "quarantined", "failed", "interrupted", "not_begun"];

/// A run.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    #[serde(flatten)]
    pub run: RunFacts,
    /// The output folder.
    pub output: String,
    /// Bytes of the recordings that were read.
    pub input_bytes: u64,
    /// Bytes of the files that were published.
    pub output_bytes: u64,
    /// Every input, with its end.
    pub inputs: Vec<InputEnd>,
    pub traces: Vec<TraceSummary>,
    /// Inputs that could not be read as a trace.
    pub quarantined: Vec<QuarantinedInput>,
    /// Inputs that could not be read and failures, as their messages.
    pub errors: Vec<String>,
}

/// An input that could not be read as a trace.
#[derive(Debug, Serialize)]
pub(super) struct QuarantinedInput {
    pub input: String,
    /// The trace that it would have become; `None` where it was not got so far.
    pub trace: Option<String>,
    /// What is wrong with it, as a word that stays.
    pub code: String,
    /// The same for people.
    pub reason: String,
}

impl QuarantinedInput {
    pub(super) fn of(bad: &BadInput<'_>) -> Self {
        QuarantinedInput {
            input: bad.input.display().to_string(),
            trace: bad.trace.map(str::to_owned),
            code: bad.code.to_owned(),
            reason: bad.reason.to_owned(),
        }
    }
}

/// A recording.
#[derive(Debug, Serialize)]
pub(super) struct TraceSummary {
    pub trace: String,
    /// One of [`STATUSES`].
    pub status: &'static str,
    /// Why it was skipped, is empty, gated or quarantined, or failed.
    pub reason: Option<String>,
    /// What was found and written; `None` for a recording that was skipped or failed.
    pub result: Option<TraceResult>,
    /// Its inputs, as the run calls them.
    #[serde(skip)]
    pub inputs: Vec<String>,
}

/// What was found in a recording, and what of it was written.
#[derive(Debug, Serialize)]
pub(super) struct TraceResult {
    pub folder: String,
    pub input_bytes: u64,
    pub time: TimeRange,
    pub events: EventCounts,
    pub lost: LossTotals,
    /// Rows by `<decode_source>/<decode_status>`.
    pub decode: BTreeMap<String, u64>,
    /// Rows that are not decoded whole; `None` where nothing was converted.
    pub undecoded_rows: Option<u64>,
    /// Events that the plan has no schema for, of shapes that may pass the filters.
    pub events_without_schema: u64,
    /// What is not decoded, most rows first.
    pub undecoded: Vec<Undecoded>,
    /// What would likely have prevented losses; no finding.
    pub advice: Vec<IssueRow>,
    /// Issues of all inputs, information not counted.
    pub warnings: u64,
    pub datasets: Vec<DatasetSummary>,
    /// Partitions of the recording; `None` where it was not cut.
    pub partitions: Option<u64>,
    pub files: u64,
    pub bytes: u64,
    /// What to ask of it first.
    #[serde(skip)]
    pub asked: Asked,
}

impl TraceResult {
    /// The counts of a report; `written` tells rows in files from events that would have become rows.
    pub(super) fn of(report: &Report, written: bool) -> Self {
        TraceResult {
            folder: report.folder.display().to_string(),
            input_bytes: report.files.iter().map(|file| file.identity.size).sum(),
            time: TimeRange::of(report.time_range),
            events: report.events,
            lost: LossTotals::of(&report.facts),
            decode: report.decode.clone(),
            undecoded_rows: (!report.decode.is_empty()).then(|| undecoded_rows(&report.decode)),
            events_without_schema: without_schema(report),
            undecoded: undecoded::of_report(report),
            advice: report.facts.iter().flat_map(issues::advice).collect(),
            warnings: report.files.iter().map(warnings).sum(),
            datasets: if written { datasets::written(&report.written) } else { datasets::planned(report) },
            partitions: report.partitions,
            files: report.written.len() as u64,
            bytes: report.written.iter().map(|file| file.bytes).sum(),
            asked: Asked::first_of(&answers::rows(&report.plan, &report.shapes)),
        }
    }
}

fn warnings(file: &FileSurvey) -> u64 {
    file.issues.rows().filter(is_warning).count() as u64
}

fn without_schema(report: &Report) -> u64 {
    datasets::may_pass(report)
        .filter(|entry| entry.shape.decode_source == DecodeSource::None)
        .map(|entry| entry.shape.events)
        .sum()
}

/// Rows whose payload is not decoded whole.
fn undecoded_rows(decode: &BTreeMap<String, u64>) -> u64 {
    let whole = |key: &str| matches!(key.rsplit('/').next(), Some("ok" | "padded"));
    decode.iter().filter(|(key, _)| !whole(key)).map(|(_, rows)| rows).sum()
}

impl TraceSummary {
    /// A recording with its end.
    pub(super) fn of(
        job: &Recording,
        status: &'static str,
        reason: Option<String>,
        result: Option<TraceResult>,
    ) -> Self {
        let inputs = job.inputs.iter().map(|input| input.path.display().to_string()).collect();
        TraceSummary { trace: job.name.clone(), status, reason, result, inputs }
    }

    /// That line for standard error.
    pub(super) fn entry(&self) -> Entry {
        Entry::info(self.line()).message(self.end()).trace(Some(&self.trace)).status(self.status)
    }

    /// One line: `boot: published, 1,234 events, lost: nothing`. The reason of a failure is said as an error.
    fn line(&self) -> String {
        format!("{}: {}", self.trace, self.end())
    }

    fn end(&self) -> String {
        let counts = self.result.as_ref().map_or(String::new(), |result| {
            format!(", {}, lost: {}", counted(result.events.found, "events"), result.lost.words())
        });
        let reason = self.reason.as_ref().filter(|_| matches!(self.status, "skipped" | "busy"));
        let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
        format!("{}{counts}{reason}", self.status)
    }
}

impl Summary {
    /// Of a run that starts.
    pub(super) fn of(run: RunFacts, output: &Path) -> Self {
        let output = output.display().to_string();
        let (input_bytes, output_bytes) = (0, 0);
        let (inputs, traces, quarantined, errors) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Summary { run, output, input_bytes, output_bytes, inputs, traces, quarantined, errors }
    }

    /// The run has ended: `found` are its inputs, as it calls them.
    pub(super) fn end(&mut self, exit_code: u8, found: &[String]) {
        let results = || self.traces.iter().filter_map(|trace| trace.result.as_ref());
        self.input_bytes = results().map(|result| result.input_bytes).sum();
        self.output_bytes = self
            .traces
            .iter()
            .filter(|trace| trace.status == "published")
            .filter_map(|trace| Some(trace.result.as_ref()?.bytes))
            .sum();
        let ended = self.traces.iter().map(|of| EndedTrace { trace: &of.trace, status: of.status, inputs: &of.inputs });
        let quarantined: Vec<_> = self.quarantined.iter().map(|bad| (&*bad.input, bad.trace.as_deref())).collect();
        self.inputs = ends(found, &ended.collect::<Vec<_>>(), &quarantined);
        self.run.end(exit_code);
    }

    /// How the traces ended, in one line: `3 traces: 2 published, 1 quarantined`.
    pub(super) fn ends(&self) -> String {
        let of = |status: &str| self.traces.iter().filter(|trace| trace.status == status).count();
        let ends = STATUSES.into_iter().map(|status| (of(status), status)).filter(|(count, _)| *count > 0);
        let ends: Vec<String> = ends.map(|(count, status)| format!("{} {status}", HumanCount(count as u64))).collect();
        let traces = counted(self.traces.len() as u64, "traces");
        if ends.is_empty() { traces } else { format!("{traces}: {}", ends.join(", ")) }
    }

    /// Where all issues of the traces stand that were read.
    pub(super) fn place_of_issues(&self) -> String {
        let mut published = self.traces.iter().filter(|trace| trace.status == "published");
        let output = self.output.trim_end_matches(['/', '\\']);
        match (published.next(), published.next()) {
            (None, _) => "`etl2parquet inspect` lists them".to_owned(),
            (Some(one), None) => format!("all stand in {output}/trace={}/sidecar/issues.parquet", one.trace),
            (Some(_), Some(_)) => format!("all stand in {output}/trace=*/sidecar/issues.parquet"),
        }
    }

    /// A few lines for people; nothing when no recording got that far.
    pub(super) fn page(&self, width: Width) -> String {
        let results: Vec<&TraceResult> = self.traces.iter().filter_map(|trace| trace.result.as_ref()).collect();
        if results.is_empty() {
            return String::new();
        }
        let datasets = datasets::add_up(results.iter().flat_map(|result| result.datasets.iter().cloned()));
        let mut values = TextTable::of_values();
        totals(&results, &mut values);
        self.output_lines(&mut values);
        let missing = undecoded::table(&undecoded::add_up(results.iter().flat_map(|result| &result.undecoded)), width);
        let rows = datasets::table(&datasets, width);
        let tables = [rows, missing].into_iter().filter(|table| !table.is_empty());
        tables.map(|table| table + "\n").collect::<String>() + &values.render(width)
    }

    fn output_lines(&self, table: &mut TextTable) {
        let published = || self.traces.iter().filter(|trace| trace.status == "published");
        let results: Vec<&TraceResult> = published().filter_map(|trace| trace.result.as_ref()).collect();
        let Some(asked) = results.iter().map(|result| result.asked).reduce(Asked::or_earlier) else {
            return table.value("output", "none");
        };
        match results.as_slice() {
            [one] => {
                table.value("output", &one.folder);
                let name = published().next().map_or("", |trace| &trace.trace);
                next_steps::lines(&one.folder, &format!("{name}.html"), asked, table);
            }
            several => {
                table.value("output", format!("{} traces in {}", several.len(), self.output));
                next_steps::lines(&self.output, "pages", asked, table);
            }
        }
    }
}

fn totals(results: &[&TraceResult], table: &mut TextTable) {
    let total = |of: fn(&TraceResult) -> u64| results.iter().map(|result| of(result)).sum();
    let sum = |of: fn(&TraceResult) -> u64| HumanCount(total(of));
    let ranges = || results.iter().filter_map(|result| result.time.ns());
    let range = ranges().map(|range| range.0).min().zip(ranges().map(|range| range.1).max());
    let lost: Vec<&LossTotals> = results.iter().map(|result| &result.lost).collect();
    let time = TimeRange::of(range);
    let is_filtered = results.iter().any(|result| result.events.filtered > 0);
    let filtered = if is_filtered { format!(", {} filtered", sum(|r| r.events.filtered)) } else { String::new() };
    let (found, written) = (sum(|r| r.events.found), sum(|r| r.events.written));
    table.value("events", format!("{found} found, {written} written{filtered}"));
    if let (Some(first), Some(last), Some(range)) = (time.first_time, time.last_time, range) {
        table.value("time", format!("{first} to {last} ({})", span(range)));
    }
    table.value("lost", words_of_all(&lost));
    let advice = total(|r| r.advice.len() as u64);
    if advice > 0 {
        table.value("advice", format!("{}, see inspect or issues.parquet", HumanCount(advice)));
    }
    let rows: Option<u64> = results.iter().map(|result| result.undecoded_rows).sum();
    match rows {
        Some(rows) => table.value("undecoded", counted(rows, "rows")),
        None => table.value("no schema", counted(total(|r| r.events_without_schema), "events")),
    }
    let damaged = [(total(|r| r.events.damaged), "events"), (total(|r| r.events.damaged_bytes), "bytes")];
    table.value("damaged", damaged.map(|(count, things)| counted(count, things)).join(", "));
    table.value("warnings", sum(|r| r.warnings).to_string());
    let bytes = HumanBytes(results.iter().map(|result| result.bytes).sum());
    if results.iter().any(|result| result.files > 0) {
        table.value("files", format!("{}, {bytes}", sum(|r| r.files)));
    }
    if let Some(bytes) = datasets::estimated_bytes(results.iter().flat_map(|result| &result.datasets)) {
        let partitions = results.iter().filter_map(|result| result.partitions).sum();
        table.value("estimated", format!("{} in {}", HumanBytes(bytes), counted(partitions, "partitions")));
    }
}

#[cfg(test)]
mod tests {
    use columnar::output::manifest::FileEntry;

    use super::*;
    use crate::cli::loss::tests::totals;

    fn file(path: &str, rows: u64) -> FileEntry {
        FileEntry { path: path.to_owned(), rows, bytes: 1000, ..FileEntry::default() }
    }

    fn result(name: &str, files: &[FileEntry], events_lost: Result<u64, &str>) -> TraceSummary {
        let datasets = datasets::written(files);
        let rows = datasets.iter().map(|dataset| dataset.rows).sum();
        let result = TraceResult {
            folder: format!("out/trace={name}"),
            input_bytes: 1 << 16,
            time: TimeRange::of(Some((0, 1_500_000_000))),
            events: EventCounts { found: rows + 1, written: rows, damaged: 1, ..EventCounts::default() },
            lost: LossTotals { known_buffers: events_lost.unwrap_or(0), ..totals(events_lost, &[]) },
            decode: BTreeMap::from([("pack/ok".to_owned(), rows.saturating_sub(1)), ("none/no_schema".to_owned(), 1)]),
            undecoded_rows: Some(1),
            events_without_schema: 1,
            undecoded: Vec::new(),
            advice: Vec::new(),
            warnings: 0,
            datasets,
            partitions: Some(1),
            files: files.len() as u64,
            bytes: files.iter().map(|file| file.bytes).sum(),
            asked: Asked::first_of(&[]),
        };
        TraceSummary {
            trace: name.to_owned(),
            status: "published",
            reason: None,
            result: Some(result),
            inputs: vec![format!("{name}.etl")],
        }
    }

    fn summary(traces: Vec<TraceSummary>) -> Summary {
        Summary { traces, ..Summary::of(RunFacts::start(None), Path::new("out/")) }
    }

    #[test]
    fn rows_that_are_not_decoded_whole_are_counted() {
        let rows = ["pack/ok", "kernel/padded", "pack/short", "pack/extra", "user/error", "none/no_schema"];
        let decode = rows.iter().enumerate().map(|(at, key)| ((*key).to_owned(), 10_u64.pow(at.try_into().unwrap())));
        assert_eq!(undecoded_rows(&decode.collect()), 111_100);
    }

    #[test]
    fn one_trace_reads_like_this() {
        let mut files: Vec<_> =
            (1..=12).map(|n| file(&format!("events/P{n:02}/part-00000-00000.parquet"), n)).collect();
        files.push(file("events/It's/part-00000-00000.parquet", 123_456));
        let page = summary(vec![result("boot", &files, Ok(3))]).page(Width::UNBOUNDED);
        let expected = "  DATASET   EVENTS
  It's     123,456
  P12           12
  P11           11
  P10           10
  P09            9
  P08            8
  P07            7
  P06            6
  P05            5
  P04            4
  3 more         6

  events     123,535 found, 123,534 written
  time       1970-01-01T00:00:00.000000000Z to 1970-01-01T00:00:01.500000000Z (1.5 s)
  lost       3 events, 3 buffers
  undecoded  1 row
  damaged    1 event, 0 bytes
  warnings   0
  files      13, 12.70 KiB
  output     out/trace=boot
  page       etl2parquet report out/trace=boot -o boot.html
  ask        etl2parquet views out/trace=boot all_events -o all_events.sql && duckdb -init all_events.sql -c \
\"SELECT count(*) AS events, provider, event_name FROM all_events GROUP BY ALL ORDER BY 1 DESC LIMIT 10\"
  ask more   etl2parquet views --help
";
        assert_eq!(page, expected.replace("\\\n", ""));
    }

    #[test]
    fn several_traces_add_up_and_unknown_losses_are_counted() {
        let traces = vec![
            result("a", &[file("events/P/part-00000-00000.parquet", 5)], Ok(3)),
            result("b", &[file("events/P/part-00000-00000.parquet", 6)], Err("never closed")),
        ];
        assert_eq!(traces[1].line(), "b: published, 7 events, lost: unknown: never closed");
        let page = summary(traces).page(Width::UNBOUNDED);
        for line in [
            "  P            11\n",
            "  lost       3 events and 3 buffers known to be lost; 1 trace unknown\n",
            "  output     2 traces in out/\n",
            "  page       etl2parquet report out/ -o pages\n",
            "  ask        etl2parquet views out/ all_events -o all_events.sql && ",
        ] {
            assert!(page.contains(line), "{line:?} in\n{page}");
        }
    }

    #[test]
    fn what_was_not_converted_is_not_called_decoded() {
        let mut trace = TraceSummary { status: "dry_run", ..result("a", &[], Ok(0)) };
        let planned = trace.result.as_mut().unwrap();
        (planned.undecoded_rows, planned.events_without_schema) = (None, 1234);
        let page = summary(vec![trace]).page(Width::UNBOUNDED);
        assert!(page.contains("  no schema  1,234 events\n"), "{page}");
        assert!(
            !page.contains("undecoded") && !page.contains("files") && page.ends_with("  output     none\n"),
            "{page}"
        );
    }

    #[test]
    fn a_failed_trace_has_a_reason_and_no_numbers() {
        let failed = TraceSummary {
            trace: "bad".into(),
            status: "failed",
            reason: Some("no trace".into()),
            result: None,
            inputs: vec![],
        };
        assert_eq!(failed.line(), "bad: failed");
        let skipped = TraceSummary { status: "skipped", ..failed };
        assert_eq!(skipped.line(), "bad: skipped: no trace");
        let failed = TraceSummary { status: "failed", ..skipped };
        let summary = summary(vec![failed]);
        assert_eq!(summary.page(Width::UNBOUNDED), "");
    }
}
