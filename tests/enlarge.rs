//! The traces of `examples/enlarge` are valid, and differ from their original in nothing but what is documented.

mod synth;

#[path = "../examples/enlarge/copies.rs"]
mod copies;

use std::path::Path;

use base::clock::ClockAnchor;
use base::progress::NoProgress;
use conversion::survey::{self, FileFacts, FileSurvey, Severity, SurveyOptions, sequence, streams};
use copies::{Enlarged, Size, enlarge};
use etl::event::{Walk, WalkStep};
use etl::input::{LocalFile, MemoryInput};
use synth::{FREQUENCY, START, T0, buffer, bulk, compact64, event64, full64, guid, header, message, payload, trace};

fn surveyed(path: &Path) -> FileSurvey {
    let options = SurveyOptions { anchor: ClockAnchor::Start, hash: false, ..SurveyOptions::default() };
    let source = LocalFile::open(path).expect("the test has written it");
    survey::survey(&source, String::new(), &options, &NoProgress).expect("this is a trace")
}

fn enlarged(original: &[u8], size: Size) -> (Enlarged, FileSurvey, FileSurvey) {
    let folder = tempfile::tempdir().expect("the temporary folder can be written");
    let (from, to) = (folder.path().join("a.etl"), folder.path().join("b.etl"));
    std::fs::write(&from, original).expect("the folder is new");
    let source = LocalFile::open(&from).expect("the test has written it");
    let mut bytes = Vec::new();
    let written = enlarge(&source, size, &mut bytes).expect("the trace is valid");
    std::fs::write(&to, &bytes).expect("the folder is new");
    assert_eq!(written.bytes, bytes.len() as u64);
    (written, surveyed(&from), surveyed(&to))
}

fn assert_valid(file: &FileSurvey) {
    assert!(!file.is_damaged() && file.unreadable.is_empty() && file.tail.is_none());
    let grave: Vec<_> = file.issues.rows().filter(|issue| issue.severity > Severity::Info).collect();
    assert!(grave.is_empty(), "{grave:?}");
    assert!(!streams::disorder(file, &NoProgress).expect("nobody asks to stop").is_any());
    assert_eq!(sequence::sequence_gaps(file, &NoProgress).expect("nobody asks to stop"), []);
    assert_eq!(u64::from(file.session.buffers_written), file.buffers.len() as u64);
}

fn facts(file: &FileSurvey) -> FileFacts {
    FileFacts::of(std::slice::from_ref(file), &NoProgress).expect("nobody asks to stop").remove(0)
}

/// Of a trace with `head` events in its header buffer.
fn data_events(file: &FileSurvey) -> u64 {
    file.events() - u64::from(file.buffers[0].events)
}

#[test]
fn a_trace_goes_on_with_the_same_events() {
    for compressed in [false, true] {
        let original = bulk(20_000, 4, 4, 1).compressed(compressed).to_bytes();
        let (written, small, large) = enlarged(&original, Size { bytes: 6 << 20, cpus: 1 });
        assert_valid(&large);
        assert!(written.bytes >= 6 << 20 && !large.buffers[1].extent.is_compressed());
        let rounds = (large.buffers.len() - 1) as u64 / (small.buffers.len() - 1) as u64;
        assert!(rounds > 1);
        assert_eq!(data_events(&large), rounds * data_events(&small));
        assert_eq!((written.events, written.buffers), (large.events(), large.buffers.len() as u64));
        assert_eq!(facts(&large).streams.len(), 4);
        let count = |file: &FileSurvey| file.shapes.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
        assert_eq!(count(&large), count(&small));
        let last = large.buffers.iter().map(|buffer| buffer.last_ticks).max().unwrap();
        assert!(large.session.end_time.0 >= START + (last - T0) / FREQUENCY * 10_000_000);
    }
}

#[test]
fn copies_side_by_side_have_cpus_of_their_own() {
    let (_, small, large) = enlarged(&bulk(20_000, 4, 4, 1).to_bytes(), Size { bytes: 6 << 20, cpus: 3 });
    assert_valid(&large);
    let cpus: Vec<_> = facts(&large).streams.iter().map(|stream| stream.cpu).collect();
    assert_eq!(cpus, (0..12).map(Some).collect::<Vec<_>>());
    assert_eq!(large.session.cpu_count, 12);
    let first = small.buffers[1..].iter().map(|buffer| buffer.first_ticks).min().unwrap();
    let end = |file: &FileSurvey| file.buffers.iter().map(|buffer| buffer.last_ticks).max().unwrap();
    let rounds = (large.buffers.len() - 1) / (3 * (small.buffers.len() - 1));
    assert_eq!(rounds, 2);
    // Three ticks lie between copies that are side by side, and one more before the next round.
    assert_eq!(end(&large), end(&small) + (end(&small) - first + 3 * 3 + 1) + 2 * 3);
}

#[test]
fn every_header_family_moves_on() {
    let class = guid("11112222-3333-4444-5555-666677778888");
    let times = payload().i64(T0 + 10).u64(7);
    let data = buffer(0x1000)
        .sequence(1)
        .time(T0 + 100)
        .event(compact64(0x1820, T0 + 20).payload(times))
        .event(event64(class, 1, 0, T0 + 30))
        .event(full64(class, 1, 0, T0 + 40))
        .event(message(1).sequence(9).guid(class).time(T0 + 50))
        .event(message(2).component(3).time(T0 + 60))
        .event(message(3).guid(class));
    let original = trace(header().buffer_size(0x1000)).buffer(data).to_bytes();
    let (_, _, large) = enlarged(&original, Size { bytes: 0x3000, cpus: 1 });
    assert_valid(&large);
    // The first event of a copy is one step behind the last of the copy before: 60 - 20 + 3 + 1.
    let span = 44;
    let starts: Vec<_> = large.buffers[1..].iter().map(|b| (b.extent.sequence, b.extent.time_stamp - T0)).collect();
    assert_eq!(starts, [(1, 100), (2, 100 + span)]);
    let mut bytes = Vec::new();
    enlarge(&MemoryInput::new("a.etl", original), Size { bytes: 0x3000, cpus: 1 }, &mut bytes).unwrap();
    let content = &bytes[0x2000 + 72..][..large.buffers[2].content_bytes as usize];
    let moved: Vec<_> = Walk::new(content, 0)
        .map(|step| match step {
            WalkStep::Event(event) => event.ticks().map(|ticks| ticks - T0 - span),
            WalkStep::Damage { .. } => panic!("no damage is expected"),
        })
        .collect();
    assert_eq!(moved, [Some(20), Some(30), Some(40), Some(50), Some(60), None]);
    // The stack's payload names the event it belongs to by its time, behind a header of 24 bytes.
    assert_eq!(content[24..32], (T0 + 10 + span).to_le_bytes());
    assert_eq!(content[32..40], 7_u64.to_le_bytes());
}

#[test]
fn damage_is_not_multiplied() {
    let mut bytes = bulk(3000, 2, 1, 1).to_bytes();
    let len = bytes.len();
    bytes.truncate(len - 40_000);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.etl");
    std::fs::write(&path, bytes).unwrap();
    let refused = enlarge(&LocalFile::open(&path).unwrap(), Size { bytes: 1 << 20, cpus: 1 }, &mut Vec::new());
    assert_eq!(refused.unwrap_err().to_string(), "the trace is damaged: copies would be, too");
}
