//! Whose an event is: `process_id`, `thread_id`, `process_name` and `attribution` of every row, and the filters on them.
//!
//! Layouts of payloads are those of the kernel's documented classes, written here by hand.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::collections::BTreeMap;

use proptest::prelude::*;
use support::{Converted, Sandbox, convert, convert_with};
use synth::*;

const IDS: &str = "process_id thread_id process_name attribution";

/// The start of a process, version 3, of 64 bits, written by thread 1 of process 4.
fn process(time: i64, id: u32, name: &str) -> Kernel {
    let data = payload().u64(0).u32(id).u32(4).u32(1).i32(259).u64(0).u32(0);
    system64(0x0301, T0 + time).version(3).pid(4).tid(1).payload(data.astr(name).wstr(""))
}

fn thread(time: i64, process: u32, id: u32) -> Kernel {
    let data = payload().u32(process).u32(id).zeros(5 * 8).u64(0).u64(0).u32(0).zeros(4);
    system64(0x0501, T0 + time).version(3).pid(4).tid(1).payload(data)
}

/// A context switch, version 4: from thread 9.
fn switch(time: i64, to: u32) -> Kernel {
    perfinfo64(0x0524, T0 + time).version(4).payload(payload().u32(to).u32(9).zeros(16))
}

/// A sample of the profiler, version 2.
fn sample(time: i64, thread: u32) -> Kernel {
    perfinfo64(0x0F2E, T0 + time).payload(payload().u64(0x1000).u32(thread).u16(1).u16(0))
}

/// A read from disk, version 3.
fn read(time: i64, thread: u32) -> Kernel {
    perfinfo64(0x010A, T0 + time).version(3).payload(payload().zeros(16).u64(0).u64(0).u64(0).u64(0).u32(thread))
}

/// Bytes that were sent over TCP, version 2.
fn sent(time: i64, process: u32) -> Kernel {
    perfinfo64(0x060A, T0 + time).payload(payload().u32(process).u32(100).zeros(36))
}

fn recorded(events: &[Kernel], in_buffer: usize) -> Vec<u8> {
    let buffers = events.chunks(in_buffer).zip(1..);
    let buffers = buffers.map(|(events, sequence)| buffer(0x1000).sequence(sequence).events(events.to_vec()));
    trace(header()).buffers(buffers).to_bytes()
}

/// Whose the events are, in order, but for the header event of the trace.
fn whose(found: &Converted) -> Vec<String> {
    let rows = found.datasets().into_iter().flat_map(|dataset| {
        let table = found.events(&dataset);
        table.numbers("seq").into_iter().zip(table.lines(IDS))
    });
    let rows: BTreeMap<i64, String> = rows.filter(|(seq, _)| *seq > 0).collect();
    rows.into_values().collect()
}

#[test]
fn kernel_events_are_whose_their_payload_and_the_thread_table_say() {
    let events = [
        sample(5, 30),
        process(10, 8, "a.exe"),
        thread(20, 8, 30),
        switch(30, 30),
        sample(31, 30),
        read(32, 30),
        sent(33, 8),
        sent(34, 12),
        sample(35, 99),
        // The id of the thread is used again, and then that of the process.
        thread(40, 12, 30),
        sample(41, 30),
        thread(50, 8, 30),
        process(60, 8, "b.exe"),
        sample(61, 30),
        // Cut off before the thread, and no thread.
        perfinfo64(0x0F2E, T0 + 70).payload(payload().u64(0x1000)),
        sample(71, u32::MAX),
        // The idle thread, of which nothing is recorded.
        switch(80, 0),
        // The header goes first.
        system64(0x0F2E, T0 + 90).version(2).pid(8).tid(7).payload(payload().u64(0x1000).u32(30).u16(1).u16(0)),
        // A hook that names nobody.
        perfinfo64(0x0F43, T0 + 100).payload([0; 24]),
    ];
    assert_eq!(
        whose(&convert(&recorded(&events, 4))),
        [
            "-|30|-|payload",
            "4|1|-|header",
            "4|1|-|header",
            "8|30|a.exe|thread",
            "8|30|a.exe|thread",
            "8|30|a.exe|thread",
            "8|-|a.exe|payload",
            "12|-|-|payload",
            "-|99|-|payload",
            "4|1|-|header",
            "12|30|-|thread",
            "4|1|-|header",
            "4|1|-|header",
            "8|30|b.exe|thread",
            "-|-|-|-",
            "-|-|-|-",
            "-|0|-|payload",
            "8|7|b.exe|header",
            "-|-|-|-"
        ]
    );
}

#[test]
fn filters_ask_for_what_the_columns_hold() {
    let events = [
        process(10, 8, "Chrome.exe"),
        process(11, 12, "chromedriver.exe"),
        thread(20, 8, 30),
        sample(30, 30),
        sent(31, 12),
        sent(32, 16),
        switch(33, 40),
    ];
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path("t.etl"), recorded(&events, 20)).unwrap();
    // Numbers of rows by `seq`; 0 is the header event of the trace, which is of nobody here.
    let t = |options: &str, seqs: &str| {
        sandbox.t(&format!("convert t.etl -o out --if-exists replace {options}"), 0);
        let folder = sandbox.path("out/trace=t/events");
        let mut found: Vec<i64> = std::fs::read_dir(folder)
            .unwrap()
            .flat_map(|dataset| support::Table::read_folder(&dataset.unwrap().path()).numbers("seq"))
            .collect();
        found.sort_unstable();
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "), seqs, "{options}");
    };
    t("--pid 8", "4");
    t("--pid chrome.exe", "4");
    t("--pid CHROME*", "4 5");
    t("--pid chrome.exe,16", "4 6");
    t("--pid chromedriver.exe --pid 16-20", "5 6");
    t("--tid 30", "4");
    t("--tid 40", "7");
    t("--pid chrome* --tid 30", "4");
    let ran = sandbox.run("convert t.etl -o none --pid nobody.exe");
    assert!(ran.err.contains("trace=t is not published: no event passes the filters"), "{}", ran.err);
    for (name, expected) in [("nobody.exe", ""), ("chrom.exe", "; did you mean Chrome.exe?")] {
        let ran = sandbox.run(&format!("convert t.etl -o some --if-exists replace --pid {name} --pid 8"));
        let said = format!("no event here is of a process called {name}{expected}\n");
        assert!(ran.err.contains(&said), "{}", ran.err);
    }
    let ran = sandbox.t("convert t.etl -o none --pid 12x", 2);
    assert!(
        ran.err.contains("expected numbers and ranges, such as 4, 1,4-7 or 0x1f, or the name of an image"),
        "{}",
        ran.err
    );
}

/// What happens to one of some threads or processes.
#[derive(Clone, Copy, Debug)]
enum Deed {
    StartProcess(u32),
    StartThread(u32, u32),
    Sample(u32),
    Send(u32),
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let (process, thread) = (1..6_u32, 20..30_u32);
    let deed = prop_oneof![
        1 => process.clone().prop_map(Deed::StartProcess),
        2 => (process.clone(), thread.clone()).prop_map(|(process, thread)| Deed::StartThread(process, thread)),
        6 => thread.prop_map(Deed::Sample),
        2 => process.prop_map(Deed::Send),
    ];
    prop::collection::vec(deed, 1..200)
}

fn event((time, deed): (i64, &Deed)) -> Kernel {
    match *deed {
        Deed::StartProcess(id) => process(time, id, &format!("p{time}.exe")),
        Deed::StartThread(process, id) => thread(time, process, id),
        Deed::Sample(id) => sample(time, id),
        Deed::Send(id) => sent(time, id),
    }
}

/// Whose the events are, by going through them from the first to the last.
fn expected(deeds: &[Deed]) -> Vec<String> {
    let (mut names, mut owners) = (BTreeMap::new(), BTreeMap::new());
    let shown = |value: Option<String>| value.unwrap_or("-".to_owned());
    let row = |(time, deed): (i64, &Deed)| match *deed {
        Deed::StartProcess(id) => {
            names.insert(id, format!("p{time}.exe"));
            format!("4|1|{}|header", shown(names.get(&4).cloned()))
        }
        Deed::StartThread(process, id) => {
            owners.insert(id, process);
            format!("4|1|{}|header", shown(names.get(&4).cloned()))
        }
        Deed::Sample(id) => {
            let process: Option<u32> = owners.get(&id).copied();
            let name = process.and_then(|process| names.get(&process).cloned());
            let source = if process.is_some() { "thread" } else { "payload" };
            format!("{}|{id}|{}|{source}", shown(process.map(|id| id.to_string())), shown(name))
        }
        Deed::Send(id) => format!("{id}|-|{}|payload", shown(names.get(&id).cloned())),
    };
    (1..).zip(deeds).map(row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_row_is_the_same_whatever_the_partitions_and_filters(
        mut deeds in deeds(), in_buffer in 1..30_usize, partition in 1000..20_000_u64, asked in 1..6_u32,
    ) {
        deeds.push(Deed::Send(asked));
        let events: Vec<Kernel> = (1..).zip(&deeds).map(event).collect();
        let bytes = recorded(&events, in_buffer);
        let expected = expected(&deeds);
        prop_assert_eq!(&whose(&convert(&bytes)), &expected);
        let parts = convert_with(&[&bytes], |options| options.partition_bytes = Some(partition));
        prop_assert_eq!(&whose(&parts), &expected);
        let filtered = convert_with(&[&bytes], |options| {
            options.filter.processes = vec![asked.to_string().parse().unwrap()];
            options.partition_bytes = Some(partition);
        });
        let asked = expected.into_iter().filter(|row| row.starts_with(&format!("{asked}|")));
        prop_assert_eq!(whose(&filtered), asked.collect::<Vec<_>>());
    }
}
