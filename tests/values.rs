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
fn columns_have_the_units_that_sources_know() {
    let read = payload().u32(0).u32(0x43).u32(512).u32(0).u64(4096).u64(1).u64(2).u64(25).u32(77);
    let converted = converted(&[&perfinfo64(0x010A, T0 + 1).version(3).payload(read)]);
    let fields = converted.sidecar("fields").lines("column unit description");
    for expected in [
        "DiskNumber|-|number of the disk, from 0",
        "IrpFlags|-|flags of the I/O request packet",
        "IrpFlags_label|-|flags of the I/O request packet",
        "TransferSize|bytes|length of the transfer",
        "Reserved|-|-",
        "ByteOffset|bytes|where on the disk the transfer begins",
        "HighResResponseTime|ticks|time from the start of the operation to its end",
        "HighResResponseTime_ns|ns|time from the start of the operation to its end",
        // The header event of the trace.
        "TimerResolution|100 ns|length of a timer tick",
        "StartTime|-|when the session was started",
        "StartTime_filetime|100 ns|when the session was started",
    ] {
        assert!(fields.contains(&expected.to_owned()), "{expected}: {fields:?}");
    }
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

/// Structures as the kernel's headers have them, written here by hand: 64-bit ones with the padding of the compiler.
#[test]
fn kernel_events_without_a_class_are_read_by_the_kernels_structures() {
    let pages = (1..=8).fold(payload().u64(90).u64(91).u64(92).u64(93).u64(94), Payload::u64);
    let pages = (11..=18).fold(pages, Payload::u64).u64(95);
    let longer = pages.clone().u64(96).u64(97).u64(98).u64(99);
    let process = |data: Payload, id| (1..=8).fold(data.u32(id), |data, at| data.u64(u64::from(id) * 10 + at));
    let periodic = payload().u64(500).u64(0xA0).u16(1).u8(2).u8(0x11).u32(15).u8(3).zeros(7);
    let notify = payload().u64(7).u64(0xF000).u8(1).u8(22).u8(2).zeros(1).u32(1).u32(4).u32(3).wstr("USB");
    let branches = payload().u64(0).u32(40).u32(44).u32(0x201).zeros(4).u64(1).u64(2).zeros(8).u64(3).u64(4).zeros(8);
    let events = [
        system64(0x0270, T0 + 1).payload(pages),
        system64(0x0270, T0 + 2).payload(longer),
        system64(0x027D, T0 + 3).payload(process(process(payload().u32(2), 4), 8)),
        system64(0x0276, T0 + 4).payload(payload().u64(0x12).u64(77).u64(0x1000)),
        system64(0x0F52, T0 + 5).payload(periodic),
        system64(0x0F53, T0 + 6).payload(payload().u64(600).u64(0xB0).u16(0).u8(3).u8(0)),
        system64(0x1226, T0 + 7).payload(notify),
        system64(0x0C20, T0 + 8).payload(branches),
    ];
    let found = converted(&events.each_ref().map(|event| event as &dyn OnDisk));
    let memory = found.events("Kernel-PageFault");
    let lists = "[1,2,3,4,5,6,7,8]|[11,12,13,14,15,16,17,18]";
    let columns = "ZeroPageCount BadPageCount PageCountByPriority RepurposedPagesByPriority ModifiedPageCountPageFile \
                   CommitPageCount decode_status";
    assert_eq!(memory.row(0, columns), format!("90|94|{lists}|95|-|ok"));
    assert_eq!(memory.row(1, columns), format!("90|94|{lists}|95|99|ok"));
    assert_eq!(memory.row(2, "event_name Count decode_status"), "PageFault/MemInfoExWS|2|ok");
    let sets = "[{4:41:42:43:44:45:46:47:48:-:-},{8:81:82:83:84:85:86:87:88:-:-}]";
    assert_eq!(memory.cell(2, "Values"), sets, "the last members are those of sessions");
    assert_eq!(memory.row(3, "PageFlags PageFrameIndex KeyOrAddress VirtualAddress decode_status"), "18|77|4096|-|ok");
    let timers = found.events("Kernel-PerfInfo");
    let columns = "event_name ExpectedDueTime TimerAddress TargetProcessorIndex Flags Flags_label Period EncodedDelay";
    assert_eq!(
        timers.lines(columns),
        [
            "PerfInfo/TimerSetPeriodic|500|160|2|17|Coalescable|NoWake|15|3",
            "PerfInfo/TimerSetOneShot|600|176|3|0|-|-|-"
        ]
    );
    let columns = "MajorFunction MinorFunction Type_label State DeviceName decode_status";
    assert_eq!(found.events("Kernel-Power").row(0, columns), "22|2|Device|4|USB|ok");
    let branches = found.events("Kernel-Spare1");
    assert_eq!(
        branches.row(0, "event_name ProcessId ThreadId Options_label Branches decode_status"),
        "Spare1/LastBranches|40|44|FilterKernel|CallstackEnable|[{1:2},{3:4}]|ok"
    );
}
