//! Damaged files: what is undamaged becomes rows, what is not is counted, and nothing stops the program.

#![allow(clippy::cast_possible_truncation, reason = "places in files of some KB")]
#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use base::progress::NoProgress;
use columnar::dataset::Compression;
use columnar::output::IfExists;
use conversion::convert::{InputFile, Outcome, Recording};
use conversion::job;
use etl2parquet::ErrorKind;
use support::{Converted, Sandbox, convert, options};
use synth::*;

/// An event of 24 bytes that is known by a number.
fn event(number: u8) -> Kernel {
    perfinfo64(0x0F99, T0 + i64::from(number)).payload([number; 8])
}

fn filled(sequence: i64, numbers: std::ops::Range<u8>) -> Buffer {
    buffer(0x1000).sequence(sequence).events(numbers.map(event))
}

/// Three buffers with the events 1 to 3, 4 to 6, and 7 to 9.
fn whole() -> Trace {
    trace(header()).buffers([filled(1, 1..4), filled(2, 4..7), filled(3, 7..10)])
}

/// The same with compressed buffers.
fn packed() -> Trace {
    let data = [filled(1, 1..4), filled(2, 4..7), filled(3, 7..10)];
    trace(header().log_file_mode(0x0400_0001)).buffers(data.map(Buffer::compressed))
}

/// The numbers of the events that became rows.
fn numbers(found: &Converted) -> Vec<u8> {
    let rows = found.all("payload");
    let number = |payload: &String| u8::from_str_radix(payload.get(..2)?, 16).ok();
    rows.iter().filter_map(number).collect()
}

/// Numbers of the rows, events that are counted as damaged, damaged bytes, codes of the issues.
#[track_caller]
fn t(bytes: &[u8], expected: &[u8], damaged: u64, damaged_bytes: u64, codes: &[&str]) -> Converted {
    let found = convert(bytes);
    assert_eq!(numbers(&found), expected);
    // The header event is a row, too.
    let rows = expected.len() as u64 + 1;
    assert_eq!(found.counts(), (rows + damaged, rows, 0, damaged, damaged_bytes));
    assert_eq!(found.sidecar("issues").lines("code"), codes);
    found
}

const ALL: [u8; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 9];

#[test]
fn whole_files_have_no_issues() {
    t(&whole().to_bytes(), &ALL, 0, 0, &[]);
    t(&packed().to_bytes(), &ALL, 0, 0, &[]);
    t(&trace(header()).to_bytes(), &[], 0, 0, &[]);
}

#[test]
fn a_truncated_last_buffer_gives_its_whole_events() {
    let cut = |length| {
        let mut bytes = whole().to_bytes();
        damage::truncate(&mut bytes, length);
        bytes
    };
    let last = 0x3000;
    // Within the unused space nothing is missing.
    t(&cut(last + 0x800), &ALL, 0, 0, &[]);
    t(&cut(last + 72 + 72), &ALL, 0, 0, &[]);
    // In the payload of the third event: 10 bytes are missing and 14 of it are left.
    t(&cut(last + 72 + 62), &ALL[..8], 1, 24, &["truncated_buffer", "damaged_event"]);
    // At the end of the second one, and within the marker of the third.
    t(&cut(last + 72 + 48), &ALL[..8], 0, 24, &["truncated_buffer"]);
    t(&cut(last + 72 + 50), &ALL[..8], 0, 24, &["truncated_buffer", "damaged_event"]);
    // Right behind the buffer's header, and within it.
    t(&cut(last + 72), &ALL[..6], 0, 72, &["truncated_buffer"]);
    t(&cut(last + 71), &ALL[..6], 0, 71, &["buffer_count_mismatch", "truncated_buffer"]);
    t(&cut(last + 1), &ALL[..6], 0, 1, &["buffer_count_mismatch", "truncated_buffer"]);
    t(&cut(last), &ALL[..6], 0, 0, &["buffer_count_mismatch"]);
}

#[test]
fn a_truncated_compressed_buffer_is_expanded_as_far_as_it_goes() {
    let trace = packed();
    let mut bytes = trace.to_bytes();
    let start = trace.buffer_positions()[3];
    // The flags and 26 literals: one event and the start of the next.
    damage::truncate(&mut bytes, start + 72 + 4 + 26);
    let found = convert(&bytes);
    assert!(numbers(&found).starts_with(&ALL[..7]), "{:?}", numbers(&found));
    assert!(found.report.events.damaged_bytes > 0);
}

#[test]
fn unused_space_behind_the_last_buffer_is_no_damage() {
    let mut bytes = whole().to_bytes();
    damage::zero_tail(&mut bytes, 0x2345);
    t(&bytes, &ALL, 0, 0, &["zero_tail"]);
    let mut bytes = packed().to_bytes();
    damage::zero_tail(&mut bytes, 77);
    t(&bytes, &ALL, 0, 0, &["zero_tail"]);
}

#[test]
fn buffers_of_an_older_recording_are_no_events_of_this_one() {
    let preallocated = header().log_file_mode(0x21).buffers_written(4);
    let data = [1..4, 4..7, 7..10].into_iter().zip(1..).map(|(numbers, n)| filled(n, numbers).time(T0 + 100));
    let mut bytes = trace(preallocated).buffers(data).to_bytes();
    damage::stale_tail(&mut bytes, [filled(4, 100..103).time(T0 - 5000), filled(5, 103..106).time(T0 - 4000)]);
    t(&bytes, &ALL, 0, 0, &["stale_tail"]);
}

#[test]
fn a_closed_session_that_has_counted_no_buffer_says_nothing_of_their_age() {
    let preallocated = header().log_file_mode(0x21).buffers_written(0);
    let data = [1..4, 4..7, 7..10].into_iter().zip(1..).map(|(numbers, n)| filled(n, numbers).time(T0 + 100));
    let whole = trace(preallocated).buffers(data);
    let mut bytes = whole.to_bytes();
    // The tick of the header event is later than all others.
    let tick = whole.event_position(0, 0) + 16;
    damage::overwrite(&mut bytes, tick, &i64::MAX.to_le_bytes());
    assert_eq!(numbers(&convert(&bytes)), ALL);
}

#[test]
fn zeros_between_buffers_are_a_gap() {
    let mut bytes = whole().to_bytes();
    bytes[0x2000..0x3000].fill(0);
    t(&bytes, &[1, 2, 3, 7, 8, 9], 0, 0x1000, &["damaged_buffer", "buffer_count_mismatch"]);
}

#[test]
fn a_bad_size_ends_a_buffer_and_no_other() {
    let trace = whole();
    let second = trace.event_position(2, 1);
    let with_size = |size| {
        let mut bytes = trace.to_bytes();
        damage::set_event_size(&mut bytes, second, size);
        bytes
    };
    // Two events of 24 bytes are left of the buffer.
    for size in [0, 1, 15, 49, 0x1000, 0xFFFF] {
        t(&with_size(size), &[1, 2, 3, 4, 6, 7, 8, 9], 1, 24, &["damaged_event"]);
    }
    let mut bytes = trace.to_bytes();
    damage::cross_end(&mut bytes, 0x2000, second, 1);
    t(&bytes, &[1, 2, 3, 4, 6, 7, 8, 9], 1, 24, &["damaged_event"]);
    // What is no event at all cannot be counted.
    let mut bytes = trace.to_bytes();
    damage::set_marker(&mut bytes, second, 0x1234_5678);
    t(&bytes, &[1, 2, 3, 4, 6, 7, 8, 9], 0, 24, &["damaged_event"]);
    // More counters than the event has bytes.
    let mut bytes = trace.to_bytes();
    bytes[second + 1] = 0x07;
    let found = t(&bytes, &[1, 2, 3, 4, 6, 7, 8, 9], 1, 24, &["damaged_event"]);
    // What was found again says so, and where it is not at all certain it is not found: times of another day.
    assert_eq!(found.all("recovered").iter().filter(|value| *value == "behind_damage").count(), 1);
    assert_eq!(found.sidecar("buffers").lines("recovered_events"), ["0", "0", "1", "0"]);
    damage::overwrite(&mut bytes, trace.event_position(2, 2) + 8, &(T0 + (1 << 41)).to_le_bytes());
    t(&bytes, &[1, 2, 3, 4, 7, 8, 9], 1, 48, &["damaged_event"]);
}

#[test]
fn a_size_that_swallows_other_events_is_noticed() {
    let trace = whole();
    // The first of three events of 24 bytes, with the size of two and of three.
    for (size, rows) in [(48, &[1, 2, 3, 4, 6, 7, 8, 9][..]), (72, &[1, 2, 3, 4, 7, 8, 9])] {
        let mut bytes = trace.to_bytes();
        damage::set_event_size(&mut bytes, trace.event_position(2, 0), size);
        t(&bytes, rows, 0, u64::from(size) - 24, &["damaged_event"]);
    }
    // The header event: its names end before the event behind it.
    let trace = trace.header_event(perfinfo64(0x0F99, T0).payload([1; 8]));
    let (header_event, second) = (trace.event_position(0, 0), trace.event_position(0, 1));
    let mut bytes = trace.to_bytes();
    let size = u16::try_from(second + 24 - header_event).unwrap();
    damage::set_event_size(&mut bytes, header_event, size);
    let found = convert(&bytes);
    // The layout of the header event does not describe what it swallowed.
    let codes = found.sidecar("issues").lines("code");
    assert_eq!((found.counts().4, codes), (24, vec!["damaged_event".to_owned(), "no_layout_fits".to_owned()]));
    assert_eq!(found.sidecar("issues").lines("offset")[0], second.to_string());
}

#[test]
fn what_a_compressed_buffer_hides_is_where_its_header_is() {
    // An event with the size of itself and the one behind it.
    let mut swallowing = event(4).on_disk();
    swallowing.extend(event(5).on_disk());
    damage::set_event_size(&mut swallowing, 0, 48);
    let mut second = buffer(0x1000).sequence(2).compressed();
    second.push(&swallowing);
    let trace = trace(header().log_file_mode(0x0400_0001)).buffers([filled(1, 1..4).compressed(), second]);
    let found = t(&trace.to_bytes(), &[1, 2, 3, 4], 0, 24, &["damaged_event"]);
    assert_eq!(found.sidecar("issues").lines("offset"), [trace.buffer_positions()[2].to_string()]);
}

#[test]
fn a_buffer_without_events_may_be_damaged() {
    let trace = whole();
    let mut bytes = trace.to_bytes();
    damage::set_event_size(&mut bytes, trace.event_position(2, 0), 3);
    t(&bytes, &[1, 2, 3, 5, 6, 7, 8, 9], 1, 24, &["damaged_event"]);
    damage::set_event_size(&mut bytes, trace.event_position(2, 1), 3);
    damage::set_event_size(&mut bytes, trace.event_position(2, 2), 3);
    t(&bytes, &[1, 2, 3, 7, 8, 9], 1, 72, &["damaged_event"]);
}

#[test]
fn a_bad_buffer_size_does_not_lead_astray() {
    // The other buffers tell how far apart they are, or the header event does.
    for (buffer, size) in [0, 0x2000, 0x3000].into_iter().flat_map(|at| SIZES.map(|size| (at, size))) {
        let mut bytes = whole().to_bytes();
        damage::set_buffer_size(&mut bytes, buffer, size);
        t(&bytes, &ALL, 0, 0, &["damaged_buffer_header"]);
    }
    // The buffer size of the header event.
    for size in SIZES {
        let mut bytes = whole().to_bytes();
        damage::overwrite(&mut bytes, 72 + 32, &size.to_le_bytes());
        t(&bytes, &ALL, 0, 0, &[]);
    }
    // In a compressed file, the next header does, or the end of the compressed data.
    let trace = packed();
    for (buffer, size) in (0..4).flat_map(|buffer| SIZES.map(|size| (buffer, size))) {
        let mut bytes = trace.to_bytes();
        damage::set_buffer_size(&mut bytes, trace.buffer_positions()[buffer], size);
        // Only that the file is too short for it does not show whether the size is wrong or the file is.
        let found = convert(&bytes);
        assert_eq!(numbers(&found), ALL, "buffer {buffer} of {size} bytes");
        assert_eq!(found.sidecar("issues").lines("code"), ["damaged_buffer_header"], "buffer {buffer} of {size} bytes");
    }
}

/// Sizes of buffers that are not those of these traces.
const SIZES: [u32; 9] = [0, 1, 71, 0x1FF, 0x900, 0x2000, 0x0010_1000, 0x0100_0001, u32::MAX];

#[test]
fn a_damaged_header_of_a_compressed_file_costs_one_buffer() {
    let trace = packed();
    let positions = trace.buffer_positions();
    for (place, with) in [(0x30, [0xFF; 4]), (0x34, [0xFF; 4]), (0x18, [0xFF; 4])] {
        let mut bytes = trace.to_bytes();
        damage::overwrite(&mut bytes, positions[2] + place + if place == 0x18 { 4 } else { 0 }, &with);
        let lost = (positions[3] - positions[2]) as u64;
        t(&bytes, &[1, 2, 3, 7, 8, 9], 0, lost, &["damaged_buffer", "buffer_count_mismatch"]);
    }
    // Zeros up to the next header, whose first byte is a zero, too.
    let mut bytes = trace.to_bytes();
    bytes[positions[2]..positions[3]].fill(0);
    let lost = (positions[3] - positions[2]) as u64;
    t(&bytes, &[1, 2, 3, 7, 8, 9], 0, lost, &["damaged_buffer", "buffer_count_mismatch"]);
}

/// [`whole`] in a preallocated file, with buffer times.
fn preallocated() -> Trace {
    let data = [1..4, 4..7, 7..10].into_iter().zip(1..).map(|(numbers, n)| filled(n, numbers).time(T0 + 100));
    trace(header().log_file_mode(0x21).buffers_written(4)).buffers(data)
}

#[test]
fn a_damaged_time_or_number_ends_no_preallocated_file() {
    // The number also says where the buffer stands in its stream.
    let plain = &["damaged_buffer_header"][..];
    for (place, value, codes) in
        [(0x10, T0 - 5000, plain), (0x10, 1, plain), (0x18, 0, &["damaged_buffer_header", "step_back"])]
    {
        let mut bytes = preallocated().to_bytes();
        damage::overwrite(&mut bytes, 0x2000 + place, &value.to_le_bytes());
        t(&bytes, &ALL, 0, 0, codes);
    }
    // A buffer of an older recording that was never written over is no end either.
    let old = filled(2, 4..7).time(T0 - 5000).on_disk();
    let mut bytes = preallocated().to_bytes();
    damage::overwrite(&mut bytes, 0x2000, &old);
    let event_time = trace(header()).buffer(filled(2, 4..7)).event_position(1, 0) - 0x1000 + 8;
    damage::overwrite(&mut bytes, 0x2000 + event_time, &(T0 - 6000).to_le_bytes());
    t(&bytes, &[1, 2, 3, 7, 8, 9], 0, 0x1000, &["damaged_buffer", "buffer_count_mismatch"]);
    // Nor is it where a session was never closed and what is old stands in front of what is new.
    let data = [1..4, 4..7].into_iter().zip(1..).map(|(numbers, n)| filled(n, numbers).time(T0 + 100));
    let mut bytes = trace(header().log_file_mode(0x21).not_closed()).buffers(data).to_bytes();
    bytes[0x1000..0x2000].copy_from_slice(&old);
    damage::overwrite(&mut bytes, 0x1000 + event_time, &(T0 - 6000).to_le_bytes());
    t(&bytes, &[4, 5, 6], 0, 0x1000, &["damaged_buffer", "not_closed", "advice_session_stop"]);
}

#[test]
fn what_a_closed_session_counted_must_be_there() {
    // The last buffer is gone, and what was preallocated behind it is not its place.
    for filler in [0, 0xFF] {
        let mut bytes = preallocated().to_bytes();
        bytes[0x3000..].fill(filler);
        bytes.resize(0x6000, filler);
        t(&bytes, &ALL[..6], 0, 0x1000, &["damaged_buffer", "buffer_count_mismatch", "zero_tail"]);
    }
}

#[test]
fn a_buffer_that_stands_twice_is_read_once() {
    for trace in [whole(), packed()] {
        let (bytes, positions) = (trace.to_bytes(), trace.buffer_positions());
        for (copied, behind) in [(1, 2), (1, 4), (3, 4)] {
            let end = positions.get(copied + 1).copied().unwrap_or(bytes.len());
            let copy = &bytes[positions[copied]..end];
            let at = positions.get(behind).copied().unwrap_or(bytes.len());
            let twice = [&bytes[..at], copy, &bytes[at..]].concat();
            t(&twice, &ALL, 0, copy.len() as u64, &["repeated_buffer"]);
        }
        // In the place of another.
    }
    let mut bytes = whole().to_bytes();
    bytes.copy_within(0x1000..0x2000, 0x2000);
    t(&bytes, &[1, 2, 3, 7, 8, 9], 0, 0x1000, &["repeated_buffer", "buffer_count_mismatch"]);
}

#[test]
fn a_hole_is_looked_at_once() {
    for filler in [0, 0xFF] {
        for trace in [whole(), packed()] {
            let mut bytes = trace.to_bytes();
            let hole = 32 << 20;
            let at = trace.buffer_positions()[3];
            bytes.splice(at..at, std::iter::repeat_n(filler, hole));
            let started = std::time::Instant::now();
            let found = convert(&bytes);
            // A quadratic search of so many buffers takes minutes.
            assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
            assert_eq!((numbers(&found), found.counts().4), (ALL.to_vec(), hole as u64));
        }
    }
}

#[test]
fn a_bad_end_of_the_data_is_clamped() {
    let with_offset = |offset| {
        let mut bytes = whole().to_bytes();
        damage::set_offset(&mut bytes, 0x2000, offset);
        bytes
    };
    // The events are still there, behind the end.
    for offset in [0, 1, 71, 72] {
        t(&with_offset(offset), &[1, 2, 3, 7, 8, 9], 0, 72, &["data_behind_end"]);
    }
    t(&with_offset(72 + 24), &[1, 2, 3, 4, 7, 8, 9], 0, 48, &["data_behind_end"]);
    // What lies between the events and the end is no event; and one byte behind the end of the buffer.
    t(&with_offset(0x1000), &ALL, 0, 0x1000 - 144, &["damaged_event"]);
    t(&with_offset(0x1001), &ALL, 0, 0x1001 - 144, &["buffer_end_out_of_range", "damaged_event"]);
    // Within the third event.
    t(&with_offset(72 + 60), &[1, 2, 3, 4, 5, 7, 8, 9], 1, 24, &["damaged_event", "data_behind_end"]);
    // No buffer is that large.
    let lost = &[1, 2, 3, 7, 8, 9];
    t(&with_offset(u32::MAX), lost, 0, 0x1000, &["damaged_buffer", "buffer_count_mismatch"]);
}

#[test]
fn garbage_instead_of_compressed_data() {
    let trace = packed();
    let (start, end) = (trace.buffer_positions()[2], trace.buffer_positions()[3]);
    // A match before the first byte.
    let mut bytes = trace.to_bytes();
    bytes[start + 72..end].fill(0xFF);
    t(&bytes, &[1, 2, 3, 7, 8, 9], 0, 72, &["unsupported_compression"]);
    // An expanded size that no buffer of the session has.
    let mut bytes = trace.to_bytes();
    damage::set_offset(&mut bytes, start, 0x1001);
    t(&bytes, &[1, 2, 3, 7, 8, 9], 0, 0x1001 - 72, &["unsupported_compression"]);
    // It expands, but to something else.
    let mut bytes = trace.to_bytes();
    bytes[start + 76] ^= 0xFF;
    bytes[start + 79] = 0;
    let found = convert(&bytes);
    assert_eq!(numbers(&found), [1, 2, 3, 7, 8, 9]);
    assert_eq!(found.counts().4, 72);
}

#[test]
fn a_session_that_was_never_closed() {
    let open = trace(header().not_closed()).buffers([filled(1, 1..4), filled(2, 4..7), filled(3, 7..10)]);
    let found = t(&open.to_bytes(), &ALL, 0, 0, &["not_closed", "advice_session_stop"]);
    assert_eq!(found.sidecar("sessions").row(0, "closed events_lost buffers_written end_time"), "false|-|0|-");
    // A stale count is no reason to stop either.
    let data = [filled(1, 1..4), filled(2, 4..7), filled(3, 7..10)];
    t(
        &trace(header().not_closed().buffers_written(1)).buffers(data).to_bytes(),
        &ALL,
        0,
        0,
        &["not_closed", "advice_session_stop"],
    );
}

#[test]
fn offsets_that_nobody_may_use_are_not_used() {
    let data = [(0, 0), (72, 72), (0xFFFF_FFFF, 0x1000)].into_iter().zip([1..4, 4..7, 7..10]).zip(1..);
    let data = data.map(|(((saved, current), numbers), n)| filled(n, numbers).stale_offsets(saved, current));
    t(&trace(header()).buffers(data).to_bytes(), &ALL, 0, 0, &[]);
}

#[test]
fn the_end_of_compressed_data_is_where_its_bytes_end() {
    let trace = packed();
    let second = trace.buffer_positions()[2];
    // The first of three events; the others are stored, too.
    let mut bytes = trace.to_bytes();
    damage::set_offset(&mut bytes, second, 72 + 24);
    let found = convert(&bytes);
    assert_eq!(numbers(&found), [1, 2, 3, 4, 7, 8, 9]);
    assert_eq!(found.sidecar("issues").lines("code"), ["data_behind_end"]);
    assert!(found.counts().4 > 0);
}

#[test]
fn alignment_may_hold_anything_and_unused_space_may_not() {
    let odd = |number: u8| perfinfo64(0x0F99, T0 + i64::from(number)).payload([number; 3]);
    let data = buffer(0x1000).sequence(1).padding(0xC0).unpadded_end().events((1..10).map(odd));
    t(&trace(header()).buffer(data.clone()).to_bytes(), &ALL, 0, 0, &[]);
    t(&trace(header()).buffer(data.clone().tail(0)).to_bytes(), &ALL, 0, 0, &[]);
    // Nine events of 24 bytes, the last one without its 5 bytes of alignment.
    let unused = 0x1000 - (72 + 9 * 24 - 5);
    t(&trace(header()).buffer(data.tail(0x5A)).to_bytes(), &ALL, 0, unused, &["data_behind_end"]);
}

#[test]
fn filler_within_the_data_is_damage() {
    let trace = whole();
    for filler in [0xFF, 0] {
        let mut bytes = trace.to_bytes();
        damage::set_offset(&mut bytes, 0x2000, 0x800);
        bytes[0x2000 + 72 + 48..0x3000].fill(filler);
        t(&bytes, &[1, 2, 3, 4, 5, 7, 8, 9], 0, 0x800 - 120, &["damaged_event"]);
    }
}

#[test]
fn the_program_says_so() {
    let sandbox = Sandbox::new();
    let trace = whole();
    let mut bytes = trace.to_bytes();
    damage::set_event_size(&mut bytes, trace.event_position(2, 1), 3);
    sandbox.file("bad.etl", &bytes);
    sandbox.file("good.etl", &trace.to_bytes());
    sandbox.t("convert good.etl -o out", 0);
    sandbox.t("convert bad.etl -o out", 4);
    assert_eq!(sandbox.table("out/trace=bad", "events/Kernel-PerfInfo").rows.len(), 8);
    sandbox.file("cut.etl", &trace.to_bytes()[..0x3000]);
    sandbox.t("convert cut.etl -o out", 4);
    sandbox.t("inspect cut.etl", 4);
    sandbox.t("convert cut.etl -o gated --fail-on damage", 5);
    let refused = sandbox.t("convert bad.etl -o gated --fail-on damage", 5);
    assert!(refused.err.contains("damaged"), "{}", refused.err);
    assert_eq!(sandbox.names("gated"), [""; 0]);
}

/// Converts whatever it is: a trace with all events accounted for, or a refusal of the input.
#[track_caller]
fn survives(sandbox: &Sandbox, bytes: &[u8], what: &str) -> Option<(u64, u64)> {
    let job = Recording { name: "t".to_owned(), inputs: vec![InputFile::new(sandbox.file("t.etl", bytes), "t.etl")] };
    let mut options = options(sandbox.path("out"));
    // One thread: these traces are tiny.
    (options.threads, options.if_exists, options.compression) = (1, IfExists::Replace, Compression::None);
    match job::convert(&job, &options, &NoProgress) {
        Ok(Outcome::Published(report)) => {
            let events = report.events;
            assert_eq!(events.found, events.written + events.damaged, "{what}");
            assert!(events.damaged_bytes <= 2 * bytes.len() as u64 + (16 << 20), "{what}: {events:?}");
            Some((events.written, events.damaged_bytes))
        }
        Ok(other) => panic!("{what}: {other:?}"),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Input, "{what}: {error}");
            None
        }
    }
}

/// All families of headers in buffers of 512 bytes, plain and compressed.
fn small(compressed: bool) -> Trace {
    const G: Guid = guid("00112233-4455-6677-8899-aabbccddeeff");
    let mut session = Session::new(2, 0x200);
    if compressed {
        session = session.compressed();
    }
    for n in 0..6 {
        let time = T0 + 10 * n;
        session.log(0, time, system64(0x0501, time).tid(7).pid(8).payload([1; 12]));
        session.log(1, time + 1, event64(G, 1, 0, time + 1).item(Item::ts_id(3)).item(Item::sid(5, &[21, 1])));
        session.log(0, time + 2, full32(G, 9, 1, time + 2).payload([2; 7]));
        session.log(1, time + 3, message(5).guid(G).time(time + 3).sequence(1).arguments([3; 5]));
        session.log(0, time + 4, message(6));
        session.log(1, time + 5, event64(G, 2, 0, time + 5).string_only("text"));
        session.log(0, time + 6, perfinfo64(0x0F2E, time + 6).pmc(&[1]).payload([4; 16]));
    }
    let mode = if compressed { 0x0400_0001 } else { 1 };
    let head = header().buffer_size(0x200).processors(2).log_file_mode(mode).session("s").file("f");
    trace(head).buffers(session.finish(T0 + 100))
}

#[test]
fn every_prefix_is_converted_or_refused() {
    let sandbox = Sandbox::new();
    for compressed in [false, true] {
        let trace = small(compressed);
        let bytes = trace.to_bytes();
        let boundaries = trace.buffer_positions().into_iter().flat_map(|at| [0, 1, 2, 72, 73, 74].map(|by| at + by));
        let mut lengths: Vec<usize> = (0..bytes.len()).step_by(97).collect();
        lengths.extend(boundaries.filter_map(|at| at.checked_sub(1)).filter(|&at| at <= bytes.len()));
        lengths.sort_unstable();
        let mut most = 0;
        for length in lengths {
            let rows = survives(&sandbox, &bytes[..length], &format!("{length} bytes")).map_or(0, |found| found.0);
            // A longer file never holds fewer events.
            assert!(rows >= most, "{length} bytes: {rows} after {most}");
            most = rows;
        }
        assert_eq!(survives(&sandbox, &bytes, "whole"), Some((43, 0)));
    }
}

#[test]
fn flips_and_overwrites_do_not_stop_the_program() {
    let sandbox = Sandbox::new();
    let originals = [small(false).to_bytes(), small(true).to_bytes()];
    let mut converted = 0;
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let mut bytes = originals[random.below(2_u8) as usize].clone();
        let end = bytes.len() as u64 - 16;
        let changes: Vec<_> = (0..=random.below(4_u8))
            .map(|_| (random.below(end) as usize, random.below(3_u8), random.below(8_u8), random.next()))
            .collect();
        for (at, kind, bit, noise) in changes {
            match kind {
                0 => damage::flip(&mut bytes, at, bit.into()),
                1 => damage::overwrite(&mut bytes, at, &[0xFF; 4][..=usize::from(bit) % 4]),
                _ => damage::noise(&mut bytes, at, 16, noise),
            }
        }
        converted += u32::from(survives(&sandbox, &bytes, &format!("seed {seed}")).is_some());
    }
    assert!(converted > 150, "most of these are still traces: {converted}");
}

#[test]
fn every_bit_of_the_headers_may_be_wrong() {
    let sandbox = Sandbox::new();
    let trace = small(false);
    let bytes = trace.to_bytes();
    let places = [0..72 + 32, 72 + 32..72 + 32 + 0x38, 72 + 0x110..72 + 0x140, 0x200..0x200 + 72 + 48];
    for at in places.into_iter().flatten() {
        for with in [0x80, 0xFF] {
            let mut bytes = bytes.clone();
            bytes[at] = with;
            survives(&sandbox, &bytes, &format!("{with:02x} at {at:#x}"));
        }
    }
}
