//! Every header family, as rows: the dataset, and each column that has a value. What is not listed is NULL.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use support::{Converted, START_NS, convert};
use synth::message::{opaque, timed, ulong32_time};
use synth::*;

const G: Guid = guid("00112233-4455-6677-8899-aabbccddeeff");
const G_TEXT: &str = "00112233-4455-6677-8899-aabbccddeeff";
const A: Guid = guid("a0000000-0000-0000-0000-000000000001");
const R: Guid = guid("b0000000-0000-0000-0000-000000000002");
/// Nanoseconds of a timer tick in these traces: 156250 times 100 ns.
const TIMER: i64 = 15_625_000;

/// A trace of two processors with these events in a buffer of processor 1.
fn recorded(head: Header, events: &[&dyn OnDisk]) -> Vec<u8> {
    let mut data = buffer(0x1000).cpu(1).sequence(1);
    events.iter().for_each(|event| data.push(&event.on_disk()));
    trace(head.processors(2)).buffer(data).to_bytes()
}

fn converted(events: &[&dyn OnDisk]) -> Converted {
    convert(&recorded(header(), events))
}

/// Converts one event and compares the columns that have a value in its dataset.
#[track_caller]
fn t(event: impl OnDisk, dataset: &str, expected: &str) {
    t_in(header(), event, dataset, expected);
}

#[track_caller]
fn t_in(head: Header, event: impl OnDisk, dataset: &str, expected: &str) {
    let found = convert(&recorded(head, &[&event]));
    let table = found.events(dataset);
    assert_eq!(table.set(table.rows.len() - 1), expected);
    assert_eq!(found.counts(), (2, 2, 0, 0, 0));
}

/// The end of a row without a schema. Where there are no bytes, there is nothing to decode.
fn raw(payload: &str) -> String {
    match payload {
        "" => "decode_source=none decode_status=ok".to_owned(),
        payload => format!("decode_source=none decode_status=no_schema payload={payload}"),
    }
}

#[test]
fn the_first_columns_are_place_and_time() {
    let event = perfinfo64(0x0F99, T0 + 12_345).payload([1]);
    let table = converted(&[&event]).events("Kernel-PerfInfo");
    // 12345 ticks of 100 ns.
    let (ns, micros) = (START_NS + 1_234_500, START_NS / 1000 + 1234);
    assert_eq!(table.row(0, "timestamp timestamp_ns seq input shape"), format!("{micros}|{ns}|1|0|1"));
    let common = "timestamp timestamp_ns seq ticks time_status cpu process_id thread_id process_name attribution event_id event_version opcode \
                  level task channel keywords event_name activity_id related_activity_id kernel_time_ns user_time_ns \
                  processor_time user_sid terminal_session_id process_start_key event_key container_id stack \
                  stack_id stack_match_id pmc_counters extended input shape decode_source decode_status payload recovered";
    assert_eq!(table.names.join(" "), common.split_whitespace().collect::<Vec<_>>().join(" "));
}

#[test]
fn the_header_event_is_a_row() {
    let found = convert(&trace(header().tid(5).pid(6)).to_bytes());
    assert_eq!(found.datasets(), ["Kernel-EventTrace"]);
    let table = found.events("Kernel-EventTrace");
    assert_eq!(table.row(0, "timestamp_ns seq cpu process_id thread_id"), format!("{START_NS}|0|0|6|5"));
    let columns = "event_id event_version opcode event_name decode_source decode_status payload";
    assert_eq!(table.row(0, columns), "-|2|0|EventTrace/Header|kernel|ok|-");
}

#[test]
fn kernel_headers_with_thread_and_cpu_times() {
    let expected = |raw: &str| {
        let times = format!("kernel_time_ns={} user_time_ns={}", 3 * TIMER, 4 * TIMER);
        format!("cpu=1 process_id=8 thread_id=7 attribution=header event_version=2 opcode=153 {times} {raw}")
    };
    for event in [system32(0x0F99, T0 + 1), system64(0x0F99, T0 + 1)] {
        let event = event.tid(7).pid(8).kernel_time(3).user_time(4).payload([0xAB, 0xCD]);
        t(event, "Kernel-PerfInfo", &expected(&raw("abcd")));
    }
    // A tick of 1 ms, and none at all.
    let event = system64(0x0F99, T0 + 1).kernel_time(1).user_time(0);
    let head = header().timer_resolution(10_000);
    let who = "cpu=1 process_id=0 thread_id=0 attribution=header event_version=2 opcode=153";
    let none = raw("");
    t_in(head, &event, "Kernel-PerfInfo", &format!("{who} kernel_time_ns=1000000 user_time_ns=0 {none}"));
    let head = header().timer_resolution(0);
    t_in(head, &event, "Kernel-PerfInfo", &format!("{who} kernel_time_ns=0 user_time_ns=0 {none}"));
}

#[test]
fn compact_kernel_headers_have_no_cpu_times() {
    for event in [compact32(0x0F99, T0 + 1), compact64(0x0F99, T0 + 1)] {
        let event = event.tid(7).pid(8).version(5).payload([1]);
        let expected = "cpu=1 process_id=8 thread_id=7 attribution=header event_version=5 opcode=153";
        t(event, "Kernel-PerfInfo", &format!("{expected} {}", raw("01")));
    }
}

#[test]
fn performance_headers_have_nobody() {
    for event in [perfinfo32(0x0F99, T0 + 1), perfinfo64(0x0F99, T0 + 1)] {
        t(event.payload([1]), "Kernel-PerfInfo", &format!("cpu=1 event_version=2 opcode=153 {}", raw("01")));
    }
}

#[test]
fn counters_stand_before_the_payload() {
    let event = || perfinfo64(0x0F99, T0 + 1);
    let who = "cpu=1 event_version=2 opcode=153";
    let rest = raw("01");
    let dataset = "Kernel-PerfInfo";
    t(event().pmc(&[10, u64::MAX]).payload([1]), dataset, &format!("{who} pmc_counters=[10,-1] {rest}"));
    // The index is an item of type 7 with 8 bytes.
    let index = "extended=[{7:0900000000000000}]";
    t(event().pebs(9).payload([1]), dataset, &format!("{who} {index} {rest}"));
    let both = event().pmc(&[1, 2, 3, 4, 5, 6, 7]).pebs(9).payload([1]);
    t(both, dataset, &format!("{who} pmc_counters=[1,2,3,4,5,6,7] {index} {rest}"));
    // The bits between are spare.
    t(event().extension(0x78).payload([1]), dataset, &format!("{who} {rest}"));
    // Consumers honour the flags in headers with threads, too.
    let event = compact64(0x0F99, T0 + 1).tid(7).pid(8).pmc(&[3]).payload([1]);
    t(
        event,
        dataset,
        &format!(
            "cpu=1 process_id=8 thread_id=7 attribution=header event_version=2 opcode=153 pmc_counters=[3] {rest}"
        ),
    );
}

#[test]
fn nobody_is_null_and_the_idle_process_is_not() {
    let nobody = u32::MAX;
    for (tid, pid, who) in [
        (nobody, nobody, "-|-"),
        (nobody, 4, "4|-"),
        (0, nobody, "-|0"),
        (0, 0, "0|0"),
        (nobody - 1, 1, "1|4294967294"),
    ] {
        let events: [&dyn OnDisk; 4] = [
            &system64(0x0F99, T0 + 1).tid(tid).pid(pid),
            &compact32(0x0F99, T0 + 2).tid(tid).pid(pid),
            &full64(G, 1, 0, T0 + 3).tid(tid).pid(pid),
            &event64(A, 1, 0, T0 + 4).tid(tid).pid(pid),
        ];
        let rows = converted(&events).all("process_id thread_id");
        assert_eq!(rows[1..], [who; 4]);
        let event = message(1).time(T0 + 5).system_info(tid, pid);
        assert_eq!(converted(&[&event]).all("process_id thread_id")[1], who);
    }
}

#[test]
fn image_loads_belong_to_images() {
    let found = converted(&[&perfinfo64(0x030A, T0 + 1).payload([1]), &perfinfo64(0x03F0, T0 + 2).payload([2])]);
    assert_eq!(found.datasets(), ["Kernel-EventTrace", "Kernel-Image", "Kernel-Process"]);
    assert_eq!(found.events("Kernel-Image").lines("opcode"), ["10"]);
    assert_eq!(found.events("Kernel-Process").lines("opcode"), ["240"]);
    let ids = found.sidecar("catalog");
    let image = ids.lines("dataset provider_id opcode");
    assert!(image.contains(&"Kernel-Image|2cb15d1d-5fc1-11d2-abe1-00a0c911f518|10".to_owned()), "{image:?}");
}

#[test]
fn every_kernel_group_is_a_dataset() {
    let names = "EventTrace DiskIo PageFault Process FileIo Thread TcpIp Job UdpIp Registry DbgPrint SystemConfig Spare1 \
                 Wnf Pool PerfInfo Heap Object Power ModBound Image Dpc Cc CritSec StackWalk Ums Alpc SplitIo \
                 ThreadPool Hypervisor HypervisorX Group-1F Group-80 Group-FF";
    let groups = (0x00..=0x1F).chain([0x80, 0xFF]);
    let events: Vec<_> = groups.zip(T0 + 1..).map(|(group, time)| perfinfo64(group << 8 | 0xEE, time)).collect();
    let events: Vec<&dyn OnDisk> = events.iter().map(|event| event as &dyn OnDisk).collect();
    let found = converted(&events);
    let mut expected: Vec<String> = names.split_whitespace().map(|name| format!("Kernel-{name}")).collect();
    expected.sort();
    assert_eq!(found.datasets(), expected);
    let catalog = found.sidecar("catalog").lines("dataset provider_id opcode");
    assert!(catalog.contains(&"Kernel-Group-1F|-|238".to_owned()), "{catalog:?}");
}

#[test]
fn classic_headers_name_their_class() {
    let times = format!("kernel_time_ns={} user_time_ns={}", TIMER, 2 * TIMER);
    let expected = format!(
        "cpu=1 process_id=8 thread_id=7 attribution=header event_version=513 opcode=9 level=3 event_name=Send {times} {}",
        raw("0102")
    );
    for event in [full32(G, 9, 513, T0 + 1), full64(G, 9, 513, T0 + 1)] {
        let event = event.level(3).tid(7).pid(8).kernel_time(1).user_time(2).payload([1, 2]);
        t(event, G_TEXT, &expected);
    }
}

#[test]
fn instances_have_parents() {
    for event in [instance32(G, 9, 1, T0 + 1), instance64(G, 9, 1, T0 + 1)] {
        let event = event.instance(100, 200, R).payload([1]);
        let expected = format!(
            "cpu=1 process_id=0 thread_id=0 attribution=header event_version=1 opcode=9 level=0 event_name=Send kernel_time_ns=0 \
             user_time_ns=0 {} \
             instance_id=100 parent_instance_id=200 parent_guid=b0000000-0000-0000-0000-000000000002",
            raw("01")
        );
        t(event, G_TEXT, &expected);
    }
    // Beside events of the class without an instance; no parent class.
    let found = converted(&[&full64(G, 9, 1, T0 + 1), &instance64(G, 9, 1, T0 + 2).instance(0, 0, [0; 16])]);
    let rows = found.events(G_TEXT).lines("instance_id parent_instance_id parent_guid");
    assert_eq!(rows, ["-|-|-", "0|0|-"]);
}

#[test]
fn private_sessions_count_processor_time() {
    let times = |dataset: &str, head: Header, event: &dyn OnDisk| {
        let found = convert(&recorded(head, &[event]));
        found.events(dataset).row(0, "kernel_time_ns user_time_ns processor_time")
    };
    let ticks = 5 << 32 | 6u64;
    let private = || header().log_file_mode(0x801);
    let both = format!("{}|{}|-", 6 * TIMER, 5 * TIMER);
    let event = event64(G, 1, 0, T0 + 1).kernel_time(6).user_time(5);
    assert_eq!(times(G_TEXT, header(), &event), both);
    assert_eq!(times(G_TEXT, private(), &event), format!("-|-|{ticks}"));
    assert_eq!(times(G_TEXT, header(), &event64(G, 1, 0, T0 + 1).private_session(ticks)), format!("-|-|{ticks}"));
    // NO_CPUTIME.
    assert_eq!(times(G_TEXT, header(), &event.clone().flags(0x10)), "-|-|-");
    assert_eq!(times(G_TEXT, private(), &event.flags(0x10)), "-|-|-");
    let event = full64(G, 1, 0, T0 + 1).processor_time(ticks);
    assert_eq!(times(G_TEXT, header(), &event), both);
    assert_eq!(times(G_TEXT, private(), &event), format!("-|-|{ticks}"));
    let event = system64(0x0F99, T0 + 1).kernel_time(6).user_time(5);
    assert_eq!(times("Kernel-PerfInfo", private(), &event), both);
}

#[test]
fn event_headers_fill_their_columns() {
    for event in [event32(G, 65535, 255, T0 + 1), event64(G, 65535, 255, T0 + 1)] {
        let event = event.tid(7).pid(8).channel(16).level(5).opcode(200).task(40_000).keyword(0x8000_0000_0000_0010);
        let event = event.kernel_time(1).activity(A).property(4).payload([9]);
        let expected = format!(
            "cpu=1 process_id=8 thread_id=7 attribution=header event_id=65535 event_version=255 opcode=200 level=5 task=40000 channel=16 \
             keywords=-9223372036854775792 activity_id=a0000000-0000-0000-0000-000000000001 kernel_time_ns={TIMER} \
             user_time_ns=0 {}",
            raw("09")
        );
        t(event, G_TEXT, &expected);
    }
    let found = converted(&[&event32(G, 1, 0, T0 + 1).property(4), &event64(G, 1, 0, T0 + 2)]);
    let shapes = found.sidecar("catalog").lines("header_type pointer_size event_property");
    assert_eq!(shapes, ["event64|8|0", "event32|4|4", "system64|8|-"]);
}

#[test]
fn a_string_is_an_event_of_its_own() {
    let event = event64(G, 0, 0, T0 + 1).string_only("Grüße");
    let expected = "cpu=1 process_id=0 thread_id=0 attribution=header event_id=0 event_version=0 opcode=0 level=4 task=0 channel=0 \
                    keywords=0 event_name=EventWriteString kernel_time_ns=0 user_time_ns=0 decode_source=string \
                    decode_status=ok Message=Grüße";
    t(event, G_TEXT, expected);
}

#[test]
fn a_string_and_an_event_of_one_id_are_distinguished() {
    let string = |time| event64(G, 0, 0, time).string_only("A");
    // Three bytes that are no string, and four that could be one.
    let others = [event64(G, 0, 0, T0 + 91).payload([1, 0, 2]), event64(G, 0, 0, T0 + 92).payload([66, 0, 0, 0])];
    let few = converted(&[&string(T0 + 1), &others[0], &others[1]]);
    let rows = few.events(G_TEXT).lines("decode_status payload");
    assert_eq!(rows, ["no_schema|41000000", "no_schema|010002", "no_schema|42000000"]);
    // The layout is chosen on the first 64 events of a shape.
    let mut data = buffer(0x4000).sequence(1).events((1..=64).map(|n| string(T0 + n)));
    others.iter().for_each(|event| data.push(&event.on_disk()));
    let many = convert(&trace(header().buffer_size(0x4000)).buffer(data).to_bytes());
    let rows = many.events(G_TEXT).lines("decode_status Message payload");
    assert_eq!(rows[63..], ["ok|A|-", "error|-|010002", "error|-|42000000"]);
}

#[test]
fn items_fill_their_columns() {
    let event = |item| event64(G, 1, 0, T0 + 1).item(item).payload([1]);
    // The ids of stacks are those of another implementation of BLAKE3.
    let cases = [
        (Item::related_activity(R), "related_activity_id=b0000000-0000-0000-0000-000000000002"),
        (Item::sid(5, &[21, 1, 2, 1001]), "user_sid=S-1-5-21-1-2-1001"),
        (Item::ts_id(3), "terminal_session_id=3"),
        (Item::stack32(0, &[0x1000, 0xFFFF_FFFF]), "stack=[4096,4294967295] stack_id=2215079169998451062"),
        (Item::stack64(77, &[1, u64::MAX]), "stack=[1,-1] stack_id=-8459348549325271979 stack_match_id=77"),
        (Item::stack64(77, &[]), "stack=[] stack_id=-6439591158392220753 stack_match_id=77"),
        (Item::pmc(&[5, 6]), "pmc_counters=[5,6]"),
        (Item::event_key(9), "event_key=9"),
        (Item::process_start_key(u64::MAX), "process_start_key=-1"),
        (Item::container_id(&G), "container_id=00112233-4455-6677-8899-aabbccddeeff"),
        (Item::container_id(b"{00112233-4455-6677-8899-AABBCCDDEEFF}\0"), &format!("container_id={G_TEXT}")),
        // Known kinds without a column.
        (Item::instance_info(1, 2, [0xEE; 16]), "extended=[{4:0100000002000000eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee}]"),
        (Item::pebs(1), "extended=[{7:0100000000000000}]"),
        (Item::psm_key(b"k"), "extended=[{9:6b}]"),
        (Item::control_guid(G), "extended=[{14:33221100554477668899aabbccddeeff}]"),
        (Item::qpc_delta(-1), "extended=[{15:ffffffffffffffff}]"),
        (Item::stack_key32(1, 2), "extended=[{17:01000000000000000200000000000000}]"),
        (Item::stack_key64(1, 2), "extended=[{18:01000000000000000200000000000000}]"),
        // Unknown kinds.
        (Item::new(0x13, [1, 2, 3]), "extended=[{19:010203}]"),
        (Item::new(0xFFFF, []), "extended=[{65535:}]"),
        // Data that does not fit its kind.
        (Item::new(0x01, [1, 2]), "extended=[{1:0102}]"),
        (Item::new(0x02, [1, 9, 0]), "extended=[{2:010900}]"),
        (Item::new(0x03, [1]), "extended=[{3:01}]"),
        (Item::new(0x06, [1, 2, 3]), "extended=[{6:010203}]"),
        (Item::new(0x06, [0; 12]), "extended=[{6:000000000000000000000000}]"),
        (Item::new(0x08, [1]), "extended=[{8:01}]"),
        (Item::new(0x0A, [1]), "extended=[{10:01}]"),
        (Item::new(0x10, *b"pod-7"), "extended=[{16:706f642d37}]"),
    ];
    let who = "cpu=1 process_id=0 thread_id=0 attribution=header event_id=1 event_version=0 opcode=0 level=4 task=0 channel=0 keywords=0";
    for (item, expected) in cases {
        let (before, after) = match expected.split_once('=').unwrap().0 {
            "related_activity_id" => (expected, ""),
            _ => ("", expected),
        };
        let cells = [who, before, "kernel_time_ns=0 user_time_ns=0", after, &raw("01")];
        let expected: Vec<&str> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
        t(event(item), G_TEXT, &expected.join(" "));
    }
}

#[test]
fn several_items_of_one_kind_are_all_kept() {
    let event = event64(G, 1, 0, T0 + 1)
        .item(Item::ts_id(3))
        .item(Item::ts_id(4))
        .item(Item::related_activity([0; 16]))
        .item(Item::related_activity(R))
        .item(Item::stack64(1, &[10]))
        .item(Item::stack32(2, &[20]))
        .item(Item::new(0x77, [1]))
        .item(Item::new(0x77, [2]));
    let table = converted(&[&event]).events(G_TEXT);
    assert_eq!(
        table.row(0, "terminal_session_id related_activity_id stack stack_id stack_match_id"),
        "3|b0000000-0000-0000-0000-000000000002|[10]|2102874189132502373|1"
    );
    // What has no column of its own any more.
    assert_eq!(table.cell(0, "extended"), "[{3:04000000},{5:020000000000000014000000},{119:01},{119:02}]");
}

#[test]
fn descriptions_stand_in_the_catalog_and_not_in_the_rows() {
    use synth::tracelogging::{field, schema, traits, ty};
    let metadata: Vec<u8> = schema("Hello").field(field("n", ty::UINT16)).into();
    let event = event64(G, 0, 0, T0 + 1).tracelogging(traits("My.Provider"), metadata.clone()).payload([5, 0]);
    let found = converted(&[&event]);
    let table = found.events("My.Provider");
    assert_eq!(
        table.row(0, "event_name extended decode_source decode_status payload n"),
        "Hello|-|tracelogging|ok|-|5"
    );
    let catalog = found.sidecar("catalog");
    let hex = support::table::hex(&metadata);
    assert_eq!(catalog.row(0, "provider_name metadata event_name"), format!("My.Provider|{hex}|Hello"));
}

#[test]
fn a_broken_chain_of_items_keeps_all_bytes() {
    let good = Item::ts_id(3);
    for broken in [
        // Another item is promised and is not there.
        good.clone().linkage(1),
        // Larger than the event, smaller than its head, smaller than its data.
        good.clone().size(0x1000),
        good.clone().size(4),
        good.clone().size(0),
        good.clone().data_size(9),
    ] {
        let event = event64(G, 1, 0, T0 + 1).item(broken.clone());
        let bytes = event.on_disk();
        let hex = support::table::hex(&bytes[0x50..]);
        let found = converted(&[&event, &event64(G, 1, 0, T0 + 2).payload([7])]);
        let table = found.events(G_TEXT);
        let columns = "terminal_session_id extended decode_status payload";
        assert_eq!(table.lines(columns), [format!("-|-|error|{hex}"), "-|-|no_schema|07".to_owned()], "{broken:?}");
    }
}

#[test]
fn messages_have_the_parts_that_their_flags_name() {
    let t = |message: Message, expected: &str| {
        // Before it, an event whose time a message without one takes.
        let found = converted(&[&perfinfo64(0x0F99, T0 + 40).payload([1]), &message.arguments([0xAA, 0xBB])]);
        let table = found.events("WPP");
        assert_eq!(table.numbers("timestamp_ns"), [START_NS + 4000]);
        assert_eq!(table.set(0), expected);
    };
    let time = T0 + 40;
    let rest = raw("aabb");
    t(message(43).time(time), &format!("cpu=1 event_id=43 {rest}"));
    t(message(43), &format!("time_status=inherited cpu=1 event_id=43 {rest}"));
    t(message(43).time(time).sequence(9), &format!("cpu=1 event_id=43 {rest} sequence=9"));
    t(message(43).time(time).component(9), &format!("cpu=1 event_id=43 {rest} component_id=9"));
    let by_guid = |rest: &str| format!("cpu=1 event_id=43 {rest} message_guid={G_TEXT}");
    t(message(43).time(time).guid(G), &by_guid(&rest));
    // The component wins.
    t(message(43).time(time).guid(G).component(9), &format!("cpu=1 event_id=43 {rest} component_id=9"));
    t(
        message(43).time(time).system_info(7, 8),
        &format!("cpu=1 process_id=8 thread_id=7 attribution=header event_id=43 {rest}"),
    );
    let all = message(43).sequence(1).guid(G).time(time).system_info(7, 8);
    let expected = format!(
        "cpu=1 process_id=8 thread_id=7 attribution=header event_id=43 {rest} message_guid={G_TEXT} sequence=1"
    );
    t(all, &expected);
    // The obsolete performance time changes nothing beside a time.
    t(message(43).time(time).performance_time(5), &format!("cpu=1 event_id=43 {rest}"));
}

#[test]
fn the_arguments_pointer_size_is_that_of_the_flags_or_the_file() {
    let sizes = |head: Header, flags| {
        let found = convert(&recorded(head, &[&message(1).time(T0 + 1).flags(flags)]));
        found
            .sidecar("catalog")
            .lines("kind pointer_size")
            .into_iter()
            .find(|line| line.starts_with("message"))
            .unwrap()
    };
    assert_eq!(sizes(header(), 0x80), "message|8");
    assert_eq!(sizes(header(), 0x40), "message|4");
    assert_eq!(sizes(header(), 0), "message|8");
    assert_eq!(sizes(header().layout32(), 0), "message|4");
}

#[test]
fn obsolete_and_opaque_headers_have_datasets_of_their_own() {
    let number = "cpu=1 decode_source=none decode_status=no_schema payload=0102 number=77";
    t(timed(77, T0 + 1, &[1, 2]), "Header-Timed", number);
    for low in [0, 0x0C, 0xFF] {
        t(ulong32_time(low, 77, T0 + 1, &[1, 2]), "Header-Timed", number);
    }
    let inherited = |payload| format!("time_status=inherited cpu=1 {}", raw(payload));
    t(opaque(0x0D, &[1, 2, 3, 4]), "Header-Error", &inherited("01020304"));
    t(opaque(0x0E, &[1, 2, 3, 4]), "Header-Wnode", &inherited("01020304"));
    // A message behind a typed marker: number 5, flags 0080.
    let expected = format!("time_status=inherited cpu=1 event_id=5 {}", raw("0102"));
    t(opaque(0x0F, &[5, 0, 0x80, 0, 1, 2]), "WPP", &expected);
}

#[test]
fn the_processor_is_where_the_buffer_says() {
    let event = || perfinfo64(0x0F99, T0 + 1);
    let cpu = |head: Header, data: Buffer| {
        convert(&trace(head).buffer(data.sequence(1).event(event())).to_bytes()).events("Kernel-PerfInfo").row(0, "cpu")
    };
    assert_eq!(cpu(header(), buffer(0x1000).cpu(2047)), "2047");
    assert_eq!(cpu(header(), buffer(0x1000).cpu_win7(5)), "5");
    assert_eq!(cpu(header().log_file_mode(0x1000_0001), buffer(0x1000)), "-");
}
