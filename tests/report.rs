//! `report`, as a whole tool: a page of a trace or of what it was converted to, there whole or not at all, and nothing beside it.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::fs;

use support::Sandbox;
use synth::tracelogging::{field, schema, traits, ty};
use synth::{OnDisk as _, T0, Trace};
use synth::{buffer, damage, event64, guid, header, payload, perfinfo64, trace};

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
    assert!(ran.err.contains("expected one trace, found 2"), "{}", ran.err);
    sandbox.t("convert two -o out -q", 0);
    sandbox.t("report out -o a.html", 2);
    sandbox.t("report out/trace=b -o a.html -q", 0);
    sandbox.t("report example.etl -o missing/a.html", 6);
    assert!(sandbox.names(".").iter().all(|name| !name.contains(".tmp")), "{:?}", sandbox.names("."));
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
        ("event without a size", changed(&|bytes| damage::set_event_size(bytes, event, 0)), 4, "48 bytes, 1 event"),
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
