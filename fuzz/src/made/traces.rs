//! Whole traces, small and of many kinds.

use super::Seed;
use super::blobs::{EventInfo, every_field, every_value, families, flag_names, process_start, small_manifest};
use crate::synth::*;

const OWN: Guid = guid("02020202-0202-0202-0202-020202020202");

pub(super) fn all() -> Vec<Seed> {
    let seed = |name, trace: Trace| Seed::new("trace", name, trace.to_bytes());
    let circular_buffers = circular(session(3, 0x400, 60, false), 8);
    let mut seeds = vec![
        seed("families", trace(header()).buffer(families().sequence(1))),
        seed("plain", closed(0x400, 2).buffers(session(2, 0x400, 40, false))),
        seed("compressed", closed(0x400, 2).buffers(session(2, 0x400, 40, true))),
        seed("circular", trace(header().buffer_size(0x400).processors(3).log_file_mode(2)).buffers(circular_buffers)),
        seed("not_closed", trace(header().buffer_size(0x400).not_closed()).buffers(session(1, 0x400, 12, false))),
        seed("described", described()),
        seed("disordered", disordered()),
        seed("win7", trace(header().buffer_size(0x400).layout32().version([6, 1, 1, 5]).clock(2)).buffers(win7())),
        seed("lossy", lossy()),
    ];
    let mut tail = closed(0x400, 1).buffers(session(1, 0x400, 10, false)).to_bytes();
    damage::zero_tail(&mut tail, 0x900);
    seeds.push(Seed::new("trace", "preallocated", tail));
    seeds
}

fn closed(size: u32, processors: u32) -> Trace {
    trace(header().buffer_size(size).processors(processors))
}

/// So many events of a manifest provider, the kernel and messages, by several processors.
fn session(cpus: u16, size: usize, events: i64, compressed: bool) -> Vec<Buffer> {
    let mut session = Session::new(cpus, size);
    if compressed {
        session = session.compressed();
    }
    for n in 0..events {
        let (cpu, time) = ((n % i64::from(cpus)) as u16, T0 + 1000 + n * 10);
        match n % 4 {
            0 => session.log(cpu, time, perfinfo64(0x0F2E, time).payload(payload().i64(n).u32(7).u32(1))),
            1 => session.log(cpu, time, event64(OWN, 1, 0, time).task(1).payload(payload().wstr("text").u32(n as u32))),
            2 => session.log(cpu, time, message(10).guid(OWN).time(time).arguments(n.to_le_bytes())),
            _ => session.log(cpu, time, perfinfo64(0x0524, time).version(4).payload(payload().i64(n).zeros(16))),
        }
    }
    session.finish(T0 + 1000 + events * 10)
}

/// Every way in which a trace describes its own events, and kernel events that show what ids mean.
fn described() -> Trace {
    let mut session = Session::new(1, 0x1000);
    let mut time = T0;
    let mut log = |event: Vec<u8>| session.log(0, T0, event);
    let mut next = || {
        time += 10;
        time
    };
    for event in eventsource_manifest(OWN, next(), &small_manifest("02020202-0202-0202-0202-020202020202"), 300) {
        log(event.on_disk());
    }
    log(classic::event_info(next(), process_start()).on_disk());
    log(classic::event_map_info(next(), [1; 16], &flag_names().0[16..]).on_disk());
    log(classic::event_info(next(), EventInfo::new([1; 16], 2).property("Only", 0, (10, 0), 1, 8).finish(1)).on_disk());
    let traits = tracelogging::traits("Some.Provider");
    for n in 0..3_u32 {
        log(event64(OWN, 1, 0, next()).task(1).payload(payload().wstr("text").u32(n)).on_disk());
        log(event64([1; 16], 1, 0, next())
            .payload(payload().u32(4711).u32(3).u16(1).u16(2).u16(4).bytes(&[7; 24]))
            .on_disk());
        log(event64([1; 16], 2, 0, next()).payload(payload().u64(u64::from(n))).on_disk());
        log(event64([3; 16], 0, 0, next())
            .tracelogging(traits.clone(), every_field())
            .payload(every_value())
            .on_disk());
        log(event64([4; 16], 9, 0, next()).string_only("a text of its own").on_disk());
        let process = payload().u64(1).u32(8).u32(4).u32(1).u32(0).u64(0).u32(0).astr("a.exe").wstr("a");
        let started = next();
        log(system64(0x0301, started).version(3).payload(process).on_disk());
        // Its stack, in two parts: addresses, and a key that later events define.
        let of_event = || payload().i64(started).u32(8).u32(0);
        log(perfinfo64(0x1820, next()).payload(of_event().u64(u64::from(n)).u64(2)).on_disk());
        log(perfinfo64(0x1826, next()).payload(of_event().u64(0xA0)).on_disk());
        let module = payload().u64(0x1000).u64(0x1000).u32(8).zeros(36).wstr(r"\a.dll");
        log(system64(0x140A, next()).version(2).payload(module).on_disk());
        log(system64(0x0400, next()).version(2).payload(payload().u64(0xF0).wstr("x")).on_disk());
    }
    log(perfinfo64(0x1824, next()).payload(payload().u64(0xA0).u64(7).u64(8)).on_disk());
    closed(0x1000, 1).buffers(session.finish(T0 + 1000))
}

/// Buffers whose events are in no order, or all of one time.
fn disordered() -> Trace {
    let mut random = Random::new(3);
    let buffers = (1..9_i64).map(|sequence| {
        let ticks = |random: &mut Random, n: i64| match sequence % 3 {
            0 => 500,
            1 => sequence * 100 + n,
            _ => i64::from(random.below(900_u32)),
        };
        let times: Vec<i64> = (0..12).map(|n| ticks(&mut random, n)).collect();
        let events = times.into_iter().map(|ticks| perfinfo64(0x0F2E, T0 + ticks).payload([7; 16]));
        buffer(0x400).cpu((sequence % 2) as u16).sequence(sequence).events(events)
    });
    closed(0x400, 2).buffers(buffers.collect::<Vec<_>>())
}

fn win7() -> Vec<Buffer> {
    let filled = |n: i64| {
        let times = (0..6).map(|k| START + n * 100 + k);
        let events = times.map(|time| system32(0x0501, time).version(3).tid(4).pid(8).payload([5; 36]));
        buffer(0x400).cpu_win7((n % 2) as u8).sequence(n).events(events)
    };
    (1..5).map(filled).collect()
}

/// All that describes losses: flags, counters, records, numbers that no buffer has, a damaged event and a cut end.
fn lossy() -> Trace {
    use buffer::flag;
    let at = |ticks: i64| perfinfo64(0x0F22, T0 + ticks).payload([0; 8]);
    let filled = |sequence: i64, ticks: i64| buffer(0x400).sequence(sequence).event(at(ticks)).event(at(ticks + 5));
    let mut damaged = filled(5, 50);
    damaged.push(&[0xFF, 0x7F, 0x13, 0xC0, 0, 0, 0, 0]);
    let flagged = filled(2, 20).flags(flag::EVENTS_LOST | flag::BUFFER_LOST);
    let recorded = filled(6, 60).event(classic::lost_event(32, T0 + 66));
    trace(header().buffer_size(0x400).events_lost(3).buffers_lost(1)).buffers([
        filled(1, 10),
        flagged,
        damaged,
        recorded,
    ])
}
