//! `report`, as a whole tool: a page of a trace or of what it was converted to, there whole or not at all, and nothing beside it.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::fs;

use base::progress::NoProgress;
use published::PublishedTrace;
use published::frames::{Needed, needed};
use support::Sandbox;
use synth::tracelogging::{field, schema, traits, ty};
use synth::{OnDisk as _, T0, Trace};
use synth::{buffer, damage, event64, guid, header, payload, perfinfo64, system64, trace};

const SHOP: synth::Guid = guid("5f0b6c1e-3c0a-5d7e-9a41-20c8a5e0f311");

fn with_example() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("example.etl", &fs::read("examples/example.etl").unwrap());
    sandbox
}

#[test]
fn a_trace_and_its_dataset_have_one_page() {
    let sandbox = with_example();
    sandbox.t("report example.etl -o a.html -q", 0);
    assert_eq!(sandbox.names("."), ["a.html", "example.etl"], "the temporary folder is gone");
    sandbox.t("convert example.etl -o out -q", 0);
    let page = fs::read_to_string(sandbox.path("a.html")).unwrap();
    for subject in ["out", "out/trace=example"] {
        assert_eq!(sandbox.t(&format!("report {subject} -o - -q"), 0).out, page);
    }
    sandbox.t("report example.etl -o b.html -q --threads 3", 0);
    assert_eq!(fs::read_to_string(sandbox.path("b.html")).unwrap(), page);
    assert!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">") && page.len() < 2 << 20);
    assert!(page.contains("<dt>Events</dt><dd>1,219</dd>"));
    assert!(page.contains("<th scope=\"row\">Microsoft-Windows-DNS-Client</th><td class=\"n\">73</td>"));
}

#[test]
fn layouts_and_types_of_numbers_change_no_page() {
    let sandbox = with_example();
    let pages = ["", "--layout event", "--integers exact"].map(|options| {
        sandbox.t(&format!("convert example.etl -o out -q --if-exists replace {options}"), 0);
        sandbox.t("report out -o - -q", 0).out
    });
    assert_eq!(pages[0], pages[1]);
    assert_eq!(pages[0], pages[2]);
}

#[test]
fn names_of_a_trace_are_no_markup() {
    let sandbox = Sandbox::new();
    let metadata = schema("<script>").field(field("Amount", ty::UINT32));
    let event = event64(SHOP, 0, 0, T0 + 1)
        .tracelogging(traits("<b onclick='x'>\u{202e}"), metadata)
        .payload(payload().u32(7))
        .on_disk();
    let buffers = buffer(0x10000).sequence(1).events([event]);
    sandbox.file("t.etl", &trace(header().buffer_size(0x10000)).buffer(buffers).to_bytes());
    let page = sandbox.t("report t.etl -o - -q", 0).out;
    assert!(!page.contains("<script") && !page.contains("<b ") && !page.contains('\u{202e}'));
    assert_eq!(page.matches("<dt>Providers</dt><dd>2</dd>").count(), 1);
}

#[test]
fn what_is_no_trace_or_several_leaves_nothing() {
    let sandbox = with_example();
    sandbox.file("bad.etl", b"no trace");
    sandbox.t("report bad.etl -o a.html", 3);
    sandbox.t("report missing.etl -o a.html", 3);
    sandbox.file("two/a.etl", &fs::read("examples/example.etl").unwrap());
    sandbox.file("two/b.etl", &fs::read("examples/example.etl").unwrap());
    let ran = sandbox.t("report two -o a.html", 2);
    assert!(ran.err.contains("expected one trace for one page, found 2"), "{}", ran.err);
    sandbox.t("convert two -o out -q", 0);
    sandbox.t("report out -o a.html", 2);
    sandbox.t("report out/trace=b -o a.html -q", 0);
    sandbox.t("report example.etl -o missing/a.html", 6);
    assert!(sandbox.names(".").iter().all(|name| !name.contains(".tmp")), "{:?}", sandbox.names("."));
}

#[test]
fn several_traces_have_a_folder_of_pages() {
    let sandbox = with_example();
    for name in ["hosts/a/boot.etl", "hosts/b/boot.etl"] {
        sandbox.file(name, &fs::read("examples/example.etl").unwrap());
    }
    sandbox.file("index.etl", &fs::read("examples/example.etl").unwrap());
    let ran = sandbox.t("report example.etl index.etl -o pages --progress never", 0);
    assert_eq!(sandbox.names("pages"), ["example.html", "index.html", "trace=index.html"]);
    let wrote: Vec<&str> = ran.err.lines().filter(|line| line.starts_with("wrote ")).collect();
    assert_eq!(wrote, ["wrote pages/example.html", "wrote pages/trace=index.html", "wrote pages/index.html"]);
    let page = |name: &str| fs::read_to_string(sandbox.path(name)).unwrap();
    let index = page("pages/index.html");
    assert!(index.contains("<a href=\"./trace=index.html\">index</a>") && index.contains("<td>1,219</td>"), "{index}");
    sandbox.t("report example.etl -o a.html -q", 0);
    assert_eq!(page("a.html"), page("pages/example.html"), "the page of a trace is that of it alone");
    // Of two hosts, and converted ones; a folder that is there takes the page of one.
    sandbox.t("report hosts -o both -q", 0);
    assert_eq!(sandbox.names("both").len(), 3, "{:?}", sandbox.names("both"));
    sandbox.t("convert example.etl index.etl -o out -q", 0);
    sandbox.t("report out -o both -q", 0);
    assert_eq!(page("both/example.html"), page("a.html"));
    fs::create_dir(sandbox.path("one")).unwrap();
    sandbox.t("report example.etl -o one -q", 0);
    assert_eq!(sandbox.names("one"), ["example.html"]);
}

#[test]
fn what_cannot_be_read_among_several_has_no_page() {
    let sandbox = with_example();
    sandbox.file("bad.etl", b"no trace");
    sandbox.t("report example.etl bad.etl -o pages -q", 4);
    assert_eq!(sandbox.names("pages"), ["example.html", "index.html"]);
    let index = fs::read_to_string(sandbox.path("pages/index.html")).unwrap();
    assert!(index.contains("1 more trace could not be read"), "{index}");
    sandbox.file("worse.etl", b"no trace either");
    sandbox.t("report bad.etl worse.etl -o none -q", 3);
    assert!(!sandbox.path("none").exists(), "no folder without a page");
    sandbox.t("report example.etl -o - --open", 2);
}

/// Two buffers with three events of 24 bytes each, behind that of the header, all of 4,096 bytes.
fn two_buffers() -> Trace {
    let filled = |sequence: i64| {
        let event = |number| perfinfo64(0x0F99, T0 + sequence * 10 + number).payload([1; 8]);
        buffer(0x1000).sequence(sequence).events((0..3).map(event))
    };
    trace(header()).buffers([filled(1), filled(2)])
}

#[test]
fn a_damaged_trace_is_one_converted_or_not() {
    const NOTHING: &str = "nothing";
    let whole = two_buffers().to_bytes();
    let cut = |length| whole[..length].to_vec();
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        bytes
    };
    let ring = trace(header().log_file_mode(2).buffers_written(9));
    let ring = ring.buffer(buffer(0x1000).sequence(8).event(perfinfo64(0x0F99, T0 + 1).payload([1]))).to_bytes();
    let event = two_buffers().event_position(2, 1);
    let cases = [
        ("whole", whole.clone(), 0, NOTHING),
        ("zeros behind it", changed(&|bytes| damage::zero_tail(bytes, 0x1800)), 0, NOTHING),
        ("cut in unused space", cut(0x2800), 0, NOTHING),
        ("ring", ring, 0, NOTHING),
        ("buffer of noise", changed(&|bytes| damage::noise(bytes, 0x1000, 72, 1)), 4, "4,096 bytes"),
        ("buffer of zeros", changed(&|bytes| bytes[0x1000..0x2000].fill(0)), 4, "4,096 bytes"),
        ("event without a size", changed(&|bytes| damage::set_event_size(bytes, event, 0)), 4, "24 bytes, 1 event"),
        ("cut in an event", cut(0x2000 + 72 + 62), 4, "24 bytes, 1 event"),
        ("cut behind a buffer's header", cut(0x2000 + 72), 4, "72 bytes"),
        ("cut in a buffer's header", cut(0x2000 + 7), 4, "7 bytes, 1 buffer missing"),
        ("cut behind a buffer", cut(0x2000), 4, "1 buffer missing"),
    ];
    for (what, bytes, code, damage) in cases {
        let sandbox = Sandbox::new();
        sandbox.file("t.etl", &bytes);
        let page = sandbox.t("report t.etl -o - -q", code).out;
        assert!(page.contains(&format!("<dt>Damaged</dt><dd>{damage}</dd>")), "{what}: {page}");
        sandbox.t("convert t.etl -o out -q", code);
        assert_eq!(sandbox.t("report out -o - -q", code).out, page, "{what}");
        // A filter that leaves all but the header event hides no damage.
        sandbox.t("convert t.etl -o some -q --provider Kernel-EventTrace", code);
        sandbox.t("report some -o - -q", code);
    }
}

/// The rows of a table, cells with `|` behind them.
fn rows_of(page: &str, caption: &str) -> Vec<String> {
    let table = page.split(&format!("<caption>{caption}</caption>")).nth(1).unwrap();
    let rows = table.split("</table>").next().unwrap().split("<tr><th scope=\"row\"").skip(1);
    let cells = |row: &str| {
        let cells = row.split("</th>").flat_map(|part| part.split("</td>"));
        let texts = cells.map(|cell| cell.rsplit('>').next().unwrap_or_default());
        texts.filter(|text| !text.is_empty()).fold(String::new(), |row, text| row + text + "|")
    };
    rows.map(|row| cells(row.split("</tr>").next().unwrap())).collect()
}

/// A process that is there; version 3.
fn process(id: u32, name: &str) -> Vec<u8> {
    let data = payload().u64(0).u32(id).u32(4).u32(1).i32(259).u64(0).u32(0);
    system64(0x0303, T0).version(3).payload(data.astr(name).wstr("")).on_disk()
}

/// A thread that is there; version 3.
fn thread(process: u32, id: u32) -> Vec<u8> {
    let data = payload().u32(process).u32(id).zeros(5 * 8).u64(0).u64(0).u32(0).zeros(4);
    system64(0x0503, T0).version(3).payload(data).on_disk()
}

/// A module of 4,096 bytes that is there, or, by the hook, comes or goes; version 2.
fn image(hook: u16, time: i64, process: u32, base: u64, path: &str) -> Vec<u8> {
    let data = payload().u64(base).u64(0x1000).u32(process).u32(0).u32(0).u32(0).u64(0).zeros(16);
    system64(hook, T0 + time).version(2).payload(data.wstr(path)).on_disk()
}

/// A method of 256 bytes that is compiled: `MethodLoadVerbose`, version 1.
fn method(time: i64, process: u32, base: u64) -> Vec<u8> {
    const RUNTIME: synth::Guid = guid("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4");
    let data = payload().u64(base).u64(9).u64(base).u32(0x100).u32(0x0600_0001).u32(1);
    let data = data.wstr("Shop.Order").wstr("Add").wstr("void ()").u16(9);
    let event = event64(RUNTIME, 143, 1, T0 + time).pid(process).keyword(0x10).task(9).opcode(37);
    event.payload(data).on_disk()
}

/// A sample of the profiler, version 2.
fn sample(time: i64, thread: u32, address: u64) -> Vec<u8> {
    perfinfo64(0x0F2E, T0 + time).payload(payload().u64(address).u32(thread).u16(1).u16(0)).on_disk()
}

/// Ten samples in modules, methods, both and neither, behind the events that describe processes, threads, modules and methods.
fn sampled_trace() -> Vec<u8> {
    let image = |process: u32, base: u64, path: &str| image(0x1403, 0, process, base, path);
    let facts = [
        process(8, "shop.exe"),
        process(12, "other.exe"),
        thread(8, 30),
        thread(12, 40),
        thread(0, 0),
        image(8, 0x1000, r"C:\shop.dll"),
        image(0, 0xFFFF_8000_0000_0000, r"\SystemRoot\k.sys"),
        // One in memory of its own, one in that of a module.
        method(10, 8, 0x9000),
        method(10, 8, 0x1F80),
    ];
    let samples = [
        // Before it was compiled, and after.
        sample(5, 30, 0x9000),
        sample(20, 30, 0x9000),
        sample(20, 30, 0x90FF),
        sample(20, 30, 0x9100),
        // In the module; in method and module; in the method alone.
        sample(20, 30, 0x1000),
        sample(20, 30, 0x1FFF),
        sample(20, 30, 0x2000),
        // In the address of a method, but in another process; in the kernel.
        sample(20, 40, 0x9000),
        sample(20, 40, 0xFFFF_8000_0000_0FFF),
        // Of the idle process.
        sample(20, 0, 0x9000),
    ];
    let mut bytes = buffer(0x10000).sequence(1);
    facts.iter().chain(&samples).for_each(|event| bytes.push(event));
    trace(header().buffer_size(0x10000)).buffer(bytes).to_bytes()
}

#[test]
fn samples_stand_under_modules_and_what_dotnet_compiled() {
    let sandbox = Sandbox::new();
    sandbox.file("t.etl", &sampled_trace());
    let page = sandbox.t("report t.etl -o - -q", 0).out;
    let rows = rows_of(&page, "Samples by module");
    assert_eq!(
        rows,
        [
            ".NET methods outside of modules|3|33.33 %|",
            "no known module|3|33.33 %|",
            "shop.dll|2|22.22 %|",
            "k.sys|1|11.11 %|"
        ]
    );
    // That in the memory of a module, too.
    assert_eq!(rows_of(&page, "Samples by method"), ["Shop.Order.Add|4|44.44 %|"]);
    let heads = page.split("<h2 id=\"h-").skip(1).map(|part| part.split('"').next().unwrap());
    assert_eq!(heads.collect::<Vec<_>>()[..3], ["cpu", "code", "processes"], "answers come first");
}

#[test]
fn who_has_no_name_is_shown_by_id() {
    // A sample of a process that is recorded without a name, one of a thread that is not recorded, one of no thread.
    let thread = payload().u32(8).u32(30).zeros(5 * 8).u64(0).u64(0).u32(0).zeros(4);
    let sample = |time: i64, thread: u32| {
        perfinfo64(0x0F2E, T0 + time).payload(payload().u64(0x1000).u32(thread).u16(1).u16(0)).on_disk()
    };
    let mut bytes = buffer(0x10000).sequence(1);
    bytes.push(&system64(0x0503, T0).version(3).payload(thread).on_disk());
    [sample(1, 30), sample(2, 77), sample(3, 77)].iter().for_each(|event| bytes.push(event));
    let sandbox = Sandbox::new();
    sandbox.file("t.etl", &trace(header().buffer_size(0x10000)).buffer(bytes).to_bytes());
    let page = sandbox.t("report t.etl -o - -q", 0).out;
    assert_eq!(rows_of(&page, "Samples by process"), ["thread 77|2|66.66 %|", "process 8|1|33.33 %|"]);
}

#[test]
fn what_may_be_lost_is_said() {
    // Of three buffers of a session the second is not there; and nothing says that events were lost.
    let filled = |sequence: i64| {
        let event = |number| perfinfo64(0x0F99, T0 + sequence * 10 + number).payload([1; 8]);
        buffer(0x1000).sequence(sequence).events((0..3).map(event))
    };
    let sandbox = Sandbox::new();
    sandbox.file("t.etl", &trace(header()).buffers([filled(1), filled(3)]).to_bytes());
    let page = sandbox.run("report t.etl -o - -q").out;
    let ledger: Vec<String> =
        rows_of(&page, "Losses and gaps").into_iter().filter(|row| row.contains("possible|")).collect();
    assert_eq!(ledger.len(), 1, "{ledger:?}");
    assert!(page.contains("<dt>Lost</dt><dd>0 events, possibly 1 buffer</dd>"), "{page}");
    assert!(!page.contains("nothing is known to be lost"), "{page}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_page_that_cannot_be_written_leaves_the_one_before() {
    let sandbox = with_example();
    for (subject, output) in [("example.etl", "/dev/full"), ("missing", "missing/a.html")] {
        let ran = sandbox.run(&format!("report {subject} -o {output} -q"));
        assert_eq!(ran.code, if subject == "missing" { 3 } else { 6 }, "{}", ran.err);
        assert!(ran.err.starts_with("error: "), "{}", ran.err);
        assert_eq!(sandbox.names("."), ["example.etl"], "no file beside it");
        assert_eq!(fs::read_dir(sandbox.path(".")).unwrap().count(), 1, "no folder either");
    }
    sandbox.file("old.html", b"old");
    sandbox.file("damaged.etl", b"no trace");
    sandbox.t("report damaged.etl -o old.html", 3);
    assert_eq!(fs::read(sandbox.path("old.html")).unwrap(), b"old");
    sandbox.t("report example.etl -o old.html -q", 0);
    assert!(fs::read_to_string(sandbox.path("old.html")).unwrap().starts_with("<!DOCTYPE html>"));
}

/// The walk of the event of a thread of process 8 at a time.
fn walk(time: i64, of_time: i64, thread: u32, addresses: &[u64]) -> Vec<u8> {
    let of_event = payload().i64(T0 + of_time).u32(8).u32(thread);
    let data = addresses.iter().fold(of_event, |data, &address| data.u64(address));
    perfinfo64(0x1820, T0 + time).payload(data).on_disk()
}

/// A switch from a thread that comes into a state to another thread; version 4.
fn switch(time: i64, from: u32, state: u8, to: u32) -> Vec<u8> {
    let data = payload().u32(to).u32(from).zeros(6).u8(state).zeros(9);
    perfinfo64(0x0524, T0 + time).version(4).payload(data).on_disk()
}

const KERNEL: u64 = 0xFFFF_8000_0000_0000;

/// A trace of process 8 with two threads, three modules and a method, and of events of these.
fn trace_of(events: &[Vec<u8>]) -> Vec<u8> {
    let facts = [
        process(8, "shop.exe"),
        thread(8, 30),
        thread(8, 31),
        thread(0, 0),
        image(0x1403, 0, 8, 0x1000, r"C:\shop.dll"),
        image(0x1403, 0, 8, 0x3000, r"C:\<b>.dll"),
        image(0x1403, 0, 0, KERNEL, r"\SystemRoot\k.sys"),
        method(1, 8, 0x9000),
    ];
    let mut bytes = buffer(0x10000).sequence(1);
    facts.iter().chain(events).for_each(|event| bytes.push(event));
    trace(header().buffer_size(0x10000)).buffer(bytes).to_bytes()
}

/// The samples of thread 30, a tick each, with their stacks, innermost first, behind them.
fn samples_of(stacks: &[&[u64]]) -> Vec<Vec<u8>> {
    let of_stack = |(stack, time): (&&[u64], i64)| {
        let walk = (!stack.is_empty()).then(|| walk(time * 10 + 1, time * 10, 30, stack));
        [Some(sample(time * 10, 30, 0x1000)), walk].into_iter().flatten()
    };
    stacks.iter().zip(10..).flat_map(of_stack).collect()
}

/// The bars of a section, each with a blank for each one above it.
fn bars_of(page: &str, section: &str) -> Vec<String> {
    let section = page.split(&format!("<section id=\"{section}\"")).nth(1).unwrap().split("</section>").next().unwrap();
    let mut depth = 0;
    let bars = section.split("<div class=\"b").skip(1).map(|bar| {
        let title = bar.split("title=\"").nth(1).unwrap().split('"').next().unwrap();
        let shown = " ".repeat(depth) + title;
        depth = (depth + 1).saturating_sub(bar.matches("</div>").count());
        shown
    });
    bars.collect()
}

#[track_caller]
fn bars(events: &[Vec<u8>], section: &str, expected: &[&str]) -> String {
    let sandbox = Sandbox::new();
    sandbox.file("t.etl", &trace_of(events));
    let page = sandbox.t("report t.etl -o - -q", 0).out;
    assert_eq!(bars_of(&page, section), expected);
    for options in ["--integers exact", "--layout event"] {
        sandbox.t(&format!("convert t.etl -o out -q --if-exists replace {options}"), 0);
        assert_eq!(sandbox.t("report out -o - -q", 0).out, page, "{options}");
    }
    sandbox.t("convert t.etl -o kept -q --stacks keep", 0);
    assert!(!sandbox.t("report kept -o - -q", 0).out.contains("class=\"flame\""), "the rows have no stacks");
    page
}

#[test]
fn samples_are_bars_below_those_that_called() {
    let page = bars(
        &samples_of(&[
            // A method that calls itself, called by two functions of one module.
            &[0x9001, 0x9001, 0x1800, 0x1001],
            &[0x9001, 0x1800, 0x1001],
            &[0x3001, 0x9001, 0x1001],
            // A system call.
            &[KERNEL + 5, KERNEL + 9, 0x3001, 0x1001],
            &[],
        ]),
        "sample-stacks",
        &[
            "all samples of busy processors: 5 samples, 100.00 %",
            " shop.exe: 5 samples, 100.00 %",
            "  shop.dll!?: 4 samples, 80.00 %",
            "   Shop.Order.Add: 3 samples, 60.00 %",
            "    &lt;b&gt;.dll!?: 1 sample, 20.00 %",
            "    Shop.Order.Add: 1 sample, 20.00 %",
            "   &lt;b&gt;.dll!?: 1 sample, 20.00 %",
            "    k.sys!?: 1 sample, 20.00 %",
            "  (no stack recorded): 1 sample, 20.00 %",
        ],
    );
    assert!(page.contains("<p>4 of 5 samples have a stack (80.00 %)."));
    let own = rows_of(&page, "Samples in each function");
    let expected = [
        "Shop.Order.Add|2 samples|40.00 %|3 samples|60.00 %|",
        "(no stack recorded)|1 sample|20.00 %|1 sample|20.00 %|",
        "&lt;b&gt;.dll!?|1 sample|20.00 %|2 samples|40.00 %|",
        "k.sys!?|1 sample|20.00 %|1 sample|20.00 %|",
    ];
    assert_eq!(own, expected);
    let all = rows_of(&page, "Samples in each function and what it calls");
    assert_eq!(all[..2], ["shop.dll!?|0 samples|0.00 %|4 samples|80.00 %|", expected[0]]);
}

#[test]
fn a_call_lies_before_where_it_returns_to() {
    let one = "1 sample, 25.00 %";
    bars(
        &samples_of(&[
            // The end of a module: calls return there, but nothing executes there.
            &[0x1001, 0x2000],
            &[0x2000, 0x1001],
            // What a system call goes on with is not called by it.
            &[KERNEL + 5, 0x2000, 0x4000],
            &[KERNEL + 0x1000, KERNEL + 0x1000],
        ]),
        "sample-stacks",
        &[
            "all samples of busy processors: 4 samples, 100.00 %",
            " shop.exe: 4 samples, 100.00 %",
            "  shop.dll!?: 2 samples, 50.00 %",
            &format!("   (in no module): {one}"),
            &format!("  &lt;b&gt;.dll!?: {one}"),
            &format!("   (in no module): {one}"),
            &format!("    k.sys!?: {one}"),
            &format!("  k.sys!?: {one}"),
            &format!("   (in no module): {one}"),
        ],
    );
}

#[test]
fn what_stacks_need_of_symbols_is_counted_by_module() {
    let stacks: [&[u64]; 5] = [
        &[0x1001, 0x2000],
        &[0x1001, 0x2000],
        &[KERNEL + 5, 0x1002, 0x9001, 0x3001],
        &[0x2000, 0x1002],
        &[0x9001, 0x5000],
    ];
    let sandbox = Sandbox::new();
    sandbox.file("t.etl", &trace_of(&samples_of(&stacks)));
    sandbox.t("convert t.etl -o out -q", 0);
    let trace = PublishedTrace::in_folder(sandbox.path("out/trace=t"));
    let needed = needed(&trace, false, &NoProgress).unwrap();
    let modules: Vec<String> = needed
        .modules
        .iter()
        .map(|one| format!("{} {:?} {:x?}", one.module.file_name.as_deref().unwrap(), one.module.size, one.addresses))
        .collect();
    let expected = ["shop.dll Some(4096) {1: 3, 2: 1, fff: 2}", "<b>.dll Some(4096) {0: 1}", "k.sys Some(4096) {5: 1}"];
    assert_eq!(modules, expected);
    let Needed { frames, in_modules, in_methods, unknown, left_out, .. } = needed;
    assert_eq!((frames, in_modules, in_methods, unknown, left_out), (12, 8, 2, 2, 0));
}

#[test]
fn what_changed_between_the_first_and_the_last_time_is_not_known() {
    let path = r"C:\gone.dll";
    let mut events = vec![image(0x1403, 0, 8, 0x5000, path)];
    events.extend(samples_of(&[&[0x5001], &[0x5002]]));
    events.extend([image(0x1402, 200, 8, 0x5000, path), sample(300, 30, 0x5001), walk(301, 300, 30, &[0x5001])]);
    bars(
        &events,
        "sample-stacks",
        &[
            "all samples of busy processors: 3 samples, 100.00 %",
            " shop.exe: 3 samples, 100.00 %",
            "  (in a module that changed): 2 samples, 66.66 %",
            "  gone.dll!?: 1 sample, 33.33 %",
        ],
    );
}

#[test]
fn waits_are_bars_by_the_stack_of_the_switch_that_ends_them() {
    const WAITING: u8 = 5;
    const READY: u8 = 1;
    let events = [
        switch(100, 30, WAITING, 31),
        walk(101, 100, 31, &[0x3001]),
        // Thread 30 waited for 2 µs, and its stack is that of this switch.
        switch(120, 31, READY, 30),
        walk(121, 120, 30, &[KERNEL + 5, 0x1001]),
        // Preempted: no wait.
        switch(130, 30, WAITING, 31),
        walk(131, 130, 31, &[0x3001]),
        // Of this wait nobody knows the stack: 4 µs.
        switch(170, 31, WAITING, 30),
        switch(190, 30, WAITING, 0),
        // 5 µs.
        switch(220, 0, READY, 31),
        walk(221, 220, 31, &[0x1001]),
    ];
    let page = bars(
        &events,
        "wait-stacks",
        &[
            "all waits: 11 µs, 100.00 %",
            " shop.exe: 11 µs, 100.00 %",
            "  shop.dll!?: 7 µs, 63.63 %",
            "   k.sys!?: 2 µs, 18.18 %",
            "  (no stack recorded): 4 µs, 36.36 %",
        ],
    );
    assert!(page.contains("<p>7 µs of 11 µs of waits have a stack (63.63 %)."));
    assert_eq!(rows_of(&page, "Waits in each function")[0], "shop.dll!?|5 µs|45.45 %|7 µs|63.63 %|");
    assert!(!page.contains("id=\"sample-stacks\""), "without samples there is no such section");
}

#[test]
fn a_page_has_so_many_bars_and_the_others_are_added_up() {
    // Each stack is a path of its own, of 40 frames: every other one is in a method or in a module, by a bit of its number.
    let stack = |number: u64| -> Vec<u64> {
        let frame = |at: u64| match (at.is_multiple_of(2), (number >> (at / 2)) & 1) {
            (true, 1) => 0x9001,
            (true, _) => 0x1001,
            (false, _) => 0x3001,
        };
        (0..40).map(frame).collect()
    };
    let stacks: Vec<Vec<u64>> = (0..400_u64).map(|number| stack(number * 2_654_435_761 % (1 << 20))).collect();
    let stacks: Vec<&[u64]> = stacks.iter().map(Vec::as_slice).collect();
    let mut buffers = vec![];
    for (events, number) in samples_of(&stacks).chunks(100).zip(2_i64..) {
        let mut bytes = buffer(0x10000).sequence(number);
        events.iter().for_each(|event| bytes.push(event));
        buffers.push(bytes);
    }
    let facts = [
        process(8, "shop.exe"),
        thread(8, 30),
        image(0x1403, 0, 8, 0x1000, "a.dll"),
        image(0x1403, 0, 8, 0x3000, "b.dll"),
    ];
    let mut first = buffer(0x10000).sequence(1);
    facts.iter().for_each(|event| first.push(event));
    first.push(&method(1, 8, 0x9000));
    let sandbox = Sandbox::new();
    sandbox.file("t.etl", &trace(header().buffer_size(0x10000)).buffer(first).buffers(buffers).to_bytes());
    let page = sandbox.t("report t.etl -o - -q", 0).out;
    let bars = bars_of(&page, "sample-stacks");
    let drawn = bars.iter().filter(|bar| !bar.contains("… and ")).count();
    assert_eq!(drawn, 1500);
    assert!(bars.len() > drawn && page.len() < 2 << 20);
    assert_eq!(sandbox.t("report t.etl -o - -q --threads 1", 0).out, page);
}
