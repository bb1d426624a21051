//! What came of a conversion: `--summary` as JSON, and the same facts in a few lines for people.

use std::collections::BTreeMap;
use std::path::Path;

use base::readable::count::counted;
use base::remote::Requests;
use columnar::output::manifest::EventCounts;
use conversion::convert::{Recording, Report};
use conversion::inspect::{LossTotals, TimeRange};
use conversion::plan::DecodeSource;
use conversion::sidecar::undecoded::{Undecoded, undecoded};
use conversion::sidecar::{IssueRow, answers, issues};
use conversion::survey::FileSurvey;
use serde::Serialize;

use super::asked::Asked;
use super::datasets::{self, DatasetSummary};
use super::input_ends::{EndedTrace, InputEnd, ends};
use super::notice::Notice;
use super::quarantine::BadInput;
use super::run_facts::RunFacts;
use super::warnings::is_warning;

/// What can become of a trace.
pub const STATUSES: [&str; 10] =
    ["published", "skipped", "busy", "dry_run", "empty", "gated", "quarantined", "failed", "interrupted", "not_begun"];

/// A run.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// The run.
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
    /// The recordings, with what became of each.
    pub traces: Vec<TraceSummary>,
    /// Inputs that could not be read as a trace.
    pub quarantined: Vec<QuarantinedInput>,
    /// Inputs that could not be read and failures, as their messages.
    pub errors: Vec<String>,
    /// What was asked of object stores; `None` where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stores: Option<Requests>,
    /// What had been asked of them before.
    #[serde(skip)]
    pub stores_before: Requests,
}

/// An input that could not be read as a trace.
#[derive(Debug, Serialize)]
pub struct QuarantinedInput {
    /// As the run calls it.
    pub input: String,
    /// The trace that it would have become; `None` where it was not got so far.
    pub trace: Option<String>,
    /// What is wrong with it, as a word that stays.
    pub code: String,
    /// The same for people.
    pub reason: String,
}

impl QuarantinedInput {
    /// The input, as it is recorded.
    pub fn of(bad: &BadInput<'_>) -> Self {
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
pub struct TraceSummary {
    /// What it is called.
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
pub struct TraceResult {
    /// Where it was written, or would have been.
    pub folder: String,
    /// Bytes of its inputs.
    pub input_bytes: u64,
    /// From its first to its last event.
    pub time: TimeRange,
    /// Its events.
    pub events: EventCounts,
    /// What it lost.
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
    /// Its datasets, most rows first.
    pub datasets: Vec<DatasetSummary>,
    /// Partitions of the recording; `None` where it was not cut.
    pub partitions: Option<u64>,
    /// Files written.
    pub files: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// What to ask of it first.
    #[serde(skip)]
    pub asked: Asked,
}

impl TraceResult {
    /// The counts of a report; `written` distinguishes rows in files from events that would have become rows.
    pub fn of(report: &Report, written: bool) -> Self {
        TraceResult {
            folder: report.folder.display().to_string(),
            input_bytes: report.files.iter().map(|file| file.identity.size).sum(),
            time: TimeRange::of(report.time_range),
            events: report.events,
            lost: LossTotals::of(&report.facts),
            decode: report.decode.clone(),
            undecoded_rows: (!report.decode.is_empty()).then(|| undecoded_rows(&report.decode)),
            events_without_schema: without_schema(report),
            undecoded: undecoded(&report.plan, &report.shapes),
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
    pub fn of(job: &Recording, status: &'static str, reason: Option<String>, result: Option<TraceResult>) -> Self {
        let inputs = job.inputs.iter().map(|input| input.address.display().to_string()).collect();
        TraceSummary { trace: job.name.clone(), status, reason, result, inputs }
    }

    /// Its end, to be said.
    pub fn notice(&self) -> Notice {
        Notice::info(self.line()).with_message(self.end()).with_trace(Some(&self.trace)).with_status(self.status)
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
    pub fn of(run: RunFacts, output: &Path) -> Self {
        let output = output.display().to_string();
        let (input_bytes, output_bytes) = (0, 0);
        let (inputs, traces, quarantined, errors) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (stores, stores_before) = (None, Requests::so_far());
        Summary { run, output, input_bytes, output_bytes, inputs, traces, quarantined, errors, stores, stores_before }
    }

    /// What the run has asked of object stores; `None` where it was nothing. Beside another run of the process it is what both have
    /// asked.
    pub fn asked_of_stores(&self) -> Option<Requests> {
        Some(Requests::so_far().since(self.stores_before)).filter(|asked| asked.requests > 0)
    }

    /// The run has ended: `found` are its inputs, as it calls them.
    pub fn end(&mut self, exit_code: u8, found: &[String]) {
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
        self.stores = self.asked_of_stores();
    }

    /// How the traces ended, in one line: `3 traces: 2 published, 1 quarantined`.
    pub fn ends(&self) -> String {
        let of = |status: &str| self.traces.iter().filter(|trace| trace.status == status).count();
        let ends = STATUSES.into_iter().map(|status| (of(status), status)).filter(|(count, _)| *count > 0);
        let ends: Vec<String> = ends.map(|(count, status)| counted(count as u64, status)).collect();
        let traces = counted(self.traces.len() as u64, "traces");
        if ends.is_empty() { traces } else { format!("{traces}: {}", ends.join(", ")) }
    }

    /// Where all issues of the traces stand that were read.
    pub fn place_of_issues(&self) -> String {
        let mut published = self.traces.iter().filter(|trace| trace.status == "published");
        let output = self.output.trim_end_matches(['/', '\\']);
        match (published.next(), published.next()) {
            (None, _) => "`etl2parquet inspect` lists them".to_owned(),
            (Some(one), None) => format!("all stand in {output}/trace={}/sidecar/issues.parquet", one.trace),
            (Some(_), Some(_)) => format!("all stand in {output}/trace=*/sidecar/issues.parquet"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_not_decoded_whole_are_counted() {
        let rows = ["pack/ok", "kernel/padded", "pack/short", "pack/extra", "user/error", "none/no_schema"];
        let decode = rows.iter().enumerate().map(|(at, key)| ((*key).to_owned(), 10_u64.pow(at.try_into().unwrap())));
        assert_eq!(undecoded_rows(&decode.collect()), 111_100);
    }
}
