//! Events that the built-in schemas describe where what their providers register says nothing, in made traces and in real ones.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use support::table::hex;
use support::{Converted, START_NS, convert, corpus};
use synth::*;

const DOTNET_PRIVATE: Guid = guid("763fd754-7086-4dfe-95eb-c01a46faf4ca");
const IIS_LOGGING: Guid = guid("7e8ad27f-b271-4ea2-a783-a47bde29143b");
const COLLECTOR: Guid = guid("9e5f9046-43c6-4f62-ba13-7b19896253ff");
const OMA_DM: Guid = guid("3b9602ff-e09b-4c6c-bc19-1a3dfa8f2250");

/// A trace with these events in one buffer.
fn converted(events: &[synth::Event]) -> Converted {
    convert(&trace(header()).buffer(buffer(0x2000).sequence(1).events(events.to_vec())).to_bytes())
}

/// The history of a heap: ten sizes of each of five generations, in the pointer's width; the size `i` of generation `g` is
/// 100 g + i. Behind them six numbers, `more`, and the number of the runtime.
fn history(is_64_bit: bool, more: &[u8]) -> Payload {
    let mut fields = payload();
    for size in (0..5_u32).flat_map(|generation| (0..10).map(move |size| 100 * generation + size)) {
        fields = if is_64_bit { fields.u64(size.into()) } else { fields.u32(size) };
    }
    fields.u32(4).u32(48).u32(31).u32(0).u32(0x8000_0001).u32(7).bytes(more).u8(11)
}

fn collected(event: synth::Event, fields: Payload) -> synth::Event {
    event.opcode(17).task(1).payload(fields)
}

#[test]
fn the_history_of_a_heap_has_the_layouts_of_both_runtimes_in_both_widths() {
    let commit = 0x0102_0304_0506_0708_u64;
    for is_64_bit in [false, true] {
        for is_newer in [false, true] {
            let event = if is_64_bit { event64 } else { event32 }(DOTNET_PRIVATE, 4, 2, T0 + 1);
            let more = if is_newer { &commit.to_le_bytes()[..] } else { &[] };
            let fields = history(is_64_bit, more);
            let length = if is_64_bit { 425 } else { 225 } + if is_newer { 8 } else { 0 };
            assert_eq!(fields.len(), length);
            let table = converted(&[collected(event, fields)]).events("Microsoft-Windows-DotNETRuntimePrivate");
            let numbers = "event_name CondemnReasons0 CondemnReasons1 MemoryPressure ExpandMechanisms CompactMechanisms \
                           HeapIndex ClrInstanceID decode_source decode_status payload";
            assert_eq!(
                table.row(0, numbers),
                "GarbageCollectionPrivate/GCPerHeapHistory|4|48|31|0|2147483649|7|11|pack|ok|-"
            );
            assert_eq!(table.names.contains(&"ExtraGen0Commit".to_owned()), is_newer);
            if is_newer {
                assert_eq!(table.cell(0, "ExtraGen0Commit"), commit.to_string());
            }
            assert_eq!(
                table.cell(0, "Values"),
                "[{0:1:2:3:4:5:6:7:8:9},{100:101:102:103:104:105:106:107:108:109},{200:201:202:203:204:205:206:207:208:209},\
                 {300:301:302:303:304:305:306:307:308:309},{400:401:402:403:404:405:406:407:408:409}]"
            );
        }
    }
}

#[test]
fn runtimes_of_both_kinds_in_one_trace_keep_their_bytes() {
    let older = history(false, &[]);
    let newer = history(false, &[0; 8]);
    let event = |time, fields: &Payload| collected(event32(DOTNET_PRIVATE, 4, 2, time), fields.clone());
    let table = converted(&[event(T0 + 1, &newer), event(T0 + 2, &newer), event(T0 + 3, &older)])
        .events("Microsoft-Windows-DotNETRuntimePrivate");
    let kept = hex(&Vec::from(older));
    assert_eq!(
        table.lines("HeapIndex ClrInstanceID decode_status payload"),
        ["7|11|ok|-".to_owned(), "7|11|ok|-".to_owned(), format!("7|-|error|{kept}")]
    );
}

/// A request as IIS logs it.
fn request() -> Payload {
    payload()
        .u32(0x0025_CFFF)
        .wstr("2015-03-04")
        .wstr("05:06:07")
        .wstr("203.0.113.9")
        .wstr("-")
        .wstr("W3SVC1")
        .wstr("WEB1")
        .wstr("192.0.2.1")
        .astr("GET")
        .wstr("/index.htm")
        .astr("a=1")
        .u16(404)
        .u32(2)
        .u64(5_000_000_000)
        .u64(321)
        .u64(15)
        .u16(443)
        .astr("Mozilla/5.0")
        .astr("-")
        .astr("http://example.org/")
        .wstr("HTTP/1.1")
        .astr("example.org")
        .u16(7)
        .wstr("x")
}

#[test]
fn requests_of_iis_have_the_names_of_its_log() {
    let event = event64(IIS_LOGGING, 6200, 0, T0 + 1).payload(request());
    let found = converted(&[event]);
    let table = found.events("Microsoft-Windows-IIS-Logging");
    let columns = "EnabledFieldsFlags date time c-ip cs-username s-sitename s-computername s-ip cs-method cs-uri-stem \
                   cs-uri-query sc-status sc-win32-status sc-bytes cs-bytes time-taken s-port csUser-Agent csCookie csReferer \
                   cs-version cs-host sc-substatus CustomFields decode_source decode_status payload";
    assert_eq!(
        table.row(0, columns),
        "2478079|2015-03-04|05:06:07|203.0.113.9|-|W3SVC1|WEB1|192.0.2.1|GET|/index.htm|a=1|404|2|5000000000|321|15|443|\
         Mozilla/5.0|-|http://example.org/|HTTP/1.1|example.org|7|x|pack|ok|-"
    );
}

#[test]
fn the_collector_of_visual_studio_says_when_it_profiled_what() {
    let ticks = |time: i64| u64::try_from(time).unwrap();
    let events = [
        event64(COLLECTOR, 1, 2, T0 + 10).payload(payload().u32(2140).u32(2).u64(ticks(T0 + 3))),
        event64(COLLECTOR, 2, 1, T0 + 20).payload(payload().u32(2140).u64(ticks(T0 + 16))),
        event64(COLLECTOR, 6, 0, T0 + 30).payload(payload().u32(1).u64(ticks(T0 + 29)).f64(12.5)),
        event64(COLLECTOR, 7, 0, T0 + 40).payload(payload().wstr("here")),
        event64(COLLECTOR, 1, 1, T0 + 50).payload(payload().u32(7).u32(1)),
    ];
    let table = converted(&events).events("Microsoft-Windows-EtwCollector");
    let at = |ticks: i64| (START_NS + ticks * 1_000_000_000 / FREQUENCY).to_string();
    assert_eq!(
        table.lines("event_name ProcessID StartReason Timestamp__field_ns Counter Value Message decode_status"),
        [
            format!("TargetProfStarted|2140|2|{}|-|-|-|ok", at(3)),
            format!("TargetProfStopped|2140|-|{}|-|-|-|ok", at(16)),
            format!("CounterInfo|-|-|{}|1|12.5|-|ok", at(29)),
            "MarkInfo|-|-|-|-|-|here|ok".to_owned(),
            "TargetProfStarted|7|1|-|-|-|-|ok".to_owned(),
        ]
    );
}

#[test]
fn a_provider_that_only_documents_name_has_its_name() {
    let found = converted(&[event64(OMA_DM, 257, 0, T0 + 1).payload(payload().u32(200))]);
    let table = found.events("Microsoft-WindowsPhone-OmaDm-Client-Provider");
    assert_eq!(table.lines("event_id decode_source decode_status payload"), ["257|none|no_schema|c8000000"]);
}

/// The conversion of a trace of the corpus.
fn real(name: &str) -> Option<Converted> {
    Some(convert(&std::fs::read(corpus()?.join(name)).unwrap()))
}

#[test]
fn real_histories_of_heaps_agree_with_the_statistics_behind_them() {
    for (name, histories) in [("perfview-net.4.5.2.x64.etl", 264), ("perfview-net.4.5.x86-old.etl", 1050)] {
        let Some(found) = real(name) else { return };
        let history = found.events("Microsoft-Windows-DotNETRuntimePrivate");
        let statistics = found.events("Microsoft-Windows-DotNETRuntime");
        let by_name = |table: &support::Table, name: &str| -> Vec<usize> {
            (0..table.rows.len()).filter(|&row| table.cell(row, "event_name") == name).collect()
        };
        let rows = by_name(&history, "GarbageCollectionPrivate/GCPerHeapHistory");
        assert_eq!(rows.len(), histories, "{name}");
        let after = by_name(&statistics, "GarbageCollection/GCHeapStats");
        for row in rows {
            assert_eq!(history.row(row, "decode_source decode_status payload"), "pack|ok|-", "{name}");
            let who = history.row(row, "process_id ClrInstanceID");
            let time: i64 = history.cell(row, "timestamp_ns").parse().unwrap();
            let next = after.iter().find(|&&other| {
                statistics.cell(other, "timestamp_ns").parse::<i64>().unwrap() >= time
                    && statistics.row(other, "process_id ClrInstanceID") == who
            });
            let sizes =
                statistics.row(*next.unwrap(), "GenerationSize0 GenerationSize1 GenerationSize2 GenerationSize3");
            assert_eq!(sizes_after(history.cell(row, "Values")), sizes, "{name}: {}", history.cell(row, "seq"));
        }
    }
}

/// `SizeAfter` of the first four generations; it is the fourth member.
fn sizes_after(values: &str) -> String {
    let generations = values.trim_matches(['[', ']']).split("},{").map(|one| one.trim_matches(['{', '}']));
    let sizes: Vec<&str> = generations.take(4).map(|one| one.split(':').nth(3).unwrap()).collect();
    sizes.join("|")
}

#[test]
fn a_real_collector_profiled_a_process_between_two_times() {
    let Some(found) = real("perfview-diaghub.user_injected.1.etl") else { return };
    let table = found.events("Microsoft-Windows-EtwCollector");
    assert_eq!(
        table.lines("event_name ProcessID StartReason Timestamp__field_ns timestamp_ns decode_status"),
        [
            "TargetProfStopped|2140|-|1600123809532515400|1600123809532515800|ok",
            "TargetProfStarted|2140|2|1600123798754475000|1600123809532518400|ok",
            "MachineInfo|-|-|-|1600123809578064500|ok",
        ]
    );
}
