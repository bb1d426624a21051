//! The page of `inspect`: the facts of a trace for people.

use std::cmp::Reverse;
use std::fmt::Write as _;

use base::calendar::rfc3339;
use base::readable::count::{ByteCount, Count, counted};
use base::readable::printable::printable;
use base::readable::share::share;
use base::readable::time::{difference, duration};
use conversion::inspect::{InspectedDataset, InspectedInput, Inspection, Processes, TopEvents};
use conversion::sidecar::{AnswerRow, ClockRow, IssueRow, LossRow, SessionRow, StreamRow, Time};

use super::fold::{Width, wrapped};
use super::text_table::{Align, TextTable};
use super::{processes, top_events, undecoded};

/// Rows of the loss ledger and issues that are shown; the rest is a number.
const SHOWN: usize = 10;

/// Names of events that one line shows.
const FEW: usize = 3;

/// What stands where there is no value.
const NONE: &str = "-";

/// The whole page.
pub(super) fn page(inspection: &Inspection, width: Width) -> String {
    let mut page = String::new();
    for file in &inspection.files {
        page += &file_section(file, width);
    }
    page += &events(inspection, width);
    page += &providers(&inspection.providers, width);
    page += &details(inspection, width);
    if !inspection.undecodable.is_empty() {
        page += &section(
            &format!("Not decodable ({})", inspection.undecodable.len()),
            &undecoded::table(&inspection.undecodable, width),
        );
        let ways = undecoded::ways(&inspection.undecodable, width);
        if !ways.is_empty() {
            page += &section("A way to their columns", &ways);
        }
    }
    page += &section("Answers", &answers(&inspection.answers, width));
    page += &issues(&inspection.files, width);
    page
}

/// A heading, and what stands below it.
pub(super) fn section(title: &str, body: &str) -> String {
    format!("{title}\n{body}\n")
}

fn file_section(file: &InspectedInput, width: Width) -> String {
    let mut text = format!("{}\n\n", printable(&file.source));
    text += &section("Session", &session(&file.session, width));
    text += &section("File", &buffers(&file.session, width));
    text += &section("Clock", &clock(&file.clock, width));
    text += &section("Lost", &loss(file));
    if !file.advice.is_empty() {
        text += &section("Advice", &advice(&file.advice));
    }
    text += &section("Processors", &streams(&file.streams, width));
    text
}

fn session(session: &SessionRow, width: Width) -> String {
    let time = |time: Option<Time>, none: &str| time.map_or(none.to_owned(), |Time(ns)| rfc3339(ns));
    let bits = session.pointer_size.saturating_mul(8);
    let mut table = TextTable::of_values();
    table.value("name", session.logger_name.as_deref().unwrap_or(NONE));
    table.value("log file", session.log_file_name.as_deref().unwrap_or(NONE));
    table.value("system", format!("Windows {}, build {}", session.os_version, session.os_build));
    table.value("machine", format!("{bits} bits, {}", counted(session.cpu_count.into(), "processors")));
    table.value("mode", session.log_file_mode_names.join(", "));
    table.value("booted", time(session.boot_time, NONE));
    table.value("started", time(session.start_time, NONE));
    table.value("ended", time(session.end_time, "never closed"));
    let range = |first: Option<Time>, last: Option<Time>| Some((first?.0, last?.0));
    let events = range(session.first_event_time, session.last_event_time);
    if session.is_window() {
        table.value("window", events.map_or(NONE.to_owned(), window));
    } else {
        let recorded = range(session.start_time, session.end_time).or(events);
        table.value("duration", recorded.map_or(NONE.to_owned(), span));
    }
    table.render(width)
}

/// The window of a ring: `2025-01-01T00:00:00.000000000Z to … (1.5 s)`.
fn window((first, last): (i64, i64)) -> String {
    format!("{} to {} ({})", rfc3339(first), rfc3339(last), span((first, last)))
}

/// The length of a time range.
pub(super) fn span((first, last): (i64, i64)) -> String {
    if last < first { "ends before it begins".to_owned() } else { duration(last.abs_diff(first)) }
}

fn buffers(session: &SessionRow, width: Width) -> String {
    let yes = |yes: bool| if yes { "yes" } else { "no" };
    let written = Count(session.buffers_written.into()).to_string();
    let written = if session.closed { written } else { "unknown".to_owned() };
    let mut table = TextTable::of_values();
    table.value("size", format!("{} ({} bytes)", ByteCount(session.size), Count(session.size)));
    let found = Count(session.buffers_found);
    let each = ByteCount(session.buffer_size.into());
    table.value("buffers", format!("{found} found, {written} written, {each} each"));
    table.value("layout", session.layout_version.as_str());
    table.value("compressed", yes(session.compressed));
    table.value("cut off", yes(session.truncated));
    table.value("overwritten", session.wrapped.map_or("unknown", yes));
    if session.reached_maximum_size == Some(true) {
        table.value("full", format!("yes, at {}", ByteCount(session.maximum_file_size)));
    }
    table.render(width)
}

fn clock(clock: &ClockRow, width: Width) -> String {
    let rate = match &*clock.clock {
        "qpc" => format!("performance counter, {} ticks per second", number(clock.perf_frequency)),
        "system_time" => "system time, in 100 ns".to_owned(),
        _ => format!("processor cycles, {} MHz", number(clock.cpu_mhz.unwrap_or(0).into())),
    };
    let resolution =
        clock.resolution_ns.map_or(String::new(), |ns| format!(", steps of {}", duration(ns.unsigned_abs())));
    let mut table = TextTable::of_values();
    table.value("type", format!("{} (declared as {}): {rate}", clock.clock, clock.clock_type));
    table.value("quality", format!("{}{resolution}", clock.quality));
    table.value("anchor", clock.anchor.as_ref());
    table.value("by start time", rfc3339(clock.start_anchor_ns));
    table.value("by boot time", clock.boot_anchor_ns.map_or(NONE.to_owned(), rfc3339));
    table.value("difference", clock.anchor_difference_ns.map_or(NONE.to_owned(), difference));
    table.render(width)
}

fn number(value: i64) -> String {
    u64::try_from(value).map_or_else(|_| value.to_string(), |value| Count(value).to_string())
}

fn loss(file: &InspectedInput) -> String {
    let mut text = format!("  {}\n", file.loss.totals.words());
    let rows: Vec<&LossRow> = file.loss.ledger.iter().filter(|row| !row.is_counter()).collect();
    for row in rows.iter().take(SHOWN) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "    {}", printable(&gap(row)));
    }
    text + &rest(rows.len())
}

/// Each on a line.
fn advice(rows: &[IssueRow]) -> String {
    let lines = rows.iter().map(|advice| format!("  {} ({})", printable(&advice.message), advice.code));
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// A row of the ledger in words: `certain: at least 3 buffers on CPU 1 from … to … (sequence_gap: …)`.
fn gap(row: &LossRow) -> String {
    let certainty = if row.is_certain { "certain" } else { "possible" };
    let bound = if row.is_lower_bound { "at least " } else { "" };
    let count = match row.count {
        Some(count) => counted(count, &row.unit),
        None => format!("an unknown number of {}", row.unit),
    };
    let cpu = row.cpu.map_or(String::new(), |cpu| format!(" on processor {cpu}"));
    let time = match (row.from_time_ns, row.to_time_ns) {
        (Some(from), Some(to)) => format!(", {} to {}", rfc3339(from), rfc3339(to)),
        (Some(from), None) => format!(", after {}", rfc3339(from)),
        (None, Some(to)) => format!(", before {}", rfc3339(to)),
        (None, None) => String::new(),
    };
    let reasons = [row.kind.as_str(), row.evidence.as_str(), row.note.as_deref().unwrap_or_default()].map(str::trim);
    let reasons: Vec<&str> = reasons.into_iter().filter(|reason| !reason.is_empty()).collect();
    format!("{certainty}: {bound}{count}{cpu}{time} ({})", reasons.join(": "))
}

fn rest(rows: usize) -> String {
    if rows > SHOWN { format!("    and {} more\n", Count((rows - SHOWN) as u64)) } else { String::new() }
}

fn streams(streams: &[StreamRow], width: Width) -> String {
    let mut table = TextTable::new([
        ("CPU", Align::Right),
        ("BUFFERS", Align::Right),
        ("EVENTS", Align::Right),
        ("USED", Align::Right),
        ("FILLED", Align::Right),
        ("DISORDER IN", Align::Right),
        ("BETWEEN BUFFERS", Align::Right),
        ("GAPS", Align::Right),
    ]);
    for stream in streams {
        table.row([
            stream.cpu.map_or("any".to_owned(), |cpu| cpu.to_string()),
            Count(stream.buffers).to_string(),
            Count(stream.events).to_string(),
            ByteCount(stream.bytes_used).to_string(),
            format!("{:.0}%", stream.fill_ratio * 100.0),
            Count(stream.disorder_in_buffer).to_string(),
            Count(stream.disorder_between_buffers).to_string(),
            stream.sequence_gaps.map_or_else(|| "-".to_owned(), |gaps| Count(gaps).to_string()),
        ]);
    }
    table.render(width)
}

fn events(inspection: &Inspection, width: Width) -> String {
    let mut table = TextTable::of_values();
    table.value("readable", Count(inspection.events).to_string());
    table.value(
        "decodable",
        format!("{} ({})", Count(inspection.decodable_events), share(inspection.decodable_events, inspection.events)),
    );
    let (events, bytes) = (counted(inspection.damaged_events, "events"), counted(inspection.damaged_bytes, "bytes"));
    table.value("damaged", format!("{events}, {bytes}"));
    table.value("first", inspection.time.first_time.as_deref().unwrap_or(NONE));
    table.value("last", inspection.time.last_time.as_deref().unwrap_or(NONE));
    section("Events", &table.render(width))
}

fn providers(providers: &[InspectedDataset], width: Width) -> String {
    let mut table = TextTable::new([
        ("NAME", Align::Left),
        ("EVENTS", Align::Right),
        ("SHAPES", Align::Right),
        ("DECODABLE", Align::Right),
        ("FIRST", Align::Whole),
        ("LASTS", Align::Right),
    ]);
    for provider in providers {
        table.row([
            provider.dataset.clone(),
            Count(provider.events).to_string(),
            Count(provider.shapes).to_string(),
            share(provider.decodable_events, provider.events),
            provider.time.first_time.clone().unwrap_or_default(),
            provider.time.ns().map(span).unwrap_or_default(),
        ]);
    }
    section(&format!("Providers ({})", providers.len()), &table.render(width))
}

/// What it has most of, its processes, and what is notable of it.
fn details(inspection: &Inspection, width: Width) -> String {
    let Inspection { processes, notable, .. } = inspection;
    let providers: Vec<_> = inspection
        .providers
        .iter()
        .map(|provider| (&*provider.dataset, provider.events, &provider.top_events))
        .collect();
    most_frequent(&providers, width) + &running(processes, inspection.time.ns(), width) + &noted(notable, width)
}

/// The events that providers have most of.
pub(super) fn most_frequent(providers: &[(&str, u64, &TopEvents)], width: Width) -> String {
    if providers.is_empty() {
        return String::new();
    }
    section("Most frequent events", &top_events::table(providers, width))
}

/// Processes, where any are known. `time`: of the first and the last event.
pub(super) fn running(all: &Processes, time: Option<(i64, i64)>, width: Width) -> String {
    if all.process_count == 0 {
        return String::new();
    }
    let title = format!("Processes ({})", Count(all.process_count));
    section(&title, &processes::table(all, time, width))
}

/// Sentences, if there are any.
pub(super) fn noted(notable: &[String], width: Width) -> String {
    if notable.is_empty() {
        return String::new();
    }
    let lines = notable.iter().map(|note| format!("  {}", printable(note))).collect::<Vec<_>>().join("\n");
    section("Notable", &wrapped(&lines, width))
}

/// The questions that the trace can answer, and what to record for the others.
fn answers(answers: &[AnswerRow], width: Width) -> String {
    let mut table = TextTable::new([("QUESTION", Align::Left), ("EVENTS", Align::Right), ("FROM", Align::Left)]);
    let is_answerable = |row: &&AnswerRow| row.answerable;
    for row in answers.iter().filter(is_answerable) {
        let events = Count(row.events).to_string();
        table.row([row.question.to_string(), events, few(&row.event_names)]);
    }
    let mut needed = TextTable::new([("OTHER QUESTION", Align::Left), ("TO ANSWER IT, RECORD", Align::Left)]);
    for row in answers.iter().filter(|row| !row.answerable) {
        needed.row([row.question.to_string(), row.needed.clone().unwrap_or_default()]);
    }
    let has = |answerable| answers.iter().any(|row| row.answerable == answerable);
    let tables = [(has(true), table), (has(false), needed)];
    tables.iter().filter(|(has_rows, _)| *has_rows).map(|(_, table)| table.render(width)).collect()
}

/// The first names of a list.
fn few(names: &[String]) -> String {
    let more = names.len().saturating_sub(FEW);
    let shown = names.iter().take(FEW).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// The gravest issues of all files.
fn issues(files: &[InspectedInput], width: Width) -> String {
    let mut all: Vec<&IssueRow> = files.iter().flat_map(|file| &file.findings).collect();
    if all.is_empty() {
        return section("Issues", "  none\n");
    }
    all.sort_by_key(|issue| Reverse(issue.severity));
    let mut table = TextTable::new([
        ("SEVERITY", Align::Left),
        ("CODE", Align::Left),
        ("BUFFER", Align::Right),
        ("OFFSET", Align::Right),
        ("ISSUE", Align::Left),
    ]);
    for issue in all.iter().take(SHOWN) {
        table.row([
            issue.severity.name().to_owned(),
            issue.code.to_string(),
            issue.buffer.map_or(NONE.to_owned(), |buffer| Count(buffer).to_string()),
            issue.offset.map_or(NONE.to_owned(), |offset| format!("{offset:#x}")),
            issue.message.clone(),
        ]);
    }
    section(&format!("Issues ({})", all.len()), &(table.render(width) + &rest(all.len())))
}

#[cfg(test)]
mod tests {
    use conversion::survey::loss::LossKind;
    use conversion::survey::{IssueCode, Severity};

    use super::*;

    #[test]
    fn a_gap_reads_as_a_sentence() {
        let row = LossRow {
            source: "a.etl".to_owned(),
            kind: LossKind::SequenceGap,
            cpu: Some(1),
            from_time_ns: Some(0),
            to_time_ns: Some(1_000_000_000),
            from_buffer: Some(3),
            to_buffer: Some(4),
            count: Some(1200),
            unit: "buffers".into(),
            is_lower_bound: true,
            is_certain: true,
            evidence: "sequence 7 to 1208".to_owned(),
            note: None,
        };
        assert_eq!(
            gap(&row),
            "certain: at least 1,200 buffers on processor 1, 1970-01-01T00:00:00.000000000Z to \
             1970-01-01T00:00:01.000000000Z (sequence_gap: sequence 7 to 1208)"
        );
        let vague = LossRow {
            cpu: None,
            from_time_ns: None,
            count: None,
            is_lower_bound: false,
            is_certain: false,
            ..row.clone()
        };
        assert_eq!(
            gap(&vague),
            "possible: an unknown number of buffers, before 1970-01-01T00:00:01.000000000Z \
             (sequence_gap: sequence 7 to 1208)"
        );
        let one = LossRow { count: Some(1), cpu: None, from_time_ns: None, to_time_ns: None, ..row };
        assert_eq!(gap(&one), "certain: at least 1 buffer (sequence_gap: sequence 7 to 1208)");
    }

    #[test]
    fn grave_issues_come_first_and_the_rest_is_a_number() {
        let issue = |severity, code| IssueRow {
            source: "a.etl".to_owned(),
            severity,
            code,
            buffer: Some(1),
            offset: Some(0x8000),
            time_ns: None,
            message: "found\nit".to_owned(),
        };
        let mut all: Vec<_> = (0..SHOWN).map(|_| issue(Severity::Info, IssueCode::ZeroTail)).collect();
        all.push(issue(Severity::Error, IssueCode::DamagedEvent));
        all.sort_by_key(|issue| Reverse(issue.severity));
        assert_eq!(all[0].code, IssueCode::DamagedEvent);
        assert_eq!(rest(all.len()), "    and 1 more\n");
        assert_eq!(rest(SHOWN), "");
    }
}
