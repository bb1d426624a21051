//! The stacks of kernel events: walks that follow them, keys, and what becomes of those that find no event.
//!
//! Layouts of payloads are those of the kernel's documented classes, written here by hand.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::collections::BTreeMap;
use std::fs;

use conversion::convert::{ConvertOptions, StackPolicy};
use conversion::plan::filter::TimeBound;
use proptest::prelude::*;
use serde_json::Value;
use support::{Converted, Sandbox, convert, convert_all, convert_with};
use synth::*;

/// A second in ticks.
const SECOND: i64 = 10_000_000;

/// A sample of the profiler, version 2: it names its thread.
fn sample(time: i64, thread: u32) -> Kernel {
    perfinfo64(0x0F2E, T0 + time).payload(payload().u64(0x1000).u32(thread).u16(1).u16(0))
}

/// A walk of the event of a thread at a time, which is in process 4.
fn walk(time: i64, of_time: i64, thread: u32, addresses: &[u64]) -> Kernel {
    walk_in(4, time, of_time, thread, addresses)
}

/// A walk of the event of a thread of a process at a time.
fn walk_in(process: u32, time: i64, of_time: i64, thread: u32, addresses: &[u64]) -> Kernel {
    let of_event = payload().i64(T0 + of_time).u32(process).u32(thread);
    perfinfo64(0x1820, T0 + time).payload(addresses.iter().fold(of_event, |data, &address| data.u64(address)))
}

const KERNEL: u16 = 0x1825;
const USER: u16 = 0x1826;

/// A walk whose addresses stand under a key.
fn by_key(hook: u16, time: i64, of_time: i64, thread: u32, key: u64) -> Kernel {
    perfinfo64(hook, T0 + time).payload(payload().i64(T0 + of_time).u32(4).u32(thread).u64(key))
}

const CREATE: u16 = 0x1822;
const DELETE: u16 = 0x1823;
const RUNDOWN: u16 = 0x1824;

/// What a key stands for.
fn key(hook: u16, time: i64, key: u64, addresses: &[u64]) -> Kernel {
    let data = payload().u64(key);
    perfinfo64(hook, T0 + time).payload(addresses.iter().fold(data, |data, &address| data.u64(address)))
}

/// A trace of one buffer for each processor's events.
fn recorded(cpus: &[&[Kernel]]) -> Vec<u8> {
    let buffers = cpus
        .iter()
        .zip(0..)
        .map(|(events, cpu)| buffer(0x4000).cpu(cpu).sequence(i64::from(cpu) + 1).events(events.to_vec()));
    trace(header().processors(4).buffer_size(0x4000)).buffers(buffers).to_bytes()
}

/// `stack` of the events that are no walks, in order, without that of the header event of the trace.
fn stacks(found: &Converted) -> Vec<String> {
    let of_walks = found.datasets().iter().any(|dataset| dataset == "Kernel-StackWalk");
    let walks: Vec<i64> = if of_walks { found.events("Kernel-StackWalk").numbers("seq") } else { Vec::new() };
    let rows = found.datasets().into_iter().flat_map(|dataset| {
        let table = found.events(&dataset);
        table.numbers("seq").into_iter().zip(table.lines("stack"))
    });
    let rows: BTreeMap<i64, String> = rows.filter(|(seq, _)| *seq > 0 && !walks.contains(seq)).collect();
    rows.into_values().collect()
}

/// What is said of walks that are not joined.
fn not_joined(found: &Converted) -> Vec<String> {
    let issues = found.sidecar("issues").lines("severity code message");
    let of_walks = issues.into_iter().filter(|line| line.contains("stacks_not_joined"));
    of_walks.map(|line| line.replace("|stacks_not_joined|", " ")).collect()
}

#[track_caller]
fn t(cpus: &[&[Kernel]], expected: &[&str], said: &[&str]) {
    let found = convert(&recorded(cpus));
    assert_eq!(stacks(&found), expected);
    assert_eq!(not_joined(&found), said);
}

#[test]
fn an_event_has_the_walk_of_its_time_and_thread() {
    let events = [
        sample(10, 30),
        sample(10, 31),
        sample(11, 30),
        walk(12, 10, 31, &[7, 8]),
        walk(13, 10, 30, &[1, 2, 3]),
        sample(20, 30),
        walk(21, 20, 30, &[]),
    ];
    let found = convert(&recorded(&[&events]));
    assert_eq!(stacks(&found), ["[1,2,3]", "[7,8]", "-", "[]"]);
    assert_eq!(not_joined(&found), [""; 0]);
    // The walks stay rows, and no stack of theirs is one of the rows.
    let walks = found.events("Kernel-StackWalk");
    assert_eq!(walks.lines("StackThread Stack__field stack"), ["31|[7,8]|-", "30|[1,2,3]|-", "30|[]|-"]);
    // The same stack has the same number in every trace: that of the hash of its addresses.
    let samples = found.events("Kernel-PerfInfo").lines("stack stack_id");
    let id = |addresses: &[u64]| {
        let bytes: Vec<u8> = addresses.iter().flat_map(|address| address.to_le_bytes()).collect();
        i64::from_le_bytes(blake3::hash(&bytes).as_bytes()[..8].try_into().unwrap())
    };
    let of = |text: &str, addresses| format!("{text}|{}", id(addresses));
    assert_eq!(samples, [of("[1,2,3]", &[1, 2, 3]), of("[7,8]", &[7, 8]), "-|-".to_owned(), of("[]", &[])]);
}

#[test]
fn a_walk_may_be_of_another_processor_and_of_many_rows_later() {
    let between: Vec<Kernel> = (0..100).map(|n| sample(11 + n, 5)).collect();
    let one = [&[sample(10, 30)], &between[..]].concat();
    let mut expected = vec!["[1,2]"];
    expected.resize(101, "-");
    t(&[&one, &[walk(200, 10, 30, &[1, 2])]], &expected, &[]);
}

#[test]
fn fragments_are_joined_in_the_order_of_their_walks() {
    let (kernel, user) = (0xFFFF_F800_0000_0010, 0x7FF0_0000_0020);
    let one = [sample(10, 30), walk(11, 10, 30, &[kernel])];
    let other = [walk(900, 10, 30, &[user, 9])];
    let third = [walk(1000, 10, 30, &[3])];
    let text = format!("[{},{user},9,3]", kernel.cast_signed());
    t(&[&one, &third, &other], &[&text], &[]);
}

#[test]
fn of_several_events_the_last_one_before_the_walk_is_meant() {
    // A walk that has the time of its event stands between two of them.
    let events = [sample(10, 30), walk(10, 10, 30, &[1]), sample(10, 30), sample(10, 31), walk(11, 10, 30, &[2])];
    t(&[&events], &["[1]", "[2]", "-"], &[]);
    t(&[&[sample(10, 30)], &[sample(10, 30)], &[walk(11, 10, 30, &[2])]], &["-", "[2]"], &[]);
    // In the order of rows, and not of the file: the second processor's buffer comes first.
    let buffers = [
        buffer(0x1000).cpu(1).sequence(1).events([sample(10, 30)]),
        buffer(0x1000).cpu(0).sequence(2).events([sample(10, 30), walk(11, 10, 30, &[2])]),
    ];
    let found = convert(&trace(header().processors(2)).buffers(buffers).to_bytes());
    assert_eq!(stacks(&found), ["-", "[2]"]);
}

#[test]
fn the_idle_thread_runs_on_several_processors_at_once() {
    let [one, two] = [1, 2].map(|address| walk(11, 10, 0, &[address]));
    t(&[&[sample(10, 0), one.clone()], &[sample(10, 0), two.clone()]], &["[1]", "[2]"], &[]);
    // In fragments that follow each other in time.
    let more = [5, 6].map(|address| walk(12, 10, 0, &[address]));
    let [of_one, of_two] = &more;
    t(
        &[&[sample(10, 0), one.clone(), of_one.clone()], &[sample(10, 0), two, of_two.clone()]],
        &["[1,5]", "[2,6]"],
        &[],
    );
    // Another processor's walk is of none of its events.
    t(
        &[&[sample(10, 0)], &[one]],
        &["-"],
        &[
            "info 1 of 1 stack walks are not joined to an event, and are rows alone: 1 have no event before them at the time \
           that they name",
        ],
    );
}

#[test]
fn a_walk_that_finds_no_event_of_its_thread_stays_a_row() {
    // A thread switch is of the thread that runs from then on; an interrupt is of none.
    let switch = perfinfo64(0x0524, T0 + 10).version(4).payload(payload().u32(31).u32(30).zeros(16));
    let interrupt = perfinfo64(0x0F43, T0 + 20).payload([0; 24]);
    let events = [switch, walk(11, 10, 30, &[1]), interrupt, walk(21, 20, 30, &[2]), walk(41, 40, 30, &[3])];
    t(
        &[&events],
        &["-", "-"],
        &[
            "info 3 of 3 stack walks are not joined to an event, and are rows alone: 1 have no event before them at the time \
           that they name, 2 find only events of other threads, or of none that is known, at the time that they name",
        ],
    );
    // Neither is the event of a walk behind it, nor the walk of another session's event, nor a walk that of a walk.
    let late = [walk(10, 10, 30, &[1]), sample(10, 30)];
    let (one, two) = (recorded(&[&[sample(10, 30)]]), recorded(&[&late, &[walk(12, 11, 30, &[5])]]));
    let found = convert_all(&[&one, &two]);
    assert_eq!(stacks(&found), ["-", "-", "-"]);
    assert_eq!(
        not_joined(&found),
        [
            "info 2 of 2 stack walks are not joined to an event, and are rows alone: 2 have no event before them at the time \
          that they name"
        ]
    );
}

#[test]
fn a_walk_is_of_an_event_of_the_kernel() {
    const G: Guid = guid("00112233-4455-6677-8899-aabbccddeeff");
    let own = event64(G, 1, 0, T0 + 10).pid(4).tid(30);
    let events = buffer(0x1000).event(sample(10, 30)).event(own).event(walk(11, 10, 30, &[1]));
    let found = convert(&trace(header()).buffer(events).to_bytes());
    assert_eq!(found.events("Kernel-PerfInfo").lines("stack"), ["[1]"]);
    assert_eq!(stacks(&found), ["[1]", "-"]);
}

#[test]
fn what_comes_more_than_sixteen_seconds_later_is_not_joined() {
    let events = [
        sample(10, 30),
        sample(20, 30),
        walk(30, 20, 30, &[4]),
        walk(10 + 16 * SECOND, 10, 30, &[1]),
        walk(21 + 16 * SECOND, 20, 30, &[2]),
    ];
    t(
        &[&events],
        &["[1]", "[4]"],
        &[
            "info 1 of 3 stack walks are not joined to an event, and are rows alone: 1 come more than 16 s behind their event",
        ],
    );
}

#[test]
fn an_event_has_no_more_than_1024_addresses() {
    let addresses: Vec<u64> = (0..1025).collect();
    let events = [
        sample(10, 30),
        walk(11, 10, 30, &addresses),
        walk(12, 10, 30, &addresses[..1000]),
        walk(13, 10, 30, &addresses[..25]),
        walk(14, 10, 30, &[7; 24]),
    ];
    let found = convert(&trace(header().buffer_size(0x8000)).buffer(buffer(0x8000).events(events)).to_bytes());
    let mut expected: Vec<u64> = (0..1000).collect();
    expected.extend([7; 24]);
    let expected: Vec<String> = expected.iter().map(u64::to_string).collect();
    assert_eq!(stacks(&found), [format!("[{}]", expected.join(","))]);
    assert_eq!(
        not_joined(&found),
        [
            "info 2 of 4 stack walks are not joined to an event, and are rows alone: 2 would give an event more than 1024 \
          addresses"
        ]
    );
}

#[test]
fn keys_stand_for_what_is_recorded_of_them_later() {
    let events = [
        key(CREATE, 1, 0xC, &[6]),
        sample(10, 30),
        by_key(KERNEL, 11, 10, 30, 0xA),
        by_key(USER, 12, 10, 30, 0xB),
        key(DELETE, 20, 0xA, &[1, 2]),
        sample(30, 30),
        by_key(KERNEL, 31, 30, 30, 0xA),
        walk(32, 30, 30, &[9]),
        sample(40, 30),
        by_key(KERNEL, 41, 40, 30, 0xC),
        sample(50, 30),
        by_key(USER, 51, 50, 30, 0xD),
        key(RUNDOWN, 90, 0xA, &[5]),
        key(RUNDOWN, 91, 0xB, &[3, 4]),
    ];
    t(
        &[&events],
        &["[1,2,3,4]", "[5,9]", "[6]", "-"],
        &[
            "info 1 of 6 stack walks are not joined to an event, and are rows alone: 1 use a stack key that the recording \
           does not define",
        ],
    );
}

#[test]
fn addresses_of_32_bit_systems_have_four_bytes() {
    let sample = perfinfo32(0x0F2E, T0 + 10).payload(payload().u32(0x1000).u32(30).u16(1).u16(0));
    let of_event = || payload().i64(T0 + 10).u32(4).u32(30);
    let walk = perfinfo32(0x1820, T0 + 11).payload(of_event().u32(0x8000_0010).u32(7));
    let by_key = perfinfo32(USER, T0 + 12).payload(of_event().u32(0xA));
    let key = perfinfo32(RUNDOWN, T0 + 13).payload(payload().u32(0xA).u32(5));
    let bytes = trace(header().pointer_size(4)).buffer(buffer(0x1000).events([sample, walk, by_key, key])).to_bytes();
    assert_eq!(stacks(&convert(&bytes)), ["[2147483664,7,5]"]);
}

#[test]
fn inputs_of_one_recording_do_not_lend_each_other_walks() {
    let one = recorded(&[&[sample(10, 30), walk(12, 10, 30, &[1])]]);
    let two = recorded(&[&[sample(10, 30), walk(13, 10, 30, &[2])]]);
    let found = convert_all(&[&one, &two]);
    assert_eq!(found.events("Kernel-PerfInfo").lines("input stack"), ["0|[1]", "1|[2]"]);
}

#[test]
fn compressed_buffers_are_joined_alike() {
    let events = [sample(10, 30), sample(10, 31), by_key(USER, 13, 10, 30, 0xA)];
    let rest = [walk(14, 10, 31, &[3]), key(RUNDOWN, 20, 0xA, &[1, 2])];
    let buffers = [buffer(0x1000).sequence(1).events(events), buffer(0x1000).sequence(2).events(rest)];
    let buffers = buffers.map(Buffer::compressed);
    let mode = 0x0400_0000;
    let found = convert(&trace(header().log_file_mode(mode)).buffers(buffers).to_bytes());
    assert_eq!(stacks(&found), ["[1,2]", "[3]"]);
}

#[test]
fn an_event_keeps_the_stack_of_its_own_header() {
    const G: Guid = guid("00112233-4455-6677-8899-aabbccddeeff");
    let own = event64(G, 1, 0, T0 + 10).pid(4).tid(30).item(Item::stack64(0, &[8, 9]));
    let events = buffer(0x1000).event(own).event(walk(11, 10, 30, &[1]));
    let found = convert(&trace(header()).buffer(events).to_bytes());
    assert_eq!(stacks(&found), ["[8,9]"]);
    assert_eq!(not_joined(&found).len(), 1);
}

/// Walks that are kept are rows, and nothing is said of them.
#[test]
fn stacks_stay_rows_where_that_is_asked_for() {
    let bytes = recorded(&[&[sample(10, 30), walk(12, 10, 30, &[1]), walk(13, 99, 30, &[1])]]);
    let found = convert_with(&[&bytes], |options| options.stacks = StackPolicy::Keep);
    assert_eq!((stacks(&found), not_joined(&found)), (vec!["-".to_owned()], vec![]));
    assert_eq!(found.events("Kernel-StackWalk").lines("Stack__field"), ["[1]", "[1]"]);
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &bytes);
    for (options, expected) in [("", "join"), ("--stacks join", "join"), ("--stacks keep", "keep")] {
        sandbox.t(&format!("convert a.etl -o out --if-exists replace {options}"), 0);
        let manifest = std::fs::read(sandbox.path("out/trace=a/sidecar/manifest.json")).unwrap();
        let manifest: Value = serde_json::from_slice(&manifest).unwrap();
        assert_eq!(manifest["options"]["stacks"], expected, "{options}");
    }
}

#[test]
fn filters_change_no_stack() {
    let events = [
        sample(10, 30),
        sample(10, 30),
        walk(11, 10, 30, &[1]),
        sample(SECOND, 31),
        sample(SECOND, 30),
        walk(2 * SECOND, SECOND, 31, &[2]),
        by_key(USER, 2 * SECOND, SECOND, 30, 0xA),
        key(RUNDOWN, 3 * SECOND, 0xA, &[3]),
    ];
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &recorded(&[&events[..4], &events[4..]]));
    let t = |options: &str, expected: &[&str]| {
        sandbox.t(&format!("convert a.etl -o out --if-exists replace {options}"), 0);
        let table = sandbox.table("out/trace=a", "events/Kernel-PerfInfo");
        assert_eq!(table.lines("seq stack"), expected, "{options}");
    };
    t("", &["1|-", "2|[1]", "4|[2]", "5|[3]"]);
    // Without the walks, without what their keys stand for.
    t("--provider Kernel-PerfInfo", &["1|-", "2|[1]", "4|[2]", "5|[3]"]);
    t("--to +1500ms", &["1|-", "2|[1]", "4|[2]", "5|[3]"]);
    t("--from +500ms --to +1500ms", &["4|[2]", "5|[3]"]);
    t("--cpu 1", &["5|[3]"]);
    t("--tid 31", &["4|[2]"]);
}

/// From a buffer of [`walked`] to the next, more than walks may come behind their events.
const APART: i64 = 20 * SECOND;

/// A buffer that is full of samples, each with its walk behind it.
fn walked(number: i64) -> Buffer {
    let mut open = buffer(0x4000).sequence(number);
    let mut now = number * APART;
    loop {
        let (sample, walk) = (sample(now, 30).on_disk(), walk(now + 1, now, 30, &[7, 8]).on_disk());
        if !open.fits(sample.len() + walk.len()) {
            return open;
        }
        open.push(&sample);
        open.push(&walk);
        now += 10;
    }
}

#[test]
fn nothing_is_gathered_of_the_stacks_of_rows_that_filters_leave_out() {
    const BUFFERS: u64 = 40;
    const BUFFER: u64 = 0x4000;
    let other = event64(guid("11111111-2222-3333-4444-555555555555"), 1, 0, T0 + 9 * APART).payload(payload().u32(1));
    // A walk of no event, which only those hear of who ask for the time that it names.
    let stray = walk(9 * APART + 2, 9 * APART - 3, 30, &[1]);
    let mixed = buffer(0x4000).cpu(1).sequence(1).event(other).event(stray);
    let buffers = (1..=BUFFERS.cast_signed()).map(walked).chain([mixed]);
    let bytes = trace(header().processors(2).buffer_size(0x4000)).buffers(buffers).to_bytes();
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &bytes);
    let t = |options: &str, most_buffers: u64, said: usize| {
        sandbox.t(&format!("convert a.etl -o out --if-exists replace {options}"), 0);
        let manifest = fs::read(sandbox.path("out/trace=a/sidecar/manifest.json")).unwrap();
        let manifest: Value = serde_json::from_slice(&manifest).unwrap();
        let read = manifest["run"]["bytes_read"]["plan"].as_u64().unwrap();
        assert!(read <= most_buffers * BUFFER, "{options}: {read}");
        let issues = sandbox.table("out/trace=a", "sidecar/issues").lines("code");
        assert_eq!(issues.iter().filter(|code| *code == "stacks_not_joined").count(), said, "{options}");
        read
    };
    // What describes ids may be in two; samples of events, in order to choose their schemas, are some of the first ones.
    let least = t("--stacks keep", 8, 0);
    // The survey takes them down, but for the events of the buffer in which it finds the first walk.
    assert!(t("", 9, 1) <= least + BUFFER);
    assert!(t("--provider Kernel-PerfInfo", 9, 1) <= least + BUFFER);
    // An event that is not the kernel's has no walk.
    assert!(t("--provider 11111111-2222-3333-4444-555555555555", 8, 0) <= least);
    t("--level information", 8, 0);
    // The buffer of the samples and that of the others, each for walks and for the events that they name.
    assert!(t("--from +180s --to +181s", 12, 0) <= least + 4 * BUFFER);
    assert!(t("--from +179s --to +181s", 16, 1) <= least + 6 * BUFFER);
}

/// Thread 30 is in process 8 by the table of threads, and nothing but walks says of the others where they are.
fn with_strangers() -> Vec<u8> {
    let data = payload().u32(8).u32(30).zeros(64);
    let events = [
        system64(0x0503, T0 + 1).version(3).pid(8).tid(30).payload(data),
        sample(10, 30),
        walk_in(12, 11, 10, 30, &[1]),
        sample(20, 31),
        sample(21, 31),
        walk_in(12, 22, 21, 31, &[2]),
        // Halves of one stack that name two processes, and one that names none.
        sample(30, 32),
        walk_in(12, 31, 30, 32, &[3]),
        walk_in(16, 32, 30, 32, &[4]),
        sample(40, 33),
        walk_in(u32::MAX, 41, 40, 33, &[5]),
        // Thread 31 again, in another process, of which it is known when it is known.
        sample(50, 31),
        walk_in(16, 51, 50, 31, &[6]),
        walk_in(16, 52, 50, 31, &[7]),
    ];
    recorded(&[&events])
}

#[test]
fn a_walk_says_of_a_thread_that_nobody_knows_in_which_process_it_is() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &with_strangers());
    let lines = |options: &str| {
        sandbox.t(&format!("convert a.etl -o out --if-exists replace {options}"), 0);
        let table = sandbox.table("out/trace=a", "events/Kernel-PerfInfo");
        table.lines("thread_id process_id attribution stack")
    };
    let whole = lines("");
    let expected = [
        "30|8|thread|[1]",
        "31|-|payload|-",
        "31|12|walk|[2]",
        "32|-|payload|[3,4]",
        "33|-|payload|[5]",
        "31|16|walk|[6,7]",
    ];
    assert_eq!(whole, expected);
    assert_eq!(lines("--pid 12"), ["31|12|walk|[2]"]);
    assert_eq!(lines("--pid 8,16"), ["30|8|thread|[1]", "31|16|walk|[6,7]"]);
    assert_eq!(lines("--pid 12 --partition-bytes 65536 --provider Kernel-PerfInfo"), ["31|12|walk|[2]"]);
    // Walks that are not joined to events say nothing of them.
    assert_eq!(lines("--stacks keep")[2], "31|-|payload|-");
}

/// What happens in a trace: on a processor, so many ticks later, by a thread.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Sample(u16, i64, u32),
    /// The walk of the event so many deeds before.
    Walk(u16, i64, usize, u64),
    /// The same by a key.
    ByKey(u16, i64, usize, u64),
    /// What a key stands for.
    Key(u16, u64, u64),
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let (cpu, later) = (0..3_u16, prop_oneof![3 => Just(0_i64), 3 => 1..4_i64, 1 => Just(9 * SECOND)]);
    let deed = prop_oneof![
        4 => (cpu.clone(), later.clone(), 1..4_u32).prop_map(|(cpu, later, thread)| Deed::Sample(cpu, later, thread)),
        3 => (cpu.clone(), later.clone(), 1..8_usize, 1..5_u64)
            .prop_map(|(cpu, later, back, address)| Deed::Walk(cpu, later, back, address)),
        2 => (cpu.clone(), later, 1..8_usize, 1..4_u64).prop_map(|(cpu, later, back, key)| Deed::ByKey(cpu, later, back, key)),
        1 => (cpu, 1..4_u64, 10..20_u64).prop_map(|(cpu, key, address)| Deed::Key(cpu, key, address)),
    ];
    prop::collection::vec(deed, 1..120)
}

/// The events of each processor.
fn events(deeds: &[Deed]) -> [Vec<Kernel>; 3] {
    let (mut cpus, mut samples, mut now) = ([const { Vec::new() }; 3], vec![(0, 9)], 10);
    for deed in deeds {
        let back = |back: usize| samples[samples.len().saturating_sub(back)];
        let (cpu, event) = match *deed {
            Deed::Sample(cpu, later, thread) => {
                now += later;
                samples.push((now, thread));
                (cpu, sample(now, thread))
            }
            Deed::Walk(cpu, later, of, address) => {
                now += later;
                let (time, thread) = back(of);
                (cpu, walk(now, time, thread, &[address, address + 1]))
            }
            Deed::ByKey(cpu, later, of, key) => {
                now += later;
                let (time, thread) = back(of);
                (cpu, by_key(USER, now, time, thread, key))
            }
            Deed::Key(cpu, key, address) => (cpu, self::key(RUNDOWN, now, key, &[address])),
        };
        cpus[usize::from(cpu)].push(event);
    }
    cpus
}

/// The stacks that events should have by what the rows of a conversion say that joins nothing: a plain search.
fn expected(found: &Converted) -> Vec<String> {
    let rows = |dataset: &str, columns: &str| -> Vec<Vec<String>> {
        if !found.datasets().iter().any(|name| name == dataset) {
            return Vec::new();
        }
        let lines = found.events(dataset).lines(columns);
        lines.iter().map(|line| line.split('|').map(str::to_owned).collect()).collect()
    };
    let number = |text: &str| text.parse::<i64>().unwrap();
    let samples: Vec<(i64, i64, String)> = rows("Kernel-PerfInfo", "seq timestamp_ns thread_id")
        .into_iter()
        .map(|row| (number(&row[0]), number(&row[1]), row[2].clone()))
        .collect();
    let has = |column: &str| found.events("Kernel-StackWalk").names.iter().any(|name| name == column);
    let is_recorded = found.datasets().iter().any(|name| name == "Kernel-StackWalk");
    let optional = |column| if is_recorded && has(column) { column } else { "payload" };
    let columns = format!(
        "seq opcode timestamp_ns {} thread_id {} {} {} {}",
        optional("EventTimeStamp_ns"),
        optional("Stack__field"),
        optional("StackKey"),
        optional("Key"),
        optional("StackFrame")
    );
    let walks = if is_recorded { rows("Kernel-StackWalk", &columns) } else { Vec::new() };
    let of_key = |key: &str, seq: i64| {
        let is_key = |row: &&Vec<String>| row[1] == "36" && row[7] == key;
        let next = walks.iter().find(|row| is_key(row) && number(&row[0]) > seq);
        next.or_else(|| walks.iter().rfind(|row| is_key(row) && number(&row[0]) < seq)).map(|row| row[8].clone())
    };
    let mut stacks: BTreeMap<i64, Vec<String>> = BTreeMap::new();
    for row in &walks {
        let (seq, ns) = (number(&row[0]), number(&row[2]));
        let part = match row[1].as_str() {
            "32" => Some(row[5].clone()),
            "38" => of_key(&row[6], seq),
            _ => None,
        };
        let (Some(part), Ok(of_ns)) = (part, row[3].parse::<i64>()) else { continue };
        let event = samples.iter().rfind(|event| event.0 < seq && event.1 == of_ns && event.2 == row[4]);
        if let Some(event) = event.filter(|_| ns - of_ns <= 16_000_000_000) {
            stacks.entry(event.0).or_default().push(part.trim_matches(['[', ']']).to_owned());
        }
    }
    let stack = |seq: &i64| stacks.get(seq).map_or("-".to_owned(), |parts| format!("[{}]", parts.join(",")));
    samples.iter().map(|(seq, ..)| stack(seq)).collect()
}

/// `stack` of all samples, and their `seq`.
fn of_samples(found: &Converted) -> Vec<(i64, String)> {
    if !found.datasets().iter().any(|name| name == "Kernel-PerfInfo") {
        return Vec::new();
    }
    let table = found.events("Kernel-PerfInfo");
    table.numbers("seq").into_iter().zip(table.lines("stack")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn stacks_are_those_of_a_plain_search_whatever_the_partitions_and_filters(
        deeds in deeds(), in_buffer in 1..20_usize, partition in 300..5000_u64, cpu in 0..3_u16, is_shuffled: bool,
        from: prop::sample::Index, to: prop::sample::Index,
    ) {
        let mut deeds = deeds;
        deeds.push(Deed::Sample(cpu, 1, 1));
        let cpus = events(&deeds);
        let mut buffers = Vec::new();
        for (cpu, events) in (0..).zip(cpus) {
            for (some, sequence) in events.chunks(in_buffer).zip(1..) {
                let mut some = some.to_vec();
                if is_shuffled && sequence % 2 == 0 {
                    some.reverse();
                }
                buffers.push(buffer(0x1000).cpu(cpu).sequence(sequence).events(some));
            }
        }
        let bytes = trace(header().processors(3)).buffers(buffers).to_bytes();
        let with = |change: &dyn Fn(&mut ConvertOptions)| convert_with(&[&bytes], |options| change(options));
        let kept = with(&|options| options.stacks = StackPolicy::Keep);
        let expected = expected(&kept);
        let whole = with(&|_| {});
        let joined = of_samples(&whole);
        prop_assert_eq!(joined.iter().map(|(_, stack)| stack.clone()).collect::<Vec<_>>(), expected);
        let parts = with(&|options| options.partition_bytes = Some(partition));
        prop_assert_eq!(&of_samples(&parts), &joined);
        let filtered = with(&|options| {
            options.partition_bytes = Some(partition);
            options.filter.cpus = vec![cpu.to_string().parse().unwrap()];
            options.filter.excluded_providers = vec!["Kernel-StackWalk".parse().unwrap()];
        });
        let filtered = of_samples(&filtered);
        prop_assert!(!filtered.is_empty());
        prop_assert!(filtered.iter().all(|row| joined.contains(row)), "{filtered:?} of {joined:?}");
        let times = whole.events("Kernel-PerfInfo").numbers("timestamp_ns");
        let (from, to) = (*from.get(&times), *to.get(&times));
        let (from, to) = (from.min(to), from.max(to));
        let within = with(&|options| {
            (options.filter.from, options.filter.to) = (Some(TimeBound::At(from)), Some(TimeBound::At(to + 1)));
        });
        let is_within = |time: &i64| (from..=to).contains(time);
        let expected: Vec<_> = joined.into_iter().zip(&times).filter(|(_, time)| is_within(time)).map(|(row, _)| row).collect();
        prop_assert_eq!(of_samples(&within), expected);
    }
}

/// All files of a trace but what distinguishes one run from another.
fn lasting(sandbox: &Sandbox, trace: &str) -> Vec<(String, Vec<u8>)> {
    let mut files = sandbox.files(trace);
    for (name, content) in &mut files {
        if name.ends_with("manifest.json") {
            let mut manifest: Value = serde_json::from_slice(content).unwrap();
            manifest.as_object_mut().unwrap().remove("run").unwrap();
            *content = manifest.to_string().into_bytes();
        }
    }
    files
}

/// Samples and walks on three processors, walks far behind; every third buffer of a processor is in no order.
fn many() -> Vec<u8> {
    let mut cpus = [const { Vec::new() }; 3];
    for n in 0..3000_u32 {
        let time = i64::from(n) * 10;
        cpus[n as usize % 3].push(sample(time, n % 7 + 1));
        if n >= 400 {
            let of = n - 400;
            let addresses: Vec<u64> = (0..u64::from(of % 50)).collect();
            cpus[(n as usize + 1) % 3].push(walk(time, i64::from(of) * 10, of % 7 + 1, &addresses));
        }
    }
    let mut buffers = Vec::new();
    for (cpu, events) in (0..).zip(&cpus) {
        for (some, sequence) in events.chunks(20).zip(1..) {
            let mut some = some.to_vec();
            if sequence % 3 == 0 {
                some.reverse();
            }
            let full = buffer(0x2000).cpu(cpu).sequence(sequence).events(some);
            buffers.push(if sequence % 4 == 0 { full.compressed() } else { full });
        }
    }
    trace(header().processors(3).buffer_size(0x2000).log_file_mode(0x0400_0000)).buffers(buffers).to_bytes()
}

#[test]
fn steps_and_threads_and_memory_make_no_difference() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &many());
    let options = "--partition-bytes 60000";
    sandbox.t(&format!("convert a.etl -o one {options} --threads 1"), 0);
    sandbox.t(&format!("convert a.etl -o three {options} --threads 3 --memory 256MiB"), 0);
    let ran = sandbox.t(&format!("plan a.etl -o steps {options} --json"), 0);
    let plan: Value = serde_json::from_str(&ran.out).unwrap();
    let (folder, partitions) = (plan["plan"].as_str().unwrap(), plan["partitions"].as_u64().unwrap());
    assert!(partitions > 3, "{partitions}");
    for number in (0..partitions).rev() {
        sandbox.t(&format!("convert-partition {folder} {number}"), 0);
    }
    sandbox.t(&format!("commit {folder}"), 0);
    let one = lasting(&sandbox, "one/trace=a");
    assert_eq!(one, lasting(&sandbox, "three/trace=a"));
    assert_eq!(one, lasting(&sandbox, "steps/trace=a"));
    sandbox.t("convert a.etl -o whole", 0);
    let rows = |out: &str| {
        let table = sandbox.table(&format!("{out}/trace=a"), "events/Kernel-PerfInfo");
        let rows: BTreeMap<i64, String> = table.numbers("seq").into_iter().zip(table.lines("stack")).collect();
        rows
    };
    let found: Vec<String> = rows("whole").into_values().collect();
    assert!(rows("one").into_values().eq(found.iter().cloned()));
    let stack = |n: u64| {
        let addresses: Vec<String> = (0..n % 50).map(|address| address.to_string()).collect();
        if n < 2600 { format!("[{}]", addresses.join(",")) } else { "-".to_owned() }
    };
    assert_eq!(found, (0..3000).map(stack).collect::<Vec<_>>());
}
