//! What the survey says of losses, streams and order, on traces written for the purpose.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the numbers are written down a few lines above"
)]

mod synth;

use std::sync::atomic::{AtomicUsize, Ordering};

use base::progress::{NoProgress, Progress};
use conversion::sidecar::{Time, sessions};
use conversion::survey::loss::{self, Ledger, LossRow, Overwritten};
use conversion::survey::streams::{Stream, disorder};
use conversion::survey::{FileFacts, FileKey, FileSurvey, IssueCode, SurveyOptions, read_back, settle};
use etl::event::RawEvent;
use etl::input::MemoryInput;
use etl2parquet::ErrorKind;
use synth::buffer::flag;
use synth::classic::{RT_LOST_EVENT, lost_event};
use synth::header::last_dropped;
use synth::*;

/// `T0` in Unix nanoseconds: midnight of 2025-01-01 UTC.
const START_NS: i64 = 1_735_689_600_000_000_000;
/// Mode bits.
const APPEND: u32 = 0x4;
const CIRCULAR: u32 = 0x2;
const NEWFILE: u32 = 0x8;
const BUFFERING: u32 = 0x400;
const RELOG: u32 = 0x1_0000;
const ONE_STREAM: u32 = 0x1000_0000;

fn survey(bytes: &[u8]) -> FileSurvey {
    let options = SurveyOptions { anchor: base::clock::ClockAnchor::Start, hash: false, ..SurveyOptions::default() };
    let input = MemoryInput::new("t.etl", bytes.to_vec());
    conversion::survey::survey(&input, "t.etl".to_owned(), &options, &NoProgress).unwrap()
}

/// What the file says of losses.
fn ledger(file: &FileSurvey) -> Ledger {
    FileFacts::of(std::slice::from_ref(file), &NoProgress).unwrap().remove(0).ledger
}

fn streams(file: &FileSurvey) -> Vec<Stream> {
    FileFacts::of(std::slice::from_ref(file), &NoProgress).unwrap().remove(0).streams
}

/// An event at so many ticks of 100 ns behind the start.
fn at(ticks: i64) -> Kernel {
    perfinfo64(0x0F22, T0 + ticks).payload([0; 8])
}

/// A buffer with events at these ticks.
fn filled(cpu: u16, sequence: i64, ticks: &[i64]) -> Buffer {
    buffer(0x1000).cpu(cpu).sequence(sequence).events(ticks.iter().map(|&ticks| at(ticks)))
}

/// A row on one line: count and unit, processor, window in ticks behind the start, window in buffers, doubts.
fn line(row: &LossRow) -> String {
    let show = |value: Option<String>| value.unwrap_or_else(|| "?".to_owned());
    let ticks = |ns: Option<i64>| show(ns.map(|ns| ((ns - START_NS) / 100).to_string()));
    let number = |value: Option<u64>| show(value.map(|value| value.to_string()));
    format!(
        "{}{} {} cpu {} time {}..{} buffer {}..{}{}",
        if row.is_lower_bound { ">=" } else { "" },
        number(row.count),
        row.unit,
        show(row.cpu.map(|cpu| cpu.to_string())),
        ticks(row.from_ns),
        ticks(row.to_ns),
        number(row.from_buffer),
        number(row.to_buffer),
        if row.is_certain { "" } else { " possible" }
    )
}

/// The rows of one kind.
#[track_caller]
fn t(bytes: &[u8], kind: &str, expected: &[&str]) {
    let rows = ledger(&survey(bytes)).rows;
    let lines: Vec<String> = rows.iter().filter(|row| row.kind.as_str() == kind).map(line).collect();
    assert_eq!(lines, expected, "{kind}");
}

/// The end of the session: ten seconds behind its start.
const END: &str = "100000000";

#[test]
fn every_header_counter_has_a_row() {
    let closed = trace(header().events_lost(3)).to_bytes();
    t(&closed, "events_lost", &[&format!("3 events cpu ? time 0..{END} buffer ?..?")]);
    t(&closed, "buffers_lost", &[&format!("0 buffers cpu ? time 0..{END} buffer ?..?")]);
    t(&closed, "real_time_buffers_lost", &["? buffers cpu ? time ?..? buffer ?..? possible"]);
}

#[test]
fn counters_prove_nothing_in_open_and_merged_files() {
    let open = trace(header().not_closed()).to_bytes();
    t(&open, "events_lost", &["? events cpu ? time 0..? buffer ?..? possible"]);
    t(&open, "buffers_lost", &["? buffers cpu ? time 0..? buffer ?..? possible"]);
    let merged = trace(header().log_file_mode(RELOG).events_lost(2)).to_bytes();
    t(&merged, "events_lost", &[">=2 events cpu ? time ?..? buffer ?..?"]);
    t(&merged, "buffers_lost", &["? buffers cpu ? time ?..? buffer ?..? possible"]);
    let of_series = trace(header().log_file_mode(NEWFILE).events_lost(41)).to_bytes();
    t(&of_series, "events_lost", &["41 events cpu ? time ?..? buffer ?..?"]);
}

#[test]
fn a_healthy_trace_has_no_other_rows() {
    let bytes = trace(header()).buffer(filled(0, 1, &[10, 20])).buffer(filled(0, 2, &[30])).to_bytes();
    let kinds: Vec<_> = ledger(&survey(&bytes)).rows.iter().map(|row| row.kind.as_str()).collect();
    assert_eq!(kinds, ["events_lost", "buffers_lost", "real_time_buffers_lost"]);
}

#[test]
fn a_flagged_buffer_bounds_the_loss_of_its_processor() {
    let data = [
        filled(0, 1, &[10, 20]),
        filled(1, 2, &[15]).flags(flag::EVENTS_LOST),
        filled(0, 3, &[40, 50]).flags(flag::EVENTS_LOST | flag::BUFFER_LOST),
    ];
    let bytes = trace(header().processors(2)).buffers(data.clone()).to_bytes();
    let (first, second) = ("? events cpu 1 time 0..15 buffer ?..2", "? events cpu 0 time 20..40 buffer 1..3");
    t(&bytes, "buffer_flag_events_lost", &[first, second]);
    t(&bytes, "buffer_flag_buffer_lost", &["? buffers cpu 0 time 20..40 buffer 1..3"]);
    let one_stream = trace(header().log_file_mode(ONE_STREAM)).buffers(data).to_bytes();
    t(&one_stream, "buffer_flag_buffer_lost", &["? buffers cpu ? time 15..40 buffer 2..3"]);
}

#[test]
fn an_empty_flagged_buffer_reaches_to_the_next_with_events() {
    let data = [filled(0, 1, &[10]), filled(0, 2, &[]).flags(flag::EVENTS_LOST), filled(0, 3, &[30])];
    let bytes = trace(header()).buffers(data).to_bytes();
    t(&bytes, "buffer_flag_events_lost", &["? events cpu 0 time 10..30 buffer 1..2"]);
}

#[test]
fn the_writer_of_test_traces_marks_the_buffer_behind_a_loss() {
    let mut session = Session::new(2, 0x1000);
    session.log(0, T0 + 10, at(10));
    session.log(1, T0 + 11, at(11));
    session.lose_events(1, T0 + 20);
    session.log(1, T0 + 30, at(30));
    let bytes = trace(header().processors(2)).buffers(session.finish(T0 + 40)).to_bytes();
    t(&bytes, "buffer_flag_events_lost", &["? events cpu 1 time 11..30 buffer 1..2"]);
}

#[test]
fn missing_numbers_are_possible_losses() {
    // 2 and 3 are missing between buffers of different processors, 7 before a buffer without events.
    let data = [
        filled(0, 1, &[10, 20]),
        filled(1, 4, &[30, 40]),
        filled(0, 6, &[25, 50]),
        filled(1, 5, &[60]),
        filled(0, 8, &[]),
        filled(0, 9, &[70]),
    ];
    let rows =
        [">=2 buffers cpu ? time 20..30 buffer 1..2 possible", ">=1 buffers cpu ? time 50..70 buffer 3..5 possible"];
    t(&trace(header().processors(2)).buffers(data.clone()).to_bytes(), "sequence_gap", &rows);
    // Without buffer 1 the first of a file lacks it, the successor of another file does not.
    let successor = |mode| trace(header().log_file_mode(mode)).buffers(data[1..].to_vec()).to_bytes();
    let from_start = ">=3 buffers cpu ? time 0..30 buffer 0..1 possible";
    let then = ">=1 buffers cpu ? time 50..70 buffer 2..4 possible";
    t(&successor(1), "sequence_gap", &[from_start, then]);
    t(&successor(NEWFILE), "sequence_gap", &[then]);
    t(&successor(CIRCULAR), "sequence_gap", &[then]);
    // Three buffers of 4 KiB of 8 MiB: such a ring has overwritten nothing.
    let with_room = header().log_file_mode(CIRCULAR).maximum_file_size(8);
    t(&trace(with_room).buffers(data[1..].to_vec()).to_bytes(), "sequence_gap", &[from_start, then]);
}

#[test]
fn a_ring_that_has_room_lacks_its_first_buffer() {
    // The first of three buffers is cut out of a file that nobody closed; those of two processors stand out of order.
    let data = [filled(2, 3, &[30]), filled(3, 2, &[20])];
    let head = header().processors(4).log_file_mode(CIRCULAR).maximum_file_size(10).not_closed();
    let bytes = trace(head).buffers(data).to_bytes();
    t(&bytes, "sequence_gap", &[">=1 buffers cpu ? time 0..20 buffer 0..2 possible"]);
    t(&bytes, "circular_overwrite", &[]);
}

#[test]
fn each_appended_session_has_its_own_numbers() {
    let data = [
        filled(0, 1, &[10]),
        filled(0, 3, &[20]),
        filled(0, 1, &[30]),
        filled(0, 2, &[40]),
        filled(0, 2, &[50]),
        filled(0, 5, &[60]),
    ];
    let rows = [
        ">=1 buffers cpu ? time 10..20 buffer 1..2 possible",
        ">=1 buffers cpu ? time 40..50 buffer 4..5 possible",
        ">=2 buffers cpu ? time 50..60 buffer 5..6 possible",
    ];
    t(&trace(header().log_file_mode(APPEND)).buffers(data).to_bytes(), "sequence_gap", &rows);
}

#[test]
fn very_many_stretches_of_numbers_are_reported_together() {
    // Every second number is missing: the first 9,999 by themselves, then 21 together.
    let data = (1..=10_020).map(|n| buffer(0x400).sequence(2 * n));
    let bytes = trace(header().buffer_size(0x400)).buffers(data).to_bytes();
    let rows = ledger(&survey(&bytes)).rows;
    let gaps: Vec<_> = rows.iter().filter(|row| row.kind.as_str() == "sequence_gap").collect();
    assert_eq!((gaps.len(), gaps.iter().filter_map(|row| row.count).sum::<u64>()), (10_000, 10_020));
    assert_eq!(gaps[9_999].evidence, "21 stretches of numbers from 19999 on that no buffer has");
    assert_eq!(
        (gaps[9_999].count, gaps[9_999].from_buffer, gaps[9_999].to_buffer),
        (Some(21), Some(9_999), Some(10_020))
    );
}

#[test]
fn notices_of_a_consumer_stand_before_the_affected_events() {
    let notice = |opcode, ticks| lost_event(opcode, T0 + ticks);
    let second = filled(1, 2, &[]).event(notice(32, 30)).event(notice(33, 31)).event(notice(32, 32)).event(at(33));
    let third = filled(1, 3, &[]).event(event64(RT_LOST_EVENT, 34, 0, T0 + 40).opcode(34)).event(at(50));
    let data = [filled(1, 1, &[10, 20]), second, third];
    let bytes = trace(header().processors(2)).buffers(data).to_bytes();
    let rows = [
        "? events cpu 1 time 20..32 buffer 1..2",
        "? buffers cpu 1 time 20..31 buffer 1..2",
        "? events cpu 1 time 33..40 buffer 2..3",
    ];
    t(&bytes, "lost_event_record", &rows);
    let evidence = |row: &LossRow| (row.kind.as_str() == "lost_event_record").then(|| row.evidence.clone());
    let first = ledger(&survey(&bytes)).rows.iter().find_map(evidence).unwrap();
    assert_eq!(first, "RT_LostEvent with opcode 32, 2 in this buffer");
}

#[test]
fn an_event_that_could_not_be_logged_is_an_instant() {
    let error: Vec<u8> = vec![8, 0, 0x0D, 0xC0, 1, 2, 3, 4];
    let data = [filled(0, 1, &[10]), filled(0, 2, &[20]).event(error.clone()).event(error).event(at(30))];
    let bytes = trace(header()).buffers(data).to_bytes();
    t(&bytes, "lost_event_record", &["2 events cpu 0 time 20..20 buffer 2..2"]);
}

#[test]
fn dropped_times_are_instants_of_their_processor() {
    let data = [filled(0, 1, &[10, 20]), filled(1, 2, &[12]), filled(0, 3, &[40]), filled(1, 4, &[14, 60])];
    let times = |times: [i64; 3]| {
        let head = trace(header().processors(2)).header_event(last_dropped(T0 + 1, &times));
        head.buffers(data.clone()).to_bytes()
    };
    t(&times([0, 0, 0]), "last_dropped_time", &[]);
    let between = "? events cpu 0 time 30..30 buffer 1..3";
    let within = "? events cpu 1 time 50..50 buffer 4..4";
    t(&times([T0 + 30, T0 + 50, 0]), "last_dropped_time", &[between, within]);
    // A processor without a stream, in a merged file say.
    t(&times([0, 0, T0 + 70]), "last_dropped_time", &["? events cpu 2 time 70..70 buffer ?..?"]);
}

#[test]
fn a_count_of_dropped_times_is_not_believed() {
    let mut record = last_dropped(T0 + 1, &[T0 + 30]).on_disk();
    record[0x10..0x14].fill(0xFF);
    let bytes = trace(header()).header_event(record).buffer(filled(0, 1, &[10])).to_bytes();
    t(&bytes, "last_dropped_time", &["? events cpu 0 time 30..30 buffer 1..?"]);
    let cut = perfinfo64(0x0052, T0 + 1).payload([1, 0, 0]);
    t(&trace(header()).header_event(cut).to_bytes(), "last_dropped_time", &[]);
}

#[test]
fn a_cut_file_lacks_bytes_and_buffers() {
    let data = [filled(0, 1, &[10, 20]), filled(1, 2, &[15, 25]), filled(0, 3, &[30, 40])];
    let whole = trace(header().processors(2)).buffers(data);
    // Two events of 24 bytes: the second is cut in the middle.
    let mut bytes = whole.to_bytes();
    damage::truncate(&mut bytes, 0x3000 + 72 + 24 + 12);
    t(&bytes, "truncated_tail", &[&format!(">=12 bytes cpu 0 time 30..{END} buffer 3..? possible")]);
    // The missing bytes and what is left of the event are counted once each.
    let unreadable = format!("12 bytes cpu 0 time 30..{END} buffer 3..3 possible");
    let event = format!(">=1 events cpu 0 time 30..{END} buffer 3..3 possible");
    t(&bytes, "damaged_event", &[&event, &unreadable]);

    let mut bytes = whole.to_bytes();
    damage::truncate(&mut bytes, 0x3800);
    t(&bytes, "truncated_tail", &[&format!(">=0 bytes cpu 0 time 40..{END} buffer 3..? possible")]);

    let mut bytes = whole.to_bytes();
    damage::truncate(&mut bytes, 0x3010);
    let fragment = format!(">=16 bytes cpu ? time 20..{END} buffer 2..? possible");
    t(&bytes, "truncated_tail", &[&format!("1 buffers cpu ? time 20..{END} buffer 2..? possible"), &fragment]);
}

#[test]
fn a_file_cut_between_buffers_lacks_those_the_header_counts() {
    let data = [filled(0, 1, &[10, 20]), filled(1, 2, &[15, 25])];
    let bytes = trace(header().processors(2).buffers_written(5)).buffers(data.clone()).to_bytes();
    t(&bytes, "truncated_tail", &[&format!("2 buffers cpu ? time 20..{END} buffer 2..? possible")]);
    // Of a third processor there is nothing at all.
    let bytes = trace(header().processors(3).buffers_written(5)).buffers(data.clone()).to_bytes();
    t(&bytes, "truncated_tail", &[&format!("2 buffers cpu ? time 0..{END} buffer 2..? possible")]);
    // An open session's count is stale.
    let open = header().not_closed().buffers_written(5);
    t(&trace(open).buffers(data).to_bytes(), "truncated_tail", &[]);
}

#[test]
fn unreadable_stretches_count_their_bytes() {
    let data = (1..=5).map(|n| filled(0, n, &[10 * n, 10 * n + 5]));
    let mut bytes = trace(header()).buffers(data).to_bytes();
    damage::noise(&mut bytes, 0x2000, 72, 1);
    damage::noise(&mut bytes, 0x3000, 72, 2);
    t(&bytes, "damaged_buffer", &["8192 bytes cpu ? time 15..40 buffer 2..3 possible"]);
    t(&bytes, "sequence_gap", &[">=2 buffers cpu ? time 15..40 buffer 1..4 possible"]);
    t(&bytes, "truncated_tail", &[]);
}

#[test]
fn compressed_data_that_does_not_expand_is_damage() {
    let data = [filled(0, 1, &[10, 20]), filled(0, 2, &[30, 40]).compressed(), filled(0, 3, &[50])];
    let whole = trace(header().log_file_mode(0x0400_0001)).buffers(data);
    let mut bytes = whole.to_bytes();
    let start = whole.buffer_positions()[2];
    let end = whole.buffer_positions()[3];
    // A match that reaches before the start of the data.
    bytes[start + 72..start + 76].fill(0xFF);
    bytes[start + 76..end].fill(0xFF);
    // Two events of 24 bytes.
    t(&bytes, "damaged_buffer", &["48 bytes cpu 0 time 20..50 buffer 2..3 possible"]);
}

#[test]
fn an_event_that_crosses_the_end_is_counted_and_so_are_its_bytes() {
    let whole = trace(header()).buffer(filled(0, 1, &[10, 20, 30])).buffer(filled(0, 2, &[40]));
    let mut bytes = whole.to_bytes();
    damage::cross_end(&mut bytes, 0x1000, whole.event_position(1, 1), 8);
    let rows = [">=1 events cpu 0 time 10..40 buffer 1..2 possible", "24 bytes cpu 0 time 10..40 buffer 1..2 possible"];
    t(&bytes, "damaged_event", &rows);
    let mut bytes = whole.to_bytes();
    damage::set_marker(&mut bytes, whole.event_position(1, 2), 0x1234_5678);
    t(&bytes, "damaged_event", &["24 bytes cpu 0 time 20..40 buffer 1..2 possible"]);
}

#[test]
fn every_damaged_byte_is_in_one_row() {
    let data = || (1..=40).map(|n| filled(n as u16 % 3, n, &[10 * n, 10 * n + 1, 10 * n + 2]));
    let clean = trace(header().processors(3)).buffers(data()).to_bytes();
    let mut is_damaged = 0;
    for seed in 0..200u64 {
        let mut bytes = clean.clone();
        let mut random = Random::new(seed);
        for _ in 0..5 {
            // The headers and the first events of the buffers: everything else is unused space.
            let place = 0x1000 * (1 + random.below(40u64)) + random.below(140u64);
            damage::noise(&mut bytes, place as usize, 4, seed);
        }
        let length = bytes.len() - random.below(0x2000u64) as usize;
        damage::truncate(&mut bytes, length);
        let file = survey(&bytes);
        let rows = ledger(&file).rows;
        assert_eq!(streams(&file).iter().map(|stream| stream.events).sum::<u64>(), file.events(), "seed {seed}");
        let kinds = ["truncated_tail", "damaged_buffer", "damaged_event"];
        let in_bytes = rows.iter().filter(|row| row.unit == "bytes" && kinds.contains(&row.kind.as_str()));
        assert_eq!(in_bytes.filter_map(|row| row.count).sum::<u64>(), file.damaged_bytes(), "seed {seed}");
        let events = rows.iter().filter(|row| row.unit == "events" && row.kind.as_str() == "damaged_event");
        assert_eq!(events.filter_map(|row| row.count).sum::<u64>(), file.damaged_events(), "seed {seed}");
        is_damaged += u32::from(file.is_damaged());
    }
    assert!(is_damaged > 100, "the noise must hit something: {is_damaged}");
}

/// The rows of the kind with their notes.
fn notes(bytes: &[u8], kind: &str) -> Vec<(String, &'static str)> {
    let rows = ledger(&survey(bytes)).rows;
    rows.into_iter().filter(|row| row.kind.as_str() == kind).map(|row| (row.evidence, row.note)).collect()
}

#[test]
fn a_wrapped_file_lacks_the_history_of_every_processor() {
    let buffers = || (1..=7).map(|n| filled(n as u16 % 2, n, &[10 * n, 10 * n + 5]));
    let ring = || circular(buffers(), 4);
    // 5, 6, 7 over 1, 2, 3: what is left is 5 and 7 of CPU 1, 4 and 6 of CPU 0.
    let head = header().processors(2).log_file_mode(CIRCULAR).buffers_written(8);
    let whole = trace(head.clone()).buffers(ring());
    let rows = [
        "3 buffers cpu ? time 0..50 buffer ?..1",
        "? buffers cpu 0 time 0..40 buffer ?..4",
        "? buffers cpu 1 time 0..50 buffer ?..1",
    ];
    t(&whole.to_bytes(), "circular_overwrite", &rows);
    t(&whole.to_bytes(), "sequence_gap", &[]);
    t(&whole.to_bytes(), "truncated_tail", &[]);
    assert_eq!(loss::overwritten(&survey(&whole.to_bytes())), Overwritten::Buffers(3));
    // What is damaged may have been counted, too.
    let mut damaged = whole.to_bytes();
    damage::set_marker(&mut damaged, whole.event_position(2, 1), 0x1234_5678);
    t(&damaged, "circular_overwrite", &rows.map(|row| format!("{row} possible")).each_ref().map(String::as_str));
}

#[test]
fn numbers_of_buffers_bound_what_a_ring_has_overwritten_and_prove_nothing() {
    // 60 numbers below the lowest, of which 5 were spent on buffers that were never written.
    let data = [filled(0, 63, &[30]), filled(0, 61, &[10]), filled(0, 62, &[20])];
    let ring = |head: Header| trace(head.log_file_mode(CIRCULAR | ONE_STREAM)).buffers(data.clone()).to_bytes();
    t(&ring(header().buffers_written(59)), "circular_overwrite", &["55 buffers cpu ? time 0..10 buffer ?..2"]);
    let open = ring(header().not_closed());
    t(&open, "circular_overwrite", &["? buffers cpu ? time 0..10 buffer ?..2 possible"]);
    let note = "so many at most: a number can be spent on a buffer that is never written";
    assert_eq!(notes(&open, "circular_overwrite"), [("no buffer has a number up to 60".to_owned(), note)]);
    assert_eq!(loss::overwritten(&survey(&open)), Overwritten::AtMost(60));
    // All that the header counts are there.
    t(&ring(header().buffers_written(4)), "circular_overwrite", &[]);
    // Four buffers of 4 KiB of 8 MiB: nothing can have been overwritten.
    for head in [header().not_closed(), header().buffers_written(59)] {
        let far = ring(head.maximum_file_size(8));
        t(&far, "circular_overwrite", &[]);
        assert_eq!(loss::overwritten(&survey(&far)), Overwritten::None);
    }
    let cut = ring(header().buffers_written(59).maximum_file_size(8));
    t(&cut, "truncated_tail", &[&format!("55 buffers cpu ? time 30..{END} buffer 3..? possible")]);
}

#[test]
fn numbers_beside_the_seam_are_as_likely_overwritten() {
    // 62 and 69 stand beside the oldest and the newest, 65 between others.
    let data = [68, 70, 61, 63, 64, 66, 67].map(|n| filled(0, n, &[n]));
    let ring = trace(header().log_file_mode(CIRCULAR | ONE_STREAM).buffers_written(68)).buffers(data).to_bytes();
    let seam = "beside the seam of the ring: as likely overwritten, or not yet written, as never filled";
    let plain = "a number can be spent on a buffer that was never filled";
    let rows = [(62, seam), (65, plain), (69, seam)].map(|(n, note)| (format!("no buffer has number {n}"), note));
    assert_eq!(notes(&ring, "sequence_gap"), rows);
}

#[test]
fn numbers_below_that_of_the_oldest_buffer_are_overwritten() {
    // Two of four processors filled their buffers, 21 and 40, for so long that those of the others had gone around by then.
    // Number 62 is missing between others.
    let buffers = [
        filled(0, 60, &[60, 62]),
        filled(1, 61, &[61, 63]),
        filled(2, 21, &[21, 64]),
        filled(0, 63, &[62, 66]),
        filled(3, 40, &[40, 67]),
        filled(1, 64, &[63, 68]),
        filled(0, 65, &[66, 69]),
        filled(1, 66, &[68, 70]),
        filled(0, 67, &[69, 71]),
    ];
    let rows = ["18 buffers cpu ? time 0..60 buffer 3..5 possible", "19 buffers cpu ? time 0..60 buffer 5..1 possible"];
    let note = "below the number of the buffer that was written first: overwritten, or never filled";
    let plain = "a number can be spent on a buffer that was never filled";
    for mode in [CIRCULAR, BUFFERING] {
        let head = header().processors(4).log_file_mode(mode).buffers_written(58);
        let ring = trace(head).buffers(buffers.clone()).to_bytes();
        let file = survey(&ring);
        let ledger = ledger(&file);
        let noted: Vec<_> = ledger.rows.iter().filter(|row| row.note == note).collect();
        assert_eq!(noted.iter().map(|row| line(row)).collect::<Vec<_>>(), rows);
        assert!(noted.iter().all(|row| row.kind == loss::LossKind::CircularOverwrite));
        assert_eq!(notes(&ring, "sequence_gap"), [("no buffer has number 62".to_owned(), plain)]);
    }
}

#[test]
fn a_ring_that_has_not_wrapped_lacks_nothing() {
    let data = [filled(0, 1, &[10]), filled(0, 2, &[20])];
    let bytes = trace(header().log_file_mode(CIRCULAR)).buffers(data.clone()).to_bytes();
    t(&bytes, "circular_overwrite", &[]);
    let in_memory = trace(header().log_file_mode(BUFFERING | ONE_STREAM)).buffers(data);
    t(&in_memory.to_bytes(), "circular_overwrite", &["? buffers cpu ? time 0..10 buffer ?..1 possible"]);
}

#[test]
fn a_hole_in_a_series_is_a_missing_file() {
    let member = |number: i64| {
        let head = header().log_file_mode(NEWFILE).file(&format!("C:\\Logs\\log{number}.etl"));
        let first = 10 * number;
        let data = [filled(0, first, &[10 * first]), filled(0, first + 1, &[10 * first + 5])];
        survey(&trace(head.time(T0 + 10 * first).start_time(START + 10 * first)).buffers(data).to_bytes())
    };
    let mut files = [4, 1, 2].map(member);
    let ledgers = FileFacts::of(&files, &NoProgress).unwrap().into_iter().map(|file| file.ledger).collect::<Vec<_>>();
    let reasons: Vec<_> = ledgers.iter().map(|ledger| ledger.unknown_because).collect();
    assert_eq!(reasons, [None, None, Some("a file of its series is missing")]);
    let rows: Vec<_> = ledgers.iter().flat_map(|ledger| &ledger.rows).filter(|row| row.unit == "files").collect();
    assert_eq!(
        rows.iter().map(|row| line(row)).collect::<Vec<_>>(),
        ["1 files cpu ? time 205..400 buffer 2..? possible"]
    );
    let evidence = "no input has the number 3 of the series, and none a buffer with the numbers 22 to 39";
    assert_eq!((rows[0].kind.as_str(), rows[0].evidence.as_str()), ("missing_file", evidence));
    settle(&mut files);
    assert_eq!(files.each_ref().map(|file| file.issues.count(IssueCode::MissingFile)), [0, 0, 1]);
    // What was before the first and behind the last nobody knows.
    assert_eq!(
        FileFacts::of(&[5, 4].map(member), &NoProgress)
            .unwrap()
            .iter()
            .filter_map(|file| file.ledger.unknown_because)
            .count(),
        0
    );
}

#[test]
fn a_clock_that_is_set_between_buffers_is_an_issue() {
    let hour = 36_000_000_000;
    let issues = |head: Header, first: &[i64], second: &[i64]| {
        let start = if head.clock == 2 { START } else { T0 };
        let of = |sequence, ticks: &[i64]| {
            let events = ticks.iter().map(|&ticks| perfinfo64(0x0F22, start + ticks).payload([0; 8]));
            buffer(0x1000).sequence(sequence).events(events)
        };
        let mut files = [survey(&trace(head.time(start)).buffers([of(1, first), of(2, second)]).to_bytes())];
        settle(&mut files);
        let facts = files[0].disorder;
        let rows: Vec<_> =
            files[0].issues.rows().map(|f| (f.code.as_str(), f.buffer, f.ticks.map(|t| t - start))).collect();
        (rows, facts.largest_step_back_ns, facts.largest_step_forward_ns)
    };
    let system = || header().clock(2);
    let back = vec![("step_back", Some(2), Some(10 - hour))];
    assert_eq!(issues(system(), &[10, 20], &[10 - hour, 30]), (back.clone(), 3_600_000_001_000, 1000));
    assert_eq!(issues(header(), &[10, 20], &[10 - hour, 30]).0, back);
    let forward = vec![("step_forward", Some(2), Some(20 + hour))];
    assert_eq!(issues(system(), &[10, 20], &[20 + hour]), (forward, 0, 3_600_000_000_000));
    // A pause: the counter cannot be set.
    assert_eq!(issues(header(), &[10, 20], &[20 + hour]).0, []);
    assert_eq!(issues(system(), &[10, 20], &[20 + hour / 10]).0, []);
    // Between two sessions nobody recorded.
    let appended = || system().log_file_mode(APPEND);
    let data = [1, 1].map(|n| buffer(0x1000).sequence(n));
    let [first, second] = data;
    let at = |ticks| perfinfo64(0x0F22, START + ticks).payload([0; 8]);
    let bytes = trace(appended().time(START)).buffers([first.event(at(10)), second.event(at(30 * hour))]).to_bytes();
    let mut files = [survey(&bytes)];
    settle(&mut files);
    assert_eq!(files[0].disorder.largest_step_forward_ns, 1000);
    assert_eq!(files[0].issues.rows().count(), 0);
}

#[test]
fn a_step_back_by_the_time_zone_is_local_time() {
    const SET_BACK: &str = ": the system clock was set back";
    const LOCAL: &str = ", by the recorded time zone: times before are local, and not UTC";
    let minute = 600_000_000;
    let cause = |bias: i32, back: i64| {
        let of = |sequence, ticks| {
            buffer(0x1000).sequence(sequence).event(perfinfo64(0x0F22, START + ticks).payload([0; 8]))
        };
        let mut head = header().clock(2).time(START);
        head.time_zone.bias = bias;
        let mut files = [survey(&trace(head).buffers([of(1, 0), of(2, -back)]).to_bytes())];
        settle(&mut files);
        let issue = files[0].issues.rows().find(|issue| issue.code.as_str() == "step_back").unwrap();
        issue.message.split("here most").nth(1).unwrap().split(';').next().unwrap().to_owned()
    };
    // East of Greenwich by 8 hours, or by 9 in summer; a minute may pass between two buffers.
    for (bias, minutes, expected) in [
        (-480, 480, LOCAL),
        (-480, 479, LOCAL),
        (-480, 478, SET_BACK),
        (-480, 481, SET_BACK),
        (-480, 540, LOCAL),
        (480, 480, SET_BACK),
        (0, 60, LOCAL),
        (0, 1, SET_BACK),
    ] {
        assert_eq!(cause(bias, minutes * minute), expected, "{bias} {minutes}");
    }
}

#[test]
fn a_ring_begins_with_its_window() {
    let data = [filled(0, 5, &[50, 55]), filled(0, 4, &[40, 45])];
    let settled = |mode| {
        let bytes =
            trace(header().log_file_mode(mode | ONE_STREAM).buffers_written(6)).buffers(data.clone()).to_bytes();
        let files = [survey(&bytes)];
        let facts = FileFacts::of(&files, &NoProgress).unwrap().remove(0);
        let session = sessions::row(&files[0], &facts);
        let ticks = |time: Option<Time>| time.map(|Time(ns)| (ns - START_NS) / 100);
        let first_of_stream = facts.streams[0].first_ns.map(Time);
        let times =
            [session.first_event_time, session.window_start_time, session.last_event_time, first_of_stream].map(ticks);
        (times, session.wrapped)
    };
    assert_eq!(settled(CIRCULAR), ([Some(40), Some(40), Some(55), Some(40)], Some(true)));
    assert_eq!(settled(1), ([Some(0), Some(40), Some(55), Some(0)], Some(false)));
}

#[test]
fn streams_are_counted_apart() {
    // The header buffer is of processor 0; its event has 0x160 bytes with padding, an event of the others 24.
    let data = [
        filled(0, 1, &[10, 5, 20]),
        filled(2, 2, &[7]),
        filled(0, 3, &[19, 30]),
        filled(2, 4, &[]),
        filled(0, 6, &[18]),
    ];
    let file = survey(&trace(header().processors(3)).buffers(data.clone()).to_bytes());
    let found = streams(&file);
    let ns = |ticks: i64| Some(START_NS + 100 * ticks);
    assert_eq!(found.len(), 2);
    let (first, second) = (&found[0], &found[1]);
    assert_eq!((first.cpu, first.buffers, first.events), (Some(0), 4, 7));
    assert_eq!((first.first_ns, first.last_ns), (ns(0), ns(30)));
    assert_eq!(first.bytes_used, 4 * 72 + 0x160 + 6 * 24);
    assert!((first.fill_ratio - first.bytes_used as f64 / f64::from(4 * 0x1000)).abs() < 1e-12);
    // 5 follows 10; 19 comes before 20, and 18 before 30.
    assert_eq!((first.disorder_in_buffer, first.disorder_between_buffers, first.sequence_gaps), (1, 2, None));
    assert_eq!((second.cpu, second.buffers, second.events), (Some(2), 2, 1));
    assert_eq!((second.first_ns, second.last_ns, second.disorder_between_buffers), (ns(7), ns(7), 0));

    let shared = survey(&trace(header().log_file_mode(ONE_STREAM)).buffers(data).to_bytes());
    let found = streams(&shared);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].cpu, found[0].buffers, found[0].events), (None, 6, 8));
    // 7 before 20, 19 before 20, 18 before 30; number 5 is missing.
    assert_eq!((found[0].disorder_between_buffers, found[0].sequence_gaps), (3, Some(1)));
}

#[test]
fn disorder_is_reported_by_where_it_is() {
    let t = |data: &[Buffer]| {
        let found = disorder(&survey(&trace(header()).buffers(data.to_vec()).to_bytes()), &NoProgress).unwrap();
        (found.in_buffer, found.between_buffers, found.in_file, found.largest_step_back_ns)
    };
    assert_eq!(t(&[filled(0, 1, &[1, 2]), filled(0, 2, &[2, 3])]), (0, 0, 0, 0));
    assert_eq!(t(&[filled(0, 1, &[1, 9, 4, 3])]), (2, 0, 0, 500));
    // The buffers of two processors: out of order in the file, and in order by themselves.
    assert_eq!(t(&[filled(0, 1, &[5, 6]), filled(1, 2, &[1, 2])]), (0, 0, 1, 0));
    // In sequence order nothing overlaps.
    assert_eq!(t(&[filled(0, 2, &[5, 6]), filled(0, 1, &[1, 2])]), (0, 0, 1, 0));
    // An overlap with a buffer that is not the one before.
    assert_eq!(t(&[filled(0, 1, &[1, 20]), filled(0, 2, &[21]), filled(0, 3, &[14])]), (0, 1, 1, 700));
}

#[test]
fn events_are_read_again_by_their_place() {
    let data = [filled(0, 1, &[10, 20]), filled(1, 2, &[30, 40]).compressed(), filled(0, 3, &[50])];
    let bytes = trace(header().log_file_mode(0x0400_0001)).buffers(data).to_bytes();
    let (file, input) = (survey(&bytes), MemoryInput::new("t.etl", bytes));
    let key = |ordinal, offset| FileKey { ticks: 0, stream: 0, sequence: 0, ordinal, offset };
    let times = |keys: &[FileKey]| {
        let mut times = Vec::new();
        let visit = |index, event: &RawEvent<'_>| times.push((index, event.ticks().unwrap() - T0));
        read_back(&file, &input, keys, &NoProgress, visit).map(|()| times)
    };
    let keys = [key(3, 0), key(2, 24), key(0, 0), key(2, 0), key(2, 24)];
    assert_eq!(times(&keys).unwrap(), [(2, 0), (3, 30), (1, 40), (4, 40), (0, 50)]);
    assert_eq!(times(&[]).unwrap(), []);
    for gone in [key(9, 0), key(1, 4800), key(1, u32::MAX), key(1, 48)] {
        assert_eq!(times(&[gone]).unwrap_err().kind(), etl2parquet::ErrorKind::Internal, "{gone:?}");
    }
}

#[test]
fn holes_beyond_the_list_are_one_row_and_one_issue() {
    const HOLES: u64 = 10_030;
    const SIZE: usize = 0x400;
    let data = (1..=i64::try_from(2 * HOLES).unwrap()).map(|n| buffer(SIZE).sequence(n).event(at(n)));
    let mut bytes = trace(header().buffer_size(SIZE as u32)).buffers(data.collect::<Vec<_>>()).to_bytes();
    // Every other buffer, from the first one behind the header on.
    bytes.chunks_exact_mut(SIZE).skip(1).step_by(2).for_each(|hole| hole.fill(0xAB));
    let file = survey(&bytes);
    let lost = HOLES * SIZE as u64;
    assert_eq!((file.buffers.len() as u64, file.unreadable.listed().len()), (1 + HOLES, 10_000));
    assert_eq!((file.unreadable.bytes(), file.unreadable.lost_buffers()), (lost, HOLES));
    assert_eq!((file.damaged_bytes(), file.missing_buffers()), (lost, 0));
    let issues: Vec<_> = file.issues.rows().filter(|issue| issue.code == IssueCode::RegionsLeftOut).collect();
    let messages: Vec<_> = issues.iter().map(|issue| (issue.buffer, issue.offset, issue.message.as_str())).collect();
    let message =
        "in 30 more places, from here on, no buffer is read, 30720 bytes in all; they are not listed one by one";
    assert_eq!(messages, [(Some(20_001), Some(20_001 * SIZE as u64), message)]);
    let rows = ledger(&file).rows;
    let rows: Vec<_> = rows.iter().filter(|row| row.kind.as_str() == "damaged_buffer").collect();
    assert_eq!((rows.len(), rows.iter().filter_map(|row| row.count).sum::<u64>()), (10_001, lost));
    let last = rows.last().unwrap();
    assert_eq!(line(last), "30720 bytes cpu ? time 20000..20060 buffer 20001..20059 possible");
    assert_eq!(last.evidence, "30 more regions without a buffer that is read");
}

/// Counts how often it is asked whether to stop, and says so from one time on.
struct Looks {
    looked: AtomicUsize,
    stop_at: usize,
}

impl Progress for Looks {
    fn advance(&self, _amount: u64) {}

    fn is_cancelled(&self) -> bool {
        self.looked.fetch_add(1, Ordering::Relaxed) >= self.stop_at
    }
}

#[test]
fn an_interrupt_ends_what_is_done_for_every_buffer() {
    let data: Vec<Buffer> = (1..=300).map(|n| filled((n % 2) as u16, 301 - n, &[n]).flags(flag::EVENTS_LOST)).collect();
    let files = [survey(&trace(header().processors(2)).buffers(data).to_bytes())];
    let facts = |stop_at| {
        let looks = Looks { looked: AtomicUsize::new(0), stop_at };
        let done = FileFacts::of(&files, &looks);
        (done.map(drop).map_err(|error| error.kind()), looks.looked.into_inner())
    };
    let (done, looks) = facts(usize::MAX);
    assert_eq!(done, Ok(()));
    // To bring them into order, twice; to find gaps, twice; to find signs of loss; to see what overlaps.
    assert!(looks > 6 * 300, "{looks}");
    for stop_at in (0..looks).step_by(97) {
        assert_eq!(facts(stop_at), (Err(ErrorKind::Interrupted), stop_at + 1));
    }
}
