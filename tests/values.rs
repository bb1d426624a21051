//! Values in rows: which layout a kernel event is read with, and what becomes of those that none fits.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use support::{Converted, convert};
use synth::*;

const IMAGE: Guid = guid("2cb15d1d-5fc1-11d2-abe1-00a0c911f518");
const UNKNOWN: Guid = guid("00112233-4455-6677-8899-aabbccddeeff");

/// A trace with these events in one buffer.
fn converted(events: &[&dyn OnDisk]) -> Converted {
    let mut data = buffer(0x1000).sequence(1);
    events.iter().for_each(|event| data.push(&event.on_disk()));
    convert(&trace(header()).buffer(data).to_bytes())
}

const NAME: &str = "C:\\code\\a.exe";
#[test]
fn old_image_events_have_the_layouts_of_their_versions() {
    let v0 = payload().u32(0x0116_0000).u32(0x0019_e000).wstr(NAME);
    let v1 = payload().u32(0x0116_0000).u32(0x0019_e000).u32(7644).wstr(NAME);
    for opcode in [2, 3, 4, 10] {
        let events = [
            full32(IMAGE, opcode, 0, T0 + 1).payload(v0.clone()),
            full32(IMAGE, opcode, 1, T0 + 2).payload(v1.clone()),
        ];
        let table = converted(&[&events[0], &events[1]]).events("Kernel-Image");
        let rest = "decode_status payload";
        let old = table.row(0, &format!("BaseAddress ModuleSize ImageFileName {rest}"));
        assert_eq!(old, "18219008|1695744|C:\\code\\a.exe|ok|-", "{opcode}");
        let new = table.row(1, &format!("ImageBase ImageSize ProcessId FileName {rest}"));
        assert_eq!(new, "18219008|1695744|7644|C:\\code\\a.exe|ok|-", "{opcode}");
    }
}

#[test]
fn payloads_of_the_other_pointer_size_are_counted_and_kept() {
    let v0 = payload().u64(0x0116_0000).u32(0x0019_e000).wstr(NAME);
    let v1 = payload().u64(0x0116_0000).u64(0x0019_e000).u32(7644).wstr(NAME);
    let events = [1, 2, 3].map(|time| full32(IMAGE, 3, 0, T0 + time).payload(v0.clone()));
    let other = full32(IMAGE, 10, 1, T0 + 4).payload(v1.clone());
    let found = converted(&[&events[0], &events[1], &events[2], &other]);
    let table = found.events("Kernel-Image");
    let kept =
        [&v0, &v0, &v0, &v1].map(|payload| format!("error|{}", support::table::hex(&Vec::from((*payload).clone()))));
    assert_eq!(table.lines("decode_status payload"), kept);
    for column in ["BaseAddress", "ModuleSize", "ImageFileName", "ImageBase", "ProcessId", "FileName"] {
        assert!((0..4).all(|row| table.cell(row, column) == "-"), "{column}");
    }
    let issues = found.sidecar("issues");
    let lines: Vec<String> = (0..issues.rows.len())
        .filter(|&row| issues.cell(row, "code") == "pointer_size_mismatch")
        .map(|row| issues.row(row, "severity buffer offset message"))
        .collect();
    let text = |name: &str, count: u32| {
        format!(
            "warning|1|4096|{name}: the headers say pointers of 4 bytes, the payloads fit their description only with \
             pointers of 8; rows with the payload and without values: {count}"
        )
    };
    assert_eq!(lines, [text("Image/DCStart version 0", 3), text("Image/Load version 1", 1)]);
}

#[test]
fn an_unknown_newer_version_keeps_the_fields_that_it_begins_with() {
    let event = system64(0x0323, T0 + 1).payload(payload().u64(5).u32(6).u32(7));
    let newer = event.clone().version(9);
    let older = event.version(1);
    let table = converted(&[&newer, &older]).events("Kernel-Process");
    let lines = table.lines("event_name DirectoryTableBase ProcessId decode_status payload");
    let raw = "05000000000000000600000007000000";
    assert_eq!(lines, [format!("Process/InSwap|5|6|extra|{raw}"), format!("Process/InSwap|-|-|no_schema|{raw}")]);
}

#[test]
fn what_fits_no_sample_fills_no_columns() {
    // A byte too many, and one too few, for the version that they say.
    for payload in [vec![1; 13], vec![1; 11]] {
        let table = converted(&[&system64(0x0323, T0 + 1).payload(payload.clone())]).events("Kernel-Process");
        let raw = support::table::hex(&payload);
        assert_eq!(table.lines("DirectoryTableBase ProcessId decode_status payload"), [format!("-|-|error|{raw}")]);
    }
}

#[test]
fn spans_of_the_performance_counter_are_nanoseconds_too() {
    let read = payload().u32(0).u32(0).u32(512).u32(0).u64(4096).u64(1).u64(2).u64(25).u32(77);
    let event = perfinfo64(0x010A, T0 + 1).version(3).payload(read);
    let table = converted(&[&event]).events("Kernel-DiskIo");
    // 25 ticks of 100 ns.
    let lines = table.lines("HighResResponseTime HighResResponseTime_ns IssuingThreadId decode_status payload");
    assert_eq!(lines, ["25|2500|77|ok|-"]);
}

#[test]
fn context_switches_of_windows_11_have_their_fields() {
    let switch = payload().u32(1).u32(2).bytes(&[8, 9, 1, 3, 15, 0b010_0110, 5, 4]).u32(6).u32(7).u32(12);
    let event = perfinfo64(0x0524, T0 + 1).version(5).payload(switch);
    let table = converted(&[&event]).events("Kernel-Thread");
    let columns = "NewThreadId OldThreadId NewThreadPriorityDecrement OldThreadWaitReason ThreadFlags OldThreadState \
                   NewThreadWaitTime OldThreadRemainingQuantum Reserved2 decode_status";
    assert_eq!(table.lines(columns), ["1|2|3|15|38|5|6|7|12|ok"]);
}

#[test]
fn rows_without_bytes_lack_nothing() {
    let table = converted(&[&full64(UNKNOWN, 77, 0, T0 + 1), &full64(UNKNOWN, 77, 0, T0 + 2).payload([1])]);
    let table = table.events("00112233-4455-6677-8899-aabbccddeeff");
    assert_eq!(table.lines("decode_source decode_status payload"), ["none|ok|-", "none|no_schema|01"]);
}

#[test]
fn an_extension_follows_the_event_that_it_continues() {
    let events: Vec<Classic> =
        [(10, 1, T0 + 1, 0xA0), (10, 2, T0 + 1, 0xB0), (5, 1, T0 + 2, 0xA1), (5, 2, T0 + 2, 0xB1)]
            .map(|(opcode, tid, time, byte)| full64(UNKNOWN, opcode, 0, time).tid(tid).payload([byte]))
            .into();
    let events: Vec<&dyn OnDisk> = events.iter().map(|event| event as &dyn OnDisk).collect();
    let found = converted(&events);
    let table = found.events("00112233-4455-6677-8899-aabbccddeeff");
    let mut lines = table.lines("thread_id seq event_name opcode payload");
    lines.sort();
    assert_eq!(lines, ["1|1|-|10|a0", "1|3|Extension|5|a1", "2|2|-|10|b0", "2|4|Extension|5|b1"]);
}
