//! `report`, as a whole tool: a page of a trace or of what it was converted to, there whole or not at all, and nothing beside it.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::fs;

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

/// Ten samples in modules, methods, both and neither, behind the events that describe processes, threads, modules and methods.
fn sampled_trace() -> Vec<u8> {
    const RUNTIME: synth::Guid = guid("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4");
    // Version 3 of a process and a thread, 2 of an image and a sample.
    let process = |id: u32, name: &str| {
        let data = payload().u64(0).u32(id).u32(4).u32(1).i32(259).u64(0).u32(0);
        system64(0x0303, T0).version(3).payload(data.astr(name).wstr("")).on_disk()
    };
    let thread = |process: u32, id: u32| {
        let data = payload().u32(process).u32(id).zeros(5 * 8).u64(0).u64(0).u32(0).zeros(4);
        system64(0x0503, T0).version(3).payload(data).on_disk()
    };
    let image = |process: u32, base: u64, path: &str| {
        let data = payload().u64(base).u64(0x1000).u32(process).u32(0).u32(0).u32(0).u64(0).zeros(16);
        system64(0x1403, T0).version(2).payload(data.wstr(path)).on_disk()
    };
    // MethodLoadVerbose, version 1, of 256 bytes.
    let method = |time: i64, process: u32, base: u64| {
        let data = payload().u64(base).u64(9).u64(base).u32(0x100).u32(0x0600_0001).u32(1);
        let data = data.wstr("Shop.Order").wstr("Add").wstr("void ()").u16(9);
        let event = event64(RUNTIME, 143, 1, T0 + time).pid(process).keyword(0x10).task(9).opcode(37);
        event.payload(data).on_disk()
    };
    let sample = |time: i64, thread: u32, address: u64| {
        perfinfo64(0x0F2E, T0 + time).payload(payload().u64(address).u32(thread).u16(1).u16(0)).on_disk()
    };
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
