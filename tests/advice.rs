//! Advice: what it says of traces made for each rule, and of real ones that lost events.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::fs;

use base::clock::ClockAnchor;
use base::progress::NoProgress;
use conversion::survey::{FileFacts, IssueCode, Severity, SurveyOptions};
use etl::input::MemoryInput;
use serde_json::Value;
use support::{Sandbox, corpus};
use synth::buffer::flag;
use synth::classic::lost_event;
use synth::*;

/// Mode bits.
const CIRCULAR: u32 = 0x2;
const NEWFILE: u32 = 0x8;
const KBYTES: u32 = 0x2000;
const RELOG: u32 = 0x1_0000;
const SYSTEM_LOGGER: u32 = 0x200_0000;
const ONE_STREAM: u32 = 0x1000_0000;

/// Ticks of a millisecond.
const MS: i64 = 10_000;

/// The advice on a trace: codes and texts, in their order.
fn advice(bytes: Vec<u8>) -> Vec<(&'static str, String)> {
    let options = SurveyOptions { anchor: ClockAnchor::Start, hash: false, ..SurveyOptions::default() };
    let input = MemoryInput::new("t.etl", bytes);
    let file = conversion::survey::survey(&input, "t.etl".to_owned(), &options, &NoProgress).unwrap();
    let facts = FileFacts::of(&[file], &NoProgress).unwrap().remove(0);
    assert!(facts.advice.iter().all(|advice| advice.severity == Severity::Advice));
    facts.advice.into_iter().map(|advice| (advice.code.as_str(), advice.message)).collect()
}

fn codes(bytes: Vec<u8>) -> Vec<&'static str> {
    advice(bytes).into_iter().map(|(code, _)| code).collect()
}

/// The text of one advice.
#[track_caller]
fn t(bytes: Vec<u8>, code: &str, expected: &str) {
    let found = advice(bytes);
    let text = found.iter().find(|(of, _)| *of == code).map(|(_, text)| text.as_str());
    assert_eq!(text, Some(expected), "{found:?}");
}

/// A buffer of 4 KiB with events of 1000 bytes at these milliseconds behind the start; four fill it.
fn filled(cpu: u16, sequence: i64, at: &[i64]) -> Buffer {
    let event = |ms: &i64| perfinfo64(0x0F22, T0 + ms * MS).payload([0; 984]);
    buffer(0x1000).cpu(cpu).sequence(sequence).events(at.iter().map(event))
}

/// Three full buffers of processor 1, in 1.1 seconds, and one event of processor 0.
fn burst(head: Header) -> Vec<u8> {
    let data = [
        filled(1, 1, &[1000, 1100, 1200, 1300]),
        filled(1, 2, &[1400, 1500, 1600, 1700]),
        filled(0, 3, &[1750]),
        filled(1, 4, &[1800, 1900, 2000, 2100]),
    ];
    trace(head.processors(2)).buffers(data).to_bytes()
}

#[test]
fn a_trace_that_lost_nothing_gets_none() {
    assert_eq!(codes(burst(header())), [""; 0]);
    assert_eq!(codes(trace(header()).to_bytes()), [""; 0]);
}

#[test]
fn full_buffers_ask_for_more() {
    t(
        burst(header().events_lost(5)),
        "advice_more_buffers",
        "5 events were lost, likely because all buffers were full. In its busiest second, from \
         2025-01-01T00:00:01.000000000Z, processor 1 recorded 8 events of 7.8 KiB, 1.9 buffers of 4 KiB. At 1000 bytes an \
         event, those lost take 4.8 KiB: room for 2 more buffers at least. More buffers (MaximumBuffers) or larger ones \
         (BufferSize) would likely have prevented it",
    );
    // Ten seconds for a buffer: a tenth of it falls into one.
    let slow = trace(header().events_lost(1)).buffer(filled(0, 1, &[0, 1, 2, 10_000])).to_bytes();
    t(
        slow,
        "advice_more_buffers",
        "1 event was lost, possibly because all buffers were full. In its busiest second, from \
         2025-01-01T00:00:00.000000000Z, processor 0 recorded 1 event of 400 bytes, 0.0 buffers of 4 KiB. At 1000 bytes an \
         event, those lost take 1000 bytes: room for 1 more buffer at least. More buffers (MaximumBuffers) or larger ones \
         (BufferSize) would possibly have prevented it",
    );
    // A flag does not say how many.
    let flagged = filled(0, 1, &[1, 2, 3, 4]).flags(flag::EVENTS_LOST);
    let found = advice(trace(header()).buffer(flagged).to_bytes());
    assert!(
        found[0].1.starts_with("Events were lost, and the file does not say how many, possibly because"),
        "{found:?}"
    );
    assert!(!found[0].1.contains("at least"), "{found:?}");
}

#[test]
fn modes_of_the_session_say_more() {
    let of = |mode: u32| codes(burst(header().log_file_mode(mode).events_lost(5)));
    assert_eq!(of(1), ["advice_more_buffers", "advice_event_size"]);
    assert_eq!(of(1 | SYSTEM_LOGGER), ["advice_more_buffers", "advice_minimum_buffers", "advice_event_size"]);
    assert_eq!(of(1 | ONE_STREAM), ["advice_more_buffers", "advice_per_processor_buffers", "advice_event_size"]);
    let series = advice(burst(header().log_file_mode(NEWFILE).events_lost(5)));
    assert!(series[0].1.starts_with("5 events were lost in this file or in its series, likely"), "{series:?}");
    t(
        burst(header().log_file_mode(1 | SYSTEM_LOGGER).events_lost(5)),
        "advice_minimum_buffers",
        "The session recorded events of the kernel, some of which are logged where no further buffer can be allocated: \
         MinimumBuffers, which are there from the start, should be raised with MaximumBuffers",
    );
    t(
        burst(header().log_file_mode(1 | ONE_STREAM).events_lost(5)),
        "advice_per_processor_buffers",
        "All processors share the buffers of the session (EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING), and there may be as few \
         as two of them. Without this mode there are at least two for each processor",
    );
}

#[test]
fn buffers_that_are_written_early_point_to_the_flush_timer() {
    let early = |count: i64| {
        let data =
            (1..=count).map(|n| filled(0, n, &[1000 * n])).chain([filled(0, count + 1, &[9001, 9002, 9003, 9004])]);
        trace(header().events_lost(5)).buffers(data).to_bytes()
    };
    assert!(!codes(early(7)).contains(&"advice_flush_timer"));
    t(
        early(8),
        "advice_flush_timer",
        "8 of 8 buffers were written before they were half full, likely by a FlushTimer. What is written so is missing from \
         the pool: a longer FlushTimer, or 0 in a session that logs to a file, leaves more room",
    );
}

#[test]
fn a_high_rate_points_to_the_disk() {
    // 17 events of 60,000 bytes each 100 milliseconds.
    let sustained = |buffers: i64| {
        let event = |n: i64, e: i64| perfinfo64(0x0F22, T0 + (100 * n + e) * MS).payload(vec![0; 59_984]);
        let data = (0..buffers).map(|n| buffer(0x10_0000).sequence(n + 1).events((0..17).map(|e| event(n, e))));
        trace(header().buffer_size(0x10_0000).events_lost(5)).buffers(data).to_bytes()
    };
    assert!(!codes(sustained(9)).contains(&"advice_write_rate"), "not even a second");
    t(
        sustained(21),
        "advice_write_rate",
        "The session recorded 10.1 MiB a second on the average, for 2 seconds. Where the disk does not take that much, more \
         buffers only delay the loss: a faster disk, one that nothing else writes to, or fewer events (keywords, levels, \
         providers) would prevent it",
    );
}

#[test]
fn buffers_with_room_point_to_large_events() {
    let one = |size: u32| {
        let data = buffer(size as usize).sequence(1).event(perfinfo64(0x0F22, T0 + 1).payload([0; 984]));
        trace(header().buffer_size(size).events_lost(3)).buffer(data).to_bytes()
    };
    t(
        one(0x1000),
        "advice_event_size",
        "3 events were lost, likely not for want of buffers: the fullest one was filled to 24 %. An event that is larger than \
         a buffer is never recorded, and buffers here have room for 4024 bytes: a BufferSize of 64 KB or more would likely \
         have prevented it",
    );
    t(
        one(0x1_0000),
        "advice_event_size",
        "3 events were lost, likely not for want of buffers: the fullest one was filled to 1 %. An event of more than 64 KB is \
         never recorded, whatever the settings: likely the provider would have to write smaller ones",
    );
    assert_eq!(codes(one(0x1000)), ["advice_event_size"]);
    t(
        burst(header().events_lost(5)),
        "advice_event_size",
        "An event that is larger than a buffer is never recorded, and buffers here have room for 4024 bytes. If one of those \
         lost was larger, a BufferSize of 64 KB or more would have prevented it",
    );
}

#[test]
fn lost_buffers_point_to_the_space_on_disk() {
    let would = "more space, or a MaximumFileSize that fits into it with the mode EVENT_TRACE_FILE_MODE_CIRCULAR, which keeps \
                 the latest, would likely have prevented it";
    let counted = "3 buffers could not be written, 12 KiB at most: likely the disk was full, or failed. MaximumFileSize is 0, \
                   no limit; ";
    t(burst(header().buffers_lost(3)), "advice_disk_space", &format!("{counted}{would}"));
    let flagged = trace(header().maximum_file_size(100)).buffer(filled(0, 1, &[1]).flags(flag::BUFFER_LOST)).to_bytes();
    let uncounted = "Buffers were lost, and the file does not say how many: likely the disk was full, or failed. \
                     MaximumFileSize is 100 MiB; ";
    t(flagged, "advice_disk_space", &format!("{uncounted}{would}"));
}

#[test]
fn a_file_of_its_maximum_size_has_an_end() {
    // Header buffer and four others: 20 KiB.
    let of = |mode: u32, kib: u32| burst(header().log_file_mode(mode | KBYTES).maximum_file_size(kib));
    t(
        of(1, 20),
        "advice_maximum_file_size",
        "The file has reached its MaximumFileSize of 20 KiB, where a sequential file ends: what came later was likely not \
         recorded. A larger one, 0 (no limit), EVENT_TRACE_FILE_MODE_CIRCULAR, which keeps the latest, or \
         EVENT_TRACE_FILE_MODE_NEWFILE, which goes on in another file, would have kept it",
    );
    for (mode, kib) in [(1, 24), (CIRCULAR, 20), (NEWFILE, 20)] {
        assert_eq!(codes(of(mode, kib)), [""; 0], "{mode:#x} {kib}");
    }
}

#[test]
fn notices_of_a_consumer_differ_from_losses_of_the_session() {
    let notices = filled(0, 1, &[1]).event(lost_event(32, T0 + 20 * MS)).event(lost_event(33, T0 + 30 * MS));
    let bytes = trace(header()).buffer(notices).to_bytes();
    assert_eq!(codes(bytes.clone()), ["advice_real_time_consumer"]);
    t(
        bytes,
        "advice_real_time_consumer",
        "A consumer of the session missed events (2 notices of RT_LostEvent): likely it took them more slowly than they came, \
         or not at all for a time. A consumer that only sets events aside, more or larger buffers, or a session that logs to a \
         file would likely have prevented it",
    );
}

#[test]
fn where_the_loss_is_unknown_it_is_said_how_to_know() {
    t(
        burst(header().not_closed()),
        "advice_session_stop",
        "The session was never closed: what it lost is unknown, and what was in its buffers is likely missing. A session that \
         is stopped before its file is taken (ControlTrace, logman stop, wpr -stop) writes both; a FlushTimer bounds what a \
         crash takes",
    );
    let merged = burst(header().log_file_mode(RELOG).events_lost(5).buffers_lost(2));
    assert_eq!(codes(merged.clone()), ["advice_merged_sources"]);
    t(
        merged,
        "advice_merged_sources",
        "A merged file does not say what its sources lost. Where they are kept, their headers do: --merge makes one trace of \
         them and keeps the ledger of each",
    );
}

#[test]
fn every_advice_has_its_place_in_the_documentation() {
    let page = include_str!("../docs/advice.md");
    let codes: Vec<&str> =
        IssueCode::ALL.iter().map(|code| code.as_str()).filter(|code| code.starts_with("advice_")).collect();
    assert_eq!(codes.len(), 11);
    for code in codes {
        assert_eq!(page.matches(&format!("| `{code}` |")).count(), 1, "{code}");
    }
}

#[test]
fn advice_is_reported_everywhere_and_decides_nothing() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &burst(header().events_lost(5)));
    let ran = sandbox.t("convert a.etl -o out --summary s.json --fail-on damage,disorder", 0);
    assert!(ran.err.contains("  advice     2, see inspect or issues.parquet\n"), "{}", ran.err);
    assert!(ran.err.contains("  warnings   0\n"), "{}", ran.err);
    let issues = sandbox.table("out/trace=a", "sidecar/issues");
    let rows: Vec<_> =
        (0..issues.rows.len()).map(|row| issues.row(row, "source severity code buffer offset time_ns")).collect();
    assert_eq!(rows, ["a.etl|advice|advice_more_buffers|-|-|-", "a.etl|advice|advice_event_size|-|-|-"]);
    let json = |text: &[u8]| serde_json::from_slice::<Value>(text).unwrap();
    let summary = json(&fs::read(sandbox.path("s.json")).unwrap());
    let advice = &summary["traces"][0]["result"]["advice"];
    assert_eq!((&advice[0]["code"], &advice[0]["severity"]), (&"advice_more_buffers".into(), &"advice".into()));
    assert_eq!(advice[0]["message"], issues.cell(0, "message"));
    let inspected = json(sandbox.t("inspect a.etl --json", 0).out.as_bytes());
    let file = inspected.pointer("/0/files/0").or(inspected.pointer("/traces/0/files/0")).unwrap();
    assert_eq!((&file["advice"], &file["findings"]), (advice, &Value::Array(Vec::new())));
    let page = sandbox.t("inspect a.etl", 0).out;
    assert!(
        page.contains("\nAdvice\n  5 events were lost, likely because") && page.contains("\nIssues\n  none\n"),
        "{page}"
    );
    sandbox.t("verify out", 0);
}

#[test]
fn real_traces_that_lost_events() {
    let Some(corpus) = corpus() else { return };
    let of = |name: &str| advice(fs::read(corpus.join(name)).unwrap());
    // Scripts of any length are payloads here, and no buffer was half full.
    let found = of("etlparser-AMSITrace.etl");
    let expected = "3 events were lost, likely not for want of buffers: the fullest one was filled to 46 %. An event of more \
                    than 64 KB is never recorded, whatever the settings: likely the provider would have to write smaller ones";
    assert_eq!(found, [("advice_event_size", expected.to_owned())]);
    let found = of("s4-WindowsUpdate.20251008.etl");
    let codes: Vec<&str> = found.iter().map(|(code, _)| *code).collect();
    assert_eq!(codes, ["advice_more_buffers", "advice_per_processor_buffers", "advice_event_size"]);
    let expected = "41 events were lost in this file or in its series, likely because all buffers were full. In its busiest \
                    second, from 2025-10-08T21:03:26.940371600Z, the session recorded 37 events of 11.2 KiB, 2.8 buffers of 4 \
                    KiB. At 284 bytes an event, those lost take 11.3 KiB: room for 3 more buffers at least. More buffers \
                    (MaximumBuffers) or larger ones (BufferSize) would likely have prevented it";
    assert_eq!(found[0].1, expected);
}
