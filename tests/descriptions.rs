//! What a trace says of its own payloads: manifests that are whole, broken or incomplete, and labels without end.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use support::{Converted, convert, convert_with};
use synth::*;

const LAB: Guid = guid("00112233-4455-6677-8899-aabbccddeeff");
const LAB_TEXT: &str = "00112233-4455-6677-8899-aabbccddeeff";

/// A manifest of the provider.
fn manifest(maps: &str, fields: &str) -> String {
    format!(
        "<m><provider name='Lab' guid='{{{LAB_TEXT}}}'><maps>{maps}</maps><templates><template tid='T'>{fields}</template>\
         </templates><events><event value='7' version='1' symbol='Seven' template='T'/></events></provider></m>"
    )
}

fn seven(time: i64, payload: Payload) -> synth::Event {
    event64(LAB, 7, 1, time).payload(payload)
}

/// The issues of a code: buffer and message.
fn issues(found: &Converted, code: &str) -> Vec<String> {
    let issues = found.sidecar("issues");
    let rows = (0..issues.rows.len()).filter(|&row| issues.cell(row, "code") == code);
    rows.map(|row| issues.row(row, "severity buffer message")).collect()
}

/// What would help with event 7.
fn hint(found: &Converted) -> String {
    let catalog = found.sidecar("catalog");
    let row = (0..catalog.rows.len()).find(|&row| catalog.cell(row, "event_id") == "7").unwrap();
    catalog.cell(row, "fix_hint").to_owned()
}

/// A trace whose second data buffer has the chunks, and an event of the provider.
fn with_chunks(chunks: Vec<synth::Event>) -> Converted {
    let first = buffer(0x1000).sequence(1).event(seven(T0 + 1, payload().u32(5)));
    let second = buffer(0x1000).sequence(2).events(chunks);
    convert(&trace(header()).buffer(first).buffer(second).to_bytes())
}

#[test]
fn a_manifest_that_is_no_xml_is_reported() {
    let found = with_chunks(eventsource_manifest(LAB, T0 + 2, "<m>\n<provider></m>", 100));
    let [issue] = &issues(&found, "bad_manifest")[..] else { panic!("one issue") };
    let start = format!("warning|2|manifest that provider {LAB_TEXT} wrote into the trace: line 2: not XML: ");
    assert!(issue.starts_with(&start), "{issue}");
    let hint = hint(&found);
    assert!(hint.starts_with("the provider's manifest in the trace is not used (line 2: not XML: "), "{hint}");
    assert!(hint.ends_with("): a whole one, with --schemas"), "{hint}");
}

#[test]
fn a_manifest_without_its_end_is_reported() {
    let text = manifest("", "<data name='A' inType='win:UInt32'/>");
    let mut chunks = eventsource_manifest(LAB, T0 + 2, &text, 100);
    let total = chunks.len();
    chunks.remove(1);
    let found = with_chunks(chunks);
    let fault = format!(
        "whole text: expected {total} chunks from process 0, found {}; the first that is missing is number 1",
        total - 1
    );
    let issue = format!("warning|2|manifest that provider {LAB_TEXT} wrote into the trace: {fault}");
    assert_eq!(issues(&found, "incomplete_manifest"), [issue]);
    assert_eq!(
        hint(&found),
        format!("the provider's manifest in the trace is not used ({fault}): a whole one, with --schemas")
    );
}

#[test]
fn no_manifest_is_asked_for_that_the_trace_has() {
    let text = manifest("", "<data name='A' inType='win:UInt32'/>").replace("value='7'", "value='8'");
    let found = with_chunks(eventsource_manifest(LAB, T0 + 2, &text, 1000));
    assert_eq!(
        hint(&found),
        "the provider's manifest in the trace does not describe the event: one of another build, with --schemas"
    );
    assert_eq!(issues(&found, "bad_manifest"), Vec::<String>::new());
    // Whole and fitting, it needs no help.
    let text = manifest("", "<data name='A' inType='win:UInt32'/>");
    let found = with_chunks(eventsource_manifest(LAB, T0 + 2, &text, 100));
    assert_eq!((hint(&found), found.events("Lab").row(0, "A decode_status")), ("-".to_owned(), "5|ok".to_owned()));
}

/// 60 events of 1,000 bytes, each byte with a name of 1,000.
fn long_names() -> Vec<u8> {
    let name = "x".repeat(1000);
    let map = format!("<valueMap name='M'><map value='1' symbol='{name}'/></valueMap>");
    let fields = "<data name='N' inType='win:UInt16'/><data name='V' inType='win:UInt8' map='M' count='N'/>";
    let chunks = eventsource_manifest(LAB, T0 + 1, &manifest(&map, fields), 1000);
    let value = || payload().u16(1000).bytes(&[1; 1000]);
    let mut events = chunks;
    events.extend((0..60).map(|number| seven(T0 + 2 + number / 2, value())));
    let buffers = events.chunks(3).zip(1..).map(|(events, sequence)| buffer(0x1000).sequence(sequence).events(events));
    trace(header()).buffers(buffers).to_bytes()
}

#[test]
fn a_slice_of_long_labels_is_handed_over_in_parts() {
    let bytes = long_names();
    let with =
        |threads, memory| convert_with(&[&bytes], |options| (options.threads, options.memory) = (threads, memory));
    let found = with(1, 384 << 20);
    let table = found.events("Lab");
    // Behind the header event come the chunks of the manifest, then the events.
    assert!(table.rows.len() > 60, "{}", table.rows.len());
    let status: Vec<&str> = (0..table.rows.len()).map(|row| table.cell(row, "decode_status")).collect();
    assert_eq!(status, vec!["ok"; table.rows.len()]);
    let seqs: Vec<i64> = (1..).take(table.rows.len()).collect();
    assert_eq!(table.numbers("seq"), seqs);
    // 1,000 names, the commas between them and the brackets around them.
    assert_eq!(table.cell(table.rows.len() - 1, "V_label").len(), 1_001_001);
    let rows = table.rows.len() as u64;
    assert_eq!(found.counts(), (rows + 1, rows + 1, 0, 0, 0));
    let files = |found: &Converted| found.sandbox.files("out/trace=t/events");
    for (threads, memory) in [(4, 384 << 20), (2, 4 << 30)] {
        assert!(files(&with(threads, memory)) == files(&found), "{threads} threads, {memory} bytes");
    }
}

/// `TRACE_EVENT_INFO` of version 1 of an event of the provider, with one field of an in-type.
fn described(id: u16, in_type: u16) -> Vec<u8> {
    const NAME: u32 = 0x70 + 24;
    let head = payload().guid(LAB).zeros(16).u16(id).u8(1).zeros(13).zeros(0x34).u32(1).u32(1).u32(0);
    head.u32(0).u32(NAME).u16(in_type).u16(0).u32(0).u16(1).u16(0).u32(0).wstr("f").0
}

#[test]
fn what_the_trace_describes_in_vain_is_reported() {
    let seven = buffer(0x1000).sequence(1).event(seven(T0 + 1, payload().u32(5)));
    // The four bytes of event 7 are no 64-bit integer.
    let descriptions = [described(7, 10), described(8, 8)];
    let second = buffer(0x1000).sequence(2);
    let second = descriptions
        .into_iter()
        .zip(2..)
        .fold(second, |second, (blob, at)| second.event(classic::event_info(T0 + at, blob)));
    let found = convert(&trace(header()).buffer(seven).buffer(second).to_bytes());
    assert_eq!(
        issues(&found, "no_layout_fits"),
        [format!(
            "warning|-|{LAB_TEXT} event 7 version 1: none of 1 known layouts fits its payloads; rows that keep the \
             payload and have no values: 1"
        )]
    );
    assert_eq!(
        issues(&found, "unused_descriptions"),
        ["info|-|of 2 events that the trace describes it holds none of 1"]
    );
}
