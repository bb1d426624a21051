//! From ticks to times: clock types, frequencies, anchors, and what is kept where nanoseconds do not suffice.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use base::clock::ClockAnchor;
use support::{Converted, START_NS, convert, convert_with};
use synth::*;

const SECOND: i64 = 1_000_000_000;

/// An event of which only the time matters.
fn at(ticks: i64) -> Kernel {
    perfinfo64(0x0F99, ticks).payload([1])
}

fn recorded(head: Header, ticks: &[i64]) -> Vec<u8> {
    let data = buffer(0x1000).sequence(1).events(ticks.iter().map(|&ticks| at(ticks)));
    trace(head).buffer(data).to_bytes()
}

fn converted(head: Header, ticks: &[i64]) -> Converted {
    convert(&recorded(head, ticks))
}

/// The times of events at these ticks: nanoseconds from the start of the session, ticks, status.
#[track_caller]
fn t(head: Header, ticks: &[i64], expected: &[(i64, &str)]) {
    let table = converted(head, ticks).events("Kernel-PerfInfo");
    let found: Vec<_> = table.numbers("timestamp_ns").into_iter().zip(table.lines("ticks time_status")).collect();
    let expected: Vec<_> = expected.iter().map(|&(ns, rest)| (START_NS + ns, rest.to_owned())).collect();
    assert_eq!(found, expected);
}

/// Cells of `clock.parquet`.
#[track_caller]
fn facts(found: &Converted, columns: &str, expected: &str) {
    assert_eq!(found.sidecar("clock").row(0, columns), expected, "{columns}");
}

const KIND: &str = "clock_type clock quality resolution_ns";
const SCALE: &str = "ticks_to_ns_numerator ticks_to_ns_denominator first_ticks base_ns anchor";

#[test]
fn performance_counter_of_10_mhz() {
    t(header(), &[T0, T0 + 1, T0 + 10_000_000], &[(0, "-|-"), (100, "-|-"), (SECOND, "-|-")]);
    let found = converted(header(), &[T0 + 1]);
    facts(&found, KIND, "1|qpc|good|100");
    facts(&found, SCALE, &format!("100|1|1000000|{START_NS}|start"));
    // An hour before the start, the header event's tick is 0.1 s.
    facts(&found, "boot_anchor_ns anchor_difference_ns", &format!("{}|-3599900000000", START_NS - 3_599_900_000_000));
    facts(&found, "double_formula_max_error_ns ties saturated_times inherited_times", "0|0|0|0");
}

#[test]
fn odd_frequencies_round_toward_the_past() {
    // 279.365... ns.
    let head = || header().frequency(3_579_545);
    let ticks = [T0 - 3_579_545, T0 - 1, T0, T0 + 1, T0 + 2, T0 + 3_579_545];
    t(head(), &ticks, &[(-SECOND, "-|-"), (-280, "-|-"), (0, "-|-"), (279, "-|-"), (558, "-|-"), (SECOND, "-|-")]);
    let table = converted(head(), &[T0 - 1, T0 + 4]).events("Kernel-PerfInfo");
    // 280 ns before and 1117 ns behind a whole second.
    assert_eq!(table.numbers("timestamp"), [START_NS / 1000 - 1, START_NS / 1000 + 1]);
    facts(
        &converted(head(), &[]),
        "ticks_to_ns_numerator ticks_to_ns_denominator resolution_ns",
        "200000000|715909|280",
    );
    // A century later: 3155760000 s, without drift.
    let century = 3_155_760_000;
    t(head(), &[T0 + century * 3_579_545 + 1], &[(century * SECOND + 279, "-|-")]);
}

#[test]
fn system_time_needs_no_base() {
    // The header event's own tick is 500 ns after StartTime.
    let head = || header().clock(2).time(START + 5);
    t(head(), &[START - 1, START, START + 1], &[(-100, "-|-"), (0, "-|-"), (100, "-|-")]);
    let found = converted(head(), &[START]);
    assert_eq!(found.events("Kernel-EventTrace").numbers("timestamp_ns"), [START_NS + 500]);
    facts(&found, KIND, "2|system_time|adjustable|100");
    facts(&found, "boot_anchor_ns anchor_difference_ns", "-|-");
    // Before Windows 10 its steps are timer ticks.
    facts(&converted(head().build(7601), &[]), KIND, "2|system_time|coarse|15625000");
    // Of private sessions they are on every system.
    facts(&converted(head().log_file_mode(0x801), &[]), KIND, "2|system_time|coarse|15625000");
    facts(&converted(head(), &[]), "sees_clock_adjustments", "true");
    facts(&converted(header(), &[]), "sees_clock_adjustments", "false");
}

#[test]
fn cpu_cycles() {
    // 3592 cycles are a microsecond; the ticks are kept because they are finer than a nanosecond.
    let head = || header().clock(3).cpu_mhz(3592);
    let ticks = |d: i64| format!("{}|-", T0 + d);
    let expected = [(-1, ticks(-1)), (0, ticks(3)), (1, ticks(4)), (1000, ticks(3592))];
    let expected: Vec<_> = expected.iter().map(|(ns, rest)| (*ns, rest.as_str())).collect();
    t(head(), &[T0 - 1, T0 + 3, T0 + 4, T0 + 3592], &expected);
    let found = converted(head(), &[]);
    facts(&found, KIND, "3|cpu_cycle|unreliable|1");
    facts(&found, "cpu_mhz ticks_to_ns_numerator ticks_to_ns_denominator", "3592|125|449");
}

#[test]
fn without_a_frequency_a_tick_is_a_nanosecond() {
    for head in [header().frequency(0), header().frequency(-5), header().clock(3).cpu_mhz(0)] {
        let ticks = format!("{}|unscaled", T0 + 7);
        t(head.clone(), &[T0 + 7], &[(7, &ticks)]);
        let found = converted(head, &[]);
        facts(&found, "ticks_to_ns_numerator ticks_to_ns_denominator resolution_ns quality", "-|-|-|unreliable");
        assert_eq!(found.sidecar("issues").lines("severity code"), ["warning|clock_unscaled"]);
    }
}

#[test]
fn the_default_clock_is_known_by_its_size() {
    facts(&converted(header().clock(0).time(START), &[START]), "clock_type clock", "0|system_time");
    t(header().clock(0).time(START), &[START + 1], &[(100, "-|-")]);
    facts(&converted(header().clock(0), &[T0]), "clock_type clock", "0|qpc");
    t(header().clock(0), &[T0 + 1], &[(100, "-|-")]);
}

#[test]
fn a_declared_clock_that_cannot_be_is_overruled() {
    for (declared, time, clock) in
        [(1, START, "system_time"), (3, START + 9_000_000, "system_time"), (2, T0, "qpc"), (9, T0, "qpc")]
    {
        let found = converted(header().clock(declared).time(time), &[time + 1]);
        facts(&found, "clock_type clock", &format!("{declared}|{clock}"));
        assert_eq!(found.sidecar("issues").lines("severity code"), ["warning|clock_type_overruled"]);
    }
    // A tick of that size that is far from StartTime is no system time.
    let found = converted(header().clock(1).time(START - 36_000_000_000), &[START]);
    facts(&found, "clock_type clock", "1|qpc");
    assert_eq!(found.sidecar("issues").lines("code"), [""; 0]);
}

#[test]
fn times_can_hang_on_the_boot() {
    let found = convert_with(&[&recorded(header(), &[T0 + 1])], |options| options.anchor = ClockAnchor::Boot);
    // Tick 0 is an hour before the start; T0 is 0.1 s of 10 MHz.
    let boot = START_NS - 3600 * SECOND;
    assert_eq!(found.all("timestamp_ns"), [boot + SECOND / 10, boot + SECOND / 10 + 100].map(|ns| ns.to_string()));
    facts(&found, SCALE, &format!("100|1|0|{boot}|boot"));
    facts(&found, "start_anchor_ns boot_anchor_ns", &format!("{START_NS}|{}", boot + SECOND / 10));
    // System time needs no anchor.
    let bytes = recorded(header().clock(2).time(START), &[START + 1]);
    let found = convert_with(&[&bytes], |options| options.anchor = ClockAnchor::Boot);
    assert_eq!(found.all("timestamp_ns"), [START_NS, START_NS + 100].map(|ns| ns.to_string()));
}

#[test]
fn times_beyond_64_bits_saturate_and_keep_their_order() {
    let far = i64::MAX / 2;
    let found = converted(header(), &[i64::MAX, far, T0 + 1, i64::MIN, i64::MIN + 1]);
    let table = found.events("Kernel-PerfInfo");
    let (low, high) = (i64::MIN, i64::MAX);
    let expected = [
        format!("-9223372036854776|{low}|0|{low}|saturated"),
        format!("-9223372036854776|{low}|1|{}|saturated", i64::MIN + 1),
        format!("{}|{}|3|-|-", START_NS / 1000, START_NS + 100),
        format!("9223372036854775|{high}|4|{far}|saturated"),
        format!("9223372036854775|{high}|5|{high}|saturated"),
    ];
    assert_eq!(table.lines("timestamp timestamp_ns seq ticks time_status"), expected);
    facts(&found, "saturated_times ties double_formula_max_error_ns", "4|2|0");
    // Their difference to the documented formula means nothing.
    facts(&converted(header().frequency(3_579_545), &[i64::MAX]), "double_formula_max_error_ns", "0");
}

#[test]
fn hostile_clocks_do_not_stop_the_conversion() {
    for head in [
        header().frequency(i64::MAX),
        header().frequency(1),
        header().start_time(i64::MAX),
        header().start_time(i64::MIN).boot_time(i64::MIN),
        header().clock(2).time(i64::MAX),
        header().clock(2).time(i64::MIN),
        header().clock(u32::MAX).time(i64::MIN).timer_resolution(u32::MAX),
        header().clock(3).cpu_mhz(u32::MAX).time(i64::MIN),
        header().end_time(i64::MIN).boot_time(i64::MAX),
    ] {
        for anchor in [ClockAnchor::Start, ClockAnchor::Boot] {
            let ticks = [i64::MIN, -1, 0, 1, T0, START, i64::MAX];
            let found = convert_with(&[&recorded(head.clone(), &ticks)], |options| options.anchor = anchor);
            let ns: Vec<i64> = found.all("timestamp_ns").iter().map(|ns| ns.parse().unwrap()).collect();
            assert!(ns.is_sorted(), "{head:?}: {ns:?}");
        }
    }
}

#[test]
fn ticks_of_one_nanosecond_keep_their_order() {
    // 3 GHz: three ticks a nanosecond. The processors wrote them in turn.
    let head = header().frequency(3_000_000_000).processors(3);
    let of = |cpu: u16, ticks: &[i64]| {
        let events = ticks.iter().map(|&ticks| at(T0 + ticks));
        buffer(0x1000).cpu(cpu).sequence(1 + i64::from(cpu)).events(events)
    };
    let data = [of(2, &[0, 3, 6]), of(1, &[1, 4, 6]), of(0, &[2, 5, 6])];
    let table = convert(&trace(head).buffers(data).to_bytes()).events("Kernel-PerfInfo");
    let expected = [(0, 0, 2), (0, 1, 1), (0, 2, 0), (1, 3, 2), (1, 4, 1), (1, 5, 0), (2, 6, 0), (2, 6, 1), (2, 6, 2)];
    let expected = expected.map(|(ns, ticks, cpu)| format!("{}|{}|{cpu}|-", START_NS + ns, T0 + ticks));
    assert_eq!(table.lines("timestamp_ns ticks cpu time_status"), expected);
}

#[test]
fn events_without_a_time_take_their_neighbours() {
    let without = |number| message(number);
    let first = buffer(0x1000).cpu(1).sequence(1);
    let first = first.event(without(1)).event(at(T0 + 50)).event(without(2)).event(without(3)).event(at(T0 + 70));
    // A buffer in which no event has a time gets that of the session's start.
    let second = buffer(0x1000).cpu(1).sequence(2).event(without(4));
    let other = buffer(0x1000).sequence(3).event(at(T0 + 50)).event(at(T0 + 60));
    let found = convert(&trace(header().processors(2)).buffers([first, second, other]).to_bytes());
    let of = |ticks: i64, rest: &str| format!("{}|{rest}", START_NS + 100 * ticks);
    let expected = [
        of(0, "0|-|-"),
        of(0, "1|4|inherited"),
        of(50, "0|-|-"),
        of(50, "1|1|inherited"),
        of(50, "1|-|-"),
        of(50, "1|2|inherited"),
        of(50, "1|3|inherited"),
        of(60, "0|-|-"),
        of(70, "1|-|-"),
    ];
    assert_eq!(found.all("timestamp_ns cpu event_id time_status"), expected);
    facts(&found, "inherited_times ties", "4|5");
}

#[test]
fn the_documented_formula_is_measured() {
    let error = |head: Header, ticks: &[i64], expected: &str| {
        facts(&converted(head, ticks), "double_formula_max_error_ns", expected);
    };
    // Between 2^56 and 2^57 doubles are 16 apart, and StartTime is a multiple of 32: 8 goes down, 9 goes up.
    let system = || header().clock(2).time(START);
    error(system(), &[START + 16], "0");
    error(system(), &[START + 9], "700");
    error(system(), &[START + 8, START + 9], "-800");
    // 2.79 and 5.59 units of 100 ns are cut to 2 and 5: three apart, where the exact difference is cut to 2.
    error(header().frequency(3_579_545).time(1), &[2], "100");
    // 10 units a microsecond, at 3000 MHz: 5 cycles are 0.0167 units, 299 are 0.997, 304 are 1.01.
    error(header().clock(3).cpu_mhz(3000).time(5), &[304], "100");
    error(header().clock(3).cpu_mhz(3000).time(0), &[304], "0");
}
