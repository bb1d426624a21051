//! What came of a conversion, in a few lines for people.

use base::readable::count::{ByteCount, Count, counted};
use batch::Asked;
use batch::datasets::estimated_bytes;
use batch::summary::{Summary, TraceResult};
use batch::undecoded::add_up;
use conversion::inspect::{LossTotals, TimeRange, words_of_all};

use super::fold::Width;
use super::page::span;
use super::text_table::TextTable;
use super::{datasets, next_steps, undecoded};

/// A few lines for people; nothing when no recording got that far.
pub(super) fn page(summary: &Summary, width: Width) -> String {
    let results: Vec<&TraceResult> = summary.traces.iter().filter_map(|trace| trace.result.as_ref()).collect();
    if results.is_empty() {
        return String::new();
    }
    let datasets = batch::datasets::add_up(results.iter().flat_map(|result| result.datasets.iter().cloned()));
    let mut values = TextTable::of_values();
    totals(&results, &mut values);
    output_lines(summary, &mut values);
    if let Some(asked) = summary.asked_of_stores() {
        let (read, written) = (ByteCount(asked.bytes_read), ByteCount(asked.bytes_written));
        values.value("stores", format!("{}, {read} read, {written} written", counted(asked.requests, "requests")));
    }
    let missing = undecoded::table(&add_up(results.iter().flat_map(|result| &result.undecoded)), width);
    let rows = datasets::table(&datasets, width);
    let tables = [rows, missing].into_iter().filter(|table| !table.is_empty());
    tables.map(|table| table + "\n").collect::<String>() + &values.render(width)
}

fn output_lines(summary: &Summary, table: &mut TextTable) {
    let published = || summary.traces.iter().filter(|trace| trace.status == "published");
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
            table.value("output", format!("{} traces in {}", several.len(), summary.output));
            next_steps::lines(&summary.output, "pages", asked, table);
        }
    }
}

fn totals(results: &[&TraceResult], table: &mut TextTable) {
    let total = |of: fn(&TraceResult) -> u64| results.iter().map(|result| of(result)).sum();
    let sum = |of: fn(&TraceResult) -> u64| Count(total(of));
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
        table.value("advice", format!("{}, see inspect or issues.parquet", Count(advice)));
    }
    let rows: Option<u64> = results.iter().map(|result| result.undecoded_rows).sum();
    match rows {
        Some(rows) => table.value("undecoded", counted(rows, "rows")),
        None => table.value("no schema", counted(total(|r| r.events_without_schema), "events")),
    }
    let damaged = [(total(|r| r.events.damaged), "events"), (total(|r| r.events.damaged_bytes), "bytes")];
    table.value("damaged", damaged.map(|(count, things)| counted(count, things)).join(", "));
    table.value("warnings", sum(|r| r.warnings).to_string());
    let bytes = ByteCount(results.iter().map(|result| result.bytes).sum());
    if results.iter().any(|result| result.files > 0) {
        table.value("files", format!("{}, {bytes}", sum(|r| r.files)));
    }
    if let Some(bytes) = estimated_bytes(results.iter().flat_map(|result| &result.datasets)) {
        let partitions = results.iter().filter_map(|result| result.partitions).sum();
        table.value("estimated", format!("{} in {}", ByteCount(bytes), counted(partitions, "partitions")));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use batch::summary::TraceSummary;
    use batch::{RunFacts, datasets};
    use columnar::output::manifest::{EventCounts, FileEntry, LossCounts};

    use super::*;

    fn file(path: &str, rows: u64) -> FileEntry {
        FileEntry { path: path.to_owned(), rows, bytes: 1000, ..FileEntry::default() }
    }

    /// As many buffers as events, or why nobody knows.
    fn losses(lost: Result<u64, &str>) -> LossTotals {
        let counts = LossCounts {
            events_lost: lost.ok(),
            buffers_lost: lost.ok().map(|_| 0),
            unknown_because: lost.err().map(str::to_owned),
        };
        let known = lost.unwrap_or(0);
        LossTotals { counts, gaps: BTreeMap::new(), known_events: known, known_buffers: known }
    }

    fn result(name: &str, files: &[FileEntry], events_lost: Result<u64, &str>) -> TraceSummary {
        let datasets = datasets::written(files);
        let rows = datasets.iter().map(|dataset| dataset.rows).sum();
        let result = TraceResult {
            folder: format!("out/trace={name}"),
            input_bytes: 1 << 16,
            time: TimeRange::of(Some((0, 1_500_000_000))),
            events: EventCounts { found: rows + 1, written: rows, damaged: 1, ..EventCounts::default() },
            lost: losses(events_lost),
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
    fn one_trace_reads_like_this() {
        let mut files: Vec<_> =
            (1..=12).map(|n| file(&format!("events/P{n:02}/part-00000-00000.parquet"), n)).collect();
        files.push(file("events/It's/part-00000-00000.parquet", 123_456));
        let page = page(&summary(vec![result("boot", &files, Ok(3))]), Width::UNBOUNDED);
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
  ask        etl2parquet query out/trace=boot \
\"SELECT count(*) AS events, provider, event_name FROM all_events GROUP BY ALL ORDER BY 1 DESC LIMIT 10\"
  ask more   etl2parquet query --help
";
        assert_eq!(page, expected.replace("\\\n", ""));
    }

    #[test]
    fn several_traces_add_up_and_unknown_losses_are_counted() {
        let traces = vec![
            result("a", &[file("events/P/part-00000-00000.parquet", 5)], Ok(3)),
            result("b", &[file("events/P/part-00000-00000.parquet", 6)], Err("never closed")),
        ];
        assert_eq!(traces[1].notice().text, "b: published, 7 events, lost: unknown: never closed");
        let page = page(&summary(traces), Width::UNBOUNDED);
        for line in [
            "  P            11\n",
            "  lost       3 events and 3 buffers known to be lost; 1 trace unknown\n",
            "  output     2 traces in out/\n",
            "  page       etl2parquet report out/ -o pages\n",
            "  ask        etl2parquet query out/ \"SELECT ",
        ] {
            assert!(page.contains(line), "{line:?} in\n{page}");
        }
    }

    #[test]
    fn what_was_not_converted_is_not_called_decoded() {
        let mut trace = TraceSummary { status: "dry_run", ..result("a", &[], Ok(0)) };
        let planned = trace.result.as_mut().unwrap();
        (planned.undecoded_rows, planned.events_without_schema) = (None, 1234);
        let page = page(&summary(vec![trace]), Width::UNBOUNDED);
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
        assert_eq!(failed.notice().text, "bad: failed");
        let skipped = TraceSummary { status: "skipped", ..failed };
        assert_eq!(skipped.notice().text, "bad: skipped: no trace");
        let failed = TraceSummary { status: "failed", ..skipped };
        assert_eq!(page(&summary(vec![failed]), Width::UNBOUNDED), "");
    }
}
